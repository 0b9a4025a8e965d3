//! Sentences for the decision about a message.

use super::explanation::ExplanationReader;
use super::finder::ExplainedMessage;
use figaro_base::ids::ChatId;
use figaro_domain::chat::AnswerWhen;
use figaro_domain::reception::{Ending, Reception};
use figaro_prompts::texts::{Texts, fill};

/// Current state of the conversation of a message.
#[derive(Debug, Clone, Copy)]
pub(super) struct Now {
    /// `true` if a turn is running in the conversation.
    pub(super) is_running: bool,
    /// `true` if the turn of the message waits for a person.
    pub(super) waits: bool,
}

/// Returns the reason why a message was not taken as a question.
pub(super) fn received(texts: &Texts, username: &str, what: Reception) -> String {
    let text = match what {
        Reception::Asked => texts.why_open(),
        Reception::Taken => texts.why_taken(),
        Reception::GroupNotAllowed => texts.why_group(),
        Reception::Denied => texts.why_denied(),
        Reception::Stranger => texts.why_stranger(),
        Reception::NotAddressed => return fill(texts.why_not_addressed(), &[("username", username)]),
        Reception::Off => texts.why_off(),
        Reception::OtherBot => texts.why_other_bot(),
        Reception::NoPerson => texts.why_no_person(),
        Reception::BotsLoop => texts.why_bots_loop(),
        Reception::NoRoom => texts.why_no_room(),
    };
    text.to_owned()
}

/// Returns the reason why questions are answered in a chat.
pub(super) fn answers(texts: &Texts, chat: ChatId, when: AnswerWhen) -> &str {
    match when {
        AnswerWhen::Always => texts.why_answered_always(),
        AnswerWhen::Mention | AnswerWhen::Off if chat.is_group() => texts.why_answered_addressed(),
        AnswerWhen::Mention | AnswerWhen::Off => texts.why_answered_always(),
    }
}

/// Returns the result of a question's turn; `answered` is the text if it was answered. After an error owners also get
/// the turn's id, and where nobody reads along the error of its model.
pub(super) fn turn(
    reader: &ExplanationReader<'_>,
    subject: &ExplainedMessage,
    now: Now,
    answered: &str,
) -> String {
    let texts = reader.texts;
    let trace = subject.trace();
    let has_answer = subject.exchange.as_ref().is_some_and(|exchange| exchange.answer().is_some());
    let is_last = subject.exchange.as_ref().is_none_or(|exchange| exchange.is_last);
    let text = match trace.and_then(|trace| trace.ending.as_ref()) {
        Some(Ending::Answered) => answered,
        Some(Ending::Silent) => texts.why_silent(),
        Some(Ending::Told) => texts.why_told(),
        Some(Ending::Stopped) => texts.why_stopped(),
        Some(Ending::Waits) if now.waits => texts.why_waits(),
        Some(Ending::Waits) if now.is_running => texts.why_running(),
        Some(Ending::Waits) => texts.why_given_up(),
        Some(Ending::Failed { reason, error, .. }) => {
            let words = fill(texts.why_failed(), &[("reason", &texts.reason(reason))]);
            let Some(trace) = trace.filter(|_| reader.is_owner) else { return words };
            let error = error.as_ref().filter(|_| reader.is_alone);
            let error = error.map(|error| fill(texts.why_error(), &[("error", error)]));
            let turn = fill(texts.error_turn(), &[("turn", &trace.run.to_string())]);
            return [Some(words), error, Some(turn)].into_iter().flatten().collect::<Vec<_>>().join("\n");
        }
        None if trace.is_some() && now.is_running => texts.why_running(),
        None if has_answer => answered,
        // Of what was asked over HTTP or by a task, and after some days, nothing else is known.
        None if subject.received.is_none() && is_last && now.is_running => texts.why_running(),
        None if subject.received.is_none() || !is_last => texts.why_forgotten(),
        None if now.is_running => texts.why_queued(),
        None => texts.why_open(),
    };
    text.to_owned()
}
