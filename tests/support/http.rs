//! A bot with a gateway, and a client of it.

use reqwest::multipart::Form;
use reqwest::{Method, RequestBuilder, Response, StatusCode};
use serde_json::{Value, json};

use super::bot::Recipe;
use super::{Bot, TIMEOUT, World};

/// A key that may ask, name users, and see what is theirs.
pub const KEY: &str = "key-of-the-app-0123";
/// A key for any tenant.
pub const TENANTS: &str = "key-of-tenants-0123";
/// A key with the rights of an owner, and for metrics.
pub const OWNER: &str = "key-of-the-owner-01";

/// A bot with a gateway.
pub struct Gateway {
    pub bot: Bot,
    pub url: String,
    client: reqwest::Client,
}

/// A request in the making.
pub struct Asking(RequestBuilder);

impl World {
    /// A bot with a gateway that takes the keys of this module.
    pub async fn gateway(&self) -> Gateway {
        let keys = format!("app:{KEY},tenants:{TENANTS};tenants,owner:{OWNER};chat;sessions;metrics;owner");
        self.gateway_with(&[("API_KEYS", &keys)]).await
    }

    /// A bot with a gateway of these settings.
    pub async fn gateway_with(&self, settings: &[(&str, &str)]) -> Gateway {
        self.gateway_of(settings.iter().fold(self.bot(), |recipe, (name, value)| recipe.set(name, value)))
            .await
    }

    /// A bot of this recipe with a gateway; one that names no keys is open.
    pub async fn gateway_of(&self, recipe: Recipe) -> Gateway {
        // Tests kill their bots, whose temporary folders stay then.
        let temporary = self.folder.path().to_str().unwrap();
        let bot = recipe.set("HTTP_ADDR", "127.0.0.1:0").set("TMPDIR", temporary).spawn();
        bot.ready().await;
        let log = bot.log();
        let at = log.rfind("the HTTP gateway listens at ").expect("a gateway");
        let url = log[at..].split_whitespace().nth(5).unwrap().to_owned();
        // The second test of a process finds it installed.
        drop(rustls::crypto::ring::default_provider().install_default());
        let client = reqwest::Client::builder().no_proxy().timeout(TIMEOUT).build().unwrap();
        Gateway { bot, url, client }
    }
}

impl Gateway {
    /// A request without a key.
    pub fn plain(&self, method: Method, path: &str) -> Asking {
        Asking(self.client.request(method, format!("{}{path}", self.url)))
    }

    /// A request with [`KEY`].
    pub fn get(&self, path: &str) -> Asking {
        self.plain(Method::GET, path).key(KEY)
    }

    /// A question with [`KEY`].
    pub fn post(&self, path: &str, body: &Value) -> Asking {
        self.plain(Method::POST, path).key(KEY).json(body)
    }

    /// A question in the dialect of OpenAI.
    pub fn chat(&self, body: &Value) -> Asking {
        self.post("/v1/chat/completions", body)
    }

    /// One message, and nothing else.
    pub fn says(&self, words: &str) -> Asking {
        self.chat(&said(words))
    }
}

/// The body of a question of one message.
pub fn said(words: &str) -> Value {
    json!({"model": "figaro", "messages": [{"role": "user", "content": words}]})
}

impl Asking {
    pub fn key(self, key: &str) -> Self {
        self.header("authorization", &format!("Bearer {key}"))
    }

    pub fn json(self, body: &Value) -> Self {
        Self(self.0.json(body))
    }

    pub fn form(self, form: Form) -> Self {
        Self(self.0.multipart(form))
    }

    pub fn header(self, name: &str, value: &str) -> Self {
        let request = self.0.build_split();
        let (client, request) = request;
        let mut request = request.unwrap();
        request.headers_mut().insert(
            reqwest::header::HeaderName::from_bytes(name.as_bytes()).unwrap(),
            reqwest::header::HeaderValue::from_bytes(value.as_bytes()).unwrap(),
        );
        Self(RequestBuilder::from_parts(client, request))
    }

    pub fn session(self, session: &str) -> Self {
        self.header("x-session-id", session)
    }

    pub fn user(self, user: &str) -> Self {
        self.header("x-user-id", user)
    }

    /// The same with this header once more, whatever it has.
    pub fn also(self, name: &str, value: &str) -> Self {
        Self(self.0.header(name, value))
    }

    pub async fn send(self) -> Response {
        self.0.send().await.unwrap()
    }

    /// The status and the body as text.
    pub async fn text(self) -> (StatusCode, String) {
        let response = self.send().await;
        (response.status(), response.text().await.unwrap())
    }

    /// The body of an answer that has to be there.
    pub async fn ok(self) -> Value {
        let (status, text) = self.text().await;
        assert!(status.is_success(), "{status}: {text}");
        serde_json::from_str(&text).unwrap_or_else(|_| panic!("no JSON: {text}"))
    }

    /// The status and what is said of a request that has to be refused.
    pub async fn refused(self) -> (u16, Value) {
        let (status, text) = self.text().await;
        assert!(!status.is_success(), "{text}");
        let body: Value = serde_json::from_str(&text).unwrap_or_else(|_| panic!("no JSON: {text}"));
        (status.as_u16(), body["error"].clone())
    }

    /// The words of an answer.
    pub async fn words(self) -> String {
        self.ok().await["choices"][0]["message"]["content"].as_str().unwrap().to_owned()
    }

    /// What a stream sends.
    pub async fn frames(self) -> Vec<Frame> {
        let (status, text) = self.text().await;
        assert!(status.is_success(), "{status}: {text}");
        frames(&text)
    }
}

/// A server-sent event.
#[derive(Debug, Clone, PartialEq)]
pub struct Frame {
    pub name: Option<String>,
    pub data: String,
}

impl Frame {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.data).unwrap_or_else(|_| panic!("no JSON: {}", self.data))
    }
}

/// The events of a stream; comments are left out.
pub fn frames(text: &str) -> Vec<Frame> {
    let frame = |block: &str| {
        let field = |name: &str| block.lines().find_map(|line| line.strip_prefix(name)).map(str::to_owned);
        Some(Frame { name: field("event: "), data: field("data: ")? })
    };
    text.split("\n\n").filter_map(frame).collect()
}

/// The words in the chunks of a stream.
pub fn words(frames: &[Frame]) -> String {
    let chunks = frames.iter().filter(|frame| frame.name.is_none() && frame.data != "[DONE]");
    chunks
        .filter_map(|frame| frame.json()["choices"][0]["delta"]["content"].as_str().map(str::to_owned))
        .collect()
}
