//! Questions: messages that belong together, and a further try at an earlier one.

use std::sync::Arc;

use chrono::{DateTime, Utc};

use super::requested::Requested;
use figaro_domain::conversation::Message;
use figaro_domain::message::{Inbound, Join, Speaker};
use figaro_domain::model::ModelName;
use figaro_domain::task::{Lease, Task};
use figaro_policy::access::Standing;

/// A question has at most so many parts; what follows is a question of its own.
const MAX_PARTS: usize = 20;

/// The kind of client that all that comes by Telegram comes from.
const TELEGRAM: &str = "telegram";

/// What a question came by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Client {
    /// The kind of client, such as `telegram` or `cli`.
    pub id: &'static str,
    /// Whether the question only tests an agent: it teaches nothing about anybody and is told nothing that was remembered.
    pub is_eval: bool,
}

impl Default for Client {
    fn default() -> Self {
        Self { id: TELEGRAM, is_eval: false }
    }
}

/// Messages that make one question, and what their writer may do.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// The messages of the question, oldest first; at least one.
    pub parts: Vec<Inbound>,
    /// What may be done for it.
    pub standing: Standing,
    /// Who wants it tried again: then it is done in their name, not in its writer's.
    pub again_by: Option<Speaker>,
    /// The task whose prompt it is, as it was when its run got the lease.
    pub task: Option<Box<Task>>,
    /// It has the last answer gone on with. Whose words that answers is looked up when the turn begins.
    pub goes_on: bool,
    /// What it came by.
    pub client: Client,
    /// Choices of a request from outside Telegram, for this turn alone.
    pub requested: Option<Arc<Requested>>,
}

/// Who wants the last question tried again, and by which model.
#[derive(Debug, Clone, PartialEq)]
pub struct Again {
    /// The message or press that says so, as a question of one part.
    pub asked: Question,
    /// The model for this turn alone; `None` for the chat's.
    pub model: Option<ModelName>,
}

impl Question {
    /// A question of one message.
    #[must_use]
    pub fn new(part: Inbound, standing: Standing) -> Self {
        let client = Client::default();
        Self {
            parts: vec![part],
            standing,
            again_by: None,
            task: None,
            goes_on: false,
            client,
            requested: None,
        }
    }

    /// The prompt of a task, whose run got its lease at `since`.
    #[must_use]
    pub(crate) fn of_task(task: Task, since: DateTime<Utc>) -> Self {
        let part = Inbound::of_task(&task, since);
        Self { task: Some(Box::new(task)), ..Self::new(part, Standing::Borrowed) }
    }

    /// The run of a task that this is.
    #[must_use]
    pub(crate) fn lease(&self) -> Option<&Lease> {
        self.task.as_ref()?.lease.as_ref()
    }

    /// Whether it was asked in a group.
    #[must_use]
    pub(crate) fn is_in_group(&self) -> bool {
        self.parts.first().is_some_and(|part| part.place.is_group())
    }

    /// All that was asked, part by part.
    #[must_use]
    pub(crate) fn words(&self) -> String {
        self.parts.iter().map(|part| part.text.as_str()).collect::<Vec<_>>().join("\n")
    }

    /// The person who asks.
    #[must_use]
    pub fn asker(&self) -> Option<&Speaker> {
        self.again_by.as_ref().or(self.parts.first().map(|part| &part.speaker))
    }

    /// The question that stored messages hold, asked for by this one. Words of someone else are tried with nobody's
    /// rights: neither theirs nor those of the owner or admin who presses a button under them.
    #[must_use]
    pub fn again(&self, stored: Vec<Message>) -> Self {
        let asker = self.parts.first();
        let parts = stored.into_iter().filter_map(|message| {
            let speaker = message.speaker.clone().or_else(|| Some(asker?.speaker.clone()))?;
            let origin = asker?.origin;
            let origin = message.telegram.first().map_or(origin, |id| origin.of_message(*id));
            Some(Inbound {
                origin,
                speaker,
                sent_at: message.created_at,
                text: message.text,
                attachments: message.attachments,
                quotes: message.quotes,
                forwarded_from: message.forwarded_from,
                from_person: message.from_person,
                task: message.task,
                borrowed: message.borrowed,
                mentioned: true,
                ..asker?.clone()
            })
        });
        let parts: Vec<Inbound> = parts.collect();
        let again_by = self.asker().cloned();
        // The prompt of a task is the model's wording of what somebody wanted then.
        let is_own = parts.iter().all(|part| {
            let is_theirs = Some(&part.speaker.user) == again_by.as_ref().map(|by| &by.user);
            is_theirs && part.task.is_none() && !part.borrowed
        });
        let standing = if is_own { self.standing } else { Standing::Borrowed };
        let requested = self.requested.clone();
        Self { parts, standing, again_by, task: None, goes_on: false, client: self.client, requested }
    }

    /// The same question with nobody's rights, also when it is taken up again or tried once more.
    #[must_use]
    pub fn borrowed(mut self) -> Self {
        self.parts.iter_mut().for_each(|part| part.borrowed = true);
        Self { standing: Standing::Borrowed, ..self }
    }
}

/// Puts an edited text into a question; `false` if the message is no part of it or says what it said.
pub(super) fn replace(question: &mut Question, edited: &Inbound) -> bool {
    let Some(message) = edited.origin.message() else { return false };
    let is_it = |part: &&mut Inbound| part.origin.message() == Some(message) && part.text != edited.text;
    let changed = question.parts.iter_mut().find(is_it);
    let replaced = |part: &mut Inbound| {
        part.text.clone_from(&edited.text);
        part.foreign.clone_from(&edited.foreign);
    };
    changed.map(replaced).is_some()
}

/// Whether a message is a further part of a question: of the same album, or by the same writer right after a part that
/// may have been split or forwarded, or a forward right behind its comment, which clients send first.
pub(super) fn belongs(question: &Question, next: &Question) -> bool {
    // What goes on with an answer is judged by itself.
    !next.goes_on && next.parts.first().is_some_and(|first| continues(question, first))
}

pub(super) fn continues(question: &Question, first: &Inbound) -> bool {
    let Some(last) = question.parts.last() else {
        return false;
    };
    if last.speaker.user != first.speaker.user || question.parts.len() >= MAX_PARTS {
        return false;
    }
    let is_prompt = (first.sent_at - last.sent_at).num_seconds() <= 1;
    match (&last.joins, &first.joins) {
        (Some(Join::Album(one)), Some(Join::Album(other))) => one == other,
        (Some(Join::LongPaste | Join::Forward), _) | (None, Some(Join::Forward)) => is_prompt,
        (Some(Join::Album(_)) | None, _) => false,
    }
}
