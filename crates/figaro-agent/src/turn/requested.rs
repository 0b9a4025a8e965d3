//! What whoever asks from outside of Telegram has chosen for one turn: it counts before what their conversation is set to.

use std::sync::Arc;

use parking_lot::Mutex;

use super::run::Handed;
use crate::tools::Tool;
use figaro_base::ids::RequestId;
use figaro_domain::chat::{ChatConfig, PersonaChoice};
use figaro_domain::form::Form;
use figaro_domain::generation::Generation;
use figaro_domain::model::ModelName;
use figaro_provider::{Image, Item, Options};

/// What one request asks for beside its question.
#[derive(Debug, Default)]
pub struct Requested {
    /// The request.
    pub id: RequestId,
    /// The tenant of whoever asks.
    pub tenant: String,
    /// What client it came by, in the words of whoever asks.
    pub client: Option<String>,
    /// Nobody knows who asks: nothing is remembered of them.
    pub is_anonymous: bool,
    /// Nothing of it is kept.
    pub is_stateless: bool,
    /// Whoever asks waits to hear what is remembered of it, which is then read at once.
    pub hears_memory: bool,
    /// The agent that answers, by its name.
    pub agent: Option<String>,
    /// The model that answers.
    pub model: Option<ModelName>,
    /// The persona of a file, by its name.
    pub persona: Option<String>,
    /// What the model is told to be or to do.
    pub prompt: Option<String>,
    /// How the model is to write.
    pub settings: Generation,
    /// The form that the answer is to have.
    pub form: Option<Form>,
    /// What was said before the question, in the place of what is stored.
    pub history: Option<Vec<Item>>,
    /// What the turn has said and done already: whoever asks had a part of its calls to make.
    pub done: Vec<Item>,
    /// The pictures that go with the question.
    pub images: Vec<Image>,
    /// What the answer is bound to. Where the model has to call a tool, it is one of [`Self::tools`].
    pub options: Options,
    /// The tools that whoever asks has.
    pub tools: Vec<Arc<dyn Tool>>,
    /// What the turn leaves to whoever asks, once it is over.
    pub left: Arc<Left>,
}

/// What a turn leaves to whoever asks.
#[derive(Debug, Default)]
pub struct Left(Mutex<Option<Handed>>);

/// A request is like no other.
impl PartialEq for Requested {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl Requested {
    /// The settings of a conversation with what was chosen here in their place.
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

impl Left {
    /// The turn leaves this to whoever asks.
    pub(super) fn hand(&self, handed: Handed) {
        *self.0.lock() = Some(handed);
    }

    /// What the turn has left, once it is over. It is given once: it may be long, and has one keeper.
    #[must_use]
    pub fn take(&self) -> Option<Handed> {
        self.0.lock().take()
    }
}
