//! Processes as Linux shows them under `/proc`: who is there, with which arguments and environment, and who is gone.

use std::fs;
use std::process::Command;

use super::wait::eventually;

/// Sends a signal to a process: `TERM`, `INT`, `KILL`.
pub fn signal(pid: u32, name: &str) {
    let sent = Command::new("kill").args([&format!("-{name}"), &pid.to_string()]).status().unwrap();
    assert!(sent.success(), "SIG{name} to {pid}");
}

/// The arguments of a process, its own name first.
pub fn command_line(pid: u32) -> Vec<String> {
    words(pid, "cmdline")
}

/// The environment of a process, as `NAME=value`.
pub fn environment(pid: u32) -> Vec<String> {
    words(pid, "environ")
}

/// A field of what `/proc` says of a process, such as `VmRSS`, in kB.
pub fn status(pid: u32, field: &str) -> usize {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with(field)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// Whether a process is there and has not ended.
pub fn is_running(pid: u32) -> bool {
    // A process that ended and was not waited for has no arguments any more.
    !command_line(pid).is_empty()
}

/// Processes that have these words in their environment or arguments, such as the address of a test's Telegram.
pub fn with_words(words: &str) -> Vec<u32> {
    let own = std::process::id();
    let pids =
        fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    let has =
        |pid: u32| environment(pid).into_iter().chain(command_line(pid)).any(|word| word.contains(words));
    pids.filter(|pid| *pid != own && has(*pid)).collect()
}

/// Waits until no process has these words in its environment or arguments.
pub async fn none_has(words: &str) {
    let left = || with_words(words);
    eventually(|| format!("left running: {:?}", left()), async || left().is_empty().then_some(())).await;
}

/// Waits until a process has ended.
pub async fn gone(pid: u32) {
    eventually(|| format!("left running: {pid}"), async || (!is_running(pid)).then_some(())).await;
}

fn words(pid: u32, file: &str) -> Vec<String> {
    let bytes = fs::read(format!("/proc/{pid}/{file}")).unwrap_or_default();
    let words = bytes.split(|byte| *byte == 0).filter(|word| !word.is_empty());
    words.map(|word| String::from_utf8_lossy(word).into_owned()).collect()
}

/// A mask of what `/proc` says of a process, such as `SigCgt`: the signals that it catches.
pub fn status_word(pid: u32, field: &str) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with(field))?;
    u64::from_str_radix(line.split_whitespace().nth(1)?, 16).ok()
}
