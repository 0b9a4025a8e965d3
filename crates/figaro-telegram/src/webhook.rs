//! Gets updates as Telegram sends them, over HTTPS by a proxy. Telegram is answered once an update is stored durably.

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
use super::poller::KINDS;
use super::tries;
use figaro_base::secret::ExposeSecret;
use figaro_base::shutdown::TaskTracker;
use figaro_config::WebhookSettings;

/// The most bytes of an update; Telegram's are far below it.
const MAX_BYTES: usize = 1 << 20;
/// The header by which Telegram shows that it is Telegram.
const HEADER: &str = "x-telegram-bot-api-secret-token";

/// Gets updates as Telegram sends them.
#[derive(Debug, Clone)]
pub struct Webhook {
    /// The client of the Bot API.
    pub api: Api,
    /// What takes updates in.
    pub intake: Intake,
    /// The address that Telegram is told, and the secret.
    pub settings: WebhookSettings,
    /// It ends when this is asked to stop.
    pub background: TaskTracker,
}

impl Webhook {
    /// What is served for Telegram.
    pub fn routes(self) -> Router {
        let path = self.settings.path.clone();
        Router::new().route(&path, post(receive)).with_state(Arc::new(self))
    }

    /// Tells Telegram where to send updates, until it has heard. One at a time, so that they stay in order.
    pub async fn register(self) {
        let mut pauses = tries::pauses();
        while !self.background.is_stopping() {
            let payload = SetWebhook(json!({
                "url": self.settings.url,
                "secret_token": self.settings.secret.expose_secret(),
                "allowed_updates": KINDS,
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

    /// Compares hashes, so that time tells nothing of the secret or its length.
    fn is_telegram(&self, headers: &HeaderMap) -> bool {
        let shown = headers.get(HEADER).map_or(&[][..], |value| value.as_bytes());
        let hash = |bytes: &[u8]| digest(&SHA256, bytes);
        let own = hash(self.settings.secret.expose_secret().as_bytes());
        own.as_ref().ct_eq(hash(shown).as_ref()).into()
    }
}

/// Takes one update in.
async fn receive(State(webhook): State<Arc<Webhook>>, headers: HeaderMap, body: Body) -> StatusCode {
    if !webhook.is_telegram(&headers) {
        return StatusCode::UNAUTHORIZED;
    }
    // Telegram sends it again, to the next start.
    if webhook.background.is_stopping() {
        return StatusCode::SERVICE_UNAVAILABLE;
    }
    let Ok(bytes) = to_bytes(body, MAX_BYTES).await else { return StatusCode::PAYLOAD_TOO_LARGE };
    let Ok(text) = std::str::from_utf8(&bytes) else { return StatusCode::BAD_REQUEST };
    // It is read as an answer of one update.
    let answer = format!(r#"{{"ok":true,"result":[{text}]}}"#);
    let Ok(updates) = batch::read(StatusCode::OK.as_u16(), &answer) else { return StatusCode::BAD_REQUEST };
    // It goes on when the connection ends: an update that is stored would else be dealt with by nobody until a restart.
    let (done, taken) = oneshot::channel();
    let intake = webhook.intake.clone();
    webhook.background.spawn("webhook_update", async move {
        let is_taken = intake.take(updates).await.is_some();
        // Nobody waits for it where the connection has ended.
        done.send(is_taken).ok();
    });
    match taken.await {
        Ok(true) => StatusCode::OK,
        Ok(false) | Err(_) => StatusCode::SERVICE_UNAVAILABLE,
    }
}
