//! Loads what bears on a question, chooses who answers it, and builds what the model is asked.

mod agent;
mod context;
mod load;
mod person;
mod persona;
mod pictures;
mod readable;

use std::sync::Arc;

pub use self::agent::Agents;
pub use self::context::{Asking, Choices, Contexts};
pub use self::load::Loader;
use self::load::{Chosen, Loaded};
pub use self::persona::PersonaLoader;
use self::readable::unreadable;
use super::control::Control;
use super::error::TurnError;
use super::outcome::Outcome;
use super::question::Question;
use super::reply::Reply;
use super::report::Reporter;
use super::run::{Answer, Run, Shown};
use super::taken_up::TakenUp;
use crate::domain::agent::{Agent, AgentContext, DEFAULT_TENANT};
use crate::domain::chat::ChatConfig;
use crate::domain::conversation::Session;
use crate::domain::form::Form;
use crate::domain::generation::Generation;
use crate::domain::message::{Inbound, Speaker};
use crate::domain::model::ModelName;
use crate::domain::task::MAX_RUN_MESSAGES;
use crate::domain::tool::{ToolCall, ToolKind, ToolStatus};
use crate::domain::turn::ActiveTurn;
use crate::ids::{ChatId, PinId};
use crate::policy::address::Addresses;
use crate::prompts::texts::Locales;
use crate::provider::Earlier;
use crate::provider::models::Models;
use crate::store::{ConversationStore, ProfileStore, SessionStore, SettingsStore, StoreError};
use crate::tools::{Registry, SendAllowance, ToolContext};

/// The client of all that comes by Telegram.
const TELEGRAM: &str = "telegram";

/// Prepares turns: chooses the agent and the model, loads what they are told, sets up the run. Called by the pipeline.
#[derive(Debug, Clone)]
pub struct Preparer {
    /// Loads the history and all else that the window is built from.
    pub loader: Loader,
    /// The store of turns and their calls.
    pub conversations: Arc<dyn ConversationStore>,
    /// The store of the settings of chats.
    pub settings: Arc<dyn SettingsStore>,
    /// The store of sessions, for what was chosen for one.
    pub sessions: Arc<dyn SessionStore>,
    /// The profiles of people.
    pub profiles: Arc<dyn ProfileStore>,
    /// The agents and their tools.
    pub agents: Agents,
    /// The personas of chats.
    pub personas: PersonaLoader,
    /// The models and what they can do.
    pub models: Arc<Models>,
    /// The texts for people, by language.
    pub locales: Arc<Locales>,
    /// The most passes of a turn.
    pub max_passes: u32,
    /// Reports failures to the log and to `/status`.
    pub reporter: Reporter,
}

/// What one turn is executed with, the same for all its steps.
#[derive(Debug)]
pub struct Setup {
    /// The record of the turn.
    pub turn: ActiveTurn,
    /// How far it had come before a restart.
    pub taken_up: TakenUp,
    /// The person, the chat and the rights that tools are called with.
    pub context: ToolContext,
    /// The model that is asked first.
    pub model: ModelName,
    /// The tools that the model may call.
    pub tools: Arc<Registry>,
    /// The parameters that are sent to the model.
    pub settings: Generation,
    /// The text of the system prompt.
    pub instructions: String,
    /// The pins that the model is told.
    pub pins: Vec<PinId>,
    /// Ends the turn, and says whether it may show or do something.
    pub control: Control,
}

/// A turn that is ready to be executed.
#[derive(Debug)]
pub(super) struct Prepared {
    pub(super) run: Run,
    pub(super) setup: Setup,
}

/// How the model is to write: as the chat has set, else as its persona says, else as the agent does.
fn settings(of_chat: [Generation; 2], agent: Option<&Agent>) -> Generation {
    let of_agent = agent.map(|agent| agent.settings).unwrap_or_default();
    Generation::nearest(of_chat.into_iter().chain([of_agent]))
}

/// A turn whose answer is to have the form that its agent asks for, if it asks for one.
fn shaped(run: Run, agent: Option<&Agent>) -> Result<Run, TurnError> {
    let asked = agent.and_then(|agent| Some(Form::new(&agent.name, agent.answer.clone()?)));
    let form = asked.transpose().map_err(|error| {
        tracing::error!(error, "the form of an agent's answers cannot be used");
        TurnError::Internal
    })?;
    Ok(run.shaped(form))
}

/// The tools of a turn in whose prompt keys or memories stand.
fn offered(tools: Arc<Registry>, has_keys: bool, remembers: bool) -> Arc<Registry> {
    let tools = if has_keys { Arc::new(tools.looking_up()) } else { tools };
    if remembers { Arc::new(tools.remembering()) } else { tools }
}

impl Preparer {
    /// What is to be executed for a question; where nothing is, how the turn ends.
    pub(super) async fn prepare(
        &self,
        turn: &ActiveTurn,
        question: &Question,
        taken_up: TakenUp,
        control: &Control,
    ) -> Result<Prepared, Box<Outcome>> {
        let failed = |error| Box::new(Outcome::Failed(error, Answer::default()));
        let first = question.parts.first().ok_or_else(|| failed(TurnError::Internal))?;
        let (config, is_known) = self.config(turn, first.place.chat).await.map_err(failed)?;
        let part = self.agents.part(question, is_known.then_some(&config)).map_err(failed)?;
        let chosen = self.agents.model(turn, question, &config, part.agent);
        let model = chosen.unwrap_or_else(|| self.models.default_model().clone());
        let sees = self.models.capabilities(&model).is_some_and(|can| can.vision);
        let texts = self.locales.of(first.language.as_deref());
        if let Some(reply) = unreadable(question, texts, &model, sees) {
            // In a group that has it answer everything, nobody asked about every sticker.
            let is_meant = question.parts.iter().any(Inbound::is_addressed);
            return Err(Box::new(Outcome::Told(if is_meant { reply } else { Reply::default() })));
        }
        let zone = self.loader.default_zone;
        let person = person::asker(&*self.profiles, question, &config, zone, &self.reporter).await;
        let persona = self.personas.of(question, first.place.chat, &config, &self.reporter).await;
        let chosen = Chosen {
            config: &config,
            model: &model,
            agent: part.agent,
            person: person.as_ref(),
            persona: &persona,
        };
        let loaded = self.loader.load(turn, question, &taken_up, &chosen).await.map_err(failed)?;
        let (instructions, has_keys) = (loaded.window.instructions.clone(), loaded.window.has_keys);
        let pins = loaded.window.pins.clone();
        let tools = offered(part.tools, has_keys, !loaded.window.labels.is_empty());
        let run = shaped(self.run(loaded, question, &taken_up, &tools), part.agent).map_err(failed)?;
        let setup = Setup {
            turn: turn.clone(),
            taken_up,
            context: ToolContext {
                run: turn.id,
                place: first.place.clone(),
                speaker: question.asker().unwrap_or(&first.speaker).clone(),
                replied: question.parts.iter().find_map(|part| part.quotes.as_ref()?.replied()),
                language: first.language.clone(),
                standing: question.standing,
                agent: AgentContext {
                    user_id: question.asker().map(|asker| asker.user.clone()),
                    tenant_id: DEFAULT_TENANT.to_owned(),
                    session_id: Some(turn.session),
                    default_model: model.clone(),
                    agent_schema_uri: part.agent.map(|agent| agent.name.clone()),
                    is_eval: false,
                    client_id: Some(TELEGRAM.to_owned()),
                },
                task: question.task.as_ref().map(|task| task.id),
                addresses: Addresses::default(),
                now: self.reporter.now(),
                call: String::new(),
                approved: None,
                can_ask: question.task.is_none() && question.asker().is_some_and(Speaker::is_person),
                sends: self.allowance(turn, question).await.map_err(failed)?,
            },
            model,
            tools,
            settings: settings([config.settings, persona.settings], part.agent),
            instructions,
            pins,
            control: control.clone(),
        };
        Ok(Prepared { run, setup })
    }

    /// The machine of a turn, as far as it had come before a restart.
    fn run(&self, loaded: Loaded, question: &Question, taken_up: &TakenUp, tools: &Registry) -> Run {
        let tool = tools.name_of(ToolKind::Memories).unwrap_or_default();
        let has_keys = loaded.window.has_keys;
        // What nothing looks up has no key.
        let Earlier { keys, kept } = loaded.window.earlier;
        let keys = keys.into_iter().map(|key| key.filter(|_| has_keys)).collect();
        let run = Run::new(loaded.window.items, self.max_passes)
            .having_done(loaded.window.done)
            .after(Earlier { keys, kept })
            .with_side_effects(loaded.side_effects)
            .knowing(loaded.written)
            .remembering(Shown { tool, memories: loaded.window.labels })
            // A task is where a promise is kept.
            .keeping_promises(question.task.is_none());
        let run = match taken_up.state.clone() {
            Some(state) => run.restored(state, loaded.in_hand),
            None => run,
        };
        match &taken_up.approved {
            Some(approved) => run.making(approved.call.clone()),
            None => run,
        }
    }

    /// The settings of the chat, with what was chosen for the session of the turn in their place; and whether they could be
    /// read.
    async fn config(&self, turn: &ActiveTurn, chat: ChatId) -> Result<(ChatConfig, bool), TurnError> {
        let (config, session) =
            futures::join!(self.settings.chat_config(chat), self.sessions.session_by_id(turn.session));
        for error in [config.as_ref().err(), session.as_ref().err()].into_iter().flatten() {
            // A store that fails now may tell later which model was chosen; no other is to read it meanwhile.
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
        Ok((config, is_known))
    }

    /// How many messages tools may still send in the run of a task; `None` for any other turn. What they sent before a
    /// restart counts, and so does what may have been sent.
    async fn allowance(
        &self,
        turn: &ActiveTurn,
        question: &Question,
    ) -> Result<Option<Arc<SendAllowance>>, TurnError> {
        if question.task.is_none() {
            return Ok(None);
        }
        let calls = self.conversations.tool_calls(turn.id).await;
        let calls = calls.map_err(|error| self.reporter.lost(&error))?;
        let may_have_sent = |call: &&ToolCall| match call.status {
            ToolStatus::Running | ToolStatus::Complete | ToolStatus::Unknown => true,
            ToolStatus::Failed | ToolStatus::Denied => false,
        };
        let sends = |call: &ToolCall| {
            let found = std::slice::from_ref(&call.call.name);
            let arguments = serde_json::from_str(&call.call.arguments).ok()?;
            Some(self.agents.all_tools.get(&call.call.name, found)?.sends(&arguments))
        };
        let sent: usize = calls.iter().filter(may_have_sent).filter_map(sends).sum();
        Ok(Some(Arc::new(SendAllowance::new(MAX_RUN_MESSAGES, sent))))
    }
}
