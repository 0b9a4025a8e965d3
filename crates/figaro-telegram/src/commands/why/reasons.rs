//! What was decided about a message, in a sentence.

use super::finder::Subject;
use crate::inbound::Me;
use figaro_domain::chat::{AnswerWhen, Place};
use figaro_domain::reception::{Ending, Reception};
use figaro_prompts::texts::{Texts, fill};

/// What is going on in the conversation of a message now.
#[derive(Debug, Clone, Copy)]
pub(super) struct Now {
    /// An answer is being written.
    pub(super) is_running: bool,
    /// The turn of the message waits for a person.
    pub(super) waits: bool,
}

/// Why a message that came in was not taken as a question.
pub(super) fn received(texts: &Texts, me: &Me, what: Reception) -> String {
    let text = match what {
        Reception::Asked => texts.why_open(),
        Reception::Taken => texts.why_taken(),
        Reception::GroupNotAllowed => texts.why_group(),
        Reception::Denied => texts.why_denied(),
        Reception::Stranger => texts.why_stranger(),
        Reception::NotAddressed => return fill(texts.why_not_addressed(), &[("username", &me.username)]),
        Reception::Off => texts.why_off(),
        Reception::OtherBot => texts.why_other_bot(),
        Reception::NoPerson => texts.why_no_person(),
        Reception::BotsLoop => texts.why_bots_loop(),
        Reception::NoRoom => texts.why_no_room(),
    };
    text.to_owned()
}

/// Why a question is answered in a chat at all.
pub(super) fn answers<'a>(texts: &'a Texts, place: &Place, when: AnswerWhen) -> &'a str {
    match when {
        AnswerWhen::Always => texts.why_answered_always(),
        AnswerWhen::Mention | AnswerWhen::Off if place.is_group() => texts.why_answered_addressed(),
        AnswerWhen::Mention | AnswerWhen::Off => texts.why_answered_always(),
    }
}

/// What became of the turn of a question, with these words where it was answered. Owners read which error it was.
pub(super) fn turn(texts: &Texts, subject: &Subject, now: Now, answered: &str, is_owner: bool) -> String {
    let trace = subject.trace();
    let has_answer = subject.exchange.as_ref().is_some_and(|exchange| exchange.answer().is_some());
    let text = match trace.and_then(|trace| trace.ending.as_ref()) {
        Some(Ending::Answered) => answered,
        Some(Ending::Silent) => texts.why_silent(),
        Some(Ending::Told) => texts.why_told(),
        Some(Ending::Stopped) => texts.why_stopped(),
        Some(Ending::Waits) if now.waits => texts.why_waits(),
        Some(Ending::Waits) if now.is_running => texts.why_running(),
        Some(Ending::Waits) => texts.why_given_up(),
        Some(Ending::Failed { reason, .. }) => {
            let words = fill(texts.why_failed(), &[("reason", &texts.reason(reason))]);
            let Some(trace) = trace.filter(|_| is_owner) else { return words };
            let turn = trace.run.to_string();
            return format!("{words}\n{}", fill(texts.error_turn(), &[("turn", &turn)]));
        }
        None if trace.is_some() && now.is_running => texts.why_running(),
        None if has_answer => answered,
        None if now.is_running => texts.why_queued(),
        None => texts.why_open(),
    };
    text.to_owned()
}
