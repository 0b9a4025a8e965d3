//! One turn: the question is stored, everything is loaded, the agent runs, and the answer is written once together with
//! its pending delivery. The lanes of the mailbox call it.

use std::collections::{BTreeMap, HashSet};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use chrono_tz::Tz;
use futures::FutureExt;

use super::control::{CancelReason, Control};
use super::finish::error::{Trouble, unreadable};
use super::finish::words::Said;
use super::prepare::HISTORY_MESSAGES;
use super::question::{Again, Question};
use super::queue::{Job, Runner};
use super::scheduled::is_silent;
use crate::config::AccessSettings;
use crate::delivery::{Bus, Courier, Outcome, Owners, RunEventKind};
use crate::domain::agent::Agent;
use crate::domain::chat::ChatConfig;
use crate::domain::model::ModelName;
use crate::domain::tool::{Carried, ToolStatus};
use crate::domain::turn::ActiveTurn;
use crate::files::Files;
use crate::policy::address::Addresses;
use crate::prompts::Prompts;
use crate::prompts::texts::{Locales, Texts};
use crate::store::{ConversationStore, InboxStore, NoteStore, SettingsStore, StoreError, TaskStore};
use crate::telemetry::vitals::Vitals;
use crate::tools::lookup::LOOKUP;
use crate::tools::{Registry, ToolContext};
use crate::turn::execute::calls::result_message;
use crate::turn::execute::{Commit, Driven, Driver, Turn};
use crate::turn::run::{Answer, Run};
use crate::turn::window::BotName;

/// What the model is told about a call that a crash left open.
const UNKNOWN_OUTCOME: &str = r#"{"success":false,"error":"the bot stopped while this call ran: whether it acted is not known. Do not simply repeat it."}"#;

/// What turns are made with.
#[derive(Debug, Clone)]
pub struct Turns {
    /// Who may talk, by settings.
    pub access: AccessSettings,
    /// Where questions wait that have not begun.
    pub inbox: Arc<dyn InboxStore>,
    /// Sessions and their messages.
    pub conversations: Arc<dyn ConversationStore>,
    /// Notes.
    pub notes: Arc<dyn NoteStore>,
    /// Scheduled prompts.
    pub tasks: Arc<dyn TaskStore>,
    /// Settings of chats.
    pub settings: Arc<dyn SettingsStore>,
    /// What people sent beside words.
    pub files: Arc<dyn Files>,
    /// The agent.
    pub driver: Driver,
    /// Every tool there is.
    pub tools: Arc<Registry>,
    /// Prompt templates.
    pub prompts: Arc<Prompts>,
    /// Texts for people.
    pub locales: Arc<Locales>,
    /// Who hears what happens.
    pub bus: Bus,
    /// Who carries answers out.
    pub courier: Arc<dyn Courier>,
    /// The owners, for what only they can mend.
    pub owners: Arc<dyn Owners>,
    /// What `/status` shows.
    pub vitals: Arc<Vitals>,
    /// The tools of each agent.
    pub agents: BTreeMap<String, Arc<Registry>>,
    /// What the bot is called.
    pub bot: BotName,
    /// The zone of chats that set none.
    pub default_zone: Tz,
    /// The most tokens of history.
    pub history_tokens: usize,
}

/// What a turn leads to.
pub(super) enum End {
    /// These words are stored and, unless a tool said them already, sent.
    Say { answer: Answer, outcome: Outcome },
    /// These words of Figaro's own are sent, if any; they are no part of the conversation.
    Tell(Said),
    /// Something went wrong; what was written until then stays.
    Trouble { trouble: Trouble, written: Answer },
    /// The next start goes on with it.
    Abandon,
    /// It begins again with this question.
    Again(Question),
}

#[async_trait]
impl Runner for Turns {
    async fn run(&self, job: Job, control: Control) -> Option<Job> {
        match job {
            Job::Ask(question) => self.ask(question, control).await,
            Job::Again(again) => self.ask_again(again, control).await,
            Job::Resume(run, question) => self.resume(run, question, control).await,
            Job::Task(task) => self.run_task(*task, control).await,
            Job::Deliver(delivery) => {
                self.courier.deliver(delivery, &control.cancel).await;
                None
            }
        }
    }
}

impl Turns {
    async fn ask(&self, question: Question, control: Control) -> Option<Job> {
        let conversation = question.parts.first()?.place.conversation();
        match self.admits(&question).await {
            Ok(true) => {}
            Ok(false) => return None,
            Err(error) => return self.not_begun(&error, &question).await,
        }
        let question = match self.with_rights(question.clone()).await {
            Ok(question) => question,
            Err(error) => return self.not_begun(&error, &question).await,
        };
        match self.conversations.begin_turn(conversation, &question.parts, self.now()).await {
            Ok(run) => self.work(run, question, control).await,
            Err(error) => self.not_begun(&error, &question).await,
        }
    }

    /// The question stays in the inbox: the next start answers it.
    async fn not_begun(&self, error: &StoreError, question: &Question) -> Option<Job> {
        self.report(error, "a turn could not begin");
        self.hold(question).await;
        None
    }

    async fn ask_again(&self, Again { asked, model }: Again, control: Control) -> Option<Job> {
        let first = asked.parts.first()?;
        match self.admits(&asked).await {
            Ok(true) => {}
            Ok(false) => return None,
            Err(error) => return self.not_begun(&error, &asked).await,
        }
        let beginning =
            self.conversations.begin_again(first.place.conversation(), first.update, model, self.now());
        match beginning.await {
            Ok(Some((run, stored))) => self.work(run, asked.again(stored), control).await,
            Ok(None) => {
                let words = &self.texts(&asked).retry_nothing;
                self.courier.decline(&first.place, first.message, words).await;
                None
            }
            Err(error) => self.not_begun(&error, &asked).await,
        }
    }

    async fn resume(&self, run: ActiveTurn, question: Question, control: Control) -> Option<Job> {
        if let Err(error) = self.settle_open_calls(&run).await {
            self.report(&error, "an interrupted turn could not be taken up");
            self.hold(&question).await;
            return None;
        }
        tracing::info!(run = %run.id, "going on with an interrupted turn");
        self.work(run, question, control).await
    }

    /// A call found `running` after a crash may have acted: the model is told so, and it is not made again. Nor is one
    /// whose result cannot be read among the messages: its record has it too.
    pub(super) async fn settle_open_calls(&self, run: &ActiveTurn) -> Result<(), StoreError> {
        let calls = self.conversations.tool_calls(run.id).await?;
        if calls.is_empty() {
            return Ok(());
        }
        let stored = self.conversations.recent(run.session, HISTORY_MESSAGES).await?;
        let of_turn = stored.iter().filter(|message| message.index >= run.first_index);
        let told: HashSet<&str> =
            of_turn.filter_map(|message| Some(message.tool.as_ref()?.tool_call_id.as_str())).collect();
        for mut call in calls.into_iter().filter(|call| !told.contains(call.call.id.as_str())) {
            if call.status == ToolStatus::Running {
                call.status = ToolStatus::Unknown;
            }
            let result = call.result.get_or_insert_with(|| UNKNOWN_OUTCOME.to_owned()).clone();
            let message = result_message(run.session, &call, result, Carried::default());
            self.conversations.tool_ended(&call, message).await?;
        }
        Ok(())
    }

    pub(super) async fn work(&self, run: ActiveTurn, question: Question, control: Control) -> Option<Job> {
        let first = question.parts.first()?;
        let message = question.task.is_none().then_some(first.message);
        let (place, language) = (first.place.clone(), first.language.clone());
        self.bus.publish(run.id, RunEventKind::Started { place, message, language });
        let cancel = control.cancel.clone();
        let working = AssertUnwindSafe(self.answer(&run, &question, control));
        let end = match working.catch_unwind().await {
            Ok(Ok(end)) => end,
            Ok(Err(trouble)) => End::Trouble { trouble, written: Answer::default() },
            Err(_panic) => End::Trouble { trouble: Trouble::Internal, written: Answer::default() },
        };
        let outcome = match &end {
            End::Say { outcome, .. } => *outcome,
            End::Tell(_) => Outcome::Silent,
            End::Trouble { .. } => Outcome::Failed,
            End::Abandon | End::Again(_) => Outcome::Abandoned,
        };
        let reset = match &end {
            End::Trouble { trouble: Trouble::OverBudget { time, zone }, .. } => {
                Some((time.clone(), zone.clone()))
            }
            _ => None,
        };
        self.bus.publish(run.id, RunEventKind::Ended(outcome));
        let next = self.finish(&run, &question, end, &cancel).await;
        // Whoever asked need not wait for that.
        if let Some((time, zone)) = reset {
            self.tell_owners(&time, &zone).await;
        }
        next
    }

    /// Loads everything, builds the request, and lets the agent work.
    async fn answer(&self, run: &ActiveTurn, question: &Question, control: Control) -> Result<End, Trouble> {
        let first = question.parts.first().ok_or(Trouble::Internal)?;
        let config = self.settings.chat_config(first.place.chat).await;
        if let Err(error @ StoreError::Failed { .. }) = &config {
            // A store that fails now may tell later which model the chat chose; no other is to read it meanwhile.
            return Err(self.lost(error));
        }
        let part = self.part(question, config.as_ref().ok())?;
        let config = self.or_without(config, "settings");
        let model = self.model_of(run, question, (&config, part.agent));
        let sees = self.driver.ledger.models.capabilities(&model).is_some_and(|can| can.vision);
        if let Some(said) = unreadable(question, self.texts(question), (&model, sees)) {
            // In a group that has it answer everything, nobody asked about every sticker.
            let is_meant = question.parts.iter().any(crate::domain::message::Inbound::is_addressed);
            return Ok(End::Tell(if is_meant { said } else { Said::default() }));
        }
        let now = self.now();
        let loaded = self.load(run, question, (&config, &model, part.agent)).await?;
        let (earlier, has_keys) = (loaded.window.earlier, loaded.window.has_keys);
        // What nothing looks up has no key.
        let keys = earlier.into_iter().map(|key| key.filter(|_| has_keys)).collect();
        let turn = Turn {
            context: ToolContext {
                run: run.id,
                place: first.place.clone(),
                speaker: question.asker().unwrap_or(&first.speaker).clone(),
                language: first.language.clone(),
                standing: question.standing,
                model: model.clone(),
                addresses: Addresses::default(),
                now,
                sends: self.allowance(run, question).await?,
            },
            session: run.session,
            model,
            tools: match has_keys {
                true => Arc::new(part.tools.demanding(LOOKUP)),
                false => part.tools,
            },
            settings: config.settings.or(part.agent.map(|agent| agent.settings).unwrap_or_default()),
            instructions: loaded.window.instructions,
            cancel: control.cancel.clone(),
            commit: commit_of(&control),
        };
        let work = Run::new(loaded.window.items, self.driver.max_passes)
            .after(keys)
            .carrying(loaded.carried)
            .knowing(loaded.written)
            // A task is where a promise is kept.
            .keeping_promises(question.task.is_none());
        let driven = self.driver.drive(work, &turn).await.map_err(|error| self.lost(&error))?;
        Ok(self.judge(driven, question, (&turn.model, &control)).await)
    }

    /// The model that is to answer: the one asked for this once, else the task's, the chat's, that of the chat's agent, of
    /// the task's, the bot's.
    fn model_of(
        &self,
        run: &ActiveTurn,
        question: &Question,
        (config, agent): (&ChatConfig, Option<&Agent>),
    ) -> ModelName {
        let of_task = question.task.as_ref().and_then(|task| task.model.as_ref());
        let of_agent = agent.and_then(|agent| agent.model.as_ref());
        let of_chat = self.prompts.chosen(config).and_then(|agent| agent.model.as_ref());
        let chosen = run.model.as_ref().or(of_task).or(config.model.as_ref()).or(of_chat).or(of_agent);
        chosen.unwrap_or_else(|| self.driver.ledger.models.default_model()).clone()
    }

    async fn judge(
        &self,
        driven: Driven,
        question: &Question,
        (model, control): (&ModelName, &Control),
    ) -> End {
        match driven {
            Driven::Done(answer) if answer.pass.filtered.is_some() => {
                End::Trouble { trouble: Trouble::Withheld, written: answer }
            }
            Driven::Done(mut answer) if question.task.is_some() && is_silent(&answer.pass.text) => {
                answer.pass.text.clear();
                End::Say { answer, outcome: Outcome::Silent }
            }
            Driven::Done(answer) if answer.spoke => End::Say { answer, outcome: Outcome::Silent },
            Driven::Done(answer) if answer.pass.text.trim().is_empty() => {
                match is_group(question) && question.task.is_none() {
                    true => End::Say { answer, outcome: Outcome::Silent },
                    false => End::Trouble { trouble: Trouble::Empty, written: answer },
                }
            }
            Driven::Done(answer) => End::Say { answer, outcome: Outcome::Answered },
            Driven::Cancelled(answer) => match control.reason() {
                CancelReason::Stopped => End::Say { answer, outcome: Outcome::Stopped },
                CancelReason::Shutdown => End::Abandon,
                CancelReason::Again(question) => End::Again(question),
            },
            Driven::Failed(error, answer) => {
                let model = answer.pass.model.as_ref().unwrap_or(model);
                End::Trouble { trouble: self.trouble(error, model).await, written: answer }
            }
        }
    }

    pub(super) fn texts(&self, question: &Question) -> &Texts {
        self.locales.of(question.parts.first().and_then(|part| part.language.as_deref()))
    }

    /// The store failed while something was loaded.
    pub(super) fn lost(&self, error: &StoreError) -> Trouble {
        self.report(error, "a turn could not load what it needs");
        Trouble::Internal
    }

    pub(super) fn report(&self, error: &StoreError, what: &str) {
        tracing::error!(%error, label = error.label(), "{what}");
        self.vitals.failed(self.now(), error.label());
    }

    pub(super) fn now(&self) -> DateTime<Utc> {
        self.driver.caller.clock.now()
    }
}

fn commit_of(control: &Control) -> Commit {
    let control = control.clone();
    Commit(Arc::new(move || control.commit()))
}

pub(super) fn is_group(question: &Question) -> bool {
    question.parts.first().is_some_and(|part| part.place.is_group())
}
