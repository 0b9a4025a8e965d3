//! Does what the machine says: calls the model, shows its words as they come, makes its calls, records both.

pub mod calls;

use std::fmt;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use self::calls::{Caller, ReadyCall, ready};
use super::run::{Answer, CallResult, Planned, Run, Step};
use crate::delivery::RunEventKind;
use crate::domain::conversation::{Message, Role};
use crate::domain::generation::Generation;
use crate::domain::model::ModelName;
use crate::ids::SessionId;
use crate::ledger::{Ledger, LedgerError};
use crate::provider::fold::Pass;
use crate::provider::{Event, Request};
use crate::store::StoreError;
use crate::tools::{Registry, ToolContext};

/// Runs turns with one model.
#[derive(Debug, Clone)]
pub struct Driver {
    /// The way to the models.
    pub ledger: Arc<Ledger>,
    /// Who makes the calls.
    pub caller: Caller,
    /// The most passes of a turn.
    pub max_passes: u32,
}

/// What one turn is driven with.
#[derive(Debug)]
pub struct Turn {
    /// For whom and where.
    pub context: ToolContext,
    /// The session it writes to.
    pub session: SessionId,
    /// The model that is meant.
    pub model: ModelName,
    /// What it may call.
    pub tools: Arc<Registry>,
    /// How it is to write.
    pub settings: Generation,
    /// The system prompt.
    pub instructions: String,
    /// Ends the turn when cancelled.
    pub cancel: CancellationToken,
    /// Asked before the turn shows words or acts.
    pub commit: Commit,
}

/// Asks whether a turn may show words or act: from then on it cannot begin again. The answer is no once it has been
/// told to end.
#[derive(Clone)]
pub struct Commit(pub Arc<dyn Fn() -> bool + Send + Sync>);

impl fmt::Debug for Commit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Commit")
    }
}

/// How a turn came out.
#[derive(Debug)]
pub enum Driven {
    /// With an answer.
    Done(Answer),
    /// It was cancelled; this is what the pass in progress had written.
    Cancelled(Answer),
    /// The model failed; this is what it had written in that pass.
    Failed(LedgerError, Answer),
}

/// How one pass came out, with what was written until then.
enum PassEnd {
    Whole(Pass),
    Cancelled(Pass),
    Failed(LedgerError, Pass),
}

impl Driver {
    /// Drives a turn to its end.
    ///
    /// # Errors
    /// When the store fails: then nothing more can be promised, and the turn ends.
    pub async fn drive(&self, mut run: Run, turn: &Turn) -> Result<Driven, StoreError> {
        loop {
            run = match run.next() {
                Step::CallModel { with_tools } => match self.pass(&run, with_tools, turn).await {
                    PassEnd::Whole(mut pass) => {
                        pass.nano_usd = self.cost(&pass, turn);
                        self.record_pass(&pass, with_tools, turn).await?;
                        self.answered(run, pass, turn)
                    }
                    PassEnd::Cancelled(mut pass) => {
                        pass.nano_usd = self.cost(&pass, turn);
                        return Ok(Driven::Cancelled(run.broken_off(pass)));
                    }
                    PassEnd::Failed(error, mut pass) => {
                        pass.nano_usd = self.cost(&pass, turn);
                        let Some(first) = run.fallen_back(&pass) else {
                            return Ok(Driven::Failed(error, run.broken_off(pass)));
                        };
                        tracing::warn!(%error, run = %turn.context.run, "an answer could not be written anew");
                        return Ok(Driven::Done(first));
                    }
                },
                Step::CallTools(planned) => match self.call(planned, &run, turn).await {
                    Some(results) => run.tools_answered(results?),
                    None => return Ok(Driven::Cancelled(run.answer(Pass::default()))),
                },
                Step::Done(answer) => return Ok(Driven::Done(*answer)),
            };
        }
    }

    async fn pass(&self, run: &Run, with_tools: bool, turn: &Turn) -> PassEnd {
        let mut pass = Pass::default();
        let request = Request {
            tools: if with_tools { turn.tools.specs(run.found()) } else { Vec::new() },
            web_search: turn.tools.searches(),
            settings: turn.settings,
            earlier: run.earlier().to_vec(),
            ..Request::new("", turn.instructions.as_str(), run.items().to_vec())
        };
        let opening = tokio::select! {
            biased;
            () = turn.cancel.cancelled() => return PassEnd::Cancelled(pass),
            opening = self.ledger.call(&turn.model, request, turn.context.payer()) => opening,
        };
        let mut call = match opening {
            Ok(call) => call,
            Err(error) => return PassEnd::Failed(error, pass),
        };
        loop {
            let event = tokio::select! {
                biased;
                () = turn.cancel.cancelled() => None,
                event = call.next() => Some(event),
            };
            match event {
                Some(None) => return PassEnd::Whole(pass),
                None => {
                    pass.usage = Some(call.so_far());
                    return PassEnd::Cancelled(pass);
                }
                Some(Some(Err(error))) => {
                    pass.usage = Some(call.so_far());
                    return PassEnd::Failed(error.into(), pass);
                }
                Some(Some(Ok(event))) => {
                    self.show(&event, turn);
                    pass.absorb(event);
                }
            }
        }
    }

    /// Tells the machine; an answer that it has written anew is none, and nothing of it is stored.
    fn answered(&self, run: Run, pass: Pass, turn: &Turn) -> Run {
        let run = run.model_answered(pass);
        if matches!(run.next(), Step::CallModel { .. }) {
            tracing::info!(run = %turn.context.run, "an answer promised what no task was stored for");
            self.caller.bus.publish(turn.context.run, RunEventKind::PassEnded);
        }
        run
    }

    fn cost(&self, pass: &Pass, turn: &Turn) -> Option<u64> {
        let model = pass.model.as_ref().unwrap_or(&turn.model);
        self.ledger.cost(model, pass.usage.unwrap_or_default(), pass.searches)
    }

    fn show(&self, event: &Event, turn: &Turn) {
        let kind = match event {
            Event::TextDelta(text) => RunEventKind::Delta(text.clone()),
            Event::Hosted(name) => RunEventKind::ToolStarted { name: name.clone(), hint: None },
            Event::Answering(_)
            | Event::ToolCall(_)
            | Event::Source(_)
            | Event::Private(_)
            | Event::Completed { .. } => return,
        };
        if !(turn.commit.0)() {
            return;
        }
        self.caller.bus.publish(turn.context.run, kind);
    }

    /// Stores what a pass that goes on to call tools has said, so that a restart can rebuild it.
    async fn record_pass(&self, pass: &Pass, with_tools: bool, turn: &Turn) -> Result<(), StoreError> {
        if pass.calls.is_empty() || !with_tools {
            return Ok(());
        }
        self.caller.bus.publish(turn.context.run, RunEventKind::PassEnded);
        if pass.text.is_empty() && pass.private.is_empty() && pass.sources.is_empty() {
            return Ok(());
        }
        let now = self.caller.clock.now();
        let said = Message {
            model_id: Some(turn.wrote(pass)),
            token_usage: pass.usage,
            nano_usd: pass.nano_usd,
            private: pass.private.clone(),
            sources: pass.sources.clone(),
            ..Message::new(turn.session, Role::Assistant, pass.text.clone(), now)
        };
        self.caller.store.append(said).await.map(|_| ())
    }

    /// The calls' results; `None` when the turn was cancelled meanwhile. A call under way is then torn off: its record
    /// stays `running`, which is the truth.
    async fn call(
        &self,
        planned: Vec<Planned>,
        run: &Run,
        turn: &Turn,
    ) -> Option<Result<Vec<CallResult>, StoreError>> {
        let calls = ready(planned, run.found(), &turn.tools);
        let context = ToolContext { addresses: run.addresses().clone(), ..turn.context.clone() };
        let acts = calls.iter().any(ReadyCall::acts);
        if acts && !(turn.commit.0)() {
            return None;
        }
        tokio::select! {
            biased;
            () = turn.cancel.cancelled() => None,
            results = self.caller.make(calls, &context, turn.session) => Some(results),
        }
    }
}

impl Turn {
    /// The model that wrote a pass, as `provider:model`.
    fn wrote(&self, pass: &Pass) -> String {
        pass.model.as_ref().unwrap_or(&self.model).to_string()
    }
}
