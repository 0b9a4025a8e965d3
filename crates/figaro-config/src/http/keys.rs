//! The keys of callers, as `API_KEYS` lists them: `NAME:KEY`, and behind it what holds for whoever shows it.

use std::collections::BTreeSet;
use std::fmt;

use ring::digest::{SHA256, digest};

use super::super::reader::Reader;

/// A shorter key can be guessed.
const MIN_KEY: usize = 16;
/// The most characters of the name of a tenant.
const MAX_TENANT: usize = 64;

/// A key that callers may show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiKey {
    /// What the log and the metrics call it.
    pub name: String,
    /// The hash of the key. The key itself is not kept.
    pub hash: KeyHash,
    /// What it is good for.
    pub rights: Rights,
    /// The only tenant that it is for.
    pub tenant: Option<String>,
    /// The only person that it is for.
    pub user: Option<String>,
    /// The most requests in a minute.
    pub per_minute: Option<u32>,
    /// The most tokens in a day.
    pub per_day: Option<u64>,
}

/// The SHA-256 of a key.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct KeyHash(pub [u8; 32]);

impl KeyHash {
    /// Of this key.
    #[must_use]
    pub fn of(key: &str) -> Self {
        let mut bytes = [0; 32];
        bytes.copy_from_slice(digest(&SHA256, key.as_bytes()).as_ref());
        Self(bytes)
    }
}

impl fmt::Debug for KeyHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeyHash")
    }
}

/// What a caller may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rights {
    /// Ask questions.
    pub chat: bool,
    /// See and change what is kept of one's own.
    pub sessions: bool,
    /// Read the metrics.
    pub metrics: bool,
    /// Name another tenant than the default one.
    pub tenants: bool,
    /// Have the rights of an owner in turns.
    pub owner: bool,
}

impl Rights {
    /// None at all.
    pub const NONE: Self =
        Self { chat: false, sessions: false, metrics: false, tenants: false, owner: false };
    /// Those of whoever's key or token names none.
    pub const USUAL: Self = Self { chat: true, sessions: true, ..Self::NONE };

    /// The same with the one of this name; `None` if there is none.
    #[must_use]
    pub fn and(self, name: &str) -> Option<Self> {
        Some(match name {
            "chat" => Self { chat: true, ..self },
            "sessions" => Self { sessions: true, ..self },
            "metrics" => Self { metrics: true, ..self },
            "tenants" => Self { tenants: true, ..self },
            "owner" => Self { owner: true, ..self },
            _ => return None,
        })
    }

    /// Those that were named; the usual ones where no kind of request was.
    #[must_use]
    pub const fn or_usual(self) -> Self {
        match self.chat || self.sessions || self.metrics {
            true => self,
            false => Self { chat: true, sessions: true, ..self },
        }
    }
}

/// Whether this can be the name of a tenant: letters, digits, `_`, `-` and `.`, at most 64 of them.
#[must_use]
pub fn is_tenant(name: &str) -> bool {
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || b"_-.".contains(&b);
    (1..=MAX_TENANT).contains(&name.len()) && name.bytes().all(is_plain)
}

/// Why an entry is none.
const NO_NAME: &str = "is not of the form NAME:KEY, such as app:KEY or app:KEY;tenant=acme;rate=60";
const NO_KEY: &str = "has a key that is no key: 16 characters or more, of letters, digits and _ - . ~ + / =";
const NO_OPTION: &str = "has an option that is not known: there are chat, sessions, metrics, tenants, owner, tenant=NAME, user=NAME, rate=REQUESTS_A_MINUTE and tokens=A_DAY";
const NO_VALUE: &str = "has an option whose value does not fit: a tenant is of letters, digits and _ - ., rate and tokens are whole numbers above 0";
const TWICE: &str = "names a key a second time: each has a name and a key of its own";

/// The keys that are listed, with commas or blanks between them.
pub(super) fn read(reader: &mut Reader<'_>) -> Vec<ApiKey> {
    let list = reader.get("API_KEYS").unwrap_or_default();
    let (mut keys, mut seen): (Vec<ApiKey>, BTreeSet<Vec<u8>>) = (Vec::new(), BTreeSet::new());
    let entries = list.split(|c: char| c == ',' || c.is_whitespace()).filter(|entry| !entry.is_empty());
    for (number, entry) in (1..).zip(entries) {
        let key = read_key(entry).and_then(|key| {
            let is_new = seen.insert(key.hash.0.to_vec()) && seen.insert(key.name.clone().into_bytes());
            if is_new { Ok(key) } else { Err(TWICE) }
        });
        match key {
            Ok(key) => keys.push(key),
            Err(problem) => reader.fault_of_word("API_KEYS", number, entry, problem),
        }
    }
    keys
}

fn read_key(entry: &str) -> Result<ApiKey, &'static str> {
    let mut parts = entry.split(';');
    let (name, key) = parts.next().and_then(|first| first.split_once(':')).ok_or(NO_NAME)?;
    if !is_tenant(name) {
        return Err(NO_NAME);
    }
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || b"_-.~+/=".contains(&b);
    if key.len() < MIN_KEY || !key.bytes().all(is_plain) {
        return Err(NO_KEY);
    }
    let mut read = ApiKey {
        name: name.to_owned(),
        hash: KeyHash::of(key),
        rights: Rights::NONE,
        tenant: None,
        user: None,
        per_minute: None,
        per_day: None,
    };
    for option in parts.filter(|option| !option.is_empty()) {
        match option.split_once('=') {
            None => read.rights = read.rights.and(option).ok_or(NO_OPTION)?,
            Some(("tenant", tenant)) if is_tenant(tenant) => read.tenant = Some(tenant.to_owned()),
            Some(("user", user)) if !user.is_empty() => read.user = Some(user.to_owned()),
            Some(("rate", rate)) => {
                read.per_minute = Some(rate.parse().ok().filter(|rate| *rate > 0).ok_or(NO_VALUE)?);
            }
            Some(("tokens", tokens)) => {
                read.per_day = Some(tokens.parse().ok().filter(|tokens| *tokens > 0).ok_or(NO_VALUE)?);
            }
            Some(("tenant" | "user", _)) => return Err(NO_VALUE),
            Some(_) => return Err(NO_OPTION),
        }
    }
    Ok(ApiKey { rights: read.rights.or_usual(), ..read })
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "0123456789abcdefXYZ";

    #[test]
    fn a_key_is_read_with_what_holds_for_it() {
        let plain = read_key(&format!("app:{KEY}")).unwrap();
        assert_eq!((plain.name.as_str(), plain.hash, plain.rights), ("app", KeyHash::of(KEY), Rights::USUAL));
        let all =
            read_key(&format!("a:{KEY};metrics;owner;tenant=acme;user=ann;rate=60;tokens=5000")).unwrap();
        assert_eq!(all.rights, Rights { metrics: true, owner: true, ..Rights::NONE });
        assert_eq!((all.tenant.as_deref(), all.user.as_deref()), (Some("acme"), Some("ann")));
        assert_eq!((all.per_minute, all.per_day), (Some(60), Some(5000)));
        let tenants = read_key(&format!("a:{KEY};tenants")).unwrap();
        assert_eq!(tenants.rights, Rights { tenants: true, ..Rights::USUAL });
    }

    #[test]
    fn what_is_no_key_is_told_without_showing_it() {
        for (entry, words) in [
            (KEY.to_owned(), NO_NAME),
            (format!(":{KEY}"), NO_NAME),
            ("app:short".to_owned(), NO_KEY),
            (format!("app:{KEY}ā"), NO_KEY),
            (format!("app:{KEY};admin"), NO_OPTION),
            (format!("app:{KEY};rate=0"), NO_VALUE),
            (format!("app:{KEY};rate=many"), NO_VALUE),
            (format!("app:{KEY};tenant=a:b"), NO_VALUE),
            (format!("app:{KEY};user="), NO_VALUE),
        ] {
            assert_eq!(read_key(&entry), Err(words), "{entry}");
        }
    }
}
