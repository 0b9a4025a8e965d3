//! `/allow` and `/deny`: an owner lets people and groups talk to the bot, or no longer. A person is named by number or by
//! a reply to their message; a group by number, or by the command alone in it.

use std::sync::Arc;

use async_trait::async_trait;

use super::asker::Asker;
use super::card::Card;
use super::cards::Cards;
use super::command::{Access, Command, Group, Outcome, Request};
use super::handles::Handles;
use crate::config::{AccessMode, AccessSettings};
use crate::domain::access::AccessChange;
use crate::ids::{ChatId, UserId};
use crate::policy::access::is_owner;
use crate::prompts::texts::{Texts, fill};
use crate::store::{SettingsStore, StoreError};
use crate::telegram::callback;
use crate::telegram::send::Button;

/// Whom `/allow` or `/deny` is about.
enum Whom {
    /// A person: by number, or by a reply to a message of theirs.
    Person(UserId),
    /// A group, by number.
    Group(ChatId),
    /// The group in which it was said.
    Here(ChatId),
    /// Nobody: the list is to be shown.
    Nobody,
    /// Somebody who cannot be told from the words.
    Unknown,
}

impl Whom {
    fn of(request: &Request<'_>) -> Self {
        let (argument, asker) = (request.argument.trim(), request.asker);
        match (argument.parse::<i64>(), request.replied) {
            (Ok(id), _) if id < 0 => Self::Group(ChatId(id)),
            (Ok(id), _) => Self::Person(UserId::telegram(id)),
            (Err(_), _) if !argument.is_empty() => Self::Unknown,
            // A channel or an anonymous admin speaks as a chat, whose number is below 0.
            (Err(_), Some(speaker)) => match speaker.user.telegram_id() {
                Some(id) if id > 0 => Self::Person(speaker.user.clone()),
                Some(_) | None => Self::Unknown,
            },
            (Err(_), None) if asker.place.is_group() => Self::Here(asker.place.chat),
            (Err(_), None) => Self::Nobody,
        }
    }
}

/// The card that says who may talk to the bot.
#[derive(Debug, Clone)]
pub(super) struct AccessCard {
    cards: Cards,
    settings: Arc<dyn SettingsStore>,
    access: AccessSettings,
}

/// Lets people and groups talk to the bot, or no longer.
#[derive(Debug)]
pub(super) struct ChangeAccess {
    name: &'static str,
    allows: bool,
    list: AccessCard,
}

impl ChangeAccess {
    /// The command that lets somebody talk to the bot.
    pub(super) fn allow(handles: &Handles) -> Self {
        Self { name: "allow", allows: true, list: AccessCard::new(handles) }
    }

    /// The command that no longer does.
    pub(super) fn deny(handles: &Handles) -> Self {
        Self { name: "deny", allows: false, list: AccessCard::new(handles) }
    }

    async fn change(&self, request: &Request<'_>) -> Result<Card, StoreError> {
        let (asker, allows) = (request.asker, self.allows);
        let AccessCard { cards, settings, .. } = &self.list;
        let texts = cards.texts(asker);
        let by_number = if allows { &texts.allowed_user } else { &texts.denied_user };
        let (change, id, words) = match Whom::of(request) {
            Whom::Person(user) if !allows && self.list.owns(&user).await? => {
                return Ok(Card::text(&texts.owner_not_denied));
            }
            Whom::Person(user) => {
                let id = number(&user);
                (
                    if allows { AccessChange::AllowUser(user) } else { AccessChange::DenyUser(user) },
                    id,
                    by_number,
                )
            }
            Whom::Group(chat) => (of_chat(allows, chat), chat.to_string(), by_number),
            Whom::Here(chat) => {
                let words = if allows { &texts.allowed_chat } else { &texts.denied_chat };
                (of_chat(allows, chat), chat.to_string(), words)
            }
            Whom::Nobody => return self.list.card(asker).await,
            Whom::Unknown => return Ok(Card::text(&texts.need_number)),
        };
        let changed = settings.change_access(change).await?;
        let words = if changed { words } else { &texts.nothing_changed };
        Ok(Card::text(fill(words, &[("id", &id)])))
    }
}

#[async_trait]
impl Command for ChangeAccess {
    fn name(&self) -> &'static str {
        self.name
    }

    fn about<'a>(&'a self, texts: &'a Texts) -> &'a str {
        if self.allows { &texts.command_allow } else { &texts.command_deny }
    }

    fn group(&self) -> Option<Group> {
        Some(Group::Owner)
    }

    fn access(&self) -> Access {
        Access::Owners
    }

    async fn run(&self, request: &Request<'_>) -> Result<Outcome, StoreError> {
        self.change(request).await.map(Outcome::Card)
    }
}

impl AccessCard {
    pub(super) fn new(handles: &Handles) -> Self {
        let (cards, access) = (handles.cards.clone(), handles.access.clone());
        Self { cards, settings: handles.store.clone(), access }
    }

    async fn owns(&self, user: &UserId) -> Result<bool, StoreError> {
        Ok(is_owner(&self.access, &self.settings.access().await?, user))
    }

    /// Owners, people, groups, who was denied, and how that is changed.
    pub(super) async fn card(&self, asker: &Asker) -> Result<Card, StoreError> {
        let texts = self.cards.texts(asker);
        let list = self.settings.access().await?;
        let names = |ids: &mut dyn Iterator<Item = String>| {
            let joined = ids.collect::<Vec<_>>().join(", ");
            if joined.is_empty() { texts.nobody.clone() } else { joined }
        };
        let owners = names(&mut self.access.owners.iter().chain(&list.owners).map(number));
        let users = names(&mut list.users.iter().map(number));
        let chats = names(&mut list.chats.iter().map(ToString::to_string));
        let denied = list.denied.iter().map(number);
        let denied = names(&mut denied.chain(list.denied_chats.iter().map(ToString::to_string)));
        let mode = match self.access.mode {
            AccessMode::Allowlist => "allowlist",
            AccessMode::Open => "open",
        };
        let values = [
            ("owners", owners.as_str()),
            ("users", &users),
            ("chats", &chats),
            ("denied", &denied),
            ("mode", mode),
        ];
        let body = format!("{}\n\n{}", fill(&texts.access_list, &values), texts.access_help);
        Ok(Card::text(body).row(vec![Button::new(&texts.button_back, callback::Start::Back)]))
    }
}

fn of_chat(allows: bool, chat: ChatId) -> AccessChange {
    if allows { AccessChange::AllowChat(chat) } else { AccessChange::DenyChat(chat) }
}

fn number(user: &UserId) -> String {
    user.telegram_id().unwrap_or_default().to_string()
}
