//! Pages used as sources of answers.

use serde::{Deserialize, Serialize};

/// A page used for an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// Title of the page; its URL if there is no title.
    pub title: String,
    /// URL of the page.
    pub url: String,
}

/// Adds sources whose URL is not known yet. The first title of a page stays.
pub fn add_sources(known: &mut Vec<Source>, more: impl IntoIterator<Item = Source>) {
    for source in more {
        if !known.iter().any(|other| other.url == source.url) {
            known.push(source);
        }
    }
}
