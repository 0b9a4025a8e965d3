//! Spoken answers: in the chats that want them, beside the text, not for code, paid for, and not lost by a kill.

use figaro_offline::model::ModelReply;
use figaro_offline::telegram::{PlannedFailure, Say};
use serde_json::{Value, json};

use crate::support::bot::Recipe;
use crate::support::calls::says;
use crate::support::scene::{TEAM, labels, number, text};
use crate::support::speech::Speech;
use crate::support::studio::Studio;
use crate::support::wait::recorded;
use crate::support::{ANN, BOB, World};

impl World {
    /// A bot that speaks by this service, as a compatible server.
    fn speaker(&self, studio: &Studio) -> Recipe {
        self.bot()
            .set("SPEAKER", "compatible:kokoro")
            .set("SPEAKER_VOICE", "bella")
            .set("COMPATIBLE_BASE_URL", &format!("{}/v1", studio.origin))
    }

    /// Waits for so many voice messages of the bot in a chat, and returns the last.
    async fn spoken(&self, chat: i64, count: usize) -> Value {
        self.see("a voice message", |view| {
            let mut all: Vec<&Value> =
                view.bot_messages(chat).into_iter().filter(|message| message["voice"].is_object()).collect();
            (all.len() >= count).then(|| all.pop().unwrap().clone())
        })
        .await
    }

    fn voices(&self, chat: i64) -> usize {
        self.telegram.view(|view| {
            view.bot_messages(chat).iter().filter(|message| message["voice"].is_object()).count()
        })
    }
}

#[tokio::test]
async fn answers_are_spoken_where_a_chat_wants_it_and_code_is_not() {
    let world = World::new().await;
    let studio = Studio::start().await;
    let bot = world.speaker(&studio).spawn();
    bot.ready().await;
    world.otherwise(ModelReply::text("The **boat** leaves at [noon](https://a.example)."));
    world.told(ANN, ANN, "when?").await;
    let card = world.told(ANN, ANN, "/voice").await;
    assert!(text(&card).contains("Now: Off."), "{card}");
    assert_eq!(labels(&card), ["When spoken to", "Always"]);
    world.press(ANN, &card, "Always").await;
    world.shows(ANN, number(&card["message_id"]), "Now: Always.").await;
    assert!(studio.orders().is_empty());
    world.say(ANN, ANN, "when exactly?");
    let voice = world.spoken(ANN, 1).await;
    let order = studio.orders().pop().unwrap();
    let wanted = json!({"model": "kokoro", "input": "The boat leaves at noon.", "voice": "bella", "response_format": "opus"});
    assert_eq!((order.path.as_str(), order.fields), ("/v1/audio/speech", wanted));
    // The text is there, too, before it.
    let last = world.telegram.view(|view| {
        let all = view.bot_messages(ANN).into_iter();
        all.rev().find(|message| text(message).contains("boat")).map(|message| number(&message["message_id"]))
    });
    assert!(last.unwrap() < number(&voice["message_id"]));
    world.when("show me code", ModelReply::text("So:\n\n```rust\nlet boat = 1;\n```"));
    world.told(ANN, ANN, "show me code").await;
    world.when("thanks", ModelReply::text("Gladly."));
    world.told(ANN, ANN, "thanks").await;
    world.spoken(ANN, 2).await;
    let spoken = studio.orders().into_iter().map(|order| order.fields["input"].as_str().unwrap().to_owned());
    assert_eq!(spoken.collect::<Vec<_>>(), ["The boat leaves at noon.", "Gladly."]);
    let card = world.told(ANN, ANN, "/voice off").await;
    assert!(text(&card).contains("Now: Off."), "{card}");
    world.told(ANN, ANN, "thanks").await;
    bot.ends_well().await;
    assert_eq!((world.voices(ANN), studio.faults().len()), (2, 0));
    let books = world.books().await;
    // Six tokens of text and 24 characters of sound; the service counts nothing.
    let speech = books.iter().filter(|spending| spending.model.to_string() == "compatible:kokoro");
    assert!(speech.map(|spending| spending.spent.tokens).sum::<u64>() > 40, "{books:?}");
    assert!(world.refused().is_empty(), "{:?}", world.refused());
}

#[tokio::test]
async fn a_voice_message_is_answered_by_voice_and_a_text_is_not() {
    let world = World::new().await;
    world.otherwise(ModelReply::text("At noon."));
    let (studio, ears) = (Studio::start().await, Speech::start().await);
    let bot = world
        .speaker(&studio)
        .set("TRANSCRIBER", "gemini:gemini-2.5-flash")
        .set("GEMINI_BASE_URL", &format!("{}/v1beta", ears.origin))
        .set("GEMINI_API_KEY", "k")
        .spawn();
    bot.ready().await;
    world.told(ANN, ANN, "/voice reply").await;
    world.told(ANN, ANN, "when does the boat leave?").await;
    ears.says("when does the boat leave");
    world.telegram.send(Say::new(ANN, ANN, "").sound("voice", 3, b"OggS")).unwrap();
    world.spoken(ANN, 1).await;
    bot.ends_well().await;
    assert_eq!((studio.orders().len(), ears.faults()), (1, Vec::new()));
}

#[tokio::test]
async fn an_answer_that_cannot_be_spoken_stays_a_text_and_nothing_waits_for_it() {
    let world = World::new().await;
    world.otherwise(ModelReply::text("At noon."));
    let studio = Studio::start().await;
    let bot = world.speaker(&studio).spawn();
    bot.ready().await;
    world.told(ANN, ANN, "/voice always").await;
    studio.fails(500, "hoarse");
    world.told(ANN, ANN, "when?").await;
    studio.ordered(1).await;
    // A text that does not arrive is not spoken.
    let closed =
        PlannedFailure::Status { status: 400, description: "Bad Request: chat is closed".to_owned() };
    world.telegram.fail("sendMessage", closed, 1);
    let before = studio.orders().len();
    world.say(ANN, ANN, "when then?");
    world.asks(2).await;
    world.told(ANN, ANN, "hello?").await;
    world.spoken(ANN, 1).await;
    assert_eq!(studio.orders().len() - before, 1, "only the answer that arrived");
    // People who take no voice messages.
    world.telegram.fail(
        "sendVoice",
        PlannedFailure::Status {
            status: 400,
            description: "Bad Request: user restricted receiving of voice messages".to_owned(),
        },
        1,
    );
    world.told(ANN, ANN, "when exactly?").await;
    says(&world, ANN, "Telegram takes no voice messages from me here").await;
    world.told(ANN, ANN, "thanks").await;
    let card = world.told(ANN, ANN, "/voice").await;
    assert!(text(&card).contains("Now: Off."), "{card}");
    bot.ends_well().await;
    let texts = world.bot_texts(ANN);
    assert_eq!(texts.iter().filter(|text| *text == "At noon.").count(), 4, "{texts:?}");
    assert_eq!(world.voices(ANN), 1);
}

#[tokio::test]
async fn a_kill_before_the_voice_message_loses_neither() {
    let world = World::new().await;
    world.otherwise(ModelReply::text("At noon."));
    let studio = Studio::start().await;
    let bot = world.speaker(&studio).spawn();
    bot.ready().await;
    world.told(ANN, ANN, "/voice always").await;
    world.telegram.fail("sendVoice", PlannedFailure::Hang, 1);
    world.say(ANN, ANN, "when?");
    world.see("the call", |view| (!view.calls_of("sendVoice").is_empty()).then_some(())).await;
    // That the text was delivered is on record a moment later.
    recorded().await;
    bot.kill();
    let bot = world.speaker(&studio).spawn();
    bot.ready().await;
    world.spoken(ANN, 1).await;
    bot.ends_well().await;
    let texts = world.bot_texts(ANN);
    assert_eq!(texts.iter().filter(|text| *text == "At noon.").count(), 1, "{texts:?}");
}

#[tokio::test]
async fn in_a_group_only_who_may_change_it_chooses_and_without_the_setting_it_says_what_is_missing() {
    let world = World::new().await;
    world.team();
    let studio = Studio::start().await;
    let bot = world.speaker(&studio).set("ACCESS", "open").spawn();
    bot.ready().await;
    let refused = world.told(BOB, TEAM, "/voice always").await;
    assert!(text(&refused).contains("admin"), "{refused}");
    let unknown = world.told(ANN, ANN, "/voice loud").await;
    assert!(text(&unknown).contains("I do not know “loud”. Write one of: off, reply, always."), "{unknown}");
    bot.ends_well().await;
    let bot = world.bot().spawn();
    bot.ready().await;
    let unset = world.told(ANN, ANN, "/voice").await;
    assert!(text(&unset).contains("SPEAKER"), "{unset}");
    bot.ends_well().await;
    let done = world.speaker(&studio).arg("check").run().await;
    let words = String::from_utf8_lossy(&done.stdout).into_owned();
    assert!(words.contains("compatible:kokoro speaks as bella, in "), "{words}");
    says(&world, ANN, "SPEAKER").await;
}
