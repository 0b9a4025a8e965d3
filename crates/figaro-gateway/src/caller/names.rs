//! Names and other texts in the headers of a request.

use axum::http::HeaderMap;
use uuid::Uuid;

use super::super::error::GatewayError;

/// Maximum length of a person's or session's name, in characters.
const MAX_NAME: usize = 256;

/// Checks the name of a person or a session.
pub(crate) fn named<'a>(what: &str, name: &'a str) -> Result<&'a str, GatewayError> {
    let name = name.trim();
    let is_one = !name.is_empty() && name.chars().count() <= MAX_NAME && !name.chars().any(char::is_control);
    match is_one {
        true => Ok(name),
        false => {
            Err(GatewayError::invalid(format!("{what} is no name: 1 to {MAX_NAME} characters on one line")))
        }
    }
}

/// Returns the stored name of a person. An e-mail address is not stored: an id derived from it stands for it.
pub(super) fn person_named(what: &str, name: &str) -> Result<String, GatewayError> {
    let name = named(what, name)?;
    let is_address = name
        .split_once('@')
        .is_some_and(|(local, host)| !local.is_empty() && host.contains('.') && !host.contains('@'));
    Ok(match is_address {
        true => Uuid::new_v5(&Uuid::NAMESPACE_DNS, name.to_lowercase().as_bytes()).to_string(),
        false => name.to_owned(),
    })
}

/// Reads a header as text.
///
/// # Errors
/// If it is no text, or is there twice. A proxy might honour the other of the two.
pub(crate) fn header<'a>(headers: &'a HeaderMap, name: &str) -> Result<Option<&'a str>, GatewayError> {
    let mut values = headers.get_all(name).iter();
    let Some(value) = values.next() else { return Ok(None) };
    if values.next().is_some() {
        return Err(GatewayError::invalid(format!("the header {name} is there more than once: send one")));
    }
    let text = std::str::from_utf8(value.as_bytes());
    let text =
        text.map_err(|_no_text| GatewayError::invalid(format!("the header {name} is no text in UTF-8")))?;
    Ok(Some(text.trim()).filter(|text| !text.is_empty()))
}
