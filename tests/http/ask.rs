//! `figaro ask`: what is printed where, as it comes, and what the exit code says.

use std::fs;
use std::time::Duration;

use figaro_offline::model::{ModelReply, ReplyPart};
use figaro_offline::tavily::{KEY, TavilyAnswer};
use serde_json::{Value, json};

use crate::support::terminal::{asking, events, said};
use crate::support::wait::eventually;
use crate::support::{TIMEOUT, World, proc};

const TUTOR: &str = "type: object
description: Never give the answer; ask the question that leads to it.
json_schema_extra: {kind: agent, name: tutor, version: 1, tools: [{name: add_note}]}
";

fn search(query: &str) -> ReplyPart {
    ReplyPart::Call { name: "web_search".to_owned(), arguments: json!({"query": query}) }
}

/// An answer that takes its time, word by word.
fn slow(words: &str) -> ModelReply {
    ModelReply::text(words).paced(6, Duration::from_millis(40))
}

impl World {
    fn tutor(&self) {
        let folder = self.folder.path().join("prompts/agents");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("tutor.yaml"), TUTOR).unwrap();
    }

    /// A model that searches before it answers.
    fn searches_and_answers(&self) {
        self.tavily.push(TavilyAnswer::pages(&[("Riga", "https://rain.example/riga", "It rains.")]));
        self.script
            .push(ModelReply::turn(vec![ReplyPart::Text("Let me see.".to_owned()), search("weather Riga")]));
        self.script.push(ModelReply::text("It rains, says https://rain.example/riga."));
    }
}

#[tokio::test]
async fn every_provider_is_heard_while_it_speaks() {
    let heard = ["openai", "compatible", "ollama", "gemini"].map(|provider| async move {
        let world = World::new().await;
        let whole = ["One word and another."; 12].join(" ");
        world.script.push(slow(&whole));
        let recipe = ["TELEGRAM_BOT_TOKEN", "TELEGRAM_API_URL"]
            .iter()
            .fold(world.bot_of(provider), |recipe, name| recipe.unset(name));
        let mut call = asking(recipe, &["Speak to me."]).call();
        let first = call.reads_until("One").await;
        assert!(first.len() < whole.len(), "{provider}: it came at once");
        let (rest, error, code) = call.ends().await;
        assert_eq!(
            (format!("{first}{rest}"), error, code),
            (format!("{whole}\n"), String::new(), Some(0)),
            "{provider}"
        );
        let requests = world.model.requests();
        assert!(requests[0].user_text().contains("Speak to me."), "{provider}");
        assert!(!world.folder.path().join("data").exists(), "{provider}: nothing is kept");
    });
    futures::future::join_all(heard).await;
}

#[tokio::test]
async fn what_an_agent_does_is_told_beside_its_words() {
    let world = World::new().await;
    world.searches_and_answers();
    let recipe = world.terminal(&["does it rain?"]);
    let recipe = recipe.set("TAVILY_API_KEY", KEY).set("TAVILY_BASE_URL", world.tavily.url());
    let (out, error, code) = said(&recipe.run().await);
    assert_eq!(out, "Let me see.\n\nIt rains, says https://rain.example/riga.\n");
    assert_eq!((error.as_str(), code), ("… searching the web: weather Riga\n", Some(0)));
    let requests = world.model.requests();
    let names = requests[0].tool_names();
    for there in ["web_search", "add_note", "find_tools"] {
        assert!(names.contains(&there), "{there} of {names:?}");
    }
    for of_chats in
        ["schedule_task", "list_tasks", "cancel_task", "set_config", "sendPoll", "setMessageReaction"]
    {
        assert!(!names.contains(&of_chats), "{of_chats}");
    }
}

#[tokio::test]
async fn events_are_lines_of_json_with_the_words_once() {
    let world = World::new().await;
    world.searches_and_answers();
    let recipe = world.terminal(&["does it rain?", "--json"]);
    let recipe = recipe.set("TAVILY_API_KEY", KEY).set("TAVILY_BASE_URL", world.tavily.url());
    let (out, error, code) = said(&recipe.run().await);
    assert_eq!((error.as_str(), code), ("", Some(0)));
    let events = events(&out);
    let mut kinds: Vec<&str> = events.iter().map(|event| event["event"].as_str().unwrap()).collect();
    kinds.dedup();
    assert_eq!(kinds, ["delta", "pass_end", "tool_start", "tool_end", "delta", "done"]);
    let words = |events: &[Value]| -> String {
        events
            .iter()
            .filter_map(|event| event["text"].as_str().filter(|_| event["event"] == "delta"))
            .collect()
    };
    let border = events.iter().position(|event| event["event"] == "pass_end").unwrap();
    assert_eq!(words(&events[..border]), "Let me see.");
    let done = events.last().unwrap();
    assert_eq!(words(&events[border..]), done["text"].as_str().unwrap());
    let start = events.iter().find(|event| event["event"] == "tool_start").unwrap();
    let wanted = json!({"event": "tool_start", "name": "web_search", "status": "searching the web: weather Riga", "hint": "weather Riga"});
    assert_eq!(*start, wanted);
    let end = events.iter().find(|event| event["event"] == "tool_end").unwrap();
    assert_eq!((&end["name"], &end["status"]), (&json!("web_search"), &json!("complete")));
    assert_eq!((&done["agent"], &done["model"]), (&Value::Null, &json!("openai:offline")));
    let call = &done["tool_calls"][0];
    assert_eq!(
        (&call["name"], &call["arguments"]),
        (&json!("web_search"), &json!({"query": "weather Riga"}))
    );
    let (input, output) = (&done["usage"]["input_tokens"], &done["usage"]["output_tokens"]);
    assert_eq!(done["spent"]["tokens"].as_u64(), Some(input.as_u64().unwrap() + output.as_u64().unwrap()));
    assert!(input.as_u64() > Some(0), "{done}");
}

#[tokio::test]
async fn an_agent_answers_and_one_that_is_not_there_is_named_with_the_others() {
    let world = World::new().await;
    world.tutor();
    world.script.push(ModelReply::text("What do you think?"));
    let (out, error, code) = said(&world.terminal(&["2 + 2?", "--agent", "tutor", "--json"]).run().await);
    assert_eq!((error.as_str(), code), ("", Some(0)));
    assert_eq!(events(&out).last().unwrap()["agent"], "tutor");
    let requests = world.model.requests();
    assert!(requests[0].instructions().contains("ask the question that leads to it"));
    assert_eq!(requests[0].tool_names(), ["add_note"]);
    let (out, error, code) = said(&world.terminal(&["2 + 2?", "--agent", "tutr"]).run().await);
    assert_eq!((out.as_str(), code), ("", Some(2)));
    assert!(
        error.starts_with("figaro: there is no agent `tutr`: did you mean tutor?\nthere are: "),
        "{error}"
    );
    assert!(error.lines().nth(1).unwrap().contains("tutor"), "{error}");
    assert_eq!(world.model.requests().len(), 1, "no model is asked");
}

#[tokio::test]
async fn what_has_to_be_put_right_first_is_told_and_nothing_is_asked() {
    let world = World::new().await;
    let cases: [(&[&str], &str, &str); 4] = [
        (&["hello"], "OPENAI_API_KEY", "OPENAI_API_KEY is missing"),
        (
            &["hello", "--model", "gemini:x"],
            "",
            "there is no provider set up that is called `gemini`\nthere are: openai",
        ),
        (&["hello", "--model", "gpt"], "", "is not of the form provider:model"),
        (&["hello", "--session", " "], "", "takes a name of 1 to 100 characters"),
    ];
    for (args, without, words) in cases {
        let mut recipe = world.terminal(args).unset(without);
        if !without.is_empty() {
            recipe = recipe.unset("OPENAI_BASE_URL");
        }
        let (out, error, code) = said(&recipe.run().await);
        assert_eq!((out.as_str(), code), ("", Some(2)), "{args:?}: {error}");
        assert!(error.contains(words) && !error.contains("TELEGRAM_BOT_TOKEN"), "{args:?}: {error}");
    }
    assert!(world.model.requests().is_empty());
}

#[tokio::test]
async fn a_question_comes_from_standard_input() {
    let world = World::new().await;
    for args in [&["-"][..], &[]] {
        world.script.push(ModelReply::text("Read."));
        let (out, error, code) = said(&world.terminal(args).fed("What is in\nthese lines?\n").await);
        assert_eq!((out.as_str(), error.as_str(), code), ("Read.\n", "", Some(0)), "{args:?}");
        assert!(world.model.requests().pop().unwrap().user_text().contains("What is in\nthese lines?"));
    }
    let (out, error, code) = said(&world.terminal(&[]).fed(" \n").await);
    assert_eq!((out.as_str(), error.as_str(), code), ("", "figaro: the question is empty\n", Some(2)));
}

#[tokio::test]
async fn a_turn_that_fails_says_in_one_line_what_to_do() {
    let world = World::new().await;
    world.script.push(ModelReply::status(401, "Incorrect API key provided: sk-offline-key."));
    let (out, error, code) = said(&world.terminal(&["hello"]).run().await);
    assert_eq!((out.as_str(), code, error.lines().count()), ("", Some(1), 1), "{error}");
    assert!(error.starts_with("figaro: openai:offline: the provider refused the key ("), "{error}");
    assert!(
        error.ends_with("; check the key of this provider\n") && !error.contains("sk-offline-key"),
        "{error}"
    );
    let budget = world.terminal(&["hello", "--json"]).set("DAILY_TOKENS", "10");
    let (out, error, code) = said(&budget.run().await);
    let events = events(&out);
    let last = events.last().unwrap();
    assert_eq!((events.len(), &last["event"], &last["label"]), (1, &json!("error"), &json!("over_budget")));
    let message = last["message"].as_str().unwrap();
    assert!(message.starts_with("the budget of the bot is used up until 00:00 (UTC)"), "{message}");
    assert_eq!((error, code), (format!("figaro: {message}\n"), Some(1)));
    assert_eq!(world.model.requests().len(), 1, "beyond the budget no model is asked");
}

#[tokio::test]
async fn a_model_that_is_not_there_is_named_with_its_address_and_the_variable() {
    let world = World::new().await;
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/v1", listener.local_addr().unwrap());
    drop(listener);
    let recipe = world.bot_of("compatible").set("COMPATIBLE_BASE_URL", &address);
    let (said, error, code) = asking(recipe, &["Are you there?"]).call().ends().await;
    assert_eq!((said.as_str(), code), ("", Some(1)), "{error}");
    assert!(error.contains(&address) && error.contains("COMPATIBLE_BASE_URL"), "{error}");
}

#[tokio::test]
async fn a_stop_ends_a_call_at_once_and_leaves_nothing() {
    let world = World::new().await;
    let scratch = world.folder.path().join("scratch");
    fs::create_dir(&scratch).unwrap();
    for (signal, args) in [("INT", &["Go on."][..]), ("TERM", &["Go on.", "--json"])] {
        world.script.push(ModelReply::text(&"and on ".repeat(50)).hang_after(4));
        let mut call = world.terminal(args).set("TMPDIR", scratch.to_str().unwrap()).call();
        call.reads_until("and on").await;
        assert_eq!(fs::read_dir(&scratch).unwrap().count(), 0, "{signal}: it keeps nothing in a folder");
        proc::signal(call.pid(), signal);
        let (rest, error, code) = call.ends().await;
        let words = "figaro: stopped before the answer was complete\n";
        assert_eq!((error.as_str(), code), (words, Some(1)), "{signal}");
        if args.len() > 1 {
            assert_eq!(events(&rest).last().unwrap()["label"], "stopped");
        }
        assert_eq!(fs::read_dir(&scratch).unwrap().count(), 0, "{signal}: nothing is left");
        proc::none_has(world.model.url()).await;
    }
}

#[tokio::test]
async fn a_stop_while_a_question_is_typed_ends_it_too() {
    let world = World::new().await;
    let mut command = tokio::process::Command::from(world.terminal(&["-"]).command());
    let piped = std::process::Stdio::piped;
    let mut child = command.stdin(piped()).stderr(piped()).kill_on_drop(true).spawn().unwrap();
    let pid = child.id().unwrap();
    // To wait for it would close this.
    let typing = child.stdin.take();
    // From then on it listens for signals.
    let listens = async || proc::status_word(pid, "SigCgt").filter(|mask| *mask & (1 << 14) != 0);
    eventually(|| "it does not listen for signals", listens).await;
    proc::signal(pid, "TERM");
    let status = tokio::time::timeout(TIMEOUT, child.wait()).await.expect("it ends").unwrap();
    assert_eq!(status.code(), Some(1));
    drop(typing);
}

#[tokio::test]
async fn a_reader_that_leaves_ends_the_call_without_a_word() {
    let world = World::new().await;
    let lines: String = (0..200).map(|number| format!("line {number}\n")).collect();
    world.script.push(slow(&lines));
    let mut call = world.terminal(&["Count."]).call();
    call.reads_until("line 0\n").await;
    let crate::support::terminal::Call { child, stdout } = call;
    drop(stdout);
    let output = tokio::time::timeout(TIMEOUT, child.wait_with_output()).await.expect("it ends").unwrap();
    let (_, error, code) = said(&output);
    assert_eq!((error.as_str(), code), ("", Some(0)));
}

#[tokio::test]
async fn an_answer_that_is_json_is_printed_as_it_is() {
    let world = World::new().await;
    world.script.push(ModelReply::text("{\"a\":1}"));
    let (out, _, code) = said(&world.terminal(&["How many?"]).run().await);
    assert_eq!((out.as_str(), code), ("{\"a\":1}\n", Some(0)));
}

#[tokio::test]
async fn help_has_examples() {
    let world = World::new().await;
    let (out, _, code) = said(&world.terminal(&["--help"]).run().await);
    assert!(out.contains("Examples:\n  figaro ask \"") && code == Some(0), "{out}");
}
