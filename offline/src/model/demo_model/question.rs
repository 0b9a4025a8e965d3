//! Request as the demo rules see it: sender, words, replied message, time and language.

use chrono::NaiveDateTime;
use figaro_base::tz::Tz;
use serde_json::{Value, json};

use super::attached::Attached;
use super::language::{self, DemoLanguage};
use super::passage::DemoPassage;
use crate::model::request::{ModelRequest, TaggedMessage, last_element, tagged, text_of};

/// Last message of a person, with its context from the prompt.
#[derive(Debug, Clone)]
pub(super) struct DemoQuestion {
    /// Text as the person wrote it, without a leading mention of the bot.
    pub(super) text: String,
    /// Words of `text`.
    pub(super) said: Vec<String>,
    /// Words of `said` in lower case, without punctuation around them. Rules compare these.
    pub(super) plain: Vec<String>,
    /// Plain words joined by spaces, with a space at both ends. Rules search phrases in it.
    pub(super) line: String,
    /// Preferred or first name of the sender.
    pub(super) name: String,
    /// Text of the message it replies to; the quoted part if there is one.
    pub(super) quoted: Option<String>,
    /// Id of the task that the replied message is about, if any.
    pub task: Option<String>,
    /// Id of the message it replies to.
    pub(super) replied: Option<Value>,
    /// Attachments of the message, else those of the message it replies to.
    pub(super) attached: Vec<Attached>,
    /// Passages of documents in the prompt.
    pub(super) passages: Vec<DemoPassage>,
    /// Memories about the sender.
    pub(super) memories: Vec<String>,
    /// Local time of the chat.
    pub(super) now: Option<NaiveDateTime>,
    /// Time zone of the chat; `now` is in this zone.
    pub(super) zone: Option<Tz>,
    pub(super) language: DemoLanguage,
    /// `true` for a scheduled task that is due, `false` for a message of a person.
    pub(super) is_due: bool,
    /// `chat_id`, `message_thread_id` and `message_id`, as far as the prompt gives them.
    pub(super) ids: [Option<Value>; 3],
}

impl DemoQuestion {
    /// Reads the last question of a request. `unescape` undoes the escaping of the prompt.
    pub(super) fn read(request: &ModelRequest, unescape: fn(&str) -> String) -> Self {
        let whole = request.user_text();
        let task = last_element(&whole, "scheduled_task");
        // Question of another agent.
        let asked = || last_element(&whole, "task");
        let message = task.or_else(asked).unwrap_or_else(|| tagged(&whole));
        let (said, mut attached) = Attached::parted(message.text, unescape);
        let text = without_mention(&unescape(&said)).to_owned();
        let mut question = Self::of(&text);
        if attached.is_empty() {
            attached =
                replied(message.before).map(|it| Attached::parted(it.text, unescape).1).unwrap_or_default();
        }
        if attached.is_empty() && !request.pictures().is_empty() {
            attached.push(Attached::picture());
        }
        question.attached = attached;
        question.passages = DemoPassage::all(&whole, unescape);
        // A task is for the person who set it up.
        let name = message.attribute("from").or_else(|| message.attribute("set_up_by"));
        question.name = unescape(called(&whole).or(name).unwrap_or("you"));
        if task.is_none()
            && let Some(replied) = replied(message.before)
        {
            question.quoted = quoted(&replied).map(|text| unescape(&text));
            question.task = replied.attribute("task_id").map(ToOwned::to_owned);
            question.replied = number(&replied, "message_id");
        }
        question.memories = memories(request).into_iter().map(|memory| unescape(&memory)).collect();
        (question.now, question.zone) = now(&whole).unzip();
        question.is_due = task.is_some();
        question.ids = ["chat_id", "message_thread_id", "message_id"].map(|name| number(&message, name));
        question.language = of_chat(request.instructions()).unwrap_or(question.language);
        question
    }

    /// Creates a question with these words and no context.
    pub(super) fn of(text: &str) -> Self {
        let said: Vec<String> = text.split_whitespace().map(ToOwned::to_owned).collect();
        let plain: Vec<String> = said.iter().map(|word| plain(word)).collect();
        let line =
            plain.iter().filter(|word| !word.is_empty()).fold(" ".to_owned(), |line, word| line + word + " ");
        let written = language::written(&plain.iter().map(String::as_str).collect::<Vec<_>>());
        Self {
            text: text.to_owned(),
            said,
            plain,
            line,
            name: "you".to_owned(),
            quoted: None,
            task: None,
            replied: None,
            attached: Vec::new(),
            passages: Vec::new(),
            memories: Vec::new(),
            now: None,
            zone: None,
            language: written,
            is_due: false,
            ids: [None, None, None],
        }
    }

    /// Returns the question with other words and the same context.
    pub(super) fn with_words(&self, words: &str) -> Self {
        let Self { text, said, plain, line, .. } = Self::of(words);
        Self { text, said, plain, line, ..self.clone() }
    }

    /// Returns `true` if the question contains a phrase, given in lower case.
    pub(super) fn says(&self, phrase: &str) -> bool {
        self.line.contains(&format!(" {phrase} "))
    }

    /// Returns `true` if the question begins with a phrase, given in lower case.
    pub(super) fn begins(&self, phrase: &str) -> bool {
        self.line.starts_with(&format!(" {phrase} "))
    }

    /// Returns `true` if the question consists of a phrase only, given in lower case.
    pub(super) fn is(&self, phrase: &str) -> bool {
        self.line.trim() == phrase
    }

    /// Returns the language that the question asks for, else `language`.
    pub(super) fn answer_language(&self) -> DemoLanguage {
        let plain: Vec<&str> = self.plain.iter().map(String::as_str).collect();
        language::wanted(&plain).unwrap_or(self.language)
    }

    /// Returns the text after the first of these words, trimmed of punctuation; `None` if no such word occurs.
    pub(super) fn after(&self, words: &[&str]) -> Option<String> {
        let at = self.plain.iter().position(|word| words.contains(&word.as_str()))?;
        Some(trimmed(&self.said.get(at + 1..)?.join(" ")).to_owned())
    }

    /// Returns `chat_id` and `message_thread_id` as arguments of a call.
    pub(super) fn place(&self) -> Value {
        let [chat, topic, _] = &self.ids;
        let mut place = json!({});
        for (name, id) in [("chat_id", chat), ("message_thread_id", topic)] {
            if let Some(id) = id {
                place[name] = id.clone();
            }
        }
        place
    }

    /// Returns `chat_id` and `message_id` of the question as arguments of a call.
    pub(super) fn message(&self) -> Value {
        let [chat, _, message] = self.ids.clone().map(Option::unwrap_or_default);
        json!({"chat_id": chat, "message_id": message})
    }
}

/// Converts a word to lower case and strips the punctuation around it.
pub(super) fn plain(word: &str) -> String {
    word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase()
}

/// Trims punctuation and spaces, but keeps a question mark.
pub(super) fn trimmed(words: &str) -> &str {
    words.trim_matches([' ', ':', ',', '.', '!', '"', '“', '”'])
}

/// Capitalises the first letter.
pub(super) fn capital(words: &str) -> String {
    let mut letters = words.chars();
    let first: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
    first + letters.as_str()
}

fn without_mention(text: &str) -> &str {
    let is_mention = |word: &str| word.starts_with('@') && word.len() > 1;
    match text.split_once(char::is_whitespace) {
        Some((first, rest)) if is_mention(first) => rest.trim_start(),
        _ => text,
    }
}

/// Returns the message that the next one replies to.
fn replied(before: &str) -> Option<TaggedMessage<'_>> {
    last_element(before, "replies_to").filter(|_| before.trim_end().ends_with("</replies_to>"))
}

/// Returns the text of the replied message, or only its quoted part.
fn quoted(replied: &TaggedMessage<'_>) -> Option<String> {
    let part =
        replied.text.split_once("<quoted_part>").and_then(|(_, rest)| rest.split_once("</quoted_part>"));
    let words = part.map_or(replied.text, |(part, _)| part);
    let (words, _) = Attached::parted(words, str::to_owned);
    Some(words).filter(|words| !words.is_empty())
}

/// Returns the memories about the sender, without their labels.
fn memories(request: &ModelRequest) -> Vec<String> {
    let mut texts = request.input().iter().map(|item| text_of(&item["content"]));
    let element = texts.rfind(|text| text.contains("<memories "));
    let lines =
        element.as_deref().and_then(|text| last_element(text, "memories")).map(|it| it.text.to_owned());
    let lines = lines.unwrap_or_default();
    lines.lines().filter_map(|line| Some(line.split_once(": ")?.1.trim().to_owned())).collect()
}

/// Returns the preferred name of the sender.
fn called(whole: &str) -> Option<&str> {
    let (_, rest) = whole.rsplit_once("<asked_by")?;
    let (tag, _) = rest.split_once("/>")?;
    let (_, name) = tag.split_once(" call_them=\"")?;
    name.split('"').next()
}

/// Parses local time and zone from the prompt: `Monday, 23 November 2026, 14:05 (Europe/Riga)`.
fn now(whole: &str) -> Option<(NaiveDateTime, Tz)> {
    let (_, rest) = whole.rsplit_once("<now>")?;
    let (now, rest) = rest.split_once(" (")?;
    let (zone, _) = rest.split_once(')')?;
    Some((NaiveDateTime::parse_from_str(now, "%A, %d %B %Y, %H:%M").ok()?, zone.parse().unwrap_or(Tz::UTC)))
}

/// Returns the language setting of the chat, if the demo model writes that language.
fn of_chat(instructions: &str) -> Option<DemoLanguage> {
    let (_, rest) = instructions.rsplit_once("Answer in this language: ")?;
    language::named(&[rest.lines().next()?.trim().to_lowercase().as_str()])?.1
}

fn number(message: &TaggedMessage<'_>, name: &str) -> Option<Value> {
    let text = message.attribute(name)?;
    Some(text.parse::<i64>().map_or_else(|_| json!(text), Value::from))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::request::RequestContent;

    fn read(text: &str, instructions: &str) -> DemoQuestion {
        let input = vec![json!({"role": "user", "content": text})];
        let asked =
            RequestContent { input, instructions: instructions.to_owned(), ..RequestContent::default() };
        DemoQuestion::read(&ModelRequest::new(Value::Null, asked), |text| text.replace("&lt;", "<"))
    }

    #[test]
    fn a_message_is_read_with_what_surrounds_it() {
        let question = read(
            "<now>Tuesday, 24 November 2026, 02:34 (UTC)</now>\nAnswer.\n<replies_to message_id=\"5\" \
             task_id=\"06AB\" from=\"Figaro\">\nEdit: Sing\n<attached kind=\"photo\"/>\n</replies_to>\n<message chat_id=\"-5\" \
             message_thread_id=\"3\" from=\"Ann\" message_id=\"7\">\n@figaro_bot Every &lt;day&gt;, at 7:30!\n</message>",
            "",
        );
        assert_eq!((question.text.as_str(), question.name.as_str()), ("Every <day&gt;, at 7:30!", "Ann"));
        assert_eq!(
            (question.quoted.as_deref(), question.task.as_deref()),
            (Some("Edit: Sing"), Some("06AB"))
        );
        assert_eq!(question.now.unwrap().to_string(), "2026-11-24 02:34:00");
        assert_eq!(question.place(), json!({"chat_id": -5, "message_thread_id": 3}));
        assert_eq!(question.message(), json!({"chat_id": -5, "message_id": 7}));
        assert!(question.says("at 7:30") && question.begins("every") && !question.says("ever"));
        assert_eq!(question.after(&["at"]).as_deref(), Some("7:30"));
    }

    #[test]
    fn a_quoted_part_counts_alone_and_a_task_is_due() {
        let part = "<replies_to>\nAll of it.\n<quoted_part>of it</quoted_part>\n</replies_to>\n<message x=\"1\">\nhm\n</message>";
        assert_eq!(read(part, "").quoted.as_deref(), Some("of it"));
        let task = "<now>x</now>\n<scheduled_task set_up_by=\"Ann B\" chat_id=\"5\">\nRemind Ann B.\n</scheduled_task>";
        let task = read(task, "");
        assert_eq!((task.text.as_str(), task.name.as_str(), task.is_due), ("Remind Ann B.", "Ann B", true));
    }

    #[test]
    fn the_language_is_the_chats_or_the_persons_or_one_that_is_asked_for() {
        let spanish = "Answer in this language: Spanish\n";
        let said = |text: &str, instructions: &str| {
            read(&format!("<message x=\"1\">\n{text}\n</message>"), instructions).language
        };
        assert_eq!(said("hello you", spanish), DemoLanguage::Spanish);
        let joke = read("<message x=\"1\">\na joke in English\n</message>", spanish);
        assert_eq!((joke.language, joke.answer_language()), (DemoLanguage::Spanish, DemoLanguage::English));
        assert_eq!(said("que tempo faz em Lisboa", ""), DemoLanguage::Portuguese);
    }
}
