//! Words to whoever started the bot in a terminal.

use std::io::{self, Write};

/// Prints a line; a reader that has left is no reason to fail.
pub(super) fn say(line: &str) {
    drop(writeln!(io::stdout(), "{line}"));
}
