//! ZIP archives: the list of their files, and the text of those that can be read.

use super::passages::{Passages, Title};
use super::{reader, unzip};
use figaro_domain::document::Unreadable;

/// Maximum number of files whose text is read, and their size in bytes.
const MAX_READ: usize = 500;
const MAX_BYTES: u64 = 20 * 1024 * 1024;
/// Maximum number of files in the list.
const MAX_LISTED: usize = 5_000;

pub(super) fn read(bytes: &[u8], passages: &mut Passages) -> Title {
    let mut zip = unzip::open(bytes)?;
    let (mut files, mut locked) = (Vec::new(), 0);
    for at in 0..zip.len().min(MAX_LISTED) {
        let file = zip.by_index_raw(at).map_err(|_damaged| Unreadable::Damaged)?;
        let Ok(name) = file.name() else { continue };
        if file.is_file() {
            locked += usize::from(file.encrypted());
            files.push((name.into_owned(), file.size()));
        }
    }
    if locked > 0 && locked == files.len() {
        return Err(Unreadable::Encrypted);
    }
    passages.at("list of files");
    files.iter().for_each(|(name, size)| passages.add(&format!("{name} ({size} bytes)")));
    if zip.len() > MAX_LISTED {
        passages.add(&format!("[{} more files are not listed]", zip.len() - MAX_LISTED));
    }
    for (at, (name, size)) in files.iter().enumerate() {
        passages.begin(name.clone());
        if passages.is_full() {
            break;
        }
        let is_too_much = at >= MAX_READ || *size > MAX_BYTES;
        let content = if is_too_much { Err(Unreadable::TooLarge) } else { unzip::bytes(&mut zip, name) };
        // Archives in archives are not opened: they may nest without end.
        let read = content.and_then(|content| {
            passages.within(name, |passages| reader::read(&content, name, passages).map(drop))
        });
        if let Err(reason) = read {
            passages.add(&format!("[This file {reason}.]"));
        }
    }
    Ok(None)
}
