//! `/allow` with a role, and `/deny` with a time or for one chat: what an owner makes of somebody.

use chrono::{DateTime, Utc};

use super::super::asker::Asker;
use super::super::card::Card;
use super::super::command::Pressed;
use super::card::{AccessCard, number_of, people};
use crate::callback::{DenyHere, GiveRole};
use crate::send::Button;
use figaro_base::ids::{ChatId, UserId};
use figaro_domain::access::AccessChange;
use figaro_domain::audit::AuditActor;
use figaro_domain::role::{AccessRole, Ban, GivenRole};
use figaro_prompts::texts::{Texts, fill};
use figaro_store::StoreError;

/// Words for roles in other languages than English.
const ROLE_WORDS: [(&str, AccessRole); 3] =
    [("membro", AccessRole::Member), ("convidado", AccessRole::Guest), ("convidada", AccessRole::Guest)];
/// What stands behind `/deny` for a ban in one chat.
const HERE: [&str; 2] = ["here", "aqui"];

/// What is wanted of `/allow` or `/deny` beside whom.
pub(super) enum Wish {
    /// Nothing more.
    Plain,
    /// A role.
    Role(AccessRole),
    /// A ban in the chat in which it is said, or one with an end.
    Ban {
        /// Whether it is for this chat alone.
        here: bool,
        /// How long; the word as it was typed.
        span: Option<String>,
    },
}

impl Wish {
    /// Parts what is wanted from whom: the argument without the words that say what.
    pub(super) fn split(argument: &str, allows: bool) -> (String, Self) {
        let (mut whom, mut wish) = (Vec::new(), Self::Plain);
        for word in argument.split_whitespace() {
            let said = word.to_lowercase();
            let role = AccessRole::named(&said)
                .or_else(|| ROLE_WORDS.iter().find(|(name, _)| *name == said).map(|(_, role)| *role));
            let (was_here, before) = match &wish {
                Self::Ban { here, span } => (*here, span.clone()),
                Self::Plain | Self::Role(_) => (false, None),
            };
            match role {
                Some(role) if allows => wish = Self::Role(role),
                None if !allows && HERE.contains(&said.as_str()) => {
                    wish = Self::Ban { here: true, span: before }
                }
                None if !allows && Ban::span(&said).is_some() => {
                    wish = Self::Ban { here: was_here, span: Some(said) };
                }
                Some(_) | None => whom.push(word),
            }
        }
        (whom.join(" "), wish)
    }
}

impl AccessCard {
    /// Gives somebody a role or bans them, as an owner says.
    pub(super) async fn fulfil(&self, wish: Wish, user: UserId, asker: &Asker) -> Result<Card, StoreError> {
        let texts = self.cards.texts(asker);
        match wish {
            // Without a wish nothing is changed here: `/allow` and `/deny` do that themselves.
            Wish::Plain => Ok(Card::text(texts.nothing_changed())),
            Wish::Role(role) => {
                let (person, chat) = (user.telegram_id().unwrap_or_default(), here(asker));
                let words = self.given(GiveRole { role, person, chat }, asker).await?;
                Ok(Card::text(words).row(self.role_buttons(person, asker).await?))
            }
            Wish::Ban { .. } if self.owns(&user).await? => Ok(Card::text(texts.owner_not_denied())),
            Wish::Ban { here: true, .. } if !asker.place.is_group() => {
                Ok(Card::text(texts.ban_here_in_group()))
            }
            Wish::Ban { here, span } => self.ban(user, here, span, asker).await,
        }
    }

    async fn ban(
        &self,
        user: UserId,
        here: bool,
        span: Option<String>,
        asker: &Asker,
    ) -> Result<Card, StoreError> {
        let (texts, now) = (self.cards.texts(asker), self.cards.now());
        let until = span.as_deref().and_then(Ban::span).map(|span| now + span);
        let chat = here.then_some(asker.place.chat);
        let who = self.name_of(number_of(&user)).await;
        let change = AccessChange::Ban { ban: Ban { user, chat, until }, at: now };
        self.settings.change_access(change, AuditActor::Person(asker.speaker.user.clone())).await?;
        let words = match (here, &span) {
            (true, Some(_)) => texts.banned_here_for(),
            (true, None) => texts.banned_here(),
            (false, _) => texts.banned_for(),
        };
        Ok(Card::text(fill(words, &[("id", &who), ("span", span.as_deref().unwrap_or_default())])))
    }

    /// Does what is said to the question whether the group may talk to the bot no more.
    pub(super) async fn deny_here(&self, here: DenyHere, asker: &Asker) -> Result<Pressed, StoreError> {
        if here == DenyHere::Show {
            return Ok(Pressed::card(self.denied(asker).await?));
        }
        let texts = self.cards.texts(asker);
        let change = AccessChange::DenyChat(asker.place.chat);
        let by = AuditActor::Person(asker.speaker.user.clone());
        let is_changed = here == DenyHere::Yes && self.settings.change_access(change, by).await?;
        let words = if is_changed { texts.denied_chat() } else { texts.still_so() };
        Ok(Pressed::both(words, Card::text(words)))
    }

    /// Does what a button of a role says.
    pub(super) async fn give_role(&self, press: GiveRole, asker: &Asker) -> Result<Pressed, StoreError> {
        let words = self.given(press, asker).await?;
        let row = self.role_buttons(press.person, asker).await?;
        Ok(Pressed::both(words.clone(), Card::text(words).row(row)))
    }

    /// That somebody may talk to the bot: their role in words, where it is another than a member's, and the buttons that change it.
    pub(super) async fn let_in(
        &self,
        person: i64,
        words: &str,
        who: &str,
        asker: &Asker,
    ) -> Result<Card, StoreError> {
        let (texts, chat) = (self.cards.texts(asker), here(asker));
        let words = match self.settings.access().await?.role_of(&UserId::telegram(person), chat) {
            AccessRole::Member => words,
            role => words_of(texts, role, chat),
        };
        Ok(Card::text(fill(words, &[("id", who)])).row(self.role_buttons(person, asker).await?))
    }

    /// Buttons that give a person one of the roles; the one that holds here has a mark.
    async fn role_buttons(&self, person: i64, asker: &Asker) -> Result<Vec<Button>, StoreError> {
        let (texts, user, chat) = (self.cards.texts(asker), UserId::telegram(person), here(asker));
        let held = self.settings.access().await?.role_of(&user, chat);
        let is_owner = self.owns(&user).await?;
        let button = |role| {
            let mark = if role == held && !is_owner { "✓ " } else { "" };
            Button::new(format!("{mark}{}", role_name(texts, role)), GiveRole { role, person, chat })
        };
        Ok(AccessRole::ALL.into_iter().map(button).collect())
    }

    async fn given(&self, give: GiveRole, asker: &Asker) -> Result<String, StoreError> {
        let (texts, user) = (self.cards.texts(asker), UserId::telegram(give.person));
        if self.owns(&user).await? {
            return Ok(texts.owner_has_no_role().to_owned());
        }
        let who = self.name_of(number_of(&user)).await;
        let change = AccessChange::GiveRole(GivenRole { user, chat: give.chat, role: give.role });
        self.settings.change_access(change, AuditActor::Person(asker.speaker.user.clone())).await?;
        let words = words_of(texts, give.role, give.chat);
        Ok(fill(words, &[("id", &who)]))
    }

    /// Lines of roles, for the list; empty where there are none.
    pub(super) async fn roles(&self, asker: &Asker) -> Result<String, StoreError> {
        let (texts, list) = (self.cards.texts(asker), self.settings.access().await?);
        let mut lines = String::new();
        for given in list.roles.iter().take(MAX_SHOWN) {
            let (who, place) = self.who_and_where(&given.user, given.chat).await;
            lines.push_str(&format!("\n{who}: {}{place}", role_name(texts, given.role)));
        }
        Ok(lines)
    }

    /// Everybody who is not heard now, with where and until when; the word for nobody where there are none.
    pub(super) async fn unheard(&self, asker: &Asker) -> Result<String, StoreError> {
        let (texts, list, now) = (self.cards.texts(asker), self.settings.access().await?, self.cards.now());
        let denied = self.names([people(&list.denied), list.denied_chats.clone()].concat()).await;
        let mut all: Vec<String> = (!denied.is_empty()).then_some(denied).into_iter().collect();
        for ban in list.bans.iter().filter(|ban| !ban.is_over(now)).take(MAX_SHOWN) {
            let (who, place) = self.who_and_where(&ban.user, ban.chat).await;
            let who = format!("{who}{place}");
            all.push(match ban.until {
                Some(until) => {
                    let time = self.spoken(until, asker).await?;
                    fill(texts.access_ban(), &[("id", &who), ("time", &time)])
                }
                None => who,
            });
        }
        Ok(if all.is_empty() { texts.nobody().to_owned() } else { all.join(", ") })
    }

    /// A time as people say it, by the clock of the chat.
    pub(super) async fn spoken(&self, at: DateTime<Utc>, asker: &Asker) -> Result<String, StoreError> {
        let zone = self.settings.chat_config(asker.place.chat).await?.timezone.unwrap_or(self.default_zone);
        let [at, now] = [at, self.cards.now()].map(|time| time.with_timezone(&zone));
        Ok(self.cards.texts(asker).spoken(&at, &now))
    }

    async fn who_and_where(&self, user: &UserId, chat: Option<ChatId>) -> (String, String) {
        let place = match chat {
            Some(chat) => format!(" ({})", self.cards.name_of(chat).await),
            None => String::new(),
        };
        (self.name_of(number_of(user)).await, place)
    }
}

/// The sentence that tells the role of somebody, with `{id}` for the person.
const fn words_of(texts: &Texts, role: AccessRole, chat: Option<ChatId>) -> &str {
    match (role, chat) {
        (AccessRole::Admin, Some(_)) => texts.made_admin_here(),
        (AccessRole::Admin, None) => texts.made_admin(),
        (AccessRole::Member, _) => texts.made_member(),
        (AccessRole::Guest, Some(_)) => texts.made_guest_here(),
        (AccessRole::Guest, None) => texts.made_guest(),
    }
}

/// So many roles and bans are shown.
const MAX_SHOWN: usize = 15;

/// Where a role holds that is given here: in this group, or everywhere.
fn here(asker: &Asker) -> Option<ChatId> {
    asker.place.is_group().then_some(asker.place.chat)
}

pub(in super::super) const fn role_name(texts: &Texts, role: AccessRole) -> &str {
    match role {
        AccessRole::Admin => texts.role_admin(),
        AccessRole::Member => texts.role_member(),
        AccessRole::Guest => texts.role_guest(),
    }
}
