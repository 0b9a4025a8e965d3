//! Blocks of a rich message: Telegram's limits, and what it adds to them. The table has checked their types. Called by
//! [`super::content`].

use serde_json::{Value, json};

use super::super::error::BotApiError;

const MAX_CHARS: usize = 32_768;
const MAX_BLOCKS: usize = 500;
const MAX_DEPTH: usize = 16;
const MAX_COLUMNS: usize = 20;

/// Fields of a block or of a formatted text that hold text.
const TEXTS: [&str; 6] = ["text", "summary", "expression", "caption", "credit", "alternative_text"];

/// Adds the labels of list items to blocks. Errors if the blocks are beyond a limit, or if one has no content.
pub(super) fn finish(blocks: &mut Value) -> Result<(), BotApiError> {
    let mut extent = RichMessageExtent::default();
    extent.add_blocks(blocks, 1)?;
    let limits = [
        (extent.chars, MAX_CHARS, "characters"),
        (extent.blocks, MAX_BLOCKS, "blocks"),
        (extent.depth, MAX_DEPTH, "levels"),
        (extent.columns, MAX_COLUMNS, "columns"),
    ];
    match limits.into_iter().find(|(count, max, _)| count > max) {
        Some((count, max, what)) => {
            Err(BotApiError::bad(format!("rich message has {count} {what}, at most {max} are allowed")))
        }
        None => Ok(()),
    }
}

#[derive(Debug, Default)]
struct RichMessageExtent {
    chars: usize,
    blocks: usize,
    depth: usize,
    columns: usize,
}

impl RichMessageExtent {
    fn add_blocks(&mut self, blocks: &mut Value, depth: usize) -> Result<(), BotApiError> {
        self.depth = self.depth.max(depth);
        let blocks = blocks.as_array_mut().filter(|blocks| !blocks.is_empty());
        let Some(blocks) = blocks else { return Err(BotApiError::bad("rich message block is empty")) };
        blocks.iter_mut().try_for_each(|block| self.add_block(block, depth))
    }

    fn add_block(&mut self, block: &mut Value, depth: usize) -> Result<(), BotApiError> {
        self.blocks += 1;
        TEXTS.iter().for_each(|name| self.add_text(&block[*name]));
        if let Some(blocks) = block.get_mut("blocks") {
            self.add_blocks(blocks, depth + 1)?;
        }
        for item in block.get_mut("items").and_then(Value::as_array_mut).into_iter().flatten() {
            self.blocks += 1;
            item["label"] = json!(item["value"].as_u64().map_or("•".to_owned(), |value| format!("{value}.")));
            self.add_blocks(&mut item["blocks"], depth + 1)?;
        }
        for row in block["cells"].as_array().into_iter().flatten().filter_map(Value::as_array) {
            self.columns = self.columns.max(row.len());
            row.iter().for_each(|cell| self.add_text(&cell["text"]));
        }
        Ok(())
    }

    fn add_text(&mut self, text: &Value) {
        match text {
            Value::String(text) => self.chars += text.encode_utf16().count(),
            Value::Array(parts) => parts.iter().for_each(|part| self.add_text(part)),
            Value::Object(_) => TEXTS.iter().for_each(|name| self.add_text(&text[*name])),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}
