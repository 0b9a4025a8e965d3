//! The cards of `/forget`.

use super::super::card::{Card, ROWS, pager};
use crate::callback::{Forget, SaidKey, Search};
use crate::send::Button;
use figaro_base::text::one_line;
use figaro_domain::erasure::{Erased, Said};
use figaro_markup::render;
use figaro_prompts::texts::{Texts, fill};

/// What a card shows of a message.
const CARD_CHARS: usize = 300;
/// What a button shows of a message.
const ROW_CHARS: usize = 48;

/// What can be forgotten.
pub(super) fn menu(texts: &Texts) -> Card {
    Card::titled(texts.forget_title(), texts.forget_about())
        .row(vec![Button::new(texts.button_this_conversation(), Forget::AskSession)])
        .row(vec![Button::new(texts.button_everything(), Forget::AskAll)])
}

/// Asks whether something is to be forgotten.
pub(super) fn ask(texts: &Texts, words: &str, press: Forget) -> Card {
    Card::text(words)
        .row(vec![Button::new(texts.button_forget(), press), Button::new(texts.button_keep(), Forget::Keep)])
}

/// Asks whether a message is to be forgotten.
pub(super) fn ask_said(texts: &Texts, said: &Said) -> Card {
    let words = if said.is_answer { texts.forget_ask_answer() } else { texts.forget_ask_message() };
    let words = fill(words, &[("text", &one_line(&said.text, CARD_CHARS))]);
    ask(texts, &words, Forget::Said(SaidKey(said.at)))
}

/// A page of what a search has found, of so many messages.
pub(super) fn found(texts: &Texts, search: Search, said: &[Said], page: usize, total: usize) -> Card {
    let row = |said: &Said| {
        let who = if said.is_answer { format!("{}: ", texts.export_bot()) } else { String::new() };
        let label = one_line(&format!("{who}{}", render(&said.text).text), ROW_CHARS);
        vec![Button::new(label, Forget::AskSaid(SaidKey(said.at)))]
    };
    let all = Button::new(
        fill(texts.forget_all_found(), &[("count", &total.to_string())]),
        Forget::AskFound(search),
    );
    Card::titled(texts.forget_title(), texts.forget_found())
        .rows(said.iter().take(ROWS).map(row))
        .row(pager(texts, page, total, |page| Forget::Found(search, page)))
        .row(Some(all).filter(|_| total > 1).into_iter().collect())
}

/// Says what was erased, and what was not.
pub(super) fn done(texts: &Texts, erased: &Erased) -> Card {
    let Erased {
        messages,
        answers,
        sessions,
        notes,
        records,
        tasks,
        personas,
        pins,
        summaries,
        memories,
        profiles,
    } = *erased;
    let counts = [
        (texts.forgot_messages(), messages),
        (texts.forgot_answers(), answers),
        (texts.forgot_sessions(), sessions),
        (texts.forgot_notes(), notes),
        (texts.forgot_records(), records),
        (texts.forgot_tasks(), tasks),
        (texts.forgot_personas(), personas),
        (texts.forgot_pins(), pins),
        (texts.forgot_summaries(), summaries),
        (texts.forgot_memories(), memories),
        (texts.forgot_profiles(), profiles),
    ];
    let some = counts.into_iter().filter(|(_, count)| *count > 0);
    let lines: Vec<String> =
        some.map(|(words, count)| fill(words, &[("count", &count.to_string())])).collect();
    Card::titled(texts.forgot_title(), format!("{}\n\n{}", lines.join("\n"), texts.forget_stays()))
}
