//! `/allow` and `/deny`: an owner allows or denies people and groups. A person is named by id, by username once the
//! bot knows them, or by a reply to a message of theirs; a group by id, or by the command alone in the group.

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
use super::card::Card;
use super::command::{
    Command, CommandOutcome, CommandRequest, CommandSpec, Group, Press, PressError, Pressed,
};
use super::handles::Handles;
use crate::callback::{
    AdmitButton, AdmitGroupButton, ButtonFamily, DenyHereButton, GiveRoleButton, MakeCodeButton, PeopleButton,
};
use crate::send::Button;
use figaro_base::ids::{ChatId, UserId};
use figaro_base::text::one_line;
use figaro_domain::access::{AccessChange, AllowedBot};
use figaro_domain::audit::AuditActor;
use figaro_prompts::texts::{Texts, fill};
use figaro_store::StoreError;

const ALLOW_ARGUMENTS: [(&str, &str); 4] = [
    ("PERSON", "let somebody in, by their number or @username, or as a reply to them; a group by its number"),
    ("PERSON ROLE", "give somebody a role: admin, member or guest"),
    ("code", "make a code that lets one person in"),
    ("@OTHERBOT", "let another bot talk to me in this group"),
];
const DENY_ARGUMENTS: [(&str, &str); 4] = [
    ("PERSON", "ban somebody, named as for `/allow`"),
    ("PERSON 2h", "ban somebody for a time, in m, h, d or w"),
    ("PERSON here", "ban somebody in this group only"),
    ("@OTHERBOT", "no longer let another bot talk to me in this group"),
];

/// Maximum length of the typed text that an error message repeats, in characters.
const NAMED_CHARS: usize = 40;

/// Person, group or bot that `/allow` or `/deny` names.
enum AccessTarget {
    /// Person, by id, by username, or by a reply to a message of theirs.
    Person(UserId),
    /// Group, named by its chat id.
    Group(ChatId),
    /// Group in which the command was sent.
    Here(ChatId),
    /// Another bot, in the group in which the command was sent.
    Bot(AllowedBot),
    /// Another bot, but the command was sent outside groups.
    BotElsewhere,
    /// No target: the command shows the list.
    Nobody,
    /// The argument names no known target.
    Unknown,
}

impl AccessTarget {
    /// Finds the target of a command; `list` looks up usernames.
    async fn of(request: &CommandRequest<'_>, list: &AccessCard) -> Result<Self, StoreError> {
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
            // A channel or an anonymous admin speaks as a chat, whose id is negative.
            (Err(_), Some(speaker)) => match speaker.user.telegram_id() {
                Some(id) if id > 0 => Self::Person(speaker.user.clone()),
                Some(_) | None => Self::Unknown,
            },
            (Err(_), None) if asker.place.is_group() => Self::Here(asker.place.chat),
            (Err(_), None) => Self::Nobody,
        })
    }
}

/// `/allow` or `/deny`, depending on the field `allows`.
#[derive(Debug)]
pub(super) struct AccessCommand {
    allows: bool,
    list: AccessCard,
    requests: AccessRequests,
    codes: Codes,
}

impl AccessCommand {
    /// Creates `/allow` if `allows` is `true`, otherwise `/deny`.
    pub(super) fn new(handles: &Handles, allows: bool) -> Self {
        let (list, requests) = (AccessCard::new(handles), AccessRequests::new(handles));
        Self { allows, list, requests, codes: Codes::new(handles) }
    }

    async fn change(&self, request: &CommandRequest<'_>) -> Result<Card, StoreError> {
        let (argument, wish) = Wish::split(request.argument(), self.allows);
        let request = &CommandRequest { words: &argument, ..*request };
        if !matches!(wish, Wish::Plain) {
            let whom = AccessTarget::of(request, &self.list).await?;
            let AccessTarget::Person(user) = whom else {
                return Ok(Card::text(self.list.cards.texts(request.asker).need_person()));
            };
            return self.list.fulfil(wish, user, request.asker).await;
        }
        let (asker, allows) = (request.asker, self.allows);
        let AccessCard { cards, settings, .. } = &self.list;
        let texts = cards.texts(asker);
        let by_name = if allows { texts.allowed_user() } else { texts.denied_user() };
        let mut person = None;
        let (change, who, words) = match AccessTarget::of(request, &self.list).await? {
            AccessTarget::Person(user) if !allows && self.list.owns(&user)? => {
                return Ok(Card::text(texts.owner_not_denied()));
            }
            AccessTarget::Person(user) => {
                person = user.telegram_id();
                let who = self.list.name_of(number_of(&user)).await;
                (
                    if allows { AccessChange::AllowUser(user) } else { AccessChange::DenyUser(user) },
                    who,
                    by_name,
                )
            }
            AccessTarget::Group(chat) => (of_chat(allows, chat), cards.name_of(chat).await, by_name),
            AccessTarget::Here(_) if !allows => return Ok(ask_here(texts)),
            AccessTarget::Here(chat) => (AccessChange::AllowChat(chat), String::new(), texts.allowed_chat()),
            AccessTarget::Bot(bot) => {
                let name = bot.username.clone();
                let words = if allows { texts.allowed_bot() } else { texts.denied_bot() };
                (if allows { AccessChange::AllowBot(bot) } else { AccessChange::DenyBot(bot) }, name, words)
            }
            AccessTarget::BotElsewhere => return Ok(Card::text(texts.bot_elsewhere())),
            AccessTarget::Nobody if allows => return self.list.card(asker).await,
            AccessTarget::Nobody => return self.list.denied(asker).await,
            AccessTarget::Unknown => return Ok(Card::text(self.complaint(texts, request))),
        };
        let changed = settings.change_access(change, AuditActor::Person(asker.speaker.user.clone())).await?;
        let words = if changed { words } else { texts.nothing_changed() };
        let Some(person) = person.filter(|_| allows) else {
            return Ok(Card::text(fill(words, &[("id", &who)])));
        };
        self.list.let_in(person, words, &who, asker)
    }

    /// Returns the error message for an unknown target. If the target is known, the message is about the rest of the
    /// argument, which is neither a role nor a time span.
    fn complaint(&self, texts: &Texts, request: &CommandRequest<'_>) -> String {
        let (first, rest) = request.argument().split_once(' ').unwrap_or((request.argument(), ""));
        let is_named = first.starts_with('@') || first.parse::<i64>().is_ok();
        let extra = match (request.replied, is_named) {
            (Some(_), false) => request.argument(),
            (_, true) => rest,
            (None, false) => "",
        };
        let words = match extra {
            "" if first.starts_with('@') => {
                return fill(texts.unknown_username(), &[("name", &one_line(first, NAMED_CHARS))]);
            }
            "" => return texts.need_number().to_owned(),
            _ if self.allows => texts.role_unknown(),
            _ => texts.span_unknown(),
        };
        fill(words, &[("value", &one_line(extra, NAMED_CHARS))])
    }
}

#[async_trait]
impl Command for AccessCommand {
    fn spec(&self) -> CommandSpec {
        let spec = match self.allows {
            true => CommandSpec::new("allow", Texts::command_allow)
                .families(&[
                    AdmitButton::NAME,
                    AdmitGroupButton::NAME,
                    MakeCodeButton::NAME,
                    GiveRoleButton::NAME,
                    PeopleButton::NAME,
                ])
                .arguments(&ALLOW_ARGUMENTS),
            false => CommandSpec::new("deny", Texts::command_deny)
                .families(&[DenyHereButton::NAME])
                .arguments(&DENY_ARGUMENTS),
        };
        spec.group(Group::Owner).owners()
    }

    async fn run(&self, request: &CommandRequest<'_>) -> Result<CommandOutcome, StoreError> {
        if self.allows && Codes::are_meant(request.argument()) {
            return self.codes.make(request.asker).await.map(CommandOutcome::Card);
        }
        self.change(request).await.map(CommandOutcome::Card)
    }

    async fn press(&self, press: &Press<'_>) -> Result<Pressed, PressError> {
        if let Ok(here) = press.data.parse::<DenyHereButton>() {
            return Ok(self.list.deny_here(here, press.asker).await?);
        }
        if press.data.parse() == Ok(MakeCodeButton) {
            let card = self.codes.make(press.asker).await?;
            self.list.cards.show(press.asker, card).await;
            return Ok(Pressed::Shown { toast: None, card: None });
        }
        if let Ok(role) = press.data.parse::<GiveRoleButton>() {
            return Ok(self.list.give_role(role, press.asker).await?);
        }
        if let Ok(people) = press.data.parse::<PeopleButton>() {
            return Ok(self.list.press_people(people, press.asker).await?);
        }
        if let Ok(group) = press.data.parse::<AdmitGroupButton>() {
            return Ok(self.requests.decide_group(group, press.asker).await?);
        }
        Ok(self.requests.decide(press.data.parse()?, press.asker).await?)
    }
}

/// Asks for confirmation to deny the group in which the command was sent.
fn ask_here(texts: &Texts) -> Card {
    Card::text(texts.deny_ask_here()).row(vec![
        Button::new(texts.button_yes(), DenyHereButton::Yes),
        Button::new(texts.button_back(), DenyHereButton::No),
    ])
}

fn of_chat(allows: bool, chat: ChatId) -> AccessChange {
    if allows { AccessChange::AllowChat(chat) } else { AccessChange::DenyChat(chat) }
}
