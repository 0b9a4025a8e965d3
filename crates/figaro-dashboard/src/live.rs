//! News for open pages. They tell that something changed, never what: the page loads itself anew, with the rights of its person.

use std::convert::Infallible;
use std::time::Duration;

use axum::extract::State;
use axum::response::IntoResponse;
use axum::response::sse::{Event, KeepAlive, Sse};
use futures::stream;

use super::error::PageError;
use super::state::Dashboard;
use super::viewer::Viewer;

/// Shortest time between two news.
const PAUSE: Duration = Duration::from_millis(500);
/// Time between two news of a member, whether or not something changed: the moment of a change would tell them about others.
const OF_MEMBER: Duration = Duration::from_secs(1);

/// Streams news until the page is closed or the bot stops.
pub(crate) async fn events(
    State(dashboard): State<Dashboard>,
    viewer: Viewer,
) -> Result<impl IntoResponse, PageError> {
    let permit = viewer.browser.streams.clone().try_acquire_owned();
    let permit = permit.map_err(|_full| PageError::TooMany)?;
    let (news, stopping) = (dashboard.store.news(), dashboard.background.clone());
    let is_owner = viewer.is_owner;
    let told = stream::unfold((news, permit), move |(mut news, permit)| {
        let stopping = stopping.clone();
        async move {
            let next = async {
                match is_owner {
                    true => {
                        tokio::time::sleep(PAUSE).await;
                        news.next().await;
                    }
                    false => tokio::time::sleep(OF_MEMBER).await,
                }
            };
            tokio::select! {
                () = next => {}
                () = stopping.stopping() => return None,
            }
            // Browsers leave out events without data.
            let changed = Event::default().event("changed").data("1");
            Some((Ok::<_, Infallible>(changed), (news, permit)))
        }
    });
    // Buffering proxies would hold them back.
    let unbuffered = [("x-accel-buffering", "no")];
    Ok((unbuffered, Sse::new(told).keep_alive(KeepAlive::new().text("keep-alive"))))
}
