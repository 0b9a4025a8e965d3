//! Why an answer is as it is, summaries that are erased, words found by their meaning in all chats, and files that were
//! reloaded.

use figaro_offline::model::{Gate, ModelReply, OfflineModel};
use figaro_offline::telegram::Say;
use serde_json::json;

use super::browser::Browser;
use super::fact;
use super::html;
use crate::support::calls::{call, says};
use crate::support::scene::{TEAM, buttons as card_buttons, text};
use crate::support::wait::eventually;
use crate::support::{ANN, BOB, World};

/// The links of all pages that tell why, in the order of the messages.
async fn whys(browser: &Browser) -> Vec<String> {
    let found = browser.finds().await;
    let mut all: Vec<String> =
        found.urls().iter().map(ToString::to_string).filter(|url| url.contains("/why/")).collect();
    all.sort_by_key(|url| url.rsplit('/').next().unwrap().parse::<u32>().unwrap());
    all
}

/// The words of a page, without tags.
async fn words(browser: &Browser, url: &str) -> String {
    html::unescaped(&browser.reads(url).await)
}

#[tokio::test]
async fn why_tells_on_the_page_what_it_tells_in_the_chat() {
    let world = World::new().await;
    let dashboard = world.dashboard_of(world.bot().set("ACCESS", "open").set("MEMORY_LIMIT", "50")).await;
    let dog = "My dog is called Rex.";
    world.script.extract_when(dog, fact(dog));
    world.when(dog, ModelReply::text("Nice.").usage(1_000, 10));
    world.say(BOB, BOB, dog);
    says(&world, BOB, "Nice.").await;
    world.told(BOB, BOB, "/pin The vet is closed on Monday.").await;
    call(&world, (BOB, BOB), "note what Rex eats", "add_note", json!({"key": "food", "content": "fish"}))
        .await;
    let card = world.told(BOB, BOB, "/why").await;
    let told: Vec<&str> = text(&card).lines().skip(1).filter(|line| !line.trim().is_empty()).collect();
    assert!(told.len() >= 4, "{told:?}");

    let bob = world.browser(&dashboard, BOB).await;
    let urls = whys(&bob).await;
    let page = words(&bob, urls.last().unwrap()).await;
    for line in told {
        assert!(page.contains(line.trim_start_matches("• ").trim()), "{line}\n{page}");
    }
    assert!(page.contains("note what Rex eats"), "the question itself: {page}");

    // An owner is told of it, but not what is remembered of Bob.
    let ann = world.browser(&dashboard, ANN).await;
    let page = words(&ann, urls.last().unwrap()).await;
    assert!(page.contains("It was answered") && page.contains("looking at notes: done"), "{page}");
    for hidden in ["What I used of what I remember", "The vet is closed", "Rex is"] {
        assert!(!page.contains(hidden), "{hidden}: {page}");
    }
    // Bob does not find the pages of the owner.
    world.told(ANN, ANN, "hello").await;
    let of_ann = whys(&ann).await.into_iter().find(|url| !urls.contains(url)).unwrap();
    assert_eq!((ann.status(&of_ann).await, bob.status(&of_ann).await), (200, 404));
    let (list, _) = of_ann.rsplit_once('/').unwrap();
    for index in ["999", "-1", "4294967295", "4294967296", "x", "", "1/2", "%00"] {
        let status = ann.status(&format!("{list}/{index}")).await;
        assert!((400..500).contains(&status), "{index}: {status}");
    }
    assert_eq!(dashboard.nobody().status(&of_ann).await, 401);
}

#[tokio::test]
async fn why_says_what_became_of_a_question_without_an_answer() {
    let world = World::new().await;
    let dashboard = world.dashboard().await;
    let gate = Gate::new();
    world.when("take your time", ModelReply::text("Done.").behind(&gate));
    world.say(BOB, BOB, "take your time");
    world.asks(1).await;
    let browser = world.browser(&dashboard, ANN).await;
    let now = async || words(&browser, &whys(&browser).await[0]).await;
    assert!(now().await.contains("It is being answered now."));
    gate.open();
    says(&world, BOB, "Done.").await;
    eventually(|| "never answered", async || now().await.contains("It was answered").then_some(())).await;
}

#[tokio::test]
async fn a_summary_that_is_erased_is_made_anew() {
    let world = World::new().await;
    let recipe = world.bot().set("ACCESS", "open").set("SUMMARY_EVERY", "6").set("HISTORY_TOKENS", "900");
    let log = "info,figaro_agent::turn::summaries=debug";
    let dashboard = world.dashboard_of(recipe.set("RUST_LOG", log)).await;
    let made = |words: &str| {
        ModelReply::text(&json!({"summary": words, "importance": 8}).to_string()).usage(400, 100)
    };
    world.script.summarise_next(made("Bob takes the train to Riga."));
    for number in 0..5 {
        let said = format!("Question {number}. What of the train to Riga?");
        let answer = format!("Answer {number}{}.", ", it was late and full again".repeat(6));
        world.when(&said, ModelReply::text(&answer).usage(100, 10));
        world.say(BOB, BOB, &said);
        says(&world, BOB, &format!("Answer {number},")).await;
    }
    dashboard.bot().logged_times("is_stored=true", 1).await;
    let bob = world.browser(&dashboard, BOB).await;
    let shown = bob.get("memory").await;
    assert!(shown.body.contains("Bob takes the train to Riga."), "{}", shown.body);
    let form = html::forms(&shown.url, &shown.body);
    let form = form.into_iter().find(|form| form.url.path().contains("/summaries/")).unwrap();
    // Summaries of others are shown with their conversation, to owners.
    let ann = world.browser(&dashboard, ANN).await;
    assert!(!ann.reads("memory").await.contains("train to Riga"));
    world.person(13, "Carl", "en");
    let stranger = world.browser(&dashboard, 13).await;
    assert_eq!(stranger.submits(&form).await.status, 404);

    let gate = Gate::new();
    world.script.summarise_next(made("Bob goes to Riga by train.").behind(&gate));
    let erased = bob.submits(&form).await;
    assert_eq!(erased.status, 303, "{}", erased.body);
    assert!(erased.header("location").ends_with("memory"));
    let page = bob.reads("memory").await;
    assert!(page.contains("The summary is erased.") && !page.contains("Bob takes the train"), "{page}");
    assert!(!ann.finds().await.has("Bob takes the train to Riga."));
    let again = bob.submits(&form).await;
    assert_eq!(again.status, 303, "{}", again.body);
    assert!(!bob.reads("memory").await.contains("is erased"), "there is none now");
    world.asked_for(OfflineModel::summary_requests, "", 2).await;
    gate.open();
    let anew = async || bob.reads("memory").await.contains("Bob goes to Riga by train.").then_some(());
    eventually(|| "it is never made anew", anew).await;
    let (conversation, _) = form.url.as_str().split_once("/summaries/").unwrap();
    for id in ["x", "0", "-1", ""] {
        let page = bob.post(&format!("{conversation}/summaries/{id}/remove"), &[("at", "memory")]).await;
        assert!((400..500).contains(&page.status), "{id}: {}", page.status);
    }
    // The owner sees it with its conversation, and may erase it there.
    let shown = ann.get(conversation).await;
    let anew = html::forms(&shown.url, &shown.body);
    let anew = anew.into_iter().find(|form| form.url.path().contains("/summaries/")).unwrap();
    assert_ne!(anew.url, form.url, "a new one has an id of its own");
    let erased = ann.submits(&anew).await;
    assert_eq!(erased.status, 303, "{}", erased.body);
    let back = anew.url.join(erased.header("location")).unwrap();
    assert_eq!(back.as_str(), conversation);
    assert!(!ann.reads(conversation).await.contains("Bob goes to Riga by train."));
    let odd = bob.post(form.url.as_str(), &[("at", "elsewhere")]).await;
    assert!((400..500).contains(&odd.status), "{}", odd.status);
}

#[tokio::test]
async fn a_pin_leads_to_its_message_and_is_weighed_as_in_the_chat() {
    let world = World::new().await;
    world.otherwise(ModelReply::text("Noted."));
    let dashboard = world.dashboard().await;
    let said = world.say(BOB, BOB, "The vet is closed on Monday").message_id;
    says(&world, BOB, "Noted.").await;
    world.telegram.send(Say::new(BOB, BOB, "/pin").reply_to(said)).unwrap();
    let browser = world.browser(&dashboard, BOB).await;
    let pinned = async || {
        let page = browser.get("memory").await;
        let forms = html::forms(&page.url, &page.body);
        forms.iter().any(|form| form.url.path().ends_with("/importance")).then_some(page)
    };
    let page = eventually(|| "nothing was pinned", pinned).await;
    let source = html::links(&page.url, &page.body);
    let source = source.into_iter().find(|url| url.path().contains("/conversations/")).unwrap();
    assert!(browser.reads(source.as_str()).await.contains("The vet is closed on Monday"));
    let form = |change: &str| {
        let forms = html::forms(&page.url, &page.body).into_iter();
        let field = ("change".to_owned(), change.to_owned());
        forms
            .filter(|form| form.url.path().ends_with("/importance"))
            .find(|form| form.fields.contains(&field))
            .unwrap()
    };
    let shown = async || {
        let page = browser.reads("memory").await;
        (0..=10).rev().find(|number| page.contains(&format!("Importance: {number} of 10"))).unwrap()
    };
    let first = shown().await;
    assert_eq!(browser.submits(&form("less")).await.status, 303);
    browser.reads("memory").await;
    assert_eq!(shown().await, first - 1);
    for _ in 0..12 {
        browser.submits(&form("more")).await;
    }
    browser.reads("memory").await;
    assert_eq!(shown().await, 10);
    let card = world.told(BOB, BOB, "/pins").await;
    assert!(card.to_string().contains("The vet is closed"), "{card}");
    let odd = browser.post(form("more").url.as_str(), &[("change", "11")]).await;
    assert!((400..500).contains(&odd.status), "{}", odd.status);
}

#[tokio::test]
async fn all_chats_are_searched_by_meaning_with_one_vector() {
    let world = World::new().await;
    world.team();
    world.otherwise(ModelReply::text("Fine."));
    let recipe = world.bot().set("ACCESS", "open").set("EMBEDDER", "openai:text-embedding-3-small");
    let dashboard = world.dashboard_of(recipe).await;
    // Each shares no word with what is searched for; one of them means much the same.
    for (who, chat, words) in [
        (BOB, BOB, "No sugar on my list"),
        (BOB, TEAM, "@figaro_bot the printer is broken"),
        (ANN, ANN, "the bridge is closed"),
    ] {
        world.told(who, chat, words).await;
    }
    let embedded = async || {
        let all: Vec<String> =
            world.model.vector_requests().into_iter().flat_map(|request| request.texts).collect();
        ["No sugar", "printer", "bridge"]
            .iter()
            .all(|words| all.iter().any(|text| text.contains(words)))
            .then_some(())
    };
    eventually(|| "not all was embedded", embedded).await;
    let browser = world.browser(&dashboard, ANN).await;
    let query = "conversations?q=Would+chocolate+cake+make+grandfather+happy";
    let found = async || {
        let page = html::unescaped(&browser.reads(query).await);
        page.contains("No sugar on my list").then_some(page)
    };
    let page = eventually(|| "never found by its meaning", found).await;
    let sugar = page.find("No sugar").unwrap();
    for other in ["the printer is broken", "the bridge is closed"] {
        assert!(page.find(other).is_none_or(|at| at > sugar), "{other}: {page}");
    }
    let asked = |words: &str| {
        let all = world.model.vector_requests();
        all.iter().filter(|request| request.texts.iter().any(|text| text.contains(words))).count()
    };
    let before = asked("chocolate");
    browser.reads(query).await;
    assert_eq!(asked("chocolate"), before + 1, "one vector for all chats");
    let by_words = html::unescaped(&browser.reads("conversations?q=printer").await);
    let first = by_words.find("printer is broken").unwrap();
    assert!(by_words.find("bridge").is_none_or(|at| at > first), "words come first: {by_words}");
}

#[tokio::test]
async fn a_search_goes_on_through_older_chats() {
    let world = World::new().await;
    world.otherwise(ModelReply::text("Fine."));
    let dashboard = world.dashboard().await;
    for number in 0..35_i64 {
        let user = 5_000 + number;
        world.person(user, &format!("P{number}"), "en");
        world.told(user, user, &format!("zebra number-{number}-")).await;
    }
    let browser = world.browser(&dashboard, ANN).await;
    let mut seen = Vec::new();
    let mut path = "conversations?q=zebra".to_owned();
    for _ in 0..2 {
        let page = browser.get(&path).await;
        seen.extend((0..35).filter(|number| page.body.contains(&format!("number-{number}-"))));
        let next = html::links(&page.url, &page.body);
        let Some(next) =
            next.into_iter().find(|url| url.query().is_some_and(|query| query.contains("q=zebra&page=1")))
        else {
            break;
        };
        path = next.to_string();
    }
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen, (0..35).collect::<Vec<_>>());
}

#[tokio::test]
async fn it_says_when_files_of_agents_were_reloaded_and_what_has_no_effect() {
    let world = World::new().await;
    let dashboard = world.dashboard().await;
    let browser = world.browser(&dashboard, ANN).await;
    assert!(!browser.reads("agents").await.contains("Reloaded from files"));
    let folder = world.folder.path().join("prompts/agents");
    std::fs::create_dir_all(&folder).unwrap();
    let tutor = "type: object\ndescription: Ask.\njson_schema_extra: {kind: agent, name: tutor, version: 1, agents: [researcher], speaks: true, tools: [{name: add_note}]}\n";
    std::fs::write(folder.join("tutor.yaml"), tutor).unwrap();
    let reloaded = async || {
        let page = browser.reads("agents").await;
        page.contains("Reloaded from files").then_some(page)
    };
    let page = eventually(|| "never reloaded", reloaded).await;
    assert!(
        page.contains("agents are listed, but neither ask_agent nor action is among its tools"),
        "{page}"
    );
    assert_eq!(page.matches("Reloaded from files").count(), 1, "packs were not: {page}");
}

#[tokio::test]
async fn it_is_not_said_that_no_pins_were_used_where_they_are_hidden_or_gone() {
    const NOTHING: &str = "For the answer I used no tools and no pins.";
    let world = World::new().await;
    world.otherwise(ModelReply::text("Fine."));
    let dashboard = world.dashboard().await;
    world.told(BOB, BOB, "the first question").await;
    world.told(BOB, BOB, "/pin My locker is 77.").await;
    world.told(BOB, BOB, "the second question").await;
    let (bob, ann) = (world.browser(&dashboard, BOB).await, world.browser(&dashboard, ANN).await);
    let urls = whys(&bob).await;
    let [first, second] = &urls[..] else { panic!("{urls:?}") };
    assert!(words(&bob, first).await.contains(NOTHING) && words(&ann, first).await.contains(NOTHING));
    let own = words(&bob, second).await;
    assert!(own.contains("My locker is 77") && !own.contains(NOTHING), "{own}");
    let of_owner = words(&ann, second).await;
    assert!(!of_owner.contains("locker") && !of_owner.contains(NOTHING), "{of_owner}");
    let card = world.told(BOB, BOB, "/pins").await;
    let opened = card_buttons(&card).into_iter().find(|(label, _)| label.contains("locker")).unwrap();
    world.press_data(BOB, &card, &opened.1).await;
    let card = world.becomes(&card, "locker", "Remove").await;
    world.press(BOB, &card, "Remove").await;
    let after = words(&bob, second).await;
    assert!(!after.contains("locker") && !after.contains(NOTHING), "{after}");
}
