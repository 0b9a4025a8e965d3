//! The child process that reads one file: `figaro extract NAME [CHARSET]`, with the file on standard input and the result as JSON on
//! standard output.
//!
//! Before it reads a byte it gives up what it does not need: memory, time, files and network. The operating system keeps it
//! to that, whatever a file does to its reader.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::process::ExitCode;

use rustix::process::{Resource, Rlimit, nice, setrlimit};
use serde::Serialize;

use super::{FileOrigin, extract};
use figaro_domain::document::{MAX_FILE_BYTES, Unreadable};

/// Most memory, in bytes of address space: the program itself takes some 60 MB of it.
const MEMORY: u64 = 300 * 1024 * 1024;
/// Most time on the processor, in seconds; less for a web page, which is small.
const SECONDS: u64 = 25;
const PAGE_SECONDS: u64 = 10;
/// Lower priority than the bot's.
const NICE: i32 = 5;

/// Reads the file and writes its text.
pub fn main(mut args: impl Iterator<Item = OsString>) -> ExitCode {
    let mut next = || args.next().map(|arg| arg.to_string_lossy().into_owned());
    let (name, page) = (next().unwrap_or_default(), next());
    let seconds = if page.is_some() { PAGE_SECONDS } else { SECONDS };
    if !(Limits { memory: MEMORY, seconds }.set() && Limits::close_files()) {
        return ExitCode::FAILURE;
    }
    let origin = FileOrigin { name: &name, page: page.as_deref() };
    let mut bytes = Vec::new();
    let most = MAX_FILE_BYTES as u64 + 1;
    let extraction = match io::stdin().lock().take(most).read_to_end(&mut bytes) {
        Ok(read) if read > MAX_FILE_BYTES => Err(Unreadable::TooLarge),
        Ok(_) => extract(&bytes, origin),
        Err(_) => Err(Unreadable::Gone),
    };
    write_result(&extraction)
}

/// Writes a result to standard output.
pub(crate) fn write_result(result: &impl Serialize) -> ExitCode {
    let Ok(words) = serde_json::to_vec(result) else { return ExitCode::FAILURE };
    let mut output = io::stdout().lock();
    match output.write_all(&words).and_then(|()| output.flush()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

/// Limits of this process.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Memory, in bytes of address space.
    pub(crate) memory: u64,
    /// Time on the processors.
    pub(crate) seconds: u64,
}

impl Limits {
    /// Sets the limits. Returns `false` if the operating system refuses.
    pub(crate) fn set(self) -> bool {
        let limits = [
            (Resource::As, self.memory),
            (Resource::Cpu, self.seconds),
            (Resource::Fsize, 0),
            (Resource::Core, 0),
        ];
        // Without a lower priority it works as well.
        nice(NICE).ok();
        limits.into_iter().all(|(resource, most)| limit(resource, most, most))
    }

    /// Takes the right to open files and sockets: standard input and output stay open. Returns `false` if the operating system
    /// refuses.
    pub(crate) fn close_files() -> bool {
        limit(Resource::Nofile, 0, 0)
    }
}

/// Ends this process when it has worked for so many seconds, until another time is set; never more than `most`.
#[cfg(feature = "local-transcriber")]
pub(crate) fn limit_time(seconds: u64, most: u64) -> bool {
    limit(Resource::Cpu, seconds, most)
}

fn limit(resource: Resource, current: u64, most: u64) -> bool {
    setrlimit(resource, Rlimit { current: Some(current), maximum: Some(most) }).is_ok()
}
