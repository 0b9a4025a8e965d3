//! Calls that earlier attempts at the question have made: the model is told of them, and they are not made a second time
//! unless it insists.

use super::Run;
use super::same::fingerprint;
use figaro_base::text::one_line;
use figaro_domain::tool::Call;
use figaro_provider::Item;

/// Note to the model below an edited question; one line for each call follows.
const DONE: &str = "\n(Not from a person.) The question was edited after it had been answered, and the new answer takes the place of \
    the old one. For its earlier wording these calls were made, and what they did still stands. Do not make them again. If one is \
    wrong for the new wording, change or undo it with another call, and say so.";

/// Maximum length of the arguments and of the result of a call in the message, in characters.
const SHOWN_CHARS: usize = 400;

/// A call of an earlier attempt, with its result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EarlierCall {
    pub(crate) call: Call,
    /// Result as JSON text.
    pub(crate) output: String,
}

impl Run {
    /// Sets the calls that earlier attempts at the question have made, and tells the model of them.
    #[must_use]
    pub(crate) fn having_acted(mut self, earlier: Vec<EarlierCall>) -> Self {
        if earlier.is_empty() {
            return self;
        }
        let shown = |text: &str| one_line(text, SHOWN_CHARS);
        let line = |EarlierCall { call, output }: &EarlierCall| {
            let result = if output.is_empty() { "done".to_owned() } else { shown(output) };
            format!("\n- {} {} → {result}", call.name, shown(&call.arguments))
        };
        if let Some(Item::User { text, .. }) = self.items.last_mut() {
            text.push_str(DONE);
            text.extend(earlier.iter().map(line));
        }
        self.acted =
            earlier.into_iter().map(|earlier| (fingerprint(&earlier.call), earlier.output)).collect();
        self
    }

    /// Returns the reason not to make a call that an earlier attempt has made.
    pub(super) fn made_before(&self, call: &Call) -> Option<String> {
        let output = one_line(self.acted.get(&fingerprint(call))?, SHOWN_CHARS);
        let output = if output.is_empty() { output } else { format!(", with this result: {output}") };
        Some(format!(
            "not made again: it was made for the earlier wording of the message{output}. Only if that was undone since, make \
             the same call once more"
        ))
    }

    /// Lets the calls of a pass be made from the next pass on: what they did may have been undone since, which only the model
    /// can know.
    pub(super) fn refused_once(&mut self, calls: &[Call]) {
        calls.iter().for_each(|call| drop(self.acted.remove(&fingerprint(call))));
    }
}
