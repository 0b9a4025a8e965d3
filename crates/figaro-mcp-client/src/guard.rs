//! A process between the bot and a server that is a program: it lives by its standard input, as the bot's own server does, and
//! ends the program with all that this has started once that closes. So no program outlives the bot, however the bot ends.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, ExitCode, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use figaro_base::system::{in_words, plain};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

/// The argument that makes `figaro` the guard of the program named behind it.
pub const SUBCOMMAND: &str = "mcp-guard";
/// How long a program may take to end once its standard input is closed; less than the bot waits for the guard.
const LEAVE: Duration = Duration::from_millis(1500);
/// How often it is looked whether it has.
const LOOK: Duration = Duration::from_millis(20);
/// No program was started.
const EXIT_UNSTARTED: u8 = 127;

/// Starts the program of these arguments, passes standard input on to it, and ends when either ends.
pub fn main(mut args: impl Iterator<Item = OsString>) -> ExitCode {
    let Some(program) = args.next() else {
        return refuse("no program is named");
    };
    let mut command = Command::new(&program);
    // A group of its own, so that what the program starts can be ended with it.
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
    // Not yet taken from the system's table: until then nobody else gets its number.
    let ends = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    while waitid(WaitId::Pid(group), ends).is_err_and(|error| error == Errno::INTR) {}
    kill(group);
    ExitCode::from(code(child))
}

/// Passes standard input on until it ends, or the program takes no more.
fn pass_on(stdin: Option<ChildStdin>) {
    let Some(mut stdin) = stdin else { return };
    let mut input = io::stdin().lock();
    let mut buffer = vec![0_u8; 64 << 10];
    let mut is_taken = true;
    loop {
        match input.read(&mut buffer) {
            Ok(0) => return,
            // What the program does not read is thrown away: only the end of the input ends it.
            Ok(read) if is_taken => {
                is_taken = buffer.get(..read).is_some_and(|bytes| stdin.write_all(bytes).is_ok());
            }
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}

/// Waits until nobody can write to standard input any more; not so, where that cannot be watched. Whoever passes the input on may
/// never come to its end, as it waits for a program that does not read.
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

/// Lets the program end by itself for a while, then ends it and all that it has started.
fn end(group: Pid) {
    let deadline = Instant::now() + LEAVE;
    while Instant::now() < deadline {
        thread::sleep(LOOK);
    }
    kill(group);
}

/// Ends a program and all that it has started. What has ended already is no fault.
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
