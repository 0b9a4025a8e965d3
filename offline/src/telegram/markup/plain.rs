//! What the parsers of markup write: text and its entities.

use serde_json::{Value, json};

/// Text under construction, with the entities closed so far.
#[derive(Default)]
pub(super) struct TextBuilder {
    pub(super) text: String,
    /// Its length in UTF-16 units.
    pub(super) units: usize,
    entities: Vec<Value>,
}

impl TextBuilder {
    pub(super) fn push(&mut self, c: char) {
        self.text.push(c);
        self.units += c.len_utf16();
    }

    pub(super) fn push_str(&mut self, text: &str) {
        text.chars().for_each(|c| self.push(c));
    }

    /// Closes an entity that began at `start`; an empty one leaves no trace, as at Telegram.
    pub(super) fn close(&mut self, start: usize, mut entity: Value) {
        if self.units > start {
            entity["offset"] = json!(start);
            entity["length"] = json!(self.units - start);
            self.entities.push(entity);
        }
    }

    /// The text and its entities, outer ones before those within.
    pub(super) fn finish(mut self) -> (String, Vec<Value>) {
        self.entities.sort_by_key(|e| (e["offset"].as_u64(), std::cmp::Reverse(e["length"].as_u64())));
        (self.text, self.entities)
    }
}
