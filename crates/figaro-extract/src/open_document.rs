//! Text documents and presentations of LibreOffice (ISO/IEC 26300): paragraphs are `text:p` and `text:h`, slides are
//! `draw:page`, rows of tables `table:table-row`.

use quick_xml::Reader;
use quick_xml::events::Event;

use super::passages::{Passages, Title};
use super::unzip;
use figaro_domain::document::Unreadable;

/// Reads a text document.
pub(super) fn read(bytes: &[u8], passages: &mut Passages) -> Title {
    content(bytes, passages, false)
}

/// Reads a presentation, slide by slide.
pub(super) fn read_slides(bytes: &[u8], passages: &mut Passages) -> Title {
    content(bytes, passages, true)
}

fn content(bytes: &[u8], passages: &mut Passages, has_slides: bool) -> Title {
    let mut zip = unzip::open(bytes)?;
    let manifest = unzip::text(&mut zip, "META-INF/manifest.xml").unwrap_or_default();
    if manifest.contains("encryption-data") {
        return Err(Unreadable::Encrypted);
    }
    let xml = unzip::text(&mut zip, "content.xml")?;
    walk(&xml, passages, has_slides)?;
    let meta = unzip::text(&mut zip, "meta.xml").unwrap_or_default();
    Ok(between(&meta, "<dc:title>", "</dc:title>"))
}

fn walk(xml: &str, passages: &mut Passages, has_slides: bool) -> Result<(), Unreadable> {
    let mut reader = Reader::from_str(xml);
    let (mut line, mut row, mut rows, mut slide) = (String::new(), Vec::new(), 0_usize, 0_u32);
    loop {
        match reader.read_event().map_err(|_damaged| Unreadable::Damaged)? {
            Event::Start(tag) => match tag.name().as_ref() {
                "draw:page" if has_slides => {
                    slide += 1;
                    passages.begin(format!("slide {slide}"));
                }
                "table:table-row" => rows += 1,
                _ => {}
            },
            Event::Empty(tag) => match tag.name().as_ref() {
                "text:tab" | "text:s" => line.push(' '),
                "text:line-break" => line.push('\n'),
                _ => {}
            },
            Event::Text(words) => line.push_str(&words.xml10_content()),
            Event::GeneralRef(name) => line.push_str(&entity(&name)),
            Event::End(tag) => match tag.name().as_ref() {
                "text:p" | "text:h" if rows > 0 => row.push(std::mem::take(&mut line)),
                "text:p" | "text:h" => passages.add(&std::mem::take(&mut line)),
                "table:table-row" => {
                    rows = rows.saturating_sub(1);
                    if rows == 0 {
                        passages.add(&std::mem::take(&mut row).join(" | "));
                    }
                }
                _ => {}
            },
            Event::Eof => return Ok(()),
            _ => {}
        }
    }
}

/// Returns the character of a reference such as `&amp;` or `&#228;`; empty for one that XML does not define.
pub(super) fn entity(name: &quick_xml::events::BytesRef<'_>) -> String {
    if let Ok(Some(c)) = name.resolve_char_ref() {
        return c.to_string();
    }
    quick_xml::escape::resolve_predefined_entity(&name.xml10_content()).unwrap_or_default().to_owned()
}

/// Returns the text between two tags, with its entities resolved.
pub(super) fn between(xml: &str, begin: &str, end: &str) -> Option<String> {
    let from = xml.find(begin)? + begin.len();
    let text = &xml[from..from + xml[from..].find(end)?];
    Some(quick_xml::escape::unescape(text).map_or_else(|_| text.to_owned(), |text| text.trim().to_owned()))
}
