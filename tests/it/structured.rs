//! Agents whose answer has a form: it is checked, mended once, and fails clearly else; at all four providers.

use std::fs;

use figaro_offline::model::{ModelReply, ModelRequest, ReplyPart};
use figaro_offline::telegram::TelegramView;
use serde_json::{Value, json};

use crate::support::bot::Recipe;
use crate::support::scene::text;
use crate::support::{ANN, Bot, World};

const PROVIDERS: [&str; 4] = ["openai", "compatible", "ollama", "gemini"];
const EXTRACTOR: &str = "type: object
description: Extract the person that is spoken of.
properties:
  name: {type: string}
  age: {type: integer, minimum: 0}
required: [name]
json_schema_extra: {kind: agent, name: extractor, version: 1, structured_output: true, tools: [{name: add_note}]}
";
const FITS: &str = r#"{"name":"Lena","age":7}"#;
const WRONG: &str = r#"{"name":"Lena","age":"seven"}"#;
const FAILED: &str = "The answer needs a certain form, and the model got it wrong twice";

/// A bot in whose chat with Ann the extractor answers.
async fn extracting(world: &World, recipe: &Recipe) -> Bot {
    let folder = world.folder.path().join("prompts/agents");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("extractor.yaml"), EXTRACTOR).unwrap();
    let bot = recipe.spawn();
    bot.ready().await;
    world.told(ANN, ANN, "/config agent extractor").await;
    bot
}

/// The schema that a request holds the answer to.
fn held_to<'a>(provider: &str, request: &'a ModelRequest) -> &'a Value {
    let body = &request.body;
    match provider {
        "openai" => &body["text"]["format"]["schema"],
        "compatible" => &body["response_format"]["json_schema"]["schema"],
        "ollama" => &body["format"],
        _ => &body["generationConfig"]["responseJsonSchema"],
    }
}

/// Whether the words of the answer were ever on Ann's screen but in these messages.
fn was_shown(world: &World, words: &str) -> bool {
    let has = |view: &TelegramView<'_>| {
        let in_drafts = view.drafts(ANN).iter().any(|draft| draft.text.contains(words));
        in_drafts || view.bot_messages(ANN).into_iter().any(|message| text(message).contains(words))
    };
    world.telegram.view(has)
}

#[tokio::test]
async fn an_answer_that_fits_is_shown_as_it_is_and_one_that_does_not_is_mended() {
    for provider in PROVIDERS {
        let world = World::new().await;
        let _bot = extracting(&world, &world.bot_of(provider)).await;
        world.script.push(ModelReply::text(&format!("```json\n{FITS}\n```")));
        assert_eq!(text(&world.ask("Lena is seven").await), FITS, "{provider}");
        let first = world.asks(1).await;
        let is_held = held_to(provider, &first)["properties"]["age"]["type"] == "integer";
        let is_told = first.instructions().contains("matches this JSON Schema");
        // A form binds every word of Ollama's models, so that no tool could be called.
        assert_eq!(
            (is_held, is_told),
            (provider != "ollama", provider == "ollama"),
            "{provider}: {}",
            first.body
        );
        assert_eq!(first.tool_names(), ["add_note"]);

        for wrong in [WRONG, "Lena is seven.", "Here: {\"name\":\"Lena\"}"] {
            let before = world.asked().len();
            world.script.push(ModelReply::text(wrong));
            world.script.push(ModelReply::text(FITS));
            assert_eq!(text(&world.ask("Lena is seven").await), FITS, "{provider}");
            let second = world.asks(before + 2).await;
            assert!(second.tool_names().is_empty(), "{provider}");
            assert_eq!(held_to(provider, &second)["properties"]["age"]["type"], "integer", "{provider}");
            assert!(second.user_text().contains("does not fit the form"), "{}", second.user_text());
            let place = if wrong == WRONG { "/age: value is not of type" } else { "not one JSON object" };
            assert!(second.user_text().contains(place), "{}", second.user_text());
            assert_eq!(world.asked().len(), before + 2, "{provider}");
        }
        assert_eq!(world.refused(), Vec::<String>::new());
    }
}

#[tokio::test]
async fn where_form_and_tools_do_not_go_together_the_form_is_told_and_binds_without_tools() {
    let world = World::new().await;
    let recipe = world.bot_of("gemini").set("GEMINI_MODEL", "gemini-2.5-flash");
    let _bot = extracting(&world, &recipe).await;
    let note = json!({"key": "a", "content": "b"});
    world
        .script
        .push(ModelReply::turn(vec![ReplyPart::Call { name: "add_note".to_owned(), arguments: note }]));
    world.script.push(ModelReply::text(WRONG));
    world.script.push(ModelReply::text(FITS));
    assert_eq!(text(&world.ask("Lena is seven").await), FITS);
    for (number, is_held) in [(1, false), (2, false), (3, true)] {
        let request = world.asks(number).await;
        assert_eq!(held_to("gemini", &request).is_object(), is_held, "{number}");
        assert_eq!(request.instructions().contains("matches this JSON Schema"), !is_held, "{number}");
    }
}

#[tokio::test]
async fn an_answer_that_does_not_fit_twice_fails_and_nothing_of_it_is_shown() {
    for provider in PROVIDERS {
        let world = World::new().await;
        let _bot = extracting(&world, &world.bot_of(provider)).await;
        world.script.push(ModelReply::text(WRONG));
        world.script.push(ModelReply::text("Lena is seven years old."));
        let told = world.ask("Lena is seven").await;
        assert!(
            text(&told).contains(FAILED) && text(&told).ends_with("/why says more."),
            "{provider}: {told}"
        );
        assert!(!was_shown(&world, "Lena"), "{provider}");
        assert_eq!(world.asked().len(), 2, "{provider}: it is mended once");
        // The next question begins afresh.
        world.script.push(ModelReply::text(FITS));
        assert_eq!(text(&world.ask("Lena is seven").await), FITS, "{provider}");
        assert!(!world.asks(3).await.body.to_string().contains("does not fit the form"));
    }
}

#[tokio::test]
async fn killed_between_the_tries_it_is_still_mended_once() {
    let world = World::new().await;
    let recipe = world.bot();
    for (second, is_answered) in [(FITS, true), (WRONG, false)] {
        let bot = extracting(&world, &recipe).await;
        let before = world.asked().len();
        world.script.push(ModelReply::text(WRONG));
        world.script.push(ModelReply::text(second).hang_after(0));
        world.script.push(ModelReply::text(second));
        let answers = world.bot_texts(ANN).len();
        world.say(ANN, ANN, "Lena is seven");
        world.asks(before + 2).await;
        bot.kill();
        let bot = recipe.spawn();
        bot.ready().await;
        let answer = world.answers(ANN, answers + 1).await.pop().unwrap();
        let wanted = if is_answered { FITS } else { FAILED };
        assert!(text(&answer).contains(wanted), "{answer}");
        assert_eq!(world.asked().len(), before + 3, "the pass under way is asked for again, and no other");
        let last = world.asks(before + 3).await;
        assert!(last.user_text().contains("/age: value is not of type"), "{}", last.user_text());
        assert!(last.tool_names().is_empty());
        bot.ends_well().await;
    }
}
