//! Exit codes of `figaro`, for `main`, `--help` and docs/commands.md.

/// The bot or a command failed at run time; a restart may help.
pub const FAILED: u8 = 1;
/// The owner has to fix something before a start can succeed.
pub const REFUSED: u8 = 2;
/// The answer is cut.
pub const CUT: u8 = 3;

/// Exit codes with their meanings.
pub const MEANINGS: [(u8, &str); 4] = [
    (0, "done, or stopped on request"),
    (
        FAILED,
        "failed while it ran; `ask`: no answer; `audit verify`: the log was changed; `healthcheck`: no bot",
    ),
    (REFUSED, "you have to fix something first, such as a setting or an option; the last lines say what"),
    (CUT, "`ask`: the answer was cut at its maximum length"),
];

/// Returns the exit codes as a section of the help.
#[must_use]
pub(super) fn help() -> String {
    let lines = MEANINGS.map(|(code, meaning)| format!("\n  {code}  {}", meaning.replace('`', "")));
    format!("Exit codes:{}", lines.concat())
}
