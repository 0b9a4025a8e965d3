//! How the Markdown of models is read.

use pulldown_cmark::Options;

/// Missing cells of a row are filled in, so a wide table of many short rows would grow without bound.
const MAX_TABLE_COLUMNS: usize = 20;

/// The extensions to read this source with.
pub(super) fn options(source: &str) -> Options {
    let is_wide = |line: &str| {
        let pipes = line.bytes().filter(|b| *b == b'|').count();
        pipes > MAX_TABLE_COLUMNS && line.bytes().all(|b| b"|:-> \t\r".contains(&b))
    };
    let mut options = Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS | Options::ENABLE_FOOTNOTES;
    options.set(Options::ENABLE_TABLES, !source.lines().any(is_wide));
    options
}
