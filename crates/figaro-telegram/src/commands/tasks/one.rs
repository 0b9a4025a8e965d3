//! Buttons of one task: they show it, change it, and open its history and settings. A message that is known as the
//! card of its task updates by itself; other messages become such cards.

use super::super::asker::Asker;
use super::super::card::Card;
use super::super::command::{Press, Pressed};
use super::TasksCommand;
use super::card::TaskView;
use super::drawn::lead;
use crate::callback::{TaskPress, TaskVerb};
use figaro_agent::task_control::{TaskAction, TaskActionResult};
use figaro_base::ids::MessageId;
use figaro_domain::task::{Shows, Task, TaskChange, TaskMessage};
use figaro_policy::access::{Standing, may_change};
use figaro_prompts::AgentSet;
use figaro_prompts::texts::fill;
use figaro_store::StoreError;

/// Press of a button of a task: person, message and button.
#[derive(Debug, Clone, Copy)]
pub(super) struct On<'a> {
    pub(super) asker: &'a Asker,
    message: MessageId,
    pub(super) button: TaskPress,
}

impl TasksCommand {
    pub(super) async fn press_one(
        &self,
        press: &Press<'_>,
        button: TaskPress,
    ) -> Result<Pressed, StoreError> {
        let asker = press.asker;
        let on = On { asker, message: press.message, button };
        let texts = self.cards.texts(asker);
        let task = self.store.find(button.task)?.filter(|task| may_look(asker, task));
        let Some(task) = task else {
            // A notice stays unchanged, because it still tells what happened.
            return Ok(match button.page {
                Some(page) => Pressed::both(texts.gone(), self.list(asker, page)?),
                None => Pressed::toast(texts.gone()),
            });
        };
        let agents = self.agents.now();
        let view = self.view(&on, &task, &agents);
        let looks_only = on.is_unknown(&task) && !self.may_change(asker, &task).await;
        let (action, done) = match button.verb {
            TaskVerb::Open if looks_only => return Ok(Pressed::card(view.without_actions(&task))),
            TaskVerb::Open => {
                self.close_questions(&on, &task).await?;
                return Ok(Pressed::card(self.shows(&on, &task).await?));
            }
            TaskVerb::History(page) => {
                let runs = self.store.runs(task.id)?;
                let history = view.history(&task, &runs, page);
                if looks_only {
                    return Ok(Pressed::card(history));
                }
                return self.opens(&on, &task, Pressed::card(history)).await;
            }
            TaskVerb::Label => return Ok(Pressed::toast(view.missed_help(&task))),
            _ if !self.may_change(asker, &task).await => return Ok(Pressed::toast(texts.task_not_yours())),
            verb if !self.may_reach(asker, &task, verb).await => {
                return Ok(Pressed::toast(texts.task_not_there()));
            }
            TaskVerb::Edit => {
                let shown = self.press_edit(&on, view, &task).await?;
                self.ask(&on, &task).await?;
                return Ok(shown);
            }
            TaskVerb::Shift(_) | TaskVerb::Missed(_) | TaskVerb::Agents(_) | TaskVerb::Agent(_) => {
                // The question below the card stays open, because the card still invites a reply.
                return self.press_edit(&on, view, &task).await;
            }
            TaskVerb::Done | TaskVerb::Later(_) | TaskVerb::Tomorrow => {
                return self.press_fired(view, task, button.verb).await;
            }
            TaskVerb::Run => (TaskAction::Run, texts.task_running()),
            TaskVerb::Pause => (TaskAction::Pause, texts.task_paused()),
            TaskVerb::Resume => (TaskAction::Resume, texts.task_resumed()),
            TaskVerb::Cancel => (TaskAction::Cancel, texts.task_cancelled()),
            TaskVerb::Undo => (TaskAction::Revive, texts.task_revived()),
            TaskVerb::Skip => (TaskAction::Skip, texts.task_skipped()),
        };
        self.press_change(&on, task, action, done).await
    }

    fn view<'a>(&'a self, on: &On<'a>, task: &Task, agents: &'a AgentSet) -> TaskView<'a> {
        TaskView {
            texts: self.cards.texts(on.asker),
            now: self.cards.now(),
            page: on.button.page,
            is_elsewhere: on.asker.place.chat != task.place.chat,
            agents,
        }
    }

    /// Returns the card of a task and records that the message shows it from now on.
    async fn shows(&self, on: &On<'_>, task: &Task) -> Result<Card, StoreError> {
        let message = TaskMessage { page: on.button.page, ..on.known(task, Shows::Card) };
        let card = self.drawn.draw(task, &message);
        let print = card.clone().outgoing().fingerprint();
        self.changes.make(task.id, TaskChange::Show(TaskMessage { print, ..message })).await?;
        Ok(card)
    }

    /// Shows a view opened from the card of a task, and records that it stays until the person closes it.
    pub(super) async fn opens(
        &self,
        on: &On<'_>,
        task: &Task,
        shown: Pressed,
    ) -> Result<Pressed, StoreError> {
        let Pressed::Shown { toast, card: Some(card) } = shown else { return Ok(shown) };
        let message = TaskMessage { page: on.button.page, ..on.known(task, Shows::Opened) };
        let above = message.words.as_deref().and_then(lead);
        self.changes.make(task.id, TaskChange::Show(message)).await?;
        Ok(Pressed::Shown { toast, card: Some(Card { lead: above, ..card }) })
    }

    /// Records that a message no longer shows a task.
    pub(super) async fn leave(&self, asker: &Asker, message: MessageId) -> Result<(), StoreError> {
        let chat = asker.place.chat;
        let tasks = self.store.of_chat(chat)?;
        for task in tasks.iter().filter(|task| task.message(chat, message).is_some()) {
            self.changes.make(task.id, TaskChange::Hide(chat, message)).await?;
        }
        Ok(())
    }

    /// Asks in a message what to change, so that a reply need not name the task.
    async fn ask(&self, on: &On<'_>, task: &Task) -> Result<(), StoreError> {
        self.close_questions(on, task).await?;
        // Finished tasks are changed only by steps, because the model gets only live tasks.
        if !task.is_live() {
            return Ok(());
        }
        let texts = self.cards.texts(on.asker);
        let words = fill(texts.task_edit_help(), &[("task", &task.title())]);
        if let Some(id) = self.cards.ask(on.asker, &words, texts.task_edit_hint()).await {
            let message = TaskMessage::new(on.asker.place.chat, id, Shows::Question);
            self.changes.make(task.id, TaskChange::Show(message)).await?;
        }
        Ok(())
    }

    /// Deletes the open questions about a task in this chat.
    async fn close_questions(&self, on: &On<'_>, task: &Task) -> Result<(), StoreError> {
        let chat = on.asker.place.chat;
        let is_question = |one: &&TaskMessage| one.chat == chat && one.shows == Shows::Question;
        for question in task.messages.iter().filter(is_question) {
            self.changes.make(task.id, TaskChange::Hide(chat, question.message)).await?;
            self.cards.sender.delete(chat, question.message).await;
        }
        Ok(())
    }

    /// Handles a press that needs only one change.
    async fn press_change(
        &self,
        on: &On<'_>,
        task: Task,
        action: TaskAction,
        done: &str,
    ) -> Result<Pressed, StoreError> {
        let texts = self.cards.texts(on.asker);
        let (task, words) = match self.changes.act(&task, action).await? {
            TaskActionResult::Done(task) if on.is_card(&task) => {
                // The card updates by itself, because the task has changed.
                return Ok(Pressed::toast(done));
            }
            TaskActionResult::Done(task) => (task, done),
            TaskActionResult::Denied => (Box::new(task), texts.task_paused_denied()),
            TaskActionResult::Full => return Ok(Pressed::toast(self.changes.full(texts))),
            TaskActionResult::Running(task) => (task, texts.task_runs_already()),
            TaskActionResult::Unfit(task) => (task, texts.gone()),
            TaskActionResult::Gone => return Ok(Pressed::toast(texts.gone())),
        };
        Ok(Pressed::both(words, self.shows(on, &task).await?))
    }

    /// Returns `true` if the asker may change a task: its creator and owners from anywhere, people who may change the
    /// chat's settings only from there.
    async fn may_change(&self, asker: &Asker, task: &Task) -> bool {
        let is_here = asker.place.chat == task.place.chat;
        is_own(asker, task)
            || is_here
                && may_change(&*self.cards.admins, asker.standing, &task.place, &asker.speaker.user).await
    }

    /// Returns `true` if the asker is in the chat of the task, or need not be: the task acts in that chat.
    async fn may_reach(&self, asker: &Asker, task: &Task, verb: TaskVerb) -> bool {
        asker.place.chat == task.place.chat
            || asker.standing == Standing::Owner
            || is_restraint(verb)
            || self.cards.admins.is_member(task.place.chat, &asker.speaker.user).await
    }
}

impl On<'_> {
    /// Returns the record of the button's message, with what it shows from now on.
    fn known(&self, task: &Task, shows: Shows) -> TaskMessage {
        let chat = self.asker.place.chat;
        let known = task.message(chat, self.message).cloned();
        TaskMessage { shows, ..known.unwrap_or(TaskMessage::new(chat, self.message, shows)) }
    }

    /// Returns `true` if the button's message showed the list until now, so that it is not known to be about the
    /// task.
    fn is_unknown(&self, task: &Task) -> bool {
        task.message(self.asker.place.chat, self.message).is_none()
    }

    /// Returns `true` if the button's message is recorded as the card of the task.
    fn is_card(&self, task: &Task) -> bool {
        let known = task.message(self.asker.place.chat, self.message);
        known.is_some_and(|known| known.shows == Shows::Card)
    }
}

/// Returns `true` if a verb can only make a task do less.
const fn is_restraint(verb: TaskVerb) -> bool {
    matches!(verb, TaskVerb::Cancel | TaskVerb::Pause | TaskVerb::Skip | TaskVerb::Done)
}

/// Returns `true` if the asker may see a task: everybody in its chat, elsewhere its creator and owners.
fn may_look(asker: &Asker, task: &Task) -> bool {
    asker.place.chat == task.place.chat || is_own(asker, task)
}

fn is_own(asker: &Asker, task: &Task) -> bool {
    asker.standing == Standing::Owner || asker.speaker.user == task.creator.user
}
