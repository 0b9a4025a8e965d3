//! What sessions are called: a name that a person gave, or a short one that the model made of what was said.

use serde::{Deserialize, Serialize};

use super::model::ModelName;
use figaro_base::ids::RunId;
use figaro_base::text::one_line;

/// The most characters of a name.
pub(crate) const MAX_NAME_CHARS: usize = 60;
/// The most words of a name that the model made.
const MAX_NAME_WORDS: usize = 6;
/// What marks and fences text, and is no part of a name.
const MARKS: [char; 9] = ['*', '`', '#', '[', ']', '|', '~', '<', '>'];
/// What may stand around a name or behind it.
const AROUND: &str = "\"'“”„«»‹›「」『』‘’_-–—.,;:!…(){}•";

/// What a session is called, and who called it so.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionName {
    /// The name: one line of at most `MAX_NAME_CHARS` characters, never empty.
    pub text: String,
    /// Who gave it.
    pub by: NamedBy,
    /// The places in the session of the messages that the model made it of: it goes with any of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub made_of: Vec<u32>,
    /// The turn in which the model gave it: it goes with that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<RunId>,
}

/// Who has named a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NamedBy {
    /// A person: it is never changed but by a person.
    Person,
    /// The model, after the first exchange.
    Bot,
    /// The model, by an observation of its own.
    Agent,
}

impl SessionName {
    /// The name that a person gives, on one line and cut where it is too long; `None` for no words.
    #[must_use]
    pub fn by_person(words: &str) -> Option<Self> {
        Self::given(words, NamedBy::Person)
    }

    /// The name that an observation in this turn gives, on one line and cut where it is too long; `None` for no words.
    #[must_use]
    pub fn by_agent(words: &str, turn: RunId) -> Option<Self> {
        Some(Self { turn: Some(turn), ..Self::given(words, NamedBy::Agent)? })
    }

    fn given(words: &str, by: NamedBy) -> Option<Self> {
        let text = one_line(&visible(words), MAX_NAME_CHARS);
        (!text.is_empty()).then_some(Self { text, by, made_of: Vec::new(), turn: None })
    }

    /// The name in what the model wrote of the messages at these places: its first line without marks and quotes, at most six
    /// words. `None` if no words are left.
    #[must_use]
    pub fn by_bot(written: &str, made_of: Vec<u32>) -> Option<Self> {
        let bare = |line: &str| -> String {
            let plain: String = visible(line).chars().filter(|c| !MARKS.contains(c)).collect();
            let words: Vec<&str> = plain.split_whitespace().take(MAX_NAME_WORDS).collect();
            let is_around = |c: char| AROUND.contains(c) || c.is_whitespace();
            cut(words.join(" ").trim_matches(is_around)).trim_end_matches(is_around).to_owned()
        };
        let text = written.lines().map(bare).find(|line| line.chars().any(char::is_alphanumeric))?;
        Some(Self { text, by: NamedBy::Bot, made_of, turn: None })
    }
}

/// The text without characters that are not seen, which could turn what stands behind a name around.
fn visible(text: &str) -> String {
    let is_hidden = |c: char| matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}');
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).filter(|c| !is_hidden(*c)).collect()
}

/// So many words as fit; where not even one does, its beginning.
fn cut(text: &str) -> &str {
    let Some((end, _)) = text.char_indices().nth(MAX_NAME_CHARS) else { return text };
    let is_whole = text[end..].starts_with(char::is_whitespace);
    match text[..end].rfind(char::is_whitespace) {
        Some(space) if !is_whole => &text[..space],
        _ => &text[..end],
    }
}

/// A change of a session; the default changes nothing. `Some(None)` takes a choice back.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionChange {
    /// What it is called. A name that the model made of the first exchange is taken only where there is none, one of an
    /// observation unless a person has given one. It is not taken if a message that it was made of was erased meanwhile.
    pub name: Option<SessionName>,
    /// The model that answers in it.
    pub model: Option<Option<ModelName>>,
    /// The agent that answers in it, by its name.
    pub agent: Option<Option<String>>,
    /// The name that the client of a conversation outside Telegram gives it.
    pub external_name: Option<String>,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_name_is_taken_out_of_what_a_model_writes() {
        for (written, wanted) in [
            ("Trip to Riga", Some("Trip to Riga")),
            ("\"Trip to Riga.\"\n\nIt fits because", Some("Trip to Riga")),
            ("# **Trip to Riga**", Some("Trip to Riga")),
            ("\n  - `Viagem a Riga`!", Some("Viagem a Riga")),
            ("«Поездка в Ригу»", Some("Поездка в Ригу")),
            ("里加之行", Some("里加之行")),
            ("one two three four five six seven", Some("one two three four five six")),
            ("Rock 'n' Roll?", Some("Rock 'n' Roll?")),
            ("\u{202e}agir", Some("agir")),
            ("***", None),
            ("", None),
        ] {
            let name = SessionName::by_bot(written, Vec::new());
            assert_eq!(name.as_ref().map(|name| name.text.as_str()), wanted, "{written}");
        }
        let long = format!("{} {}", "x".repeat(40), "y".repeat(40));
        assert_eq!(SessionName::by_bot(&long, Vec::new()).unwrap().text, "x".repeat(40));
        assert_eq!(SessionName::by_bot(&"z".repeat(90), Vec::new()).unwrap().text, "z".repeat(60));
        assert_eq!(SessionName::by_person(" My\n\"list\" ").unwrap().text, "My \"list\"");
        assert_eq!(SessionName::by_person(" \n"), None);
    }

    #[test]
    fn a_persons_name_stands_over_an_agents_and_that_over_the_models() {
        use crate::conversation::{Conversation, Session};
        use figaro_base::ids::ChatId;

        let name = |by: NamedBy| SessionName::given(&format!("{by:?}"), by);
        for (first, then, wanted) in [
            (NamedBy::Bot, NamedBy::Agent, NamedBy::Agent),
            (NamedBy::Agent, NamedBy::Agent, NamedBy::Agent),
            (NamedBy::Agent, NamedBy::Bot, NamedBy::Agent),
            (NamedBy::Agent, NamedBy::Person, NamedBy::Person),
            (NamedBy::Person, NamedBy::Agent, NamedBy::Person),
            (NamedBy::Person, NamedBy::Bot, NamedBy::Person),
        ] {
            let here = Conversation { chat: ChatId(1), topic: None };
            let mut session = Session::new(here, chrono::DateTime::UNIX_EPOCH);
            for by in [first, then] {
                session.change(SessionChange { name: name(by), ..SessionChange::default() });
            }
            assert_eq!(session.name, name(wanted), "{first:?}, then {then:?}");
        }
        assert_eq!(SessionName::by_agent(" Pumps\nof Riga ", RunId::new()).unwrap().text, "Pumps of Riga");
    }

    proptest! {
        #[test]
        fn a_name_is_one_short_line_without_marks(written in ".{0,200}") {
            for name in [SessionName::by_bot(&written, Vec::new()), SessionName::by_person(&written)].into_iter().flatten() {
                prop_assert!(!name.text.is_empty() && name.text.chars().count() <= MAX_NAME_CHARS);
                prop_assert!(!name.text.chars().any(char::is_control), "{:?}", name.text);
                if name.by == NamedBy::Bot {
                    prop_assert!(name.text.split_whitespace().count() <= MAX_NAME_WORDS);
                    prop_assert!(!name.text.contains(MARKS), "{:?}", name.text);
                    prop_assert_eq!(SessionName::by_bot(&name.text, Vec::new()), Some(name));
                }
            }
        }
    }
}
