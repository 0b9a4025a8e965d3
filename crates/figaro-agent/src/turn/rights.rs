//! Rights of a question, checked when its turn begins: they may have changed while it waited in its queue.

use std::sync::Arc;

use super::question::Question;
use figaro_base::clock::Clock;
use figaro_base::ids::{RunId, UserId};
use figaro_config::AccessSettings;
use figaro_domain::access::AccessList;
use figaro_domain::chat::Place;
use figaro_domain::conversation::Message;
use figaro_domain::task::{PauseReason, Task, TaskChange, TaskRunResult};
use figaro_domain::turn::ActiveTurn;
use figaro_policy::access::{Verdict, judge};
use figaro_store::{ConversationStore, InboxStore, SettingsStore, StoreError, TaskStore};

/// Maximum number of stored messages in which the last turn is searched.
pub const LAST_MESSAGES: usize = 200;

/// Returns the last turn that a person began, among stored messages of a conversation.
#[must_use]
pub fn last_asked(messages: &[Arc<Message>]) -> Option<RunId> {
    messages.iter().rev().filter(|message| message.task.is_none()).find_map(|message| message.turn)
}

/// Checks whether people may talk to the bot, and with which rights.
#[derive(Debug, Clone)]
pub struct RightsChecker {
    /// People who may use the bot according to the configuration.
    pub access: AccessSettings,
    /// The store of the access decisions of owners.
    pub settings: SettingsStore,
    /// The store of questions that have not begun.
    pub inbox: InboxStore,
    /// The store of turns and questions.
    pub conversations: ConversationStore,
    /// The store of scheduled tasks, to pause those of people without access.
    pub tasks: TaskStore,
    /// Source of the time at which access is checked.
    pub clock: Clock,
}

impl RightsChecker {
    /// Returns `true` if the writer may still talk to the bot. If not, settles their updates without an answer.
    pub(super) async fn admits(&self, question: &Question) -> Result<bool, StoreError> {
        let Some(first) = question.parts.first() else { return Ok(false) };
        let list = self.settings.access()?;
        if self.may_talk(&list, &first.place, &first.speaker.user) {
            return Ok(true);
        }
        tracing::info!(user = %first.speaker.user, "a question that waited is dropped: its writer may not talk any more");
        let updates: Vec<_> = question.parts.iter().filter_map(|part| part.origin.update()).collect();
        self.inbox.settle(&updates).await?;
        Ok(false)
    }

    /// Returns the question with its proper rights. A request to continue an answer gets borrowed rights unless its
    /// writer alone asked for that answer, in their own words.
    pub(super) fn with_rights(&self, question: Question) -> Result<Question, StoreError> {
        if !question.goes_on || self.has_asked(&question)? {
            return Ok(question);
        }
        Ok(question.borrowed())
    }

    /// Returns `true` if the last question of the conversation is by this question's writer alone, and no task has run
    /// since.
    fn has_asked(&self, question: &Question) -> Result<bool, StoreError> {
        let Some(first) = question.parts.first() else { return Ok(false) };
        let session = self.conversations.session(first.place.conversation(), self.clock.now())?;
        let messages = self.conversations.recent(session.id, LAST_MESSAGES)?;
        let turn = last_asked(&messages);
        let since = messages.iter().skip_while(|message| message.turn != turn);
        let mut questions = since.filter(|message| message.turn.is_some());
        let is_own = |message: &Arc<Message>| {
            let speaker = message.speaker.as_ref().map(|speaker| &speaker.user);
            speaker == Some(&first.speaker.user) && message.task.is_none() && !message.borrowed
        };
        Ok(turn.is_some() && questions.all(is_own))
    }

    /// Returns `true` if the creator of the task may still talk to the bot. If not, settles the run as withdrawn and
    /// pauses the task.
    pub(super) async fn admits_task(&self, task: &Task, run: RunId) -> Result<bool, StoreError> {
        let list = self.settings.access()?;
        if self.may_talk(&list, &task.place, &task.creator.user) {
            return Ok(true);
        }
        tracing::info!(task = %task.id, user = %task.creator.user, "a task of someone who may not talk to the bot any more is paused");
        let changes =
            [TaskChange::Pause(PauseReason::Denied), TaskChange::Settle(run, TaskRunResult::Withdrawn)];
        for change in changes {
            self.tasks.change(vec![(task.id, change)], Vec::new(), self.clock.now()).await?;
        }
        Ok(false)
    }

    /// Returns the question of a turn that continues with a person's answer, with the current rights of that person;
    /// `None` if they may no longer talk to the bot.
    ///
    /// # Errors
    /// If the store fails.
    pub fn resumed(&self, turn: &ActiveTurn, stored: Vec<Message>) -> Result<Option<Question>, StoreError> {
        let Some(part) = turn.resumed_by.as_deref().filter(|_| !stored.is_empty()) else {
            return Ok(None);
        };
        let list = self.settings.access()?;
        Ok(match judge(&self.access, &list, &part.place, &part.speaker.user, self.clock.now()) {
            Verdict::Allow(standing) => Some(Question::new(part.clone(), standing).again(stored)),
            Verdict::Stranger | Verdict::Unapproved | Verdict::Ignore(_) => None,
        })
    }

    fn may_talk(&self, list: &AccessList, place: &Place, user: &UserId) -> bool {
        matches!(judge(&self.access, list, place, user, self.clock.now()), Verdict::Allow(_))
    }
}
