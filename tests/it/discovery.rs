//! Methods beyond those at hand: the model finds them by words and may call them until the session ends, within what
//! policy allows. And files: what it writes arrives as one, what it fetches comes without the bot's token.

use figaro_offline::model::{ModelReply, ModelRequest, ReplyPart};
use figaro_offline::telegram::{Say, TelegramOptions, Uploaded};
use serde_json::{Value, json};

use crate::approvals::NOT_APPROVED;
use crate::support::scene::text;
use crate::support::{ANN, BOB, World};

/// What every first request of a turn offers.
const AT_HAND: [&str; 18] = [
    "action",
    "add_note",
    "cancel_task",
    "deleteMessage",
    "editMessageText",
    "find_tools",
    "list_notes",
    "list_tasks",
    "read_page",
    "remove_note",
    "schedule_task",
    "sendDocument",
    "sendMessage",
    "sendPhoto",
    "sendPoll",
    "setMessageReaction",
    "set_config",
    "update_task",
];

fn call(name: &str, arguments: Value) -> ReplyPart {
    ReplyPart::Call { name: name.to_owned(), arguments }
}

fn find(query: &str) -> ReplyPart {
    call("find_tools", json!({"query": query}))
}

/// Ann asks, the model answers with these passes, the last of them words; gives the results of all calls in their order.
async fn turn(world: &World, passes: Vec<Vec<ReplyPart>>, last: &str) -> Vec<Value> {
    let before = world.model.requests().len();
    let count = passes.len() + 1;
    passes.into_iter().for_each(|parts| world.script.push(ModelReply::turn(parts)));
    world.script.push(ModelReply::text(last));
    world.say(ANN, ANN, "please");
    let request = world.asks_denying(before + count).await;
    world.caught_up().await;
    results(&request)
}

fn results(request: &ModelRequest) -> Vec<Value> {
    request.tool_results().iter().map(|(_, output)| serde_json::from_str(output).unwrap()).collect()
}

/// The definition of a tool as a request offers it.
fn offered<'a>(request: &'a ModelRequest, name: &str) -> Option<&'a Value> {
    request.body["tools"].as_array()?.iter().find(|tool| tool["name"] == name)
}

fn names(request: &ModelRequest) -> Vec<String> {
    request.tool_names().into_iter().map(ToOwned::to_owned).collect()
}

/// What all providers take.
fn is_name(name: &str) -> bool {
    let letter = |c: char| c.is_ascii_alphabetic() || c == '_';
    name.starts_with(letter)
        && name.len() <= 64
        && name.chars().all(|c| letter(c) || c.is_ascii_digit() || c == '-')
}

fn refusal(result: &Value) -> &str {
    assert_eq!(result["success"], false, "{result}");
    result["error"].as_str().unwrap()
}

fn calls(world: &World, method: &str) -> usize {
    world.telegram.view(|view| view.calls_of(method).len())
}

#[tokio::test]
async fn what_was_found_can_be_called_until_the_session_ends() {
    let world = World::new().await;
    let _bot = world.start().await;
    let passes = vec![vec![find("roll a dice")], vec![call("sendDice", json!({"emoji": "🎯"}))]];
    let results = turn(&world, passes, "Rolled.").await;
    let requests = world.asked();
    assert_eq!(names(&requests[0]), AT_HAND);
    assert!(requests.iter().all(|request| names(request).iter().all(|name| is_name(name))));
    assert!(requests.iter().all(|request| names(request).len() <= 100));

    let found: Vec<&str> =
        results[0]["callable_now"].as_array().unwrap().iter().map(|m| m["name"].as_str().unwrap()).collect();
    assert!(found[0] == "sendDice" && results[0]["success"] == true, "{results:?}");
    let mut wanted: Vec<&str> = AT_HAND.into_iter().filter(|name| !found.contains(name)).collect();
    wanted.extend(&found);
    assert_eq!(
        (names(&requests[1]), names(&requests[2])),
        (wanted.iter().map(|n| (*n).to_owned()).collect(), names(&requests[1]))
    );
    let dice = &offered(&requests[1], "sendDice").unwrap()["parameters"];
    assert!(dice["properties"]["emoji"]["enum"].as_array().unwrap().contains(&json!("🎯")), "{dice}");
    assert_eq!(dice["required"].as_array(), Some(&Vec::new()), "the chat is filled in");

    assert_eq!(results[1]["success"], true, "{results:?}");
    let messages = world.telegram.messages(ANN);
    let thrown: Vec<&Value> = messages.iter().filter(|m| m["dice"]["emoji"] == "🎯").collect();
    assert_eq!((thrown.len(), calls(&world, "sendDice")), (1, 1));
    assert!(world.bot_texts(ANN).contains(&"Rolled.".to_owned()));

    turn(&world, Vec::new(), "Nothing to do.").await;
    assert_eq!(names(world.asked().last().unwrap()), names(&requests[1]), "the next turn begins alike");
    world.say(ANN, ANN, "/new");
    world.caught_up().await;
    turn(&world, Vec::new(), "Nothing to do.").await;
    // What was said before it can be looked for.
    let anew: Vec<&str> = AT_HAND.into_iter().chain(["lookup", "recall"]).collect();
    assert_eq!(names(world.asked().last().unwrap()), anew, "a new session");
    let former =
        world.asked().iter().any(|request| request.body.to_string().contains("find_telegram_methods"));
    assert!(!former, "it is the name of the tool that the server has by itself");
    assert_eq!(world.refused(), Vec::<String>::new());
}

#[tokio::test]
async fn what_was_not_found_is_refused_with_a_hint() {
    let world = World::new().await;
    let _bot = world.start().await;
    let dice = || call("sendDice", json!({}));
    let results =
        turn(&world, vec![vec![dice()], vec![find("xyzzy qwrtp")], vec![find(" ")]], "I cannot.").await;
    assert!(refusal(&results[0]).contains("no tool sendDice is offered yet"), "{results:?}");
    assert!(refusal(&results[0]).contains("what is found can be called"), "{results:?}");
    assert!(refusal(&results[1]).contains("other words"), "{results:?}");
    assert!(refusal(&results[2]).contains("query must be"), "{results:?}");
    assert_eq!(calls(&world, "sendDice"), 0);
    turn(&world, vec![vec![find("sendDice")]], "Found.").await;
    world.say(ANN, ANN, "/new");
    world.caught_up().await;
    let results = turn(&world, vec![vec![dice()]], "Forgotten.").await;
    assert!(refusal(&results[0]).contains("no tool sendDice"), "what another session found: {results:?}");
    assert_eq!(calls(&world, "sendDice"), 0);
}

#[tokio::test]
async fn finding_a_method_does_not_allow_it() {
    let world = World::new().await;
    let bot = world.start().await;
    let tried = [
        ("banChatMember", json!({"user_id": BOB}), "it changes more than the bot's own messages"),
        ("setMyName", json!({"name": "Eve"}), "it changes more than the bot's own messages"),
        ("getMyStarBalance", json!({}), "not this chat's business"),
        ("forwardMessage", json!({"from_chat_id": BOB, "message_id": 1}), "another chat"),
        ("sendVideo", json!({"video": "http://127.0.0.1/x.mp4"}), "not on the public web"),
    ];
    let (some, others) = tried.split_at(3);
    // A search gives a few at a time.
    let queries =
        [some, others].map(|tried| find(&tried.iter().map(|(name, ..)| *name).collect::<Vec<_>>().join(" ")));
    let attempts = tried.iter().map(|(name, arguments, _)| call(name, arguments.clone())).collect();
    let results = turn(&world, vec![queries.into(), attempts], "I may not.").await;
    for (result, (name, _, reason)) in results[2..].iter().zip(&tried) {
        let words = refusal(result);
        let is_asked = NOT_APPROVED.iter().any(|reason| words.contains(reason));
        assert!(
            is_asked || (words.starts_with("not allowed: ") && words.contains(reason)),
            "{name}: {words}"
        );
        assert!(offered(&world.asked()[1], name).is_some(), "{name} was found");
        assert_eq!(calls(&world, name), 0, "{name}");
    }
    assert_eq!(results.len(), 2 + tried.len());
    let log = bot.log();
    let decided = |name: &str| log.lines().any(|line| line.contains("policy decided") && line.contains(name));
    assert!(tried.iter().all(|(name, ..)| decided(name)), "{log}");
}

#[tokio::test]
async fn a_tool_at_hand_takes_all_its_parameters_once_it_was_found() {
    let world = World::new().await;
    let _bot = world.start().await;
    let message = |words: &str, button: Value| {
        let markup = json!({"inline_keyboard": [[button]]});
        call("sendMessage", json!({"text": words, "reply_markup": markup}))
    };
    let link = || json!({"text": "Read on", "url": "https://example.com/"});
    let passes = vec![
        vec![message("too early", link())],
        vec![find("sendMessage")],
        vec![
            message("a trap", json!({"text": "Prize", "callback_data": "start:example"})),
            message("a link", link()),
        ],
    ];
    let results = turn(&world, passes, "There it is.").await;
    assert!(refusal(&results[0]).contains("find_tools(\"sendMessage\")"), "{results:?}");
    assert!(refusal(&results[2]).contains("nothing that acts"), "{results:?}");
    assert_eq!(results[3]["success"], true, "{results:?}");
    let requests = world.asked();
    let has_markup = |at: usize| {
        let properties = &offered(&requests[at], "sendMessage").unwrap()["parameters"]["properties"];
        properties.get("reply_markup").is_some()
    };
    assert_eq!([has_markup(0), has_markup(1), has_markup(2), has_markup(3)], [false, false, true, true]);
    assert!(
        requests.iter().all(|r| r.tool_names().iter().filter(|name| **name == "sendMessage").count() == 1)
    );
    let sent: Vec<Value> =
        world.telegram.messages(ANN).into_iter().filter(|m| m.get("reply_markup").is_some()).collect();
    assert_eq!(sent.len(), 1, "{sent:?}");
    assert_eq!((text(&sent[0]), &sent[0]["reply_markup"]["inline_keyboard"][0][0]), ("a link", &link()));
}

#[tokio::test]
async fn a_tool_of_figaros_own_that_is_seldom_wanted_is_found_by_words_or_by_its_name() {
    let world = World::new().await;
    let _bot = world.start().await;
    let cases = [
        ("show my settings", "get_config", json!({})),
        ("reset_config", "reset_config", json!({})),
        ("clear the whole list of notes", "clear_notes", json!({"key": "films"})),
    ];
    for (query, name, arguments) in cases {
        world.say(ANN, ANN, "/new");
        world.caught_up().await;
        let passes =
            vec![vec![call(name, arguments.clone())], vec![find(query)], vec![call(name, arguments)]];
        let results = turn(&world, passes, "Done.").await;
        assert!(refusal(&results[0]).contains(&format!("no tool {name} is offered yet")), "{results:?}");
        assert_eq!(results[1]["callable_now"][0]["name"], name, "{query}: {results:?}");
        assert_eq!(results[2]["success"], true, "{results:?}");
        let all = names(world.asked().last().unwrap());
        assert_eq!(all[..AT_HAND.len()], AT_HAND, "what was found stands behind");
        assert!(all[AT_HAND.len()..].contains(&name.to_owned()), "{all:?}");
    }
    let results = turn(&world, vec![vec![find("pin a message")]], "Found.").await;
    assert_eq!(results[0]["callable_now"][0]["name"], "pinChatMessage", "{results:?}");
}

#[tokio::test]
async fn what_was_found_survives_a_kill() {
    let world = World::new().await;
    world.script.push(ModelReply::turn(vec![find("roll a dice")]));
    world.script.push(ModelReply::silence());
    let bot = world.start().await;
    world.say(ANN, ANN, "roll");
    world.asks(2).await;
    bot.kill();
    world.script.push(ModelReply::call("sendDice", json!({})));
    world.script.push(ModelReply::text("Rolled."));
    let bot = world.start().await;
    let request = world.asks(4).await;
    let requests = world.model.requests();
    assert_eq!(names(&requests[2]), names(&requests[1]), "the pass that was cut off and its repetition");
    assert!(offered(&requests[2], "sendDice").is_some() && offered(&requests[0], "sendDice").is_none());
    assert_eq!(results(&request).last().unwrap()["success"], true);
    world
        .see("the dice", |view| view.messages(ANN).iter().any(|m| m["dice"].is_object()).then_some(()))
        .await;
    world
        .see("the answer", |view| view.messages(ANN).iter().any(|m| m["text"] == "Rolled.").then_some(()))
        .await;
    assert_eq!(calls(&world, "sendDice"), 1);
    bot.ends_well().await;
}

#[tokio::test]
async fn what_the_model_writes_arrives_as_a_file() {
    const ODD: &str = "Übersicht \"2\"; name=x 🎲.bin";
    let world = World::new().await;
    let _bot = world.start().await;
    let table = "name;age\nJosé;7\n";
    let document = |file: Value| call("sendDocument", json!({"document": file, "caption": "Your table"}));
    let attempts = vec![
        document(json!({"name": "a.csv", "text": table})),
        document(json!({"name": ODD, "base64": "AAECAw=="})),
        document(json!({"name": "../c", "text": "x"})),
        document(json!({"path": "/etc/passwd"})),
        document(json!({"name": "d.txt"})),
    ];
    let results = turn(&world, vec![attempts], "Here.").await;
    let worked: Vec<&Value> = results.iter().map(|result| &result["success"]).collect();
    assert_eq!(worked, [true, true, false, false, false], "{results:?}");
    for (at, words) in [(2, "without folders"), (3, "unknown field `path`"), (4, "it has no content")] {
        assert!(refusal(&results[at]).contains(words), "{results:?}");
    }
    let sent: Vec<Vec<Uploaded>> = world
        .telegram
        .view(|view| view.calls_of("sendDocument").into_iter().map(|call| call.uploads.clone()).collect());
    let file = |name: &str, bytes: &[u8]| {
        let (part, name) = ("document".to_owned(), name.to_owned());
        vec![Uploaded { part, name, size: bytes.len(), head: bytes.to_vec() }]
    };
    let mut wanted = vec![file("a.csv", table.as_bytes()), file(ODD, &[0, 1, 2, 3])];
    // Calls of one pass are made together.
    if sent[0] != wanted[0] {
        wanted.reverse();
    }
    assert_eq!(sent, wanted);
    let messages = world.telegram.messages(ANN);
    let shown = messages.iter().find(|m| m["document"]["file_name"] == "a.csv").unwrap();
    assert_eq!(
        (&shown["caption"], &shown["document"]["file_size"]),
        (&json!("Your table"), &json!(table.len()))
    );
}

#[tokio::test]
async fn a_model_is_told_how_to_write_a_file() {
    let world = World::new().await;
    let _bot = world.start().await;
    turn(&world, vec![vec![find("sendVoice")]], "I see.").await;
    let requests = world.asked();
    let (short, whole) = (vec!["name", "text"], vec!["name", "base64", "text"]);
    let parameters = |at: usize, name| &offered(&requests[at], name).unwrap()["parameters"];
    let everyday = &parameters(0, "sendDocument")["properties"]["document"]["anyOf"][1];
    let found = &parameters(1, "sendVoice")["$defs"]["InputFile"];
    for (file, wanted) in [(everyday, &short), (found, &whole)] {
        let fields: Vec<&str> = file["properties"].as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!((&fields, &file["required"]), (wanted, &json!(["name"])), "{file}");
    }
}

#[tokio::test]
async fn a_file_is_read_without_the_token_that_fetches_it() {
    let token = "7000000001:sesame-open-the-door";
    let world = World::with(TelegramOptions { token: token.to_owned(), ..TelegramOptions::default() }).await;
    let bot = world.bot().set("RUST_LOG", "debug").spawn();
    bot.ready().await;
    world.script.push(ModelReply::text("Thank you."));
    let words = "milk, bread and a secret";
    world.telegram.send(Say::new(ANN, ANN, "my list").document("list.txt", words.as_bytes())).unwrap();
    world.answers(ANN, 1).await;
    let sent = world.telegram.messages(ANN).into_iter().find(|m| m["document"].is_object()).unwrap();
    let file_id = sent["document"]["file_id"].clone();
    let ask = |id: &Value| call("getFile", json!({"file_id": id}));
    let passes = vec![vec![find("getFile")], vec![ask(&file_id), ask(&json!("no-such-file"))]];
    let results = turn(&world, passes, "Milk and bread.").await;
    let file = &results[1]["result"];
    assert_eq!(
        (&file["text"], &file["name"], &file["file_id"]),
        (&json!(words), &json!("list.txt"), &file_id),
        "{results:?}"
    );
    assert_eq!(file.get("file_path"), None, "{file}");
    assert!(refusal(&results[2]).contains("wrong file_id"), "{results:?}");
    for request in world.model.requests() {
        let body = request.body.to_string();
        assert!(!body.contains("sesame-open") && !body.contains("/file/bot"), "{body}");
    }
    assert!(!bot.log().contains("sesame-open"));
}
