//! Reads the owner's file of other MCP servers, `mcp.json`. It has the format of other clients and is read strictly.

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

/// Stands for all tools of a server.
pub const ALL: &str = "*";

/// Configuration of a server.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerConfig {
    /// Name: a letter, then letters, digits, `_` and `-`; at most 32 characters, without `__`, not ending in `_`.
    pub name: String,
    pub(crate) way: ServerTransport,
    /// Maximum duration of a call, 1 to 600 seconds.
    pub(crate) timeout: Duration,
    /// Tools that are called without an approval, by their names at the server. [`ALL`] stands for the tools that the
    /// server marks as read-only or not destructive.
    pub auto_approve: Vec<String>,
    /// Tools that are never offered, by their names at the server.
    pub disabled_tools: Vec<String>,
    /// `true` if the file disables the server. It is then not started.
    pub is_disabled: bool,
    /// Values of all variables that were replaced anywhere in the server's entry.
    pub(crate) substituted: Substituted,
}

/// Values of variables. Any of them may be a secret.
#[derive(Debug, Clone, Default)]
pub(crate) struct Substituted(Vec<SecretString>);

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ServerTransport {
    /// Program that is started and reached by its standard input and output.
    Stdio(Program),
    /// Address that is reached by streamable HTTP.
    Http(Address),
}

#[derive(Clone)]
pub(crate) struct Program {
    /// Name or path of the executable.
    pub(crate) command: String,
    pub(crate) args: Vec<String>,
    /// Environment variables added to the few that every program gets.
    pub(crate) env: BTreeMap<String, SecretString>,
    /// Working directory; the bot's if `None`.
    pub(crate) folder: Option<PathBuf>,
}

#[derive(Clone)]
pub(crate) struct Address {
    /// URL with the scheme `http://` or `https://`.
    pub(crate) url: String,
    /// Headers sent with every request.
    pub(crate) headers: BTreeMap<String, SecretString>,
}

impl ServerConfig {
    /// Returns the values that no log and no chat may show.
    pub(crate) fn secrets(&self) -> impl Iterator<Item = &SecretString> {
        let named = match &self.way {
            ServerTransport::Stdio(program) => program.env.values(),
            ServerTransport::Http(address) => address.headers.values(),
        };
        // A header or variable may be longer than the value put into it, so the whole is redacted first.
        named.chain(&self.substituted.0)
    }

    /// Returns the parameters of the address, which may have a key; none for a program.
    pub(crate) fn parameters(&self) -> Option<SecretString> {
        let ServerTransport::Http(address) = &self.way else { return None };
        address.url.split_once('?').map(|(_, parameters)| SecretString::from(parameters.to_owned()))
    }

    /// Returns the hash of the transport as hexadecimal digits. It covers the program with its arguments, folder and
    /// variables, or the address. Variables count because one may name another database. Headers are left out because
    /// their tokens change while the server stays the same.
    #[must_use]
    pub fn way_hash(&self) -> String {
        let mut hash = Context::new(&SHA256);
        let mut add = |part: &[u8]| {
            // The length is hashed too, so that no two lists of parts give the same bytes.
            hash.update(&u64::try_from(part.len()).unwrap_or(u64::MAX).to_le_bytes());
            hash.update(part);
        };
        match &self.way {
            ServerTransport::Stdio(Program { command, args, folder, env }) => {
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
            ServerTransport::Http(address) => {
                add(b"http");
                add(address.url.as_bytes());
            }
        }
        hash.finish().as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Returns the name of the server's program if the `PATH` has no such program. A path with a folder is not looked up.
    #[must_use]
    pub fn missing_program(&self) -> Option<&str> {
        let ServerTransport::Stdio(program) = &self.way else { return None };
        let command = program.command.as_str();
        if command.contains('/') || program.env.contains_key("PATH") {
            return None;
        }
        let folders = std::env::var_os("PATH")?;
        let is_there = std::env::split_paths(&folders).any(|folder| folder.join(command).is_file());
        (!is_there).then_some(command)
    }

    /// Returns the transport in a few words without secrets: `stdio: npx` or `http: example.com`.
    #[must_use]
    pub fn place(&self) -> String {
        match &self.way {
            ServerTransport::Stdio(program) => {
                let command = std::path::Path::new(&program.command);
                let name = command.file_name().map(|name| name.to_string_lossy().into_owned());
                format!("stdio: {}", name.unwrap_or_default())
            }
            ServerTransport::Http(address) => {
                let url = url::Url::parse(&address.url).ok();
                format!("http: {}", url.as_ref().and_then(|url| url.host_str()).unwrap_or_default())
            }
        }
    }
}

// Arguments and addresses may hold keys, so they are never logged.
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
