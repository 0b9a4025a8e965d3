//! Finds the addresses in HTML and Markdown that Telegram loads pictures and pages for. It reads them in every way in
//! which some parser may: what it takes for an address and no parser does is refused for nothing, what it misses is
//! loaded.

use reqwest::Url;

use super::CLOSING;

/// Schemes that a browser's parser reads with any number of slashes, of either kind.
const SPECIAL: [&str; 6] = ["https", "http", "ftp", "file", "wss", "ws"];
/// Schemes that nothing is loaded for: they open a chat, a letter, a call.
const OPENING: [&str; 3] = ["tg", "mailto", "tel"];
/// Attributes that hold an address.
const ATTRIBUTES: [&str; 8] = ["src", "href", "srcset", "poster", "data", "url", "cite", "background"];
/// References by name that stand for a character of an address, or for one that parsers pass over.
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
/// A reference may stand for the `&` of another one so often.
const MAX_NESTING: usize = 4;

/// Every address in a text of HTML or Markdown, normalised as browsers do where they can read it, each maybe more than
/// once.
#[must_use]
pub fn in_markup(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut reading = text.to_owned();
    for _ in 0..=MAX_NESTING {
        read(&reading, &mut found);
        // A backslash hides a mark from Markdown, and stands for a slash in an address.
        read(&reading.replace('\\', "/"), &mut found);
        read(&reading.replace('\\', ""), &mut found);
        read(&unescape(&reading).replace('\\', "/"), &mut found);
        let decoded = decode(&reading);
        if decoded == reading {
            break;
        }
        reading = decoded;
    }
    found
}

fn read(text: &str, found: &mut Vec<String>) {
    found.extend(with_scheme(text));
    let values = attributes(text).chain(destinations(text));
    // Parsers pass over these within a value.
    let plain = values.map(|value| value.replace(['\t', '\n', '\r'], ""));
    for value in plain {
        let value = value.trim_matches(|c: char| c.is_whitespace() || c.is_control());
        found.extend(with_scheme(value));
        found.extend(without_scheme(value));
    }
}

/// What follows each colon that ends a scheme.
fn with_scheme(text: &str) -> impl Iterator<Item = String> {
    text.match_indices(':').filter_map(|(at, _)| {
        let before = text.get(..at)?;
        let is_part = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
        let scheme = before.rsplit(|c| !is_part(c)).next()?.to_ascii_lowercase();
        let rest = text.get(at + 1..)?.split(ends).next()?;
        let special = SPECIAL.into_iter().find(|special| scheme.ends_with(special));
        if let Some(special) = special.filter(|_| !rest.trim_matches(['/', '\\']).is_empty()) {
            return Some(normal(&format!("{special}:{}", rest.replace('\\', "/"))));
        }
        let is_address = rest.starts_with("//") && rest.len() > 2 && !scheme.is_empty();
        (is_address && !OPENING.contains(&scheme.as_str())).then(|| format!("{scheme}:{rest}"))
    })
}

fn ends(c: char) -> bool {
    c.is_whitespace() || "\"'<>)]}`".contains(c)
}

/// A value that names a host and no scheme: the scheme is the page's, or `http`.
fn without_scheme(value: &str) -> Option<String> {
    let host = value.trim_start_matches(['/', '\\']);
    let first = host.split(['/', '\\', '?', '#']).next()?;
    let has_scheme = first.split_once(':').is_some_and(|(_, port)| !port.bytes().all(|b| b.is_ascii_digit()));
    let names_host = value.len() > host.len() + 1 || first.contains(['.', '。', '．', '｡', '%']);
    (names_host && !has_scheme && !first.is_empty()).then(|| normal(&format!("https://{host}")))
}

/// The values of attributes that hold an address, quoted or not.
fn attributes(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices('=').filter_map(|(at, _)| {
        let name = text.get(..at)?.trim_end().rsplit(|c: char| !c.is_ascii_alphabetic()).next()?;
        let value = text.get(at + 1..)?.trim_start();
        let is_address = ATTRIBUTES.iter().any(|known| name.eq_ignore_ascii_case(known));
        is_address.then(|| match value.chars().next() {
            Some(quote @ ('"' | '\'')) => value[1..].split(quote).next(),
            _ => value.split(|c: char| c.is_whitespace() || c == '>').next(),
        })?
    })
}

/// Where the links and pictures of Markdown lead.
fn destinations(text: &str) -> impl Iterator<Item = &str> {
    let after = ["](", "]:"].into_iter().flat_map(|mark| text.split(mark).skip(1));
    after.filter_map(|rest| {
        let rest = rest.trim_start();
        match rest.strip_prefix('<') {
            Some(rest) => rest.split('>').next(),
            None => rest.split(|c: char| c.is_whitespace() || c == ')').next(),
        }
    })
}

fn normal(address: &str) -> String {
    let address = address.trim_end_matches(CLOSING);
    Url::parse(address).map_or_else(|_| address.to_owned(), String::from)
}

/// The text without the backslashes that Markdown takes for escapes.
fn unescape(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let escaped = if c == '\\' { chars.next_if(char::is_ascii_punctuation) } else { None };
        plain.push(escaped.unwrap_or(c));
    }
    plain
}

/// The text with its character references as characters.
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

/// The character that a reference stands for, and how many bytes follow its `&`. The semicolon may be missing.
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
    use crate::policy::address::is_public;

    fn leads_inside(text: &str) -> bool {
        in_markup(text).iter().any(|address| !is_public(address))
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
            assert!(leads_inside(form), "{form}: {:?}", in_markup(form));
        }
        for other in OTHERS {
            assert!(!leads_inside(other), "{other}: {:?}", in_markup(other));
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
            prop_assert!(leads_inside(&text), "{text}: {:?}", in_markup(&text));
        }

        #[test]
        fn any_text_is_read(text in "\\PC{0,60}", marks in "[a-z:/\\\\&#x0-9;.=\"'\\](<>]{0,60}") {
            drop(in_markup(&text));
            drop(in_markup(&marks));
        }
    }
}
