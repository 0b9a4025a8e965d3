//! Executes the decisions of the state machine: calls the model, shows its text as it arrives, makes tool calls, and
//! records each step.

pub mod calls;
mod halt;
mod hosted;
mod plain;

use std::sync::Arc;

use self::calls::{CallRecorder, ReadyCall, ToolCaller, ready};
pub(super) use self::halt::Halt;
use self::hosted::Hosted;
use self::plain::{EchoFilter, show};
use super::control::CancelReason;
use super::error::TurnError;
use super::outcome::{Outcome, Parking};
use super::parked::Parked;
use super::question::Question;
use super::report::Reporter;
use super::run::{Answer, PlannedCall, Run, RunStep};
use super::setup::Setup;
use crate::tools::{Registry, ToolContext, TreeShare};
use figaro_base::telemetry::gen_ai;
use figaro_domain::conversation::{Message, MessageRole};
use figaro_domain::model::ModelName;
use figaro_domain::tool::Call;
use figaro_domain::turn::{Approved, PersonQuestion, Step as TurnStep};
use figaro_ledger::{Drawing, Ledger, LedgerError};
use figaro_policy::access::{Admins, may_change};
use figaro_provider::fold::Pass;
use figaro_provider::{AnswerSchema, Event, ProviderError, Request};
use tracing::Instrument;

/// Name of Figaro itself among agents, for exporters.
const FIGARO: &str = "figaro";

/// Executes the decisions of a run's state machine: calls the model, makes tool calls, records each step.
#[derive(Debug, Clone)]
pub struct Executor {
    /// Calls models and records their cost.
    pub ledger: Arc<Ledger>,
    /// Makes the tool calls of a pass.
    pub caller: ToolCaller,
    /// Turns that wait for a person; limits how many may.
    pub parked: Parked,
    /// Looks up the administrators of a chat; places to wait are reserved for them.
    pub admins: Arc<dyn Admins>,
    /// Reports failures to the log and to `/status`.
    pub reporter: Reporter,
}

pub(super) enum Driven {
    Answered(Box<Answer>),
    Asks(Box<PersonQuestionCall>),
}

/// A run, its call that asks a person, and the question.
pub(super) struct PersonQuestionCall {
    run: Run,
    call: Call,
    question: PersonQuestion,
}

/// An incomplete pass. Without an error it was cancelled.
struct Broken {
    pass: Pass,
    error: Option<LedgerError>,
}

impl Executor {
    /// Executes a turn to its end, or until it waits for a person.
    pub(super) async fn execute(&self, run: Run, setup: &Setup, question: &Question) -> Outcome {
        match self.drive(run, setup).await {
            Ok(Driven::Answered(answer)) => Outcome::of(Self::with_heard(*answer, setup), question),
            Ok(Driven::Asks(asks)) => Self::parked(*asks),
            Err(halt) => self.halted(halt, setup).await,
        }
    }

    /// Executes the decisions of the run's state machine until it has an answer or asks a person.
    ///
    /// # Errors
    /// The reason why the run cannot continue.
    pub(super) async fn drive(&self, run: Run, setup: &Setup) -> Result<Driven, Halt> {
        let name = setup.context.agent.agent_schema_uri.as_deref().unwrap_or(FIGARO);
        let span = gen_ai::agent(name, setup.turn.id, setup.turn.session);
        let driven = self.steps(run, setup).instrument(span.clone()).await;
        if let Err(label) = driven.as_ref().map_err(Halt::label)
            && let Some(label) = label
        {
            gen_ai::fail(&span, label);
        }
        driven
    }

    async fn steps(&self, mut run: Run, setup: &Setup) -> Result<Driven, Halt> {
        // The approved call is made by the next tool calls or never.
        let mut approved = setup.taken_up.approved.clone();
        loop {
            run = match run.next() {
                RunStep::CallModel { with_tools } => {
                    let is_at_bound = with_tools && setup.is_at_bound(run.usage().total());
                    if is_at_bound {
                        run = run.handing_back();
                    }
                    self.call_model(run, with_tools && !is_at_bound, setup).await?
                }
                RunStep::CallTools(planned) => self.call_tools(run, planned, approved.take(), setup).await?,
                RunStep::Ask { call, question } => {
                    // From here on the turn neither begins again nor accepts an edit.
                    if !setup.control.commit() {
                        return Err(Halt::Cancelled(run.answer(Pass::default())));
                    }
                    return Ok(Driven::Asks(Box::new(PersonQuestionCall { run, call, question })));
                }
                RunStep::Done(answer) => return Ok(Driven::Answered(answer)),
            };
        }
    }

    fn parked(PersonQuestionCall { run, call, question }: PersonQuestionCall) -> Outcome {
        // Nothing is shown before a call to approve, which is a card of its own.
        let said = if question.approval.is_none() { run.untold() } else { Vec::new() };
        match serde_json::to_value(run.telling(&said).state()) {
            Ok(state) => Outcome::Parked(Box::new(Parking { state, call, question, said })),
            Err(error) => {
                tracing::error!(%error, "the state of a turn cannot be stored");
                Outcome::Failed(TurnError::Internal, Answer::default())
            }
        }
    }

    /// Adds all texts of children that people have seen to the answer.
    fn with_heard(answer: Answer, setup: &Setup) -> Answer {
        let heard = setup.scope.speakers.heard_beside(&answer.said);
        answer.saying(heard)
    }

    async fn halted(&self, halt: Halt, setup: &Setup) -> Outcome {
        match halt {
            Halt::Cancelled(answer) => match setup.control.reason() {
                CancelReason::Stopped => Outcome::Stopped(Self::with_heard(answer, setup).whole()),
                CancelReason::Shutdown => Outcome::Abandoned,
                CancelReason::Again(question) => Outcome::Restarted(question),
            },
            Halt::Model(error, answer) => {
                let model = answer.pass.model.as_ref().unwrap_or(&setup.model);
                let error = TurnError::of_ledger(error, &self.ledger, model).await;
                self.reporter.failed(&setup.model, &error);
                Outcome::Failed(error, Self::with_heard(answer, setup).whole())
            }
            // Without the store nothing can be continued.
            Halt::Store(error) => {
                self.reporter.report(&error, "a turn could not store what it does");
                Outcome::Failed(TurnError::Internal, Answer::default())
            }
            Halt::Internal => Outcome::Failed(TurnError::Internal, Answer::default()),
        }
    }

    /// Calls the model for one pass.
    async fn call_model(&self, run: Run, with_tools: bool, setup: &Setup) -> Result<Run, Halt> {
        let cost = |pass: Pass| Pass { nano_usd: self.cost(&pass, setup), ..pass };
        match self.pass(&run, with_tools, setup).await {
            Ok(pass) => {
                self.reporter.answered(&setup.model, pass.model.as_ref().unwrap_or(&setup.model));
                let pass = cost(pass);
                let said = self.said(&pass, setup);
                let models = run.models().len();
                let run = run.model_answered(pass);
                match run.next() {
                    RunStep::Done(_) | RunStep::Ask { .. } => {}
                    RunStep::CallTools(_) => {
                        setup.sink.end_pass();
                        self.record(&run, Some(said), setup).await?;
                    }
                    // The text of a rejected answer is not stored.
                    RunStep::CallModel { .. } => {
                        let says_nothing = run.models().len() < models;
                        tracing::info!(run = %setup.turn.id, says_nothing, "an answer is written anew: it had no word, promised what no task was stored for, or did not fit its form");
                        setup.sink.end_pass();
                        self.record(&run, None, setup).await?;
                    }
                }
                Ok(run)
            }
            Err(Broken { pass, error: None }) => Err(Halt::Cancelled(run.broken_off(cost(pass)))),
            Err(Broken { pass, error: Some(error) }) => {
                let is_refused = matches!(error, LedgerError::Model(ProviderError::Refused(_)));
                match run.model_failed(cost(pass), is_refused) {
                    Ok(run) => {
                        tracing::warn!(%error, run = %setup.turn.id, "the model has failed, and the turn goes on without what failed");
                        Ok(run)
                    }
                    Err(answer) => Err(Halt::Model(error, *answer)),
                }
            }
        }
    }

    async fn pass(&self, run: &Run, with_tools: bool, setup: &Setup) -> Result<Pass, Broken> {
        let mut pass = Pass::default();
        let cancel = &setup.control.cancel;
        let opening = tokio::select! {
            biased;
            () = cancel.cancelled() => return Err(Broken { pass, error: None }),
            opening = self.open(run.models(), request(run, with_tools, setup), setup) => opening,
        };
        let mut call = match opening {
            Ok(call) => call,
            Err(error) => return Err(Broken { pass, error: Some(error) }),
        };
        let mut hosted = Hosted::of(&self.caller, &self.reporter, run, setup);
        loop {
            let event = tokio::select! {
                biased;
                () = cancel.cancelled() => None,
                event = call.next() => Some(event),
            };
            let error = match event {
                Some(None) => {
                    hosted.end().await;
                    return Ok(pass);
                }
                Some(Some(Ok(Event::Found(search)))) => {
                    hosted.found(search).await;
                    continue;
                }
                Some(Some(Ok(event))) => {
                    // An answer with a required form is shown only when it is complete and valid.
                    let is_hidden =
                        run.form().is_some() && matches!(event, Event::TextDelta(_) | Event::Reasoned);
                    let has_nothing_to_take_back = event == Event::Reasoned && pass.text.is_empty();
                    if event == Event::Searched {
                        hosted.begin();
                    } else if !is_hidden && !has_nothing_to_take_back {
                        show(&event, setup);
                    }
                    pass.absorb(event);
                    continue;
                }
                None => None,
                Some(Some(Err(error))) => Some(error.into()),
            };
            hosted.end().await;
            pass.usage = Some(call.so_far());
            return Err(Broken { pass, error });
        }
    }

    /// Calls the model, within the limits shared by the turn and its children once there are some.
    async fn open(
        &self,
        order: &[ModelName],
        request: Request,
        setup: &Setup,
    ) -> Result<EchoFilter, LedgerError> {
        let payer = setup.context.payer();
        let question = EchoFilter::question(&request);
        let by = setup.drawn_by();
        let call = match setup.scope.tree(by) {
            Some(tree) => self.ledger.call_within(Drawing { tree: &tree, by }, order, request, payer).await,
            None => self.ledger.call(order, request, payer).await,
        };
        Ok(EchoFilter::new(call?, question))
    }

    fn cost(&self, pass: &Pass, setup: &Setup) -> Option<u64> {
        let model = pass.model.as_ref().unwrap_or(&setup.model);
        self.ledger.cost(model, pass.usage.unwrap_or_default(), pass.searches)
    }

    /// Returns the message for a pass that calls tools. A pass without text has one too, so that a restart can tell its
    /// calls from those of the pass before.
    fn said(&self, pass: &Pass, setup: &Setup) -> Message {
        Message {
            model_id: Some(pass.model.as_ref().unwrap_or(&setup.model).to_string()),
            token_usage: pass.usage,
            nano_usd: pass.nano_usd,
            private: pass.private.clone(),
            sources: pass.sources.clone(),
            ..Message::new(setup.turn.session, MessageRole::Assistant, pass.text.clone(), self.reporter.now())
        }
    }

    /// Records a pass and its upcoming calls in one write. A turn that was told to end makes no calls, but its pass is
    /// recorded, so that a restart does not repeat it.
    async fn record(&self, run: &Run, said: Option<Message>, setup: &Setup) -> Result<(), Halt> {
        let state = serde_json::to_value(run.state()).map_err(|error| {
            tracing::error!(%error, run = %setup.turn.id, "the state of a turn cannot be stored");
            Halt::Internal
        })?;
        let step = TurnStep { state: Some(state), said, calls: Vec::new() };
        match run.next() {
            RunStep::CallTools(planned) => self.start(planned, step, run, setup).await,
            RunStep::CallModel { .. } | RunStep::Ask { .. } | RunStep::Done(_) => {
                Ok(setup.log.record(step, run.usage(), run.nano_usd()).await?)
            }
        }
    }

    /// Records that calls start, if the turn may still act.
    async fn start(
        &self,
        planned: Vec<PlannedCall>,
        step: TurnStep,
        run: &Run,
        setup: &Setup,
    ) -> Result<(), Halt> {
        let calls = ready(planned, run.found(), &offered(run, setup), &setup.taken_up);
        let acts = calls.iter().any(ReadyCall::acts);
        let may_call = !setup.control.cancel.is_cancelled() && (!acts || setup.control.commit());
        let calls = if may_call { self.caller.records(&calls, &*setup.log) } else { Vec::new() };
        setup.log.record(TurnStep { calls, ..step }, run.usage(), run.nano_usd()).await?;
        match may_call {
            true => Ok(()),
            false => Err(Halt::Cancelled(run.answer(Pass::default()))),
        }
    }

    /// Makes the calls of a pass. If the turn is cancelled, calls in progress are dropped and their records correctly
    /// stay `running`.
    async fn call_tools(
        &self,
        run: Run,
        planned: Vec<PlannedCall>,
        approved: Option<Arc<Approved>>,
        setup: &Setup,
    ) -> Result<Run, Halt> {
        // A restart may have happened before the calls were recorded.
        if planned.iter().any(|planned| setup.taken_up.has_not_started(&planned.call.id)) {
            self.start(planned.clone(), TurnStep::default(), &run, setup).await?;
        }
        let mut calls = ready(planned, run.found(), &offered(&run, setup), &setup.taken_up);
        calls::approve(&mut calls, approved);
        let can_ask = setup.context.can_ask && self.has_room(setup).await;
        let addresses = run.addresses().clone();
        let by = setup.drawn_by();
        let tree = setup.scope.tree(by).map(|tree| TreeShare { tree, by });
        let context = ToolContext { addresses, can_ask, tree, read: run.read(), ..setup.context.clone() };
        let (log, session) = (&*setup.log, setup.turn.session);
        let records = CallRecorder { log, session, turn: setup.turn.id };
        let results = tokio::select! {
            biased;
            () = setup.control.cancel.cancelled() => return Err(Halt::Cancelled(run.answer(Pass::default()))),
            results = self.caller.make(calls, &context, records) => results?,
        };
        let run = run.tools_answered(results);
        // The usage of its children is now part of its own.
        setup.scope.take_unheard(setup.log.run());
        Ok(run)
    }

    /// Returns `true` if a further question of this conversation may wait. Administrators are looked up only if it
    /// depends on them.
    async fn has_room(&self, setup: &Setup) -> bool {
        let (conversation, user) = (setup.turn.conversation, &setup.context.speaker.user);
        let has_room = |is_trusted| self.parked.has_room(conversation, user, is_trusted);
        if has_room(false) || !has_room(true) {
            return has_room(false);
        }
        may_change(&*self.admins, setup.context.standing, &setup.context.place, user).await
    }
}

/// Returns the tools of a run: those of its turn, plus result lookup if the run has results that were shown only in
/// part.
fn offered(run: &Run, setup: &Setup) -> Arc<Registry> {
    if run.has_keys() { Arc::new(setup.tools.looking_up()) } else { setup.tools.clone() }
}

/// Returns the model request of a pass.
fn request(run: &Run, with_tools: bool, setup: &Setup) -> Request {
    Request {
        tools: if with_tools { offered(run, setup).specs(run.found()) } else { Vec::new() },
        web_search: setup.tools.web_search().is_some(),
        settings: setup.settings,
        earlier: run.earlier().clone(),
        schema: run
            .form()
            .filter(|form| !form.is_any_object())
            .map(|form| AnswerSchema { name: form.name().to_owned(), schema: form.schema().clone() }),
        tells_schema: true,
        options: setup.options.clone(),
        ..Request::new("", setup.instructions.as_str(), run.items().to_vec())
    }
}
