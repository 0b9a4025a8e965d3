//! Pictures that the bot draws: by each provider, sent once with their buttons, changed, paid for, and refused in plain words.

use std::sync::Arc;

use figaro_offline::Runtime;
use figaro_offline::model::{ModelReply, ModelRequest, OfflineModel, ReplyPart};
use figaro_offline::telegram::{Person, Say};
use serde_json::{Value, json};

use crate::support::bot::Recipe;
use crate::support::calls::says;
use crate::support::scene::{TEAM, labels, number, text};
use crate::support::studio::{Studio, picture};
use crate::support::wait::recorded;
use crate::support::{ANN, BOB, World, listener};

/// An agent that asks another one and draws.
const ARTIST: &str = "type: object
description: You paint boats.
properties: {}
required: []
json_schema_extra:
  kind: agent
  name: artist
  version: \"1\"
  structured_output: false
  agents: [researcher]
  tools: [{name: ask_agent}, {name: draw}]
";

impl World {
    /// A bot that draws by this service, as a compatible server.
    fn painter(&self, studio: &Studio) -> Recipe {
        self.bot()
            .set("PAINTER", "compatible:flux")
            .set("COMPATIBLE_BASE_URL", &format!("{}/v1", studio.origin))
    }

    /// The next answers of the model: a call of `draw`, and these words.
    fn draws(&self, arguments: Value, words: &str) {
        let call = ReplyPart::Call { name: "draw".to_owned(), arguments };
        self.script.push(ModelReply::turn(vec![call]));
        self.script.push(ModelReply::text(words));
    }

    /// Waits for so many pictures of the bot in a chat, and returns the last.
    async fn drawn(&self, chat: i64, count: usize) -> Value {
        self.see("a picture", |view| {
            let mut all: Vec<&Value> =
                view.bot_messages(chat).into_iter().filter(|message| message["photo"].is_array()).collect();
            (all.len() >= count).then(|| all.pop().unwrap().clone())
        })
        .await
    }

    /// Result of the last call of `draw`, as the model was told it.
    fn told_of_drawing(&self) -> String {
        let request = self.asked().pop().unwrap();
        let results = request.tool_results();
        results.iter().rev().find(|(name, _)| *name == "draw").unwrap().1.to_owned()
    }
}

#[tokio::test]
async fn a_picture_is_drawn_sent_once_and_drawn_again_or_changed_by_its_buttons() {
    let world = World::new().await;
    let studio = Studio::start().await;
    let bot = world.painter(&studio).spawn();
    bot.ready().await;
    world.draws(json!({"prompt": "a barber who shaves a lion", "size": "wide"}), "There you are.");
    world.say(ANN, ANN, "/draw a barber who shaves a lion");
    let first = world.drawn(ANN, 1).await;
    assert!(world.asked()[0].user_text().contains("Draw: a barber who shaves a lion"));
    assert_eq!(labels(&first), ["Again", "Change"]);
    assert!(text(&world.told(ANN, ANN, "/help").await).contains("/draw – "));
    let order = studio.orders().pop().unwrap();
    let wanted = json!({"model": "flux", "prompt": "a barber who shaves a lion", "size": "1536x1024", "response_format": "b64_json"});
    assert_eq!((order.path.as_str(), &order.fields), ("/v1/images/generations", &wanted));
    world
        .see("the answer", |view| {
            view.bot_messages(ANN).iter().any(|message| text(message) == "There you are.").then_some(())
        })
        .await;
    // Again: another one, asked for as a reply to the first, whose buttons are used up.
    world.draws(json!({"prompt": "a barber who shaves a lion"}), "Another.");
    world.press(ANN, &first, "Again").await;
    let second = world.drawn(ANN, 2).await;
    assert!(world.asked()[2].user_text().contains("Draw that again"), "{}", world.asked()[2].user_text());
    world
        .see("the buttons go", |view| {
            let shown = view
                .bot_messages(ANN)
                .into_iter()
                .find(|message| message["message_id"] == first["message_id"]);
            shown.is_some_and(|message| labels(message).is_empty()).then_some(())
        })
        .await;
    // Change: the bot asks what, and the answer changes the picture with the button, not the last one.
    world.draws(json!({"prompt": "a red hat", "edit": true}), "With a hat.");
    world.press(ANN, &second, "Change").await;
    let question = world
        .see("the question", |view| {
            let all = view.bot_messages(ANN);
            all.iter()
                .find(|message| text(message) == "What should change in the picture?")
                .map(|found| (*found).clone())
        })
        .await;
    world.telegram.send(Say::new(ANN, ANN, "a red hat").reply_to(number(&question["message_id"]))).unwrap();
    world.drawn(ANN, 3).await;
    let order = studio.orders().pop().unwrap();
    assert_eq!((order.path.as_str(), order.base), ("/v1/images/edits", Some(picture(2))));
    assert_eq!(studio.faults(), Vec::<String>::new());
    bot.ends_well().await;
    // Three pictures of 1,020 tokens, by the service's own count.
    let books = world.books().await;
    let pictures = books.iter().filter(|spending| spending.model.to_string() == "compatible:flux");
    assert_eq!(pictures.map(|spending| spending.spent.tokens).sum::<u64>(), 3 * 1_020, "{books:?}");
    assert!(world.refused().is_empty(), "{:?}", world.refused());
}

#[tokio::test]
async fn a_reply_chooses_the_picture_that_is_changed() {
    let world = World::new().await;
    let studio = Studio::start().await;
    let bot = world.painter(&studio).spawn();
    bot.ready().await;
    world.draws(json!({"prompt": "a boat"}), "One.");
    world.say(ANN, ANN, "draw a boat");
    let first = world.drawn(ANN, 1).await;
    says(&world, ANN, "One.").await;
    world.draws(json!({"prompt": "a lake"}), "Two.");
    world.say(ANN, ANN, "draw a lake");
    world.drawn(ANN, 2).await;
    says(&world, ANN, "Two.").await;
    // A reply to something that is no picture changes none.
    world.script.push(ModelReply::text("A note."));
    let note = world.telegram.send(Say::new(ANN, ANN, "").document("note.txt", b"Boats.")).unwrap();
    says(&world, ANN, "A note.").await;
    world.draws(json!({"prompt": "blue", "edit": true}), "None.");
    world.telegram.send(Say::new(ANN, ANN, "make it blue").reply_to(note.message_id)).unwrap();
    says(&world, ANN, "None.").await;
    assert!(world.told_of_drawing().contains("there is no picture to change"));
    // A reply to the first picture changes that one.
    world.draws(json!({"prompt": "at night", "edit": true, "size": "tall"}), "At night.");
    world
        .telegram
        .send(Say::new(ANN, ANN, "at night please").reply_to(number(&first["message_id"])))
        .unwrap();
    world.drawn(ANN, 3).await;
    let order = studio.orders().pop().unwrap();
    assert_eq!((order.base, order.fields["size"].as_str()), (Some(picture(1)), Some("1024x1536")));
    bot.ends_well().await;
}

#[tokio::test]
async fn every_provider_that_draws_gets_the_order_and_the_picture_to_change() {
    for (provider, model) in
        [("openai", "gpt-image-1-mini"), ("compatible", "dall-e-3"), ("gemini", "gemini-2.5-flash-image")]
    {
        let world = World::new().await;
        let studio = Studio::start().await;
        let (name, version) = (provider.to_uppercase(), if provider == "gemini" { "v1beta" } else { "v1" });
        // The model that answers is another provider's, so that each has its own address.
        let answers = if provider == "openai" { world.bot_of("compatible") } else { world.bot() };
        let bot = answers
            .set("PAINTER", &format!("{provider}:{model}"))
            .set(&format!("{name}_BASE_URL"), &format!("{}/{version}", studio.origin))
            .set(&format!("{name}_API_KEY"), "sk-drawing")
            .spawn();
        bot.ready().await;
        world.draws(json!({"prompt": "a boat", "size": "wide"}), "A boat.");
        world.say(ANN, ANN, "draw a boat");
        world.drawn(ANN, 1).await;
        let order = studio.orders().pop().unwrap();
        let wanted = match provider {
            "openai" => json!({"model": model, "prompt": "a boat", "size": "1536x1024", "quality": "medium"}),
            "gemini" => json!({
                "prompt": "a boat",
                "config": {"responseModalities": ["TEXT", "IMAGE"], "imageConfig": {"aspectRatio": "3:2"}},
            }),
            _ => {
                json!({"model": model, "prompt": "a boat", "size": "1792x1024", "response_format": "b64_json"})
            }
        };
        assert_eq!(order.fields, wanted, "{provider}");
        // A picture of the person, changed.
        world.draws(json!({"prompt": "as a painting", "edit": true}), "Painted.");
        world.telegram.send(Say::new(ANN, ANN, "make it a painting").photo(picture(77))).unwrap();
        world.drawn(ANN, 2).await;
        assert_eq!(studio.orders().pop().unwrap().base, Some(picture(77)), "{provider}");
        assert_eq!(studio.faults(), Vec::<String>::new(), "{provider}");
        bot.ends_well().await;
    }
}

#[tokio::test]
async fn what_is_not_drawn_is_told_to_the_model_in_plain_words() {
    let world = World::new().await;
    let studio = Studio::start().await;
    let bot = world.painter(&studio).spawn();
    bot.ready().await;
    let told = async |arguments: Value| {
        world.draws(arguments, "I see.");
        let before = world.bot_texts(ANN).len();
        world.say(ANN, ANN, "draw");
        world.answers(ANN, before + 1).await;
        world.told_of_drawing()
    };
    assert!(told(json!({"prompt": " "})).await.contains("prompt takes 1 to 4000 characters"));
    assert!(told(json!({"prompt": "a hat", "edit": true})).await.contains("there is no picture to change"));
    studio.fails(400, "Your request was rejected by our safety system.");
    assert!(told(json!({"prompt": "x"})).await.contains("the service refused it: Your request was rejected"));
    // A count that cannot be does not use up the day.
    studio.counts(u64::MAX / 2);
    world.draws(json!({"prompt": "x", "size": null, "edit": null}), "Counted.");
    world.say(ANN, ANN, "draw");
    world.drawn(ANN, 1).await;
    says(&world, ANN, "Counted.").await;
    studio.fails(500, "out of paint");
    let words = told(json!({"prompt": "x"})).await;
    assert!(words.contains("does not answer as it should") && !words.contains("paint"), "{words}");
    let before = world.bot_texts(ANN).len();
    world.say(ANN, ANN, "/draw");
    let answers = world.answers(ANN, before + 1).await;
    assert!(text(answers.last().unwrap()).contains("Tell me what to draw"));
    bot.ends_well().await;
    let spent: u64 = world.books().await.iter().map(|spending| spending.spent.tokens).sum();
    assert!(spent < 100_000, "{spent}");
}

#[tokio::test]
async fn the_cap_of_the_day_holds_with_many_at_once() {
    let world = World::new().await;
    let studio = Studio::start().await;
    let brain = |request: &ModelRequest| {
        let has_result = request.tool_results().iter().any(|(name, _)| *name == "draw");
        match has_result {
            true => ModelReply::text("Done.").usage(10, 10),
            false => {
                let call = ReplyPart::Call { name: "draw".to_owned(), arguments: json!({"prompt": "a cat"}) };
                ModelReply::turn(vec![call]).usage(10, 10)
            }
        }
    };
    let model = OfflineModel::start(listener().await, Arc::new(brain), &Runtime::system()).unwrap();
    let bot = world.painter(&studio).set("DAILY_TOKENS", "15000").set("ACCESS", "open");
    let bot = bot.set("OPENAI_BASE_URL", model.url()).spawn();
    bot.ready().await;
    for person in 0..20 {
        let id = BOB + 100 + person;
        world.telegram.add_user(Person::new(id, &format!("Person {person}")));
        world.telegram.add_private(id).unwrap();
        world.say(id, id, "draw a cat");
    }
    world
        .see("all have ended", |view| {
            let ended = (0..20).filter(|person| !view.bot_messages(BOB + 100 + person).is_empty());
            (ended.count() == 20).then_some(())
        })
        .await;
    bot.ends_well().await;
    let spent: u64 = world.books().await.iter().map(|spending| spending.spent.tokens).sum();
    assert!(spent <= 15_000, "{spent}");
    assert!((1..20).contains(&studio.orders().len()), "{}", studio.orders().len());
}

#[tokio::test]
async fn without_the_setting_nothing_is_offered_and_the_command_says_what_is_missing() {
    let world = World::new().await;
    let bot = world.bot().spawn();
    bot.ready().await;
    world.otherwise(ModelReply::text("I see."));
    world.say(ANN, ANN, "/draw a cat");
    let answers = world.answers(ANN, 1).await;
    assert!(!text(&world.told(ANN, ANN, "/help").await).contains("/draw"));
    assert!(text(&answers[0]).contains("PAINTER"));
    world.say(ANN, ANN, "draw a cat");
    let request = world.asks(1).await;
    assert!(!request.body["tools"].to_string().contains("\"draw\""));
    bot.ends_well().await;
    let done =
        world.bot().set("PAINTER", "ollama:x").set("OLLAMA_MODEL", "qwen3:8b").arg("check").run().await;
    let words = String::from_utf8_lossy(&done.stdout).into_owned();
    let wanted =
        "PAINTER: the provider `ollama` does not draw pictures; choose openai or compatible or gemini";
    assert!(words.contains(wanted), "{words}");
}

#[tokio::test]
async fn in_a_group_the_picture_answers_the_question_and_goes_with_it() {
    let world = World::new().await;
    world.team();
    let studio = Studio::start().await;
    let bot = world.painter(&studio).set("ACCESS", "open").spawn();
    bot.ready().await;
    world.draws(json!({"prompt": "a boat"}), "A boat.");
    let asked = world.say(BOB, TEAM, "@figaro_bot draw a boat");
    let drawn = world.drawn(TEAM, 1).await;
    assert_eq!(number(&drawn["reply_to_message"]["message_id"]), asked.message_id);
    bot.ends_well().await;
}

#[tokio::test]
async fn a_picture_can_be_all_of_an_answer_and_a_double_press_draws_one() {
    let world = World::new().await;
    let studio = Studio::start().await;
    let bot = world.painter(&studio).set("LLM_FALLBACK", "openai:gpt-4.1").spawn();
    bot.ready().await;
    world.draws(json!({"prompt": "a boat"}), "");
    world.say(ANN, ANN, "draw a boat and say nothing");
    let drawn = world.drawn(ANN, 1).await;
    world.draws(json!({"prompt": "a boat"}), "");
    let data = &drawn["reply_markup"]["inline_keyboard"][0][0]["callback_data"];
    let number = number(&drawn["message_id"]);
    for _ in 0..2 {
        world.telegram.press(ANN, ANN, number, data.as_str().unwrap()).unwrap();
    }
    world.drawn(ANN, 2).await;
    world.otherwise(ModelReply::text("Gladly."));
    world.told(ANN, ANN, "thanks").await;
    bot.ends_well().await;
    assert_eq!((studio.orders().len(), world.asked().len()), (2, 5), "{:?}", world.bot_texts(ANN));
    assert!(world.bot_texts(ANN).iter().all(|text| !text.contains("⚠️")), "{:?}", world.bot_texts(ANN));
}

#[tokio::test]
async fn a_picture_that_is_given_up_is_paid_for_and_not_drawn_again_after_a_kill() {
    let world = World::new().await;
    let studio = Studio::start().await;
    let bot = world.painter(&studio).set("DAILY_TOKENS", "100000").spawn();
    bot.ready().await;
    studio.hangs();
    let call = ReplyPart::Call { name: "draw".to_owned(), arguments: json!({"prompt": "a boat"}) };
    world.script.push(ModelReply::turn(vec![call]));
    world.say(ANN, ANN, "draw a boat");
    studio.ordered(1).await;
    world.say(ANN, ANN, "/stop");
    world.see("it stops", |view| (!view.bot_messages(ANN).is_empty()).then_some(())).await;
    studio.hangs();
    world.draws(json!({"prompt": "a lake"}), "It may be there.");
    world.say(ANN, ANN, "draw a lake");
    studio.ordered(2).await;
    // The reservation of the call is on record a moment later.
    recorded().await;
    bot.kill();
    let bot = world.painter(&studio).set("DAILY_TOKENS", "100000").spawn();
    bot.ready().await;
    says(&world, ANN, "It may be there.").await;
    assert!(world.told_of_drawing().contains("whether it acted is not known"), "{}", world.told_of_drawing());
    bot.ends_well().await;
    assert_eq!(studio.orders().len(), 2);
    let books = world.books().await;
    let pictures = books.iter().filter(|spending| spending.model.to_string() == "compatible:flux");
    let spent: u64 = pictures.map(|spending| spending.spent.tokens).sum();
    assert!(spent > 2 * 6_240, "{spent}: {books:?}");
}

#[tokio::test]
async fn a_call_whose_connection_is_lost_is_paid_for() {
    let world = World::new().await;
    let studio = Studio::start().await;
    let bot = world.painter(&studio).spawn();
    bot.ready().await;
    studio.breaks_off();
    world.draws(json!({"prompt": "a boat"}), "It did not come.");
    world.say(ANN, ANN, "draw a boat");
    says(&world, ANN, "It did not come.").await;
    bot.ends_well().await;
    assert_eq!(studio.orders().len(), 1);
    let books = world.books().await;
    let pictures = books.iter().filter(|spending| spending.model.to_string() == "compatible:flux");
    let spent: u64 = pictures.map(|spending| spending.spent.tokens).sum();
    assert!(spent > 6_240, "{spent}: {books:?}");
}

#[tokio::test]
async fn a_turn_draws_within_what_it_shares_with_the_agents_that_it_asked() {
    let world = World::new().await;
    let studio = Studio::start().await;
    let folder = world.folder.path().join("prompts/agents");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("artist.yaml"), ARTIST).unwrap();
    let bot = world.painter(&studio).set("DAILY_TOKENS", "200000").spawn();
    bot.ready().await;
    let ask = ReplyPart::Call {
        name: "ask_agent".to_owned(),
        arguments: json!({"agent_name": "researcher", "input_text": "boats", "timeout_seconds": 60}),
    };
    world.script.push(ModelReply::turn(vec![ask]));
    world.script.push(ModelReply::text("Boats float."));
    world.draws(json!({"prompt": "a boat"}), "There.");
    world.say(ANN, ANN, "/agents artist");
    world.answers(ANN, 1).await;
    world.say(ANN, ANN, "look into boats and draw one");
    world.drawn(ANN, 1).await;
    says(&world, ANN, "There.").await;
    bot.ends_well().await;
}
