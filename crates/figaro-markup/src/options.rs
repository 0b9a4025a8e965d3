//! Options for parsing Markdown of models.

use pulldown_cmark::Options;

/// Maximum number of table columns. The parser fills in missing cells, so a wide table of many short rows would grow
/// without limit.
const MAX_TABLE_COLUMNS: usize = 20;

/// Returns the parser extensions for this source.
pub(super) fn options(source: &str) -> Options {
    let is_wide = |line: &str| {
        let pipes = line.bytes().filter(|b| *b == b'|').count();
        pipes > MAX_TABLE_COLUMNS && line.bytes().all(|b| b"|:-> \t\r".contains(&b))
    };
    let mut options = Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS | Options::ENABLE_FOOTNOTES;
    options.set(Options::ENABLE_TABLES, !source.lines().any(is_wide));
    options
}
