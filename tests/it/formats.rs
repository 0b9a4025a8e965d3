//! How what a model writes arrives: tables, formulas, and long code as files.

use figaro_offline::model::ModelReply;
use figaro_offline::telegram::{PlannedFailure, TelegramView};
use serde_json::{Value, json};

use crate::support::scene::{TEAM, text};
use crate::support::{ANN, World};

/// A hundred lines, every one of them different, with what text would lose.
fn program() -> String {
    let line = |n: usize| format!("\tprint('{n}: **not bold** $x$ \\\\(y\\\\) 😀')  \n");
    (1..=100).map(line).collect()
}

fn answer(code: &str) -> String {
    format!("Here it **is**:\n\n```python title=tools/app.py\n{code}```\n\nRun it with `python app.py`.")
}

/// What the bot has sent to a chat: texts, and the names of documents.
fn sent(view: &TelegramView<'_>, chat: i64) -> Vec<String> {
    let name = |message: &Value| message["document"]["file_name"].as_str().map(|name| format!("<{name}>"));
    view.bot_messages(chat).into_iter().map(|m| name(m).unwrap_or_else(|| text(m).to_owned())).collect()
}

/// What is in a document.
pub fn content(world: &World, message: &Value) -> String {
    let id = message["document"]["file_id"].as_str().unwrap();
    world.telegram.view(|view| String::from_utf8(view.file(id).unwrap().to_vec()).unwrap())
}

const PARTS: [&str; 3] = ["Here it is:\n\n📎 app.py", "<app.py>", "Run it with python app.py."];

#[tokio::test]
async fn long_code_arrives_as_a_file_where_it_stood() {
    let world = World::without_privacy().await;
    world.team();
    let code = program();
    world.otherwise(ModelReply::text(&answer(&code)).paced(400, std::time::Duration::ZERO));
    let bot = world.start_open().await;
    world.say(ANN, ANN, "write it");
    let messages = world.answers(ANN, 3).await;
    assert_eq!(world.telegram.view(|view| sent(view, ANN)), PARTS);
    assert_eq!(content(&world, &messages[1]), code, "to the byte");
    assert_eq!(messages[0]["entities"][1]["type"], "code", "no address to tap");

    // In a group the first message answers the question.
    let asked = world.say(ANN, TEAM, "@figaro_bot write it");
    let messages = world.answers(TEAM, 3).await;
    assert_eq!(world.telegram.view(|view| sent(view, TEAM)), PARTS);
    let answered = |m: &Value| m["reply_to_message"]["message_id"].as_i64();
    assert_eq!(messages.iter().map(answered).collect::<Vec<_>>(), [Some(asked.message_id), None, None]);
    assert_eq!(world.refused(), Vec::<String>::new());
    assert!(!bot.log().contains("simplified"), "{}", bot.log());
}

#[tokio::test]
async fn code_alone_is_a_file_that_answers_the_question() {
    let world = World::without_privacy().await;
    world.team();
    world.otherwise(ModelReply::text(&format!("```rust\n{}```", program())));
    let _bot = world.start_open().await;
    let asked = world.say(ANN, TEAM, "@figaro_bot only the code");
    let messages = world.answers(TEAM, 1).await;
    assert_eq!(messages[0]["document"]["file_name"], "main.rs");
    assert_eq!(messages[0]["reply_to_message"]["message_id"], asked.message_id);
    world.caught_up().await;
    assert_eq!(world.telegram.view(|view| sent(view, TEAM)), ["<main.rs>"]);
    assert_eq!(world.refused(), Vec::<String>::new());
}

#[tokio::test]
async fn a_file_that_telegram_refuses_arrives_as_text() {
    let world = World::new().await;
    let refusal = "Bad Request: not enough rights to send documents to the chat";
    let failure = PlannedFailure::Status { status: 400, description: refusal.to_owned() };
    // Refused each time: the preview may try it, too.
    world.telegram.fail("sendDocument", failure, 9);
    let code = program();
    world.script.push(ModelReply::text(&answer(&code)));
    let bot = world.start().await;
    world.say(ANN, ANN, "write it");
    let last = |view: &TelegramView<'_>| {
        let messages = view.bot_messages(ANN);
        text(messages.last()?)
            .starts_with("Run it")
            .then(|| messages.into_iter().cloned().collect::<Vec<_>>())
    };
    let messages = world.see("the last part", last).await;
    let texts: Vec<&str> = messages.iter().map(text).collect();
    let [first, middle @ .., _last] = texts.as_slice() else { panic!("{texts:?}") };
    assert_eq!(*first, PARTS[0]);
    let whole = middle.join("\n");
    // Telegram trims the ends of a message.
    let lines = |text: &str| text.lines().map(|line| line.trim().to_owned()).collect::<Vec<_>>();
    assert_eq!(lines(&whole), lines(&code), "nothing is lost");
    let codes = &messages[1..messages.len() - 1];
    assert!(
        codes.iter().all(|m| m["entities"][0]["type"] == "pre" && m["entities"][0]["language"] == "python")
    );
    assert!(bot.log().contains("Telegram refused a file"), "{}", bot.log());
}

#[tokio::test]
async fn a_file_waits_when_telegram_asks_to_and_is_tried_again_when_it_fails() {
    let world = World::new().await;
    world.telegram.fail("sendDocument", PlannedFailure::RetryAfter(1), 1);
    world.telegram.fail("sendDocument", PlannedFailure::DropConnection, 1);
    let code = program();
    world.script.push(ModelReply::text(&answer(&code)));
    let _bot = world.start().await;
    world.say(ANN, ANN, "write it");
    let messages = world.answers(ANN, 3).await;
    assert_eq!(world.telegram.view(|view| sent(view, ANN)), PARTS);
    assert_eq!(content(&world, &messages[1]), code);
    let calls: Vec<bool> =
        world.telegram.view(|view| view.calls_of("sendDocument").iter().map(|call| call.ok).collect());
    assert_eq!(calls, [false, false, true]);
}

#[tokio::test]
async fn after_a_crash_delivery_goes_on_with_the_file() {
    let world = World::new().await;
    world.telegram.fail("sendDocument", PlannedFailure::Hang, 1);
    let code = program();
    // Should the file be under way before the answer is stored, the bot asks again.
    world.otherwise(ModelReply::text(&answer(&code)));
    let bot = world.start().await;
    world.say(ANN, ANN, "write it");
    world.see("the file under way", |view| (!view.calls_of("sendDocument").is_empty()).then_some(())).await;
    bot.kill();
    let _bot = world.start().await;
    let messages = world.answers(ANN, 3).await;
    assert_eq!(content(&world, &messages[1]), code);
    world.caught_up().await;
    assert_eq!(world.telegram.view(|view| sent(view, ANN))[..3], PARTS, "nothing twice");
    assert_eq!(world.bot_texts(ANN).len(), 4);
}

const LESSON: &str = r"The **roots** of \(ax^2 + bx + c = 0\) are

\[
x = \frac{-b \pm \sqrt{b^2 - 4ac}}{2a}
\]

for $5, and $\alpha \neq \beta$:

$$
A = \begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix}
$$

| n | value |
|--:|:------|
| 1 | $x_1^2$ |
| 10 | **`日本`** |

| City | What one should know of it |
|------|----------------------------|
| Riga | Art Nouveau, a *large* market and $10^3$ cafés |

`$x$` stays.";

#[tokio::test]
async fn formulas_and_tables_read_well() {
    let world = World::new().await;
    // Slow enough that half of it is drawn.
    world.script.push(ModelReply::text(LESSON).paced(20, std::time::Duration::from_millis(30)));
    world.plain(&[ANN]).await;
    let _bot = world.start().await;
    let answer = world.ask("teach me").await;
    insta::assert_json_snapshot!(
        json!({"text": text(&answer).lines().collect::<Vec<_>>(), "entities": answer["entities"]})
    );
    let drafts = world.telegram.view(|view| {
        let drafts = view.calls_of("sendMessageDraft");
        drafts
            .iter()
            .map(|call| call.args["text"].as_str().unwrap_or_default().to_owned())
            .collect::<Vec<_>>()
    });
    assert!(!drafts.is_empty());
    assert!(drafts.iter().all(|text| !text.contains('\\')), "{drafts:?}");
    assert_eq!(world.refused(), Vec::<String>::new());
}
