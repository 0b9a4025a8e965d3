//! `figaro doctor`: the checks of `figaro check`, and what the log of the last day says, each with the next step.

mod entry;
mod remedies;
mod trouble;

use std::fs::File;
use std::io::{self, BufRead, BufReader, ErrorKind};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use chrono::TimeDelta;
use tokio::task::spawn_blocking;

use self::entry::LogEntry;
use self::remedies::remedy;
use self::trouble::Troubles;
use super::additions::Additions;
use super::check::check;
use super::failure::StartupError;
use super::store::STREAM;
use super::terminal::{all_said, counted, say};
use figaro_base::clock::Clock;
use figaro_base::system::in_words;
use figaro_config::Values;

/// Age of the oldest line that counts.
const DAY: TimeDelta = TimeDelta::days(1);
/// Maximum number of kinds of trouble that are told.
const TOLD: usize = 12;
/// Longest line of a log that is read, in bytes.
const LINE: u64 = 64 * 1024;

/// Checks everything, and reads the log: of a file, of standard input if it is `-`, else of systemd's journal.
///
/// # Errors
/// When a check fails, or the named log cannot be read.
pub async fn doctor(
    values: &Values,
    additions: &Additions,
    log: Option<PathBuf>,
) -> Result<(), StartupError> {
    let checked = check(values, additions).await;
    let read = spawn_blocking(move || read_log(log.as_deref())).await;
    match read.unwrap_or_else(|error| Err(StartupError(format!("reading the log broke off: {error}"))))? {
        Some(troubles) => tell(&troubles),
        None => say(
            "! log: systemd's journal has no lines of figaro that this account may read. Name the log with --log FILE, or pipe it: \
             docker compose logs --no-color figaro | figaro doctor --log -",
        ),
    }
    all_said()?;
    checked
}

fn tell(troubles: &Troubles) {
    let found = troubles.worst_first();
    if troubles.lines == 0 {
        say("! log: no line of the last day is one of figaro's: name its log with --log FILE");
        return;
    }
    if found.is_empty() {
        say(&format!("✓ log: {} of the last day, no warning", counted(troubles.lines, "line")));
        return;
    }
    let kinds = counted(found.len(), "kind");
    say(&format!(
        "! log: {} of the last day, {kinds} of warnings and errors",
        counted(troubles.lines, "line")
    ));
    for trouble in found.iter().take(TOLD) {
        let last = trouble.last.format("%d %b %H:%M UTC");
        let level = trouble.level.name();
        say(&format!("  {level}, {}, last {last}: {}", counted(trouble.count, "time"), trouble.example));
        if let Some(remedy) = remedy(&trouble.message) {
            say(&format!("    → {remedy}"));
        }
    }
    if found.len() > TOLD {
        say(&format!("  and {} more", counted(found.len() - TOLD, "kind")));
    }
}

/// Reads a log; `None` if the journal has nothing of the bot.
fn read_log(log: Option<&Path>) -> Result<Option<Troubles>, StartupError> {
    let named = |path: &Path, error: &io::Error| {
        StartupError(format!("the log {} cannot be read: {}", path.display(), in_words(error)))
    };
    match log {
        Some(path) if path == Path::new(STREAM) => troubles(io::stdin().lock())
            .map(Some)
            .map_err(|error| named(Path::new("from standard input"), &error)),
        Some(path) => {
            let file = File::open(path).map_err(|error| named(path, &error))?;
            troubles(BufReader::new(file)).map(Some).map_err(|error| named(path, &error))
        }
        None => journal().map_err(|error| StartupError(format!("systemd's journal: {}", in_words(&error)))),
    }
}

/// Reads the lines of the bot in systemd's journal, of any unit; `None` if there are none.
fn journal() -> io::Result<Option<Troubles>> {
    let started = Command::new("journalctl")
        .args(["--quiet", "--no-pager", "--output=cat", "--since=-1day", "_COMM=figaro"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    let mut child = match started {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        started => started?,
    };
    let found = child.stdout.take().map(|lines| troubles(BufReader::new(lines))).transpose();
    let _status = child.wait()?;
    Ok(found?.filter(|troubles| troubles.lines > 0))
}

fn troubles(mut lines: impl BufRead) -> io::Result<Troubles> {
    let since = Clock::system().now() - DAY;
    let (mut troubles, mut line) = (Troubles::default(), Vec::new());
    loop {
        line.clear();
        if io::Read::take(&mut lines, LINE).read_until(b'\n', &mut line)? == 0 {
            return Ok(troubles);
        }
        if let Some(entry) = LogEntry::parse(&String::from_utf8_lossy(&line))
            && entry.at >= since
        {
            troubles.add(entry);
        }
    }
}
