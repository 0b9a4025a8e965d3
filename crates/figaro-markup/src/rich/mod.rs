//! Converts an answer to rich messages, where it has something that a message with entities cannot show well: a table,
//! a heading, a formula, a section to open. Called by the delivery.

mod build;
#[cfg(test)]
mod tests;
mod text;

use self::build::{BuiltBlocks, TopBlock, TopContent, build};
use super::emphasis::guarded;
use super::formatted::Formatted;
use super::formulas::take_out;
use super::messages::messages;
use super::partial::complete;
use super::piece::{CodeFile, Piece, RichPart};
use super::rich_block::{RichBlock, RichExtent, RichMessage};

/// Returns the pieces of a Markdown answer in order, as rich messages where they show more than text. Anything else,
/// and an answer that Telegram would not take as rich messages, comes as from [`messages()`]. The same answer always
/// has the same pieces.
#[must_use]
pub fn rich_messages(markdown: &str, limit: usize) -> Vec<Piece> {
    rich_pieces(markdown, limit).unwrap_or_else(|| messages(markdown, limit))
}

/// Returns `true` if [`rich_messages()`] of this Markdown has a rich message.
#[must_use]
pub fn is_rich(markdown: &str) -> bool {
    let (text, formulas) = take_out(markdown, false);
    let groups = build(&guarded(text), &formulas).and_then(groups);
    groups.is_some_and(|groups| groups.iter().any(|group| group.content.is_rich()))
}

/// Returns the rich message of Markdown of which only the beginning has arrived; `None` if text shows it as well, or if it
/// needs more than one message.
#[must_use]
pub fn rich_draft(markdown: &str) -> Option<RichMessage> {
    let (text, formulas) = take_out(markdown, true);
    let mut groups = groups(build(&complete(&guarded(text)), &formulas)?)?;
    match (groups.pop()?.content, groups.is_empty()) {
        (GroupContent::Blocks(blocks, extent), true) if extent.is_rich => {
            Some(RichMessage { blocks, is_rtl: is_rtl(markdown) })
        }
        _ => None,
    }
}

/// Content of one message.
#[derive(Debug)]
struct BlockGroup {
    /// Start in the source, in bytes.
    start: usize,
    content: GroupContent,
}

#[derive(Debug)]
enum GroupContent {
    Blocks(Vec<RichBlock>, RichExtent),
    File(CodeFile),
}

impl GroupContent {
    const fn is_rich(&self) -> bool {
        matches!(self, Self::Blocks(_, extent) if extent.is_rich)
    }
}

fn rich_pieces(markdown: &str, limit: usize) -> Option<Vec<Piece>> {
    let (text, formulas) = take_out(markdown, false);
    let source = guarded(text);
    let groups = groups(build(&source, &formulas)?)?;
    if !groups.iter().any(|group| group.content.is_rich()) {
        return None;
    }
    let ends: Vec<usize> = groups.iter().skip(1).map(|group| group.start).chain([source.len()]).collect();
    let mut pieces = Vec::new();
    for (BlockGroup { start, content }, end) in groups.into_iter().zip(ends) {
        let texts = || messages(&formulas.restored(source.get(start..end).unwrap_or_default()), limit);
        match content {
            GroupContent::File(file) => pieces.push(Piece::File(file)),
            GroupContent::Blocks(blocks, extent) if extent.is_rich => {
                let instead: Vec<Formatted> =
                    texts().into_iter().flat_map(|piece| piece.into_texts(limit)).collect();
                let is_rtl = instead.iter().any(|text| is_rtl(&text.text));
                pieces.push(Piece::Rich(RichPart { message: RichMessage { blocks, is_rtl }, instead }));
            }
            GroupContent::Blocks(..) => pieces.extend(texts()),
        }
    }
    Some(pieces)
}

/// Distributes blocks to as few messages as Telegram's limits allow; `None` if a block is beyond them, or if a message
/// would need the link definitions of another.
fn groups(BuiltBlocks { blocks, has_definitions }: BuiltBlocks) -> Option<Vec<BlockGroup>> {
    let mut groups: Vec<BlockGroup> = Vec::new();
    for TopBlock { start, content } in blocks {
        let block = match content {
            TopContent::File(file) => {
                groups.push(BlockGroup { start, content: GroupContent::File(file) });
                continue;
            }
            TopContent::Block(block) => block,
        };
        let extent = block.extent();
        if !extent.fits() {
            return None;
        }
        // A paragraph with formulas gives several blocks, which stay together.
        match groups.last_mut() {
            Some(BlockGroup { content: GroupContent::Blocks(blocks, all), .. }) if all.and(extent).fits() => {
                blocks.push(block);
                *all = all.and(extent);
            }
            Some(group) if group.start == start => return None,
            _ => groups.push(BlockGroup { start, content: GroupContent::Blocks(vec![block], extent) }),
        }
    }
    (groups.len() < 2 || !has_definitions).then_some(groups)
}

/// Returns `true` if more letters are of scripts written from right to left than of others.
fn is_rtl(text: &str) -> bool {
    let (right, left): (Vec<char>, Vec<char>) = text.chars().filter(|c| c.is_alphabetic()).partition(
        |c| matches!(c, '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{feff}'),
    );
    right.len() > left.len()
}
