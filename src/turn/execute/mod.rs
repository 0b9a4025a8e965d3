//! Does what the machine says: calls the model, shows its words as they come, makes its calls, records both.

pub mod calls;

use std::collections::HashSet;
use std::sync::Arc;

use self::calls::{Caller, ReadyCall, ready, result_message};
use super::control::CancelReason;
use super::error::TurnError;
use super::outcome::Outcome;
use super::prepare::{HISTORY_MESSAGES, Setup};
use super::question::Question;
use super::report::Reporter;
use super::run::{Answer, Planned, Run, Step};
use crate::delivery::TurnEventKind;
use crate::domain::conversation::{Message, Role};
use crate::domain::tool::{Carried, ToolStatus};
use crate::domain::turn::ActiveTurn;
use crate::ledger::{Ledger, LedgerError};
use crate::provider::fold::Pass;
use crate::provider::{Event, Request};
use crate::store::StoreError;
use crate::tools::ToolContext;

/// What the model is told about a call that a crash left open.
const UNKNOWN_OUTCOME: &str = r#"{"success":false,"error":"the bot stopped while this call ran: whether it acted is not known. Do not simply repeat it."}"#;

/// Executes turns.
#[derive(Debug, Clone)]
pub struct Executor {
    /// The way to the models.
    pub ledger: Arc<Ledger>,
    /// Who makes the calls.
    pub caller: Caller,
    /// Who is told of failures.
    pub reporter: Reporter,
}

/// Why a turn goes no further, with what was written until then.
enum Halt {
    Cancelled(Answer),
    Model(LedgerError, Answer),
    Store(StoreError),
}

/// A pass that did not come to its end; without an error it was cancelled.
struct Broken {
    pass: Pass,
    error: Option<LedgerError>,
}

impl From<StoreError> for Halt {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl Executor {
    /// Executes a turn to its end.
    pub(super) async fn execute(&self, mut run: Run, setup: &Setup, question: &Question) -> Outcome {
        loop {
            let done = match run.next() {
                Step::CallModel { with_tools } => self.call_model(run, with_tools, setup).await,
                Step::CallTools(planned) => self.call_tools(run, planned, setup).await,
                Step::Done(answer) => return Outcome::of(*answer, question),
            };
            run = match done {
                Ok(run) => run,
                Err(halt) => return self.halted(halt, setup).await,
            };
        }
    }

    async fn halted(&self, halt: Halt, setup: &Setup) -> Outcome {
        match halt {
            Halt::Cancelled(answer) => match setup.control.reason() {
                CancelReason::Stopped => Outcome::Stopped(answer),
                CancelReason::Shutdown => Outcome::Abandoned,
                CancelReason::Again(question) => Outcome::Restarted(question),
            },
            Halt::Model(error, answer) => {
                let model = answer.pass.model.as_ref().unwrap_or(&setup.model);
                Outcome::Failed(TurnError::of_ledger(error, &self.ledger, model).await, answer)
            }
            // Nothing more can be promised.
            Halt::Store(error) => {
                self.reporter.report(&error, "a turn could not store what it does");
                Outcome::Failed(TurnError::Internal, Answer::default())
            }
        }
    }

    /// Has the model write one pass.
    async fn call_model(&self, run: Run, with_tools: bool, setup: &Setup) -> Result<Run, Halt> {
        let cost = |pass: Pass| Pass { nano_usd: self.cost(&pass, setup), ..pass };
        match self.pass(&run, with_tools, setup).await {
            Ok(pass) => {
                let pass = cost(pass);
                self.record_pass(&pass, with_tools, setup).await?;
                Ok(self.answered(run, pass, setup))
            }
            Err(Broken { pass, error: None }) => Err(Halt::Cancelled(run.broken_off(cost(pass)))),
            Err(Broken { pass, error: Some(error) }) => match run.model_failed(cost(pass)) {
                Ok(run) => {
                    tracing::warn!(%error, run = %setup.context.run, "an answer could not be written anew");
                    Ok(run)
                }
                Err(answer) => Err(Halt::Model(error, *answer)),
            },
        }
    }

    async fn pass(&self, run: &Run, with_tools: bool, setup: &Setup) -> Result<Pass, Broken> {
        let mut pass = Pass::default();
        let request = Request {
            tools: if with_tools { setup.tools.specs(run.found()) } else { Vec::new() },
            web_search: setup.tools.web_search().is_some(),
            settings: setup.settings,
            earlier: run.earlier().to_vec(),
            ..Request::new("", setup.instructions.as_str(), run.items().to_vec())
        };
        let cancel = &setup.control.cancel;
        let opening = tokio::select! {
            biased;
            () = cancel.cancelled() => return Err(Broken { pass, error: None }),
            opening = self.ledger.call(&setup.model, request, setup.context.payer()) => opening,
        };
        let mut call = match opening {
            Ok(call) => call,
            Err(error) => return Err(Broken { pass, error: Some(error) }),
        };
        loop {
            let event = tokio::select! {
                biased;
                () = cancel.cancelled() => None,
                event = call.next() => Some(event),
            };
            let error = match event {
                Some(None) => return Ok(pass),
                Some(Some(Ok(event))) => {
                    self.show(&event, setup);
                    pass.absorb(event);
                    continue;
                }
                None => None,
                Some(Some(Err(error))) => Some(error.into()),
            };
            pass.usage = Some(call.so_far());
            return Err(Broken { pass, error });
        }
    }

    /// Tells the machine; an answer that it has written anew is none, and nothing of it is stored.
    fn answered(&self, run: Run, pass: Pass, setup: &Setup) -> Run {
        let run = run.model_answered(pass);
        if matches!(run.next(), Step::CallModel { .. }) {
            tracing::info!(run = %setup.context.run, "an answer promised what no task was stored for");
            self.caller.bus.publish(setup.context.run, TurnEventKind::PassEnded);
        }
        run
    }

    fn cost(&self, pass: &Pass, setup: &Setup) -> Option<u64> {
        let model = pass.model.as_ref().unwrap_or(&setup.model);
        self.ledger.cost(model, pass.usage.unwrap_or_default(), pass.searches)
    }

    fn show(&self, event: &Event, setup: &Setup) {
        let kind = match event {
            Event::TextDelta(text) => TurnEventKind::Delta(text.clone()),
            Event::Searched => match setup.tools.web_search() {
                Some(tool) => calls::started(tool, None),
                None => return,
            },
            Event::Answering(_)
            | Event::ToolCall(_)
            | Event::Source(_)
            | Event::Private(_)
            | Event::Completed { .. } => return,
        };
        if !setup.control.commit() {
            return;
        }
        self.caller.bus.publish(setup.context.run, kind);
    }

    /// Stores what a pass that goes on to call tools has said, so that a restart can rebuild it.
    async fn record_pass(&self, pass: &Pass, with_tools: bool, setup: &Setup) -> Result<(), StoreError> {
        if pass.calls.is_empty() || !with_tools {
            return Ok(());
        }
        self.caller.bus.publish(setup.context.run, TurnEventKind::PassEnded);
        if pass.text.is_empty() && pass.private.is_empty() && pass.sources.is_empty() {
            return Ok(());
        }
        let now = self.caller.clock.now();
        let said = Message {
            model_id: Some(pass.model.as_ref().unwrap_or(&setup.model).to_string()),
            token_usage: pass.usage,
            nano_usd: pass.nano_usd,
            private: pass.private.clone(),
            sources: pass.sources.clone(),
            ..Message::new(setup.session, Role::Assistant, pass.text.clone(), now)
        };
        self.caller.store.append(said).await.map(|_| ())
    }

    /// A call found `running` after a crash may have acted: the model is told so, and it is not made again. Nor is one
    /// whose result cannot be read among the messages: its record has it too.
    ///
    /// # Errors
    /// When the store fails.
    pub(super) async fn settle_open_calls(&self, turn: &ActiveTurn) -> Result<(), StoreError> {
        let store = &self.caller.store;
        let calls = store.tool_calls(turn.id).await?;
        if calls.is_empty() {
            return Ok(());
        }
        let stored = store.recent(turn.session, HISTORY_MESSAGES).await?;
        let of_turn = stored.iter().filter(|message| message.index >= turn.first_index);
        let told: HashSet<&str> =
            of_turn.filter_map(|message| Some(message.tool.as_ref()?.tool_call_id.as_str())).collect();
        for mut call in calls.into_iter().filter(|call| !told.contains(call.call.id.as_str())) {
            if call.status == ToolStatus::Running {
                call.status = ToolStatus::Unknown;
            }
            let result = call.result.get_or_insert_with(|| UNKNOWN_OUTCOME.to_owned()).clone();
            let message = result_message(turn.session, &call, result, Carried::default());
            store.tool_ended(&call, message).await?;
        }
        Ok(())
    }

    /// Makes the calls of a pass. A call under way when the turn is cancelled is torn off: its record stays `running`, which
    /// is the truth.
    async fn call_tools(&self, run: Run, planned: Vec<Planned>, setup: &Setup) -> Result<Run, Halt> {
        let calls = ready(planned, run.found(), &setup.tools);
        let context = ToolContext { addresses: run.addresses().clone(), ..setup.context.clone() };
        let acts = calls.iter().any(ReadyCall::acts);
        let cancelled = || Err(Halt::Cancelled(run.answer(Pass::default())));
        if acts && !setup.control.commit() {
            return cancelled();
        }
        let results = tokio::select! {
            biased;
            () = setup.control.cancel.cancelled() => return cancelled(),
            results = self.caller.make(calls, &context, setup.session) => results?,
        };
        Ok(run.tools_answered(results))
    }
}
