//! What is changed in a browser is changed for the bot, and what is changed in the chat is shown in the browser.

use figaro_offline::model::{ModelReply, ModelRequest};
use serde_json::json;

use super::browser::Browser;
use super::{Dashboard, fact};
use crate::support::calls::{call, says};
use crate::support::scene::{buttons, labels, text};
use crate::support::wait::eventually;
use crate::support::{ANN, BOB, World};

/// What a task of these tests is to do.
const WATER: &str = "Water the plants";

/// A bot and the browser of Bob, who has a task for some day in years.
async fn with_task() -> (World, Dashboard, Browser, String) {
    let world = World::new().await;
    let dashboard = world.dashboard().await;
    let task = json!({"prompt": WATER, "schedule": "30 9 29 2 *", "recurring": true});
    let made = call(&world, (BOB, BOB), "plan it", "schedule_task", task).await;
    let browser = world.browser(&dashboard, BOB).await;
    let path = format!("tasks/{}", made["task_id"].as_str().unwrap());
    (world, dashboard, browser, path)
}

impl Browser {
    /// Does something with a task, which has to work.
    async fn acts(&self, path: &str, action: &str) {
        let page = self.post(path, &[("action", action)]).await;
        assert_eq!(page.status, 303, "{action}: {}", page.whole());
    }

    /// Whether a page offers this.
    async fn offers(&self, path: &str, value: &str) -> bool {
        let forms = self.get(path).await.forms();
        forms.iter().any(|form| form.fields.iter().any(|(_, have)| have == value))
    }
}

/// How the bot shows the one task in the chat.
async fn in_chat(world: &World) -> (String, Vec<String>) {
    let list = world.told(BOB, BOB, "/tasks").await;
    let Some((_, data)) = buttons(&list).into_iter().find(|(label, _)| label.contains(WATER)) else {
        return (text(&list).to_owned(), labels(&list));
    };
    world.press_data(BOB, &list, &data).await;
    let id = list["message_id"].as_i64().unwrap();
    let card = world.shows(BOB, id, "⏰ Water").await;
    (text(&card).to_owned(), labels(&card))
}

#[tokio::test]
async fn a_task_is_paused_resumed_cancelled_and_brought_back() {
    let (world, dashboard, browser, path) = with_task().await;
    let owner = world.browser(&dashboard, ANN).await;
    for by in [&browser, &owner] {
        by.acts(&path, "pause").await;
        let (words, buttons) = in_chat(&world).await;
        assert!(words.contains("Paused") && buttons.contains(&"Resume".to_owned()), "{words} {buttons:?}");
        assert!(browser.offers(&path, "resume").await && !browser.offers(&path, "pause").await);
        by.acts(&path, "resume").await;
        let (words, buttons) = in_chat(&world).await;
        assert!(!words.contains("Paused") && buttons.contains(&"Pause".to_owned()), "{words} {buttons:?}");
        by.acts(&path, "cancel").await;
        let (words, _) = in_chat(&world).await;
        assert!(words.starts_with("No tasks yet."), "{words}");
        by.acts(&path, "revive").await;
        let (words, _) = in_chat(&world).await;
        assert!(words.contains(WATER), "{words}");
        if browser.offers(&path, "resume").await {
            by.acts(&path, "resume").await;
        }
    }
    assert_eq!(world.model.requests().iter().filter(|request| request.user_text().contains(WATER)).count(), 0);
}

#[tokio::test]
async fn a_task_that_is_changed_in_the_chat_is_shown_so_in_the_browser() {
    let (world, _dashboard, browser, path) = with_task().await;
    let card = says(&world, BOB, "⏰ Water").await;
    world.press(BOB, &card, "Pause").await;
    let resumes = async || browser.offers(&path, "resume").await.then_some(());
    eventually(|| "it is not shown as paused", resumes).await;
    world.press(BOB, &card, "Resume").await;
    let pauses = async || browser.offers(&path, "pause").await.then_some(());
    eventually(|| "it is not shown as running", pauses).await;
    // The message of the task follows what is done in the browser.
    browser.acts(&path, "pause").await;
    world.press(BOB, &card, "Cancel").await;
    let gone = async || (!browser.offers("tasks", "cancel").await).then_some(());
    eventually(|| "it is not shown as cancelled", gone).await;
}

#[tokio::test]
async fn a_task_runs_at_once_and_its_outcome_is_shown() {
    let (world, _dashboard, browser, path) = with_task().await;
    world.when(WATER, ModelReply::text("The plants are watered."));
    browser.acts(&path, "run").await;
    says(&world, BOB, "The plants are watered.").await;
    let has_run = |requests: &[ModelRequest]| {
        requests.iter().any(|request| request.user_text().contains("<scheduled_task")).then_some(())
    };
    assert!(has_run(&world.model.requests()).is_some());
    let shown = async || browser.reads(&path).await.contains("The plants are watered.").then_some(());
    eventually(|| "the outcome is not shown", shown).await;
}

#[tokio::test]
async fn a_run_is_left_out_and_what_cannot_be_done_is_not() {
    let (world, _dashboard, browser, path) = with_task().await;
    let next = |page: &str| page.contains("2028");
    assert!(next(&browser.reads(&path).await));
    for (action, count) in [("dance", 0), ("", 0), ("RUN", 0), ("resume", 0), ("revive", 0)] {
        let page = browser.post(&path, &[("action", action)]).await;
        assert!(page.status < 500, "{action}: {}", page.whole());
        assert_eq!(world.asked().len(), 2 + count, "{action}");
        assert!(next(&browser.reads(&path).await), "{action}");
    }
    assert!(browser.post(&path, &[]).await.status < 500);
    assert!(browser.offers(&path, "pause").await);
}

#[tokio::test]
async fn a_pin_that_is_removed_is_told_no_more() {
    let world = World::new().await;
    world.otherwise(ModelReply::text("Fine."));
    let dashboard = world.dashboard().await;
    let (owner, browser) = (world.browser(&dashboard, ANN).await, world.browser(&dashboard, BOB).await);
    for (remover, page) in [(&browser, "memory"), (&owner, "memory?of=12")] {
        world.told(BOB, BOB, "/pin The code is 4711").await;
        assert!(browser.reads("memory").await.contains("The code is 4711"));
        let form = remover.get(page).await.forms().into_iter().find(|form| form.url.path().contains("/pins/")).unwrap();
        world.told(BOB, BOB, "a question before").await;
        assert!(world.asked().pop().unwrap().body.to_string().contains("4711"));
        assert_eq!(remover.post(form.url.as_str(), &[]).await.status, 303);
        assert!(!browser.reads("memory").await.contains("4711"));
        assert!(text(&world.told(BOB, BOB, "/pins").await).starts_with("No pins yet."));
        world.told(BOB, BOB, "/new").await;
        world.told(BOB, BOB, "a question after").await;
        assert!(!world.asked().pop().unwrap().body.to_string().contains("4711"));
        // Once more changes nothing.
        assert!(remover.post(form.url.as_str(), &[]).await.status < 500);
    }
}

/// A bot that remembers a fact about Bob, and the path of its form.
async fn with_fact() -> (World, Dashboard, Browser, String) {
    let world = World::new().await;
    world.otherwise(ModelReply::text("Fine."));
    let dashboard = world.dashboard_of(world.bot().set("ACCESS", "open").set("MEMORY_LIMIT", "50")).await;
    world.script.extract_when("My dog is called Rex", fact("My dog is called Rex"));
    world.told(BOB, BOB, "My dog is called Rex.").await;
    let browser = world.browser(&dashboard, BOB).await;
    let finds = async || {
        let forms = browser.get("memory").await.forms();
        forms.into_iter().find(|form| form.url.path().contains("/facts/"))
    };
    let form = eventually(|| "no fact is shown", finds).await;
    let path = form.url.to_string();
    (world, dashboard, browser, path)
}

#[tokio::test]
async fn a_fact_is_reworded_by_whom_it_is_about_and_removed() {
    let (world, _dashboard, browser, path) = with_fact().await;
    let page = browser.post(&path, &[("words", "My cat is called Tom")]).await;
    assert_eq!(page.status, 303, "{}", page.whole());
    let memory = async || labels(&world.told(BOB, BOB, "/memory").await).join("\n");
    let now = memory().await;
    assert!(now.contains("My cat is called Tom") && !now.contains("Rex"), "{now}");
    world.told(BOB, BOB, "what is my cat called?").await;
    let finds = async || {
        let forms = browser.get("memory").await.forms();
        forms.into_iter().find(|form| form.url.path().contains("/facts/"))
    };
    let form = eventually(|| "no fact is shown", finds).await;
    assert_eq!(browser.post(form.url.as_str(), &[]).await.status, 303);
    assert!(!memory().await.contains("Tom"));
    assert!(!browser.reads("memory").await.contains("Tom"));
}

#[tokio::test]
async fn words_that_are_no_fact_change_nothing() {
    let (_world, _dashboard, browser, path) = with_fact().await;
    for words in ["x".repeat(100_000), "x".repeat(501), "é".repeat(501)] {
        let page = browser.post(&path, &[("words", &words)]).await;
        assert!((400..500).contains(&page.status), "{} of {} characters", page.status, words.len());
        assert!(browser.reads("memory").await.contains("My dog is called Rex"));
    }
}

#[tokio::test]
async fn an_owner_removes_a_fact_of_another_and_puts_no_words_in_their_mouth() {
    let (world, dashboard, browser, path) = with_fact().await;
    let owner = world.browser(&dashboard, ANN).await;
    let page = owner.post(&path, &[("words", "I owe Ann a thousand")]).await;
    assert!(page.status < 500, "{}", page.whole());
    assert!(!browser.reads("memory").await.contains("I owe Ann"), "{}", page.whole());
    assert!(browser.reads("memory").await.contains("My dog is called Rex"), "what was no removal removes nothing");
    assert_eq!(owner.post(&path, &[]).await.status, 303);
    assert!(!browser.reads("memory").await.contains("Rex"));
    assert!(!labels(&world.told(BOB, BOB, "/memory").await).join("\n").contains("Rex"));
}
