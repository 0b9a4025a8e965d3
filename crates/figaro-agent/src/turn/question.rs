//! Questions: messages that belong together, and retries of earlier ones.

use std::sync::Arc;

use chrono::{DateTime, Utc};

use super::requested::Requested;
use figaro_domain::conversation::Message;
use figaro_domain::message::{Attachment, HearingResult, Inbound, Join, Speaker};
use figaro_domain::model::ModelName;
use figaro_domain::task::{Lease, Task};
use figaro_domain::usage::Payer;
use figaro_policy::access::Standing;

/// Maximum number of parts of a question. Later messages start a new question.
const MAX_PARTS: usize = 20;

/// Kind of client of everything that arrives through Telegram.
const TELEGRAM: &str = "telegram";

/// Client through which a question arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Client {
    /// Kind of client, such as `telegram` or `cli`.
    pub id: &'static str,
    /// `true` if the question only tests an agent. It neither adds to the memory nor uses it.
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
    /// Rights that the turn has, by the standing of the person in whose name it runs.
    pub standing: Standing,
    /// Person who asked for a retry. The turn then runs in their name, not in the writer's.
    pub again_by: Option<Speaker>,
    /// Task whose prompt this is, as it was when its run got the lease.
    pub task: Option<Box<Task>>,
    /// `true` if the question asks to continue the last answer. The rights to do so are checked when the turn begins.
    pub goes_on: bool,
    /// Client through which the question arrived.
    pub client: Client,
    /// Choices of a request from outside Telegram, for this turn alone.
    pub requested: Option<Arc<Requested>>,
}

/// Request to answer the last question again: a retry, possibly with another model, or an edit of it.
#[derive(Debug, Clone, PartialEq)]
pub struct RepeatRequest {
    /// Message, button press or edited message that asks for it, as a question of one part.
    pub asked: Question,
    /// Model for this turn only; `None` for the chat's model.
    pub model: Option<ModelName>,
    /// `true` if the message is part of the question and was edited. The new answer takes the place of the earlier one.
    pub is_edit: bool,
}

impl Question {
    /// Creates a question of one message from Telegram.
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

    /// Creates a question from the prompt of a task whose run got its lease at `since`.
    #[must_use]
    pub(crate) fn of_task(task: Task, since: DateTime<Utc>) -> Self {
        let part = Inbound::of_task(&task, since);
        Self { task: Some(Box::new(task)), ..Self::new(part, Standing::Borrowed) }
    }

    /// Returns the lease of the task run; `None` if the question is no task's.
    #[must_use]
    pub(crate) fn lease(&self) -> Option<&Lease> {
        self.task.as_ref()?.lease.as_ref()
    }

    /// Returns who pays for the turn with this agent; `None` for a question without a message.
    pub(crate) fn payer(&self, agent: Option<&str>) -> Option<Payer> {
        let user = self.asker()?.user.clone();
        let (task, key) = (self.task.as_ref().map(|task| task.id), self.key());
        let agents = agent.map(str::to_owned).into_iter().collect();
        Some(Payer { task, agents, key, ..Payer::new(self.parts.first()?.place.chat, user) })
    }

    /// Returns the name of the key of the HTTP gateway that the question came with.
    #[must_use]
    pub(crate) fn key(&self) -> Option<String> {
        self.requested.as_ref()?.key.clone()
    }

    #[must_use]
    pub(crate) fn is_in_group(&self) -> bool {
        self.parts.first().is_some_and(|part| part.place.is_group())
    }

    /// Returns the text of all parts, one per line.
    #[must_use]
    pub(crate) fn words(&self) -> String {
        self.parts.iter().map(|part| part.text.as_str()).collect::<Vec<_>>().join("\n")
    }

    /// Returns `true` if words in it were heard.
    pub(crate) fn is_heard(&self) -> bool {
        let mut attachments = self.parts.iter().flat_map(|part| &part.attachments);
        attachments.any(|attachment| attachment.heard == Some(HearingResult::Words))
    }

    /// Returns the file id of its first picture, or else of the first that it replies to.
    pub(crate) fn picture(&self) -> Option<&str> {
        self.files().find_map(Attachment::picture)
    }

    /// Returns its attachments, then those of the messages that it replies to.
    pub(crate) fn files(&self) -> impl Iterator<Item = &Attachment> {
        let own = self.parts.iter().flat_map(|part| &part.attachments);
        let quoted =
            self.parts.iter().filter_map(|part| part.quotes.as_ref()).flat_map(|quoted| &quoted.attachments);
        own.chain(quoted)
    }

    /// Returns the person who asked for a retry, else the writer of the first part.
    #[must_use]
    pub fn asker(&self) -> Option<&Speaker> {
        self.again_by.as_ref().or(self.parts.first().map(|part| &part.speaker))
    }

    /// Rebuilds the question from stored messages, as asked again by this question's writer. If a message is someone
    /// else's, the question has borrowed rights: neither the rights of its writer nor those of the owner or admin who
    /// pressed the button.
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
                about: message.about,
                mentioned: true,
                ..asker?.clone()
            })
        });
        let parts: Vec<Inbound> = parts.collect();
        let again_by = self.asker().cloned();
        // The prompt of a task was worded by the model from a person's request.
        let is_own = parts.iter().all(|part| {
            let is_theirs = Some(&part.speaker.user) == again_by.as_ref().map(|by| &by.user);
            is_theirs && part.task.is_none() && !part.borrowed
        });
        let standing = if is_own { self.standing } else { Standing::Borrowed };
        let requested = self.requested.clone();
        Self { parts, standing, again_by, task: None, goes_on: false, client: self.client, requested }
    }

    /// Returns the question with borrowed rights, also when it is resumed or retried.
    #[must_use]
    pub fn borrowed(mut self) -> Self {
        self.parts.iter_mut().for_each(|part| part.borrowed = true);
        Self { standing: Standing::Borrowed, ..self }
    }
}

/// Puts an edited text into a question. Returns `false` if the message is no part of it or the text is unchanged.
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

/// Returns `true` if the message is a further part of the question: of the same album; by the same writer right after a
/// part that may have been split or forwarded; or a forward right after its comment, which clients send first.
pub(super) fn belongs(question: &Question, next: &Question) -> bool {
    // A request to continue an answer is never part of another question.
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
