//! What people see while an answer is being written: in a group one message that grows into it, in a private chat
//! drafts. Whatever happens meanwhile, nothing of it stays beside the answer.

use std::time::Duration;

use figaro_offline::model::{Gate, ModelReply, ReplyPart};
use figaro_offline::telegram::{ApiCall, PlannedFailure, Say, TelegramView};
use futures::future::join_all;
use serde_json::{Value, json};

use crate::support::scene::{TEAM, number, text};
use crate::support::{ANN, BOB, Bot, World};

/// A word of an answer comes this often.
const STEP: Duration = Duration::from_millis(100);

/// An answer of so many words, of which each tenth is bold; each takes a [`STEP`].
fn words(count: usize) -> String {
    let word = |n: usize| if n.is_multiple_of(10) { format!("**word{n}**") } else { format!("word{n}") };
    (1..=count).map(word).collect::<Vec<_>>().join(" ")
}

/// The same as people read it.
fn plain(markdown: &str) -> String {
    markdown.replace('*', "")
}

fn slowly(answer: &str) -> ModelReply {
    ModelReply::text(answer).paced(0, STEP)
}

/// A world with the team and a bot that answers everybody; it still has to be asked.
async fn scene() -> World {
    let world = World::paced().await;
    world.team();
    world
}

fn ask(world: &World, words: &str) -> i64 {
    world.say(BOB, TEAM, &format!("@figaro_bot {words}")).message_id
}

/// Ends a bot without holding up the worlds beside it.
async fn stop(mut bot: Bot) {
    bot.signal("TERM");
    assert!(bot.ended().await.success());
}

/// The calls of a method to a chat.
fn calls(world: &World, method: &str, chat: i64) -> Vec<ApiCall> {
    let to = |call: &&&ApiCall| call.args.get("chat_id") == Some(&json!(chat));
    world.telegram.view(|view| view.calls_of(method).iter().filter(to).map(|call| (*call).clone()).collect())
}

/// What a call shows: text and entities.
fn shown(call: &ApiCall) -> (String, Value) {
    let entities = call.args.get("entities").cloned().unwrap_or(json!([]));
    (call.args["text"].as_str().unwrap().to_owned(), entities)
}

/// Milliseconds between the arrivals of calls.
fn gaps(calls: &[ApiCall]) -> Vec<i64> {
    calls.windows(2).map(|pair| (pair[1].at - pair[0].at).num_milliseconds()).collect()
}

/// Waits for the message that grows in the team's chat.
async fn growing(world: &World) -> Value {
    world.answers(TEAM, 1).await.remove(0)
}

/// Waits until the only message of the bot in the team's chat has this text.
async fn only(world: &World, wanted: &str) -> Value {
    let find = |view: &TelegramView<'_>| match view.bot_messages(TEAM).as_slice() {
        [one] if text(one) == wanted => Some((*one).clone()),
        _ => None,
    };
    world.see(wanted, find).await
}

/// Waits until a call of a method has been answered so often.
async fn called(world: &World, method: &str, times: usize) {
    world.see(method, |view| (view.calls_of(method).len() >= times).then_some(())).await;
}

async fn it_grows_in_its_topic_and_becomes_the_answer() {
    let world = World::paced().await;
    let forum = -1003;
    world.telegram.add_forum(forum, "Forum");
    world.join(forum);
    let topic = world.telegram.add_topic(forum, "Garden").unwrap();
    // It ends between two edits: one that falls on its last word would be sent again as the answer.
    let answer = words(120);
    world.telegram.enforce_limits(true);
    world.script.push(slowly(&answer));
    let bot = world.start_open().await;
    let question = world.telegram.send(Say::new(BOB, forum, "@figaro_bot tell me").topic(topic)).unwrap();
    let last = world.see("the whole answer", |view| {
        let found = view.bot_messages(forum).into_iter().find(|m| text(m) == plain(&answer))?;
        Some(found.clone())
    });
    let last = last.await;
    stop(bot).await;
    assert_eq!(world.bot_texts(forum).len(), 2, "the answer, and the topic's own mark");
    assert_eq!(last["reply_to_message"]["message_id"], question.message_id);
    assert_eq!(last["message_thread_id"], topic);
    let bold = last["entities"].as_array().unwrap();
    assert!(bold.iter().all(|entity| entity["type"] == "bold" && number(&entity["length"]) >= 6));
    assert_eq!((bold.len(), &bold[0]["offset"]), (12, &json!(plain(&words(9)).len() + 1)));

    check_updates(&world, &last);
    assert_eq!(world.refused(), Vec::<String>::new());
}

/// What made this message of a chat: sent once, changed at the pace of groups and only for news, without raw markers.
fn check_updates(world: &World, last: &Value) {
    let forum = number(&last["chat"]["id"]);
    let mut updates = calls(world, "sendMessage", forum);
    assert_eq!(updates.len(), 1);
    updates.extend(calls(world, "editMessageText", forum));
    assert!(updates.len() >= 4, "{} updates", updates.len());
    assert!(updates.windows(2).all(|pair| shown(&pair[0]) != shown(&pair[1])), "nothing is sent again");
    assert!(updates.iter().all(|call| call.ok && !shown(call).0.contains('*')));
    assert!(updates[1..].iter().all(|call| call.args["message_id"] == last["message_id"]));
    let edits = &updates[..updates.len() - 1];
    assert!(gaps(edits).iter().all(|gap| *gap >= 4000), "{:?}", gaps(edits));
    let typing = calls(world, "sendChatAction", forum);
    assert!(typing[0].at < updates[0].at && typing.iter().all(|call| call.at <= updates[0].at));
}

async fn a_short_answer_comes_whole() {
    let world = scene().await;
    let answer = words(12);
    world.script.push(slowly(&answer));
    let bot = world.start_open().await;
    ask(&world, "quick");
    only(&world, &plain(&answer)).await;
    stop(bot).await;
    assert_eq!(calls(&world, "sendMessage", TEAM).len(), 1);
    for method in ["editMessageText", "deleteMessage"] {
        assert_eq!(calls(&world, method, TEAM).len(), 0, "{method}");
    }
}

async fn a_push_back_slows_it_and_costs_nothing() {
    let world = scene().await;
    world.telegram.fail("editMessageText", PlannedFailure::RetryAfter(1), 1);
    let answer = words(120);
    world.script.push(slowly(&answer));
    let bot = world.start_open().await;
    ask(&world, "slow");
    only(&world, &plain(&answer)).await;
    stop(bot).await;
    let edits = calls(&world, "editMessageText", TEAM);
    assert!(edits.len() >= 2 && !edits[0].ok && edits[1..].iter().all(|call| call.ok), "{edits:?}");
    // Only the answer itself does not wait.
    assert!(edits.len() == 2 || gaps(&edits)[0] >= 8000, "{:?}", gaps(&edits));
    assert_eq!(calls(&world, "sendMessage", TEAM).len(), 1);
}

async fn an_administrator_deletes_it_and_the_answer_arrives() {
    let world = scene().await;
    let answer = words(75);
    world.script.push(slowly(&answer));
    let bot = world.start_open().await;
    let question = ask(&world, "deleted");
    let message = growing(&world).await;
    world.telegram.delete(TEAM, number(&message["message_id"])).unwrap();
    let last = only(&world, &plain(&answer)).await;
    assert_eq!(last["reply_to_message"]["message_id"], question);
    stop(bot).await;
    assert_eq!(calls(&world, "sendMessage", TEAM).len(), 2);
}

async fn a_stop_keeps_what_was_written() {
    let world = scene().await;
    world.script.push(slowly(&words(300)));
    let bot = world.start_open().await;
    ask(&world, "stopped");
    let message = growing(&world).await;
    let id = number(&message["message_id"]);
    world.say(BOB, TEAM, "/stop@figaro_bot");
    let last = world.shows(TEAM, id, "\n\n— stopped").await;
    assert!(text(&last).starts_with(text(&message)), "{last}");
    world.caught_up().await;
    stop(bot).await;
    let others: Vec<String> =
        world.bot_texts(TEAM).into_iter().filter(|other| other != text(&last)).collect();
    assert!(others.is_empty(), "the answer itself says it, and nothing else: {others:?}");
}

async fn a_failure_keeps_what_was_written_and_reacts() {
    let world = scene().await;
    world.script.push(slowly(&words(300)).break_after(40));
    let bot = world.start_open().await;
    let question = ask(&world, "broken");
    let id = number(&growing(&world).await["message_id"]);
    let last = world.shows(TEAM, id, " …").await;
    world.see("the reaction", |view| (!view.reactions(TEAM, question).is_empty()).then_some(())).await;
    stop(bot).await;
    assert!(text(&last).starts_with(&plain(&words(30))), "{last}");
    assert_eq!(world.reactions(TEAM, question), ["🤷"]);
    assert_eq!(world.bot_texts(TEAM).len(), 1);
}

async fn what_a_tool_has_said_leaves_nothing_else() {
    let world = scene().await;
    let said = ReplyPart::Call { name: "sendMessage".into(), arguments: json!({"text": "By the tool."}) };
    world.script.push(ModelReply::turn(vec![ReplyPart::Text(words(40)), said]).paced(0, STEP));
    world.script.push(ModelReply::text("I have told them."));
    let bot = world.start_open().await;
    ask(&world, "silent");
    let message = growing(&world).await;
    assert!(text(&message).starts_with("word1 "), "{message}");
    called(&world, "deleteMessage", 1).await;
    stop(bot).await;
    assert_eq!(world.bot_texts(TEAM), ["By the tool."]);
    assert_eq!(world.refused(), Vec::<String>::new());
}

async fn a_tool_at_work_shows_in_it() {
    let world = scene().await;
    let gate = Gate::new();
    let call = ReplyPart::Call { name: "list_notes".into(), arguments: json!({}) };
    world.script.push(ModelReply::turn(vec![ReplyPart::Text(words(30)), call]).paced(0, STEP));
    world.script.push(ModelReply::text("There are none.").behind(&gate));
    let bot = world.start_open().await;
    ask(&world, "which notes?");
    let id = growing(&world).await["message_id"].clone();
    only(&world, "looking at notes").await;
    gate.open();
    assert_eq!(only(&world, "There are none.").await["message_id"], id);
    stop(bot).await;
    assert_eq!(calls(&world, "editMessageText", TEAM).len(), 2);
}

async fn of_a_long_answer_it_becomes_the_first_part() {
    let world = scene().await;
    let answer: String = (0..1300).map(|n| format!("word{n:04} ")).collect();
    world.script.push(ModelReply::text(&answer).paced(700, STEP * 3));
    let bot = world.start_open().await;
    ask(&world, "long");
    let first = growing(&world).await;
    assert!(text(&first).starts_with("word0000 ") && text(&first).ends_with(" …"), "{first}");
    let parts = world.answers(TEAM, 3).await;
    stop(bot).await;
    assert_eq!(parts[0]["message_id"], first["message_id"]);
    assert!(world.bot_texts(TEAM).join(" ") == answer.trim_end(), "words are lost or repeated");
    assert_eq!(calls(&world, "editMessageText", TEAM).len(), 1, "what is not seen is not sent");
}

#[tokio::test]
async fn in_a_group_an_answer_grows_in_one_message() {
    tokio::join!(
        it_grows_in_its_topic_and_becomes_the_answer(),
        a_short_answer_comes_whole(),
        a_push_back_slows_it_and_costs_nothing(),
        an_administrator_deletes_it_and_the_answer_arrives(),
        a_stop_keeps_what_was_written(),
        a_failure_keeps_what_was_written_and_reacts(),
        what_a_tool_has_said_leaves_nothing_else(),
        a_tool_at_work_shows_in_it(),
        of_a_long_answer_it_becomes_the_first_part(),
    );
}

/// With `kill -9`, or asked to end and then killed after the timeout.
async fn ended_while_it_grew(signal: &str) {
    let world = scene().await;
    world.script.push(slowly(&words(300)));
    let mut bot = world.start_open().await;
    let question = ask(&world, "killed");
    let id = growing(&world).await["message_id"].clone();
    called(&world, "editMessageText", 1).await;
    bot.signal(signal);
    bot.ended().await;
    world.script.push(slowly(&words(15)));
    let bot = world.start_open().await;
    let last = only(&world, &plain(&words(15))).await;
    assert_eq!((&last["message_id"], &last["reply_to_message"]["message_id"]), (&id, &json!(question)));
    stop(bot).await;
    assert_eq!(calls(&world, "sendMessage", TEAM).len(), 1);
}

/// Telegram has made the last change, nobody has heard of it, and the process dies.
async fn killed_before_the_last_edit_was_confirmed() {
    let world = scene().await;
    world.telegram.fail("editMessageText", PlannedFailure::AppliedButDropped, 1);
    world.telegram.fail("editMessageText", PlannedFailure::Hang, 1);
    let answer = words(30);
    world.script.push(slowly(&answer));
    let bot = world.start_open().await;
    ask(&world, "edited");
    called(&world, "editMessageText", 2).await;
    bot.kill();
    let bot = world.start_open().await;
    called(&world, "editMessageText", 3).await;
    stop(bot).await;
    // A further start has nothing left to do.
    let bot = world.start_open().await;
    world.caught_up().await;
    stop(bot).await;
    only(&world, &plain(&answer)).await;
    let edits = calls(&world, "editMessageText", TEAM);
    assert_eq!(edits.len(), 3);
    assert!(edits[2].error.as_ref().is_some_and(|error| error.contains("not modified")), "{edits:?}");
    assert_eq!(calls(&world, "sendMessage", TEAM).len(), 1);
}

async fn killed_and_nobody_goes_on_with_it() {
    let world = scene().await;
    world.script.push(slowly(&words(300)));
    let bot = world.start_open().await;
    ask(&world, "forgotten");
    growing(&world).await;
    called(&world, "editMessageText", 1).await;
    bot.kill();
    // Bob may not talk to it any more.
    let bot = world.start().await;
    world.see("an empty chat", |view| view.bot_messages(TEAM).is_empty().then_some(())).await;
    stop(bot).await;
}

#[tokio::test]
async fn an_end_leaves_no_part_of_an_answer_behind() {
    tokio::join!(
        ended_while_it_grew("KILL"),
        ended_while_it_grew("TERM"),
        killed_before_the_last_edit_was_confirmed(),
        killed_and_nobody_goes_on_with_it(),
    );
}

#[tokio::test]
async fn a_draft_is_updated_for_news_alone_and_slower_when_telegram_asks_to_wait() {
    let cases = [None, Some(PlannedFailure::RetryAfter(2))].map(async |failure| {
        let world = World::paced().await;
        if let Some(failure) = failure.clone() {
            world.telegram.fail("sendMessageDraft", failure, 1);
        }
        // After its words the model says nothing for two seconds.
        world.script.push(slowly(&words(60)).hang_after(40));
        let bot = world.bot().set("LLM_IDLE_TIMEOUT", "2").spawn();
        bot.ready().await;
        let answer = world.ask("well?").await;
        assert!(text(&answer).starts_with(&plain(&words(38))), "{answer}");
        stop(bot).await;
        let drafts = calls(&world, "sendMessageDraft", ANN);
        let shown_states: Vec<_> = drafts.iter().filter(|call| call.ok).map(shown).collect();
        assert!(shown_states.windows(2).all(|pair| pair[0] != pair[1]), "{shown_states:?}");
        assert!(
            shown_states.len() >= 3 && shown_states.iter().all(|(text, _)| !text.contains('*')),
            "{shown_states:?}"
        );
        // The first words come as soon as they are there; only Telegram can keep them waiting.
        let (gap, slowest) = if failure.is_some() { (0, 2000) } else { (1, 350) };
        assert!(gaps(&drafts)[gap] >= slowest, "{:?}", gaps(&drafts));
    });
    join_all(cases).await;
}
