//! Names sessions after their first exchange, in the background, with one short model call that no turn waits for. The
//! call counts on all limits and is skipped when little of those of the bot is left. A failed call is retried after the
//! next exchange.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use parking_lot::Mutex;

use super::outcome::Outcome;
use super::question::Question;
use crate::channel::Channel;
use figaro_base::ids::SessionId;
use figaro_base::shutdown::TaskTracker;
use figaro_base::text::one_line;
use figaro_domain::conversation::{ConversationId, Message, MessageRole, Session};
use figaro_domain::generation::Generation;
use figaro_domain::model::ModelName;
use figaro_domain::session::{SessionChange, SessionName};
use figaro_domain::turn::ActiveTurn;
use figaro_domain::usage::Payer;
use figaro_ledger::{Ledger, LedgerError};
use figaro_prompts::{NamingView, Prompts, fence};
use figaro_provider::{Item, Request};
use figaro_store::{SessionStore, SettingsStore, StoreError};

/// Maximum number of naming calls per session.
const TRIES: u8 = 3;
/// Number of messages from the start of a session that its name is made from.
const MESSAGES: usize = 6;
/// Maximum length of each of them in the prompt, in characters.
const MESSAGE_CHARS: usize = 500;
/// Token limit of the answer. A name is short, but reasoning models need tokens before it.
const MAX_TOKENS: u32 = 400;
/// Timeout of a naming call, and of the wait for its slot.
const LIMIT: Duration = Duration::from_secs(60);

/// Names sessions. Cheap to clone. The pipeline calls it when a turn has ended.
#[derive(Debug, Clone)]
pub struct Namer {
    /// The store of sessions and of the titles of topics.
    pub sessions: SessionStore,
    /// The store of chat settings; gives the language of a chat.
    pub settings: SettingsStore,
    /// Calls the models and records their cost.
    pub ledger: Arc<Ledger>,
    /// The prompt templates, among them the one for naming.
    pub prompts: Arc<Prompts>,
    /// Sets the titles of topics once their session is named.
    pub channel: Arc<dyn Channel>,
    /// Tracks the calls in the background; ends them at a shutdown.
    pub background: TaskTracker,
    /// `true` if naming is switched on.
    pub is_on: bool,
    /// The sessions with a naming call in progress.
    pub busy: Arc<Mutex<HashSet<SessionId>>>,
}

/// A session that may need a name.
struct Unnamed {
    session: SessionId,
    model: ModelName,
    payer: Payer,
}

/// Reason why a session was not named.
#[derive(Debug, thiserror::Error)]
enum NamingError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Model(#[from] LedgerError),
    #[error("{0}")]
    Prompt(String),
}

impl Namer {
    /// Starts naming the session of an answered turn, unless it has a name. Returns at once. Runs of tasks are skipped:
    /// no person started a conversation there.
    pub(super) fn after(&self, turn: &ActiveTurn, question: &Question, outcome: &Outcome) {
        let Outcome::Answered(answer) = outcome else { return };
        let Some(asker) = question.asker().filter(|_| self.is_on && question.task.is_none()) else { return };
        let model = answer.pass.model.clone();
        let unnamed = Unnamed {
            session: turn.session,
            model: model.unwrap_or_else(|| self.ledger.models.default_model().clone()),
            payer: Payer::new(turn.conversation.chat, asker.user.clone()),
        };
        if !self.with_busy(|busy| busy.insert(unnamed.session)) {
            return;
        }
        let this = self.clone();
        let mut naming = Box::pin(async move {
            tokio::select! {
                () = this.background.stopping() => {}
                named = this.name(&unnamed) => if let Err(error) = named {
                    tracing::warn!(%error, session = %unnamed.session, "a session could not be named");
                },
            }
            this.with_busy(|busy| busy.remove(&unnamed.session));
        });
        // Most sessions have a name already, and need no task.
        if (&mut naming).now_or_never().is_none() {
            self.background.spawn("naming", naming);
        }
    }

    async fn name(&self, unnamed: &Unnamed) -> Result<(), NamingError> {
        if !self.ledger.has_spare() {
            return Ok(());
        }
        // Counted before the call, so that a stop in the middle does not repeat it for ever.
        let said = self.sessions.begin_naming(unnamed.session, TRIES, MESSAGES)?;
        let Some(said) = said.filter(|said| !said.is_empty()) else { return Ok(()) };
        let written = self.ask(unnamed, &said).await?;
        let made_of = said.iter().map(|message| message.index).collect();
        let Some(name) = SessionName::by_bot(&written, made_of) else {
            tracing::debug!(session = %unnamed.session, "the model gave no name");
            return Ok(());
        };
        let change = SessionChange { name: Some(name.clone()), ..SessionChange::default() };
        let named = self.sessions.change(unnamed.session, change).await?;
        match named {
            // If a person has named the session meanwhile, their name stays, also for the topic.
            Some(Session { name: Some(now), conversation, .. }) if now == name => {
                self.title(conversation, &name).await
            }
            _ => Ok(()),
        }
    }

    /// Asks the model for a name. Returns its text.
    async fn ask(&self, unnamed: &Unnamed, said: &[Message]) -> Result<String, NamingError> {
        let config = self.settings.chat_config(unnamed.payer.chat).unwrap_or_default();
        let view = NamingView { language: config.language };
        let instructions = self.prompts.naming(&view).map_err(NamingError::Prompt)?;
        let settings = Generation { max_tokens: Some(MAX_TOKENS), ..Generation::default() };
        let request = Request {
            settings,
            ..Request::new(unnamed.model.model.clone(), instructions, vec![Item::user(transcript(said))])
        };
        let written =
            self.ledger.background_text(&unnamed.model, request, unnamed.payer.clone(), LIMIT).await?;
        // A withheld answer is no name, and neither is a truncated one.
        Ok(written.unwrap_or_default())
    }

    /// Sets the title of a session's topic, if Telegram generated the current title and nobody has chosen another.
    async fn title(&self, topic: ConversationId, name: &SessionName) -> Result<(), NamingError> {
        if topic.topic.is_none() || !self.sessions.is_untitled(topic)? {
            return Ok(());
        }
        if self.channel.set_title(topic, &name.text).await {
            self.sessions.title_topic(topic)?;
        }
        Ok(())
    }

    fn with_busy<T>(&self, work: impl FnOnce(&mut HashSet<SessionId>) -> T) -> T {
        work(&mut self.busy.lock())
    }
}

/// Formats the first messages of a conversation for the model.
fn transcript(said: &[Message]) -> String {
    let line = |message: &Message| {
        let who = if message.role == MessageRole::User { "person" } else { "assistant" };
        let words = one_line(&message.text, MESSAGE_CHARS);
        let kinds = message.attachments.iter().map(|attachment| attachment.word());
        let words = if words.is_empty() { kinds.collect::<Vec<_>>().join(", ") } else { words };
        format!("<said by=\"{who}\">{}</said>", fence::text(&words))
    };
    let lines: Vec<String> = said.iter().map(line).collect();
    format!("<conversation>\n{}\n</conversation>", lines.join("\n"))
}
