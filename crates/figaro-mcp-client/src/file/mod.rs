//! The owner's file of other MCP servers, `mcp.json`, in the form that other clients have: what it says, read strictly.

mod expand;
mod keys;
mod read;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use ring::digest::{Context, SHA256};

pub use self::read::{names, read};
use figaro_base::secret::{ExposeSecret, SecretString};

/// What stands for all tools of a server.
pub const ALL: &str = "*";

/// A server that is to be used.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerConfig {
    /// Its name: a letter, then letters, digits, `_` and `-`, 32 at most, without `__` and without `_` at its end.
    pub name: String,
    /// How it is reached.
    pub(crate) way: Way,
    /// The longest that a call may take: 1 to 600 seconds.
    pub(crate) timeout: Duration,
    /// The tools that are called without a person's approval, by their names at the server; [`ALL`] for those that the server
    /// says to read only, or to destroy nothing.
    pub auto_approve: Vec<String>,
    /// The tools that nobody has, by their names at the server.
    pub disabled_tools: Vec<String>,
    /// It is not started.
    pub is_disabled: bool,
    /// The values that stand in the place of variables, wherever that is.
    pub(crate) substituted: Substituted,
}

/// Values of variables: any may be a secret.
#[derive(Debug, Clone, Default)]
pub(crate) struct Substituted(Vec<SecretString>);

/// How a server is reached.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Way {
    /// A program that is started, and spoken to by its standard input and output.
    Stdio(Program),
    /// An address, by streamable HTTP.
    Http(Address),
}

/// A program that is a server.
#[derive(Clone)]
pub(crate) struct Program {
    /// Its name or path.
    pub(crate) command: String,
    /// Its arguments.
    pub(crate) args: Vec<String>,
    /// What its environment has beside the little that every program gets.
    pub(crate) env: BTreeMap<String, SecretString>,
    /// The folder that it is started in; else the bot's.
    pub(crate) folder: Option<PathBuf>,
}

/// The address of a server.
#[derive(Clone)]
pub(crate) struct Address {
    /// It begins with `http://` or `https://`.
    pub(crate) url: String,
    /// What goes with every request.
    pub(crate) headers: BTreeMap<String, SecretString>,
}

impl ServerConfig {
    /// What no log and no chat may show of it.
    pub(crate) fn secrets(&self) -> impl Iterator<Item = &SecretString> {
        let named = match &self.way {
            Way::Stdio(program) => program.env.values(),
            Way::Http(address) => address.headers.values(),
        };
        // A header or variable may hold more than the value put into it: the whole goes first.
        named.chain(&self.substituted.0)
    }

    /// The hash of what its name stands for: the program with its arguments, folder and variables, or the address, as hexadecimal
    /// digits. A variable may name another database, so it counts; headers, whose tokens change while the server stays the same,
    /// are left out.
    #[must_use]
    pub fn way_hash(&self) -> String {
        let mut hash = Context::new(&SHA256);
        let mut add = |part: &[u8]| {
            // With its length, so that no two lists of parts are the same bytes.
            hash.update(&u64::try_from(part.len()).unwrap_or(u64::MAX).to_le_bytes());
            hash.update(part);
        };
        match &self.way {
            Way::Stdio(Program { command, args, folder, env }) => {
                add(b"stdio");
                let folder = folder.as_deref().map(|folder| folder.as_os_str().as_encoded_bytes());
                add(folder.unwrap_or_default());
                add(command.as_bytes());
                args.iter().for_each(|arg| add(arg.as_bytes()));
                for (name, value) in env {
                    add(name.as_bytes());
                    add(value.expose_secret().as_bytes());
                }
            }
            Way::Http(address) => {
                add(b"http");
                add(address.url.as_bytes());
            }
        }
        hash.finish().as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// How it is reached, in a few words without secrets: `stdio: npx` or `http: example.com`.
    #[must_use]
    pub fn place(&self) -> String {
        match &self.way {
            Way::Stdio(program) => {
                let command = std::path::Path::new(&program.command);
                let name = command.file_name().map(|name| name.to_string_lossy().into_owned());
                format!("stdio: {}", name.unwrap_or_default())
            }
            Way::Http(address) => {
                let url = url::Url::parse(&address.url).ok();
                format!("http: {}", url.as_ref().and_then(|url| url.host_str()).unwrap_or_default())
            }
        }
    }
}

// Arguments and addresses may hold keys: none is written to a log.
impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Program({})", self.command)
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Address")
    }
}

impl PartialEq for Substituted {
    fn eq(&self, other: &Self) -> bool {
        let exposed = |Self(values): &Self| -> Vec<String> {
            values.iter().map(|value| value.expose_secret().to_owned()).collect()
        };
        exposed(self) == exposed(other)
    }
}

impl PartialEq for Program {
    fn eq(&self, other: &Self) -> bool {
        self.command == other.command
            && self.args == other.args
            && self.folder == other.folder
            && exposed(&self.env).eq(exposed(&other.env))
    }
}

impl PartialEq for Address {
    fn eq(&self, other: &Self) -> bool {
        self.url == other.url && exposed(&self.headers).eq(exposed(&other.headers))
    }
}

fn exposed(values: &BTreeMap<String, SecretString>) -> impl Iterator<Item = (&str, &str)> {
    values.iter().map(|(name, value)| (name.as_str(), value.expose_secret()))
}
