//! High-water mark of durable commits. Each commit counts itself, and at most once a second the count is also written
//! beside the store. A store with fewer commits than its mark is damaged: its engine fell back to an earlier state, which
//! nothing else would show.

use std::fmt;
use std::time::{Duration, Instant};

use chrono::{DateTime, SecondsFormat, Utc};
use ulid::Ulid;

use super::tables::META;
use crate::engine::{Engine, EngineError, Reader, StoreMark, View};
use figaro_base::clock::Clock;

/// Key in [`META`] under which each commit counts itself.
pub(super) const MARK: &[u8] = b"mark";
/// Maximum lag of the mark beside the store.
const LAG: Duration = Duration::from_secs(1);

/// Loss of a store: commits that were durable are missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loss {
    /// Last commit in the store; `None` if it has none.
    has: Option<StoreMark>,
    /// Last commit known to have been durable.
    had: StoreMark,
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

/// Returns the loss of a store, as far as its mark shows.
///
/// # Errors
/// Of the engine; if the count of commits cannot be read.
pub fn loss(engine: &dyn Reader) -> Result<Option<Loss>, EngineError> {
    let Some(had) = engine.marks().newest()? else { return Ok(None) };
    let has = recorded(&*engine.view()?)?;
    let is_whole = has.as_ref().is_some_and(|has| has.store == had.store && has.commits >= had.commits);
    Ok((!is_whole).then_some(Loss { has, had }))
}

/// Accepts the loss of a store: sets its mark back to the commits that it has.
///
/// # Errors
/// Of the engine.
pub fn accept_loss(engine: &dyn Engine) -> Result<(), EngineError> {
    engine.marks().replace(recorded(&*engine.view()?)?.as_ref())
}

/// Returns the last commit recorded in a store; `None` if a version without counts wrote it.
///
/// # Errors
/// Of the engine; if the record cannot be read.
pub(super) fn recorded(view: &dyn View) -> Result<Option<StoreMark>, EngineError> {
    let Some(bytes) = view.get(META, MARK)? else { return Ok(None) };
    let unreadable = |_error| EngineError::Unreadable("the count of its commits cannot be read".to_owned());
    serde_json::from_slice(&bytes).map(Some).map_err(unreadable)
}

/// Returns the first count of a new store.
pub(super) fn first() -> StoreMark {
    StoreMark { store: Ulid::new().to_string(), commits: 0, at: Clock::system().now() }
}

/// Counts the commits of an open store.
#[derive(Debug)]
pub(super) struct Marks {
    /// Last durable commit.
    last: StoreMark,
    /// `true` if the last commit is not in the mark beside the store yet.
    is_new: bool,
    /// Time of the last write beside the store.
    kept: Option<Instant>,
}

impl Marks {
    /// Continues the count of a store.
    ///
    /// # Errors
    /// Those of [`loss`].
    pub(super) fn of(engine: &dyn Engine) -> Result<Self, EngineError> {
        Ok(Self { last: recorded(&*engine.view()?)?.unwrap_or_else(first), is_new: false, kept: None })
    }

    /// Returns the count of the next commit.
    pub(super) fn next(&self) -> StoreMark {
        let last = self.last.clone();
        StoreMark { commits: last.commits.saturating_add(1), at: Clock::system().now(), ..last }
    }

    /// Records that the commit with this count is durable.
    pub(super) fn is_durable(&mut self, mark: StoreMark) {
        self.last = mark;
        self.is_new = true;
    }

    /// Returns the time left to write the mark of the last commit; `None` if it is written.
    pub(super) fn rest(&self) -> Option<Duration> {
        let rest = self.kept.map_or(Duration::ZERO, |kept| LAG.saturating_sub(kept.elapsed()));
        self.is_new.then_some(rest)
    }

    /// Writes the mark of the last durable commit beside the store, if that is due.
    pub(super) fn keep(&mut self, engine: &dyn Engine) {
        if !std::mem::take(&mut self.is_new) {
            return;
        }
        self.kept = Some(Instant::now());
        if let Err(error) = engine.marks().keep(&self.last) {
            // The store itself is sound. Only later damage may go unnoticed.
            tracing::warn!(%error, "how far the store is durable could not be noted beside it");
        }
    }
}
