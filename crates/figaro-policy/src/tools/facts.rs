//! Facts about a call that rules ask for, collected once for all rules.

use std::collections::{BTreeSet, HashSet};

use serde_json::{Map, Value};

use super::call::TelegramCall;
use super::target::{Target, chat_number, target};
use figaro_base::ids::{ChatId, UserId};

/// Person that a call concerns, or that alone sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Who {
    /// The requester, in their own words.
    Asker,
    /// Anybody else.
    Other,
}

/// Addresses that Telegram loads for a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Loads {
    /// No address.
    Nothing,
    /// Only addresses that a person wrote or a search found.
    Known,
    /// At least this address, which only the model wrote.
    Unknown(String),
}

/// Parameters that rules look at.
#[derive(Debug, Default)]
pub(super) struct Watched {
    pub(super) named: HashSet<String>,
    /// Parameters of built-in rules: they reach beyond the chat, or act for another account or purse.
    pub(super) reaching: HashSet<String>,
}

/// A call as rules see it.
#[derive(Debug)]
pub(super) struct CallFacts<'a> {
    pub(super) call: &'a TelegramCall<'a>,
    pub(super) targets: BTreeSet<Target>,
    /// The named chat that the call acts in; it may take something from the others and show it there.
    pub(super) acts_in: Option<Target>,
    pub(super) loads: Loads,
    /// Set parameters that rules name.
    pub(super) uses: Vec<&'a str>,
    /// Those of them that reach beyond the chat, or act for another account or purse.
    pub(super) reaches: Vec<&'a str>,
    /// Person named by `user_id`.
    pub(super) person: Option<Who>,
    /// Only person who sees the message.
    pub(super) receiver: Option<Who>,
    /// For a call that changes messages: `true` if the model sent all of them.
    pub(super) own: Option<bool>,
}

impl<'a> CallFacts<'a> {
    /// Collects the facts of a call.
    pub(super) fn of(
        call: &'a TelegramCall<'a>,
        targets: BTreeSet<Target>,
        loads: Loads,
        watched: &Watched,
    ) -> Self {
        let who = |value| if is_speaker(value, call) { Who::Asker } else { Who::Other };
        let mut facts = Self {
            call,
            targets,
            acts_in: call.args.get("chat_id").and_then(target),
            loads,
            uses: Vec::new(),
            reaches: Vec::new(),
            person: call.args.get("user_id").map(who),
            receiver: None,
            own: call.method.changes_messages().then_some(call.own == Some(true)),
        };
        facts.collect(call.args, watched);
        facts
    }

    fn collect(&mut self, args: &'a Map<String, Value>, watched: &Watched) {
        for (key, value) in args {
            let is_set = !value.is_null() && *value != Value::Bool(false);
            if is_set && watched.named.contains(key) {
                self.uses.push(key);
            }
            if is_set && watched.reaching.contains(key) {
                self.reaches.push(key);
            }
            if key == "receiver_user_id" {
                let is_seen = is_speaker(value, self.call) && self.receiver != Some(Who::Other);
                self.receiver = Some(if is_seen { Who::Asker } else { Who::Other });
            }
            self.inside(value, watched);
        }
    }

    fn inside(&mut self, value: &'a Value, watched: &Watched) {
        match value {
            Value::Object(inner) => self.collect(inner, watched),
            Value::Array(items) => items.iter().for_each(|item| self.inside(item, watched)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    /// Returns `true` if the chat is the one that the model is in.
    pub(super) fn is_here(&self, target: &Target) -> bool {
        match target {
            Target::Number(chat) => *chat == self.call.here,
            Target::Username(name) => {
                let is_it = |(known, chat): &(String, ChatId)| {
                    known.eq_ignore_ascii_case(name) && *chat == self.call.here
                };
                self.call.resolved.iter().any(is_it)
            }
        }
    }

    /// Returns `true` if both names refer to the same chat.
    pub(super) fn is_same(&self, target: &Target, named: &Target) -> bool {
        let resolved = |name: &str, chat| {
            self.call
                .resolved
                .iter()
                .any(|(known, known_chat)| known.eq_ignore_ascii_case(name) && *known_chat == chat)
        };
        match (target, named) {
            (Target::Number(chat), Target::Username(name))
            | (Target::Username(name), Target::Number(chat)) => resolved(name, *chat),
            (target, named) => target == named,
        }
    }
}

fn is_speaker(value: &Value, call: &TelegramCall<'_>) -> bool {
    chat_number(value).is_some_and(|number| Some(&UserId::telegram(number)) == call.speaker)
}
