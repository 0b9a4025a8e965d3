//! Converts a rich message to plain text in one pass over its blocks, with entities and the files between them.
//! Called by [`super::said`].

use serde_json::Value;

use super::item;
use crate::views::EntityView;
use figaro_base::text::utf16_len;
use figaro_domain::message::Attachment;

/// Fields of a block with text or further blocks, in reading order.
const PARTS: [&str; 7] = ["summary", "text", "expression", "blocks", "buttons", "caption", "credit"];
const INDENT: &str = "  ";

/// Text of a message with its entities and files.
#[derive(Debug, Default)]
pub(crate) struct RichText {
    pub(crate) text: String,
    /// Entities of the text, with offsets in UTF-16 units.
    pub(crate) entities: Vec<EntityView>,
    /// Files between the parts of the text.
    pub(crate) attachments: Vec<Attachment>,
}

impl RichText {
    pub(super) fn of(text: String) -> Self {
        Self { text, ..Self::default() }
    }

    /// Appends the text of the field `text`, with the entities of the field `entities`.
    pub(super) fn add(&mut self, of: &Value, text: &str, entities: &str) {
        let begin = utf16_len(&self.text);
        self.text.push_str(of.get(text).and_then(Value::as_str).unwrap_or_default());
        let read = |entities: &Value| serde_json::from_value::<Vec<EntityView>>(entities.clone()).ok();
        let entities = of.get(entities).and_then(read).unwrap_or_default();
        let moved = entities.into_iter().map(|entity| EntityView { offset: begin + entity.offset, ..entity });
        self.entities.extend(moved);
    }
}

/// Reads the text of these blocks.
pub(super) fn read(blocks: &Value) -> RichText {
    let mut reader = RichTextReader::default();
    reader.blocks(blocks);
    reader.words.text.truncate(reader.words.text.trim_end().len());
    reader.words
}

#[derive(Debug, Default)]
struct RichTextReader {
    words: RichText,
    /// Length of the text, in UTF-16 units.
    units: usize,
    /// Nesting depth of the next line in lists.
    depth: usize,
    /// `true` after the mark of a list item: the text continues on the same line.
    is_marked: bool,
}

impl RichTextReader {
    fn push(&mut self, text: &str) {
        self.words.text.push_str(text);
        self.units += utf16_len(text);
    }

    fn line(&mut self) {
        if std::mem::take(&mut self.is_marked) {
            return;
        }
        if !self.words.text.is_empty() {
            self.push("\n");
        }
        self.push(&INDENT.repeat(self.depth));
    }

    /// Adds an entity of this kind around the text that `read` pushes.
    fn part(&mut self, kind: &str, of: &Value, read: impl FnOnce(&mut Self)) {
        let offset = self.units;
        read(self);
        let entity = EntityView {
            kind: kind.to_owned(),
            offset,
            length: self.units - offset,
            ..EntityView::default()
        };
        let user = of.get("user").and_then(|user| serde_json::from_value(user.clone()).ok());
        self.words.entities.push(EntityView { user, username: text_of(of, "username"), ..entity });
    }

    fn blocks(&mut self, blocks: &Value) {
        blocks.as_array().into_iter().flatten().for_each(|block| self.block(block));
    }

    fn block(&mut self, block: &Value) {
        match block["type"].as_str().unwrap_or_default() {
            "heading" => {
                self.line();
                let size = block["size"].as_u64().and_then(|size| usize::try_from(size).ok()).unwrap_or(1);
                self.push(&"#".repeat(size.clamp(1, 6)));
                self.push(" ");
                self.inline(&block["text"]);
            }
            "divider" => {
                self.line();
                self.push("---");
            }
            "list" => block["items"].as_array().into_iter().flatten().for_each(|one| self.item(one)),
            "table" => self.table(block),
            "pre" => self.part("pre", block, |reader| reader.parts(block)),
            "blockquote" | "expandable_blockquote" | "pullquote" => {
                self.part("blockquote", block, |reader| reader.parts(block));
            }
            _ => {
                self.words.attachments.extend(block.as_object().and_then(item::of));
                self.parts(block);
            }
        }
    }

    /// Reads all parts of a block, each on its own line.
    fn parts(&mut self, block: &Value) {
        for (name, part) in PARTS.iter().filter_map(|name| Some((*name, block.get(name)?))) {
            match name {
                "blocks" => self.blocks(part),
                _ => {
                    self.line();
                    self.inline(part);
                }
            }
        }
    }

    fn item(&mut self, item: &Value) {
        self.line();
        let label = item["label"].as_str().filter(|label| !label.is_empty()).unwrap_or("-");
        self.push(label);
        self.push(match (item["has_checkbox"].as_bool(), item["is_checked"].as_bool()) {
            (Some(true), Some(true)) => " [x] ",
            (Some(true), _) => " [ ] ",
            _ => " ",
        });
        self.depth += 1;
        self.is_marked = true;
        self.blocks(&item["blocks"]);
        self.is_marked = false;
        self.depth -= 1;
    }

    fn table(&mut self, table: &Value) {
        for row in table["cells"].as_array().into_iter().flatten() {
            self.line();
            self.push("|");
            for cell in row.as_array().into_iter().flatten() {
                self.push(" ");
                self.inline(&cell["text"]);
                self.push(" |");
            }
        }
        if let Some(caption) = table.get("caption") {
            self.line();
            self.inline(caption);
        }
    }

    fn inline(&mut self, text: &Value) {
        match text {
            Value::String(text) => self.push(text),
            Value::Array(parts) => parts.iter().for_each(|part| self.inline(part)),
            Value::Object(_) => self.marked(text),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// Reads a formatted part. For most formats only the text counts.
    fn marked(&mut self, part: &Value) {
        let inner = &part["text"];
        match part["type"].as_str().unwrap_or_default() {
            kind @ ("mention" | "text_mention" | "bot_command" | "code") => {
                self.part(kind, part, |reader| reader.inline(inner));
            }
            "url" => {
                let start = self.words.text.len();
                self.inline(inner);
                let url = part["url"].as_str().unwrap_or_default();
                if self.words.text.get(start..) != Some(url) {
                    self.push(&format!(" ({url})"));
                }
            }
            "custom_emoji" => self.inline(&part["alternative_text"]),
            "mathematical_expression" => self.inline(&part["expression"]),
            "button" => self.marked(&part["button"]),
            _ => {
                self.inline(inner);
                if let Some(credit) = part.get("credit") {
                    self.push(" — ");
                    self.inline(credit);
                }
            }
        }
    }
}

fn text_of(value: &Value, name: &str) -> Option<String> {
    value.get(name).and_then(Value::as_str).map(str::to_owned)
}
