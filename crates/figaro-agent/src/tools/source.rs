//! Tools that no prompt carries until they were found: built-in ones that are rarely wanted, the methods of the Bot API,
//! the tools of any other MCP server. The registry asks a source for a tool by its name, the tool that finds others
//! searches all sources.

use std::collections::HashSet;
use std::fmt::Debug;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::Tool;

/// Where tools come from that are found before they are offered. A source answers at once, from what it knows; one whose
/// tools are far away keeps a copy of their list.
pub(crate) trait ToolSource: Debug + Send + Sync {
    /// All its tools as a search sees them.
    fn list(&self) -> Vec<Listed>;

    /// What a query asks for by exact names; often nothing.
    fn find(&self, query: &str) -> Named {
        named(query, &self.list())
    }

    /// A tool by its exact name; `None` where there is no such tool.
    fn get(&self, name: &str) -> Option<Arc<dyn Tool>>;
}

/// A tool as a search sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Listed {
    /// The name of the tool.
    pub(crate) name: String,
    /// What it does, for the model.
    pub(crate) description: String,
    /// What people call that which it does, in English; may be empty.
    pub(crate) words: String,
    /// The names of its parameters.
    pub(crate) parameters: Vec<String>,
    /// Policy lets no call of it through without a person's approval.
    pub(crate) takes_approval: bool,
}

/// What a query asks for by exact names.
#[derive(Debug, Clone, Default)]
pub(crate) struct Named {
    /// The names of tools, in the order of the query.
    pub(crate) tools: Vec<String>,
    /// JSON Schemas of types that parameters are made of, by their names.
    pub(crate) types: Map<String, Value>,
}

/// The listed tools whose names stand in a query as words of their own. A name that is also a plain word counts only
/// where the query is nothing else.
fn named(query: &str, listed: &[Listed]) -> Named {
    let words: Vec<&str> = query
        .split(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '-')
        .filter(|word| !word.is_empty())
        .collect();
    let is_plain = |name: &str| name.bytes().all(|byte| byte.is_ascii_lowercase());
    let mut found = Named::default();
    for word in &words {
        let is_it = |one: &&Listed| one.name.eq_ignore_ascii_case(word);
        let one = listed.iter().find(is_it).filter(|one| words.len() == 1 || !is_plain(&one.name));
        if let Some(one) = one.filter(|one| !found.tools.contains(&one.name)) {
            found.tools.push(one.name.clone());
        }
    }
    found
}

/// Several sources as one. Where two have a tool of one name, the first source's counts. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sources(Arc<[Arc<dyn ToolSource>]>);

impl Sources {
    /// These sources, the most trusted first.
    #[must_use]
    pub(crate) fn new(sources: Vec<Arc<dyn ToolSource>>) -> Self {
        Self(sources.into())
    }
}

impl Sources {
    /// The same sources, and a further one that is trusted least.
    #[must_use]
    pub(crate) fn and(&self, further: Arc<dyn ToolSource>) -> Self {
        Self(self.0.iter().cloned().chain([further]).collect())
    }

    /// The tools of these sources that others have too.
    #[must_use]
    pub(super) fn within(&self, others: Self) -> Self {
        Self([Arc::new(Narrowed { all: self.clone(), others }) as Arc<dyn ToolSource>].into())
    }
}

/// The tools of some sources that others have too.
#[derive(Debug)]
struct Narrowed {
    all: Sources,
    others: Sources,
}

impl ToolSource for Narrowed {
    fn list(&self) -> Vec<Listed> {
        let known: HashSet<String> = self.others.list().into_iter().map(|one| one.name).collect();
        self.all.list().into_iter().filter(|one| known.contains(&one.name)).collect()
    }

    fn get(&self, name: &str) -> Option<Arc<dyn Tool>> {
        self.others.get(name).and_then(|_| self.all.get(name))
    }
}

impl ToolSource for Sources {
    fn list(&self) -> Vec<Listed> {
        let mut names = HashSet::new();
        let all = self.0.iter().flat_map(|source| source.list());
        all.filter(|one| names.insert(one.name.clone())).collect()
    }

    fn find(&self, query: &str) -> Named {
        let mut all = Named::default();
        for Named { tools, types } in self.0.iter().map(|source| source.find(query)) {
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

/// Built-in tools that are rarely wanted.
#[derive(Debug)]
pub(super) struct Rare(pub(super) Vec<Arc<dyn Tool>>);

impl ToolSource for Rare {
    fn list(&self) -> Vec<Listed> {
        let listed = self.0.iter().map(|tool| Listed {
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

    fn listed(name: &str) -> Listed {
        let (description, words) = (String::new(), String::new());
        Listed { name: name.to_owned(), description, words, parameters: Vec::new(), takes_approval: false }
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
