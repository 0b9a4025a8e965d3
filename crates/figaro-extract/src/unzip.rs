//! Files within ZIP archives, which many formats are.

use std::borrow::Cow;
use std::io::{Cursor, Read, Write};

use zip::result::ZipError;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use figaro_domain::document::Unreadable;

/// Maximum size of one unpacked file, in bytes.
const MAX_UNPACKED: u64 = 64 * 1024 * 1024;

pub(super) type Zip<'a> = ZipArchive<Cursor<&'a [u8]>>;

/// Opens a ZIP archive; Office files and books are such archives too.
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

/// Returns the same archive with its files unpacked, together at most [`MAX_UNPACKED`] bytes.
pub(super) fn stored(packed: &[u8]) -> Result<Vec<u8>, Unreadable> {
    let mut zip = open(packed)?;
    let names: Vec<String> = zip.file_names().flatten().map(Cow::into_owned).collect();
    let mut copy = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    let mut left = MAX_UNPACKED;
    for name in names.iter().filter(|name| !name.ends_with('/')) {
        let content = bytes(&mut zip, name)?;
        left = left.checked_sub(content.len() as u64).ok_or(Unreadable::TooLarge)?;
        let written = copy.start_file(name.as_str(), options).map_err(|error| of_zip(&error));
        written.and_then(|()| copy.write_all(&content).map_err(|_full| Unreadable::TooLarge))?;
    }
    copy.finish().map(Cursor::into_inner).map_err(|error| of_zip(&error))
}

fn of_zip(error: &ZipError) -> Unreadable {
    match error {
        ZipError::InvalidPassword | ZipError::UnsupportedArchive(ZipError::PASSWORD_REQUIRED) => {
            Unreadable::Encrypted
        }
        ZipError::UnsupportedArchive(_) => Unreadable::Unknown,
        _ => Unreadable::Damaged,
    }
}
