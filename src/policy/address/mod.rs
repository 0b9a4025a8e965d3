//! Web addresses: those that a turn may have Telegram load, and whether one lies in a private network. A turn makes the set
//! out of what people wrote and what search found; `tools` decides by it. Whoever can have any address loaded can send
//! words away in it.

mod markup;

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr};

use reqwest::Url;
use serde::{Deserialize, Serialize};

pub use markup::in_markup;

/// Punctuation that ends a sentence, a quote or a link, not an address.
const CLOSING: &[char] = &[
    '.', ',', ';', ':', '!', '?', ')', ']', '}', '\'', '*', '_', '~', '|', '`', '…', '”', '’', '»', '。',
    '，', '）',
];

/// Addresses that a person wrote or that search found, without their fragments. Only these very addresses are in it: one
/// that has something added is another one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Addresses(BTreeSet<String>);

impl Addresses {
    /// Adds every address in a text that a person wrote, those without `https://` too.
    pub fn add_written(&mut self, text: &str) {
        for word in words(text) {
            match web_start(word) {
                Some(start) => self.add_word(&word[start..]),
                None if is_bare(word) => {
                    ["https", "http"].iter().for_each(|scheme| self.add_word(&format!("{scheme}://{word}")))
                }
                None => {}
            }
        }
    }

    /// Adds an address that search found.
    pub fn add_found(&mut self, address: &str) {
        let Some(url) = web(address) else { return };
        self.0.insert(without_fragment(address.trim()).to_owned());
        self.0.insert(without_fragment(url.as_str()).to_owned());
    }

    /// Whether this is one of them; the fragment does not count.
    #[must_use]
    pub fn has(&self, address: &str) -> bool {
        self.0.contains(without_fragment(address))
    }

    /// Those that stand in a text, as they are written there.
    pub fn known_in<'a>(&self, text: &'a str) -> impl Iterator<Item = &'a str> {
        words(text).filter_map(|word| {
            let word = word.get(web_start(word)?..)?;
            endings(word).find(|address| self.has(address))
        })
    }

    /// The first of them in a text of which a page may be shown, one in a private network left out.
    #[must_use]
    pub fn first_in(&self, text: &str) -> Option<String> {
        self.known_in(text).find(|address| is_public(address)).map(ToOwned::to_owned)
    }

    /// Where a sentence ends and an address does not cannot be known: it is added with and without the punctuation.
    fn add_word(&mut self, word: &str) {
        endings(word).for_each(|address| self.add_found(address));
    }
}

/// A word as it stands, then with ever less of the punctuation at its end.
fn endings(word: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(word), |word| word.strip_suffix(CLOSING))
}

/// The parts of a text that no white space, bracket or quote divides.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let divides = |c: char| c.is_whitespace() || c.is_control() || "<>\"“”«»`".contains(c);
    // An address ends where a Markdown link does, and another one may follow.
    text.split(divides).flat_map(|word| word.split("](")).filter(|word| !word.is_empty())
}

/// Where the web address in a word begins.
fn web_start(word: &str) -> Option<usize> {
    let lower = word.to_ascii_lowercase();
    ["http://", "https://"].iter().filter_map(|scheme| lower.find(scheme)).min()
}

/// The words of a text that Telegram makes links of although they name no scheme, as addresses.
pub fn bare_in(text: &str) -> impl Iterator<Item = String> {
    words(text).filter(|word| is_bare(word)).map(|word| format!("https://{}", word.trim_end_matches(CLOSING)))
}

/// Whether a word without a scheme would be read as an address, such as `example.org/a`.
fn is_bare(word: &str) -> bool {
    let host = word.split(['/', '?', '#', ':']).next().unwrap_or_default().trim_matches(CLOSING);
    let has_ending = host.rsplit_once('.').is_some_and(|(before, ending)| {
        !before.is_empty() && ending.chars().count() >= 2 && ending.chars().all(char::is_alphabetic)
    });
    (has_ending || host.parse::<Ipv4Addr>().is_ok()) && !host.contains('@')
}

/// The address as a browser reads it, if it is one of the web.
fn web(address: &str) -> Option<Url> {
    let url = Url::parse(address.trim()).ok()?;
    (["http", "https"].contains(&url.scheme()) && url.has_host()).then_some(url)
}

fn without_fragment(address: &str) -> &str {
    address.split_once('#').map_or(address, |(before, _)| before)
}

/// Whether this is an http(s) address that is not on a private network. An own Bot API server would load the latter from
/// inside the owner's network, and read local files for `file:`.
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

fn is_public_ip(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => {
            let [a, b, ..] = v4.octets();
            let shared = a == 100 && (64..128).contains(&b);
            let reserved = a == 0 || a >= 240;
            !(v4.is_private()
                || v4.is_loopback()
                || v4.is_link_local()
                || v4.is_multicast()
                || shared
                || reserved)
        }
        IpAddr::V6(v6) => match v6.to_ipv4() {
            Some(v4) => is_public_ip(IpAddr::V4(v4)),
            // Only 2000::/3 is routed on the internet; 64:ff9b::/96 and 2002::/16 wrap other addresses.
            None => (v6.segments()[0] & 0xe000) == 0x2000 && v6.segments()[0] != 0x2002,
        },
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn written(text: &str) -> Addresses {
        let mut addresses = Addresses::default();
        addresses.add_written(text);
        addresses
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
