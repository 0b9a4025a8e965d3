//! Names sessions after their first exchange, in the background: one short call of a model, which no turn waits for. It counts
//! to the caps of the day and is left out where little of them is left. What fails is tried again after the next exchange.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;

use super::outcome::Outcome;
use super::question::Question;
use crate::channel::Channel;
use figaro_base::ids::SessionId;
use figaro_base::shutdown::TaskTracker;
use figaro_base::text::one_line;
use figaro_domain::conversation::{Conversation, Message, Role, Session};
use figaro_domain::generation::Generation;
use figaro_domain::model::ModelName;
use figaro_domain::session::{SessionChange, SessionName};
use figaro_domain::turn::ActiveTurn;
use figaro_domain::usage::Payer;
use figaro_ledger::{Ledger, LedgerError};
use figaro_prompts::{NamingView, Prompts, fence};
use figaro_provider::{Item, Request};
use figaro_store::{SessionStore, SettingsStore, StoreError};

/// So often a model is asked for the name of a session.
const TRIES: u8 = 3;
/// So many messages from the first on say what a session is about.
const MESSAGES: usize = 6;
/// So much of each.
const MESSAGE_CHARS: usize = 500;
/// The bound on the answer: a name is short, and models that reason do so before it.
const MAX_TOKENS: u32 = 400;
/// How long all of it may take.
const LIMIT: Duration = Duration::from_secs(60);

/// Names sessions. Cheap to clone; the pipeline calls it when a turn has ended.
#[derive(Debug, Clone)]
pub struct Namer {
    /// The sessions, and the topics that they are in.
    pub sessions: SessionStore,
    /// The language that a chat has set.
    pub settings: SettingsStore,
    /// The way to the models.
    pub ledger: Arc<Ledger>,
    /// What the model is told.
    pub prompts: Arc<Prompts>,
    /// Gives topics their titles.
    pub channel: Arc<dyn Channel>,
    /// Tracks the calls: they end when it is asked to stop.
    pub background: TaskTracker,
    /// Whether sessions are named at all.
    pub is_on: bool,
    /// The sessions whose name is being asked for.
    pub busy: Arc<Mutex<HashSet<SessionId>>>,
}

/// A session that may need a name.
struct Unnamed {
    session: SessionId,
    model: ModelName,
    payer: Payer,
}

/// Why a session was not named.
#[derive(Debug, thiserror::Error)]
enum Failed {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Model(#[from] LedgerError),
    #[error("{0}")]
    Prompt(String),
}

impl Namer {
    /// Has the session of a turn named that was answered, unless it has a name. Returns at once. The runs of tasks name
    /// nothing: nobody has begun to talk.
    pub(super) fn after(&self, turn: &ActiveTurn, question: &Question, outcome: &Outcome) {
        let Outcome::Answered(answer) = outcome else { return };
        let Some(asker) = question.asker().filter(|_| self.is_on && question.task.is_none()) else { return };
        let model = answer.pass.model.clone();
        let unnamed = Unnamed {
            session: turn.session,
            model: model.unwrap_or_else(|| self.ledger.models.default_model().clone()),
            payer: Payer { chat: turn.conversation.chat, user: asker.user.clone() },
        };
        if !self.with_busy(|busy| busy.insert(unnamed.session)) {
            return;
        }
        let this = self.clone();
        self.background.spawn("naming", async move {
            tokio::select! {
                () = this.background.stopping() => {}
                named = this.name(&unnamed) => if let Err(error) = named {
                    tracing::warn!(%error, session = %unnamed.session, "a session could not be named");
                },
            }
            this.with_busy(|busy| busy.remove(&unnamed.session));
        });
    }

    async fn name(&self, unnamed: &Unnamed) -> Result<(), Failed> {
        if !self.ledger.has_spare() {
            return Ok(());
        }
        // Counted before the call, so that a stop in the middle does not have it made again for ever.
        let said = self.sessions.begin_naming(unnamed.session, TRIES, MESSAGES).await?;
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
            // A person who has named it meanwhile keeps their word, for the topic too.
            Some(Session { name: Some(now), conversation, .. }) if now == name => {
                self.title(conversation, &name).await
            }
            _ => Ok(()),
        }
    }

    /// Asks the model for a name; gives what it wrote.
    async fn ask(&self, unnamed: &Unnamed, said: &[Message]) -> Result<String, Failed> {
        let config = self.settings.chat_config(unnamed.payer.chat).await.unwrap_or_default();
        let view = NamingView { language: config.language };
        let instructions = self.prompts.naming(&view).map_err(Failed::Prompt)?;
        let settings = Generation { max_tokens: Some(MAX_TOKENS), ..Generation::default() };
        let request = Request {
            settings,
            ..Request::new(unnamed.model.model.clone(), instructions, vec![Item::user(transcript(said))])
        };
        let written =
            self.ledger.background_text(&unnamed.model, request, unnamed.payer.clone(), LIMIT).await?;
        // What is withheld is no name, and the beginning of one is none either.
        Ok(written.text.unwrap_or_default())
    }

    /// Gives the topic of a session its name, where Telegram made the title up and nobody has chosen another.
    async fn title(&self, topic: Conversation, name: &SessionName) -> Result<(), Failed> {
        if topic.topic.is_none() || !self.sessions.is_untitled(topic).await? {
            return Ok(());
        }
        if self.channel.set_title(topic, &name.text).await {
            self.sessions.title_topic(topic).await?;
        }
        Ok(())
    }

    fn with_busy<T>(&self, work: impl FnOnce(&mut HashSet<SessionId>) -> T) -> T {
        work(&mut self.busy.lock())
    }
}

/// How a conversation began, as a model reads it.
fn transcript(said: &[Message]) -> String {
    let line = |message: &Message| {
        let who = if message.role == Role::User { "person" } else { "assistant" };
        let words = one_line(&message.text, MESSAGE_CHARS);
        let kinds = message.attachments.iter().map(|attachment| attachment.word());
        let words = if words.is_empty() { kinds.collect::<Vec<_>>().join(", ") } else { words };
        format!("<said by=\"{who}\">{}</said>", fence::text(&words))
    };
    let lines: Vec<String> = said.iter().map(line).collect();
    format!("<conversation>\n{}\n</conversation>", lines.join("\n"))
}
