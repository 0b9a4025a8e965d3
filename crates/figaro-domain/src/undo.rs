//! What the model did in a turn that can be taken back: the calls that take it back, and what became of them once somebody
//! has asked for it.

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::approval::{MethodCall, Target};
use super::audit::{AuditActor, AuditEvent, AuditKind, AuditName, Audited};
use super::record::{Removed, Restored};
use figaro_base::ids::{ChatId, RunId, UpdateId, UserId};

/// What was done can be taken back for so long.
pub const LASTS: TimeDelta = TimeDelta::hours(24);
/// So many calls of a turn can be taken back.
pub const MAX_CALLS: usize = 10;
/// The call that puts records back: of Figaro itself, not of Telegram.
pub const RESTORE_RECORDS: &str = "restore_records";
/// Where it has them.
const REMOVED: &str = "removed";
/// The rule that the audit log names.
const RULE: &str = "undo";

/// A call that was made and can be taken back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Undoable {
    /// The call that takes it back.
    pub call: MethodCall,
    /// The chat that it acts on.
    pub target: Target,
    /// The name of the person that it acts on, where Telegram knows it.
    #[serde(default)]
    pub person: Option<String>,
    /// What the call left behind, by the names that `getChat` and `getChatMember` have for it: if it is otherwise when it is taken
    /// back, somebody has changed it since.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub left: Map<String, Value>,
    /// Whether a person had approved the call that was made.
    pub is_approved: bool,
    /// What became of it; none while nobody has taken it back, and while that is under way.
    #[serde(default)]
    pub outcome: Option<Undone>,
}

/// What became of a call that was to be taken back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Undone {
    /// It was taken back.
    Done,
    /// Telegram has refused it.
    Refused(Refusal),
    /// Telegram was not reached: it can be tried again.
    Unsent,
    /// Nobody knows whether it was taken back.
    Unknown,
}

impl From<Restored> for Undone {
    fn from(restored: Restored) -> Self {
        match restored {
            Restored::Done => Self::Done,
            Restored::Taken | Restored::Full => Self::Refused(Refusal::Changed),
            Restored::Orphan => Self::Refused(Refusal::Gone),
        }
    }
}

/// Why Telegram does not take something back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Refusal {
    /// The message is too old: bots delete those of the last 48 hours.
    TooOld,
    /// What it acts on is not there any more.
    Gone,
    /// The bot has no right to do it any more.
    NoRight,
    /// The bot is not in the chat any more.
    NotThere,
    /// Somebody has changed it since: it is not asked of Telegram.
    Changed,
    /// For another reason.
    Other,
}

impl Refusal {
    /// The reason that Telegram gives in these words.
    #[must_use]
    pub fn of(words: &str) -> Self {
        let words = words.to_lowercase();
        let has = |parts: &[&str]| parts.iter().any(|part| words.contains(part));
        if has(&["can't be deleted"]) {
            Self::TooOld
        } else if has(&["chat not found", "forbidden", "kicked", "not a member of the", "chat_id_invalid"]) {
            Self::NotThere
        } else if has(&["not enough rights", "administrator rights", "admin_required", "no rights"]) {
            Self::NoRight
        } else if has(&["not found", "id_invalid", "not_participant"]) {
            Self::Gone
        } else {
            Self::Other
        }
    }
}

/// Who has a turn's calls taken back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Taken {
    /// Whoever pressed.
    pub by: UserId,
    /// Their name.
    pub name: String,
    /// When they pressed, UTC.
    pub at: DateTime<Utc>,
    /// Their press: after a crash it comes once more.
    pub press: UpdateId,
}

/// The turn that makes a call, and for whom.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MadeIn {
    /// The id of the turn that made the calls.
    pub run: RunId,
    /// Its chat.
    pub asked_in: ChatId,
    /// Whose question the turn answered; of a task, its creator.
    pub asked_by: UserId,
    /// When the call was made, UTC.
    pub at: DateTime<Utc>,
}

/// What a turn did that can be taken back, as it is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnUndo {
    /// The id of the turn that made the calls.
    pub run: RunId,
    /// The chat that it was asked in.
    pub asked_in: ChatId,
    /// Whose question the turn answered; of a task, its creator.
    pub asked_by: UserId,
    /// Until when it can be taken back, UTC.
    pub until: DateTime<Utc>,
    /// What it did, in this order.
    pub calls: Vec<Undoable>,
    /// So many further calls were not kept.
    #[serde(default)]
    pub left_out: u32,
    /// Who has it taken back.
    #[serde(default)]
    pub taken: Option<Taken>,
}

impl TurnUndo {
    /// The record of a turn in which nothing was done yet.
    #[must_use]
    pub fn new(made: &MadeIn) -> Self {
        Self {
            run: made.run,
            asked_in: made.asked_in,
            asked_by: made.asked_by.clone(),
            until: made.at + LASTS,
            calls: Vec::new(),
            left_out: 0,
            taken: None,
        }
    }

    /// Adds a call that was made at this time. Beyond [`MAX_CALLS`] it is only counted.
    pub fn add(&mut self, call: Undoable, at: DateTime<Utc>) {
        self.until = self.until.max(at + LASTS);
        // Once somebody has it taken back, what comes later is not part of that.
        if self.taken.is_none() && self.calls.len() < MAX_CALLS {
            self.calls.push(call);
        } else {
            self.left_out = self.left_out.saturating_add(1);
        }
    }

    /// Whether it can still be taken back at this time.
    #[must_use]
    pub fn is_in_time(&self, now: DateTime<Utc>) -> bool {
        now < self.until && !self.calls.is_empty()
    }

    /// Has it taken back by somebody; `false` if it is too late, or somebody did so before.
    pub fn take(&mut self, taken: Taken) -> bool {
        let may = self.taken.is_none() && self.is_in_time(taken.at);
        if may {
            self.taken = Some(taken);
        }
        may
    }

    /// Notes what became of the call at this place.
    pub fn note(&mut self, at: usize, outcome: Undone) {
        if let Some(call) = self.calls.get_mut(at) {
            call.outcome = Some(outcome);
        }
    }

    /// The same record once it is known of all calls what became of them. What did not reach Telegram can be tried again: the
    /// others are left out then, and nobody has taken it.
    #[must_use]
    pub fn settled(mut self) -> Self {
        let is_unsent = |call: &Undoable| call.outcome == Some(Undone::Unsent);
        if self.has_ended() && self.calls.iter().any(is_unsent) {
            self.calls.retain(is_unsent);
            self.calls.iter_mut().for_each(|call| call.outcome = None);
            self.taken = None;
        }
        self
    }

    /// Whether it is known of each call what became of it.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.calls.iter().all(|call| call.outcome.is_some())
    }

    /// Whether all of it was taken back.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.left_out == 0 && self.calls.iter().all(|call| call.outcome == Some(Undone::Done))
    }

    /// What the audit log is told when somebody has it taken back: an entry for each call.
    #[must_use]
    pub fn audited(&self, taken: &Taken) -> Vec<Audited> {
        let entry = |undo: &Undoable| Audited {
            event: AuditEvent {
                chat: Some(self.asked_in),
                target_user: undo.user().map(UserId::telegram),
                target_chat: Some(undo.target.chat).filter(|chat| *chat != self.asked_in),
                run: Some(self.run),
                method: AuditName::new(&undo.call.method),
                rule: AuditName::new(RULE),
                ..AuditEvent::new(AuditKind::Undone, AuditActor::Person(taken.by.clone()), taken.at)
            },
            arguments: Some(Value::Object(undo.call.arguments.clone())),
        };
        self.calls.iter().map(entry).collect()
    }
}

impl Undoable {
    /// What puts removed records of a chat back; the first of them is called so. `None` if it cannot be written.
    #[must_use]
    pub fn of_records(chat: ChatId, name: &str, removed: &Removed) -> Option<Self> {
        let removed = serde_json::to_value(removed).ok()?;
        let arguments =
            Map::from_iter([("name".to_owned(), Value::from(name)), (REMOVED.to_owned(), removed)]);
        Some(Self {
            call: MethodCall { method: RESTORE_RECORDS.to_owned(), arguments },
            target: Target { chat, title: None },
            person: None,
            left: Map::new(),
            is_approved: false,
            outcome: None,
        })
    }

    /// Whether it puts records back, and is no call of Telegram.
    #[must_use]
    pub fn is_of_records(&self) -> bool {
        self.call.method == RESTORE_RECORDS
    }

    /// The records that it puts back; `None` for a call of Telegram.
    #[must_use]
    pub fn records(&self) -> Option<Removed> {
        let removed = self.call.arguments.get(REMOVED).filter(|_| self.is_of_records())?;
        serde_json::from_value(removed.clone()).ok()
    }

    /// The same for a chat that has this id from now on; `None` for a call of Telegram, which knows the chat by the other one.
    #[must_use]
    pub fn moved_to(&self, chat: ChatId) -> Option<Self> {
        let mut removed = self.records()?;
        removed.records.iter_mut().for_each(|record| record.chat = chat);
        Self::of_records(chat, self.record_name(), &removed)
    }

    /// The name of the record that it puts back.
    #[must_use]
    pub fn record_name(&self) -> &str {
        self.call.arguments.get("name").and_then(Value::as_str).unwrap_or_default()
    }

    /// The number of the person that it acts on.
    #[must_use]
    pub fn user(&self) -> Option<i64> {
        self.call.arguments.get("user_id").and_then(Value::as_i64)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn made(at: DateTime<Utc>) -> MadeIn {
        MadeIn { run: RunId::new(), asked_in: ChatId(-5), asked_by: UserId::telegram(1), at }
    }

    fn undoable(user: i64) -> Undoable {
        let arguments = json!({"chat_id": -6, "user_id": user});
        Undoable {
            call: MethodCall {
                method: "unbanChatMember".into(),
                arguments: arguments.as_object().unwrap().clone(),
            },
            target: Target { chat: ChatId(-6), title: None },
            person: None,
            left: Map::new(),
            is_approved: true,
            outcome: None,
        }
    }

    fn taken(at: DateTime<Utc>) -> Taken {
        Taken { by: UserId::telegram(9), name: "Olga".into(), at, press: UpdateId(7) }
    }

    fn of(users: &[i64], now: DateTime<Utc>) -> TurnUndo {
        let mut undo = TurnUndo::new(&made(now));
        users.iter().for_each(|user| undo.add(undoable(*user), now));
        undo
    }

    #[test]
    fn it_is_taken_once_and_in_time() {
        let now = DateTime::UNIX_EPOCH;
        assert!(!of(&[], now).is_in_time(now), "nothing was done");
        let mut undo = of(&[1], now);
        assert!(!undo.clone().take(taken(now + LASTS)));
        assert!(undo.take(taken(now)) && !undo.take(taken(now)));
        let mut later = of(&[1], now);
        later.add(undoable(2), now + LASTS);
        assert!(later.take(taken(now + LASTS)), "the last call counts");
    }

    #[test]
    fn what_is_too_much_is_counted() {
        let users: Vec<i64> = (0..12).collect();
        let undo = of(&users, DateTime::UNIX_EPOCH);
        assert_eq!((undo.calls.len(), undo.left_out), (MAX_CALLS, 2));
        assert!(!undo.is_whole());
    }

    #[test]
    fn what_did_not_reach_telegram_can_be_tried_again_alone() {
        let now = DateTime::UNIX_EPOCH;
        let after = |outcomes: &[Undone]| {
            let mut undo = of(&[1, 2, 3], now);
            assert!(undo.take(taken(now)));
            outcomes.iter().enumerate().for_each(|(at, outcome)| undo.note(at, *outcome));
            undo.settled()
        };
        let ended = after(&[Undone::Done, Undone::Refused(Refusal::Gone), Undone::Unknown]);
        assert!(ended.has_ended() && !ended.is_whole() && !ended.clone().take(taken(now)));
        let going_on = after(&[Undone::Done, Undone::Unsent]);
        assert!(!going_on.has_ended() && !going_on.clone().take(taken(now)), "it is under way");
        let mut unsent = after(&[Undone::Done, Undone::Unsent, Undone::Unknown]);
        assert_eq!(unsent.calls, [undoable(2)]);
        assert!(unsent.take(taken(now)));
    }

    #[test]
    fn the_log_is_told_of_each_call() {
        let undo = of(&[1, 2], DateTime::UNIX_EPOCH);
        let audited = undo.audited(&taken(DateTime::UNIX_EPOCH));
        let users: Vec<_> = audited.iter().map(|entry| entry.event.target_user.clone().unwrap()).collect();
        assert_eq!(users, [UserId::telegram(1), UserId::telegram(2)]);
        let event = &audited[0].event;
        assert_eq!((event.what, event.target_chat), (AuditKind::Undone, Some(ChatId(-6))));
        assert_eq!(event.rule.as_ref().unwrap().as_str(), "undo");
    }

    #[test]
    fn telegrams_words_name_the_reason() {
        let cases = [
            ("Bad Request: message can't be deleted for everyone", Refusal::TooOld),
            ("Bad Request: message to delete not found", Refusal::Gone),
            ("Bad Request: message to unpin not found", Refusal::Gone),
            ("Bad Request: chat not found", Refusal::NotThere),
            ("Forbidden: bot was kicked from the supergroup chat", Refusal::NotThere),
            ("Bad Request: not enough rights to restrict/unrestrict chat member", Refusal::NoRight),
            ("Bad Request: CHAT_ADMIN_REQUIRED", Refusal::NoRight),
            ("Bad Request: something else", Refusal::Other),
        ];
        for (words, wanted) in cases {
            assert_eq!(Refusal::of(words), wanted, "{words}");
        }
    }
}
