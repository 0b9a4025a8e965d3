//! A long answer in a private chat: each full part is a message as soon as it is full, the draft shows the rest, and in
//! the end the parts of the answer stand in the chat, each once, whatever happens meanwhile.

use std::time::Duration;

use figaro_markup::{Piece, messages};
use figaro_offline::model::{Gate, ModelReply, ReplyPart};
use figaro_offline::telegram::{ApiCall, PlannedFailure};
use serde_json::{Value, json};

use crate::support::scene::{number, text};
use crate::support::{ANN, Bot, World};

/// A paragraph of the answer comes this often.
const STEP: Duration = Duration::from_millis(60);

/// An answer of so many paragraphs, about 400 characters each.
fn paragraphs(count: usize, what: &str) -> String {
    let paragraph = |n: usize| format!("{what} {n} of the answer **goes on**: {}", "with words ".repeat(34));
    (1..=count).map(|n| paragraph(n).trim_end().to_owned()).collect::<Vec<_>>().join("\n\n")
}

fn slowly(answer: &str) -> ModelReply {
    ModelReply::text(answer).paced(200, STEP)
}

/// The same as people read it, without the white space that is lost between messages.
fn plain(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace() && !"*\u{2060}".contains(*c)).collect()
}

/// The messages that an answer is made of; files by name.
fn split(answer: &str) -> Vec<String> {
    let shown = |piece| match piece {
        Piece::Text(text) => text.text,
        Piece::File(file) | Piece::Whole(file, _) => file.name,
        Piece::Rich(part) => panic!("{part:?}"),
    };
    messages(answer, 4096).into_iter().map(shown).collect()
}

/// The bot's messages to Ann; files by name.
fn stand(world: &World) -> Vec<String> {
    let shown = |m: &Value| m["document"]["file_name"].as_str().unwrap_or_else(|| text(m)).to_owned();
    world.telegram.view(|view| view.bot_messages(ANN).into_iter().map(shown).collect())
}

/// The calls of a method to Ann's chat.
fn calls(world: &World, method: &str) -> Vec<ApiCall> {
    let to = |call: &&&ApiCall| call.args.get("chat_id") == Some(&json!(ANN));
    world.telegram.view(|view| view.calls_of(method).iter().filter(to).map(|call| (*call).clone()).collect())
}

/// Waits until the chat has exactly these messages, and the turn has ended.
async fn all(world: &World, wanted: &[String]) {
    let found = world.telegram.wait_until(crate::support::TIMEOUT, |view| {
        let shown = |m: &Value| m["document"]["file_name"].as_str().unwrap_or_else(|| text(m)).to_owned();
        let now: Vec<String> = view.bot_messages(ANN).into_iter().map(shown).collect();
        (now == wanted).then_some(())
    });
    let cut = |texts: &[String]| -> Vec<String> {
        texts.iter().map(|text| text.chars().take(60).collect()).collect()
    };
    if found.await.is_none() {
        panic!("{:#?} instead of {:#?}", cut(&stand(world)), cut(wanted));
    }
}

/// Waits until so many parts are there and a draft shows what is behind them: then they are on record.
async fn parts_and_draft(world: &World, count: usize) -> Vec<Value> {
    world
        .see("parts and a draft", |view| {
            let parts: Vec<Value> = view.bot_messages(ANN).into_iter().cloned().collect();
            let has_draft = view.drafts(ANN).iter().any(|draft| !draft.text.is_empty());
            (parts.len() >= count && has_draft).then_some(parts)
        })
        .await
}

async fn stop(mut bot: Bot) {
    bot.signal("TERM");
    assert!(bot.ended().await.success());
}

/// At every moment the messages and the draft behind them were the beginning of the answer, and nothing that a draft had
/// shown was gone when the next one was drawn.
fn check_moments(world: &World, answer: &str) {
    let (mut sent, mut longest, mut drafts) = (String::new(), 0, 0);
    let whole = plain(answer);
    for call in world.telegram.calls().into_iter().filter(|call| call.ok) {
        let shown = plain(call.args.get("text").and_then(Value::as_str).unwrap_or_default());
        match call.method.as_str() {
            "sendMessage" => sent += &shown,
            // The end of what could not be sent so far.
            "sendMessageDraft" if shown.starts_with('…') => {
                let at = whole.find(shown.trim_matches('…')).expect("a part of the answer");
                let end = at + shown.trim_matches('…').len();
                assert!(end >= longest, "{longest} bytes were shown, then up to {end}");
                longest = end;
                drafts += 1;
            }
            "sendMessageDraft" if !shown.is_empty() => {
                let now = sent.clone() + shown.trim_end_matches('…');
                assert!(whole.starts_with(&now), "{now}");
                assert!(now.len() >= longest, "{longest} bytes were shown, then {}", now.len());
                longest = now.len();
                drafts += 1;
            }
            _ => {}
        }
        assert!(whole.starts_with(&sent), "{sent}");
    }
    assert!(drafts >= 3, "{drafts} drafts");
}

/// No message was changed or deleted.
fn assert_untouched(world: &World) {
    for method in ["editMessageText", "deleteMessage"] {
        assert_eq!(calls(world, method).len(), 0, "{method}");
    }
}

async fn it_comes_part_by_part() {
    let world = World::new().await;
    let answer = paragraphs(30, "Paragraph");
    let wanted = split(&answer);
    assert_eq!(wanted.len(), 4);
    world.script.push(slowly(&answer));
    let bot = world.start().await;
    world.say(ANN, ANN, "tell me");
    let early = parts_and_draft(&world, 1).await;
    assert_eq!(text(&early[0]), wanted[0], "it is there before the answer is whole");
    all(&world, &wanted).await;
    world.caught_up().await;
    stop(bot).await;
    assert_eq!(stand(&world)[..4], wanted, "the order is that of the answer");
    let sent = calls(&world, "sendMessage");
    assert_eq!(sent.len(), 5, "each part and the marker once");
    assert!(sent.windows(2).all(|pair| pair[0].at < pair[1].at));
    assert_untouched(&world);
    check_moments(&world, &(answer + "\n\nI have."));
    assert_eq!(world.refused(), Vec::<String>::new());
}

/// The draft of a block that is no message yet shows what is being written.
async fn the_draft_follows_a_long_block() {
    let world = World::new().await;
    let rows: String = (0..260).map(|n| format!("let answer_{n} = {};\n", "many + ".repeat(14))).collect();
    let answer = format!("```rust\n{rows}```");
    world.script.push(slowly(&answer));
    let bot = world.start().await;
    world.say(ANN, ANN, "write it");
    all(&world, &split(&answer)).await;
    stop(bot).await;
    let drafts = calls(&world, "sendMessageDraft");
    let newest = |call: &ApiCall| -> Option<usize> {
        let text = call.args.get("text")?.as_str()?.strip_prefix("… ")?;
        assert!(call.args.get("entities")?.to_string().contains("pre"), "it is code");
        text.rsplit_once("answer_")?.1.split_once(' ')?.0.parse().ok()
    };
    let rows: Vec<usize> = drafts.iter().filter_map(newest).collect();
    assert!(rows.len() >= 3 && rows.is_sorted() && rows.last() > rows.first(), "{rows:?}");
    assert_eq!(world.refused(), Vec::<String>::new());
}

async fn code_that_is_a_file_comes_in_its_place() {
    let world = World::new().await;
    let code = format!("```rust\n{}```", "let answer = 42; // of many\n".repeat(100));
    let answer = format!("{}\n\n{code}\n\n{}\n\n{code}", paragraphs(3, "Before"), paragraphs(12, "Behind"));
    let wanted = split(&answer);
    assert_eq!(wanted.iter().filter(|name| name.starts_with("main")).count(), 2);
    world.script.push(slowly(&answer));
    let bot = world.start().await;
    world.say(ANN, ANN, "write it");
    let early = parts_and_draft(&world, 2).await;
    assert_eq!(early[1]["document"]["file_name"], "main.rs");
    all(&world, &wanted).await;
    stop(bot).await;
    assert_eq!((calls(&world, "sendDocument").len(), calls(&world, "deleteMessage").len()), (2, 0));
    assert_eq!(world.refused(), Vec::<String>::new());
}

/// Killed while parts are out; then the model gives this answer, and so many calls of a method change what is there.
async fn killed(again: String, (edits, deletions): (usize, usize)) {
    let world = World::new().await;
    let answer = paragraphs(30, "Paragraph");
    world.script.push(slowly(&answer).hang_after(48));
    let bot = world.start().await;
    world.say(ANN, ANN, "tell me");
    let before = parts_and_draft(&world, 2).await;
    bot.kill();
    let wanted = split(&again);
    world.script.push(slowly(&again));
    let bot = world.start().await;
    all(&world, &wanted).await;
    world.caught_up().await;
    stop(bot).await;
    let after = world.telegram.messages(ANN);
    for (at, part) in before.iter().enumerate().take(wanted.len()) {
        let there = after.iter().find(|m| m["message_id"] == part["message_id"]).expect("the same message");
        assert_eq!(text(there), wanted[at]);
    }
    let sent = wanted.len().max(before.len());
    assert_eq!(calls(&world, "sendMessage").len(), sent + 1, "no part was sent a second time");
    assert_eq!(calls(&world, "editMessageText").iter().filter(|call| call.ok).count(), edits);
    assert_eq!(calls(&world, "deleteMessage").len(), deletions);
}

/// The answer is stored, its last part is on its way, and the process dies.
async fn killed_while_the_rest_was_delivered() {
    let world = World::new().await;
    let answer = paragraphs(30, "Paragraph");
    let wanted = split(&answer);
    world.script.push(slowly(&answer));
    let bot = world.start().await;
    world.say(ANN, ANN, "tell me");
    parts_and_draft(&world, wanted.len() - 1).await;
    world.telegram.fail("sendMessage", PlannedFailure::Hang, 1);
    world
        .see("a part that hangs", |view| {
            view.calls_of("sendMessage").last().is_some_and(|call| call.error.is_some()).then_some(())
        })
        .await;
    bot.kill();
    let bot = world.start().await;
    all(&world, &wanted).await;
    world.caught_up().await;
    stop(bot).await;
    assert_eq!(stand(&world)[..wanted.len()], wanted);
    let sent = calls(&world, "sendMessage");
    assert_eq!(sent.iter().filter(|call| call.ok).count(), wanted.len() + 1, "each part and the marker once");
    assert_eq!(world.asked().len(), 1, "the model is not asked again");
    assert_untouched(&world);
}

async fn a_stop_keeps_the_parts() {
    let world = World::new().await;
    let answer = paragraphs(60, "Paragraph");
    world.script.push(slowly(&answer));
    let bot = world.start().await;
    world.say(ANN, ANN, "tell me");
    parts_and_draft(&world, 1).await;
    let draft = world.telegram.view(|view| view.drafts(ANN)[0].id);
    world.telegram.stop_draft(ANN, draft).unwrap();
    world
        .see("the end", |view| {
            view.bot_messages(ANN).last().is_some_and(|m| text(m).ends_with("— stopped")).then_some(())
        })
        .await;
    stop(bot).await;
    let said = stand(&world).concat();
    let said = said.strip_suffix("— stopped").unwrap();
    assert!(plain(&answer).starts_with(&plain(said)) && said.len() > 4096, "{said}");
    assert_eq!(calls(&world, "sendMessage").len(), stand(&world).len());
    assert_untouched(&world);
}

async fn a_failure_is_told_behind_the_parts() {
    let world = World::new().await;
    let answer = paragraphs(30, "Paragraph");
    world.script.push(slowly(&answer).fail_after(48, "no more"));
    let bot = world.start().await;
    world.say(ANN, ANN, "tell me");
    let last = world.see("the apology", |view| {
        view.bot_messages(ANN).last().filter(|m| text(m).contains("⚠️")).map(|m| (*m).clone())
    });
    assert!(last.await["reply_markup"].is_object(), "what can be done about it");
    stop(bot).await;
    let said = stand(&world).concat();
    let (said, _) = said.split_once("⚠️").unwrap();
    assert!(plain(&answer).starts_with(&plain(said)) && said.len() > 2 * 4000, "{said}");
    assert_eq!(calls(&world, "sendMessage").len(), stand(&world).len());
    assert_untouched(&world);
}

/// After a pass of two parts that calls a tool: this is what stays of them.
async fn after_a_call(call: ReplyPart, then: &str, wanted: &[String]) -> World {
    let (world, gate) = (World::new().await, Gate::new());
    let pass = vec![ReplyPart::Text(paragraphs(29, "Thought")), call];
    world.script.push(ModelReply::turn(pass).paced(200, STEP));
    world.script.push(slowly(then).behind(&gate));
    let bot = world.start().await;
    world.say(ANN, ANN, "tell me");
    world.answers(ANN, 2).await;
    gate.open();
    all(&world, wanted).await;
    world.caught_up().await;
    stop(bot).await;
    assert_eq!(stand(&world)[..wanted.len()], *wanted);
    world
}

/// A pass of two parts that calls a tool, then a turn that ends early: the parts stay, and behind them comes this.
async fn read_parts_stay(then: ModelReply, stops_at: Option<&str>, wanted: &[&str]) {
    let world = World::new().await;
    let notes = ReplyPart::Call { name: "list_notes".into(), arguments: json!({}) };
    let thought = paragraphs(29, "Thought");
    world.script.push(ModelReply::turn(vec![ReplyPart::Text(thought.clone()), notes]).paced(200, STEP));
    world.script.push(then);
    let bot = world.start().await;
    world.say(ANN, ANN, "tell me");
    let parts = world.answers(ANN, 2).await;
    if let Some(words) = stops_at {
        world
            .see("the next pass", |view| {
                let is_asked = view.drafts(ANN).last().is_some_and(|draft| draft.text.starts_with(words));
                is_asked.then_some(())
            })
            .await;
        let draft = world.telegram.view(|view| view.drafts(ANN)[0].id);
        world.telegram.stop_draft(ANN, draft).unwrap();
    }
    let what = format!("the end, with {wanted:?}");
    let last = world.see(&what, |view| {
        let last = view.bot_messages(ANN).into_iter().last()?;
        wanted.iter().all(|words| text(last).contains(words)).then(|| text(last).to_owned())
    });
    let last = last.await;
    stop(bot).await;
    let parts: Vec<String> = parts.iter().map(|part| text(part).to_owned()).collect();
    assert_eq!(stand(&world), [parts.as_slice(), &[last]].concat());
    assert_untouched(&world);
}

async fn a_pass_that_was_no_answer_is_replaced() {
    let notes = || ReplyPart::Call { name: "list_notes".into(), arguments: json!({}) };
    let world = after_a_call(notes(), "There are none.", &["There are none.".to_owned()]).await;
    assert_eq!(calls(&world, "sendMessage").len(), 3, "two parts of the first pass, and the marker");
    assert_eq!((calls(&world, "editMessageText").len(), calls(&world, "deleteMessage").len()), (1, 1));
    let longer = paragraphs(30, "Answer");
    let world = after_a_call(notes(), &longer, &split(&longer)).await;
    assert_eq!(calls(&world, "sendMessage").len(), split(&longer).len() + 1, "its messages and the marker");
    assert_eq!((calls(&world, "editMessageText").len(), calls(&world, "deleteMessage").len()), (2, 0));
}

async fn what_a_tool_has_said_leaves_no_part() {
    let said = ReplyPart::Call { name: "sendMessage".into(), arguments: json!({"text": "By the tool."}) };
    let world = after_a_call(said, "I have told them.", &["By the tool.".to_owned()]).await;
    assert_eq!(calls(&world, "deleteMessage").len(), 2);
}

async fn whatever_telegram_answers_to_a_part_the_answer_is_whole() {
    let refused =
        || PlannedFailure::Status { status: 400, description: "Bad Request: can't parse entities".into() };
    let broken = || PlannedFailure::Status { status: 502, description: "Bad Gateway".into() };
    for failure in [PlannedFailure::RetryAfter(1), refused(), broken(), PlannedFailure::DropConnection] {
        let world = World::new().await;
        world.telegram.fail("sendMessage", failure.clone(), 1);
        let answer = paragraphs(20, "Paragraph");
        world.script.push(slowly(&answer));
        let bot = world.start().await;
        world.say(ANN, ANN, "tell me");
        all(&world, &split(&answer)).await;
        stop(bot).await;
        assert_eq!(calls(&world, "sendMessage").len(), split(&answer).len() + 1, "{failure:?}");
        check_moments(&world, &answer);
    }
}

async fn a_part_that_was_deleted_meanwhile_is_not_missed() {
    let (world, gate) = (World::new().await, Gate::new());
    let longer = paragraphs(30, "Answer");
    let call = ReplyPart::Call { name: "list_notes".into(), arguments: json!({}) };
    world
        .script
        .push(ModelReply::turn(vec![ReplyPart::Text(paragraphs(29, "Thought")), call]).paced(200, STEP));
    world.script.push(slowly(&longer).behind(&gate));
    let bot = world.start().await;
    world.say(ANN, ANN, "tell me");
    let parts = world.answers(ANN, 2).await;
    world.telegram.delete(ANN, number(&parts[0]["message_id"])).unwrap();
    gate.open();
    all(&world, &split(&longer)).await;
    stop(bot).await;
}

#[tokio::test]
async fn a_long_answer_comes_part_by_part_and_nothing_of_it_vanishes() {
    tokio::join!(
        it_comes_part_by_part(),
        code_that_is_a_file_comes_in_its_place(),
        the_draft_follows_a_long_block(),
    );
}

#[tokio::test]
async fn a_kill_doubles_no_part() {
    tokio::join!(
        killed(paragraphs(30, "Paragraph"), (0, 0)),
        killed(paragraphs(30, "Another"), (2, 0)),
        killed("In short.".to_owned(), (1, 1)),
        killed_while_the_rest_was_delivered(),
    );
}

#[tokio::test]
async fn a_stop_or_a_failure_keeps_the_parts() {
    tokio::join!(a_stop_keeps_the_parts(), a_failure_is_told_behind_the_parts());
}

#[tokio::test]
async fn what_people_have_read_stays_where_a_turn_ends_early() {
    let gate = Gate::new();
    let few = || ModelReply::text("In short words, there is nothing to be found.").paced(10, STEP);
    tokio::join!(
        read_parts_stay(few().behind(&gate), Some("looking at notes"), &["— stopped"]),
        read_parts_stay(few().hang_after(2), Some("In short words"), &["In short words", "— stopped"]),
        read_parts_stay(few().fail_after(2, "no more"), None, &["In short words", "⚠️"]),
        read_parts_stay(ModelReply::empty(), None, &["⚠️"]),
    );
}

#[tokio::test]
async fn parts_that_are_no_answer_are_replaced_or_taken_back() {
    tokio::join!(
        a_pass_that_was_no_answer_is_replaced(),
        what_a_tool_has_said_leaves_no_part(),
        a_part_that_was_deleted_meanwhile_is_not_missed(),
    );
}

#[tokio::test]
async fn telegram_refusing_a_part_loses_and_doubles_nothing() {
    whatever_telegram_answers_to_a_part_the_answer_is_whole().await;
}
