//! Calls and end marks of a model's template that a server has left in the text of an answer. Used by the reader of
//! every dialect, after the filter of reasoning.
//!
//! Only marks at the end of the text are removed. Marks in code, or followed by other words, are text about them.

mod calls;

use self::calls::{ENDS, WrittenCalls, begins_call, may_begin_call, read};
use crate::offered::Offered;
use figaro_domain::tool::Call;

/// Filter for the text of an answer.
#[derive(Debug, Default)]
pub(crate) struct Tail {
    /// Text that may not be shown: it begins with a mark, or with part of one.
    held: String,
    /// `true` after an odd number of backticks, that is, within code.
    is_code: bool,
    last: Option<char>,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum AnswerEnd {
    /// Remaining text, without marks.
    Text(String),
    /// Calls of offered tools.
    Calls(Vec<Call>),
    /// Marks of a call that is unreadable.
    Garbled,
}

impl Tail {
    /// Takes more text. Returns the text that can be passed on so far.
    pub(crate) fn pass(&mut self, text: &str) -> String {
        self.held.push_str(text);
        let mut length = self.held.len();
        for (at, sign) in self.held.match_indices(['<', '[', '`']) {
            if sign == "`" {
                self.is_code = !self.is_code;
            } else if !self.is_code && may_be_mark(self.held.split_at(at).1) {
                length = at;
                break;
            }
        }
        let rest = self.held.split_off(length);
        let told = std::mem::replace(&mut self.held, rest);
        self.last = told.chars().next_back().or(self.last);
        told
    }

    /// Returns the end of the answer.
    pub(crate) fn end(&mut self, offered: &Offered) -> AnswerEnd {
        let held = std::mem::take(&mut self.held);
        if begins_call(&held) {
            return match read(&held, offered) {
                WrittenCalls::Calls(calls) => AnswerEnd::Calls(calls),
                WrittenCalls::Garbled => AnswerEnd::Garbled,
                WrittenCalls::Text => AnswerEnd::Text(without_ends(&held).to_owned()),
            };
        }
        // An answer that mentions a mark has it within its text.
        let is_word = self.last.is_some_and(|last| " \t\"'`(“«‘„".contains(last));
        AnswerEnd::Text(if is_word { held } else { without_ends(&held).to_owned() })
    }

    /// Resets the filter: the text so far was no part of the answer.
    pub(crate) fn take_back(&mut self) {
        *self = Self::default();
    }
}

/// Returns `true` if a text begins with a mark, or is the beginning of one.
fn may_be_mark(text: &str) -> bool {
    if begins_call(text) || may_begin_call(text) {
        return true;
    }
    let mut rest = text;
    while let Some(behind) = ENDS.iter().find_map(|mark| rest.strip_prefix(mark)) {
        rest = behind.trim_start();
    }
    ENDS.iter().any(|mark| mark.starts_with(rest))
}

/// Strips the marks at the end of a text.
fn without_ends(text: &str) -> &str {
    let mut text = text;
    while let Some(before) = ENDS.iter().find_map(|mark| text.trim_end().strip_suffix(mark)) {
        text = before.trim_end();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::offered::tests::offering;

    /// What is told of a text, whole, and what it ends with: the same however it is cut.
    fn told(text: &str) -> (String, AnswerEnd) {
        let all = |pieces: &[&str]| {
            let mut tail = Tail::default();
            let told: String = pieces.iter().map(|piece| tail.pass(piece)).collect();
            match tail.end(&offering(&["list_notes", "add_note"])) {
                AnswerEnd::Text(rest) => (told + &rest, AnswerEnd::Text(String::new())),
                AnswerEnd::Calls(calls) => {
                    let short = calls.iter().map(|call| format!("{}{} ", call.name, call.arguments));
                    (told + "|" + &short.collect::<String>(), AnswerEnd::Text("calls".into()))
                }
                AnswerEnd::Garbled => (told, AnswerEnd::Garbled),
            }
        };
        let whole = all(&[text]);
        for (at, _) in text.char_indices() {
            let (start, end) = text.split_at(at);
            assert_eq!(all(&[start, end]), whole, "{text:?} cut at {at}");
        }
        let letters: Vec<String> = text.chars().map(String::from).collect();
        assert_eq!(
            all(&letters.iter().map(String::as_str).collect::<Vec<_>>()),
            whole,
            "{text:?} by letters"
        );
        whole
    }

    #[test]
    fn marks_of_an_end_are_taken_off_and_words_about_them_stay() {
        let taken = [
            "Two loaves.<|im_end|>",
            "Two loaves.</s>\n",
            "Two loaves.<end_of_turn><|endoftext|>",
            "Two loaves.<|return|> </s>",
        ];
        for text in taken {
            assert_eq!(told(text), ("Two loaves.".into(), AnswerEnd::Text(String::new())), "{text}");
        }
        let kept = [
            "It ends with <|im_end|>",
            "It ends with `<|im_end|>`",
            "`<|im_end|>` ends it.",
            "Write <|im_end|> there, then </s> here.",
            "```\na<|im_end|>\n```",
            "```\na<|im_end|>",
            "1 < 2",
            "a<",
            "a [",
            "<|im_end|> is its end.",
        ];
        for text in kept {
            assert_eq!(told(text), (text.into(), AnswerEnd::Text(String::new())), "{text}");
        }
    }

    #[test]
    fn calls_in_text_are_calls() {
        let cases = [
            ("<tool_call>\n{\"name\": \"list_notes\", \"arguments\": {}}\n</tool_call>", "|list_notes{} "),
            (
                "Let me look.\n<tool_call>{\"name\": \"add_note\", \"arguments\": {\"key\": \"a\"}}</tool_call><|im_end|>",
                "Let me look.\n|add_note{\"key\":\"a\"} ",
            ),
            (
                "<tool_call>{\"name\": \"list_notes\"}</tool_call>\n<tool_call>{\"name\": \"add_note\", \"parameters\": {}}</tool_call>",
                "|list_notes{} add_note{} ",
            ),
            ("<tool_call>\n<function=list_notes>\n</function>\n</tool_call>", "|list_notes{} "),
            (
                "<tool_call>\n<function=add_note>\n<parameter=key>\n7\n</parameter>\n<parameter=count>\n7\n</parameter>\n</function>\n</tool_call>",
                "|add_note{\"key\":\"7\",\"count\":7} ",
            ),
            ("<function=list_notes>{}</function>", "|list_notes{} "),
            (
                "<|channel|>commentary to=functions.list_notes <|constrain|>json<|message|>{}<|call|>",
                "|list_notes{} ",
            ),
            ("<|python_tag|>{\"name\": \"list_notes\", \"parameters\": {}}<|eom_id|>", "|list_notes{} "),
            ("[TOOL_CALLS][{\"name\": \"list_notes\", \"arguments\": {}}]", "|list_notes{} "),
            ("[TOOL_CALLS]add_note[ARGS]{\"key\": \"a\"}</s>", "|add_note{\"key\":\"a\"} "),
            (
                "<|tool_calls_section_begin|><|tool_call_begin|>functions.list_notes:0<|tool_call_argument_begin|>{}<|tool_call_end|><|tool_calls_section_end|>",
                "|list_notes{} ",
            ),
            (
                "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>add_note\n```json\n{\"key\": \"a\"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
                "|add_note{\"key\":\"a\"} ",
            ),
            (
                "<｜DSML｜function_calls>\n<｜DSML｜invoke name=\"list_notes\">\n</｜DSML｜invoke>\n</｜DSML｜function_calls>",
                "|list_notes{} ",
            ),
            (
                "<minimax:tool_call>\n<invoke name=\"add_note\">\n<parameter name=\"key\" string=\"true\">a < b</parameter>\n</invoke>\n</minimax:tool_call>",
                "|add_note{\"key\":\"a < b\"} ",
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(told(text), (expected.into(), AnswerEnd::Text("calls".into())), "{text}");
        }
    }

    #[test]
    fn marks_of_a_call_that_cannot_be_made_are_not_told() {
        let cases = [
            "<tool_call>\n{\"name\": \"other\", \"arguments\": {}}\n</tool_call>",
            "<tool_call>\n{\"name\": \"add_note\", \"arguments\": {\"key\": \"a",
            "<tool_call>\n{\"name\": \"add_note\", \"arguments\": {}, \"key\": \"a",
            "<tool_call>{\"name\": \"add_note\", \"arguments\": \"a\"}</tool_call>",
            "<function=other>{}</function>",
            "<tool_call>",
            "[TOOL_CALLS]other{}",
        ];
        for text in cases {
            assert_eq!(told(text), (String::new(), AnswerEnd::Garbled), "{text}");
        }
    }

    #[test]
    fn words_about_calls_stay() {
        let cases = [
            "```\n<tool_call>\n{\"name\": \"list_notes\", \"arguments\": {}}\n</tool_call>\n```",
            "Qwen writes `<tool_call>`.",
            "Qwen writes <tool_call> around its calls.",
            "<tool_call> is a mark of Qwen.",
            "<tool_call>{\"name\": \"list_notes\"}</tool_call>\nThat is how a call looks.",
            "See <function=x> for more, and [TOOL_CALLS] too.",
            "[TOOL_CALLS] is a mark of Mistral.",
        ];
        for text in cases {
            assert_eq!(told(text), (text.into(), AnswerEnd::Text(String::new())), "{text}");
        }
    }
}
