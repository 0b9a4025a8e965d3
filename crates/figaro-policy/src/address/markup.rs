//! Finds the addresses in HTML and Markdown for which Telegram loads pictures and pages. It accepts any reading that some
//! parser may have: a false match only refuses a call, a missed address would be loaded.

use url::Url;

use super::found::{MAX_FOUND, MAX_RICH_TEXT};
use super::{AddressSet, CLOSING, Excess, MAX_ADDRESS};
use figaro_base::text::utf16_len;

/// Schemes after which a browser accepts any number of slashes, of either kind.
const SPECIAL: [&str; 6] = ["https", "http", "ftp", "file", "wss", "ws"];
/// Schemes that load nothing: they open a chat, a mail or a call.
const OPENING: [&str; 3] = ["tg", "mailto", "tel"];
const ATTRIBUTES: [&str; 8] = ["src", "href", "srcset", "poster", "data", "url", "cite", "background"];
/// Named references for characters of an address, or for characters that parsers skip.
const NAMED: [(&str, char); 20] = [
    ("amp", '&'),
    ("colon", ':'),
    ("sol", '/'),
    ("bsol", '\\'),
    ("period", '.'),
    ("commat", '@'),
    ("num", '#'),
    ("quest", '?'),
    ("equals", '='),
    ("percnt", '%'),
    ("lpar", '('),
    ("rpar", ')'),
    ("lbrack", '['),
    ("rbrack", ']'),
    ("quot", '"'),
    ("apos", '\''),
    ("lt", '<'),
    ("gt", '>'),
    ("Tab", '\t'),
    ("NewLine", '\n'),
];
/// Maximum nesting of references, each standing for the `&` of the next.
const MAX_NESTING: usize = 4;

/// Finds every address in a text of HTML or Markdown, normalised as in browsers if it can be parsed.
///
/// The work is linear in the length of the text: each pass scans it once, and repeated work is limited by [`MAX_ADDRESS`]
/// and `MAX_FOUND`.
///
/// # Errors
/// When the text or an address is too long, or there are too many addresses.
pub(crate) fn in_markup(text: &str, found: &mut AddressSet) -> Result<(), Excess> {
    if utf16_len(text) > MAX_RICH_TEXT {
        return Err(Excess::Text);
    }
    read_all(text, found)
}

fn read_all(text: &str, found: &mut AddressSet) -> Result<(), Excess> {
    let mut reading = text.to_owned();
    for _ in 0..=MAX_NESTING {
        read(&reading, found)?;
        if found.look(&reading).contains('\\') {
            // A backslash escapes a mark in Markdown, and stands for a slash in an address.
            read(&reading.replace('\\', "/"), found)?;
            read(&reading.replace('\\', ""), found)?;
            read(&unescape(&reading).replace('\\', "/"), found)?;
        }
        let decoded = decode(found.look(&reading));
        if decoded == reading {
            break;
        }
        reading = decoded;
    }
    Ok(())
}

fn read(text: &str, found: &mut AddressSet) -> Result<(), Excess> {
    with_scheme(text, found)?;
    let mut values = attributes(text, found)?;
    values.extend(destinations(text, found)?);
    for value in values {
        // Parsers skip these characters within a value.
        let plain = found.look(value).replace(['\t', '\n', '\r'], "");
        let plain = plain.trim_matches(|c: char| c.is_whitespace() || c.is_control());
        // Other schemes were found by the pass over the whole text.
        if value.contains(['\t', '\n', '\r']) {
            with_scheme(plain, found)?;
        }
        if let Some(address) = without_scheme(plain) {
            found.add(address)?;
        }
        // Look-alike letters in a scheme: refused rather than guessed.
        if plain.split_once("://").is_some_and(|(scheme, _)| !scheme.is_ascii()) {
            found.add(plain.to_owned())?;
        }
    }
    Ok(())
}

/// Finds the address after each colon that ends a scheme.
fn with_scheme(text: &str, found: &mut AddressSet) -> Result<(), Excess> {
    let mut count = 0;
    for word in found.look(text).split(ends) {
        let mut begin = 0;
        for (at, _) in word.match_indices(':') {
            let before = found.look(&word[begin..at]);
            let scheme = last_of(before, |c| c.is_ascii_alphanumeric() || "+-.".contains(c));
            begin = at + 1;
            let rest = &word[begin..];
            let host = rest.trim_start_matches(['/', '\\']);
            found.look(&rest[..rest.len() - host.len()]);
            let Some(address) = scheme_and(scheme, rest, !host.is_empty())? else { continue };
            count += 1;
            if count > MAX_FOUND {
                return Err(Excess::Count);
            }
            found.look(&address);
            found.add(address)?;
        }
    }
    Ok(())
}

/// Joins a scheme and the text after it to an address, if they form one; there may be no host after the slashes.
fn scheme_and(scheme: &str, rest: &str, has_host: bool) -> Result<Option<String>, Excess> {
    let scheme = scheme.to_ascii_lowercase();
    let special = SPECIAL.into_iter().find(|special| has_host && scheme.ends_with(special));
    let is_other = !scheme.is_empty() && rest.starts_with("//") && rest.len() > 2;
    if special.is_none() && (!is_other || OPENING.contains(&scheme.as_str())) {
        return Ok(None);
    }
    if scheme.len() + 1 + rest.len() > MAX_ADDRESS {
        return Err(Excess::Address);
    }
    Ok(Some(match special {
        Some(special) => normal(&format!("{special}:{}", rest.replace('\\', "/"))),
        None => format!("{scheme}:{rest}"),
    }))
}

fn ends(c: char) -> bool {
    c.is_whitespace() || "\"'<>)]}`".contains(c)
}

/// Returns the longest suffix made of such characters.
fn last_of(text: &str, is_part: impl Fn(char) -> bool) -> &str {
    &text[text.trim_end_matches(is_part).len()..]
}

/// Returns the address of a value with a host and no scheme, which gets the page's scheme or `http`.
fn without_scheme(value: &str) -> Option<String> {
    let host = value.trim_start_matches(['/', '\\']);
    let first = host.split(['/', '\\', '?', '#']).next()?;
    let has_scheme = first.split_once(':').is_some_and(|(_, port)| !port.bytes().all(|b| b.is_ascii_digit()));
    let names_host = value.len() > host.len() + 1 || first.contains(['.', '。', '．', '｡', '%']);
    (names_host && !has_scheme && !first.is_empty()).then(|| normal(&format!("https://{host}")))
}

/// Returns the values of attributes that hold an address, quoted or not. An unquoted value may contain another attribute:
/// both readings are returned.
fn attributes<'a>(text: &'a str, found: &mut AddressSet) -> Result<Vec<&'a str>, Excess> {
    let mut values = Vec::new();
    let mut begin = 0;
    for (at, _) in found.look(text).match_indices('=') {
        let name = last_of(found.look(&text[begin..at]).trim_end(), |c| c.is_ascii_alphabetic());
        begin = at + 1;
        if !ATTRIBUTES.iter().any(|known| name.eq_ignore_ascii_case(known)) {
            continue;
        }
        let value = text[begin..].trim_start();
        let value = match value.chars().next() {
            Some(quote @ ('"' | '\'')) => up_to(&value[1..], |c| c == quote)?,
            _ => up_to(value, |c| c.is_whitespace() || c == '>')?,
        };
        values.push(found.look(value));
        if values.len() > MAX_FOUND {
            return Err(Excess::Count);
        }
    }
    Ok(values)
}

/// Returns the destinations of Markdown links and pictures.
fn destinations<'a>(text: &'a str, found: &mut AddressSet) -> Result<Vec<&'a str>, Excess> {
    let mut values = Vec::new();
    for mark in ["](", "]:"] {
        for rest in found.look(text).split(mark).skip(1) {
            let rest = rest.trim_start();
            values.push(match rest.strip_prefix('<') {
                Some(rest) => up_to(rest, |c| c == '>')?,
                None => up_to(rest, |c| c.is_whitespace() || c == ')')?,
            });
        }
    }
    Ok(values)
}

/// Returns the text before a character that ends it.
///
/// # Errors
/// When it is too long for an address.
fn up_to(text: &str, is_end: impl Fn(char) -> bool) -> Result<&str, Excess> {
    for (at, c) in text.char_indices() {
        if is_end(c) {
            return Ok(&text[..at]);
        }
        if at >= MAX_ADDRESS {
            return Err(Excess::Address);
        }
    }
    Ok(text)
}

fn normal(address: &str) -> String {
    let address = address.trim_end_matches(CLOSING);
    Url::parse(address).map_or_else(|_| address.to_owned(), String::from)
}

/// Removes Markdown escapes from a text.
fn unescape(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let escaped = if c == '\\' { chars.next_if(char::is_ascii_punctuation) } else { None };
        plain.push(escaped.unwrap_or(c));
    }
    plain
}

/// Replaces the character references of a text.
fn decode(text: &str) -> String {
    let mut decoded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('&') {
        decoded.push_str(before);
        rest = match reference(after) {
            Some((c, length)) => {
                decoded.push(c);
                &after[length..]
            }
            None => {
                decoded.push('&');
                after
            }
        };
    }
    decoded + rest
}

/// Returns the character of a reference and the bytes that it takes after its `&`. The semicolon may be missing.
fn reference(after: &str) -> Option<(char, usize)> {
    let (c, length) = match after.strip_prefix('#') {
        Some(number) => {
            let (digits, radix) = match number.strip_prefix(['x', 'X']) {
                Some(digits) => (digits, 16),
                None => (number, 10),
            };
            let count = digits.bytes().take_while(|b| char::from(*b).is_digit(radix)).count();
            let code = u32::from_str_radix(&digits[..count], radix).ok()?;
            (char::from_u32(code)?, after.len() - digits.len() + count)
        }
        None => NAMED.iter().find_map(|(name, c)| after.starts_with(name).then_some((*c, name.len())))?,
    };
    Some((c, length + usize::from(after[length..].starts_with(';'))))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::address::is_public;

    fn leads_inside(text: &str) -> bool {
        found_in(text).iter().any(|address| !is_public(address))
    }

    fn found_in(text: &str) -> Vec<String> {
        let mut found = AddressSet::default();
        in_markup(text, &mut found).unwrap();
        found.iter().map(ToOwned::to_owned).collect()
    }

    /// Ways to write an address in a private network.
    const FORMS: &[&str] = &[
        "http://127.0.0.1/a",
        "see http://127.0.0.1/a.",
        "HTTP://127.0.0.1",
        "http&#58;//127.0.0.1/a",
        "http&#58//127.0.0.1/a",
        "http&#x3a;//127.0.0.1/a",
        "http&#X3A;&#47;&#x2f;127.0.0.1",
        "http&colon;&sol;&sol;127&period;0.0.1",
        "http&amp;#58;//127.0.0.1",
        "http:\\/\\/127.0.0.1/a",
        "http:/\\127.0.0.1/a",
        "http:\\\\127.0.0.1/a",
        "http\\://127.0.0.1/a",
        "http\\:\\\\127.0.0.1\\a",
        "http:127.0.0.1",
        "http:/127.0.0.1",
        "http:////127.0.0.1",
        "http://2130706433/",
        "http://0x7f.1/",
        "http://%31%32%37.0.0.1/",
        "http://127。0。0。1/",
        "http://１２７.0.0.1/",
        "http://user:word@127.0.0.1/",
        "http://[::1]/",
        "http://localhost:80/",
        "http://LOCALHOST./",
        "ftp://127.0.0.1/a",
        "file:///etc/passwd",
        "file:/etc/passwd",
        "ssh://10.0.0.1",
        "![x](//127.0.0.1/a)",
        "![x](127.0.0.1/a)",
        "![x]( <127.0.0.1/a> )",
        "![x](http:127.0.0.1)",
        "[x]: 127.0.0.1/a",
        "<img src=127.0.0.1/a>",
        "<img src = '\\\\127.0.0.1/a'>",
        "<img src=\"ht\ntp://127.0.0.1/a\">",
        "<img src=\"ht&Tab;tp://127.0.0.1/a\">",
        "<img src=\"&#1;http://127.0.0.1/a\">",
        "<video POSTER=\"//localhost/a\">",
        "😀http://10.0.0.1/a",
        "“http://10.0.0.1/a”",
        "xhttp://10.0.0.1",
    ];
    /// What leads to no private network.
    const OTHERS: &[&str] = &[
        "plain words, 12:30, std::vec, a/b and c//d",
        "note: see http: and https:// alone",
        "https://example.org/a, (https://example.org/b).",
        "<a href=\"tg://user?id=42\">Ann</a> <a href='mailto:a@b.example'>mail</a>",
        "<a href=\"#part\">x</a> [y](#part)",
        "<td colspan=\"2\" align=left>1.5</td> a = 1.5",
        "AT&T &copy; R&#38;D",
        "[1]: see below",
    ];

    #[test]
    fn an_address_is_found_however_it_is_written() {
        for form in FORMS {
            assert!(leads_inside(form), "{form}: {:?}", found_in(form));
        }
        for other in OTHERS {
            assert!(!leads_inside(other), "{other}: {:?}", found_in(other));
        }
    }

    /// The same characters, each in one of the ways in which it may be written.
    fn disguised(address: &str, ways: &[u8]) -> String {
        let way = |(at, c): (usize, char)| match ways[at % ways.len()] % 6 {
            0 => format!("&#{};", u32::from(c)),
            1 => format!("&#x{:x};", u32::from(c)),
            2 => format!("&amp;#{:05};", u32::from(c)),
            3 if c == '/' => "\\".to_owned(),
            4 if c.is_ascii_punctuation() => format!("\\{c}"),
            5 => c.to_uppercase().collect(),
            _ => c.to_string(),
        };
        address.chars().enumerate().map(way).collect()
    }

    /// What made some pass look at the same part of a text again and again.
    const HOSTILE: &[&str] = &[
        "http:",
        "http:/",
        "http:a.b/../",
        "a:",
        "a://",
        "tg://",
        "://",
        ":",
        "a",
        "src=",
        "src = ",
        "src=a.b/",
        "src=\"",
        "src='src=\"",
        "href=//a.b>",
        "=",
        " ",
        "](",
        "](<",
        "](a.b",
        "]:",
        "[",
        "&amp;",
        "&#x26;",
        "&#0",
        "&",
        "&amp;#58;",
        "\\",
        "\\:",
        "/",
        "\"",
        "<",
        ".",
        "а",
        "\n",
    ];
    /// One reading looks at each byte at most so often, beside the values and schemes that overlap.
    const LOOKS: usize = 8;
    /// There are so many of these at most, none of them longer than an address, each looked at three times.
    const OVERLAPPING: usize = 3 * MAX_FOUND * MAX_ADDRESS;

    fn looks_at(text: &str) -> usize {
        let mut found = AddressSet::default();
        // Refused or not: until then it was looked at.
        read_all(text, &mut found).ok();
        found.looked
    }

    #[test]
    fn the_work_grows_as_the_text_does_and_not_faster() {
        let nested = format!("{} ", "src=a.b/http:a.b/../".repeat(100));
        for unit in HOSTILE.iter().copied().chain([nested.as_str()]) {
            for size in [1 << 12, 1 << 15, 1 << 18] {
                let text = unit.repeat(size / unit.len());
                for text in [format!("![x](http:{text}"), text] {
                    let looks = looks_at(&text);
                    assert!(looks <= 2 * LOOKS * text.len() + OVERLAPPING, "{unit:?}, {size} bytes: {looks}");
                }
            }
        }
    }

    #[test]
    fn what_is_too_much_is_refused() {
        let long = |length: usize| format!("https://a.example/{}", "x".repeat(length - 18));
        let many = |count: usize| (0..count).map(|at| format!("https://a.example/{at} ")).collect::<String>();
        let cases = [
            ("a".repeat(MAX_RICH_TEXT), Ok(())),
            ("a".repeat(MAX_RICH_TEXT + 1), Err(Excess::Text)),
            ("😀".repeat(MAX_RICH_TEXT / 2), Ok(())),
            ("😀".repeat(MAX_RICH_TEXT / 2 + 1), Err(Excess::Text)),
            (long(MAX_ADDRESS), Ok(())),
            (long(MAX_ADDRESS + 1), Err(Excess::Address)),
            (format!("![x]({})", "a.b/".repeat(600)), Err(Excess::Address)),
            (format!("<img src=\"{}\">", "a.b/".repeat(600)), Err(Excess::Address)),
            (format!("<img src=\"{}", "a.b/ ".repeat(600)), Err(Excess::Address)),
            (format!("<img src={}", "src=a.b/".repeat(200)), Err(Excess::Count)),
            (many(MAX_FOUND), Ok(())),
            (many(MAX_FOUND + 1), Err(Excess::Count)),
            ("https://a.example/x&amp;y ".repeat(MAX_FOUND), Ok(())),
            ("http:".repeat(6_000), Err(Excess::Address)),
            ("http: ".repeat(5_000), Ok(())),
        ];
        for (text, wanted) in cases {
            let is = in_markup(&text, &mut AddressSet::default());
            assert_eq!(is, wanted, "{}…, {} bytes", &text[..20], text.len());
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn no_mixture_makes_more_work(units in prop::collection::vec(prop::sample::select(HOSTILE), 1..8)) {
            let unit = units.concat();
            let text = unit.repeat((1 << 15) / unit.len());
            let readings = 4 * (MAX_NESTING + 1);
            let looks = looks_at(&text);
            prop_assert!(looks <= readings * (LOOKS * text.len() + OVERLAPPING), "{unit:?}: {looks}");
        }
    }

    proptest! {
        #[test]
        fn no_disguise_hides_a_private_address(
            ways in prop::collection::vec(any::<u8>(), 1..24),
            slashes in "[/\\\\]{0,4}",
            host in prop::sample::select(vec!["127.0.0.1", "10.1.2.3", "2130706433", "localhost", "a.lan", "[::1]"]),
            frame in prop::sample::select(vec!["{}", "![x]({})", "<img src=\"{}\">", "x {} y", "<{}>"]),
        ) {
            let address = format!("http:{slashes}{host}/a");
            let text = frame.replace("{}", &disguised(&address, &ways));
            prop_assert!(leads_inside(&text), "{text}: {:?}", found_in(&text));
        }

        #[test]
        fn any_text_is_read(text in "\\PC{0,60}", marks in "[a-z:/\\\\&#x0-9;.=\"'\\](<>]{0,60}") {
            for text in [text, marks] {
                in_markup(&text, &mut AddressSet::default()).unwrap();
            }
        }
    }
}
