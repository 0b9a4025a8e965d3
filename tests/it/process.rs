//! The two processes: the server of Telegram tools lives beside the bot, comes back when it dies and never outlives it;
//! a stop lets running turns end.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use figaro_offline::model::ModelReply;
use figaro_offline::telegram::PlannedFailure;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{ANN, Bot, TIMEOUT, World, proc};

/// The one child of a bot.
pub fn child(bot: &Bot) -> u32 {
    let children = bot.children();
    assert_eq!(children.len(), 1, "{children:?}");
    children[0]
}

/// A folder with `figaro` in it under the name of another program, and nothing beside it.
fn alone() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let figaro = folder.path().join("another-bot");
    let built = env!("CARGO_BIN_EXE_figaro");
    if fs::hard_link(built, &figaro).is_err() {
        fs::copy(built, &figaro).unwrap();
    }
    (folder, figaro)
}

fn write_program(path: &Path, content: &[u8]) {
    fs::write(path, content).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

fn poll() -> ModelReply {
    let options = json!([{"text": "Tea"}, {"text": "Coffee"}]);
    ModelReply::call("sendPoll", json!({"question": "What?", "options": options}))
}

/// Asks for a poll, which takes the whole way through the server of tools.
pub async fn tools_work(world: &World) {
    world.script.push(poll());
    world.script.push(ModelReply::text("There it is."));
    let before = world.telegram.view(|view| view.bot_messages(ANN).len());
    world.telegram.say(ANN, ANN, "Tea or coffee?").unwrap();
    let messages = world.answers(ANN, before + 2).await;
    assert_eq!(messages[before]["poll"]["question"], "What?");
    assert_eq!(messages[before + 1]["text"], "There it is.");
}

#[tokio::test]
async fn the_server_of_tools_is_a_process_of_its_own_that_knows_only_what_it_needs() {
    let world = World::new().await;
    let bot = world.bot().set("MCP_API_KEY", "for-other-clients").set("ANOTHER_PROGRAMS_KEY", "hush");
    // The proxies of the environment reach it as settings of its own.
    let bot =
        bot.set("PATH", "/bin:/usr/bin").set("SSL_CERT_DIR", "/etc/ssl/certs").set("NO_PROXY", "*").spawn();
    bot.ready().await;
    let child = child(&bot);
    let line = proc::command_line(child);
    assert!(line[0].ends_with("/figaro") && line[1..] == ["mcp-server", "--supervised"], "{line:?}");
    let environment = proc::environment(child);
    let value = |name: &str| environment.iter().find_map(|pair| pair.strip_prefix(&format!("{name}=")));
    assert_eq!(value("TELEGRAM_BOT_TOKEN"), Some(world.telegram.token()));
    let mut names: Vec<&str> = environment.iter().filter_map(|pair| pair.split('=').next()).collect();
    names.sort_unstable();
    let needed = [
        "FIGARO_MCP_KEY",
        "LOG_FORMAT",
        "MALLOC_ARENA_MAX",
        "MALLOC_MMAP_THRESHOLD_",
        "MCP_API_KEY",
        "MCP_HTTP_PORT",
        "NO_PROXY",
        "RUST_LOG",
        "SSL_CERT_DIR",
        "TELEGRAM_API_URL",
        "TELEGRAM_BOT_TOKEN",
        "TELEGRAM_PROXY",
    ];
    assert_eq!(names, needed);
    let key = value("FIGARO_MCP_KEY").unwrap().to_owned();
    assert!(key.len() >= 32, "a key of this start");
    for pid in [bot.pid(), child] {
        let line = proc::command_line(pid).join(" ");
        for secret in [world.telegram.token(), "sk-offline-key", "for-other-clients", &key] {
            assert!(!line.contains(secret), "{line}");
        }
    }
    tools_work(&world).await;
    let log = bot.log();
    for secret in [world.telegram.token(), "sk-offline-key", "for-other-clients", &key] {
        assert!(!log.contains(secret), "{log}");
    }
    bot.ends_well().await;
    assert!(!proc::is_running(child));
    let bot = world.start().await;
    assert!(
        !proc::environment(self::child(&bot)).contains(&format!("FIGARO_MCP_KEY={key}")),
        "a new one each time"
    );
}

#[tokio::test]
async fn without_a_server_beside_it_figaro_is_its_own() {
    let world = World::new().await;
    let (_folder, figaro) = alone();
    let bot = world.bot().program(&figaro).spawn();
    bot.ready().await;
    let child = child(&bot);
    let line = proc::command_line(child);
    assert!(line[0].ends_with("/another-bot") && line[1..] == ["mcp-server", "--supervised"], "{line:?}");
    tools_work(&world).await;
    bot.ends_well().await;
    assert!(!proc::is_running(child));
}

#[tokio::test]
async fn a_server_of_another_build_is_passed_over() {
    let world = World::new().await;
    let (folder, figaro) = alone();
    let mut program = fs::read(env!("CARGO_BIN_EXE_figaro-mcp")).unwrap();
    let build = figaro_mcp::BUILD_ID.as_bytes();
    let places: Vec<usize> =
        program.windows(build.len()).enumerate().filter(|(_, w)| *w == build).map(|(at, _)| at).collect();
    assert!(!places.is_empty());
    for at in places {
        program[at..at + build.len()].reverse();
    }
    write_program(&folder.path().join("figaro-mcp"), &program);
    let bot = world.bot().program(&figaro).spawn();
    bot.ready().await;
    assert!(bot.log().contains("is of another build"), "{}", bot.log());
    assert_eq!(proc::command_line(child(&bot))[1..], ["mcp-server", "--supervised"]);
    tools_work(&world).await;
}

#[tokio::test]
async fn what_stands_beside_it_and_is_no_server_is_passed_over() {
    let world = World::new().await;
    let (folder, figaro) = alone();
    for script in
        [&b"#!/bin/sh\nexit 0\n"[..], b"#!/bin/sh\necho READY http://127.0.0.1:9/mcp\nexec sleep 60\n"]
    {
        write_program(&folder.path().join("figaro-mcp"), script);
        let bot = world.bot().program(&figaro).spawn();
        bot.ready().await;
        assert!(bot.log().contains("could not be started"), "{}", bot.log());
        assert_eq!(proc::command_line(child(&bot))[1..], ["mcp-server", "--supervised"]);
        tools_work(&world).await;
        bot.ends_well().await;
    }
}

#[tokio::test]
async fn a_server_that_refuses_to_start_says_why() {
    let world = World::new().await;
    let (folder, figaro) = alone();
    let script = b"#!/bin/sh\necho 'figaro-mcp: I am from last year' >&2\nexit 1\n";
    write_program(&folder.path().join("figaro-mcp"), script);
    let output = world.bot().program(&figaro).run().await;
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{errors}");
    assert!(errors.starts_with("figaro: ") && errors.contains("I am from last year"), "{errors}");
    assert_eq!(errors.lines().count(), 1, "{errors}");
    assert_eq!(proc::with_words(world.telegram.url()), Vec::<u32>::new());
}

/// A server that says something before it begins.
pub fn talkative(folder: &TempDir, words: &str) -> String {
    let path = folder.path().join("talkative");
    let server = env!("CARGO_BIN_EXE_figaro-mcp");
    write_program(&path, format!("#!/bin/sh\n{words}\nexec {server} \"$@\"\n").as_bytes());
    path.to_str().unwrap().to_owned()
}

const SECRETS: &str = "key $FIGARO_MCP_KEY and $MCP_API_KEY and $TELEGRAM_BOT_TOKEN and sk-offline-key.";
const CLEAN: &str = "key [secret] and [secret] and [secret] and [secret].";

#[tokio::test]
async fn what_the_server_says_is_logged_without_secrets_and_not_at_any_length() {
    let world = World::new().await;
    let folder = tempfile::tempdir().unwrap();
    let words = format!("echo \"{SECRETS}\" >&2\nhead -c 300000 /dev/zero | tr '\\0' x >&2\necho >&2");
    let server = talkative(&folder, &words);
    for format in ["text", "json"] {
        let bot = world.bot().set("MCP_API_KEY", "for-other-clients").set("LOG_FORMAT", format);
        let bot = bot.set("MCP_SERVER_BIN", &server).set("PATH", "/bin:/usr/bin").spawn();
        bot.logged(CLEAN).await;
        bot.logged("xxx… (cut)").await;
        bot.logged(if format == "json" { "\"ready\"" } else { " ready " }).await;
        let log = bot.log();
        assert!(log.lines().all(|line| line.len() < 10_000), "a long line");
        if format == "json" {
            let lines = log.lines().skip_while(|line| !line.starts_with('{'));
            lines.for_each(|line| drop(serde_json::from_str::<Value>(line).unwrap()));
        }
        bot.ends_well().await;
    }
}

#[tokio::test]
async fn what_a_server_says_that_does_not_start_holds_no_secret() {
    let world = World::new().await;
    let folder = tempfile::tempdir().unwrap();
    let server = talkative(&folder, &format!("echo \"{SECRETS}\" >&2\nexit 1"));
    let bot = world.bot().set("MCP_API_KEY", "for-other-clients").set("MCP_SERVER_BIN", &server);
    let output = bot.run().await;
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(2) && errors.contains(CLEAN), "{errors}");
}

/// As a terminal does at Ctrl-C, and an init system that stops a whole group.
#[tokio::test]
async fn a_signal_to_both_lets_the_bot_finish_with_its_server() {
    let world = World::new().await;
    world.script.push(ModelReply::text("one two").paced(0, Duration::from_millis(600)));
    let mut bot = world.start().await;
    let server = child(&bot);
    world.telegram.say(ANN, ANN, "count").unwrap();
    world.asks(1).await;
    proc::signal(server, "INT");
    proc::signal(server, "TERM");
    bot.signal("INT");
    assert_eq!(world.answers(ANN, 1).await[0]["text"], "one two");
    assert!(bot.ended().await.success());
    assert!(!bot.log().contains("MCP server ended"), "{}", bot.log());
    assert!(!proc::is_running(server));
}

#[tokio::test]
async fn the_server_does_not_outlive_a_bot_that_was_killed() {
    let world = World::new().await;
    world.telegram.fail("sendPoll", PlannedFailure::Hang, 1);
    world.script.push(poll());
    let bot = world.start().await;
    let child = child(&bot);
    world.telegram.say(ANN, ANN, "Tea or coffee?").unwrap();
    let called = |view: &figaro_offline::telegram::TelegramView<'_>| {
        (!view.calls_of("sendPoll").is_empty()).then_some(())
    };
    world.telegram.wait_until(TIMEOUT, called).await.expect("the call is under way");
    bot.kill();
    proc::gone(child).await;
    assert_eq!(proc::with_words(world.telegram.url()), Vec::<u32>::new());
}

/// A slow answer of which something shows already.
async fn answering(world: &World, said: &str) {
    world.telegram.say(ANN, ANN, said).unwrap();
    let begun = |view: &figaro_offline::telegram::TelegramView<'_>| {
        let drafts = view.calls_of("sendMessageDraft");
        drafts
            .iter()
            .any(|call| call.args["text"].as_str().is_some_and(|text| text.starts_with("one")))
            .then_some(())
    };
    world.telegram.wait_until(TIMEOUT, begun).await.expect("a draft");
}

#[tokio::test]
async fn a_stop_lets_a_running_turn_end_and_keeps_what_waits() {
    let signals = ["TERM", "INT"].map(|signal| async move {
        let world = World::new().await;
        world.script.push(ModelReply::text("one two three four").paced(0, Duration::from_millis(400)));
        let mut bot = world.start().await;
        let child = child(&bot);
        answering(&world, "count").await;
        let waiting = world.telegram.say(ANN, ANN, "and then?").unwrap().update_id.unwrap();
        let taken =
            |view: &figaro_offline::telegram::TelegramView<'_>| (view.updates_pending() == 0).then_some(());
        world
            .telegram
            .wait_until(TIMEOUT, taken)
            .await
            .unwrap_or_else(|| panic!("{waiting} stays at Telegram"));
        bot.signal(signal);
        assert!(bot.ended().await.success(), "{}", bot.log());
        assert_eq!(world.bot_texts(ANN), ["one two three four"], "SIG{signal}: {}", bot.log());
        assert!(!proc::is_running(child));
        assert_eq!(proc::with_words(world.telegram.url()), Vec::<u32>::new());
        world.script.push(ModelReply::text("five"));
        let bot = world.start().await;
        assert_eq!(world.answers(ANN, 2).await[1]["text"], "five");
        bot.ends_well().await;
        assert_eq!(world.bot_texts(ANN).len(), 2);
        assert_eq!(world.model.requests().len(), 2, "nothing is asked twice");
    });
    futures::future::join_all(signals).await;
}

#[tokio::test]
async fn a_stop_does_not_wait_for_ever_and_the_next_start_goes_on() {
    let world = World::new().await;
    world.script.push(ModelReply::silence());
    let mut bot = world.start().await;
    let child = child(&bot);
    world.telegram.say(ANN, ANN, "Are you there?").unwrap();
    world
        .model
        .wait_until(TIMEOUT, |requests| requests.first().map(|_| ()))
        .await
        .expect("the model is asked");
    let began = Instant::now();
    bot.signal("TERM");
    assert!(bot.ended().await.success(), "{}", bot.log());
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    assert!(!proc::is_running(child));
    assert_eq!(world.bot_texts(ANN).len(), 0);
    world.script.push(ModelReply::text("Here I am."));
    let bot = world.start().await;
    assert_eq!(world.answers(ANN, 1).await[0]["text"], "Here I am.");
    bot.ends_well().await;
    assert_eq!((world.bot_texts(ANN).len(), world.model.requests().len()), (1, 2));
}

#[tokio::test]
async fn a_stop_during_a_slow_delivery_neither_loses_nor_repeats_the_answer() {
    let world = World::new().await;
    world.telegram.fail("sendMessage", PlannedFailure::RetryAfter(60), 1);
    world.script.push(ModelReply::text("In a minute."));
    let mut bot = world.start().await;
    world.telegram.say(ANN, ANN, "When?").unwrap();
    let refused = |view: &figaro_offline::telegram::TelegramView<'_>| {
        (!view.calls_of("sendMessage").is_empty()).then_some(())
    };
    world.telegram.wait_until(TIMEOUT, refused).await.expect("a call");
    let began = Instant::now();
    bot.signal("TERM");
    assert!(bot.ended().await.success());
    assert!(began.elapsed() < Duration::from_secs(5), "it need not wait for that: {:?}", began.elapsed());
    let bot = world.start().await;
    assert_eq!(world.answers(ANN, 1).await[0]["text"], "In a minute.");
    bot.ends_well().await;
    assert_eq!((world.bot_texts(ANN).len(), world.model.requests().len()), (1, 1));
}

#[tokio::test]
async fn for_collectors_every_line_is_json() {
    let world = World::new().await;
    world.telegram.fail("sendPoll", PlannedFailure::DropConnection, 1);
    world.script.push(poll());
    world.script.push(ModelReply::text("It did not work."));
    let bot = world.bot().set("LOG_FORMAT", "json").spawn();
    bot.logged("\"ready\"").await;
    world.ask("Tea or coffee?").await;
    bot.logged("Telegram gave no answer").await;
    for line in bot.log().lines() {
        let event: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        assert!(event["level"].is_string() && event["timestamp"].is_string(), "{line}");
    }
    bot.ends_well().await;
}

#[tokio::test]
async fn not_even_the_fullest_log_holds_a_secret() {
    let world = World::new().await;
    let bot = world.bot().set("RUST_LOG", "trace").set("MCP_API_KEY", "for-other-clients").spawn();
    bot.ready().await;
    let key = proc::environment(child(&bot))
        .into_iter()
        .find_map(|pair| pair.strip_prefix("FIGARO_MCP_KEY=").map(ToOwned::to_owned));
    tools_work(&world).await;
    world.telegram.fail("sendPoll", PlannedFailure::DropConnection, 1);
    world.script.push(poll());
    world.script.push(ModelReply::status(401, "Incorrect API key provided: sk-offline-key"));
    world.ask("Again?").await;
    bot.logged("Telegram gave no answer").await;
    assert!(bot.log().contains("TRACE"), "it is the fullest");
    let log = bot.log();
    bot.ends_well().await;
    for secret in [world.telegram.token(), "sk-offline-key", "for-other-clients", &key.unwrap()] {
        let line = log.lines().find(|line| line.contains(secret));
        assert_eq!(line, None);
    }
}

#[tokio::test]
async fn a_call_under_way_when_the_server_dies_has_an_unknown_outcome() {
    let world = World::new().await;
    world.telegram.fail("sendPoll", PlannedFailure::Hang, 1);
    world.script.push(poll());
    world.script.push(ModelReply::text("I cannot tell."));
    let bot = world.start().await;
    world.telegram.say(ANN, ANN, "Tea or coffee?").unwrap();
    let called = |view: &figaro_offline::telegram::TelegramView<'_>| {
        (!view.calls_of("sendPoll").is_empty()).then_some(())
    };
    world.telegram.wait_until(TIMEOUT, called).await.expect("the call is under way");
    proc::signal(child(&bot), "KILL");
    assert_eq!(world.answers(ANN, 1).await[0]["text"], "I cannot tell.");
    let requests = world.model.requests();
    let results = requests[1].tool_results();
    assert!(results[0].1.contains("may have been sent: do not repeat it"), "{results:?}");
    assert_eq!(world.telegram.view(|view| view.calls_of("sendPoll").len()), 1);
    tools_work(&world).await;
}
