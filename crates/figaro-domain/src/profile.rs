//! Profile of a person: their Telegram data and their own preferences.

use std::collections::BTreeSet;

use chrono::{DateTime, TimeDelta, Utc};
use figaro_base::tz::Tz;
use serde::{Deserialize, Serialize};

use super::chat::{Place, write};
use super::message::Speaker;
use figaro_base::ids::{ChatId, RunId, UserId};

/// Maximum length of a preferred name, in characters.
pub const MAX_CALLED_CHARS: usize = 64;
/// Maximum length of a preferred language, in characters.
pub const MAX_LANGUAGE_CHARS: usize = 40;
/// Maximum number of chats with preferences per person. The oldest are removed.
const MAX_WISHES: usize = 20;
/// Minimum time between two updates of `last_seen`.
const SEEN_EVERY: TimeDelta = TimeDelta::hours(1);

/// A person who has asked the bot something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserProfile {
    /// Account of the person.
    pub user: UserId,
    /// Names shown by Telegram.
    pub names: Names,
    /// IETF tag of the language of their client, as Telegram last reported it.
    #[serde(default)]
    pub language: Option<String>,
    /// Owner or member.
    #[serde(default)]
    pub role: PersonRole,
    /// Preferences by the chat in which they were stated, newest last.
    #[serde(default)]
    pub wishes: Vec<(ChatId, Preferences)>,
    /// Consent to remembering facts about the person.
    #[serde(default)]
    pub consent: Consent,
    /// Time of their first question, UTC.
    pub first_seen: DateTime<Utc>,
    /// Time of their last question, UTC; up to an hour out of date.
    pub last_seen: DateTime<Utc>,
}

/// Names of a person at Telegram.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Names {
    /// First and last name.
    pub shown: String,
    /// Username without the `@`; `None` if they have none.
    pub username: Option<String>,
}

/// Role of a person for the bot.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PersonRole {
    /// An owner of the bot.
    Owner,
    /// A person who may talk to the bot.
    #[default]
    Member,
}

/// Answer of a person to the question whether facts about them may be remembered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Consent {
    /// No answer; they were not asked.
    #[default]
    Unasked,
    /// No answer yet; they were asked.
    Asked,
    /// They agree to it.
    Given,
    /// They do not agree.
    Refused,
}

impl Consent {
    /// Returns `true` if facts may be remembered. `asks` is `true` if people are asked for consent first.
    #[must_use]
    pub const fn allows(self, asks: bool) -> bool {
        match self {
            Self::Given => true,
            Self::Refused => false,
            Self::Unasked | Self::Asked => !asks,
        }
    }
}

/// Preferences that a person stated for themselves.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Preferences {
    /// Preferred name; at most [`MAX_CALLED_CHARS`] characters.
    pub called: Option<String>,
    /// Time zone in which they live.
    pub timezone: Option<Tz>,
    /// Preferred language of answers, in free text; at most [`MAX_LANGUAGE_CHARS`] characters.
    pub language: Option<String>,
    /// Turn in which the name was stated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub called_in: Option<RunId>,
    /// Turn in which the language was stated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language_in: Option<RunId>,
}

/// Changes of a person's preferences; the default changes nothing. `Some(None)` clears one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PreferencesPatch {
    /// Preferred name.
    pub called: Option<Option<String>>,
    /// Time zone in which they live.
    pub timezone: Option<Option<Tz>>,
    /// Preferred language of answers.
    pub language: Option<Option<String>>,
}

/// A person at the time of a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PersonSnapshot {
    /// Account with its current names.
    pub speaker: Speaker,
    /// IETF tag of the language of their client; `None` if unknown.
    pub language: Option<String>,
    /// Owner or member.
    pub role: PersonRole,
    /// Time of the question, UTC.
    pub at: DateTime<Utc>,
}

impl UserProfile {
    /// Creates the profile of a person seen for the first time.
    #[must_use]
    pub fn new(seen: &PersonSnapshot) -> Self {
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

    /// Returns the profile with only the person, their consent and the times.
    #[must_use]
    pub fn without_traits(self) -> Self {
        let names = Names { shown: String::new(), username: None };
        Self { names, language: None, role: PersonRole::Member, wishes: Vec::new(), ..self }
    }

    /// Returns the updated profile when the person is seen again; `None` if only the time changed, by less than an hour. An
    /// unknown language keeps the old one.
    #[must_use]
    pub fn seen(&self, seen: &PersonSnapshot) -> Option<Self> {
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

    /// Returns the preferences that apply in a chat: those stated there and, in the person's private chat, also those stated
    /// elsewhere, newest first. Preferences from a private chat never apply in a group.
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

    /// Applies changes of preferences made by a turn in a chat. Beyond 20 chats the oldest are removed.
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

    /// Clears the name and the language that were stated in these turns in a chat. Returns `true` if there were any.
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

    /// Moves the preferences of a chat to its new id. If the new id has preferences already, the old ones are dropped.
    /// Returns `true` if anything changed.
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

    fn seen(name: &str, minutes: i64) -> PersonSnapshot {
        let speaker = Speaker { user: UserId::telegram(11), name: name.into(), username: Some("ann".into()) };
        let at = DateTime::UNIX_EPOCH + TimeDelta::minutes(minutes);
        PersonSnapshot { speaker, language: Some("en".into()), role: PersonRole::Member, at }
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
        assert_eq!(profile.seen(&PersonSnapshot { language: None, ..seen("Ann Lee", 1) }), None);
        let owner = PersonSnapshot { role: PersonRole::Owner, ..seen("Ann Lee", 1) };
        assert_eq!(profile.seen(&owner).unwrap().role, PersonRole::Owner);
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
