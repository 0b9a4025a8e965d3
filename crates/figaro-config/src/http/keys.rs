//! API keys of callers from `API_KEYS`: `NAME:KEY`, followed by options.

use std::collections::BTreeSet;
use std::fmt;

use ring::digest::{SHA256, digest};

use super::super::reader::VariableReader;

/// Minimum length of a key. A shorter one can be guessed.
const MIN_KEY: usize = 16;
/// Maximum length of a tenant name, in characters.
const MAX_TENANT: usize = 64;

/// An API key of callers, with its rights and limits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiKey {
    /// Name of the key in the log and the metrics.
    pub name: String,
    /// Hash of the key. The key itself is not kept.
    pub hash: KeyHash,
    /// Rights of callers with this key.
    pub rights: Rights,
    /// Tenant the key is limited to; `None` for no limit.
    pub tenant: Option<String>,
    /// User the key is limited to; `None` for no limit.
    pub user: Option<String>,
    /// Maximum number of requests per minute; `None` for no limit.
    pub per_minute: Option<u32>,
    /// Maximum number of tokens per day; `None` for no limit.
    pub per_day: Option<u64>,
}

/// SHA-256 of a key.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct KeyHash(pub [u8; 32]);

impl KeyHash {
    /// Hashes a key.
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

/// Rights of a caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rights {
    /// May ask questions.
    pub chat: bool,
    /// May see and change their own stored data.
    pub sessions: bool,
    /// May read the metrics.
    pub metrics: bool,
    /// May name a tenant other than the default one.
    pub tenants: bool,
    /// Has the rights of an owner in turns.
    pub owner: bool,
}

impl Rights {
    /// No rights.
    pub const NONE: Self =
        Self { chat: false, sessions: false, metrics: false, tenants: false, owner: false };
    /// Default rights, for keys and tokens that name none.
    pub const USUAL: Self = Self { chat: true, sessions: true, ..Self::NONE };

    /// Adds the right of this name; `None` if there is no such right.
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

    /// Adds the default rights if neither `chat`, `sessions` nor `metrics` is set.
    #[must_use]
    pub const fn or_usual(self) -> Self {
        match self.chat || self.sessions || self.metrics {
            true => self,
            false => Self { chat: true, sessions: true, ..self },
        }
    }
}

/// Returns `true` for a valid tenant name: 1 to 64 letters, digits, `_`, `-` and `.`.
#[must_use]
pub fn is_tenant(name: &str) -> bool {
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || b"_-.".contains(&b);
    (1..=MAX_TENANT).contains(&name.len()) && name.bytes().all(is_plain)
}

/// Faults of an invalid entry.
const NO_NAME: &str = "is not of the form NAME:KEY, such as app:KEY or app:KEY;tenant=acme;rate=60";
const NO_KEY: &str = "has a key that is no key: 16 characters or more, of letters, digits and _ - . ~ + / =";
const NO_OPTION: &str = "has an option that is not known: there are chat, sessions, metrics, tenants, owner, tenant=NAME, user=NAME, rate=REQUESTS_A_MINUTE and tokens=A_DAY";
const NO_VALUE: &str = "has an option whose value does not fit: a tenant is of letters, digits and _ - ., rate and tokens are whole numbers above 0";
const TWICE: &str = "names a key a second time: each has a name and a key of its own";

/// Reads the listed keys, separated by commas or white space.
pub(super) fn read(reader: &mut VariableReader<'_>) -> Vec<ApiKey> {
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
