//! Calls of the Bot API over HTTP: one method in, its result or a [`Failure`] out. Used by the server.
//! No failure ever carries the URL, because the token is a part of it.

use std::time::Duration;

use reqwest::{Client, Response, redirect};
use rustls::crypto::{CryptoProvider, ring};
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::pace::{Busy, Pace};
use crate::settings::Settings;
use crate::table::{Class, Method};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// For a call as a whole, repetitions included; a long poll is 50 s.
const TOTAL_TIMEOUT: Duration = Duration::from_secs(60);
/// A longer `retry_after` is the caller's to wait out.
const SHORT_WAIT: u64 = 5;
/// Repetitions of a call that was turned away.
const MAX_RETRIES: u32 = 2;
const RETRY_PAUSE: Duration = Duration::from_millis(500);

/// A connection to one bot.
#[derive(Debug)]
pub(crate) struct Telegram {
    http: Client,
    /// Ends in a slash; the method's name follows.
    base: SecretString,
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
        Self { error_code, description: description.into(), retry_after: None, migrate_to_chat_id: None }
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
        let http = Client::builder()
            .connect_timeout(CONNECT_TIMEOUT)
            .timeout(TOTAL_TIMEOUT)
            .redirect(redirect::Policy::none())
            .build()?;
        let api_url = settings.api_url.as_str().trim_end_matches('/');
        let base = format!("{api_url}/bot{}/", settings.token.expose_secret()).into();
        let pace = if settings.supervised { None } else { Some(Pace::default()) };
        Ok(Self { http, base, token: settings.token.clone(), pace })
    }

    /// Calls a method with arguments that fit it. Dropping the future ends the call.
    pub(crate) async fn call(&self, method: &Method, args: &Map<String, Value>) -> Result<Value, Failure> {
        if let Some(pace) = &self.pace {
            pace.turn(method, args).await?;
        }
        let whole = tokio::time::timeout(TOTAL_TIMEOUT, self.attempts(method, args)).await;
        let failure = match whole {
            Ok(Ok(result)) => return Ok(result),
            Ok(Err(failure)) => failure,
            Err(_) => lost("Telegram did not answer in time"),
        };
        // Telegram does not repeat the token, but what stands between us and it might.
        let description = failure.description.replace(self.token.expose_secret(), "[token]");
        Err(Failure { description, ..failure })
    }

    async fn attempts(&self, method: &Method, args: &Map<String, Value>) -> Result<Value, Failure> {
        let mut retries = 0;
        loop {
            let failure = match self.attempt(method, args).await {
                Ok(result) => return Ok(result),
                Err(failure) => failure,
            };
            let Some(pause) = self.pause(method, &failure, retries) else {
                return Err(failure);
            };
            tracing::debug!(method = method.name, error_code = failure.error_code, ?pause, "calling again");
            tokio::time::sleep(pause).await;
            retries += 1;
        }
    }

    /// How long to wait before the same call again, if it may be repeated: a 429 was not carried out; after anything
    /// else that is unknown, and only looking something up does no harm twice.
    fn pause(&self, method: &Method, failure: &Failure, retries: u32) -> Option<Duration> {
        if retries >= MAX_RETRIES {
            return None;
        }
        match (failure.error_code, failure.retry_after) {
            (429, Some(wait)) if wait <= SHORT_WAIT && self.pace.is_some() => Some(Duration::from_secs(wait)),
            (500.., _) if method.class == Class::Read => Some(RETRY_PAUSE * (retries + 1)),
            _ => None,
        }
    }

    async fn attempt(&self, method: &Method, args: &Map<String, Value>) -> Result<Value, Failure> {
        let url = format!("{}{}", self.base.expose_secret(), method.name);
        let sent = self.http.post(url).json(args).send().await;
        let response = sent.map_err(|error| unanswered(error, &method.name))?;
        outcome(response).await.map_err(|error| unanswered(error, &method.name))?
    }
}

/// What the answer says; the outer error is a connection that broke under it.
async fn outcome(response: Response) -> reqwest::Result<Result<Value, Failure>> {
    let status = response.status();
    let body = response.bytes().await?;
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
        return Failure::new(
            503,
            "Telegram can not be reached, nothing was sent: check the network, or try later",
        );
    }
    lost(if error.is_timeout() {
        "Telegram did not answer in time"
    } else {
        "the connection to Telegram broke"
    })
}

fn lost(what: &str) -> Failure {
    Failure::new(504, format!("{what}: the call may have been carried out, so look before repeating it"))
}
