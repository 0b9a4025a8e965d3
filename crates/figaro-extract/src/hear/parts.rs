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

/// Memory, in bytes of address space, a part of which is the program itself: the file twice, and a part as samples.
const MEMORY: u64 = 400 * 1024 * 1024;
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
            let end = start + window_end(&samples[start..]);
            write(&samples[..end], output)?;
            samples.drain(..end);
            written += end as u64;
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
    let length = samples.len() as u32 * 2;
    let mut head = format!("{}\n", length + HEADER).into_bytes();
    head.extend(b"RIFF");
    head.extend((length + HEADER - 8).to_le_bytes());
    head.extend(b"WAVEfmt \x10\0\0\0\x01\0\x01\0");
    head.extend(RATE.to_le_bytes());
    head.extend((RATE * 2).to_le_bytes());
    head.extend(b"\x02\0\x10\0data");
    head.extend(length.to_le_bytes());
    let pieces = samples.chunks(RATE as usize).map(|second| {
        let whole = second.iter().map(|sample| (sample.clamp(-1.0, 1.0) * 32_767.0) as i16);
        whole.flat_map(i16::to_le_bytes).collect::<Vec<u8>>()
    });
    let written = std::iter::once(head).chain(pieces).try_for_each(|bytes| output.write_all(&bytes));
    // The bot has stopped reading.
    written.map_err(|_closed| HearingError::TooLong)
}
