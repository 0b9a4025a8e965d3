use std::collections::HashMap;

use super::*;
use figaro_files::yaml::{Misfit, TextPosition};

const GOOD: &str = r#"{
  "mcpServers": {
    "files": {
      "command": "npx",
      "args": ["-y", "@modelcontextprotocol/server-filesystem", "${HOME}/notes"],
      "env": {"TOKEN": "${TOKEN}", "LEVEL": "${LEVEL:-info}", "PLAIN": "$5"},
      "cwd": "/tmp",
      "autoApprove": ["read_file"],
      "alwaysAllow": ["list_directory"],
      "disabledTools": ["write_file"],
      "timeout": 5
    },
    "api": {
      "type": "http",
      "url": "https://example.com/mcp?key=${TOKEN}",
      "headers": {"Authorization": "Bearer ${env:TOKEN}"}
    },
    "old": {"command": "${UNSET}", "disabled": true}
  }
}"#;

fn values() -> HashMap<String, String> {
    [("HOME", "/home/ann"), ("TOKEN", "sesame"), ("EMPTY", "")]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into()
}

#[test]
fn a_file_of_another_client_is_read() {
    let servers = read(GOOD, &values()).unwrap();
    let names: Vec<&str> = servers.iter().map(|server| server.name.as_str()).collect();
    assert_eq!(names, ["api", "files", "old"]);
    assert_eq!(super::names(GOOD), ["files", "api", "old"]);
    let [api, files, old] = servers.as_slice() else { panic!() };
    let ServerTransport::Stdio(program) = &files.way else { panic!() };
    assert_eq!(program.args[2], "/home/ann/notes");
    let env: Vec<_> = exposed(&program.env).collect();
    assert_eq!(env, [("LEVEL", "info"), ("PLAIN", "$5"), ("TOKEN", "sesame")]);
    assert_eq!((files.timeout, old.timeout), (Duration::from_secs(5), Duration::from_secs(60)));
    assert_eq!(files.auto_approve, ["read_file", "list_directory"]);
    assert_eq!(files.disabled_tools, ["write_file"]);
    let ServerTransport::Http(address) = &api.way else { panic!() };
    assert_eq!(address.url, "https://example.com/mcp?key=sesame");
    assert_eq!(exposed(&address.headers).collect::<Vec<_>>(), [("Authorization", "Bearer sesame")]);
    assert!(old.is_disabled && !files.is_disabled);
    assert_eq!((files.place().as_str(), api.place().as_str()), ("stdio: npx", "http: example.com"));
}

#[test]
fn what_stood_for_a_variable_is_secret_and_changes_the_server() {
    let servers = read(GOOD, &values()).unwrap();
    let [api, files, _] = servers.as_slice() else { panic!() };
    // What stood for a variable is secret wherever it stands; where programs and homes are is none.
    let secrets = |server: &ServerConfig| -> Vec<String> {
        server.secrets().map(|secret| secret.expose_secret().to_owned()).collect()
    };
    assert_eq!(secrets(api), ["Bearer sesame", "sesame"]);
    assert_eq!(secrets(files), ["info", "$5", "sesame", "sesame"]);
    // No secret is written to a log.
    assert!(!format!("{servers:?}").contains("sesame"), "{servers:?}");
    // What is described as before is the same; what has another secret is not.
    assert_eq!(read(GOOD, &values()).unwrap(), servers);
    let mut others = values();
    others.insert("TOKEN".to_owned(), "other".to_owned());
    let changed = read(GOOD, &others).unwrap();
    assert!(changed[0] != servers[0] && changed[1] != servers[1] && changed[2] == servers[2]);
}

#[test]
fn a_name_stands_for_a_program_with_its_variables_or_an_address_whatever_its_headers() {
    let hash = |keys: &str| read(&with(keys), &values()).unwrap()[0].way_hash();
    let program = hash("\"command\": \"x\", \"args\": [\"a\", \"b\"]");
    assert_eq!(hash("\"command\": \"x\", \"args\": [\"a\", \"b\"], \"timeout\": 5"), program);
    let with_variable = "\"command\": \"x\", \"env\": {\"T\": \"key ${TOKEN}\"}";
    let mut others = values();
    others.insert("TOKEN".to_owned(), "another".to_owned());
    assert_ne!(read(&with(with_variable), &others).unwrap()[0].way_hash(), hash(with_variable));
    let address = hash("\"url\": \"http://a/\"");
    assert_eq!(hash("\"url\": \"http://a/\", \"headers\": {\"T\": \"1\"}"), address);
    let others = [
        "\"command\": \"y\", \"args\": [\"a\", \"b\"]",
        "\"command\": \"x\", \"args\": [\"ab\"]",
        "\"command\": \"x\", \"args\": [\"a\", \"b\"], \"cwd\": \"/\"",
        "\"url\": \"http://b/\"",
        "\"command\": \"x\", \"args\": [\"a\", \"b\"], \"env\": {\"DATABASE\": \"1\"}",
        "\"command\": \"x\", \"args\": [\"a\", \"b\"], \"env\": {\"DATABASE\": \"2\"}",
        "\"command\": \"x\", \"args\": [\"a\", \"b\"], \"env\": {\"OTHER\": \"2\"}",
    ];
    let hashes: std::collections::BTreeSet<String> = others.iter().map(|other| hash(other)).collect();
    assert_eq!(hashes.len(), others.len());
    for other in others {
        assert!(![&program, &address].contains(&&hash(other)), "{other}");
    }
}

/// A file with a server of these keys.
fn with(keys: &str) -> String {
    format!("{{\"mcpServers\": {{\"a\": {{{keys}}}}}}}")
}

#[test]
fn each_mistake_is_told_with_its_place() {
    let many: Vec<String> = (0..60).map(|at| format!("\"s{at}\": {{\"command\": \"x\"}}")).collect();
    let cases = [
        String::new(),
        "{\"mcpServers\": {},}".to_owned(),
        "{\n  // my servers\n}".to_owned(),
        "[]".to_owned(),
        "{}".to_owned(),
        "{\"mcpServer\": {}}".to_owned(),
        "{\"servers\": {}}".to_owned(),
        "{\"mcpServers\": {}, \"inputs\": []}".to_owned(),
        "{\"mcpServers\": {}, \"mcpServers\": {}}".to_owned(),
        "{\"mcpServers\": []}".to_owned(),
        "{\"mcpServers\": {\"a b\": {\"command\": \"x\"}, \"a__b\": {\"command\": \"x\"}, \"1\": {\"command\": \"x\"}}}".to_owned(),
        "{\"mcpServers\": {\"a_\": {\"command\": \"x\"}, \"a\": {\"command\": \"x\"}}}".to_owned(),
        "{\"mcpServers\": {\"Telegram\": {\"command\": \"x\"}, \"a\": {\"command\": \"x\"}, \"a\": {\"command\": \"y\"}}}".to_owned(),
        format!("{{\"mcpServers\": {{{}}}}}", many.join(",")),
        "{\"mcpServers\": {\"a\": \"npx\"}}".to_owned(),
        with(""),
        with("\"command\": \"x\", \"url\": \"http://a\""),
        with("\"command\": \"\""),
        with("\"command\": \"x\", \"command\": \"y\""),
        with("\"comand\": \"x\""),
        with("\"command\": [\"x\"]"),
        with("\"command\": \"x\", \"args\": \"-y\""),
        with("\"command\": \"x\", \"args\": [1, true, {}]"),
        with("\"command\": \"x\", \"env\": [\"A=1\"]"),
        with("\"command\": \"x\", \"env\": {\"A\": 1, \"B C\": \"x\"}"),
        with("\"command\": \"x\", \"env\": {\"A\": \"${NOPE}\", \"B\": \"${EMPTY}\", \"C\": \"${input:key}\", \"D\": \"${A\"}"),
        with("\"command\": \"x\", \"headers\": {}"),
        with("\"command\": \"x\", \"type\": \"http\""),
        with("\"url\": \"http://a\", \"type\": \"stdio\""),
        with("\"url\": \"http://a\", \"type\": \"sse\""),
        with("\"url\": \"http://a\", \"type\": \"htp\""),
        with("\"url\": \"example.com\""),
        with("\"url\": \"ftp://example.com\""),
        with("\"url\": \"https://ann:secret@example.com\""),
        with("\"url\": \"http://a\", \"args\": [], \"env\": {}, \"cwd\": \"/\""),
        with("\"url\": \"http://a\", \"headers\": {\"A B\": \"x\", \"Host\": \"x\", \"X-Y\": \"a\\nb\"}"),
        with("\"httpUrl\": \"http://a\""),
        with("\"url\": \"http://a\", \"oauth\": {}, \"trust\": true, \"envFile\": \".env\""),
        with("\"command\": \"x\", \"timeout\": 60000, \"disabled\": \"no\""),
        with("\"command\": \"x\", \"autoApprove\": true, \"disabledTools\": \"x\""),
    ];
    let line = |Misfit { at, words }: Misfit| match at {
        Some(TextPosition { line, column }) => format!("  {line}:{column}: {words}"),
        None => format!("  {words}"),
    };
    let told = |text: &String| {
        let faults = read(text, &values()).expect_err(text);
        let faults: Vec<String> = faults.into_iter().map(line).collect();
        format!("{}\n{}", figaro_base::text::one_line(text, 120), faults.join("\n"))
    };
    insta::assert_snapshot!(cases.iter().map(told).collect::<Vec<_>>().join("\n\n"));
}
