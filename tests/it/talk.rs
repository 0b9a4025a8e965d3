//! Conversations: what makes one question, in which order answers come, how they look, and what the model is told.

use std::time::Duration;

use figaro_offline::model::{Gate, ModelReply, ModelRequest, ReplyPart};
use figaro_offline::telegram::Say;
use serde_json::{Value, json};

use crate::support::scene::{number, text};
use crate::support::{ANN, BOB, World};

fn units(text: &str) -> usize {
    text.encode_utf16().count()
}

fn call(name: &str, arguments: Value) -> ReplyPart {
    ReplyPart::Call { name: name.to_owned(), arguments }
}

/// The results of the calls made since the question, each as JSON.
fn results(request: &ModelRequest) -> Vec<Value> {
    request.tool_results().iter().map(|(_, output)| serde_json::from_str(output).unwrap()).collect()
}

#[tokio::test]
async fn a_long_answer_comes_in_order_in_messages_telegram_takes() {
    let world = World::new().await;
    let paragraph = |n: usize| format!("**Part {n}** 😀 {}", "and so it went on and on. ".repeat(60));
    let mut parts: Vec<String> = (1..=6).map(paragraph).collect();
    parts.push(format!("```rust\n{}```", "let answer = 42; // as everybody knows\n".repeat(70)));
    parts.push("_The end._".to_owned());
    world.script.push(ModelReply::text(&parts.join("\n\n")).paced(500, Duration::ZERO));
    let bot = world.start().await;
    world.say(ANN, ANN, "tell me everything");
    let sent = world.see("the end", |view| {
        let messages = view.bot_messages(ANN);
        text(messages.last()?)
            .ends_with("The end.")
            .then(|| messages.into_iter().cloned().collect::<Vec<_>>())
    });
    let sent = sent.await;
    assert!((3..=5).contains(&sent.len()), "{}", sent.len());
    assert!(sent.iter().all(|m| units(text(m)) <= 4096));
    let whole: String = sent.iter().map(|m| format!("{}\n", text(m))).collect();
    let at = |words: &str| whole.find(words).unwrap_or_else(|| panic!("no {words}"));
    assert!((1..6).all(|n| at(&format!("Part {n}")) < at(&format!("Part {}", n + 1))));
    assert_eq!(whole.matches("let answer = 42;").count(), 70, "nothing of the code is lost");
    let entities = |kind: &str| {
        sent.iter().flat_map(|m| m["entities"].as_array().unwrap()).filter(|e| e["type"] == kind).count()
    };
    assert_eq!((entities("bold"), entities("italic")), (6, 1));
    let with_code = sent.iter().filter(|m| text(m).contains("let answer")).count();
    assert_eq!(entities("pre"), with_code, "code stays code in every message");
    assert!(!bot.log().contains("simplified"), "{}", bot.log());
    assert_eq!(world.refused(), Vec::<String>::new());
}

const SHOWCASE: &str = r#"# Title

Some **bold**, _italic_, ~~struck~~, `code`, **bold _and italic_**, ||a spoiler||, 😀 **after emoji**.
A [link](https://example.com/a?b=1&c=2) and a bare https://example.com/bare.

1. first
2. second with `code`
   - nested *item*
   - [x] done

> A quote
> of two lines with **bold**

```python
def f(x):
    return x < 1 and "<b>" or '*not italic*'
```

| Name | Count |
|:-----|------:|
| Äpfel | 12 |
| Birnen | 3 |

---

snake_case_name, 2 * 3 * 4, 5 < 6 & 7 > 3, \*escaped\*, <b>some html</b>
![picture](https://example.com/p.png)
Unclosed **bold and `code"#;

#[tokio::test]
async fn markdown_arrives_as_telegrams_own_formatting() {
    let world = World::new().await;
    world.plain(&[ANN]).await;
    world.script.push(ModelReply::text(SHOWCASE));
    let _bot = world.start().await;
    let answer = world.ask("show me").await;
    insta::assert_json_snapshot!(json!({"text": answer["text"], "entities": answer["entities"]}));
    assert_eq!(world.refused(), Vec::<String>::new());
}

#[tokio::test]
async fn a_slow_chat_does_not_hold_up_another_and_its_messages_wait_in_order() {
    let world = World::new().await;
    let gate = Gate::new();
    world.when("one", ModelReply::text("first").behind(&gate));
    world.when("two", ModelReply::text("second"));
    world.when("three", ModelReply::text("third"));
    world.when("quick", ModelReply::text("quickly"));
    let _bot = world.start_open().await;
    for words in ["one", "two", "three"] {
        world.say(ANN, ANN, words);
    }
    world.asks(1).await;
    assert_eq!(text(&world.told(BOB, BOB, "quick").await), "quickly");
    assert_eq!(world.bot_texts(ANN), Vec::<String>::new());
    gate.open();
    world.answers(ANN, 3).await;
    assert_eq!(world.bot_texts(ANN), ["first", "second", "third"]);
    let last = world.asked().into_iter().find(|request| request.user_text().contains("three")).unwrap();
    assert_eq!(last.input().len(), 5, "each saw what was said before it");
}

#[tokio::test]
async fn parts_that_belong_together_are_one_question() {
    let world = World::new().await;
    world.person(13, "Carl", "en");
    world.person(14, "Dora", "en");
    // No model answers at once.
    world.otherwise(ModelReply::text("One answer.").paced(0, Duration::from_millis(300)));
    let _bot = world.start_open().await;
    // An album.
    for caption in ["our holiday", ""] {
        world.telegram.send(Say::new(ANN, ANN, caption).photo("jpeg").media_group_id("a1")).unwrap();
    }
    // A paste that the client split.
    let paste = format!("BEGIN {}", "word ".repeat(817));
    assert!((4000..=4096).contains(&paste.len()));
    world.say(BOB, BOB, &paste);
    world.say(BOB, BOB, "END of the paste");
    // A comment, sent by the client before the messages it forwards.
    world.say(13, 13, "What do you make of this?");
    for words in ["Pay 100 euros now!", "Or lose everything."] {
        world.telegram.send(Say::new(13, 13, words).forward_from(BOB)).unwrap();
    }
    // Two messages that do not belong together.
    world.say(14, 14, "What is an album?");
    world.say(14, 14, "What is a paste?");
    world.answers(14, 2).await;
    for chat in [ANN, BOB, 13] {
        world.answers(chat, 1).await;
    }
    world.caught_up().await;
    assert_eq!([13, BOB].map(|chat| world.bot_texts(chat).len()), [1, 1]);
    assert_eq!(world.bot_texts(ANN), ["One answer.", "I have."]);

    let prompts: Vec<String> = world.asked().iter().map(|request| request.user_text()).collect();
    let last_with = |words: &str| prompts.iter().rev().find(|prompt| prompt.contains(words)).unwrap();
    assert_eq!(last_with("our holiday").matches("<attached kind=\"photo\" ").count(), 2);
    assert!(last_with("BEGIN word").contains("END of the paste"));
    let forward = last_with("What do you make of this?");
    assert_eq!(forward.matches("forwarded_from=\"Bob\"").count(), 2, "{forward}");
    assert!(forward.contains("Pay 100 euros now!") && forward.contains("Or lose everything."), "{forward}");
    assert!(!last_with("What is a paste?").contains("What is an album?"));
}

#[tokio::test]
async fn an_edit_in_time_changes_the_question_and_a_late_one_is_answered_in_place() {
    let world = World::new().await;
    let gate = Gate::new();
    world.script.push(ModelReply::text("never seen").behind(&gate));
    world.script.push(ModelReply::text("Warsaw."));
    let _bot = world.start().await;
    let sent = world.say(ANN, ANN, "capital of Holland?");
    world.asks(1).await;
    world.telegram.edit(ANN, ANN, sent.message_id, "capital of Poland?").unwrap();
    assert_eq!(text(&world.answers(ANN, 1).await[0]), "Warsaw.");
    let second = world.asks(2).await;
    assert!(second.user_text().contains("Poland") && !second.body.to_string().contains("Holland"));
    assert_eq!(second.input().len(), 1);
    world.script.push(ModelReply::text("Madrid."));
    world.telegram.edit(ANN, ANN, sent.message_id, "capital of Spain?").unwrap();
    gate.open();
    world
        .see("the new answer", |view| {
            view.bot_messages(ANN).iter().all(|message| text(message) == "Madrid.").then_some(())
        })
        .await;
    assert_eq!(world.asked().len(), 3);
}

#[tokio::test]
async fn what_it_cannot_read_gets_a_clear_answer_without_the_model() {
    let world = World::new().await;
    world.otherwise(ModelReply::text("I see words."));
    let _bot = world.start_open().await;
    let send = |chat: i64, caption: &str, field: &str, value: Value| {
        world.telegram.send(Say::new(chat, chat, caption).field(field, value)).unwrap()
    };
    let file = |more: Value| {
        let mut file = json!({"file_id": "f", "file_unique_id": "u"});
        file.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        file
    };
    send(ANN, "", "voice", file(json!({"duration": 3})));
    world.answers(ANN, 1).await;
    send(
        ANN,
        "",
        "sticker",
        file(json!({"type": "regular", "width": 1, "height": 1, "is_animated": false, "is_video": false})),
    );
    world.answers(ANN, 2).await;
    world.telegram.send(Say::new(BOB, BOB, "").photo("jpeg")).unwrap();
    world.answers(BOB, 1).await;
    assert_eq!(
        world.bot_texts(ANN),
        [
            "I cannot read voice messages yet. Send me text instead. As an owner you can let me hear: set TRANSCRIBER.",
            "I cannot read stickers yet. Send me text instead."
        ]
    );
    assert_eq!(
        world.bot_texts(BOB),
        [
            "My model, openai:offline, cannot see pictures. No other model here can see them either. Describe it in words. Whoever \
             runs me can set up one that sees."
        ]
    );
    assert!(world.asked().is_empty());
    world.telegram.send(Say::new(BOB, BOB, "what is this?").photo("jpeg")).unwrap();
    world.answers(BOB, 2).await;
    assert!(
        world.asks(1).await.user_text().contains(
            "what is this?\n<attached kind=\"photo\" not_given_to_you=\"you cannot see pictures\"/>"
        )
    );
}

#[tokio::test]
async fn notes_and_settings_are_in_the_next_prompt() {
    let world = World::new().await;
    world.script.push(ModelReply::turn(vec![
        call("add_note", json!({"key": "Shopping  List", "content": "oat milk"})),
        call("set_config", json!({"language": "Latvian", "timezone": "Asia/Tokyo", "personality": "dry"})),
    ]));
    world.script.push(ModelReply::text("Done."));
    world.script.push(ModelReply::text("Labi."));
    let _bot = world.start().await;
    world.ask("set things up").await;
    // The answer, and the card that shows what was changed.
    world.answers(ANN, 2).await;
    world.told(ANN, ANN, "/config instructions Never mention the war.").await;
    world.ask("how are you?").await;
    let request = world.asks(3).await;
    for words in [
        "<chat_settings>\nInstructions: Never mention the war.",
        "Answer in this language: Latvian",
        "Tone: dry",
    ] {
        assert!(request.instructions().contains(words), "{words} in {}", request.instructions());
    }
    let prompt = request.user_text();
    assert!(
        prompt.contains("<notes>\nshopping list: oat milk\n</notes>")
            && prompt.contains("(Asia/Tokyo)</now>"),
        "{prompt}"
    );
}

#[tokio::test]
async fn calls_of_one_pass_run_together_and_their_results_keep_the_order() {
    let world = World::new().await;
    world.script.push(ModelReply::turn(vec![
        ReplyPart::Text("One moment.".into()),
        call("sendPoll", json!({"question": "Where?", "options": [{"text": "here"}, {"text": "there"}]})),
        call("add_note", json!({"key": "k", "content": "c"})),
        call("add_note", json!("{\"key\": \"k\", ")),
        call("no_such_tool", json!({})),
        call("add_note", json!({"key": "k", "content": "c", "colour": "red"})),
    ]));
    world.script.push(ModelReply::text("The poll stands."));
    let bot = world.start().await;
    world.say(ANN, ANN, "a poll, please");
    world
        .see("the answer", |view| {
            view.bot_messages(ANN).iter().any(|m| m["text"] == "The poll stands.").then_some(())
        })
        .await;
    let request = world.asks(2).await;
    let names: Vec<&str> = request.tool_results().iter().map(|(name, _)| *name).collect();
    assert_eq!(names, ["sendPoll", "add_note", "add_note", "no_such_tool", "add_note"]);
    let results = results(&request);
    let worked: Vec<bool> = results.iter().map(|result| result["success"].as_bool().unwrap()).collect();
    assert_eq!(worked, [true, true, false, false, false], "{results:?}");
    let complaint = |at: usize| results[at]["error"].as_str().unwrap();
    assert!(complaint(2).contains("not valid JSON"), "{results:?}");
    assert!(complaint(3).contains("no tool no_such_tool"), "{results:?}");
    assert!(complaint(4).contains("colour"), "the model is told what to mend: {results:?}");
    assert_eq!(
        world.telegram.view(|view| view
            .messages(ANN)
            .iter()
            .filter(|m| m["poll"]["question"] == "Where?")
            .count()),
        1
    );
    assert_eq!(bot.log().matches("a tool was called").count(), 5);
}

#[tokio::test]
async fn what_the_model_said_with_a_tool_is_not_said_twice() {
    let world = World::new().await;
    world.script.push(ModelReply::call(
        "sendMessage",
        json!({"text": "<b>Said</b> by the tool", "parse_mode": "HTML"}),
    ));
    world.script.push(ModelReply::text("I have told them."));
    world.script.push(ModelReply::text("As I said."));
    let _bot = world.start().await;
    let said = world.ask("tell me").await;
    assert_eq!((text(&said), &said["entities"][0]["type"]), ("Said by the tool", &json!("bold")));
    assert_eq!(text(&world.ask("what?").await), "As I said.");
    assert_eq!(world.bot_texts(ANN), ["Said by the tool", "As I said."]);
    assert!(world.asks(3).await.body["input"].to_string().contains("I have told them."), "it is remembered");
}

#[tokio::test]
async fn old_exchanges_leave_the_prompt_when_the_budget_is_full() {
    let world = World::new().await;
    world.otherwise(ModelReply::text("I see."));
    let bot = world.bot().set("HISTORY_TOKENS", "1250").spawn();
    bot.ready().await;
    for n in 1..=5 {
        world.ask(&format!("story {n}: {}", "once upon a time ".repeat(90))).await;
    }
    world.ask("the moral?").await;
    let request = world.asks(6).await;
    let (last, before) = request.input().split_last().unwrap();
    let whole = serde_json::to_string(before).unwrap();
    let kept: Vec<usize> = (1..=5).filter(|n| whole.contains(&format!("story {n}:"))).collect();
    assert_eq!(kept, [4, 5], "the newest that fit");
    let older = last.to_string();
    assert!(!older.contains("story 4:") && !older.contains("story 5:"), "nothing is shown twice");
    let history: usize = request.input().iter().rev().skip(1).map(|item| item.to_string().len()).sum();
    assert!(history < 1000 * 5, "{history} characters");
    assert_eq!(
        number(&request.input()[1]["content"][0]["text"].as_str().unwrap().len().into()),
        6,
        "an answer follows"
    );
}
