//! Web side of the offline Telegram: the demo page, its event stream and the visitor's actions.

mod acts;
mod apps;
mod events;
mod files;
mod guard;
mod hello;
mod refusal;

use std::sync::Arc;

use axum::Router;
use axum::response::Html;
use axum::routing::get;

pub(super) use self::guard::{for_this_machine, with_key};
use super::shared::SharedTelegram;
use super::world::DemoInfo;

/// Returns the routes of the page: `/`, and everything it uses under `/demo`. They admit everybody; see [`for_this_machine`]
/// and [`with_key`].
pub(super) fn routes(
    shared: &SharedTelegram,
    page_html: &'static str,
    about: &DemoInfo,
    token: &Arc<str>,
) -> Router {
    Router::new()
        .route("/", get(move || async move { Html(page_html) }))
        .merge(events::routes(shared.clone(), about))
        .merge(acts::routes(shared.clone()))
        .merge(apps::routes(shared.clone(), Arc::clone(token)))
        .merge(files::routes(shared.clone()))
}
