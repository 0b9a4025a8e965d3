//! Changes in a browser are changes of the bot, and the browser shows changes in the chat.

use figaro_offline::model::{ModelReply, ModelRequest};
use figaro_offline::telegram::MemberStatus;
use serde_json::json;

use super::browser::Browser;
use super::html::{Form, encoded};
use super::{Dashboard, fact};
use crate::support::calls::{call, says};
use crate::support::scene::{TEAM, buttons, labels, text};
use crate::support::wait::eventually;
use crate::support::{ANN, BOB, World};

/// Prompt of the tasks of these tests.
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

    /// Returns `true` if a page offers this.
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
    assert_eq!(
        world.model.requests().iter().filter(|request| request.user_text().contains(WATER)).count(),
        0
    );
}

#[tokio::test]
async fn a_task_that_is_changed_in_the_chat_is_shown_so_in_the_browser() {
    let (world, _dashboard, browser, path) = with_task().await;
    let card = says(&world, BOB, "⏰ Water").await;
    world.press(BOB, &card, "Pause").await;
    let resumes = async || browser.offers(&path, "resume").await.then_some(());
    eventually(|| "it is not shown as paused", resumes).await;
    world.becomes(&card, "Paused", "Resume").await;
    world.press(BOB, &card, "Resume").await;
    let pauses = async || browser.offers(&path, "pause").await.then_some(());
    eventually(|| "it is not shown as running", pauses).await;
    world.becomes(&card, "Next: ", "Pause").await;
    // The message of the task follows what is done in the browser.
    browser.acts(&path, "pause").await;
    world.becomes(&card, "Paused", "Resume").await;
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
    let shown = async || browser.reads(&path).await.contains("delivered").then_some(());
    eventually(|| "that it has run is not shown", shown).await;
    assert!(browser.finds().await.has("The plants are watered."));
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

impl Browser {
    /// The form of the page of memory with these words in its address and this field. What the last form has done is told once, so
    /// another page is looked at before.
    pub async fn memory_form(&self, words: &str, field: &str) -> Option<Form> {
        self.get("").await;
        let forms = self.get("memory").await.forms();
        let is_it = |form: &Form| {
            form.url.path().contains(words) && form.fields.iter().any(|(name, _)| name == field)
        };
        forms.into_iter().find(is_it)
    }

    /// Returns the page of memory, once it tells no result of an action any more.
    async fn remembers(&self, words: &str) -> bool {
        self.get("").await;
        self.reads("memory").await.contains(words)
    }
}

#[tokio::test]
async fn whoever_has_left_a_group_runs_no_task_there() {
    let world = World::new().await;
    world.team();
    let dashboard = world.dashboard().await;
    let task = json!({"prompt": WATER, "schedule": "30 9 29 2 *", "recurring": true});
    let made = call(&world, (BOB, TEAM), "plan it", "schedule_task", task).await;
    let browser = world.browser(&dashboard, BOB).await;
    let path = format!("tasks/{}", made["task_id"].as_str().unwrap());
    world.otherwise(ModelReply::text("The plants are watered."));
    world.telegram.set_member(TEAM, BOB, MemberStatus::Left).unwrap();
    for action in ["run", "pause", "resume", "run"] {
        let page = browser.post(&path, &[("action", action)]).await;
        assert!(page.status < 500, "{action}: {}", page.whole());
        world.caught_up().await;
    }
    assert!(
        !world.bot_texts(TEAM).iter().any(|text| text.contains("watered")),
        "{:?}",
        world.bot_texts(TEAM)
    );
    browser.post(&path, &[("action", "cancel")]).await;
    assert!(!browser.offers("tasks", "cancel").await, "it can be stopped");
    browser.post(&path, &[("action", "revive")]).await;
    assert!(!browser.offers("tasks", "cancel").await, "and not brought back");
}

#[tokio::test]
async fn an_address_that_is_only_opened_does_nothing() {
    let (world, _dashboard, browser, path) = with_task().await;
    world.told(BOB, BOB, "/pin The code is 4711").await;
    let asked = world.model.requests().len();
    for form in browser.finds().await.forms() {
        let fields: Vec<_> =
            form.fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let page = browser.get(&format!("{}?{}", form.url, encoded(&fields))).await;
        assert!(page.status < 500, "{}: {}", page.url, page.whole());
    }
    browser.get("leave?now=1").await;
    assert!(browser.offers(&path, "pause").await && browser.remembers("4711").await);
    assert_eq!(world.model.requests().len(), asked);
}

#[tokio::test]
async fn a_pin_that_is_removed_is_told_no_more() {
    let world = World::new().await;
    world.otherwise(ModelReply::text("Fine."));
    let dashboard = world.dashboard().await;
    let browser = world.browser(&dashboard, BOB).await;
    world.told(BOB, BOB, "/pin The code is 4711").await;
    assert!(browser.remembers("The code is 4711").await);
    let form = browser.memory_form("/pins/", "sure").await.unwrap();
    world.told(BOB, BOB, "a question before").await;
    assert!(world.asked().pop().unwrap().body.to_string().contains("4711"));
    assert_eq!(browser.submits(&form).await.status, 303);
    assert!(!browser.remembers("4711").await);
    assert!(text(&world.told(BOB, BOB, "/pins").await).starts_with("No pins yet."));
    world.told(BOB, BOB, "a question after").await;
    assert!(!world.asked().pop().unwrap().body.to_string().contains("<pins>"));
    assert!(browser.submits(&form).await.status < 500, "once more changes nothing");
}

/// A bot that remembers a fact about Bob.
async fn with_fact() -> (World, Dashboard, Browser) {
    let world = World::new().await;
    world.otherwise(ModelReply::text("Fine."));
    let dashboard = world.dashboard_of(world.bot().set("ACCESS", "open").set("MEMORY_LIMIT", "50")).await;
    world.script.extract_when("My dog is called Rex", fact("My dog is called Rex"));
    world.told(BOB, BOB, "My dog is called Rex.").await;
    let browser = world.browser(&dashboard, BOB).await;
    eventually(|| "no fact is shown", async || browser.memory_form("/facts/", "sure").await).await;
    (world, dashboard, browser)
}

#[tokio::test]
async fn a_fact_is_reworded_by_whom_it_is_about_and_removed() {
    let (world, _dashboard, browser) = with_fact().await;
    let form = browser.memory_form("/facts/", "words").await.unwrap();
    let page = browser.post(form.url.as_str(), &[("words", "My cat is called Tom")]).await;
    assert_eq!(page.status, 303, "{}", page.whole());
    let memory = async || labels(&world.told(BOB, BOB, "/memory").await).join("\n");
    let now = memory().await;
    assert!(now.contains("My cat is called Tom") && !now.contains("Rex"), "{now}");
    assert!(browser.remembers("My cat is called Tom").await);
    let form = browser.memory_form("/facts/", "sure").await.unwrap();
    assert_eq!(browser.submits(&form).await.status, 303);
    assert!(!browser.remembers("Tom").await);
    assert!(!memory().await.contains("Tom"));
}

#[tokio::test]
async fn words_that_are_no_fact_change_nothing() {
    let (_world, _dashboard, browser) = with_fact().await;
    let form = browser.memory_form("/facts/", "words").await.unwrap();
    for words in ["x".repeat(60_000), "x".repeat(501), "é".repeat(501), " \n ".to_owned(), String::new()] {
        let page = browser.post(form.url.as_str(), &[("words", &words)]).await;
        assert!(page.status < 500, "{}", page.whole());
        assert!(browser.remembers("My dog is called Rex").await, "{words}");
        assert!(!browser.remembers("xxxxxxxx").await);
    }
}
