//! Tells owners of calls that were refused after a turn had read a text by others.

use chrono::TimeDelta;

use super::end::Ender;
use super::outcome::Outcome;
use crate::tools::REFUSED_AFTER_READING;
use figaro_base::text::one_line;
use figaro_domain::tool::{ToolCall, ToolStatus};
use figaro_domain::turn::ActiveTurn;
use figaro_prompts::texts::{Texts, fill};

/// Maximum number of such notices in an hour.
const MAX_AN_HOUR: usize = 3;
/// Maximum length of the name of a text in a notice, in characters.
const NAME_CHARS: usize = 80;

/// A refused call, and the text that was read before it.
pub(super) struct RefusedCall {
    method: String,
    read: String,
}

impl Ender {
    /// Returns a call of the turn that policy refused after the turn had read a text by others.
    pub(super) fn refused_after_reading(&self, turn: &ActiveTurn, outcome: &Outcome) -> Option<RefusedCall> {
        let read = outcome.answer()?.read.clone()?;
        let is_refused = |call: &ToolCall| {
            let why = call.result.as_deref().unwrap_or_default();
            call.status == ToolStatus::Denied && why.contains(REFUSED_AFTER_READING)
        };
        let calls = self.calls_of_all(turn);
        let calls =
            calls.inspect_err(|error| self.reporter.report(error, "the calls of a turn could not be read"));
        let refused = calls.ok()?.into_iter().find(is_refused)?;
        Some(RefusedCall { method: refused.call.name, read })
    }

    /// Tells owners, a few times an hour, of such a call: the text may have asked for it.
    pub(super) async fn tell_of_refused(&self, refused: Option<RefusedCall>) {
        let Some(RefusedCall { method, read }) = refused.filter(|_| self.may_tell_of_refused()) else {
            return;
        };
        // Nothing in a name may become a link.
        let shown = |name: &str| one_line(name, NAME_CHARS).replace(['.', '/', '@'], " ");
        let (text, method) = (shown(&read), shown(&method));
        let words = |texts: &Texts| fill(texts.refused_notice(), &[("text", &text), ("method", &method)]);
        self.owners.tell(self.locales.map(words)).await;
    }

    fn may_tell_of_refused(&self) -> bool {
        let now = self.reporter.now();
        let mut told = self.refusals.lock();
        told.retain(|at| now - *at < TimeDelta::hours(1));
        let may_tell = told.len() < MAX_AN_HOUR;
        if may_tell {
            told.push(now);
        }
        may_tell
    }
}
