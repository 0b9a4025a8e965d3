//! Keys of the file, and keys of other clients that are written differently here.

/// Key that holds the servers.
pub(super) const SERVERS: &str = "mcpServers";
/// Names that would be confused with Figaro's own tools.
pub(super) const OWN: [&str; 2] = ["telegram", "figaro"];
/// Keys allowed in a server.
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
/// Keys of other clients, each with the advice for this file.
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
/// Headers that the protocol sets. The file may not set them.
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
