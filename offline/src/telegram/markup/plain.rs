//! Output of the markup parsers: text with entities.

use serde_json::{Value, json};

/// Text under construction, with its closed entities.
#[derive(Default)]
pub(super) struct TextBuilder {
    pub(super) text: String,
    /// Length of `text`, in UTF-16 units.
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

    /// Closes an entity that began at `start`. Drops an empty one, as Telegram does.
    pub(super) fn close(&mut self, start: usize, mut entity: Value) {
        if self.units > start {
            entity["offset"] = json!(start);
            entity["length"] = json!(self.units - start);
            self.entities.push(entity);
        }
    }

    /// Returns the text and its entities, outer ones before inner ones.
    pub(super) fn finish(mut self) -> (String, Vec<Value>) {
        self.entities.sort_by_key(|e| (e["offset"].as_u64(), std::cmp::Reverse(e["length"].as_u64())));
        (self.text, self.entities)
    }
}
