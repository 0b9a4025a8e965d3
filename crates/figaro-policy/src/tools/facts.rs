//! What rules ask about a call, found out once for all of them.

use std::collections::{BTreeSet, HashSet};

use serde_json::{Map, Value};

use super::call::TelegramCall;
use super::target::{Target, chat_number, target};
use figaro_base::ids::{ChatId, UserId};

/// Whom a call is about or is seen by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Who {
    /// Whoever asked in their own words.
    Asker,
    /// Somebody else.
    Other,
}

/// What a call has Telegram load.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Loads {
    /// Nothing.
    Nothing,
    /// Addresses that a person wrote or that search found.
    Known,
    /// Among others this address, which only the model wrote.
    Unknown(String),
}

/// The parameters that rules look at.
#[derive(Debug, Default)]
pub(super) struct Watched {
    /// Those that rules name.
    pub(super) named: HashSet<String>,
    /// Those that built-in rules name: they reach past the chat, or for somebody else's account or purse.
    pub(super) reaching: HashSet<String>,
}

/// A call as rules see it.
#[derive(Debug)]
pub(super) struct Facts<'a> {
    pub(super) call: &'a TelegramCall<'a>,
    /// The chats that it names.
    pub(super) targets: BTreeSet<Target>,
    /// The one of them that it acts in; what else it names it may take something from, and show it there.
    pub(super) acts_in: Option<Target>,
    pub(super) loads: Loads,
    /// Parameters that are set, of those that rules name.
    pub(super) uses: Vec<&'a str>,
    /// Those of them that reach past the chat, or for somebody else's account or purse.
    pub(super) reaches: Vec<&'a str>,
    /// Whom `user_id` names.
    pub(super) person: Option<Who>,
    /// Who alone sees a message.
    pub(super) receiver: Option<Who>,
    /// Of a call that changes messages, whether the model sent all of them.
    pub(super) own: Option<bool>,
}

impl<'a> Facts<'a> {
    /// Finds them out.
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

    /// Whether a chat is the one that the model is in.
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

    /// Whether two names are of the same chat.
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
