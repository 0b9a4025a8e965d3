//! Loads the data for a question, chooses the agent and the model, and builds the request.

mod acted;
mod agent;
mod background;
mod budget;
mod context;
mod documents;
mod files;
mod foreign;
mod load;
mod person;
mod persona;
mod pictures;
mod readable;
mod sounds;
mod tools;

use std::sync::Arc;

pub use self::agent::AgentCatalog;
pub(crate) use self::agent::LoadedAgent;
use self::agent::agent_context;
pub use self::context::{Choices, ContextRequest, Contexts};
pub use self::files::FileLoader;
pub use self::load::Loader;
use self::load::{TurnChoices, TurnData};
pub(super) use self::load::{read_in_hand, split_in_hand};
pub use self::persona::PersonaLoader;
use self::readable::unreadable;
pub(super) use self::tools::keeping;
use self::tools::{offered, with_own};
use super::control::Control;
use super::error::TurnError;
use super::log::TurnLog;
use super::outcome::Outcome;
use super::question::Question;
use super::report::Reporter;
use super::requested::Requested;
use super::run::{Answer, EarlierCall, Run, ShownMemories};
use super::scope::{TextSink, TurnScope};
use super::setup::Setup;
use super::taken_up::TakenUp;
use crate::delivery::Bus;
use crate::tools::pages::NAME as READ_PAGE;
use crate::tools::records::RecordTools;
use crate::tools::{Alone, Registry, SendAllowance, Tool, ToolContext};
use figaro_base::ids::ChatId;
use figaro_domain::agent::Agent;
use figaro_domain::chat::ChatConfig;
use figaro_domain::conversation::Session;
use figaro_domain::form::Form;
use figaro_domain::generation::Generation;
use figaro_domain::message::Speaker;
use figaro_domain::model::ModelName;
use figaro_domain::task::MAX_RUN_MESSAGES;
use figaro_domain::tool::{ToolCall, ToolKind, ToolStatus};
use figaro_domain::turn::ActiveTurn;
use figaro_ledger::Ledger;
use figaro_policy::address::Addresses;
use figaro_prompts::SystemView;
use figaro_prompts::texts::Locales;
use figaro_provider::models::Models;
use figaro_provider::{AnswerOptions, Earlier, Item};
use figaro_store::{ChildStore, ConversationStore, ProfileStore, SessionStore, SettingsStore, StoreError};

/// Prepares turns: chooses the agent and the model, loads their input, sets up the run. Called by the pipeline.
#[derive(Debug, Clone)]
pub struct Preparer {
    /// Loads the history and the other data for the window.
    pub loader: Loader,
    /// The store of turns and their calls.
    pub conversations: ConversationStore,
    /// The store of children; their sent messages count for a task run.
    pub children: ChildStore,
    /// The store of the settings of chats.
    pub settings: SettingsStore,
    /// The store of sessions; gives the choices made for a session.
    pub sessions: SessionStore,
    /// The store of people's profiles; records when they were seen.
    pub profiles: ProfileStore,
    /// The current agents and their tools.
    pub agents: AgentCatalog,
    /// The records of chats, and the tools for them.
    pub records: RecordTools,
    /// Loads the persona of the chat for a turn.
    pub personas: PersonaLoader,
    /// The models and what they can do.
    pub models: Arc<Models>,
    /// The limits on spending, which may choose a cheaper model.
    pub ledger: Arc<Ledger>,
    /// Publishes the events of turns and their children.
    pub bus: Bus,
    /// The texts for people, by language.
    pub locales: Arc<Locales>,
    /// Maximum number of passes of a turn.
    pub max_passes: u32,
    /// Reports failures to the log and to `/status`.
    pub reporter: Reporter,
}

/// A turn that is ready to be executed.
#[derive(Debug)]
pub(super) struct Prepared {
    pub(super) run: Run,
    pub(super) setup: Setup,
    /// Context for child agents; taken by `Children::join`.
    pub(super) child_context: Option<ChildContext>,
}

/// Initial context of the children of a turn.
#[derive(Debug)]
pub(super) struct ChildContext {
    /// Conversation before the turn, and the question.
    pub(super) items: Vec<Item>,
    /// Description of the items from before the question.
    pub(super) earlier: Earlier,
    /// View that the system prompt of the turn is rendered from.
    pub(super) view: SystemView,
    /// Generation parameters of the chat and its persona.
    pub(super) settings: Generation,
    /// `true` if omitted text is marked with a lookup key.
    pub(super) has_keys: bool,
    /// `true` if the chat has more messages than are shown.
    pub(super) has_more: bool,
    /// `true` if the chat has documents.
    pub(super) has_documents: bool,
    /// Names of the agents that may be started; `None` for all agents that a chat can choose.
    pub(super) agents: Option<Vec<String>>,
    /// Tools for the records of the chat; empty if it has no context pack.
    pub(super) records: Vec<Arc<dyn Tool>>,
    /// Calls of earlier attempts at the question, those of their children too.
    pub(super) acted: Vec<EarlierCall>,
}

/// Returns the generation settings: those of the chat, then of its persona, then of the agent.
fn settings(of_chat: [Generation; 2], agent: Option<&Agent>) -> Generation {
    let of_agent = agent.map(|agent| agent.settings).unwrap_or_default();
    Generation::nearest(of_chat.into_iter().chain([of_agent]))
}

/// Initial context of the children of a turn.
fn child_context(loaded: &TurnData, agent: Option<&Agent>, settings: Generation) -> ChildContext {
    let window = &loaded.window;
    ChildContext {
        items: window.items.clone(),
        earlier: window.earlier.clone(),
        view: window.view.clone(),
        settings,
        has_keys: window.has_keys,
        has_more: window.has_more,
        has_documents: loaded.has_documents,
        agents: agent.filter(|agent| !agent.has_all_tools()).map(|agent| agent.agents.clone()),
        records: Vec::new(),
        acted: loaded.acted.clone(),
    }
}

/// Returns the answer form of an agent. Invalid schemas are already refused when the agent's file is read.
///
/// # Errors
/// If the form cannot be used nevertheless.
pub(in crate::turn) fn form(agent: &Agent) -> Result<Option<Form>, TurnError> {
    let form = agent.answer.clone().map(|schema| Form::new(&agent.name, schema)).transpose();
    form.map_err(|error| {
        tracing::error!(agent = agent.name, error, "the form of an agent's answers cannot be used");
        TurnError::Internal
    })
}

/// Returns the form of the answer: that of the request, otherwise that of the agent.
fn form_of(requested: Option<&Requested>, agent: Option<&Agent>) -> Result<Option<Form>, TurnError> {
    match requested.and_then(|requested| requested.form.clone()) {
        Some(form) => Ok(Some(form)),
        None => Ok(agent.map(form).transpose()?.flatten()),
    }
}

impl Preparer {
    /// Prepares the execution of a question. Returns the outcome instead if there is nothing to execute.
    pub(super) async fn prepare(
        &self,
        turn: &ActiveTurn,
        question: &Question,
        taken_up: TakenUp,
        control: &Control,
    ) -> Result<Prepared, Box<Outcome>> {
        let failed = |error| Box::new(Outcome::Failed(error, Answer::default()));
        let first = question.parts.first().ok_or_else(|| failed(TurnError::Internal))?;
        let requested = question.requested.as_deref();
        let (config, is_known) = self.config(turn, first.place.chat, requested).map_err(failed)?;
        let agent_tools = self.agents.now();
        let part = agent_tools.part(question, is_known.then_some(&config)).map_err(failed)?;
        let agent = part.agent.as_deref();
        let chosen = agent_tools.model(turn, question, &config, agent);
        let (model, run_tokens) = self.within_budget(question, agent, chosen);
        let options = self.options(requested, &model).map_err(failed)?;
        let texts = self.locales.of(first.language.as_deref());
        if let Some(reply) = unreadable(question, texts, &model, &self.models) {
            return Err(Box::new(Outcome::Told(reply)));
        }
        let zone = self.loader.default_zone;
        let person = person::asker(&self.profiles, question, &config, zone, &self.reporter);
        let persona = self.personas.of(question, first.place.chat, &config, &self.reporter);
        let book = self.reporter.or_without(self.records.books.with(first.place.chat, &config), "records");
        let told = agent.and_then(|agent| agent_tools.instructions(agent));
        let chosen = TurnChoices {
            config: &config,
            model: &model,
            instructions: told.as_deref(),
            person: person.as_ref(),
            persona: &persona,
            book: &book,
            reads_pages: part.tools.get(READ_PAGE, &[]).is_some(),
            cancel: &control.cancel,
        };
        let loaded = self.load(turn, question, &taken_up, &chosen).await.map_err(failed)?;
        let heard = loaded.heard.clone();
        let (instructions, pins) = (loaded.window.instructions.clone(), loaded.window.pins.clone());
        let records = self.records.offered(&book);
        let tools = keeping(offered(&with_own(part.tools, requested), &loaded), &records);
        let of_chat = [config.settings, persona.settings];
        let child_context = child_context(&loaded, agent, Generation::nearest(of_chat));
        let (form, order) = (form_of(requested, agent).map_err(failed)?, self.models.order(&model));
        let called = Some(&*tools).filter(|_| self.models.capabilities(&model).is_none_or(|can| can.tools));
        let run = self.run(loaded, question, &taken_up, called).shaped(form).asking(order);
        let scope = TurnScope::new(turn.id, control.clone(), self.bus.clone(), &run.untold());
        let setup = Setup {
            turn: turn.clone(),
            log: Arc::new(TurnLog { store: self.conversations.clone(), turn: turn.clone() }),
            taken_up,
            context: ToolContext { heard, ..self.context(turn, question, agent, &model).map_err(failed)? },
            model,
            tools,
            settings: settings(of_chat, agent),
            options,
            instructions,
            pins,
            control: control.clone(),
            sink: TextSink::of_turn(scope.speakers.clone()),
            scope,
            bounds: None,
            run_tokens,
        };
        Ok(Prepared { run, setup, child_context: Some(ChildContext { records, ..child_context }) })
    }

    /// Returns the constraints on the answer.
    ///
    /// # Errors
    /// If no possible model supports them.
    fn options(&self, requested: Option<&Requested>, model: &ModelName) -> Result<AnswerOptions, TurnError> {
        let options = requested.map(|requested| requested.options.clone()).unwrap_or_default();
        match self.models.unmet(model, &options) {
            Some(demand) => Err(TurnError::Unmet(demand, model.clone())),
            None => Ok(options),
        }
    }

    /// Returns the context of the turn's tool calls.
    fn context(
        &self,
        turn: &ActiveTurn,
        question: &Question,
        agent: Option<&Agent>,
        model: &ModelName,
    ) -> Result<ToolContext, TurnError> {
        let first = question.parts.first().ok_or(TurnError::Internal)?;
        Ok(ToolContext {
            run: turn.id,
            place: first.place.clone(),
            speaker: question.asker().unwrap_or(&first.speaker).clone(),
            asked: first.origin.message(),
            replied: question.parts.iter().find_map(|part| part.quotes.as_ref()?.replied()),
            picture: question.picture().map(str::to_owned),
            has_other_file: question.picture().is_none()
                && question.files().any(|file| file.file_id.is_some()),
            language: first.language.clone(),
            standing: question.standing,
            agent: agent_context(turn, question, agent, model),
            asked_by: Vec::new(),
            key: question.key(),
            read: None,
            heard: None,
            task: question.task.as_ref().map(|task| task.id),
            addresses: Addresses::default(),
            now: self.reporter.now(),
            call: String::new(),
            approved: None,
            agents: Arc::new(Alone),
            tree: None,
            // A requester over HTTP has no chat in which they could be asked.
            can_ask: question.task.is_none()
                && question.requested.is_none()
                && question.asker().is_some_and(Speaker::is_person),
            sends: self.allowance(turn, question)?,
        })
    }

    /// Creates the state machine of a turn, restored if it was interrupted. `tools` are the tools that its model can
    /// call.
    fn run(&self, data: TurnData, question: &Question, taken_up: &TakenUp, tools: Option<&Registry>) -> Run {
        let tool = tools.and_then(|tools| tools.name_of(ToolKind::Memories));
        let mut earlier = data.window.earlier;
        // Without a lookup tool, items need no keys.
        let has_lookup = tools.is_some_and(|tools| tools.has_use(ToolKind::Lookup));
        earlier.keys.iter_mut().filter(|_| !has_lookup).for_each(|key| *key = None);
        let run = Run::new(data.window.items, self.max_passes)
            .having_acted(data.acted)
            .having_done(data.window.done)
            .after(earlier)
            .with_side_effects(data.side_effects)
            .knowing(data.written)
            .remembering(ShownMemories { tool, memories: data.window.labels, asked: question.words() })
            // A task run is itself the fulfilment of a promise.
            .keeping_promises(question.task.is_none())
            .giving_cut(question.requested.is_some())
            // In a group the bot may stay silent.
            .permitting_silence(question.is_in_group() && question.task.is_none());
        let run = match taken_up.state.clone() {
            Some(state) => run.restored(state, data.in_hand),
            None => run,
        };
        let Some(approved) = &taken_up.approved else { return run };
        run.making(approved.call.clone())
    }

    /// Returns the settings of the chat, overridden by the choices for the session and by the request; and `true` if
    /// they could be read.
    fn config(
        &self,
        turn: &ActiveTurn,
        chat: ChatId,
        requested: Option<&Requested>,
    ) -> Result<(ChatConfig, bool), TurnError> {
        let (config, session) = (self.settings.chat_config(chat), self.sessions.find(turn.session));
        for error in [config.as_ref().err(), session.as_ref().err()].into_iter().flatten() {
            // The store may work again later and name the chosen model; until then no other model may read the
            // conversation.
            if let StoreError::Failed { .. } = error {
                return Err(self.reporter.lost(error));
            }
        }
        let is_known = config.is_ok() && session.is_ok();
        let config = self.reporter.or_without(config, "settings");
        let session = self.reporter.or_without(session, "session's choices");
        let config = match session {
            Some(Session { model, agent, .. }) => {
                ChatConfig { model: model.or(config.model), agent: agent.or(config.agent), ..config }
            }
            None => config,
        };
        let Some(requested) = requested else { return Ok((config, is_known)) };
        Ok((requested.over(config), is_known))
    }

    /// Returns the number of messages that tools may still send in the run of a task; `None` for other turns. Messages
    /// that were or may have been sent before a restart count.
    fn allowance(
        &self,
        turn: &ActiveTurn,
        question: &Question,
    ) -> Result<Option<Arc<SendAllowance>>, TurnError> {
        if question.task.is_none() {
            return Ok(None);
        }
        let lost = |error: StoreError| self.reporter.lost(&error);
        let mut calls = self.conversations.tool_calls(turn.id).map_err(lost)?;
        for child in self.children.of_run(turn.id).map_err(lost)? {
            calls.extend(self.conversations.tool_calls(child.id).map_err(lost)?);
        }
        let may_have_sent = |call: &&ToolCall| match call.status {
            ToolStatus::Running | ToolStatus::Complete | ToolStatus::Unknown => true,
            ToolStatus::Failed | ToolStatus::Denied => false,
        };
        let sends = |call: &ToolCall| {
            let found = std::slice::from_ref(&call.call.name);
            let arguments = serde_json::from_str(&call.call.arguments).ok()?;
            Some(self.agents.all_tools().get(&call.call.name, found)?.sends(&arguments))
        };
        let sent: usize = calls.iter().filter(may_have_sent).filter_map(sends).sum();
        Ok(Some(Arc::new(SendAllowance::new(MAX_RUN_MESSAGES, sent))))
    }
}
