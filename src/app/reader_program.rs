//! The program whose children read files and hear sounds.

use std::path::PathBuf;

/// Returns that program: this one if it is `figaro`, otherwise the one beside it, as for a program that embeds the bot.
pub(super) fn reader_program() -> Option<PathBuf> {
    const FIGARO: &str = "figaro";
    let this = std::env::current_exe().ok()?;
    let is_figaro = this.file_name().is_some_and(|name| name == FIGARO);
    let beside = this.with_file_name(FIGARO);
    let program = if is_figaro { Some(this) } else { beside.is_file().then_some(beside) };
    if program.is_none() {
        tracing::warn!(
            "no program `figaro` is beside this one: files and sounds that people send cannot be read"
        );
    }
    program
}
