//! Mini Apps on the page: a press on a button that opens one.

use std::sync::Arc;

use axum::extract::State as Extract;
use axum::response::Response;
use axum::routing::post;
use axum::{Json, Router};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::super::mini_app::{self, MiniAppButton, MiniAppPress};
use super::super::shared::SharedTelegram;
use super::refusal::answer;

/// State of the route.
#[derive(Clone)]
struct Apps {
    shared: SharedTelegram,
    /// Token of the bot, which signs the data.
    token: Arc<str>,
}

/// Returns the route that opens Mini Apps.
pub(super) fn routes(shared: SharedTelegram, token: Arc<str>) -> Router {
    Router::new().route("/demo/app", post(open)).with_state(Apps { shared, token })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AppBody {
    from: i64,
    /// `None` opens the app of the menu button.
    inline: Option<InlineBody>,
    /// Colors of the page, as the `ThemeParams` object.
    theme: Map<String, Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct InlineBody {
    message_id: i64,
    url: String,
}

async fn open(Extract(apps): Extract<Apps>, Json(body): Json<AppBody>) -> Response {
    let AppBody { from: user, inline, theme } = body;
    let button = match &inline {
        Some(InlineBody { message_id, url }) => MiniAppButton::Inline { message_id: *message_id, url },
        None => MiniAppButton::Menu,
    };
    let press = MiniAppPress { user, button, theme: &Value::Object(theme) };
    let now = apps.shared.now().timestamp();
    let opened = apps.shared.change(|state| mini_app::open(state, &apps.token, &press, now));
    answer(opened.map(|url| json!({"url": url})))
}
