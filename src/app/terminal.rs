//! Output to the terminal: text, and links as QR codes.

use std::io::{self, ErrorKind, IsTerminal, Write};
use std::sync::OnceLock;

use qrcode::render::unicode::Dense1x2;
use qrcode::{EcLevel, QrCode};

use super::failure::StartupError;
use figaro_base::system::in_words;

/// Reason why output was lost. Global, as standard output is; printing continues, and a command checks this at its end.
static LOST: OnceLock<String> = OnceLock::new();

/// Prints a line. A closed reader is no failure.
pub(super) fn say(line: &str) {
    note(writeln!(io::stdout(), "{line}"));
}

/// Formats a count with a singular noun: `1 record`, `2 records`.
pub(super) fn counted(count: impl TryInto<u64>, one: &str) -> String {
    match count.try_into().unwrap_or(u64::MAX) {
        1 => format!("1 {one}"),
        count if one.ends_with("ry") => format!("{count} {}ies", one.trim_end_matches('y')),
        count => format!("{count} {one}s"),
    }
}

/// Formats a number of bytes in a readable unit: `7 bytes`, `73.7 kB`, `1.2 MB`.
pub(super) fn size(bytes: impl TryInto<u64>) -> String {
    let bytes = bytes.try_into().unwrap_or(u64::MAX);
    let tenths = |unit: u64| format!("{}.{}", bytes / unit, bytes % unit * 10 / unit);
    match bytes {
        0..1_000 => counted(bytes, "byte"),
        1_000..1_000_000 => format!("{} kB", tenths(1_000)),
        _ => format!("{} MB", tenths(1_000_000)),
    }
}

/// Prints a question without a newline.
///
/// # Errors
/// When the question cannot be printed.
pub(super) fn prompt(question: &str) -> Result<(), StartupError> {
    let mut out = io::stdout();
    note(write!(out, "{question} ").and_then(|()| out.flush()));
    all_said()
}

fn note(printed: io::Result<()>) {
    if let Err(error) = printed
        && error.kind() != ErrorKind::BrokenPipe
    {
        LOST.get_or_init(|| in_words(&error));
    }
}

/// Checks that all output was written, or that its reader has left.
///
/// # Errors
/// When output was lost, as on a full disk.
pub(super) fn all_said() -> Result<(), StartupError> {
    match LOST.get() {
        None => Ok(()),
        Some(reason) => Err(StartupError(format!("standard output cannot be written: {reason}"))),
    }
}

/// Prints a link as a QR code, if standard output is a terminal.
pub(super) fn show_code(link: &str) {
    if io::stdout().is_terminal()
        && let Some(code) = code(link)
    {
        say(&code);
    }
}

/// Renders a text as a QR code with two rows per line, black on white whatever the terminal's colours. `None` if the text is
/// too long.
fn code(text: &str) -> Option<String> {
    /// Terminal escape: black on bright white.
    const COLOURS: &str = "\u{1b}[30;107m";
    const NO_COLOURS: &str = "\u{1b}[0m";
    // A screen has no damage, so little error correction suffices and the code stays small.
    let code = QrCode::with_error_correction_level(text, EcLevel::L).ok()?;
    let drawn = code.render::<Dense1x2>().build();
    let lines: Vec<String> = drawn.lines().map(|line| format!("{COLOURS}{line}{NO_COLOURS}")).collect();
    Some(lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_fits_a_terminal_and_has_a_margin_in_each_direction() {
        let link =
            format!("https://t.me/a_name_as_long_as_it_may_be_bot?start={}", "0123456789abcdef".repeat(2));
        let drawn = code(&link).unwrap();
        let lines: Vec<&str> = drawn
            .lines()
            .map(|line| line.strip_prefix("\u{1b}[30;107m").unwrap().strip_suffix("\u{1b}[0m").unwrap())
            .collect();
        let width = lines[0].chars().count();
        assert!(width <= 80 && lines.len() <= 24, "{width} x {}", lines.len());
        assert!(
            lines.iter().all(|line| line.chars().count() == width && line.starts_with("    ")),
            "{drawn}"
        );
        for margin in [lines[0], lines[1]] {
            assert_eq!(margin.trim(), "", "{drawn}");
        }
    }

    #[test]
    fn what_no_code_can_hold_is_not_drawn() {
        assert_eq!(code(&"x".repeat(10_000)), None);
    }
}
