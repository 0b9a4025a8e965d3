//! Parses an agent's file, and reports all its faults at once.

use std::collections::BTreeSet;

use serde_saphyr::Spanned;

use super::answer;
use super::file::{AgentFile, Places, ToolReference};
use super::names::AgentFileNames;
use super::plain;
use crate::files::{FileFault, SourceFile, name_faults, parse};
use figaro_base::text::with_nearest;
use figaro_domain::agent::{ALL_TOOLS, Agent, DEFAULT_AGENT, OfServer};
use figaro_domain::generation::Generation;
use figaro_domain::model::ModelName;
use figaro_domain::task::SCHEDULED_AGENT;
use figaro_files::yaml;

/// Agents that nobody asks: the default one and the one for tasks.
const UNASKED: [&str; 2] = [DEFAULT_AGENT, SCHEDULED_AGENT];

/// Reads the file of an agent.
///
/// # Errors
/// All faults of the file; only the first if it does not have the form of an agent.
pub(super) fn read(source: &SourceFile<'_>, names: Option<&AgentFileNames>) -> Result<Agent, Vec<FileFault>> {
    let file: AgentFile =
        yaml::parse(source.text).map_err(|misfit| vec![plain::fault(source.text, misfit)])?;
    let places: Places = parse(source.text).unwrap_or_default();
    let mut reading = AgentFileReader { source, names, faults: Vec::new() };
    reading.shape(&file);
    let answer = answer::schema(&file, &places, &mut reading.faults);
    let extra = file.json_schema_extra;
    reading.settings(&extra.settings, &places);
    let agent = Agent {
        tools: reading.tools(&extra.tools),
        server_tools: server_tools(&extra.tools),
        agents: reading.agents(extra.agents, &extra.name.value),
        model: extra.model.and_then(|model| reading.model(&model)),
        name: extra.name.value,
        version: extra.version,
        instructions: file.description.value.trim().to_owned(),
        speaks: extra.speaks,
        reactions: extra.reactions,
        answer,
        settings: extra.settings,
    };
    if reading.faults.is_empty() { Ok(agent) } else { Err(reading.faults) }
}

/// A file being read, and its faults so far.
struct AgentFileReader<'a> {
    source: &'a SourceFile<'a>,
    names: Option<&'a AgentFileNames>,
    faults: Vec<FileFault>,
}

impl AgentFileReader<'_> {
    fn fault<T>(&mut self, at: &Spanned<T>, words: impl Into<String>) {
        self.faults.push(FileFault::at(at.defined, words));
    }

    fn shape(&mut self, file: &AgentFile) {
        let extra = &file.json_schema_extra;
        for (word, key, wanted) in [(&file.r#type, "type", "object"), (&extra.kind, "kind", "agent")] {
            if word.value != wanted {
                self.fault(word, format!("{key} is `{}`, and is always {wanted}", word.value));
            }
        }
        // The default agent may rely on Figaro's own rules alone.
        if file.description.value.trim().is_empty() && extra.name.value != DEFAULT_AGENT {
            self.fault(&file.description, "description is empty: it holds the agent's instructions");
        }
        if let Some(words) = name_faults(&extra.name.value, self.source.file) {
            self.fault(&extra.name, words);
        }
    }

    fn settings(&mut self, settings: &Generation, places: &Places) {
        let places = &places.json_schema_extra.settings;
        for wrong in settings.check().err().unwrap_or_default() {
            let at = places.get(wrong.name).map(|at| at.defined.into());
            self.faults.push(FileFault { at, words: format!("settings: {wrong}") });
        }
    }

    /// Returns the tools that come with Figaro.
    fn tools(&mut self, tools: &[ToolReference]) -> Vec<String> {
        let mut seen = BTreeSet::new();
        let own = tools.iter().filter(|tool| tool.server.is_none()).count();
        for ToolReference { name, server } in tools {
            let word = name.value.as_str();
            let of = server.as_ref().map(|server| server.value.as_str());
            if !seen.insert((of, word)) {
                self.fault(name, format!("tools: {word} stands twice"));
            } else if word == ALL_TOOLS && of.is_none() && own > 1 {
                self.fault(name, format!("tools: {ALL_TOOLS} stands for all tools, so it stands alone"));
            }
            match server {
                Some(server) => self.server(server),
                None => self.tool(name),
            }
        }
        let own = tools.iter().filter(|tool| tool.server.is_none());
        own.map(|tool| tool.name.value.clone()).collect()
    }

    fn tool(&mut self, name: &Spanned<String>) {
        let word = name.value.as_str();
        let known = self.names.map(|names| names.tools.as_slice());
        let known = known.filter(|known| word != ALL_TOOLS && !known.iter().any(|one| one == word));
        if let Some(known) = known {
            let unknown = format!("tools: there is no tool `{word}`");
            self.fault(name, with_nearest(unknown, word, known.iter().map(String::as_str)));
        }
    }

    /// Checks the name of a server. Its tools are known only while it runs, so they are not checked.
    fn server(&mut self, server: &Spanned<String>) {
        let word = server.value.as_str();
        let known = self.names.map(|names| names.servers.as_slice());
        let Some(known) = known.filter(|known| !known.iter().any(|one| one == word)) else { return };
        let unknown = format!("tools: there is no server `{word}`");
        let words = match known {
            [] => format!("{unknown}: mcp.json describes none"),
            known => with_nearest_or_all(unknown, word, known.iter().map(String::as_str)),
        };
        self.fault(server, words);
    }

    fn agents(&mut self, agents: Vec<Spanned<String>>, own: &str) -> Vec<String> {
        let mut seen = BTreeSet::new();
        for agent in &agents {
            let word = agent.value.as_str();
            let beside = self.source.beside;
            if word == own {
                self.fault(agent, format!("agents: {word} cannot ask itself"));
            } else if UNASKED.contains(&word) {
                self.fault(agent, format!("agents: {word} cannot be asked"));
            } else if !beside.contains(&word) {
                let unknown = format!("agents: there is no agent `{word}`");
                let others = beside.iter().copied().filter(|one| *one != own && !UNASKED.contains(one));
                self.fault(agent, with_nearest_or_all(unknown, word, others));
            } else if !seen.insert(word) {
                self.fault(agent, format!("agents: {word} stands twice"));
            }
        }
        agents.into_iter().map(|agent| agent.value).collect()
    }

    fn model(&mut self, model: &Spanned<String>) -> Option<ModelName> {
        let read: ModelName = match model.value.parse() {
            Ok(read) => read,
            Err(fault) => {
                self.fault(model, format!("model: {fault}"));
                return None;
            }
        };
        let known = self.names.map(|names| names.providers.as_slice());
        if let Some(known) = known.filter(|known| !known.contains(&read.provider)) {
            let unknown = format!("model: there is no provider `{}`", read.provider);
            self.fault(model, with_nearest_or_all(unknown, &read.provider, known.iter().map(String::as_str)));
        }
        Some(read)
    }
}

/// Returns the tools of other servers.
fn server_tools(tools: &[ToolReference]) -> Vec<OfServer> {
    let of = |tool: &ToolReference| {
        let server = tool.server.as_ref()?.value.clone();
        Some(OfServer { server, tool: tool.name.value.clone() })
    };
    tools.iter().filter_map(of).collect()
}

/// Like [`with_nearest`], and lists all known words if none is similar.
fn with_nearest_or_all<'a>(fault: String, word: &str, known: impl Iterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.collect();
    let told = with_nearest(fault.clone(), word, known.iter().copied());
    if told == fault { format!("{fault}, there are: {}", known.join(", ")) } else { told }
}
