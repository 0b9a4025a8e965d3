//! Customer chats of a person who connected the bot to their own Telegram account, and the drafts of replies. Pure.

use std::borrow::Cow;

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use super::message::{Attachment, Speaker};
use figaro_base::ids::{ChatId, ConnectionId, MessageId};

/// Maximum number of customer chats of an account. A further chat replaces the one that was silent longest.
pub const MAX_CUSTOMERS: usize = 200;
/// Number of the newest messages kept of a customer chat.
const MAX_LINES: usize = 20;
/// Maximum length of a kept message, in characters.
const MAX_LINE_CHARS: usize = 4096;
/// Maximum number of drafts for a chat in an hour, apart from those that the person asks for.
const MAX_DRAFTS_IN_HOUR: usize = 30;
/// Maximum number of replies that a standing rule sends to a chat in an hour, and in a day.
const MAX_IN_HOUR: usize = 10;
const MAX_IN_DAY: usize = 50;

/// Account of a person that the bot is connected to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BusinessAccount {
    /// Id of the connection at Telegram.
    pub connection: ConnectionId,
    /// Person whose account it is.
    pub owner: Speaker,
    /// Private chat of this person with the bot, which gets the drafts.
    pub chat: ChatId,
    /// `true` if the bot may send messages in the name of the person.
    pub can_reply: bool,
    /// `true` if the bot may mark messages as read.
    pub can_read: bool,
    /// IETF tag of the language of the person's Telegram client.
    pub language: Option<String>,
    /// `true` if the person had everything about them forgotten; of the account then only its ids are kept.
    pub is_forgotten: bool,
}

impl BusinessAccount {
    /// Returns what stays of an account that its person had forgotten: its ids, so that the connection is not taken up again
    /// before Telegram tells of a change.
    #[must_use]
    pub fn forgotten(self) -> Self {
        let owner = Speaker { name: String::new(), username: None, ..self.owner };
        Self { owner, can_reply: false, can_read: false, language: None, is_forgotten: true, ..self }
    }
}

/// Chat of a connected account with a customer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CustomerChat {
    /// Chat in which the customer writes to the account.
    pub chat: ChatId,
    /// Name of the customer.
    pub name: String,
    /// IETF tag of the language of the customer's Telegram client.
    pub language: Option<String>,
    /// Newest messages. A reply of the bot stands behind the message that it answers, all others in the order of arrival.
    pub lines: Vec<CustomerLine>,
    /// `true` if drafts are sent without a press.
    pub is_standing: bool,
    /// Times of the replies that the standing rule sent within a day.
    pub sent_by_rule: Vec<DateTime<Utc>>,
    /// Times of the drafts that were begun within an hour, apart from those that the person asked for.
    pub drafted: Vec<DateTime<Utc>>,
    /// Draft that waits for the person.
    pub draft: Option<ReplyDraft>,
    /// Draft of which a call that sends it may have begun.
    pub sending: Option<ReplyDraft>,
    /// Draft that was sent, until its card says so.
    pub sent: Option<ReplyDraft>,
    /// Number of the last draft.
    pub drafts: u32,
    /// Time of the last message.
    pub written_at: DateTime<Utc>,
}

/// Message of a customer chat.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CustomerLine {
    /// Message in the customer's chat.
    pub message: MessageId,
    /// `true` if the account wrote it: the person or a bot in their name.
    pub is_own: bool,
    /// Text or caption.
    pub text: String,
    /// Pictures, sounds and files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<Attachment>,
}

impl CustomerLine {
    /// Returns the text; the kinds of its attachments in brackets if it has none.
    #[must_use]
    pub fn words(&self) -> Cow<'_, str> {
        if !self.text.trim().is_empty() {
            return Cow::Borrowed(&self.text);
        }
        let kinds: Vec<_> = self.attachments.iter().map(|one| format!("[{}]", one.word())).collect();
        Cow::Owned(kinds.join(" "))
    }
}

/// Draft of a reply.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplyDraft {
    /// Number within its chat, which its buttons name.
    pub number: u32,
    /// Reply in Markdown.
    pub markdown: String,
    /// Last message that it answers.
    pub answers: MessageId,
    /// Message of the bot that shows the draft; `None` until it is sent.
    pub card: Option<MessageId>,
    /// `true` if the customer wrote or edited something since.
    pub is_stale: bool,
}

/// Result of [`CustomerChat::begin_sending`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SendingStart {
    /// The draft is marked as being sent.
    Begun(ReplyDraft),
    /// An earlier attempt may have sent this draft, which is dropped.
    Unclear(ReplyDraft),
    /// The standing rule does not send the draft, which stays.
    Held,
    /// There is no such draft.
    Gone,
}

impl CustomerChat {
    /// Creates a chat without messages.
    #[must_use]
    pub const fn new(chat: ChatId, name: String, now: DateTime<Utc>) -> Self {
        Self {
            chat,
            name,
            language: None,
            lines: Vec::new(),
            is_standing: false,
            sent_by_rule: Vec::new(),
            drafted: Vec::new(),
            draft: None,
            sending: None,
            sent: None,
            drafts: 0,
            written_at: now,
        }
    }

    /// Adds a message, or gives a known one its new content. Returns `false` if nothing changed.
    pub fn note(&mut self, line: CustomerLine, now: DateTime<Utc>) -> bool {
        let line = CustomerLine { text: line.text.chars().take(MAX_LINE_CHARS).collect(), ..line };
        let is_own = line.is_own;
        match self.lines.iter_mut().find(|known| known.message == line.message) {
            Some(known) if *known == line => return false,
            Some(known) => *known = line,
            None => self.add(self.lines.len(), line, now),
        }
        if let Some(draft) = self.draft.as_mut().filter(|_| !is_own) {
            draft.is_stale = true;
        }
        true
    }

    /// Adds a reply that the bot sent, behind the message that it answers: what came meanwhile still waits.
    pub fn note_reply(&mut self, line: CustomerLine, now: DateTime<Utc>) {
        let is_known = self.lines.iter().any(|known| known.message == line.message);
        let answers = self.sending.as_ref().map(|sending| sending.answers);
        let answered = self.lines.iter().position(|known| Some(known.message) == answers);
        match answered {
            Some(at) if !is_known => self.add(at + 1, line, now),
            _ => drop(self.note(line, now)),
        }
    }

    fn add(&mut self, at: usize, line: CustomerLine, now: DateTime<Utc>) {
        self.lines.insert(at, line);
        self.lines.drain(..self.lines.len().saturating_sub(MAX_LINES));
        self.written_at = now;
    }

    /// Removes deleted messages. Returns `true` if a message without an answer was among them.
    pub fn delete(&mut self, messages: &[MessageId]) -> bool {
        let was_waiting = self.unanswered().iter().any(|line| messages.contains(&line.message));
        self.lines.retain(|line| !messages.contains(&line.message));
        if let Some(draft) = self.draft.as_mut().filter(|_| was_waiting) {
            draft.is_stale = true;
        }
        was_waiting
    }

    /// Returns the messages of the customer since the last one of the account.
    #[must_use]
    pub fn unanswered(&self) -> &[CustomerLine] {
        let from = self.lines.iter().rposition(|line| line.is_own).map_or(0, |own| own + 1);
        self.lines.get(from..).unwrap_or_default()
    }

    /// Returns `true` if this message of the customer waits for a draft that is not there.
    #[must_use]
    pub fn needs_draft(&self, message: MessageId) -> bool {
        let is_waiting = self.unanswered().iter().any(|line| line.message == message);
        let is_sent = self.sending.as_ref().is_some_and(|sending| sending.answers == message);
        is_waiting
            && !is_sent
            && self.draft.as_ref().is_none_or(|draft| draft.is_stale || draft.card.is_none())
    }

    /// Returns `true` if a draft answers this message, and its end was not shown yet.
    #[must_use]
    pub fn is_for(&self, message: MessageId) -> bool {
        self.draft.iter().chain(&self.sending).chain(&self.sent).any(|draft| draft.answers == message)
    }

    /// Returns `true` if one more draft may begin now without the person asking for it, and counts it.
    pub fn may_draft(&mut self, now: DateTime<Utc>) -> bool {
        self.drafted.retain(|at| now - *at < TimeDelta::hours(1));
        let may = self.drafted.len() < MAX_DRAFTS_IN_HOUR;
        if may {
            self.drafted.push(now);
        }
        may
    }

    /// Puts a draft in place of an earlier one, in the same card. Returns `None`, without a change, if something was written
    /// after the message that it answers.
    pub fn put_draft(&mut self, answers: MessageId, markdown: String) -> Option<ReplyDraft> {
        if self.unanswered().last()?.message != answers {
            return None;
        }
        self.drafts = self.drafts.wrapping_add(1);
        let card = self.draft.take().and_then(|draft| draft.card);
        let draft = ReplyDraft { number: self.drafts, markdown, answers, card, is_stale: false };
        self.draft = Some(draft.clone());
        Some(draft)
    }

    /// Returns the draft with this number, to change it.
    pub fn draft_mut(&mut self, number: u32) -> Option<&mut ReplyDraft> {
        self.draft.as_mut().filter(|draft| draft.number == number)
    }

    /// Records the message that shows a draft, also one that is being sent. Returns `false` if there is no such draft.
    pub fn shown_in(&mut self, number: u32, card: MessageId) -> bool {
        let mut drafts = self.draft.iter_mut().chain(&mut self.sending);
        drafts.find(|draft| draft.number == number).map(|draft| draft.card = Some(card)).is_some()
    }

    /// Takes the draft with this number out.
    pub fn take_draft(&mut self, number: u32) -> Option<ReplyDraft> {
        self.draft.take_if(|draft| draft.number == number)
    }

    /// Returns `true` if the standing rule may send this draft, apart from its bound.
    #[must_use]
    pub fn is_for_rule(&self, draft: &ReplyDraft) -> bool {
        self.is_standing && !draft.is_stale && !draft.markdown.trim().is_empty()
    }

    /// Marks a draft as being sent, before the call that sends it. If an earlier attempt did not end, that one comes first.
    pub fn begin_sending(&mut self, number: u32, by_rule: bool, now: DateTime<Utc>) -> SendingStart {
        if let Some(sending) = self.sending.take() {
            return SendingStart::Unclear(sending);
        }
        let Some(draft) = self.take_draft(number) else { return SendingStart::Gone };
        if by_rule && !(self.is_for_rule(&draft) && self.may_send_by_rule(now)) {
            self.draft = Some(draft);
            return SendingStart::Held;
        }
        self.sending = Some(draft.clone());
        SendingStart::Begun(draft)
    }

    /// Records that the draft being sent was sent as this message.
    pub fn end_sending(&mut self, line: CustomerLine, now: DateTime<Utc>) {
        self.note_reply(line, now);
        self.sent = self.sending.take();
    }

    /// Records that the draft being sent was not sent. Returns `false` if a newer draft is in its place.
    pub fn not_sent(&mut self) -> bool {
        let Some(sending) = self.sending.take().filter(|_| self.draft.is_none()) else { return false };
        let is_stale = self.unanswered().last().is_none_or(|last| last.message != sending.answers);
        self.draft = Some(ReplyDraft { is_stale, ..sending });
        true
    }

    /// Returns `true` if the standing rule may send one more reply now, and counts it.
    fn may_send_by_rule(&mut self, now: DateTime<Utc>) -> bool {
        self.sent_by_rule.retain(|at| now - *at < TimeDelta::days(1));
        let in_hour = self.sent_by_rule.iter().filter(|at| now - **at < TimeDelta::hours(1)).count();
        let may = in_hour < MAX_IN_HOUR && self.sent_by_rule.len() < MAX_IN_DAY;
        if may {
            self.sent_by_rule.push(now);
        }
        may
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: DateTime<Utc> = DateTime::UNIX_EPOCH;

    fn line(message: i64, is_own: bool) -> CustomerLine {
        let text = format!("text {message}");
        CustomerLine { message: MessageId(message), is_own, text, attachments: Vec::new() }
    }

    fn chat(lines: impl IntoIterator<Item = CustomerLine>) -> CustomerChat {
        let mut chat = CustomerChat::new(ChatId(7), "Mia".to_owned(), NOW);
        lines.into_iter().for_each(|line| assert!(chat.note(line, NOW)));
        chat
    }

    fn waiting(chat: &CustomerChat) -> Vec<i64> {
        chat.unanswered().iter().map(|line| line.message.0).collect()
    }

    #[test]
    fn a_chat_keeps_the_newest_messages_and_knows_what_waits() {
        let mut chat = chat((1..=30).map(|n| line(n, n == 28)));
        assert_eq!((chat.lines.len(), chat.lines[0].message), (20, MessageId(11)));
        assert_eq!(waiting(&chat), [29, 30]);
        assert!(!chat.note(line(30, false), NOW), "known already");
        assert!(chat.needs_draft(MessageId(30)) && !chat.needs_draft(MessageId(27)));
        assert!(chat.delete(&[MessageId(29)]) && !chat.delete(&[MessageId(12)]));
    }

    #[test]
    fn a_draft_is_replaced_in_its_card_and_sent_once() {
        let mut chat = chat([line(1, false)]);
        assert_eq!(chat.put_draft(MessageId(2), "late".to_owned()), None);
        let first = chat.put_draft(MessageId(1), "one".to_owned()).unwrap();
        chat.draft_mut(first.number).unwrap().card = Some(MessageId(50));
        assert!(!chat.needs_draft(MessageId(1)));
        assert!(chat.note(line(2, false), NOW) && chat.needs_draft(MessageId(2)));
        let second = chat.put_draft(MessageId(2), "two".to_owned()).unwrap();
        assert_eq!((second.number, second.card), (2, Some(MessageId(50))));
        assert_eq!(chat.begin_sending(first.number, false, NOW), SendingStart::Gone);
        assert_eq!(chat.begin_sending(second.number, false, NOW), SendingStart::Begun(second.clone()));
        assert_eq!(chat.begin_sending(second.number, false, NOW), SendingStart::Unclear(second.clone()));
        assert_eq!(chat.begin_sending(second.number, false, NOW), SendingStart::Gone, "told once");
    }

    #[test]
    fn what_comes_while_a_reply_is_sent_still_waits() {
        let mut chat = chat([line(1, false)]);
        let first = chat.put_draft(MessageId(1), "one".to_owned()).unwrap();
        assert!(matches!(chat.begin_sending(first.number, false, NOW), SendingStart::Begun(_)));
        assert!(!chat.needs_draft(MessageId(1)), "it may be sent");
        assert!(chat.note(line(2, false), NOW) && chat.needs_draft(MessageId(2)));
        let second = chat.put_draft(MessageId(2), "two".to_owned()).unwrap();
        assert_eq!(second.card, None, "the first keeps its card");
        chat.end_sending(line(3, true), NOW);
        assert_eq!((waiting(&chat), chat.sending.clone(), chat.draft.clone()), (vec![2], None, Some(second)));
        // The message comes as an update as well.
        chat.note_reply(line(3, true), NOW);
        assert_eq!(waiting(&chat), [2]);
    }

    #[test]
    fn a_draft_that_was_not_sent_waits_again_unless_there_is_a_newer_one() {
        let mut chat = chat([line(1, false)]);
        let first = chat.put_draft(MessageId(1), "one".to_owned()).unwrap();
        chat.begin_sending(first.number, false, NOW);
        assert!(chat.not_sent() && chat.draft == Some(first.clone()));
        chat.begin_sending(first.number, false, NOW);
        chat.note(line(2, false), NOW);
        chat.put_draft(MessageId(2), "two".to_owned()).unwrap();
        assert!(!chat.not_sent() && chat.draft.unwrap().number == 2);
    }

    #[test]
    fn a_standing_rule_is_bounded_by_the_hour_and_the_day() {
        let mut chat = chat([]);
        let sent = |chat: &mut CustomerChat, hour: i64| {
            (0..20).filter(|_| chat.may_send_by_rule(NOW + TimeDelta::hours(hour))).count()
        };
        assert_eq!((0..7).map(|hour| sent(&mut chat, hour)).collect::<Vec<_>>(), [10, 10, 10, 10, 10, 0, 0]);
        assert_eq!(sent(&mut chat, 24), 10);
    }

    #[test]
    fn a_standing_rule_sends_neither_what_is_stale_nor_after_its_end() {
        let mut chat = CustomerChat { is_standing: true, ..chat([line(1, false)]) };
        let first = chat.put_draft(MessageId(1), "one".to_owned()).unwrap();
        chat.is_standing = false;
        assert_eq!(chat.begin_sending(first.number, true, NOW), SendingStart::Held);
        chat.is_standing = true;
        chat.note(CustomerLine { text: "edited".to_owned(), ..line(1, false) }, NOW);
        assert_eq!(chat.begin_sending(first.number, true, NOW), SendingStart::Held);
        assert!(matches!(chat.begin_sending(first.number, false, NOW), SendingStart::Begun(_)), "by a press");
    }
}
