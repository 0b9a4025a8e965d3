//! Several bots at one address, as at Telegram's.

use std::sync::Arc;

use axum::Router;
use axum::extract::Request;
use tokio::net::TcpListener;
use tower::ServiceExt;

use super::super::http::{self, ApiState};
use super::super::shared::SharedTelegram;
use super::super::{OfflineTelegram, TelegramOptions, sweep_drafts};
use crate::Runtime;

impl OfflineTelegram {
    /// Serves the Bot API of several bots on one listener. Each bot has a world of its own.
    ///
    /// # Errors
    /// The listener has no address.
    pub fn start_many(
        listener: TcpListener,
        options: Vec<TelegramOptions>,
        runtime: &Runtime,
    ) -> std::io::Result<Vec<Self>> {
        let url: Arc<str> = format!("http://{}", listener.local_addr()?).into();
        let (mut all, mut apis): (Vec<Self>, Vec<(String, Router)>) = Default::default();
        for options in options {
            let shared = SharedTelegram::new(options.new_state(), runtime);
            let token: Arc<str> = options.token.as_str().into();
            let api = http::routes(ApiState { shared: shared.clone(), token: Arc::clone(&token) });
            runtime.spawn("offline telegram drafts", sweep_drafts(shared.clone()));
            apis.push((format!("bot{token}/"), api));
            all.push(Self { shared, url: Arc::clone(&url), token, page: Router::new(), keeper: None });
        }
        let Some(first) = all.first() else { return Ok(all) };
        let apis = Arc::new(apis);
        let app = Router::new().fallback(move |request: Request| {
            let apis = Arc::clone(&apis);
            async move {
                let path = request.uri().path().trim_start_matches("/file").trim_start_matches('/');
                // A token that nobody has is refused by any.
                let api =
                    apis.iter().find(|(token, _)| path.starts_with(token)).unwrap_or(&apis[0]).1.clone();
                api.oneshot(request).await
            }
        });
        runtime.spawn("offline telegram", http::serve(first.shared.clone(), app, listener));
        Ok(all)
    }
}
