//! Rules of pins: automatic pins, full chats, edits of a source, and answers that get a pin button. Pure.

use super::conversation::{Message, MessageRole};
use super::importance::{self, By};
use super::memory::Memory;
use super::message::Span;
use super::pin::{MAX_AUTO, MAX_CONCEPT, MAX_CONTENT_CHARS, MAX_PINS, OF_PREFERENCE, Pin, PinType, VITAL};
use super::record::ImportanceRules;
use figaro_base::ids::{ChatId, PinId};
use figaro_base::text::{is_unseen, keep_ends};

/// Marks an omission in a text too long to pin in full.
const GAP: &str = " … ";
/// Importance from which an answer to a statement may be worth keeping.
const WORTH_KEEPING: f32 = 8.0;
/// Length in characters from which an answer in prose is worth keeping. "Noted!" is not.
const MIN_ANSWER_CHARS: usize = 200;
/// Length in characters from which an answer that is mostly code is worth keeping.
const MIN_CODE_CHARS: usize = 80;

/// Result of adding a pin to those of a chat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Adding {
    /// The chat already has the same pin.
    Already(PinId),
    /// The chat has the maximum number of pins.
    Full,
    /// The pin is added. The given pin, if any, is removed for it.
    New(Option<PinId>),
}

/// Effect of an edit of its source on a pin.
#[derive(Debug, Clone, PartialEq)]
pub enum PinEditEffect {
    /// The pin stays as it is.
    Same,
    /// The pin has a new text.
    Changed(Box<Pin>),
    /// The source no longer holds the reason for the pin.
    Gone,
}

/// Returns the pin for the vital part of a person's message, if there is one. `foreign` parts are not the person's own words
/// and are ignored.
#[must_use]
pub(crate) fn vital(
    chat: ChatId,
    message: &Message,
    foreign: &[Span],
    rules: &ImportanceRules,
) -> Option<Pin> {
    let speaker = message.speaker.as_ref().filter(|speaker| speaker.is_person())?;
    let is_own =
        message.role == MessageRole::User && message.task.is_none() && message.forwarded_from.is_none();
    if !is_own || message.borrowed {
        return None;
    }
    let content = statement(&Span::cut_out(&message.text, foreign).replace(Span::CUT, "\n"), rules)?;
    Some(Pin {
        source_message_id: Some(message.id),
        source: Some(message.key()),
        telegram: message.telegram.first().copied(),
        importance: VITAL,
        pin_type: PinType::Auto,
        author: Some(speaker.user.clone()),
        name: Some(speaker.name.clone()),
        ..Pin::new(chat, message.session, content, message.created_at)
    })
}

/// Returns the pin of a lasting preference stated in a private chat; `None` for any other memory.
#[must_use]
pub fn preference(memory: &Memory, source: Option<&Message>) -> Option<Pin> {
    let is_private = memory.user.telegram_id() == Some(memory.chat.0);
    if !(memory.is_preference && memory.is_active() && is_private) {
        return None;
    }
    let content = fitted(&memory.content)?;
    Some(Pin {
        source_message_id: Some(memory.source_message_id),
        source: Some(memory.source),
        telegram: source.and_then(|source| source.telegram.first().copied()),
        memory: Some(memory.id),
        importance: OF_PREFERENCE,
        pin_type: PinType::Concept,
        author: Some(memory.user.clone()),
        name: source.and_then(|source| source.speaker.as_ref()).map(|speaker| speaker.name.clone()),
        ..Pin::new(memory.chat, memory.source.session, content, memory.updated_at)
    })
}

/// Returns the vital part of a message, without the leading name of the addressed bot. Bot names end in `bot`.
fn statement(text: &str, rules: &ImportanceRules) -> Option<String> {
    let vital = importance::vital_with(text, rules)?;
    let addressed = vital.split_once(char::is_whitespace).filter(|(first, _)| {
        let name = first.strip_prefix('@').map(|name| name.trim_end_matches([',', ':']).to_lowercase());
        name.is_some_and(|name| name.ends_with("bot"))
    });
    fitted(addressed.map_or(vital.as_str(), |(_, rest)| rest))
}

/// Decides how a pin joins those of the chat. A pin of a rule pushes out the least important of its kind, or the oldest of
/// equal ones. Any other pin is refused if the chat is full.
#[must_use]
pub fn adding(kept: &[Pin], pin: &Pin) -> Adding {
    if let Some(same) = kept.iter().find(|other| says_the_same(other, pin)) {
        return Adding::Already(same.id);
    }
    let all = kept.iter().filter(|other| other.about.is_none()).count();
    let most_of_kind = match pin.pin_type {
        PinType::Auto => MAX_AUTO,
        PinType::Concept => MAX_CONCEPT,
        PinType::Manual | PinType::Code | PinType::System => {
            return if all >= MAX_PINS { Adding::Full } else { Adding::New(None) };
        }
    };
    let of_kind: Vec<&Pin> = kept.iter().filter(|other| other.pin_type == pin.pin_type).collect();
    if all < MAX_PINS && of_kind.len() < most_of_kind {
        return Adding::New(None);
    }
    let least = of_kind.into_iter().min_by(|one, other| {
        one.importance.total_cmp(&other.importance).then(one.created_at.cmp(&other.created_at))
    });
    least.map_or(Adding::Full, |least| Adding::New(Some(least.id)))
}

/// Returns `true` if two pins hold the same words. For automatic pins the author must match too: two people may have the
/// same allergy.
fn says_the_same(one: &Pin, other: &Pin) -> bool {
    let is_auto = one.pin_type == PinType::Auto && other.pin_type == PinType::Auto;
    let is_plain = one.about.is_none() && other.about.is_none();
    is_plain && (!is_auto || one.author == other.author) && plain(&one.content) == plain(&other.content)
}

fn plain(content: &str) -> String {
    let lower = content.to_lowercase();
    let words =
        lower.split(|c: char| c.is_whitespace() || ".,!;:".contains(c)).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}

/// Decides what happens to a pin when its source has a new text.
#[must_use]
pub fn followed(pin: &Pin, words: &str, rules: &ImportanceRules) -> PinEditEffect {
    let content = match pin.pin_type {
        PinType::Auto => match statement(words, rules) {
            Some(content) => content,
            None => return PinEditEffect::Gone,
        },
        PinType::Manual | PinType::Code if !pin.is_part => match fitted(words) {
            Some(content) => content,
            None => return PinEditEffect::Same,
        },
        PinType::Manual | PinType::Code | PinType::Concept | PinType::System => return PinEditEffect::Same,
    };
    if content == pin.content {
        return PinEditEffect::Same;
    }
    let pin_type = if pin.pin_type == PinType::Auto { PinType::Auto } else { kind_of(&content) };
    // The stored message still has the old text.
    PinEditEffect::Changed(Box::new(Pin { content, pin_type, source: None, ..pin.clone() }))
}

/// Returns a text as it is pinned: trimmed, and shortened in the middle if too long. `None` if it has no visible characters.
#[must_use]
pub fn fitted(words: &str) -> Option<String> {
    let words = words.trim();
    let most = (MAX_CONTENT_CHARS - GAP.chars().count()) / 2;
    let content = if words.chars().count() > MAX_CONTENT_CHARS {
        keep_ends(words, most, GAP)
    } else {
        words.to_owned()
    };
    let is_seen = |c: char| !c.is_whitespace() && !c.is_control() && !is_unseen(c);
    content.chars().any(is_seen).then_some(content)
}

/// Returns the importance of a text that a person pins, if it is vital.
#[must_use]
pub fn importance_of(words: &str) -> Option<f32> {
    importance::vital(words).map(|_| VITAL)
}

/// Returns the pin type for a text: code if most of it is code or a formula.
#[must_use]
pub fn kind_of(words: &str) -> PinType {
    let (mut code, mut all, mut fence, mut lines) = (0, 0, None, 0);
    for line in words.lines() {
        let text = line.trim();
        let mark = ["```", "~~~", "$$", "\\[", "\\]"].into_iter().find(|mark| text.starts_with(mark));
        let is_whole = text.len() > 4 && text.starts_with("$$") && text.ends_with("$$");
        if let Some(mark) = mark.filter(|_| !is_whole) {
            fence = if fence.is_some() { None } else { Some(mark) };
            continue;
        }
        let chars = text.chars().filter(|c| !c.is_whitespace()).count();
        all += chars;
        lines += usize::from(chars > 0);
        if fence.is_some() || is_whole || looks_like_code(line) {
            code += chars;
        }
    }
    let has_fence = ["```", "~~~", "$$", "\\["].iter().any(|mark| words.contains(mark));
    // Without a code fence, one line is not enough to decide.
    if all > 0 && code * 10 >= all * 6 && (has_fence || lines > 1) { PinType::Code } else { PinType::Manual }
}

/// Returns `true` if a line without a code fence looks like source code.
fn looks_like_code(line: &str) -> bool {
    let text = line.trim_end();
    let is_indented = text.starts_with("    ") || text.starts_with('\t');
    let has_sign =
        [" = ", " == ", "=>", "->", "();", "::", " := ", " += "].iter().any(|sign| text.contains(sign));
    is_indented || has_sign || text.ends_with([';', '{', '}'])
}

/// Returns `true` if an answer gets a button to pin it: mostly code, or a longer answer to a statement that matters. Vital
/// statements are pinned automatically. Answers too long for a pin get no button.
#[must_use]
pub fn is_offered<'a>(mut question: impl Iterator<Item = &'a str>, answer: &str) -> bool {
    let chars = answer.chars().count();
    if chars > MAX_CONTENT_CHARS {
        return false;
    }
    let matters = |words: &str| {
        let importance = importance::of(By::Person, words);
        (WORTH_KEEPING..VITAL).contains(&importance) && !importance::is_question(words)
    };
    let is_code = chars >= MIN_CODE_CHARS && kind_of(answer) == PinType::Code;
    is_code || (chars >= MIN_ANSWER_CHARS && question.any(matters))
}

#[cfg(test)]
mod tests {
    use chrono::{DateTime, TimeDelta};

    use super::*;
    use crate::message::Speaker;
    use figaro_base::ids::{SessionId, UserId};

    fn pin(content: &str, pin_type: PinType, importance: f32) -> Pin {
        let plain = Pin::new(ChatId(5), SessionId::new(), content.to_owned(), DateTime::UNIX_EPOCH);
        Pin { pin_type, importance, ..plain }
    }

    fn said(text: &str) -> Message {
        let speaker = Speaker { user: UserId::telegram(7), name: "Ann".to_owned(), username: None };
        let message =
            Message::new(SessionId::new(), MessageRole::User, text.to_owned(), DateTime::UNIX_EPOCH);
        Message { speaker: Some(speaker), ..message }
    }

    #[test]
    fn what_is_vital_is_pinned_in_the_words_of_whoever_says_it() {
        let found = vital(
            ChatId(5),
            &said("I am allergic to nuts. What can I cook?"),
            &[],
            &ImportanceRules::default(),
        )
        .unwrap();
        assert_eq!((found.content.as_str(), found.pin_type), ("I am allergic to nuts.", PinType::Auto));
        assert_eq!((found.importance, found.name.as_deref()), (VITAL, Some("Ann")));
        let of =
            |text: &str| vital(ChatId(5), &said(text), &[], &ImportanceRules::default()).unwrap().content;
        assert_eq!(of("@figaro_bot, I am allergic to nuts"), "I am allergic to nuts");
        assert_eq!(of("@bob is allergic to nuts"), "@bob is allergic to nuts");
        let quote = Span { offset: 0, length: 21 };
        assert_eq!(
            vital(
                ChatId(5),
                &said("I am allergic to nuts, says Bob."),
                &[quote],
                &ImportanceRules::default()
            ),
            None,
            "it is a quotation"
        );
        let plain = said("I am allergic to nuts");
        let others = [
            said("The allergy season is bad this year"),
            Message { forwarded_from: Some("Bob".to_owned()), ..plain.clone() },
            Message { borrowed: true, ..plain.clone() },
            Message { task: Some(figaro_base::ids::TaskId::new()), ..plain.clone() },
            Message { role: MessageRole::Assistant, ..plain.clone() },
            Message { speaker: None, ..plain },
        ];
        assert!(
            others
                .iter()
                .all(|message| vital(ChatId(5), message, &[], &ImportanceRules::default()).is_none())
        );
    }

    #[test]
    fn a_full_chat_keeps_what_matters_most() {
        let plain = |n: usize| pin(&format!("words {n}"), PinType::Manual, 5.0);
        let mut kept: Vec<Pin> = (0..MAX_PINS - 1).map(plain).collect();
        let new = pin("something new", PinType::Manual, 5.0);
        assert_eq!(adding(&kept, &new), Adding::New(None));
        assert_eq!(adding(&kept, &pin("Words, 7!", PinType::Manual, 1.0)), Adding::Already(kept[7].id));
        kept.push(plain(MAX_PINS));
        kept.push(Pin { about: Some(crate::pin::SystemPin::Zone), ..plain(0) });
        assert_eq!(adding(&kept, &new), Adding::Full);
        let auto = pin("allergic to nuts", PinType::Auto, 10.0);
        assert_eq!(adding(&kept, &auto), Adding::Full, "what people have pinned does not leave");
        kept[3].pin_type = PinType::Auto;
        assert_eq!(adding(&kept, &auto), Adding::New(Some(kept[3].id)));
    }

    #[test]
    fn of_what_is_pinned_by_itself_the_least_important_and_oldest_leaves() {
        let of_minute = |n: i64| Pin {
            created_at: DateTime::UNIX_EPOCH + TimeDelta::minutes(n),
            ..pin(&format!("allergic to {n}"), PinType::Auto, 10.0)
        };
        let mut kept: Vec<Pin> = (0..20).rev().map(of_minute).collect();
        let new = of_minute(30);
        assert_eq!(adding(&kept, &new), Adding::New(Some(kept[19].id)));
        kept[4].importance = 8.0;
        assert_eq!(adding(&kept, &new), Adding::New(Some(kept[4].id)));
        let of_bob = Pin { author: Some(UserId::telegram(8)), ..of_minute(5) };
        assert_eq!(adding(&kept[..5], &of_bob), Adding::New(None), "two people may have the same allergy");
    }

    #[test]
    fn a_pin_follows_its_source() {
        let changed = |pin: &Pin, words: &str| match followed(pin, words, &ImportanceRules::default()) {
            PinEditEffect::Changed(pin) => Some(pin.content),
            PinEditEffect::Same => None,
            PinEditEffect::Gone => Some("gone".to_owned()),
        };
        let manual = pin("the code is 4711", PinType::Manual, 5.0);
        let auto = pin("I am allergic to nuts", PinType::Auto, 10.0);
        let part = Pin { is_part: true, ..manual.clone() };
        let cases = [
            (&manual, " the code is 4712 ", Some("the code is 4712")),
            (&manual, "the code is 4711", None),
            (&manual, "  ", None),
            (&part, "the code is 4712", None),
            (&auto, "I am allergic to fish. What can I eat?", Some("I am allergic to fish.")),
            (&auto, "I like nuts", Some("gone")),
        ];
        for (pin, words, wanted) in cases {
            assert_eq!(changed(pin, words).as_deref(), wanted, "{words}");
        }
        let long = changed(&manual, &"long words ".repeat(1_000)).unwrap();
        assert!(long.chars().count() <= MAX_CONTENT_CHARS && long.contains(GAP));
    }

    #[test]
    fn code_is_told_from_words() {
        let cases = [
            ("```rust\nfn main() {\n    println!(\"hi\");\n}\n```", PinType::Code),
            (
                "Here it is:\n```\nlet total = prices.iter().sum();\nprintln!(\"{total}\");\n```",
                PinType::Code,
            ),
            ("for (i = 0; i < 3; i++) {\n    go(i);\n}", PinType::Code),
            ("$$x = \\frac{-b}{2a}$$", PinType::Code),
            ("$$\n\\int_0^1 x dx\n$$", PinType::Code),
            ("Call me at noon; I am free then;", PinType::Manual),
            ("Use `ls` to list the files of a folder, and `cd` to go to another one.", PinType::Manual),
            (
                "A long explanation of why the loop ends early, over many words.\n```\ni = 0\n```",
                PinType::Manual,
            ),
            ("", PinType::Manual),
        ];
        for (words, wanted) in cases {
            assert_eq!(kind_of(words), wanted, "{words}");
        }
    }

    #[test]
    fn a_button_offers_few_answers() {
        let code = format!("```\n{}\n```", "let x = f();\n".repeat(8));
        let long = "A good plan for that day would begin early. ".repeat(8);
        let too_long = "let x = f();\n".repeat(500);
        let cases = [
            ("Write me a loop", code.as_str(), true),
            ("Write me a loop", "```\nx = 1\n```", false),
            ("Write me a loop", &too_long, false),
            ("My sister's birthday is on the 5th of May", &long, true),
            ("My sister's birthday is on the 5th of May", "Noted!", false),
            ("When is my sister's birthday?", &long, false),
            ("What is a good plan for a day?", &long, false),
            ("I am allergic to nuts", &long, false),
        ];
        for (question, answer, wanted) in cases {
            assert_eq!(is_offered([question].into_iter(), answer), wanted, "{question}: {answer}");
        }
    }
}
