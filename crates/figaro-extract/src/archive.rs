//! ZIP archives: the list of their files, and the text of those that can be read.

use super::passages::{Passages, Title};
use super::{reader, unzip};
use figaro_domain::document::Unreadable;

/// Maximum number of files whose text is read, and their size in bytes.
const MAX_READ: usize = 100;
const MAX_BYTES: u64 = 8 * 1024 * 1024;

pub(super) fn read(bytes: &[u8], passages: &mut Passages) -> Title {
    let mut zip = unzip::open(bytes)?;
    let mut files = Vec::new();
    for at in 0..zip.len() {
        let file = zip.by_index_raw(at).map_err(|_damaged| Unreadable::Damaged)?;
        let Ok(name) = file.name() else { continue };
        if file.is_file() {
            files.push((name.into_owned(), file.size()));
        }
    }
    passages.at("list of files");
    files.iter().for_each(|(name, size)| passages.add(&format!("{name} ({size} bytes)")));
    for (at, (name, size)) in files.iter().enumerate() {
        passages.begin(name.clone());
        if at < MAX_READ && *size <= MAX_BYTES && !passages.is_full() {
            // A file that cannot be read is in the list. Archives in archives are not opened: they may nest without end.
            if let Ok(content) = unzip::bytes(&mut zip, name) {
                passages.within(name, |passages| drop(reader::read(&content, name, passages)));
            }
        }
    }
    Ok(None)
}
