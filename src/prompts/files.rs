//! Folders of YAML files in `prompts/`: what is built in, and an owner's files of the same name before it. Used for agents
//! and personas.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::ErrorKind;
use std::path::Path;

use serde::de::DeserializeOwned;

use crate::text::yaml;

/// The most bytes of a name: the button that chooses one carries it.
const MAX_NAME: usize = 40;

/// A folder of files in `prompts/`.
pub(super) struct Folder {
    /// The name of the folder.
    pub(super) name: &'static str,
    /// What each of its files is, such as `an agent`.
    pub(super) what: &'static str,
    /// Name and text of each that is built in.
    pub(super) embedded: &'static [(&'static str, &'static str)],
}

impl Folder {
    /// What `read` makes of the files of an owner's folder of prompts and, where it has none of their name, of those built
    /// in; by name. `read` is given the file's name and its text.
    ///
    /// # Errors
    /// Everything that is wrong with any file, each with the file's name.
    pub(super) fn load<T>(
        &self,
        prompts: Option<&Path>,
        read: impl Fn(&str, &str) -> Result<T, Vec<String>>,
    ) -> Result<BTreeMap<String, T>, Vec<String>> {
        let mut files: BTreeMap<String, Result<String, String>> = BTreeMap::new();
        files.extend(
            self.embedded.iter().map(|(name, text)| (format!("{name}.yaml"), Ok((*text).to_owned()))),
        );
        let folder = prompts.map(|prompts| prompts.join(self.name));
        if let Some(folder) = &folder {
            let own = self.own(folder);
            files.extend(own.map_err(|fault| vec![format!("{}: {fault}", folder.display())])?);
        }
        let (mut all, mut faults) = (BTreeMap::new(), Vec::new());
        for (file, text) in files {
            match text.map_err(|fault| vec![fault]).and_then(|text| read(&file, &text)) {
                Ok(one) => drop(all.insert(stem(&file), one)),
                Err(wrong) => {
                    let whole = |fault: String| format!("prompts/{}/{file}: {fault}", self.name);
                    faults.extend(wrong.into_iter().map(whole));
                }
            }
        }
        if faults.is_empty() { Ok(all) } else { Err(faults) }
    }

    /// Name and text of each file in a folder, which need not exist.
    fn own(&self, folder: &Path) -> std::io::Result<Vec<(String, Result<String, String>)>> {
        let entries = match std::fs::read_dir(folder) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let mut files = Vec::new();
        for entry in entries {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            // What editors and systems leave beside files begins with a dot.
            if name.starts_with('.') {
                continue;
            }
            match path.extension().and_then(OsStr::to_str) {
                Some("yaml") => {
                    let text = std::fs::read_to_string(&path);
                    files.push((name, text.map_err(|error| format!("cannot be read: {error}"))));
                }
                Some("yml") => files.push((name, Err(format!("the file of {} ends in .yaml", self.what)))),
                _ => {}
            }
        }
        Ok(files)
    }
}

/// The name of a file without its ending.
fn stem(file: &str) -> String {
    file.strip_suffix(".yaml").unwrap_or(file).to_owned()
}

/// Reads YAML.
///
/// # Errors
/// As [`yaml::parse`].
pub(super) fn parse<T: DeserializeOwned>(text: &str) -> Result<T, Vec<String>> {
    yaml::parse(text).map_err(|fault| vec![fault])
}

/// What is wrong with a name in a file of this name.
pub(super) fn name_faults(name: &str, file: &str) -> Option<String> {
    if name.len() > MAX_NAME {
        return Some(format!("name takes at most {MAX_NAME} characters"));
    }
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || c == '-';
    if name.is_empty() || !name.chars().all(fits) {
        return Some(format!("name is `{name}`, and takes lower-case letters, digits, _ and -"));
    }
    let wanted = format!("{name}.yaml");
    (wanted != file).then(|| format!("name is {name}, so the file is to be {wanted}"))
}
