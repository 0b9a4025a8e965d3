//! `server.json`, the entry of the MCP registry, agrees with the code.

use std::ffi::OsString;

use figaro_mcp::{Settings, VERSION};
use serde_json::Value;

use crate::support::TOKEN;

/// Variables of a server over HTTP. The registry's entry is for standard input.
const OTHERS: [&str; 2] = ["MCP_HTTP_PORT", "MCP_API_KEY"];

fn entry() -> Value {
    serde_json::from_str(include_str!("../../server.json")).unwrap()
}

#[test]
fn its_version_is_that_of_the_code() {
    let entry = entry();
    let version = VERSION.split('+').next().unwrap();
    assert_eq!(entry["version"], version);
    let image = entry["packages"][0]["identifier"].as_str().unwrap();
    assert!(image.ends_with(&format!(":{version}")), "{image}");
    // Limit of the registry.
    assert!(entry["description"].as_str().unwrap().len() <= 100);
}

#[test]
fn its_variables_are_those_of_the_help() {
    let help = Settings::parse([OsString::from("--help")], |_| None).unwrap_err().to_string();
    let (_, environment) = help.split_once("Environment:").unwrap();
    let lines = environment.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let mut known: Vec<&str> = lines.filter_map(|line| line.split_whitespace().next()).collect();
    known.retain(|name| !OTHERS.contains(name));
    let entry = entry();
    let variables = entry["packages"][0]["environmentVariables"].as_array().unwrap();
    assert!(!help.contains("--supervised") && help.contains("instead of 15 tools with"), "{help}");
    let told: Vec<&str> = variables.iter().map(|variable| variable["name"].as_str().unwrap()).collect();
    assert_eq!(told, known);
}

#[test]
fn its_arguments_and_required_variables_start_a_server() {
    let entry = entry();
    let package = &entry["packages"][0];
    let arguments = package["packageArguments"].as_array().unwrap();
    // A program of the image, which has no entry point.
    assert_eq!(arguments[0]["value"], "figaro-mcp");
    let flags = arguments[1..].iter().map(|argument| OsString::from(argument["name"].as_str().unwrap()));
    let required = package["environmentVariables"].as_array().unwrap().iter();
    let required: Vec<&str> = required
        .filter(|variable| variable["isRequired"] == true)
        .map(|variable| variable["name"].as_str().unwrap())
        .collect();
    let given = |name: &str| required.contains(&name).then(|| OsString::from(TOKEN));
    assert!(Settings::parse(flags, given).is_ok());
}
