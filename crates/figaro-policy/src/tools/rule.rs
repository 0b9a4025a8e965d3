//! One rule: its conditions and its decision.

use super::call::CallerRole;
use super::decided::{Decision, RuleName};
use super::facts::{CallFacts, Loads, Who};
use super::right::AdminRight;
use super::target::Target;
use figaro_mcp::table::Class;

/// A word of a rule; each `*` matches any number of characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pattern(pub(super) String);

impl Pattern {
    /// Returns `true` if the pattern has a wildcard.
    pub(super) fn is_wide(&self) -> bool {
        self.0.contains('*')
    }

    pub(super) fn fits(&self, word: &str) -> bool {
        let mut parts = self.0.split('*');
        let Some(mut rest) = parts.next().and_then(|first| word.strip_prefix(first)) else { return false };
        let Some(last) = parts.next_back() else { return rest.is_empty() };
        for part in parts {
            let Some(at) = rest.find(part) else { return false };
            rest = &rest[at + part.len()..];
        }
        rest.ends_with(last)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ChatCondition {
    /// The chat that the model is in.
    Here,
    /// Any other chat.
    Elsewhere,
    /// The chat with this number or username.
    Named(Target),
}

/// Condition on the addresses that Telegram loads for a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AddressCondition {
    Nothing,
    Known,
    Unknown,
}

/// Conditions of a rule besides the method. All must hold; `None` always holds.
#[derive(Debug, Clone, Default)]
pub(super) struct RuleCondition {
    pub(super) agents: Option<Vec<Pattern>>,
    pub(super) roles: Option<Vec<CallerRole>>,
    /// Chat that the call acts in; for a rule that does not allow, any chat that the call names.
    pub(super) chats: Option<Vec<ChatCondition>>,
    /// Other chats that the call names.
    pub(super) also: Option<Vec<ChatCondition>>,
    /// At least one of these parameters is set. In a rule that allows, no other parameter that reaches beyond the chat
    /// may be set.
    pub(super) uses: Option<Vec<String>>,
    pub(super) own: Option<bool>,
    pub(super) task: Option<bool>,
    pub(super) address: Option<Vec<AddressCondition>>,
    pub(super) person: Option<Who>,
    pub(super) receiver: Option<Who>,
}

/// Approver of a call that a rule asks about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Approver {
    /// Holder of the method's default right.
    ByMethod,
    /// Holder of this right.
    Holder(AdminRight),
    /// An owner of the bot only.
    Owner,
}

/// A rule whose methods are resolved.
#[derive(Debug, Clone)]
pub(super) struct Rule {
    pub(super) name: RuleName,
    pub(super) when: RuleCondition,
    pub(super) then: Decision,
    pub(super) reason: String,
    pub(super) approver: Approver,
    pub(super) people: u8,
    /// `true` if the rule allows a call also after the turn has read a text by others.
    pub(super) trusted: bool,
    /// Set if the rule is about other MCP servers instead of Telegram.
    pub(super) of_servers: Option<OfServers>,
}

/// Servers and tools that a rule covers.
#[derive(Debug, Clone)]
pub(super) struct OfServers {
    pub(super) servers: Vec<Pattern>,
    /// Tool names at the server; `None` for all.
    pub(super) tools: Option<Vec<Pattern>>,
}

impl Rule {
    /// Returns `true` if the rule of an owner allows a call that acts beyond the chat, in a turn that has read a text by
    /// others.
    pub(super) fn opens_elsewhere(&self, facts: &CallFacts<'_>) -> bool {
        let is_opened = self.then == Decision::Allow && self.name.is_owners() && !self.trusted;
        // A call that names no chat acts beyond this one: on a person, the bot's profile or its stickers.
        let acts_elsewhere = facts.targets.iter().any(|target| !facts.is_here(target))
            || facts.targets.is_empty()
            || matches!(facts.loads, Loads::Unknown(_))
            || !facts.reaches.is_empty()
            || facts.receiver == Some(Who::Other);
        is_opened && facts.call.read.is_some() && acts_elsewhere && facts.call.method.class != Class::Read
    }

    /// Returns `true` if the rule applies to a call, with regard to one of the chats that it names, or to none.
    pub(super) fn holds(&self, facts: &CallFacts<'_>, target: Option<&Target>) -> bool {
        let RuleCondition { agents, roles, own, task, person, .. } = &self.when;
        let agent = facts.call.agent.unwrap_or(PLAIN_AGENT);
        agents.as_ref().is_none_or(|agents| agents.iter().any(|pattern| pattern.fits(agent)))
            && roles.as_ref().is_none_or(|roles| roles.contains(&facts.call.role))
            && task.is_none_or(|task| task == facts.call.task)
            && person.is_none_or(|person| facts.person == Some(person))
            && self.fits_chat(facts, target)
            && self.fits_uses(facts)
            && self.fits_address(&facts.loads)
            && self.fits_receiver(facts.receiver)
            && match own {
                Some(own) => facts.own == Some(*own),
                None => !(self.is_narrow() && facts.own == Some(false)),
            }
    }

    /// Returns `true` for an allowing rule, which opens no more than it names. Unless it says so, it opens no other
    /// chats, nothing that reaches beyond the chat, no address that only the model wrote, and no messages of others.
    fn is_narrow(&self) -> bool {
        self.then == Decision::Allow
    }

    fn fits_chat(&self, facts: &CallFacts<'_>, target: Option<&Target>) -> bool {
        let RuleCondition { chats, also, .. } = &self.when;
        let Some(target) = target else {
            return chats.is_none() && also.is_none();
        };
        let names = |listed: &Vec<ChatCondition>| listed.iter().any(|chat| is_named(chat, facts, target));
        if !self.is_narrow() {
            let is_beside = facts.acts_in.as_ref() != Some(target);
            return match also {
                Some(also) if is_beside => names(also),
                _ => chats.as_ref().map_or(also.is_none(), names),
            };
        }
        // Other named chats are allowed only together with the chat that the call acts in.
        let opens_there = match (chats, &facts.acts_in) {
            (Some(chats), Some(there)) => chats.iter().any(|chat| is_named(chat, facts, there)),
            (Some(_), None) => false,
            (None, there) => there.as_ref().is_none_or(|there| facts.is_here(there)),
        };
        let is_covered = facts.acts_in.as_ref() == Some(target) || facts.is_here(target);
        opens_there && (is_covered || also.as_ref().is_some_and(names))
    }

    fn fits_uses(&self, facts: &CallFacts<'_>) -> bool {
        let is_named =
            |used: &&str| self.when.uses.as_ref().is_some_and(|uses| uses.iter().any(|named| named == used));
        let is_any = || facts.uses.iter().any(is_named);
        match &self.when.uses {
            None => !self.is_narrow() || facts.reaches.is_empty(),
            Some(_) if self.is_narrow() => is_any() && facts.reaches.iter().all(is_named),
            Some(_) => is_any(),
        }
    }

    fn fits_address(&self, loads: &Loads) -> bool {
        let loaded = match loads {
            Loads::Nothing => AddressCondition::Nothing,
            Loads::Known => AddressCondition::Known,
            Loads::Unknown(_) => AddressCondition::Unknown,
        };
        match &self.when.address {
            None => !(self.is_narrow() && loaded == AddressCondition::Unknown),
            Some(wanted) => wanted.contains(&loaded),
        }
    }

    fn fits_receiver(&self, receiver: Option<Who>) -> bool {
        match self.when.receiver {
            None => !(self.is_narrow() && receiver == Some(Who::Other)),
            wanted => receiver == wanted,
        }
    }

    /// Returns the reason of the rule with its placeholders filled in.
    pub(super) fn reason(&self, facts: &CallFacts<'_>) -> String {
        let mut reason = self.reason.clone();
        if reason.contains(ADDRESS)
            && let Loads::Unknown(address) = &facts.loads
        {
            reason = reason.replace(ADDRESS, &figaro_base::text::one_line(address, 80));
        }
        if reason.contains(PARAMETER)
            && let Some(used) = facts.uses.iter().find(|used| self.watches(used))
        {
            reason = reason.replace(PARAMETER, used);
        }
        reason
    }

    fn watches(&self, parameter: &str) -> bool {
        self.when.uses.as_ref().is_some_and(|uses| uses.iter().any(|named| named == parameter))
    }
}

fn is_named(chat: &ChatCondition, facts: &CallFacts<'_>, target: &Target) -> bool {
    match chat {
        ChatCondition::Here => facts.is_here(target),
        ChatCondition::Elsewhere => !facts.is_here(target),
        ChatCondition::Named(named) => facts.is_same(target, named),
    }
}

/// Name of Figaro itself in rules.
pub(super) const PLAIN_AGENT: &str = "figaro";
/// Placeholder in a reason for the address that only the model wrote.
pub(super) const ADDRESS: &str = "{address}";
/// Placeholder in a reason for the parameter that the rule names.
pub(super) const PARAMETER: &str = "{parameter}";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_characters() {
        let cases = [
            ("sendMessage", "sendMessage", true),
            ("sendMessage", "sendMessageDraft", false),
            ("send*", "sendMessage", true),
            ("send*", "resend", false),
            ("*Message", "sendMessage", true),
            ("*Message", "sendMessages", false),
            ("set*Title", "setChatTitle", true),
            ("set*Title", "setTitl", false),
            ("a*a", "a", false),
            ("a*b*c", "axbxc", true),
            ("a*b*c", "acb", false),
            ("*", "", true),
            ("**", "x", true),
        ];
        for (pattern, word, wanted) in cases {
            assert_eq!(Pattern(pattern.to_owned()).fits(word), wanted, "{pattern} {word}");
        }
    }
}
