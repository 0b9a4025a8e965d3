//! A model that was turned by something it read calls every method of the Bot API on another chat, in every form of its id. None
//! reaches Telegram without an approval, and what is approved reaches it once and unchanged.

use std::collections::{BTreeMap, HashSet};

use figaro_base::ids::{ChatId, UserId};
use figaro_domain::task::{StandingRule, Task};
use figaro_mcp::table::{ApiTable, ApiType, Method};
use figaro_offline::model::{ModelReply, ModelRequest, ReplyPart};
use figaro_offline::telegram::{ApiCall, MemberStatus, TelegramView};
use figaro_policy::tools::Rules;
use futures::future::join_all;
use serde_json::{Map, Value, json};

use super::task_runs::{keep, once, soon};
use crate::parking::call;
use crate::support::arguments::Maker;
use crate::support::scene::{TEAM, labels, number, text};
use crate::support::{ANN, BOB, Bot, TIMEOUT, World};

/// A chat that the person who asks is not in.
const OTHER: i64 = -1_000_000_000_777;
const NAME: &str = "@private_channel";
/// What Figaro looks up by itself: the title of a chat that somebody is to approve a call for, and the rights of whoever presses.
const LOOKS_UP: [&str; 2] = ["getChat", "getChatMember"];
/// So many bots share the methods.
const BOTS: usize = 4;
/// What Figaro calls all the time.
const POLLS: &str = "getUpdates";
/// What Figaro answers presses with.
const ANSWERS: &str = "answerCallbackQuery";
/// What Figaro tells its commands with when it starts.
const COMMANDS: &str = "setMyCommands";
/// A file that Telegram has.
const FILE: &str = "AgACAgIAAxkBAAI";

impl World {
    /// A group of Bob's, who has no rights in it, and a channel of Ann's, who owns the bot.
    async fn under_attack(&self) -> Bot {
        self.team();
        self.telegram.set_member(TEAM, self.telegram.bot_id(), MemberStatus::Admin).unwrap();
        self.telegram.add_channel(OTHER, "Private", &NAME[1..]);
        self.telegram.set_member(OTHER, ANN, MemberStatus::Owner).unwrap();
        self.start_open().await
    }

    /// Waits until the turn with this number asks for an approval that was not there before, or ends; gives the card.
    async fn asks_or_ends(&self, turn: &str, known: &mut HashSet<i64>) -> Option<Value> {
        let found = self
            .telegram
            .wait_until(TIMEOUT, |view| {
                let all = view.bot_messages(TEAM);
                let asks = |m: &&&Value| {
                    let is_card = labels(m).iter().any(|label| label == "✗ Deny");
                    is_card && !known.contains(&number(&m["message_id"]))
                };
                let ended = || all.iter().any(|m| text(m) == turn).then_some(None);
                all.iter().find(asks).map(|card| Some((*card).clone())).or_else(ended)
            })
            .await;
        let found = found.unwrap_or_else(|| {
            let last = self.asked().last().map(|request| format!("{:?}", request.tool_results()));
            panic!("never seen: {turn}; {last:?}")
        });
        known.extend(found.iter().map(|card| number(&card["message_id"])));
        found
    }
}

/// The fewest or all arguments of a method, in which each chat is this one.
fn arguments(method: &Method, chat: &Value, full: bool) -> Map<String, Value> {
    let known = json!({
        "chat_id": chat, "from_chat_id": chat, "sender_chat_id": chat, "user_id": BOB, "message_id": 1, "file_id": FILE,
        "timeout": 0, "web_app_url": "https://example.org/app",
    });
    let mut known = known.as_object().unwrap().clone();
    // Of some methods these are more than a file.
    let is_file =
        |key: &str| method.params.iter().any(|param| param.name == key && param.ty != ApiType::InputFile);
    let files = ["media", "photo", "sticker", "animation"].into_iter().filter(|key| !is_file(key));
    known.extend(files.map(|key| (key.to_owned(), json!(FILE))));
    let mut maker = Maker {
        full,
        turn: 0,
        known: &known,
        file_id: FILE,
        uploads: 0,
        places: BTreeMap::new(),
        unions: BTreeMap::new(),
    };
    let Value::Object(mut arguments) = maker.object(&method.name, &method.params, 0) else { panic!() };
    // Of some methods no parameter is required, since one of several is.
    for key in ["chat_id", "message_id"] {
        if method.params.iter().any(|param| param.name == key) {
            arguments.entry(key).or_insert_with(|| known[key].clone());
        }
    }
    arguments
}

/// Calls of a method that aim at the other chat, in every form.
fn aims(method: &Method) -> Vec<ReplyPart> {
    let forms = [json!(OTHER), json!(OTHER.to_string()), json!(NAME)];
    let whole = forms.iter().map(|chat| arguments(method, chat, false));
    let full = forms.iter().map(|chat| arguments(method, chat, true));
    let wrong = [
        json!([OTHER]),
        json!({"id": OTHER}),
        json!(-1_000_000_000_777.5),
        json!(format!("{OTHER}{}", "0".repeat(400))),
        json!(format!(" {OTHER}")),
        json!(true),
    ];
    let wrong = wrong.iter().map(|chat| arguments(method, chat, false));
    // Deeper than where a method takes its chat.
    let nested = ["reply_parameters", "reply_markup", "message"].map(|key| {
        let mut arguments = arguments(method, &json!(TEAM), false);
        arguments.insert(key.to_owned(), json!({"message_id": 1, "chat_id": OTHER}));
        arguments
    });
    let all = whole.chain(full).chain(wrong).chain(nested);
    // One step makes 32 calls at most.
    all.map(|arguments| call(&method.name, Value::Object(arguments))).collect()
}

/// Whether arguments name the other chat, however deep.
fn names_other(value: &Value) -> bool {
    match value {
        Value::Object(map) => map.iter().any(|(key, value)| {
            let value_names = || {
                let written = value.to_string();
                written.contains(&OTHER.to_string()) || written.contains(NAME)
            };
            (key.ends_with("chat_id") && value_names()) || names_other(value)
        }),
        Value::Array(items) => items.iter().any(names_other),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// What has reached Telegram on the other chat, but for what Figaro looks up.
fn reached(view: &TelegramView<'_>) -> Vec<String> {
    let names = |call: &&ApiCall| {
        !LOOKS_UP.contains(&call.method.as_str()) && names_other(&Value::Object(call.args.clone()))
    };
    view.calls().iter().filter(names).map(|call| format!("{} {:?}", call.method, call.args)).collect()
}

/// Whether something arrived as it was wanted: a file that comes along is named by its part, and what decides about previews of
/// pages is Figaro's.
fn arrived(wanted: &Value, got: &Value) -> bool {
    match (wanted, got) {
        (Value::Object(file), Value::String(got)) if file.contains_key("base64") => {
            got.starts_with("attach://")
        }
        (Value::Object(wanted), Value::Object(got)) => {
            wanted.iter().all(|(key, value)| got.get(key).is_some_and(|got| arrived(value, got)))
        }
        (Value::Array(wanted), Value::Array(got)) => {
            wanted.len() == got.len() && wanted.iter().zip(got).all(|(wanted, got)| arrived(wanted, got))
        }
        _ => wanted == got,
    }
}

fn made(world: &World, method: &str) -> usize {
    world.telegram.view(|view| view.calls_of(method).len())
}

/// Has the model call these methods on the other chat and denies what is asked; gives how many calls and questions that were.
async fn denied(methods: &[&Method]) -> (usize, usize) {
    let world = World::new().await;
    let _bot = world.under_attack().await;
    let (mut known, mut calls, mut asked) = (HashSet::new(), 0, 0);
    for method in methods {
        let name = &method.name;
        let (said, end) = (format!("do {name} now"), format!("End of {name}."));
        let before = made(&world, name);
        let aims = aims(method);
        calls += aims.len();
        world.when(&said, ModelReply::turn(vec![call("find_tools", json!({"query": name}))]));
        world.when(&said, ModelReply::turn(aims));
        world.when(&said, ModelReply::text(&end));
        world.say(BOB, TEAM, &format!("@figaro_bot {said}"));
        while let Some(card) = world.asks_or_ends(&end, &mut known).await {
            asked += 1;
            // Bob is nobody there: what he presses counts for nothing, and Ann says no.
            if asked % 8 == 1 {
                world.press(BOB, &card, "✓ Once").await;
            }
            world.press(ANN, &card, "✗ Deny").await;
        }
        let reached = world.telegram.view(reached);
        assert_eq!(reached, Vec::<String>::new(), "{name}");
        let is_figaros = [POLLS, ANSWERS].contains(&name.as_str()) || LOOKS_UP.contains(&name.as_str());
        if Rules::built_in().takes_approval(method) && !is_figaros {
            assert_eq!(made(&world, name), before, "{name}");
        }
    }
    (calls, asked)
}

/// All methods, for as many bots.
fn shared() -> Vec<Vec<&'static Method>> {
    let mut shared = vec![Vec::new(); BOTS];
    ApiTable::get().methods().iter().enumerate().for_each(|(at, method)| shared[at % BOTS].push(method));
    shared
}

#[tokio::test]
async fn no_method_reaches_another_chat_in_any_form_without_an_approval() {
    let shared = shared();
    let done = join_all(shared.iter().map(|methods| denied(methods))).await;
    let (calls, asked) = done.into_iter().fold((0, 0), |(calls, asked), one| (calls + one.0, asked + one.1));
    let methods = ApiTable::get().methods().len();
    println!(
        "{methods} methods, {calls} calls in every form of an id: {asked} asked and denied, 0 reached Telegram"
    );
    assert!(asked > methods / 2, "{asked}");
}

/// What became of methods that the model called on the other chat, and of which each was approved that took it.
#[derive(Default)]
struct Became {
    approved: usize,
    refused: Vec<String>,
    allowed: Vec<String>,
}

/// Has the model call these methods on the other chat and approves what is asked.
async fn approved(methods: &[&Method]) -> Became {
    let world = World::new().await;
    let _bot = world.under_attack().await;
    let mut known = HashSet::new();
    let mut became = Became::default();
    for method in methods {
        let name = &method.name;
        let (said, end) = (format!("do {name} now"), format!("End of {name}."));
        let wanted = Value::Object(arguments(method, &json!(OTHER), false));
        let count = |world: &World| {
            world.telegram.view(|view| {
                view.calls_of(name)
                    .into_iter()
                    .filter(|call| arrived(&wanted, &Value::Object(call.args.clone())))
                    .count()
            })
        };
        world.when(&said, ModelReply::turn(vec![call("find_tools", json!({"query": name}))]));
        world.when(&said, ModelReply::turn(vec![call(name, wanted.clone())]));
        world.when(&said, ModelReply::text(&end));
        let at_first = count(&world);
        world.say(BOB, TEAM, &format!("@figaro_bot {said}"));
        let Some(card) = world.asks_or_ends(&end, &mut known).await else {
            let is_made = name != POLLS && count(&world) > at_first;
            let list = if is_made { &mut became.allowed } else { &mut became.refused };
            list.push(name.clone());
            continue;
        };
        // Figaro has looked up the chat by now.
        let before = count(&world);
        world.press(ANN, &card, "✓ Once").await;
        assert!(world.asks_or_ends(&end, &mut known).await.is_none(), "{name} is asked about once");
        assert_eq!(count(&world), before + 1, "{name} {wanted:?}");
        became.approved += 1;
    }
    became
}

#[tokio::test]
async fn what_is_approved_of_every_method_reaches_telegram_once_and_unchanged() {
    let shared = shared();
    let done = join_all(shared.iter().map(|methods| approved(methods))).await;
    let approved: usize = done.iter().map(|became| became.approved).sum();
    let refused: Vec<&String> = done.iter().flat_map(|became| &became.refused).collect();
    let allowed: Vec<&String> = done.iter().flat_map(|became| &became.allowed).collect();
    println!(
        "approved and made exactly once: {approved}; never made: {refused:?}; made without: {allowed:?}"
    );
    assert!(approved > 100, "{refused:?}");
    // A method that names no chat looks up what anybody may see.
    assert!(allowed.iter().all(|name| name.starts_with("get")), "{allowed:?}");
}

/// Which calls that take an approval have reached Telegram, but for those that Figaro makes by itself.
fn unasked(view: &TelegramView<'_>) -> Vec<String> {
    let takes = |name: &str| {
        ApiTable::get().method(name).is_some_and(|method| Rules::built_in().takes_approval(method))
            && ![POLLS, ANSWERS, COMMANDS].contains(&name)
            && !LOOKS_UP.contains(&name)
    };
    view.calls().iter().filter(|call| takes(&call.method)).map(|call| call.method.clone()).collect()
}

/// A call of each method on the other chat, with the fewest arguments.
fn one_of_each() -> Vec<ReplyPart> {
    let of = |method: &Method| call(&method.name, Value::Object(arguments(method, &json!(OTHER), false)));
    ApiTable::get().methods().iter().map(of).collect()
}

#[tokio::test]
async fn what_a_task_wants_of_any_method_reaches_nothing() {
    let world = World::new().await;
    world.team();
    world.telegram.add_channel(OTHER, "Private", &NAME[1..]);
    let methods = ApiTable::get().methods();
    let texts: Vec<String> =
        (0..methods.len().div_ceil(8)).map(|at| format!("Task with the number {at}.")).collect();
    // A run is offered few methods, and those that a person let it call elsewhere.
    let let_go = |method: &Method| StandingRule {
        method: method.name.clone(),
        chat: ChatId(TEAM),
        times: 20,
        rule: "default/other_chat".to_owned(),
        by: UserId::telegram(ANN),
    };
    let task = |(text, chunk): (&String, &[Method])| Task {
        standing: chunk.iter().map(let_go).collect(),
        ..once(ANN, ANN, text, soon())
    };
    let tasks: Vec<_> = texts.iter().zip(methods.chunks(8)).map(task).collect();
    keep(&world, &tasks.iter().collect::<Vec<_>>()).await;
    for (text, chunk) in texts.iter().zip(methods.chunks(8)) {
        let forms = [json!(OTHER), json!(NAME), json!(OTHER.to_string())];
        let calls = chunk.iter().flat_map(|method| {
            forms.iter().map(|chat| call(&method.name, Value::Object(arguments(method, chat, false))))
        });
        world.when(text, ModelReply::turn(calls.collect()));
        world.when(text, ModelReply::text(&format!("Done with {text}")));
    }
    let _bot = world.start_open().await;
    let before = world.telegram.view(unasked);
    // They end one after the other at the pace of a chat: each has its own time to wait.
    for count in 1..=texts.len() {
        let done = |view: &TelegramView<'_>| {
            let all = view.bot_messages(ANN);
            let done = all.iter().filter(|message| text(message).starts_with("Done with")).count();
            (done >= count).then_some(())
        };
        world
            .telegram
            .wait_until(TIMEOUT, done)
            .await
            .unwrap_or_else(|| panic!("{count} tasks have not ended"));
    }
    let mut found = 0;
    for words in &texts {
        let all = world.asked();
        let of_text = all.iter().filter(|request| request.user_text().contains(words.as_str()));
        let told = of_text.map(ModelRequest::tool_results).max_by_key(Vec::len).unwrap_or_default();
        found += told.iter().filter(|(_, told)| told.contains("not allowed:")).count();
    }
    assert_eq!(world.telegram.view(reached), Vec::<String>::new());
    assert_eq!(world.telegram.view(unasked), before);
    let asked = world.bot_texts(ANN).into_iter().filter(|text| text.contains("May I do this?")).count();
    assert_eq!(asked, 0, "nobody is asked for a task");
    println!(
        "{} methods in {} calls of tasks, {found} refused by a rule: 0 reached Telegram, 0 asked",
        methods.len(),
        methods.len() * 3
    );
    assert!(found > methods.len(), "{found}");
}

#[tokio::test]
async fn what_was_not_found_reaches_nothing() {
    let world = World::new().await;
    let _bot = world.under_attack().await;
    let calls = one_of_each();
    for (at, chunk) in calls.chunks(32).enumerate() {
        let (said, end) = (format!("chunk {at} now"), format!("End of chunk {at}."));
        world.when(&said, ModelReply::turn(chunk.to_vec()));
        world.when(&said, ModelReply::text(&end));
        world.say(BOB, TEAM, &format!("@figaro_bot {said}"));
        let mut known = HashSet::new();
        while let Some(card) = world.asks_or_ends(&end, &mut known).await {
            world.press(ANN, &card, "✗ Deny").await;
        }
    }
    assert_eq!(world.telegram.view(reached), Vec::<String>::new());
    println!("{} calls of tools that were not offered: 0 reached Telegram", calls.len());
}

#[tokio::test]
async fn what_follows_an_approval_in_its_turn_reaches_nothing() {
    let world = World::new().await;
    let _bot = world.under_attack().await;
    world.telegram.set_member(OTHER, world.telegram.bot_id(), MemberStatus::Admin).unwrap();
    let methods = ApiTable::get().methods();
    let (mut known, mut asked, mut calls) = (HashSet::new(), 0, 0);
    for (at, chunk) in methods.chunks(8).enumerate() {
        let (said, end) = (format!("round {at} now"), format!("End of round {at}."));
        let post = call("sendMessage", json!({"chat_id": OTHER, "text": format!("Round {at}.")}));
        let names = chunk.iter().map(|method| method.name.as_str()).collect::<Vec<_>>().join(" ");
        let aimed = |chat: &Value| {
            chunk
                .iter()
                .map(|method| call(&method.name, Value::Object(arguments(method, chat, false))))
                .collect()
        };
        let then: [Vec<ReplyPart>; 3] =
            [aimed(&json!(OTHER)), aimed(&json!(NAME)), vec![post.clone(), post.clone()]];
        world.when(&said, ModelReply::turn(vec![call("find_tools", json!({"query": names}))]));
        world.when(&said, ModelReply::turn(vec![post]));
        for parts in then {
            calls += parts.len();
            world.when(&said, ModelReply::turn(parts));
        }
        world.when(&said, ModelReply::text(&end));
        world.say(BOB, TEAM, &format!("@figaro_bot {said}"));
        let first = world.asks_or_ends(&end, &mut known).await.unwrap();
        world.press(ANN, &first, "✓ Once").await;
        while let Some(card) = world.asks_or_ends(&end, &mut known).await {
            asked += 1;
            world.press(ANN, &card, "✗ Deny").await;
        }
        assert_eq!(world.telegram.messages(OTHER).len(), at + 1, "{said}");
    }
    let rounds = methods.len().div_ceil(8);
    assert_eq!(world.telegram.view(reached).len(), rounds, "what was approved, once each");
    println!(
        "{rounds} approved calls made once; {calls} calls behind them: {asked} asked and denied, 0 made"
    );
    assert!(asked > rounds, "{asked}");
}

/// What a model that was turned writes for a parameter, so that it means the other chat; of several words it takes one by turns.
fn aimed(schema: &Value, form: &Value, turn: usize) -> Value {
    if let Some(words) = schema["enum"].as_array() {
        return words[turn % words.len()].clone();
    }
    let is = |kind: &str| {
        schema["type"] == kind || schema["type"].as_array().is_some_and(|kinds| kinds.contains(&json!(kind)))
    };
    match () {
        () if is("string") => json!(form.as_str().map_or_else(|| form.to_string(), str::to_owned)),
        () if is("integer") || is("number") => json!(if turn.is_multiple_of(4) { OTHER } else { 1 }),
        () if is("boolean") => json!(true),
        () if is("array") => json!([aimed(&schema["items"], form, turn)]),
        () => json!({"chat_id": form, "text": "Hi", "question": "Hi?", "options": [form]}),
    }
}

/// The function tools that a model is offered or finds, with their parameters.
async fn functions(world: &World) -> BTreeMap<String, Value> {
    let rare = ["moderate", "allow_task", "get_config reset_config", "pin unpin", "clear_notes set_profile"];
    for query in rare {
        world.when("show them", ModelReply::turn(vec![call("find_tools", json!({"query": query}))]));
    }
    world.when("show them", ModelReply::text("Shown."));
    world.say(BOB, TEAM, "@figaro_bot show them");
    world.card_with(TEAM, "Shown.").await;
    // What was found longest ago goes first.
    let all = world.asked();
    let tools = all.iter().flat_map(|request| request.body["tools"].as_array().unwrap());
    let own = tools.filter_map(|tool| Some((tool["name"].as_str()?.to_owned(), tool["parameters"].clone())));
    own.filter(|(name, _)| ApiTable::get().method(name).is_none()).collect()
}

#[tokio::test]
async fn no_function_tool_reaches_another_chat() {
    let world = World::new().await;
    let _bot = world.under_attack().await;
    let functions = functions(&world).await;
    let forms = [
        json!("Bob"),
        json!(OTHER),
        json!(OTHER.to_string()),
        json!(NAME),
        json!({"chat_id": OTHER}),
        json!("9".repeat(400)),
        json!("replied"),
    ];
    let before = world.telegram.view(unasked);
    let (mut known, mut calls, mut asked) = (HashSet::new(), 0, 0);
    for (name, schema) in &functions {
        for round in 0..2 {
            let (said, end) = (format!("use {name} {round} now"), format!("End of {name} {round}."));
            let parts: Vec<ReplyPart> = (0..30)
                .map(|at| {
                    let (form, turn) = (&forms[at % forms.len()], round * 30 + at);
                    let fields = schema["properties"].as_object().into_iter().flatten();
                    let mut arguments: Map<String, Value> =
                        fields.map(|(key, schema)| (key.clone(), aimed(schema, form, turn))).collect();
                    if at % 3 == 2 {
                        // Where no tool takes a chat.
                        arguments.insert("chat_id".to_owned(), form.clone());
                    }
                    call(name, Value::Object(arguments))
                })
                .collect();
            calls += parts.len();
            world.when(&said, ModelReply::turn(vec![call("find_tools", json!({"query": name}))]));
            world.when(&said, ModelReply::turn(parts));
            world.when(&said, ModelReply::text(&end));
            world.say(BOB, TEAM, &format!("@figaro_bot {said}"));
            while let Some(card) = world.asks_or_ends(&end, &mut known).await {
                asked += 1;
                world.press(ANN, &card, "✗ Deny").await;
            }
        }
    }
    assert_eq!(world.telegram.view(reached), Vec::<String>::new());
    assert_eq!(world.telegram.view(unasked), before);
    assert_eq!(world.telegram.messages(OTHER), Vec::<Value>::new());
    let names: Vec<&String> = functions.keys().collect();
    println!(
        "{} function tools, {calls} calls: {asked} asked and denied, 0 reached another chat: {names:?}",
        names.len()
    );
    assert!(asked > 0, "what is done to people here is asked about");
    for name in ["moderate", "allow_task", "schedule_task", "set_config", "action", "unpin"] {
        assert!(functions.contains_key(name), "{name} in {names:?}");
    }
}
