//! The tool `draw`: draws a picture, or changes one that the person sent, replied to, or got last, and sends it to the chat.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use tokio::sync::Semaphore;
use tokio::time::timeout;

use super::counts::TurnCounts;
use super::{Tool, ToolContext, ToolDefinition, ToolError, ToolOutput, typed};
use crate::channel::{Channel, FileError, NewPicture, PictureError, SentPicture};
use figaro_base::ids::{ChatId, MessageId};
use figaro_base::text::one_line;
use figaro_domain::conversation::ConversationId;
use figaro_domain::tool::{Effect, SideEffects, StatusKey};
use figaro_ledger::{Drawing, Ledger, LedgerError};
use figaro_provider::paint::{Painter, PictureOrder, PictureShape};
use figaro_provider::{MediaPart, ProviderError};

/// Name of the tool.
pub const NAME: &str = "draw";
const ABOUT: &str = "Draws and sends a picture. edit: changes the one asked about.";
/// Maximum length of a description, in characters, as OpenAI's older models allow.
const MAX_PROMPT: usize = 4_000;
/// Timeout of a call: services draw for up to two minutes.
const TIMEOUT: Duration = Duration::from_secs(240);
/// Maximum length of what a service says about a refusal, in characters.
const MAX_REASON: usize = 300;
/// Maximum number of pictures of a turn.
const MAX_PICTURES: usize = 4;
/// Number of pictures that are drawn at once: each is in memory several times.
pub const AT_ONCE: usize = 4;
/// Time that a picture waits for its place.
const WAIT: Duration = Duration::from_secs(40);
/// Number of pictures whose file ids are known.
const PICTURES: usize = 1_000;

/// Dependencies of the tool.
#[derive(Debug, Clone)]
pub struct DrawTools {
    /// Draws the pictures; `None` if drawing is off.
    pub painter: Option<Arc<dyn Painter>>,
    /// Books what they cost.
    pub ledger: Arc<Ledger>,
    /// Sends pictures, and fetches those to change.
    pub channel: Arc<dyn Channel>,
    /// Last pictures of conversations.
    pub last: LastPictures,
    /// Pictures that the last turns have drawn.
    pub counts: TurnCounts,
    /// Places for pictures in memory, [`AT_ONCE`] of them.
    pub places: Arc<Semaphore>,
}

/// File ids of the last pictures of conversations, most recent last. They are lost at a restart.
#[derive(Debug, Clone, Default)]
pub struct LastPictures(Arc<Mutex<VecDeque<KnownPicture>>>);

/// Conversation, message of the bot that asks what should change in the picture, and its file id. Without such a message it
/// is the last picture.
type KnownPicture = (ConversationId, Option<MessageId>, String);

impl LastPictures {
    /// Sets the last picture of a conversation.
    pub(crate) fn set(&self, conversation: ConversationId, file_id: String) {
        self.keep(conversation, None, file_id);
    }

    /// Sets the picture that a message of the bot asks about.
    pub fn ask(&self, conversation: ConversationId, question: MessageId, file_id: String) {
        self.keep(conversation, Some(question), file_id);
    }

    fn keep(&self, conversation: ConversationId, question: Option<MessageId>, file_id: String) {
        if file_id.is_empty() {
            return;
        }
        let mut all = self.0.lock();
        all.retain(|(known, asks, _)| (*known, *asks) != (conversation, question));
        if all.len() == PICTURES {
            all.pop_front();
        }
        all.push_back((conversation, question, file_id));
    }

    /// Forgets the pictures of a chat.
    pub(crate) fn forget(&self, chat: ChatId) {
        self.0.lock().retain(|(known, ..)| known.chat != chat);
    }

    fn asked(&self, conversation: ConversationId, question: MessageId) -> Option<String> {
        self.find(conversation, Some(question))
    }

    fn of(&self, conversation: ConversationId) -> Option<String> {
        self.find(conversation, None)
    }

    fn find(&self, conversation: ConversationId, question: Option<MessageId>) -> Option<String> {
        let all = self.0.lock();
        let is_it = |(known, asks, _): &&KnownPicture| (*known, *asks) == (conversation, question);
        all.iter().find(is_it).map(|(.., file_id)| file_id.clone())
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct DrawArguments {
    prompt: String,
    #[serde(default)]
    #[schemars(with = "PictureSize")]
    size: Option<PictureSize>,
    #[serde(default)]
    #[schemars(with = "bool")]
    edit: Option<bool>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum PictureSize {
    Square,
    Wide,
    Tall,
}

/// Makes `draw(prompt, size?, edit?)`; `None` if drawing is off.
#[must_use]
pub(crate) fn tool(tools: &DrawTools) -> Option<Arc<dyn Tool>> {
    let painter = tools.painter.clone()?;
    let about = ToolDefinition::new(NAME, ABOUT, Effect::Write, StatusKey("tool_draw"));
    let (about, tools) = (about.of_chat().taking(TIMEOUT).sending(1), tools.clone());
    Some(typed(about, move |context: ToolContext, arguments: DrawArguments| {
        let (painter, tools) = (painter.clone(), tools.clone());
        async move { tools.draw(&*painter, &context, arguments).await }
    }))
}

impl DrawTools {
    async fn draw(
        &self,
        painter: &dyn Painter,
        context: &ToolContext,
        asked: DrawArguments,
    ) -> Result<ToolOutput, ToolError> {
        let prompt = asked.prompt.trim();
        if prompt.is_empty() || prompt.chars().count() > MAX_PROMPT {
            return Err(ToolError::ForModel(format!("prompt takes 1 to {MAX_PROMPT} characters")));
        }
        if !self.counts.has_room(context.run, MAX_PICTURES) {
            let words =
                format!("{MAX_PICTURES} pictures were drawn for this question already: that is enough");
            return Err(ToolError::ForModel(words));
        }
        let base = if asked.edit == Some(true) { Some(self.base(context).await?) } else { None };
        let shape = match asked.size {
            Some(PictureSize::Square) | None => PictureShape::Square,
            Some(PictureSize::Wide) => PictureShape::Wide,
            Some(PictureSize::Tall) => PictureShape::Tall,
        };
        context.take_sends(1)?;
        let order = PictureOrder { prompt: prompt.to_owned(), shape, base };
        let Ok(_place) = timeout(WAIT, self.places.acquire()).await else {
            context.give_back_sends(1);
            let words = "too many pictures are drawn just now, and this one was not begun: the person may ask again in a minute";
            return Err(ToolError::ForModel(words.to_owned()));
        };
        let within = context.tree.as_ref().map(|share| Drawing { tree: &share.tree, by: share.by });
        let drawn = self.ledger.paint(within, painter, order, context.payer()).await;
        let drawn = drawn.map_err(|error| {
            tracing::warn!(%error, label = error.label(), "a picture could not be drawn");
            reason(&error)
        });
        let (bytes, spent) = match drawn {
            Ok((Ok(bytes), spent)) => (bytes, spent),
            Ok((Err(words), _)) => {
                context.give_back_sends(1);
                return Err(ToolError::ForModel(refused(&words)));
            }
            Err(words) => {
                context.give_back_sends(1);
                return Err(ToolError::ForModel(words));
            }
        };
        let sent = self.send(context, bytes).await?;
        self.last.set(context.place.conversation(), sent.file_id);
        let value = json!({"success": true, "message_id": sent.message, "about": "The person sees it."});
        let side_effects = SideEffects { spent: Some(spent), shown: true, ..SideEffects::default() };
        Ok(ToolOutput { side_effects, ..value.into() })
    }

    /// Sends a picture that was drawn.
    async fn send(&self, context: &ToolContext, bytes: Vec<u8>) -> Result<SentPicture, ToolError> {
        let new = NewPicture {
            bytes,
            reply_to: context.asked.filter(|_| context.place.is_group()),
            language: context.language.clone(),
        };
        self.channel.send_picture(&context.place, new).await.map_err(|error| match error {
            PictureError::Refused(words) => {
                context.give_back_sends(1);
                ToolError::ForModel(format!(
                    "it was drawn and paid for, but Telegram refused it: {words}. Do not draw it again; tell the person"
                ))
            }
            PictureError::Unclear(words) => {
                ToolError::Unknown(format!("{words}. The picture may have been sent: do not draw it again"))
            }
        })
    }

    /// Returns the picture to change: of the question, of what it replies to, or the last one of the conversation.
    async fn base(&self, context: &ToolContext) -> Result<MediaPart, ToolError> {
        let conversation = context.place.conversation();
        let asked_about =
            context.replied.as_ref().and_then(|replied| self.last.asked(conversation, replied.message));
        let last = || self.last.of(conversation).filter(|_| !context.has_other_file);
        let missing = "there is no picture to change: ask the person to reply to the one they mean";
        let file_id = context.picture.clone().or(asked_about).or_else(last);
        let file_id = file_id.ok_or_else(|| ToolError::ForModel(missing.to_owned()))?;
        let bytes = self.channel.fetch(&file_id, MediaPart::MAX_BYTES).await.map_err(|error| {
            tracing::warn!(%error, "a picture to change could not be fetched");
            ToolError::ForModel(match error {
                FileError::TooBig => "the picture to change has more than 5 MB".to_owned(),
                FileError::Gone(_) | FileError::Unavailable(_) => format!("the picture to change: {error}"),
            })
        })?;
        let wrong = || ToolError::ForModel("the picture to change is no JPEG, PNG, WebP or GIF".to_owned());
        MediaPart::of(&bytes).ok_or_else(wrong)
    }
}

fn refused(words: &str) -> String {
    format!("the service refused it: {}", one_line(words, MAX_REASON))
}

/// Returns the reason for the model why nothing was drawn.
fn reason(error: &LedgerError) -> String {
    match error {
        LedgerError::OverBudget(_) => {
            "the budget leaves no room for a picture: tell the person; /budget shows the limits".to_owned()
        }
        LedgerError::Unpriced(_) => "the price of a picture is not known: an owner has to set it".to_owned(),
        LedgerError::Model(ProviderError::Refused(words)) => refused(words),
        LedgerError::Model(_) | LedgerError::Store | LedgerError::Slow | LedgerError::Busy => {
            "the service that draws does not answer as it should: the person may try again later".to_owned()
        }
    }
}
