//! Conversations and questions as JSON lines, in the format of public data sets.

use chrono::{DateTime, NaiveDate, NaiveDateTime, TimeDelta, Utc};
use serde::{Deserialize, Deserializer};

use figaro_base::ids::{ChatId, EntryId, RunId, SessionId, UserId};
use figaro_domain::conversation::{Message, MessageRole};
use figaro_domain::message::Speaker;
use figaro_store::Imported;

/// One line of a file of conversations.
#[derive(Debug, Deserialize)]
pub(super) struct EvalConversation {
    /// Unique name; a string or a number in the file.
    #[serde(deserialize_with = "name")]
    pub(super) conversation_id: String,
    messages: Vec<EvalMessage>,
}

#[derive(Debug, Deserialize)]
struct EvalMessage {
    #[serde(deserialize_with = "name")]
    id: String,
    #[serde(default, deserialize_with = "name_or_none")]
    session: Option<String>,
    #[serde(default)]
    speaker: Option<String>,
    #[serde(default)]
    role: Option<String>,
    #[serde(alias = "content")]
    text: String,
    #[serde(default)]
    timestamp: Option<String>,
}

/// One line of a file of questions.
#[derive(Debug, Deserialize)]
pub(super) struct EvalQuestion {
    /// Unique name; a string or a number in the file.
    #[serde(deserialize_with = "name")]
    pub(super) question_id: String,
    /// Name of the conversation that the question is about.
    #[serde(deserialize_with = "name")]
    pub(super) conversation_id: String,
    pub(super) question: String,
    /// Time of the question; `None` for an hour after the last message.
    #[serde(default)]
    pub(super) asked_at: Option<String>,
}

/// Name in a file: a string or a number.
#[derive(Deserialize)]
#[serde(untagged)]
enum Name {
    Text(String),
    Number(i64),
}

fn name<'a, D: Deserializer<'a>>(from: D) -> Result<String, D::Error> {
    Ok(match Name::deserialize(from)? {
        Name::Text(text) => text,
        Name::Number(number) => number.to_string(),
    })
}

fn name_or_none<'a, D: Deserializer<'a>>(from: D) -> Result<Option<String>, D::Error> {
    Ok(Option::<Name>::deserialize(from)?.map(|name| match name {
        Name::Text(text) => text,
        Name::Number(number) => number.to_string(),
    }))
}

/// Seconds between messages without a time. A new `session` starts a day later.
const STEP: i64 = 20;

/// Returns the chat that stores a conversation: its chat id, or an id derived from its name outside Telegram's range.
pub(super) fn chat_of(conversation: &str) -> ChatId {
    /// Bit beyond Telegram's chat ids, which have at most 52 bits.
    const BEYOND: i64 = 1 << 60;
    conversation
        .parse()
        .map_or_else(|_name| ChatId(BEYOND | (hash(conversation, "") >> 4).cast_signed()), ChatId)
}

/// Returns the id of the one session of a conversation.
pub(super) fn session_of(conversation: &str) -> SessionId {
    SessionId::from_bytes(id_bytes(0, conversation, "session"))
}

impl EvalConversation {
    /// Converts the messages to stored messages.
    ///
    /// # Errors
    /// A description of an invalid time.
    pub(super) fn messages(&self) -> Result<Vec<Imported>, String> {
        let session = session_of(&self.conversation_id);
        let mut time = DateTime::UNIX_EPOCH;
        let mut before: Option<&EvalMessage> = None;
        let mut messages = Vec::with_capacity(self.messages.len());
        for said in &self.messages {
            time = match &said.timestamp {
                Some(text) => read_time(text).ok_or_else(|| {
                    format!("message {}: {text} is no time such as 2026-05-08T13:56:00", said.id)
                })?,
                None if before.is_some_and(|before| before.session != said.session) => {
                    time + TimeDelta::days(1)
                }
                None => time + TimeDelta::seconds(STEP),
            };
            before = Some(said);
            let id = id_bytes(time.timestamp_millis(), &self.conversation_id, &said.id);
            messages.push(Imported { message: said.message(session, id, time), name: said.id.clone() });
        }
        Ok(messages)
    }
}

impl EvalMessage {
    fn message(&self, session: SessionId, id: [u8; 16], at: DateTime<Utc>) -> Message {
        let role = match self.role.as_deref() {
            Some("assistant" | "bot" | "model" | "ai") => MessageRole::Assistant,
            Some("system") => MessageRole::System,
            _ => MessageRole::User,
        };
        let mut message = Message::new(session, role, self.text.clone(), at);
        message.id = EntryId::from_bytes(id);
        if role == MessageRole::User {
            let name = self.speaker.clone().unwrap_or_else(|| "User".to_owned());
            let number = (hash(&name, "speaker") >> 12).cast_signed();
            message.speaker = Some(Speaker { user: UserId::telegram(number), name, username: None });
            message.turn = Some(RunId::from_bytes(id));
        }
        message
    }
}

/// Parses a time or a date; UTC if it has no zone.
pub(super) fn read_time(text: &str) -> Option<DateTime<Utc>> {
    let text = text.trim();
    if let Ok(time) = DateTime::parse_from_rfc3339(text) {
        return Some(time.to_utc());
    }
    let forms = ["%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M"];
    let naive = forms.iter().find_map(|form| NaiveDateTime::parse_from_str(text, form).ok());
    let of_day = || NaiveDate::parse_from_str(text, "%Y-%m-%d").ok()?.and_hms_opt(12, 0, 0);
    naive.or_else(of_day).map(|time| time.and_utc())
}

/// Derives a stable message id from its time and a hash of its name.
fn id_bytes(millis: i64, conversation: &str, name: &str) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[..6].copy_from_slice(&millis.max(0).to_be_bytes()[2..]);
    bytes[6..14].copy_from_slice(&hash(conversation, name).to_be_bytes());
    bytes[14..].copy_from_slice(&hash(name, conversation).to_be_bytes()[..2]);
    bytes
}

/// FNV-1a hash of two texts, separated by 0xff.
fn hash(first: &str, second: &str) -> u64 {
    let bytes = first.bytes().chain([0xff]).chain(second.bytes());
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_data_sets_leave_out_is_filled_in() {
        let line = r#"{"conversation_id": 7, "speakers": [], "messages": [
            {"id": 1, "session": 1, "role": "user", "content": "hi"},
            {"id": "b", "session": 1, "role": "assistant", "text": "hello"},
            {"id": "c", "session": "2", "speaker": "Ann", "text": "back"},
            {"id": "d", "session": "2", "text": "at", "timestamp": "2026-05-08T13:56:00Z"}]}"#;
        let conversation: EvalConversation = serde_json::from_str(line).unwrap();
        let messages = conversation.messages().unwrap();
        let shown: Vec<(&str, MessageRole, &str, i64)> = messages
            .iter()
            .map(|Imported { message, name }| {
                let speaker = message.speaker.as_ref().map_or("", |speaker| speaker.name.as_str());
                (name.as_str(), message.role, speaker, message.created_at.timestamp())
            })
            .collect();
        let wanted = [
            ("1", MessageRole::User, "User", 20),
            ("b", MessageRole::Assistant, "", 40),
            ("c", MessageRole::User, "Ann", 86_440),
            ("d", MessageRole::User, "User", 1_778_248_560),
        ];
        assert_eq!(shown, wanted);
        let again: EvalConversation = serde_json::from_str(line).unwrap();
        let ids =
            |messages: Vec<Imported>| messages.into_iter().map(|one| one.message.id).collect::<Vec<_>>();
        assert_eq!(ids(messages), ids(again.messages().unwrap()), "an id is the same each time");
    }

    #[test]
    fn a_time_is_read_in_all_its_forms() {
        for text in
            ["2026-05-08T13:56:00", "2026-05-08 13:56", "2026-05-08T15:56:00+02:00", "2026-05-08T13:56:00.0"]
        {
            assert_eq!(read_time(text).unwrap().timestamp(), 1_778_248_560, "{text}");
        }
        assert_eq!(read_time("2026-05-08").unwrap().timestamp(), 1_778_241_600);
        assert_eq!(read_time("yesterday"), None);
    }
}
