//! Runs the blocks of commands, each in an empty folder.

use std::os::unix::fs::symlink;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::Fault;
use crate::paper::{Block, Paper};

/// Longest time of a block.
const LIMIT: Duration = Duration::from_secs(60);

/// Returns the built program of this name.
pub(crate) fn program(name: &str) -> PathBuf {
    match name {
        "figaro-mcp" => env!("CARGO_BIN_EXE_figaro-mcp").into(),
        _ => env!("CARGO_BIN_EXE_figaro").into(),
    }
}

/// Runs the blocks of a paper that need nothing.
pub(crate) fn blocks(paper: &Paper) -> Vec<Fault> {
    let wrong = |block: &Block| {
        let words = wrong(&block.text)?;
        Some(Fault { paper: paper.path.clone(), line: block.line, words })
    };
    paper.runnable().filter_map(wrong).collect()
}

/// Runs commands in an empty folder; returns the failure, if any.
pub(crate) fn wrong(commands: &str) -> Option<String> {
    let folder = tempfile::tempdir().unwrap();
    let programs = folder.path().join("bin");
    let place = folder.path().join("place");
    std::fs::create_dir(&programs).unwrap();
    std::fs::create_dir(&place).unwrap();
    for name in ["figaro", "figaro-mcp"] {
        symlink(program(name), programs.join(name)).unwrap();
    }
    let output = folder.path().join("output");
    let file = std::fs::File::create(&output).unwrap();
    let mut shell = Command::new("sh")
        .args(["-e", "-c", commands])
        .current_dir(&place)
        .env_clear()
        .env("PATH", path(&programs))
        .env("HOME", &place)
        // Nothing of a paper may reach another machine.
        .envs(["HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY"].map(|name| (name, "http://127.0.0.1:9")))
        .stdin(Stdio::null())
        .stdout(file.try_clone().unwrap())
        .stderr(file)
        .process_group(0)
        .spawn()
        .unwrap();
    let begun = Instant::now();
    let status = loop {
        match shell.try_wait().unwrap() {
            Some(status) => break Some(status),
            None if begun.elapsed() > LIMIT => {
                // With everything that it started.
                Command::new("kill").args(["-9", "--", &format!("-{}", shell.id())]).status().unwrap();
                shell.wait().unwrap();
                break None;
            }
            None => thread::sleep(Duration::from_millis(20)),
        }
    };
    let said = String::from_utf8_lossy(&std::fs::read(&output).unwrap()).into_owned();
    match status {
        Some(status) if status.success() => None,
        Some(status) => Some(format!("the block ends with {status}:\n{commands}{said}")),
        None => Some(format!("the block does not end within {LIMIT:?}:\n{commands}{said}")),
    }
}

fn path(programs: &Path) -> String {
    format!("{}:/usr/local/bin:/usr/bin:/bin", programs.display())
}
