//! The dashboard: pages about a bot in a browser. The binary serves [`router()`] beside the gateway, below `/dashboard`.
//!
//! A person signs in with a ticket of [`figaro_agent::sign_in`], which they ask for in the chat (`/dashboard`) or on the machine
//! (`figaro dashboard`), or opens the pages in Telegram as a Mini App, where Telegram says who they are (`mini_app`). An owner sees the whole bot, everybody else only what is theirs: `viewer` decides this once, and
//! each page asks it. Pages are written on the server, in the language of the person, from a template of the same name; they
//! work without scripts. The script keeps a page up to date (`live`) and sends its forms without loading it anew.
//!
//! A new page is a file in `pages` and a template of the same name.

mod assets;
mod browsers;
mod csp;
mod enter;
mod error;
mod guard;
mod init_data;
mod live;
mod mini_app;
mod names;
mod page;
mod pages;
mod plot;
mod process;
mod spec;
mod state;
mod viewer;

use axum::Router;
use axum::middleware;
use axum::response::Redirect;
use axum::routing::{get, post};

pub use self::process::{BotActivity, OwnedBot, ProcessBots};
pub use self::state::{DashboardParts, MiniAppParts};

use self::state::Dashboard;

/// Path of the dashboard below the address of the gateway.
pub const PATH: &str = "/dashboard";

/// Builds the router with all paths of the dashboard, which begin with `/dashboard`.
pub fn router(parts: DashboardParts) -> Router {
    let dashboard = Dashboard::new(parts, &pages::ALL);
    let inside = pages::routes()
        .route("/events", get(live::events))
        .route("/leave", post(enter::leave))
        .route("/enter/{ticket}", get(enter::offer).post(enter::redeem))
        .route(mini_app::PATH, get(mini_app::open).post(mini_app::launch))
        .route("/assets/{name}", get(assets::asset))
        .fallback(error::nothing)
        .layer(middleware::from_fn_with_state(dashboard.clone(), guard::guarded))
        .with_state(dashboard);
    // Relative, because a proxy or the name of a bot may stand before the path.
    Router::new()
        .route(PATH, get(async || Redirect::temporary("dashboard/")))
        .nest(&format!("{PATH}/"), inside)
}
