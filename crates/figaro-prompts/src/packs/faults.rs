//! What was found wrong with the file of a pack while it is read.

use serde_saphyr::{Location, Spanned};

use super::ordered::Texts;
use crate::files::Fault;
use figaro_domain::record::Words;

/// A file that is being read: what was found wrong so far.
#[derive(Debug, Default)]
pub(super) struct Reading {
    pub(super) faults: Vec<Fault>,
}

impl Reading {
    pub(super) fn fault(&mut self, at: Location, words: impl Into<String>) {
        self.faults.push(Fault::at(at, words));
    }

    /// Words of at most so many characters in every language.
    pub(super) fn words(&mut self, key: &str, words: Spanned<Texts>, most: usize) -> Words {
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
