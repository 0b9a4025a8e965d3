//! Content of the cards about drafts, and of the messages sent in a person's name. Pure.

use figaro_base::text::{one_line, utf16_len, utf16_prefix};
use figaro_domain::business::{BusinessAccount, CustomerChat, CustomerLine, ReplyDraft};
use figaro_markup::{Entity, EntityKind, Formatted, render, split};
use figaro_prompts::texts::{Texts, fill};

use crate::callback::BusinessButton;
use crate::inline::quotation;
use crate::send::{Button, Outgoing};

/// Maximum length of a reply, in UTF-16 units: what is shown on the card is sent whole.
const REPLY_UNITS: usize = 2800;
/// Maximum length of the customer's words on a card, in UTF-16 units.
const QUOTE_UNITS: usize = 700;
/// Maximum length of a name, in characters.
const NAME_CHARS: usize = 40;

/// Returns a text without formatting.
fn plain(text: &str) -> Formatted {
    Formatted { text: text.to_owned(), entities: Vec::new() }
}

/// Returns what the bot does for a connected account, and whether it may send.
pub(crate) fn about(texts: &Texts, account: &BusinessAccount) -> String {
    let right = if account.can_reply { texts.business_can_reply() } else { texts.business_no_right() };
    [texts.business_about(), right].join("\n\n")
}

/// Returns a title in bold.
fn title(text: String) -> Formatted {
    let bold = Entity { kind: EntityKind::Bold, offset: 0, length: utf16_len(&text) };
    Formatted { text, entities: vec![bold] }
}

/// Returns the message for a person whose account was connected.
pub(super) fn connected(texts: &Texts, account: &BusinessAccount) -> Outgoing {
    let content = title(texts.business_title().to_owned()).followed_by(plain(&about(texts, account)));
    Outgoing { content, ..Outgoing::default() }
}

/// Returns the heading of a chat with a customer.
pub(crate) fn names_chat(texts: &Texts, name: &str) -> String {
    fill(texts.business_writes(), &[("name", &one_line(name, NAME_CHARS))])
}

/// Returns the reply of a draft as it is shown and sent. One that is too long ends with a mark.
fn reply(markdown: &str) -> Formatted {
    let mut parts = split(render(markdown), REPLY_UNITS).into_iter();
    let mut reply = parts.next().unwrap_or_default();
    if parts.next().is_some() {
        reply.text += " …";
    }
    reply
}

/// Returns the reply of a draft with the mark that a bot wrote it, in the texts of the customer.
pub(super) fn signed(texts: &Texts, bot: &str, markdown: &str) -> Formatted {
    reply(markdown).followed_by(plain(&fill(texts.business_mark(), &[("name", bot)])))
}

/// Returns the card of an open draft. A draft without text has the reason why in `note`.
pub(super) fn open_card(
    texts: &Texts,
    account: &BusinessAccount,
    chat: &CustomerChat,
    draft: &ReplyDraft,
    note: Option<&str>,
) -> Outgoing {
    let waiting: Vec<_> = chat.unanswered().iter().map(CustomerLine::words).collect();
    let quote = quotation(utf16_prefix(&waiting.join("\n"), QUOTE_UNITS));
    let has_text = !draft.markdown.trim().is_empty();
    let no_right = texts.business_no_right();
    let note = note.or_else(|| (has_text && !account.can_reply).then_some(no_right)).unwrap_or_default();
    let content = title(names_chat(texts, &chat.name)).followed_by(quote).followed_by(reply(&draft.markdown));
    let content = content.followed_by(plain(note));
    let (to, number) = (chat.chat, draft.number);
    let may_send = has_text && account.can_reply;
    let send = may_send.then(|| Button::new(texts.business_send(), BusinessButton::Send(to, number)));
    let again = Button::new(texts.business_again(), BusinessButton::Again(to, number));
    let skip = Button::new(texts.business_skip(), BusinessButton::Skip(to, number));
    let always = may_send && !chat.is_standing;
    let always = always.then(|| Button::new(texts.business_always(), BusinessButton::Always(to, number)));
    let mut buttons = vec![send.into_iter().chain([again, skip]).collect::<Vec<_>>()];
    buttons.extend(always.map(|always| vec![always]));
    Outgoing { content, buttons, ..Outgoing::default() }
}

/// Returns the card of a reply that was sent, or may have been. `end` is the button that ends the standing rule.
pub(super) fn sent_card(texts: &Texts, chat: &CustomerChat, draft: &ReplyDraft, note: &str) -> Outgoing {
    let content = title(names_chat(texts, &chat.name)).followed_by(reply(&draft.markdown));
    let content = content.followed_by(plain(note));
    let end = chat.is_standing.then(|| Button::new(texts.business_end(), BusinessButton::End(chat.chat)));
    Outgoing { content, buttons: end.map(|end| vec![end]).into_iter().collect(), ..Outgoing::default() }
}

/// Returns the card of a draft that was dropped for this reason.
pub(super) fn dropped_card(texts: &Texts, name: &str, why: &str) -> Outgoing {
    Outgoing { content: title(names_chat(texts, name)).followed_by(plain(why)), ..Outgoing::default() }
}
