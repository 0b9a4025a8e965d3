//! Files within ZIP archives, which many formats are.

use std::io::{Cursor, Read};

use zip::ZipArchive;
use zip::result::ZipError;

use figaro_domain::document::Unreadable;

/// Maximum size of one unpacked file, in bytes.
const MAX_UNPACKED: u64 = 64 * 1024 * 1024;

pub(super) type Zip<'a> = ZipArchive<Cursor<&'a [u8]>>;

/// Opens an archive.
pub(super) fn open(bytes: &[u8]) -> Result<Zip<'_>, Unreadable> {
    ZipArchive::new(Cursor::new(bytes)).map_err(|error| of_zip(&error))
}

/// Returns the content of a file in the archive.
pub(super) fn bytes(zip: &mut Zip<'_>, name: &str) -> Result<Vec<u8>, Unreadable> {
    let file = zip.by_name(name).map_err(|error| of_zip(&error))?;
    let mut content = Vec::new();
    // The archive may state any size.
    let read = file.take(MAX_UNPACKED + 1).read_to_end(&mut content);
    let read = read.map_err(|_damaged| Unreadable::Damaged)?;
    if read as u64 > MAX_UNPACKED { Err(Unreadable::TooLarge) } else { Ok(content) }
}

/// Returns the content of a text file in the archive.
pub(super) fn text(zip: &mut Zip<'_>, name: &str) -> Result<String, Unreadable> {
    Ok(String::from_utf8_lossy(&bytes(zip, name)?).into_owned())
}

const fn of_zip(error: &ZipError) -> Unreadable {
    match error {
        ZipError::InvalidPassword => Unreadable::Encrypted,
        _ => Unreadable::Damaged,
    }
}
