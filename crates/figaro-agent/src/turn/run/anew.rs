//! Messages to the model about an answer that it must rewrite.

use super::state::TakenBack;
use figaro_provider::Item;

/// Message to the model when its answer promises something for later and nothing was stored.
pub(super) const UNKEPT: &str = "(Not from a person.) Your answer promises something for later, but this turn has stored no task: \
    as it stands, nothing will happen. What you wrote is still on the screen and is replaced by what you write next. If \
    the person asked for it and you have the tool that schedules, call it now, and answer once it has confirmed. If not, or it \
    cannot be done, write the whole answer anew and say plainly that nothing is scheduled. If you only spoke of a task that was \
    stored before, make that clear. Do not mention this note.";

/// Message to the model when its answer does not fit the form; the mistakes follow.
const MISFIT: &str = "(Not from a person.) Your answer does not fit the form that is asked for, and nobody has seen it. Write \
    the whole answer anew: one JSON object that fits, and nothing before or behind it. Do not mention this note. The mistakes:";

/// Returns the rejected answer, and the message to the model about it.
pub(super) fn taken_back(TakenBack { pass, mistakes, .. }: &TakenBack) -> [Item; 2] {
    // Providers refuse a message without text.
    let text = if pass.text.trim().is_empty() { "(nothing)".to_owned() } else { pass.text.clone() };
    let private = pass.private.clone();
    let note = match mistakes {
        Some(mistakes) => format!("{MISFIT}\n{mistakes}"),
        None => UNKEPT.to_owned(),
    };
    [Item::Assistant { text, calls: Vec::new(), private }, Item::user(note)]
}

/// Message to the model when a limit was reached and it may make no more calls.
const HAND_BACK: &str = "(Not from a person.) Your bound on time or tokens is reached: no more tools. Hand back what you have now, \
    and say plainly what is missing.";

pub(super) fn hand_back() -> Item {
    Item::user(HAND_BACK)
}
