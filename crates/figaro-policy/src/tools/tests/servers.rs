//! Calls of tools of other MCP servers.

use super::super::{CallerRole, Decision, Rules, ServerCall, decide_server};
use figaro_base::ids::ChatId;

const RULES: &str = r#"rules:
  - {name: reader, server: [files, notes], method: ["read_*", list], then: allow}
  - {name: never, server: "*", agent: tutor, then: deny, reason: a tutor has no tools}
  - {name: here, server: mail, chat: -5, role: admin, task: false, then: allow}
  - {name: two, server: bank, then: ask, people: 2, reason: two people look at money}
  - {name: telegram, server: telegram, method: sendMessage, then: allow}
  - {name: none, agent: spy, then: allow}
  - {name: sure, server: lamps, then: allow, trusted: true}
"#;

const CALL: ServerCall<'static> = ServerCall {
    server: "files",
    tool: "write",
    here: ChatId(-5),
    role: CallerRole::Owner,
    is_shut_out: false,
    agent: None,
    task: false,
    is_approved: false,
    only_reads: false,
    read: None,
};

#[test]
fn an_owner_approves_what_no_rule_opens() {
    let rules = Rules::read(RULES).unwrap();
    let (ask, allow, deny) = (Decision::Ask, Decision::Allow, Decision::Deny);
    let read = Some("https://evil.example/");
    let mail = ServerCall { server: "mail", role: CallerRole::Admin, ..CALL };
    let cases = [
        (CALL, ask, "default/mcp_server"),
        (ServerCall { is_approved: true, ..CALL }, allow, "default/auto_approve"),
        (ServerCall { tool: "read_file", ..CALL }, allow, "owner/reader"),
        (ServerCall { tool: "list", server: "notes", ..CALL }, allow, "owner/reader"),
        (ServerCall { tool: "lists", ..CALL }, ask, "default/mcp_server"),
        (ServerCall { tool: "read_file", server: "others", ..CALL }, ask, "default/mcp_server"),
        // The owner's rules come before the file of servers.
        (ServerCall { agent: Some("tutor"), is_approved: true, ..CALL }, deny, "owner/never"),
        (ServerCall { agent: Some("tutor"), tool: "read_file", ..CALL }, allow, "owner/reader"),
        (mail, allow, "owner/here"),
        (ServerCall { here: ChatId(-6), ..mail }, ask, "default/mcp_server"),
        (ServerCall { role: CallerRole::Member, ..mail }, ask, "default/mcp_server"),
        (ServerCall { task: true, ..mail }, ask, "default/mcp_server"),
        (ServerCall { server: "bank", is_approved: true, ..CALL }, ask, "owner/two"),
        // A rule that names no server is about Telegram.
        (ServerCall { agent: Some("spy"), ..CALL }, ask, "default/mcp_server"),
        (ServerCall { server: "telegram2", tool: "sendMessage", ..CALL }, ask, "default/mcp_server"),
        // The run of a task has nobody's rights, and what rules and the file open to everybody.
        (
            ServerCall { role: CallerRole::Guest, task: true, tool: "read_file", ..CALL },
            allow,
            "owner/reader",
        ),
        (
            ServerCall { role: CallerRole::Guest, task: true, is_approved: true, ..CALL },
            allow,
            "default/auto_approve",
        ),
        (ServerCall { role: CallerRole::Guest, task: true, ..CALL }, ask, "default/mcp_server"),
        // A text by others may have turned the model: what does more than read needs a press again.
        (ServerCall { tool: "read_file", read, ..CALL }, ask, "default/after_reading"),
        (ServerCall { tool: "read_file", read, task: true, ..CALL }, ask, "default/after_reading"),
        (ServerCall { tool: "read_file", read, only_reads: true, ..CALL }, allow, "owner/reader"),
        (ServerCall { is_approved: true, read, ..CALL }, ask, "default/after_reading"),
        (ServerCall { is_approved: true, read, only_reads: true, ..CALL }, allow, "default/auto_approve"),
        (ServerCall { server: "lamps", read, ..CALL }, allow, "owner/sure"),
        (ServerCall { agent: Some("tutor"), read, ..CALL }, deny, "owner/never"),
        // Nothing is called for those whose rights do not count.
        (
            ServerCall {
                role: CallerRole::Guest,
                is_shut_out: true,
                tool: "read_file",
                is_approved: true,
                ..CALL
            },
            deny,
            "limit/server_guest",
        ),
    ];
    for (call, decision, rule) in cases {
        let decided = decide_server(&rules, &call);
        assert_eq!((decided.decision, decided.rule.as_str()), (decision, rule), "{call:?}");
        assert_eq!(decided.people, if rule == "owner/two" { 2 } else { 1 });
        assert_eq!(decided.unattended, decision == ask && call.task);
        assert_eq!(decided.right, None);
    }
    assert_eq!(rules.servers(), ["files", "notes", "mail", "bank", "lamps"]);
}

#[test]
fn what_a_rule_about_another_server_cannot_say_is_told() {
    let cases = [
        (
            "server: [telegram, files]",
            ": server: a rule is about telegram or about other servers; write two rules",
        ),
        (
            "server: files\n    class: money",
            ": class is for rules about telegram, and this one names another server",
        ),
        (
            "server: files\n    own: true",
            ": own is for rules about telegram, and this one names another server",
        ),
        (
            "server: files\n    chat: \"@news\"",
            ": chat is a username, which a rule about another server does not know: give the chat's number",
        ),
        (
            "server: files\n    chat:\n      - -5\n      - elsewhere",
            ": chat is elsewhere, which never holds for another server: its calls are made in the chat where the model is",
        ),
        ("server: files\n    method: []", "an empty list never holds"),
    ];
    for (keys, wanted) in cases {
        let text = format!("rules:\n  - name: a\n    {keys}\n    then: allow\n");
        let faults = Rules::read(&text).unwrap_err();
        let faults: String = faults.iter().map(|fault| fault.in_file("policy.yaml") + "\n").collect();
        assert!(faults.contains(wanted), "{faults}");
    }
}
