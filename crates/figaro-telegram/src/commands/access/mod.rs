//! `/allow` and `/deny`: an owner lets people and groups talk to the bot, or no longer. A person is named by number, by
//! username once the bot knows them, or by a reply to a message of theirs; a group by number, or by the command alone in it.

mod card;
mod code;
mod group;
mod people;
mod request;
mod roles;

use async_trait::async_trait;

pub(super) use self::card::AccessCard;
use self::card::number_of;
use self::code::Codes;
pub use self::request::AccessRequests;
use self::roles::Wish;
pub(super) use self::roles::role_name;
use super::card::Card;
use super::command::{Access, Command, Group, Outcome, Press, PressError, Pressed, Request};
use super::handles::Handles;
use crate::callback::{Admit, AdmitGroup, DenyHere, Family, GiveRole, MakeCode, People};
use crate::send::Button;
use figaro_base::ids::{ChatId, UserId};
use figaro_base::text::one_line;
use figaro_domain::access::{AccessChange, AllowedBot};
use figaro_domain::audit::AuditActor;
use figaro_prompts::texts::{Texts, fill};
use figaro_store::StoreError;

/// The most characters of what was typed that a complaint repeats.
const NAMED_CHARS: usize = 40;

/// Whom `/allow` or `/deny` is about.
enum Whom {
    /// A person: by number, or by a reply to a message of theirs.
    Person(UserId),
    /// A group, by number.
    Group(ChatId),
    /// The group in which it was said.
    Here(ChatId),
    /// Another bot, in the group in which it was said.
    Bot(AllowedBot),
    /// A bot, said where there are no bots to answer.
    BotElsewhere,
    /// Nobody: the list is to be shown.
    Nobody,
    /// Somebody who cannot be told from the words.
    Unknown,
}

impl Whom {
    /// `list` knows people by username.
    async fn of(request: &Request<'_>, list: &AccessCard) -> Result<Self, StoreError> {
        let (argument, asker) = (request.argument().trim(), request.asker);
        if let Some(bot) = argument.strip_prefix('@').and_then(|name| AllowedBot::new(asker.place.chat, name))
        {
            return Ok(if asker.place.is_group() { Self::Bot(bot) } else { Self::BotElsewhere });
        }
        if let Some(username) = argument.strip_prefix('@') {
            return Ok(list
                .person_named(username, asker.place.chat)
                .await?
                .map_or(Self::Unknown, Self::Person));
        }
        Ok(match (argument.parse::<i64>(), request.replied) {
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
        })
    }
}

/// Lets people and groups talk to the bot, or no longer.
#[derive(Debug)]
pub(super) struct ChangeAccess {
    name: &'static str,
    allows: bool,
    list: AccessCard,
    requests: AccessRequests,
    codes: Codes,
}

impl ChangeAccess {
    /// The command that lets somebody talk to the bot.
    pub(super) fn allow(handles: &Handles) -> Self {
        Self {
            name: "allow",
            allows: true,
            list: AccessCard::new(handles),
            requests: AccessRequests::new(handles),
            codes: Codes::new(handles),
        }
    }

    /// The command that no longer does.
    pub(super) fn deny(handles: &Handles) -> Self {
        Self {
            name: "deny",
            allows: false,
            list: AccessCard::new(handles),
            requests: AccessRequests::new(handles),
            codes: Codes::new(handles),
        }
    }

    async fn change(&self, request: &Request<'_>) -> Result<Card, StoreError> {
        let (argument, wish) = Wish::split(request.argument(), self.allows);
        let request = &Request { words: &argument, ..*request };
        if !matches!(wish, Wish::Plain) {
            let whom = Whom::of(request, &self.list).await?;
            let Whom::Person(user) = whom else {
                return Ok(Card::text(self.list.cards.texts(request.asker).need_person()));
            };
            return self.list.fulfil(wish, user, request.asker).await;
        }
        let (asker, allows) = (request.asker, self.allows);
        let AccessCard { cards, settings, .. } = &self.list;
        let texts = cards.texts(asker);
        let by_name = if allows { texts.allowed_user() } else { texts.denied_user() };
        let mut person = None;
        let (change, who, words) = match Whom::of(request, &self.list).await? {
            Whom::Person(user) if !allows && self.list.owns(&user).await? => {
                return Ok(Card::text(texts.owner_not_denied()));
            }
            Whom::Person(user) => {
                person = user.telegram_id();
                let who = self.list.name_of(number_of(&user)).await;
                (
                    if allows { AccessChange::AllowUser(user) } else { AccessChange::DenyUser(user) },
                    who,
                    by_name,
                )
            }
            Whom::Group(chat) => (of_chat(allows, chat), cards.name_of(chat).await, by_name),
            Whom::Here(_) if !allows => return Ok(ask_here(texts)),
            Whom::Here(chat) => (AccessChange::AllowChat(chat), String::new(), texts.allowed_chat()),
            Whom::Bot(bot) => {
                let name = bot.username.clone();
                let words = if allows { texts.allowed_bot() } else { texts.denied_bot() };
                (if allows { AccessChange::AllowBot(bot) } else { AccessChange::DenyBot(bot) }, name, words)
            }
            Whom::BotElsewhere => return Ok(Card::text(texts.bot_elsewhere())),
            Whom::Nobody if allows => return self.list.card(asker).await,
            Whom::Nobody => return self.list.denied(asker).await,
            Whom::Unknown => return Ok(Card::text(self.complaint(texts, request))),
        };
        let changed = settings.change_access(change, AuditActor::Person(asker.speaker.user.clone())).await?;
        let words = if changed { words } else { texts.nothing_changed() };
        let Some(person) = person.filter(|_| allows) else {
            return Ok(Card::text(fill(words, &[("id", &who)])));
        };
        self.list.let_in(person, words, &who, asker).await
    }

    /// Why nobody can be told from the words: where somebody is named, what stands behind is no role or time.
    fn complaint(&self, texts: &Texts, request: &Request<'_>) -> String {
        let (first, rest) = request.argument().split_once(' ').unwrap_or((request.argument(), ""));
        let is_named = first.starts_with('@') || first.parse::<i64>().is_ok();
        let extra = match (request.replied, is_named) {
            (Some(_), false) => request.argument(),
            (_, true) => rest,
            (None, false) => "",
        };
        let words = match extra {
            "" => return texts.need_number().to_owned(),
            _ if self.allows => texts.role_unknown(),
            _ => texts.span_unknown(),
        };
        fill(words, &[("value", &one_line(extra, NAMED_CHARS))])
    }
}

#[async_trait]
impl Command for ChangeAccess {
    fn name(&self) -> &'static str {
        self.name
    }

    fn about<'a>(&'a self, texts: &'a Texts) -> &'a str {
        if self.allows { texts.command_allow() } else { texts.command_deny() }
    }

    fn group(&self) -> Option<Group> {
        Some(Group::Owner)
    }

    fn access(&self) -> Access {
        Access::Owners
    }

    async fn run(&self, request: &Request<'_>) -> Result<Outcome, StoreError> {
        if self.allows && Codes::are_meant(request.argument()) {
            return self.codes.make(request.asker).await.map(Outcome::Card);
        }
        self.change(request).await.map(Outcome::Card)
    }

    fn families(&self) -> &'static [&'static str] {
        if self.allows {
            &[Admit::NAME, AdmitGroup::NAME, MakeCode::NAME, GiveRole::NAME, People::NAME]
        } else {
            &[DenyHere::NAME]
        }
    }

    async fn press(&self, press: &Press<'_>) -> Result<Pressed, PressError> {
        if let Ok(here) = press.data.parse::<DenyHere>() {
            return Ok(self.list.deny_here(here, press.asker).await?);
        }
        if press.data.parse() == Ok(MakeCode) {
            let card = self.codes.make(press.asker).await?;
            self.list.cards.show(press.asker, card).await;
            return Ok(Pressed::Shown { toast: None, card: None });
        }
        if let Ok(role) = press.data.parse::<GiveRole>() {
            return Ok(self.list.give_role(role, press.asker).await?);
        }
        if let Ok(people) = press.data.parse::<People>() {
            return Ok(self.list.press_people(people, press.asker).await?);
        }
        if let Ok(group) = press.data.parse::<AdmitGroup>() {
            return Ok(self.requests.decide_group(group, press.asker).await?);
        }
        Ok(self.requests.decide(press.data.parse()?, press.asker).await?)
    }
}

/// Asks before the group is thrown out in which it is said.
fn ask_here(texts: &Texts) -> Card {
    Card::text(texts.deny_ask_here()).row(vec![
        Button::new(texts.button_yes(), DenyHere::Yes),
        Button::new(texts.button_back(), DenyHere::No),
    ])
}

fn of_chat(allows: bool, chat: ChatId) -> AccessChange {
    if allows { AccessChange::AllowChat(chat) } else { AccessChange::DenyChat(chat) }
}
