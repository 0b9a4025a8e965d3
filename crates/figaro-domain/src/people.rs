//! Who wrote in a group, and which of them a name means. The Bot API looks no username up, so only people who were seen here can
//! be found.

use chrono::{DateTime, TimeDelta, Utc};
use icu_normalizer::DecomposingNormalizerBorrowed;
use icu_properties::CodePointMapData;
use icu_properties::props::GeneralCategory;
use serde::{Deserialize, Serialize};

use super::message::{Inbound, Speaker};
use figaro_base::ids::MessageId;

/// The most people that are kept of a chat; those who were silent longest go.
pub const MAX_PEOPLE: usize = 2_000;
/// The most messages that are kept of a person; the oldest go.
pub const MAX_POSTED: usize = 50;
/// How long after it was sent a bot may delete a message of somebody else.
pub(crate) const DELETABLE: TimeDelta = TimeDelta::hours(48);

/// A message that somebody wrote.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Posted {
    /// Its id in the chat.
    #[serde(rename = "m")]
    pub id: MessageId,
    /// When Telegram received it, in seconds since 1970.
    #[serde(rename = "t")]
    pub(crate) at: i64,
}

/// Somebody who wrote in a chat.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seen {
    /// Who it is, by the names that they had last.
    pub speaker: Speaker,
    /// When they wrote last, UTC.
    pub seen_at: DateTime<Utc>,
    /// Their newest messages, oldest first; none is much older than `DELETABLE`.
    #[serde(default)]
    pub posted: Vec<Posted>,
}

impl Seen {
    /// The writer of a message, with no message yet.
    #[must_use]
    pub fn new(said: &Inbound) -> Self {
        Self { speaker: said.speaker.clone(), seen_at: said.sent_at, posted: Vec::new() }
    }

    /// Whether a message tells who writes in a group: that of a task was sent by nobody.
    #[must_use]
    pub fn is_told_by(said: &Inbound) -> bool {
        said.place.is_group() && said.task.is_none() && said.origin.message().is_some()
    }

    /// Adds a message of theirs, once; what can be deleted no more goes.
    pub fn note(&mut self, said: &Inbound) {
        if said.sent_at >= self.seen_at {
            self.speaker = said.speaker.clone();
            self.seen_at = said.sent_at;
        }
        if let Some(id) = said.origin.message()
            && let Err(place) = self.posted.binary_search_by_key(&id, |posted| posted.id)
        {
            self.posted.insert(place, Posted { id, at: said.sent_at.timestamp() });
        }
        let since = (self.seen_at - DELETABLE).timestamp();
        self.posted.retain(|posted| posted.at >= since);
        let surplus = self.posted.len().saturating_sub(MAX_POSTED);
        self.posted.drain(..surplus);
    }

    /// Their last messages that can still be deleted, newest first, at most `count`.
    #[must_use]
    pub fn last(&self, count: usize, now: DateTime<Utc>) -> Vec<MessageId> {
        let since = (now - DELETABLE).timestamp();
        let newest = self.posted.iter().rev().filter(|posted| posted.at > since);
        newest.take(count).map(|posted| posted.id).collect()
    }
}

/// Whom a name means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Meant<'a> {
    /// One person fits.
    One(&'a Seen),
    /// Any of these.
    Several(Vec<&'a Seen>),
    /// Nobody who was seen.
    Nobody,
}

/// Whom a name means among people. With an `@` it is a username and nothing else. Without, who has just this username or name
/// comes first, then those with a name that begins so, or a part of which does. Case and accents make no difference.
#[must_use]
pub fn meant<'a>(people: &'a [Seen], words: &str) -> Meant<'a> {
    let words = words.trim();
    let is_called = |seen: &Seen, name: &str| {
        seen.speaker.username.as_ref().is_some_and(|username| username.eq_ignore_ascii_case(name))
    };
    if let Some(username) = words.strip_prefix('@') {
        return among(people.iter().filter(|seen| is_called(seen, username)));
    }
    let wanted = folded(words);
    if wanted.is_empty() {
        return Meant::Nobody;
    }
    let names: Vec<String> = people.iter().map(|seen| folded(&seen.speaker.name)).collect();
    let with = || people.iter().zip(&names);
    let exact = with().filter(|(seen, name)| is_called(seen, words) || **name == wanted);
    match among(exact.map(|(seen, _)| seen)) {
        Meant::Nobody => {}
        found => return found,
    }
    let inside = format!(" {wanted}");
    let begins = with().filter(|(_, name)| name.starts_with(&wanted) || name.contains(&inside));
    among(begins.map(|(seen, _)| seen))
}

fn among<'a>(found: impl Iterator<Item = &'a Seen>) -> Meant<'a> {
    let mut found: Vec<&Seen> = found.collect();
    match found.len() {
        0 => Meant::Nobody,
        1 => found.pop().map_or(Meant::Nobody, Meant::One),
        _ => Meant::Several(found),
    }
}

/// A name as it is compared: small letters without accents, words apart by one space.
fn folded(name: &str) -> String {
    let decomposed = DecomposingNormalizerBorrowed::new_nfkd().normalize(name);
    let category = CodePointMapData::<GeneralCategory>::new();
    let plain = decomposed
        .chars()
        .filter(|c| !matches!(category.get(*c), GeneralCategory::NonspacingMark | GeneralCategory::Format));
    let small: String = plain.flat_map(char::to_lowercase).filter(|c| *c != '\u{307}').collect();
    small.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::chat::{ChatKind, Place};
    use crate::origin::Origin;
    use figaro_base::ids::{ChatId, UpdateId, UserId};

    fn seen(id: i64, name: &str, username: Option<&str>) -> Seen {
        let speaker =
            Speaker { user: UserId::telegram(id), name: name.into(), username: username.map(Into::into) };
        Seen { speaker, seen_at: DateTime::UNIX_EPOCH, posted: Vec::new() }
    }

    fn said(message: i64, name: &str, seconds: i64) -> Inbound {
        let place = Place { chat: ChatId(-5), kind: ChatKind::Group, title: None, topic: None };
        let speaker = Speaker { user: UserId::telegram(1), name: name.into(), username: None };
        let at = DateTime::UNIX_EPOCH + TimeDelta::seconds(seconds);
        let origin = Origin::telegram(UpdateId(message), MessageId(message));
        Inbound::addressed(origin, place, speaker, "x".into(), at)
    }

    #[test]
    fn names_mean_whom_people_mean() {
        let people = [
            seen(1, "Bob Smith", Some("bobby")),
            seen(2, "José Álvarez", Some("Jose_A")),
            seen(3, "Bobo", None),
            seen(4, "Ann Lee", Some("spammer")),
            seen(5, "spammer", Some("another")),
            seen(6, "Оля Ёлкина", None),
            seen(7, "Bobo Two", None),
            seen(8, "İpek\u{200b}", None),
        ];
        let cases: [(&str, &[i64]); 17] = [
            ("@bobby", &[1]),
            ("@BOBBY", &[1]),
            ("bobby", &[1]),
            ("@bob", &[]),
            ("jose alvarez", &[2]),
            ("JOSE", &[2]),
            ("Álvarez", &[2]),
            ("alvarez", &[2]),
            ("Bob", &[1, 3, 7]),
            ("bobo", &[3]),
            ("@spammer", &[4]),
            ("spammer", &[4, 5]),
            ("елкина", &[6]),
            ("smith", &[1]),
            ("mith", &[]),
            ("ipek", &[8]),
            ("  ", &[]),
        ];
        for (words, wanted) in cases {
            let found: Vec<i64> = match meant(&people, words) {
                Meant::One(one) => vec![one.speaker.user.telegram_id().unwrap()],
                Meant::Several(all) => {
                    all.iter().map(|seen| seen.speaker.user.telegram_id().unwrap()).collect()
                }
                Meant::Nobody => Vec::new(),
            };
            assert_eq!(found, wanted, "{words}");
        }
    }

    proptest! {
        #[test]
        fn a_name_never_means_somebody_else(names in prop::collection::vec("[a-cA-C ]{1,6}", 1..9), at: prop::sample::Index) {
            let people: Vec<Seen> =
                (0..).zip(&names).map(|(id, name)| seen(id, name, None)).collect();
            let wanted = at.get(&people);
            if wanted.speaker.name.trim().is_empty() {
                return Ok(());
            }
            match meant(&people, &wanted.speaker.name) {
                Meant::One(one) => prop_assert_eq!(one, wanted),
                Meant::Several(all) => prop_assert!(all.contains(&wanted)),
                Meant::Nobody => prop_assert!(false, "{} was seen", wanted.speaker.name),
            }
        }

        #[test]
        fn messages_are_kept_once_in_order_and_few(ids in prop::collection::vec((1_i64..90, 0_i64..400_000), 1..120)) {
            let mut person = Seen::new(&said(1, "A", 0));
            for (id, at) in &ids {
                person.note(&said(*id, "A", *at));
            }
            prop_assert!(person.posted.len() <= MAX_POSTED);
            prop_assert!(person.posted.windows(2).all(|two| two[0].id < two[1].id));
            prop_assert_eq!(person.seen_at.timestamp(), ids.iter().map(|(_, at)| *at).max().unwrap());
        }
    }

    #[test]
    fn what_telegram_does_not_delete_is_not_offered() {
        let hour = 3_600;
        let mut person = Seen::new(&said(1, "Old name", 0));
        for (id, hours) in [(1, 0), (2, 47), (3, 48), (4, 60)] {
            person.note(&said(id, "New name", hours * hour));
        }
        assert_eq!(person.speaker.name, "New name");
        let now = |hours: i64| DateTime::UNIX_EPOCH + TimeDelta::hours(hours);
        assert_eq!(person.last(9, now(61)), [4, 3, 2].map(MessageId));
        assert_eq!(person.last(2, now(61)), [4, 3].map(MessageId));
        assert_eq!(person.last(9, now(95)), [4, 3].map(MessageId));
        assert_eq!(person.last(9, now(200)), []);
    }
}
