//! Somebody who may not talk to the bot wants to: every owner is asked, and decides with a button.

use std::sync::{Arc, Mutex, PoisonError};

use chrono::{DateTime, TimeDelta, Utc};

use super::super::asker::Asker;
use super::super::card::Card;
use super::super::cards::{Cards, named};
use super::super::command::Pressed;
use super::super::handles::Handles;
use crate::config::AccessSettings;
use crate::domain::access::{AccessChange, AccessList};
use crate::domain::chat::{ChatKind, Place};
use crate::domain::message::Inbound;
use crate::ids::{ChatId, UserId};
use crate::outbound::Urgency;
use crate::policy::access::{is_owner, owners};
use crate::prompts::texts::{Texts, fill};
use crate::store::{SettingsStore, StoreError};
use crate::telegram::callback::{Admit, Decision, Short};
use crate::telegram::send::Button;

/// Owners are asked about so many people within [`WINDOW`]: nobody can flood them from many accounts.
const MAX_ASKED: usize = 10;
const WINDOW: TimeDelta = TimeDelta::hours(1);

/// Asks owners whether somebody may talk to the bot. Cheap to clone.
#[derive(Debug, Clone)]
pub struct AccessRequests {
    cards: Cards,
    settings: Arc<dyn SettingsStore>,
    access: AccessSettings,
    /// When owners were asked lately.
    asked: Arc<Mutex<Vec<DateTime<Utc>>>>,
    /// Held while a decision is made.
    deciding: Arc<tokio::sync::Mutex<()>>,
}

impl AccessRequests {
    /// Without anybody who has asked yet.
    #[must_use]
    pub fn new(handles: &Handles) -> Self {
        let (cards, access) = (handles.cards.clone(), handles.access.clone());
        Self {
            cards,
            settings: handles.store.clone(),
            access,
            asked: Arc::default(),
            deciding: Arc::default(),
        }
    }

    /// Asks every owner whether the writer of a message may talk to the bot; `false` if nobody was asked.
    pub async fn ask(&self, part: &Inbound) -> bool {
        let Some(number) = part.speaker.user.telegram_id().filter(|_| self.has_room()) else { return false };
        let owners = self.owners().await;
        let language = part.language.as_deref().and_then(Short::new);
        let mut asked = false;
        for place in owners {
            let texts = self.cards.languages.texts(place.chat, None).await;
            let words = fill(
                &texts.access_request,
                &[("who", &named(&part.speaker.name, part.speaker.username.as_deref()))],
            );
            let buttons = Decision::ALL.into_iter().map(|decision| {
                let press = Admit { decision, person: number, language: language.clone() };
                Button::new(label(texts, decision), press)
            });
            let card = Card::text(words).row(buttons.collect());
            asked |= self.cards.write(&place, card, Urgency::Answer).await;
        }
        asked
    }

    /// Does what an owner decided, and greets whoever is let in.
    pub(super) async fn decide(&self, press: Admit, asker: &Asker) -> Result<Pressed, StoreError> {
        // Of two owners at once one comes first, and the other sees what they decided.
        let _one = self.deciding.lock().await;
        let (texts, user) = (self.cards.texts(asker), UserId::telegram(press.person));
        let list = self.settings.access().await?;
        // They may have become an owner since.
        if press.decision == Decision::Block && is_owner(&self.access, &list, &user) {
            return Ok(Pressed::both(&texts.owner_not_denied, Card::text(&texts.owner_not_denied)));
        }
        let who = self.cards.name_of(ChatId(press.person)).await;
        if let Some((decided, words)) = settled(texts, &list, &user)
            && decided != press.decision
        {
            let words = fill(words, &[("who", &who)]);
            let words = fill(&texts.access_settled, &[("decided", &words)]);
            return Ok(Pressed::both(words.clone(), Card::text(words)));
        }
        let (change, words) = match press.decision {
            Decision::Allow => (Some(AccessChange::AllowUser(user)), &texts.access_allowed),
            Decision::Ignore => (None, &texts.access_ignored),
            Decision::Block => (Some(AccessChange::DenyUser(user)), &texts.access_blocked),
        };
        let words = fill(words, &[("who", &who)]);
        let changed = match change {
            Some(change) => self.settings.change_access(change).await?,
            None => false,
        };
        if changed && press.decision == Decision::Allow {
            self.greet(&press).await;
        }
        Ok(Pressed::both(words.clone(), Card::text(words)))
    }

    async fn greet(&self, press: &Admit) {
        let place = private(press.person);
        let language = press.language.as_ref().map(Short::as_str);
        let texts = self.cards.languages.texts(place.chat, language).await;
        self.cards.write(&place, Card::text(&texts.access_greeting), Urgency::Answer).await;
    }

    /// The private chats of all owners.
    async fn owners(&self) -> Vec<Place> {
        let list = self.settings.access().await.unwrap_or_else(|error| {
            tracing::error!(%error, label = error.label(), "owners by invite could not be looked up");
            AccessList::default()
        });
        owners(&self.access, &list).into_iter().map(private).collect()
    }

    /// Counts one more person; `false` while owners have been asked about too many.
    fn has_room(&self) -> bool {
        let now = self.cards.now();
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        asked.retain(|at| now - *at < WINDOW);
        let has_room = asked.len() < MAX_ASKED;
        if has_room {
            asked.push(now);
        }
        has_room
    }
}

/// What was decided about somebody before, by a button or a command: a button of before does not take that back.
fn settled<'a>(texts: &'a Texts, list: &AccessList, user: &UserId) -> Option<(Decision, &'a str)> {
    if list.denied.contains(user) {
        return Some((Decision::Block, &texts.access_blocked));
    }
    list.users.contains(user).then_some((Decision::Allow, &texts.access_allowed))
}

const fn private(person: i64) -> Place {
    Place { chat: ChatId(person), kind: ChatKind::Private, title: None, topic: None }
}

const fn label(texts: &Texts, decision: Decision) -> &str {
    match decision {
        Decision::Allow => texts.button_allow.as_str(),
        Decision::Ignore => texts.button_ignore.as_str(),
        Decision::Block => texts.button_block.as_str(),
    }
}
