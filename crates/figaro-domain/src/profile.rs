//! What is known of a person: what Telegram shows of them, and what they asked for themselves.

use std::collections::BTreeSet;

use chrono::{DateTime, TimeDelta, Utc};
use chrono_tz::Tz;
use serde::{Deserialize, Serialize};

use super::chat::{Place, write};
use super::message::Speaker;
use figaro_base::ids::{ChatId, RunId, UserId};

/// The most characters of the name that somebody wants to be called by.
pub const MAX_CALLED_CHARS: usize = 64;
/// The most characters of the language that somebody wants to be answered in.
pub const MAX_LANGUAGE_CHARS: usize = 40;
/// Of the wishes of a person those of the last so many chats are kept.
const MAX_WISHES: usize = 20;
/// Somebody who was seen within this time is not written down anew.
const SEEN_EVERY: TimeDelta = TimeDelta::hours(1);

/// A person who has asked the bot something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserProfile {
    /// The account.
    pub user: UserId,
    /// What they are called.
    pub names: Names,
    /// The IETF tag of the language of their client, as Telegram told it last.
    #[serde(default)]
    pub language: Option<String>,
    /// What they are to the bot.
    #[serde(default)]
    pub role: Role,
    /// What they asked for, by the chat they said it in; the newest last.
    #[serde(default)]
    pub wishes: Vec<(ChatId, Preferences)>,
    /// Whether facts about them may be remembered.
    #[serde(default)]
    pub consent: Consent,
    /// When they asked something for the first time, UTC.
    pub first_seen: DateTime<Utc>,
    /// When they asked something last, UTC; it may be an hour behind.
    pub last_seen: DateTime<Utc>,
}

/// What a person is called at Telegram.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Names {
    /// First and last name.
    pub shown: String,
    /// The username, without the `@`.
    pub username: Option<String>,
}

/// What a person is to the bot.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Owns the bot.
    Owner,
    /// May talk to it.
    #[default]
    Member,
}

/// What a person has said to facts about them being remembered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Consent {
    /// Nothing, and they were not asked.
    #[default]
    Unasked,
    /// Nothing yet: they were asked.
    Asked,
    /// They agree.
    Given,
    /// They do not.
    Refused,
}

impl Consent {
    /// Whether facts may be remembered, where people are asked before (`asks`) or not.
    #[must_use]
    pub const fn allows(self, asks: bool) -> bool {
        match self {
            Self::Given => true,
            Self::Refused => false,
            Self::Unasked | Self::Asked => !asks,
        }
    }
}

/// What a person asked for themselves.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Preferences {
    /// The name to call them by; at most [`MAX_CALLED_CHARS`] characters.
    pub called: Option<String>,
    /// The time zone that they live in.
    pub timezone: Option<Tz>,
    /// The language to answer them in, in free words; at most [`MAX_LANGUAGE_CHARS`] characters.
    pub language: Option<String>,
    /// The turn in which the name was said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub called_in: Option<RunId>,
    /// The turn in which the language was said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language_in: Option<RunId>,
}

/// A change of some of a person's wishes; the default changes nothing. `Some(None)` takes one back.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PreferencesPatch {
    /// The name to call them by.
    pub called: Option<Option<String>>,
    /// The time zone that they live in.
    pub timezone: Option<Option<Tz>>,
    /// The language to answer them in.
    pub language: Option<Option<String>>,
}

/// A person as they are seen when they ask something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// The account, with its names.
    pub speaker: Speaker,
    /// The IETF tag of the language of their client; `None` where it is not known.
    pub language: Option<String>,
    /// What they are to the bot.
    pub role: Role,
    /// When they asked, UTC.
    pub at: DateTime<Utc>,
}

impl UserProfile {
    /// Somebody who is seen for the first time.
    #[must_use]
    pub fn new(seen: &Seen) -> Self {
        Self {
            user: seen.speaker.user.clone(),
            names: Names { shown: seen.speaker.name.clone(), username: seen.speaker.username.clone() },
            language: seen.language.clone(),
            role: seen.role,
            wishes: Vec::new(),
            consent: Consent::default(),
            first_seen: seen.at,
            last_seen: seen.at,
        }
    }

    /// Nothing but who it is and what they agreed to.
    #[must_use]
    pub fn without_traits(self) -> Self {
        let names = Names { shown: String::new(), username: None };
        Self { names, language: None, role: Role::Member, wishes: Vec::new(), ..self }
    }

    /// The profile after somebody was seen again; `None` where nothing but the time has changed, and that by less than an
    /// hour. A language that is not known leaves the one that was.
    #[must_use]
    pub fn seen(&self, seen: &Seen) -> Option<Self> {
        let newer = Self::new(seen);
        let renewed = Self {
            names: newer.names,
            language: newer.language.or_else(|| self.language.clone()),
            role: newer.role,
            last_seen: self.last_seen.max(newer.last_seen),
            ..self.clone()
        };
        let is_due = renewed.last_seen - self.last_seen >= SEEN_EVERY;
        let is_changed = Self { last_seen: self.last_seen, ..renewed.clone() } != *self;
        (is_due || is_changed).then_some(renewed)
    }

    /// What holds in a chat: what they said there; in their own chat with the bot also what they said elsewhere, the newest
    /// first. What was said in private is used in no group.
    #[must_use]
    pub fn wishes_in(&self, place: &Place) -> Preferences {
        let here = self.wishes.iter().filter(|(chat, _)| *chat == place.chat);
        let elsewhere = self.wishes.iter().rev().filter(|(chat, _)| *chat != place.chat && !place.is_group());
        here.chain(elsewhere).fold(Preferences::default(), |all, (_, more)| Preferences {
            called: all.called.or_else(|| more.called.clone()),
            timezone: all.timezone.or(more.timezone),
            language: all.language.or_else(|| more.language.clone()),
            ..all
        })
    }

    /// Takes in what they asked for in a turn in a chat. Beyond 20 chats the oldest wishes go.
    pub fn wish(&mut self, chat: ChatId, change: PreferencesPatch, turn: RunId) {
        let known = self.wishes.iter().position(|(said_in, _)| *said_in == chat);
        let mut wishes = known.map(|at| self.wishes.remove(at).1).unwrap_or_default();
        write(&mut wishes.called, &mut wishes.called_in, change.called, Some(turn));
        write(&mut wishes.language, &mut wishes.language_in, change.language, Some(turn));
        wishes.timezone = change.timezone.unwrap_or(wishes.timezone);
        if wishes != Preferences::default() {
            self.wishes.push((chat, wishes));
        }
        let surplus = self.wishes.len().saturating_sub(MAX_WISHES);
        self.wishes.drain(..surplus);
    }

    /// Takes back the name and the language that they asked for in these turns in a chat; `true` if there were any.
    pub fn forget_turns(&mut self, chat: ChatId, turns: &BTreeSet<RunId>) -> bool {
        let Some((_, wishes)) = self.wishes.iter_mut().find(|(said_in, _)| *said_in == chat) else {
            return false;
        };
        let forget = |text: &mut Option<String>, turn: &mut Option<RunId>| {
            let is_said = turn.take_if(|turn| turns.contains(turn)).is_some();
            text.take_if(|_| is_said);
            is_said
        };
        let is_called = forget(&mut wishes.called, &mut wishes.called_in);
        let is_changed = forget(&mut wishes.language, &mut wishes.language_in) || is_called;
        self.wishes.retain(|(_, wishes)| *wishes != Preferences::default());
        is_changed
    }

    /// Gives what they asked for in a chat to the id that it has from now on, unless they asked there too. Gives whether
    /// that changed anything.
    pub fn migrate(&mut self, from: ChatId, to: ChatId) -> bool {
        let Some(at) = self.wishes.iter().position(|(chat, _)| *chat == from) else { return false };
        let is_known = self.wishes.iter().any(|(chat, _)| *chat == to);
        if is_known {
            self.wishes.remove(at);
        } else if let Some((chat, _)) = self.wishes.get_mut(at) {
            *chat = to;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::chat::ChatKind;

    fn seen(name: &str, minutes: i64) -> Seen {
        let speaker = Speaker { user: UserId::telegram(11), name: name.into(), username: Some("ann".into()) };
        let at = DateTime::UNIX_EPOCH + TimeDelta::minutes(minutes);
        Seen { speaker, language: Some("en".into()), role: Role::Member, at }
    }

    fn place(chat: i64) -> Place {
        let kind = if chat < 0 { ChatKind::Group } else { ChatKind::Private };
        Place { chat: ChatId(chat), kind, title: None, topic: None }
    }

    fn called(name: &str) -> PreferencesPatch {
        PreferencesPatch { called: Some(Some(name.to_owned())), ..PreferencesPatch::default() }
    }

    #[test]
    fn a_profile_is_renewed_when_something_changed_or_an_hour_has_passed() {
        let profile = UserProfile::new(&seen("Ann Lee", 0));
        assert_eq!(profile.seen(&seen("Ann Lee", 59)), None);
        assert_eq!(profile.seen(&seen("Ann Lee", 60)).unwrap().last_seen, seen("", 60).at);
        let married = profile.seen(&seen("Ann Berg", 1)).unwrap();
        assert_eq!((married.names.shown.as_str(), married.first_seen), ("Ann Berg", profile.first_seen));
        assert_eq!(profile.seen(&Seen { language: None, ..seen("Ann Lee", 1) }), None);
        let owner = Seen { role: Role::Owner, ..seen("Ann Lee", 1) };
        assert_eq!(profile.seen(&owner).unwrap().role, Role::Owner);
        // What was sent earlier and is dealt with later does not set the time back.
        assert_eq!(married.seen(&seen("Ann Lee", -500)).unwrap().last_seen, married.last_seen);
    }

    #[test]
    fn what_is_said_in_private_is_used_in_no_group() {
        let mut profile = UserProfile::new(&seen("Ann", 0));
        profile.wish(ChatId(-5), called("Chief"), RunId::new());
        profile.wish(ChatId(11), called("Bunny"), RunId::new());
        let name = |chat| profile.wishes_in(&place(chat)).called;
        assert_eq!(name(-5).as_deref(), Some("Chief"));
        assert_eq!(name(11).as_deref(), Some("Bunny"));
        assert_eq!(name(-6), None);
        let mut other = profile.clone();
        other.wish(
            ChatId(11),
            PreferencesPatch { called: Some(None), ..PreferencesPatch::default() },
            RunId::new(),
        );
        assert_eq!(other.wishes_in(&place(11)).called.as_deref(), Some("Chief"));
        assert!(other.migrate(ChatId(-5), ChatId(-1005)) && !other.migrate(ChatId(-5), ChatId(-1005)));
        assert_eq!(other.wishes_in(&place(-1005)).called.as_deref(), Some("Chief"));
    }

    proptest! {
        #[test]
        fn wishes_are_bounded_and_the_last_one_in_a_chat_holds(chats in prop::collection::vec(-30_i64..-1, 1..80)) {
            let mut profile = UserProfile::new(&seen("Ann", 0));
            for (number, chat) in chats.iter().enumerate() {
                profile.wish(ChatId(*chat), called(&number.to_string()), RunId::new());
                prop_assert_eq!(profile.wishes_in(&place(*chat)).called, Some(number.to_string()));
                prop_assert!(profile.wishes.len() <= MAX_WISHES);
            }
            let stored = serde_json::to_string(&profile).unwrap();
            prop_assert_eq!(serde_json::from_str::<UserProfile>(&stored).unwrap(), profile);
        }
    }
}
