//! The child process that cuts a long sound into parts, for services that take only short ones: `figaro hear --parts`, with the
//! sound on standard input. Each part is a WAV file, and is written as its length in bytes, a line break and the file. The last
//! line is the result as JSON.

use std::io::{self, Read, Write};
use std::process::ExitCode;

use super::rate::{RATE, WINDOW_SAMPLES};
use super::sound::decode;
use super::words::window_end;
use crate::process::{Limits, write_result};
use figaro_domain::hearing::{HearingError, MAX_PARTED_SECONDS, MAX_SOUND_BYTES, PART_SECONDS};

/// Memory, in bytes of address space: the program, the file, a part as samples and as a file.
const MEMORY: u64 = 300 * 1024 * 1024;
/// Time on the processors, in seconds.
const SECONDS: u64 = 120;
const PART: usize = PART_SECONDS as usize * RATE as usize;

/// Cuts the sound on standard input.
pub(super) fn main() -> ExitCode {
    if !(Limits { memory: MEMORY, seconds: SECONDS }.set() && Limits::close_files()) {
        return ExitCode::FAILURE;
    }
    let mut bytes = Vec::new();
    let read = io::stdin().lock().take(MAX_SOUND_BYTES as u64 + 1).read_to_end(&mut bytes);
    let result = match read {
        Ok(read) if read > MAX_SOUND_BYTES => Err(HearingError::TooLong),
        Ok(_) => cut(bytes, &mut io::stdout().lock()),
        Err(_) => Err(HearingError::Damaged),
    };
    write_result(&result)
}

/// Writes the parts of a sound.
///
/// # Errors
/// If the sound cannot be decoded or is too long, or nobody reads the parts.
pub(super) fn cut(bytes: Vec<u8>, output: &mut impl Write) -> Result<(), HearingError> {
    let mut written = 0;
    let rest = decode(bytes, |samples| {
        if samples.len() > PART {
            let start = PART - WINDOW_SAMPLES;
            let part = samples.drain(..start + window_end(&samples[start..])).collect::<Vec<f32>>();
            written += part.len() as u64;
            write(&part, output)?;
        }
        match written + samples.len() as u64 > MAX_PARTED_SECONDS * u64::from(RATE) {
            true => Err(HearingError::TooLong),
            false => Ok(()),
        }
    })?;
    write(&rest, output)
}

/// Writes samples as a WAV file of 16 bits in one channel.
fn write(samples: &[f32], output: &mut impl Write) -> Result<(), HearingError> {
    const HEADER: u32 = 44;
    let data = samples.iter().flat_map(|sample| ((sample.clamp(-1.0, 1.0) * 32_767.0) as i16).to_le_bytes());
    let length = samples.len() as u32 * 2;
    let mut file = format!("{}\n", length + HEADER).into_bytes();
    file.extend(b"RIFF");
    file.extend((length + HEADER - 8).to_le_bytes());
    file.extend(b"WAVEfmt \x10\0\0\0\x01\0\x01\0");
    file.extend(RATE.to_le_bytes());
    file.extend((RATE * 2).to_le_bytes());
    file.extend(b"\x02\0\x10\0data");
    file.extend(length.to_le_bytes());
    file.extend(data);
    // The bot has stopped reading.
    output.write_all(&file).map_err(|_closed| HearingError::TooLong)
}
