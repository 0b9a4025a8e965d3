//! Agents as files: one YAML file each in `prompts/agents/`, in the shape of a JSON Schema whose description is the
//! instructions. Read by [`super::Prompts::load`].

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::Deserialize;
use serde_json::{Value, json};

use super::files::{Folder, name_faults, parse};
use crate::domain::agent::Agent;
use crate::domain::generation::Generation;
use crate::domain::model::ModelName;

/// The files of agents.
const FOLDER: Folder = Folder {
    name: "agents",
    what: "an agent",
    embedded: &[("scheduled", include_str!("../../prompts/agents/scheduled.yaml"))],
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    r#type: String,
    description: String,
    #[serde(default)]
    properties: serde_json::Map<String, Value>,
    #[serde(default)]
    required: Vec<String>,
    json_schema_extra: Extra,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Extra {
    kind: String,
    name: String,
    version: String,
    #[serde(default)]
    tools: Vec<Named>,
    #[serde(default)]
    agents: Vec<String>,
    #[serde(default)]
    speaks: bool,
    #[serde(default)]
    structured_output: bool,
    model: Option<String>,
    #[serde(default)]
    settings: Generation,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Named {
    name: String,
    server: Option<String>,
}

/// The agents of the folder and, where it has none of their name, those built in.
///
/// # Errors
/// Everything that is wrong with any file, each with the file's name.
pub(super) fn load(folder: Option<&Path>) -> Result<BTreeMap<String, Agent>, Vec<String>> {
    FOLDER.load(folder, read)
}

fn read(file: &str, text: &str) -> Result<Agent, Vec<String>> {
    let read: File = parse(text)?;
    let mut faults = shape_faults(&read);
    let answer = read.json_schema_extra.structured_output.then(|| {
        json!({"type": "object", "properties": read.properties, "required": read.required, "additionalProperties": false})
    });
    let Extra { name, version, tools, agents, speaks, model, settings, .. } = read.json_schema_extra;
    faults.extend(name_faults(&name, file));
    faults.extend(tool_faults(&tools));
    let out_of_range = settings.check().err().unwrap_or_default();
    faults.extend(out_of_range.iter().map(|fault| format!("settings: {fault}")));
    let model: Option<ModelName> = model.and_then(|model| match model.parse() {
        Ok(model) => Some(model),
        Err(fault) => {
            faults.push(format!("model: {fault}"));
            None
        }
    });
    if !faults.is_empty() {
        return Err(faults);
    }
    Ok(Agent {
        name,
        version,
        instructions: read.description.trim().to_owned(),
        tools: tools.into_iter().map(|tool| tool.name).collect(),
        agents,
        speaks,
        answer,
        model,
        settings,
    })
}

fn shape_faults(file: &File) -> Vec<String> {
    let extra = &file.json_schema_extra;
    let describes = !file.properties.is_empty() || !file.required.is_empty();
    let rules = [
        (file.r#type != "object", "type is to be object"),
        (extra.kind != "agent", "kind is to be agent"),
        (file.description.trim().is_empty(), "description is empty: it holds the agent's instructions"),
        (
            describes && !extra.structured_output,
            "properties and required describe a structured output; say structured_output: true, or leave them empty",
        ),
        (
            !describes && extra.structured_output,
            "structured_output: true takes properties, which are not there",
        ),
    ];
    rules.into_iter().filter(|(is_wrong, _)| *is_wrong).map(|(_, fault)| fault.to_owned()).collect()
}

fn tool_faults(tools: &[Named]) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let twice = tools.iter().filter(|tool| !seen.insert(tool.name.as_str()));
    let twice = twice.map(|tool| format!("tools: {} stands twice", tool.name));
    let elsewhere = tools.iter().filter(|tool| tool.server.is_some());
    let elsewhere = elsewhere.map(|tool| {
        format!("tools: {} names a server; other servers are not supported yet, leave it out", tool.name)
    });
    twice.chain(elsewhere).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tempfile::TempDir;

    use super::*;

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
  tools:
    - name: web_search
";

    /// A folder of prompts with these files of agents.
    fn folder(files: &[(&str, &str)]) -> TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("agents")).unwrap();
        for (name, text) in files {
            fs::write(folder.path().join("agents").join(name), text).unwrap();
        }
        folder
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
        let agents = load(Some(folder.path())).unwrap();
        assert_eq!(agents.keys().collect::<Vec<_>>(), ["brief", "scheduled"]);
        let brief = Agent {
            name: "brief".into(),
            version: "1.10".into(),
            instructions: "Be brief.\n- Really.".into(),
            tools: vec!["web_search".into()],
            agents: Vec::new(),
            speaks: false,
            answer: None,
            model: Some("ollama:qwen3:8b".parse().unwrap()),
            settings: Generation { temperature: Some(0.2), max_tokens: Some(300), ..Generation::default() },
        };
        assert_eq!(agents["brief"], brief);
        let replaced = &agents["scheduled"];
        assert_eq!(
            (replaced.version.as_str(), replaced.tools.len()),
            ("mine", 0),
            "no tools listed, none given"
        );
    }

    #[test]
    fn without_a_folder_there_are_those_built_in() {
        let nowhere = tempfile::tempdir().unwrap();
        for folder in [None, Some(nowhere.path())] {
            let agents = load(folder).unwrap();
            assert_eq!(agents.keys().collect::<Vec<_>>(), ["scheduled"]);
        }
    }

    #[test]
    fn whatever_is_wrong_with_a_file_is_told() {
        let cases = [
            ("type: object", "type: array", "type is to be object"),
            ("type: object", "typ: object", "unknown field `typ`"),
            ("  kind: agent", "  kind: agent\n  colour: red", "unknown field `colour`"),
            ("temperature", "temprature", "unknown field `temprature`"),
            ("- name: web_search", "- tool: web_search", "unknown field `tool`"),
            ("  version: 1.10\n", "", "missing field `version`"),
            ("kind: agent", "kind: persona", "kind is to be agent"),
            ("Be brief.\n  - Really.", "", "description is empty"),
            ("name: brief", "name: curt", "name is curt, so the file is to be curt.yaml"),
            ("name: brief", "name: Brief", "name is `Brief`, and takes lower-case letters, digits, _ and -"),
            ("name: brief", "name: ../brief", "name is `../brief`, and takes"),
            (
                "name: brief",
                "name: a23456789a23456789a23456789a23456789a2345",
                "name takes at most 40 characters",
            ),
            ("ollama:qwen3:8b", "qwen3", "model: `qwen3` is not of the form provider:model"),
            ("temperature: 0.2", "temperature: 3", "settings: temperature is 3, and takes 0 to 2"),
            (
                "kind: agent",
                "kind: agent\n  structured_output: true",
                "structured_output: true takes properties",
            ),
            (
                "type: object",
                "type: object\nproperties: {mood: {type: string}}",
                "properties and required describe",
            ),
            ("type: object", "type: object\nrequired: [mood]", "properties and required describe"),
            ("name: web_search", "name: a\n    - name: a", "tools: a stands twice"),
            ("name: web_search", "name: a\n      server: b", "tools: a names a server"),
            ("type: object", "type: object\ntype: object", "duplicate"),
            ("tools:\n    - name: web_search", "tools: web_search", "line 11"),
        ];
        for (there, instead, fault) in cases {
            let text = GOOD.replacen(there, instead, 1);
            assert_ne!(text, GOOD);
            let faults = load(Some(folder(&[("brief.yaml", &text)]).path())).unwrap_err();
            assert_eq!(faults.len(), 1, "{faults:?}");
            assert!(faults[0].starts_with("prompts/agents/brief.yaml: "), "{faults:?}");
            assert!(faults[0].contains(fault) && faults[0].lines().count() == 1, "{fault}: {faults:?}");
        }
    }

    #[test]
    fn all_faults_of_all_files_are_told_together() {
        let two = GOOD.replace("ollama:qwen3:8b", "qwen3").replace("0.2", "3");
        let faults = load(Some(folder(&[("brief.yaml", &two), ("b.yml", GOOD), ("c.yaml", "- a")]).path()));
        let faults = faults.unwrap_err();
        let files: Vec<&str> = faults.iter().filter_map(|fault| fault.split(": ").next()).collect();
        let file = |name: &str| format!("prompts/agents/{name}");
        assert_eq!(files, [file("b.yml"), file("brief.yaml"), file("brief.yaml"), file("c.yaml")]);
        assert!(faults[0].ends_with("the file of an agent ends in .yaml"), "{faults:?}");
    }

    #[test]
    fn what_cannot_be_read_is_told() {
        let plain = tempfile::tempdir().unwrap();
        fs::write(plain.path().join("agents"), "no folder").unwrap();
        let faults = load(Some(plain.path())).unwrap_err();
        assert!(faults[0].contains("agents: "), "{faults:?}");
        let folder = folder(&[]);
        fs::write(folder.path().join("agents/a.yaml"), [0xff, 0xfe]).unwrap();
        let faults = load(Some(folder.path())).unwrap_err();
        assert!(faults[0].starts_with("prompts/agents/a.yaml: cannot be read: "), "{faults:?}");
    }
}
