//! Child processes of this program that limit themselves and turn untrusted bytes into a result in JSON: they read files and
//! hear sounds. Whatever the bytes do to such a child, the bot only sees that there is no result.

use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{ExitStatus, Stdio};

use serde::de::DeserializeOwned;
use tokio::io::AsyncReadExt;
use tokio::process::{Child, ChildStdout, Command};

/// Signals that end a process: a limit of time sends the first two, and a program without memory the third. Their numbers
/// are the same on Linux and macOS.
const SIGXCPU: i32 = 24;
const SIGKILL: i32 = 9;
const SIGABRT: i32 = 6;

/// Reason why a child gave no result.
#[derive(Debug, thiserror::Error)]
pub enum ChildFailure {
    /// It worked longer than it may.
    #[error("it took too long")]
    TooLong,
    /// It needed more memory, or wrote more, than it may.
    #[error("it took too much memory")]
    TooLarge,
    /// It broke off, as on bytes that are damaged.
    #[error("it broke off")]
    Broken,
    /// It wrote something else: the program is another version.
    #[error("it wrote no result: is it another version of figaro? ({0})")]
    Foreign(#[from] serde_json::Error),
}

/// Returns the command that starts the program as a child. It sees neither settings nor keys, and ends if it is dropped.
#[must_use]
pub fn command(program: &Path) -> Command {
    let mut command = Command::new(program);
    // These two variables make it take memory only as it needs it.
    command.env_clear().env("MIMALLOC_ARENA_RESERVE", "0").env("RAYON_NUM_THREADS", "1");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).kill_on_drop(true);
    command
}

/// Returns what the child writes, at most `most` bytes, once it has ended.
///
/// # Errors
/// The reason why there is no result.
pub async fn result<T: DeserializeOwned>(
    mut child: Child,
    stdout: ChildStdout,
    most: u64,
) -> Result<T, ChildFailure> {
    let mut output = Vec::new();
    let mut stdout = stdout.take(most);
    let received = stdout.read_to_end(&mut output).await;
    // A child that writes more must not wait for a reader.
    drop(stdout);
    let status = child.wait().await.map_err(|_lost| ChildFailure::Broken)?;
    match received {
        Ok(read) if read as u64 == most => Err(ChildFailure::TooLarge),
        Ok(_) if status.success() => Ok(serde_json::from_slice(&output)?),
        _ => Err(of_status(status)),
    }
}

/// Returns the reason why a child that was talked to otherwise gave no result, once it has ended.
pub async fn failure(mut child: Child) -> ChildFailure {
    child.wait().await.map_or(ChildFailure::Broken, of_status)
}

fn of_status(status: ExitStatus) -> ChildFailure {
    match status.signal() {
        Some(SIGXCPU | SIGKILL) => ChildFailure::TooLong,
        Some(SIGABRT) => ChildFailure::TooLarge,
        _ => ChildFailure::Broken,
    }
}
