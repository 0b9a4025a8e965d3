//! How far the commits of a store are durable. Each commit counts itself, and at most once a second the count is kept apart
//! from the store as well (its high-water mark). A store with fewer commits than its mark has been damaged: its engine fell
//! back to an earlier state, and nothing else would tell.

use std::fmt;
use std::time::{Duration, Instant};

use chrono::{DateTime, SecondsFormat, Utc};
use ulid::Ulid;

use super::tables::META;
use crate::engine::{Engine, EngineError, Mark, Reader};
use figaro_base::clock::Clock;

/// The key of [`META`] that each commit counts itself under.
pub(super) const MARK: &[u8] = b"mark";
/// How far what is kept apart may be behind.
const LAG: Duration = Duration::from_secs(1);

/// What a store has lost: commits that were durable once are not in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loss {
    /// The last commit that it has; `None` if it has none.
    has: Option<Mark>,
    /// The last commit that is known to have been durable.
    had: Mark,
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { has, had } = self;
        let until = moment(had.at);
        match has {
            None => write!(f, "it is empty, but had {} commits up to {until}", had.commits),
            Some(has) if has.store != had.store => {
                write!(f, "it is not the store that was here up to {until}")
            }
            Some(has) => write!(
                f,
                "the last {} of its {} commits are gone, which is what was written after {} up to {until}",
                had.commits.saturating_sub(has.commits),
                had.commits,
                moment(has.at),
            ),
        }
    }
}

fn moment(at: DateTime<Utc>) -> String {
    at.to_rfc3339_opts(SecondsFormat::Millis, true)
}

/// What a store has lost, as far as its mark tells.
///
/// # Errors
/// Of the engine; if the count of its commits cannot be read.
pub fn loss(engine: &dyn Reader) -> Result<Option<Loss>, EngineError> {
    let Some(had) = engine.marks().newest()? else { return Ok(None) };
    let has = recorded(engine)?;
    let is_whole = has.as_ref().is_some_and(|has| has.store == had.store && has.commits >= had.commits);
    Ok((!is_whole).then_some(Loss { has, had }))
}

/// Goes on without what a store has lost: its mark is set back to what it has.
///
/// # Errors
/// Of the engine.
pub fn accept_loss(engine: &dyn Engine) -> Result<(), EngineError> {
    engine.marks().replace(recorded(engine)?.as_ref())
}

/// The last commit of a store, as it is recorded in it; `None` if a version wrote it that did not count.
///
/// # Errors
/// Of the engine; if the record cannot be read.
pub(super) fn recorded(engine: &dyn Reader) -> Result<Option<Mark>, EngineError> {
    let Some(bytes) = engine.view()?.get(META, MARK)? else { return Ok(None) };
    let unreadable = |_error| EngineError::Unreadable("the count of its commits cannot be read".to_owned());
    serde_json::from_slice(&bytes).map(Some).map_err(unreadable)
}

/// The count of a store that begins to count.
pub(super) fn first() -> Mark {
    Mark { store: Ulid::new().to_string(), commits: 0, at: Clock::system().now() }
}

/// Counts the commits of an open store.
#[derive(Debug)]
pub(super) struct Marks {
    /// The last commit that is durable.
    last: Mark,
    /// Whether it is not kept apart yet.
    is_new: bool,
    /// When one was kept apart.
    kept: Option<Instant>,
}

impl Marks {
    /// Counts on from what is in a store.
    ///
    /// # Errors
    /// Those of [`loss`].
    pub(super) fn of(engine: &dyn Engine) -> Result<Self, EngineError> {
        Ok(Self { last: recorded(engine)?.unwrap_or_else(first), is_new: false, kept: None })
    }

    /// The count that the next commit carries.
    pub(super) fn next(&self) -> Mark {
        let last = self.last.clone();
        Mark { commits: last.commits.saturating_add(1), at: Clock::system().now(), ..last }
    }

    /// The commit that carries this count is durable.
    pub(super) fn is_durable(&mut self, mark: Mark) {
        self.last = mark;
        self.is_new = true;
    }

    /// How long the last commit may stay without being kept apart; `None` if it is.
    pub(super) fn rest(&self) -> Option<Duration> {
        let rest = self.kept.map_or(Duration::ZERO, |kept| LAG.saturating_sub(kept.elapsed()));
        self.is_new.then_some(rest)
    }

    /// Keeps the last commit apart, if it is durable and not kept yet.
    pub(super) fn keep(&mut self, engine: &dyn Engine) {
        if !std::mem::take(&mut self.is_new) {
            return;
        }
        self.kept = Some(Instant::now());
        if let Err(error) = engine.marks().keep(&self.last) {
            // The store itself is sound. Only damage that comes later may go unnoticed.
            tracing::warn!(%error, "how far the store is durable could not be noted beside it");
        }
    }
}
