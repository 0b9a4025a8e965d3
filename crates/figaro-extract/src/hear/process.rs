//! The child process that hears one sound: `figaro hear FOLDER`, with the sound on standard input and the result as JSON on
//! standard output. Like the reader of files, it limits itself before it reads a byte of the sound.

use std::ffi::OsString;
use std::io::{self, Read};
use std::path::Path;
use std::process::ExitCode;

use super::rate::RATE;
use super::{LoadedWhisper, WhisperFolder, parts, sound};
use crate::process::{Limits, limit_time, write_result};
use figaro_domain::hearing::{CUTTER, Hearing, HearingError, MAX_SECONDS, MAX_SOUND_BYTES};

/// Memory beside the model, and memory for each byte of its files, in bytes of address space.
const MEMORY: u64 = 600 * 1024 * 1024;
const MEMORY_OF_BYTE: u64 = 5;
/// Time on the processors to load the model and to decode the sound, in seconds, and time for each second of sound.
const SECONDS: u64 = 30;
const SECONDS_OF_SECOND: u64 = 3;
/// Shortest sound that the model takes time for, in seconds: a window, however short the sound.
const WINDOW: u64 = 30;

/// Hears the sound and writes its words, or cuts it into parts.
pub fn main(mut args: impl Iterator<Item = OsString>) -> ExitCode {
    let folder = args.next().unwrap_or_default();
    if folder == CUTTER {
        return parts::main();
    }
    match hearing(Path::new(&folder)) {
        Some(hearing) => write_result(&hearing),
        None => ExitCode::FAILURE,
    }
}

/// Returns what is heard; `None` if the operating system does not limit this process.
fn hearing(folder: &Path) -> Option<Hearing> {
    let folder = match WhisperFolder::look(folder) {
        Ok(folder) => folder,
        Err(why) => return Some(Err(HearingError::Model(why))),
    };
    let memory = MEMORY + MEMORY_OF_BYTE * folder.size();
    let seconds = SECONDS + SECONDS_OF_SECOND * (MAX_SECONDS + WINDOW);
    let limits = Limits { memory, seconds };
    if !limits.set() || !limit_time(SECONDS, seconds) {
        return None;
    }
    // The model is the owner's. It is read before files can no longer be opened.
    let listener = match LoadedWhisper::load(folder) {
        Ok(listener) => listener,
        Err(why) => return Some(Err(HearingError::Model(why))),
    };
    if !Limits::close_files() {
        return None;
    }
    let mut bytes = Vec::new();
    let most = MAX_SOUND_BYTES as u64 + 1;
    Some(match io::stdin().lock().take(most).read_to_end(&mut bytes) {
        Ok(read) if read > MAX_SOUND_BYTES => Err(HearingError::TooLong),
        Ok(_) => sound::samples(bytes).and_then(|samples| {
            let length = (samples.len() as u64 / u64::from(RATE)).max(WINDOW);
            limit_time(SECONDS + SECONDS_OF_SECOND * length, seconds);
            listener.hear(&samples)
        }),
        Err(_) => Err(HearingError::Damaged),
    })
}
