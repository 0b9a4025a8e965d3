//! Rules as written by an owner: strict YAML, every mistake reported with its line.

use std::collections::HashSet;

use figaro_mcp::table::{ApiTable, Class, Method};
use serde::Deserialize;
use serde_saphyr::{Location, Spanned};

use super::call::CallerRole;
use super::decided::{Decision, RuleName};
use super::facts::Who;
use super::right::AdminRight;
use super::rule::{
    ADDRESS, AddressCondition, Approver, ChatCondition, OfServers, PARAMETER, Pattern, Rule, RuleCondition,
};
use super::target::{Target, username};
use super::words::WordList;
use figaro_base::ids::ChatId;
use figaro_base::text::with_nearest;
use figaro_files::yaml::{self, Misfit};

/// Maximum number of rules in a file.
const MAX_RULES: usize = 500;
/// Maximum characters of a rule's name.
const MAX_NAME: usize = 40;
/// Server of rules that name none.
const TELEGRAM: &str = "telegram";
const CLASSES: [(&str, Class); 12] = [
    ("read", Class::Read),
    ("message", Class::Message),
    ("answers", Class::Answers),
    ("profile", Class::Profile),
    ("stickers", Class::Stickers),
    ("delete", Class::Delete),
    ("moderation", Class::Moderation),
    ("business", Class::Business),
    ("other", Class::Other),
    ("money", Class::Money),
    ("managed_bots", Class::ManagedBots),
    ("lifecycle", Class::Lifecycle),
];
const ADDRESSES: [(&str, AddressCondition); 3] = [
    ("none", AddressCondition::Nothing),
    ("known", AddressCondition::Known),
    ("unknown", AddressCondition::Unknown),
];
const PEOPLE: [(&str, Who); 2] = [("asker", Who::Asker), ("other", Who::Other)];

/// A rule with the methods that it covers.
#[derive(Debug)]
pub(super) struct FileRule {
    pub(super) rule: Rule,
    pub(super) methods: Methods,
}

/// Methods that a rule covers; all conditions must hold.
#[derive(Debug)]
pub(super) struct Methods {
    patterns: Option<Vec<Pattern>>,
    classes: Option<Vec<Class>>,
    irreversible: Option<bool>,
    /// `true` if the rule denies; it then covers guarded methods without naming them.
    denies: bool,
    /// `true` if the rule covers other servers only.
    none: bool,
}

impl Methods {
    /// Returns `true` if the rule covers a method. Methods that move money or control bots are opened only by their class
    /// or full name.
    pub(super) fn have(&self, method: &Method) -> bool {
        let fits = |pattern: &&Pattern| pattern.fits(&method.name);
        let named = self.patterns.as_ref().map(|patterns| patterns.iter().filter(fits).collect::<Vec<_>>());
        let is_named = named.as_ref().is_some_and(|named| named.iter().any(|pattern| !pattern.is_wide()));
        let is_guarded = matches!(method.class, Class::Money | Class::ManagedBots);
        !self.none
            && named.is_none_or(|named| !named.is_empty())
            && self.classes.as_ref().is_none_or(|classes| classes.contains(&method.class))
            && self.irreversible.is_none_or(|irreversible| irreversible == method.irreversible)
            && (!is_guarded || self.denies || self.classes.is_some() || is_named)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RulesFile {
    rules: Vec<RawRule>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawRule {
    name: Spanned<String>,
    method: Option<Spanned<WordList>>,
    class: Option<Spanned<WordList>>,
    irreversible: Option<bool>,
    server: Option<Spanned<WordList>>,
    agent: Option<Spanned<WordList>>,
    role: Option<Spanned<WordList>>,
    chat: Option<Spanned<WordList>>,
    also: Option<Spanned<WordList>>,
    uses: Option<Spanned<WordList>>,
    own: Option<bool>,
    task: Option<bool>,
    address: Option<Spanned<WordList>>,
    person: Option<Spanned<String>>,
    receiver: Option<Spanned<String>>,
    then: Spanned<String>,
    reason: Option<Spanned<String>>,
    right: Option<Spanned<String>>,
    people: Option<Spanned<u8>>,
    trusted: Option<bool>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RuleOrigin {
    BuiltIn,
    Owner,
}

/// Reads rules.
///
/// # Errors
/// All mistakes, each with its place.
pub(super) fn read(text: &str, origin: RuleOrigin) -> Result<Vec<FileRule>, Vec<Misfit>> {
    if text.lines().all(|line| line.trim().is_empty() || line.trim_start().starts_with('#')) {
        return Ok(Vec::new());
    }
    let file: RulesFile = yaml::parse(text).map_err(|misfit| vec![misfit])?;
    let mut reading = RuleFileReader { origin, names: HashSet::new(), faults: Vec::new() };
    if file.rules.len() > MAX_RULES {
        reading.faults.push(format!("there are more than {MAX_RULES} rules").into());
    }
    let rules: Vec<FileRule> = file.rules.into_iter().map(|raw| reading.rule(raw)).collect();
    if reading.faults.is_empty() { Ok(rules) } else { Err(reading.faults) }
}

/// State of reading a rule file.
struct RuleFileReader {
    origin: RuleOrigin,
    names: HashSet<String>,
    faults: Vec<Misfit>,
}

impl RuleFileReader {
    fn fault(&mut self, at: Location, words: &str) {
        self.faults.push(Misfit::at(at, words));
    }

    fn rule(&mut self, raw: RawRule) -> FileRule {
        let name = self.name(&raw.name);
        let then = self.word(&raw.then, "then", &Decision::ALL.map(|one| (one.name(), one)));
        let then = then.unwrap_or(Decision::Deny);
        self.asks_only(&raw, then);
        let of_servers = self.of_servers(&raw);
        let patterns = if of_servers.is_some() { None } else { self.methods(raw.method.as_ref()) };
        let methods = Methods {
            patterns,
            classes: self.words(raw.class.as_ref(), "class", &CLASSES),
            irreversible: raw.irreversible,
            denies: then == Decision::Deny,
            none: of_servers.is_some(),
        };
        if of_servers.is_none() && !ApiTable::get().methods().iter().any(|method| methods.have(method)) {
            self.fault(raw.name.defined, "the rule is about no method that there is");
        }
        let when = RuleCondition {
            agents: raw.agent.map(|list| list.value.0.into_iter().map(|word| Pattern(word.text)).collect()),
            roles: self.words(raw.role.as_ref(), "role", &CallerRole::ALL.map(|role| (role.name(), role))),
            chats: self.chats(raw.chat.as_ref(), "chat"),
            also: self.chats(raw.also.as_ref(), "also"),
            uses: self.parameters(raw.uses.as_ref()),
            own: raw.own,
            task: raw.task,
            address: self.words(raw.address.as_ref(), "address", &ADDRESSES),
            person: raw.person.as_ref().and_then(|word| self.word(word, "person", &PEOPLE)),
            receiver: raw.receiver.as_ref().and_then(|word| self.word(word, "receiver", &PEOPLE)),
        };
        let reason = self.reason(raw.reason.as_ref(), &when);
        let rule = Rule {
            name,
            when,
            then,
            reason,
            approver: raw.right.as_ref().map_or(Approver::ByMethod, |right| self.approver(right)),
            people: raw.people.as_ref().map_or(1, |people| self.people(people)),
            trusted: raw.trusted == Some(true),
            of_servers,
        };
        FileRule { rule, methods }
    }

    /// Reads the other servers and tools that a rule covers; `None` if it is about Telegram.
    fn of_servers(&mut self, raw: &RawRule) -> Option<OfServers> {
        let list = raw.server.as_ref()?;
        let words = &list.value.0;
        if words.iter().all(|word| word.text == TELEGRAM) {
            return None;
        }
        let at = list.defined;
        if words.iter().any(|word| word.text == TELEGRAM) {
            self.fault(at, "server: a rule is about telegram or about other servers; write two rules");
        }
        for (key, is_set) in [
            ("class", raw.class.is_some()),
            ("irreversible", raw.irreversible.is_some()),
            ("also", raw.also.is_some()),
            ("uses", raw.uses.is_some()),
            ("own", raw.own.is_some()),
            ("address", raw.address.is_some()),
            ("person", raw.person.is_some()),
            ("receiver", raw.receiver.is_some()),
            ("right", raw.right.is_some()),
        ] {
            if is_set {
                self.fault(
                    at,
                    &format!("{key} is for rules about telegram, and this one names another server"),
                );
            }
        }
        self.chat_of_servers(raw.chat.as_ref());
        let patterns = |list: &WordList| list.0.iter().map(|word| Pattern(word.text.clone())).collect();
        let tools = raw.method.as_ref().map(|list| patterns(&list.value));
        Some(OfServers { servers: patterns(&list.value), tools })
    }

    /// Reports chats that a rule about other servers can never match: a rule that denies would deny nothing.
    fn chat_of_servers(&mut self, list: Option<&Spanned<WordList>>) {
        let Some(list) = list else { return };
        for word in &list.value.0 {
            let words = match chat(&word.text) {
                Some(ChatCondition::Elsewhere) => {
                    "chat is elsewhere, which never holds for another server: its calls are made in the chat where the model is"
                }
                Some(ChatCondition::Named(Target::Username(_))) => {
                    "chat is a username, which a rule about another server does not know: give the chat's number"
                }
                Some(ChatCondition::Here | ChatCondition::Named(Target::Number(_))) | None => continue,
            };
            self.fault(word.at.unwrap_or(list.defined), words);
        }
    }

    fn name(&mut self, name: &Spanned<String>) -> RuleName {
        let (text, at) = (&name.value, name.defined);
        let fits = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_' || b == b'-';
        if text.is_empty() || text.len() > MAX_NAME || !text.bytes().all(fits) {
            self.fault(
                at,
                &format!("name is `{text}`, and takes up to {MAX_NAME} lower-case letters, digits, _ and -"),
            );
        } else if !self.names.insert(text.clone()) {
            self.fault(at, &format!("two rules have the name {text}"));
        }
        match self.origin {
            RuleOrigin::BuiltIn => RuleName::built_in(text),
            RuleOrigin::Owner => RuleName::of_owner(text),
        }
    }

    /// Checks the keys that only a rule that asks may have, and the reason that asking and denying rules need.
    fn asks_only(&mut self, raw: &RawRule, then: Decision) {
        let at = raw.then.defined;
        if then != Decision::Ask && raw.right.is_some() {
            self.fault(at, "right is for rules with then: ask");
        }
        if then != Decision::Allow && raw.trusted.is_some() {
            self.fault(at, "trusted is for rules with then: allow");
        }
        if then != Decision::Ask && raw.people.is_some() {
            self.fault(at, "people is for rules with then: ask");
        }
        if then != Decision::Allow && raw.reason.as_ref().is_none_or(|reason| reason.value.trim().is_empty())
        {
            self.fault(at, "reason is missing: people and the model are told why");
        }
    }

    /// Reads one word of a closed list.
    fn word<T: Clone>(&mut self, word: &Spanned<String>, key: &str, known: &[(&str, T)]) -> Option<T> {
        self.known(&word.value, word.defined, key, known)
    }

    fn words<T: Clone>(
        &mut self,
        list: Option<&Spanned<WordList>>,
        key: &str,
        known: &[(&str, T)],
    ) -> Option<Vec<T>> {
        let list = list?;
        let at = list.defined;
        let words = list.value.0.iter();
        Some(words.filter_map(|word| self.known(&word.text, word.at.unwrap_or(at), key, known)).collect())
    }

    fn known<T: Clone>(&mut self, word: &str, at: Location, key: &str, known: &[(&str, T)]) -> Option<T> {
        let found = known.iter().find(|(name, _)| *name == word).map(|(_, value)| value.clone());
        if found.is_none() {
            let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
            let takes = format!("{key} is `{word}`, and takes {}", names.join(", "));
            self.fault(at, &with_nearest(takes, word, names));
        }
        found
    }

    fn methods(&mut self, list: Option<&Spanned<WordList>>) -> Option<Vec<Pattern>> {
        let list = list?;
        let patterns = list.value.0.iter().map(|word| {
            let pattern = Pattern(word.text.clone());
            let names = || ApiTable::get().methods().iter().map(|method| method.name.as_str());
            if !names().any(|name| pattern.fits(name)) {
                let at = word.at.unwrap_or(list.defined);
                let unknown = format!("method: the Bot API has no `{}`", word.text);
                self.fault(at, &with_nearest(unknown, &word.text, names()));
            }
            pattern
        });
        Some(patterns.collect())
    }

    fn parameters(&mut self, list: Option<&Spanned<WordList>>) -> Option<Vec<String>> {
        let list = list?;
        let known = parameters();
        for word in list.value.0.iter().filter(|word| !known.contains(word.text.as_str())) {
            let at = word.at.unwrap_or(list.defined);
            let unknown = format!("uses: no method takes `{}`", word.text);
            self.fault(at, &with_nearest(unknown, &word.text, known.iter().copied()));
        }
        Some(list.value.0.iter().map(|word| word.text.clone()).collect())
    }

    fn chats(&mut self, list: Option<&Spanned<WordList>>, key: &str) -> Option<Vec<ChatCondition>> {
        let list = list?;
        let chats = list.value.0.iter().filter_map(|word| {
            let chat = chat(&word.text);
            if chat.is_none() {
                let at = word.at.unwrap_or(list.defined);
                let takes = format!(
                    "{key} is `{}`, and takes here, elsewhere, the number of a chat, or an \"@username\" in quotation marks",
                    word.text
                );
                self.fault(at, &with_nearest(takes, &word.text, ["here", "elsewhere"]));
            }
            chat
        });
        Some(chats.collect())
    }

    fn reason(&mut self, reason: Option<&Spanned<String>>, when: &RuleCondition) -> String {
        let Some(reason) = reason else { return String::new() };
        let at = reason.defined;
        let text = figaro_base::text::one_line(&reason.value, 400);
        let only_unknown = when.address.as_deref() == Some(&[AddressCondition::Unknown]);
        let known = [(ADDRESS, only_unknown, "address: unknown"), (PARAMETER, when.uses.is_some(), "uses")];
        for (name, has, needs) in known {
            if text.contains(name) && !has {
                self.fault(at, &format!("reason: {name} needs {needs} in the rule"));
            }
        }
        text
    }

    fn approver(&mut self, right: &Spanned<String>) -> Approver {
        let owner = [("owner", Approver::Owner)];
        let rights = AdminRight::ALL.map(|right| (right.name(), Approver::Holder(right)));
        let known: Vec<_> = owner.into_iter().chain(rights).collect();
        self.word(right, "right", &known).unwrap_or(Approver::Owner)
    }

    fn people(&mut self, people: &Spanned<u8>) -> u8 {
        if !(1..=2).contains(&people.value) {
            self.fault(people.defined, "people is 1 or 2");
        }
        people.value
    }
}

fn chat(word: &str) -> Option<ChatCondition> {
    match word {
        "here" => Some(ChatCondition::Here),
        "elsewhere" => Some(ChatCondition::Elsewhere),
        _ => {
            let number = word.parse().ok().map(|number| Target::Number(ChatId(number)));
            number.or_else(|| username(word).map(Target::Username)).map(ChatCondition::Named)
        }
    }
}

/// Returns every parameter of any method.
fn parameters() -> HashSet<&'static str> {
    let table = ApiTable::get();
    let params = table.methods().iter().flat_map(|method| &method.params);
    params.map(|param| param.name.as_str()).collect()
}
