//! `/model`: which model answers in a chat and how it writes, chosen by buttons and words, by those who may.

use figaro_offline::model::{ModelReply, ReplyPart};
use figaro_offline::telegram::{MemberStatus, Say};
use futures::future::join_all;
use serde_json::{Value, json};

use crate::support::scene::{TEAM, buttons, labels, number, text};
use crate::support::{ANN, BOB, World};

const RUI: i64 = 13;
const EVE: i64 = 14;

const NAMED: [&str; 3] = [
    "openai:gpt-4.1-mini · $0.40 / $1.60",
    "compatible:offline-text",
    "gemini:gemini-2.5-flash · $0.30 / $2.50",
];

/// Labels without the marks before them.
fn plain(labels: &[String]) -> Vec<&str> {
    labels.iter().map(|label| label.trim_start_matches(['✓', '⚠', '\u{fe0f}', ' '])).collect()
}

impl World {
    /// The model that answers a person's question.
    async fn answered_by(&self, user: i64) -> String {
        self.told(user, user, "who are you?").await;
        self.asked().last().unwrap().model().to_owned()
    }
}

#[tokio::test]
async fn a_member_chooses_among_the_named_models_and_the_choice_survives() {
    let world = World::new().await;
    world.otherwise(ModelReply::text("It is me."));
    let bot = world.many().spawn();
    bot.ready().await;
    let card = world.told(BOB, BOB, "/model").await;
    assert!(text(&card).contains("openai:gpt-4.1-mini answers here, as in every chat"), "{card}");
    let mut shown = plain(&labels(&card)).into_iter().map(str::to_owned).collect::<Vec<_>>();
    shown.sort();
    let mut named = [&NAMED[..], &["How it writes"]].concat();
    named.sort_unstable();
    assert_eq!(shown, named, "a member sees nothing else");
    assert_eq!(world.press(BOB, &card, "gemini:").await, "Saved.");
    let changed =
        world.shows(BOB, number(&card["message_id"]), "gemini:gemini-2.5-flash answers here.").await;
    assert!(labels(&changed).iter().any(|label| label.starts_with("✓ gemini:")), "{changed}");
    assert!(labels(&changed).contains(&"The bot's own".to_owned()), "{changed}");
    assert_eq!(world.answered_by(BOB).await, "gemini-2.5-flash");
    assert_eq!(world.answered_by(ANN).await, "gpt-4.1-mini", "another chat keeps its own");
    let status = world.told(BOB, BOB, "/status").await;
    assert!(text(&status).contains("gemini:gemini-2.5-flash"), "{status}");

    bot.kill();
    let bot = world.many().spawn();
    bot.ready().await;
    world.caught_up().await;
    assert_eq!(world.answered_by(BOB).await, "gemini-2.5-flash");
    let refused = world.told(BOB, BOB, "/model gemini:gemini-2.5-pro").await;
    assert!(text(&refused).starts_with("You can choose one of these: openai:gpt-4.1-mini, "), "{refused}");
    let forged = world.forged(BOB, &refused, "model:set:gemini:gemini-2.5-pro").await;
    assert!(forged.starts_with("You can choose one of these"), "{forged}");
    assert_eq!(
        world.forged(BOB, &refused, "model:served:gemini:0").await,
        "Only an owner of the bot can do that."
    );
    world.told(BOB, BOB, "/model compatible:offline-text").await;
    assert_eq!(world.answered_by(BOB).await, "offline-text");
    let card = world.told(BOB, BOB, "/model default").await;
    assert!(!labels(&card).contains(&"The bot's own".to_owned()), "{card}");
    assert_eq!(world.answered_by(BOB).await, "gpt-4.1-mini");
}

#[tokio::test]
async fn an_owner_chooses_among_all_that_are_served() {
    let world = World::new().await;
    world.otherwise(ModelReply::text("It is me."));
    let bot = world.many().spawn();
    bot.ready().await;
    let card = world.told(ANN, ANN, "/model").await;
    let id = number(&card["message_id"]);
    world.press(ANN, &card, "All of gemini").await;
    let served = world.shows(ANN, id, "gemini has 5 chat models.").await;
    assert!(!labels(&served).iter().any(|label| label.contains("embedding")), "{served}");
    world.press(ANN, &card, "gemini:gemini-2.5-pro").await;
    let chosen = world.shows(ANN, id, "gemini:gemini-2.5-pro answers here.").await;
    assert!(labels(&chosen).iter().any(|label| label.starts_with("✓ gemini:gemini-2.5-pro")), "{chosen}");
    assert_eq!(world.answered_by(ANN).await, "gemini-2.5-pro");
    let status = world.told(ANN, ANN, "/status").await;
    assert!(text(&status).contains("gemini:gemini-2.5-pro"), "an owner sees what is true here: {status}");
    for (page, words) in [("18446744073709551615", "gemini has 5"), ("x", "gemini has 5")] {
        world.forged(ANN, &card, &format!("model:served:gemini:{page}")).await;
        world.shows(ANN, id, words).await;
    }
    world.told(ANN, ANN, "/model gemini-3-pro-preview").await;
    assert_eq!(world.answered_by(ANN).await, "gemini-3-pro-preview", "one name that only one has is enough");
    for (name, words) in [
        ("nonsense", "nonsense is not available. Choose one of: "),
        ("gemini:nonsense", "gemini:nonsense is not available. Choose one of: gemini:gemini-2.5-flash, "),
        // Both services that speak OpenAI's language have it.
        ("offline", "Which one? "),
        ("skynet:t800", "skynet:t800 is not available."),
    ] {
        let told = world.told(ANN, ANN, &format!("/model {name}")).await;
        assert!(text(&told).starts_with(words), "{name}: {told}");
    }
    assert_eq!(world.answered_by(ANN).await, "gemini-3-pro-preview", "nothing of that was taken");
}

#[tokio::test]
async fn in_a_group_only_those_who_run_it_change_its_model() {
    let world = World::new().await;
    world.team();
    world.person(EVE, "Eve", "en");
    world.telegram.set_member(TEAM, EVE, MemberStatus::Admin).unwrap();
    world.otherwise(ModelReply::text("It is me."));
    let bot = world.many().spawn();
    bot.ready().await;
    let words = "Only an admin of this chat can do that.";
    let card = world.told(EVE, TEAM, "/model@figaro_bot").await;
    assert_eq!(world.press(BOB, &card, "gemini:").await, words);
    for command in ["/model@figaro_bot gemini:gemini-2.5-flash", "/model@figaro_bot temperature 1"] {
        assert_eq!(text(&world.told(BOB, TEAM, command).await), words);
    }
    world.press(EVE, &card, "gemini:").await;
    world.shows(TEAM, number(&card["message_id"]), "gemini:gemini-2.5-flash answers here.").await;
    world.told(BOB, TEAM, "@figaro_bot hello").await;
    assert_eq!(world.asks(1).await.model(), "gemini-2.5-flash");
    // An owner's choice that nobody has named is shown to all, and each may keep it for a further try.
    world.told(ANN, TEAM, "/model@figaro_bot gemini:gemini-2.5-pro").await;
    let refused = world.told(EVE, TEAM, "/model@figaro_bot gemini:gemini-3.5-flash").await;
    assert!(text(&refused).starts_with("You can choose one of these: "), "{refused}");
    assert!(text(&refused).contains("gemini:gemini-2.5-pro"), "{refused}");
    world.told(BOB, TEAM, "/retry@figaro_bot gemini:gemini-2.5-pro").await;
    assert_eq!(world.asks(2).await.model(), "gemini-2.5-pro");
}

/// What a person writes after `/model`, and the complaint.
const WRONG: [(&str, &str); 7] = [
    ("temperature 2.5", "temperature takes 0 to 2, not 2.5."),
    ("temperature hot", "temperature does not take “hot”."),
    ("temperature nan", "temperature takes 0 to 2, not NaN."),
    ("top_p -0.1", "top_p takes 0 to 1, not -0.1."),
    ("max_tokens 0", "max_tokens takes 1 to 4294967295, not 0."),
    ("max_tokens -5", "max_tokens does not take “-5”."),
    ("output_format xml", "output_format does not take “xml”."),
];

/// What one writes after the other, and what the card has.
const RIGHT: [(&str, &str); 5] = [
    ("temperature 0,3", "It writes with: freedom of wording 0.3 (temperature)."),
    ("TEMPERATURE", "It writes with: freedom of wording 0.3 (temperature)."),
    ("max_tokens 1", "freedom of wording 0.3 (temperature), longest answer 1 (max_tokens)."),
    ("presence_penalty 1", "openai does not support push to new topics (presence_penalty): ignored."),
    (
        "presence_penalty clear",
        "It writes with: freedom of wording 0.3 (temperature), longest answer 1 (max_tokens).",
    ),
];

#[tokio::test]
async fn settings_are_checked_reach_the_model_and_are_taken_back() {
    let world = World::new().await;
    world.person(RUI, "Rui", "pt");
    world.otherwise(ModelReply::text("It is me."));
    let bot = world.many().spawn();
    bot.ready().await;
    let complaining = (100..).zip(WRONG).map(async |(user, (words, wanted))| {
        world.person(user, "Someone", "en");
        assert_eq!(text(&world.told(user, user, &format!("/model {words}")).await), wanted);
    });
    join_all(complaining).await;
    for (words, wanted) in RIGHT {
        let card = world.told(BOB, BOB, &format!("/model {words}")).await;
        assert!(text(&card).contains(wanted), "{words}: {card}");
    }
    let portuguese = world.told(RUI, RUI, "/model temperature 3").await;
    assert_eq!(text(&portuguese), "temperature aceita de 0 a 2, não 3.");
    world.told(BOB, BOB, "hello").await;
    let body = world.asks(1).await.body;
    assert_eq!((&body["temperature"], &body["max_output_tokens"]), (&json!(0.3), &json!(16)));
    for name in ["temperature", "max_tokens"] {
        world.told(BOB, BOB, &format!("/model {name} clear")).await;
    }
    world.told(BOB, BOB, "hello again").await;
    let body = world.asks(2).await.body;
    assert!(body["temperature"].is_null() && body["max_output_tokens"].is_null(), "{body}");
}

#[tokio::test]
async fn json_is_answered_as_json_and_shown_as_code_whatever_the_model() {
    let world = World::new().await;
    world.otherwise(ModelReply::text("{\"a\": [1, 2]}"));
    let bot = world.many().spawn();
    bot.ready().await;
    world.told(BOB, BOB, "/model output_format JSON").await;
    for (at, model) in
        ["openai:gpt-4.1-mini", "compatible:offline-text", "gemini:gemini-2.5-flash"].iter().enumerate()
    {
        world.told(BOB, BOB, &format!("/model {model}")).await;
        let answer = world.told(BOB, BOB, "two numbers").await;
        assert_eq!(text(&answer), "{\"a\": [1, 2]}", "{model}");
        assert_eq!(
            (&answer["entities"][0]["type"], &answer["entities"][0]["language"]),
            (&json!("pre"), &json!("json"))
        );
        let request = world.asks(at + 1).await;
        // Gemini 2.5 takes no form beside tools: there only the words say it.
        assert_eq!(request.wants_json(), !model.starts_with("gemini"), "{model}");
        assert!(request.user_text().contains("JSON") && !request.offers_search(), "{model}");
    }
}

#[tokio::test]
async fn a_model_that_is_gone_is_told_on_the_card_and_when_it_is_needed() {
    let world = World::new().await;
    let bot = world.many().spawn();
    bot.ready().await;
    world.told(BOB, BOB, "/model compatible:offline-text").await;
    world.model.retire("offline-text");
    let card = world.told(BOB, BOB, "/model").await;
    assert!(
        text(&card).contains("⚠️ compatible:offline-text is no longer available. Choose another."),
        "{card}"
    );
    assert!(labels(&card).iter().any(|label| label == "⚠️ compatible:offline-text"), "{card}");
    let told = world.told(BOB, BOB, "are you there?").await;
    let words = "⚠️ compatible:offline-text is no longer available. Its provider has: compatible:offline. The owner has to";
    assert!(text(&told).starts_with(words), "{told}");
    assert!(text(&told).ends_with("You can also choose another model."), "{told}");
    assert_eq!(labels(&told), ["Another model"]);
    world.press(BOB, &told, "Another model").await;
    let list = world.answers(BOB, 4).await.remove(3);
    world.script.push(ModelReply::text("Here I am."));
    world.press(BOB, &list, "gemini:").await;
    assert_eq!(text(&world.answers(BOB, 5).await[4]), "Here I am.");
    // For this once: the chat's own choice stays.
    let told = world.told(BOB, BOB, "and now?").await;
    assert!(text(&told).starts_with(words), "{told}");
    let once = world.told(BOB, BOB, "/retry nothing:here").await;
    assert!(text(&once).starts_with("You can choose one of these"), "{once}");
    world.model.retire("gemini-2.5-flash");
    let told = world.told(BOB, BOB, "/retry gemini:gemini-2.5-flash").await;
    assert!(
        text(&told)
            .starts_with("⚠️ gemini:gemini-2.5-flash is no longer available. Its provider has: gemini:"),
        "{told}"
    );
}

#[tokio::test]
async fn a_model_whose_provider_is_not_set_up_any_more_is_gone_too() {
    let world = World::new().await;
    let bot = world.many().spawn();
    bot.ready().await;
    world.told(BOB, BOB, "/model compatible:offline-text").await;
    bot.ends_well().await;
    let bot = world
        .many()
        .unset("COMPATIBLE_BASE_URL")
        .unset("COMPATIBLE_API_KEY")
        .unset("COMPATIBLE_MODEL")
        .spawn();
    bot.ready().await;
    let card = world.told(BOB, BOB, "/model").await;
    assert!(text(&card).contains("⚠️ compatible:offline-text is no longer available."), "{card}");
    let told = world.told(BOB, BOB, "are you there?").await;
    assert!(
        text(&told).starts_with("⚠️ The provider does not offer my model, compatible:offline-text."),
        "{told}"
    );
    assert_eq!(labels(&told), ["Another model"]);
    world.otherwise(ModelReply::text("It is me."));
    world.told(BOB, BOB, "/model default").await;
    assert_eq!(world.answered_by(BOB).await, "gpt-4.1-mini");
}

/// All kinds of models, the first one once more at the end.
const ROUND: [&str; 8] = [
    "openai:gpt-5-mini",
    "gemini:gemini-3-pro-preview",
    "compatible:offline-text",
    "gemini:gemini-2.5-flash",
    "ollama:llama3.2",
    "ollama:gemma3:4b",
    "ollama:qwen3-vl:8b",
    "openai:gpt-5-mini",
];

#[tokio::test]
async fn a_conversation_with_thoughts_calls_and_pictures_goes_on_with_any_model() {
    let world = World::new().await;
    let bot = world
        .many()
        .set("OPENAI_MODEL", "gpt-5-mini")
        .set("MODEL_CAPABILITIES", "compatible:offline-text=tools")
        .set("HISTORY_TOKENS", "100000")
        .set("OLLAMA_BASE_URL", world.model.ollama_url())
        .set("OLLAMA_MODEL", "llama3.2")
        .spawn();
    bot.ready().await;
    let note = |n: usize, what: &str| ReplyPart::Call {
        name: "add_note".into(),
        arguments: json!({"key": "list", "content": format!("{what} {n}")}),
    };
    for (n, model) in ROUND.into_iter().enumerate() {
        let card = world.ask(&format!("/model {model}")).await;
        assert!(text(&card).contains(&format!("{model} answers here")), "{card}");
        if model != "ollama:gemma3:4b" {
            let thought = ReplyPart::Thought("Let me think.".into());
            let parts = vec![thought, ReplyPart::Text("A moment.".into()), note(n, "milk"), note(n, "salt")];
            world.script.push(ModelReply::turn(parts));
        }
        let done = format!("Done by {n}.");
        world.script.push(ModelReply::text(&done));
        let photo = Say::new(ANN, ANN, "keep what is on it").photo([0xFF, 0xD8, 0xFF, 0xE0]);
        world.telegram.send(photo).unwrap();
        world
            .see(&done, |view| view.bot_messages(ANN).iter().any(|m| m["text"] == *done).then_some(()))
            .await;
    }
    assert_eq!(world.script.left(), 0);
    let last = world.asked().pop().unwrap().body.to_string();
    assert!((0..7).all(|n| last.contains(&format!("Done by {n}."))), "nothing of it is lost: {last}");
}

#[tokio::test]
async fn a_provider_that_cannot_be_reached_is_told_and_its_model_may_still_be_chosen() {
    let world = World::new().await;
    let nobody = crate::support::listener().await.local_addr().unwrap();
    let url = format!("http://{nobody}");
    let bot = world.many().set("OLLAMA_BASE_URL", &url).set("OLLAMA_MODEL", "llama3.2").spawn();
    bot.ready().await;
    let card = world.told(ANN, ANN, "/model").await;
    assert!(text(&card).contains("⚠️ I cannot get the list of models from ollama right now."), "{card}");
    let data: Vec<Value> = buttons(&card).into_iter().map(|(_, data)| json!(data)).collect();
    assert!(data.contains(&json!("model:set:ollama:llama3.2")), "{data:?}");
    assert!(!data.contains(&json!("model:served:ollama:0")), "{data:?}");
    let card = world.told(ANN, ANN, "/model ollama:qwen3:8b").await;
    assert!(text(&card).contains("ollama:qwen3:8b answers here."), "{card}");
}
