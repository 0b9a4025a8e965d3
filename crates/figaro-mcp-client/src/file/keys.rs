//! The keys of the file, and those of other clients that mean something else here.

/// The key that holds the servers.
pub(super) const SERVERS: &str = "mcpServers";
/// Names that would be taken for Figaro's own.
pub(super) const OWN: [&str; 2] = ["telegram", "figaro"];
/// What a server can have.
pub(super) const KEYS: [&str; 12] = [
    "type",
    "command",
    "args",
    "env",
    "cwd",
    "url",
    "headers",
    "disabled",
    "timeout",
    "autoApprove",
    "alwaysAllow",
    "disabledTools",
];
const NO_OAUTH: &str = "OAuth is not supported: put a token into headers";
/// What other clients have, and what to do here.
pub(super) const ELSEWHERE: [(&str, &str); 11] = [
    ("httpUrl", "write url"),
    ("serverUrl", "write url"),
    ("workingDirectory", "write cwd"),
    ("envFile", "name each variable in env, as \"NAME\": \"${NAME}\""),
    ("enabled", "write disabled"),
    ("trust", "list tools in autoApprove"),
    ("oauth", NO_OAUTH),
    ("auth", NO_OAUTH),
    ("authorization", NO_OAUTH),
    ("includeTools", "an agent lists the tools that it has"),
    ("excludeTools", "write disabledTools"),
];
/// Headers that the protocol sets.
pub(super) const RESERVED: [&str; 9] = [
    "accept",
    "connection",
    "content-length",
    "content-type",
    "host",
    "last-event-id",
    "mcp-protocol-version",
    "mcp-session-id",
    "transfer-encoding",
];
