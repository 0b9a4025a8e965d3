//! Card that shows who may talk to the bot.

use std::collections::{BTreeSet, HashSet};

use figaro_base::tz::Tz;
use futures::future::join_all;

use super::super::asker::Asker;
use super::super::card::Card;
use super::super::cards::{Cards, named};
use super::super::handles::Handles;
use crate::callback::{self, ParentCard};
use crate::send::Button;
use figaro_base::ids::{ChatId, UserId};
use figaro_config::{AccessMode, AccessSettings};
use figaro_domain::access::AllowedBot;
use figaro_domain::message::Speaker;
use figaro_policy::access::is_owner;
use figaro_prompts::texts::fill;
use figaro_store::{PeopleStore, SettingsStore, StoreError};

/// Maximum number of ids of a kind that are shown by name: each name is a call to Telegram. Others are shown as
/// numbers.
const MAX_NAMED: usize = 30;

/// Shows who may talk to the bot. Cheap to clone.
#[derive(Debug, Clone)]
pub(in super::super) struct AccessCard {
    pub(super) cards: Cards,
    pub(super) settings: SettingsStore,
    pub(super) access: AccessSettings,
    /// People who wrote in groups; source of names for the card.
    people: PeopleStore,
    /// Time zone of chats without a zone.
    pub(super) default_zone: Tz,
}

impl AccessCard {
    pub(in super::super) fn new(handles: &Handles) -> Self {
        let (cards, access) = (handles.cards.clone(), handles.access.clone());
        let (settings, people) = (handles.store.settings(), handles.store.people());
        Self { cards, settings, access, people, default_zone: handles.default_zone }
    }

    pub(super) fn owns(&self, user: &UserId) -> Result<bool, StoreError> {
        Ok(is_owner(&self.access, &*self.settings.access()?, user))
    }

    /// Returns the name of a person or a group with the username: from Telegram, or as last seen in a group.
    pub(in super::super) async fn name_of(&self, id: ChatId) -> String {
        let (name, username) = self.cards.names_of(id).await;
        if name != id.to_string() {
            return named(&name, username.as_deref());
        }
        let seen = self.seen(None, |one| one.user.telegram_id() == Some(id.0));
        seen.map_or(name, |seen| named(&seen.name, seen.username.as_deref()))
    }

    /// Returns the first person for whom `is_it` holds among those who wrote in known groups and `here`. Telegram
    /// itself tells bots only about people who wrote to them in private.
    fn seen(&self, here: Option<ChatId>, is_it: impl Fn(&Speaker) -> bool) -> Option<Speaker> {
        let list = self.settings.access().ok()?;
        let of_bans = list.bans.iter().filter_map(|ban| ban.chat);
        let of_roles = list.roles.iter().filter_map(|given| given.chat);
        let groups: BTreeSet<ChatId> =
            list.chats.iter().copied().chain(of_bans).chain(of_roles).chain(here).collect();
        for group in groups.into_iter().take(MAX_NAMED) {
            let seen = self.people.of_chat(group).unwrap_or_default();
            if let Some(found) = seen.into_iter().find(|seen| is_it(&seen.speaker)) {
                return Some(found.speaker);
            }
        }
        None
    }

    /// Returns the person with this username who is on the access list, was seen in a group or has asked
    /// something.
    pub(in super::super) async fn person_named(
        &self,
        username: &str,
        here: ChatId,
    ) -> Result<Option<UserId>, StoreError> {
        let list = self.settings.access()?;
        let known = list.users.iter().chain(&list.denied).chain(&list.owners);
        let with_role = list.roles.iter().map(|given| &given.user);
        let people: HashSet<&UserId> =
            known.chain(with_role).chain(list.bans.iter().map(|ban| &ban.user)).collect();
        // People choose their names, which may look like a username; the username itself is unique.
        let named = people.into_iter().map(async |user| {
            let number = ChatId(user.telegram_id().unwrap_or_default());
            (user.clone(), self.cards.names_of(number).await.1)
        });
        let is_it =
            |known: &Option<String>| known.as_ref().is_some_and(|known| known.eq_ignore_ascii_case(username));
        let on_list = join_all(named).await.into_iter().find(|(_, known)| is_it(known));
        Ok(match on_list {
            Some((user, _)) => Some(user),
            None => match self.seen(Some(here), |one| is_it(&one.username)) {
                Some(seen) => Some(seen.user),
                None => self.cards.profiles.named(username)?,
            },
        })
    }

    /// Returns the card of denied people and groups, with how to change it.
    pub(super) async fn denied(&self, asker: &Asker) -> Result<Card, StoreError> {
        let texts = self.cards.texts(asker);
        let names = self.unheard(asker).await?;
        let body = format!("{}\n\n{}", fill(texts.deny_list(), &[("denied", &names)]), texts.deny_help());
        let people =
            Button::new(texts.button_people(), callback::PeopleButton::List(0)).through(ParentCard::Deny);
        Ok(Card::text(body).row(vec![people]))
    }

    /// Returns the card of owners, people, groups and denied people, with how to change them.
    pub(in super::super) async fn card(&self, asker: &Asker) -> Result<Card, StoreError> {
        let texts = self.cards.texts(asker);
        let list = self.settings.access()?;
        let owners = [people(&self.access.owners), people(&list.owners)].concat();
        let named = [owners, people(&list.users), list.chats.clone()].map(|ids| self.names(ids));
        let [owners, users, chats] = join_all(named).await.try_into().unwrap_or_default();
        let or_nobody = |names: String| if names.is_empty() { texts.nobody().to_owned() } else { names };
        let mode = match self.access.mode {
            AccessMode::Pairing => texts.access_pairing(),
            AccessMode::Allowlist => texts.access_allowlist(),
            AccessMode::Open => texts.access_open(),
        };
        let [owners, users, chats] = [owners, users, chats].map(or_nobody);
        let denied = self.unheard(asker).await?;
        let values = [
            ("owners", owners.as_str()),
            ("users", &users),
            ("chats", &chats),
            ("denied", &denied),
            ("mode", mode),
        ];
        let bots = self.bots(&list.bots).await;
        let bots = if bots.is_empty() {
            bots
        } else {
            format!("\n{}", fill(texts.access_bots(), &[("bots", &bots)]))
        };
        let more = self.roles(asker).await?;
        let body = format!("{}{bots}{more}\n\n{}", fill(texts.access_list(), &values), texts.access_help());
        let people =
            Button::new(texts.button_people(), callback::PeopleButton::List(0)).through(ParentCard::Allow);
        let code = Button::new(texts.button_code(), callback::MakeCodeButton);
        Ok(Card::text(body).row(vec![code, people]).first())
    }

    /// Returns the allowed bots with their groups, as text; empty for none.
    async fn bots(&self, bots: &[AllowedBot]) -> String {
        let named = bots
            .iter()
            .take(MAX_NAMED)
            .map(async |bot| format!("@{} ({})", bot.username, self.cards.name_of(bot.chat).await));
        join_all(named).await.join(", ")
    }

    /// Returns the names, separated by commas; empty for nobody.
    pub(super) async fn names(&self, ids: Vec<ChatId>) -> String {
        let (named, others) = ids.split_at(ids.len().min(MAX_NAMED));
        let mut names = join_all(named.iter().map(|id| self.name_of(*id))).await;
        names.extend(others.iter().map(ToString::to_string));
        names.join(", ")
    }
}

pub(super) fn people(users: &[UserId]) -> Vec<ChatId> {
    users.iter().map(number_of).collect()
}

/// Returns the Telegram user id of a person.
pub(super) fn number_of(user: &UserId) -> ChatId {
    ChatId(user.telegram_id().unwrap_or_default())
}
