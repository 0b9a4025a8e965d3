//! Limits the cost of a request body before it is parsed: JSON outside of files in bytes and values, arrival time, and
//! memory of all bodies together. Used by `http`.
//!
//! A tree of tiny JSON values takes a hundred times its size in memory. So bytes are counted as they arrive, and an
//! expensive body waits until there is room for it.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use axum::body::{Body, BodyDataStream, Bytes, HttpBody};
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures::{StreamExt, stream};
use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout, timeout_at};

use crate::malformed;
use crate::scan::BodyScan;

/// Maximum size of a call without file contents, in bytes.
pub(crate) const MAX_JSON: usize = 1024 * 1024;
/// Maximum number of keys and values in a call. The largest valid messages have some thousands.
pub(crate) const MAX_PARTS: usize = 20_000;
/// Memory of a key or value in a parsed tree, in bytes; measured with `{"a":0}`.
pub(crate) const PART_COST: usize = 400;
/// Maximum size in bytes of a body that needs no room. Longer ones wait for it before they are read on.
const SMALL: usize = 64 * 1024;
/// Room of all long bodies together in MiB, from arrival to the end of their calls.
const BODY_ROOM: u32 = 64;
/// Room of all parsed trees together, in MiB. Small, because the allocator keeps the memory of many small values.
const TREE_ROOM: u32 = 16;
/// Timeout for the arrival of a body.
const ARRIVAL_TIMEOUT: Duration = Duration::from_secs(60);
/// Maximum pause within a body, which may hold room that others need.
const SILENCE_TIMEOUT: Duration = Duration::from_secs(10);
/// Timeout of a body that waits for room.
const ROOM_TIMEOUT: Duration = Duration::from_secs(60);
/// `Retry-After` in seconds for a client that found no room.
const RETRY_AFTER: &str = "5";

/// Limits shared by all requests. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Bodies {
    body_room: Arc<Semaphore>,
    tree_room: Arc<Semaphore>,
    /// Maximum size of a body with files, in bytes.
    longest: usize,
}

/// Reason why a body is rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BodyRefusal {
    TooLarge,
    TooSlow,
    NoRoom,
}

/// Room held by a body. Stored as an extension of the request, so it lives as long as the call.
#[derive(Debug, Clone, Default)]
struct BodyRoom(Arc<Mutex<Vec<OwnedSemaphorePermit>>>);

/// The bytes of a body that is not long, for the error if it is not MCP.
type BodyCopy = Arc<Mutex<Option<Vec<u8>>>>;

/// A body that is being received.
struct Arriving {
    body: BodyDataStream,
    scan: BodyScan,
    /// Bytes received so far.
    bytes: usize,
    /// Total bytes declared by the client, at most `longest`.
    declared: usize,
    is_long: bool,
    deadline: Instant,
    bodies: Bodies,
    room: BodyRoom,
    refusal: Arc<OnceLock<BodyRefusal>>,
    copy: BodyCopy,
}

impl Bodies {
    /// Makes limits for bodies of at most `longest` bytes, files included.
    pub(crate) fn new(longest: usize) -> Self {
        let [body_room, tree_room] =
            [BODY_ROOM, TREE_ROOM].map(|mebibytes| Arc::new(Semaphore::new(mebibytes as usize)));
        Self { body_room, tree_room, longest }
    }

    /// Middleware: passes the body on as it arrives. Replaces the response by an error if a limit is exceeded.
    pub(crate) async fn bound(State(bodies): State<Self>, request: Request, next: Next) -> Response {
        let (mut parts, body) = request.into_parts();
        let (room, refusal) = (BodyRoom::default(), Arc::<OnceLock<BodyRefusal>>::default());
        parts.extensions.insert(room.clone());
        let copy = BodyCopy::new(Mutex::new(Some(Vec::new())));
        let longest = bodies.longest;
        let declared = body.size_hint().upper().and_then(|bytes| usize::try_from(bytes).ok());
        let arriving = Arriving {
            body: body.into_data_stream(),
            scan: BodyScan::default(),
            bytes: 0,
            declared: declared.unwrap_or(longest).min(longest),
            is_long: false,
            deadline: Instant::now() + ARRIVAL_TIMEOUT,
            bodies,
            room,
            refusal: Arc::clone(&refusal),
            copy: Arc::clone(&copy),
        };
        let body = Body::from_stream(stream::try_unfold(arriving, Arriving::next));
        let response = next.run(Request::from_parts(parts, body)).await;
        if let Some(refusal) = refusal.get() {
            return refusal.into_response();
        }
        let copy = copy.lock().take();
        malformed::answer(response, copy).await
    }
}

impl BodyRoom {
    /// Waits for a share of the room, capped at the whole room.
    async fn add(&self, room: &Arc<Semaphore>, most: u32, bytes: usize) -> Result<(), BodyRefusal> {
        let share = u32::try_from(bytes >> 20).unwrap_or(most).min(most);
        if share == 0 {
            return Ok(());
        }
        match timeout(ROOM_TIMEOUT, Arc::clone(room).acquire_many_owned(share)).await {
            Ok(Ok(permit)) => {
                self.0.lock().push(permit);
                Ok(())
            }
            Ok(Err(_)) | Err(_) => Err(BodyRefusal::NoRoom),
        }
    }
}

impl Arriving {
    /// Returns the next piece of the body after checking the limits.
    async fn next(mut self) -> Result<Option<(Bytes, Self)>, axum::Error> {
        let outcome = self.piece().await;
        match outcome {
            Ok(piece) => Ok(piece.map(|piece| (piece, self))),
            Err(Ok(refusal)) => {
                self.refusal.get_or_init(|| refusal);
                if refusal != BodyRefusal::TooSlow {
                    self.discard().await;
                }
                Err(axum::Error::new(std::io::Error::other("the body is refused")))
            }
            Err(Err(broken)) => Err(broken),
        }
    }

    async fn piece(&mut self) -> Result<Option<Bytes>, Result<BodyRefusal, axum::Error>> {
        let until = self.deadline.min(Instant::now() + SILENCE_TIMEOUT);
        let Ok(piece) = timeout_at(until, self.body.next()).await else {
            return Err(Ok(BodyRefusal::TooSlow));
        };
        let piece = piece.transpose().map_err(Err)?;
        if let Some(piece) = &piece {
            self.bytes += piece.len();
            self.scan.feed(piece);
            if let Some(copy) = self.copy.lock().as_mut() {
                copy.extend_from_slice(piece);
            }
            if self.scan.json_bytes > MAX_JSON || self.scan.parts > MAX_PARTS {
                return Err(Ok(BodyRefusal::TooLarge));
            }
        }
        // Bytes first, then the tree: a fixed order prevents deadlocks between bodies.
        if !self.is_long && self.bytes > SMALL {
            self.is_long = true;
            self.copy.lock().take();
            // Counted twice: the received bytes and the strings parsed from them.
            self.room.add(&self.bodies.body_room, BODY_ROOM, 2 * self.declared).await.map_err(Ok)?;
        }
        if piece.is_none() {
            let tree = self.scan.parts * PART_COST;
            self.room.add(&self.bodies.tree_room, TREE_ROOM, tree).await.map_err(Ok)?;
        }
        Ok(piece)
    }

    /// Reads the rest of the body, so that the client sees the response instead of a broken connection.
    async fn discard(&mut self) {
        let reading = async {
            while let Some(Ok(piece)) = self.body.next().await {
                self.bytes += piece.len();
                if self.bytes > self.bodies.longest {
                    break;
                }
            }
        };
        if timeout_at(self.deadline, reading).await.is_err() {
            tracing::debug!("a client does not come to the end of a body that is refused");
        }
    }
}

impl IntoResponse for &BodyRefusal {
    fn into_response(self) -> Response {
        match self {
            BodyRefusal::TooLarge => {
                let text = format!(
                    "Payload Too Large: without the contents of its files, a call has at most {MAX_JSON} bytes and \
                     {MAX_PARTS} keys and values\n"
                );
                (StatusCode::PAYLOAD_TOO_LARGE, text).into_response()
            }
            BodyRefusal::TooSlow => {
                let text = format!(
                    "Request Timeout: a body arrives within {ARRIVAL_TIMEOUT:?}, without breaks of {SILENCE_TIMEOUT:?}\n"
                );
                (StatusCode::REQUEST_TIMEOUT, text).into_response()
            }
            BodyRefusal::NoRoom => {
                let text = "Service Unavailable: other large calls are under way, try again later\n";
                let headers = [(header::RETRY_AFTER, RETRY_AFTER)];
                (StatusCode::SERVICE_UNAVAILABLE, headers, text).into_response()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arriving(body: Body, bodies: &Bodies) -> Arriving {
        Arriving {
            body: body.into_data_stream(),
            scan: BodyScan::default(),
            bytes: 0,
            declared: bodies.longest,
            is_long: false,
            deadline: Instant::now() + ARRIVAL_TIMEOUT,
            bodies: bodies.clone(),
            room: BodyRoom::default(),
            refusal: Arc::default(),
            copy: BodyCopy::default(),
        }
    }

    /// Reads a body to its end: whether it was taken, and why not.
    async fn read(arriving: Arriving) -> Option<BodyRefusal> {
        let refusal = Arc::clone(&arriving.refusal);
        let pieces: Vec<_> = stream::try_unfold(arriving, Arriving::next).collect().await;
        assert_eq!(pieces.iter().any(Result::is_err), refusal.get().is_some());
        refusal.get().copied()
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_stops_on_its_way_is_given_up() {
        let bodies = Bodies::new(1 << 20);
        for (after, wanted) in [(1, SILENCE_TIMEOUT * 3 / 2), (usize::MAX, ARRIVAL_TIMEOUT)] {
            let drops = stream::repeat("0,").then(|drop| async move {
                tokio::time::sleep(SILENCE_TIMEOUT / 2).await;
                Ok::<_, std::io::Error>(drop)
            });
            let body = drops.take(after).chain(stream::pending());
            let start = Instant::now();
            assert_eq!(read(arriving(Body::from_stream(body), &bodies)).await, Some(BodyRefusal::TooSlow));
            assert_eq!(start.elapsed().as_secs(), wanted.as_secs());
        }
    }

    /// So many of these bodies have room at a time, and the next one waits.
    async fn waits_for_room(body: impl Fn() -> String, room: fn(&Bodies) -> &Arc<Semaphore>, count: usize) {
        let bodies = Bodies::new(40 << 20);
        let most = room(&bodies).available_permits();
        let mut held = Vec::new();
        for _ in 0..count {
            let next = arriving(Body::from(body()), &bodies);
            held.push(next.room.clone());
            assert_eq!(read(next).await, None);
        }
        let start = Instant::now();
        assert_eq!(read(arriving(Body::from(body()), &bodies)).await, Some(BodyRefusal::NoRoom));
        assert_eq!(start.elapsed(), ROOM_TIMEOUT);
        // What is small needs none.
        assert_eq!(read(arriving(Body::from("{}"), &bodies)).await, None);
        held.pop();
        assert_eq!(read(arriving(Body::from(body()), &bodies)).await, None);
        held.clear();
        assert_eq!(room(&bodies).available_permits(), most);
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_large_waits_for_room_and_not_for_ever() {
        let file = || format!("{{\"a\":{{\"a\":{{\"a\":{{\"text\":\"{}\"}}}}}}}}", "x".repeat(2 << 20));
        waits_for_room(file, |bodies| &bodies.body_room, 1).await;
        let tree = || format!("[{}0]", "0,".repeat(MAX_PARTS - 2));
        waits_for_room(tree, |bodies| &bodies.tree_room, 2).await;
    }
}
