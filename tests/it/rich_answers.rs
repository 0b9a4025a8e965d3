//! Answers with tables, headings, formulas and sections to open: they go out as rich messages, and as text where Telegram
//! does not take these or the chat wants none.

use std::time::Duration;

use figaro_offline::model::ModelReply;
use figaro_offline::telegram::{PlannedFailure, TelegramView};
use serde_json::{Value, json};

use super::formats::content;
use crate::support::calls::says;
use crate::support::scene::{TEAM, labels, number, text};
use crate::support::{ANN, World};

const TABLE: &str =
    "**Prices**\n\n| Bread | € |\n|---|--:|\n| *Rye* | 4.20 |\n\nSee [the list](https://a.example/x).";
/// The same as text.
const AS_TEXT: &str = "Prices\n\nBread |    €\n------+-----\nRye   | 4.20\n\nSee the list.";

fn blocks() -> Value {
    let cell = |text: Value, align: &str| json!({"text": text, "align": align, "valign": "middle"});
    let head = |text: &str, align: &str| json!({"text": text, "is_header": true, "align": align, "valign": "middle"});
    json!([
        {"type": "paragraph", "text": {"type": "bold", "text": "Prices"}},
        {"type": "table", "is_bordered": true, "cells": [
            [head("Bread", "left"), head("€", "right")],
            [cell(json!({"type": "italic", "text": "Rye"}), "left"), cell(json!("4.20"), "right")],
        ]},
        {"type": "paragraph", "text": ["See ", {"type": "url", "text": "the list", "url": "https://a.example/x"}, "."]},
    ])
}

fn refusal(status: u16, description: &str) -> PlannedFailure {
    PlannedFailure::Status { status, description: description.to_owned() }
}

/// The methods of the bot's calls that send or change messages in a chat, drafts aside.
fn methods(world: &World, chat: i64) -> Vec<String> {
    let is_one = |method: &str| {
        ["sendMessage", "sendRichMessage", "editMessageText", "deleteMessage", "sendDocument"]
            .contains(&method)
    };
    let calls = world.telegram.calls();
    let calls = calls.iter().filter(|call| is_one(&call.method) && call.args["chat_id"] == chat);
    calls.map(|call| format!("{}{}", if call.ok { "" } else { "!" }, call.method)).collect()
}

/// Waits until the last message of the bot in a chat is rich, and gives it.
async fn rich(world: &World, chat: i64) -> Value {
    let last = |view: &TelegramView<'_>| {
        let last = view.bot_messages(chat).pop()?.clone();
        last.get("rich_message").is_some().then_some(last)
    };
    world.see("a rich message", last).await
}

#[tokio::test]
async fn what_text_cannot_show_well_is_a_rich_message_and_all_else_is_text() {
    let world = World::new().await;
    let answers = [
        ("a table", TABLE, true),
        ("a heading", "## Plan\n\n1. one\n   ```rust\n   let a = 1;\n   ```", true),
        ("a formula", "So $$\\frac{a}{b^2}$$ it is.", true),
        ("a section", "<details><summary>More</summary>\n\n- one\n\n</details>", true),
        ("a list", "- one\n  - two\n\n> three\n\n```rust\nlet a = 1;\n```", false),
        ("a price", "It costs $5 or $10 | a | b", false),
    ];
    for (asked, answer, _) in answers {
        world.when(asked, ModelReply::text(answer));
    }
    let _bot = world.start().await;
    for (at, (asked, _, is_rich)) in answers.into_iter().enumerate() {
        let message = {
            world.say(ANN, ANN, asked);
            world.answers(ANN, at + 1).await.pop().unwrap()
        };
        assert_eq!(message.get("rich_message").is_some(), is_rich, "{message}");
        assert_eq!(message.get("text").is_some(), !is_rich, "{message}");
    }
    world.caught_up().await;
    let first = world.telegram.view(|view| view.bot_messages(ANN)[0].clone());
    assert_eq!(first["rich_message"]["blocks"], blocks());
    let args = world.telegram.view(|view| view.calls_of("sendRichMessage")[0].args.clone());
    assert!(args.keys().all(|key| matches!(key.as_str(), "chat_id" | "rich_message")), "{args:?}");
    assert_eq!(world.refused(), Vec::<String>::new());
}

#[tokio::test]
async fn a_rich_message_that_telegram_refuses_arrives_as_text_at_once() {
    let world = World::without_privacy().await;
    world.team();
    let bot = world.start_open().await;
    for (at, failure) in [
        refusal(404, "Not Found: method not found"),
        refusal(400, "Bad Request: RICH_MESSAGE_INVALID"),
        refusal(403, "Forbidden: rich messages are not for this chat"),
    ]
    .into_iter()
    .enumerate()
    {
        let said = format!("@figaro_bot prices {at}");
        world.when(&said, ModelReply::text(TABLE));
        world.telegram.fail("sendRichMessage", failure, 1);
        let asked = world.say(ANN, TEAM, &said);
        let message = world.answers(TEAM, at + 1).await.pop().unwrap();
        assert_eq!((text(&message), message.get("rich_message")), (AS_TEXT, None));
        assert_eq!(message["reply_to_message"]["message_id"], asked.message_id);
        assert_eq!(message["entities"][0]["type"], "bold");
    }
    world.caught_up().await;
    assert_eq!(methods(&world, TEAM), ["!sendRichMessage", "sendMessage"].repeat(3));
    assert!(bot.log().contains("refused a file or rich message"), "{}", bot.log());
}

#[tokio::test]
async fn a_long_rich_message_that_is_refused_arrives_as_several_texts() {
    let world = World::new().await;
    let section = |n: usize| format!("## Part {n}\n\n{}end {n}.", "many words ".repeat(300));
    let long = (1..=4).map(section).collect::<Vec<_>>().join("\n\n");
    world.otherwise(ModelReply::text(&long).paced(400, Duration::from_millis(8)));
    let _bot = world.start().await;
    world.say(ANN, ANN, "one");
    let message = rich(&world, ANN).await;
    assert_eq!(message["rich_message"]["blocks"].as_array().unwrap().len(), 8);
    world.caught_up().await;
    // No part of it came before, only to be taken back.
    assert_eq!(methods(&world, ANN)[..2], ["sendRichMessage", "sendMessage"]);
    world.telegram.fail("sendRichMessage", refusal(404, "Not Found: method not found"), 1);
    world.say(ANN, ANN, "two");
    says(&world, ANN, "end 4.").await;
    let texts = world.bot_texts(ANN);
    let count = |words: &str| texts.concat().matches(words).count();
    assert_eq!((count("many words"), count("Part "), texts.len()), (1200, 4, 6), "{texts:?}");
}

#[tokio::test]
async fn an_unclear_outcome_is_repeated_as_for_any_message() {
    let world = World::new().await;
    world.telegram.fail("sendRichMessage", PlannedFailure::RetryAfter(1), 1);
    world.telegram.fail("sendRichMessage", PlannedFailure::DropConnection, 1);
    world.otherwise(ModelReply::text(TABLE));
    let _bot = world.start().await;
    world.say(ANN, ANN, "prices");
    rich(&world, ANN).await;
    assert_eq!(methods(&world, ANN), ["!sendRichMessage", "!sendRichMessage", "sendRichMessage"]);
}

#[tokio::test]
async fn a_message_that_grew_in_a_group_becomes_the_rich_answer() {
    let world = World::without_privacy().await;
    world.team();
    let _bot = world.start_open().await;
    let slow = format!("{}\n\n{TABLE}", "Some words first. ".repeat(40));
    world.otherwise(ModelReply::text(&slow).paced(60, Duration::from_millis(250)));
    world.say(ANN, TEAM, "@figaro_bot prices");
    let growing = world.answers(TEAM, 1).await.remove(0);
    assert!(text(&growing).starts_with("Some words first."), "{growing}");
    let shown = rich(&world, TEAM).await;
    assert_eq!((&shown["message_id"], shown.get("text")), (&growing["message_id"], None));
    let is_table = |block: &Value| block["type"] == "table";
    assert!(shown["rich_message"]["blocks"].as_array().unwrap().iter().any(is_table), "{shown}");
    assert_eq!(methods(&world, TEAM).pop().unwrap(), "editMessageText");
}

#[tokio::test]
async fn an_edit_to_a_rich_message_that_is_refused_is_one_to_text() {
    let world = World::new().await;
    world.when("Holland", ModelReply::text("Amsterdam."));
    world.when("prices", ModelReply::text(TABLE));
    world.when("a heading", ModelReply::text("# Plan\n\nTwo words."));
    let _bot = world.start().await;
    let sent = world.say(ANN, ANN, "capital of Holland?").message_id;
    let answer = world.answers(ANN, 1).await.remove(0);
    let id = number(&answer["message_id"]);
    world.telegram.fail("editMessageText", refusal(400, "Bad Request: message text is empty"), 1);
    world.telegram.edit(ANN, ANN, sent, "prices").unwrap();
    let shown = world.shows(ANN, id, AS_TEXT).await;
    assert_eq!(labels(&shown), ["◀", "2/2"]);
    // And the versions of an answer follow each other in one message, rich or not.
    world.telegram.edit(ANN, ANN, sent, "a heading").unwrap();
    let shown = rich(&world, ANN).await;
    assert_eq!((number(&shown["message_id"]), labels(&shown)), (id, vec!["◀".to_owned(), "3/3".to_owned()]));
    for (label, at, is_rich) in [("◀", "2/3", true), ("◀", "1/3", false), ("▶", "2/3", true)] {
        let now = world.telegram.messages(ANN).into_iter().find(|m| m["message_id"] == id).unwrap();
        world.press(ANN, &now, label).await;
        world
            .see(at, |view| {
                let now = view.messages(ANN).into_iter().find(|m| m["message_id"] == id)?;
                let is_it = labels(now).iter().any(|label| label == at);
                (is_it && now.get("rich_message").is_some() == is_rich).then_some(())
            })
            .await;
    }
    assert_eq!(world.telegram.view(|view| view.bot_messages(ANN).len()), 1);
}

#[tokio::test]
async fn a_chat_can_want_plain_text() {
    let world = World::new().await;
    for said in ["first", "second", "third"] {
        world.when(said, ModelReply::text(TABLE));
    }
    let _bot = world.start().await;
    let card = world.told(ANN, ANN, "/config").await;
    let auto = "Form of answers: rich where it helps: tables, headings, formulas";
    assert!(text(&card).contains(auto), "{card}");
    world.press(ANN, &card, "Form of answers").await;
    let card = world.becomes(&card, "How shall my answers look?", "always plain text").await;
    world.press(ANN, &card, "always plain text").await;
    world.becomes(&card, "Form of answers: always plain text", "Form of answers").await;
    assert_eq!(text(&world.told(ANN, ANN, "first").await), AS_TEXT);
    let usage = world.told(ANN, ANN, "/config format fancy").await;
    assert!(text(&usage).starts_with("/config format takes one of these words:\n• auto – rich"), "{usage}");
    world.told(ANN, ANN, "/config format auto").await;
    world.say(ANN, ANN, "second");
    assert_eq!(rich(&world, ANN).await["rich_message"]["blocks"], blocks());
    world.told(ANN, ANN, "/config format plain").await;
    world.say(ANN, ANN, "third");
    says(&world, ANN, "See the list.").await;
    assert_eq!(world.refused(), Vec::<String>::new());
}

#[tokio::test]
async fn long_code_in_a_rich_answer_is_a_file_between_its_parts() {
    let world = World::new().await;
    let code = "let a = 1;\n".repeat(90);
    world.otherwise(ModelReply::text(&format!("# One\n\n```rust\n{code}```\n\n# Two")));
    let _bot = world.start().await;
    world.say(ANN, ANN, "write");
    let messages = world.answers(ANN, 3).await;
    let heading = |at: usize| messages[at]["rich_message"]["blocks"][0]["text"].clone();
    assert_eq!((heading(0), heading(2)), (json!("One"), json!("Two")));
    assert_eq!(content(&world, &messages[1]), code);
    assert_eq!(world.refused(), Vec::<String>::new());
}

#[tokio::test]
async fn a_draft_shows_the_table_while_it_is_written() {
    let world = World::new().await;
    let long = format!("{TABLE}\n\n{}", "More words about bread. ".repeat(60));
    world.when("prices", ModelReply::text(&long).paced(12, Duration::from_millis(60)));
    let _bot = world.start().await;
    world.say(ANN, ANN, "what are the prices?");
    let find = |view: &TelegramView<'_>| {
        let draft = view.drafts(ANN).pop()?;
        let blocks = draft.rich.as_ref()?["blocks"].as_array()?.clone();
        (blocks.len() > 3).then_some(blocks)
    };
    let shown = world.see("a rich draft", find).await;
    assert_eq!(json!(shown[..2]), json!(blocks().as_array().unwrap()[..2]), "{shown:?}");
    let sent = rich(&world, ANN).await;
    assert_eq!(sent["rich_message"]["blocks"][1], shown[1]);
    assert_eq!(world.refused(), Vec::<String>::new());
}

#[tokio::test]
async fn where_no_rich_draft_is_taken_the_draft_is_text() {
    let world = World::new().await;
    let long = format!("{TABLE}\n\n{}", "More words about bread. ".repeat(60));
    world.when("prices", ModelReply::text(&long).paced(12, Duration::from_millis(60)));
    world.telegram.fail("sendRichMessageDraft", refusal(404, "Not Found: method not found"), 9);
    let _bot = world.start().await;
    world.say(ANN, ANN, "what are the prices?");
    let find = |view: &TelegramView<'_>| {
        view.drafts(ANN).pop().filter(|draft| draft.text.contains("Rye   |")).map(drop)
    };
    world.see("a draft of text", find).await;
    rich(&world, ANN).await;
    let calls = world.telegram.calls();
    assert_eq!(calls.iter().filter(|call| call.method == "sendRichMessageDraft").count(), 1, "asked once");
}
