//! `kill -9` at every step of a turn: it goes on where it was. No finished pass is asked for again, no call that may have
//! acted is made again, and what was asked for twice is booked twice.

#![expect(
    clippy::cognitive_complexity,
    reason = "every assertion and every row of a table counts as a branch"
)]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use figaro_base::ids::ChatId;
use figaro_domain::note::Note;
use figaro_ledger::sum;
use figaro_offline::Runtime;
use figaro_offline::model::{Gate, ModelReply, ModelRequest, OfflineModel, ReplyPart};
use figaro_offline::telegram::{PlannedFailure, TelegramView};
use serde_json::{Value, json};

use crate::support::bot::Recipe;
use crate::support::scene::text;
use crate::support::wait::recorded;
use crate::support::{ANN, Bot, TIMEOUT, World, listener};

const UNKNOWN: &str = "whether it acted is not known";
const ANSWER: &str = "There they are, the note and the poll, as you wanted.";

/// Where a turn is when its bot is killed.
#[derive(Debug, Clone)]
enum At {
    /// The model was asked for this pass and has said nothing.
    Asked(usize),
    /// In the middle of the words of this pass.
    Words(usize),
    /// Telegram was called with these methods, which fail so; the other calls of the pass have ended.
    Held(Vec<(&'static str, PlannedFailure)>),
    /// The answer was delivered and that is on record.
    Over,
}

/// A kill and what has to come of it.
#[derive(Debug)]
struct Row {
    at: At,
    /// The passes that the model was asked for, in their order.
    asked: &'static [usize],
    /// Polls in the chat.
    polls: usize,
    /// The model was told that nobody knows whether its poll was sent.
    is_unknown: bool,
    /// How often Telegram was asked about the chat.
    looks: usize,
    /// How often the answer arrived.
    answers: usize,
}

impl Row {
    /// Killed here, the turn asks for these passes, and everything else happens once.
    const fn new(at: At, asked: &'static [usize]) -> Self {
        Self { at, asked, polls: 1, is_unknown: false, looks: 1, answers: 1 }
    }
}

fn call(name: &str, arguments: Value) -> ReplyPart {
    ReplyPart::Call { name: name.to_owned(), arguments }
}

/// A pass of the turn: a note and a search for a tool; a poll and a look at the chat with that tool; the answer. Each is
/// billed by its number.
fn pass(number: usize) -> ModelReply {
    let words = |n: usize| ReplyPart::Text(format!("Words of pass {n}, which come before what it calls. "));
    let parts = match number {
        1 => vec![
            words(1),
            call("add_note", json!({"key": "drinks", "content": "tea"})),
            call("find_tools", json!({"query": "getChat"})),
        ],
        2 => {
            let options = json!([{"text": "Tea"}, {"text": "Coffee"}]);
            vec![
                words(2),
                call("sendPoll", json!({"question": "What?", "options": options})),
                call("getChat", json!({})),
            ]
        }
        _ => vec![ReplyPart::Text(ANSWER.to_owned())],
    };
    ModelReply::turn(parts).usage(cost(number) - 10, 10)
}

/// Tokens of a pass.
const fn cost(number: usize) -> u64 {
    100 * number as u64
}

/// The pass that a request asks for.
fn number(request: &ModelRequest) -> usize {
    request.tool_results().len() / 2 + 1
}

/// A bot with a bound of three passes, and with caps, so that what a call may come to is set aside.
fn recipe(world: &World) -> Recipe {
    world.priced().set("DAILY_USD", "5").set("MAX_PASSES", "3")
}

async fn started(recipe: &Recipe) -> Bot {
    let bot = recipe.spawn();
    bot.ready().await;
    bot
}

async fn notes(world: &World) -> Vec<Note> {
    world.stored().await.notes().of_chat(ChatId(ANN)).unwrap()
}

/// Has the model say what a turn that is killed there needs, until it is killed and after that.
fn script(world: &World, at: &At) {
    for number in 1..=3 {
        match at {
            At::Asked(cut) if *cut == number => world.script.push(pass(number).hang_after(0)),
            At::Words(cut) if *cut == number => world.script.push(pass(number).hang_after(3)),
            At::Asked(_) | At::Words(_) | At::Held(_) | At::Over => {
                world.script.push(pass(number));
                continue;
            }
        }
        world.script.push(pass(number));
    }
    if let At::Held(methods) = at {
        methods.iter().for_each(|(method, failure)| world.telegram.fail(method, failure.clone(), 1));
    }
}

/// Waits until the turn is there.
async fn comes_to(world: &World, bot: &Bot, at: &At) {
    match at {
        At::Asked(cut) => {
            world.asks(*cut).await;
            // The reservation of the call is on record a moment after it was asked.
            recorded().await;
        }
        At::Words(cut) => {
            let words = if *cut == 3 { "There they are".to_owned() } else { format!("Words of pass {cut}") };
            let shows = |view: &TelegramView<'_>| {
                view.drafts(ANN).iter().any(|draft| draft.text.contains(&words)).then_some(())
            };
            world.see("the words of a pass", shows).await;
        }
        At::Held(methods) => {
            for (method, _) in methods {
                world.see(method, |view| (!view.calls_of(method).is_empty()).then_some(())).await;
            }
            for method in ["sendPoll", "getChat"] {
                if methods.iter().all(|(held, _)| *held != method) {
                    bot.logged(&format!("tool=\"{method}\"")).await;
                }
            }
        }
        At::Over => {
            world.answers(ANN, 2).await;
            goodbye(world, 1).await;
        }
    }
}

/// Asks for something else and waits for the answer: what came before has been dealt with. Each time has a number of its own.
async fn goodbye(world: &World, time: u8) {
    let (question, answer) = (format!("Anything else? {time}"), format!("No {time}."));
    world.when(&question, ModelReply::text(&answer).usage(1, 1));
    world.say(ANN, ANN, &question);
    says(world, &answer).await;
}

/// Waits until Ann has this answer.
async fn says(world: &World, answer: &str) {
    let find =
        |view: &TelegramView<'_>| view.bot_messages(ANN).iter().any(|m| text(m) == answer).then_some(());
    world.see(answer, find).await;
}

/// What Ann got, but for the answers to [`goodbye`], of which one that a kill follows may come twice.
fn texts(world: &World) -> Vec<String> {
    let mut texts = world.bot_texts(ANN);
    texts.retain(|text| !text.starts_with("No "));
    texts
}

/// The requests of the turn.
fn requests(world: &World) -> Vec<ModelRequest> {
    let mut requests = world.model.requests();
    let others = ["Anything else?", "Meanwhile"];
    requests.retain(|request| others.iter().all(|words| !request.user_text().contains(words)));
    requests
}

async fn check(row: Row) {
    let world = World::new().await;
    script(&world, &row.at);
    let recipe = recipe(&world);
    let bot = started(&recipe).await;
    world.say(ANN, ANN, "A note and a poll");
    comes_to(&world, &bot, &row.at).await;
    bot.kill();
    let bot = started(&recipe).await;
    says(&world, ANSWER).await;
    goodbye(&world, 2).await;
    bot.ends_well().await;
    came_of_it(&world, &row).await;
}

async fn came_of_it(world: &World, row: &Row) {
    let requests = requests(world);
    let asked: Vec<usize> = requests.iter().map(number).collect();
    assert_eq!(asked, row.asked, "{row:?}");
    assert_eq!(world.script.left(), 0, "{row:?}");
    asked_alike(&requests);
    let last = requests.last().unwrap();
    assert_eq!(last.tool_names(), Vec::<&str>::new(), "the bound on passes counts on: {row:?}");
    told(last, row);
    let texts = texts(world);
    let answers = texts.iter().filter(|text| *text == ANSWER).count();
    assert_eq!((answers, texts.len()), (row.answers, row.answers + row.polls), "{row:?}");
    let polls =
        |view: &TelegramView<'_>| view.bot_messages(ANN).iter().filter(|m| m["poll"].is_object()).count();
    let calls = |view: &TelegramView<'_>, method| view.calls_of(method).len();
    let seen = world.telegram.view(|view| (polls(view), calls(view, "sendPoll"), calls(view, "getChat")));
    assert_eq!(seen, (row.polls, 1, row.looks), "{row:?}");
    let notes = notes(world).await;
    assert_eq!(notes.iter().map(|note| note.content.as_str()).collect::<Vec<_>>(), ["tea"], "{row:?}");
    let spent = sum(&world.books().await).tokens;
    let goodbyes = if matches!(row.at, At::Over) { 2 } else { 1 };
    let whole = cost(1) + cost(2) + cost(3) + 2 * goodbyes;
    assert_eq!(spent > whole, row.asked.len() > 3, "{spent} tokens: {row:?}");
    assert!(spent >= whole, "{spent} tokens: {row:?}");
}

/// A pass that is asked for again is asked for in the same words. Only the question's surroundings, such as notes and the
/// time, are those of now.
fn asked_alike(requests: &[ModelRequest]) {
    for pair in requests.windows(2).filter(|pair| number(&pair[0]) == number(&pair[1])) {
        assert_eq!(pair[0].input()[1..], pair[1].input()[1..]);
        assert_eq!(pair[0].body["tools"], pair[1].body["tools"]);
    }
}

/// What the model was told of its calls in the end.
fn told(last: &ModelRequest, row: &Row) {
    let results = last.tool_results();
    let names: Vec<&str> = results.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, ["add_note", "find_tools", "sendPoll", "getChat"], "{row:?}");
    for (name, result) in &results {
        let is_unknown = row.is_unknown && *name == "sendPoll";
        assert_eq!(result.contains(UNKNOWN), is_unknown, "{result}: {row:?}");
        assert_eq!(
            result.contains("\"success\":true") || result.contains("\"ok\":true"),
            !is_unknown,
            "{result}: {row:?}"
        );
    }
}

#[tokio::test]
async fn killed_while_the_model_was_asked_or_wrote_a_pass_is_asked_for_again_and_no_other() {
    for (cut, asked) in [(1, &[1, 1, 2, 3]), (2, &[1, 2, 2, 3]), (3, &[1, 2, 3, 3])] {
        check(Row::new(At::Asked(cut), asked)).await;
        check(Row::new(At::Words(cut), asked)).await;
    }
}

#[tokio::test]
async fn killed_while_calls_were_under_way_those_that_look_are_made_again_and_those_that_act_are_not() {
    use PlannedFailure::{AppliedButHangs, Hang};
    let row = |held: Vec<(&'static str, PlannedFailure)>| Row::new(At::Held(held), &[1, 2, 3]);
    check(Row { polls: 0, is_unknown: true, ..row(vec![("sendPoll", Hang)]) }).await;
    // It did act, which nobody knows.
    check(Row { is_unknown: true, ..row(vec![("sendPoll", AppliedButHangs)]) }).await;
    check(Row { looks: 2, ..row(vec![("getChat", Hang)]) }).await;
    check(Row { polls: 0, is_unknown: true, looks: 2, ..row(vec![("sendPoll", Hang), ("getChat", Hang)]) })
        .await;
}

#[tokio::test]
async fn killed_once_the_answer_was_stored_the_model_is_not_asked_again() {
    let row = |failure: PlannedFailure| Row::new(At::Held(vec![("sendMessage", failure)]), &[1, 2, 3]);
    check(row(PlannedFailure::Hang)).await;
    // It was sent, and the confirmation was lost: it is sent once more.
    check(Row { answers: 2, ..row(PlannedFailure::AppliedButHangs) }).await;
    check(Row::new(At::Over, &[1, 2, 3])).await;
}

/// What Telegram and the model do is in no step with the calls that act at once: this kills a little later each time.
#[tokio::test]
async fn killed_between_a_pass_and_its_calls_nothing_is_done_twice() {
    for after_ms in [0, 4, 8, 16, 32, 64] {
        let world = World::new().await;
        let runtime = Runtime::system();
        let (gate, is_first) = (Gate::new(), AtomicBool::new(true));
        let held = gate.clone();
        let brain = move |request: &ModelRequest| match is_first.swap(false, Ordering::Relaxed) {
            true => pass(1).behind(&held),
            false => pass(number(request)),
        };
        let model = OfflineModel::start(listener().await, Arc::new(brain), &runtime).unwrap();
        let recipe = recipe(&world).set("OPENAI_BASE_URL", model.url());
        let bot = started(&recipe).await;
        world.say(ANN, ANN, "A note and a poll");
        model.wait_until(TIMEOUT, |requests| requests.first().map(drop)).await.unwrap();
        gate.open();
        tokio::time::sleep(Duration::from_millis(after_ms)).await;
        bot.kill();
        let bot = started(&recipe).await;
        says(&world, ANSWER).await;
        bot.ends_well().await;
        let requests = model.requests();
        let mut asked: Vec<usize> = requests.iter().map(number).collect();
        assert!(asked.is_sorted() && asked.len() <= 4, "after {after_ms} ms: {asked:?}");
        asked.dedup();
        assert_eq!(asked, [1, 2, 3], "after {after_ms} ms");
        asked_alike(&requests);
        let told = requests.last().unwrap().tool_results();
        let is_unknown =
            |tool: &str| told.iter().any(|(name, result)| *name == tool && result.contains(UNKNOWN));
        let notes = notes(&world).await.len();
        let polls = world.telegram.view(|view| view.calls_of("sendPoll").len());
        assert!(
            notes == 1 || (notes == 0 && is_unknown("add_note")),
            "after {after_ms} ms: {notes}, {told:?}"
        );
        assert!(
            polls == 1 || (polls == 0 && is_unknown("sendPoll")),
            "after {after_ms} ms: {polls}, {told:?}"
        );
        runtime.stop();
        assert_eq!(model.violations(), Vec::<String>::new());
    }
}

#[tokio::test]
async fn the_bound_on_equal_calls_counts_on_after_a_kill() {
    let world = World::new().await;
    world.telegram.fail("getChat", PlannedFailure::Hang, 1);
    let look = || ModelReply::call("getChat", json!({}));
    world.script.push(ModelReply::call("find_tools", json!({"query": "getChat"})));
    world.script.push(look());
    let bot = world.start().await;
    world.say(ANN, ANN, "Look at this chat");
    world.see("the look", |view| (!view.calls_of("getChat").is_empty()).then_some(())).await;
    bot.kill();
    // The look is made again, and once more; that makes two, of which the first was made twice.
    world.script.push(look());
    world.script.push(ModelReply::silence());
    let bot = world.start().await;
    world.asks(4).await;
    bot.kill();
    world.script.push(look());
    world.script.push(ModelReply::text("Enough of looking."));
    let bot = world.start().await;
    world.answers(ANN, 1).await;
    bot.ends_well().await;
    let requests = world.model.requests();
    let counts: Vec<usize> = requests.iter().map(|request| request.tool_results().len()).collect();
    assert_eq!(counts, [0, 1, 2, 3, 3, 4]);
    let results = requests[5].tool_results();
    let refused: Vec<bool> =
        results.iter().map(|(_, result)| result.contains("made 2 times already")).collect();
    assert_eq!(refused, [false, false, false, true], "{results:?}");
    assert_eq!(world.telegram.view(|view| view.calls_of("getChat").len()), 3);
}

/// Where a turn that asks a person is when its bot is killed.
#[derive(Debug, Clone)]
enum Asking {
    /// Its question is being sent, which fails so.
    Sending(PlannedFailure),
    /// Its question was sent, and that is on record.
    Waiting,
    /// It has its answer, and another turn is before it.
    Answered,
    /// The model was asked to go on and has said nothing.
    GoingOn,
    /// The model goes on, in the middle of its words.
    Words,
}

const QUESTION: &str = "Tea or coffee?";
const ORDERED: &str = "Tea it is, and it will be here at once.";

async fn question(world: &World) -> Value {
    let find = |view: &TelegramView<'_>| {
        view.bot_messages(ANN).into_iter().rfind(|m| text(m).starts_with(QUESTION)).cloned()
    };
    world.see("the question", find).await
}

/// Has it killed and started again at this step; when this returns, the question has its answer.
async fn kill_while(world: &World, bot: Bot, at: &Asking) -> Bot {
    let recipe = recipe(world);
    let answer = || ModelReply::text(ORDERED);
    match at {
        Asking::Sending(_) => {
            world.see("the call", |view| (!view.calls_of("sendMessage").is_empty()).then_some(())).await;
        }
        Asking::Waiting => {
            question(world).await;
            goodbye(world, 1).await;
        }
        Asking::Answered => {
            let card = question(world).await;
            world.when("Meanwhile", ModelReply::silence());
            world.say(ANN, ANN, "Meanwhile?");
            world.asks(2).await;
            world.press(ANN, &card, "Tea").await;
            world.when("Meanwhile", ModelReply::text("Nothing."));
        }
        Asking::GoingOn | Asking::Words => {
            let card = question(world).await;
            let pieces = if matches!(at, Asking::Words) { 1 } else { 0 };
            world.script.push(answer().hang_after(pieces));
            world.press(ANN, &card, "Tea").await;
            world.asks(2).await;
            if pieces > 0 {
                let shows = |view: &TelegramView<'_>| {
                    view.drafts(ANN).iter().any(|draft| draft.text.contains("Tea it")).then_some(())
                };
                world.see("the first words", shows).await;
            }
        }
    }
    world.script.push(answer());
    bot.kill();
    let bot = started(&recipe).await;
    if let Asking::Sending(_) | Asking::Waiting = at {
        if let Asking::Sending(PlannedFailure::AppliedButHangs) = at {
            world.answers(ANN, 2).await;
        }
        let card = question(world).await;
        world.press(ANN, &card, "Tea").await;
    }
    bot
}

async fn check_asking(at: Asking, asked: &[usize]) {
    let world = World::new().await;
    let payload = json!({"question": QUESTION, "options": ["Tea", "Coffee"]});
    world.script.push(ModelReply::turn(vec![
        call("add_note", json!({"key": "drinks", "content": "tea"})),
        call("action", json!({"type": "elicit", "payload": payload})),
    ]));
    let mut questions = 1;
    if let Asking::Sending(failure) = &at {
        world.telegram.fail("sendMessage", failure.clone(), 1);
        questions += usize::from(matches!(failure, PlannedFailure::AppliedButHangs));
    }
    let bot = started(&recipe(&world)).await;
    world.say(ANN, ANN, "Order a drink");
    let bot = kill_while(&world, bot, &at).await;
    says(&world, ORDERED).await;
    goodbye(&world, 2).await;
    bot.ends_well().await;
    let requests = requests(&world);
    assert_eq!(requests.iter().map(number).collect::<Vec<_>>(), asked, "{at:?}");
    asked_alike(&requests);
    let results = requests.last().unwrap().tool_results();
    let names: Vec<&str> = results.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, ["add_note", "action"], "{at:?}");
    assert!(results[0].1.contains("\"success\":true"), "{results:?}: {at:?}");
    assert!(results[1].1.contains("\"answer\":\"Tea\""), "{results:?}: {at:?}");
    let texts = texts(&world);
    let count = |is_it: &dyn Fn(&str) -> bool| texts.iter().filter(|text| is_it(text)).count();
    let counts = (count(&|text| text == ORDERED), count(&|text| text.starts_with(QUESTION)));
    assert_eq!(counts, (1, questions), "{texts:?}: {at:?}");
    assert_eq!(notes(&world).await.len(), 1, "{at:?}");
    assert_eq!(world.script.left(), 0, "{at:?}");
}

#[tokio::test]
async fn killed_while_it_asks_a_person_the_question_stands_and_is_answered() {
    check_asking(Asking::Sending(PlannedFailure::Hang), &[1, 2]).await;
    // It was sent, and the confirmation was lost: it is sent once more.
    check_asking(Asking::Sending(PlannedFailure::AppliedButHangs), &[1, 2]).await;
    check_asking(Asking::Waiting, &[1, 2]).await;
}

#[tokio::test]
async fn killed_once_a_person_has_answered_it_goes_on_with_the_answer() {
    check_asking(Asking::Answered, &[1, 2]).await;
    check_asking(Asking::GoingOn, &[1, 2, 2]).await;
    check_asking(Asking::Words, &[1, 2, 2]).await;
}
