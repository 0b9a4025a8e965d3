//! Rules of formatted text: accepted entities, detected entities and trimming. Stricter than Telegram, which silently
//! repairs or drops bad entities: here they are errors.

use std::collections::BTreeSet;

use figaro_mcp::table::{ApiTable, TypeDef};
use serde_json::{Value, json};

/// Maximum number of entities in a text. Telegram drops the rest.
const MAX_ENTITIES: usize = 100;
const STYLES: [&str; 5] = ["bold", "italic", "underline", "strikethrough", "spoiler"];
const QUOTES: [&str; 2] = ["blockquote", "expandable_blockquote"];
/// Top-level domains that make a link without `https://`. Telegram knows all; these suffice.
const TOP_LEVELS: [&str; 10] = ["com", "org", "net", "io", "dev", "me", "app", "info", "eu", "de"];

/// Position of an entity in the text, in UTF-16 units.
#[derive(Clone, Copy)]
struct EntitySpan<'a> {
    kind: &'a str,
    start: usize,
    end: usize,
}

impl<'a> EntitySpan<'a> {
    fn of(entity: &'a Value) -> Option<Self> {
        let start = usize::try_from(entity["offset"].as_i64()?).ok()?;
        let length = usize::try_from(entity["length"].as_i64()?).ok()?;
        Some(Self { kind: entity["type"].as_str()?, start, end: start.checked_add(length)? })
    }

    fn overlaps(self, other: Self) -> bool {
        self.start < other.end && other.start < self.end
    }

    fn crosses(self, other: Self) -> bool {
        let inside = |a: Self, b: Self| b.start <= a.start && a.end <= b.end;
        self.overlaps(other) && !inside(self, other) && !inside(other, self)
    }
}

/// Checks the entities of a text. The error is a text to follow `Bad Request: `.
pub(super) fn check(text: &str, entities: &[Value]) -> Result<(), String> {
    if entities.len() > MAX_ENTITIES {
        return Err(format!("entity list has {} entities, at most {MAX_ENTITIES} are kept", entities.len()));
    }
    let borders = borders(text);
    let spans = entities.iter().map(|e| one(e, &borders)).collect::<Result<Vec<_>, _>>()?;
    for (at, a) in spans.iter().enumerate() {
        for b in spans.iter().skip(at + 1).filter(|b| a.overlaps(**b)) {
            pair(*a, *b)?;
        }
    }
    Ok(())
}

/// Returns the text as Telegram stores it: trimmed at both ends, with entities cut to fit, and with detected links, mentions
/// and commands.
pub(super) fn finish(text: &str, entities: &[Value]) -> (String, Vec<Value>) {
    let kept = text.trim();
    let skipped = units(&text[..text.len() - text.trim_start().len()]);
    let length = units(kept);
    let mut finished: Vec<Value> = entities.iter().filter_map(|e| moved(e, skipped, length)).collect();
    let opaque = |found: &Value| {
        let Some(found) = EntitySpan::of(found) else {
            return false;
        };
        finished
            .iter()
            .filter_map(EntitySpan::of)
            .any(|s| s.overlaps(found) && !STYLES.contains(&s.kind) && !QUOTES.contains(&s.kind))
    };
    let detected: Vec<Value> = detect(kept).into_iter().filter(|found| !opaque(found)).collect();
    finished.extend(detected);
    finished.sort_by_key(|e| EntitySpan::of(e).map_or((0, 0), |s| (s.start, usize::MAX - s.end)));
    (kept.to_owned(), finished)
}

/// Returns the entities that Telegram detects: commands, mentions, hashtags, links, mail addresses.
pub(super) fn detect(text: &str) -> Vec<Value> {
    let mut found = Vec::new();
    let mut start = 0;
    for word in text.split_inclusive(char::is_whitespace) {
        let bare = word.trim_end();
        let opening =
            bare.len() - bare.trim_start_matches(['(', '[', '"', '\'', '<', ',', '.', ':', ';']).len();
        if let Some((kind, length)) = bare.get(opening..).and_then(classify) {
            let offset = units(&text[..start + opening]);
            found.push(json!({"type": kind, "offset": offset, "length": length}));
        }
        start += word.len();
    }
    found
}

/// Returns the text of an entity; `None` if it lies outside the text or splits a character.
pub(super) fn covered(text: &str, entity: &Value) -> Option<String> {
    let span = EntitySpan::of(entity)?;
    let units: Vec<u16> = text.encode_utf16().collect();
    String::from_utf16(units.get(span.start..span.end)?).ok()
}

fn units(text: &str) -> usize {
    text.encode_utf16().count()
}

fn borders(text: &str) -> BTreeSet<usize> {
    let mut at = 0;
    let mut borders = BTreeSet::from([0]);
    for c in text.chars() {
        at += c.len_utf16();
        borders.insert(at);
    }
    borders
}

fn one<'a>(entity: &'a Value, borders: &BTreeSet<usize>) -> Result<EntitySpan<'a>, String> {
    let Some(span) = EntitySpan::of(entity) else {
        return Err("entity offset and length must not be negative".to_owned());
    };
    let EntitySpan { kind, start, end } = span;
    let last = borders.last().copied().unwrap_or_default();
    if !known_kinds().any(|k| k == kind) {
        return Err(format!("entity type {kind:?} is not known"));
    }
    if start == end {
        return Err(format!("entity {kind} beginning at UTF-16 offset {start} has no length"));
    }
    if start >= last {
        return Err(format!(
            "entity begins after the end of the text at UTF-16 offset {start}, the text ends at {last}"
        ));
    }
    if end > last {
        return Err(format!(
            "entity beginning at UTF-16 offset {start} ends after the end of the text at UTF-16 offset {end}"
        ));
    }
    if !borders.contains(&start) {
        return Err(format!("entity begins in a middle of a UTF-16 symbol at UTF-16 offset {start}"));
    }
    if !borders.contains(&end) {
        return Err(format!(
            "entity beginning at UTF-16 offset {start} ends in a middle of a UTF-16 symbol at UTF-16 offset {end}"
        ));
    }
    needs(kind).map_or(Ok(span), |field| match entity.get(field) {
        Some(Value::String(text)) if text.is_empty() => Err(format!("entity {kind} needs {field}")),
        None | Some(Value::Null) => Err(format!("entity {kind} needs {field}")),
        Some(_) => Ok(span),
    })
}

fn known_kinds() -> impl Iterator<Item = &'static str> {
    let fields = match ApiTable::get().type_def("MessageEntity") {
        Some(TypeDef::Fields(fields)) => fields.as_slice(),
        Some(TypeDef::Union(_)) | None => &[],
    };
    fields.iter().filter(|f| f.name == "type").flat_map(|f| f.one_of.iter().filter_map(Value::as_str))
}

fn needs(kind: &str) -> Option<&'static str> {
    match kind {
        "text_link" => Some("url"),
        "text_mention" => Some("user"),
        "custom_emoji" => Some("custom_emoji_id"),
        "date_time" => Some("unix_time"),
        _ => None,
    }
}

fn pair(a: EntitySpan<'_>, b: EntitySpan<'_>) -> Result<(), String> {
    let is = |set: &[&str]| (set.contains(&a.kind), set.contains(&b.kind));
    let tell = |what: &str| {
        Err(format!(
            "entity {} at UTF-16 offset {} and entity {} at UTF-16 offset {} {what}",
            a.kind, a.start, b.kind, b.start
        ))
    };
    if a.crosses(b) {
        return tell("overlap without one containing the other");
    }
    match (is(&QUOTES), is(&["pre", "code"]), is(&STYLES)) {
        ((true, true), ..) => tell("are nested quotes"),
        ((true, false) | (false, true), ..) => Ok(()),
        (_, (true, _) | (_, true), _) => tell("overlap, code can not be combined"),
        (.., (true, _) | (_, true)) => Ok(()),
        _ => tell("can not contain each other"),
    }
}

/// Adjusts an entity to a text that lost `skipped` leading units and now has `length` units.
fn moved(entity: &Value, skipped: usize, length: usize) -> Option<Value> {
    let span = EntitySpan::of(entity)?;
    let start = span.start.max(skipped) - skipped;
    let end = span.end.max(skipped).saturating_sub(skipped).min(length);
    if start >= end {
        return None;
    }
    let mut entity = entity.clone();
    entity["offset"] = json!(start);
    entity["length"] = json!(end - start);
    Some(entity)
}

/// Returns the type of the entity that a word starts with, and its length in UTF-16 units.
fn classify(word: &str) -> Option<(&'static str, usize)> {
    let name = |text: &str| text.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').count();
    if let Some(rest) = word.strip_prefix('@') {
        let length = name(rest);
        return (2..=32).contains(&length).then_some(("mention", length + 1));
    }
    if let Some(rest) = word.strip_prefix('/') {
        let length = name(rest);
        if !(1..=32).contains(&length) || rest[length..].starts_with('/') {
            return None;
        }
        let addressed = rest[length..].strip_prefix('@').map_or(0, |bot| name(bot) + 1);
        return Some(("bot_command", 1 + length + addressed));
    }
    if let Some(rest) = word.strip_prefix('#') {
        let tag: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        return tag.chars().any(char::is_alphabetic).then(|| ("hashtag", units(&tag) + 1));
    }
    let word = word.trim_end_matches(['.', ',', '!', '?', ':', ';', ')', ']', '"', '\'', '>']);
    if word.starts_with("http://") || word.starts_with("https://") {
        return (word.len() > 8).then(|| ("url", units(word)));
    }
    match word.split_once('@') {
        Some((local, domain)) if !local.is_empty() && is_domain(domain) => Some(("email", units(word))),
        None if is_domain(word.split(['/', '?', '#']).next()?) => Some(("url", units(word))),
        _ => None,
    }
}

fn is_domain(text: &str) -> bool {
    let fits = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    text.rsplit_once('.').is_some_and(|(rest, top)| {
        rest.split('.').all(fits) && TOP_LEVELS.contains(&top.to_ascii_lowercase().as_str())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entity(kind: &str, offset: i64, length: i64) -> Value {
        json!({"type": kind, "offset": offset, "length": length})
    }

    #[test]
    fn bad_entities_are_told() {
        let link = json!({"type": "text_link", "offset": 0, "length": 3, "url": "https://example.com"});
        let cases = [
            (vec![entity("bold", 0, 3), entity("italic", 0, 3)], None),
            (vec![entity("bold", 0, 4), entity("italic", 1, 1)], Some("ends in a middle of a UTF-16 symbol")),
            (vec![entity("bold", 2, 1)], Some("begins in a middle of a UTF-16 symbol at UTF-16 offset 2")),
            (vec![entity("bold", 0, 0)], Some("has no length")),
            (vec![entity("bold", 0, 9)], Some("ends after the end of the text at UTF-16 offset 9")),
            (vec![entity("bold", 5, 1)], Some("begins after the end")),
            (vec![entity("bold", -1, 2)], Some("must not be negative")),
            (vec![entity("loud", 0, 1)], Some("\"loud\" is not known")),
            (vec![entity("text_link", 0, 1)], Some("entity text_link needs url")),
            (vec![link.clone(), entity("bold", 0, 1)], None),
            (vec![link.clone(), entity("url", 0, 1)], Some("can not contain each other")),
            (vec![entity("bold", 0, 3), entity("code", 0, 1)], Some("code can not be combined")),
            (vec![entity("blockquote", 0, 4), entity("code", 0, 1)], None),
            (vec![entity("blockquote", 0, 4), entity("expandable_blockquote", 0, 1)], Some("nested quotes")),
            (vec![entity("bold", 0, 3), entity("italic", 1, 3)], Some("without one containing the other")),
        ];
        for (entities, wanted) in cases {
            let told = check("a😀b", &entities).err();
            match wanted {
                None => assert_eq!(told, None, "{entities:?}"),
                Some(part) => {
                    assert!(told.as_deref().is_some_and(|t| t.contains(part)), "{entities:?}: {told:?}")
                }
            }
        }
        assert!(check("x", &vec![entity("bold", 0, 1); 101]).is_err());
    }

    #[test]
    fn telegram_finds_these_by_itself() {
        let cases = [
            ("/start@figaro_bot now", vec![entity("bot_command", 0, 17)]),
            ("привет @figaro_bot!", vec![entity("mention", 7, 11)]),
            ("😀 https://example.com/a?b=c.", vec![entity("url", 3, 25)]),
            (
                "see example.com, me@example.com #tag",
                vec![entity("url", 4, 11), entity("email", 17, 14), entity("hashtag", 32, 4)],
            ),
            ("a/b and 1.5 and /usr/bin", vec![]),
        ];
        for (text, wanted) in cases {
            assert_eq!(detect(text), wanted, "{text}");
        }
    }

    #[test]
    fn text_is_trimmed_with_its_entities() {
        let (text, entities) = finish("\n  bold @ann \n", &[entity("bold", 0, 14)]);
        assert_eq!(text, "bold @ann");
        assert_eq!(entities, [entity("bold", 0, 9), entity("mention", 5, 4)]);
        let (_, kept) = finish("run /x", &[entity("code", 0, 6)]);
        assert_eq!(kept, [entity("code", 0, 6)]);
    }

    proptest::proptest! {
        #[test]
        fn what_finish_makes_passes_the_check(text in "[ a@/#.:b😀\n]{0,40}", start in 0_i64..10, length in 1_i64..10) {
            let mine = entity("bold", start, length);
            if check(&text, std::slice::from_ref(&mine)).is_ok() {
                let (text, entities) = finish(&text, &[mine]);
                proptest::prop_assert!(text.is_empty() || !entities.iter().any(|e| covered(&text, e).is_none()));
            }
        }
    }
}
