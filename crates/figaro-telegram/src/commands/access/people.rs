//! The people an owner has said something of, as a list with buttons, and the card of one of them: what holds for them, where, and
//! how it is changed.

use futures::future::join_all;

use super::super::asker::Asker;
use super::super::card::{Card, ROWS, number, page_of, pager};
use super::super::command::Pressed;
use super::card::{AccessCard, number_of};
use super::roles::role_name;
use crate::callback::{Page, People};
use crate::send::Button;
use figaro_base::ids::{ChatId, UserId};
use figaro_domain::access::{AccessChange, AccessList};
use figaro_domain::audit::AuditActor;
use figaro_domain::role::{AccessRole, Ban, GivenRole};
use figaro_policy::access::is_owner;
use figaro_prompts::texts::{Texts, fill};
use figaro_store::StoreError;

/// The most chats of which a card tells what holds for a person there.
const MAX_CHATS: usize = 10;

/// What holds for a person in one chat, or everywhere.
struct There {
    chat: Option<ChatId>,
    role: Option<AccessRole>,
    ban: Option<Ban>,
}

impl AccessCard {
    /// Does what a button of the list or of a person's card says.
    pub(super) async fn press_people(&self, press: People, asker: &Asker) -> Result<Pressed, StoreError> {
        let (person, page, change) = match press {
            People::List(page) => return Ok(Pressed::card(self.people(page, asker).await?)),
            People::Open(person, page) => return Ok(Pressed::card(self.person(person, page, asker).await?)),
            People::Allow(person, page) => (person, page, AccessChange::AllowUser(UserId::telegram(person))),
            People::Deny(person, page) => (person, page, AccessChange::DenyUser(UserId::telegram(person))),
            People::Role(role, person, page) => {
                let given = GivenRole { user: UserId::telegram(person), chat: None, role };
                (person, page, AccessChange::GiveRole(given))
            }
            People::Lift(person, chat, page) => {
                (person, page, AccessChange::Lift { user: UserId::telegram(person), chat })
            }
        };
        let texts = self.cards.texts(asker);
        // They may have become one since.
        if self.owns(&UserId::telegram(person)).await? {
            return Ok(Pressed::both(texts.owner_has_no_role(), self.people(page, asker).await?));
        }
        let by = AuditActor::Person(asker.speaker.user.clone());
        let changed = self.settings.change_access(change, by).await?;
        let toast = if changed { texts.config_saved() } else { texts.nothing_changed() };
        Ok(Pressed::both(toast, self.person(person, page, asker).await?))
    }

    /// A page of the people an owner has said something of: those who may talk to the bot first.
    async fn people(&self, page: Page, asker: &Asker) -> Result<Card, StoreError> {
        let (texts, list, now) = (self.cards.texts(asker), self.settings.access().await?, self.cards.now());
        let people = self.known(&list);
        let page = page_of(page, people.len());
        let shown: Vec<&UserId> = people.iter().skip(page * ROWS).take(ROWS).copied().collect();
        let row = async |user: &UserId| {
            let state = if list.denied.contains(user) {
                texts.people_denied()
            } else if list.bans.iter().any(|ban| ban.user == *user && !ban.is_over(now)) {
                texts.people_banned()
            } else {
                role_name(texts, list.role_of(user, None))
            };
            let person = user.telegram_id().unwrap_or_default();
            let label = format!("{} · {state}", self.name_of(number_of(user)).await);
            vec![Button::new(label, People::Open(person, number(page)))]
        };
        let rows = join_all(shown.into_iter().map(row)).await;
        let about = if people.is_empty() { texts.people_empty() } else { texts.people_about() };
        let pages = pager(texts, page, people.len(), People::List);
        Ok(Card::titled(texts.button_people(), about).rows(rows).row(pages).first())
    }

    /// Everybody but the owners that the list names, each once.
    fn known<'a>(&self, list: &'a AccessList) -> Vec<&'a UserId> {
        let roles = list.roles.iter().map(|given| &given.user);
        let bans = list.bans.iter().map(|ban| &ban.user);
        let mut people: Vec<&UserId> = Vec::new();
        for user in list.users.iter().chain(roles).chain(bans).chain(&list.denied) {
            if !is_owner(&self.access, list, user) && !people.contains(&user) {
                people.push(user);
            }
        }
        people
    }

    /// What holds for a person, and the buttons that change it.
    async fn person(&self, person: i64, page: Page, asker: &Asker) -> Result<Card, StoreError> {
        let (texts, list, user) =
            (self.cards.texts(asker), self.settings.access().await?, UserId::telegram(person));
        let is_denied = list.denied.contains(&user);
        let all = self.there(&list, &user);
        let state = match (is_denied, list.users.contains(&user)) {
            (true, _) => texts.people_is_denied(),
            (false, true) => texts.people_is_allowed(),
            (false, false) => texts.people_is_not_allowed(),
        };
        let mut lines = vec![state.to_owned()];
        let (mut lifts, shown) = (Vec::new(), all.len().min(MAX_CHATS));
        for there in all.iter().take(MAX_CHATS) {
            let place = match there.chat {
                Some(chat) => self.cards.name_of(chat).await,
                None => texts.people_everywhere().to_owned(),
            };
            let until = match there.ban.as_ref().and_then(|ban| ban.until) {
                Some(until) => Some(self.spoken(until, asker).await?),
                None => None,
            };
            lines.push(format!("{place}: {}", there.words(texts, until)));
            let label = fill(texts.button_lift(), &[("place", &place)]);
            lifts.push(vec![Button::new(label, People::Lift(person, there.chat, page))]);
        }
        if all.len() > shown {
            lines.push(fill(texts.people_more(), &[("count", &(all.len() - shown).to_string())]));
        }
        // Whoever is let in without a role is a member; nobody else has one that was not given.
        let is_let_in = list.users.contains(&user)
            || all.iter().any(|there| there.chat.is_none() && there.role.is_some());
        let roles = AccessRole::ALL.map(|role| {
            let is_theirs = !is_denied && is_let_in && list.role_of(&user, None) == role;
            let mark = if is_theirs { "✓ " } else { "" };
            Button::new(format!("{mark}{}", role_name(texts, role)), People::Role(role, person, page))
        });
        let allow = Button::new(texts.button_allow(), People::Allow(person, page));
        let deny = Button::new(texts.button_deny(), People::Deny(person, page));
        Ok(Card::titled(&self.name_of(number_of(&user)).await, lines.join("\n"))
            .row(roles.into())
            .row(vec![if is_denied { allow } else { deny }])
            .rows(lifts)
            .row(vec![Button::new(texts.button_back(), People::List(page))]))
    }

    /// The roles and the bans of a person that hold now, by place: everywhere first.
    fn there(&self, list: &AccessList, user: &UserId) -> Vec<There> {
        let now = self.cards.now();
        let given = list.roles.iter().filter(|given| given.user == *user);
        let bans: Vec<&Ban> = list.bans.iter().filter(|ban| ban.user == *user && !ban.is_over(now)).collect();
        let mut all: Vec<There> =
            given.map(|given| There { chat: given.chat, role: Some(given.role), ban: None }).collect();
        for ban in bans {
            match all.iter_mut().find(|there| there.chat == ban.chat) {
                Some(there) => there.ban = Some(ban.clone()),
                None => all.push(There { chat: ban.chat, role: None, ban: Some(ban.clone()) }),
            }
        }
        all.sort_by_key(|there| there.chat);
        all
    }
}

impl There {
    /// Until when a ban holds is given in words.
    fn words(&self, texts: &Texts, until: Option<String>) -> String {
        let role = self.role.map(|role| role_name(texts, role).to_owned());
        let ban = self.ban.as_ref().map(|_| match until {
            Some(until) => fill(texts.people_banned_until(), &[("time", &until)]),
            None => texts.people_banned().to_owned(),
        });
        role.into_iter().chain(ban).collect::<Vec<_>>().join(", ")
    }
}
