//! Life of one child: it is prepared or resumed after a restart, executed within its limits, and ended in one commit
//! before its result is reported.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::life::Life;
use super::log::ChildLog;
use super::{ChildAgents, left};
use crate::delivery::{ChildEvent, TurnEventKind};
use crate::tools::{Registry, ToolContext};
use crate::turn::control::{CancelReason, Control};
use crate::turn::execute::{Driven, Halt};
use crate::turn::log::StepLog;
use crate::turn::prepare::{form, keeping, read_in_hand, split_in_hand};
use crate::turn::run::{Answer, Run};
use crate::turn::scope::{TextSink, Unheard};
use crate::turn::setup::{ChildLimits, Setup};
use crate::turn::taken_up::{StoredRun, TakenUp, take_up};
use crate::turn::window::items_of;
use figaro_domain::child::{ChildEnd, ChildOutcome, ChildRun};
use figaro_domain::conversation::Message;
use figaro_domain::generation::Generation;
use figaro_domain::tool::{SideEffects, ToolSpent};
use figaro_domain::usage::Usage;
use figaro_ledger::{DrawnBy, LedgerError, Tree};
use figaro_prompts::{ChildView, SystemView};
use figaro_provider::{AnswerOptions, Earlier, Item};
use figaro_store::{ChildSpent, StoreError};

/// Result text of a child that has sent its answer with a tool.
const SENT_ITSELF: &str = "(It has sent its answer into the chat itself.)";
/// Fraction of its time after which a child is told to hand back its results.
const TIME_TO_WORK: f64 = 0.8;
/// Share of the remaining tokens of the turn and its children that one child may use, in percent.
const PERCENT_OF_CHILD: u64 = 60;

/// Outcome of a child, and its usage.
type ChildResult = (ChildOutcome, ChildSpent);

/// A child that is ready to be executed.
struct PreparedChild {
    run: Run,
    setup: Setup,
    until: Instant,
    ends: Instant,
}

impl ChildAgents {
    /// Runs a child to its end and stores the outcome. Returns `None` if it has none: the bot stops, or the turn begins
    /// again.
    ///
    /// # Errors
    /// If the store fails.
    pub(super) async fn run(&self, life: Life, control: Control) -> Result<Option<ChildResult>, StoreError> {
        let (child, speaks) = (life.child.clone(), life.speaks);
        self.publish(&life, ChildEvent::Started);
        let agent = life.found.agent.name.clone();
        let ended = match self.ready(&life, control).await? {
            Ok(ready) => self.work(ready, &life).await,
            Err(outcome) => Some((outcome, SideEffects::default(), spent_by(&child))),
        };
        let Some((mut outcome, by, spent)) = ended else { return Ok(None) };
        let counts = matches!(outcome.end, ChildEnd::Done | ChildEnd::OverBudget | ChildEnd::Timeout);
        // A child that has sent its answer into the chat itself says nothing more.
        let words = if speaks && counts && !by.spoke { outcome.text.as_str() } else { "" };
        // When a person stops the turn, the text that they have seen stays.
        let said = if speaks && !self.scope.control.is_ended() {
            self.scope.speakers.end(child.id, words)
        } else {
            None
        };
        outcome.left = left(&by, said);
        let spent = self.with_unheard(&child, spent);
        let outcome = self.children.store.end(&child, outcome, spent).await?;
        tracing::info!(run = %child.root, child = %child.id, agent, end = outcome.end.word(), "a child has ended");
        self.publish(&life, ChildEvent::Ended(outcome.end));
        Ok(Some((outcome, spent)))
    }

    /// Returns the usage of a child, including unreported usage of its own children.
    fn with_unheard(&self, child: &ChildRun, spent: ChildSpent) -> ChildSpent {
        let mut all = ToolSpent { usage: spent.usage, nano_usd: spent.nano_usd };
        all.add(self.scope.take_unheard(child.id));
        self.scope.add_unheard(Unheard { parent: child.parent, child: child.id, spent: all });
        ChildSpent { usage: all.usage, nano_usd: all.nano_usd }
    }

    fn publish(&self, life: &Life, event: ChildEvent) {
        let (child, agent) = (life.child.id, life.found.agent.name.clone());
        let bus = &self.children.executor.caller.bus;
        bus.publish(self.scope.root, TurnEventKind::Child { child, agent, event });
    }

    /// Prepares the execution of a child. Returns the outcome instead if there is nothing to execute.
    async fn ready(
        &self,
        life: &Life,
        control: Control,
    ) -> Result<Result<PreparedChild, ChildOutcome>, StoreError> {
        let Life { child, found, .. } = life;
        let executor = &self.children.executor;
        let (store, calls) = (self.children.store.clone(), self.children.conversations.clone());
        let log: Arc<dyn StepLog> = Arc::new(ChildLog { store, calls, child: child.clone() });
        let stored = StoredRun { checkpoint: child.checkpoint.as_ref(), session: self.turn.session };
        let taken_up = take_up(&*log, stored, None).await?;
        let (parent, context) = (&life.context, self.context_of(life));
        let by_parent = &parent.agent.default_model;
        let model = found.agent.model.clone().unwrap_or_else(|| by_parent.clone());
        let model = executor.ledger.model_for(&context.payer(), model);
        // Children's usage before a restart, or before the turn waited for a person, counts.
        let before = self.children.store.of_run(self.scope.root)?;
        let before = before.iter().filter(|child| child.depth == 1).map(|child| child.usage.total());
        let tokens = self.children.tokens.saturating_sub(before.sum());
        // The turn goes on with its own model, which may cost more.
        let models = [model.clone(), by_parent.clone()];
        let tree = match self.scope.open_tree(&executor.ledger, &models, tokens, &parent.payer()) {
            Ok(tree) => tree,
            Err(error) => return Ok(Err(of_ledger(&error, None))),
        };
        let run = match self.machine(life, &taken_up, &log.messages()?) {
            Ok(run) => run,
            Err(error) => {
                tracing::error!(error, "a prompt could not be rendered");
                return Ok(Err(ChildOutcome::because(
                    ChildEnd::Failed,
                    "its instructions could not be rendered",
                )));
            }
        };
        let left = (child.ends_by - self.children.reporter.now()).to_std().unwrap_or(Duration::ZERO);
        let (now, until) = (Instant::now(), left.mul_f64(TIME_TO_WORK));
        let bounds = ChildLimits { until: now + until, tokens: tokens_of(&tree, child) };
        let (run, instructions) = run;
        let run = run.asking(executor.ledger.models.order(&model));
        let setup = Setup {
            turn: (*self.turn).clone(),
            log,
            taken_up,
            context,
            model,
            tools: self.tools(&found.tools),
            settings: Generation::nearest([self.child_context.settings, found.agent.settings]),
            options: AnswerOptions::default(),
            instructions,
            pins: Vec::new(),
            control,
            scope: self.scope.clone(),
            sink: self.sink(life),
            bounds: Some(bounds),
            run_tokens: None,
        };
        Ok(Ok(PreparedChild { run, setup, until: bounds.until, ends: now + left }))
    }

    /// Returns the context of a child's tool calls, which also says who pays for the child.
    fn context_of(&self, life: &Life) -> ToolContext {
        let Life { child, found, context, speaks, .. } = life;
        ToolContext {
            agent: context.agent.child(&found.agent.name, found.agent.model.clone()),
            asked_by: context.lineage(),
            agents: Arc::new(self.of_child(child, &found.agent, *speaks)),
            // Only the parent run can ask a person.
            can_ask: false,
            call: String::new(),
            approved: None,
            ..context.clone()
        }
    }

    fn sink(&self, life: &Life) -> TextSink {
        let (speakers, child) = (self.scope.speakers.clone(), life.child.id);
        match life.speaks {
            true => TextSink::Speaking { speakers, child },
            false => TextSink::Working {
                bus: self.children.executor.caller.bus.clone(),
                root: self.scope.root,
                child,
                agent: life.found.agent.name.clone(),
            },
        }
    }

    fn tools(&self, tools: &Arc<Registry>) -> Arc<Registry> {
        let context = &self.child_context;
        let tools = tools.looking_back(context.has_keys, context.has_more).having(context.has_documents);
        keeping(Arc::new(tools), &context.records)
    }

    /// Returns the state machine of a child, restored if it was interrupted, and its system prompt.
    fn machine(
        &self,
        life: &Life,
        taken_up: &TakenUp,
        stored: &[Arc<Message>],
    ) -> Result<(Run, String), String> {
        let prompts = &self.children.prompts;
        let agent = &life.found.agent;
        let instructions = prompts.system(&SystemView {
            agent: Some(prompts.agents().instructions(agent)),
            persona: None,
            own_persona: None,
            ..self.child_context.view.clone()
        })?;
        let data = life.asked.data.as_ref().map(|data| serde_json::Value::Object(data.clone()).to_string());
        let asked = ChildView { input: life.asked.input.clone(), data, speaks: life.speaks };
        let mut items = self.child_context.items.clone();
        items.push(Item::user(prompts.child(&asked)?));
        let (in_hand, done) = split_in_hand(stored, life.child.checkpoint.as_ref(), taken_up);
        let side_effects = done.iter().chain(in_hand.iter().filter(|message| message.tool.is_none()));
        let by_parent = SideEffects { read: life.context.read.clone(), ..SideEffects::default() };
        let side_effects =
            std::iter::once(by_parent).chain(side_effects.map(|message| message.side_effects()));
        // No message of a child is by a person.
        let render = |message: &Message| Ok(Item::user(message.text.clone()));
        let Earlier { keys, kept } = self.child_context.earlier.clone();
        let run = Run::new(items, self.children.max_passes)
            .having_acted(self.child_context.acted.clone())
            .having_done(items_of(&done, &render)?)
            .after(Earlier { keys, kept })
            .with_side_effects(side_effects)
            .knowing(life.context.addresses.clone());
        let run = match taken_up.state.clone() {
            Some(state) => run.restored(state, read_in_hand(&in_hand)),
            None => run,
        };
        let form = form(agent).map_err(|_told| "the form of its answers cannot be used".to_owned())?;
        Ok((run.shaped(form), instructions))
    }

    /// Executes a child within its time. Returns `None` if it continues after a restart, or its turn begins again.
    async fn work(
        &self,
        ready: PreparedChild,
        life: &Life,
    ) -> Option<(ChildOutcome, SideEffects, ChildSpent)> {
        let PreparedChild { run, setup, until, ends } = ready;
        let driving = self.children.executor.drive(run, &setup);
        tokio::pin!(driving);
        let mut is_late = false;
        let driven = tokio::select! {
            driven = &mut driving => driven,
            () = tokio::time::sleep_until(ends) => {
                is_late = true;
                setup.control.cancel.cancel();
                driving.await
            }
        };
        let (end, answer, error) = match driven {
            Ok(Driven::Answered(answer)) => judged(*answer, is_late || Instant::now() >= until),
            Ok(Driven::Asks(_)) => {
                let words = "it wanted to ask a person, which only you can";
                (ChildEnd::Failed, Answer::default(), Some(words.to_owned()))
            }
            Err(Halt::Cancelled(answer)) => match (setup.control.reason(), is_late) {
                (CancelReason::Stopped, _) => (ChildEnd::Cancelled, answer, None),
                (CancelReason::Again(_), _) => return None,
                // The bot stops: the child continues after the restart.
                (CancelReason::Shutdown, _) if setup.control.is_ended() => return None,
                (CancelReason::Shutdown, true) => {
                    (ChildEnd::Timeout, answer, Some("its time was up".to_owned()))
                }
                // The parent no longer waits.
                (CancelReason::Shutdown, false) => (ChildEnd::Cancelled, answer, None),
            },
            Err(Halt::Model(error, answer)) => {
                let tree = self.scope.tree(DrawnBy::Child);
                let ChildOutcome { end, error, .. } = of_ledger(&error, tree.as_deref());
                (end, answer, error)
            }
            Err(Halt::Store(error)) => {
                self.children.reporter.report(&error, "a child could not store what it does");
                (ChildEnd::Failed, Answer::default(), Some("the bot's storage failed".to_owned()))
            }
            Err(Halt::Internal) => {
                (ChildEnd::Failed, Answer::default(), Some("a fault within the bot".to_owned()))
            }
        };
        let model = answer.pass.model.as_ref().unwrap_or(&setup.model).to_string();
        let by = side_effects(&answer);
        let spent = ChildSpent { usage: answer.usage, nano_usd: answer.nano_usd };
        let spent = if spent.usage == Usage::default() { spent_by(&life.child) } else { spent };
        let text = match answer.pass.text.trim() {
            "" if answer.spoke => SENT_ITSELF.to_owned(),
            text => text.to_owned(),
        };
        let structured = answer.structured;
        let outcome = ChildOutcome { text, structured, error, model: Some(model), ..ChildOutcome::of(end) };
        Some((outcome, by, spent))
    }
}

/// Returns the side effects of a child that count for the turn.
fn side_effects(answer: &Answer) -> SideEffects {
    SideEffects {
        sources: answer.sources.clone(),
        read: answer.read.clone(),
        tasks: answer.tasks.clone(),
        remindable: answer.remindable.clone(),
        noted: answer.noted,
        added: answer.added.clone(),
        said: answer.said.clone(),
        spoke: answer.spoke,
        shown: answer.shown,
        ..SideEffects::default()
    }
}

/// Judges the answer of a child. An answer that a limit has cut off is never done, whatever it says.
fn judged(answer: Answer, is_late: bool) -> (ChildEnd, Answer, Option<String>) {
    let has_left = answer.spoke || answer.shown || !answer.said.is_empty();
    let says_nothing = answer.pass.text.trim().is_empty() && !has_left;
    if let Some(reason) = &answer.pass.filtered {
        let words = format!("its model withheld the answer: {reason}");
        return (ChildEnd::Failed, answer, Some(words));
    }
    if answer.is_misfit {
        return (ChildEnd::Failed, answer, Some("its answer does not fit its form".to_owned()));
    }
    if says_nothing {
        return (ChildEnd::Failed, answer, Some("it ended without a word".to_owned()));
    }
    if !answer.is_cut && !answer.pass.cut_short {
        return (ChildEnd::Done, answer, None);
    }
    let (end, words) = match is_late {
        true => (ChildEnd::Timeout, "its time was up; this is what it had"),
        false => (ChildEnd::OverBudget, "it reached the bound on its steps or tokens; this is what it had"),
    };
    (end, answer, Some(words.to_owned()))
}

/// Converts a failed model call into the outcome for the parent run. Names a limit that is not one of the turn's, such as that
/// of the child's own agent.
fn of_ledger(error: &LedgerError, tree: Option<&Tree>) -> ChildOutcome {
    match error {
        LedgerError::OverBudget(over) if tree.is_some_and(|tree| !tree.is_of_turn(&over.axis)) => {
            ChildOutcome::because(ChildEnd::OverBudget, over.to_string())
        }
        LedgerError::OverBudget(_) => {
            ChildOutcome::because(ChildEnd::OverBudget, "what the turn and its agents may take is used up")
        }
        LedgerError::Model(_)
        | LedgerError::Unpriced(_)
        | LedgerError::Store
        | LedgerError::Slow
        | LedgerError::Busy => {
            ChildOutcome::because(ChildEnd::Failed, format!("its model failed: {}", error.label()))
        }
    }
}

/// Returns the token limit of a child, including its usage so far.
fn tokens_of(tree: &Tree, child: &ChildRun) -> u64 {
    child.usage.total() + tree.left_tokens() / 100 * PERCENT_OF_CHILD
}

/// Returns the recorded usage of a child.
const fn spent_by(child: &ChildRun) -> ChildSpent {
    ChildSpent { usage: child.usage, nano_usd: child.nano_usd }
}
