//! `parse_mode`: converts markup into text and entities as Telegram does, or refuses it in Telegram's words. Runs before the
//! table checks the arguments, as limits apply to the parsed text.

mod html;
mod markdown;
mod plain;

use serde_json::{Map, Value};

use self::plain::TextBuilder;
use super::entities;
use super::error::BotApiError;

/// Text field, mode field and entities field, for each kind of formatted text.
const TRIOS: [[&str; 3]; 7] = [
    ["text", "parse_mode", "entities"],
    ["caption", "parse_mode", "caption_entities"],
    ["text", "text_parse_mode", "text_entities"],
    ["question", "question_parse_mode", "question_entities"],
    ["explanation", "explanation_parse_mode", "explanation_entities"],
    ["description", "description_parse_mode", "description_entities"],
    ["quote", "quote_parse_mode", "quote_entities"],
];

/// Replaces markup by text and entities, at any depth in the arguments.
pub(super) fn resolve(args: &mut Map<String, Value>) -> Result<(), BotApiError> {
    for [text, mode, entities] in TRIOS {
        let Some(markup) = args.get(text).and_then(Value::as_str).map(ToOwned::to_owned) else {
            continue;
        };
        let Some(wanted) = args.get(mode).and_then(Value::as_str).map(ToOwned::to_owned) else {
            continue;
        };
        let (plain, found) = parse(&wanted, &markup).map_err(BotApiError::bad)?;
        args.remove(mode);
        args.insert(text.to_owned(), Value::String(plain));
        args.insert(entities.to_owned(), Value::Array(found));
    }
    args.values_mut().try_for_each(resolve_within)
}

/// Checks the entities of every formatted text in the arguments.
pub(super) fn check_entities(args: &Map<String, Value>) -> Result<(), BotApiError> {
    for [text, _, entities] in TRIOS {
        if let (Some(Value::String(text)), Some(Value::Array(entities))) =
            (args.get(text), args.get(entities))
        {
            entities::check(text, entities).map_err(BotApiError::bad)?;
        }
    }
    args.values().try_for_each(check_within)
}

fn resolve_within(value: &mut Value) -> Result<(), BotApiError> {
    match value {
        Value::Object(map) => resolve(map),
        Value::Array(items) => items.iter_mut().try_for_each(resolve_within),
        _ => Ok(()),
    }
}

fn check_within(value: &Value) -> Result<(), BotApiError> {
    match value {
        Value::Object(map) => check_entities(map),
        Value::Array(items) => items.iter().try_for_each(check_within),
        _ => Ok(()),
    }
}

fn parse(mode: &str, markup: &str) -> Result<(String, Vec<Value>), String> {
    let parsed = match mode.to_ascii_lowercase().as_str() {
        "" => return Ok((markup.to_owned(), Vec::new())),
        "html" => html::parse(markup),
        "markdownv2" => markdown::parse(markup),
        _ => {
            return Err(format!("unsupported parse_mode {mode:?}: use HTML or MarkdownV2, or send entities"));
        }
    };
    parsed.map(TextBuilder::finish).map_err(|fault| format!("can't parse entities: {fault}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn markup_is_resolved_wherever_it_stands() {
        let args = json!({
            "text": "<b>hi</b>", "parse_mode": "HTML",
            "options": [{"text": "*a*", "text_parse_mode": "MarkdownV2"}],
        });
        let Value::Object(mut args) = args else { unreachable!() };
        resolve(&mut args).unwrap();
        let bold = |length: u64| json!([{"type": "bold", "offset": 0, "length": length}]);
        let wanted = json!({
            "text": "hi", "entities": bold(2),
            "options": [{"text": "a", "text_entities": bold(1)}],
        });
        assert_eq!(Value::Object(args), wanted);
    }

    #[test]
    fn unknown_modes_and_nested_bad_entities_are_refused() {
        let Value::Object(mut args) = json!({"text": "x", "parse_mode": "BBCode"}) else { unreachable!() };
        assert!(resolve(&mut args).unwrap_err().description.contains("unsupported parse_mode"));
        let Value::Object(args) = json!({"media": [{"caption": "x", "caption_entities": [{"type": "bold", "offset": 0, "length": 2}]}]})
        else {
            unreachable!()
        };
        assert!(check_entities(&args).is_err());
    }
}
