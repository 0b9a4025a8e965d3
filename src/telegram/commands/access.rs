//! `/allow` and `/deny`: an owner lets people and groups talk to the bot, or no longer.

use super::{Asker, Card, Commands};
use crate::config::AccessMode;
use crate::domain::access::AccessChange;
use crate::ids::{ChatId, UserId};
use crate::policy::access::Standing;
use crate::prompts::texts::fill;
use crate::store::StoreError;
use crate::telegram::send::Button;

impl Commands {
    pub(super) async fn change_access(
        &self,
        asker: &Asker,
        verb: &str,
        argument: &str,
    ) -> Result<Card, StoreError> {
        let texts = self.texts(asker);
        if asker.standing != Standing::Owner {
            return Ok(Card::text(&texts.owner_only));
        }
        let allows = verb == "allow";
        let (change, words) = match argument.trim().parse::<i64>() {
            Ok(id) if id < 0 => {
                let chat = ChatId(id);
                let change =
                    if allows { AccessChange::AllowChat(chat) } else { AccessChange::DenyChat(chat) };
                (change, if allows { &texts.allowed_user } else { &texts.denied_user })
            }
            Ok(id) => {
                let user = UserId::telegram(id);
                let change =
                    if allows { AccessChange::AllowUser(user) } else { AccessChange::DenyUser(user) };
                (change, if allows { &texts.allowed_user } else { &texts.denied_user })
            }
            Err(_) if argument.trim().is_empty() && asker.place.is_group() => {
                let chat = asker.place.chat;
                let change =
                    if allows { AccessChange::AllowChat(chat) } else { AccessChange::DenyChat(chat) };
                (change, if allows { &texts.allowed_chat } else { &texts.denied_chat })
            }
            Err(_) if argument.trim().is_empty() => return self.access_card(asker).await,
            Err(_) => return Ok(Card::text(&texts.need_number)),
        };
        let changed = self.store.change_access(change).await?;
        let words = if changed { words } else { &texts.nothing_changed };
        Ok(Card::text(fill(words, &[("id", argument.trim())])))
    }

    pub(super) async fn access_card(&self, asker: &Asker) -> Result<Card, StoreError> {
        let texts = self.texts(asker);
        let list = self.store.access().await?;
        let names = |ids: &mut dyn Iterator<Item = String>| {
            let joined = ids.collect::<Vec<_>>().join(", ");
            if joined.is_empty() { texts.nobody.clone() } else { joined }
        };
        let number = |user: &UserId| user.telegram_id().unwrap_or_default().to_string();
        let owners = names(&mut self.access.owners.iter().chain(&list.owners).map(number));
        let users = names(&mut list.users.iter().map(number));
        let chats = names(&mut list.chats.iter().map(ToString::to_string));
        let mode = match self.access.mode {
            AccessMode::Allowlist => "allowlist",
            AccessMode::Open => "open",
        };
        let values = [("owners", owners.as_str()), ("users", &users), ("chats", &chats), ("mode", mode)];
        let body = format!("{}\n\n{}", fill(&texts.access_list, &values), texts.access_help);
        Ok(Card::text(body).row(vec![Button::new(&texts.button_back, "start:back")]))
    }
}
