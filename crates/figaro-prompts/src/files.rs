//! Folders of YAML files in `prompts/`: what is built in, and an owner's files of the same name before it. Used for agents
//! and personas.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::Path;

use serde::de::DeserializeOwned;

use figaro_base::system::in_words;
use figaro_files::presence;
use figaro_files::yaml::{self, Misfit};

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

/// Name and text of each file of a folder, or why it cannot be read; a folder that is not there has none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Files(Result<BTreeMap<String, Result<String, String>>, String>);

/// Declares the files of one kind in a folder of the owner's, as they were at one moment: two are equal if nothing has changed
/// between them.
macro_rules! own_files {
    ($(#[$doc:meta])* $name:ident of $folder:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct $name($crate::files::Files);

        impl $name {
            /// Looks into a folder of them, which need not exist.
            #[must_use]
            pub fn of(folder: &std::path::Path) -> Self {
                Self($folder.files(Some(folder)))
            }

            /// Those of a folder of prompts.
            pub(crate) fn of_prompts(prompts: Option<&std::path::Path>) -> Self {
                let folder = prompts.map(|prompts| prompts.join($folder.name));
                Self($folder.files(folder.as_deref()))
            }

            /// `true` if one of them has this name, without its ending.
            #[must_use]
            pub(crate) fn define(&self, name: &str) -> bool {
                self.0.has(name)
            }
        }
    };
}
pub(super) use own_files;

/// A file that is to be read.
#[derive(Debug)]
pub(super) struct Source<'a> {
    /// The name of the file.
    pub(super) file: &'a str,
    /// Its text.
    pub(super) text: &'a str,
    /// The names of all files of the folder and of those built in, without their ending.
    pub(super) beside: &'a [&'a str],
}

/// What is wrong with a file.
pub(super) type Fault = Misfit;

impl Folder {
    /// The files in a folder.
    pub(super) fn files(&self, folder: Option<&Path>) -> Files {
        let Some(folder) = folder else { return Files(Ok(BTreeMap::new())) };
        Files(
            self.own(folder)
                .map_err(|error| format!("{} cannot be read: {}", folder.display(), in_words(&error))),
        )
    }

    /// Reads these files and, where there is none of their name, those built in, each by `read`; gives them by name. People are told
    /// the names of files behind `shown`.
    ///
    /// # Errors
    /// Everything that is wrong with any file, each with the file's name.
    pub(super) fn read<T, F: Into<Fault>>(
        &self,
        files: &Files,
        shown: &str,
        read: impl Fn(&Source<'_>) -> Result<T, Vec<F>>,
    ) -> Result<BTreeMap<String, T>, Vec<String>> {
        let mut all: BTreeMap<String, Result<&str, &str>> = BTreeMap::new();
        all.extend(self.embedded.iter().map(|(name, text)| (format!("{name}.yaml"), Ok(*text))));
        let own = files.0.as_ref().map_err(|fault| vec![fault.clone()])?;
        let own = own.iter().map(|(file, text)| {
            let text = text.as_ref().map(String::as_str).map_err(String::as_str);
            (file.clone(), text)
        });
        all.extend(own);
        let beside: Vec<&str> = all.keys().map(|file| stem(file)).collect();
        let (mut found, mut faults) = (BTreeMap::new(), Vec::new());
        for (file, text) in &all {
            let one = match text {
                Ok(text) => read(&Source { file, text, beside: &beside })
                    .map_err(|wrong| wrong.into_iter().map(Into::into).collect::<Vec<Fault>>()),
                Err(fault) => Err(vec![Fault::from((*fault).to_owned())]),
            };
            match one {
                Ok(one) => drop(found.insert(stem(file).to_owned(), one)),
                Err(mut wrong) => {
                    wrong.sort_by_key(|fault| fault.at);
                    faults.extend(wrong.iter().map(|fault| fault.in_file(&format!("{shown}/{file}"))));
                }
            }
        }
        if faults.is_empty() { Ok(found) } else { Err(faults) }
    }

    /// Name and text of each file in a folder, which need not exist. A copy of one that is built in is none of the owner's: so
    /// the folder of the source is no other than that of a binary alone.
    fn own(&self, folder: &Path) -> std::io::Result<BTreeMap<String, Result<String, String>>> {
        let entries = match std::fs::read_dir(folder) {
            Err(error) => return presence::absent(folder, error).map(|()| BTreeMap::new()),
            Ok(entries) => entries,
        };
        let mut files = BTreeMap::new();
        for entry in entries {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            // What editors and systems leave beside files begins with a dot.
            if name.starts_with('.') {
                continue;
            }
            let text = match path.extension().and_then(OsStr::to_str) {
                Some("yaml") => std::fs::read_to_string(&path)
                    .map_err(|error| format!("cannot be read: {}", in_words(&error))),
                Some("yml") => Err(format!("the file of {} ends in .yaml", self.what)),
                _ => continue,
            };
            let is_copy =
                |(built_in, its): &(&str, &str)| stem(&name) == *built_in && text.as_deref() == Ok(*its);
            if !self.embedded.iter().any(is_copy) {
                files.insert(name, text);
            }
        }
        Ok(files)
    }
}

impl Files {
    /// Whether the folder has a file of this name, without its ending.
    pub(super) fn has(&self, name: &str) -> bool {
        self.0.as_ref().is_ok_and(|files| files.contains_key(&format!("{name}.yaml")))
    }
}

/// The name of a file without its ending.
fn stem(file: &str) -> &str {
    file.strip_suffix(".yaml").unwrap_or(file)
}

/// Reads YAML.
///
/// # Errors
/// As [`yaml::parse`].
pub(super) fn parse<T: DeserializeOwned>(text: &str) -> Result<T, Vec<Fault>> {
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
