//! Settings of the process: flags on the command line, everything else in the environment. Read once, by `process`. Secrets
//! come only through the environment: other users of a machine can read the command line.

use std::ffi::OsString;

use clap::{CommandFactory, Parser};
use reqwest::Url;
use secrecy::SecretString;

use crate::body::MAX_JSON;
use crate::catalog::MethodSelection;
use crate::files::UploadLimits;
use crate::proxy::Proxies;
use crate::table::Class;
use crate::tokens::BotTokens;

const API_URL: &str = "https://api.telegram.org";
const PORT: u16 = 3001;

/// All settings, validated.
#[derive(Debug)]
pub struct Settings {
    /// Port on 127.0.0.1, for the parent alone if there is one; 0 picks a free port.
    pub(crate) port: u16,
    /// Port on 127.0.0.1 for other clients under a parent; `None` without a key for them. 0 picks a free port.
    pub(crate) outside_port: Option<u16>,
    /// `true` to serve the parent while the port for other clients is in use, and to open it once free.
    pub(crate) wait_for_port: bool,
    /// `true` if a parent holds standard input and paces the calls.
    pub(crate) supervised: bool,
    /// `true` to serve one client on standard input and output, without a socket.
    pub(crate) stdio: bool,
    pub(crate) choice: MethodSelection,
    /// `true` to list every method instead of the everyday ones.
    pub(crate) lists_all: bool,
    /// `true` to read the bot's updates and serve them as a resource.
    pub(crate) with_updates: bool,
    /// Maximum size of a file in either direction, in bytes.
    pub(crate) max_file_bytes: usize,
    /// Token of the bot that acts, of valid form; `None` for those of a parent alone.
    pub(crate) token: Option<SecretString>,
    /// Bots of a parent, which names them while it runs.
    pub(crate) bots: BotTokens,
    /// Base URL of the Bot API.
    pub(crate) api_url: Url,
    pub(crate) proxies: Proxies,
    /// Accepted bearer keys; empty if none is required.
    pub(crate) keys: Vec<SecretString>,
}

/// Error of reading the settings.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// Help or version was requested, or a flag is invalid; print it.
    #[error(transparent)]
    Usage(#[from] clap::Error),
    /// All faults, one line each.
    #[error("{}", .0.join("; "))]
    Invalid(Vec<String>),
}

/// The Telegram Bot API as an MCP server, over streamable HTTP on 127.0.0.1 or over standard input and output
#[derive(Debug, Parser)]
#[command(name = "figaro-mcp", version = crate::VERSION, no_binary_name = true, after_help = ENVIRONMENT)]
struct Flags {
    /// End as soon as standard input closes, and leave pacing to the parent
    #[arg(long, hide = true)]
    supervised: bool,
    /// Also serve getUpdates, setWebhook, deleteWebhook, logOut and close
    #[arg(long)]
    with_lifecycle: bool,
    /// Speak MCP on standard input and output instead of HTTP, for a client that starts this process
    #[arg(long, conflicts_with = "supervised")]
    stdio: bool,
    /// Serve only the methods of these classes, like `read,message`
    #[arg(long, value_name = "CLASSES", value_delimiter = ',', value_parser = class)]
    only: Vec<Class>,
    /// List every method, 230,000 tokens, instead of 15 tools with find_telegram_methods and call_telegram_method
    #[arg(long)]
    all: bool,
    /// Read the bot's incoming messages as the resource telegram://updates; no other process may read them
    #[arg(long, conflicts_with = "supervised")]
    with_updates: bool,
    /// The most file content of one call, in MiB, to send or to fetch; Telegram itself takes 50 and gives 20
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..=2000))]
    max_file_mb: u16,
}

fn class(name: &str) -> Result<Class, String> {
    serde_json::from_value(name.into()).map_err(|error| error.to_string())
}

/// Variables for people. A parent also sets `FIGARO_MCP_KEY`, its own bearer key, and `FIGARO_MCP_RESTARTED` when a server
/// before this one died: then this one starts also while `MCP_HTTP_PORT` is taken, and takes it once it is free.
const ENVIRONMENT: &str = "\
Environment:
  TELEGRAM_BOT_TOKEN  the bot's token from @BotFather (required)
  TELEGRAM_API_URL    own Bot API server [default: https://api.telegram.org]
  TELEGRAM_PROXY      proxy for it, like socks5h://host:1080, or off
                      [default: HTTPS_PROXY, ALL_PROXY]
  MCP_HTTP_PORT       port on 127.0.0.1, 0 for any free one [default: 3001]
  MCP_API_KEY         bearer key that clients must send; without one, no key is asked for
  RUST_LOG            what to log on standard error [default: info,rmcp=warn]
  LOG_FORMAT          json for one JSON object a line";

/// Returns the command line, for its documentation.
#[must_use]
pub fn command_line() -> clap::Command {
    Flags::command()
}

impl Settings {
    /// Parses flags (without the program's name) and environment.
    ///
    /// # Errors
    /// All mistakes at once, without secrets.
    pub fn parse(
        args: impl IntoIterator<Item = OsString>,
        env: impl Fn(&str) -> Option<OsString>,
    ) -> Result<Self, SettingsError> {
        let flags = Flags::try_parse_from(args)?;
        let mut read = EnvReader { env, faults: Vec::new() };
        let token = read.token(flags.supervised);
        let api_url = read.api_url();
        let proxies = read.proxies();
        let port = read.port();
        let parent_key = read.text("FIGARO_MCP_KEY");
        if flags.supervised && parent_key.is_none() {
            read.faults
                .push("FIGARO_MCP_KEY is missing: --supervised is for a parent, which sets it".to_owned());
        }
        if flags.only.contains(&Class::Lifecycle) && !flags.with_lifecycle {
            read.faults.push("--only lifecycle serves nothing without --with-lifecycle: add it".to_owned());
        }
        let outside_key = read.text("MCP_API_KEY");
        let wait_for_port = read.text("FIGARO_MCP_RESTARTED").is_some();
        let has_outside = flags.supervised && outside_key.is_some();
        let keys = parent_key.into_iter().chain(outside_key).map(SecretString::from).collect();
        match (api_url, port) {
            (Some(api_url), Some(port)) if read.faults.is_empty() => Ok(Self {
                port: if flags.supervised { 0 } else { port },
                outside_port: has_outside.then_some(port),
                wait_for_port,
                supervised: flags.supervised,
                stdio: flags.stdio,
                choice: MethodSelection { only: flags.only, with_lifecycle: flags.with_lifecycle },
                with_updates: flags.with_updates,
                lists_all: flags.all || flags.supervised,
                max_file_bytes: usize::from(flags.max_file_mb) << 20,
                token,
                bots: BotTokens::default(),
                api_url,
                proxies,
                keys,
            }),
            _ => Err(SettingsError::Invalid(read.faults)),
        }
    }
}

impl Settings {
    /// Returns the maximum size of a message in bytes. Base64 takes four bytes for three.
    pub(crate) const fn max_message_bytes(&self) -> usize {
        MAX_JSON + self.max_file_bytes / 3 * 4
    }

    pub(crate) fn file_limits(&self) -> UploadLimits {
        UploadLimits {
            bytes: self.max_file_bytes,
            of_telegram: self.api_url.as_str().trim_end_matches('/') == API_URL,
        }
    }
}

/// Reads variables and collects their faults.
struct EnvReader<E> {
    env: E,
    faults: Vec<String>,
}

impl<E: Fn(&str) -> Option<OsString>> EnvReader<E> {
    /// Reads a variable; an empty one counts as missing, as an `.env` file leaves it.
    fn text(&mut self, name: &str) -> Option<String> {
        match (self.env)(name)?.into_string() {
            Ok(text) if text.is_empty() => None,
            Ok(text) => Some(text),
            Err(_) => {
                self.faults.push(format!("{name} is not UTF-8: set it again"));
                None
            }
        }
    }

    /// Reads the token. Only a parent may leave it out, as it names its bots itself.
    fn token(&mut self, is_optional: bool) -> Option<SecretString> {
        let fault = match self.text("TELEGRAM_BOT_TOKEN") {
            Some(token) if is_token(&token) => return Some(token.into()),
            Some(_) => {
                "TELEGRAM_BOT_TOKEN is not a token: copy it whole from @BotFather, like 123456:ABC-def"
            }
            None if is_optional => return None,
            None => {
                "TELEGRAM_BOT_TOKEN is missing: set it to the token @BotFather gave you, like 123456:ABC-def"
            }
        };
        self.faults.push(fault.to_owned());
        None
    }

    fn api_url(&mut self) -> Option<Url> {
        let text = self.text("TELEGRAM_API_URL").unwrap_or_else(|| API_URL.to_owned());
        let url =
            Url::parse(&text).ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
        if url.is_none() {
            self.faults.push(format!(
                "TELEGRAM_API_URL is not an http(s) URL: set it like {API_URL}, or leave it out"
            ));
        }
        url
    }

    fn proxies(&mut self) -> Proxies {
        let look_up =
            |name: &str| (self.env)(name)?.into_string().ok().filter(|text| !text.trim().is_empty());
        Proxies::read("TELEGRAM_PROXY", look_up).unwrap_or_else(|name| {
            self.faults
                .push(format!("{name} is not the address of a proxy: set it like socks5h://host:1080"));
            Proxies::default()
        })
    }

    fn port(&mut self) -> Option<u16> {
        let Some(text) = self.text("MCP_HTTP_PORT") else {
            return Some(PORT);
        };
        let port = text.parse().ok();
        if port.is_none() {
            // The value is not shown: it may be a misplaced secret.
            self.faults.push(
                "MCP_HTTP_PORT is no port: set it to a number from 0 (any free port) to 65535".to_owned(),
            );
        }
        port
    }
}

/// Checks for digits, a colon, and at least three letters, digits, `_` or `-`.
fn is_token(text: &str) -> bool {
    let Some((id, secret)) = text.split_once(':') else {
        return false;
    };
    let letter = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'-';
    !id.is_empty()
        && id.bytes().all(|b| b.is_ascii_digit())
        && secret.len() >= 3
        && secret.bytes().all(letter)
}

#[cfg(test)]
mod tests {
    use super::*;
    use secrecy::ExposeSecret;

    fn parse(args: &[&str], env: &[(&str, &str)]) -> Result<Settings, SettingsError> {
        let look_up =
            |name: &str| env.iter().find(|(key, _)| *key == name).map(|(_, value)| OsString::from(value));
        Settings::parse(args.iter().map(OsString::from), look_up)
    }

    #[test]
    fn defaults_need_only_a_token() {
        let settings = parse(&[], &[("TELEGRAM_BOT_TOKEN", "1:abc"), ("MCP_API_KEY", "")]).unwrap();
        assert_eq!(
            (settings.port, settings.supervised, settings.choice.with_lifecycle),
            (3001, false, false)
        );
        assert_eq!(settings.api_url.as_str(), "https://api.telegram.org/");
        assert!(settings.keys.is_empty());
    }

    #[test]
    fn both_keys_are_valid() {
        let env = [("TELEGRAM_BOT_TOKEN", "1:abc"), ("MCP_API_KEY", "outside"), ("FIGARO_MCP_KEY", "parent")];
        let settings = parse(&["--supervised", "--with-lifecycle"], &env).unwrap();
        let keys: Vec<_> = settings.keys.iter().map(ExposeSecret::expose_secret).collect();
        assert_eq!(keys, ["parent", "outside"]);
        assert!(settings.supervised && settings.choice.with_lifecycle);
    }

    #[test]
    fn a_parent_has_a_port_of_its_own_and_others_get_in_with_a_key_only() {
        let token = ("TELEGRAM_BOT_TOKEN", "1:abc");
        let (parent, outside) = (("FIGARO_MCP_KEY", "parent"), ("MCP_API_KEY", "outside"));
        let port = ("MCP_HTTP_PORT", "4000");
        let again = ("FIGARO_MCP_RESTARTED", "1");
        let cases: [(&[&str], &[_], _); 5] = [
            (&[], &[token, port], (4000, None)),
            (&[], &[token, port, outside], (4000, None)),
            (&["--supervised"], &[token, parent, port], (0, None)),
            (&["--supervised"], &[token, parent, port, outside], (0, Some(4000))),
            (&["--supervised"], &[token, parent, outside, again], (0, Some(3001))),
        ];
        for (args, env, wanted) in cases {
            let settings = parse(args, env).unwrap();
            assert_eq!((settings.port, settings.outside_port), wanted, "{args:?}");
            assert_eq!(settings.wait_for_port, env.contains(&again));
        }
    }

    #[test]
    fn all_mistakes_are_told_at_once_and_show_no_secret() {
        let env = [
            ("TELEGRAM_BOT_TOKEN", "sesame"),
            ("TELEGRAM_API_URL", "sesame"),
            ("TELEGRAM_PROXY", "tg://sesame"),
            ("MCP_HTTP_PORT", "sesame"),
        ];
        let Err(SettingsError::Invalid(faults)) = parse(&["--supervised"], &env) else { panic!("accepted") };
        let names: Vec<_> = faults.iter().filter_map(|fault| fault.split(' ').next()).collect();
        let wanted =
            ["TELEGRAM_BOT_TOKEN", "TELEGRAM_API_URL", "TELEGRAM_PROXY", "MCP_HTTP_PORT", "FIGARO_MCP_KEY"];
        assert_eq!(names, wanted);
        assert!(!faults.join("\n").contains("sesame"));
        assert!(matches!(parse(&[], &[]), Err(SettingsError::Invalid(faults)) if faults.len() == 1));
    }

    #[test]
    fn secrets_are_no_options() {
        for flag in ["--token", "--telegram-bot-token=1:abc", "--figaro-mcp-key=x", "--mcp-api-key=x"] {
            assert!(matches!(parse(&[flag], &[]), Err(SettingsError::Usage(_))), "{flag}");
        }
    }

    #[test]
    fn tokens_have_a_form() {
        let cases = [
            ("123456:ABC-def_1", true),
            ("1:abc", true),
            ("1:ab", false),
            (":abc", false),
            ("1a:abc", false),
            ("1:abc d", false),
            ("1:abc/..", false),
            ("1:a:c", false),
            ("abc", false),
        ];
        for (token, wanted) in cases {
            assert_eq!(is_token(token), wanted, "{token}");
        }
    }
}
