//! Voice messages and other sounds are heard: by each provider, shown once, kept as the text of the message, and paid for.

use std::process::Output;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use figaro_domain::usage::Spending;
use figaro_offline::model::{Gate, ModelReply};
use figaro_offline::telegram::Say;
use serde_json::json;

use crate::support::bot::Recipe;
use crate::support::calls::says;
use crate::support::scene::{TEAM, number, text};
use crate::support::speech::{HeardSound, Speech};
use crate::support::wait::recorded;
use crate::support::{ANN, BOB, World};

const OGG: &[u8] = b"OggS\0\x02\r\n--not a boundary--\r\n\xff\xfe";

impl World {
    /// A bot that hears by this service, as a compatible server.
    fn listener(&self, speech: &Speech) -> Recipe {
        self.bot()
            .set("TRANSCRIBER", "compatible:whisper-large")
            .set("COMPATIBLE_BASE_URL", &format!("{}/v1", speech.origin))
    }
}

/// Standard output of a check.
fn shown(done: &Output) -> String {
    String::from_utf8_lossy(&done.stdout).into_owned()
}

fn decoded(base64: &str) -> Vec<u8> {
    STANDARD.decode(base64).unwrap()
}

fn voice(from: i64, chat: i64) -> Say {
    Say::new(from, chat, "").sound("voice", 4, OGG)
}

#[tokio::test]
async fn a_voice_message_is_heard_shown_once_and_found_later() {
    let world = World::new().await;
    world.otherwise(ModelReply::text("I see."));
    let speech = Speech::start().await;
    let bot = world.listener(&speech).spawn();
    bot.ready().await;
    speech.says(" My sister Ines keeps bees in Vilnius. ");
    let sent = world.telegram.send(voice(ANN, ANN)).unwrap();
    let request = world.asks(1).await;
    let user = request.user_text();
    assert!(
        user.contains(
            "My sister Ines keeps bees in Vilnius.\n<attached kind=\"voice message\" heard=\"yes\"/>"
        ),
        "{user}"
    );
    let quote = says(&world, ANN, "My sister Ines keeps bees").await;
    assert_eq!(text(&quote), "My sister Ines keeps bees in Vilnius.");
    assert_eq!(quote["entities"][0]["type"], json!("expandable_blockquote"), "{quote}");
    assert_eq!(number(&quote["reply_to_message"]["message_id"]), sent.message_id);
    says(&world, ANN, "I see.").await;
    let wanted = HeardSound {
        model: "whisper-large".to_owned(),
        name: "sound.ogg".to_owned(),
        mime: "audio/ogg".to_owned(),
        bytes: OGG.to_vec(),
    };
    assert_eq!((speech.heard(), speech.faults()), (vec![wanted], Vec::<String>::new()));
    // It is a message like any other: in the history, in /retry, in searches.
    world.say(ANN, ANN, "where are the bees?");
    let request = world.asks(2).await;
    assert!(request.body.to_string().contains("Ines keeps bees in Vilnius"), "{}", request.body);
    world.answers(ANN, 3).await;
    assert_eq!(speech.heard().len(), 1, "nothing is heard twice");
    bot.ends_well().await;
    let books = world.books().await;
    let of = |spending: &&Spending| spending.spent.tokens == 10;
    assert_eq!(books.iter().filter(of).count(), 1, "{books:?}");
    assert!(world.refused().is_empty(), "{:?}", world.refused());
}

#[tokio::test]
async fn the_words_of_a_voice_message_are_forgotten_with_it() {
    let world = World::new().await;
    world.otherwise(ModelReply::text("I see."));
    let speech = Speech::start().await;
    let bot = world.listener(&speech).set("ERASE_AFTER", "0").spawn();
    bot.ready().await;
    speech.says("The zanzibarcode is 4711");
    let sent = world.telegram.send(voice(ANN, ANN)).unwrap();
    world.answers(ANN, 2).await;
    world.telegram.send(Say::new(ANN, ANN, "/forget").reply_to(sent.message_id)).unwrap();
    let card = world.answers(ANN, 3).await.pop().unwrap();
    world.press(ANN, &card, "Forget").await;
    world.shows(ANN, number(&card["message_id"]), "Forgotten").await;
    world.say(ANN, ANN, "What is the zanzibarcode?");
    let request = world.asks(2).await;
    assert!(!request.body.to_string().contains("4711"), "{}", request.body);
    bot.ends_well().await;
}

#[tokio::test]
async fn a_restart_in_the_middle_of_an_answer_keeps_the_words() {
    let world = World::new().await;
    let speech = Speech::start().await;
    let gate = Gate::new();
    world.script.push(ModelReply::text("Never sent.").behind(&gate));
    let bot = world.listener(&speech).spawn();
    bot.ready().await;
    speech.says("where do the bees live");
    world.telegram.send(voice(ANN, ANN)).unwrap();
    world.asks(1).await;
    says(&world, ANN, "where do the bees live").await;
    // The words are on record a moment later.
    recorded().await;
    bot.kill();
    world.otherwise(ModelReply::text("In Vilnius."));
    let bot = world.listener(&speech).spawn();
    bot.ready().await;
    says(&world, ANN, "In Vilnius.").await;
    assert!(world.asked().last().unwrap().user_text().contains("where do the bees live"));
    assert_eq!(speech.heard().len(), 1, "nothing is heard twice");
    let shown = world.bot_texts(ANN).iter().filter(|text| text.contains("where do the bees live")).count();
    assert_eq!(shown, 1, "{:?}", world.bot_texts(ANN));
}

#[tokio::test]
async fn the_check_of_the_setup_has_a_second_of_silence_heard() {
    let world = World::new().await;
    let speech = Speech::start().await;
    let done = world.listener(&speech).arg("check").run().await;
    assert!(shown(&done).contains("compatible:whisper-large hears, in "), "{done:?}");
    let [sound] = <[HeardSound; 1]>::try_from(speech.heard()).unwrap();
    assert!(sound.bytes.starts_with(b"RIFF") && sound.bytes.len() == 44 + 32_000);
    speech.fails(404);
    let done = world.listener(&speech).arg("check").run().await;
    assert!(shown(&done).contains("see TRANSCRIBER"), "{done:?}");
    let done = world
        .bot()
        .set("TRANSCRIBER", "ollama:qwen3")
        .set("OLLAMA_MODEL", "qwen3:8b")
        .arg("check")
        .run()
        .await;
    assert!(shown(&done).contains("the provider `ollama` does not turn speech into text"), "{done:?}");
}

#[tokio::test]
async fn every_provider_that_hears_gets_the_sound_as_it_was_sent() {
    for (provider, model) in
        [("openai", "gpt-4o-transcribe"), ("compatible", "w"), ("gemini", "gemini-2.5-flash")]
    {
        let world = World::new().await;
        world.otherwise(ModelReply::text("I see."));
        let speech = Speech::start().await;
        let name = provider.to_uppercase();
        let version = if provider == "gemini" { "v1beta" } else { "v1" };
        // The model that answers is another provider's, so that each has its own address.
        let answers = if provider == "openai" { world.bot_of("compatible") } else { world.bot() };
        let bot = answers
            .set("TRANSCRIBER", &format!("{provider}:{model}"))
            .set(&format!("{name}_BASE_URL"), &format!("{}/{version}", speech.origin))
            .set(&format!("{name}_API_KEY"), "sk-hearing")
            .spawn();
        bot.ready().await;
        for (kind, mime) in [("voice", "audio/ogg"), ("video_note", "video/mp4"), ("audio", "audio/mpeg")] {
            speech.says(&format!("said in {kind}"));
            let before = world.asked().len();
            world.telegram.send(Say::new(ANN, ANN, "").sound(kind, 3, OGG)).unwrap();
            let request = world.asks(before + 1).await;
            assert!(request.user_text().contains(&format!("said in {kind}")), "{provider} {kind}");
            let heard = speech.heard().pop().unwrap();
            assert_eq!(
                (heard.model.as_str(), heard.mime.as_str(), heard.bytes.as_slice()),
                (model, mime, OGG)
            );
            says(&world, ANN, &format!("said in {kind}")).await;
        }
        assert_eq!(speech.faults(), Vec::<String>::new(), "{provider}");
        bot.ends_well().await;
    }
}

#[tokio::test]
async fn in_a_group_a_reply_to_the_bot_and_a_question_about_a_sound_are_heard() {
    let world = World::without_privacy().await;
    world.team();
    world.otherwise(ModelReply::text("I see."));
    let speech = Speech::start().await;
    let bot = world.listener(&speech).set("ACCESS", "open").spawn();
    bot.ready().await;
    let other = world.telegram.send(voice(BOB, TEAM)).unwrap();
    world.say(ANN, TEAM, "@figaro_bot hello");
    let answer = says(&world, TEAM, "I see.").await;
    assert!(speech.heard().is_empty(), "nobody asked the bot to hear that");
    speech.says("the boat leaves at noon");
    world.telegram.send(voice(BOB, TEAM).reply_to(number(&answer["message_id"]))).unwrap();
    let request = world.asks(2).await;
    assert!(request.user_text().contains("the boat leaves at noon"), "{}", request.user_text());
    says(&world, TEAM, "the boat leaves at noon").await;
    world.answers(TEAM, 3).await;
    // A question about somebody's voice message.
    speech.says("bring the oars");
    world
        .telegram
        .send(Say::new(ANN, TEAM, "@figaro_bot what does he want?").reply_to(other.message_id))
        .unwrap();
    let request = world.asks(3).await;
    assert!(request.user_text().contains("bring the oars"), "{}", request.user_text());
    world.answers(TEAM, 4).await;
    // The words of one with a caption stand below it.
    let song = world.telegram.send(Say::new(BOB, TEAM, "our song").sound("audio", 3, OGG)).unwrap();
    speech.says("row your boat");
    world.telegram.send(Say::new(ANN, TEAM, "@figaro_bot which one?").reply_to(song.message_id)).unwrap();
    let request = world.asks(4).await;
    assert!(request.user_text().contains("our song\n\nrow your boat"), "{}", request.user_text());
    assert_eq!((speech.heard().len(), speech.faults().len()), (3, 0));
}

#[tokio::test]
async fn what_is_not_heard_is_said_in_a_sentence() {
    let world = World::new().await;
    world.otherwise(ModelReply::text("I see."));
    let speech = Speech::start().await;
    let bot = world.listener(&speech).spawn();
    bot.ready().await;
    let told = async |say: Say| {
        let before = world.bot_texts(ANN).len();
        world.telegram.send(say).unwrap();
        text(&world.answers(ANN, before + 1).await.pop().unwrap()).to_owned()
    };
    assert_eq!(told(voice(ANN, ANN)).await, "I heard no words in it.");
    speech.fails(400);
    assert!(told(voice(ANN, ANN)).await.starts_with("I could not hear that just now."));
    // Asked again, it is heard again.
    speech.says("so here it is");
    world.say(ANN, ANN, "/retry");
    says(&world, ANN, "so here it is").await;
    says(&world, ANN, "I see.").await;
    let long = Say::new(ANN, ANN, "").sound("voice", 7_201, OGG);
    assert!(told(long).await.starts_with("That is too long for me to hear"));
    // With words beside it the question is answered, and the model knows.
    speech.fails(500);
    let before = world.asked().len();
    world.telegram.send(Say::new(ANN, ANN, "what song is this?").sound("audio", 3, OGG)).unwrap();
    let request = world.asks(before + 1).await;
    assert!(
        request.user_text().contains("not_given_to_you=\"it could not be heard"),
        "{}",
        request.user_text()
    );
    bot.ends_well().await;
}

#[tokio::test]
async fn without_the_setting_people_are_told_and_owners_how() {
    let world = World::new().await;
    let bot = world.bot().set("ACCESS", "open").spawn();
    bot.ready().await;
    for (who, hint) in [(ANN, true), (BOB, false)] {
        world.telegram.send(voice(who, who)).unwrap();
        let told = world.answers(who, 1).await.pop().unwrap();
        assert!(text(&told).starts_with("I cannot read voice messages yet."), "{told}");
        assert_eq!(text(&told).contains("TRANSCRIBER"), hint, "{told}");
    }
}

#[tokio::test]
async fn a_model_that_hears_gets_the_sound_where_nobody_turns_it_into_words() {
    for (provider, own) in [("gemini", ""), ("compatible", "compatible:openai/gpt-4.1-mini=tools/sounds")] {
        let world = World::new().await;
        world.otherwise(ModelReply::text("> where are the bees\n\nIn Vilnius."));
        let bot = world.bot_of(provider).set("MODEL_CAPABILITIES", own).spawn();
        bot.ready().await;
        world.telegram.send(voice(ANN, ANN)).unwrap();
        let request = world.asks(1).await;
        let given: Vec<_> = request.pictures().iter().map(|sound| sound.mime_type.to_owned()).collect();
        assert_eq!(given, ["audio/ogg"], "{provider}");
        assert_eq!(decoded(request.pictures()[0].base64), OGG);
        assert!(
            request.user_text().contains("<attached kind=\"voice message\"/>"),
            "{}",
            request.user_text()
        );
        let hint = "Begin your answer with its words as a quote";
        assert_eq!(request.body.to_string().matches(hint).count(), 1, "{}", request.body);
        says(&world, ANN, "In Vilnius.").await;
        // Its words are in the answer; the sound itself is not sent again, unless somebody asks about it.
        world.say(ANN, ANN, "since when?");
        let request = world.asks(2).await;
        assert!(request.body.to_string().contains("where are the bees"), "{}", request.body);
        assert_eq!(request.pictures().len(), 0);
        let sent = world.telegram.send(Say::new(ANN, ANN, "").sound("audio", 90, OGG)).unwrap();
        world.asks(3).await;
        world.telegram.send(Say::new(ANN, ANN, "who sings?").reply_to(sent.message_id)).unwrap();
        assert_eq!(world.asks(4).await.pictures().len(), 1, "{provider}");
        // A page is not sent as a sound.
        world.telegram.send(Say::new(ANN, ANN, "and this?").sound("audio", 9, b"<html>oops</html>")).unwrap();
        let request = world.asks(5).await;
        assert_eq!(request.pictures().len(), 0);
        assert!(request.user_text().contains("in a format that cannot be heard"), "{}", request.user_text());
        // It is too long, and nothing else was said.
        let before = world.bot_texts(ANN).len();
        world.telegram.send(Say::new(ANN, ANN, "").sound("voice", 1_501, OGG)).unwrap();
        let request = world.asks(6).await;
        assert!(request.user_text().contains("not_given_to_you=\"it is too long"), "{}", request.user_text());
        world.answers(ANN, before + 1).await;
        assert!(bot.stop().await.success() && world.refused().is_empty(), "{:?}", world.refused());
    }
}

#[tokio::test]
async fn a_stand_in_that_does_not_hear_is_told_that_there_was_a_sound() {
    let world = World::new().await;
    world.otherwise(ModelReply::text("I cannot hear it."));
    world.script.push(ModelReply::status(500, "down"));
    world.script.push(ModelReply::status(500, "down"));
    world.script.push(ModelReply::status(500, "down"));
    let bot = world
        .with_provider(world.bot_of("gemini"), "compatible")
        .set("LLM_FALLBACK", "compatible:openai/gpt-4.1-mini")
        .set("MODEL_CAPABILITIES", "compatible:openai/gpt-4.1-mini=tools")
        .spawn();
    bot.ready().await;
    world.telegram.send(voice(ANN, ANN)).unwrap();
    says(&world, ANN, "I cannot hear it.").await;
    let request = world.asked().pop().unwrap();
    assert!(request.user_text().contains("[sounds that you cannot hear: 1]"), "{}", request.user_text());
    assert!(!request.body.to_string().contains("You hear"), "{}", request.body);
    assert_eq!(request.pictures().len(), 0);
}

#[tokio::test]
async fn hearing_is_paid_for_and_caps_hold_with_many_at_once() {
    let world = World::new().await;
    world.otherwise(ModelReply::text("I see."));
    let speech = Speech::start().await;
    let bot = world.listener(&speech).set("ACCESS", "open").set("DAILY_TOKENS", "6000").spawn();
    bot.ready().await;
    // Each of 60 s counts as 2,400 tokens until the service has told what it took.
    for at in 0..20 {
        let person = 2_000 + at;
        world.person(person, &format!("P{at}"), "en");
        world.telegram.send(Say::new(person, person, "").sound("voice", 60, OGG)).unwrap();
    }
    let mut refused = 0;
    for at in 0..20 {
        let told = world.answers(2_000 + at, 1).await.pop().unwrap();
        refused +=
            usize::from(text(&told).starts_with("I could not hear that: today's budget leaves no room"));
    }
    assert!(refused >= 15 && speech.heard().len() + refused == 20, "{refused} {}", speech.heard().len());
    bot.ends_well().await;
}
