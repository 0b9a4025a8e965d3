//! Calls of the Bot API over HTTP: one method in, its result or a [`Failure`] out. Used by the server.
//! No failure ever carries the URL, because the token is a part of it.

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
use crate::scan::Scan;
use crate::settings::Settings;
use crate::table::Method;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// For a call as a whole, repetitions included; a long poll is 50 s.
const TOTAL_TIMEOUT: Duration = Duration::from_secs(60);
/// What an upload may take beyond that, at the slowest line worth waiting for.
const UPLOAD_BYTES_PER_SECOND: usize = 100_000;
/// Repetitions of a call that was turned away.
const MAX_RETRIES: u32 = 2;
const RETRY_PAUSE: Duration = Duration::from_millis(500);
/// The most bytes of an answer. The largest, such as a sticker set, have some hundred thousand.
const MAX_ANSWER: usize = 4 << 20;
/// The most keys and values of an answer: as a tree each takes some 400 bytes.
const MAX_ANSWER_PARTS: usize = 100_000;

/// A connection to one bot.
#[derive(Debug)]
pub(crate) struct Telegram {
    http: Client,
    /// Ends in a slash; the method's name follows.
    base: SecretString,
    /// Ends in a slash; a file's path follows.
    files: SecretString,
    token: SecretString,
    /// `None` when a parent paces, which then also sees every 429.
    pace: Option<Pace>,
}

/// Why a call has no result, as the caller gets to see it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Failure {
    /// Telegram's own code, or 503 when it was not reached and 504 when its answer was lost.
    pub(crate) error_code: i64,
    pub(crate) description: String,
    /// Seconds to wait before the call can work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) retry_after: Option<u64>,
    /// The supergroup that this group has become.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) migrate_to_chat_id: Option<i64>,
    /// Telegram has seen nothing of the call.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    unsent: bool,
}

/// A call on its way to Telegram.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Call<'a> {
    pub(crate) method: &'a Method,
    /// Arguments that fit the method; those of `uploads` say `attach://` and the part's name.
    pub(crate) args: &'a Map<String, Value>,
    pub(crate) uploads: &'a [Upload],
}

/// What Telegram answers, success or not.
#[derive(Deserialize)]
struct Reply {
    ok: bool,
    result: Option<Value>,
    error_code: Option<i64>,
    description: Option<String>,
    #[serde(default)]
    parameters: Parameters,
}

#[derive(Default, Deserialize)]
struct Parameters {
    retry_after: Option<u64>,
    migrate_to_chat_id: Option<i64>,
}

impl Failure {
    pub(crate) fn new(error_code: i64, description: impl Into<String>) -> Self {
        let description = description.into();
        Self { error_code, description, retry_after: None, migrate_to_chat_id: None, unsent: false }
    }
}

impl From<Busy> for Failure {
    fn from(busy: Busy) -> Self {
        let seconds = busy.retry_after.as_secs() + 1;
        let description = format!("Too Many Requests: this chat takes no more messages for {seconds} s");
        Self { retry_after: Some(seconds), ..Self::new(429, description) }
    }
}

impl Telegram {
    /// Connects on the first call.
    pub(crate) fn new(settings: &Settings) -> reqwest::Result<Self> {
        if CryptoProvider::get_default().is_none() {
            // Another thread may have been first; then there is a provider all the same.
            drop(ring::default_provider().install_default());
        }
        // A redirect would carry the token to wherever it points.
        let http = settings
            .proxies
            .client(Client::builder())?
            .connect_timeout(CONNECT_TIMEOUT)
            .timeout(TOTAL_TIMEOUT)
            .redirect(redirect::Policy::none())
            .http1_only()
            .build()?;
        let api_url = settings.api_url.as_str().trim_end_matches('/');
        let base = format!("{api_url}/bot{}/", settings.token.expose_secret()).into();
        let files = format!("{api_url}/file/bot{}/", settings.token.expose_secret()).into();
        let pace = if settings.supervised { None } else { Some(Pace::default()) };
        Ok(Self { http, base, files, token: settings.token.clone(), pace })
    }

    /// Makes a call. Dropping the future ends it.
    pub(crate) async fn call(&self, call: Call<'_>) -> Result<Value, Failure> {
        if let Some(pace) = &self.pace {
            pace.turn(call.method, call.args).await?;
        }
        let whole = tokio::time::timeout(call.time(), self.attempts(call)).await;
        self.without_token(whole.unwrap_or_else(|_| Err(lost("Telegram did not answer in time"))))
    }

    /// Fetches a file by the path that `getFile` gave. More than `most` bytes are not read.
    pub(crate) async fn download(&self, path: &str, most: usize) -> Result<Vec<u8>, Failure> {
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
                        Failure::new(413, what)
                    })
                }
                StatusCode::NOT_FOUND => Err(Failure::new(404, "Telegram does not have the file any more")),
                status => {
                    let what = format!("Telegram did not give the file: {status}");
                    Err(Failure::new(status.as_u16().into(), what))
                }
            }
        };
        let whole = tokio::time::timeout(TOTAL_TIMEOUT, fetching).await;
        self.without_token(whole.unwrap_or_else(|_| Err(Failure::new(504, "the file did not come in time"))))
    }

    /// Telegram does not repeat the token, but what stands between us and it might.
    fn without_token<T>(&self, outcome: Result<T, Failure>) -> Result<T, Failure> {
        outcome.map_err(|failure| {
            let description = failure.description.replace(self.token.expose_secret(), "[token]");
            Failure { description, ..failure }
        })
    }

    async fn attempts(&self, call: Call<'_>) -> Result<Value, Failure> {
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

    /// When the same call may be repeated, if it may: what never left or got a 429 was not carried out; after anything
    /// else that is unknown, and only some methods do no harm twice. After a 429 the chat's other calls wait as well.
    fn next_try(&self, call: Call<'_>, failure: &Failure, retries: u32) -> Option<Instant> {
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

    async fn attempt(&self, call: Call<'_>) -> Result<Value, Failure> {
        let url = format!("{}{}", self.base.expose_secret(), call.method.name);
        let request = self.http.post(url).timeout(call.time());
        let sent = call.fill(request).send().await;
        let response = sent.map_err(|error| unanswered(error, &call.method.name))?;
        outcome(response).await.map_err(|error| unanswered(error, &call.method.name))?
    }
}

impl Call<'_> {
    /// For the call as a whole.
    fn time(&self) -> Duration {
        let bytes: usize = self.uploads.iter().map(|upload| upload.bytes.len()).sum();
        TOTAL_TIMEOUT + Duration::from_secs((bytes / UPLOAD_BYTES_PER_SECOND) as u64)
    }

    /// JSON, or multipart where files go along.
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

/// The body of an answer; `None` if it breaks the bound, which is given what has come so far and the next piece. The rest is
/// not read.
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

/// What the answer says; the outer error is a connection that broke under it.
async fn outcome(response: Response) -> reqwest::Result<Result<Value, Failure>> {
    let status = response.status();
    let mut scan = Scan::default();
    let body = bounded(response, |before, piece| {
        scan.feed(piece);
        before.len() + piece.len() <= MAX_ANSWER && scan.parts <= MAX_ANSWER_PARTS
    });
    let Some(body) = body.await? else {
        let what = format!(
            "the answer has more than {MAX_ANSWER} bytes or {MAX_ANSWER_PARTS} values and was not read: the call may have \
             been carried out, so look before repeating it"
        );
        return Ok(Err(Failure::new(413, what)));
    };
    let Ok(reply) = serde_json::from_slice::<Reply>(&body) else {
        let what = format!("{status} without a Bot API answer: check TELEGRAM_API_URL, or try again later");
        // Success in another language is no success.
        let code = if status.is_success() { 502 } else { status.as_u16() };
        return Ok(Err(Failure::new(code.into(), what)));
    };
    if let (true, Some(result)) = (reply.ok, reply.result) {
        return Ok(Ok(result));
    }
    let code = reply.error_code.unwrap_or_else(|| status.as_u16().into());
    Ok(Err(Failure {
        retry_after: reply.parameters.retry_after,
        migrate_to_chat_id: reply.parameters.migrate_to_chat_id,
        ..Failure::new(code, reply.description.unwrap_or_else(|| status.to_string()))
    }))
}

/// The library's own text stays in the log, without the URL.
fn unanswered(error: reqwest::Error, method: &str) -> Failure {
    let error = error.without_url();
    tracing::warn!(method, ?error, "Telegram gave no answer");
    if error.is_connect() {
        let what = "Telegram can not be reached, nothing was sent: check the network, or try later";
        return Failure { unsent: true, ..Failure::new(503, what) };
    }
    lost(if error.is_timeout() {
        "Telegram did not answer in time"
    } else {
        "the connection to Telegram broke"
    })
}

/// The same for a file, which there is no harm in asking for again.
fn undelivered(error: reqwest::Error) -> Failure {
    let error = error.without_url();
    tracing::warn!(?error, "Telegram did not deliver a file");
    Failure::new(503, "the file could not be fetched from Telegram: try again later")
}

fn lost(what: &str) -> Failure {
    Failure::new(504, format!("{what}: the call may have been carried out, so look before repeating it"))
}
