//! Texts by others that a request shows to the model: they may tell it what to do.

use super::super::question::Question;
use figaro_base::ids::UserId;
use figaro_domain::conversation::{Message, MessageRole};
use figaro_domain::message::{Attachment, AttachmentKind, Inbound, Quoted, Speaker};
use figaro_domain::said_since::is_own;
use figaro_prompts::DocumentView;

/// Texts by others in a request, by their names.
#[derive(Debug, Default)]
pub(super) struct ForeignText {
    /// Page, file, result of a tool, forwarded message or quote.
    pub(super) read: Option<String>,
    /// Person who wrote in the chat, if it is not the one who asks.
    pub(super) heard: Option<String>,
}

/// Account of the bot, and the person who asks: their own words are not by others.
#[derive(Debug, Clone, Copy)]
pub(super) struct Own<'a> {
    pub(super) bot: &'a UserId,
    pub(super) asker: Option<&'a UserId>,
}

impl ForeignText {
    /// Finds them in the question, the documents and messages beside it, and the earlier messages that the model is shown.
    pub(super) fn of(
        question: &Question,
        documents: &[DocumentView],
        background: &[Inbound],
        shown: &[&Message],
        own: Own<'_>,
    ) -> Self {
        let background = background.iter().filter(|message| !is_own(message));
        let brought = || question.parts.iter().find_map(|part| own.brought(part));
        let by_task = || question.task.as_ref().and_then(|task| task.read.clone());
        let file = || documents.first().map(|document| document.name.clone());
        let beside = || background.clone().find_map(|message| own.brought(message));
        let earlier = || shown.iter().rev().find_map(|message| own.in_message(message));
        let read = brought().or_else(by_task).or_else(file).or_else(beside).or_else(earlier);
        let said = shown.iter().filter(|message| message.role == MessageRole::User);
        let speakers = said.filter_map(|message| message.speaker.as_ref());
        let mut speakers = background.map(|part| &part.speaker).chain(speakers);
        let other = speakers.find(|speaker: &&Speaker| Some(&speaker.user) != own.asker);
        Self { read, heard: other.map(|other| other.name.clone()) }
    }
}

impl Own<'_> {
    /// Returns the text by others in a message: it is forwarded, or quotes them, or has a file.
    fn brought(self, part: &Inbound) -> Option<String> {
        let quoted = || part.quotes.as_deref().and_then(|quoted| self.quoted(quoted));
        part.forwarded_from.clone().or_else(quoted).or_else(|| part.attachments.iter().find_map(file_name))
    }

    /// Returns the text by others in an earlier message. Results without an address, such as those of other servers, count
    /// in their turn only: otherwise no rule would hold for the second call of a conversation.
    fn in_message(self, message: &Message) -> Option<String> {
        let by_call = message.tool.as_ref().map(|tool| &tool.side_effects.sources);
        let found =
            by_call.into_iter().flatten().chain(&message.sources).map(|source| source.url.clone()).next();
        let quoted = || message.quotes.as_deref().and_then(|quoted| self.quoted(quoted));
        let file = || message.attachments.iter().find_map(file_name);
        found.or_else(|| message.forwarded_from.clone()).or_else(quoted).or_else(file)
    }

    /// Returns the name of the writer of a quote: whoever writes in other chats, or here and is not one of these two.
    fn quoted(self, quoted: &Quoted) -> Option<String> {
        let is_own = |writer: &UserId| writer == self.bot || Some(writer) == self.asker;
        let is_by_others = quoted.message.is_none() || !quoted.writer.as_ref().is_some_and(is_own);
        is_by_others.then(|| quoted.author.clone().unwrap_or_default())
    }
}

/// Returns the name of a picture or a document, which may have instructions; `None` for another attachment.
fn file_name(file: &Attachment) -> Option<String> {
    let may_instruct = file.is_document() || (file.is_picture() && file.kind != AttachmentKind::Sticker);
    may_instruct.then(|| file.label.clone().unwrap_or_else(|| file.kind.word().to_owned()))
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;

    use super::*;
    use figaro_base::ids::{ChatId, MessageId, UpdateId};
    use figaro_domain::chat::{ChatKind, Place};
    use figaro_domain::origin::Origin;
    use figaro_policy::access::Standing;

    fn said(user: i64, text: &str) -> Inbound {
        let place = Place { chat: ChatId(-5), kind: ChatKind::Group, title: None, topic: None };
        let speaker = Speaker { user: UserId::telegram(user), name: format!("P{user}"), username: None };
        let origin = Origin::telegram(UpdateId(1), MessageId(1));
        Inbound::addressed(origin, place, speaker, text.to_owned(), DateTime::UNIX_EPOCH)
    }

    fn quoting(message: Option<i64>, writer: i64) -> Inbound {
        let quoted = Quoted {
            message: message.map(MessageId),
            author: Some(format!("P{writer}")),
            text: "x".to_owned(),
            excerpt: None,
            attachments: Vec::new(),
            from_person: false,
            writer: Some(UserId::telegram(writer)),
            task: None,
        };
        Inbound { quotes: Some(Box::new(quoted)), ..said(1, "look") }
    }

    fn with(kind: AttachmentKind, label: Option<&str>) -> Inbound {
        let file = Attachment {
            file_id: Some("f".to_owned()),
            label: label.map(str::to_owned),
            ..Attachment::new(kind)
        };
        Inbound { attachments: vec![file], ..said(1, "look") }
    }

    #[test]
    fn texts_by_others_are_found_in_the_question_and_beside_it() {
        let (bot, ann) = (UserId::telegram(9), UserId::telegram(1));
        let found = |question: Inbound, beside: &[Inbound]| {
            let question = Question::new(question, Standing::Owner);
            let own = Own { bot: &bot, asker: Some(&ann) };
            let ForeignText { read, heard } = ForeignText::of(&question, &[], beside, &[], own);
            (read, heard)
        };
        let text = |name: &str| Some(name.to_owned());
        let forwarded = |user| Inbound { forwarded_from: text("News"), ..said(user, "sent on") };
        let alone = || said(1, "go on");
        for (question, beside, wanted) in [
            (alone(), vec![], (None, None)),
            (alone(), vec![said(1, "mine")], (None, None)),
            (alone(), vec![said(0, "the bot's own")], (None, None)),
            (alone(), vec![said(2, "theirs")], (None, text("P2"))),
            (alone(), vec![forwarded(1)], (text("News"), None)),
            (alone(), vec![forwarded(2)], (text("News"), text("P2"))),
            (forwarded(1), vec![], (text("News"), None)),
            (quoting(Some(3), 1), vec![], (None, None)),
            (quoting(Some(3), 9), vec![], (None, None)),
            (quoting(Some(3), 8), vec![], (text("P8"), None)),
            (quoting(None, 1), vec![], (text("P1"), None)),
            (with(AttachmentKind::Photo, None), vec![], (text("photo"), None)),
            (with(AttachmentKind::Document, Some("a.pdf")), vec![], (text("a.pdf"), None)),
            (with(AttachmentKind::Sticker, Some("x")), vec![], (None, None)),
            (with(AttachmentKind::Location, Some("here")), vec![], (None, None)),
        ] {
            assert_eq!(found(question.clone(), &beside), wanted, "{question:?} {beside:?}");
        }
    }
}
