//! Kind of a file, by its content and then by its name.

use super::{text, unzip};
use figaro_domain::document::DocumentFormat;

/// Kind of a file: what reads it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileKind {
    Pdf,
    /// Text documents of Word, also the old ones.
    Office,
    /// Presentations of PowerPoint, also the old ones.
    Slides,
    /// Workbooks of Excel and LibreOffice.
    Workbook,
    /// Values separated by commas, semicolons or tabs.
    Table,
    OpenText,
    OpenSlides,
    Epub,
    Html,
    Rtf,
    Mail,
    Zip,
    /// Plain text, Markdown, code.
    Text,
}

impl FileKind {
    pub(super) const fn format(self) -> DocumentFormat {
        match self {
            Self::Pdf => DocumentFormat::Pdf,
            Self::Slides | Self::OpenSlides => DocumentFormat::Slides,
            Self::Workbook | Self::Table => DocumentFormat::Sheet,
            Self::Epub => DocumentFormat::Book,
            Self::Html => DocumentFormat::Page,
            Self::Mail => DocumentFormat::Mail,
            Self::Zip => DocumentFormat::Archive,
            Self::Office | Self::OpenText | Self::Rtf | Self::Text => DocumentFormat::Text,
        }
    }
}

/// Fields that mails begin with.
const MAIL: [&str; 8] = [
    "received:",
    "return-path:",
    "from:",
    "delivered-to:",
    "mime-version:",
    "message-id:",
    "date:",
    "subject:",
];

/// First bytes of the container of the old formats of Microsoft, which protected files of the new ones have too.
const CONTAINER: [u8; 4] = [0xd0, 0xcf, 0x11, 0xe0];

/// Returns `true` for a file of the new formats of Microsoft Office that a password protects: its container has a stream of
/// this name, in UTF-16 ([MS-OFFCRYPTO] 2.3.4.4).
pub(super) fn is_encrypted_office(bytes: &[u8]) -> bool {
    let name: Vec<u8> = "EncryptedPackage".encode_utf16().flat_map(u16::to_le_bytes).collect();
    bytes.starts_with(&CONTAINER) && bytes.windows(name.len()).any(|part| part == name)
}

/// Returns the kind of a file; `None` if it is none that is read.
pub(super) fn of(bytes: &[u8], name: &str) -> Option<FileKind> {
    let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_lowercase()).unwrap_or_default();
    // Some programs write a line before a PDF.
    if bytes[..bytes.len().min(1024)].windows(5).any(|part| part == b"%PDF-") {
        return Some(FileKind::Pdf);
    }
    if bytes.starts_with(b"{\\rtf") {
        return Some(FileKind::Rtf);
    }
    if bytes.starts_with(b"PK\x03\x04") || bytes.starts_with(b"PK\x05\x06") {
        return Some(packed(bytes));
    }
    if bytes.starts_with(&CONTAINER) {
        return Some(match ending.as_str() {
            "xls" | "xlsx" => FileKind::Workbook,
            "ppt" | "pptx" => FileKind::Slides,
            _ => FileKind::Office,
        });
    }
    let words = text::decoded(bytes)?;
    let begin = words.get(..words.floor_char_boundary(512))?.trim_start().to_lowercase();
    let has_mail_field = || MAIL.iter().any(|field| begin.starts_with(field));
    Some(match ending.as_str() {
        "csv" | "tsv" => FileKind::Table,
        "eml" => FileKind::Mail,
        "html" | "htm" | "xhtml" | "mht" => FileKind::Html,
        "" if has_mail_field() => FileKind::Mail,
        _ if begin.starts_with("<!doctype html") || begin.starts_with("<html") => FileKind::Html,
        _ => FileKind::Text,
    })
}

/// Returns the kind of a ZIP archive, by the files in it.
fn packed(bytes: &[u8]) -> FileKind {
    let Ok(mut zip) = unzip::open(bytes) else { return FileKind::Zip };
    if let Ok(kind) = unzip::text(&mut zip, "mimetype") {
        match kind.trim() {
            "application/epub+zip" => return FileKind::Epub,
            kind if kind.ends_with("opendocument.spreadsheet") => return FileKind::Workbook,
            kind if kind.ends_with("opendocument.presentation") => return FileKind::OpenSlides,
            kind if kind.contains("opendocument") => return FileKind::OpenText,
            _ => {}
        }
    }
    let has = |part: &str| zip.file_names().flatten().any(|name| name.starts_with(part));
    match () {
        () if has("word/") => FileKind::Office,
        () if has("xl/") => FileKind::Workbook,
        () if has("ppt/") => FileKind::Slides,
        () => FileKind::Zip,
    }
}
