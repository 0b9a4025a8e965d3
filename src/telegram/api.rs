//! Calls of the Bot API through teloxide, with payloads and results as JSON: teloxide's own types stop at Bot API 9.1
//! and would lose what is newer.

use std::fmt;
use std::time::Duration;

use futures::StreamExt;
use futures::stream::BoxStream;
use serde::Serialize;
use serde_json::{Map, Value, json};
use teloxide::net::Download;
use teloxide::requests::{JsonRequest, MultipartPayload, MultipartRequest, Payload, Request};
use teloxide::types::InputFile;
use teloxide::{ApiError as KnownError, Bot, RequestError};

use super::batch::{self, Received};
use crate::config::TelegramSettings;
use crate::ids::ChatId;
use crate::secret::ExposeSecret;

/// How long Telegram may hold a `getUpdates` call open, in seconds; 50 is the most it takes.
pub const LONG_POLL_SECONDS: u64 = 50;
/// What else a call may take.
const CALL_TIMEOUT: Duration = Duration::from_secs(20);

/// What is said of a call that took too long.
const NO_ANSWER: &str = "no answer in time";

/// Makes calls as the bot. Cheap to clone.
#[derive(Clone)]
pub struct Api(Bot);

impl fmt::Debug for Api {
    /// The bot's own would show its token.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Api")
    }
}

/// Why a call failed, by what the caller can do about it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ApiError {
    /// The token is not good: only the owner can mend that.
    #[error("Telegram refused the bot's token")]
    Unauthorized,
    /// Another process polls with the same token.
    #[error("another process is getting this bot's updates")]
    Conflict,
    /// Wait so long, then try again.
    #[error("Telegram asks to wait {} s", .0.as_secs())]
    RetryAfter(Duration),
    /// The group has another id now.
    #[error("the group has become the supergroup {0}")]
    Migrated(ChatId),
    /// Telegram will not do it; its words.
    #[error("{0}")]
    Refused(String),
    /// Telegram did not take it, being out of reach or in trouble: trying again repeats nothing.
    #[error("Telegram cannot be reached ({0})")]
    Unreachable(String),
    /// Nobody knows whether it was done.
    #[error("Telegram did not answer ({0})")]
    Unclear(String),
}

/// Defines a payload that is JSON in and JSON out.
macro_rules! methods {
    ($($name:ident = $method:literal),+ $(,)?) => {$(
        #[doc = concat!("The Bot API method `", $method, "`.")]
        #[derive(Debug, Clone, Serialize)]
        #[serde(transparent)]
        pub struct $name(pub Value);

        impl Payload for $name {
            type Output = Value;
            const NAME: &'static str = $method;
        }
    )+};
}

methods! {
    AnswerCallbackQuery = "answerCallbackQuery",
    DeleteMessage = "deleteMessage",
    EditMessageText = "editMessageText",
    GetChatMember = "getChatMember",
    EditMessageReplyMarkup = "editMessageReplyMarkup",
    GetChat = "getChat",
    GetFile = "getFile",
    GetMe = "getMe",
    SendChatAction = "sendChatAction",
    SendMessage = "sendMessage",
    SendMessageDraft = "sendMessageDraft",
    SetMessageReaction = "setMessageReaction",
    SetMyCommands = "setMyCommands",
}

/// The Bot API method `sendDocument`, with a file that is sent along.
#[derive(Debug, Clone, Serialize)]
pub struct SendDocument {
    document: InputFile,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

impl SendDocument {
    /// A file of this name and content; `rest` are the other parameters, as in a JSON call.
    #[must_use]
    pub fn new(name: String, content: String, rest: &Map<String, Value>) -> Self {
        // Parts of a form are text: what has structure goes as JSON.
        let part = |value: &Value| match value {
            Value::Array(_) | Value::Object(_) => Value::String(value.to_string()),
            plain => plain.clone(),
        };
        let rest = rest.iter().map(|(key, value)| (key.clone(), part(value))).collect();
        Self { document: InputFile::memory(content).file_name(name), rest }
    }
}

impl Payload for SendDocument {
    type Output = Value;
    const NAME: &'static str = "sendDocument";
}

impl MultipartPayload for SendDocument {
    fn copy_files(&self, into: &mut dyn FnMut(InputFile)) {
        into(self.document.clone());
    }

    fn move_files(&mut self, into: &mut dyn FnMut(InputFile)) {
        into(self.document.clone());
    }
}

impl Api {
    /// Speaks for the bot of these settings.
    ///
    /// # Errors
    /// In words, when the HTTP client or the server's address are not usable.
    pub fn new(settings: &TelegramSettings) -> Result<Self, String> {
        let url = reqwest::Url::parse(&settings.api_url).map_err(|error| error.to_string())?;
        let client = client(settings).map_err(|error| error.without_url().to_string())?;
        Ok(Self(Bot::with_client(settings.token.expose_secret().to_owned(), client).set_api_url(url)))
    }

    /// Makes a call.
    ///
    /// # Errors
    /// See [`ApiError`].
    pub async fn call<P>(&self, payload: P) -> Result<Value, ApiError>
    where
        P: Payload<Output = Value> + Serialize + Clone + Send + Sync + 'static,
    {
        in_time(JsonRequest::new(self.0.clone(), payload).send()).await
    }

    /// Makes the call that sends a file.
    ///
    /// # Errors
    /// See [`ApiError`].
    pub async fn upload(&self, payload: SendDocument) -> Result<Value, ApiError> {
        in_time(MultipartRequest::new(self.0.clone(), payload).send()).await
    }

    /// The content of a file, by the path that `getFile` gave. An error is in words without the address, which holds
    /// the token.
    #[must_use]
    pub fn download(&self, path: &str) -> BoxStream<'static, Result<Vec<u8>, String>> {
        let pieces = self.0.download_file_stream(path);
        let plain = pieces.map(|piece| match piece {
            Ok(bytes) => Ok(bytes.to_vec()),
            Err(error) => Err(error.without_url().to_string()),
        });
        plain.boxed()
    }

    /// The next updates from `offset` on; all before it count as received. Waits until there are some. Made without
    /// teloxide, which reads an answer as a whole or not at all.
    ///
    /// # Errors
    /// See [`ApiError`].
    pub async fn updates(&self, offset: Option<i64>, kinds: &[&str]) -> Result<Vec<Received>, ApiError> {
        let mut url = self.0.api_url();
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop_if_empty().push(&format!("bot{}", self.0.token())).push("getUpdates");
        }
        let parameters = json!({
            "offset": offset.unwrap_or_default(), "timeout": LONG_POLL_SECONDS, "allowed_updates": kinds,
        });
        let lost = |error: telegram_http::Error| network(&error);
        let answer = self.0.client().post(url).json(&parameters).send().await.map_err(lost)?;
        let status = answer.status().as_u16();
        let body = answer.bytes().await.map_err(lost)?;
        // A byte that is no text costs a character, not the answer.
        batch::read(status, &String::from_utf8_lossy(&body))
    }
}

/// The client that calls are made with, on the way that the settings name.
fn client(settings: &TelegramSettings) -> Result<telegram_http::Client, telegram_http::Error> {
    // One client for all calls: each has its own copy of the root certificates. Its bound is that of a long poll.
    let bound = Duration::from_secs(LONG_POLL_SECONDS) + CALL_TIMEOUT;
    let mut builder = teloxide::net::default_reqwest_settings().timeout(bound).no_proxy();
    let direct = || telegram_http::NoProxy::from_string(&settings.proxies.direct());
    let (http, https) = settings.proxies.addresses();
    if let Some(http) = http {
        builder = builder.proxy(telegram_http::Proxy::http(http)?.no_proxy(direct()));
    }
    if let Some(https) = https {
        builder = builder.proxy(telegram_http::Proxy::https(https)?.no_proxy(direct()));
    }
    builder.build()
}

async fn in_time(sending: impl Future<Output = Result<Value, RequestError>>) -> Result<Value, ApiError> {
    match tokio::time::timeout(CALL_TIMEOUT, sending).await {
        Ok(answer) => answer.map_err(|error| classify(&error)),
        Err(_) => Err(ApiError::Unclear(NO_ANSWER.to_owned())),
    }
}

/// Whether the server is in trouble of its own: teloxide keeps its words, not its status.
fn is_trouble(words: &str) -> bool {
    let trouble = ["Internal Server Error", "Bad Gateway", "Service Unavailable", "Gateway Time"];
    trouble.iter().any(|trouble| words.starts_with(trouble))
}

fn classify(error: &RequestError) -> ApiError {
    match error {
        RequestError::Api(KnownError::InvalidToken) => ApiError::Unauthorized,
        RequestError::Api(KnownError::TerminatedByOtherGetUpdates) => ApiError::Conflict,
        RequestError::Api(KnownError::Unknown(words)) if is_trouble(words) => {
            ApiError::Unreachable(words.clone())
        }
        RequestError::Api(KnownError::Unknown(words)) => ApiError::Refused(words.clone()),
        RequestError::Api(known) => ApiError::Refused(known.to_string()),
        RequestError::MigrateToChatId(chat) => ApiError::Migrated(ChatId(chat.0)),
        RequestError::RetryAfter(seconds) => ApiError::RetryAfter(seconds.duration()),
        RequestError::Network(error) => network(error),
        RequestError::InvalidJson { .. } => ApiError::Unclear("the answer is no JSON".to_owned()),
        RequestError::Io(error) => ApiError::Unclear(error.to_string()),
    }
}

/// The words of a network error may hold the address, and with it the token: none of them is told.
fn network(error: &telegram_http::Error) -> ApiError {
    if error.is_connect() {
        return ApiError::Unreachable("no connection".to_owned());
    }
    ApiError::Unclear(if error.is_timeout() { NO_ANSWER } else { "the connection broke" }.to_owned())
}
