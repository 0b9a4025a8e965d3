//! The card that says who may talk to the bot.

use std::collections::HashSet;
use std::sync::Arc;

use futures::future::join_all;

use super::super::asker::Asker;
use super::super::card::Card;
use super::super::cards::Cards;
use super::super::handles::Handles;
use crate::callback;
use crate::send::Button;
use figaro_base::ids::{ChatId, UserId};
use figaro_config::{AccessMode, AccessSettings};
use figaro_domain::access::AllowedBot;
use figaro_policy::access::is_owner;
use figaro_prompts::texts::fill;
use figaro_store::{SettingsStore, StoreError};

/// So many of a kind are shown by name: each is asked of Telegram. Others are shown by number.
const MAX_NAMED: usize = 30;

/// Says who may talk to the bot. Cheap to clone.
#[derive(Debug, Clone)]
pub(in super::super) struct AccessCard {
    pub(super) cards: Cards,
    pub(super) settings: Arc<dyn SettingsStore>,
    pub(super) access: AccessSettings,
}

impl AccessCard {
    pub(in super::super) fn new(handles: &Handles) -> Self {
        let (cards, access) = (handles.cards.clone(), handles.access.clone());
        Self { cards, settings: handles.store.clone(), access }
    }

    pub(super) async fn owns(&self, user: &UserId) -> Result<bool, StoreError> {
        Ok(is_owner(&self.access, &*self.settings.access().await?, user))
    }

    /// The name that Telegram knows a person by.
    pub(super) async fn name_of(&self, user: &UserId) -> String {
        self.cards.name_of(ChatId(user.telegram_id().unwrap_or_default())).await
    }

    /// The person on the list with this username.
    pub(super) async fn person_named(&self, username: &str) -> Result<Option<UserId>, StoreError> {
        let list = self.settings.access().await?;
        let known = list.users.iter().chain(&list.denied).chain(&list.owners);
        let with_role = list.roles.iter().map(|given| &given.user);
        let people: HashSet<&UserId> =
            known.chain(with_role).chain(list.bans.iter().map(|ban| &ban.user)).collect();
        // The name is what people choose, and may end like a username; that itself belongs to one person.
        let named = people.into_iter().map(async |user| {
            let number = ChatId(user.telegram_id().unwrap_or_default());
            (user.clone(), self.cards.names_of(number).await.1)
        });
        let is_it =
            |known: &Option<String>| known.as_ref().is_some_and(|known| known.eq_ignore_ascii_case(username));
        Ok(join_all(named).await.into_iter().find(|(_, known)| is_it(known)).map(|(user, _)| user))
    }

    /// People who may not talk to the bot, and the way to change that.
    pub(super) async fn denied(&self, asker: &Asker) -> Result<Card, StoreError> {
        let texts = self.cards.texts(asker);
        let list = self.settings.access().await?;
        let denied = [people(&list.denied), list.denied_chats.clone()].concat();
        let names = self.names(denied).await;
        let names = if names.is_empty() { texts.nobody().to_owned() } else { names };
        let more = self.roles_and_bans(asker).await?;
        let body =
            format!("{}{more}\n\n{}", fill(texts.deny_list(), &[("denied", &names)]), texts.deny_help());
        let people = Button::new(texts.button_people(), callback::People::List(0));
        let back = Button::new(texts.button_back(), callback::Start::Back);
        Ok(Card::text(body).row(vec![people]).row(vec![back]))
    }

    /// Owners, people, groups, who was denied, and how that is changed.
    pub(in super::super) async fn card(&self, asker: &Asker) -> Result<Card, StoreError> {
        let texts = self.cards.texts(asker);
        let list = self.settings.access().await?;
        let owners = [people(&self.access.owners), people(&list.owners)].concat();
        let denied = [people(&list.denied), list.denied_chats.clone()].concat();
        let named = [owners, people(&list.users), list.chats.clone(), denied].map(|ids| self.names(ids));
        let [owners, users, chats, denied] = join_all(named).await.try_into().unwrap_or_default();
        let or_nobody = |names: String| if names.is_empty() { texts.nobody().to_owned() } else { names };
        let mode = match self.access.mode {
            AccessMode::Pairing => texts.access_pairing(),
            AccessMode::Allowlist => texts.access_allowlist(),
            AccessMode::Open => texts.access_open(),
        };
        let [owners, users, chats, denied] = [owners, users, chats, denied].map(or_nobody);
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
        let more = self.roles_and_bans(asker).await?;
        let body = format!("{}{bots}{more}\n\n{}", fill(texts.access_list(), &values), texts.access_help());
        let people = Button::new(texts.button_people(), callback::People::List(0));
        let card = Card::text(body).row(vec![Button::new(texts.button_code(), callback::MakeCode), people]);
        Ok(card.row(vec![Button::new(texts.button_back(), callback::Start::Back)]))
    }

    /// Bots with the groups in which they are answered; empty for none.
    async fn bots(&self, bots: &[AllowedBot]) -> String {
        let named = bots
            .iter()
            .take(MAX_NAMED)
            .map(async |bot| format!("@{} ({})", bot.username, self.cards.name_of(bot.chat).await));
        join_all(named).await.join(", ")
    }

    /// Names with commas between them; empty for nobody.
    async fn names(&self, ids: Vec<ChatId>) -> String {
        let (named, others) = ids.split_at(ids.len().min(MAX_NAMED));
        let mut names = join_all(named.iter().map(|id| self.cards.name_of(*id))).await;
        names.extend(others.iter().map(ToString::to_string));
        names.join(", ")
    }
}

fn people(users: &[UserId]) -> Vec<ChatId> {
    users.iter().map(|user| ChatId(user.telegram_id().unwrap_or_default())).collect()
}
