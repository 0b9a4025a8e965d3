//! Pages that answers rest on.

use serde::{Deserialize, Serialize};

/// A page that an answer rests on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// Its title; its address where there is none.
    pub title: String,
    /// The address of the page.
    pub url: String,
}

/// Adds what is not there yet, by address: the first title of a page stays.
pub fn add_sources(known: &mut Vec<Source>, more: impl IntoIterator<Item = Source>) {
    for source in more {
        if !known.iter().any(|other| other.url == source.url) {
            known.push(source);
        }
    }
}
