//! Whatever people, models and tools write is shown as they wrote it and never becomes a part of the page.

use figaro_offline::model::{ModelReply, ReplyPart};
use figaro_offline::tavily::{KEY, TavilyAnswer};
use figaro_offline::telegram::{MemberStatus, Person};
use serde_json::json;

use super::browser::{Browser, Page};
use super::html::{Tag, tags, unescaped};
use super::{Dashboard, fact, part};
use crate::support::calls::{call, says};
use crate::support::scene::TEAM;
use crate::support::wait::eventually;
use crate::support::{BOB, World};

pub const OWNER: i64 = 7_100_000_101;
/// What breaks out of texts, of attributes in either quotes, of elements whose content is text, of comments, and what a second
/// template would fill in.
const HOSTILE: &str = "</textarea></title></pre></script><script>alert(1)</script>\"'><img src=x onerror=alert(1)><svg/onload=alert(1)> --> ]]> &lt;b&gt; &#x3c; {{7*7}} {% x %} `${7*7}` javascript:alert(1)";
const NAME: &str = "\"'><script>alert(2)</script>";

const TAGS: [&str; 59] = [
    "html",
    "head",
    "meta",
    "title",
    "link",
    "script",
    "body",
    "a",
    "header",
    "p",
    "nav",
    "div",
    "span",
    "form",
    "input",
    "button",
    "main",
    "h1",
    "h2",
    "h3",
    "h4",
    "dl",
    "dt",
    "dd",
    "figure",
    "figcaption",
    "svg",
    "g",
    "rect",
    "line",
    "path",
    "section",
    "table",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
    "progress",
    "article",
    "details",
    "summary",
    "textarea",
    "label",
    "ol",
    "ul",
    "li",
    "pre",
    "code",
    "strong",
    "em",
    "br",
    "select",
    "option",
    "time",
    "caption",
    "small",
    "footer",
    "mark",
];
/// Attributes that hold an address.
const ADDRESSES: [&str; 8] =
    ["href", "src", "action", "formaction", "data-events", "xlink:href", "poster", "cite"];

/// Returns `true` if a browser stays with this site, or leaves it for a page of the web.
fn is_safe(address: &str) -> bool {
    let plain: String = address.chars().filter(|c| !c.is_whitespace() && !c.is_control()).collect();
    let scheme =
        plain.split(['/', '?', '#']).next().unwrap().split_once(':').map(|(scheme, _)| scheme.to_lowercase());
    let is_known = scheme.is_none_or(|scheme| scheme == "http" || scheme == "https");
    is_known && !plain.starts_with("//")
}

fn is_sound(page: &Page, tag: &Tag) -> Result<(), String> {
    if !TAGS.contains(&tag.name.as_str()) {
        return Err(format!("the element {}", tag.name));
    }
    if tag.name == "script"
        && !tag
            .get("src")
            .is_some_and(|from| page.url.join(from).unwrap().path().contains("/dashboard/assets/"))
    {
        return Err("a script of its own".to_owned());
    }
    for (name, value) in &tag.attributes {
        let is_name = name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
        if !is_name || name.starts_with("on") || name == "style" || name == "srcdoc" || name == "http-equiv" {
            return Err(format!("the attribute {name}={value}"));
        }
        if ADDRESSES.contains(&name.as_str()) && !is_safe(value) {
            return Err(format!("the address {name}={value}"));
        }
    }
    Ok(())
}

/// Fails if a page has what the dashboard did not put there.
fn holds(page: &Page) {
    for tag in tags(&page.body) {
        if let Err(fault) = is_sound(page, &tag) {
            panic!("{}: {fault} of {tag:?}: {}", page.url, page.around(&fault));
        }
    }
    for words in ["<script>", "<img", "onerror=alert(1)>", "<svg/", "</textarea></title>", "'><"] {
        assert!(!page.body.contains(words), "{}: {words} in {}", page.url, page.around(words));
    }
}

/// Fails if no page shows these words as they were written.
fn is_shown(pages: &[Page], what: &str, words: &str) {
    let is_there = pages.iter().any(|page| unescaped(&page.body).contains(words));
    assert!(is_there, "{what}: {words} is shown nowhere");
}

/// Somebody in whose chat all that can be written is written.
async fn writes(world: &World, who: i64) {
    let marked = |what: &str| format!("{what} {HOSTILE}");
    let dog = "My dog is called Rex";
    world.script.extract_when(dog, fact(dog));
    world.when(dog, ModelReply::text(&marked("answer")));
    world.say(who, who, &format!("{dog}. {}", marked("said")));
    says(world, who, "answer ").await;
    world.told(who, who, &format!("/pin {}", marked("pin"))).await;
    let task = json!({"prompt": marked("task"), "schedule": "30 9 29 2 *", "recurring": true});
    call(world, (who, who), "plan it", "schedule_task", task).await;
    world.tavily.push(TavilyAnswer::pages(&[
        (&marked("title"), "javascript:alert(1)//https://a.example", &marked("page")),
        (NAME, "https://b.example/\"onmouseover=\"alert(1)", &marked("page")),
        ("c", "data:text/html,<script>alert(1)</script>", "c"),
    ]));
    world.when("search it", ModelReply::call("web_search", json!({"query": marked("query")})));
    world.when(
        "search it",
        ModelReply::text("[link](javascript:alert(1)) https://b.example/\"onmouseover=\"alert(1)"),
    );
    world.say(who, who, "search it");
    says(world, who, "link").await;
    world.told(who, who, &format!("/new {NAME}")).await;
    let send = json!({"chat_id": TEAM, "text": marked("elsewhere")});
    for reply in [part("find_tools", json!({"query": "sendMessage"})), part("sendMessage", send)] {
        world.when("send it", ModelReply::turn(vec![reply]));
    }
    world.say(who, who, "send it");
    says(world, who, "May I do this?").await;
}

pub async fn written() -> (World, Dashboard) {
    let world = World::new().await;
    for (id, name) in [(OWNER, format!("O{NAME}")), (BOB, format!("B{NAME}"))] {
        world.telegram.add_user(Person::new(id, &name).username("x_y").language("en"));
        world.telegram.add_private(id).unwrap();
    }
    world.telegram.add_supergroup(TEAM, &format!("T{NAME}"));
    for user in [OWNER, BOB] {
        world.telegram.set_member(TEAM, user, MemberStatus::Member).unwrap();
    }
    world.otherwise(ModelReply::turn(vec![
        ReplyPart::Thought(HOSTILE.to_owned()),
        ReplyPart::Text(HOSTILE.to_owned()),
    ]));
    let recipe =
        world.bot().set("ACCESS", "open").set("MEMORY_LIMIT", "50").set("OWNER_IDS", &OWNER.to_string());
    let recipe = recipe.set("TAVILY_API_KEY", KEY).set("TAVILY_BASE_URL", world.tavily.url());
    let recipe = recipe.set("AGENTS_FOLDER", "agents");
    let folder = world.folder.path().join("agents");
    std::fs::create_dir_all(&folder).unwrap();
    let agent = json!({
        "type": "object", "description": format!("agent {HOSTILE}"),
        "json_schema_extra": {"kind": "agent", "name": "odd", "version": NAME, "tools": [{"name": "add_note"}]},
    });
    std::fs::write(folder.join("odd.yaml"), agent.to_string()).unwrap();
    let dashboard = world.dashboard_of(recipe).await;
    writes(&world, BOB).await;
    world.told(OWNER, TEAM, &format!("@figaro_bot in the group {HOSTILE}")).await;
    (world, dashboard)
}

/// Addresses that carry something hostile.
fn reflected() -> Vec<String> {
    let code: String = HOSTILE.bytes().map(|byte| format!("%{byte:02x}")).collect();
    let name: String = NAME.bytes().map(|byte| format!("%{byte:02x}")).collect();
    let paths = [
        "conversations?q=X",
        "conversations?chat=X",
        "conversations?page=X",
        "conversations?chat=12&q=X",
        "?by=X",
        "memory?of=X",
        "audit?before=X",
        "audit?refused=X",
        "audit?verify=X",
        "tasks/X",
        "conversations/X",
        "conversations/X?from=X",
        "X",
        "enter/X",
        "assets/X",
        "people?X=X",
        "tasks?X",
        "approvals?told=X",
        "memory?told=X",
        "tasks?told=X",
        "people?error=X",
        "?told=X",
    ];
    paths.iter().flat_map(|path| [path.replace('X', &code), path.replace('X', &name)]).collect()
}

async fn reflects_nothing(browser: &Browser) {
    for path in reflected() {
        holds(&browser.get(&path).await);
    }
}

#[tokio::test]
async fn whatever_is_written_is_shown_and_is_no_part_of_the_page() {
    let (world, dashboard) = written().await;
    let owner = world.browser(&dashboard, OWNER).await;
    // Names of those who were shut out or whose call was denied are in the audit log, too.
    let bob = world.browser(&dashboard, BOB).await;
    let own = bob.finds().await.pages;
    let forms = bob.finds().await.forms();
    let run = forms.iter().find(|form| form.fields.iter().any(|(_, value)| value == "run")).unwrap();
    assert!(bob.submits(run).await.status < 400);
    let all = owner.finds().await.pages;
    for page in own.iter().chain(&all) {
        holds(page);
    }
    is_shown(&own, "a pin", &format!("pin {HOSTILE}"));
    for what in ["said ", "answer ", "task "] {
        is_shown(&own, what, &format!("{what}{HOSTILE}"));
        is_shown(&all, what, &format!("{what}{HOSTILE}"));
    }
    let sent = json!(format!("elsewhere {HOSTILE}")).to_string();
    is_shown(&own, "a call", &sent);
    is_shown(&all, "a call", &sent);
    for what in ["agent ", "in the group "] {
        is_shown(&all, what, &format!("{what}{HOSTILE}"));
    }
    for name in ["B", "O", "T", ""] {
        is_shown(&all, name, &format!("{name}{NAME}"));
    }
    let shown: String = own.iter().map(|page| page.body.as_str()).collect();
    assert!(!shown.contains("href=\"javascript") && !shown.contains("href=\"data:"));
}

#[tokio::test]
async fn nothing_of_an_address_becomes_a_part_of_the_page() {
    let (world, dashboard) = written().await;
    let browsers =
        [world.browser(&dashboard, OWNER).await, world.browser(&dashboard, BOB).await, dashboard.nobody()];
    futures::future::join_all(browsers.iter().map(reflects_nothing)).await;
    let odd = browsers[0]
        .request(reqwest::Method::GET, "none")
        .header("host", "evil.example\"><script>")
        .header("referer", "\"><script>");
    let page = Page::patiently(&odd).await;
    holds(&page);
    assert!(!page.whole().contains("evil.example"), "{}", page.whole());
}

#[tokio::test]
async fn an_address_that_a_search_found_is_no_link_into_the_page() {
    let world = World::new().await;
    let dashboard =
        world.dashboard_of(world.bot().set("ACCESS", "open").set("OPENAI_MODEL", "gpt-4.1-mini")).await;
    let found = [
        (HOSTILE, "https://a.example/"),
        ("b", "javascript:alert(1)"),
        ("c", " \tjavascript:alert(1)"),
        ("d", "data:text/html,<script>alert(1)</script>"),
        ("e", "https://e.example/\"onmouseover=\"alert(1)"),
        ("f", "https://f.example/'><script>alert(1)</script>"),
        ("g", "//evil.example/"),
    ];
    world.when("rain", ModelReply::text("It rains.").sources(&found));
    world.say(BOB, BOB, "does it rain?");
    says(&world, BOB, "It rains.").await;
    let pages = world.browser(&dashboard, BOB).await.finds().await.pages;
    pages.iter().for_each(holds);
    is_shown(&pages, "a source", "https://a.example/");
}

#[tokio::test]
async fn what_a_form_is_filled_with_is_shown_as_it_is() {
    let (world, dashboard) = written().await;
    let bob = world.browser(&dashboard, BOB).await;
    let reword =
        eventually(|| "no fact is remembered", async || bob.memory_form("/facts/", "words").await).await;
    let words = format!("New words {HOSTILE}");
    let page = bob.post(reword.url.as_str(), &[("words", &words)]).await;
    assert!(page.status < 400, "{}", page.whole());
    let own = bob.finds().await.pages;
    own.iter().for_each(holds);
    is_shown(&own, "a fact", &words);
    let owner = world.browser(&dashboard, OWNER).await;
    owner.finds().await.pages.iter().for_each(holds);
}
