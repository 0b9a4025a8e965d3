//! Cards of `/forget`.

use super::super::card::Card;
use super::super::list_page::ListPage;
use crate::callback::{ForgetButton, SaidKey, SearchNumber};
use crate::send::Button;
use figaro_base::text::one_line;
use figaro_domain::erasure::{Erased, FoundMessage};
use figaro_markup::render;
use figaro_prompts::texts::{Texts, fill};

/// Maximum length of a message on a card, in characters.
const CARD_CHARS: usize = 300;
/// Maximum length of a message on a button, in characters.
const ROW_CHARS: usize = 48;

/// Returns the card with the choice of what to forget; `may_change` adds the current session.
pub(super) fn menu(texts: &Texts, may_change: bool) -> Card {
    let session = Button::new(texts.button_this_conversation(), ForgetButton::AskSession);
    Card::titled(texts.forget_title(), texts.forget_about())
        .row(Some(session).filter(|_| may_change).into_iter().collect())
        .row(vec![Button::new(texts.button_everything(), ForgetButton::AskAll)])
        .first()
}

/// Asks for confirmation before something is forgotten; `back` is the list that it was chosen from.
pub(super) fn ask(texts: &Texts, words: &str, press: ForgetButton, back: Option<ForgetButton>) -> Card {
    let other = match back {
        Some(list) => Button::new(texts.button_back(), list),
        None => Button::new(texts.button_keep(), ForgetButton::Keep),
    };
    Card::text(words).row(vec![Button::new(texts.button_forget(), press), other])
}

/// Asks for confirmation before a message is forgotten.
pub(super) fn ask_said(texts: &Texts, said: &FoundMessage, back: Option<ForgetButton>) -> Card {
    let words = if said.is_answer { texts.forget_ask_answer() } else { texts.forget_ask_message() };
    let words = fill(words, &[("text", &one_line(&said.text, CARD_CHARS))]);
    ask(texts, &words, ForgetButton::Said(SaidKey(said.at)), back)
}

/// Returns a page of the results of a search.
pub(super) fn found(texts: &Texts, search: SearchNumber, page: &ListPage<FoundMessage>) -> Card {
    let row = |said: &FoundMessage| {
        let who = if said.is_answer { format!("{}: ", texts.export_bot()) } else { String::new() };
        let label = one_line(&format!("{who}{}", render(&said.text).text), ROW_CHARS);
        vec![Button::new(label, ForgetButton::AskSaid(SaidKey(said.at), Some(search)))]
    };
    let all = Button::new(
        fill(texts.forget_all_found(), &[("count", &page.total.to_string())]),
        ForgetButton::AskFound(search),
    );
    Card::titled(texts.forget_title(), texts.forget_found())
        .list(texts, page, row, |page| ForgetButton::Found(search, page))
        .row(Some(all).filter(|_| page.total > 1).into_iter().collect())
}

/// Returns the card that tells what was erased and what remains; more remains if `is_all` is `false`.
pub(super) fn done(texts: &Texts, erased: &Erased, is_all: bool) -> Card {
    let Erased {
        messages,
        answers,
        sessions,
        notes,
        records,
        tasks,
        personas,
        pins,
        documents,
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
        (texts.forgot_documents(), documents),
        (texts.forgot_summaries(), summaries),
        (texts.forgot_memories(), memories),
        (texts.forgot_profiles(), profiles),
    ];
    let some = counts.into_iter().filter(|(_, count)| *count > 0);
    let lines: Vec<String> =
        some.map(|(words, count)| fill(words, &[("count", &count.to_string())])).collect();
    let stays = if is_all { texts.forget_stays_all() } else { texts.forget_stays() };
    let after = format!("{}\n\n{stays}\n\n{}", texts.forget_gone(), texts.forget_telegram());
    Card::titled(texts.forgot_title(), format!("{}\n\n{after}", lines.join("\n")))
}
