//! The high-water mark: the last durable commit of a store, in a file beside it. A damaged store that comes back with
//! fewer commits has lost data, which its engine alone does not notice.
//!
//! The file has two slots, written in turn: if a crash damages one, the other is intact. A slot is a line of JSON and its
//! checksum; a damaged one is ignored.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use ring::digest::{SHA256, digest};

use super::error::EngineError;
use super::folder::FILE;
use super::port::{MarkKeeper, Result, StoreMark};

/// Size of a slot in bytes: a mark takes about 90, its checksum 17.
const SLOT: usize = 128;
/// Maximum bytes read of a mark file.
const MOST: u64 = 2 * SLOT as u64;
/// Stored bytes of the SHA-256.
const SUM: usize = 8;

#[derive(Debug)]
pub(super) struct MarkFile(pub(super) PathBuf);

impl MarkKeeper for MarkFile {
    fn newest(&self) -> Result<Option<StoreMark>> {
        let mut bytes = Vec::new();
        match File::open(&self.0).and_then(|file| file.take(MOST).read_to_end(&mut bytes)) {
            Ok(_) => Ok(bytes.chunks(SLOT).filter_map(decode).max_by_key(|mark| mark.commits)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(failed(&self.0, &error)),
        }
    }

    /// After a power loss the file may lag a little, but is never ahead: it is written after the commit is durable.
    fn keep(&self, mark: &StoreMark) -> Result<()> {
        write(&self.0, mark).map_err(|error| failed(&self.0, &error))
    }

    fn replace(&self, mark: Option<&StoreMark>) -> Result<()> {
        match fs::remove_file(&self.0) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(failed(&self.0, &error)),
            _ => {}
        }
        mark.map_or(Ok(()), |mark| self.keep(mark))
    }
}

fn write(path: &Path, mark: &StoreMark) -> io::Result<()> {
    let mut options = OpenOptions::new();
    let file = options.write(true).create(true).truncate(false).mode(FILE).open(path)?;
    let place = if mark.commits.is_multiple_of(2) { 0 } else { SLOT as u64 };
    file.write_all_at(&encode(mark)?, place)
}

fn failed(path: &Path, error: &io::Error) -> EngineError {
    let name = path.file_name().unwrap_or_default().display();
    EngineError::failed(&format!("the file {name} beside it, which says how far it was durable: {error}"))
}

fn encode(mark: &StoreMark) -> io::Result<Vec<u8>> {
    let text = serde_json::to_string(mark)?;
    let mut slot = format!("{} {text}", sum(text.as_bytes())).into_bytes();
    slot.resize(SLOT - 1, b' ');
    slot.push(b'\n');
    Ok(slot)
}

fn decode(slot: &[u8]) -> Option<StoreMark> {
    let (kept, text) = std::str::from_utf8(slot).ok()?.trim_end().split_once(' ')?;
    (sum(text.as_bytes()) == kept).then(|| serde_json::from_str(text).ok())?
}

fn sum(bytes: &[u8]) -> String {
    digest(&SHA256, bytes).as_ref().iter().take(SUM).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;

    use super::*;

    fn mark(commits: u64) -> StoreMark {
        StoreMark { store: ulid::Ulid::new().to_string(), commits, at: DateTime::UNIX_EPOCH }
    }

    #[test]
    fn the_newest_whole_mark_counts() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("mark");
        let file = MarkFile(path.clone());
        assert_eq!(file.newest().unwrap(), None);
        let [older, newer] = [mark(6), mark(7)];
        file.keep(&older).unwrap();
        file.keep(&newer).unwrap();
        assert_eq!(file.newest().unwrap().as_ref(), Some(&newer));
        let whole = fs::read(&path).unwrap();
        for at in SLOT..SLOT + 100 {
            let mut damaged = whole.clone();
            damaged[at] ^= 1;
            fs::write(&path, &damaged).unwrap();
            assert_eq!(file.newest().unwrap().as_ref(), Some(&older), "byte {at}");
        }
        fs::write(&path, &whole[..SLOT + 50]).unwrap();
        assert_eq!(file.newest().unwrap().as_ref(), Some(&older), "cut short");
        let least = mark(3);
        file.replace(Some(&least)).unwrap();
        assert_eq!(file.newest().unwrap(), Some(least));
        file.replace(None).unwrap();
        assert_eq!(file.newest().unwrap(), None);
    }

    #[test]
    fn the_longest_mark_has_room() {
        let longest =
            StoreMark { commits: u64::MAX, at: DateTime::from_timestamp_nanos(i64::MAX), ..mark(0) };
        let slot = encode(&longest).unwrap();
        assert_eq!(slot.len(), SLOT);
        assert_eq!(decode(&slot), Some(longest));
    }
}
