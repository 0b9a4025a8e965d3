//! `/allow` with a role, and `/deny` with a time span or for one chat.

use chrono::{DateTime, Utc};

use super::super::asker::Asker;
use super::super::card::Card;
use super::super::command::Pressed;
use super::card::{AccessCard, number_of, people};
use crate::callback::{DenyHereButton, GiveRoleButton};
use crate::send::Button;
use figaro_base::ids::{ChatId, UserId};
use figaro_domain::access::AccessChange;
use figaro_domain::audit::AuditActor;
use figaro_domain::role::{AccessRole, Ban, GivenRole};
use figaro_prompts::texts::{Texts, fill};
use figaro_store::StoreError;

/// Names of roles in languages other than English.
const ROLE_WORDS: [(&str, AccessRole); 3] =
    [("membro", AccessRole::Member), ("convidado", AccessRole::Guest), ("convidada", AccessRole::Guest)];
/// Arguments of `/deny` for a ban in one chat.
const HERE: [&str; 2] = ["here", "aqui"];

/// Options of `/allow` or `/deny` besides the target.
pub(super) enum Wish {
    Plain,
    Role(AccessRole),
    /// A ban in the current chat, or a ban with an end.
    Ban {
        /// `true` if the ban is only for the current chat.
        here: bool,
        /// Time span of the ban, as typed; `None` for no end.
        span: Option<String>,
    },
}

impl Wish {
    /// Splits an argument into the target and the options.
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
    /// Gives a person a role or bans them.
    pub(super) async fn fulfil(&self, wish: Wish, user: UserId, asker: &Asker) -> Result<Card, StoreError> {
        let texts = self.cards.texts(asker);
        match wish {
            // Without options, `/allow` and `/deny` make the change themselves.
            Wish::Plain => Ok(Card::text(texts.nothing_changed())),
            Wish::Role(role) => {
                let (person, chat) = (user.telegram_id().unwrap_or_default(), here(asker));
                let words = self.given(GiveRoleButton { role, person, chat }, asker).await?;
                Ok(Card::text(words).row(self.role_buttons(person, asker)?))
            }
            Wish::Ban { .. } if self.owns(&user)? => Ok(Card::text(texts.owner_not_denied())),
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

    /// Handles the answer to the question to deny the whole group.
    pub(super) async fn deny_here(&self, here: DenyHereButton, asker: &Asker) -> Result<Pressed, StoreError> {
        if here == DenyHereButton::Show {
            return Ok(Pressed::card(self.denied(asker).await?));
        }
        let texts = self.cards.texts(asker);
        let change = AccessChange::DenyChat(asker.place.chat);
        let by = AuditActor::Person(asker.speaker.user.clone());
        let is_changed = here == DenyHereButton::Yes && self.settings.change_access(change, by).await?;
        let words = if is_changed { texts.denied_chat() } else { texts.still_so() };
        Ok(Pressed::both(words, Card::text(words)))
    }

    /// Handles a press on a button that gives a role.
    pub(super) async fn give_role(
        &self,
        press: GiveRoleButton,
        asker: &Asker,
    ) -> Result<Pressed, StoreError> {
        let words = self.given(press, asker).await?;
        let row = self.role_buttons(press.person, asker)?;
        Ok(Pressed::both(words.clone(), Card::text(words).row(row)))
    }

    /// Returns the card for a person who was allowed: their role, if they are not just a member, and buttons that
    /// change it.
    pub(super) fn let_in(
        &self,
        person: i64,
        words: &str,
        who: &str,
        asker: &Asker,
    ) -> Result<Card, StoreError> {
        let (texts, chat) = (self.cards.texts(asker), here(asker));
        let words = match self.settings.access()?.role_of(&UserId::telegram(person), chat) {
            AccessRole::Member => words,
            role => words_of(texts, role, chat),
        };
        Ok(Card::text(fill(words, &[("id", who)])).row(self.role_buttons(person, asker)?))
    }

    /// Returns the buttons that give a person a role; the role that applies here has a mark.
    fn role_buttons(&self, person: i64, asker: &Asker) -> Result<Vec<Button>, StoreError> {
        let (texts, user, chat) = (self.cards.texts(asker), UserId::telegram(person), here(asker));
        let held = self.settings.access()?.role_of(&user, chat);
        let is_owner = self.owns(&user)?;
        let button = |role| {
            let mark = if role == held && !is_owner { "✓ " } else { "" };
            Button::new(format!("{mark}{}", texts.role(role)), GiveRoleButton { role, person, chat })
        };
        Ok(AccessRole::ALL.into_iter().map(button).collect())
    }

    async fn given(&self, give: GiveRoleButton, asker: &Asker) -> Result<String, StoreError> {
        let (texts, user) = (self.cards.texts(asker), UserId::telegram(give.person));
        if self.owns(&user)? {
            return Ok(texts.owner_has_no_role().to_owned());
        }
        let who = self.name_of(number_of(&user)).await;
        let change = AccessChange::GiveRole(GivenRole { user, chat: give.chat, role: give.role });
        self.settings.change_access(change, AuditActor::Person(asker.speaker.user.clone())).await?;
        let words = words_of(texts, give.role, give.chat);
        Ok(fill(words, &[("id", &who)]))
    }

    /// Returns the lines of roles for the list; empty if there are none.
    pub(super) async fn roles(&self, asker: &Asker) -> Result<String, StoreError> {
        let (texts, list) = (self.cards.texts(asker), self.settings.access()?);
        let mut lines = String::new();
        for given in list.roles.iter().take(MAX_SHOWN) {
            let (who, place) = self.who_and_where(&given.user, given.chat).await;
            lines.push_str(&format!("\n{who}: {}{place}", texts.role(given.role)));
        }
        Ok(lines)
    }

    /// Returns all denied and banned people and groups with the chat and the end of the ban, or the word for nobody.
    pub(super) async fn unheard(&self, asker: &Asker) -> Result<String, StoreError> {
        let (texts, list, now) = (self.cards.texts(asker), self.settings.access()?, self.cards.now());
        let denied = self.names([people(&list.denied), list.denied_chats.clone()].concat()).await;
        let mut all: Vec<String> = (!denied.is_empty()).then_some(denied).into_iter().collect();
        for ban in list.bans.iter().filter(|ban| !ban.is_over(now)).take(MAX_SHOWN) {
            let (who, place) = self.who_and_where(&ban.user, ban.chat).await;
            let who = format!("{who}{place}");
            all.push(match ban.until {
                Some(until) => {
                    let time = self.spoken(until, asker)?;
                    fill(texts.access_ban(), &[("id", &who), ("time", &time)])
                }
                None => who,
            });
        }
        Ok(if all.is_empty() { texts.nobody().to_owned() } else { all.join(", ") })
    }

    /// Formats a time for people, in the time zone of the chat.
    pub(super) fn spoken(&self, at: DateTime<Utc>, asker: &Asker) -> Result<String, StoreError> {
        let zone = self.settings.chat_config(asker.place.chat)?.timezone.unwrap_or(self.default_zone);
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

/// Returns the sentence that tells a person's role, with the placeholder `{id}`.
fn words_of(texts: &Texts, role: AccessRole, chat: Option<ChatId>) -> &str {
    match (role, chat) {
        (AccessRole::Admin, Some(_)) => texts.made_admin_here(),
        (AccessRole::Admin, None) => texts.made_admin(),
        (AccessRole::Member, _) => texts.made_member(),
        (AccessRole::Guest, Some(_)) => texts.made_guest_here(),
        (AccessRole::Guest, None) => texts.made_guest(),
    }
}

/// Maximum number of roles and of bans that are shown.
const MAX_SHOWN: usize = 15;

/// Returns the scope of a role given here: this group, or everywhere in private.
fn here(asker: &Asker) -> Option<ChatId> {
    asker.place.is_group().then_some(asker.place.chat)
}
