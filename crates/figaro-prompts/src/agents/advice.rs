//! Advice on parts of an agent's file that are allowed but have no effect.

use super::file::{AgentFile, Extra};
use figaro_domain::agent::{ALL_TOOLS, DEFAULT_AGENT};
use figaro_files::yaml;

/// Returns the ineffective parts of an agent's file, one per line; empty if the text is not an agent's file.
pub(super) fn advice(text: &str) -> Vec<&'static str> {
    let Ok(file) = yaml::parse::<AgentFile>(text) else { return Vec::new() };
    let extra = &file.json_schema_extra;
    let describes = file.properties.as_ref().is_some_and(|properties| !properties.value.is_empty());
    let asks = has(extra, "ask_agent");
    let unused_agents = !extra.agents.is_empty() && !asks && !has(extra, "action");
    let cases = [
        (unused_agents, "agents are listed, but neither ask_agent nor action is among its tools"),
        (
            asks && extra.agents.is_empty() && !has_all(extra),
            "it has ask_agent, but agents lists none to ask",
        ),
        (
            (describes || !file.required.is_empty()) && extra.structured_output.is_none(),
            "properties and required bind nothing without structured_output: true; write false if that is meant",
        ),
        (
            extra.name.value == DEFAULT_AGENT && extra.tools.is_empty(),
            "it answers wherever no agent was chosen, and has no tools: list \"*\" to keep all",
        ),
    ];
    cases.into_iter().filter_map(|(is_so, words)| is_so.then_some(words)).collect()
}

/// Returns `true` if the agent has this tool, by its name or by `*`.
fn has(extra: &Extra, tool: &str) -> bool {
    has_all(extra) || extra.tools.iter().any(|one| one.server.is_none() && one.name.value == tool)
}

fn has_all(extra: &Extra) -> bool {
    extra.tools.iter().any(|one| one.server.is_none() && one.name.value == ALL_TOOLS)
}
