//! Completions for shells, and man pages.

use std::io::{self, Write};
use std::path::Path;

use clap::Command;
use clap_complete::Shell;

/// Prints the completions of `figaro` for a shell on standard output.
///
/// # Errors
/// Standard output cannot be written. A reader that closed it is no error.
pub fn print_completions(shell: Shell) -> io::Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut shown(), "figaro", &mut script);
    let mut output = io::stdout();
    match output.write_all(&script).and_then(|()| output.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error),
        _ => Ok(()),
    }
}

/// Writes a man page for each command of `figaro`, and one for `figaro-mcp`, into an existing folder.
///
/// # Errors
/// The folder cannot be written.
pub fn write_man_pages(folder: &Path) -> io::Result<()> {
    clap_mangen::generate_to(shown(), folder)?;
    clap_mangen::generate_to(figaro_mcp::command_line(), folder)
}

/// Returns the command line without hidden commands, which completions would list.
fn shown() -> Command {
    let all = super::command();
    let shown = all.get_subcommands().filter(|command| !command.is_hide_set()).cloned();
    let about = all.get_long_about().or(all.get_about()).cloned().unwrap_or_default();
    Command::new("figaro")
        .about(about)
        .version(env!("CARGO_PKG_VERSION"))
        .after_help(super::exit::help())
        .subcommands(shown)
}
