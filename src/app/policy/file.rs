//! The owner's file of rules on the disk.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use crate::config::PolicySettings;
use crate::policy::tools::Rules;

/// The most bytes of a file.
const MAX_BYTES: usize = 512 << 10;

/// The text of a file; `None` where there is no file.
///
/// # Errors
/// Why it cannot be read.
pub(super) fn text_of(path: &Path) -> Result<Option<String>, String> {
    let text = match fs::read_to_string(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        text => text.map_err(|error| format!("{} cannot be read: {error}", path.display()))?,
    };
    if text.len() > MAX_BYTES {
        return Err(format!("{} has more than {MAX_BYTES} bytes", path.display()));
    }
    Ok(Some(text))
}

/// The rules of a text.
///
/// # Errors
/// All that is wrong, a line each, with the name of the file.
pub(super) fn rules_of(text: &str, path: &Path) -> Result<Rules, String> {
    Rules::read(text).map_err(|faults| {
        let whole = |fault: String| format!("{}: {fault}", path.display());
        faults.into_iter().map(whole).collect::<Vec<_>>().join("\n")
    })
}

/// The text of the owner's file as settings name it, and its rules before those built in. Only a file that the settings name
/// has to be there.
///
/// # Errors
/// All that is wrong with the file, a line each.
pub(in crate::app) fn load(settings: &PolicySettings) -> Result<(Option<String>, Rules), String> {
    let text = text_of(&settings.file)?;
    if text.is_none() && settings.is_named {
        return Err(format!("POLICY_FILE names {}, and there is no such file", settings.file.display()));
    }
    let rules = rules_of(text.as_deref().unwrap_or_default(), &settings.file)?;
    Ok((text, rules))
}
