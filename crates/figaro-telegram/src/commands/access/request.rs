//! Access requests: when a person without access writes, every owner is asked and decides with a button. Groups are
//! in `group`.

use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use parking_lot::Mutex;

use super::super::asker::Asker;
use super::super::card::Card;
use super::super::cards::{Cards, named};
use super::super::command::Pressed;
use super::super::handles::Handles;
use crate::callback::{AccessDecision, AdmitButton, Short};
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

/// Maximum number of requests within [`WINDOW`], so that nobody can flood the owners from many accounts.
const MAX_ASKED: usize = 10;
const WINDOW: TimeDelta = TimeDelta::hours(1);
/// Maximum length of a stranger's message that owners see, in characters.
const SAID_CHARS: usize = 200;

/// Result of a decision by an owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Settled {
    Now(AccessDecision),
    /// This earlier decision stays in force.
    Before(AccessDecision),
    /// The person is an owner and cannot be denied.
    Owner,
}

/// Asks owners whether a person or a group may talk to the bot. Cheap to clone.
#[derive(Debug, Clone)]
pub struct AccessRequests {
    pub(super) cards: Cards,
    pub(super) settings: SettingsStore,
    access: AccessSettings,
    /// Key for the hashes of pairing codes.
    pub(crate) code_key: CodeKey,
    pub(super) me: Me,
    /// Times of the requests within [`WINDOW`].
    asked: Arc<Mutex<Vec<DateTime<Utc>>>>,
    /// Held while a decision is checked and stored.
    pub(super) deciding: Arc<tokio::sync::Mutex<()>>,
}

impl AccessRequests {
    /// Creates it with the dependencies in `handles` and no earlier requests.
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

    /// Asks every owner whether the writer of a message may talk to the bot. Returns `false` if no owner was asked.
    pub(crate) async fn ask(&self, part: &Inbound) -> bool {
        let number = part.speaker.user.telegram_id();
        let Some(number) = number.filter(|_| self.asks() && self.has_room()) else { return false };
        let owners = self.owners();
        let language = part.language.as_deref().and_then(Short::new);
        let said = Some(one_line(&part.text, SAID_CHARS));
        let said = said.filter(|said| !said.is_empty() && !said.starts_with('/'));
        let mut asked = false;
        for place in owners {
            let texts = self.cards.languages.texts(place.chat, None);
            let words = fill(
                texts.access_request(),
                &[("who", &named(&part.speaker.name, part.speaker.username.as_deref()))],
            );
            let buttons = AccessDecision::ALL.into_iter().map(|decision| {
                let press = AdmitButton { decision, person: number, language: language.clone() };
                Button::new(label(texts, decision), press)
            });
            let said = said.as_ref().map(|said| format!("\n{}", texts.in_quotes(said)));
            let card = Card::text(words + said.as_deref().unwrap_or_default()).row(buttons.collect());
            asked |= self.cards.write(&place, card, Urgency::Answer).await;
        }
        asked
    }

    /// Applies an owner's decision, and greets a person who is allowed.
    pub(super) async fn decide(&self, press: AdmitButton, asker: &Asker) -> Result<Pressed, StoreError> {
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
        if settled == Settled::Now(AccessDecision::Allow) {
            self.greet(&press).await;
        }
        Ok(Pressed::both(words.clone(), Card::text(words)))
    }

    /// Stores a decision unless there is one already, made by a button or a command. The first of two owners decides,
    /// and old buttons undo nothing.
    async fn settle(
        &self,
        decision: AccessDecision,
        user: UserId,
        by: AuditActor,
    ) -> Result<Settled, StoreError> {
        let _one = self.deciding.lock().await;
        let list = self.settings.access()?;
        // The person may have become an owner since the request.
        if decision == AccessDecision::Block && is_owner(&self.access, &list, &user) {
            return Ok(Settled::Owner);
        }
        if list.denied.contains(&user) {
            return Ok(Settled::Before(AccessDecision::Block));
        }
        if list.users.contains(&user) {
            return Ok(Settled::Before(AccessDecision::Allow));
        }
        let change = match decision {
            AccessDecision::Allow => AccessChange::AllowUser(user),
            AccessDecision::Ignore => return Ok(Settled::Now(AccessDecision::Ignore)),
            AccessDecision::Block => AccessChange::DenyUser(user),
        };
        let changed = self.settings.change_access(change, by).await?;
        Ok(if changed { Settled::Now(decision) } else { Settled::Before(decision) })
    }

    async fn greet(&self, press: &AdmitButton) {
        let place = private(press.person);
        let language = press.language.as_ref().map(Short::as_str);
        let texts = self.cards.languages.texts(place.chat, language);
        self.cards.write(&place, Card::text(texts.access_greeting()), Urgency::Answer).await;
    }

    /// Returns the private chats of all owners.
    pub(super) fn owners(&self) -> Vec<Place> {
        let list = self.settings.access().unwrap_or_else(|error| {
            tracing::error!(%error, label = error.label(), "owners by invite could not be looked up");
            Arc::default()
        });
        owners(&self.access, &list).into_iter().map(private).collect()
    }

    /// Returns `true` if owners are asked. In the other modes, owners name people themselves or everybody has access.
    #[must_use]
    pub(crate) const fn asks(&self) -> bool {
        matches!(self.access.mode, AccessMode::Pairing)
    }

    /// Counts a request. Returns `false` if there were too many within [`WINDOW`].
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

/// Returns the text for a decision, with the placeholder `{who}`.
fn words(texts: &Texts, decision: AccessDecision) -> &str {
    match decision {
        AccessDecision::Allow => texts.access_allowed(),
        AccessDecision::Ignore => texts.access_ignored(),
        AccessDecision::Block => texts.access_blocked(),
    }
}

const fn private(person: i64) -> Place {
    Place { chat: ChatId(person), kind: ChatKind::Private, title: None, topic: None }
}

fn label(texts: &Texts, decision: AccessDecision) -> &str {
    match decision {
        AccessDecision::Allow => texts.button_allow(),
        AccessDecision::Ignore => texts.button_ignore(),
        AccessDecision::Block => texts.button_block(),
    }
}
