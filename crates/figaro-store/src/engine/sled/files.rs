//! Checks of a store's files before sled opens them. sled takes damage for the end of its log, or for an empty store, and
//! clears what follows; so a folder that is plainly no sled store is refused untouched.

use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::path::Path;

use super::super::error::EngineError;

/// Segment size of sled's log; sled itself refuses a store with another size.
const SEGMENT: usize = 512 * 1024;

/// Returns why this folder is no store and cannot become one; `None` if it may be opened.
pub(super) fn objection(folder: &Path) -> io::Result<Option<String>> {
    match fs::metadata(folder) {
        Ok(metadata) if !metadata.is_dir() => {
            return Ok(Some("it is a file, a store is a folder".to_owned()));
        }
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    }
    let headers = match File::open(folder.join("db")) {
        Ok(mut log) => headers(&mut log)?,
        Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(error),
    };
    if headers.iter().all(|header| *header == HeaderState::Blank) {
        return Ok(has_snapshot(folder)?.then(|| "the file `db` is missing or empty".to_owned()));
    }
    if !folder.join("conf").exists() {
        return Ok(Some("the file `conf` is missing".to_owned()));
    }
    let damaged = headers.iter().position(|header| *header == HeaderState::Damaged);
    Ok(damaged.map(|segment| format!("segment {segment} of the file `db` is damaged")))
}

/// Removes a snapshot that was being written when a process ended: sled would take it for a whole one, and then refuse
/// the store. Call it only while no other process has the store.
pub(super) fn tidy(folder: &Path) -> Result<(), EngineError> {
    let failed = |error: io::Error| EngineError::failed(&error);
    let log = match File::options().read(true).write(true).open(folder.join("db")) {
        Ok(log) => log,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(failed(error)),
    };
    match log.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Err(EngineError::InUse),
        Err(TryLockError::Error(error)) => return Err(failed(error)),
    }
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name();
        if name.to_string_lossy().starts_with("snap.") && name.to_string_lossy().ends_with(".generating") {
            fs::remove_file(entry.path()).map_err(failed)?;
        }
    }
    Ok(())
}

fn has_snapshot(folder: &Path) -> io::Result<bool> {
    for entry in fs::read_dir(folder)? {
        if entry?.file_name().to_string_lossy().starts_with("snap.") {
            return Ok(true);
        }
    }
    Ok(false)
}

#[derive(Debug, PartialEq, Eq)]
enum HeaderState {
    /// The segment was never written, or was cleared.
    Blank,
    Whole,
    Damaged,
}

/// Returns the header states of all segments; a header has a checksum of the 16 bytes that follow it.
fn headers(log: &mut File) -> io::Result<Vec<HeaderState>> {
    let length = log.metadata()?.len();
    let mut headers = Vec::new();
    for at in (0..length).step_by(SEGMENT) {
        let mut bytes = Vec::with_capacity(20);
        log.seek(SeekFrom::Start(at))?;
        log.take(20).read_to_end(&mut bytes)?;
        let (sum, rest) = bytes.split_at(bytes.len().min(4));
        headers.push(match (!crc32(rest)).to_le_bytes() == *sum {
            _ if bytes.iter().all(|byte| *byte == 0) => HeaderState::Blank,
            true => HeaderState::Whole,
            false => HeaderState::Damaged,
        });
    }
    Ok(headers)
}

/// Computes the common CRC-32 bit by bit; a header is only 16 bytes.
fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = u32::MAX;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 { (crc >> 1) ^ 0xEDB8_8320 } else { crc >> 1 };
        }
    }
    !crc
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_the_common_one() {
        assert_eq!(crc32(b"123456789"), 0xCBF4_3926);
    }
}
