//! Turns listed tools into tools that models can be offered: with names that providers accept and that no tool of
//! Figaro has, with descriptions of limited length, and with schemas that every provider accepts. A tool that cannot
//! be converted is left out, with the reason.

use std::sync::Arc;

use ring::digest::{SHA256, digest};
use rmcp::model::{Tool, ToolAnnotations};
use serde_json::{Map, Value};

use super::plain::{MAX_DESCRIPTION, MAX_NAME, plain};
use super::schema::parameters;
use crate::file::{ALL, ServerConfig};

/// Maximum number of tools of a server.
const MAX_TOOLS: usize = 200;
/// Maximum number of tools that are examined, including those left out.
const MAX_LOOKED_AT: usize = 500;
/// Maximum number of tools that are reported as left out.
const MAX_LEFT_OUT: usize = 50;
/// Maximum length of a tool's name at the server, in characters.
const MAX_REMOTE: usize = 128;
/// Hexadecimal digits of the hash that tells changed names apart.
const HASH_DIGITS: usize = 8;

/// Tool of another server.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerTool {
    /// Name for models: the server, `__`, and the tool's own name, changed where providers would refuse it.
    pub name: String,
    /// Name of the tool at the server.
    pub remote: String,
    /// Description by the tool's author, in one line.
    pub description: String,
    /// JSON Schema of the arguments, an object.
    pub parameters: Value,
    /// `true` unless the server marks the tool as read-only or not destructive.
    pub is_destructive: bool,
    /// `true` if the server says that the tool only reads, and not from the open world.
    pub only_reads: bool,
    /// `true` if the owner's file allows calls without an approval.
    pub is_approved: bool,
}

/// Tool that cannot be offered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// Name of the tool, in one line.
    pub name: String,
    /// Reason in a few words.
    pub reason: String,
}

/// Tools of a server during listing.
#[derive(Debug)]
pub(super) struct Shelf {
    server: String,
    approved: Vec<String>,
    disabled: Vec<String>,
    pub(super) tools: Vec<Arc<ServerTool>>,
    pub(super) left_out: Vec<LeftOut>,
    /// Number of tools that were not examined because there were too many.
    pub(super) beyond: usize,
    looked_at: usize,
}

impl Shelf {
    /// Creates an empty list for the server of this configuration.
    pub(super) fn of(config: &ServerConfig) -> Self {
        Self {
            server: config.name.clone(),
            approved: config.auto_approve.clone(),
            disabled: config.disabled_tools.clone(),
            tools: Vec::new(),
            left_out: Vec::new(),
            beyond: 0,
            looked_at: 0,
        }
    }

    /// Returns `true` if no more tools are examined.
    pub(super) fn is_full(&self) -> bool {
        self.tools.len() >= MAX_TOOLS || self.looked_at >= MAX_LOOKED_AT
    }

    /// Returns `true` if no tool was examined yet.
    pub(super) const fn is_untouched(&self) -> bool {
        self.looked_at == 0
    }

    /// Records why the list ends early.
    pub(super) fn cut(&mut self, reason: String) {
        self.left_out.push(LeftOut { name: "the rest of its list".to_owned(), reason });
    }

    /// Adds a tool, or records why it is left out.
    pub(super) fn add(&mut self, tool: Tool) {
        if self.is_full() {
            self.beyond += 1;
            return;
        }
        self.looked_at += 1;
        if self.disabled.iter().any(|disabled| *disabled == tool.name) {
            return;
        }
        let name = tool.name.to_string();
        let made = self.made(tool).and_then(|tool| {
            match self.tools.iter().find(|other| other.name == tool.name) {
                Some(other) if **other != tool => Err("another tool has its name".to_owned()),
                // The same tool again, as on a page that is sent twice.
                Some(_) => Ok(None),
                None => Ok(Some(tool)),
            }
        });
        match made {
            Ok(tool) => self.tools.extend(tool.map(Arc::new)),
            Err(reason) if self.left_out.len() < MAX_LEFT_OUT => {
                let name = if name.is_empty() { "(no name)" } else { &name };
                self.left_out.push(LeftOut { name: plain(name, MAX_NAME), reason });
            }
            Err(_) => self.beyond += 1,
        }
    }

    fn made(&self, tool: Tool) -> Result<ServerTool, String> {
        let remote = tool.name.into_owned();
        if remote.is_empty() || remote.chars().count() > MAX_REMOTE {
            return Err(format!("its name has not 1 to {MAX_REMOTE} characters"));
        }
        let parameters = parameters(Map::clone(&tool.input_schema))?;
        let is_destructive = is_destructive(tool.annotations.as_ref());
        let only_reads = only_reads(tool.annotations.as_ref());
        let names = |word: &str| self.approved.iter().any(|approved| approved == word);
        Ok(ServerTool {
            name: offered_name(&self.server, &remote),
            is_approved: names(&remote) || (names(ALL) && only_reads),
            description: plain(tool.description.as_deref().unwrap_or_default(), MAX_DESCRIPTION),
            remote,
            parameters,
            is_destructive,
            only_reads,
        })
    }
}

/// Returns `true` if a tool may destroy something. By the protocol, a tool without hints may.
fn is_destructive(hints: Option<&ToolAnnotations>) -> bool {
    hints.is_none_or(|hints| hints.read_only_hint != Some(true) && hints.destructive_hint != Some(false))
}

/// Returns `true` if a server says of a tool that it only reads, and not that it reads what is open to the world: an address
/// that the model chooses there can carry words away.
fn only_reads(hints: Option<&ToolAnnotations>) -> bool {
    hints.is_some_and(|hints| hints.read_only_hint == Some(true) && hints.open_world_hint != Some(true))
}

/// Returns the name for models: `server__tool`. Characters that providers refuse become `_`. A name that was changed
/// or cut ends in a hash of the whole.
fn offered_name(server: &str, remote: &str) -> String {
    let is_taken = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let changed: String = remote.chars().map(|c| if is_taken(c) { c } else { '_' }).collect();
    let whole = format!("{server}__{changed}");
    if changed == remote && whole.len() <= MAX_NAME {
        return whole;
    }
    let hash = digest(&SHA256, remote.as_bytes());
    let hash: String = hash.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    let kept = whole.get(..whole.len().min(MAX_NAME - HASH_DIGITS - 1)).unwrap_or_default();
    format!("{kept}_{}", hash.get(..HASH_DIGITS).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::time::Duration;

    use serde_json::json;

    use super::*;
    use crate::file::{Address, ServerTransport, Substituted};

    #[test]
    fn names_are_taken_by_providers_and_lead_back_to_one_tool() {
        let long = "x".repeat(100);
        let cases = [
            ("files", "read_file", "files__read_file"),
            ("files", "sendMessage", "files__sendMessage"),
            ("files", "read file", "files__read_file_6ed2ebc6"),
            ("files", "read.file", "files__read_file_a1a0e3b9"),
            ("files", &long, "files__xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx_6b9f5c41"),
        ];
        for (server, remote, wanted) in cases {
            let name = offered_name(server, remote);
            let kept = |name: &str| name.rsplit_once('_').map(|(kept, _)| kept.to_owned());
            assert!(name.len() <= MAX_NAME, "{name}");
            assert_eq!(kept(&name), kept(wanted), "{remote}");
        }
        assert_ne!(offered_name("files", "read file"), offered_name("files", "read.file"));
        assert_ne!(offered_name("files", &long), offered_name("files", &format!("{long}x")));
    }

    #[test]
    fn a_tool_destroys_unless_its_server_says_that_it_reads_or_destroys_nothing() {
        let cases = [
            (None, None, true),
            (None, Some(true), true),
            (None, Some(false), false),
            (Some(true), None, false),
            (Some(false), None, true),
            (Some(false), Some(true), true),
            (Some(false), Some(false), false),
        ];
        for (reads, destroys, wanted) in cases {
            let hints = json!({"readOnlyHint": reads, "destructiveHint": destroys});
            let hints: ToolAnnotations = serde_json::from_value(hints).unwrap();
            assert_eq!(is_destructive(Some(&hints)), wanted, "{hints:?}");
        }
        assert!(is_destructive(None));
    }

    #[test]
    fn a_tool_only_reads_if_its_server_says_so_and_it_reaches_nobody() {
        for (hints, wanted) in [
            (json!({"readOnlyHint": true}), true),
            (json!({"readOnlyHint": true, "openWorldHint": false}), true),
            (json!({"readOnlyHint": true, "openWorldHint": true}), false),
            (json!({"destructiveHint": false}), false),
            (json!({}), false),
        ] {
            let hints: ToolAnnotations = serde_json::from_value(hints).unwrap();
            assert_eq!(only_reads(Some(&hints)), wanted, "{hints:?}");
        }
        assert!(!only_reads(None));
    }

    #[test]
    fn so_many_tools_are_looked_at_and_no_more() {
        let config = ServerConfig {
            name: "many".to_owned(),
            way: ServerTransport::Http(Address { url: "http://a".to_owned(), headers: BTreeMap::new() }),
            timeout: Duration::from_secs(1),
            auto_approve: Vec::new(),
            disabled_tools: Vec::new(),
            is_disabled: false,
            substituted: Substituted::default(),
        };
        let mut shelf = Shelf::of(&config);
        // Of the first ones nobody can have any.
        for number in 0..MAX_LOOKED_AT + 10 {
            let kind = if number < MAX_LOOKED_AT - 1 { "array" } else { "object" };
            let tool = json!({"name": format!("tool_{number}"), "inputSchema": {"type": kind}});
            shelf.add(serde_json::from_value(tool).unwrap());
        }
        assert!(shelf.is_full());
        assert_eq!((shelf.tools.len(), shelf.left_out.len()), (1, MAX_LEFT_OUT));
        assert_eq!(shelf.beyond, MAX_LOOKED_AT - 1 - MAX_LEFT_OUT + 10);
    }
}
