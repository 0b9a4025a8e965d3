//! `/retry`, and the buttons under an answer that broke off or failed: repeat it, use another model, continue. The buttons
//! that show other attempts are in `versions`.

use std::sync::Arc;

use async_trait::async_trait;

use super::asker::Asker;
use super::card::Card;
use super::cards::Cards;
use super::command::{
    Command, CommandOutcome, CommandRequest, CommandSpec, Group, Press, PressError, Pressed,
};
use super::handles::Handles;
use super::model::{ChatModels, ModelScope};
use super::presses::FirstPresses;
use super::versions::{Versions, version_row};
use crate::callback::{
    ApproveButton, BackButton, ButtonFamily, KeepAnswerButton, NotesButton, RecordsButton, RetryButton,
    TaskPress, TaskVerb, TasksButton, TurnTag, VersionButton,
};
use crate::send;
use figaro_agent::turn::question::{Question, RepeatRequest};
use figaro_agent::turn::queue::Job;
use figaro_agent::turn::rights::{LAST_MESSAGES, last_asked};
use figaro_base::ids::{RunId, TaskId};
use figaro_domain::approval::Ruled;
use figaro_domain::conversation::{Message, MessageRole};
use figaro_domain::delivery::Action;
use figaro_domain::message::Attachment;
use figaro_domain::model::ModelName;
use figaro_prompts::texts::Texts;
use figaro_store::{ConversationStore, StoreError};

/// Returns the rows of buttons under the answer of a turn; empty without actions.
#[must_use]
pub(crate) fn action_buttons(actions: &[Action], run: RunId, texts: &Texts) -> Vec<Vec<send::Button>> {
    let turn = TurnTag::of(run);
    let of_task = |label, verb, task: TaskId| {
        send::Button::new(label, TasksButton::One(TaskPress { verb, task, page: None }))
    };
    let rules = |label, ruled| send::Button::new(label, ApproveButton::Rule(run, ruled, None));
    let buttons = |action: &Action| {
        let button = match *action {
            Action::Versions(at, of) => return version_row(run, at, of),
            Action::GoOn => send::Button::new(texts.button_go_on(), RetryButton::GoOn(turn.clone())),
            Action::Retry => send::Button::new(texts.button_retry(), RetryButton::Again(turn.clone())),
            Action::OtherModel => {
                send::Button::new(texts.button_other_model(), RetryButton::Choose(turn.clone()))
            }
            Action::Pin => send::Button::new(texts.button_pin(), KeepAnswerButton::Ask),
            Action::ApproveOnce => rules(texts.button_approve_once(), Ruled::Once),
            Action::ApproveHour => rules(texts.button_approve_hour(), Ruled::Hour),
            Action::ApproveDeny => rules(texts.button_approve_deny(), Ruled::Denied),
            Action::ApproveDetails => {
                send::Button::new(texts.button_details(), ApproveButton::Details(run, true, None))
            }
            Action::Undo => send::Button::new(texts.button_undo(), BackButton(run)),
            Action::Remind(record) => send::Button::new(texts.button_remind(), RecordsButton::Remind(record)),
            Action::DropNote(note) => send::Button::new(texts.button_undo(), NotesButton::Drop(note)),
            Action::DropNotes => send::Button::new(texts.button_undo(), NotesButton::DropAll(run)),
            Action::ShowNotes(note) => send::Button::new(texts.button_list(), NotesButton::Show(note)),
            Action::RunTask(task) => of_task(texts.button_run_now(), TaskVerb::Run, task),
            Action::SkipTask(task) => of_task(texts.button_skip(), TaskVerb::Skip, task),
            Action::ResumeTask(task) => of_task(texts.button_resume(), TaskVerb::Resume, task),
            Action::CancelTask(task) => of_task(texts.button_cancel(), TaskVerb::Cancel, task),
            Action::TaskDone(task) => of_task(texts.button_done(), TaskVerb::Done, task),
            Action::TaskLater(task) => of_task(texts.button_later(), TaskVerb::Later(10), task),
            Action::TaskTomorrow(task) => of_task(texts.button_tomorrow(), TaskVerb::Tomorrow, task),
        };
        vec![button]
    };
    let (below, row): (Vec<&Action>, Vec<&Action>) =
        actions.iter().partition(|action| matches!(action, Action::ApproveDetails | Action::Versions(..)));
    let rows = [row, below].map(|row| row.into_iter().flat_map(buttons).collect::<Vec<_>>());
    rows.into_iter().filter(|row| !row.is_empty()).collect()
}

/// Repeats the last question, or continues the last answer.
#[derive(Debug)]
pub(super) struct RetryCommand {
    cards: Cards,
    conversations: ConversationStore,
    models: ChatModels,
    /// Messages under which a button was just pressed.
    presses: FirstPresses,
    versions: Versions,
}

#[async_trait]
impl Command for RetryCommand {
    fn spec(&self) -> CommandSpec {
        CommandSpec::new("retry", Texts::command_retry)
            .group(Group::Chat)
            .begins_turn()
            .families(&[RetryButton::NAME, VersionButton::NAME])
            .arguments(&[("MODEL", "try it with this model")])
    }

    /// The retry must start before questions that follow. With an argument, the lookup of the model may be slow.
    fn is_immediate(&self, argument: &str) -> bool {
        argument.is_empty()
    }

    async fn run(&self, request: &CommandRequest<'_>) -> Result<CommandOutcome, StoreError> {
        let model = match request.argument() {
            "" => None,
            name => match self.models.chosen(request.asker, name).await {
                Ok(model) => Some(model),
                Err(complaint) => return Ok(Card::text(complaint).into()),
            },
        };
        let asked = Question::new(request.message.clone(), request.asker.standing);
        Ok(CommandOutcome::Job(Box::new(Job::Again(RepeatRequest { asked, model, is_edit: false }))))
    }

    async fn press(&self, press: &Press<'_>) -> Result<Pressed, PressError> {
        if let Ok(button) = press.data.parse::<VersionButton>() {
            return self.versions.press(press, &button);
        }
        let button: RetryButton = press.data.parse()?;
        match self.is_current(&button, press.asker) {
            Ok(true) => {}
            Ok(false) => return Ok(Pressed::Stale),
            Err(error) => return Ok(Pressed::toast(self.cards.failed(press.asker, &error).body)),
        }
        match &button {
            RetryButton::GoOn(_) => Ok(self.once(press, Job::Ask(self.going_on(press)))),
            RetryButton::Again(_) => Ok(self.once(press, self.again(press, None))),
            RetryButton::With(_, model) => match self.models.chosen(press.asker, model.as_str()).await {
                Ok(model) => Ok(self.once(press, self.again(press, Some(model)))),
                Err(complaint) => Ok(Pressed::toast(complaint)),
            },
            RetryButton::Choose(turn) => self.choose(press, turn).await,
        }
    }

    fn question(&self, press: &Press<'_>) -> Option<Question> {
        match press.data.parse().ok()? {
            RetryButton::GoOn(_) => Some(self.going_on(press)),
            RetryButton::Again(_) | RetryButton::With(..) => Some(press.ask("", self.cards.now())),
            RetryButton::Choose(_) => None,
        }
    }
}

impl RetryCommand {
    pub(super) fn new(handles: &Handles) -> Self {
        Self {
            cards: handles.cards.clone(),
            conversations: handles.store.conversations(),
            models: ChatModels::new(handles),
            presses: FirstPresses::default(),
            versions: Versions::new(handles),
        }
    }

    /// Returns `true` if a button belongs to the last turn of the conversation that a person began. A later answer of
    /// a task can be continued too.
    fn is_current(&self, button: &RetryButton, asker: &Asker) -> Result<bool, StoreError> {
        let session = self.conversations.session(asker.place.conversation(), self.cards.now())?;
        let messages = self.conversations.recent(session.id, LAST_MESSAGES)?;
        let is_meant = |turn: Option<RunId>| turn.is_some_and(|turn| TurnTag::of(turn) == *button.turn());
        let last = messages.iter().rev().find_map(|message| message.turn);
        let goes_on = matches!(button, RetryButton::GoOn(_));
        Ok(is_meant(last_asked(&messages)) || goes_on && is_meant(last))
    }

    /// Returns `true` if the question of a turn is a picture without text.
    fn is_picture(&self, turn: &TurnTag, asker: &Asker) -> Result<bool, StoreError> {
        let session = self.conversations.session(asker.place.conversation(), self.cards.now())?;
        let messages = self.conversations.recent(session.id, LAST_MESSAGES)?;
        let of_turn = |message: &&Arc<Message>| message.turn.is_some_and(|one| TurnTag::of(one) == *turn);
        let question = || messages.iter().filter(of_turn).filter(|message| message.role == MessageRole::User);
        let has_words = question().any(|message| !message.text.trim().is_empty());
        Ok(!has_words && question().any(|message| message.attachments.iter().any(Attachment::is_picture)))
    }

    fn once(&self, press: &Press<'_>, job: Job) -> Pressed {
        if !self.presses.is_first(press, self.cards.now()) {
            return Pressed::Stale;
        }
        Pressed::Job { job: Box::new(job), toast: None, once: true }
    }

    fn again(&self, press: &Press<'_>, model: Option<ModelName>) -> Job {
        Job::Again(RepeatRequest { asked: press.ask("", self.cards.now()), model, is_edit: false })
    }

    fn going_on(&self, press: &Press<'_>) -> Question {
        let words = self.cards.texts(press.asker).go_on_question();
        // Another person may have asked for the answer that continues; the turn looks that up when it begins.
        Question { goes_on: true, ..press.ask(words, self.cards.now()) }
    }

    /// Shows the models to choose from in a new message.
    async fn choose(&self, press: &Press<'_>, turn: &TurnTag) -> Result<Pressed, PressError> {
        let asker = press.asker;
        if !self.presses.is_first(press, self.cards.now()) {
            return Err(PressError::Gone);
        }
        let sees = self.is_picture(turn, asker)?;
        let card = match self.models.card(asker, &ModelScope::Again { turn: turn.clone(), sees }).await {
            Ok(card) => card,
            Err(error) => return Ok(Pressed::toast(self.cards.failed(asker, &error).body)),
        };
        self.cards.without_buttons(asker, press.message).await;
        self.cards.show(&Asker { message: None, ..asker.clone() }, card).await;
        Ok(Pressed::Shown { toast: None, card: None })
    }
}
