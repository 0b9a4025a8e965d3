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
}

/// Chat of a connected account with a customer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CustomerChat {
    /// Chat in which the customer writes to the account.
    pub chat: ChatId,
    /// Name of the customer.
    pub name: String,
    /// Newest messages, oldest first.
    pub lines: Vec<CustomerLine>,
    /// `true` if drafts are sent without a press.
    pub is_standing: bool,
    /// Times of the replies that the standing rule sent within a day.
    pub sent_by_rule: Vec<DateTime<Utc>>,
    /// Draft that waits for the person.
    pub draft: Option<ReplyDraft>,
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
    /// `true` once a call that sends it may have begun.
    pub is_sending: bool,
    /// `true` if the customer wrote or edited something since.
    pub is_stale: bool,
}

/// Result of [`CustomerChat::begin_sending`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SendingStart {
    /// The draft is marked as being sent.
    Begun(ReplyDraft),
    /// An earlier attempt may have sent the draft, which is dropped.
    Unclear(ReplyDraft),
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
            lines: Vec::new(),
            is_standing: false,
            sent_by_rule: Vec::new(),
            draft: None,
            drafts: 0,
            written_at: now,
        }
    }

    /// Adds a message, or gives a known one its new text. Returns `false` if nothing changed.
    pub fn note(&mut self, line: CustomerLine, now: DateTime<Utc>) -> bool {
        let line = CustomerLine { text: line.text.chars().take(MAX_LINE_CHARS).collect(), ..line };
        let is_own = line.is_own;
        match self.lines.iter_mut().find(|known| known.message == line.message) {
            Some(known) if known.text == line.text => return false,
            Some(known) => known.text = line.text,
            None => {
                self.lines.push(line);
                self.lines.drain(..self.lines.len().saturating_sub(MAX_LINES));
                self.written_at = now;
            }
        }
        if let Some(draft) = self.draft.as_mut().filter(|_| !is_own) {
            draft.is_stale = true;
        }
        true
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
        is_waiting && self.draft.as_ref().is_none_or(|draft| draft.is_stale || draft.card.is_none())
    }

    /// Puts a draft in place of an earlier one, in the same card. Returns `None`, without a change, if something was written
    /// after the message that it answers.
    pub fn put_draft(&mut self, answers: MessageId, markdown: String) -> Option<ReplyDraft> {
        if self.unanswered().last()?.message != answers {
            return None;
        }
        self.drafts = self.drafts.wrapping_add(1);
        // A draft that is being sent keeps its card.
        let card = self.draft.take().filter(|draft| !draft.is_sending).and_then(|draft| draft.card);
        let draft =
            ReplyDraft { number: self.drafts, markdown, answers, card, is_sending: false, is_stale: false };
        self.draft = Some(draft.clone());
        Some(draft)
    }

    /// Returns the draft with this number, to change it.
    pub fn draft_mut(&mut self, number: u32) -> Option<&mut ReplyDraft> {
        self.draft.as_mut().filter(|draft| draft.number == number)
    }

    /// Takes the draft with this number out.
    pub fn take_draft(&mut self, number: u32) -> Option<ReplyDraft> {
        self.draft.take_if(|draft| draft.number == number)
    }

    /// Marks a draft as being sent, before the call that sends it.
    pub fn begin_sending(&mut self, number: u32) -> SendingStart {
        match self.take_draft(number) {
            None => SendingStart::Gone,
            Some(draft) if draft.is_sending => SendingStart::Unclear(draft),
            Some(draft) => {
                let sending = ReplyDraft { is_sending: true, ..draft };
                self.draft = Some(sending.clone());
                SendingStart::Begun(sending)
            }
        }
    }

    /// Records that a draft was sent as this message.
    pub fn sent(&mut self, number: u32, line: CustomerLine, now: DateTime<Utc>) {
        self.take_draft(number);
        self.note(line, now);
    }

    /// Returns `true` if the standing rule may send one more reply now, and counts it.
    pub fn may_send_by_rule(&mut self, now: DateTime<Utc>) -> bool {
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
        CustomerLine {
            message: MessageId(message),
            is_own,
            text: format!("text {message}"),
            attachments: Vec::new(),
        }
    }

    fn chat(lines: impl IntoIterator<Item = CustomerLine>) -> CustomerChat {
        let mut chat = CustomerChat::new(ChatId(7), "Mia".to_owned(), NOW);
        lines.into_iter().for_each(|line| assert!(chat.note(line, NOW)));
        chat
    }

    #[test]
    fn a_chat_keeps_the_newest_messages_and_knows_what_waits() {
        let mut chat = chat((1..=30).map(|n| line(n, n == 28)));
        assert_eq!((chat.lines.len(), chat.lines[0].message), (20, MessageId(11)));
        assert_eq!(chat.unanswered().iter().map(|line| line.message.0).collect::<Vec<_>>(), [29, 30]);
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
        assert_eq!(chat.begin_sending(first.number), SendingStart::Gone);
        assert!(matches!(chat.begin_sending(second.number), SendingStart::Begun(draft) if draft.is_sending));
        assert!(matches!(chat.begin_sending(second.number), SendingStart::Unclear(_)));
        assert_eq!(chat.begin_sending(second.number), SendingStart::Gone, "told once");
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
}
