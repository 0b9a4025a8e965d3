//! `/pin`: pins its argument, or the message that it replies to; and the buttons that pin an answer.

use async_trait::async_trait;

use super::super::asker::Asker;
use super::super::card::Card;
use super::super::cards::Cards;
use super::super::command::{
    Command, CommandOutcome, CommandRequest, CommandSpec, Group, Press, PressError, Pressed,
};
use super::super::handles::Handles;
use crate::callback::{ButtonFamily, KeepAnswerButton};
use crate::send::Button;
use figaro_base::ids::{MessageId, PinId};
use figaro_base::text::one_line;
use figaro_domain::conversation::{Message, MessageRole};
use figaro_domain::message::{Quoted, Speaker};
use figaro_domain::pin::{DEFAULT_IMPORTANCE, MAX_PINS, Pin};
use figaro_domain::pinning::{fitted, importance_of, kind_of};
use figaro_prompts::texts::{Texts, fill};
use figaro_store::{ConversationStore, PinAdded, PinStore, StoreError};

/// Maximum length of a pin in a confirmation, in characters.
const SHOWN_CHARS: usize = 200;

#[derive(Debug)]
pub(in super::super) struct PinCommand {
    cards: Cards,
    store: PinStore,
    conversations: ConversationStore,
}

/// Text to pin, with its source.
#[derive(Debug, Default)]
struct PinRequest<'a> {
    words: &'a str,
    /// Author of the text; `None` for the bot.
    speaker: Option<&'a Speaker>,
    /// Telegram message that contains the text.
    telegram: Option<MessageId>,
    stored: Option<&'a Message>,
    is_part: bool,
}

#[async_trait]
impl Command for PinCommand {
    fn spec(&self) -> CommandSpec {
        CommandSpec::new("pin", Texts::command_pin)
            .group(Group::Remember)
            .families(&[KeepAnswerButton::NAME])
            .arguments(&[("TEXT", "keep this text in mind")])
    }

    async fn run(&self, request: &CommandRequest<'_>) -> Result<CommandOutcome, StoreError> {
        let asker = request.asker;
        if !request.argument().is_empty() {
            let wanted = PinRequest {
                words: request.argument(),
                speaker: Some(&asker.speaker),
                telegram: request.message.origin.message(),
                ..PinRequest::default()
            };
            return self.pin(asker, &wanted).await.map(CommandOutcome::Card);
        }
        match &request.message.quotes {
            Some(quoted) => self.pin_quoted(asker, quoted, request.replied).await.map(CommandOutcome::Card),
            None => Ok(Card::text(self.cards.texts(asker).pin_usage()).into()),
        }
    }

    async fn press(&self, press: &Press<'_>) -> Result<Pressed, PressError> {
        let (asker, texts) = (press.asker, self.cards.texts(press.asker));
        Ok(match press.data.parse()? {
            KeepAnswerButton::Ask => self.ask(asker, press.message).await,
            KeepAnswerButton::Yes(message) => match self.answer(asker, message).await? {
                Some(card) => Pressed::card(card),
                None => Pressed::both(texts.gone(), Card::text(texts.gone())),
            },
            KeepAnswerButton::No => Pressed::card(Card::text(texts.pin_not())),
            KeepAnswerButton::Undo(pin) => self.undo(asker, pin).await?,
        })
    }
}

impl PinCommand {
    pub(in super::super) fn new(handles: &Handles) -> Self {
        Self {
            cards: handles.cards.clone(),
            store: handles.store.pins(),
            conversations: handles.store.conversations(),
        }
    }

    /// Pins the quoted message, or the marked part of it. An answer in several messages is pinned as a whole.
    async fn pin_quoted(
        &self,
        asker: &Asker,
        quoted: &Quoted,
        speaker: Option<&Speaker>,
    ) -> Result<Card, StoreError> {
        let stored = match quoted.message {
            Some(message) => self.store.carried_by(asker.place.conversation(), message)?,
            None => None,
        };
        let whole = stored.as_ref().filter(|stored| stored.role == MessageRole::Assistant);
        let words = whole.map_or(quoted.text.as_str(), |answer| answer.text.as_str());
        let wanted = PinRequest {
            words: quoted.excerpt.as_deref().unwrap_or(words),
            speaker,
            telegram: quoted.message,
            stored: stored.as_ref(),
            is_part: quoted.excerpt.is_some(),
        };
        self.pin(asker, &wanted).await
    }

    async fn pin(&self, asker: &Asker, wanted: &PinRequest<'_>) -> Result<Card, StoreError> {
        let texts = self.cards.texts(asker);
        let Some(content) = fitted(wanted.words) else { return Ok(Card::text(texts.pin_no_words())) };
        let now = self.cards.now();
        let session = self.conversations.session(asker.place.conversation(), now)?;
        let of_person = wanted.speaker.and_then(|_| importance_of(wanted.words));
        let pin = Pin {
            source_message_id: wanted.stored.map(|stored| stored.id),
            source: wanted.stored.map(Message::key),
            telegram: wanted.telegram,
            importance: of_person.unwrap_or(DEFAULT_IMPORTANCE),
            pin_type: kind_of(&content),
            author: wanted.speaker.map(|speaker| speaker.user.clone()),
            name: wanted.speaker.map(|speaker| speaker.name.clone()),
            is_part: wanted.is_part,
            ..Pin::new(asker.place.chat, session.id, content, now)
        };
        Ok(match self.store.add(&pin).await? {
            PinAdded::New => {
                let undo = vec![Button::new(texts.button_undo(), KeepAnswerButton::Undo(pin.id))];
                Card::text(fill(texts.pin_done(), &[("text", &shown(&pin))])).row(undo)
            }
            PinAdded::Already(_) => Card::text(texts.pin_already()),
            PinAdded::Full => Card::text(fill(texts.pin_full(), &[("count", &MAX_PINS.to_string())])),
        })
    }

    /// Asks for confirmation to pin an answer, in a new message, so that the answer stays as it is.
    async fn ask(&self, asker: &Asker, answer: MessageId) -> Pressed {
        let texts = self.cards.texts(asker);
        let choice = vec![
            Button::new(texts.button_yes(), KeepAnswerButton::Yes(answer)),
            Button::new(texts.button_no(), KeepAnswerButton::No),
        ];
        self.cards.without_buttons(asker, answer).await;
        self.cards.show(asker, Card::text(texts.pin_ask()).row(choice)).await;
        Pressed::Shown { toast: None, card: None }
    }

    /// Pins an answer; `None` if it is no longer stored.
    async fn answer(&self, asker: &Asker, answer: MessageId) -> Result<Option<Card>, StoreError> {
        let found = self.store.carried_by(asker.place.conversation(), answer)?;
        let Some(stored) = found.filter(|found| found.role == MessageRole::Assistant) else {
            return Ok(None);
        };
        let telegram = Some(answer);
        let wanted =
            PinRequest { words: &stored.text, telegram, stored: Some(&stored), ..PinRequest::default() };
        self.pin(asker, &wanted).await.map(Some)
    }

    async fn undo(&self, asker: &Asker, pin: PinId) -> Result<Pressed, StoreError> {
        let texts = self.cards.texts(asker);
        Ok(match self.store.remove(asker.place.chat, pin).await? {
            Some(pin) => Pressed::card(Card::text(fill(texts.pin_undone(), &[("text", &shown(&pin))]))),
            None => Pressed::both(texts.gone(), Card::text(texts.gone())),
        })
    }
}

/// Shortens a pin for a card.
fn shown(pin: &Pin) -> String {
    one_line(&pin.content, SHOWN_CHARS)
}
