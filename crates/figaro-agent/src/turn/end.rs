//! Ends a turn: loads the facts that its end depends on, lets `super::finish` decide, writes the result in one commit,
//! then has it delivered.

use std::collections::HashMap;
use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use figaro_base::tz::Tz;
use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

use super::control::{CancelReason, Control};
use super::error::TurnError;
use super::finish::{TurnEndFacts, finish};
use super::outcome::Outcome;
use super::parked::Parked;
use super::question::Question;
use super::report::Reporter;
use super::spending::SpendingNotices;
use super::trace::Tracer;
use crate::delivery::{Delivery, Owners};
use crate::tools::Registry;
use figaro_base::ids::{ChatId, TaskId, UserId};
use figaro_base::shutdown::TaskTracker;
use figaro_base::text::one_line;
use figaro_domain::approval::Approval;
use figaro_domain::chat::ConfigPatch;
use figaro_domain::delivery::{CardKind, PendingDelivery};
use figaro_domain::tool::{Effect, ToolCall};
use figaro_domain::turn::{ActiveTurn, ParkedTurn};
use figaro_ledger::Ledger;
use figaro_policy::access::Standing;
use figaro_prompts::texts::{Locales, Texts, fill};
use figaro_store::{ChildStore, ConversationStore, SettingsStore, StoreError, TaskStore, UndoStore};

/// Maximum length of a person's name in a notice to owners, in characters.
const NAME_CHARS: usize = 40;
/// Minimum time between two notices to owners about requests of the same person.
const NOTICE_PAUSE: TimeDelta = TimeDelta::hours(1);
const MAX_NOTICES: usize = 20;

/// Writes the end of a turn in one commit, then delivers its answer and cards. Called by the pipeline.
#[derive(Debug, Clone)]
pub struct Ender {
    /// The store of turns and messages.
    pub conversations: ConversationStore,
    /// The store of scheduled tasks; tells whether a task's zone is assumed.
    pub tasks: TaskStore,
    /// The store of the settings of chats.
    pub settings: SettingsStore,
    /// `true` if there is a model that speaks.
    pub speaks: bool,
    /// The store of reversible changes that turns made.
    pub undos: UndoStore,
    /// The store of the child agents that turns start.
    pub children: ChildStore,
    /// The registry of all tools; tells whether a call only reads.
    pub tools: Arc<Registry>,
    /// The record of spending, and the access to the models.
    pub ledger: Arc<Ledger>,
    /// Tells people and owners of the limits on spending.
    pub spending: SpendingNotices,
    /// The texts for people, by language.
    pub locales: Arc<Locales>,
    /// The zone of chats that set none.
    pub default_zone: Tz,
    /// Turns that wait for a person.
    pub parked: Parked,
    /// Time of the last approval notice to owners, by the person it was about.
    pub notices: Arc<Mutex<HashMap<UserId, DateTime<Utc>>>>,
    /// Times of the last notices to owners about calls that were refused after a text by others was read.
    pub refusals: Arc<Mutex<Vec<DateTime<Utc>>>>,
    /// Runs the delivery of spoken answers.
    pub background: TaskTracker,
    /// Delivers answers and cards to chats, and withdraws previews.
    pub delivery: Arc<dyn Delivery>,
    /// Notifies the owners of problems that only they can solve.
    pub owners: Arc<dyn Owners>,
    /// Records the progress of questions for people who ask about them.
    pub tracer: Tracer,
    /// Reports failures to the log and to `/status`.
    pub reporter: Reporter,
}

impl Ender {
    /// Writes how a turn ended, then delivers the reply.
    pub(super) async fn end(
        &self,
        turn: &ActiveTurn,
        question: &Question,
        outcome: &Outcome,
        control: &Control,
    ) {
        self.note(turn, outcome);
        let facts = self.facts(turn, question, outcome).await;
        // The calls of a turn go with its end.
        let refused = self.refused_after_reading(turn, outcome);
        let finish = finish(&facts, outcome);
        if let Err(error) = self.conversations.end_turn(turn, finish.end.clone()).await {
            // Not stored, so not sent either: the next start runs the turn again.
            self.reporter.report(&error, "an answer could not be stored");
            self.hold(question).await;
        } else {
            let error = outcome.error().and_then(|error| error.described(&self.ledger.models));
            self.wait(finish.end.parked, question, control).await;
            if matches!(outcome, Outcome::Stopped(_)) {
                control.tell_of_stop(finish.end.delivery.is_some());
            }
            // Noted while the reply is on its way.
            let noting = async { self.tracer.ended(turn.id, question, outcome, error) };
            futures::join!(self.deliver(turn, finish.end.delivery, &control.cancel), noting);
            self.deliver_cards(finish.end.cards).await;
            if finish.is_declined {
                self.decline(question, facts.texts.error_internal()).await;
            }
        }
        // The person who asked need not wait for this.
        self.spending.used_up(outcome).await;
        self.tell_of_refused(refused).await;
    }

    /// Counts one more notice about a person's request. Returns `false` if owners had one within the pause, or too
    /// many.
    fn may_notify(&self, approval: &Approval) -> bool {
        let now = self.reporter.now();
        let mut told = self.notices.lock();
        told.retain(|_, at| now - *at < NOTICE_PAUSE);
        let is_new = told.len() < MAX_NOTICES && !told.contains_key(&approval.requester.user);
        if is_new {
            told.insert(approval.requester.user.clone(), now);
        }
        is_new
    }

    /// Tells owners about a call that waits for approval where no approver may be reading.
    async fn tell_approvers(&self, parked: &ParkedTurn, question: &Question) {
        let Some(approval) = parked.question.approval.as_deref() else { return };
        let is_here = approval.targets.iter().all(|target| target.chat == approval.asked_in);
        let is_seen = question.is_in_group() && approval.right.is_some() && is_here;
        let is_own = question.standing == Standing::Owner && !approval.needs_other;
        if is_seen || is_own {
            return;
        }
        if !self.may_notify(approval) {
            return;
        }
        // Nothing in a name may become a link.
        let name = one_line(&approval.requester.name, NAME_CHARS).replace(['.', '/', '@'], " ");
        let words = |texts: &Texts| fill(texts.approval_notice(), &[("name", &name)]);
        self.owners.tell(self.locales.map(words)).await;
    }

    async fn deliver_cards(&self, cards: Vec<PendingDelivery>) {
        for card in cards {
            if card.card == Some(CardKind::Spoken) {
                // The next question does not wait for it.
                let delivery = self.delivery.clone();
                self.background.spawn("speech", async move {
                    delivery.deliver(card, &CancellationToken::new()).await;
                });
            } else {
                self.delivery.deliver(card, &CancellationToken::new()).await;
            }
        }
    }

    /// Registers a turn as waiting: an answer or a stop may arrive as soon as its question is seen. A turn that was
    /// stopped while this was being stored is given up.
    async fn wait(&self, parked: Option<Box<ParkedTurn>>, question: &Question, control: &Control) {
        let Some(parked) = parked else { return };
        self.tell_approvers(&parked, question).await;
        let run = parked.turn.id;
        self.parked.add(*parked).await;
        if control.park() || control.reason() != CancelReason::Stopped {
            return;
        }
        if let Err(error) = self.parked.give_up(run, None, None).await {
            self.reporter.report(&error, "a turn that was stopped could not be given up");
        }
    }

    /// Logs a failure, and updates the counters for `/status`.
    fn note(&self, turn: &ActiveTurn, outcome: &Outcome) {
        let vitals = &self.reporter.vitals;
        if let Some(error) = outcome.error() {
            let label = error.label();
            tracing::error!(run = %turn.id, label, ?error, "a turn failed");
            vitals.failed(self.reporter.now(), label);
        }
        if let Some(model) = outcome.answer().and_then(|answer| answer.pass.model.as_ref()) {
            vitals.answered_by(&model.to_string());
        }
    }

    async fn facts<'a>(
        &'a self,
        turn: &'a ActiveTurn,
        question: &'a Question,
        outcome: &Outcome,
    ) -> TurnEndFacts<'a> {
        let is_task = question.task.is_some();
        let is_early = matches!(outcome, Outcome::Stopped(_) | Outcome::Failed(..));
        TurnEndFacts {
            turn,
            question,
            texts: self.texts(question),
            now: self.reporter.now(),
            zone: self.zone(question, outcome),
            has_shown: is_early && !is_task && self.delivery.has_shown(turn.id).await,
            has_acted: outcome.error().is_some() && is_task && self.has_acted(turn),
            has_other_model: outcome.error().is_some_and(|error| self.has_other_model(error)),
            can_undo: self.can_undo(turn),
            attempts: self.attempts(turn),
            speaks: self.speaks(question, outcome),
            is_rich: self.is_rich(question, outcome),
            called_off: self.called_off(turn),
            cards: self.cards(turn, question, outcome).await,
            spending: self.spending.lines(question, outcome).await,
        }
    }

    /// Returns `true` if the settings name a model other than the one that failed.
    fn has_other_model(&self, error: &TurnError) -> bool {
        let named = self.ledger.models.named();
        match error.model() {
            Some(failed) => named.iter().any(|model| model != failed),
            None => named.len() > 1,
        }
    }

    /// Returns the time zone of the chat. Only waiting turns show a time; the default zone is returned for all others.
    fn zone(&self, question: &Question, outcome: &Outcome) -> Tz {
        let first = question.parts.first().filter(|_| matches!(outcome, Outcome::Parked(_)));
        let Some(first) = first else { return self.default_zone };
        let config = self.settings.chat_config(first.place.chat);
        let config =
            config.inspect_err(|error| self.reporter.report(error, "the zone of a chat could not be read"));
        config.ok().and_then(|config| config.timezone).unwrap_or(self.default_zone)
    }

    /// Returns `true` if the chat has this answer spoken.
    fn speaks(&self, question: &Question, outcome: &Outcome) -> bool {
        let is_spoken =
            self.speaks && matches!(outcome, Outcome::Answered(_)) && question.requested.is_none();
        let Some(first) = question.parts.first().filter(|_| is_spoken) else { return false };
        let config = self.settings.chat_config(first.place.chat);
        let config = config.inspect_err(|error| {
            self.reporter.report(error, "whether a chat has answers spoken could not be read");
        });
        config.is_ok_and(|config| config.voice.speaks(question.is_heard()))
    }

    /// Returns `true` if the turn made changes that can be undone, by the store: this holds for every outcome.
    fn can_undo(&self, turn: &ActiveTurn) -> bool {
        let undo = self.undos.find(turn.id);
        let undo =
            undo.inspect_err(|error| self.reporter.report(error, "what can be taken back could not be read"));
        undo.is_ok_and(|undo| undo.is_some())
    }

    /// Returns the calls of a turn that were approved but not made. Only a turn that has waited has any.
    fn called_off(&self, turn: &ActiveTurn) -> Vec<ToolCall> {
        if turn.resumed_by.is_none() {
            return Vec::new();
        }
        let calls = self.conversations.tool_calls(turn.id);
        let mut calls = calls
            .inspect_err(|error| self.reporter.report(error, "the calls of a turn could not be read"))
            .unwrap_or_default();
        calls.retain(ToolCall::is_called_off);
        calls
    }

    /// Reloads the waiting turns after the person of this name changed them in the store.
    pub(super) async fn reload_parked(&self, by: &str) {
        if let Err(error) = self.parked.reload(Some(by)).await {
            self.reporter.report(&error, "which turns wait for a person could not be read");
        }
    }

    async fn deliver(
        &self,
        turn: &ActiveTurn,
        delivery: Option<PendingDelivery>,
        cancel: &CancellationToken,
    ) {
        match delivery {
            // A stop that ended the turn must not stop the delivery of its last reply.
            Some(delivery) if cancel.is_cancelled() => {
                self.delivery.deliver(delivery, &CancellationToken::new()).await;
            }
            Some(delivery) => self.delivery.deliver(delivery, cancel).await,
            None => self.delivery.withdraw(turn.id).await,
        }
    }

    /// Says that the question stays in the inbox, so that nobody sends it again and gets two answers.
    pub(super) async fn hold(&self, question: &Question) {
        self.decline(question, self.texts(question).error_store()).await;
    }

    async fn decline(&self, question: &Question, words: &str) {
        // The creator of a task is told elsewhere.
        if let Some(part) = question.parts.first().filter(|_| question.task.is_none()) {
            let words = format!("⚠️ {words}");
            self.delivery.decline(part, &words).await;
        }
    }

    pub(super) fn texts(&self, question: &Question) -> &Texts {
        self.locales.of(question.parts.first().and_then(|part| part.language.as_deref()))
    }

    /// Returns `true` if the turn made a call that must not be repeated, or if its calls cannot be read.
    fn has_acted(&self, turn: &ActiveTurn) -> bool {
        let tools = self.tools.looking_up();
        let found = |name: &str| tools.get(name, &[name.to_owned()]);
        let reads = |name: &str| found(name).is_some_and(|tool| tool.effect() == Effect::Read);
        match self.calls_of_all(turn) {
            Ok(calls) => calls.iter().any(|call| !reads(&call.call.name)),
            Err(_) => true,
        }
    }

    /// Returns the calls of a turn and of its children.
    pub(super) fn calls_of_all(&self, turn: &ActiveTurn) -> Result<Vec<ToolCall>, StoreError> {
        let mut calls = self.conversations.tool_calls(turn.id)?;
        for child in self.children.of_run(turn.id)? {
            calls.extend(self.conversations.tool_calls(child.id)?);
        }
        Ok(calls)
    }

    /// Returns the cards that follow the reply: the changed chat settings; the tasks that the turn made or changed;
    /// then, once per chat, the question for its time zone, if one of the tasks relies on an assumed zone.
    async fn cards(&self, turn: &ActiveTurn, question: &Question, outcome: &Outcome) -> Vec<CardKind> {
        let Some(first) = question.parts.first() else { return Vec::new() };
        let tasks = outcome.answer().map_or(&[][..], |answer| &answer.tasks);
        let settings = self.may_have_configured(turn).then_some(CardKind::Settings);
        let asks = !tasks.is_empty() && self.asks_for_zone(first.place.chat, tasks).await;
        let tasks = tasks.iter().copied().map(CardKind::Task);
        settings.into_iter().chain(tasks).chain(asks.then_some(CardKind::Zone)).collect()
    }

    /// Returns `true` if one of these tasks relies on an assumed time zone and the chat was not asked for its zone yet.
    /// Records that it is asked now.
    async fn asks_for_zone(&self, chat: ChatId, tasks: &[TaskId]) -> bool {
        let asking = async {
            let mut is_assumed = false;
            for task in tasks {
                is_assumed |= self.tasks.find(*task)?.is_some_and(|task| task.zone_assumed);
            }
            let config = self.settings.chat_config(chat)?;
            if !is_assumed || config.timezone.is_some() || config.zone_asked.is_some() {
                return Ok(false);
            }
            let asked = ConfigPatch { zone_asked: Some(self.reporter.now()), ..ConfigPatch::default() };
            self.settings.change_chat_config(chat, asked).await.map(|_| true)
        };
        asking.await.unwrap_or_else(|error: StoreError| {
            // The next task asks again.
            self.reporter
                .report(&error, "whether a chat is to be asked for its time zone could not be settled");
            false
        })
    }

    /// Returns `true` if the turn changed settings of its chat. Read from the store, so that it holds for every
    /// outcome. Also `true` if the store fails: the delivery checks again, and shows nothing if there is no change.
    fn may_have_configured(&self, turn: &ActiveTurn) -> bool {
        match self.settings.config_change(turn.id) {
            Ok(change) => change.is_some(),
            Err(error) => {
                self.reporter.report(&error, "whether a turn changed settings could not be looked up");
                true
            }
        }
    }
}
