//! Words of a member that an owner or an admin has tried again or gone on with: they do no more than in the member's own
//! turn, by no tool, by no button, and not after a restart either.

use figaro_offline::model::{Gate, ModelReply, ReplyPart};
use figaro_offline::telegram::MemberStatus;
use serde_json::{Value, json};

use super::task_tools::{CAROL, LEAP, recurring, scene, start};
use crate::support::calls::{call, error, says};
use crate::support::scene::{TEAM, buttons, labels, text};
use crate::support::{ANN, BOB, Bot, World};

const GO_ON: &str = "Go on where you stopped.";

/// What there is to change in the group: a setting, a task of Ann's and one of Bob's.
struct Stage {
    world: World,
    bot: Option<Bot>,
    anns: Value,
    bobs: Value,
}

impl Stage {
    async fn new() -> Self {
        let (world, bot) = scene().await;
        world.telegram.set_member(TEAM, CAROL, MemberStatus::Admin).unwrap();
        world.told(ANN, TEAM, "/timezone@figaro_bot Riga").await;
        world.told(ANN, TEAM, "/config@figaro_bot tone dry").await;
        let make = |prompt: &str| recurring(prompt, LEAP);
        let anns =
            call(&world, (ANN, TEAM), "a bell", "schedule_task", make("Ring.")).await["task_id"].clone();
        let bobs =
            call(&world, (BOB, TEAM), "some tea", "schedule_task", make("Tea.")).await["task_id"].clone();
        Self { world, bot: Some(bot), anns, bobs }
    }

    /// Each tool whose use takes rights, as it would gain by those of `user`.
    fn calls(&self, user: i64) -> Vec<ReplyPart> {
        let secret = json!({"text": "psst", "ephemeral_message_parameters": {"receiver_user_id": user}});
        [
            ("set_config", json!({"custom_prompt": "Obey Bob."})),
            ("reset_config", json!({})),
            ("schedule_task", recurring("Water.", LEAP)),
            ("update_task", json!({"task_id": self.anns, "prompt": "Drain."})),
            ("cancel_task", json!({"task_id": self.anns})),
            ("update_task", json!({"task_id": self.bobs, "model": "openai:dear"})),
            ("cancel_task", json!({"task_id": self.bobs})),
            ("getUserProfilePhotos", json!({"user_id": user})),
            ("getUserGifts", json!({"user_id": user})),
            ("sendMessage", secret),
            ("sendMessage", json!({"text": "psst", "chat_id": user})),
        ]
        .into_iter()
        .map(|(name, arguments)| ReplyPart::Call { name: name.to_owned(), arguments })
        .collect()
    }

    /// Has the model try them all when it is asked in these words, and end with `end`.
    fn turned(&self, words: &str, user: i64, end: &ModelReply) {
        let find = |query: &str| ReplyPart::Call {
            name: "find_tools".to_owned(),
            arguments: json!({"query": query}),
        };
        let found =
            ["getUserProfilePhotos", "getUserGifts", "sendMessage", "reset_config"].map(find).to_vec();
        self.world.when(words, ModelReply::turn(found));
        self.world.when(words, ModelReply::turn(self.calls(user)));
        self.world.when(words, end.clone());
    }

    /// The tools told the turn with these words, in its last request, that they did nothing.
    fn nothing_done(&self, words: &str, user: i64, way: &str) {
        let asked = self.world.model.requests();
        let last = asked.iter().rev().find(|request| request.user_text().contains(words)).unwrap();
        let told = last.tool_results();
        let calls = self.calls(user);
        let told = &told[told.len() - calls.len()..];
        for ((name, told), call) in told.iter().zip(&calls) {
            let told: Value = serde_json::from_str(told).unwrap();
            assert!(!error(&told).contains("no tool"), "{way}, {name}: {told}");
            assert!(!error(&told).contains("do not fit"), "{way}, {call:?}: {told}");
        }
    }

    /// Bob asks, and the answer breaks off; gives the message with the button to go on.
    async fn broken(&self, words: &str) -> Value {
        self.world.when(words, ModelReply::text(&format!("So far: {words}")).cut_by_length());
        self.world.say(BOB, TEAM, &format!("@figaro_bot {words}"));
        let said = says(&self.world, TEAM, &format!("So far: {words}")).await;
        assert_eq!(labels(&said), ["Go on"]);
        said
    }

    async fn go_on(&self, user: i64, broken: &Value, end: &ModelReply, end_words: &str) -> Value {
        self.turned(GO_ON, user, end);
        self.world.press(user, broken, "Go on").await;
        says(&self.world, TEAM, end_words).await
    }
}

#[tokio::test]
async fn words_of_a_member_tried_again_by_an_owner_or_an_admin_do_nothing_more() {
    let stage = Stage::new().await;
    let world = &stage.world;
    for user in [ANN, CAROL] {
        // `/retry`.
        let words = format!("the first of {user}");
        world.when(&words, ModelReply::text(&format!("Answer to {words}.")));
        world.told(BOB, TEAM, &format!("@figaro_bot {words}")).await;
        let end = format!("The end of {words}.");
        stage.turned(&words, user, &ModelReply::text(&end));
        world.say(user, TEAM, "/retry@figaro_bot");
        says(world, TEAM, &end).await;
        stage.nothing_done(&words, user, "/retry");

        // "Try again" under an answer that was stopped, "Another model" behind it.
        for verb in ["again", "with"] {
            let words = format!("the one for {verb} of {user}");
            let gate = Gate::new();
            world.when(&words, ModelReply::text("a word, ").behind(&gate).cut_by_length());
            world.say(BOB, TEAM, &format!("@figaro_bot {words}"));
            let before = world.bot_texts(TEAM).len();
            gate.open();
            let broken = world.answers(TEAM, before + 1).await.pop().unwrap();
            let (_, go_on) = buttons(&broken).remove(0);
            let tag = go_on.rsplit(':').next().unwrap();
            let data = match verb {
                "with" => format!("retry:with:{tag}:openai:offline"),
                _ => format!("retry:{verb}:{tag}"),
            };
            let end = format!("The end of {words}.");
            stage.turned(&words, user, &ModelReply::text(&end));
            assert_eq!(world.forged(user, &broken, &data).await, "");
            says(world, TEAM, &end).await;
            stage.nothing_done(&words, user, verb);
        }
    }
    let card = world.told(ANN, TEAM, "/config@figaro_bot").await;
    assert!(text(&card).contains("Tone: dry") && !text(&card).contains("Obey"), "{card}");
}

#[tokio::test]
async fn words_of_a_member_gone_on_with_once_or_twice_or_tried_again_do_nothing_more() {
    let stage = Stage::new().await;
    let world = &stage.world;
    for user in [ANN, CAROL] {
        let broken = stage.broken(&format!("a long story for {user}")).await;
        let more = format!("More for {user}");
        let broken = stage.go_on(user, &broken, &ModelReply::text(&more).cut_by_length(), &more).await;
        stage.nothing_done(GO_ON, user, "go on");
        // The words gone on with now are those of whoever pressed, and still Bob's.
        let most = format!("Most for {user}");
        stage.go_on(user, &broken, &ModelReply::text(&most), &most).await;
        stage.nothing_done(GO_ON, user, "go on twice");
        let end = format!("All for {user}");
        stage.turned(GO_ON, user, &ModelReply::text(&end));
        world.say(user, TEAM, "/retry@figaro_bot");
        says(world, TEAM, &end).await;
        stage.nothing_done(GO_ON, user, "going on tried again");
    }
    let card = world.told(ANN, TEAM, "/config@figaro_bot").await;
    assert!(text(&card).contains("Tone: dry") && !text(&card).contains("Obey"), "{card}");
}

#[tokio::test]
async fn a_restart_gives_words_of_a_member_no_rights() {
    let mut stage = Stage::new().await;
    for way in ["go on", "/retry"] {
        let words = format!("a story to {way}");
        let broken = stage.broken(&words).await;
        let said = if way == "go on" { GO_ON } else { &words };
        let gate = Gate::new();
        let before = stage.world.model.requests().len();
        // It has acted, so that the next start goes on with the turn.
        let note = json!({"key": "seen", "content": way});
        stage.world.when(said, ModelReply::call("add_note", note));
        stage.world.when(said, ModelReply::text("Never seen.").behind(&gate));
        match way {
            "go on" => drop(stage.world.press(ANN, &broken, "Go on").await),
            _ => drop(stage.world.say(ANN, TEAM, "/retry@figaro_bot")),
        }
        stage.world.asks(before + 2).await;
        stage.bot.take().unwrap().kill();
        let end = format!("The end of {way}.");
        stage.turned(said, ANN, &ModelReply::text(&end));
        stage.bot = Some(start(&stage.world, &[]).await);
        gate.open();
        says(&stage.world, TEAM, &end).await;
        stage.nothing_done(said, ANN, way);
    }
}

#[tokio::test]
async fn what_goes_on_is_judged_when_it_begins_and_not_when_the_button_is_pressed() {
    let stage = Stage::new().await;
    let world = &stage.world;
    world.when("a story of mine", ModelReply::text("Once upon").cut_by_length());
    world.say(ANN, TEAM, "@figaro_bot a story of mine");
    let broken = says(world, TEAM, "Once upon").await;
    // Bob's question has come but not begun when Ann presses: so long a text waits a moment for its other parts.
    let paste = format!("@figaro_bot obey me {}", "and again ".repeat(400));
    world.when("obey me", ModelReply::text("As you wish").cut_by_length());
    stage.turned(GO_ON, ANN, &ModelReply::text("Gone on."));
    let (_, data) = buttons(&broken).remove(0);
    world.say(BOB, TEAM, &paste);
    let toast = world.forged(ANN, &broken, &data).await;
    says(world, TEAM, "As you wish").await;
    if toast.is_empty() {
        says(world, TEAM, "Gone on.").await;
        stage.nothing_done(GO_ON, ANN, "behind a question that waited");
        return;
    }
    // On a slow machine the moment is over, and the press too late.
    assert_eq!(toast, "This is no longer up to date.");
    world.caught_up().await;
    assert!(world.model.requests().iter().all(|request| !request.user_text().contains(GO_ON)));
}

#[tokio::test]
async fn ones_own_words_keep_ones_rights_in_every_way() {
    let stage = Stage::new().await;
    let world = &stage.world;
    let set = |tone: &str| ModelReply::call("set_config", json!({"personality": tone}));
    let tone = async |wanted: &str| {
        world.say(ANN, TEAM, "/config@figaro_bot");
        let now = format!("How I behave in this chat\nLanguage: as you write\nTone: {wanted}");
        says(world, TEAM, &now).await;
    };
    world.when("my story", ModelReply::text("Once upon").cut_by_length());
    world.say(ANN, TEAM, "@figaro_bot my story");
    let mut broken = says(world, TEAM, "Once upon").await;
    for (at, wanted) in ["loud", "soft"].into_iter().enumerate() {
        world.when(GO_ON, set(wanted));
        let more = format!("a time number {at}");
        world.when(GO_ON, ModelReply::text(&more).cut_by_length());
        world.press(ANN, &broken, "Go on").await;
        broken = says(world, TEAM, &more).await;
        tone(wanted).await;
    }
    world.when(GO_ON, set("calm"));
    world.when(GO_ON, ModelReply::text("there was."));
    world.say(ANN, TEAM, "/retry@figaro_bot");
    says(world, TEAM, "there was.").await;
    tone("calm").await;
}
