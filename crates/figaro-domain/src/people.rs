//! People seen in a group, and lookup by name. The Bot API cannot look up usernames, so only people seen here can be found.

use chrono::{DateTime, TimeDelta, Utc};
use icu_normalizer::DecomposingNormalizerBorrowed;
use icu_properties::CodePointMapData;
use icu_properties::props::GeneralCategory;
use serde::{Deserialize, Serialize};

use super::message::{Inbound, Speaker};
use figaro_base::ids::MessageId;

/// Maximum number of people stored per chat. Those silent longest are removed.
pub const MAX_PEOPLE: usize = 2_000;
/// Maximum number of messages stored per person. The oldest are removed.
pub const MAX_POSTED: usize = 50;
/// Age up to which a bot may delete somebody else's message.
pub(crate) const DELETABLE: TimeDelta = TimeDelta::hours(48);

/// A person's message in a group, as far as needed to delete it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PostedMessage {
    /// Id of the message in the chat.
    #[serde(rename = "m")]
    pub id: MessageId,
    /// Time when Telegram received it, in Unix seconds.
    #[serde(rename = "t")]
    pub(crate) at: i64,
}

/// A person who wrote in a chat.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownPerson {
    /// The person, with the names they had last.
    pub speaker: Speaker,
    /// Time of their last message, UTC.
    pub seen_at: DateTime<Utc>,
    /// Their newest messages, oldest first; none much older than `DELETABLE`.
    #[serde(default)]
    pub posted: Vec<PostedMessage>,
}

impl KnownPerson {
    /// Creates the entry of a message's writer, without messages.
    #[must_use]
    pub fn new(said: &Inbound) -> Self {
        Self { speaker: said.speaker.clone(), seen_at: said.sent_at, posted: Vec::new() }
    }

    /// Returns `true` if the message shows who writes in a group. Prompts of tasks do not count.
    #[must_use]
    pub fn is_told_by(said: &Inbound) -> bool {
        said.place.is_group() && said.task.is_none() && said.origin.message().is_some()
    }

    /// Adds a message of the person once, and drops those that are too old to delete.
    pub fn note(&mut self, said: &Inbound) {
        if said.sent_at >= self.seen_at {
            self.speaker = said.speaker.clone();
            self.seen_at = said.sent_at;
        }
        if let Some(id) = said.origin.message()
            && let Err(place) = self.posted.binary_search_by_key(&id, |posted| posted.id)
        {
            self.posted.insert(place, PostedMessage { id, at: said.sent_at.timestamp() });
        }
        let since = (self.seen_at - DELETABLE).timestamp();
        self.posted.retain(|posted| posted.at >= since);
        let surplus = self.posted.len().saturating_sub(MAX_POSTED);
        self.posted.drain(..surplus);
    }

    /// Returns at most `count` of their newest messages that can still be deleted, newest first.
    #[must_use]
    pub fn last(&self, count: usize, now: DateTime<Utc>) -> Vec<MessageId> {
        let since = (now - DELETABLE).timestamp();
        let newest = self.posted.iter().rev().filter(|posted| posted.at > since);
        newest.take(count).map(|posted| posted.id).collect()
    }
}

/// Result of looking up a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NameLookup<'a> {
    /// Exactly one person matches.
    One(&'a KnownPerson),
    /// Several people match.
    Several(Vec<&'a KnownPerson>),
    /// No known person matches.
    Nobody,
}

/// Looks up a name among people. With `@`, only usernames match. Without it, an exact username or name comes first, then
/// names in which a word begins with the text. Case and accents are ignored.
#[must_use]
pub fn meant<'a>(people: &'a [KnownPerson], words: &str) -> NameLookup<'a> {
    let words = words.trim();
    let is_called = |seen: &KnownPerson, name: &str| {
        seen.speaker.username.as_ref().is_some_and(|username| username.eq_ignore_ascii_case(name))
    };
    if let Some(username) = words.strip_prefix('@') {
        return among(people.iter().filter(|seen| is_called(seen, username)));
    }
    let wanted = folded(words);
    if wanted.is_empty() {
        return NameLookup::Nobody;
    }
    let names: Vec<String> = people.iter().map(|seen| folded(&seen.speaker.name)).collect();
    let with = || people.iter().zip(&names);
    let exact = with().filter(|(seen, name)| is_called(seen, words) || **name == wanted);
    match among(exact.map(|(seen, _)| seen)) {
        NameLookup::Nobody => {}
        found => return found,
    }
    let inside = format!(" {wanted}");
    let begins = with().filter(|(_, name)| name.starts_with(&wanted) || name.contains(&inside));
    among(begins.map(|(seen, _)| seen))
}

fn among<'a>(found: impl Iterator<Item = &'a KnownPerson>) -> NameLookup<'a> {
    let mut found: Vec<&KnownPerson> = found.collect();
    match found.len() {
        0 => NameLookup::Nobody,
        1 => found.pop().map_or(NameLookup::Nobody, NameLookup::One),
        _ => NameLookup::Several(found),
    }
}

/// Normalizes a name for comparison: lower case, no accents, single spaces.
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

    fn seen(id: i64, name: &str, username: Option<&str>) -> KnownPerson {
        let speaker =
            Speaker { user: UserId::telegram(id), name: name.into(), username: username.map(Into::into) };
        KnownPerson { speaker, seen_at: DateTime::UNIX_EPOCH, posted: Vec::new() }
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
                NameLookup::One(one) => vec![one.speaker.user.telegram_id().unwrap()],
                NameLookup::Several(all) => {
                    all.iter().map(|seen| seen.speaker.user.telegram_id().unwrap()).collect()
                }
                NameLookup::Nobody => Vec::new(),
            };
            assert_eq!(found, wanted, "{words}");
        }
    }

    proptest! {
        #[test]
        fn a_name_never_means_somebody_else(names in prop::collection::vec("[a-cA-C ]{1,6}", 1..9), at: prop::sample::Index) {
            let people: Vec<KnownPerson> =
                (0..).zip(&names).map(|(id, name)| seen(id, name, None)).collect();
            let wanted = at.get(&people);
            if wanted.speaker.name.trim().is_empty() {
                return Ok(());
            }
            match meant(&people, &wanted.speaker.name) {
                NameLookup::One(one) => prop_assert_eq!(one, wanted),
                NameLookup::Several(all) => prop_assert!(all.contains(&wanted)),
                NameLookup::Nobody => prop_assert!(false, "{} was seen", wanted.speaker.name),
            }
        }

        #[test]
        fn messages_are_kept_once_in_order_and_few(ids in prop::collection::vec((1_i64..90, 0_i64..400_000), 1..120)) {
            let mut person = KnownPerson::new(&said(1, "A", 0));
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
        let mut person = KnownPerson::new(&said(1, "Old name", 0));
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
