//! Explains a message, for `/why` and for the dashboard: why it was or was not answered, and how the answer came about. Members
//! get details only of their own messages, and of what everybody in a group can see; owners of all messages, except the memories
//! of others.

mod details;
mod explanation;
mod finder;
mod observed;
mod reasons;

use std::sync::Arc;

use self::details::Details;
pub use self::details::rule_words;
pub use self::explanation::{ExplainedSection, Explanation, ExplanationReader};
pub use self::finder::ExplainedMessage;
use self::finder::Finder;
use self::reasons::Now;
use super::rulings::Rulings;
use super::tools::Registry;
use figaro_base::ids::{MessageId, RunId, UserId};
use figaro_domain::conversation::{ConversationId, EntryKey};
use figaro_domain::reception::Reception;
use figaro_policy::tools::Policy;
use figaro_store::{SettingsStore, Store, StoreError};

/// Explains messages. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Explainer(Arc<ExplainerParts>);

#[derive(Debug)]
struct ExplainerParts {
    finder: Finder,
    details: Details,
    settings: SettingsStore,
    rulings: Rulings,
    username: String,
}

impl Explainer {
    /// Creates it for a bot with this username.
    #[must_use]
    pub fn new(
        store: &Store,
        tools: Arc<Registry>,
        policy: Policy,
        rulings: Rulings,
        username: String,
    ) -> Self {
        let details = Details::new(store, tools, policy);
        let finder = Finder::new(store);
        Self(Arc::new(ExplainerParts { finder, details, settings: store.settings(), rulings, username }))
    }

    /// Finds the data about a message of a conversation in Telegram; `None` if there is none.
    ///
    /// # Errors
    /// When the store fails.
    pub fn find(
        &self,
        conversation: ConversationId,
        message: MessageId,
    ) -> Result<Option<ExplainedMessage>, StoreError> {
        self.0.finder.find(conversation, message)
    }

    /// Finds the data about the last message of a person before another one; `None` if there is none.
    ///
    /// # Errors
    /// When the store fails.
    pub fn last(
        &self,
        conversation: ConversationId,
        user: &UserId,
        before: MessageId,
    ) -> Result<Option<ExplainedMessage>, StoreError> {
        self.0.finder.last(conversation, user, before)
    }

    /// Finds the data about a turn in any chat; `None` if there is none.
    ///
    /// # Errors
    /// When the store fails.
    pub fn turn(&self, run: RunId) -> Result<Option<ExplainedMessage>, StoreError> {
        self.0.finder.turn(run)
    }

    /// Finds the data about a stored message of a conversation; `None` if it is gone.
    ///
    /// # Errors
    /// When the store fails.
    pub fn entry(
        &self,
        conversation: ConversationId,
        entry: EntryKey,
    ) -> Result<Option<ExplainedMessage>, StoreError> {
        self.0.finder.entry(conversation, entry)
    }

    /// Explains a message; `None` if it is not for this reader.
    ///
    /// # Errors
    /// When the store fails.
    pub fn explain(
        &self,
        reader: &ExplanationReader<'_>,
        subject: &ExplainedMessage,
    ) -> Result<Option<Explanation>, StoreError> {
        let received = subject.received.as_ref();
        let is_own = subject.writer() == Some(reader.user);
        // In their private chat all is theirs, what their tasks say too.
        let is_private = reader.user.telegram_id() == Some(subject.conversation.chat.0);
        let sees = is_own || is_private || reader.is_owner;
        let what = received.map_or(Reception::Asked, |received| received.what);
        let is_public = what.is_public() && subject.exchange.is_none();
        if !(sees || is_public) {
            return Ok(None);
        }
        let asked = subject.exchange.as_ref().and_then(|exchange| exchange.question.first());
        let began =
            asked.map(|question| question.created_at).or_else(|| received.map(|received| received.at));
        let began = began.unwrap_or_else(|| self.0.rulings.clock.now());
        let sections = if sees { self.0.details.sections(reader, subject, began)? } else { Vec::new() };
        let question = asked.filter(|_| is_own).map(|question| question.text.clone());
        let is_answered = subject.exchange.as_ref().is_some_and(|exchange| exchange.answer().is_some());
        let reason = self.reason(reader, subject, what)?;
        Ok(Some(Explanation { began, question, reason, sections, is_answered }))
    }

    fn reason(
        &self,
        reader: &ExplanationReader<'_>,
        subject: &ExplainedMessage,
        what: Reception,
    ) -> Result<String, StoreError> {
        let (texts, chat) = (reader.texts, subject.conversation.chat);
        if what != Reception::Asked && subject.exchange.is_none() {
            return Ok(reasons::received(texts, &self.0.username, what));
        }
        // The setting of a chat says nothing about another chat, an HTTP client or a task.
        let answered = match subject.received.is_some() && chat == reader.chat {
            true => reasons::answers(texts, chat, self.0.settings.chat_config(chat)?.answer_when),
            false => texts.why_answered(),
        };
        let Rulings { parked, mailboxes, .. } = &self.0.rulings;
        let now = Now {
            is_running: mailboxes.running().contains(&subject.conversation),
            waits: subject.trace().is_some_and(|trace| parked.waits(trace.run)),
        };
        Ok(reasons::turn(reader, subject, now, answered))
    }
}
