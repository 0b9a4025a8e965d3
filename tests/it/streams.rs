//! What a model's service sends and should not: the real binaries read it as well as it can be read.

use futures::future::join_all;
use serde_json::{Value, json};

use crate::support::bot::Recipe;
use crate::support::replay::{Replay, Sent};
use crate::support::terminal::{asking, events, said};
use crate::support::{Bot, World};

/// A chunk of a chat completion.
pub fn chunk(delta: Value, reason: Option<&str>) -> String {
    format!("data: {}\n\n", json!({"choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}))
}

pub fn words(text: &str) -> String {
    chunk(json!({"content": text}), None)
}

/// The whole answer of a chat completion.
pub fn answer(text: &str) -> String {
    words(text) + &chunk(json!({}), Some("stop")) + "data: [DONE]\n\n"
}

/// A call of a chat completion.
fn chat_call(name: &str, arguments: &str, more: Value) -> String {
    let mut call = json!({"index": 0, "id": "fc-1", "type": "function", "function": {"name": name, "arguments": arguments}});
    call.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    chunk(json!({"tool_calls": [call]}), None)
}

/// An event of the Responses API.
pub fn event(kind: &str, mut fields: Value) -> String {
    fields["type"] = json!(kind);
    format!("event: {kind}\ndata: {fields}\n\n")
}

/// A line of Ollama.
pub fn line(text: &str, is_done: bool) -> String {
    format!("{}\n", json!({"message": {"role": "assistant", "content": text}, "done": is_done}))
}

impl World {
    /// A bot whose model is at this service.
    fn at(&self, provider: &str, replay: &Replay) -> Recipe {
        let prefix = provider.to_ascii_uppercase();
        let base = if provider == "ollama" { replay.url.clone() } else { format!("{}/v1", replay.url) };
        self.bot_of(provider).set(&format!("{prefix}_BASE_URL"), &base)
    }

    pub async fn bot_at(&self, provider: &str, replay: &Replay) -> Bot {
        let bot = self.at(provider, replay).spawn();
        bot.ready().await;
        bot
    }
}

/// What `figaro ask --json` told last, what it wrote to standard error, and the requests.
struct Heard {
    shown: String,
    last: Value,
    error: String,
    code: Option<i32>,
    requests: Vec<Value>,
}

async fn ask(provider: &str, answers: Vec<Sent>) -> Heard {
    let world = World::new().await;
    let replay = Replay::start(answers).await;
    let recipe = ["TELEGRAM_BOT_TOKEN", "TELEGRAM_API_URL", "OWNER_IDS"]
        .iter()
        .fold(world.at(provider, &replay), |recipe, name| recipe.unset(name));
    let (out, error, code) = said(&asking(recipe, &["How many loaves?", "--json"]).run().await);
    let last = events(&out).pop().unwrap_or_default();
    Heard { shown: out, last, error, code, requests: replay.requests() }
}

const LOAVES: &str = "Two loaves.";

/// The end of an answer of the Responses API.
fn responses_end() -> String {
    event("response.completed", json!({"response": {"status": "completed", "output": []}}))
}

fn responses_words(text: &str) -> String {
    event("response.output_text.delta", json!({"delta": text}))
}

/// A piece of an answer of Gemini.
pub fn gemini(text: &str, end: Value) -> Value {
    json!({"candidates": [{"content": {"role": "model", "parts": [{"text": text}]}, "finishReason": end}]})
}

/// In each case the answer is [`LOAVES`] and nothing else.
async fn all_say_two_loaves(cases: Vec<(&str, &str, Sent)>) {
    let heard = cases
        .into_iter()
        .map(|(name, provider, sent)| async move { (name, ask(provider, vec![sent]).await) });
    for (name, heard) in join_all(heard).await {
        assert_eq!(heard.last["text"], LOAVES, "{name}: {} {}", heard.shown, heard.error);
        assert_eq!(heard.requests.len(), 1, "{name}");
    }
}

#[tokio::test]
async fn odd_streams_are_read_as_what_they_say() {
    let marked = |text: &str| Sent::events(&format!("\u{feff}{text}"));
    let in_lines = format!("\u{feff}{}{}", line(LOAVES, false), line("", true));
    let in_a_piece = format!("data: {}\n\n", gemini(LOAVES, json!("STOP")));
    let in_a_list = json!([gemini("Two ", Value::Null), gemini("loaves.", json!("STOP"))]);
    let whole = json!({"choices": [{"message": {"content": LOAVES}, "finish_reason": "stop"}]});
    let commented = format!(": PROCESSING\n\n{}", answer(LOAVES).replace("data: ", "data:"));
    all_say_two_loaves(vec![
        ("a mark before a chat", "compatible", marked(&answer(LOAVES))),
        ("a mark in pieces", "compatible", marked(&answer(LOAVES)).in_pieces(1)),
        ("a mark before Responses", "openai", marked(&(responses_words(LOAVES) + &responses_end()))),
        ("a mark before lines", "ollama", Sent::lines(&in_lines)),
        ("a mark before Gemini", "gemini", marked(&in_a_piece)),
        ("line ends of two bytes", "compatible", Sent::events(&answer(LOAVES).replace('\n', "\r\n"))),
        ("comments and no space", "compatible", Sent::events(&commented)),
        ("a document", "compatible", Sent::document(200, &whole)),
        ("a list", "gemini", Sent::document(200, &in_a_list)),
        ("no word of its end", "compatible", Sent::events(&(words("Two ") + &words("loaves.")))),
    ])
    .await;
}

#[tokio::test]
async fn reasoning_in_the_text_is_no_part_of_the_answer() {
    let harmony = "<|channel|>analysis<|message|>They ask.<|end|><|start|>assistant<|channel|>final<|message|>Two loaves.<|return|>";
    let close = words("They ask, two remain.\n</thi") + &answer("nk>\n\nTwo loaves.");
    let no_end = words("<think>They ask.") + &answer("<final>Two loaves.</final>");
    let in_lines =
        line("<think>\nThey ask", false) + &line(".\n</think>\n\nTwo ", false) + &line("loaves.", true);
    let responses = responses_words("<think>They ask.</think>Two loaves.") + &responses_end();
    all_say_two_loaves(vec![
        ("a close tag alone", "compatible", Sent::events(&close)),
        ("a block without an end", "compatible", Sent::events(&no_end)),
        ("another tag", "compatible", Sent::events(&answer("<thinking>They ask.</thinking>\n\nTwo loaves."))),
        ("a block in lines", "ollama", Sent::lines(&in_lines)),
        ("a block in Responses", "openai", Sent::events(&responses)),
        ("channels", "compatible", Sent::events(&answer(harmony))),
    ])
    .await;
}

#[tokio::test]
async fn an_answer_without_a_word_of_its_end_counts_what_it_took() {
    let count =
        json!({"choices": [], "usage": {"prompt_tokens": 23, "completion_tokens": 5, "total_tokens": 28}});
    let sent = words("Two loaves ") + &words("are left.") + &format!("data: {count}\n\n");
    let heard = ask("compatible", vec![Sent::events(&sent)]).await;
    assert_eq!(heard.last["text"], "Two loaves are left.");
    let usage = &heard.last["usage"];
    assert_eq!((&usage["input_tokens"], &usage["output_tokens"]), (&json!(23), &json!(5)), "{}", heard.last);
    assert_eq!(heard.error, "");
    // One whose connection breaks has broken off.
    let broken = ask("compatible", vec![Sent::events(&sent).broken()]).await;
    assert_ne!(broken.last["event"], "done", "{} {}", broken.shown, broken.error);
}

/// In a chat the words of a failure are the bot's; those of the service are in its log.
#[tokio::test]
async fn a_failure_in_place_of_an_answer_is_told_and_logged() {
    let loud = json!({"error": {"message": "all slots are busy", "code": 503}});
    let shapes: Vec<(&str, Sent)> = vec![
        (
            "compatible",
            Sent::events("event: error\ndata: {\"message\":\"all slots are busy\",\"code\":503}\n\n"),
        ),
        ("compatible", Sent::document(200, &loud)),
        ("gemini", Sent::document(200, &json!([loud]))),
        ("ollama", Sent::lines("{\"error\": \"all slots are busy\"}\n")),
        (
            "openai",
            Sent::events(&event("error", json!({"code": "server_error", "message": "all slots are busy"}))),
        ),
    ];
    let failing = shapes.into_iter().map(|(provider, sent)| async move {
        let world = World::new().await;
        let replay = Replay::start(vec![sent]).await;
        let bot = world.bot_at(provider, &replay).await;
        let told = world.ask("how many loaves?").await["text"].to_string();
        assert!(told.contains("cannot be reached right now"), "{provider}: {told}");
        assert!(!told.contains("slots"), "{provider}: {told}");
        assert_eq!(replay.requests().len(), 3, "{provider}");
        assert!(bot.log().contains("all slots are busy"), "{provider}: {}", bot.log());
        bot.ends_well().await;
    });
    join_all(failing).await;
}

#[tokio::test]
async fn an_answer_that_is_nothing_but_reasoning_is_told_to_be_that() {
    let cut = chunk(json!({}), Some("length"));
    let cases = [
        ("<think>They ask.", answer("<think>They ask."), "only thought and gave no answer"),
        (
            "a field of its own",
            chunk(json!({"reasoning_content": "They ask."}), Some("stop")),
            "only thought and gave no answer",
        ),
        ("up to its bound", words("<think>They ask.") + &cut, "reached its length limit"),
        ("nothing up to its bound", cut.clone(), "reached its length limit"),
        ("nothing at all", chunk(json!({}), Some("stop")), "had nothing to say"),
    ];
    let told = cases.into_iter().map(|(name, sent, wanted)| async move {
        let world = World::new().await;
        let replay = Replay::start(vec![Sent::events(&sent)]).await;
        let bot = world.bot_at("compatible", &replay).await;
        let told = world.ask("how many loaves?").await["text"].to_string();
        assert!(told.contains(wanted) && !told.contains("They ask"), "{name}: {told}");
        bot.ends_well().await;
    });
    join_all(told).await;
}

#[tokio::test]
async fn a_call_goes_back_with_all_that_it_came_with() {
    let more = json!({"extra_content": {"google": {"thought_signature": "QUE="}}, "trace": 7});
    let calls = chat_call("list_notes", "{}", more.clone())
        + &chunk(json!({}), Some("tool_calls"))
        + "data: [DONE]\n\n";
    let heard = ask("compatible", vec![Sent::events(&calls), Sent::events(&answer("Two loaves."))]).await;
    assert_eq!(heard.last["text"], "Two loaves.", "{} {}", heard.shown, heard.error);
    let messages = heard.requests[1]["messages"].as_array().unwrap();
    let call = messages.iter().find_map(|message| message["tool_calls"].get(0)).unwrap();
    for field in ["extra_content", "trace"] {
        assert_eq!(call[field], more[field], "{call}");
    }
    assert_eq!((&call["id"], &call["function"]["name"]), (&json!("fc-1"), &json!("list_notes")));
}

/// It is kept with the conversation.
#[tokio::test]
async fn a_call_goes_back_so_after_a_restart_too() {
    let world = World::new().await;
    let more = json!({"extra_content": {"google": {"thought_signature": "QUE="}}});
    let calls = chat_call("list_notes", "{}", more) + &chunk(json!({}), Some("tool_calls"));
    let answers = [calls, answer("Two loaves."), answer("Still two.")];
    let replay = Replay::start(answers.iter().map(|text| Sent::events(text)).collect()).await;
    for (question, told) in [("how many loaves?", "Two loaves."), ("and now?", "Still two.")] {
        let bot = world.bot_at("compatible", &replay).await;
        assert_eq!(world.ask(question).await["text"], told);
        bot.ends_well().await;
    }
    let requests = replay.requests();
    for request in &requests[1..] {
        assert!(request["messages"].to_string().contains("thought_signature"), "{request}");
    }
    assert_eq!(requests.len(), 3);
}

#[tokio::test]
async fn arguments_in_events_of_their_own_are_those_of_the_call() {
    let item = json!({"type": "function_call", "id": "fc_9", "call_id": "call_9", "name": "add_note", "arguments": ""});
    let delta = |text: &str| {
        event("response.function_call_arguments.delta", json!({"item_id": "fc_9", "delta": text}))
    };
    let end = |text: &str| {
        let response =
            json!({"status": "completed", "output": [], "usage": {"input_tokens": 23, "output_tokens": 5}});
        let said = event("response.output_text.delta", json!({"delta": text}));
        let said = if text.is_empty() { String::new() } else { said };
        said + &event("response.completed", json!({"response": response}))
    };
    let calls = event("response.output_item.added", json!({"output_index": 0, "item": item}))
        + &delta("{\"key\":\"list\",\"content\":\"order")
        + &delta(" flour\"}")
        + &event("response.function_call_arguments.done", json!({"item_id": "fc_9", "output_index": 0}))
        + &end("");
    let heard = ask("openai", vec![Sent::events(&calls), Sent::events(&end("Noted."))]).await;
    assert_eq!(heard.last["text"], "Noted.", "{} {}", heard.shown, heard.error);
    let call = &heard.last["tool_calls"][0];
    assert_eq!((&call["name"], &call["arguments"]["content"]), (&json!("add_note"), &json!("order flour")));
}

#[tokio::test]
async fn no_call_is_made_of_an_answer_that_was_cut() {
    let item = json!({"type": "function_call", "id": "fc_9", "call_id": "call_9", "name": "list_notes", "arguments": "", "status": "in_progress"});
    let incomplete = json!({"status": "incomplete", "output": [item], "incomplete_details": {"reason": "max_output_tokens"}});
    let responses = event("response.output_item.added", json!({"item": item}))
        + &event("response.output_item.done", json!({"item": item}))
        + &event("response.incomplete", json!({"response": incomplete}));
    let chat = chat_call("list_notes", "{}", json!({})) + &chunk(json!({}), Some("length"));
    let call = json!({"functionCall": {"name": "list_notes", "args": {}}});
    let gemini = json!({"candidates": [{"content": {"role": "model", "parts": [call]}, "finishReason": "MAX_TOKENS"}]});
    let ollama = json!({"message": {"content": "", "tool_calls": [{"function": {"name": "list_notes", "arguments": {}}}]}, "done": true, "done_reason": "length"});
    let cases = [
        ("openai", Sent::events(&responses)),
        ("compatible", Sent::events(&chat)),
        ("gemini", Sent::events(&format!("data: {gemini}\n\n"))),
        ("ollama", Sent::lines(&format!("{ollama}\n"))),
    ];
    let told = cases.into_iter().map(|(provider, sent)| async move {
        let world = World::new().await;
        let replay = Replay::start(vec![sent]).await;
        let bot = world.bot_at(provider, &replay).await;
        let told = world.ask("what is noted?").await["text"].to_string();
        assert!(told.contains("reached its length limit"), "{provider}: {told}");
        assert_eq!(replay.requests().len(), 1, "{provider}: no call was made");
        bot.ends_well().await;
    });
    join_all(told).await;
}

#[tokio::test]
async fn a_call_that_a_service_could_not_read_is_tried_once_more_and_then_by_the_next_model() {
    let error = json!({
        "message": "Failed to call a function. See 'failed_generation'.",
        "type": "invalid_request_error",
        "code": "tool_use_failed",
        "failed_generation": "<function=list_notes>{}</function>",
    });
    let refused = Sent::document(400, &json!({"error": error}));
    let within = Sent::events(&format!("data: {}\n\n", json!({"error": error})));
    for failed in [refused, within] {
        let heard = ask("compatible", vec![failed.clone(), Sent::events(&answer("Two loaves."))]).await;
        assert_eq!(
            (&heard.last["text"], heard.requests.len()),
            (&json!("Two loaves."), 2),
            "{}",
            heard.error
        );

        let world = World::new().await;
        let replay = Replay::start(vec![failed]).await;
        let other = Replay::start(vec![Sent::lines(&(line("I stand in.", false) + &line("", true)))]).await;
        let recipe = world
            .at("compatible", &replay)
            .set("LLM_FALLBACK", "ollama:m")
            .set("OLLAMA_BASE_URL", &other.url)
            .set("OLLAMA_MODEL", "m");
        let bot = recipe.spawn();
        bot.ready().await;
        assert_eq!(world.ask("how many loaves?").await["text"], "I stand in.");
        assert_eq!((replay.requests().len(), other.requests().len()), (2, 1));
        bot.ends_well().await;
    }
}

#[tokio::test]
async fn an_answer_that_was_cut_is_told_to_be_cut_and_costs_what_was_written() {
    let cut = chunk(json!({}), Some("length"));
    let thought = chunk(json!({"reasoning_content": "x".repeat(400)}), None);
    let call = chat_call("add_note", &"x".repeat(800), json!({}));
    let cases = [
        ("words", words("Two lo") + &cut, 3, 2),
        ("reasoning before them", thought.clone() + &words("Two lo") + &cut, 3, 102),
        ("nothing but reasoning", thought + &cut, 1, 100),
        ("a call", words("Two lo") + &call + &cut, 3, 205),
        ("none", answer("Two loaves."), 0, 4),
    ];
    for (name, sent, code, output) in cases {
        let heard = ask("compatible", vec![Sent::events(&sent)]).await;
        assert_eq!(
            (heard.code, &heard.last["usage"]["output_tokens"]),
            (Some(code), &json!(output)),
            "{name}: {} {}",
            heard.shown,
            heard.error
        );
        if heard.last["event"] == "done" {
            assert_eq!(heard.last["cut"], code == 3, "{name}: {}", heard.shown);
            assert_eq!(heard.error.contains("the answer was cut"), code == 3, "{name}: {}", heard.error);
        }
    }
}
