//! Limit on the rate at which a server is read: a flood of messages slows down the server, not the bot.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use futures::{Stream, StreamExt};
use tokio::io::{AsyncRead, ReadBuf};
use tokio::time::{Instant, Sleep, sleep_until};

/// Length of the interval that the limits apply to.
const WHILE: Duration = Duration::from_secs(1);
/// Maximum number of messages read from a server per `WHILE`. A call has one answer and at most a few hundred
/// progress notifications.
const MAX_MESSAGES: usize = 1_000;
/// Maximum number of bytes read per `WHILE`.
const MAX_BYTES: usize = 32 << 20;

/// Amount read in the current `WHILE`.
#[derive(Debug)]
struct ReadRate {
    since: Instant,
    messages: usize,
    bytes: usize,
}

impl ReadRate {
    fn new() -> Self {
        Self { since: Instant::now(), messages: 0, bytes: 0 }
    }

    /// Counts what was read. Returns the time until which reading pauses, if a limit is reached.
    fn count(&mut self, messages: usize, bytes: usize) -> Option<Instant> {
        if self.since.elapsed() >= WHILE {
            *self = Self::new();
        }
        self.messages = self.messages.saturating_add(messages);
        self.bytes = self.bytes.saturating_add(bytes);
        (self.messages > MAX_MESSAGES || self.bytes > MAX_BYTES).then(|| self.since + WHILE)
    }
}

/// Pipe that is read at a limited rate; its writer has to wait. A line is a message.
#[derive(Debug)]
pub(super) struct Paced<R> {
    inner: R,
    pace: ReadRate,
    rest: Option<Pin<Box<Sleep>>>,
}

impl<R> Paced<R> {
    pub(super) fn new(inner: R) -> Self {
        Self { inner, pace: ReadRate::new(), rest: None }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for Paced<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if let Some(rest) = &mut self.rest {
            ready!(rest.as_mut().poll(context));
            self.rest = None;
        }
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.inner).poll_read(context, buffer))?;
        let read = buffer.filled().get(before..).unwrap_or_default();
        let messages = read.iter().filter(|byte| **byte == b'\n').count();
        self.rest = self.pace.count(messages, read.len()).map(|at| Box::pin(sleep_until(at)));
        Poll::Ready(Ok(()))
    }
}

/// Limits the events of a stream to the same rate.
pub(super) fn paced<T: Send + 'static>(
    events: impl Stream<Item = T> + Send + 'static,
) -> impl Stream<Item = T> + Send + 'static {
    let mut pace = ReadRate::new();
    events.then(move |event| {
        let rest = pace.count(1, 0);
        async move {
            if let Some(at) = rest {
                sleep_until(at).await;
            }
            event
        }
    })
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt;

    use super::*;

    /// All of it, read in small pieces.
    async fn all(written: &[u8]) -> Vec<u8> {
        let (mut paced, mut read, mut buffer) = (Paced::new(written), Vec::new(), [0; 1000]);
        loop {
            match paced.read(&mut buffer).await.unwrap() {
                0 => return read,
                count => read.extend_from_slice(&buffer[..count]),
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn who_talks_without_end_is_read_so_much_at_a_time() {
        for (piece, most) in [(b"{}\n".to_vec(), MAX_MESSAGES), (vec![b'x'; 1 << 20], MAX_BYTES >> 20)] {
            let whole = piece.repeat(3 * most);
            let began = Instant::now();
            assert!(all(&whole).await == whole, "nothing is lost");
            let took = began.elapsed();
            assert!((WHILE * 2..WHILE * 4).contains(&took), "{took:?}");
        }
        let began = Instant::now();
        let events = paced(futures::stream::iter(0..3 * MAX_MESSAGES)).collect::<Vec<_>>().await;
        assert!(events.into_iter().eq(0..3 * MAX_MESSAGES));
        assert!((WHILE * 2..WHILE * 4).contains(&began.elapsed()), "{:?}", began.elapsed());
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_keeps_to_it_waits_for_nothing() {
        let began = Instant::now();
        all(&b"{}\n".repeat(MAX_MESSAGES)).await;
        assert_eq!(began.elapsed(), Duration::ZERO);
    }
}
