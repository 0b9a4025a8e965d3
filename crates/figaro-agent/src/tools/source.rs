//! Sources of tools that a prompt carries only once they are found: rare built-in tools, methods of the Bot API, tools of
//! other MCP servers. The registry asks a source by name; the finder searches all sources.

use std::collections::HashSet;
use std::fmt::Debug;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::Tool;

/// A source of tools that are found before they are offered. Answers at once from local data; a remote source keeps a copy
/// of its list.
pub(crate) trait ToolSource: Debug + Send + Sync {
    /// Lists all its tools for a search.
    fn list(&self) -> Vec<ToolListing>;

    /// Finds tools and types named exactly in a query; often none.
    fn find(&self, query: &str) -> NamedTools {
        named(query, &self.list())
    }

    /// Returns a tool by exact name; `None` if there is none.
    fn get(&self, name: &str) -> Option<Arc<dyn Tool>>;
}

/// Entry of a tool for a search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ToolListing {
    pub(crate) name: String,
    /// Description for the model.
    pub(crate) description: String,
    /// English search words for its purpose; may be empty.
    pub(crate) words: String,
    /// Names of the parameters.
    pub(crate) parameters: Vec<String>,
    /// `true` if policy requires a person's approval for every call.
    pub(crate) takes_approval: bool,
}

/// Tools and types named exactly in a query.
#[derive(Debug, Clone, Default)]
pub(crate) struct NamedTools {
    /// Names of tools, in the order of the query.
    pub(crate) tools: Vec<String>,
    /// JSON Schemas of parameter types, by name.
    pub(crate) types: Map<String, Value>,
}

/// Finds listed tools whose names are words of the query. A name that is a plain word counts only as the whole query.
fn named(query: &str, listed: &[ToolListing]) -> NamedTools {
    let words: Vec<&str> = query
        .split(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '-')
        .filter(|word| !word.is_empty())
        .collect();
    let is_plain = |name: &str| name.bytes().all(|byte| byte.is_ascii_lowercase());
    let mut found = NamedTools::default();
    for word in &words {
        let is_it = |one: &&ToolListing| one.name.eq_ignore_ascii_case(word);
        let one = listed.iter().find(is_it).filter(|one| words.len() == 1 || !is_plain(&one.name));
        if let Some(one) = one.filter(|one| !found.tools.contains(&one.name)) {
            found.tools.push(one.name.clone());
        }
    }
    found
}

/// Several sources as one. The first source wins if two have a tool of the same name. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sources(Arc<[Arc<dyn ToolSource>]>);

impl Sources {
    /// Joins these sources, the most trusted first.
    #[must_use]
    pub(crate) fn new(sources: Vec<Arc<dyn ToolSource>>) -> Self {
        Self(sources.into())
    }
}

impl Sources {
    /// Adds a source as the least trusted one.
    #[must_use]
    pub(crate) fn and(&self, further: Arc<dyn ToolSource>) -> Self {
        Self(self.0.iter().cloned().chain([further]).collect())
    }

    /// Restricts the sources to tools that `others` have too.
    #[must_use]
    pub(super) fn within(&self, others: Self) -> Self {
        Self([Arc::new(Narrowed { all: self.clone(), others }) as Arc<dyn ToolSource>].into())
    }
}

/// Tools of `all` that `others` have too.
#[derive(Debug)]
struct Narrowed {
    all: Sources,
    others: Sources,
}

impl ToolSource for Narrowed {
    fn list(&self) -> Vec<ToolListing> {
        let known: HashSet<String> = self.others.list().into_iter().map(|one| one.name).collect();
        self.all.list().into_iter().filter(|one| known.contains(&one.name)).collect()
    }

    fn get(&self, name: &str) -> Option<Arc<dyn Tool>> {
        self.others.get(name).and_then(|_| self.all.get(name))
    }
}

impl ToolSource for Sources {
    fn list(&self) -> Vec<ToolListing> {
        let mut names = HashSet::new();
        let all = self.0.iter().flat_map(|source| source.list());
        all.filter(|one| names.insert(one.name.clone())).collect()
    }

    fn find(&self, query: &str) -> NamedTools {
        let mut all = NamedTools::default();
        for NamedTools { tools, types } in self.0.iter().map(|source| source.find(query)) {
            let new: Vec<String> = tools.into_iter().filter(|name| !all.tools.contains(name)).collect();
            all.tools.extend(new);
            all.types.extend(types);
        }
        all
    }

    fn get(&self, name: &str) -> Option<Arc<dyn Tool>> {
        self.0.iter().find_map(|source| source.get(name))
    }
}

/// Rare built-in tools.
#[derive(Debug)]
pub(super) struct Rare(pub(super) Vec<Arc<dyn Tool>>);

impl ToolSource for Rare {
    fn list(&self) -> Vec<ToolListing> {
        let listed = self.0.iter().map(|tool| ToolListing {
            name: tool.spec().name.clone(),
            description: tool.spec().description.clone(),
            words: tool.rare().unwrap_or_default().to_owned(),
            parameters: Vec::new(),
            takes_approval: false,
        });
        listed.collect()
    }

    fn get(&self, name: &str) -> Option<Arc<dyn Tool>> {
        self.0.iter().find(|tool| tool.spec().name == name).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(name: &str) -> ToolListing {
        let (description, words) = (String::new(), String::new());
        ToolListing {
            name: name.to_owned(),
            description,
            words,
            parameters: Vec::new(),
            takes_approval: false,
        }
    }

    #[test]
    fn a_name_in_a_query_is_told_from_a_plain_word() {
        let all = ["clear_notes", "search", "create-issue", "getIssue"].map(listed);
        let cases: [(&str, &[&str]); 6] = [
            ("clear_notes", &["clear_notes"]),
            ("GETISSUE, or create-issue; getIssue", &["getIssue", "create-issue"]),
            ("search", &["search"]),
            ("search for an issue", &[]),
            ("clear the notes", &[]),
            ("", &[]),
        ];
        for (query, wanted) in cases {
            assert_eq!(named(query, &all).tools, wanted, "{query}");
        }
    }
}
