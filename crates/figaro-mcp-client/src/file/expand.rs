//! Replaces `${NAME}` in a value of the file by a variable of the environment or of the file `.env`.

use std::collections::HashMap;

use figaro_config::is_inherited;

/// Text with its variables replaced.
pub(super) struct Expanded<'a> {
    pub(super) text: String,
    /// Values taken from the environment. They may be secret.
    pub(super) values: Vec<&'a str>,
}

/// Replaces `${NAME}` and `${env:NAME}` by the variable. `${NAME:-else}` becomes `else` if the variable is unset or
/// empty.
///
/// # Errors
/// Names the unset variable, or the text that is not of this form.
pub(super) fn expand<'a>(text: &str, values: &'a HashMap<String, String>) -> Result<Expanded<'a>, String> {
    let (mut done, mut rest) = (String::new(), text);
    let mut used = Vec::new();
    while let Some((before, behind)) = rest.split_once("${") {
        done.push_str(before);
        let Some((inner, after)) = behind.split_once('}') else {
            return Err("a ${ has no }".to_owned());
        };
        let named = inner.strip_prefix("env:").unwrap_or(inner);
        let (name, otherwise) = match named.split_once(":-") {
            Some((name, otherwise)) => (name, Some(otherwise)),
            None => (named, None),
        };
        if !is_name(name) {
            return Err(format!(
                "${{{inner}}} is not known here: ${{NAME}} stands for a variable of the environment or of .env"
            ));
        }
        let value = values.get(name).map(String::as_str).filter(|value| !value.is_empty());
        used.extend(value.filter(|_| !is_inherited(name)));
        let Some(value) = value.or(otherwise) else {
            return Err(format!(
                "${{{inner}}} is not set: set {name} in the environment or in .env, and start the bot again"
            ));
        };
        done.push_str(value);
        rest = after;
    }
    Ok(Expanded { text: done + rest, values: used })
}

/// Returns `true` if a word can be the name of a variable.
pub(super) fn is_name(word: &str) -> bool {
    let begins = word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    begins && word.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}
