//! Ends a stream whose provider is silent. Silence means no bytes, not no events: a model that thinks for minutes
//! sends only keep-alives, which never become events.

use std::sync::Arc;
use std::time::Duration;

use futures::{StreamExt, stream};
use parking_lot::Mutex;
use tokio::time::{Instant, timeout_at};

use crate::{EventStream, ProviderError};

/// Time when the provider was last heard. Cheap to clone; clones share it.
#[derive(Debug, Clone)]
pub(crate) struct Pulse(Arc<Mutex<Instant>>);

impl Pulse {
    /// Creates a pulse that starts now.
    #[must_use]
    pub(crate) fn start() -> Self {
        Self(Arc::new(Mutex::new(Instant::now())))
    }

    /// Records that the provider was heard.
    pub(crate) fn beat(&self) {
        *self.0.lock() = Instant::now();
    }

    fn last(&self) -> Instant {
        *self.0.lock()
    }
}

/// Ends a stream with [`ProviderError::Stalled`] once neither an event nor the pulse has come for `limit`.
#[must_use]
pub(crate) fn with_idle_timeout(stream: EventStream, pulse: Pulse, limit: Duration) -> EventStream {
    stream::unfold(Some(stream), move |open| {
        let pulse = pulse.clone();
        async move {
            let mut stream = open?;
            loop {
                let deadline = pulse.last() + limit;
                match timeout_at(deadline, stream.next()).await {
                    Ok(item) => {
                        pulse.beat();
                        return item.map(|item| (item, Some(stream)));
                    }
                    Err(_) if pulse.last() + limit > deadline => {}
                    Err(_) => return Some((Err(ProviderError::Stalled(limit)), None)),
                }
            }
        }
    })
    .boxed()
}

#[cfg(test)]
mod tests {
    use tokio::time::sleep;

    use super::*;
    use crate::Event;

    const LIMIT: Duration = Duration::from_secs(60);

    /// One event after each pause, then silence.
    fn paced(pauses: &'static [u64]) -> EventStream {
        let events = stream::iter(pauses).then(|pause| async move {
            sleep(Duration::from_secs(*pause)).await;
            Ok(Event::TextDelta(pause.to_string()))
        });
        events.chain(stream::pending()).boxed()
    }

    #[tokio::test(start_paused = true)]
    async fn silence_ends_the_stream_and_events_put_it_off() {
        let begun = Instant::now();
        let events: Vec<_> = with_idle_timeout(paced(&[59, 59]), Pulse::start(), LIMIT).collect().await;
        let text = |text: &str| Ok(Event::TextDelta(text.into()));
        assert_eq!(events, [text("59"), text("59"), Err(ProviderError::Stalled(LIMIT))]);
        assert_eq!(begun.elapsed().as_secs(), 59 + 59 + 60);
    }

    #[tokio::test(start_paused = true)]
    async fn a_pulse_without_events_puts_it_off() {
        let (begun, pulse) = (Instant::now(), Pulse::start());
        let heart = async {
            for _ in 0..5 {
                sleep(Duration::from_secs(50)).await;
                pulse.beat();
            }
        };
        let (events, ()) =
            tokio::join!(with_idle_timeout(paced(&[]), pulse.clone(), LIMIT).collect::<Vec<_>>(), heart);
        assert_eq!(events, [Err(ProviderError::Stalled(LIMIT))]);
        assert_eq!(begun.elapsed().as_secs(), 5 * 50 + 60);
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_reader_loses_nothing_that_is_there() {
        let ready =
            stream::iter([Ok(Event::TextDelta("a".into())), Ok(Event::TextDelta("b".into()))]).boxed();
        let mut events = with_idle_timeout(ready, Pulse::start(), LIMIT);
        sleep(LIMIT * 2).await;
        assert!(matches!(events.next().await, Some(Ok(_))));
        sleep(LIMIT * 2).await;
        assert!(matches!(events.next().await, Some(Ok(_))));
        assert_eq!(events.next().await, None);
    }
}
