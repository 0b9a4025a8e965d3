//! Plain text, Markdown and code, in any encoding that shows.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};

use super::passages::{Passages, Title};
use figaro_domain::document::Unreadable;

pub(super) fn read(bytes: &[u8], passages: &mut Passages) -> Title {
    passages.keep_indents();
    passages.add(&decoded(bytes).ok_or(Unreadable::Unknown)?);
    Ok(None)
}

/// Returns the text of these bytes: UTF-8, UTF-16 with a mark, or else as they look. `None` if they are no text.
pub(super) fn decoded(bytes: &[u8]) -> Option<String> {
    decoded_as(bytes, "")
}

/// Like [`decoded`], with the name of the encoding that somebody states, or an empty text. It counts for bytes without a mark
/// that are not UTF-8.
pub(super) fn decoded_as(bytes: &[u8], stated: &str) -> Option<String> {
    let encoding = match Encoding::for_bom(bytes) {
        Some((encoding, _)) => encoding,
        None if std::str::from_utf8(bytes).is_ok() => UTF_8,
        None => Encoding::for_label(stated.as_bytes()).unwrap_or_else(|| guessed(bytes)),
    };
    let is_wide = encoding == UTF_16LE || encoding == UTF_16BE;
    // No text has zero bytes or many control characters.
    let strange = |byte: &&u8| matches!(byte, 0..=8 | 14..=26 | 28..=31 | 127);
    let begin = &bytes[..bytes.len().min(8 * 1024)];
    if !is_wide && (begin.contains(&0) || begin.iter().filter(strange).count() * 50 > begin.len()) {
        return None;
    }
    Some(encoding.decode(bytes).0.into_owned())
}

/// Returns the encoding that a text without a mark most likely has.
fn guessed(bytes: &[u8]) -> &'static Encoding {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
    detector.feed(bytes, true);
    detector.guess(None, Utf8Detection::Allow)
}
