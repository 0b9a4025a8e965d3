//! Settings of reading web pages.

use url::Url;

use super::reader::VariableReader;

/// Reading of the pages and files behind links.
#[derive(Debug, Clone, Default)]
pub struct PageSettings {
    /// `true` if pages are read.
    pub is_on: bool,
    /// Hosts of private networks that may be read all the same.
    pub private: Vec<PrivateHost>,
}

/// A host of the owner's network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrivateHost {
    /// Name or IP address, as a browser writes it; IPv6 in brackets.
    pub name: String,
    /// Its only port; `None` for the ports of http and https.
    port: Option<u16>,
}

impl PrivateHost {
    /// Reads a name or an IP address, with or without a port; `None` for anything else.
    #[must_use]
    pub fn read(word: &str) -> Option<Self> {
        let url = Url::parse(&format!("http://{word}/")).ok()?;
        let is_bare = url.path() == "/" && url.query().is_none() && url.username().is_empty();
        let name = url.host_str().filter(|_| is_bare && !word.contains(['/', '*']))?.to_owned();
        Some(Self { name, port: url.port() })
    }

    /// Returns `true` if an address leads to this host.
    #[must_use]
    pub fn has(&self, url: &Url) -> bool {
        let port = url.port_or_known_default();
        let is_port = match self.port {
            Some(own) => port == Some(own),
            None => matches!(port, Some(80 | 443)),
        };
        is_port && url.host_str() == Some(self.name.as_str())
    }
}

impl PageSettings {
    pub(super) fn read(reader: &mut VariableReader<'_>) -> Self {
        let is_on = reader.choice("READ_PAGES", &[("on", true), ("off", false)]);
        let mut private = Vec::new();
        let words = reader.get("PRIVATE_PAGES").unwrap_or_default();
        for (number, word) in (1..).zip(words.split(',').map(str::trim).filter(|word| !word.is_empty())) {
            match PrivateHost::read(word) {
                Some(host) => private.push(host),
                None => reader.fault_of_word(
                    "PRIVATE_PAGES",
                    number,
                    word,
                    "is no host: write a name or an IP address, with a port if it is not 80 or 443",
                ),
            }
        }
        Self { is_on, private }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_allows_its_own_port_or_those_of_the_web() {
        let cases = [
            ("wiki.lan", "http://wiki.lan/a?b", true),
            ("wiki.lan", "https://wiki.lan/", true),
            ("Wiki.LAN", "http://wiki.lan", true),
            ("wiki.lan", "http://wiki.lan:8080/", false),
            ("wiki.lan", "http://x.wiki.lan/", false),
            ("10.0.0.7:8080", "http://10.0.0.7:8080/x", true),
            ("10.0.0.7:8080", "http://10.0.0.7/x", false),
            ("[fd00::1]:99", "http://[fd00:0::1]:99/", true),
        ];
        for (word, url, allowed) in cases {
            let host = PrivateHost::read(word).unwrap();
            assert_eq!(host.has(&Url::parse(url).unwrap()), allowed, "{word} {url}");
        }
        for word in ["http://wiki.lan", "wiki.lan/x", "a b", "me@wiki.lan", ":80", "*", "*.lan"] {
            assert_eq!(PrivateHost::read(word), None, "{word}");
        }
    }
}
