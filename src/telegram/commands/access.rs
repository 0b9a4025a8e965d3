//! `/allow` and `/deny`: an owner lets people and groups talk to the bot, or no longer. A person is named by number or by
//! a reply to their message; a group by number, or by the command alone in it.

use super::{Asker, Card, Commands};
use crate::config::AccessMode;
use crate::domain::access::AccessChange;
use crate::ids::{ChatId, UserId};
use crate::policy::access::{Standing, is_owner};
use crate::prompts::texts::fill;
use crate::store::StoreError;
use crate::telegram::inbound::Command;
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
    fn of(command: &Command, asker: &Asker) -> Self {
        let argument = command.argument.trim();
        match (argument.parse::<i64>(), &command.replied) {
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

impl Commands {
    pub(super) async fn change_access(&self, asker: &Asker, command: &Command) -> Result<Card, StoreError> {
        let texts = self.texts(asker);
        if asker.standing != Standing::Owner {
            return Ok(Card::text(&texts.owner_only));
        }
        let allows = command.name == "allow";
        let by_number = if allows { &texts.allowed_user } else { &texts.denied_user };
        let (change, id, words) = match Whom::of(command, asker) {
            Whom::Person(user) if !allows && self.owns(&user).await? => {
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
            Whom::Nobody => return self.access_card(asker).await,
            Whom::Unknown => return Ok(Card::text(&texts.need_number)),
        };
        let changed = self.store.change_access(change).await?;
        let words = if changed { words } else { &texts.nothing_changed };
        Ok(Card::text(fill(words, &[("id", &id)])))
    }

    async fn owns(&self, user: &UserId) -> Result<bool, StoreError> {
        Ok(is_owner(&self.access, &self.store.access().await?, user))
    }

    pub(super) async fn access_card(&self, asker: &Asker) -> Result<Card, StoreError> {
        let texts = self.texts(asker);
        let list = self.store.access().await?;
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
        Ok(Card::text(body).row(vec![Button::new(&texts.button_back, "start:back")]))
    }
}

fn of_chat(allows: bool, chat: ChatId) -> AccessChange {
    if allows { AccessChange::AllowChat(chat) } else { AccessChange::DenyChat(chat) }
}

fn number(user: &UserId) -> String {
    user.telegram_id().unwrap_or_default().to_string()
}
