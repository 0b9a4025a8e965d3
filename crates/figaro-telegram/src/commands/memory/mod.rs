//! `/memory`: shows the memories about a person with their sources, lets them change and remove memories, and turns
//! remembering on and off. Works only in their private chat, because in a group everybody would read it.

mod card;
mod reword;

use std::sync::Arc;

use async_trait::async_trait;
use chrono::TimeDelta;
use figaro_base::tz::Tz;
use tokio_util::sync::CancellationToken;

pub(crate) use self::card::consent_card;
use self::card::{MemorySource, MemoryView};
pub use self::reword::Rewordings;
use super::asker::Asker;
use super::card::Card;
use super::cards::Cards;
use super::command::{
    Command, CommandOutcome, CommandRequest, CommandSpec, Group, Press, PressError, Pressed,
};
use super::handles::Handles;
use super::list_page::ListPage;
use crate::callback::{ButtonFamily, MemoryButton, Page};
use crate::send::{Button as Key, Outgoing};
use figaro_agent::turn::extraction::Extractor;
use figaro_base::ids::{ChatId, MemoryId, MessageId, UserId};
use figaro_domain::conversation::Message;
use figaro_domain::facts::OwnChange;
use figaro_domain::memory::Memory as Fact;
use figaro_domain::profile::{Consent, PersonRole, PersonSnapshot};
use figaro_policy::access::Standing;
use figaro_prompts::texts::{Texts, fill};
use figaro_store::{FactStore, MemoryStore, ProfileStore, SettingsStore, StoreError};

/// Time within which a removed memory can be restored.
const UNDO: TimeDelta = TimeDelta::minutes(1);
/// Ids of supergroups and channels are below this; the difference is used in links to their messages.
const SUPERGROUPS: i64 = -1_000_000_000_000;

/// Shows and changes the memories about the asker.
#[derive(Debug)]
pub(super) struct MemoryCommand {
    cards: Cards,
    facts: FactStore,
    profiles: ProfileStore,
    messages: MemoryStore,
    settings: SettingsStore,
    extractor: Extractor,
    default_zone: Tz,
}

#[async_trait]
impl Command for MemoryCommand {
    fn spec(&self) -> CommandSpec {
        CommandSpec::new("memory", Texts::command_memory)
            .group(Group::Remember)
            .families(&[MemoryButton::NAME])
    }

    async fn run(&self, request: &CommandRequest<'_>) -> Result<CommandOutcome, StoreError> {
        let asker = request.asker;
        if asker.place.is_group() {
            return Ok(Card::text(self.cards.texts(asker).memory_private()).into());
        }
        self.extractor.catch_up(&asker.speaker.user).await;
        self.list(asker, 0).map(CommandOutcome::Card)
    }

    async fn press(&self, press: &Press<'_>) -> Result<Pressed, PressError> {
        let asker = press.asker;
        let button: MemoryButton = press.data.parse()?;
        // These cards are shown only in private chats; a press in a group is forged.
        if asker.place.is_group() {
            return Err(PressError::Gone);
        }
        let id = match button {
            MemoryButton::List(page) => return Ok(Pressed::card(self.list(asker, page)?)),
            MemoryButton::On => return Ok(self.switch(asker, Consent::Given).await?),
            MemoryButton::Off => return Ok(self.switch(asker, Consent::Refused).await?),
            MemoryButton::Ask => return Ok(self.ask_to_erase(asker)?),
            MemoryButton::Erase => return Ok(self.erase(asker).await?),
            MemoryButton::Undo(id) => return Ok(self.undo(asker, id).await?),
            MemoryButton::Open(id)
            | MemoryButton::Source(id)
            | MemoryButton::Edit(id)
            | MemoryButton::Remove(id) => id,
        };
        let Some(memory) = self.active(asker)?.into_iter().find(|memory| memory.id == id) else {
            return Ok(Pressed::both(self.cards.texts(asker).gone(), self.list(asker, 0)?));
        };
        Ok(match button {
            MemoryButton::Source(_) => self.source(asker, &memory).await?,
            MemoryButton::Edit(_) => reword::ask(&self.cards, asker, &memory).await,
            MemoryButton::Remove(_) => self.remove(asker, &memory).await?,
            _ => Pressed::card(self.one(asker, &memory, false).await?),
        })
    }
}

impl MemoryCommand {
    pub(super) fn new(handles: &Handles) -> Self {
        Self {
            cards: handles.cards.clone(),
            facts: handles.store.facts(),
            profiles: handles.store.profiles(),
            messages: handles.store.messages(),
            settings: handles.store.settings(),
            extractor: handles.extractor.clone(),
            default_zone: handles.default_zone,
        }
    }

    /// Returns the active memories about the asker, most valuable first.
    fn active(&self, asker: &Asker) -> Result<Vec<Fact>, StoreError> {
        let now = self.cards.now();
        let mut all = self.facts.of_person(&asker.speaker.user)?;
        all.retain(Fact::is_active);
        all.sort_by(|one, other| {
            other.worth(now).total_cmp(&one.worth(now)).then(other.created_at.cmp(&one.created_at))
        });
        Ok(all)
    }

    fn view<'a>(&'a self, asker: &'a Asker) -> Result<MemoryView<'a>, StoreError> {
        let config = self.settings.chat_config(asker.place.chat)?;
        let profile = self.profiles.find(&asker.speaker.user)?;
        let consent = profile.map(|profile| profile.consent).unwrap_or_default();
        let rules = self.extractor.rules;
        Ok(MemoryView {
            texts: self.cards.texts(asker),
            zone: config.timezone.unwrap_or(self.default_zone),
            now: self.cards.now(),
            limit: rules.limit,
            is_on: rules.limit > 0 && consent.allows(rules.asks),
        })
    }

    fn list(&self, asker: &Asker, page: Page) -> Result<Card, StoreError> {
        let (view, all) = (self.view(asker)?, self.active(asker)?);
        Ok(view.list(&ListPage::of(all, page)))
    }

    async fn one(&self, asker: &Asker, memory: &Fact, with_link: bool) -> Result<Card, StoreError> {
        let mut origin = MemorySource::default();
        if memory.chat.is_group() {
            origin.group = Some(self.cards.name_of(memory.chat).await);
        }
        if with_link {
            origin.link = self.message_of(memory)?.and_then(|message| link(memory.chat, &message));
        }
        Ok(self.view(asker)?.one(memory, &origin))
    }

    /// Returns the stored message that the memory was taken from, if it still exists.
    fn message_of(&self, memory: &Fact) -> Result<Option<Arc<Message>>, StoreError> {
        let found = self.messages.messages_at(&[memory.source])?.pop().flatten();
        Ok(found.filter(|message| message.id == memory.source_message_id))
    }

    /// Shows the source of a memory: by a reply to the message in the private chat, by a link in a group.
    async fn source(&self, asker: &Asker, memory: &Fact) -> Result<Pressed, StoreError> {
        let texts = self.cards.texts(asker);
        let Some(message) = self.message_of(memory)? else {
            return Ok(Pressed::toast(texts.memory_no_source()));
        };
        if memory.chat.is_group() {
            return Ok(match link(memory.chat, &message) {
                Some(_) => Pressed::card(self.one(asker, memory, true).await?),
                None => Pressed::toast(texts.memory_no_link()),
            });
        }
        let Some(first) = message.telegram.first().copied() else {
            return Ok(Pressed::toast(texts.memory_no_source()));
        };
        let is_shown = self.reply_to(asker, first, texts.memory_here()).await;
        let toast = (!is_shown).then(|| texts.memory_no_source().to_owned());
        Ok(Pressed::Shown { toast, card: None })
    }

    async fn reply_to(&self, asker: &Asker, message: MessageId, words: &str) -> bool {
        let reply = Outgoing { reply_to: Some(message), ..Card::text(words).outgoing() };
        self.cards.sender.send(&asker.place, &reply, &CancellationToken::new()).await.is_ok()
    }

    async fn remove(&self, asker: &Asker, memory: &Fact) -> Result<Pressed, StoreError> {
        let texts = self.cards.texts(asker);
        let user = &asker.speaker.user;
        let removed = self.facts.change(user, memory.id, OwnChange::Remove, self.cards.now()).await?;
        let list = self.list(asker, 0)?;
        if removed.is_none() {
            return Ok(Pressed::both(texts.gone(), list));
        }
        let undo = vec![Key::new(texts.button_undo(), MemoryButton::Undo(memory.id))];
        Ok(Pressed::both(fill(texts.memory_removed(), &[("text", &memory.content)]), list.row(undo)))
    }

    async fn undo(&self, asker: &Asker, id: MemoryId) -> Result<Pressed, StoreError> {
        let (texts, user, now) = (self.cards.texts(asker), &asker.speaker.user, self.cards.now());
        let all = self.facts.of_person(user)?;
        let is_recent =
            |memory: &&Fact| memory.id == id && memory.deleted_at.is_some_and(|deleted| now - deleted < UNDO);
        if all.iter().find(is_recent).is_none() {
            return Ok(Pressed::toast(texts.gone()));
        }
        match self.facts.change(user, id, OwnChange::Restore, now).await? {
            Some(memory) => {
                let toast = fill(texts.memory_restored(), &[("text", &memory.content)]);
                Ok(Pressed::both(toast, self.list(asker, 0)?))
            }
            None => Ok(Pressed::toast(texts.gone())),
        }
    }

    /// Stores the consent to remember facts. If given, also reads what was said since the question.
    async fn switch(&self, asker: &Asker, consent: Consent) -> Result<Pressed, StoreError> {
        let (texts, user) = (self.cards.texts(asker), &asker.speaker.user);
        self.know(asker)?;
        self.profiles.set_consent(user, consent, self.cards.now()).await?;
        let toast = match consent {
            Consent::Given => {
                self.extractor.look(user);
                texts.memory_switched_on()
            }
            Consent::Unasked | Consent::Asked | Consent::Refused => texts.memory_switched_off(),
        };
        Ok(Pressed::both(toast, self.list(asker, 0)?))
    }

    /// Creates the profile of the asker, who may press before their first question.
    fn know(&self, asker: &Asker) -> Result<(), StoreError> {
        let role = match asker.standing {
            Standing::Owner => PersonRole::Owner,
            Standing::Admin | Standing::Member | Standing::Guest | Standing::Borrowed => PersonRole::Member,
        };
        let seen = PersonSnapshot {
            speaker: asker.speaker.clone(),
            language: asker.client.clone(),
            role,
            at: self.cards.now(),
        };
        self.profiles.see(&seen).map(drop)
    }

    fn ask_to_erase(&self, asker: &Asker) -> Result<Pressed, StoreError> {
        let total = self.active(asker)?.len();
        match total {
            0 => Ok(Pressed::both(self.cards.texts(asker).gone(), self.list(asker, 0)?)),
            total => Ok(Pressed::card(self.view(asker)?.ask(total))),
        }
    }

    async fn erase(&self, asker: &Asker) -> Result<Pressed, StoreError> {
        let user: &UserId = &asker.speaker.user;
        let count = self.facts.erase(user).await?.to_string();
        let toast = fill(self.cards.texts(asker).memory_erased(), &[("count", &count)]);
        Ok(Pressed::both(toast, self.list(asker, 0)?))
    }
}

/// Returns the link to a message in a supergroup; other groups have no links.
fn link(chat: ChatId, message: &Message) -> Option<String> {
    let number = SUPERGROUPS.checked_sub(chat.0).filter(|number| *number > 0)?;
    let first = message.telegram.first()?;
    Some(format!("https://t.me/c/{number}/{first}"))
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;

    use super::*;
    use figaro_base::ids::SessionId;
    use figaro_domain::conversation::MessageRole;

    #[test]
    fn messages_of_supergroups_have_addresses() {
        let said = Message::new(SessionId::new(), MessageRole::User, "hi".to_owned(), DateTime::UNIX_EPOCH);
        let said = Message { telegram: vec![MessageId(7)], ..said };
        let address = link(ChatId(-1_001_234_567_890), &said);
        assert_eq!(address.as_deref(), Some("https://t.me/c/1234567890/7"));
        for chat in [-5, 11, -1_000_000_000_000] {
            assert_eq!(link(ChatId(chat), &said), None);
        }
    }
}
