//! What the reader of YAML says of a file that does not have the form of an agent, in the words of whoever wrote the file.

use serde_json::Value;

use super::names::Names;
use super::schema::schema;
use crate::domain::generation::Generation;
use crate::prompts::files::Fault;
use crate::text::yaml::{Mark, Misfit};

/// Keys that other formats have for what is `description` here.
const INSTRUCTIONS: [&str; 4] = ["instructions", "prompt", "system", "system_prompt"];

/// The fault that a misfit of this text is, in plainer words where there are any.
pub(super) fn fault(text: &str, misfit: Misfit) -> Fault {
    let fault = Fault::from(misfit);
    let spot = Spot::of(text, fault.at);
    let plainer = unknown_field(&fault.words)
        .or_else(|| spot.as_ref().and_then(|spot| spot.form(&fault.words)))
        .or_else(|| spot.as_ref().and_then(|spot| spot.value(&fault.words)));
    match plainer {
        Some(words) => Fault { words, ..fault },
        None => fault,
    }
}

/// A place in a text, with what stands around it.
struct Spot<'a> {
    /// The lines up to that of the place.
    above: Vec<&'a str>,
    /// The line of the place; empty behind the last line.
    line: &'a str,
    /// What stands in the line before the place.
    before: String,
    /// What stands in the line from the place on.
    behind: String,
    /// Whether the whole text has neither keys nor values.
    is_empty: bool,
}

impl<'a> Spot<'a> {
    /// The place in the text; `None` where it is not known.
    fn of(text: &'a str, at: Option<Mark>) -> Option<Self> {
        let at = at?;
        let row = usize::try_from(at.line).ok()?.checked_sub(1)?;
        let column = usize::try_from(at.column).ok()?.checked_sub(1)?;
        let line = text.lines().nth(row).unwrap_or_default();
        let is_filler = |line: &str| line.trim().is_empty() || line.trim_start().starts_with('#');
        Some(Self {
            above: text.lines().take(row).collect(),
            line,
            before: line.chars().take(column).collect(),
            behind: line.chars().skip(column).collect(),
            is_empty: text.lines().all(is_filler),
        })
    }

    /// What is wrong with the form of the text.
    fn form(&self, theirs: &str) -> Option<String> {
        if self.is_empty && theirs.contains("unexpected end of input") {
            return Some("the file is empty".to_owned());
        }
        if theirs.contains("tabs disallowed") {
            return Some("indent with spaces, not tabs".to_owned());
        }
        let is_glued =
            |text: &str| text.strip_prefix('-').is_some_and(|rest| rest.starts_with(char::is_alphabetic));
        if is_glued(self.line.trim_start()) && !theirs.contains("unknown field") {
            return Some("write a space behind the dash, such as `- name: …`".to_owned());
        }
        if theirs.contains("while scanning an anchor or alias") && self.behind.starts_with('*') {
            return Some("write \"*\" with quotes".to_owned());
        }
        if theirs.contains("mapping values are not allowed") && self.before.contains(": ") {
            let key = first_key(self.line);
            return Some(format!("{theirs}: put the text in quotes, or on indented lines behind {key}: |"));
        }
        if theirs.contains("simple key expected ':'") && !self.line.contains(':') {
            return Some(
                "this line is no key: indent the lines of a text behind `description: |`".to_owned(),
            );
        }
        None
    }

    /// What is wrong with a value.
    fn value(&self, theirs: &str) -> Option<String> {
        let key = self.key();
        Some(match theirs {
            "cannot deserialize null into string; use Option<String>" => match key {
                "version" => "version is empty: write version: \"1\"".to_owned(),
                "description" => "description is empty: it holds the agent's instructions".to_owned(),
                "name" => "name is empty".to_owned(),
                key => format!("{key} is empty: write a word behind it"),
            },
            "invalid u32" => format!("{key} takes a whole number, 1 and more"),
            "invalid floating point" => format!("{key} takes a number such as 0.2"),
            "invalid boolean" => format!("{key} takes true or false"),
            "expected string scalar" => match self.list() {
                Some("agents") => "an agent is listed as `- researcher`".to_owned(),
                _ => format!("{key} takes text"),
            },
            _ => return None,
        })
    }

    /// The key that the place belongs to: the one before it in its line, else that of the list it stands in.
    fn key(&self) -> &str {
        let before = self.before.trim_end_matches([' ', ':', '[', '-']);
        let near = before.rsplit([' ', '{', '[', ',']).next().unwrap_or_default();
        if near.is_empty() { self.list().unwrap_or("this") } else { near }
    }

    /// The key of the list that the place stands in; that of the line if it begins no item.
    fn list(&self) -> Option<&str> {
        let is_item = |line: &str| line.trim_start().starts_with('-');
        if !is_item(self.line) {
            return Some(first_key(self.line));
        }
        let is_around = |line: &&&str| indent(line) <= indent(self.line) && !is_item(line);
        self.above
            .iter()
            .rev()
            .filter(|line| !line.trim().is_empty())
            .find(is_around)
            .map(|line| first_key(line))
    }
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// The key that a line begins with.
fn first_key(line: &str) -> &str {
    line.split(':').next().unwrap_or_default().trim_start_matches([' ', '-'])
}

/// Where a key belongs that is not known where it stands, of the words that say it is not known.
fn unknown_field(theirs: &str) -> Option<String> {
    let (unknown, known) = theirs.strip_prefix("unknown field `")?.split_once("`, expected ")?;
    let is_at = |key: &str| known.split([',', ' ', ':']).any(|one| one == key);
    let schema = schema(&Names::default());
    let is_of = |path: &str| {
        schema.pointer(path).and_then(Value::as_object).is_some_and(|keys| keys.contains_key(unknown))
    };
    let (at_top, in_extra) = (is_at("json_schema_extra"), is_at("kind"));
    if at_top && is_of("/properties/json_schema_extra/properties") {
        Some(format!("unknown field `{unknown}` here: it belongs below json_schema_extra"))
    } else if (at_top || in_extra) && Generation::NAMES.contains(&unknown) {
        Some(format!("unknown field `{unknown}` here: it belongs below settings"))
    } else if in_extra && is_of("/properties") {
        Some(format!("unknown field `{unknown}` here: it belongs beside json_schema_extra, not below it"))
    } else if at_top && INSTRUCTIONS.contains(&unknown) {
        Some(format!("unknown field `{unknown}`: did you mean description?"))
    } else if in_extra && INSTRUCTIONS.contains(&unknown) {
        Some(format!("unknown field `{unknown}`: write description beside json_schema_extra"))
    } else {
        None
    }
}
