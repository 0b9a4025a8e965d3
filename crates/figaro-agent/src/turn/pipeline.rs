//! Passes one turn through its stages: begins it in the store, prepares, executes and ends it. Called by the queue.

use std::panic::AssertUnwindSafe;

use async_trait::async_trait;
use futures::FutureExt;

use super::children::Children;
use super::control::{CancelReason, Control};
use super::end::Ender;
use super::error::TurnError;
use super::execute::Executor;
use super::extraction::Extractor;
use super::log::TurnLog;
use super::naming::Namer;
use super::outcome::Outcome;
use super::parked::Parked;
use super::prepare::Preparer;
use super::question::{Question, RepeatRequest};
use super::queue::{Job, Runner};
use super::report::Reporter;
use super::rights::RightsChecker;
use super::run::Answer;
use super::summaries::Summariser;
use super::taken_up::{TakenUp, take_up};
use super::transcription::Transcription;
use crate::delivery::{Bus, TurnEventKind};
use crate::languages::Languages;
use figaro_base::ids::RunId;
use figaro_domain::reception::TurnTrace;
use figaro_domain::task::Task;
use figaro_domain::turn::{ActiveTurn, Approved, AttemptChoice, GoneOn, TurnEnd};
use figaro_domain::usage::Payer;
use figaro_memory::VectorMaker;
use figaro_memory::facts::{JudgedMessage, may_hold_fact};
use figaro_store::{ConversationStore, Repetition, StoreError, TaskStore};

/// Runs the jobs of the queues: passes a turn from preparation to its end.
#[derive(Debug, Clone)]
pub struct Turns {
    /// Checks the rights of a person when their turn begins.
    pub rights: RightsChecker,
    /// Turns the sounds of a question into text.
    pub transcription: Transcription,
    /// Loads the data for a turn and builds the window.
    pub preparer: Preparer,
    /// Executes the decisions of a turn's state machine.
    pub executor: Executor,
    /// Runs the child agents of turns.
    pub children: Children,
    /// Writes the end of a turn and delivers its reply.
    pub ender: Ender,
    /// Names sessions once a turn has ended.
    pub namer: Namer,
    /// Summarises sessions in the background; is told of each turn that has ended.
    pub summariser: Summariser,
    /// Extracts facts from people's messages once they stop writing.
    pub extractor: Extractor,
    /// Computes the vectors of messages once a turn has ended.
    pub vectors: VectorMaker,
    /// Turns that wait for a person.
    pub parked: Parked,
    /// The store of turns and messages.
    pub conversations: ConversationStore,
    /// The store of scheduled tasks; begins the turn of a task run.
    pub tasks: TaskStore,
    /// The languages in which runs of tasks speak.
    pub languages: Languages,
    /// Publishes the start and the end of each turn.
    pub bus: Bus,
    /// Reports failures to the log and to `/status`.
    pub reporter: Reporter,
}

#[async_trait]
impl Runner for Turns {
    async fn run(&self, job: Job, control: Control) -> Option<Job> {
        match job {
            Job::Ask(question) => self.ask(question, control).await,
            Job::GoOn(run) => self.go_on(run, control).await,
            Job::Again(again) => self.ask_again(again, control).await,
            Job::Resume(turn, question) => self.resume(turn, question, control).await,
            Job::Task(task) => self.run_task(*task, control).await,
            Job::Deliver(delivery) => {
                self.ender.delivery.deliver(delivery, &control.cancel).await;
                None
            }
            Job::Show(choice) => {
                self.show(*choice, control).await;
                None
            }
        }
    }
}

impl Turns {
    async fn ask(&self, question: Question, control: Control) -> Option<Job> {
        let conversation = question.parts.first()?.place.conversation();
        match self.rights.admits(&question).await {
            Ok(true) => {}
            Ok(false) => return None,
            Err(error) => return self.not_begun(&error, &question).await,
        }
        let question = match self.rights.with_rights(question.clone()) {
            Ok(question) => question,
            Err(error) => return self.not_begun(&error, &question).await,
        };
        let (question, heard) = self.transcription.hear(question, &control.cancel).await;
        if control.is_ended() {
            match control.reason() {
                CancelReason::Again(question) => return Some(Job::Ask(question)),
                // The question stays in the inbox; the next start answers it.
                CancelReason::Shutdown => return None,
                CancelReason::Stopped => {}
            }
        }
        let question = self.learning(question);
        match self.conversations.begin_turn(conversation, &question.parts, self.reporter.now()) {
            // This turn was begun before: it continues from its checkpoint.
            Ok(turn) if turn.checkpoint.is_some() => self.resume(turn, question, control).await,
            Ok(turn) => {
                self.transcription.show(heard).await;
                self.work(turn, question, TakenUp::default(), control).await
            }
            Err(error) => self.not_begun(&error, &question).await,
        }
    }

    /// Returns the question with fact extraction switched off for parts that cannot hold facts, and for all parts if
    /// memory is off or the question only tests an agent.
    fn learning(&self, mut question: Question) -> Question {
        let is_on = self.extractor.is_on() && !question.client.is_eval;
        for part in &mut question.parts {
            part.learns &= is_on && may_hold_fact(JudgedMessage { text: &part.text, foreign: &part.foreign });
        }
        question
    }

    /// Reports that a turn could not begin. The question stays in the inbox; the next start answers it.
    async fn not_begun(&self, error: &StoreError, question: &Question) -> Option<Job> {
        self.reporter.report(error, "a turn could not begin");
        self.ender.hold(question).await;
        None
    }

    async fn ask_again(
        &self,
        RepeatRequest { asked, model, is_edit }: RepeatRequest,
        control: Control,
    ) -> Option<Job> {
        let first = asked.parts.first()?;
        match self.rights.admits(&asked).await {
            Ok(true) => {}
            Ok(false) => return None,
            Err(error) => return self.not_begun(&error, &asked).await,
        }
        let conversation = first.place.conversation();
        let now = self.reporter.now();
        let edited = is_edit.then(|| Box::new(first.clone()));
        let request = Repetition { origin: first.origin, model, edited };
        match self.conversations.begin_again(conversation, request, now).await {
            Ok(Some((turn, stored))) => {
                // The turn that waited with the same question was given up.
                self.ender.reload_parked(&first.speaker.name).await;
                let question = asked.again(stored);
                match turn.checkpoint {
                    Some(_) => self.resume(turn, question, control).await,
                    None => {
                        let (question, heard) =
                            self.transcription.hear_again(question, &control.cancel).await;
                        self.transcription.show(heard).await;
                        self.work(turn, question, TakenUp::default(), control).await
                    }
                }
            }
            Ok(None) => {
                self.ender.nothing_to_ask(&asked, is_edit).await;
                None
            }
            Err(error) => self.not_begun(&error, &asked).await,
        }
    }

    async fn show(&self, choice: AttemptChoice, control: Control) {
        let conversation = choice.place.conversation();
        match self.conversations.show_attempt(conversation, choice, self.reporter.now()).await {
            Ok(Some(delivery)) => self.ender.delivery.deliver(delivery, &control.cancel).await,
            // A newer question or attempt came before.
            Ok(None) => {}
            Err(error) => self.reporter.report(&error, "another attempt at a question could not be shown"),
        }
    }

    async fn resume(&self, turn: ActiveTurn, question: Question, control: Control) -> Option<Job> {
        match self.take_up(&turn, None).await {
            Ok(taken_up) => {
                // The turn may have acted: it does not begin again, even if an edit of its question arrived just now.
                if !control.commit() && matches!(control.reason(), CancelReason::Again(_)) {
                    return Some(Job::Resume(turn, question));
                }
                tracing::info!(run = %turn.id, "going on with an interrupted turn");
                self.work(turn, question, taken_up, control).await
            }
            Err(error) => {
                self.reporter.report(&error, "an interrupted turn could not be taken up");
                self.ender.hold(&question).await;
                None
            }
        }
    }

    /// Continues a turn that waited for a person, if they may still talk to the bot.
    async fn go_on(&self, run: RunId, control: Control) -> Option<Job> {
        let begun = async {
            let Some(GoneOn { begun, approved }) = self.parked.take_out(run, self.reporter.now()).await?
            else {
                return Ok(None);
            };
            let (turn, stored) = (begun.turn, begun.question);
            let taken_up = self.take_up(&turn, approved).await?;
            Ok(Some((turn, stored, taken_up)))
        };
        match begun.await {
            Ok(Some((turn, stored, taken_up))) => {
                let question = self.rights.resumed(&turn, stored);
                match question {
                    Ok(Some(question)) => self.work(turn, question, taken_up, control).await,
                    Ok(None) => {
                        tracing::info!(run = %turn.id, "whoever was asked may not talk to the bot any more");
                        let ended = self.conversations.end_turn(&turn, TurnEnd::default()).await;
                        if let Err(error) = ended {
                            self.reporter.report(&error, "a turn could not be ended");
                        }
                        None
                    }
                    Err(error) => {
                        self.reporter.report(&error, "a turn that has its answer goes on at the next start");
                        None
                    }
                }
            }
            Ok(None) => None,
            Err(error) => {
                self.reporter.report(&error, "a turn that has its answer goes on at the next start");
                None
            }
        }
    }

    async fn run_task(&self, task: Task, control: Control) -> Option<Job> {
        let lease = task.lease?;
        let place = task.place.clone();
        let begun = async {
            if !self.rights.admits_task(&task, lease.run).await? {
                return Ok(None);
            }
            let (conversation, now) = (place.conversation(), self.reporter.now());
            match self.tasks.begin(task.id, lease.run, conversation, now).await? {
                Some((turn, task)) => {
                    let taken_up = self.take_up(&turn, None).await?;
                    Ok(Some((turn, task, taken_up)))
                }
                None => Ok(None),
            }
        };
        match begun.await {
            // It runs in the place of its lease, even if the id of the chat has changed since.
            Ok(Some((turn, task, taken_up))) => {
                let language = self.languages.of(place.chat, task.language.as_deref());
                let question = Question::of_task(Task { place, language, ..task }, lease.since);
                self.work(turn, question, taken_up, control).await
            }
            // The run was withdrawn, or already has its answer.
            Ok(None) => None,
            Err(error) => {
                // The scheduler retries it when the lease has expired.
                self.reporter.report(&error, "a task's turn could not begin");
                None
            }
        }
    }

    /// Takes a started turn through its stages. Returns the job to run right after it.
    async fn work(
        &self,
        turn: ActiveTurn,
        question: Question,
        taken_up: TakenUp,
        control: Control,
    ) -> Option<Job> {
        let first = question.parts.first()?;
        let (origin, place, language) = (first.origin, first.place.clone(), first.language.clone());
        self.bus.publish(turn.id, TurnEventKind::Started { origin, place, language });
        let working = AssertUnwindSafe(self.outcome(&turn, &question, taken_up, &control));
        let outcome = working
            .catch_unwind()
            .await
            .unwrap_or_else(|_panic| Outcome::Failed(TurnError::Internal, Answer::default()));
        self.bus.publish(turn.id, TurnEventKind::Ended);
        match outcome {
            Outcome::Abandoned => None,
            Outcome::Restarted(question) => self.restart(&turn, question),
            outcome => {
                self.ender.end(&turn, &question, &outcome, &control).await;
                let handed = outcome.answer().and_then(|answer| answer.handed.as_deref());
                if let Some((requested, handed)) = question.requested.as_deref().zip(handed) {
                    requested.left.hand(handed.clone());
                }
                if let Some(closing) = outcome.closing() {
                    self.bus.publish(turn.id, TurnEventKind::Closed(Box::new(closing)));
                }
                self.namer.after(&turn, &question, &outcome);
                self.summariser.after(&turn);
                self.learn(&turn, &question);
                if let Some(asker) = question.asker() {
                    let chat = turn.conversation.chat;
                    self.vectors.after_turn(Payer::new(chat, asker.user.clone()));
                }
                None
            }
        }
    }

    /// Schedules fact extraction from a question for when its writer stops writing; starts it at once if the requester
    /// waits for the result.
    fn learn(&self, turn: &ActiveTurn, question: &Question) {
        let hears = question.requested.as_ref().is_some_and(|requested| requested.hears_memory);
        let mut said = question.parts.iter().filter(|part| part.may_hold_facts()).peekable();
        if let Some(asker) = question.asker().filter(|_| hears && said.peek().is_none()) {
            let user = asker.user.clone();
            let nothing = TurnEventKind::MemoryUpdated { user, added: 0, changed: 0, removed: 0 };
            self.bus.publish(turn.id, nothing);
        }
        for part in said {
            match hears {
                true => self.extractor.look(&part.speaker.user),
                false => self.extractor.said(&part.speaker.user),
            }
        }
    }

    async fn take_up(&self, turn: &ActiveTurn, approved: Option<Approved>) -> Result<TakenUp, StoreError> {
        let log = TurnLog { store: self.conversations.clone(), turn: turn.clone() };
        take_up(&log, turn.into(), approved).await
    }

    async fn outcome(
        &self,
        turn: &ActiveTurn,
        question: &Question,
        taken_up: TakenUp,
        control: &Control,
    ) -> Outcome {
        if let Some(approved) = &taken_up.approved {
            tokio::select! {
                () = self.preparer.agents.reach(approved) => {}
                () = control.cancel.cancelled() => {}
            }
        }
        if control.is_ended() && control.reason() == CancelReason::Stopped {
            return Outcome::Stopped(Answer::default());
        }
        match self.preparer.prepare(turn, question, taken_up, control).await {
            Ok(mut prepared) => {
                if let Err(error) = self.children.join(&mut prepared) {
                    self.reporter.report(&error, "what the agents of a turn have said could not be read");
                    return Outcome::Failed(TurnError::Internal, Answer::default());
                }
                let (agent, pins) =
                    (prepared.setup.context.agent.agent_schema_uri.clone(), prepared.setup.pins.clone());
                let scope = prepared.setup.scope.clone();
                // Noted while the model is asked.
                let noting =
                    async { self.ender.tracer.note(question, TurnTrace::begun(turn.id, agent, pins)) };
                let (outcome, ()) =
                    futures::join!(self.executor.execute(prepared.run, &prepared.setup, question), noting);
                // Usage of children that was not reported yet counts for the turn, too.
                outcome.with_spent(scope.rest().await)
            }
            Err(outcome) => *outcome,
        }
    }

    /// Deletes the stored data of the turn, and returns the job that begins it again with this question.
    fn restart(&self, turn: &ActiveTurn, question: Question) -> Option<Job> {
        match self.conversations.retract_turn(turn) {
            Ok(()) => Some(Job::Ask(question)),
            Err(error) => {
                self.reporter.report(&error, "a turn could not be taken back");
                None
            }
        }
    }
}
