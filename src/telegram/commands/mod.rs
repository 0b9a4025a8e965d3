//! Commands and buttons: what acts at once, beside any turn. One file a family; this one dispatches and shows cards.

mod access;
mod basic;
mod card;
mod config;
mod model;
mod notes;
mod retry;
mod status;
mod tasks;
mod undo;
mod usage;
mod zone;

pub use card::Card;
pub use retry::action_buttons;
pub use tasks::task_card;
pub use undo::{settings_card, unreadable_card};
pub use zone::Clocks;

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use chrono::{DateTime, Utc};
use chrono_tz::Tz;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::api::{AnswerCallbackQuery, SetMyCommands};
use super::inbound::{Command, Me, place, speaker_of};
use super::send::{Outgoing, Sender, Unsent};
use super::views::CallbackView;
use crate::config::AccessSettings;
use crate::domain::chat::Place;
use crate::domain::message::{Inbound, Speaker};
use crate::domain::note::Note;
use crate::ids::{ChatId, MessageId, NoteId, UpdateId};
use crate::ledger::Ledger;
use crate::mcp::supervisor::Mcp;
use crate::outbound::Urgency;
use crate::policy::access::{Admins, Standing, Verdict, judge, may_change};
use crate::prompts::Prompts;
use crate::prompts::texts::{Locales, Texts, fill};
use crate::store::{Store, StoreError};
use crate::telemetry::vitals::Vitals;
use crate::turn::question::Question;
use crate::turn::queue::admission::{Full, MAX_IN_CONVERSATION, MAX_OF_PERSON, Slot};
use crate::turn::queue::{Mailboxes, Posted};
use card::{Pressed, ROWS, pager};

/// The commands everybody gets listed, in this order.
const LISTED: [&str; 12] = [
    "start", "help", "new", "retry", "stop", "notes", "tasks", "model", "config", "timezone", "usage",
    "status",
];
/// Commands for owners, listed by `/help` alone.
const UNLISTED: [&str; 2] = ["allow", "deny"];
/// What the button that asks the example sends.
const EXAMPLE: &str = "start:example";

/// Everything commands work on.
#[derive(Debug)]
pub struct Commands {
    /// Sends and edits.
    pub sender: Sender,
    /// All that is stored.
    pub store: Arc<dyn Store>,
    /// Texts.
    pub locales: Arc<Locales>,
    /// The agents that a chat can choose.
    pub prompts: Arc<Prompts>,
    /// Who administers a chat.
    pub admins: Arc<dyn Admins>,
    /// Who may talk.
    pub access: AccessSettings,
    /// The bot.
    pub me: Me,
    /// What models there are and what they have cost.
    pub ledger: Arc<Ledger>,
    /// The most tasks of a chat.
    pub tasks_per_chat: usize,
    /// The zone of chats that set none.
    pub default_zone: Tz,
    /// How the bot is doing.
    pub vitals: Arc<Vitals>,
    /// The MCP server.
    pub mcp: Mcp,
    /// Notes removed by a button within the last minute, which can be put back.
    pub removed: Mutex<HashMap<NoteId, (DateTime<Utc>, Note)>>,
    /// Messages under which a button that begins a turn was pressed within the last minute.
    pub pressed: Mutex<HashMap<(ChatId, MessageId), DateTime<Utc>>>,
}

/// Who gave a command or pressed a button, and where.
#[derive(Debug, Clone)]
pub struct Asker {
    /// Where.
    pub place: Place,
    /// Who.
    pub speaker: Speaker,
    /// The language of their client.
    pub language: Option<String>,
    /// What they may do.
    pub standing: Standing,
    /// The message to answer in a group.
    pub message: Option<MessageId>,
}

impl Asker {
    /// The writer of a message.
    #[must_use]
    pub fn new(part: &Inbound, standing: Standing) -> Self {
        Self {
            place: part.place.clone(),
            speaker: part.speaker.clone(),
            language: part.language.clone(),
            standing,
            message: Some(part.message),
        }
    }
}

impl Commands {
    /// Whether there is a command of this name.
    #[must_use]
    pub fn knows(name: &str) -> bool {
        LISTED.contains(&name) || UNLISTED.contains(&name)
    }

    /// Does what a command says and gives what is to be shown for it.
    pub async fn run(&self, command: &Command, asker: &Asker, mailboxes: &Mailboxes) -> Card {
        let done = match command.name.as_str() {
            "start" => Ok(self.start(asker, &command.argument)),
            "help" => Ok(self.help(asker)),
            "new" => self.new_session(asker).await,
            "stop" => Ok(self.stop(asker, mailboxes)),
            "notes" => self.notes_card(asker, 0).await,
            "tasks" => self.tasks_card(asker, 0).await,
            "config" => self.config_command(asker, &command.argument).await,
            "model" => self.model_command(asker, &command.argument).await,
            "timezone" => self.timezone_command(asker, &command.argument).await,
            "usage" => self.usage(asker).await,
            "status" => self.status(asker, mailboxes).await,
            "allow" | "deny" => self.change_access(asker, command).await,
            _ => Ok(Card::text(&self.texts(asker).unknown_command)),
        };
        done.unwrap_or_else(|error| self.failed(asker, &error))
    }

    /// Whether later messages depend on what a command does, so that it is done before they are looked at.
    #[must_use]
    pub fn is_immediate(name: &str) -> bool {
        ["new", "stop"].contains(&name)
    }

    /// Shows a card as a new message; in a group as an answer to the command. An owner's does not wait behind answers to
    /// others. `false` if the bot stops meanwhile.
    pub async fn show(&self, asker: &Asker, card: Card) -> bool {
        self.send_card(asker, card, urgency(asker)).await
    }

    /// Shows a card that nobody waits for, once no answer waits. `false` if the bot stops meanwhile.
    pub async fn notify(&self, asker: &Asker, card: Card) -> bool {
        self.send_card(asker, card, Urgency::Notice).await
    }

    async fn send_card(&self, asker: &Asker, card: Card, urgency: Urgency) -> bool {
        let reply_to = asker.message.filter(|_| asker.place.is_group());
        let message = Outgoing { reply_to, urgency, ..card.outgoing() };
        match self.sender.send(&asker.place, &message, &CancellationToken::new()).await {
            Ok(_) => true,
            Err(Unsent::Stopping) => false,
            Err(unsent) => {
                tracing::warn!(chat = %asker.place.chat, ?unsent, "a card could not be shown");
                true
            }
        }
    }

    /// Answers a press that nothing is done for, and says what there is no room in, if anything.
    pub async fn answer_quietly(&self, view: &CallbackView, full: Option<Full>) {
        let texts = self.locales.of(view.from.language_code.as_deref());
        self.answer(&view.id, full.map(|full| no_room(texts, full)).as_deref()).await;
    }

    /// What is shown to someone whose message was not kept.
    #[must_use]
    pub fn no_room(&self, asker: &Asker, full: Full) -> Card {
        Card::text(no_room(self.texts(asker), full))
    }

    /// Does what a button says; it always gets an answer, a stale one too. What asks something goes into its lane with
    /// the place of the press; where an owner's has none, only that is refused. `true` if the update is dealt with, and
    /// no turn settles it.
    pub async fn press(
        &self,
        update: UpdateId,
        view: &CallbackView,
        mailboxes: &Mailboxes,
        slot: Result<Slot, Full>,
    ) -> bool {
        let Ok(Some((asker, card_id))) = self.asker_of(view).await else {
            self.answer(&view.id, None).await;
            return true;
        };
        let data = view.data.as_deref().unwrap_or_default();
        match self.is_current(data, &asker).await {
            Ok(true) => {}
            Ok(false) => return self.gone(view, &asker, card_id).await,
            Err(error) => {
                self.answer(&view.id, Some(&self.failed(&asker, &error).body)).await;
                return true;
            }
        }
        let Some(job) = self.job_of(update, data, &asker).await else {
            self.press_card(view, (&asker, card_id), mailboxes).await;
            return true;
        };
        if data != EXAMPLE && !self.is_first(&asker, card_id) {
            return self.gone(view, &asker, card_id).await;
        }
        let slot = match slot {
            Ok(slot) => slot,
            Err(full) => {
                self.answer_quietly(view, Some(full)).await;
                return true;
            }
        };
        // First of all: what is written next must not come before it.
        mailboxes.post(asker.place.conversation(), Posted::new(job, Some(slot)));
        if data == EXAMPLE {
            self.answer(&view.id, Some(&self.texts(&asker).example_question)).await;
        } else {
            self.answer(&view.id, None).await;
            self.without_buttons(&asker, card_id).await;
        }
        false
    }

    /// Does what a button of a card says.
    async fn press_card(
        &self,
        view: &CallbackView,
        (asker, card_id): (&Asker, MessageId),
        mailboxes: &Mailboxes,
    ) {
        let data = view.data.as_deref().unwrap_or_default();
        let pressed = match self.act(data, asker, mailboxes).await {
            Ok(pressed) => pressed,
            Err(error) => Pressed::card(self.failed(asker, &error)),
        };
        self.answer(&view.id, pressed.toast.as_deref()).await;
        if let Some(card) = pressed.card {
            let message = Outgoing { urgency: urgency(asker), ..card.outgoing() };
            self.sender.edit(&asker.place, card_id, &message).await;
        }
    }

    /// The question that a press asks, as it was before a restart; of a further try, who asked for it.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn question_of(
        &self,
        update: UpdateId,
        view: &CallbackView,
    ) -> Result<Option<Question>, StoreError> {
        let Some((asker, _)) = self.asker_of(view).await? else { return Ok(None) };
        Ok(self.question_behind(update, view.data.as_deref().unwrap_or_default(), &asker))
    }

    /// Answers a press that comes too late, and takes the buttons off.
    async fn gone(&self, view: &CallbackView, asker: &Asker, message: MessageId) -> bool {
        self.answer(&view.id, Some(&self.texts(asker).gone)).await;
        self.without_buttons(asker, message).await;
        true
    }

    async fn act(&self, data: &str, asker: &Asker, mailboxes: &Mailboxes) -> Result<Pressed, StoreError> {
        let (family, rest) = data.split_once(':').unwrap_or((data, ""));
        match family {
            "start" => self.press_start(rest, asker).await,
            "notes" => self.press_notes(rest, asker).await,
            "tasks" => self.press_tasks(rest, asker, mailboxes).await,
            "config" => self.press_config(rest, asker).await,
            "undo" => self.press_undo(rest, asker).await,
            "zone" => self.press_zone(rest, asker).await,
            "model" => self.press_model(rest, asker).await,
            "retry" => Ok(self.press_retry(data, asker).await),
            "usage" => self.press_usage(rest, asker).await,
            "status" => Ok(Pressed::card(self.status(asker, mailboxes).await?)),
            _ => Ok(Pressed::toast(&self.texts(asker).gone)),
        }
    }

    /// Who pressed, if they may; and the message with the button.
    async fn asker_of(&self, view: &CallbackView) -> Result<Option<(Asker, MessageId)>, StoreError> {
        let Some(message) = view.message.as_ref() else { return Ok(None) };
        let (place, speaker) = (place(message), speaker_of(&view.from));
        let list = self.store.access().await.inspect_err(|error| {
            tracing::error!(%error, label = error.label(), "whether someone may press a button could not be looked up");
        })?;
        let Verdict::Allow(standing) = judge(&self.access, &list, &place, &speaker.user) else {
            return Ok(None);
        };
        let id = MessageId(message.message_id);
        let language = view.from.language_code.clone();
        Ok(Some((Asker { place, speaker, language, standing, message: Some(id) }, id)))
    }

    async fn answer(&self, callback: &str, toast: Option<&str>) {
        let mut body = json!({"callback_query_id": callback});
        if let Some(text) = toast {
            body["text"] = json!(crate::text::one_line(text, 190));
        }
        if let Err(error) = self.sender.api.call(AnswerCallbackQuery(body)).await {
            tracing::debug!(%error, "a button press could not be answered");
        }
    }

    /// Registers the list of commands with Telegram, for each language.
    pub async fn register(&self) {
        for (tag, texts) in self.locales.all() {
            let entries: HashMap<&str, &str> = texts.entries().into_iter().collect();
            let list: Vec<Value> = LISTED
                .iter()
                .filter_map(|name| {
                    let about = entries.get(format!("command_{name}").as_str())?;
                    Some(json!({"command": name, "description": about}))
                })
                .collect();
            // English is also what everybody else sees.
            let body = match tag {
                "en" => json!({"commands": list}),
                other => json!({"commands": list, "language_code": other}),
            };
            if let Err(error) = self.sender.api.call(SetMyCommands(body)).await {
                tracing::warn!(%error, language = tag, "the list of commands could not be registered");
            }
        }
    }

    /// The model that answers where no chat has chosen another.
    #[must_use]
    pub fn default_model(&self) -> String {
        self.ledger.models.default_model().to_string()
    }

    fn texts(&self, asker: &Asker) -> &Texts {
        self.locales.of(asker.language.as_deref())
    }

    fn now(&self) -> DateTime<Utc> {
        self.sender.clock.now()
    }

    fn failed(&self, asker: &Asker, error: &StoreError) -> Card {
        tracing::error!(%error, label = error.label(), "a command could not use the store");
        self.vitals.failed(self.now(), error.label());
        let texts = self.texts(asker);
        // A store that failed cannot settle the update either: the next start deals with it.
        let is_kept = matches!(error, StoreError::Failed { .. });
        Card::text(if is_kept { &texts.trouble_kept } else { &texts.trouble_internal })
    }

    /// Whether someone may change what holds for the whole chat.
    async fn may_change(&self, asker: &Asker) -> bool {
        may_change(&*self.admins, asker.standing, &asker.place, &asker.speaker.user).await
    }
}

/// What an owner asks for does not wait behind answers to others.
const fn urgency(asker: &Asker) -> Urgency {
    match asker.standing {
        Standing::Owner => Urgency::First,
        Standing::Member | Standing::Borrowed => Urgency::Answer,
    }
}

/// Why a message was not kept, and what to do.
fn no_room(texts: &Texts, full: Full) -> String {
    match full {
        Full::Person => fill(&texts.no_room_person, &[("count", &MAX_OF_PERSON.to_string())]),
        Full::Conversation => fill(&texts.no_room_chat, &[("count", &MAX_IN_CONVERSATION.to_string())]),
        Full::All => texts.no_room_all.clone(),
    }
}
