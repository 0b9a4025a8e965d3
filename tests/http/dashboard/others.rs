//! People who are no owners see what is theirs and nothing else, whatever page, id or form they try.

use reqwest::Url;

use super::browser::{Browser, Page};
use super::crawl::Found;
use super::html::Form;
use super::scene::{BETH, CARL, COMMON, DORA, OF_THE_BOT, OWNER, Who, filled};
use crate::support::scene::TEAM;
use crate::support::wait::eventually;
use crate::support::{ANN, World};

const FOR_OWNERS: [&str; 5] = ["people", "agents", "servers", "audit", "settings"];
const ACTIONS: [&str; 6] = ["run", "pause", "resume", "cancel", "revive", "skip"];
const ALL: [&Who; 4] = [&OWNER, &BETH, &CARL, &DORA];

/// Words and numbers of others, which somebody must see nowhere.
fn hidden_from(viewer: &Who) -> Vec<String> {
    let others = ALL.into_iter().filter(|who| *who != viewer);
    let mut all: Vec<String> = others.clone().map(|who| who.root.to_owned()).collect();
    all.extend(others.map(|who| who.id.to_string()));
    all.extend(OF_THE_BOT.map(str::to_owned));
    all.push(if viewer.group == TEAM { "Qclub" } else { "Qteam" }.to_owned());
    all
}

/// Fails if an answer has something of others, except for what whoever asked has named.
fn shows_nothing_of_others(viewer: &Who, asked: &str, page: &Page) {
    let whole = page.whole().to_lowercase();
    for words in hidden_from(viewer) {
        let words = words.to_lowercase();
        let is_shown = whole.contains(&words) && !asked.to_lowercase().contains(&words);
        assert!(!is_shown, "{} sees {words} at {} ({asked}): {}", viewer.root, page.url, page.around(&words));
    }
}

/// Searches and lists that name somebody or everybody.
fn prying() -> Vec<String> {
    let mut all = vec![
        format!("conversations?q={COMMON}"),
        "conversations?q=Q".to_owned(),
        "conversations?q=".to_owned(),
    ];
    for page in 0..4 {
        all.push(format!("conversations?page={page}"));
        all.push(format!("conversations?q={COMMON}&page={page}"));
    }
    let ids = ALL.into_iter().flat_map(|who| [who.id, who.group]).map(|id| id.to_string());
    for id in ids.chain([ANN.to_string(), "0".to_owned()]) {
        all.push(format!("conversations?chat={id}"));
        all.push(format!("conversations?chat={id}&q={COMMON}"));
        for form in [id.clone(), format!("tg:{id}"), format!("%20{id}"), format!("{id}%00")] {
            all.push(format!("memory?of={form}"));
        }
    }
    for by in ["model", "person", "chat", "agent", "task", "key", "user", "tenant", ""] {
        all.push(format!("?by={by}"));
    }
    all.extend(FOR_OWNERS.map(str::to_owned));
    all.extend(["audit?refused=true", "audit?verify=true", "audit?before=3"].map(str::to_owned));
    all
}

/// A page as somebody sees it, by whose id.
async fn sees(viewer: &Who, browser: &Browser, asked: &str) -> Page {
    let page = browser.get(asked).await;
    assert!([200, 400, 404].contains(&page.status), "{asked}: {}", page.whole());
    shows_nothing_of_others(viewer, asked, &page);
    page
}

/// Everybody's browser, in the order of [`ALL`], and what each finds.
async fn signed_in(world: &World, dashboard: &super::Dashboard) -> Vec<(Browser, Found)> {
    let mut all = Vec::new();
    for who in ALL {
        let browser = world.browser(dashboard, who.id).await;
        let found = browser.finds().await;
        all.push((browser, found));
    }
    all
}

#[tokio::test]
async fn nobody_sees_anything_of_others_on_any_page() {
    let (world, dashboard) = filled().await;
    let browsers = signed_in(&world, &dashboard).await;
    let (owner, of_owner) = &browsers[0];
    // The owner sees everything, so the tests below ask for what is there.
    for who in [&OWNER, &BETH, &CARL] {
        for what in ["name", "message", "answer", "task", "session", "second", "elsewhere", "ingroup"] {
            assert!(of_owner.has(&format!("{}{what}", who.root)), "{}{what}", who.root);
        }
    }
    assert!(of_owner.has("Qownapin"));
    assert!(OF_THE_BOT.iter().all(|root| of_owner.has(root) || of_owner.has(&root.to_lowercase())));
    for page in FOR_OWNERS {
        owner.reads(page).await;
    }
    let mut urls: Vec<String> =
        browsers.iter().flat_map(|(_, found)| found.urls()).map(|url| url.to_string()).collect();
    urls.extend(prying());
    urls.sort();
    urls.dedup();
    for (viewer, (browser, own)) in ALL.into_iter().zip(&browsers).skip(1) {
        for page in &own.pages {
            shows_nothing_of_others(viewer, "", page);
        }
        for page in FOR_OWNERS {
            assert_eq!(browser.status(page).await, 404, "{page}");
        }
    }
    // One after the other they would wait for each other's limit of requests.
    let looks = ALL.into_iter().zip(&browsers).skip(1).map(|(viewer, (browser, _))| async {
        for url in &urls {
            sees(viewer, browser, url).await;
        }
    });
    futures::future::join_all(looks).await;
    for (who, (_, own)) in [(&BETH, &browsers[1]), (&CARL, &browsers[2])] {
        for what in ["message", "answer", "pin", "fact", "task", "session", "second", "elsewhere"] {
            assert!(own.has(&format!("{}{what}", who.root)), "{} misses their {what}", who.root);
        }
        assert!(!own.has(&format!("{}ingroup", who.root)), "a group is no private chat");
    }
}

#[tokio::test]
async fn what_is_remembered_about_somebody_is_shown_to_nobody_else_not_even_to_an_owner() {
    let (world, dashboard) = filled().await;
    let owner = world.browser(&dashboard, OWNER.id).await;
    let ids = ALL.into_iter().flat_map(|who| [who.id, who.group]).map(|id| id.to_string());
    let asked: Vec<String> = ids
        .flat_map(|id| [format!("memory?of={id}"), format!("memory?of=tg:{id}"), format!("memory?chat={id}")])
        .collect();
    let mut pages = owner.finds().await.pages;
    for path in &asked {
        pages.push(owner.get(path).await);
    }
    for page in pages {
        let is_of_memory = page.url.path().ends_with("/memory");
        assert!(!page.body.contains("Qbethapin") && !page.body.contains("Qcarlopin"), "{}", page.url);
        for words in ["Qbethafact", "Qcarlofact"] {
            assert!(!is_of_memory || !page.body.contains(words), "{}: {}", page.url, page.around(words));
        }
    }
}

#[tokio::test]
async fn ids_of_others_are_not_there() {
    let (world, dashboard) = filled().await;
    let browsers = signed_in(&world, &dashboard).await;
    let is_one = |url: &Url| {
        let mut parts = url.path().split('/').skip(2);
        matches!(parts.next(), Some("conversations" | "tasks")) && parts.next().is_some()
    };
    for (at, (viewer, (browser, own))) in ALL.into_iter().zip(&browsers).enumerate().skip(1) {
        let mut count = 0;
        for (_, found) in browsers.iter().take(at).chain(browsers.iter().skip(at + 1)) {
            for url in found.urls().into_iter().filter(|url| is_one(url) && !own.urls().contains(url)) {
                assert_eq!(browser.status(url.as_str()).await, 404, "{}: {url}", viewer.root);
                count += 1;
            }
        }
        assert!(count > 5, "{count}");
    }
}

#[tokio::test]
async fn the_spending_of_others_is_in_no_number() {
    let (world, dashboard) = filled().await;
    for viewer in [&BETH, &CARL] {
        let browser = world.browser(&dashboard, viewer.id).await;
        for page in ["", "?by=model", "?by=person", "?by=chat"] {
            let body = browser.reads(page).await;
            assert!(body.contains(&format!("{} M tokens", viewer.spent)), "{}: {body}", viewer.root);
            let others = ALL.into_iter().filter(|who| *who != viewer && who.spent != "0");
            for spent in others.map(|who| who.spent).chain(["14.3", "6.7", "13.1"]) {
                assert!(!body.contains(&format!("{spent} M tokens")), "{} sees {spent}: {body}", viewer.root);
            }
        }
    }
    let whole = world.browser(&dashboard, OWNER.id).await.reads("").await;
    assert!(whole.contains("14.3 M tokens"), "{whole}");
}

/// Forms that whoever has seen those of others can make of them.
fn forged(forms: &[Form], viewer: &Who) -> Vec<Form> {
    let mut all: Vec<Form> = Vec::new();
    for form in forms {
        let path = form.url.path().trim_start_matches("/dashboard/").to_owned();
        let to = |path: &str, name: &str, value: &str| {
            let url = form.url.join(&format!("/dashboard/{path}")).unwrap();
            Form { url, fields: vec![(name.to_owned(), value.to_owned())] }
        };
        match path.split('/').collect::<Vec<_>>()[..] {
            ["memory", "facts" | "pins", ..] => all.extend([
                to(&path, "words", "Hijacked"),
                to(&path, "sure", "1"),
                to(&path, "change", "more"),
            ]),
            ["tasks", _] => all.extend(ACTIONS.map(|action| to(&path, "action", action))),
            ["approvals", _] => all.extend(["once", "hour", "denied"].map(|ruled| to(&path, "ruled", ruled))),
            ["people", _] if *viewer != OWNER => {
                all.extend(["admin", "member", "guest", "deny"].map(|change| to(&path, "change", change)));
                all.push(to(&format!("people/{}", viewer.id), "change", "admin"));
            }
            // An owner sees all conversations with their summaries, and may erase these.
            ["conversations", _, "summaries", ..] => {
                all.extend((*viewer != OWNER).then(|| to(&path, "at", "memory")));
            }
            ["servers", _] if *viewer != OWNER => all.push(to(&path, "now", "1")),
            _ => panic!("a form that this test does not know: {path}"),
        }
    }
    let mut each: Vec<Form> = Vec::new();
    all.into_iter().for_each(|form| {
        if !each.contains(&form) {
            each.push(form)
        }
    });
    each
}

/// The same form for an id that nothing has.
fn of_nothing(form: &Form) -> Form {
    let other = |part: &str| match part.len() {
        26 => "01BX5ZZKBKACTAV9WEVRYEMGVS".to_owned(),
        _ if part.parse::<i64>().is_ok() => "7100000909".to_owned(),
        _ => part.to_owned(),
    };
    let path: Vec<String> = form.url.path().split('/').map(other).collect();
    Form { url: form.url.join(&path.join("/")).unwrap(), fields: form.fields.clone() }
}

/// Sends forms of others, each of which is answered as one of nothing is.
async fn sends(viewer: &Who, browser: &Browser, forms: &[Form]) {
    let mut answers: Vec<(Form, Page)> = Vec::new();
    for form in forms {
        let page = browser.submits(form).await;
        if *viewer != OWNER {
            shows_nothing_of_others(viewer, form.url.as_str(), &page);
        }
        let nothing = of_nothing(form);
        if answers.iter().all(|(known, _)| *known != nothing) {
            let page = browser.submits(&nothing).await;
            answers.push((nothing.clone(), page));
        }
        let (_, absent) = answers.iter().find(|(known, _)| *known == nothing).unwrap();
        let seen = |page: &Page| (page.status, page.header("location").to_owned(), page.body.clone());
        assert_eq!(seen(&page), seen(absent), "{}: {form:?}", viewer.root);
    }
}

/// State that a form changes, as everybody sees it.
async fn state(browsers: &[(Browser, Found)]) -> Vec<String> {
    let mut all = Vec::new();
    for (browser, _) in browsers {
        // What the last form has done is told once.
        browser.get("").await;
        let is_state = |page: &&Page| {
            let rest = page.url.as_str().strip_prefix(browser.root.as_str()).unwrap();
            ["memory", "tasks", "approvals", "people"].iter().any(|begin| rest.starts_with(begin))
        };
        let lines = |page: &Page| -> Vec<String> {
            page.body.lines().map(|line| format!("{}: {}", page.url, line.trim())).collect()
        };
        let mut seen: Vec<String> =
            browser.finds().await.pages.iter().filter(is_state).flat_map(lines).collect();
        seen.sort();
        all.extend(seen);
    }
    all
}

#[tokio::test]
async fn forms_of_others_change_nothing() {
    let (world, dashboard) = filled().await;
    let browsers = signed_in(&world, &dashboard).await;
    let (before, asked, sent) =
        (state(&browsers).await, world.model.requests().len(), world.telegram.calls().len());
    for (viewer, (browser, own)) in ALL.into_iter().zip(&browsers) {
        let own = own.forms();
        let is_of_others = |form: &Form| own.iter().all(|mine| mine.url != form.url);
        let others: Vec<Form> =
            browsers.iter().flat_map(|(_, found)| found.forms()).filter(is_of_others).collect();
        let forms = forged(&others, viewer);
        // Of others an owner changes everything but what is remembered.
        assert!(forms.len() > if *viewer == OWNER { 5 } else { 40 }, "{}", forms.len());
        sends(viewer, browser, &forms).await;
    }
    let after = state(&browsers).await;
    let changed: Vec<(&String, &String)> =
        before.iter().zip(&after).filter(|(before, after)| before != after).collect();
    assert!(changed.is_empty() && before.len() == after.len(), "{changed:#?}");
    assert_eq!(world.model.requests().len(), asked, "no task has run");
    let calls = world.telegram.calls();
    let done: Vec<&str> =
        calls[sent..].iter().map(|call| call.method.as_str()).filter(|m| *m != "getUpdates").collect();
    assert_eq!(done, Vec::<&str>::new(), "nothing was told or sent");
}

#[tokio::test]
async fn a_page_of_somebody_else_is_no_copy_of_ones_own() {
    let (world, dashboard) = filled().await;
    let [beth, carl] = [world.browser(&dashboard, BETH.id).await, world.browser(&dashboard, CARL.id).await];
    for path in ["", "conversations", "memory", "tasks", "approvals"] {
        let tag = beth.get(path).await.header("etag").to_owned();
        assert!(!tag.is_empty(), "{path}");
        let asks = carl.request(reqwest::Method::GET, path).header("if-none-match", tag);
        let page = Page::of(asks.send().await.unwrap()).await;
        assert_eq!(page.status, 200, "{path}");
        shows_nothing_of_others(&CARL, path, &page);
    }
}

#[tokio::test]
async fn what_runs_for_one_is_shown_to_no_other() {
    let (world, dashboard) = filled().await;
    let [beth, carl] = [world.browser(&dashboard, BETH.id).await, world.browser(&dashboard, CARL.id).await];
    let forms = beth.finds().await.forms();
    let run = forms.iter().find(|form| form.fields.iter().any(|(_, value)| value == "run")).unwrap();
    world.when(&format!("{}task", BETH.root), figaro_offline::model::ModelReply::text("Qbethaoutcome zebra"));
    assert!(beth.submits(run).await.status < 400);
    let shown = async || beth.finds().await.has("Qbethaoutcome").then_some(());
    eventually(|| "the outcome is not shown", shown).await;
    for page in carl.finds().await.pages {
        shows_nothing_of_others(&CARL, "", &page);
    }
    assert_eq!(carl.status(run.url.as_str()).await, 404);
}
