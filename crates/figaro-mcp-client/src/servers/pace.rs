//! A bound on how fast a server is listened to: one that talks without end takes its own time, not ours.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use futures::{Stream, StreamExt};
use tokio::io::{AsyncRead, ReadBuf};
use tokio::time::{Instant, Sleep, sleep_until};

/// So much is read in each of these.
const WHILE: Duration = Duration::from_secs(1);
/// The most messages of a server that are read in a while. A call has one answer and, at most, a few hundred notes on its progress.
const MAX_MESSAGES: usize = 1_000;
/// The most bytes of them.
const MAX_BYTES: usize = 32 << 20;

/// What was read in this while.
#[derive(Debug)]
struct Pace {
    since: Instant,
    messages: usize,
    bytes: usize,
}

impl Pace {
    fn new() -> Self {
        Self { since: Instant::now(), messages: 0, bytes: 0 }
    }

    /// Counts what was read; gives until when nothing more is.
    fn count(&mut self, messages: usize, bytes: usize) -> Option<Instant> {
        if self.since.elapsed() >= WHILE {
            *self = Self::new();
        }
        self.messages = self.messages.saturating_add(messages);
        self.bytes = self.bytes.saturating_add(bytes);
        (self.messages > MAX_MESSAGES || self.bytes > MAX_BYTES).then(|| self.since + WHILE)
    }
}

/// A pipe that is read at a bounded pace: who writes to it waits. A line of it is a message.
#[derive(Debug)]
pub(super) struct Paced<R> {
    inner: R,
    pace: Pace,
    rest: Option<Pin<Box<Sleep>>>,
}

impl<R> Paced<R> {
    pub(super) fn new(inner: R) -> Self {
        Self { inner, pace: Pace::new(), rest: None }
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

/// The events of a stream at the same pace.
pub(super) fn paced<T: Send + 'static>(
    events: impl Stream<Item = T> + Send + 'static,
) -> impl Stream<Item = T> + Send + 'static {
    let mut pace = Pace::new();
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
