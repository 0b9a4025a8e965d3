//! Files of agents: what is read of them, and what is told of each mistake.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::*;
use figaro_domain::agent::Agent;
use figaro_domain::chat::ChatConfig;
use figaro_domain::generation::Generation;

const BUILT_IN: [&str; 5] = ["default", "extractor", "orchestrator", "researcher", "scheduled"];

const GOOD: &str = "type: object
description: |
  Be brief.
  - Really.
json_schema_extra:
  kind: agent
  name: brief
  version: 1.10
  model: ollama:qwen3:8b
  settings: {temperature: 0.2, max_tokens: 300}
  agents:
    - researcher
  tools:
    - name: web_search
";

const STRUCTURED: &str = "type: object
description: Take it apart.
properties:
  mood: {type: string, enum: [good, bad]}
  parts:
    type: array
    items: {type: object, properties: {name: {type: string}}}
required: [mood]
json_schema_extra:
  kind: agent
  name: taker
  version: \"1\"
  structured_output: true
";

fn names() -> AgentFileNames {
    let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    AgentFileNames {
        servers: owned(&["files", "github"]),
        tools: owned(&[
            "action",
            "add_note",
            "draw",
            "ask_agent",
            "list_notes",
            "list_tasks",
            "lookup",
            "read_document",
            "read_page",
            "recall",
            "search_documents",
            "remove_note",
            "sendDocument",
            "sendLocation",
            "sendMessage",
            "sendPhoto",
            "sendPoll",
            "setMessageReaction",
            "web_search",
        ]),
        providers: owned(&["ollama", "openai"]),
    }
}

/// A folder of agents with these files.
fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

fn load(folder: &Path) -> Result<AgentSet, Vec<String>> {
    AgentFiles::of(folder).read("prompts/agents", Some(&names()))
}

fn read(file: &str, text: &str) -> Result<AgentSet, Vec<String>> {
    load(folder(&[(file, text)]).path())
}

#[test]
fn a_folder_adds_agents_and_replaces_those_built_in() {
    let bare = "type: object\ndescription: Do nothing.\njson_schema_extra: {kind: agent, name: scheduled, version: mine}";
    let folder = folder(&[
        ("brief.yaml", GOOD),
        ("scheduled.yaml", bare),
        ("README.md", "no agent"),
        (".brief.yaml.swp.yaml", "no agent"),
    ]);
    let agents = load(folder.path()).unwrap();
    let mut all: Vec<&str> = agents.all().map(|agent| agent.name.as_str()).collect();
    all.retain(|name| *name != "brief");
    assert_eq!(all, BUILT_IN);
    let brief = Agent {
        name: "brief".into(),
        version: "1.10".into(),
        instructions: "Be brief.\n- Really.".into(),
        tools: vec!["web_search".into()],
        server_tools: Vec::new(),
        agents: vec!["researcher".into()],
        speaks: false,
        reactions: BTreeMap::new(),
        answer: None,
        model: Some("ollama:qwen3:8b".parse().unwrap()),
        settings: Generation { temperature: Some(0.2), max_tokens: Some(300), ..Generation::default() },
    };
    assert_eq!(**agents.get("brief").unwrap(), brief);
    assert_eq!(brief.summary(), "Be brief");
    let replaced = agents.get("scheduled").unwrap();
    assert_eq!((replaced.version.as_str(), replaced.tools.len()), ("mine", 0), "no tools listed, none given");
    let is_built_in = ["brief", "scheduled", "researcher"].map(|name| agents.is_built_in(name));
    assert_eq!(is_built_in, [false, false, true]);
}

#[test]
fn without_a_folder_there_are_those_built_in_and_they_fit() {
    let nowhere = tempfile::tempdir().unwrap();
    for agents in [
        load(&nowhere.path().join("none")).unwrap(),
        load(nowhere.path()).unwrap(),
        AgentFiles::of_prompts(None).read("prompts/agents", Some(&names())).unwrap(),
    ] {
        assert_eq!(agents.all().map(|agent| agent.name.as_str()).collect::<Vec<_>>(), BUILT_IN);
        let choosable: Vec<&str> = agents.choosable().map(|agent| agent.name.as_str()).collect();
        assert_eq!(choosable, ["extractor", "orchestrator", "researcher"]);
    }
}

#[test]
fn the_default_is_figaro_itself_until_an_owner_writes_one() {
    let config =
        |agent: Option<&str>| ChatConfig { agent: agent.map(str::to_owned), ..ChatConfig::default() };
    let answering =
        |agents: &AgentSet, chosen| agents.answering(&config(chosen)).map(|agent| agent.name.clone());
    let built_in = load(folder(&[]).path()).unwrap();
    assert_eq!(answering(&built_in, None), None);
    assert_eq!(answering(&built_in, Some("default")), None);
    assert_eq!(answering(&built_in, Some("gone")), None);
    assert_eq!(answering(&built_in, Some("researcher")).as_deref(), Some("researcher"));
    let own = GOOD.replace("name: brief", "name: default");
    let own = read("default.yaml", &own).unwrap();
    for (chosen, wanted) in [(None, "default"), (Some("gone"), "default"), (Some("extractor"), "extractor")] {
        assert_eq!(answering(&own, chosen).as_deref(), Some(wanted), "{chosen:?}");
    }
}

#[test]
fn a_structured_answer_has_a_schema_of_its_own() {
    let agents = read("taker.yaml", STRUCTURED).unwrap();
    let wanted = json!({
        "type": "object",
        "properties": {
            "mood": {"type": "string", "enum": ["good", "bad"]},
            "parts": {"type": "array", "items": {"type": "object", "properties": {"name": {"type": "string"}}}},
        },
        "required": ["mood"],
        "additionalProperties": false,
    });
    assert_eq!(agents.get("taker").unwrap().answer.as_ref(), Some(&wanted));
    let open = STRUCTURED.replace("required:", "additionalProperties: {type: string}\nrequired:");
    let agents = read("taker.yaml", &open).unwrap();
    assert_eq!(
        agents.get("taker").unwrap().answer.as_ref().unwrap()["additionalProperties"],
        json!({"type": "string"})
    );
    // Without it the properties are a note for readers.
    let noted = STRUCTURED.replace("structured_output: true", "structured_output: false");
    assert_eq!(read("taker.yaml", &noted).unwrap().get("taker").unwrap().answer, None);
}

/// A change that makes a file wrong, and whether the published schema can see it.
struct Case(&'static str, &'static str, bool);

const MISTAKES: [Case; 58] = [
    Case("type: object", "type: array", true),
    Case("type: object", "typ: object", true),
    Case("type: object", "type: object\ntype: object", false),
    Case("  kind: agent", "  kind: agent\n  colour: red", true),
    Case("  kind: agent", "  kind: persona", true),
    Case("temperature", "temprature", true),
    Case("temperature: 0.2", "temperature: 3", true),
    Case("temperature: 0.2", "temperature: warm", true),
    Case("max_tokens: 300", "max_tokens: 0", true),
    Case("- name: web_search", "- tool: web_search", true),
    Case("- name: web_search", "- web_search", true),
    Case("tools:\n    - name: web_search", "tools: web_search", true),
    Case("name: web_search", "name: web_serach", true),
    Case("name: web_search", "name: teleport_home", true),
    Case("name: web_search", "name: lookup\n    - name: lookup", false),
    Case("name: web_search", "name: lookup\n    - name: \"*\"", false),
    Case("name: web_search", "name: lookup\n      server: githb", true),
    Case("  version: 1.10\n", "", true),
    Case("Be brief.\n  - Really.", "", false),
    Case("name: brief", "name: curt", false),
    Case("name: brief", "name: Brief", true),
    Case("name: brief", "name: ../brief", true),
    Case("name: brief", "name: a23456789a23456789a23456789a23456789a2345", true),
    Case("ollama:qwen3:8b", "qwen3", true),
    Case("ollama:qwen3:8b", "olama:qwen3:8b", true),
    Case("- researcher", "- reseacher", false),
    Case("- researcher", "- brief", false),
    Case("- researcher", "- researcher\n    - researcher", false),
    Case("- researcher", "- somebody_else", false),
    Case("  kind: agent", "  kind: agent\n  structured_output: true", false),
    Case("  kind: agent", "  kind: agent\n  structured_output: maybe", true),
    Case("  kind: agent", "  kind: agent\n  speaks: 7", true),
    Case("    - name: web_search\n", "    - name: web_search\n   - name: lookup\n", false),
    Case("version: 1.10", "version:", false),
    Case("description: |\n  Be brief.\n  - Really.", "description:", false),
    Case("name: brief", "name:", false),
    Case("max_tokens: 300", "max_tokens: many", true),
    Case("    - researcher", "    - name: researcher", true),
    Case("agents:\n    - researcher", "agents: [{name: researcher}]", true),
    Case("description: |\n  Be brief.\n  - Really.", "description: [a]", true),
    Case("  kind: agent", "\tkind: agent", false),
    Case("description: |\n  Be brief.\n  - Really.", "description: You help. Note: be brief.", false),
    Case("description: |\n  Be brief.", "description: |\nYou are brief", false),
    Case("name: web_search", "name: *", false),
    Case("tools:\n    - name: web_search", "tools:\n    -name: web_search", false),
    Case("    - name: web_search\n", "    - name: web_search\n    -name: lookup\n", false),
    Case("type: object", "type: object\nname: brief", true),
    Case("type: object", "type: object\ntemperature: 1", true),
    Case("type: object", "type: object\ninstructions: Be brief.", true),
    Case("  kind: agent", "  kind: agent\n  temperature: 1", true),
    Case("  kind: agent", "  kind: agent\n  required: [mood]", true),
    Case("  kind: agent", "  kind: agent\n  prompt: Be brief.", true),
    Case("- researcher", "- default", false),
    Case("- researcher", "- scheduled", false),
    Case("ollama:qwen3:8b", "anthropic:claude", true),
    Case("  kind: agent", "  kind: agent\n  speaks: often", true),
    Case(GOOD, "", false),
    Case(GOOD, "# Nothing yet.\n", false),
];

const WRONG_ANSWERS: [(&str, &str); 5] = [
    ("required: [mood]", "required: [moood]"),
    ("type: string, enum", "type: strnig, enum"),
    ("mood: {type: string, enum: [good, bad]}", "mood: {type: string, pattern: \"(\"}"),
    ("enum: [good, bad]", "enum: good"),
    ("items: {type: object,", "items: {$ref: \"#/nowhere\","),
];

#[test]
fn each_mistake_is_told_with_its_place() {
    let mut told = String::new();
    for Case(there, instead, _) in &MISTAKES {
        let text = GOOD.replacen(there, instead, 1);
        assert_ne!(text, GOOD, "{there}");
        tell(&mut told, &format!("{there:?} -> {instead:?}"), &read("brief.yaml", &text).unwrap_err());
    }
    for (there, instead) in WRONG_ANSWERS {
        let text = STRUCTURED.replacen(there, instead, 1);
        assert_ne!(text, STRUCTURED, "{there}");
        tell(&mut told, &format!("{there:?} -> {instead:?}"), &read("taker.yaml", &text).unwrap_err());
    }
    insta::assert_snapshot!(told);
}

#[test]
fn two_documents_in_a_file_are_told_in_words() {
    let faults = read("brief.yaml", &format!("{GOOD}---\n{GOOD}")).unwrap_err();
    let [fault] = &faults[..] else { panic!("{faults:?}") };
    assert!(
        fault.starts_with("prompts/agents/brief.yaml:") && fault.contains("more than one document"),
        "{fault}"
    );
    assert!(!fault.contains("multidoc"), "{fault}");
}

fn tell(told: &mut String, change: &str, faults: &[String]) {
    assert!(faults.iter().all(|fault| fault.lines().count() == 1), "{faults:?}");
    writeln!(told, "{change}\n  {}", faults.join("\n  ")).unwrap();
}

#[test]
fn all_faults_of_all_files_are_told_together_in_the_order_of_their_lines() {
    let two =
        GOOD.replace("ollama:qwen3:8b", "qwen3").replace("0.2", "3").replace("web_search", "web_serach");
    let other = GOOD.replace("name: brief", "name: d").replace("- researcher", "- brief");
    let folder = folder(&[("brief.yaml", &two), ("b.yml", GOOD), ("c.yaml", "- a"), ("d.yaml", &other)]);
    fs::write(folder.path().join("e.yaml"), [0xff, 0xfe]).unwrap();
    let faults = load(folder.path()).unwrap_err();
    let places: Vec<&str> = faults.iter().filter_map(|fault| fault.split(": ").next()).collect();
    let wanted = [
        "prompts/agents/b.yml",
        "prompts/agents/brief.yaml:9:10",
        "prompts/agents/brief.yaml:10:27",
        "prompts/agents/brief.yaml:14:13",
        "prompts/agents/c.yaml:1:1",
        "prompts/agents/e.yaml",
    ];
    assert_eq!(places, wanted, "an agent whose file is wrong is known all the same: {faults:#?}");
    assert!(faults[0].ends_with("the file of an agent ends in .yaml"), "{faults:?}");
    assert!(faults[5].contains("cannot be read: "), "{faults:?}");
    let file = folder.path().join("file");
    fs::write(&file, "no folder").unwrap();
    assert!(
        load(&file).unwrap_err()[0].ends_with("/file cannot be read: a file stands where a folder has to be")
    );
}

#[test]
fn the_examples_of_the_guide_are_agents() {
    let guide = include_str!("../../../../docs/agents.md");
    let blocks = guide.split("```yaml\n").skip(1).filter_map(|rest| rest.split("```").next());
    let examples: Vec<&str> = blocks.filter(|block| block.starts_with("type: object")).collect();
    assert_eq!(examples.len(), 5, "{guide}");
    // Together, as one of them asks others.
    let folder = folder(&[]);
    let name = |example: &str| {
        example.lines().find_map(|line| line.strip_prefix("  name: ")).map(str::to_owned).unwrap()
    };
    for example in &examples {
        fs::write(folder.path().join(format!("{}.yaml", name(example))), example).unwrap();
    }
    let agents = load(folder.path()).unwrap();
    for example in examples {
        assert!(!agents.is_built_in(&name(example)), "{example}");
        assert!(validates(&schema(&names()), example), "{example}");
    }
    assert_eq!(agents.files().advice().into_values().flatten().collect::<Vec<_>>(), Vec::<&str>::new());
}

#[test]
fn what_has_no_effect_is_said_of_files_that_are_right() {
    let advice = |name: &str, text: &str| {
        let agents = read(&format!("{name}.yaml"), text).unwrap();
        agents.files().advice().remove(name).unwrap()
    };
    let unused = "agents are listed, but neither ask_agent nor action is among its tools";
    assert_eq!(advice("brief", GOOD), [unused]);
    for tool in ["ask_agent", "action", "\"*\""] {
        let text = GOOD.replace("web_search", tool);
        assert_eq!(advice("brief", &text), Vec::<&str>::new(), "{tool}");
    }
    let alone = GOOD.replace("  agents:\n    - researcher\n", "").replace("web_search", "ask_agent");
    assert_eq!(advice("brief", &alone), ["it has ask_agent, but agents lists none to ask"]);
    assert_eq!(advice("taker", STRUCTURED), Vec::<&str>::new());
    let noted = STRUCTURED.replace("  structured_output: true\n", "");
    assert_eq!(
        advice("taker", &noted),
        [
            "properties and required bind nothing without structured_output: true; write false if that is meant"
        ]
    );
    let default = STRUCTURED.replace("name: taker", "name: default");
    assert!(advice("default", &default)[0].ends_with("has no tools: list \"*\" to keep all"));
    let built_in = load(folder(&[]).path()).unwrap().files().advice();
    assert!(built_in.values().all(Vec::is_empty), "{built_in:?}");
}

/// The published schema, as an editor applies it.
fn validates(schema: &Value, text: &str) -> bool {
    let file: BTreeMap<String, Value> = serde_saphyr::from_str(text).unwrap();
    jsonschema::validator_for(schema).unwrap().is_valid(&json!(file))
}

#[test]
fn the_published_schema_takes_what_the_loader_takes_and_sees_most_mistakes() {
    let schema = schema(&names());
    jsonschema::meta::validate(&schema).unwrap();
    let built_in =
        BUILT_IN.map(|name| fs::read_to_string(format!("../../prompts/agents/{name}.yaml")).unwrap());
    for text in built_in.iter().map(String::as_str).chain([GOOD, STRUCTURED]) {
        assert!(validates(&schema, text), "{text}");
    }
    for Case(there, instead, is_seen) in &MISTAKES {
        let text = GOOD.replacen(there, instead, 1);
        if *is_seen {
            assert!(!validates(&schema, &text), "{there:?} -> {instead:?}");
        }
    }
}

#[test]
fn every_key_of_the_published_schema_is_described() {
    fn undescribed(value: &Value, path: &str, found: &mut Vec<String>) {
        for (key, property) in value["properties"].as_object().into_iter().flatten() {
            let path = format!("{path}/{key}");
            if property["description"].as_str().is_none_or(str::is_empty) {
                found.push(path.clone());
            }
            undescribed(property, &path, found);
            undescribed(&property["items"], &path, found);
        }
    }
    let mut found = Vec::new();
    let schema = schema(&names());
    undescribed(&schema, "", &mut found);
    assert!(found.is_empty(), "{found:?}");
    let settings = &schema["properties"]["json_schema_extra"]["properties"]["settings"]["properties"];
    assert_eq!(settings.as_object().unwrap().keys().collect::<Vec<_>>(), Generation::NAMES.each_ref());
    assert_eq!((&settings["top_p"]["maximum"], &settings["max_tokens"]["minimum"]), (&json!(1.0), &json!(1)));
}
