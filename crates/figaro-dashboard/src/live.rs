//! News for open pages. They tell that something changed, never what: the page loads itself anew, with the rights of its person.

use std::convert::Infallible;
use std::time::Duration;

use axum::extract::State;
use axum::response::IntoResponse;
use axum::response::sse::{Event, KeepAlive, Sse};
use futures::stream;
use tokio::time::timeout;

use super::browsers::StreamPermit;
use super::error::DashboardError;
use super::state::Dashboard;
use super::viewer::{Viewer, standing};
use figaro_policy::access::Standing;
use figaro_store::StoreNews;

/// Shortest time between two news.
const PAUSE: Duration = Duration::from_millis(500);
/// Time between two news of a member, whether or not something changed: the moment of a change would tell them about others.
const OF_MEMBER: Duration = Duration::from_secs(1);
/// Longest time between two news: some of what a page shows is not in the store.
const AT_LATEST: Duration = Duration::from_secs(10);

/// Streams news until the page is closed or the bot stops.
pub(crate) async fn events(
    State(dashboard): State<Dashboard>,
    viewer: Viewer,
) -> Result<impl IntoResponse, DashboardError> {
    let permit = dashboard.browsers().stream(&viewer.browser).ok_or(DashboardError::TooMany)?;
    let first = WatchedPage { news: dashboard.store.news(), dashboard, viewer, _permit: permit };
    let told = stream::unfold(first, async |mut page| {
        page.changed().await.then(|| {
            // Browsers leave out events without data.
            let changed = Event::default().event("changed").data("1");
            (Ok::<_, Infallible>(changed), page)
        })
    });
    // Buffering proxies would hold them back.
    let unbuffered = [("x-accel-buffering", "no")];
    Ok((unbuffered, Sse::new(told).keep_alive(KeepAlive::new().text("keep-alive"))))
}

/// A page that is kept up to date.
struct WatchedPage {
    news: StoreNews,
    dashboard: Dashboard,
    viewer: Viewer,
    _permit: StreamPermit,
}

impl WatchedPage {
    /// Waits until there may be something new. Returns `false` if the page is told nothing any more.
    async fn changed(&mut self) -> bool {
        let next = async {
            if !self.viewer.is_owner {
                return tokio::time::sleep(OF_MEMBER).await;
            }
            tokio::time::sleep(PAUSE).await;
            // At the latest then.
            let _in_time = timeout(AT_LATEST, self.news.next()).await;
        };
        tokio::select! {
            () = next => {}
            () = self.dashboard.background.stopping() => return false,
        }
        let now = self.dashboard.clock.now();
        let Ok(standing) = standing(&self.dashboard, self.viewer.user(), now) else { return false };
        let is_same = standing.is_some_and(|standing| (standing == Standing::Owner) == self.viewer.is_owner);
        is_same && self.dashboard.browsers().has(&self.viewer.browser, now)
    }
}
