//! Web addresses: those that a turn may let Telegram load, and a check for private networks. A turn collects the set from
//! people's words and search results; `tools` decides by it. Loading an arbitrary address can send data out.

mod found;
mod markup;

use std::collections::{BTreeSet, VecDeque};
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use url::Url;

pub(crate) use found::{AddressSet, Excess};
pub(crate) use markup::in_markup;

/// Maximum length of an address in bytes. No page that people share needs more; a longer one is made to carry data.
pub(crate) const MAX_ADDRESS: usize = 2048;
/// Maximum spellings that a turn knows, and maximum words it reads to find them. An address has up to four spellings: 500
/// addresses are more than the 430 messages that a turn looks at contain, unless somebody tries to use up memory. The
/// oldest are dropped first.
const MAX_KNOWN: usize = 2000;
/// Maximum bytes of all known spellings; an everyday address has fewer than 250.
const MAX_KNOWN_BYTES: usize = 512 * 1024;
/// Maximum endings with which a word is tried.
const MAX_ENDINGS: usize = 8;

/// Punctuation that ends a sentence, a quote or a link, not an address.
const CLOSING: &[char] = &[
    '.', ',', ';', ':', '!', '?', ')', ']', '}', '\'', '*', '_', '~', '|', '`', '…', '”', '’', '»', '。',
    '，', '）',
];

/// Addresses that a person wrote or that a search found, without fragments. Only exact addresses match: one with
/// something added is another one. Clones share their data.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Vec<String>", into = "Vec<String>")]
pub struct Addresses(Arc<KnownAddresses>);

/// At most [`MAX_KNOWN`] spellings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct KnownAddresses {
    all: BTreeSet<Arc<str>>,
    /// The spellings, oldest first.
    by_age: VecDeque<Arc<str>>,
    /// Total length of the spellings.
    bytes: usize,
}

impl KnownAddresses {
    /// Adds a spelling as the oldest, if there is room.
    fn add_older(&mut self, spelling: &str) {
        if self.has_room_for(spelling) && !self.all.contains(spelling) {
            let added = self.insert(spelling);
            self.by_age.push_front(added);
        }
    }

    /// Adds a spelling as the newest; the oldest are dropped if there is no room.
    fn add_newer(&mut self, spelling: &str) {
        if self.all.contains(spelling) {
            return;
        }
        while !self.has_room_for(spelling)
            && let Some(oldest) = self.by_age.pop_front()
        {
            self.bytes -= oldest.len();
            self.all.remove(&oldest);
        }
        let added = self.insert(spelling);
        self.by_age.push_back(added);
    }

    fn insert(&mut self, spelling: &str) -> Arc<str> {
        let spelling: Arc<str> = spelling.into();
        self.bytes += spelling.len();
        self.all.insert(spelling.clone());
        spelling
    }

    fn has_room_for(&self, spelling: &str) -> bool {
        self.all.len() < MAX_KNOWN && self.bytes + spelling.len() <= MAX_KNOWN_BYTES
    }
}

impl From<Vec<String>> for Addresses {
    fn from(oldest_first: Vec<String>) -> Self {
        let mut known = KnownAddresses::default();
        oldest_first.iter().for_each(|spelling| known.add_newer(spelling));
        Self(Arc::new(known))
    }
}

impl From<Addresses> for Vec<String> {
    fn from(addresses: Addresses) -> Self {
        addresses.0.by_age.iter().map(|spelling| spelling.as_ref().to_owned()).collect()
    }
}

impl Addresses {
    /// Collects the addresses in texts that people wrote, also those without `https://`. The texts come newest first;
    /// addresses beyond the limits are left out.
    #[must_use]
    pub fn written<'a>(newest_first: impl IntoIterator<Item = &'a str>) -> Self {
        let mut known = KnownAddresses::default();
        let words = newest_first.into_iter().flat_map(short_words).filter_map(address_in);
        // Punctuation may end the sentence or the address: it is added with and without it.
        for address in words.take(MAX_KNOWN) {
            let mut add = |word: &str| {
                endings(word).for_each(|address| spellings(address, |spelling| known.add_older(spelling)));
            };
            match address {
                AddressText::Whole(address) => add(address),
                AddressText::Bare(word) => {
                    ["https", "http"].iter().for_each(|scheme| add(&format!("{scheme}://{word}")));
                }
            }
        }
        Self(Arc::new(known))
    }

    /// Adds an address that a search found; the oldest are dropped for it.
    pub fn add_found(&mut self, address: &str) {
        spellings(address, |spelling| {
            if !self.has(spelling) {
                Arc::make_mut(&mut self.0).add_newer(spelling);
            }
        });
    }

    /// Returns `true` if the address is in the set; its fragment does not count.
    #[must_use]
    pub fn has(&self, address: &str) -> bool {
        self.0.all.contains(without_fragment(address))
    }

    /// Iterates over the known addresses in a text, as written there.
    pub fn known_in<'a>(&self, text: &'a str) -> impl Iterator<Item = &'a str> {
        short_words(text).filter_map(|word| {
            let word = word.get(web_start(word)?..)?;
            endings(word).find(|address| self.has(address))
        })
    }

    /// Returns the first known address in a text that may be previewed, skipping private networks.
    #[must_use]
    pub fn first_in(&self, text: &str) -> Option<String> {
        self.known_in(text).find(|address| is_public(address)).map(ToOwned::to_owned)
    }

    /// Returns `true` if both share the same memory.
    #[must_use]
    pub fn shares(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// An address as a person wrote it.
enum AddressText<'a> {
    Whole(&'a str),
    /// Has no scheme, as in `example.org/page`; apps take it for a web address all the same.
    Bare(&'a str),
}

/// Returns the address that a word is or ends with.
fn address_in(word: &str) -> Option<AddressText<'_>> {
    match web_start(word) {
        Some(start) => Some(AddressText::Whole(&word[start..])),
        None => is_bare(word).then_some(AddressText::Bare(word)),
    }
}

/// Calls `each` with the spellings of an address: as written, and as a browser writes it. Skips addresses that are too
/// long.
fn spellings(address: &str, mut each: impl FnMut(&str)) {
    let url = (address.len() <= MAX_ADDRESS).then(|| web(address)).flatten();
    let Some(url) = url.filter(|url| url.as_str().len() <= MAX_ADDRESS) else { return };
    each(without_fragment(address.trim()));
    each(without_fragment(url.as_str()));
}

/// Iterates over a word with ever less punctuation at its end, the whole word first.
fn endings(word: &str) -> impl Iterator<Item = &str> {
    let fewer = std::iter::successors(Some(word), |word| word.strip_suffix(CLOSING));
    fewer.take(MAX_ENDINGS - 1).chain([word.trim_end_matches(CLOSING)])
}

/// Splits a text at white space, brackets and quotes. Leaves out words that cannot be addresses, which are nearly all.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let divides = |c: char| {
        c.is_whitespace() || c.is_control() || matches!(c, '<' | '>' | '"' | '“' | '”' | '«' | '»' | '`')
    };
    let may_be_one = |word: &&str| word.bytes().any(|byte| matches!(byte, b'.' | b':'));
    // A Markdown link ends an address, and another may follow.
    text.split(divides).filter(may_be_one).flat_map(|word| word.split("](")).filter(|word| !word.is_empty())
}

/// Iterates over the words short enough for an address.
fn short_words(text: &str) -> impl Iterator<Item = &str> {
    words(text).filter(|word| word.len() <= MAX_ADDRESS)
}

/// Returns the start of the web address in a word.
fn web_start(word: &str) -> Option<usize> {
    let start = |end: usize, scheme: &str| {
        let start = end.checked_sub(scheme.len())?;
        word.get(start..end)?.eq_ignore_ascii_case(scheme).then_some(start)
    };
    word.match_indices("://").find_map(|(end, _)| start(end, "http").or_else(|| start(end, "https")))
}

/// Iterates over the scheme-less words of a text that Telegram turns into links, as addresses.
pub(crate) fn bare_in(text: &str) -> impl Iterator<Item = String> {
    words(text).filter(|word| is_bare(word)).map(|word| format!("https://{}", word.trim_end_matches(CLOSING)))
}

/// Returns `true` if a word without a scheme would be read as an address, such as `example.org/a`.
fn is_bare(word: &str) -> bool {
    let host = word.split(['/', '?', '#', ':']).next().unwrap_or_default().trim_matches(CLOSING);
    let has_ending = host.rsplit_once('.').is_some_and(|(before, ending)| {
        !before.is_empty() && ending.chars().count() >= 2 && ending.chars().all(char::is_alphabetic)
    });
    (has_ending || host.parse::<Ipv4Addr>().is_ok()) && !host.contains('@')
}

/// Returns `true` for an address with `http://` or `https://` and a host.
#[must_use]
pub fn is_web(address: &str) -> bool {
    web_start(address) == Some(0) && address.len() <= MAX_ADDRESS && web(address).is_some()
}

/// Parses an address as a browser does; `None` if it is not a web address.
fn web(address: &str) -> Option<Url> {
    let url = Url::parse(address.trim()).ok()?;
    (["http", "https"].contains(&url.scheme()) && url.has_host()).then_some(url)
}

fn without_fragment(address: &str) -> &str {
    address.split_once('#').map_or(address, |(before, _)| before)
}

/// Returns `true` for an http(s) address outside private networks. A self-hosted Bot API server would load a private one
/// from inside the owner's network, and read local files for `file:`. The name of a host is not looked up: see
/// [`is_public_ip`].
#[must_use]
pub fn is_public(address: &str) -> bool {
    let Some(url) = web(address) else { return false };
    let host = url.host_str().unwrap_or_default();
    match host.trim_matches(['[', ']']).parse::<IpAddr>() {
        Ok(address) => is_public_ip(address),
        Err(_) => {
            let host = host.trim_end_matches('.').to_ascii_lowercase();
            let local = ["localhost", "local", "internal", "lan", "home.arpa"];
            host.contains('.') && !local.iter().any(|end| host == *end || host.ends_with(&format!(".{end}")))
        }
    }
}

/// Returns `true` for an address that is reachable on the internet, by IANA's registries of special-purpose addresses
/// (<https://www.iana.org/assignments/iana-ipv4-special-registry>, and the one of IPv6).
#[must_use]
pub fn is_public_ip(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => {
            let [a, b, c, d] = v4.octets();
            let is_shared = a == 100 && (64..128).contains(&b);
            let is_reserved = a == 0 || a >= 240;
            // Protocol assignments and relays of IPv6, then networks for benchmarks.
            let is_special = (a == 192 && b == 0 && c == 0) || (a == 192 && b == 88 && c == 99);
            let is_benchmark = a == 198 && (18..20).contains(&b);
            // Azure's service for its own machines.
            let is_wire_server = [a, b, c, d] == [168, 63, 129, 16];
            !(v4.is_private()
                || v4.is_loopback()
                || v4.is_link_local()
                || v4.is_multicast()
                || v4.is_documentation()
                || is_shared
                || is_reserved
                || is_special
                || is_benchmark
                || is_wire_server)
        }
        IpAddr::V6(v6) => match v6.to_ipv4() {
            Some(v4) => is_public_ip(IpAddr::V4(v4)),
            // Only 2000::/3 is routed on the internet. Of it, 2001::/23 (Teredo and other protocols) and 2002::/16 wrap other
            // addresses; 2001:db8::/32 and 3fff::/20 are for documentation.
            None => {
                let [a, b, ..] = v6.segments();
                let is_wrapped = (a == 0x2001 && b < 0x200) || a == 0x2002;
                let is_example = (a == 0x2001 && b == 0xdb8) || (a == 0x3fff && b < 0x1000);
                (a & 0xe000) == 0x2000 && !is_wrapped && !is_example
            }
        },
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn written(text: &str) -> Addresses {
        Addresses::written([text])
    }

    #[test]
    fn what_a_person_wrote_is_known_and_nothing_else() {
        let cases = [
            ("look at https://a.example/x?y=1#top", "https://a.example/x?y=1", true),
            ("look at https://a.example/x?y=1", "https://a.example/x?y=1#elsewhere", true),
            ("(see https://a.example/x).", "https://a.example/x", true),
            ("[here](https://a.example/x), or", "https://a.example/x", true),
            ("[https://a.example/x](https://b.example/y)", "https://b.example/y", true),
            ("[https://a.example/x](https://b.example/y)", "https://a.example/x", true),
            ("https://a.example/wiki/Rust_(language)", "https://a.example/wiki/Rust_(language)", true),
            ("HTTPS://A.example", "https://a.example/", true),
            ("https://a.example/straße", "https://a.example/stra%C3%9Fe", true),
            ("a.example/x", "https://a.example/x", true),
            ("a.example/x", "http://a.example/x", true),
            ("»a.example«", "https://a.example/", true),
            ("https://a.example/x", "https://a.example/x?y=1", false),
            ("https://a.example/x", "https://a.example/x/", false),
            ("https://a.example/x", "https://a.example/secret/../x", false),
            ("https://a.example/x", "https://a.example/%73/../x", false),
            ("https://a.example/x", "hTTps://a.example/x", false),
            ("https://a.example/x", "https://secret@a.example/x", false),
            ("https://a.example/x", "https://a.example/\tx", false),
            ("https://a.example/x", "https:\\\\a.example/x", false),
            ("https://a.example/x", "http://a.example/x", false),
            ("https://a.example/x?", "https://a.example/x?secret", false),
            ("mail bob@a.example", "https://bob@a.example", false),
            ("version 1.2", "https://1.2", false),
        ];
        for (text, address, known) in cases {
            assert_eq!(written(text).has(address), known, "{address} in {text:?}");
        }
    }

    #[test]
    fn a_preview_is_of_the_first_known_address() {
        let known = written("https://a.example/x https://b.example http://10.0.0.1/x");
        let cases = [
            ("As [it](https://evil.example/?d=1) says at https://b.example.", Some("https://b.example")),
            ("[it](https://a.example/x) and https://b.example", Some("https://a.example/x")),
            ("<a href=\"https://b.example\">b</a>", Some("https://b.example")),
            ("https://a.example/x?d=secret http://10.0.0.1/x", None),
            ("a.example/x", None),
        ];
        for (text, first) in cases {
            assert_eq!(known.first_in(text).as_deref(), first, "{text}");
        }
    }

    #[test]
    fn a_word_has_a_bounded_number_of_ends_and_the_likely_ones_are_among_them() {
        let address = "https://a.example/x";
        for end in ["!", ").", "?!?!?!", &"!".repeat(100), &".".repeat(2000)] {
            let known = written(&format!("look: {address}{end} there"));
            assert!(known.has(address), "{end}");
            assert!(Vec::from(known).len() <= 2 * MAX_ENDINGS);
        }
        let text = format!("{address}{}", ".".repeat(2000));
        assert_eq!(written(address).first_in(&text).as_deref(), Some(address));
    }

    #[test]
    fn a_word_that_is_too_long_is_no_address() {
        let long = |length: usize| format!("https://a.example/{}", "x".repeat(length - 18));
        for (address, is_known) in [(long(MAX_ADDRESS), true), (long(MAX_ADDRESS + 1), false)] {
            assert_eq!(written(&address).has(&address), is_known, "{}", address.len());
            let mut found = Addresses::default();
            found.add_found(&address);
            assert_eq!(found.has(&address), is_known, "{}", address.len());
        }
        let grown = format!("https://a.example/{}", "ß".repeat(700));
        assert!(!written(&grown).has(&grown), "as a browser writes it, it is longer");
        assert_eq!(written(&"a.example/".repeat(5_000)), Addresses::default());
    }

    /// An address of so many bytes, another one for each number.
    fn numbered(number: usize, length: usize) -> String {
        let start = format!("https://a.example/{number}/");
        format!("{start}{}", "x".repeat(length - start.len()))
    }

    #[test]
    fn only_the_newest_are_known_when_there_are_very_many() {
        for (length, least) in [(40, MAX_KNOWN), (MAX_ADDRESS, MAX_KNOWN_BYTES / MAX_ADDRESS)] {
            let newest_first: Vec<String> = (0..5_000).map(|number| numbered(number, length)).collect();
            let mut known = Addresses::written(newest_first.iter().map(String::as_str));
            let count = |known: &Addresses| Vec::from(known.clone()).len();
            let has = |known: &Addresses, number| known.has(&numbered(number, length));
            assert_eq!(count(&known), least);
            assert!(has(&known, 0) && has(&known, least - 1) && !has(&known, least), "{length}");
            known.add_found("https://new.example/");
            assert!(
                known.has("https://new.example/") && has(&known, 0) && !has(&known, least - 1),
                "{length}"
            );
            assert_eq!(count(&known), least);
            (5_000..20_000).for_each(|number| known.add_found(&numbered(number, length)));
            assert!(has(&known, 19_999) && !has(&known, 0), "{length}");
            assert_eq!(count(&known), least);
            let stored: Addresses = serde_json::from_str(&serde_json::to_string(&known).unwrap()).unwrap();
            assert_eq!(stored, known);
        }
        let again = format!("{} https://old.example", "https://a.example ".repeat(MAX_KNOWN));
        assert!(!written(&again).has("https://old.example"), "so many words are read and no more");
    }

    #[test]
    fn a_copy_shares_what_it_holds() {
        let known = written("https://a.example https://b.example");
        let mut copy = known.clone();
        assert!(copy.shares(&known));
        copy.add_found("https://a.example");
        assert!(copy.shares(&known), "it was there");
        copy.add_found("https://c.example");
        assert!(copy.has("https://c.example") && !known.has("https://c.example"));
    }

    proptest! {
        #[test]
        fn nothing_can_be_added_to_an_address(
            path in "[a-z/]{0,8}",
            more in "[a-zA-Z0-9/?&=%.;:@\\\\ \t-]{1,12}",
            at: prop::sample::Index,
        ) {
            let address = format!("https://a.example/{path}");
            let known = written(&format!("see {address} there"));
            let mut other = address.clone();
            other.insert_str(at.index(address.len() + 1), &more);
            prop_assert!(known.has(&address));
            prop_assert!(!known.has(&other), "{other}");
        }
    }
}
