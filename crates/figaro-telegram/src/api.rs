//! Calls of the Bot API with payloads and results as JSON. teloxide provides the bot, its HTTP client, the names of
//! methods and the download of files. The calls themselves are made here: teloxide's own types stop at Bot API 9.1
//! and would lose newer fields, and its transport sleeps for 10 s after each 5xx before it returns the error.

use std::fmt;
use std::time::Duration;

use futures::StreamExt;
use futures::stream::BoxStream;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use telegram_http::RequestBuilder;
use telegram_http::multipart::{Form, Part};
use teloxide::Bot;
use teloxide::net::Download;
use teloxide::requests::Payload;

use super::batch::{self, BatchUpdate};
use super::error::ApiError;
use super::media::Media;
use figaro_base::secret::ExposeSecret;
use figaro_base::tenure::Tenure;
use figaro_config::TelegramSettings;

/// Timeout of a `getUpdates` long poll, in seconds; Telegram allows at most 50.
pub(crate) const LONG_POLL_SECONDS: u64 = 50;
/// Timeout of a call; a long poll has it on top of its own.
const CALL_TIMEOUT: Duration = Duration::from_secs(20);

/// Timeout of a call with a picture or a sound of some megabytes.
const UPLOAD_TIMEOUT: Duration = Duration::from_secs(60);

/// Error text of a call that timed out.
const NO_ANSWER: &str = "no answer in time";

/// HTTP client of the Bot API for all bots of a process. Cheap to clone.
#[derive(Debug, Clone)]
pub struct TelegramClient(telegram_http::Client);

impl TelegramClient {
    /// Builds the client with the proxies of the settings.
    ///
    /// # Errors
    /// A message if it cannot be built.
    pub fn new(settings: &TelegramSettings) -> Result<Self, String> {
        client(settings).map(Self).map_err(|error| error.without_url().to_string())
    }
}

/// Makes calls as the bot, as long as this process may act for it. Cheap to clone.
#[derive(Clone)]
pub struct Api {
    bot: Bot,
    tenure: Tenure,
}

impl fmt::Debug for Api {
    /// Hides the fields, because the bot's `Debug` shows its token.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Api")
    }
}

/// Telegram's answer to a method call.
#[derive(Deserialize)]
struct ApiResponse {
    ok: bool,
    #[serde(default)]
    result: Value,
}

/// Defines payloads that take JSON and return JSON.
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
    AnswerGuestQuery = "answerGuestQuery",
    AnswerInlineQuery = "answerInlineQuery",
    DeleteMessage = "deleteMessage",
    DeleteMyCommands = "deleteMyCommands",
    DeleteWebhook = "deleteWebhook",
    EditForumTopic = "editForumTopic",
    EditMessageText = "editMessageText",
    GetChatMember = "getChatMember",
    GetChatMenuButton = "getChatMenuButton",
    GetChatMemberCount = "getChatMemberCount",
    EditMessageReplyMarkup = "editMessageReplyMarkup",
    GetBusinessConnection = "getBusinessConnection",
    GetChat = "getChat",
    GetFile = "getFile",
    GetMe = "getMe",
    GetWebhookInfo = "getWebhookInfo",
    LeaveChat = "leaveChat",
    ReadBusinessMessage = "readBusinessMessage",
    SendChatAction = "sendChatAction",
    SendDocument = "sendDocument",
    SendMessage = "sendMessage",
    SendRichMessage = "sendRichMessage",
    SendMessageDraft = "sendMessageDraft",
    SendRichMessageDraft = "sendRichMessageDraft",
    SetChatMenuButton = "setChatMenuButton",
    SetMessageReaction = "setMessageReaction",
    SetMyCommands = "setMyCommands",
    SetWebhook = "setWebhook",
}

impl Api {
    /// Makes calls as the bot in `settings`, with a client of its own.
    ///
    /// # Errors
    /// A message if the HTTP client cannot be built or the server's address is invalid.
    pub fn new(settings: &TelegramSettings) -> Result<Self, String> {
        Self::of_bot(settings, &TelegramClient::new(settings)?, Tenure::default())
    }

    /// Makes calls as the bot in `settings`, while `tenure` holds.
    ///
    /// # Errors
    /// A message if the server's address is invalid.
    pub fn of_bot(
        settings: &TelegramSettings,
        client: &TelegramClient,
        tenure: Tenure,
    ) -> Result<Self, String> {
        let url = reqwest::Url::parse(&settings.api_url).map_err(|error| error.to_string())?;
        let token = settings.token.expose_secret().to_owned();
        Ok(Self { bot: Bot::with_client(token, client.0.clone()).set_api_url(url), tenure })
    }

    /// Calls a method of the Bot API and returns its result.
    ///
    /// # Errors
    /// See [`ApiError`].
    pub async fn call<P>(&self, payload: P) -> Result<Value, ApiError>
    where
        P: Payload<Output = Value> + Serialize,
    {
        self.while_owned(in_time(self.post(P::NAME)?.json(&payload))).await
    }

    /// Sends a document by `sendDocument`; `rest` holds the other parameters, as in a JSON call.
    ///
    /// # Errors
    /// See [`ApiError`].
    pub(crate) async fn send_document(
        &self,
        name: String,
        content: String,
        rest: &Map<String, Value>,
    ) -> Result<Value, ApiError> {
        let form = Form::new().part("document", Part::text(content).file_name(name));
        self.while_owned(in_time(self.post("sendDocument")?.multipart(with_rest(form, rest)))).await
    }

    /// Sends a picture or a voice message; `rest` holds the other parameters, as in a JSON call.
    ///
    /// # Errors
    /// See [`ApiError`].
    pub(crate) async fn send_media(
        &self,
        media: Media,
        rest: &Map<String, Value>,
    ) -> Result<Value, ApiError> {
        let (method, field, name, bytes) = match media {
            Media::Photo(bytes) => ("sendPhoto", "photo", "picture.png", bytes),
            Media::Voice(bytes) => ("sendVoice", "voice", "voice.ogg", bytes),
        };
        let form = Form::new().part(field, Part::bytes(bytes).file_name(name));
        self.while_owned(within(self.post(method)?.multipart(with_rest(form, rest)), UPLOAD_TIMEOUT)).await
    }

    /// Downloads a file by its path from `getFile`. Errors are messages without the address, which contains the
    /// token.
    #[must_use]
    pub(crate) fn download(&self, path: &str) -> BoxStream<'static, Result<Vec<u8>, String>> {
        let pieces = self.bot.download_file_stream(path);
        let plain = pieces.map(|piece| match piece {
            Ok(bytes) => Ok(bytes.to_vec()),
            Err(error) => Err(error.without_url().to_string()),
        });
        plain.boxed()
    }

    /// Returns the updates from `offset` on and acknowledges all earlier ones. Waits for updates, up to the timeout
    /// of a long poll.
    ///
    /// # Errors
    /// See [`ApiError`].
    pub(crate) async fn updates(
        &self,
        offset: Option<i64>,
        kinds: &[&str],
    ) -> Result<Vec<BatchUpdate>, ApiError> {
        let parameters = json!({
            "offset": offset.unwrap_or_default(), "timeout": LONG_POLL_SECONDS, "allowed_updates": kinds,
        });
        let (status, body) = self.while_owned(answer(self.post("getUpdates")?.json(&parameters))).await?;
        batch::read(status, &body)
    }

    /// Ends a call that is under way once another process may act for the bot.
    async fn while_owned<T>(&self, call: impl Future<Output = Result<T, ApiError>>) -> Result<T, ApiError> {
        tokio::select! {
            done = call => done,
            () = self.tenure.ended() => {
                Err(ApiError::Unclear("another process may have the bot by now".to_owned()))
            }
        }
    }

    /// Begins a call.
    ///
    /// # Errors
    /// If another process may act for the bot by now.
    fn post(&self, method: &str) -> Result<RequestBuilder, ApiError> {
        if !self.tenure.holds() {
            return Err(ApiError::Unreachable("another process may have the bot".to_owned()));
        }
        let mut url = self.bot.api_url();
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop_if_empty().push(&format!("bot{}", self.bot.token())).push(method);
        }
        Ok(self.bot.client().post(url))
    }
}

/// Adds these parameters to a form. Fields of a form are text, so other values are written as JSON.
fn with_rest(form: Form, rest: &Map<String, Value>) -> Form {
    rest.iter().fold(form, |form, (key, value)| match value {
        Value::String(text) => form.text(key.clone(), text.clone()),
        other => form.text(key.clone(), other.to_string()),
    })
}

/// Builds the HTTP client, with the proxies of the settings.
fn client(settings: &TelegramSettings) -> Result<telegram_http::Client, telegram_http::Error> {
    // One client for all calls, because each client has its own copy of the root certificates. Its timeout is that of
    // a long poll.
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

/// Sends a request with the timeout `CALL_TIMEOUT` and returns the result of the call.
async fn in_time(request: RequestBuilder) -> Result<Value, ApiError> {
    within(request, CALL_TIMEOUT).await
}

async fn within(request: RequestBuilder, limit: Duration) -> Result<Value, ApiError> {
    let (status, body) = tokio::time::timeout(limit, answer(request))
        .await
        .unwrap_or_else(|_| Err(ApiError::Unclear(NO_ANSWER.to_owned())))?;
    match serde_json::from_str(&body) {
        Ok(ApiResponse { ok: true, result }) => Ok(result),
        _ => Err(ApiError::of_answer(status, &body)),
    }
}

/// Returns the status and the body of an answer. Invalid UTF-8 is replaced and is not an error.
async fn answer(request: RequestBuilder) -> Result<(u16, String), ApiError> {
    let lost = |error: telegram_http::Error| network(&error);
    let answer = request.send().await.map_err(lost)?;
    let status = answer.status().as_u16();
    let body = answer.bytes().await.map_err(lost)?;
    Ok((status, String::from_utf8_lossy(&body).into_owned()))
}

/// Converts a network error. Its text is dropped, because it may contain the address and with it the token.
fn network(error: &telegram_http::Error) -> ApiError {
    if error.is_connect() {
        return ApiError::Unreachable("no connection".to_owned());
    }
    ApiError::Unclear(if error.is_timeout() { NO_ANSWER } else { "the connection broke" }.to_owned())
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use figaro_base::ids::BotId;
    use figaro_base::tenure::TenureGrant;
    use figaro_mcp::proxy::Proxies;
    use tokio::net::TcpListener;

    use super::*;

    #[tokio::test]
    async fn no_call_begins_or_goes_on_once_another_process_may_have_the_bot() {
        // It takes connections and never answers.
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let settings = TelegramSettings {
            token: "1:abc".to_owned().into(),
            bot: BotId(1),
            api_url: format!("http://{}", listener.local_addr().unwrap()),
            proxies: Proxies::default(),
            public_key: [0; 32],
        };
        let grant = TenureGrant::new(Instant::now() + Duration::from_secs(3600));
        let client = TelegramClient::new(&settings).unwrap();
        let api = Api::of_bot(&settings, &client, grant.tenure()).unwrap();
        let ending = async {
            listener.accept().await.unwrap();
            grant.end();
        };
        let (under_way, ()) = tokio::join!(api.call(GetMe(json!({}))), ending);
        assert!(
            matches!(&under_way, Err(ApiError::Unclear(why)) if why.contains("another process")),
            "{under_way:?}"
        );
        let later = api.call(GetMe(json!({}))).await;
        assert!(
            matches!(&later, Err(ApiError::Unreachable(why)) if why.contains("another process")),
            "{later:?}"
        );
    }
}
