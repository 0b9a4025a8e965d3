//! Splits an answer into messages: its Markdown in parts, the first with the quote of the question, the last with the
//! buttons.

use super::super::callback::ChooseButton;
use super::super::commands::action_buttons;
use super::super::outgoing::MESSAGE_UNITS;
use super::super::send::{Button, Outgoing};
use figaro_domain::delivery::PendingDelivery;
use figaro_domain::task::MAX_ANSWER_MESSAGES;
use figaro_markup::{Formatted, Piece, at_most, messages, rich_messages, split};
use figaro_prompts::texts::Texts;

/// Returns the messages of an answer, in order.
pub(super) fn parts(texts: &Texts, delivery: &PendingDelivery) -> Vec<Outgoing> {
    let pieces = pieces(delivery);
    let last = pieces.len().saturating_sub(1);
    let message = |(at, piece)| outgoing(texts, delivery, piece, at == 0, at == last);
    pieces.into_iter().enumerate().map(message).collect()
}

/// Creates the message of one part.
fn outgoing(
    texts: &Texts,
    delivery: &PendingDelivery,
    piece: Piece,
    is_first: bool,
    is_last: bool,
) -> Outgoing {
    let actions = if is_last { delivery.actions.as_slice() } else { &[] };
    let reply_to = delivery.reply_to.filter(|_| is_first);
    let (preview, author) = (delivery.preview.clone(), delivery.author());
    let mut buttons = action_buttons(actions, delivery.run, texts);
    if is_last {
        buttons.extend(answer_buttons(delivery));
    }
    Outgoing { preview, reply_to, buttons, author, ..Outgoing::of_piece(piece) }
}

/// Returns a row of buttons for each answer to choose from.
fn answer_buttons(delivery: &PendingDelivery) -> impl Iterator<Item = Vec<Button>> {
    let options = delivery.options.iter().zip(0..);
    options.map(|(label, option)| vec![Button::new(label, ChooseButton { turn: delivery.run, option })])
}

/// Splits an answer into pieces; a task's answer, which nobody waits for, has a limit. If formatting panics, the
/// answer is sent as plain text.
fn pieces(delivery: &PendingDelivery) -> Vec<Piece> {
    let markdown = &delivery.markdown;
    let formatted = || match is_rich(delivery) {
        true => rich_messages(markdown, MESSAGE_UNITS),
        false => messages(markdown, MESSAGE_UNITS),
    };
    let pieces = std::panic::catch_unwind(formatted).unwrap_or_else(|_panic| {
        tracing::error!("an answer could not be formatted; sending it as it is");
        split(plain(markdown), MESSAGE_UNITS).into_iter().map(Piece::Text).collect()
    });
    match delivery.task {
        Some(_) => at_most(MAX_ANSWER_MESSAGES, pieces, markdown, MESSAGE_UNITS),
        None => pieces,
    }
}

/// Returns `true` if an answer may go out as rich messages. One that ended early stays text, so that it goes on below the
/// messages that show its beginning; so does a question to a person, and a task's answer that is too long as text.
fn is_rich(delivery: &PendingDelivery) -> bool {
    let is_too_long =
        || delivery.task.is_some() && messages(&delivery.markdown, MESSAGE_UNITS).len() > MAX_ANSWER_MESSAGES;
    delivery.rich && !delivery.early && delivery.options.is_empty() && !delivery.is_card && !is_too_long()
}

pub(super) fn plain(text: &str) -> Formatted {
    Formatted { text: text.to_owned(), entities: Vec::new() }
}
