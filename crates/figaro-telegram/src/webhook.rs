//! Receives updates that Telegram sends over HTTPS through a proxy. Telegram gets its answer after an update is
//! stored durably.

use std::sync::Arc;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use ring::digest::{SHA256, digest};
use serde_json::json;
use subtle::ConstantTimeEq;
use tokio::sync::oneshot;

use super::api::{Api, SetWebhook};
use super::batch;
use super::intake::Intake;
use super::kinds;
use super::tries;
use figaro_base::secret::ExposeSecret;
use figaro_base::shutdown::TaskTracker;
use figaro_config::WebhookSettings;

/// Maximum size of an update, in bytes; Telegram's updates are far smaller.
const MAX_BYTES: usize = 1 << 20;
/// Header with the secret that authenticates Telegram.
const HEADER: &str = "x-telegram-bot-api-secret-token";

/// Receives the updates that Telegram sends.
#[derive(Debug, Clone)]
pub struct Webhook {
    /// Client of the Bot API, to register the webhook.
    pub api: Api,
    /// Stores the updates and passes them on.
    pub intake: Intake,
    /// Address and secret that Telegram is given.
    pub settings: WebhookSettings,
    /// Background work and its stop signal, which ends the registration and the endpoint.
    pub background: TaskTracker,
}

impl Webhook {
    /// Returns the HTTP routes for Telegram.
    pub fn routes(self) -> Router {
        let path = self.settings.path.clone();
        Router::new().route(&path, post(receive)).with_state(Arc::new(self))
    }

    /// Registers the webhook with Telegram, with retries. Telegram sends one update at a time, so that they stay in
    /// order.
    pub async fn register(self) {
        let mut pauses = tries::pauses();
        while !self.background.is_stopping() {
            let payload = SetWebhook(json!({
                "url": self.settings.url,
                "secret_token": self.settings.secret.expose_secret(),
                "allowed_updates": kinds::asked(),
                "max_connections": 1,
            }));
            match self.api.call(payload).await {
                Ok(_) => {
                    tracing::info!("Telegram sends updates to WEBHOOK_URL from now on");
                    return;
                }
                Err(error) => {
                    tracing::warn!(%error, "Telegram could not be told of WEBHOOK_URL; trying again")
                }
            }
            tokio::select! {
                () = tokio::time::sleep(pauses.next().unwrap_or_default()) => {}
                () = self.background.stopping() => {}
            }
        }
    }

    /// Returns `true` if the request has the secret. Compares hashes, so that timing reveals neither the secret nor
    /// its length.
    fn is_telegram(&self, headers: &HeaderMap) -> bool {
        let shown = headers.get(HEADER).map_or(&[][..], |value| value.as_bytes());
        let hash = |bytes: &[u8]| digest(&SHA256, bytes);
        let own = hash(self.settings.secret.expose_secret().as_bytes());
        own.as_ref().ct_eq(hash(shown).as_ref()).into()
    }
}

/// Handles a request with one update.
async fn receive(State(webhook): State<Arc<Webhook>>, headers: HeaderMap, body: Body) -> StatusCode {
    if !webhook.is_telegram(&headers) {
        return StatusCode::UNAUTHORIZED;
    }
    // Telegram sends the update again after the restart.
    if webhook.background.is_stopping() {
        return StatusCode::SERVICE_UNAVAILABLE;
    }
    let Ok(bytes) = to_bytes(body, MAX_BYTES).await else { return StatusCode::PAYLOAD_TOO_LARGE };
    let Ok(text) = std::str::from_utf8(&bytes) else { return StatusCode::BAD_REQUEST };
    // Parsed like a `getUpdates` answer with one update.
    let answer = format!(r#"{{"ok":true,"result":[{text}]}}"#);
    let Ok(updates) = batch::read(StatusCode::OK.as_u16(), &answer) else { return StatusCode::BAD_REQUEST };
    // The intake continues if the connection ends. Otherwise a stored update would not be handled before the next
    // restart.
    let (done, taken) = oneshot::channel();
    let intake = webhook.intake.clone();
    webhook.background.spawn("webhook_update", async move {
        let is_taken = intake.take(updates).await.is_some();
        // If the connection has ended, nobody receives the result.
        done.send(is_taken).ok();
    });
    match taken.await {
        Ok(true) => StatusCode::OK,
        Ok(false) | Err(_) => StatusCode::SERVICE_UNAVAILABLE,
    }
}
