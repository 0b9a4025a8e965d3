//! The tools of a turn: those always offered, and those of the sources that the session has found.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use super::{Sources, Tool, ToolSource, find};
use figaro_domain::tool::{MAX_FOUND, ToolKind};
use figaro_provider::ToolSpec;

/// The most tools a request carries: providers refuse more than 128, and models choose badly long before.
const MAX_TOOLS: usize = 100;
/// The most that providers take: so many may whoever asks bring, in place of Figaro's own.
const MAX_TAKEN: usize = 128;
/// So many are always offered.
const MAX_OFFERED: usize = MAX_TOOLS - MAX_FOUND;

/// The tools of a turn, by name.
#[derive(Debug, Clone)]
pub struct Registry {
    offered: BTreeMap<String, Arc<dyn Tool>>,
    /// A key stands in the prompt where something was left out.
    has_keys: bool,
    /// The chat has more messages than the prompt shows.
    has_more: bool,
    /// The prompt shows memories.
    remembers: bool,
    /// The chat has chosen context packs.
    keeps_records: bool,
    sources: Sources,
    /// There are tools among them that not everybody has.
    is_own: bool,
    /// So many go with a request.
    most: usize,
}

impl Registry {
    /// All of these, and those of the sources once they were found. Of two with one name the first is kept and the other
    /// logged, so that nothing outside can replace a tool of Figaro's own; so is what no provider would take.
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
            sources,
            is_own: false,
            most: MAX_TOOLS,
        }
    }

    /// The same tools reduced to these names. A tool of a source is among them where it is named, and can be found where
    /// the tool that finds is named. A tool that says more of itself to those who name it does so. Files of agents are checked
    /// before, so a name that no tool has is of one that is not offered here, as in a chat over HTTP; it is left out. What goes
    /// with the prompt needs no name: the tool that memories are named with, and the one that reads on where a key stands.
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

    /// Those of the tools that others have too, or can find.
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

    /// The same tools with these always offered beside them, and those of a further source to be found where the tool that
    /// finds is among them. None takes the place of a tool that is there.
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

    /// The same tools, whose tool that finds looks through the sources of these alone.
    fn finding_its_own(mut self) -> Self {
        let name = self.name_of(ToolKind::Finder);
        if let Some(finder) = name.and_then(|name| self.offered.get_mut(&name)) {
            *finder = find::tool(self.sources.clone());
        }
        self
    }

    /// The same tools with these of others, by their names: those that are always offered there, or can be found there.
    #[must_use]
    pub(crate) fn with<'a>(&self, names: impl Iterator<Item = &'a str>, others: &Self) -> Self {
        let mut offered = self.offered.clone();
        for name in names {
            let tool = others.offered.get(name).cloned().or_else(|| others.findable(name));
            offered.extend(tool.map(|tool| (name.to_owned(), tool)));
        }
        Self { offered, ..self.clone() }
    }

    /// The same tools, as far as there is room for them, and these of whoever asks, which stand in the place of those of the same name.
    #[must_use]
    pub(crate) fn bringing(&self, own: &[Arc<dyn Tool>]) -> Self {
        let own: BTreeMap<_, _> = own.iter().map(|tool| (tool.spec().name.clone(), tool.clone())).collect();
        let most = MAX_TOOLS.max(own.len()).min(MAX_TAKEN);
        let others = self.offered.iter().filter(|(name, _)| !own.contains_key(*name));
        let others = others.take(most - own.len().min(most)).map(|(name, tool)| (name.clone(), tool.clone()));
        Self { offered: others.chain(own.clone()).collect(), most, ..self.clone() }
    }

    /// The same tools for a turn in whose prompt keys stand for what was left out.
    #[must_use]
    pub fn looking_up(&self) -> Self {
        Self { has_keys: true, ..self.clone() }
    }

    /// The same tools for a turn whose prompt has keys or not, and shows all of its chat or not.
    #[must_use]
    pub(crate) fn looking_back(&self, has_keys: bool, has_more: bool) -> Self {
        Self { has_keys, has_more, ..self.clone() }
    }

    /// The same tools for a turn in whose prompt memories stand.
    #[must_use]
    pub(crate) fn remembering(&self) -> Self {
        Self { remembers: true, ..self.clone() }
    }

    /// The same tools for a turn in a chat that has chosen context packs: these stand for those of their names, as far as they are
    /// among them.
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

    /// Whether there is a use for a tool of this kind in the turn.
    pub(crate) fn has_use(&self, kind: ToolKind) -> bool {
        match kind {
            // What is recalled comes with keys.
            ToolKind::Lookup => self.has_keys || self.has_more && self.of_kind(ToolKind::Recall).is_some(),
            ToolKind::Recall => self.has_keys || self.has_more,
            ToolKind::Memories => self.remembers,
            ToolKind::Records => self.keeps_records,
            ToolKind::Plain | ToolKind::WebSearch | ToolKind::Finder => true,
        }
    }

    /// The tool that searches the web. Where there is one the web may be searched, by it or by the provider in its place.
    #[must_use]
    pub(crate) fn web_search(&self) -> Option<&Arc<dyn Tool>> {
        self.of_kind(ToolKind::WebSearch)
    }

    /// The name of the tool of a kind, if there is one.
    #[must_use]
    pub(crate) fn name_of(&self, kind: ToolKind) -> Option<String> {
        self.of_kind(kind).map(|tool| tool.spec().name.clone())
    }

    /// Whether tools of sources can be found.
    #[must_use]
    pub(crate) fn finds(&self) -> bool {
        self.of_kind(ToolKind::Finder).is_some()
    }

    fn of_kind(&self, kind: ToolKind) -> Option<&Arc<dyn Tool>> {
        self.offered.values().find(|tool| tool.spec().kind == kind)
    }

    /// A tool by name, if it is always offered or among those `found`.
    #[must_use]
    pub fn get(&self, name: &str, found: &[String]) -> Option<Arc<dyn Tool>> {
        let is_found = found.iter().any(|found| found == name);
        let of_source = is_found.then(|| self.findable(name)).flatten();
        let has_use = |tool: &&Arc<dyn Tool>| self.has_use(tool.spec().kind);
        of_source.or_else(|| self.offered.get(name).filter(has_use).cloned())
    }

    /// A tool of a source, if its name is one that providers take.
    fn findable(&self, name: &str) -> Option<Arc<dyn Tool>> {
        is_name(name).then(|| self.sources.get(name)).flatten()
    }

    /// Every tool as a model sees it, always in the same order so that provider caches hit: those always offered, the ones
    /// that look up and that name memories, and what was found, in the order found, which stands for what else has its name.
    #[must_use]
    pub(crate) fn specs(&self, found: &[String]) -> Vec<Arc<ToolSpec>> {
        let found: Vec<Arc<ToolSpec>> =
            found.iter().filter_map(|name| Some(Arc::clone(self.findable(name)?.spec()))).collect();
        let is_found = |name: &str| found.iter().any(|spec| spec.name == name);
        let offered = self.offered.values().map(|tool| tool.spec());
        let mut offered: Vec<&Arc<ToolSpec>> =
            offered.filter(|spec| self.has_use(spec.kind) && !is_found(&spec.name)).collect();
        // What is not always offered stands behind the others, which so stay the same.
        offered.sort_by_key(|spec| {
            matches!(spec.kind, ToolKind::Lookup | ToolKind::Recall | ToolKind::Memories)
        });
        let offered = offered.into_iter();
        let mut specs: Vec<Arc<ToolSpec>> = offered.cloned().collect();
        specs.extend(found);
        specs.truncate(self.most);
        specs
    }
}

/// A name that every provider takes: OpenAI, Gemini and Anthropic agree on these.
fn is_name(name: &str) -> bool {
    let begins = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    begins && name.len() <= 64 && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
}

#[cfg(test)]
mod tests {
    use async_trait::async_trait;
    use serde_json::{Value, json};

    use super::*;
    use crate::tools::source::Listed;
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
        fn list(&self) -> Vec<Listed> {
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
