//! Repeats calls that failed in a way that may pass. A decorator of any provider, added in the composition root.

use std::sync::Arc;
use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBackoff, ExponentialBuilder};
use futures::future::BoxFuture;
use futures::{StreamExt, stream};
use tokio::time::sleep;
use tracing::info;

use figaro_domain::generation::Generation;
use figaro_domain::model::ModelName;

use super::{Capabilities, Demand, Event, EventStream, Provider, ProviderError, Request};

/// Limits of [`RetryProvider`].
#[derive(Debug, Clone, Copy)]
pub struct RetryPolicy {
    /// Maximum number of attempts, including the first.
    pub(crate) attempts: usize,
    /// Pause after the first failure. It doubles with each further one, with jitter.
    pub(crate) base_delay: Duration,
    /// Maximum of our own pauses.
    pub(crate) max_delay: Duration,
    /// Maximum pause that a provider may ask for. After a longer request there is no further attempt.
    pub(crate) max_asked: Duration,
}

/// Maximum requested pause by default: about as long as most people wait for an answer.
pub const MAX_ASKED: Duration = Duration::from_secs(60);

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            attempts: 3,
            base_delay: Duration::from_millis(500),
            max_delay: Duration::from_secs(20),
            max_asked: MAX_ASKED,
        }
    }
}

impl RetryPolicy {
    /// Returns the policy for a model with fallbacks: a pause that the service asks for is no longer than our own.
    #[must_use]
    pub fn with_others() -> Self {
        let usual = Self::default();
        Self { max_asked: usual.max_delay, ..usual }
    }

    /// Returns the pauses of one call.
    pub(super) fn backoff(self) -> Backoff {
        let delays = ExponentialBuilder::new()
            .with_min_delay(self.base_delay)
            .with_max_delay(self.max_delay)
            .with_max_times(self.attempts.saturating_sub(1))
            .with_jitter()
            .build();
        Backoff { delays, policy: self, was_garbled: false }
    }
}

/// Pauses of one call that fails and is repeated.
#[derive(Debug)]
pub(super) struct Backoff {
    delays: ExponentialBackoff,
    policy: RetryPolicy,
    /// `true` once the model has written something unreadable.
    was_garbled: bool,
}

impl Backoff {
    /// Returns the pause before the next attempt; `None` if another is pointless.
    pub(super) fn pause(&mut self, error: &ProviderError) -> Option<Duration> {
        if !error.is_passing() {
            return None;
        }
        // A model that writes it twice writes it again.
        if matches!(error, ProviderError::Garbled(_)) && std::mem::replace(&mut self.was_garbled, true) {
            return None;
        }
        let asked_for = match error {
            ProviderError::RateLimited { retry_after, .. } => retry_after.unwrap_or_default(),
            _ => Duration::ZERO,
        };
        if asked_for > self.policy.max_asked {
            return None;
        }
        let backoff = self.delays.next()?;
        Some(backoff.min(self.policy.max_delay).max(asked_for))
    }
}

/// Provider that repeats calls after passing errors, as long as no part of the answer was sent.
#[derive(Debug)]
pub struct RetryProvider {
    inner: Arc<dyn Provider>,
    policy: RetryPolicy,
}

impl RetryProvider {
    /// Wraps a provider so that failed calls are repeated.
    #[must_use]
    pub fn new(inner: Arc<dyn Provider>, policy: RetryPolicy) -> Self {
        Self { inner, policy }
    }
}

impl Provider for RetryProvider {
    fn name(&self) -> &'static str {
        self.inner.name()
    }

    fn capabilities(&self, model: &str) -> Capabilities {
        self.inner.capabilities(model)
    }

    fn window(&self, model: &str) -> Option<usize> {
        self.inner.window(model)
    }

    fn ignored(&self, model: &str, settings: &Generation) -> Vec<&'static str> {
        self.inner.ignored(model, settings)
    }

    fn meets(&self, demand: Demand) -> bool {
        self.inner.meets(demand)
    }

    fn models(&self) -> BoxFuture<'static, Result<Vec<String>, ProviderError>> {
        self.inner.models()
    }

    fn stream(&self, request: Request) -> EventStream {
        let attempt = RetryStream {
            current: self.inner.stream(request.clone()),
            again: Some(NextAttempt {
                inner: Arc::clone(&self.inner),
                request,
                backoff: self.policy.backoff(),
            }),
        };
        stream::unfold(attempt, RetryStream::next).boxed()
    }
}

/// Current stream, and the request for another attempt while one is possible.
struct RetryStream {
    current: EventStream,
    again: Option<NextAttempt>,
}

struct NextAttempt {
    inner: Arc<dyn Provider>,
    request: Request,
    backoff: Backoff,
}

impl RetryStream {
    async fn next(mut self) -> Option<(Result<Event, ProviderError>, Self)> {
        loop {
            let event = self.current.next().await?;
            if let Err(error) = &event
                && let Some(again) = &mut self.again
                && let Some(pause) = again.backoff.pause(error)
            {
                info!(
                    provider = again.inner.name(),
                    error = error.label(),
                    reason = %error,
                    pause_ms = pause.as_millis(),
                    "a model call failed and is sent again"
                );
                let model =
                    ModelName { provider: again.inner.name().into(), model: again.request.model.clone() };
                let lost = error.was_taken_up().then_some(Event::Lost(model));
                // The connection is closed before the pause, not after it.
                self.current = stream::empty().boxed();
                sleep(pause).await;
                self.current = again.inner.stream(again.request.clone());
                match lost {
                    Some(lost) => return Some((Ok(lost), self)),
                    None => continue,
                }
            }
            self.again = None;
            return Some((event, self));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{HashSet, VecDeque};
    use std::sync::Mutex;

    use tokio::time::Instant;

    use super::*;
    use crate::Finish;

    type Answer = Vec<Result<Event, ProviderError>>;

    /// Gives its answers in turn and notes when it was asked.
    #[derive(Debug)]
    struct Scripted {
        answers: Mutex<VecDeque<Answer>>,
        asked: Mutex<Vec<Instant>>,
    }

    impl Provider for Scripted {
        fn name(&self) -> &'static str {
            "scripted"
        }

        fn window(&self, _model: &str) -> Option<usize> {
            None
        }

        fn ignored(&self, _model: &str, _settings: &Generation) -> Vec<&'static str> {
            Vec::new()
        }

        fn models(&self) -> BoxFuture<'static, Result<Vec<String>, ProviderError>> {
            Box::pin(async { Ok(Vec::new()) })
        }

        fn stream(&self, request: Request) -> EventStream {
            assert_eq!(request.model, "m");
            self.asked.lock().unwrap().push(Instant::now());
            stream::iter(self.answers.lock().unwrap().pop_front().expect("asked too often")).boxed()
        }
    }

    /// The events, and the pauses between the attempts in milliseconds.
    async fn run(answers: Vec<Answer>, policy: RetryPolicy) -> (Answer, Vec<u128>) {
        let scripted = Arc::new(Scripted { answers: Mutex::new(answers.into()), asked: Mutex::default() });
        let retry = RetryProvider::new(Arc::clone(&scripted) as Arc<dyn Provider>, policy);
        let request = Request::new("m", "", Vec::new());
        let events = retry.stream(request).collect().await;
        let asked = scripted.asked.lock().unwrap();
        (events, asked.windows(2).map(|pair| (pair[1] - pair[0]).as_millis()).collect())
    }

    fn policy(attempts: usize) -> RetryPolicy {
        let max = Duration::from_secs(5);
        RetryPolicy { attempts, base_delay: Duration::from_secs(1), max_delay: max, max_asked: 2 * max }
    }

    fn down() -> Result<Event, ProviderError> {
        Err(ProviderError::Unavailable("down".into()))
    }

    fn garbled() -> Result<Event, ProviderError> {
        Err(ProviderError::Garbled("no call".into()))
    }

    fn limited(seconds: Option<u64>) -> Result<Event, ProviderError> {
        Err(ProviderError::RateLimited { retry_after: seconds.map(Duration::from_secs), message: "m".into() })
    }

    fn whole() -> Answer {
        vec![Ok(Event::TextDelta("a".into())), Ok(Event::Completed { finish: Finish::Stop, usage: None })]
    }

    #[tokio::test(start_paused = true)]
    async fn passing_errors_are_retried_until_the_attempts_are_used_up() {
        let cut = || Err(ProviderError::Cut("c".into()));
        let lost = || Ok(Event::Lost(ModelName { provider: "scripted".into(), model: "m".into() }));
        let after_lost = |answer: Answer| [vec![lost()], answer].concat();
        let cases = [
            (1, vec![vec![down()]], vec![down()]),
            (3, vec![vec![down()], whole()], whole()),
            (3, vec![vec![cut()], vec![down()], whole()], after_lost(whole())),
            (3, vec![vec![down()], vec![cut()], vec![limited(None)]], after_lost(vec![limited(None)])),
            (0, vec![vec![down()]], vec![down()]),
            (3, vec![vec![garbled()], whole()], after_lost(whole())),
            (3, vec![vec![garbled()], vec![down()], whole()], after_lost(whole())),
            (3, vec![vec![garbled()], vec![garbled()]], after_lost(vec![garbled()])),
        ];
        for (attempts, answers, expected) in cases {
            let count = answers.len();
            let (events, pauses) = run(answers, policy(attempts)).await;
            assert_eq!(events, expected);
            assert_eq!(pauses.len(), count - 1, "every answer was asked for");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn lasting_errors_and_begun_answers_are_not_retried() {
        let lasting = [
            ProviderError::Unauthorized("x".into()),
            ProviderError::UnknownModel("x".into()),
            ProviderError::TooLong("x".into()),
            ProviderError::NoQuota("x".into()),
            ProviderError::Refused("x".into()),
            ProviderError::Stalled(Duration::from_secs(60)),
        ];
        let begun = [Event::TextDelta("a".into()), Event::Searched];
        let answers = lasting.map(|error| vec![Err(error)]);
        let broken = begun.map(|event| vec![Ok(event), down()]);
        for answer in answers.into_iter().chain(broken) {
            let (events, pauses) = run(vec![answer.clone()], policy(3)).await;
            assert_eq!((events, pauses), (answer, Vec::new()));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn pauses_grow_and_stay_under_the_cap() {
        let answers = vec![vec![down()], vec![down()], vec![down()], vec![down()], whole()];
        let (_, pauses) = run(answers, policy(5)).await;
        for (pause, range) in pauses.iter().zip([1000..=2001, 2000..=4001, 4000..=5001, 5000..=5001]) {
            assert!(range.contains(pause), "{pauses:?}");
        }
        assert_eq!(pauses.len(), 4);
    }

    #[tokio::test(start_paused = true)]
    async fn a_wait_asked_for_is_honoured_up_to_the_cap() {
        let (events, pauses) = run(vec![vec![limited(Some(9))], whole()], policy(3)).await;
        assert_eq!(events, whole());
        assert!((9000..=9001).contains(&pauses[0]), "{pauses:?}");

        let begun = Instant::now();
        let (events, pauses) = run(vec![vec![limited(Some(11))]], policy(3)).await;
        assert_eq!((events, pauses), (vec![limited(Some(11))], Vec::new()));
        assert_eq!(begun.elapsed(), Duration::ZERO);
    }

    #[tokio::test(start_paused = true)]
    async fn callers_do_not_come_back_together() {
        let mut pauses = HashSet::new();
        for _ in 0..8 {
            pauses.extend(run(vec![vec![down()], whole()], policy(2)).await.1);
        }
        assert!(
            pauses.len() > 1,
            "every caller waits {pauses:?} ms: backon needs its feature `std` for randomness"
        );
    }
}
