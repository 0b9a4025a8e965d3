//! Folders of YAML files in `prompts/`: built-in files, overridden by an owner's files of the same name. Used for agents
//! and personas.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::Path;

use serde::de::DeserializeOwned;

use figaro_base::system::in_words;
use figaro_files::presence;
use figaro_files::yaml::{self, Misfit};

/// Maximum bytes of a name, which has to fit into a button.
const MAX_NAME: usize = 40;

/// A folder of files in `prompts/`.
pub(super) struct PromptFolder {
    pub(super) name: &'static str,
    /// Noun for one of its files, such as `an agent`.
    pub(super) what: &'static str,
    /// Names and texts of the built-in files.
    pub(super) embedded: &'static [(&'static str, &'static str)],
}

/// Names and texts of a folder's files, each possibly unreadable; empty for a missing folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FileTexts(Result<BTreeMap<String, Result<String, String>>, String>);

/// Declares the files of one kind in an owner's folder at one moment: two are equal if nothing changed between them.
macro_rules! own_files {
    ($(#[$doc:meta])* $name:ident of $folder:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct $name($crate::files::FileTexts);

        impl $name {
            /// Reads the files of a folder, which need not exist.
            #[must_use]
            pub fn of(folder: &std::path::Path) -> Self {
                Self($folder.files(Some(folder)))
            }

            /// Reads the files in the folder of prompts.
            pub(crate) fn of_prompts(prompts: Option<&std::path::Path>) -> Self {
                let folder = prompts.map(|prompts| prompts.join($folder.name));
                Self($folder.files(folder.as_deref()))
            }

            /// Returns `true` if a file has this name, without its extension.
            #[must_use]
            pub(crate) fn define(&self, name: &str) -> bool {
                self.0.has(name)
            }
        }
    };
}
pub(super) use own_files;

/// A file to be read.
#[derive(Debug)]
pub(super) struct SourceFile<'a> {
    pub(super) file: &'a str,
    pub(super) text: &'a str,
    /// Names of all files of the folder and of the built-in ones, without extension.
    pub(super) beside: &'a [&'a str],
}

pub(super) type FileFault = Misfit;

impl PromptFolder {
    /// Reads the files in a folder.
    pub(super) fn files(&self, folder: Option<&Path>) -> FileTexts {
        let Some(folder) = folder else { return FileTexts(Ok(BTreeMap::new())) };
        FileTexts(
            self.own(folder)
                .map_err(|error| format!("{} cannot be read: {}", folder.display(), in_words(&error))),
        )
    }

    /// Parses these files with `read`, and built-in ones without a file of the same name; returns the results by name.
    /// Messages show file names after `shown`.
    ///
    /// # Errors
    /// Every fault of any file, with the file's name.
    pub(super) fn read<T, F: Into<FileFault>>(
        &self,
        files: &FileTexts,
        shown: &str,
        read: impl Fn(&SourceFile<'_>) -> Result<T, Vec<F>>,
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
                Ok(text) => read(&SourceFile { file, text, beside: &beside })
                    .map_err(|wrong| wrong.into_iter().map(Into::into).collect::<Vec<FileFault>>()),
                Err(fault) => Err(vec![FileFault::from((*fault).to_owned())]),
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

    /// Returns the names and texts of the files in a folder, which need not exist. Exact copies of built-in files are
    /// skipped, so that the source folder behaves like the bare binary.
    fn own(&self, folder: &Path) -> std::io::Result<BTreeMap<String, Result<String, String>>> {
        let entries = match std::fs::read_dir(folder) {
            Err(error) => return presence::absent(folder, error).map(|()| BTreeMap::new()),
            Ok(entries) => entries,
        };
        let mut files = BTreeMap::new();
        for entry in entries {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            // Files of editors and systems begin with a dot.
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

impl FileTexts {
    /// Returns `true` if the folder has a file of this name, without its extension.
    pub(super) fn has(&self, name: &str) -> bool {
        self.0.as_ref().is_ok_and(|files| files.contains_key(&format!("{name}.yaml")))
    }
}

/// Returns the name of a file without its extension.
fn stem(file: &str) -> &str {
    file.strip_suffix(".yaml").unwrap_or(file)
}

/// Parses YAML.
///
/// # Errors
/// As [`yaml::parse`].
pub(super) fn parse<T: DeserializeOwned>(text: &str) -> Result<T, Vec<FileFault>> {
    yaml::parse(text).map_err(|fault| vec![fault])
}

/// Returns the fault of a name in a file of this name; `None` if it is valid.
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
