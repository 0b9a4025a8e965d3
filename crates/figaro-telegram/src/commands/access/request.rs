//! Somebody who may not talk to the bot wants to: every owner is asked, and decides with a button. Groups are in `group`.

use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use parking_lot::Mutex;

use super::super::asker::Asker;
use super::super::card::Card;
use super::super::cards::{Cards, named};
use super::super::command::Pressed;
use super::super::handles::Handles;
use crate::callback::{Admit, Decision, Short};
use crate::inbound::Me;
use crate::send::Button;
use figaro_agent::outbound::Urgency;
use figaro_base::ids::{ChatId, UserId};
use figaro_base::text::one_line;
use figaro_config::{AccessMode, AccessSettings};
use figaro_domain::access::AccessChange;
use figaro_domain::audit::AuditActor;
use figaro_domain::chat::{ChatKind, Place};
use figaro_domain::code::CodeKey;
use figaro_domain::message::Inbound;
use figaro_policy::access::{is_owner, owners};
use figaro_prompts::texts::{Texts, fill};
use figaro_store::{SettingsStore, StoreError};

/// Owners are asked about so many people within [`WINDOW`]: nobody can flood them from many accounts.
const MAX_ASKED: usize = 10;
const WINDOW: TimeDelta = TimeDelta::hours(1);
/// The most characters of a stranger's message that owners are shown.
const SAID_CHARS: usize = 200;

/// What became of a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Settled {
    /// It holds from now on.
    Now(Decision),
    /// This was decided before, and stays.
    Before(Decision),
    /// The person is an owner, and stays one.
    Owner,
}

/// Asks owners whether somebody may talk to the bot. Cheap to clone.
#[derive(Debug, Clone)]
pub struct AccessRequests {
    pub(super) cards: Cards,
    pub(super) settings: SettingsStore,
    access: AccessSettings,
    /// The key of the hashes of codes that let people in.
    pub(crate) code_key: CodeKey,
    /// The bot's own account.
    pub(super) me: Me,
    /// When owners were asked lately.
    asked: Arc<Mutex<Vec<DateTime<Utc>>>>,
    /// Held while a decision is made.
    pub(super) deciding: Arc<tokio::sync::Mutex<()>>,
}

impl AccessRequests {
    /// Without anybody who has asked yet.
    #[must_use]
    pub fn new(handles: &Handles) -> Self {
        let (cards, access) = (handles.cards.clone(), handles.access.clone());
        Self {
            cards,
            settings: handles.store.settings(),
            access,
            code_key: handles.code_key.clone(),
            me: handles.me.clone(),
            asked: Arc::default(),
            deciding: Arc::default(),
        }
    }

    /// Asks every owner whether the writer of a message may talk to the bot; `false` if nobody was asked.
    pub(crate) async fn ask(&self, part: &Inbound) -> bool {
        let number = part.speaker.user.telegram_id();
        let Some(number) = number.filter(|_| self.asks() && self.has_room()) else { return false };
        let owners = self.owners().await;
        let language = part.language.as_deref().and_then(Short::new);
        let said = match one_line(&part.text, SAID_CHARS) {
            said if said.is_empty() || said.starts_with('/') => String::new(),
            said => format!("\n“{said}”"),
        };
        let mut asked = false;
        for place in owners {
            let texts = self.cards.languages.texts(place.chat, None).await;
            let words = fill(
                texts.access_request(),
                &[("who", &named(&part.speaker.name, part.speaker.username.as_deref()))],
            );
            let buttons = Decision::ALL.into_iter().map(|decision| {
                let press = Admit { decision, person: number, language: language.clone() };
                Button::new(label(texts, decision), press)
            });
            let card = Card::text(format!("{words}{said}")).row(buttons.collect());
            asked |= self.cards.write(&place, card, Urgency::Answer).await;
        }
        asked
    }

    /// Does what an owner decided, and greets whoever is let in.
    pub(super) async fn decide(&self, press: Admit, asker: &Asker) -> Result<Pressed, StoreError> {
        let (texts, user) = (self.cards.texts(asker), UserId::telegram(press.person));
        let who = self.cards.name_of(ChatId(press.person)).await;
        let words = |decision| fill(words(texts, decision), &[("who", &who)]);
        let settled =
            self.settle(press.decision, user, AuditActor::Person(asker.speaker.user.clone())).await?;
        let words = match settled {
            Settled::Owner => texts.owner_not_denied().to_owned(),
            Settled::Before(other) if other != press.decision => {
                fill(texts.access_settled(), &[("decided", &words(other))])
            }
            Settled::Before(decision) | Settled::Now(decision) => words(decision),
        };
        if settled == Settled::Now(Decision::Allow) {
            self.greet(&press).await;
        }
        Ok(Pressed::both(words.clone(), Card::text(words)))
    }

    /// Makes a decision, unless one was made before, by a button or a command: of two owners at once one comes first, and a
    /// button of before takes nothing back.
    async fn settle(&self, decision: Decision, user: UserId, by: AuditActor) -> Result<Settled, StoreError> {
        let _one = self.deciding.lock().await;
        let list = self.settings.access().await?;
        // They may have become an owner since.
        if decision == Decision::Block && is_owner(&self.access, &list, &user) {
            return Ok(Settled::Owner);
        }
        if list.denied.contains(&user) {
            return Ok(Settled::Before(Decision::Block));
        }
        if list.users.contains(&user) {
            return Ok(Settled::Before(Decision::Allow));
        }
        let change = match decision {
            Decision::Allow => AccessChange::AllowUser(user),
            Decision::Ignore => return Ok(Settled::Now(Decision::Ignore)),
            Decision::Block => AccessChange::DenyUser(user),
        };
        let changed = self.settings.change_access(change, by).await?;
        Ok(if changed { Settled::Now(decision) } else { Settled::Before(decision) })
    }

    async fn greet(&self, press: &Admit) {
        let place = private(press.person);
        let language = press.language.as_ref().map(Short::as_str);
        let texts = self.cards.languages.texts(place.chat, language).await;
        self.cards.write(&place, Card::text(texts.access_greeting()), Urgency::Answer).await;
    }

    /// The private chats of all owners.
    pub(super) async fn owners(&self) -> Vec<Place> {
        let list = self.settings.access().await.unwrap_or_else(|error| {
            tracing::error!(%error, label = error.label(), "owners by invite could not be looked up");
            Arc::default()
        });
        owners(&self.access, &list).into_iter().map(private).collect()
    }

    /// Whether owners are asked at all: where they name people themselves, nobody is to ask them.
    #[must_use]
    pub(crate) const fn asks(&self) -> bool {
        matches!(self.access.mode, AccessMode::Pairing)
    }

    /// Counts one more person or group; `false` while owners have been asked about too many.
    pub(super) fn has_room(&self) -> bool {
        let now = self.cards.now();
        let mut asked = self.asked.lock();
        asked.retain(|at| now - *at < WINDOW);
        let has_room = asked.len() < MAX_ASKED;
        if has_room {
            asked.push(now);
        }
        has_room
    }
}

/// The words for a decision, with `{who}` for the person.
const fn words(texts: &Texts, decision: Decision) -> &str {
    match decision {
        Decision::Allow => texts.access_allowed(),
        Decision::Ignore => texts.access_ignored(),
        Decision::Block => texts.access_blocked(),
    }
}

const fn private(person: i64) -> Place {
    Place { chat: ChatId(person), kind: ChatKind::Private, title: None, topic: None }
}

const fn label(texts: &Texts, decision: Decision) -> &str {
    match decision {
        Decision::Allow => texts.button_allow(),
        Decision::Ignore => texts.button_ignore(),
        Decision::Block => texts.button_block(),
    }
}
