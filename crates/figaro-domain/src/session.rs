//! Names of sessions: given by a person, or a short one made by the model from the messages.

use serde::{Deserialize, Serialize};

use super::model::ModelName;
use figaro_base::ids::RunId;
use figaro_base::text::one_line;

/// Maximum length of a name, in characters.
pub(crate) const MAX_NAME_CHARS: usize = 60;
/// Maximum number of words in a name made by the model.
const MAX_NAME_WORDS: usize = 6;
/// Markup characters, which are removed from a name.
const MARKS: [char; 9] = ['*', '`', '#', '[', ']', '|', '~', '<', '>'];
/// Characters trimmed from both ends of a name.
const AROUND: &str = "\"'“”„«»‹›「」『』‘’_-–—.,;:!…(){}•";

/// Name of a session, with its author.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionName {
    /// Name in one line: 1 to `MAX_NAME_CHARS` characters.
    pub text: String,
    /// Author of the name.
    pub by: NamedBy,
    /// Indexes of the messages that the model made the name from. It is removed with any of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub made_of: Vec<u32>,
    /// Turn in which the model gave the name. It is removed with the turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<RunId>,
}

/// Author of a session's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NamedBy {
    /// A person. Only a person can change the name.
    Person,
    /// The model, after the first exchange.
    Bot,
    /// The model, in an observation on its answer.
    Agent,
}

impl SessionName {
    /// Creates a name given by a person: in one line, shortened if too long. `None` for an empty text.
    #[must_use]
    pub fn by_person(words: &str) -> Option<Self> {
        Self::given(words, NamedBy::Person)
    }

    /// Creates a name given by an observation in this turn: in one line, shortened if too long. `None` for an empty text.
    #[must_use]
    pub fn by_agent(words: &str, turn: RunId) -> Option<Self> {
        Some(Self { turn: Some(turn), ..Self::given(words, NamedBy::Agent)? })
    }

    fn given(words: &str, by: NamedBy) -> Option<Self> {
        let text = one_line(&visible(words), MAX_NAME_CHARS);
        (!text.is_empty()).then_some(Self { text, by, made_of: Vec::new(), turn: None })
    }

    /// Creates a name from what the model wrote about the messages at these indexes: the first line without markup and
    /// quotes, at most six words. `None` if no words are left.
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

/// Removes invisible characters, which could reverse the text after a name.
fn visible(text: &str) -> String {
    let is_hidden = |c: char| matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}');
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).filter(|c| !is_hidden(*c)).collect()
}

/// Shortens a text to whole words that fit, or to the beginning of its first word.
fn cut(text: &str) -> &str {
    let Some((end, _)) = text.char_indices().nth(MAX_NAME_CHARS) else { return text };
    let is_whole = text[end..].starts_with(char::is_whitespace);
    match text[..end].rfind(char::is_whitespace) {
        Some(space) if !is_whole => &text[..space],
        _ => &text[..end],
    }
}

/// Changes of a session; the default changes nothing. `Some(None)` clears a choice.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionChange {
    /// New name. A name made from the first exchange is used only if there is none; one from an observation, unless a person
    /// has given one. A name is refused if a message it was made from was erased since.
    pub name: Option<SessionName>,
    /// Model that answers in the session.
    pub model: Option<Option<ModelName>>,
    /// Name of the agent that answers in the session.
    pub agent: Option<Option<String>>,
    /// Name given by the client of an external conversation.
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
        use crate::conversation::{ConversationId, Session};
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
            let here = ConversationId { chat: ChatId(1), topic: None };
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
