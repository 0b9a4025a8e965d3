//! The owner's rules file.

use std::path::Path;

use crate::app::watch::text_of;
use figaro_config::PolicySettings;
use figaro_files::yaml::Misfit;
use figaro_policy::tools::Rules;

/// Parses the rules of a text.
///
/// # Errors
/// All faults, one per line, with file name and position.
pub(super) fn rules_of(text: &str, path: &Path) -> Result<Rules, String> {
    Rules::read(text).map_err(|faults| {
        let line = |misfit: Misfit| misfit.in_file(&path.display().to_string());
        faults.into_iter().map(line).collect::<Vec<_>>().join("\n")
    })
}

/// Returns the text of the owner's file, and its rules followed by the built-in ones. The file may be missing unless the
/// settings name it.
///
/// # Errors
/// All faults of the file, one per line.
pub(in crate::app) fn load(settings: &PolicySettings) -> Result<(Option<String>, Rules), String> {
    let text = text_of(&settings.file)?;
    if text.is_none() && settings.is_named {
        return Err(format!("POLICY_FILE names {}, and there is no such file", settings.file.display()));
    }
    let rules = rules_of(text.as_deref().unwrap_or_default(), &settings.file)?;
    Ok((text, rules))
}
