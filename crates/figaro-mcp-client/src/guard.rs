//! Guard process between the bot and a server that is a program. Like the bot's own server, it lives as long as its
//! standard input is open. Once that closes, it ends the program and all processes that the program started. So no
//! program outlives the bot, however the bot ends.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, ExitCode, Stdio};
use std::thread;
use std::time::Duration;

use figaro_base::system::{in_words, plain};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

/// Argument that makes `figaro` the guard of the program named after it.
pub const SUBCOMMAND: &str = "mcp-guard";
/// Time for a program to end after its standard input is closed. Shorter than the bot's wait for the guard.
const LEAVE: Duration = Duration::from_millis(1500);
/// Exit code when no program was started.
const EXIT_UNSTARTED: u8 = 127;

/// Starts the program given in the arguments, passes standard input on to it, and ends when either ends.
pub fn main(mut args: impl Iterator<Item = OsString>) -> ExitCode {
    let Some(program) = args.next() else {
        return refuse("no program is named");
    };
    let mut command = Command::new(&program);
    // Own process group, so that processes started by the program can be ended with it.
    command.args(args).stdin(Stdio::piped()).process_group(0);
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => {
            return refuse(&format!("{} cannot be started: {}", program.display(), in_words(&error)));
        }
    };
    let stdin = child.stdin.take();
    let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) else {
        drop(child.kill());
        return refuse("the program has no process id");
    };
    // The threads end with the process.
    drop(thread::spawn(move || {
        pass_on(stdin);
        end(group);
    }));
    drop(thread::spawn(move || {
        if hangs_up() {
            end(group);
        }
    }));
    // The program is not reaped yet, so its process id cannot be reused.
    let ends = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    while waitid(WaitId::Pid(group), ends).is_err_and(|error| error == Errno::INTR) {}
    kill(group);
    ExitCode::from(code(child))
}

/// Passes standard input on until it ends or the program no longer reads.
fn pass_on(stdin: Option<ChildStdin>) {
    let Some(mut stdin) = stdin else { return };
    let mut input = io::stdin().lock();
    let mut buffer = vec![0_u8; 64 << 10];
    let mut is_taken = true;
    loop {
        match input.read(&mut buffer) {
            Ok(0) => return,
            // Input that the program does not read is discarded. Only the end of the input ends the program.
            Ok(read) if is_taken => {
                is_taken = buffer.get(..read).is_some_and(|bytes| stdin.write_all(bytes).is_ok());
            }
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}

/// Waits until standard input is closed on the writing side. Returns `false` where that cannot be watched. The thread
/// that passes the input on may never see the end, because it may be blocked by a program that does not read.
fn hangs_up() -> bool {
    let input = io::stdin();
    let mut watched = PollFd::new(&input, PollFlags::empty());
    loop {
        match poll(std::slice::from_mut(&mut watched), None) {
            Ok(_) => return watched.revents().intersects(PollFlags::HUP | PollFlags::ERR),
            Err(Errno::INTR) => {}
            Err(_) => return false,
        }
    }
}

/// Gives the program time to end by itself, then kills it and all processes that it started.
fn end(group: Pid) {
    thread::sleep(LEAVE);
    kill(group);
}

/// Kills a program and all processes that it started. A program that has already ended is no error.
fn kill(group: Pid) {
    if let Err(error) = kill_process_group(group, Signal::KILL)
        && error != Errno::SRCH
    {
        drop(writeln!(io::stderr(), "a program could not be ended: {}", plain(error)));
    }
}

fn code(mut child: Child) -> u8 {
    let status = child.wait().ok();
    status.and_then(|status| status.code()).and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
}

fn refuse(words: &str) -> ExitCode {
    drop(writeln!(io::stderr(), "{words}"));
    ExitCode::from(EXIT_UNSTARTED)
}
