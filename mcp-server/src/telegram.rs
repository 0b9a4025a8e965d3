//! Calls of the Bot API over HTTP: a method in, its result or a [`TelegramFailure`] out. Used by the server. No failure
//! carries the URL, which contains the token.

use std::time::Duration;

use reqwest::multipart::{Form, Part};
use reqwest::{Client, RequestBuilder, Response, StatusCode, redirect};
use rustls::crypto::{CryptoProvider, ring};
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tokio::time::Instant;

use crate::files::Upload;
use crate::pace::{Busy, Pace, SHORT_WAIT};
use crate::scan::BodyScan;
use crate::settings::Settings;
use crate::table::Method;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Timeout of a call, including repeats. A long poll takes 50 s.
const TOTAL_TIMEOUT: Duration = Duration::from_secs(60);
/// Minimum upload speed: extends the timeout by the size of the upload.
const UPLOAD_BYTES_PER_SECOND: usize = 100_000;
/// Maximum number of repeats of a failed call.
const MAX_RETRIES: u32 = 2;
const RETRY_PAUSE: Duration = Duration::from_millis(500);
/// Maximum size of an answer in bytes. The largest, such as a sticker set, have some hundred thousand.
const MAX_ANSWER: usize = 4 << 20;
/// Description for a token that Telegram does not know. Its own is the first word.
const UNKNOWN_TOKEN: &str =
    "Unauthorized: Telegram does not know this token: copy TELEGRAM_BOT_TOKEN again from @BotFather";
/// Maximum number of keys and values in an answer. Each takes some 400 bytes in the parsed tree.
const MAX_ANSWER_PARTS: usize = 100_000;

/// A Bot API server, and the client for all its bots. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct TelegramServer {
    http: Client,
    api_url: String,
    /// `false` if a parent paces the calls.
    paces: bool,
}

/// A connection to one bot.
#[derive(Debug)]
pub(crate) struct Telegram {
    http: Client,
    /// URL prefix of methods, with a trailing slash.
    base: SecretString,
    /// URL prefix of files, with a trailing slash.
    files: SecretString,
    token: SecretString,
    /// Pacing of calls; `None` if a parent does it, which then also sees every 429.
    pace: Option<Pace>,
}

/// Failure of a call, as shown to the caller.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct TelegramFailure {
    /// Telegram's error code; 503 if Telegram was unreachable, 504 if its answer was lost.
    pub(crate) error_code: i64,
    pub(crate) description: String,
    /// Seconds to wait before a retry.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) retry_after: Option<u64>,
    /// Id of the supergroup that the group was upgraded to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) migrate_to_chat_id: Option<i64>,
    /// `true` if the call certainly never reached Telegram.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    unsent: bool,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct TelegramRequest<'a> {
    pub(crate) method: &'a Method,
    /// Validated arguments. Those with uploads have the value `attach://` and the part's name.
    pub(crate) args: &'a Map<String, Value>,
    pub(crate) uploads: &'a [Upload],
}

/// Telegram's answer, successful or not.
#[derive(Deserialize)]
struct TelegramReply {
    ok: bool,
    result: Option<Value>,
    error_code: Option<i64>,
    description: Option<String>,
    #[serde(default)]
    parameters: FailureParameters,
}

#[derive(Default, Deserialize)]
struct FailureParameters {
    retry_after: Option<u64>,
    migrate_to_chat_id: Option<i64>,
}

impl TelegramFailure {
    pub(crate) fn new(error_code: i64, description: impl Into<String>) -> Self {
        let description = description.into();
        Self { error_code, description, retry_after: None, migrate_to_chat_id: None, unsent: false }
    }
}

impl From<Busy> for TelegramFailure {
    fn from(busy: Busy) -> Self {
        let seconds = busy.retry_after.as_secs() + 1;
        let description = format!("Too Many Requests: this chat takes no more messages for {seconds} s");
        Self { retry_after: Some(seconds), ..Self::new(429, description) }
    }
}

impl TelegramServer {
    /// Makes the client, which connects on the first call.
    pub(crate) fn new(settings: &Settings) -> reqwest::Result<Self> {
        if CryptoProvider::get_default().is_none() {
            // Fails if another thread was first, which installs a provider all the same.
            drop(ring::default_provider().install_default());
        }
        // A redirect would leak the token to its target.
        let http = settings
            .proxies
            .client(Client::builder())?
            .connect_timeout(CONNECT_TIMEOUT)
            .timeout(TOTAL_TIMEOUT)
            .redirect(redirect::Policy::none())
            .http1_only()
            .build()?;
        let api_url = settings.api_url.as_str().trim_end_matches('/').to_owned();
        Ok(Self { http, api_url, paces: !settings.supervised })
    }

    /// Makes a connection to the bot of a token.
    pub(crate) fn bot(&self, token: &SecretString) -> Telegram {
        let api_url = &self.api_url;
        Telegram {
            http: self.http.clone(),
            base: format!("{api_url}/bot{}/", token.expose_secret()).into(),
            files: format!("{api_url}/file/bot{}/", token.expose_secret()).into(),
            token: token.clone(),
            pace: self.paces.then(Pace::default),
        }
    }
}

impl Telegram {
    /// Makes a call. Dropping the future cancels it.
    pub(crate) async fn call(&self, call: TelegramRequest<'_>) -> Result<Value, TelegramFailure> {
        if let Some(pace) = &self.pace {
            pace.turn(call.method, call.args).await?;
        }
        let whole = tokio::time::timeout(call.time(), self.attempts(call)).await;
        self.without_token(whole.unwrap_or_else(|_| Err(lost("Telegram did not answer in time"))))
    }

    /// Downloads a file by the path from `getFile`. Reads at most `most` bytes.
    pub(crate) async fn download(&self, path: &str, most: usize) -> Result<Vec<u8>, TelegramFailure> {
        let url = format!("{}{path}", self.files.expose_secret());
        let fetching = async {
            let response = self.http.get(url).send().await.map_err(undelivered)?;
            match response.status() {
                status if status.is_success() => {
                    let whole = bounded(response, |before, piece| before.len() + piece.len() <= most);
                    whole.await.map_err(undelivered)?.ok_or_else(|| {
                        let what = format!(
                            "the file is larger than {most} bytes, the most here; --max-file-mb changes that"
                        );
                        TelegramFailure::new(413, what)
                    })
                }
                StatusCode::NOT_FOUND => {
                    Err(TelegramFailure::new(404, "Telegram does not have the file any more"))
                }
                status => {
                    let what = format!("Telegram did not give the file: {status}");
                    Err(TelegramFailure::new(status.as_u16().into(), what))
                }
            }
        };
        let whole = tokio::time::timeout(TOTAL_TIMEOUT, fetching).await;
        self.without_token(
            whole.unwrap_or_else(|_| Err(TelegramFailure::new(504, "the file did not come in time"))),
        )
    }

    /// Removes the token from an error. Telegram does not repeat it, but a proxy might.
    fn without_token<T>(&self, outcome: Result<T, TelegramFailure>) -> Result<T, TelegramFailure> {
        outcome.map_err(|failure| {
            let description = failure.description.replace(self.token.expose_secret(), "[token]");
            TelegramFailure { description, ..failure }
        })
    }

    async fn attempts(&self, call: TelegramRequest<'_>) -> Result<Value, TelegramFailure> {
        let (mut retries, mut unclear) = (0, false);
        loop {
            let mut failure = match self.attempt(call).await {
                Ok(result) => return Ok(result),
                Err(failure) => failure,
            };
            let Some(moment) = self.next_try(call, &failure, retries) else {
                if unclear {
                    failure.unsent = false;
                    failure
                        .description
                        .push_str(" (an earlier try got no answer and may have been carried out)");
                }
                return Err(failure);
            };
            tracing::debug!(method = call.method.name, error_code = failure.error_code, "calling again");
            tokio::time::sleep_until(moment).await;
            unclear |= failure.error_code >= 500 && !failure.unsent;
            retries += 1;
        }
    }

    /// Returns the time of the next attempt; `None` if the call must not be repeated. Calls that were not sent or got a 429
    /// were not carried out. After other errors that is unknown, so only idempotent methods are repeated. After a 429 other
    /// calls to the chat wait too.
    fn next_try(
        &self,
        call: TelegramRequest<'_>,
        failure: &TelegramFailure,
        retries: u32,
    ) -> Option<Instant> {
        let may_repeat = retries < MAX_RETRIES;
        match (failure.error_code, failure.retry_after) {
            (429, Some(seconds)) => {
                let wait = Duration::from_secs(seconds);
                let repeats = may_repeat && wait <= SHORT_WAIT;
                let moment = self.pace.as_ref()?.hold(call.args, wait, repeats);
                repeats.then_some(moment)
            }
            (500.., _) if may_repeat && (failure.unsent || call.method.is_idempotent()) => {
                Some(Instant::now() + RETRY_PAUSE * (retries + 1))
            }
            _ => None,
        }
    }

    async fn attempt(&self, call: TelegramRequest<'_>) -> Result<Value, TelegramFailure> {
        let url = format!("{}{}", self.base.expose_secret(), call.method.name);
        let request = self.http.post(url).timeout(call.time());
        let sent = call.fill(request).send().await;
        let response = sent.map_err(|error| unanswered(error, &call.method.name))?;
        outcome(response).await.map_err(|error| unanswered(error, &call.method.name))?
    }
}

impl TelegramRequest<'_> {
    /// Returns the timeout of the call, including repeats.
    fn time(&self) -> Duration {
        let bytes: usize = self.uploads.iter().map(|upload| upload.bytes.len()).sum();
        TOTAL_TIMEOUT + Duration::from_secs((bytes / UPLOAD_BYTES_PER_SECOND) as u64)
    }

    /// Sets the body: JSON, or multipart with uploads.
    fn fill(&self, request: RequestBuilder) -> RequestBuilder {
        if self.uploads.is_empty() {
            return request.json(self.args);
        }
        let is_part = |name: &str| self.uploads.iter().any(|upload| upload.part == name);
        let mut form = Form::new();
        for (name, value) in self.args.iter().filter(|(name, _)| !is_part(name)) {
            let text = value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned);
            form = form.text(name.clone(), text);
        }
        for upload in self.uploads {
            let part = Part::stream_with_length(upload.bytes.clone(), upload.bytes.len() as u64)
                .file_name(upload.name.clone());
            form = form.part(upload.part.clone(), part);
        }
        request.multipart(form)
    }
}

/// Reads a body; `None` if `fits` rejects a piece, given the bytes so far and the piece. The rest is not read.
async fn bounded(
    mut response: Response,
    mut fits: impl FnMut(&[u8], &[u8]) -> bool,
) -> reqwest::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    while let Some(piece) = response.chunk().await? {
        if !fits(&bytes, &piece) {
            return Ok(None);
        }
        bytes.extend_from_slice(&piece);
    }
    Ok(Some(bytes))
}

/// Parses Telegram's answer. The outer error is a broken connection.
async fn outcome(response: Response) -> reqwest::Result<Result<Value, TelegramFailure>> {
    let status = response.status();
    let mut scan = BodyScan::default();
    let body = bounded(response, |before, piece| {
        scan.feed(piece);
        before.len() + piece.len() <= MAX_ANSWER && scan.parts <= MAX_ANSWER_PARTS
    });
    let Some(body) = body.await? else {
        let what = format!(
            "the answer has more than {MAX_ANSWER} bytes or {MAX_ANSWER_PARTS} values and was not read: the call may have \
             been carried out, so look before repeating it"
        );
        return Ok(Err(TelegramFailure::new(413, what)));
    };
    let Ok(reply) = serde_json::from_slice::<TelegramReply>(&body) else {
        let what = format!("{status} without a Bot API answer: check TELEGRAM_API_URL, or try again later");
        // A success status with a body other than the Bot API's is a failure.
        let code = if status.is_success() { 502 } else { status.as_u16() };
        return Ok(Err(TelegramFailure::new(code.into(), what)));
    };
    if let (true, Some(result)) = (reply.ok, reply.result) {
        return Ok(Ok(result));
    }
    let code = reply.error_code.unwrap_or_else(|| status.as_u16().into());
    let description = match (code, reply.description) {
        (401, _) => UNKNOWN_TOKEN.to_owned(),
        (_, Some(description)) => description,
        (_, None) => status.to_string(),
    };
    Ok(Err(TelegramFailure {
        retry_after: reply.parameters.retry_after,
        migrate_to_chat_id: reply.parameters.migrate_to_chat_id,
        ..TelegramFailure::new(code, description)
    }))
}

/// Converts a connection error of a call. The library's own text goes only to the log, without the URL.
fn unanswered(error: reqwest::Error, method: &str) -> TelegramFailure {
    let error = error.without_url();
    tracing::warn!(method, ?error, "Telegram gave no answer");
    if error.is_connect() {
        let what = "Telegram can not be reached, nothing was sent: check the network, or try later";
        return TelegramFailure { unsent: true, ..TelegramFailure::new(503, what) };
    }
    lost(if error.is_timeout() {
        "Telegram did not answer in time"
    } else {
        "the connection to Telegram broke"
    })
}

/// Converts a connection error of a download, which may be repeated safely.
fn undelivered(error: reqwest::Error) -> TelegramFailure {
    let error = error.without_url();
    tracing::warn!(?error, "Telegram did not deliver a file");
    TelegramFailure::new(503, "the file could not be fetched from Telegram: try again later")
}

fn lost(what: &str) -> TelegramFailure {
    TelegramFailure::new(
        504,
        format!("{what}: the call may have been carried out, so look before repeating it"),
    )
}
