//! All rules in their order, the owner's first, and which of them are about each method.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, LazyLock};

use parking_lot::RwLock;

use figaro_files::yaml::Misfit;
use figaro_mcp::table::{Method, Table};
use serde_json::Map;

use super::call::{Role, TelegramCall};
use super::decided::{Decided, Decision, RuleName};
use super::facts::{Facts, Loads, Watched, Who};
use super::file::{Origin, Written, read};
use super::right::AdminRight;
use super::rule::{Approver, ChatCondition, Rule, When};
use super::target::Target;
use crate::address::Addresses;
use figaro_base::ids::ChatId;

/// The rules without a file of the owner's.
static BUILT_IN: LazyLock<Arc<Rules>> = LazyLock::new(|| Arc::new(Rules::of(Vec::new())));

/// The rules that hold.
#[derive(Debug)]
pub struct Rules {
    rules: Vec<Rule>,
    by_method: HashMap<&'static str, Box<[usize]>>,
    pub(super) watched: Watched,
    tells_admins: bool,
}

impl Rules {
    /// The rules of an owner's file before those that are built in.
    ///
    /// # Errors
    /// All that is wrong with the text, with where it stands.
    pub fn read(text: &str) -> Result<Self, Vec<Misfit>> {
        read(text, Origin::Owner).map(Self::of)
    }

    /// The rules that are built in.
    #[must_use]
    pub fn built_in() -> Arc<Self> {
        BUILT_IN.clone()
    }

    #[expect(clippy::expect_used, reason = "the data is part of the build; a test parses it")]
    fn of(own: Vec<Written>) -> Self {
        let built_in = read(include_str!("policy.yaml"), Origin::BuiltIn).expect("policy.yaml fits");
        let named = |written: &[Written]| {
            let uses = written.iter().filter_map(|written| written.rule.when.uses.clone());
            uses.flatten().collect::<Vec<_>>()
        };
        let reaching = named(&built_in);
        let watched = Watched {
            named: named(&own).into_iter().chain(reaching.iter().cloned()).collect(),
            reaching: reaching.into_iter().collect(),
        };
        let all: Vec<Written> = own.into_iter().chain(built_in).collect();
        let by_method = Table::get().methods().iter().map(|method| {
            let about = all.iter().enumerate().filter(|(_, written)| written.methods.have(method));
            (method.name.as_str(), about.map(|(at, _)| at).collect())
        });
        let by_method = by_method.collect();
        let rules: Vec<Rule> = all.into_iter().map(|written| written.rule).collect();
        let tells = |role| {
            let mut named = rules.iter().filter_map(|rule| rule.when.roles.as_ref());
            named.any(|roles| roles.contains(&role))
        };
        let tells_admins = tells(Role::Admin) || tells(Role::Member);
        Self { rules, by_method, watched, tells_admins }
    }

    /// Why the rule of this name decides as it does; `None` for one that is not there, or is part of the code.
    #[must_use]
    pub fn reason_of(&self, name: &str) -> Option<&str> {
        let rule = self.rules.iter().find(|rule| rule.name.as_str() == name);
        rule.map(|rule| rule.reason.as_str()).filter(|reason| !reason.is_empty())
    }

    /// The rules about other MCP servers, in their order.
    pub(super) fn about_servers(&self) -> impl Iterator<Item = &Rule> {
        self.rules.iter().filter(|rule| rule.of_servers.is_some())
    }

    /// The names of other MCP servers that rules name, without those that stand for several.
    #[must_use]
    pub fn servers(&self) -> Vec<&str> {
        let named = self.about_servers().filter_map(|rule| rule.of_servers.as_ref());
        let named = named.flat_map(|of| &of.servers).filter(|pattern| !pattern.is_wide());
        named.map(|pattern| pattern.0.as_str()).collect()
    }

    /// How many rules of the owner's there are.
    #[must_use]
    pub fn owners(&self) -> usize {
        self.rules.iter().filter(|rule| rule.name.is_owners()).count()
    }

    /// Whether a rule tells admins of a chat from its members: only then does it matter who is one.
    #[must_use]
    pub const fn tells_admins(&self) -> bool {
        self.tells_admins
    }

    /// Whether a method takes an approval however it is called in the current chat, or is never called.
    #[must_use]
    pub fn takes_approval(&self, method: &Method) -> bool {
        let here = ChatId(1);
        let (args, addresses) = (Map::new(), Addresses::default());
        let call = TelegramCall {
            method,
            args: &args,
            here,
            speaker: None,
            role: Role::Owner,
            agent: None,
            task: false,
            own: Some(true),
            figaros: false,
            files: &[],
            addresses: &addresses,
            resolved: &[],
        };
        let mut facts =
            Facts::of(&call, BTreeSet::from([Target::Number(here)]), Loads::Nothing, &self.watched);
        facts.acts_in = Some(Target::Number(here));
        facts.person = Some(Who::Asker);
        self.decide(&facts).decision != Decision::Allow
    }

    /// Whether a rule that names the method and this chat, and nothing else, would let a call go.
    pub(super) fn opens(facts: &Facts<'_>, chat: ChatId) -> bool {
        let chats = Some(vec![ChatCondition::Named(Target::Number(chat))]);
        let rule = Rule {
            name: RuleName::limit("approved"),
            // Whose the messages are was known to whoever approved it.
            when: When { chats, own: facts.own, ..When::default() },
            then: Decision::Allow,
            reason: String::new(),
            approver: Approver::Owner,
            people: 1,
            of_servers: None,
        };
        !facts.targets.is_empty() && facts.targets.iter().all(|target| rule.holds(facts, Some(target)))
    }

    /// What the rules decide about a call. For one that names several chats each is looked at, and the strictest holds.
    pub(super) fn decide(&self, facts: &Facts<'_>) -> Decided {
        let about = self.by_method.get(facts.call.method.name.as_str()).map_or(&[][..], |about| about);
        let first = |target: Option<&Target>| {
            about.iter().filter_map(|at| self.rules.get(*at)).find(|rule| rule.holds(facts, target))
        };
        let mut strictest: Option<&Rule> = None;
        // The chat that it acts in comes first: of decisions that are equally strict its reason says most.
        let beside = facts.targets.iter().filter(|target| facts.acts_in.as_ref() != Some(*target)).map(Some);
        let there = (facts.acts_in.is_some() || facts.targets.is_empty()).then_some(facts.acts_in.as_ref());
        for target in there.into_iter().chain(beside) {
            let Some(rule) = first(target) else { return uncovered() };
            if strictest.is_none_or(|before| before.then < rule.then) {
                strictest = Some(rule);
            }
        }
        strictest.map_or_else(uncovered, |rule| decided(rule, facts))
    }
}

fn decided(rule: &Rule, facts: &Facts<'_>) -> Decided {
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
        // Where a call names no chat, there is none to have a right in.
        right: right.filter(|_| asks && !facts.targets.is_empty()),
        people: rule.people,
        unattended: asks && facts.call.task,
    }
}

/// No rule holds. Built-in rules cover all there is; if they ever do not, nothing is done.
fn uncovered() -> Decided {
    Decided::limit("no_rule", "no rule is about it".to_owned())
}

/// The rules that hold now: they change when the owner's file does.
#[derive(Debug, Clone)]
pub struct Policy(Arc<RwLock<Arc<Rules>>>);

impl Policy {
    /// These rules.
    #[must_use]
    pub fn new(rules: Arc<Rules>) -> Self {
        Self(Arc::new(RwLock::new(rules)))
    }

    /// The rules of this moment; a call is decided by one state of them.
    #[must_use]
    pub fn rules(&self) -> Arc<Rules> {
        self.0.read().clone()
    }

    /// Has other rules hold from now on.
    pub fn replace(&self, rules: Rules) {
        *self.0.write() = Arc::new(rules);
    }
}
