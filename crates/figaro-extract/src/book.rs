//! EPUB books, chapter by chapter. `META-INF/container.xml` names the package file, whose `spine` lists the chapters by the
//! ids of its `manifest` (EPUB 3.3, "Package document").

use std::collections::HashMap;

use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

use super::open_document::between;
use super::passages::{Passages, Title};
use super::{html, unzip};
use figaro_domain::document::Unreadable;

pub(super) fn read(bytes: &[u8], passages: &mut Passages) -> Title {
    let mut zip = unzip::open(bytes)?;
    if zip.index_for_name("META-INF/encryption.xml").is_some()
        && zip.index_for_name("META-INF/rights.xml").is_some()
    {
        return Err(Unreadable::Encrypted);
    }
    let container = unzip::text(&mut zip, "META-INF/container.xml")?;
    let at = between(&container, "full-path=\"", "\"").ok_or(Unreadable::Damaged)?;
    let package = unzip::text(&mut zip, &at)?;
    let folder = at.rsplit_once('/').map_or("", |(folder, _)| folder);
    for (at, chapter) in chapters(&package)?.into_iter().enumerate() {
        if passages.is_full() {
            break;
        }
        // A chapter that is missing does not hide the others.
        let Ok(page) = unzip::text(&mut zip, &path(folder, &chapter)) else { continue };
        passages.begin(format!("chapter {}", at + 1));
        passages.add(&html::words(&page)?);
    }
    let title = package.find("<dc:title").map(|at| &package[at..]);
    Ok(title.and_then(|title| between(title, ">", "</dc:title>")))
}

/// Returns the files of the chapters, in reading order.
fn chapters(package: &str) -> Result<Vec<String>, Unreadable> {
    let mut reader = Reader::from_str(package);
    let (mut files, mut order) = (HashMap::new(), Vec::new());
    loop {
        match reader.read_event().map_err(|_damaged| Unreadable::Damaged)? {
            Event::Start(tag) | Event::Empty(tag) => match tag.local_name().as_ref() {
                "item" => {
                    files.extend(attribute(&tag, "id").zip(attribute(&tag, "href")));
                }
                "itemref" => order.extend(attribute(&tag, "idref")),
                _ => {}
            },
            Event::Eof => break,
            _ => {}
        }
    }
    Ok(order.iter().filter_map(|id| files.get(id).cloned()).collect())
}

fn attribute(tag: &BytesStart<'_>, name: &str) -> Option<String> {
    let value = tag.try_get_attribute(name).ok()??;
    value.normalized_value(XmlVersion::Implicit1_0).ok().map(std::borrow::Cow::into_owned)
}

/// Returns the path of a file in the archive, by its relative address, which may be percent-encoded.
fn path(folder: &str, href: &str) -> String {
    let href = href.split('#').next().unwrap_or_default();
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in href.split('/') {
        match part {
            "." | "" => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    decoded(&parts.join("/"))
}

fn decoded(path: &str) -> String {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((first, behind)) = rest.split_first() {
        let code = (*first == b'%').then(|| std::str::from_utf8(behind.get(..2)?).ok()).flatten();
        match code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &behind[2..];
            }
            None => {
                bytes.push(*first);
                rest = behind;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
