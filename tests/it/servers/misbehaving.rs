//! Servers that hang, end, flood or are never ready fail their own calls and nothing else, and none outlives the bot.

use std::fs;

use figaro_offline::model::{ModelReply, ModelRequest};
use figaro_offline::telegram::Person;
use serde_json::{Value, json};

use super::{helper, server, variable, with};
use crate::parking::call;
use crate::support::scene::text;
use crate::support::{ANN, TIMEOUT, World, proc};

#[tokio::test]
async fn a_server_that_misbehaves_fails_its_own_calls_and_nothing_else() {
    let world = World::new().await;
    let bounded = |seconds: u8| json!({"autoApprove": ["*", "count"], "timeout": seconds});
    let servers = json!({
        "box": with("plain", bounded(4)),
        // Its longest answer is read at a limited rate, and the next call waits for the end of it.
        "loud": with("plain", bounded(30)),
        "never": with("never", bounded(4)),
        "other": with("plain", bounded(30)),
    });
    let tools = "{name: \"*\", server: box}, {name: \"*\", server: loud}, {name: \"*\", server: never}, \
                 {name: echo, server: other}, {name: add_note}";
    let bot = world.helped(servers, tools).await;
    for name in ["box", "loud", "other"] {
        bot.logged(&format!("server=\"{name}\"")).await;
    }
    let echo = json!({"text": "well"});
    for (server, name, wanted) in [
        ("box", "garbage", "the MCP server box: it gave no answer within 4 s"),
        ("box", "shape", "the MCP server box: it gave no answer within 4 s"),
        ("loud", "huge", "the MCP server loud: it sent more than 8 MB in one message"),
        ("loud", "die", "the MCP server loud: it ended during the call"),
        // It is started anew by then.
        ("loud", "count", "called 1"),
        (
            "box",
            "slow",
            "the MCP server box: it gave no answer within 4 s; whether the call acted is not known",
        ),
    ] {
        let said = format!("try {name}");
        let calls = vec![call(&format!("{server}__{name}"), json!({})), call("other__echo", echo.clone())];
        world.when(&said, ModelReply::turn(calls));
        world.when(&said, ModelReply::text(&format!("End of {said}.")));
        world.say(ANN, ANN, &said);
        let find = |requests: &[ModelRequest]| {
            let request = requests.iter().rev().find(|request| request.user_text().contains(&said))?;
            let results = request.tool_results();
            (results.len() == 2).then(|| results.into_iter().map(|(_, output)| output).collect::<Vec<_>>())
        };
        let results = world.model.wait_until(TIMEOUT, find).await.unwrap_or_else(|| panic!("{name}"));
        let first: Value = serde_json::from_str(&results[0]).unwrap();
        let told = first["error"].as_str().or(first["result"].as_str()).unwrap_or_default();
        assert!(told.starts_with(wanted), "{name}: {first}");
        assert!(results[1].contains("well"), "{name}: {}", results[1]);
        world
            .see("the end", |view| {
                view.bot_messages(ANN).into_iter().any(|m| text(m) == format!("End of {said}.")).then_some(())
            })
            .await;
    }
    // One that hangs is started anew.
    bot.logged("it did not answer within 5 s").await;
    world.calls(ANN, "once more", "box__echo", json!({"text": "back"}));
    assert_eq!(world.result_of("once more").await["result"], "back");
    // Fifty million characters were not kept.
    let memory = proc::status(bot.pid(), "VmHWM");
    assert!(memory < 300_000, "{memory} kB");
}

#[tokio::test]
async fn what_a_server_asks_of_its_client_is_declined() {
    let world = World::new().await;
    let tools = "{name: \"*\", server: box}";
    let bot = world.helped(json!({"box": with("asks", json!({"autoApprove": ["*"]}))}), tools).await;
    bot.logged("an MCP server is ready").await;
    world.calls(ANN, "what did they say", "box__echo", json!({"text": ""}));
    let said = world.result_of("what did they say").await;
    let said: Value = serde_json::from_str(said["result"].as_str().unwrap()).unwrap();
    let said = said.as_object().unwrap();
    assert_eq!(said.len(), 4);
    for (method, reply) in said {
        // An error, or in the protocol's own words; an empty list would say that no folder is open.
        assert!(reply.is_i64() || *reply == json!({"action": "decline"}), "{method}: {reply}");
    }
}

#[tokio::test]
async fn a_server_that_talks_without_end_costs_its_own_time_alone() {
    let world = World::new().await;
    world.servers(json!({"box": with("chatty", json!({"autoApprove": ["*"]}))}));
    let agent = helper("{name: \"*\", server: box}").replace("name: helper", "name: default");
    world.agent("default.yaml", &agent);
    let bot = world.bot().set("PATH", &variable("PATH")).set("RUST_LOG", "info").spawn();
    bot.logged("an MCP server is ready").await;
    for number in 0..3 {
        let said = format!("say {number}");
        world.calls(ANN, &said, "box__echo", json!({"text": said}));
        assert_eq!(world.result_of(&said).await["result"], said);
        world.ends_for_ann(&said).await;
    }
    let log = bot.log();
    assert!(log.len() < 50_000 && !log.contains("a-word-of-the-chatter"), "{} bytes", log.len());
    bot.ends_well().await;
    world.no_server_is_left().await;
}

#[tokio::test]
async fn a_program_that_does_not_read_fails_what_it_is_sent_and_nothing_else() {
    let world = World::new().await;
    let quick = json!({"autoApprove": ["*"], "timeout": 6});
    let mut deaf = with("deaf", quick.clone());
    deaf["args"].as_array_mut().unwrap().push(json!(world.folder.path().join("pids")));
    let servers = json!({"box": deaf, "other": with("plain", quick)});
    let bot = world.helped(servers, "{name: echo, server: box}, {name: echo, server: other}").await;
    bot.logged("server=\"box\"").await;
    bot.logged("server=\"other\"").await;
    // Together they are more than the pipes hold: whoever writes waits for a program that does not read.
    let people: Vec<i64> = (201..209).collect();
    for person in &people {
        world.telegram.add_user(Person::new(*person, &format!("P{person}")));
        world.telegram.add_private(*person).unwrap();
        let said = format!("try {person}");
        world.when(&said, ModelReply::turn(vec![call("box__echo", json!({"text": "word ".repeat(6_000)}))]));
        world.when(&said, ModelReply::text(&format!("End of {said}.")));
        world.say(*person, *person, &said);
    }
    world.calls(ANN, "and the other", "other__echo", json!({"text": "well"}));
    assert_eq!(world.result_of("and the other").await["result"], "well");
    for person in people {
        let result = world.result_of(&format!("try {person}")).await;
        let error = result["error"].as_str().unwrap_or_default();
        assert!(error.starts_with("the MCP server box: "), "{person}: {result}");
        world
            .see("the end", |view| {
                let all = view.bot_messages(person);
                all.into_iter().any(|m| text(m) == format!("End of try {person}.")).then_some(())
            })
            .await;
    }
    // The bot was not held up by it, and ends in order.
    bot.ends_well().await;
    world.no_server_is_left().await;
}

#[tokio::test]
async fn a_server_that_is_never_ready_delays_nothing_and_is_shown_so() {
    let world = World::new().await;
    let servers = json!({"never": world.marked("never"), "refuses": server("refuses"), "gone": {"command": "no-such-program"}});
    let bot = world.helped(servers, "{name: echo, server: never}").await;
    bot.logged("no-such-program cannot be started").await;
    bot.logged("the key is missing: set MARK").await;
    world.when("hello", ModelReply::text("Hello."));
    assert_eq!(text(&world.told(ANN, ANN, "hello").await), "Hello.");
    let card = world.told(ANN, ANN, "/mcp").await;
    assert!(text(&card).contains("⏳ never: starting"), "{}", text(&card));
    assert!(text(&card).contains("it said: the key is missing: set MARK"), "{}", text(&card));
    bot.ends_well().await;
    world.no_server_is_left().await;
}

#[tokio::test]
async fn no_program_outlives_the_bot_however_it_ends() {
    for is_killed in [false, true] {
        let world = World::new().await;
        let pids = world.folder.path().join("pids");
        let mut stubborn = server("stubborn");
        stubborn["args"].as_array_mut().unwrap().push(json!(pids));
        let bot = world.helped(json!({"stubborn": stubborn, "plain": server("plain")}), "").await;
        bot.logged("server=\"stubborn\"").await;
        bot.logged("server=\"plain\"").await;
        let pids = fs::read_to_string(&pids).unwrap();
        let pids: Vec<u32> = pids.split(' ').map(|pid| pid.parse().unwrap()).collect();
        assert!(pids.iter().all(|pid| proc::is_running(*pid)), "{pids:?}");
        if is_killed {
            bot.kill();
        } else {
            bot.ends_well().await;
        }
        for pid in pids {
            proc::gone(pid).await;
        }
    }
}
