//! Choices of an API request for one turn. They override the settings of the conversation.

use std::sync::Arc;

use parking_lot::Mutex;

use super::run::Handed;
use crate::tools::Tool;
use figaro_base::ids::RequestId;
use figaro_domain::chat::{ChatConfig, PersonaChoice};
use figaro_domain::document::{Document, Passage};
use figaro_domain::form::Form;
use figaro_domain::generation::Generation;
use figaro_domain::model::ModelName;
use figaro_provider::{AnswerOptions, Item, MediaPart};

/// Options of one request from outside Telegram.
#[derive(Debug, Default)]
pub struct Requested {
    /// Id of the request; requests are compared by it.
    pub id: RequestId,
    /// Tenant of the requester; scopes their data.
    pub tenant: String,
    /// Name of the client, as the requester gives it.
    pub client: Option<String>,
    /// Name of the requester's key; limits on spending may be set for it.
    pub key: Option<String>,
    /// `true` if the requester is unknown. Nothing is remembered about them.
    pub is_anonymous: bool,
    /// `true` if neither the question nor the answer is stored after the turn.
    pub is_stateless: bool,
    /// `true` if the requester waits for the result of fact extraction, which then starts at once.
    pub hears_memory: bool,
    /// Name of the agent that answers; `None` for the conversation's.
    pub agent: Option<String>,
    /// Model that answers; `None` for the conversation's.
    pub model: Option<ModelName>,
    /// Name of a persona from a file; `None` for the conversation's.
    pub persona: Option<String>,
    /// Custom instructions for the model; `None` for the conversation's.
    pub prompt: Option<String>,
    /// Generation settings for the model. They override those of the conversation.
    pub settings: Generation,
    /// Form that the answer must have.
    pub form: Option<Form>,
    /// Messages before the question. They replace the stored history.
    pub history: Option<Vec<Item>>,
    /// Items of the turn so far, if the requester made some of its calls itself.
    pub done: Vec<Item>,
    /// Pictures that belong to the question.
    pub images: Vec<MediaPart>,
    /// Files that belong to the question.
    pub files: Vec<RequestedFile>,
    /// Constraints on the answer. If the model must call a tool, it is one of [`Self::tools`].
    pub options: AnswerOptions,
    /// Tools that the requester provides and runs itself.
    pub tools: Vec<Arc<dyn Tool>>,
    /// Calls that the turn hands over to the requester when it is over.
    pub left: Arc<HandoverSlot>,
}

/// A file of a request.
#[derive(Debug, Clone, PartialEq)]
pub enum RequestedFile {
    /// Content that comes with the request.
    Content {
        /// Name that the requester gave it.
        name: String,
        /// Hash of the content.
        unique_id: String,
        /// Content of the file, as it was sent.
        bytes: Vec<u8>,
    },
    /// A document that was stored before, with its text.
    Stored(Box<Document>, Vec<Passage>),
}

/// Slot for the calls that a turn hands over to the requester.
#[derive(Debug, Default)]
pub struct HandoverSlot(Mutex<Option<Handed>>);

/// Requests are equal if their ids are.
impl PartialEq for Requested {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl Requested {
    /// Returns the settings of the conversation, overridden by the choices of this request.
    pub(super) fn over(&self, config: ChatConfig) -> ChatConfig {
        ChatConfig {
            agent: self.agent.clone().or(config.agent),
            model: self.model.clone().or(config.model),
            persona: self.persona.clone().map(PersonaChoice::File).or(config.persona),
            custom_prompt: self.prompt.clone().or(config.custom_prompt),
            settings: Generation::nearest([self.settings, config.settings]),
            ..config
        }
    }
}

impl HandoverSlot {
    /// Stores the handed-over calls for the requester.
    pub(super) fn hand(&self, handed: Handed) {
        *self.0.lock() = Some(handed);
    }

    /// Takes the handed-over calls, once the turn is over. They may be long, so they are returned only once.
    #[must_use]
    pub fn take(&self) -> Option<Handed> {
        self.0.lock().take()
    }
}
