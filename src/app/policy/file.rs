//! The owner's file of rules on the disk.

use std::path::Path;

use crate::app::watch::text_of;
use figaro_config::PolicySettings;
use figaro_files::yaml::Misfit;
use figaro_policy::tools::Rules;

/// The rules of a text.
///
/// # Errors
/// All that is wrong, a line each, with the name of the file and the place.
pub(super) fn rules_of(text: &str, path: &Path) -> Result<Rules, String> {
    Rules::read(text).map_err(|faults| {
        let line = |misfit: Misfit| misfit.in_file(&path.display().to_string());
        faults.into_iter().map(line).collect::<Vec<_>>().join("\n")
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
