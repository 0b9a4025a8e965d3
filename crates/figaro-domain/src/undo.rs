//! Undoable actions of the model in a turn: the calls that undo them, and their results.

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::approval::{ApprovalTarget, MethodCall};
use super::audit::{AuditActor, AuditEvent, AuditKind, AuditName, Audited};
use super::record::{Removed, Restored};
use figaro_base::ids::{ChatId, RunId, UpdateId, UserId};

/// Time in which actions can be undone.
pub const LASTS: TimeDelta = TimeDelta::hours(24);
/// Maximum number of undoable calls of a turn.
pub const MAX_CALLS: usize = 10;
/// Method that restores records; a method of Figaro, not of Telegram.
pub const RESTORE_RECORDS: &str = "restore_records";
/// Argument that holds the removed records.
const REMOVED: &str = "removed";
/// Rule name in the audit log.
const RULE: &str = "undo";

/// A call that was made and can be undone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Undoable {
    /// Call that undoes it.
    pub call: MethodCall,
    /// Chat that it acts on.
    pub target: ApprovalTarget,
    /// Name of the person that it acts on, if Telegram knows it.
    #[serde(default)]
    pub person: Option<String>,
    /// State left by the call, in the fields of `getChat` and `getChatMember`. If the current state differs at the undo,
    /// somebody has changed it since.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub left: Map<String, Value>,
    /// `true` if a person had approved the original call.
    pub is_approved: bool,
    /// Result of the undo; `None` before the undo and while it runs.
    #[serde(default)]
    pub outcome: Option<Undone>,
}

/// Result of undoing a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Undone {
    /// The call was undone.
    Done,
    /// The undo was refused.
    Refused(UndoRefusal),
    /// Telegram was not reached; the undo can be tried again.
    Unsent,
    /// It is unknown whether the call was undone.
    Unknown,
}

impl From<Restored> for Undone {
    fn from(restored: Restored) -> Self {
        match restored {
            Restored::Done => Self::Done,
            Restored::Taken | Restored::Full => Self::Refused(UndoRefusal::Changed),
            Restored::Orphan => Self::Refused(UndoRefusal::Gone),
        }
    }
}

/// Reason for refusing an undo.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UndoRefusal {
    /// The message is too old; bots can delete messages only for 48 hours.
    TooOld,
    /// The target no longer exists.
    Gone,
    /// The bot no longer has the right.
    NoRight,
    /// The bot is no longer in the chat.
    NotThere,
    /// Somebody has changed the state since. Telegram is not called.
    Changed,
    /// Another reason, not recognised from Telegram's words.
    Other,
}

impl UndoRefusal {
    /// Returns the reason from Telegram's error text.
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

/// Person who undoes a turn's calls.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UndoAuthor {
    /// Account that pressed the button.
    pub by: UserId,
    /// Name of the person.
    pub name: String,
    /// Time of the button press, UTC.
    pub at: DateTime<Utc>,
    /// Update of the button press. After a crash it arrives again.
    pub press: UpdateId,
}

/// Turn that makes a call, with its requester.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MadeIn {
    /// Id of the turn that made the calls.
    pub run: RunId,
    /// Chat of the turn.
    pub asked_in: ChatId,
    /// Person who asked the turn's question; the creator for a task.
    pub asked_by: UserId,
    /// Time of the call, UTC.
    pub at: DateTime<Utc>,
}

/// Stored undoable actions of a turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnUndo {
    /// Id of the turn that made the calls.
    pub run: RunId,
    /// Chat of the turn.
    pub asked_in: ChatId,
    /// Person who asked the turn's question; the creator for a task.
    pub asked_by: UserId,
    /// End of the time for undoing, UTC.
    pub until: DateTime<Utc>,
    /// Undoable calls, in the order they were made.
    pub calls: Vec<Undoable>,
    /// Number of further calls that were not kept.
    #[serde(default)]
    pub left_out: u32,
    /// Person who undoes the calls; `None` until then.
    #[serde(default)]
    pub taken: Option<UndoAuthor>,
}

impl TurnUndo {
    /// Creates the record of a turn without any calls.
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

    /// Adds a call made at this time. Beyond [`MAX_CALLS`] it is only counted.
    pub fn add(&mut self, call: Undoable, at: DateTime<Utc>) {
        self.until = self.until.max(at + LASTS);
        // A call made after the start of the undo is not part of it.
        if self.taken.is_none() && self.calls.len() < MAX_CALLS {
            self.calls.push(call);
        } else {
            self.left_out = self.left_out.saturating_add(1);
        }
    }

    /// Returns `true` if there are calls that can still be undone at this time.
    #[must_use]
    pub fn is_in_time(&self, now: DateTime<Utc>) -> bool {
        now < self.until && !self.calls.is_empty()
    }

    /// Starts the undo by a person. Returns `false` if it is too late, or if it was started before.
    pub fn take(&mut self, taken: UndoAuthor) -> bool {
        let may = self.taken.is_none() && self.is_in_time(taken.at);
        if may {
            self.taken = Some(taken);
        }
        may
    }

    /// Records the result of the undo for the call at this position.
    pub fn note(&mut self, at: usize, outcome: Undone) {
        if let Some(call) = self.calls.get_mut(at) {
            call.outcome = Some(outcome);
        }
    }

    /// Returns the record after all results are known. If some undos did not reach Telegram, only those calls stay, so that
    /// the undo can be started again.
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

    /// Returns `true` if the result of each call is known.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.calls.iter().all(|call| call.outcome.is_some())
    }

    /// Returns `true` if everything was undone.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.left_out == 0 && self.calls.iter().all(|call| call.outcome == Some(Undone::Done))
    }

    /// Returns the audit log entries of the undo, one per call.
    #[must_use]
    pub fn audited(&self, taken: &UndoAuthor) -> Vec<Audited> {
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
    /// Creates the undo that restores removed records of a chat. `name` is the name of the first record. `None` if the
    /// records cannot be serialized.
    #[must_use]
    pub fn of_records(chat: ChatId, name: &str, removed: &Removed) -> Option<Self> {
        let removed = serde_json::to_value(removed).ok()?;
        let arguments =
            Map::from_iter([("name".to_owned(), Value::from(name)), (REMOVED.to_owned(), removed)]);
        Some(Self {
            call: MethodCall { method: RESTORE_RECORDS.to_owned(), arguments },
            target: ApprovalTarget { chat, title: None },
            person: None,
            left: Map::new(),
            is_approved: false,
            outcome: None,
        })
    }

    /// Returns `true` if it restores records, `false` if it is a Telegram call.
    #[must_use]
    pub fn is_of_records(&self) -> bool {
        self.call.method == RESTORE_RECORDS
    }

    /// Returns the records to be restored; `None` for a Telegram call.
    #[must_use]
    pub fn records(&self) -> Option<Removed> {
        let removed = self.call.arguments.get(REMOVED).filter(|_| self.is_of_records())?;
        serde_json::from_value(removed.clone()).ok()
    }

    /// Returns the undo for a new id of the chat; `None` for a Telegram call, which refers to the chat by its old id.
    #[must_use]
    pub fn moved_to(&self, chat: ChatId) -> Option<Self> {
        let mut removed = self.records()?;
        removed.records.iter_mut().for_each(|record| record.chat = chat);
        Self::of_records(chat, self.record_name(), &removed)
    }

    /// Returns the name of the record to be restored.
    #[must_use]
    pub fn record_name(&self) -> &str {
        self.call.arguments.get("name").and_then(Value::as_str).unwrap_or_default()
    }

    /// Returns Telegram's id of the person that the call acts on.
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
            target: ApprovalTarget { chat: ChatId(-6), title: None },
            person: None,
            left: Map::new(),
            is_approved: true,
            outcome: None,
        }
    }

    fn taken(at: DateTime<Utc>) -> UndoAuthor {
        UndoAuthor { by: UserId::telegram(9), name: "Olga".into(), at, press: UpdateId(7) }
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
        let ended = after(&[Undone::Done, Undone::Refused(UndoRefusal::Gone), Undone::Unknown]);
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
            ("Bad Request: message can't be deleted for everyone", UndoRefusal::TooOld),
            ("Bad Request: message to delete not found", UndoRefusal::Gone),
            ("Bad Request: message to unpin not found", UndoRefusal::Gone),
            ("Bad Request: chat not found", UndoRefusal::NotThere),
            ("Forbidden: bot was kicked from the supergroup chat", UndoRefusal::NotThere),
            ("Bad Request: not enough rights to restrict/unrestrict chat member", UndoRefusal::NoRight),
            ("Bad Request: CHAT_ADMIN_REQUIRED", UndoRefusal::NoRight),
            ("Bad Request: something else", UndoRefusal::Other),
        ];
        for (words, wanted) in cases {
            assert_eq!(UndoRefusal::of(words), wanted, "{words}");
        }
    }
}
