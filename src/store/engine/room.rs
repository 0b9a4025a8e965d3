//! Whether there is room on the disk of a store that failed to write.

use std::io::{self, Write};
use std::path::Path;

/// So many bytes must be free before a store is opened again: enough for hours of talk, so that it does not fail again at
/// once.
const ENOUGH: usize = 8 * 1024 * 1024;
static PIECE: [u8; 64 * 1024] = [0; 64 * 1024];

/// Tries whether so much can be written into this folder; it leaves nothing there. Blocking.
///
/// # Errors
/// Why it cannot.
pub(super) fn find(folder: &Path) -> io::Result<()> {
    let mut file = tempfile::tempfile_in(folder)?;
    for _ in 0..ENOUGH / PIECE.len() {
        file.write_all(&PIECE)?;
    }
    file.sync_all()
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
    }
}
