//! `/pins`: lists the pins of a chat, most important first. Each opens as a card with buttons to change it.

mod card;
mod pin;
mod source;

use async_trait::async_trait;
use figaro_base::tz::Tz;

use self::card::PinCards;
pub(super) use self::pin::PinCommand;
use super::asker::Asker;
use super::card::Card;
use super::cards::Cards;
use super::command::{
    Command, CommandOutcome, CommandRequest, CommandSpec, Group, Press, PressError, Pressed,
};
use super::handles::Handles;
use super::removed::RecentlyRemoved;
use crate::callback::{self, ButtonFamily, Page};
use crate::send::Button;
use figaro_base::ids::PinId;
use figaro_domain::pin::Pin;
use figaro_prompts::texts::{Texts, fill};
use figaro_store::{PinStore, SettingsStore, StoreError};

/// Shows, weights and removes the pins of a chat.
#[derive(Debug)]
pub(super) struct PinsCommand {
    cards: Cards,
    store: PinStore,
    settings: SettingsStore,
    default_zone: Tz,
    /// Pins that were just removed by a button and can be restored.
    removed: RecentlyRemoved<PinId, Pin>,
}

#[async_trait]
impl Command for PinsCommand {
    fn spec(&self) -> CommandSpec {
        CommandSpec::new("pins", Texts::command_pins)
            .group(Group::Remember)
            .families(&[callback::PinsButton::NAME])
    }

    async fn run(&self, request: &CommandRequest<'_>) -> Result<CommandOutcome, StoreError> {
        self.list(request.asker, 0).map(CommandOutcome::Card)
    }

    async fn press(&self, press: &Press<'_>) -> Result<Pressed, PressError> {
        let asker = press.asker;
        Ok(match press.data.parse()? {
            callback::PinsButton::List(page) => Pressed::card(self.list(asker, page)?),
            callback::PinsButton::Open(pin, page) => self.open(asker, pin, page).await?,
            callback::PinsButton::More(pin, page) => self.weigh(asker, pin, page, 1.0).await?,
            callback::PinsButton::Less(pin, page) => self.weigh(asker, pin, page, -1.0).await?,
            callback::PinsButton::Remove(pin, page) => self.remove(asker, pin, page).await?,
            callback::PinsButton::Undo(pin, page) => self.undo(asker, pin, page).await?,
            callback::PinsButton::Source(pin) => self.point_at_source(asker, pin).await?,
        })
    }
}

impl PinsCommand {
    pub(super) fn new(handles: &Handles) -> Self {
        let removed = RecentlyRemoved::after(handles.eraser.erasures.clone());
        Self {
            cards: handles.cards.clone(),
            store: handles.store.pins(),
            settings: handles.store.settings(),
            default_zone: handles.default_zone,
            removed,
        }
    }

    fn drawn(&self, asker: &Asker) -> Result<PinCards<'_>, StoreError> {
        let zone = self.settings.chat_config(asker.place.chat)?.timezone.unwrap_or(self.default_zone);
        Ok(PinCards { texts: self.cards.texts(asker), zone, now: self.cards.now() })
    }

    fn list(&self, asker: &Asker, page: Page) -> Result<Card, StoreError> {
        Ok(self.drawn(asker)?.list(&self.store.of_chat(asker.place.chat)?, page))
    }

    fn find(&self, asker: &Asker, id: PinId) -> Result<Option<Pin>, StoreError> {
        let pins = self.store.of_chat(asker.place.chat)?;
        Ok(pins.into_iter().find(|pin| pin.id == id && pin.about.is_none()))
    }

    /// Tells that a pin no longer exists, and shows the list.
    fn gone(&self, asker: &Asker, page: Page) -> Result<Pressed, StoreError> {
        Ok(Pressed::both(self.cards.texts(asker).gone(), self.list(asker, page)?))
    }

    async fn card(&self, asker: &Asker, pin: &Pin, page: Page) -> Result<Card, StoreError> {
        let link = source::link(&self.cards, asker, pin).await;
        Ok(self.drawn(asker)?.one(pin, page, link))
    }

    async fn open(&self, asker: &Asker, id: PinId, page: Page) -> Result<Pressed, StoreError> {
        match self.find(asker, id)? {
            Some(pin) => Ok(Pressed::card(self.card(asker, &pin, page).await?)),
            None => self.gone(asker, page),
        }
    }

    async fn weigh(&self, asker: &Asker, id: PinId, page: Page, by: f32) -> Result<Pressed, StoreError> {
        let Some(pin) = self.find(asker, id)? else { return self.gone(asker, page) };
        match self.store.weigh(pin.chat, id, pin.importance + by).await? {
            Some(pin) => Ok(Pressed::card(self.card(asker, &pin, page).await?)),
            None => self.gone(asker, page),
        }
    }

    async fn remove(&self, asker: &Asker, id: PinId, page: Page) -> Result<Pressed, StoreError> {
        let texts = self.cards.texts(asker);
        let Some(pin) = self.store.remove(asker.place.chat, id).await? else {
            return self.gone(asker, page);
        };
        let toast = fill(texts.pins_removed(), &[("text", &pin.content)]);
        let undo = vec![Button::new(texts.button_undo(), callback::PinsButton::Undo(id, page))];
        self.removed.keep(id, pin, asker.place.chat, self.cards.now());
        Ok(Pressed::both(toast, self.list(asker, page)?.row(undo)))
    }

    async fn undo(&self, asker: &Asker, id: PinId, page: Page) -> Result<Pressed, StoreError> {
        let texts = self.cards.texts(asker);
        let Some(pin) = self.removed.take(&id, asker.place.chat, self.cards.now()) else {
            return Ok(Pressed::toast(texts.gone()));
        };
        self.store.restore(&pin).await?;
        let toast = fill(texts.pins_restored(), &[("text", &pin.content)]);
        Ok(Pressed::both(toast, self.list(asker, page)?))
    }

    async fn point_at_source(&self, asker: &Asker, id: PinId) -> Result<Pressed, StoreError> {
        let texts = self.cards.texts(asker);
        let Some(pin) = self.find(asker, id)? else { return Ok(Pressed::toast(texts.gone())) };
        let is_there = match pin.telegram {
            Some(message) => source::point_at(&self.cards, asker, message).await,
            None => false,
        };
        Ok(match is_there {
            true => Pressed::Shown { toast: None, card: None },
            false => Pressed::toast(texts.pins_source_gone()),
        })
    }
}
