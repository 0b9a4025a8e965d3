//! Tools of a turn: the offered ones, and those found in sources during the session.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use super::{Sources, Tool, ToolSource, find};
use figaro_domain::tool::{MAX_FOUND, ToolKind};
use figaro_provider::ToolSpec;

/// Maximum number of tools in a request. Providers reject more than 128, and models choose badly long before.
const MAX_TOOLS: usize = 100;
/// Limit of providers, and of tools that a requester brings in place of Figaro's own.
const MAX_TAKEN: usize = 128;
/// Maximum number of tools that are always offered.
const MAX_OFFERED: usize = MAX_TOOLS - MAX_FOUND;

/// Tools of a turn, by name.
#[derive(Debug, Clone)]
pub struct Registry {
    offered: BTreeMap<String, Arc<dyn Tool>>,
    /// `true` if the prompt has lookup keys for omitted text.
    has_keys: bool,
    /// `true` if the chat has more messages than the prompt shows.
    has_more: bool,
    /// `true` if the prompt shows memories.
    remembers: bool,
    /// `true` if the chat has chosen context packs.
    keeps_records: bool,
    /// `true` if the chat has documents.
    has_documents: bool,
    sources: Sources,
    /// `true` if the turn has tools that others lack.
    is_own: bool,
    /// Maximum number of tools in a request.
    most: usize,
}

impl Registry {
    /// Makes a registry of offered tools and sources. The first of two tools with the same name wins, so that no outside
    /// tool replaces one of Figaro's; duplicates and invalid names are logged and left out.
    #[must_use]
    pub(crate) fn new(tools: impl IntoIterator<Item = Arc<dyn Tool>>, sources: Sources) -> Self {
        let mut offered = BTreeMap::new();
        for tool in tools {
            let name = tool.spec().name.clone();
            if !is_name(&name) || offered.len() == MAX_OFFERED {
                tracing::warn!(
                    name,
                    "a tool is left out: its name is odd, or there are {MAX_OFFERED} already"
                );
                continue;
            }
            match offered.entry(name) {
                Entry::Vacant(free) => drop(free.insert(tool)),
                Entry::Occupied(taken) => {
                    tracing::warn!(name = taken.key(), "two tools have one name; the second is left out");
                }
            }
        }
        Self {
            offered,
            has_keys: false,
            has_more: false,
            remembers: false,
            keeps_records: false,
            has_documents: false,
            sources,
            is_own: false,
            most: MAX_TOOLS,
        }
    }

    /// Restricts the registry to these names. A named tool of a source is offered; sources stay searchable if the finder is
    /// named. Named tools use their full schema. Unknown names are left out: agent files are checked before, so these tools
    /// are just not offered here, as in a chat over HTTP. Tools that belong to the prompt need no name: the one that names
    /// memories, and the one that looks up keys.
    #[must_use]
    pub(crate) fn only(&self, names: &[String]) -> Self {
        let tools = names.iter().filter_map(|name| {
            let tool = self.offered.get(name).cloned().or_else(|| self.sources.get(name));
            if tool.is_none() {
                tracing::debug!(name, "an agent names a tool that is not here; it goes without");
            }
            tool.map(|tool| tool.in_whole().unwrap_or(tool))
        });
        let of_prompt =
            [ToolKind::Memories, ToolKind::Lookup].into_iter().filter_map(|kind| self.of_kind(kind));
        let of_prompt = of_prompt.filter(|tool| !names.contains(&tool.spec().name)).cloned();
        let some = Self::new(tools.chain(of_prompt), self.sources.clone());
        if some.finds() { some } else { Self { sources: Sources::default(), ..some } }
    }

    /// Restricts the tools to those that `others` offers or can find.
    #[must_use]
    pub(crate) fn within(&self, others: &Self) -> Self {
        let has = |name: &String| {
            others.offered.contains_key(name) || (others.finds() && others.sources.get(name).is_some())
        };
        let offered = self.offered.iter().filter(|(name, _)| has(name));
        let offered: BTreeMap<_, _> = offered.map(|(name, tool)| (name.clone(), tool.clone())).collect();
        let sources = match others.finds() {
            true if self.is_own => self.sources.within(others.sources.clone()),
            true => self.sources.clone(),
            false => Sources::default(),
        };
        let some = Self { offered, sources, ..self.clone() };
        if self.is_own { some.finding_its_own() } else { some }
    }

    /// Adds offered tools, and a source if the finder is present. No new tool replaces an existing one.
    #[must_use]
    pub(crate) fn and(
        &self,
        tools: impl IntoIterator<Item = Arc<dyn Tool>>,
        source: Arc<dyn ToolSource>,
    ) -> Self {
        let all = self.offered.values().cloned().chain(tools);
        let sources = if self.finds() { self.sources.and(source) } else { self.sources.clone() };
        let Self { has_keys, has_more, remembers, .. } = *self;
        Self { has_keys, has_more, remembers, is_own: true, ..Self::new(all, sources) }.finding_its_own()
    }

    /// Limits the finder to the sources of this registry.
    fn finding_its_own(mut self) -> Self {
        let name = self.name_of(ToolKind::Finder);
        if let Some(finder) = name.and_then(|name| self.offered.get_mut(&name)) {
            *finder = find::tool(self.sources.clone());
        }
        self
    }

    /// Adds tools of `others` by name, offered or findable there.
    #[must_use]
    pub(crate) fn with<'a>(&self, names: impl Iterator<Item = &'a str>, others: &Self) -> Self {
        let mut offered = self.offered.clone();
        for name in names {
            let tool = others.offered.get(name).cloned().or_else(|| others.findable(name));
            offered.extend(tool.map(|tool| (name.to_owned(), tool)));
        }
        Self { offered, ..self.clone() }
    }

    /// Adds tools brought by the requester. They replace tools of the same name and take precedence if room is short.
    #[must_use]
    pub(crate) fn bringing(&self, own: &[Arc<dyn Tool>]) -> Self {
        let own: BTreeMap<_, _> = own.iter().map(|tool| (tool.spec().name.clone(), tool.clone())).collect();
        let most = MAX_TOOLS.max(own.len()).min(MAX_TAKEN);
        let others = self.offered.iter().filter(|(name, _)| !own.contains_key(*name));
        let others = others.take(most - own.len().min(most)).map(|(name, tool)| (name.clone(), tool.clone()));
        Self { offered: others.chain(own.clone()).collect(), most, ..self.clone() }
    }

    /// Marks the prompt as having lookup keys.
    #[must_use]
    pub(crate) fn looking_up(&self) -> Self {
        Self { has_keys: true, ..self.clone() }
    }

    /// Sets whether the prompt has lookup keys, and whether the chat has more messages than it shows.
    #[must_use]
    pub(crate) fn looking_back(&self, has_keys: bool, has_more: bool) -> Self {
        Self { has_keys, has_more, ..self.clone() }
    }

    /// Marks the prompt as showing memories.
    #[must_use]
    pub(crate) fn remembering(&self) -> Self {
        Self { remembers: true, ..self.clone() }
    }

    /// Sets whether the chat has documents.
    #[must_use]
    pub(crate) fn having(self, has_documents: bool) -> Self {
        Self { has_documents, ..self }
    }

    /// Marks the chat as having context packs. These tools replace tools of the same names, where present.
    #[must_use]
    pub(crate) fn keeping_records(&self, tools: impl IntoIterator<Item = Arc<dyn Tool>>) -> Self {
        let mut offered = self.offered.clone();
        for tool in tools {
            if let Some(known) = offered.get_mut(&tool.spec().name) {
                *known = tool;
            }
        }
        Self { offered, keeps_records: true, ..self.clone() }
    }

    /// Returns `true` if a tool of this kind is useful in the turn.
    pub(crate) fn has_use(&self, kind: ToolKind) -> bool {
        match kind {
            // Recalled messages come with keys.
            ToolKind::Lookup => self.has_keys || self.has_more && self.of_kind(ToolKind::Recall).is_some(),
            ToolKind::Recall => self.has_keys || self.has_more,
            ToolKind::Memories => self.remembers,
            ToolKind::Records => self.keeps_records,
            ToolKind::Documents => self.has_documents,
            ToolKind::Plain | ToolKind::WebSearch | ToolKind::Finder => true,
        }
    }

    /// Returns the web search tool. If there is one, the web may be searched, by the tool or by the provider instead.
    #[must_use]
    pub(crate) fn web_search(&self) -> Option<&Arc<dyn Tool>> {
        self.of_kind(ToolKind::WebSearch)
    }

    /// Returns the name of the tool of a kind; `None` if there is none.
    #[must_use]
    pub(crate) fn name_of(&self, kind: ToolKind) -> Option<String> {
        self.of_kind(kind).map(|tool| tool.spec().name.clone())
    }

    /// Returns `true` if tools of sources can be found.
    #[must_use]
    pub(crate) fn finds(&self) -> bool {
        self.of_kind(ToolKind::Finder).is_some()
    }

    fn of_kind(&self, kind: ToolKind) -> Option<&Arc<dyn Tool>> {
        self.offered.values().find(|tool| tool.spec().kind == kind)
    }

    /// Returns a tool by name if it is offered or in `found`.
    #[must_use]
    pub fn get(&self, name: &str, found: &[String]) -> Option<Arc<dyn Tool>> {
        let is_found = found.iter().any(|found| found == name);
        let of_source = is_found.then(|| self.findable(name)).flatten();
        let has_use = |tool: &&Arc<dyn Tool>| self.has_use(tool.spec().kind);
        of_source.or_else(|| self.offered.get(name).filter(has_use).cloned())
    }

    /// Returns a tool of a source if its name is valid for providers.
    fn findable(&self, name: &str) -> Option<Arc<dyn Tool>> {
        is_name(name).then(|| self.sources.get(name)).flatten()
    }

    /// Returns the specs of all tools for a model, in a stable order so that provider caches hit: offered tools, then the
    /// lookup and memory tools, then found tools in the order found. A found tool replaces an offered one of the same name.
    #[must_use]
    pub(crate) fn specs(&self, found: &[String]) -> Vec<Arc<ToolSpec>> {
        let found: Vec<Arc<ToolSpec>> =
            found.iter().filter_map(|name| Some(Arc::clone(self.findable(name)?.spec()))).collect();
        let is_found = |name: &str| found.iter().any(|spec| spec.name == name);
        let offered = self.offered.values().map(|tool| tool.spec());
        let mut offered: Vec<&Arc<ToolSpec>> =
            offered.filter(|spec| self.has_use(spec.kind) && !is_found(&spec.name)).collect();
        // Conditional tools come last, so that the order of the others stays the same.
        offered.sort_by_key(|spec| {
            matches!(
                spec.kind,
                ToolKind::Documents | ToolKind::Lookup | ToolKind::Recall | ToolKind::Memories
            )
        });
        let offered = offered.into_iter();
        let mut specs: Vec<Arc<ToolSpec>> = offered.cloned().collect();
        specs.extend(found);
        specs.truncate(self.most);
        specs
    }
}

/// Returns `true` for names valid for OpenAI, Gemini and Anthropic.
fn is_name(name: &str) -> bool {
    let begins = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    begins && name.len() <= 64 && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
}

#[cfg(test)]
mod tests {
    use async_trait::async_trait;
    use serde_json::{Value, json};

    use super::*;
    use crate::tools::source::ToolListing;
    use crate::tools::{ToolContext, ToolError, ToolOutput};
    use figaro_domain::tool::{Effect, StatusKey};

    #[derive(Debug)]
    struct Named(Arc<ToolSpec>);

    #[async_trait]
    impl Tool for Named {
        fn spec(&self) -> &Arc<ToolSpec> {
            &self.0
        }

        fn effect(&self) -> Effect {
            Effect::Read
        }

        fn status(&self) -> StatusKey {
            StatusKey("tool_telegram")
        }

        async fn call(&self, _context: &ToolContext, _arguments: Value) -> Result<ToolOutput, ToolError> {
            Ok(json!(self.0.description).into())
        }
    }

    fn named(name: &str, description: &str) -> Arc<dyn Tool> {
        of_kind(ToolKind::Plain, name, description)
    }

    fn of_kind(kind: ToolKind, name: &str, description: &str) -> Arc<dyn Tool> {
        Arc::new(Named(Arc::new(ToolSpec::new(name, description, json!({})).of_kind(kind))))
    }

    fn search() -> Arc<dyn Tool> {
        of_kind(ToolKind::WebSearch, "search", "always")
    }

    fn finder() -> Arc<dyn Tool> {
        of_kind(ToolKind::Finder, "find", "always")
    }

    /// Has whatever is asked for but `missing`.
    #[derive(Debug)]
    struct Full;

    impl ToolSource for Full {
        fn list(&self) -> Vec<ToolListing> {
            Vec::new()
        }

        fn get(&self, name: &str) -> Option<Arc<dyn Tool>> {
            (name != "missing").then(|| named(name, "found"))
        }
    }

    fn full() -> Sources {
        Sources::new(vec![Arc::new(Full)])
    }

    fn names(specs: &[Arc<ToolSpec>]) -> Vec<(&str, &str)> {
        specs.iter().map(|spec| (spec.name.as_str(), spec.description.as_str())).collect()
    }

    #[test]
    fn what_was_found_is_offered_last_and_replaces_what_has_its_name() {
        let registry =
            Registry::new([named("b", "always"), named("a", "always"), named("a", "twice")], full());
        assert_eq!(names(&registry.specs(&[])), [("a", "always"), ("b", "always")]);
        let found = ["c", "missing", "a"].map(str::to_owned);
        assert_eq!(names(&registry.specs(&found)), [("b", "always"), ("c", "found"), ("a", "found")]);
        let description = |name: &str| registry.get(name, &found).map(|tool| tool.spec().description.clone());
        assert_eq!(description("a").as_deref(), Some("found"));
        assert_eq!(description("b").as_deref(), Some("always"));
        assert_eq!(description("d"), None, "of the rest only what was found is given");
    }

    #[test]
    fn the_tool_that_looks_up_is_offered_where_there_is_something_to_look_up_behind_the_others() {
        let tools = || [named("a", ""), named("c", "")];
        let lookup = of_kind(ToolKind::Lookup, "b", "looks up");
        let all = Registry::new(tools().into_iter().chain([lookup]), Sources::default());
        for registry in
            [all.only(&["a", "b", "c"].map(str::to_owned)), all.only(&["a", "c"].map(str::to_owned)), all]
        {
            assert_eq!(names(&registry.specs(&[])), [("a", ""), ("c", "")]);
            assert!(registry.get("b", &[]).is_none(), "what is not offered cannot be called");
            assert!(registry.get("b", &["b".to_owned()]).is_none(), "nor found");
            let looking_up = registry.looking_up();
            assert_eq!(names(&looking_up.specs(&[])), [("a", ""), ("c", ""), ("b", "looks up")]);
            assert!(looking_up.get("b", &[]).is_some());
        }
        let without = Registry::new(tools(), Sources::default()).looking_up();
        assert_eq!(names(&without.specs(&[])), [("a", ""), ("c", "")]);
    }

    #[test]
    fn an_agent_has_the_tools_it_names_and_no_other() {
        let tools = [named("keep", "always"), named("clear", "always"), search(), finder()];
        let all = Registry::new(tools, full());
        let found = ["clear", "sendDice"].map(str::to_owned);
        let with = |chosen: &[&str]| {
            let chosen: Vec<String> = chosen.iter().map(|name| (*name).to_owned()).collect();
            let some = all.only(&chosen);
            let specs = some.specs(&found);
            let callable = specs.iter().all(|spec| some.get(&spec.name, &found).is_some());
            assert!(callable, "what is offered can be called");
            let missing = ["keep", "clear", "sendDice"].map(str::to_owned);
            for name in missing.iter().filter(|name| specs.iter().all(|spec| spec.name != **name)) {
                assert!(some.get(name, &found).is_none(), "{name} is not offered, and can be called");
            }
            let words = names(&specs).into_iter().map(|(name, from)| format!("{name} {from}"));
            (words.collect::<Vec<_>>().join(", "), some.web_search().is_some())
        };
        let cases: [(&[&str], &str, bool); 5] = [
            (&[], "", false),
            (&["keep", "missing"], "keep always", false),
            (&["search", "keep"], "keep always, search always", true),
            (&["sendVenue"], "sendVenue found", false),
            (&["find"], "find always, clear found, sendDice found", false),
        ];
        for (chosen, offered, searches) in cases {
            assert_eq!(with(chosen), (offered.to_owned(), searches), "{chosen:?}");
        }
    }

    #[test]
    fn what_holds_a_chat_holds_what_is_set_up_in_it() {
        let tools = [named("keep", "always"), named("clear", "always"), search(), finder()];
        let all = Registry::new(tools, full());
        let only =
            |names: &[&str]| all.only(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
        let task = only(&["keep", "search", "sendDice"]);
        let held = |by: &Registry| {
            let held = task.within(by);
            names(&held.specs(&[])).into_iter().map(|(name, _)| name.to_owned()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(held(&only(&[])), "");
        assert_eq!(held(&only(&["keep"])), "keep");
        assert_eq!(held(&only(&["search", "find"])), "keep search sendDice", "what it can find it has");
        assert_eq!(held(&all), "keep search sendDice");
        let finds = only(&["find"]).within(&only(&["keep"]));
        assert!(
            finds.specs(&["sendDice".to_owned()]).is_empty(),
            "what the chat cannot find, its task cannot"
        );
    }

    #[test]
    fn no_provider_gets_more_or_other_tools_than_it_takes() {
        let many = (0..150).map(|n| named(&format!("t{n}"), ""));
        let odd = ["", "1a", "a b", "ü", "a.b"].map(|name| named(name, ""));
        let registry = Registry::new(odd.into_iter().chain(many), full());
        let found: Vec<String> = (0..8).map(|n| format!("f{n}")).collect();
        let specs = registry.specs(&found);
        assert_eq!(specs.len(), MAX_TOOLS);
        assert!(specs.iter().all(|spec| is_name(&spec.name)));
        assert!(found.iter().all(|name| specs.iter().any(|spec| spec.name == *name)));
    }
}
