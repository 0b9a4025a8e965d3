//! Calls that wait for the approval of a person: the exact calls, the people who may approve them, and the decision.

use chrono::{DateTime, TimeDelta, Utc};
use ring::digest::{Context, SHA256};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::audit::{AuditActor, AuditEvent, AuditKind, AuditName, Audited};
use super::message::Speaker;
use figaro_base::ids::{ChatId, RunId, UserId};

/// Waiting time for an approval, in minutes: long enough for a night and a day.
pub const WAITS_MINUTES: u32 = 48 * 60;
/// Duration of an approval that is given for a while.
pub(crate) const LASTS: TimeDelta = TimeDelta::hours(1);

/// A call of a Bot API method, with all its arguments as they will be sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MethodCall {
    /// Name of the method, as in the Bot API.
    pub method: String,
    /// Arguments by parameter name. A file is a `file_id`, a URL or base64.
    pub arguments: Map<String, Value>,
}

/// Hash that ties an approval to one call: SHA-256 of the turn, the call and the data it would send, in hexadecimal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fingerprint(String);

impl Fingerprint {
    /// Computes the fingerprint of a turn's tool call that would make these method calls. Only the order of JSON keys is
    /// ignored.
    #[must_use]
    pub fn of(run: RunId, call: &str, calls: &[MethodCall]) -> Self {
        let mut hash = Context::new(&SHA256);
        let mut add = |part: &str| {
            // The length comes first, so that two different lists of parts never give the same bytes.
            hash.update(&u64::try_from(part.len()).unwrap_or(u64::MAX).to_le_bytes());
            hash.update(part.as_bytes());
        };
        add(&run.to_string());
        add(call);
        for MethodCall { method, arguments } in calls {
            add(method);
            add(&canonical(&Value::Object(arguments.clone())));
        }
        Self(hash.finish().as_ref().iter().map(|byte| format!("{byte:02x}")).collect())
    }
}

/// Returns the name of a method as separate words, such as `send poll`.
#[must_use]
pub fn method_words(method: &str) -> String {
    let mut words = String::with_capacity(method.len() + 4);
    for letter in method.chars() {
        if letter.is_ascii_uppercase() {
            words.push(' ');
        }
        words.push(letter.to_ascii_lowercase());
    }
    words
}

/// Returns the JSON with sorted object keys. Values that differ only in the order of keys give the same text.
#[must_use]
pub fn canonical(value: &Value) -> String {
    fn sorted(value: &Value) -> Value {
        match value {
            Value::Object(map) => {
                let mut pairs: Vec<_> = map.iter().map(|(key, value)| (key.clone(), sorted(value))).collect();
                pairs.sort_by(|a, b| a.0.cmp(&b.0));
                Value::Object(pairs.into_iter().collect())
            }
            Value::Array(items) => Value::Array(items.iter().map(sorted).collect()),
            plain => plain.clone(),
        }
    }
    sorted(value).to_string()
}

/// Change of a group's id, for example when it becomes a supergroup.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moves {
    /// Id of the group before the change.
    pub from: ChatId,
    /// Id of the group after the change.
    pub to: ChatId,
}

/// A chat that a call acts on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovalTarget {
    /// Telegram's id of the chat; negative for groups and channels.
    pub chat: ChatId,
    /// Title of the chat, or the name used in the call; `None` if the requester may not know it.
    pub title: Option<String>,
}

/// A person that a call acts on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Concerned {
    /// Telegram's id of the person's account.
    pub user: i64,
    /// Name of the person, with the username if there is one.
    pub name: String,
}

/// A tool of another MCP server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolOfServer {
    /// Name of the MCP server, as in the settings.
    pub server: String,
    /// Name of the tool at the server.
    pub tool: String,
    /// Hash of the program or address that the server name stood for. The call goes there and nowhere else.
    #[serde(default)]
    pub way: String,
}

/// A call that needs an approval.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Approval {
    /// Hash of the turn and the calls that are approved.
    pub fingerprint: Fingerprint,
    /// Method calls to be made, in this order.
    pub calls: Vec<MethodCall>,
    /// Other MCP server whose tool is to be called; `None` for methods of the Bot API.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<ToolOfServer>,
    /// Chats that the call acts on; at least one.
    pub targets: Vec<ApprovalTarget>,
    /// People that the call acts on, as far as Telegram knows their names.
    #[serde(default)]
    pub people: Vec<Concerned>,
    /// Beginning of the one message that the call is about, if it is stored and the requester may read it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
    /// Bot API name of the right that an admin of all these chats needs to approve the call; `None` if only an owner may.
    pub right: Option<String>,
    /// `true` if the requester may not approve the call.
    pub needs_other: bool,
    /// `true` if the approval may hold for an hour. The same method may then act on the same chat again.
    pub may_last: bool,
    /// Name of the rule that demands the approval.
    pub rule: String,
    /// Reason why the owner demands the approval, as written in their rule; `None` for a built-in rule.
    #[serde(default)]
    pub reason: Option<String>,
    /// Chat in which the turn's question was asked.
    pub asked_in: ChatId,
    /// Requester of the call, in whose name the turn continues.
    pub requester: Speaker,
    /// Text by others that the turn had read, such as a page, by its name; `None` for none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read: Option<String>,
}

/// Decision of a person about a call that waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ruled {
    /// Approved once; later calls need their own approval.
    Once,
    /// Approved. For an hour, the same method may act on the same chat if the same person asks.
    Hour,
    /// Refused; the call is not made.
    Denied,
}

/// A decision and the person who made it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ruling {
    /// Approval, with its duration, or refusal.
    pub ruled: Ruled,
    /// The person who pressed the button.
    pub by: UserId,
    /// Name of that person, as Telegram sent it with the press of the button.
    pub name: String,
    /// Time when the button was pressed, UTC.
    pub at: DateTime<Utc>,
}

/// Permission for further calls, left by an approval for an hour.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    /// Name of the method that may be called.
    pub method: String,
    /// Other MCP server whose tool may be called; `None` for a method of the Bot API.
    pub(crate) server: Option<ToolOfServer>,
    /// Rule that demanded the approval. Calls that another rule matches still need their own.
    pub(crate) rule: String,
    /// Chats that the method may act on.
    pub targets: Vec<ChatId>,
    /// Chat in which the call may be requested.
    pub asked_in: ChatId,
    /// Person who may request the call.
    pub requester: Speaker,
    /// Right that an admin of the chats needs for the call.
    pub right: Option<String>,
    /// Turn whose call was approved, for the audit log.
    pub run: RunId,
    /// Person who gave the approval. They must still hold the right when it is used.
    pub by: UserId,
    /// End of the permission, UTC: an hour after the ruling.
    pub until: DateTime<Utc>,
}

impl Approval {
    /// Returns the audit log entries of a decision, one per call.
    #[must_use]
    pub fn audited(&self, run: RunId, ruling: &Ruling) -> Vec<Audited> {
        let what = match ruling.ruled {
            Ruled::Once | Ruled::Hour => AuditKind::ApprovalGiven,
            Ruled::Denied => AuditKind::ApprovalDenied,
        };
        self.entries(run, what, &AuditActor::Person(ruling.by.clone()), ruling.at)
    }

    /// Returns the audit log entries of an approval that expired without a decision, one per call.
    #[must_use]
    pub fn expired(&self, run: RunId, at: DateTime<Utc>) -> Vec<Audited> {
        self.entries(run, AuditKind::ApprovalExpired, &AuditActor::Bot, at)
    }

    fn entries(&self, run: RunId, what: AuditKind, actor: &AuditActor, at: DateTime<Utc>) -> Vec<Audited> {
        let entry = |call: &MethodCall| Audited {
            event: AuditEvent {
                chat: Some(self.asked_in),
                target_chat: self
                    .targets
                    .first()
                    .map(|target| target.chat)
                    .filter(|chat| *chat != self.asked_in),
                run: Some(run),
                method: AuditName::new(&call.method),
                rule: AuditName::new(&self.rule),
                ..AuditEvent::new(what, actor.clone(), at)
            },
            arguments: Some(Value::Object(call.arguments.clone())),
        };
        self.calls.iter().map(entry).collect()
    }

    /// Returns `true` if the approval is for this tool call of this turn and its calls are unchanged.
    #[must_use]
    pub fn is_for(&self, run: RunId, call: &str) -> bool {
        self.fingerprint == Fingerprint::of(run, call, &self.calls)
    }

    /// Returns the approval for a group that has a new id. `None` if a call names messages of the group, which have other
    /// ids in the supergroup, or if the approval is not for this tool call of this turn.
    #[must_use]
    pub fn moved(&self, moves: Moves, run: RunId, call: &str) -> Option<Self> {
        let Moves { from, to } = moves;
        let asked_in = if self.asked_in == from { to } else { self.asked_in };
        if !self.chats().contains(&from) {
            return Some(Self { asked_in, ..self.clone() });
        }
        // Another server may use these argument names for something else.
        if self.server.is_some() {
            let mut targets = self.targets.clone();
            targets.iter_mut().filter(|target| target.chat == from).for_each(|target| target.chat = to);
            return Some(Self { asked_in, targets, ..self.clone() });
        }
        let names_messages =
            |call: &MethodCall| call.arguments.iter().any(|(key, value)| is_of_message(key, value));
        if self.calls.iter().any(names_messages) || !self.is_for(run, call) {
            return None;
        }
        let mut calls = self.calls.clone();
        calls.iter_mut().flat_map(|call| call.arguments.iter_mut()).for_each(|(key, value)| {
            renumber(key, value, moves);
        });
        let mut targets = self.targets.clone();
        targets.iter_mut().filter(|target| target.chat == from).for_each(|target| target.chat = to);
        let fingerprint = Fingerprint::of(run, call, &calls);
        Some(Self { fingerprint, calls, targets, asked_in, ..self.clone() })
    }

    /// Returns the ids of the chats that the call acts on.
    #[must_use]
    pub fn chats(&self) -> Vec<ChatId> {
        self.targets.iter().map(|target| target.chat).collect()
    }

    /// Returns the permissions for the next hour, one per method call. Empty unless the ruling is [`Ruled::Hour`] and the
    /// approval allows it.
    #[must_use]
    pub fn grants(&self, run: RunId, ruling: &Ruling) -> Vec<Grant> {
        if ruling.ruled != Ruled::Hour || !self.may_last {
            return Vec::new();
        }
        let grant = |call: &MethodCall| Grant {
            method: call.method.clone(),
            server: self.server.clone(),
            rule: self.rule.clone(),
            targets: self.chats(),
            asked_in: self.asked_in,
            requester: self.requester.clone(),
            right: self.right.clone(),
            run,
            by: ruling.by.clone(),
            until: ruling.at + LASTS,
        };
        self.calls.iter().map(grant).collect()
    }
}

/// Returns `true` if an argument names a message, at any depth.
fn is_of_message(key: &str, value: &Value) -> bool {
    match value {
        Value::Object(map) => map.iter().any(|(key, value)| is_of_message(key, value)),
        Value::Array(items) if !key.ends_with("message_ids") => {
            items.iter().any(|item| is_of_message("", item))
        }
        Value::Null => false,
        _ => ["message_id", "message_ids"].contains(&key) || key.ends_with("_message_id"),
    }
}

/// Replaces the old id of a chat by the new one, at any depth.
fn renumber(key: &str, value: &mut Value, moves: Moves) {
    match value {
        Value::Object(map) => map.iter_mut().for_each(|(key, value)| renumber(key, value, moves)),
        Value::Array(items) => items.iter_mut().for_each(|item| renumber("", item, moves)),
        Value::Number(_) | Value::String(_) if key.ends_with("chat_id") => {
            let number = value.as_i64().or_else(|| value.as_str()?.parse().ok());
            if number == Some(moves.from.0) {
                *value = Value::from(moves.to.0);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

impl Grant {
    /// Returns the audit log entry for the revocation of this permission.
    #[must_use]
    pub fn ended(&self, by: &UserId, at: DateTime<Utc>) -> Audited {
        let event = AuditEvent {
            chat: Some(self.asked_in),
            target_chat: self.targets.first().copied().filter(|chat| *chat != self.asked_in),
            run: Some(self.run),
            method: AuditName::new(&self.method),
            rule: AuditName::new(&self.rule),
            ..AuditEvent::new(AuditKind::ApprovalEnded, AuditActor::Person(by.clone()), at)
        };
        Audited::from(event)
    }

    /// Returns `true` if the permission covers the calls of this method in the approval at this time.
    #[must_use]
    pub fn lets(&self, method: &str, wanted: &Approval, now: DateTime<Utc>) -> bool {
        let is_asked_so = self.asked_in == wanted.asked_in && self.requester.user == wanted.requester.user;
        let is_there = wanted.targets.iter().all(|target| self.targets.contains(&target.chat));
        let is_alike = self.method == method && self.server == wanted.server && self.rule == wanted.rule;
        is_alike && is_asked_so && is_there && wanted.may_last && now < self.until
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn call(method: &str, arguments: &Value) -> MethodCall {
        MethodCall { method: method.into(), arguments: arguments.as_object().unwrap().clone() }
    }

    fn approval(run: RunId, calls: Vec<MethodCall>) -> Approval {
        Approval {
            fingerprint: Fingerprint::of(run, "c1", &calls),
            calls,
            server: None,
            targets: vec![ApprovalTarget { chat: ChatId(-5), title: None }],
            people: Vec::new(),
            about: None,
            right: None,
            needs_other: false,
            may_last: true,
            rule: "moderation".into(),
            reason: None,
            read: None,
            asked_in: ChatId(-5),
            requester: Speaker { user: UserId::telegram(1), name: "Ann".into(), username: None },
        }
    }

    #[test]
    fn an_approval_is_for_one_call_as_it_was_asked_about() {
        let run = RunId::new();
        let ban = json!({"chat_id": -5, "user_id": 7});
        let asked = approval(run, vec![call("banChatMember", &ban)]);
        assert!(asked.is_for(run, "c1"));
        let again = [call("banChatMember", &json!({"user_id": 7, "chat_id": -5}))];
        assert_eq!(Fingerprint::of(run, "c1", &again), asked.fingerprint, "the order of keys says nothing");
        assert!(!asked.is_for(RunId::new(), "c1") && !asked.is_for(run, "c2"));
        for (method, arguments) in [
            ("unbanChatMember", ban.clone()),
            ("banChatMember", json!({"chat_id": -5, "user_id": 8})),
            ("banChatMember", json!({"chat_id": -5, "user_id": "7"})),
            ("banChatMember", json!({"chat_id": -5, "user_id": 7, "revoke_messages": true})),
        ] {
            let changed = Approval { calls: vec![call(method, &arguments)], ..asked.clone() };
            assert!(!changed.is_for(run, "c1"), "{method} {arguments}");
        }
        let twice = [asked.calls.clone(), asked.calls.clone()].concat();
        assert!(!Approval { calls: twice, ..asked }.is_for(run, "c1"));
    }

    #[test]
    fn in_a_group_with_another_number_it_is_the_same_unless_it_names_a_message() {
        let (run, old, new) = (RunId::new(), ChatId(-5), ChatId(-1005));
        let of = |method: &str, arguments: Value| approval(run, vec![call(method, &arguments)]);
        let moved = |asked: &Approval| asked.moved(Moves { from: old, to: new }, run, "c1");
        let ban = moved(&of("banChatMember", json!({"chat_id": "-5", "user_id": -5}))).unwrap();
        assert_eq!(Value::from(ban.calls[0].arguments.clone()), json!({"chat_id": -1005, "user_id": -5}));
        assert_eq!((ban.asked_in, ban.chats()), (new, vec![new]));
        assert!(ban.is_for(run, "c1"));
        for arguments in [
            json!({"chat_id": -5, "message_id": 3}),
            json!({"chat_id": -5, "message_ids": [3]}),
            json!({"chat_id": -5, "text": "x", "reply_parameters": {"message_id": 3}}),
            json!({"media": [{"reply": [{"message_id": 3}]}]}),
        ] {
            assert_eq!(moved(&of("sendMessage", arguments.clone())), None, "{arguments}");
        }
        // What was changed since it was asked about is not made right by the way.
        let mut changed = of("banChatMember", json!({"chat_id": -5, "user_id": 7}));
        changed.calls[0].arguments.insert("user_id".to_owned(), json!(8));
        assert_eq!(moved(&changed), None);
        // Of another chat it stays what it was, asked in the group of the new number.
        let post = call("sendMessage", &json!({"chat_id": -9, "reply_parameters": {"message_id": 3}}));
        let targets = vec![ApprovalTarget { chat: ChatId(-9), title: None }];
        let elsewhere = Approval { targets, ..approval(run, vec![post]) };
        assert_eq!(moved(&elsewhere), Some(Approval { asked_in: new, ..elsewhere }));
    }

    #[test]
    fn an_hour_is_for_one_method_one_chat_and_one_person() {
        let now = DateTime::UNIX_EPOCH;
        let asked =
            approval(RunId::new(), vec![call("banChatMember", &json!({"chat_id": -5, "user_id": 7}))]);
        let ruling = |ruled| Ruling { ruled, by: UserId::telegram(9), name: "Olga".into(), at: now };
        assert_eq!(asked.grants(RunId::new(), &ruling(Ruled::Once)), []);
        assert_eq!(asked.grants(RunId::new(), &ruling(Ruled::Denied)), []);
        assert_eq!(
            Approval { may_last: false, ..asked.clone() }.grants(RunId::new(), &ruling(Ruled::Hour)),
            []
        );
        let [grant] = asked.grants(RunId::new(), &ruling(Ruled::Hour)).try_into().unwrap();
        let remote = |server: &str, tool: &str, way: &str| {
            let [server, tool, way] = [server, tool, way].map(str::to_owned);
            Approval { server: Some(ToolOfServer { server, tool, way }), ..asked.clone() }
        };
        let of_server = remote("files", "read", "1");
        let [of_server_grant] = of_server.grants(RunId::new(), &ruling(Ruled::Hour)).try_into().unwrap();
        assert!(of_server_grant.lets("banChatMember", &of_server, now));
        assert!(!grant.lets("banChatMember", &of_server, now));
        // The same name of a tool is not the same tool, nor the same name of a server the same server.
        for other in [
            remote("files", "read", "2"),
            remote("files", "wipe", "1"),
            remote("notes", "read", "1"),
            asked.clone(),
        ] {
            assert!(!of_server_grant.lets("banChatMember", &other, now), "{other:?}");
        }
        let other = Speaker { user: UserId::telegram(2), ..asked.requester.clone() };
        let elsewhere = ApprovalTarget { chat: ChatId(-6), title: None };
        assert!(grant.lets("banChatMember", &asked, now));
        assert!(!grant.lets("deleteMessage", &asked, now));
        assert!(!grant.lets("banChatMember", &asked, now + LASTS));
        for wanted in [
            Approval { requester: other, ..asked.clone() },
            Approval { asked_in: ChatId(1), ..asked.clone() },
            Approval { targets: vec![elsewhere.clone()], ..asked.clone() },
            Approval { targets: vec![asked.targets[0].clone(), elsewhere], ..asked.clone() },
            Approval { may_last: false, ..asked.clone() },
            Approval { rule: "unknown_address".into(), ..asked.clone() },
        ] {
            assert!(!grant.lets("banChatMember", &wanted, now), "{wanted:?}");
        }
    }
}
