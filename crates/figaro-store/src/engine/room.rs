//! Free space on the disk of a store that failed to write.

use std::io::{self, Write};
use std::path::Path;

/// Bytes that must be free before a store is reopened: enough for hours of conversation, so that it does not fail again
/// at once.
const ENOUGH: usize = 8 * 1024 * 1024;
static PIECE: [u8; 64 * 1024] = [0; 64 * 1024];

/// Checks that this much can be written into a folder; leaves nothing behind. Blocking.
///
/// # Errors
/// The reason why it cannot.
pub(super) fn find(folder: &Path) -> io::Result<()> {
    let mut file = tempfile::tempfile_in(folder)?;
    for _ in 0..ENOUGH / PIECE.len() {
        file.write_all(&PIECE)?;
    }
    file.sync_all()
}

/// Checks that `bytes` and a reserve are free on the disk of a folder. A disk that does not report its free space passes.
/// Blocking.
///
/// # Errors
/// If they are not free.
pub(super) fn for_copy(folder: &Path, bytes: u64) -> io::Result<()> {
    let Ok(disk) = rustix::fs::statvfs(folder) else { return Ok(()) };
    let free = disk.f_bavail.saturating_mul(disk.f_frsize);
    let wanted = bytes.saturating_add(ENOUGH as u64);
    if free >= wanted {
        return Ok(());
    }
    Err(io::Error::other(format!(
        "{free} bytes are free on its disk, and {wanted} are needed for a copy of it"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_with_room_stays_empty_and_one_that_is_gone_has_none() {
        let folder = tempfile::tempdir().unwrap();
        find(folder.path()).unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        assert!(find(&folder.path().join("gone")).is_err());
        for_copy(folder.path(), 1_000).unwrap();
        assert!(for_copy(folder.path(), u64::MAX).is_err());
    }
}
