//! Every method of the Bot API through the real `figaro-mcp`: what is asked for arrives at Telegram as it was written,
//! files as parts, and what does not fit the method never leaves.

use std::collections::BTreeMap;

use figaro_mcp::table::{ApiTable, Method};
use figaro_mcp_client::client::ToolCallOutput;
use figaro_offline::telegram::{ApiCall, MemberStatus, Uploaded};
use serde_json::{Value, json};

use crate::support::arguments::{Known, Maker, content, mistyped};
use crate::support::server::Server;
use crate::support::{ANN, World};

/// So often with all parameters, so that a file is an upload, a file_id and an address by turns.
const TURNS: usize = 3;
/// The places of the table that take a file, each a parameter or a field of a type.
const FILE_PLACES: usize = 45;

/// What Telegram refuses of calls with the fewest arguments, none of which is against the table.
const REFUSED: [(&str, &str); 13] = [
    // The chats here are groups, and drafts are for private ones.
    ("sendMessageDraft", "Bad Request: TEXTDRAFT_PEER_INVALID"),
    ("sendRichMessageDraft", "Bad Request: TEXTDRAFT_PEER_INVALID"),
    // Nobody has pressed a button.
    (
        "answerCallbackQuery",
        "Bad Request: query is too old and response timeout expired or query ID is invalid",
    ),
    // Each takes a chat and a message or an inline message, and one of several contents: the table requires none.
    ("editMessageText", "Bad Request: message text is empty"),
    ("answerGuestQuery", "Bad Request: query is too old and response timeout expired or query ID is invalid"),
    (
        "answerInlineQuery",
        "Bad Request: query is too old and response timeout expired or query ID is invalid",
    ),
    ("editMessageCaption", "Bad Request: chat not found"),
    ("editMessageMedia", "Bad Request: chat not found"),
    ("editMessageReplyMarkup", "Bad Request: chat not found"),
    ("sendRichMessage", "Bad Request: rich message must have exactly one of markdown, html, blocks"),
    // Nobody has connected an account.
    ("getBusinessConnection", "Bad Request: business connection not found"),
    ("readBusinessMessage", "Bad Request: business connection not found"),
    // The message is no poll.
    ("stopPoll", "Bad Request: message with poll to stop not found"),
];

/// A Telegram and a server before it.
struct Bench {
    world: World,
    server: Server,
    /// Of a file that Telegram knows.
    file_id: String,
    forums: i64,
}

impl Bench {
    async fn new() -> Self {
        let world = World::new().await;
        let server = Server::supervised(&world.telegram).await;
        let file = json!({"chat_id": ANN, "document": {"name": "known.txt", "text": "known"}});
        let sent = server.call("sendDocument", &file).await.content;
        let file_id =
            sent["result"]["document"]["file_id"].as_str().unwrap_or_else(|| panic!("{sent}")).to_owned();
        Self { world, server, file_id, forums: 0 }
    }

    /// A new group with topics and a message of the bot's, as values by the names of parameters.
    async fn scene(&mut self) -> Known {
        let telegram = &self.world.telegram;
        self.forums += 1;
        let chat = -1_000_000_000_000 - self.forums;
        telegram.add_forum(chat, "Methods");
        telegram.set_member(chat, ANN, MemberStatus::Owner).unwrap();
        telegram.set_member(chat, telegram.bot_id(), MemberStatus::Admin).unwrap();
        let topic = telegram.add_topic(chat, "One").unwrap();
        let sent = self.server.call("sendMessage", &json!({"chat_id": chat, "text": "x"})).await.content;
        let known = json!({
            "chat_id": chat,
            "from_chat_id": chat,
            "message_thread_id": topic,
            "message_id": sent["result"]["message_id"],
            "user_id": ANN,
            "file_id": self.file_id,
            // It would wait so long for updates.
            "timeout": 0,
        });
        known.as_object().unwrap().clone()
    }

    fn maker<'a>(&'a self, known: &'a Known) -> Maker<'a> {
        Maker {
            full: false,
            turn: 0,
            known,
            file_id: &self.file_id,
            uploads: 0,
            places: BTreeMap::new(),
            unions: BTreeMap::new(),
        }
    }

    /// Makes a call: what Telegram got of it, and the answer.
    async fn call(&self, method: &Method, arguments: &Value) -> (Vec<ApiCall>, ToolCallOutput) {
        let before = self.world.telegram.view(|view| view.calls().len());
        let answer = self.server.call(&method.name, arguments).await;
        (self.world.telegram.view(|view| view.calls()[before..].to_vec()), answer)
    }

    /// Makes a call that reaches Telegram; gives why that refused it, if it did.
    async fn refusal_of(&self, method: &Method, arguments: &Value) -> Option<String> {
        let (mut calls, answer) = self.call(method, arguments).await;
        let content = &answer.content;
        let (Some(call), true) = (calls.pop(), calls.is_empty()) else {
            panic!("{} {arguments}: {content}", method.name);
        };
        assert_eq!(call.method, method.name);
        let mut uploads = call.uploads.into_iter().map(|upload| (upload.part.clone(), upload)).collect();
        let got = Value::Object(call.args);
        assert!(is_same(arguments, &got, &mut uploads), "{}\n{arguments}\n{got} {uploads:?}", method.name);
        assert_eq!(uploads, BTreeMap::new(), "{} {arguments}", method.name);
        match &call.error {
            None => assert!(
                !answer.is_error && content["ok"] == true && content.get("result").is_some(),
                "{content}"
            ),
            Some(why) => {
                let code = &content["error"]["error_code"];
                assert!(code.as_u64().is_some_and(|code| (400..500).contains(&code)), "{content}");
                let error = json!({"ok": false, "error": {"error_code": code, "description": why}});
                assert_eq!((answer.is_error, content), (true, &error), "{} {arguments}", method.name);
            }
        }
        call.error
    }

    /// Makes a call that must not leave; gives the words it is refused with.
    async fn refused(&self, method: &Method, arguments: &Value) -> String {
        let (calls, answer) = self.call(method, arguments).await;
        assert!(calls.is_empty(), "{} {arguments} reached Telegram", method.name);
        let error = &answer.content["error"];
        assert_eq!(
            (answer.is_error, &error["error_code"]),
            (true, &json!(400)),
            "{} {arguments}",
            method.name
        );
        error["description"].as_str().unwrap().to_owned()
    }
}

/// Whether arguments arrived as they were sent, an upload as `attach://` and its part, which is then taken out.
fn is_same(sent: &Value, got: &Value, uploads: &mut BTreeMap<String, Uploaded>) -> bool {
    match (sent, got) {
        (Value::Object(file), Value::String(reference)) if file.contains_key("base64") => {
            let Some(part) = reference.strip_prefix("attach://").and_then(|part| uploads.remove(part)) else {
                return false;
            };
            let number = part.name.strip_suffix(".bin").and_then(|number| number.parse().ok());
            let bytes = number.map(content).unwrap_or_default();
            file["name"] == part.name && part.size == bytes.len() && part.head == bytes
        }
        (Value::Object(sent), Value::Object(got)) => {
            let mut pairs = sent.iter().map(|(name, value)| (value, got.get(name)));
            sent.len() == got.len()
                && pairs.all(|(sent, got)| got.is_some_and(|got| is_same(sent, got, uploads)))
        }
        (Value::Array(sent), Value::Array(got)) => {
            sent.len() == got.len() && sent.iter().zip(got).all(|(sent, got)| is_same(sent, got, uploads))
        }
        _ => sent == got,
    }
}

#[tokio::test]
async fn every_method_arrives_with_what_it_needs() {
    let mut bench = Bench::new().await;
    let mut refused = BTreeMap::new();
    for method in ApiTable::get().methods() {
        let known = bench.scene().await;
        let arguments = bench.maker(&known).object(&method.name, &method.params, 0);
        let why = bench.refusal_of(method, &arguments).await;
        refused.extend(why.map(|why| (method.name.as_str(), why)));
    }
    let wanted: BTreeMap<&str, String> = REFUSED.map(|(name, why)| (name, why.to_owned())).into();
    assert_eq!(refused, wanted);
    println!(
        "{} methods with the fewest arguments, {} refused",
        ApiTable::get().methods().len(),
        refused.len()
    );
}

#[tokio::test]
async fn every_method_arrives_with_all_it_can_take() {
    let mut bench = Bench::new().await;
    let (mut calls, mut refused, mut uploads) = (0, 0, 0);
    let (mut places, mut unions) = (BTreeMap::new(), BTreeMap::new());
    for method in ApiTable::get().methods() {
        for turn in 0..TURNS {
            let known = bench.scene().await;
            let mut maker = Maker { full: true, turn, places, unions, ..bench.maker(&known) };
            let arguments = maker.object(&method.name, &method.params, 0);
            (calls, uploads) = (calls + 1, uploads + maker.uploads);
            (places, unions) = (maker.places, maker.unions);
            refused += usize::from(bench.refusal_of(method, &arguments).await.is_some());
        }
    }
    println!(
        "{calls} calls with all arguments, {refused} refused; {uploads} uploads in {} places",
        places.len()
    );
    assert_eq!(calls, ApiTable::get().methods().len() * TURNS);
    assert_eq!(places.len(), FILE_PLACES, "{places:?}");
}

#[tokio::test]
async fn what_a_method_needs_and_does_not_get_is_named_and_never_leaves() {
    let mut bench = Bench::new().await;
    let known = bench.scene().await;
    let mut count = 0;
    for method in ApiTable::get().methods() {
        let whole = bench.maker(&known).object(&method.name, &method.params, 0);
        for missing in method.params.iter().filter(|parameter| parameter.required) {
            let mut arguments = whole.clone();
            arguments.as_object_mut().unwrap().remove(&missing.name);
            let wanted = format!("Bad Request: {} is required", missing.name);
            assert_eq!(bench.refused(method, &arguments).await, wanted, "{} {arguments}", method.name);
            count += 1;
        }
    }
    println!("{count} calls with something missing");
}

#[tokio::test]
async fn a_value_of_another_type_is_named_and_never_leaves() {
    let mut bench = Bench::new().await;
    let known = bench.scene().await;
    let mut count = 0;
    for method in ApiTable::get().methods() {
        let whole = bench.maker(&known).object(&method.name, &method.params, 0);
        for parameter in &method.params {
            let mut arguments = whole.clone();
            arguments[&parameter.name] = mistyped(&parameter.ty);
            let words = bench.refused(method, &arguments).await;
            let named = words.starts_with(&format!("Bad Request: {} must be ", parameter.name));
            assert!(named, "{} {arguments}: {words}", method.name);
            count += 1;
        }
    }
    println!("{count} calls with something of another type");
}
