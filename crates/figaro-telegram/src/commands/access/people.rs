//! List of the people with access settings, with buttons, and the card of a person: their roles and bans in each
//! chat, and how to change them.

use futures::future::join_all;

use super::super::asker::Asker;
use super::super::card::Card;
use super::super::command::Pressed;
use super::super::list_page::ListPage;
use super::card::{AccessCard, number_of};
use crate::callback::{Page, PeopleButton};
use crate::send::Button;
use figaro_base::ids::{ChatId, UserId};
use figaro_domain::access::{AccessChange, AccessList};
use figaro_domain::audit::AuditActor;
use figaro_domain::role::{AccessRole, Ban, GivenRole};
use figaro_policy::access::is_owner;
use figaro_prompts::texts::{Texts, fill};
use figaro_store::StoreError;

/// Maximum number of chats that a person's card lists.
const MAX_CHATS: usize = 10;

/// Role and ban of a person in one chat, or everywhere if `chat` is `None`.
struct There {
    chat: Option<ChatId>,
    role: Option<AccessRole>,
    ban: Option<Ban>,
}

impl AccessCard {
    /// Handles a press on the list or on a person's card.
    pub(super) async fn press_people(
        &self,
        press: PeopleButton,
        asker: &Asker,
    ) -> Result<Pressed, StoreError> {
        let (person, page, change) = match press {
            PeopleButton::List(page) => return Ok(Pressed::card(self.people(page, asker).await?)),
            PeopleButton::Open(person, page) => {
                return Ok(Pressed::card(self.person(person, page, asker).await?));
            }
            PeopleButton::Allow(person, page) => {
                (person, page, AccessChange::AllowUser(UserId::telegram(person)))
            }
            PeopleButton::Deny(person, page) => {
                (person, page, AccessChange::DenyUser(UserId::telegram(person)))
            }
            PeopleButton::Role(role, person, page) => {
                let given = GivenRole { user: UserId::telegram(person), chat: None, role };
                (person, page, AccessChange::GiveRole(given))
            }
            PeopleButton::Lift(person, chat, page) => {
                (person, page, AccessChange::Lift { user: UserId::telegram(person), chat })
            }
        };
        let texts = self.cards.texts(asker);
        // The person may have become an owner since the card was shown.
        if self.owns(&UserId::telegram(person))? {
            return Ok(Pressed::both(texts.owner_has_no_role(), self.people(page, asker).await?));
        }
        let by = AuditActor::Person(asker.speaker.user.clone());
        let changed = self.settings.change_access(change, by).await?;
        let toast = if changed { texts.config_saved() } else { texts.nothing_changed() };
        Ok(Pressed::both(toast, self.person(person, page, asker).await?))
    }

    /// Returns a page of the people with access settings; those who may talk to the bot come first.
    async fn people(&self, page: Page, asker: &Asker) -> Result<Card, StoreError> {
        let (texts, list, now) = (self.cards.texts(asker), self.settings.access()?, self.cards.now());
        let page = ListPage::of(self.known(&list), page);
        let row = async |user: &UserId| {
            let state = if list.denied.contains(user) {
                texts.people_denied()
            } else if list.bans.iter().any(|ban| ban.user == *user && !ban.is_over(now)) {
                texts.people_banned()
            } else {
                texts.role(list.role_of(user, None))
            };
            let person = user.telegram_id().unwrap_or_default();
            let label = format!("{} · {state}", self.name_of(number_of(user)).await);
            vec![Button::new(label, PeopleButton::Open(person, page.number()))]
        };
        let rows = join_all(page.items.iter().copied().map(row)).await;
        let about = if page.total == 0 { texts.people_empty() } else { texts.people_about() };
        let card = Card::titled(texts.button_people(), about).rows(rows);
        Ok(card.pages(texts, &page, PeopleButton::List).first())
    }

    /// Returns everybody on the access list but the owners, without duplicates.
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

    /// Returns the card of a person: their roles and bans, with buttons that change them.
    async fn person(&self, person: i64, page: Page, asker: &Asker) -> Result<Card, StoreError> {
        let (texts, list, user) =
            (self.cards.texts(asker), self.settings.access()?, UserId::telegram(person));
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
                Some(until) => Some(self.spoken(until, asker)?),
                None => None,
            };
            lines.push(format!("{place}: {}", there.words(texts, until)));
            let label = fill(texts.button_lift(), &[("place", &place)]);
            lifts.push(vec![Button::new(label, PeopleButton::Lift(person, there.chat, page))]);
        }
        if all.len() > shown {
            lines.push(fill(texts.people_more(), &[("count", &(all.len() - shown).to_string())]));
        }
        // People who are allowed without a role are members. Others have a role only if they were given one.
        let is_let_in = list.users.contains(&user)
            || all.iter().any(|there| there.chat.is_none() && there.role.is_some());
        let roles = AccessRole::ALL.map(|role| {
            let is_theirs = !is_denied && is_let_in && list.role_of(&user, None) == role;
            let mark = if is_theirs { "✓ " } else { "" };
            Button::new(format!("{mark}{}", texts.role(role)), PeopleButton::Role(role, person, page))
        });
        let allow = Button::new(texts.button_allow(), PeopleButton::Allow(person, page));
        let deny = Button::new(texts.button_deny(), PeopleButton::Deny(person, page));
        Ok(Card::titled(&self.name_of(number_of(&user)).await, lines.join("\n"))
            .row(roles.into())
            .row(vec![if is_denied { allow } else { deny }])
            .rows(lifts)
            .row(vec![Button::new(texts.button_back(), PeopleButton::List(page))]))
    }

    /// Returns the current roles and bans of a person by chat; those that hold everywhere come first.
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
    /// Returns the role and the ban as text; `until` is the end of the ban as text.
    fn words(&self, texts: &Texts, until: Option<String>) -> String {
        let role = self.role.map(|role| texts.role(role).to_owned());
        let ban = self.ban.as_ref().map(|_| match until {
            Some(until) => fill(texts.people_banned_until(), &[("time", &until)]),
            None => texts.people_banned().to_owned(),
        });
        role.into_iter().chain(ban).collect::<Vec<_>>().join(", ")
    }
}
