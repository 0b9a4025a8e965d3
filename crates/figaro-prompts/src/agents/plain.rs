//! Plain words for YAML errors of a file that does not have the form of an agent, for its author.

use serde_json::Value;

use super::names::AgentFileNames;
use super::schema::schema;
use crate::files::FileFault;
use crate::yaml_place::YamlPlace;
use figaro_domain::generation::Generation;

/// Keys of other formats for what is `description` here.
const INSTRUCTIONS: [&str; 4] = ["instructions", "prompt", "system", "system_prompt"];

/// Returns the fault of a text in plainer words, if there are any.
pub(super) fn fault(text: &str, fault: FileFault) -> FileFault {
    let spot = YamlPlace::of(text, fault.at);
    let plainer = unknown_field(&fault.words)
        .or_else(|| spot.as_ref().and_then(|spot| spot.form(&fault.words, "description")))
        .or_else(|| spot.as_ref().and_then(|spot| value(spot, &fault.words)));
    match plainer {
        Some(words) => FileFault { words, ..fault },
        None => fault,
    }
}

/// Describes the fault of a value.
fn value(spot: &YamlPlace<'_>, theirs: &str) -> Option<String> {
    let key = spot.key();
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
        "expected string scalar" => match spot.list() {
            Some("agents") => "an agent is listed as `- researcher`".to_owned(),
            _ => format!("{key} takes text"),
        },
        _ => return None,
    })
}

/// Says where an unknown key belongs, from the error message about it.
fn unknown_field(theirs: &str) -> Option<String> {
    let (unknown, known) = theirs.strip_prefix("unknown field `")?.split_once("`, expected ")?;
    let is_at = |key: &str| known.split([',', ' ', ':']).any(|one| one == key);
    let schema = schema(&AgentFileNames::default());
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
