//! Collects the faults of a pack's file while it is read.

use serde_saphyr::{Location, Spanned};

use super::ordered::PackTexts;
use crate::files::FileFault;
use figaro_domain::record::Words;

/// A file being read, with its faults so far.
#[derive(Debug, Default)]
pub(super) struct PackFileReader {
    pub(super) faults: Vec<FileFault>,
}

impl PackFileReader {
    pub(super) fn fault(&mut self, at: Location, words: impl Into<String>) {
        self.faults.push(FileFault::at(at, words));
    }

    /// Checks texts of at most `most` characters in every language.
    pub(super) fn words(&mut self, key: &str, words: Spanned<PackTexts>, most: usize) -> Words {
        for (_, one) in words.value.0.all() {
            let chars = one.chars().count();
            if chars == 0 {
                self.fault(words.defined, format!("{key} is empty"));
            } else if chars > most {
                self.fault(words.defined, format!("{key} has {chars} characters, and takes at most {most}"));
            }
        }
        words.value.0
    }
}
