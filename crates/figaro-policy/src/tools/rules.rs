//! All rules in order, the owner's first, indexed by method.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, LazyLock};

use parking_lot::RwLock;

use figaro_files::yaml::Misfit;
use figaro_mcp::table::{ApiTable, Method};
use serde_json::Map;

use super::call::{CallerRole, TelegramCall};
use super::decided::{Decided, Decision, RuleName};
use super::facts::{CallFacts, Loads, Watched, Who};
use super::file::{FileRule, RuleOrigin, read};
use super::right::AdminRight;
use super::rule::{Approver, ChatCondition, Rule, RuleCondition};
use super::target::Target;
use crate::address::Addresses;
use figaro_base::ids::ChatId;

/// The rules that apply without an owner's file.
static BUILT_IN: LazyLock<Arc<Rules>> = LazyLock::new(|| Arc::new(Rules::of(Vec::new())));

/// An owner's rules and the built-in ones, in the order in which they apply.
#[derive(Debug)]
pub struct Rules {
    rules: Vec<Rule>,
    by_method: HashMap<&'static str, Box<[usize]>>,
    pub(super) watched: Watched,
    tells_admins: bool,
}

impl Rules {
    /// Reads an owner's file and adds the built-in rules after it.
    ///
    /// # Errors
    /// All mistakes of the text, each with its place.
    pub fn read(text: &str) -> Result<Self, Vec<Misfit>> {
        read(text, RuleOrigin::Owner).map(Self::of)
    }

    /// Returns the built-in rules alone.
    #[must_use]
    pub fn built_in() -> Arc<Self> {
        BUILT_IN.clone()
    }

    #[expect(clippy::expect_used, reason = "the data is part of the build; a test parses it")]
    fn of(own: Vec<FileRule>) -> Self {
        let built_in = read(include_str!("policy.yaml"), RuleOrigin::BuiltIn).expect("policy.yaml fits");
        let named = |written: &[FileRule]| {
            let uses = written.iter().filter_map(|written| written.rule.when.uses.clone());
            uses.flatten().collect::<Vec<_>>()
        };
        let reaching = named(&built_in);
        let watched = Watched {
            named: named(&own).into_iter().chain(reaching.iter().cloned()).collect(),
            reaching: reaching.into_iter().collect(),
        };
        let all: Vec<FileRule> = own.into_iter().chain(built_in).collect();
        let by_method = ApiTable::get().methods().iter().map(|method| {
            let about = all.iter().enumerate().filter(|(_, written)| written.methods.have(method));
            (method.name.as_str(), about.map(|(at, _)| at).collect())
        });
        let by_method = by_method.collect();
        let rules: Vec<Rule> = all.into_iter().map(|written| written.rule).collect();
        let tells = |role| {
            let mut named = rules.iter().filter_map(|rule| rule.when.roles.as_ref());
            named.any(|roles| roles.contains(&role))
        };
        let tells_admins = tells(CallerRole::Admin) || tells(CallerRole::Member);
        Self { rules, by_method, watched, tells_admins }
    }

    /// Returns the reason given in the rule of this name; `None` for an unknown rule or one that is part of the code.
    #[must_use]
    pub fn reason_of(&self, name: &str) -> Option<&str> {
        let rule = self.rules.iter().find(|rule| rule.name.as_str() == name);
        rule.map(|rule| rule.reason.as_str()).filter(|reason| !reason.is_empty())
    }

    /// Iterates over the rules about other MCP servers, in order.
    pub(super) fn about_servers(&self) -> impl Iterator<Item = &Rule> {
        self.rules.iter().filter(|rule| rule.of_servers.is_some())
    }

    /// Returns the names of other MCP servers in rules, without patterns.
    #[must_use]
    pub fn servers(&self) -> Vec<&str> {
        let named = self.about_servers().filter_map(|rule| rule.of_servers.as_ref());
        let named = named.flat_map(|of| &of.servers).filter(|pattern| !pattern.is_wide());
        named.map(|pattern| pattern.0.as_str()).collect()
    }

    /// Returns the number of the owner's rules.
    #[must_use]
    pub fn owners(&self) -> usize {
        self.rules.iter().filter(|rule| rule.name.is_owners()).count()
    }

    /// Returns `true` if a rule distinguishes admins of a chat from members; otherwise nobody needs to look them up.
    #[must_use]
    pub const fn tells_admins(&self) -> bool {
        self.tells_admins
    }

    /// Returns `true` if every call of a method in the current chat needs an approval or is refused.
    #[must_use]
    pub fn takes_approval(&self, method: &Method) -> bool {
        let here = ChatId(1);
        let (args, addresses) = (Map::new(), Addresses::default());
        let call = TelegramCall {
            method,
            args: &args,
            here,
            speaker: None,
            role: CallerRole::Owner,
            agent: None,
            task: false,
            own: Some(true),
            figaros: false,
            files: &[],
            addresses: &addresses,
            read: None,
            resolved: &[],
        };
        let mut facts =
            CallFacts::of(&call, BTreeSet::from([Target::Number(here)]), Loads::Nothing, &self.watched);
        facts.acts_in = Some(Target::Number(here));
        facts.person = Some(Who::Asker);
        self.decide(&facts).decision != Decision::Allow
    }

    /// Returns `true` if a rule that allows the method in this chat, and nothing else, would allow the call.
    pub(super) fn opens(facts: &CallFacts<'_>, chat: ChatId) -> bool {
        let chats = Some(vec![ChatCondition::Named(Target::Number(chat))]);
        let rule = Rule {
            name: RuleName::limit("approved"),
            // The approver saw whose messages these are.
            when: RuleCondition { chats, own: facts.own, ..RuleCondition::default() },
            then: Decision::Allow,
            reason: String::new(),
            approver: Approver::Owner,
            people: 1,
            trusted: true,
            of_servers: None,
        };
        !facts.targets.is_empty() && facts.targets.iter().all(|target| rule.holds(facts, Some(target)))
    }

    /// Decides about a call. If it names several chats, each is checked and the strictest decision counts.
    pub(super) fn decide(&self, facts: &CallFacts<'_>) -> Decided {
        let about = self.by_method.get(facts.call.method.name.as_str()).map_or(&[][..], |about| about);
        let first = |target: Option<&Target>| {
            about.iter().filter_map(|at| self.rules.get(*at)).find(|rule| rule.holds(facts, target))
        };
        let (mut strictest, mut opens_elsewhere): (Option<&Rule>, bool) = (None, false);
        // The chat that the call acts in comes first: among equally strict decisions its reason says most.
        let beside = facts.targets.iter().filter(|target| facts.acts_in.as_ref() != Some(*target)).map(Some);
        let there = (facts.acts_in.is_some() || facts.targets.is_empty()).then_some(facts.acts_in.as_ref());
        for target in there.into_iter().chain(beside) {
            let Some(rule) = first(target) else { return uncovered() };
            opens_elsewhere |= rule.opens_elsewhere(facts);
            if strictest.is_none_or(|before| before.then < rule.then) {
                strictest = Some(rule);
            }
        }
        match strictest {
            // Calls that the built-in rules allow stay in the chat.
            Some(rule) if opens_elsewhere && rule.then == Decision::Allow => {
                Decided::after_reading(facts.call.read, facts.call.task)
            }
            Some(rule) => decided(rule, facts),
            None => uncovered(),
        }
    }
}

fn decided(rule: &Rule, facts: &CallFacts<'_>) -> Decided {
    let asks = rule.then == Decision::Ask;
    let right = match rule.approver {
        Approver::ByMethod => AdminRight::for_method(&facts.call.method.name),
        Approver::Holder(right) => Some(right),
        Approver::Owner => None,
    };
    Decided {
        decision: rule.then,
        rule: rule.name.clone(),
        reason: rule.reason(facts),
        // A call that names no chat has no chat to hold a right in.
        right: right.filter(|_| asks && !facts.targets.is_empty()),
        people: rule.people,
        unattended: asks && facts.call.task,
    }
}

/// Decision if no rule applies. Built-in rules cover everything; this refuses if they ever do not.
fn uncovered() -> Decided {
    Decided::limit("no_rule", "no rule is about it".to_owned())
}

/// Current rules; replaced when the owner's file changes.
#[derive(Debug, Clone)]
pub struct Policy(Arc<RwLock<Arc<Rules>>>);

impl Policy {
    /// Starts with these rules.
    #[must_use]
    pub fn new(rules: Arc<Rules>) -> Self {
        Self(Arc::new(RwLock::new(rules)))
    }

    /// Returns the current rules; decide one call by one snapshot of them.
    #[must_use]
    pub fn rules(&self) -> Arc<Rules> {
        self.0.read().clone()
    }

    /// Replaces the rules.
    pub fn replace(&self, rules: Rules) {
        *self.0.write() = Arc::new(rules);
    }
}
