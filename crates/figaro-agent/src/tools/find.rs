//! The tool that finds tools missing from the prompt, in all sources. Found tools stay callable until the session ends.

use std::sync::Arc;

use figaro_mcp::find::{SearchableTool, best};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::source::{NamedTools, Sources, ToolListing};
use super::{Tool, ToolContext, ToolDefinition, ToolError, ToolOutput, ToolSource, typed};
use figaro_domain::tool::{Effect, SideEffects, StatusKey, ToolKind};

/// Name of the tool for the model.
pub(super) const NAME: &str = "find_tools";
/// Maximum length of a query, in characters.
const MAX_QUERY_CHARS: usize = 300;
/// Maximum number of tools per search: the next request carries their whole schemas.
const MAX_HITS: usize = 4;

const ABOUT: &str = "Finds tools for what you have none for: all of the Telegram Bot API, such as \"pin a message\" or \
                     \"who is admin here\"; your settings; clearing notes.";

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct FindArguments {
    /// What to do, in a few English words; or exact names
    query: String,
}

/// Makes `find_tools(query)` over these sources.
pub(super) fn tool(sources: Sources) -> Arc<dyn Tool> {
    let about = ToolDefinition::new(NAME, ABOUT, Effect::Read, StatusKey("tool_telegram"));
    typed(about.of_kind(ToolKind::Finder), move |_: ToolContext, FindArguments { query }| {
        let sources = sources.clone();
        async move { search(&sources, query.trim()) }
    })
}

/// Returns the tools and types named in the query; if none are named, the tools that match its words.
fn search(sources: &Sources, query: &str) -> Result<ToolOutput, ToolError> {
    if query.is_empty() || query.chars().count() > MAX_QUERY_CHARS {
        let words = format!("query must be a text of 1 to {MAX_QUERY_CHARS} characters");
        return Err(ToolError::ForModel(words));
    }
    let listed = sources.list();
    let NamedTools { tools, types } = sources.find(query);
    let named = tools.iter().filter_map(|name| listed.iter().find(|one| one.name == *name));
    let mut hits: Vec<&ToolListing> = named.take(MAX_HITS).collect();
    if hits.is_empty() && types.is_empty() {
        let entries: Vec<SearchableTool<'_>> = listed.iter().map(entry).collect();
        hits = best(query, &entries).into_iter().filter_map(|at| listed.get(at)).take(MAX_HITS).collect();
    }
    if hits.is_empty() && types.is_empty() {
        let words = "nothing fits: say it in other words, like \"pin a message\"";
        return Err(ToolError::ForModel(words.to_owned()));
    }
    let mut value = json!({"success": true, "callable_now": hits.iter().map(shown).collect::<Vec<_>>()});
    if !types.is_empty() {
        value["types"] = Value::Object(types);
    }
    let found = hits.into_iter().map(|one| one.name.clone()).collect();
    Ok(ToolOutput { side_effects: SideEffects { found, ..SideEffects::default() }, ..value.into() })
}

fn entry(one: &ToolListing) -> SearchableTool<'_> {
    let ToolListing { name, description, words, parameters, takes_approval: _ } = one;
    SearchableTool { name, words, description, parameters: parameters.iter().map(String::as_str).collect() }
}

/// Describes a found tool without its parameters: the next request carries the tool itself.
fn shown(one: &&ToolListing) -> Value {
    let mut shown = json!({"name": one.name, "description": one.description});
    if one.takes_approval {
        shown["needs_approval"] = true.into();
    }
    shown
}
