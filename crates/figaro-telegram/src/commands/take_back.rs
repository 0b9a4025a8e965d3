//! Button under an answer that takes back what its turn did, and the messages about it.

use super::card::Card;
use super::cards::Cards;
use super::command::{Press, PressError, Pressed};
use super::handles::Handles;
use crate::callback::BackButton;
use crate::send::Button;
use figaro_agent::tools::telegram::{Approvers, TelegramTools};
use figaro_base::text::one_line;
use figaro_domain::undo::{RESTORE_RECORDS, TurnUndo, UndoAuthor, UndoRefusal, Undoable, Undone};
use figaro_policy::approval::NotAllowed;
use figaro_prompts::texts::{Texts, fill};
use figaro_store::{RecordStore, UndoStore};

/// Maximum length of a name or a title in these messages, in characters.
const NAME_CHARS: usize = 60;

/// Returns the card that lists what a turn without an answer did, with the button that takes it back.
#[must_use]
pub(crate) fn undo_card(texts: &Texts, undo: &TurnUndo) -> Card {
    let line = |call: &Undoable| format!("• {}", what(texts, undo, call));
    let mut lines: Vec<String> = undo.calls.iter().map(line).collect();
    lines.extend(left_out(texts, undo));
    let button = Button::new(texts.button_undo(), BackButton(undo.run));
    Card::titled(texts.undo_offer(), lines.join("\n")).row(vec![button])
}

#[derive(Debug)]
pub(super) struct TakeBack {
    cards: Cards,
    undos: UndoStore,
    records: RecordStore,
    approvers: Approvers,
    telegram: TelegramTools,
}

impl TakeBack {
    pub(super) fn new(handles: &Handles) -> Self {
        Self {
            cards: handles.cards.clone(),
            undos: handles.store.undos(),
            records: handles.store.records(),
            approvers: handles.approvers.clone(),
            telegram: handles.telegram.clone(),
        }
    }

    /// Takes back what a turn did, once, if the asker has the right to now.
    pub(super) async fn press(&self, press: &Press<'_>) -> Result<Pressed, PressError> {
        match self.pressed(press).await {
            // The message with the button is an answer and must stay unchanged.
            Err(PressError::Store(error)) => Ok(Pressed::toast(self.cards.failed(press.asker, &error).body)),
            pressed => pressed,
        }
    }

    async fn pressed(&self, press: &Press<'_>) -> Result<Pressed, PressError> {
        let BackButton(run) = press.data.parse()?;
        let (asker, texts, now) = (press.asker, self.cards.texts(press.asker), self.cards.now());
        let user = &asker.speaker.user;
        let late = || Pressed::Relabelled { toast: texts.undo_late().to_owned(), label: None };
        let Some(undo) = self.undos.find(run)? else { return Ok(late()) };
        if undo.asked_in != asker.place.chat {
            return Err(PressError::Gone);
        }
        // After a crash, the first press is handled again, whatever rights the person has now.
        if let Some(taken) = undo.taken.clone().filter(|taken| taken.press == press.update) {
            return Ok(self.again(press, undo, &taken).await);
        }
        if undo.taken.is_none() && !undo.is_in_time(now) {
            return Ok(late());
        }
        if let Err(why) = self.approvers.may_undo(user, &undo).await? {
            tracing::info!(%run, %user, ?why, "somebody who may not has pressed to take something back");
            return Ok(Pressed::toast(match why {
                NotAllowed::Requester | NotAllowed::OwnersOnly => texts.undo_owners_only(),
                NotAllowed::NoRight => texts.undo_no_right(),
            }));
        }
        if let Some(taken) = undo.taken.clone() {
            return Ok(self.again(press, undo, &taken).await);
        }
        let taken =
            UndoAuthor { by: user.clone(), name: asker.speaker.name.clone(), at: now, press: press.update };
        let Some(mut undo) = self.undos.take(run, taken.clone()).await? else {
            return Ok(Pressed::toast(texts.undo_under_way()));
        };
        tracing::info!(%run, %user, calls = undo.calls.len(), "what a turn did is taken back");
        // In reverse order, because later calls may depend on earlier ones.
        for at in (0..undo.calls.len()).rev() {
            if undo.calls[at].is_of_records() {
                self.restore(&mut undo, at).await;
            } else {
                let outcome = self.telegram.take_back(&undo.calls[at], now).await;
                self.note(&mut undo, at, outcome).await;
            }
        }
        Ok(self.told(press, &undo, &taken).await)
    }

    /// Restores removed records. Safe to repeat after a crash.
    async fn restore(&self, undo: &mut TurnUndo, at: usize) {
        match self.records.undo_removal(undo.run, at, self.cards.now()).await {
            Ok(outcome) => undo.note(at, outcome),
            Err(error) => {
                tracing::error!(%error, run = %undo.run, "removed records could not be put back");
                self.note(undo, at, Undone::Unsent).await;
            }
        }
    }

    /// Handles a repeated press. After a crash the first press is repeated: calls without an outcome are not sent to
    /// Telegram a second time.
    async fn again(&self, press: &Press<'_>, mut undo: TurnUndo, taken: &UndoAuthor) -> Pressed {
        if taken.press == press.update {
            for at in (0..undo.calls.len()).rev() {
                if undo.calls[at].outcome.is_some() {
                    continue;
                }
                if undo.calls[at].is_of_records() {
                    self.restore(&mut undo, at).await;
                } else {
                    self.note(&mut undo, at, Undone::Unknown).await;
                }
            }
            return self.told(press, &undo, taken).await;
        }
        let texts = self.cards.texts(press.asker);
        if !undo.has_ended() {
            return Pressed::toast(texts.undo_under_way());
        }
        let lines = lines(texts, &undo).join("; ");
        Pressed::Relabelled { toast: lines, label: Some(label(texts, &undo, taken)) }
    }

    async fn note(&self, undo: &mut TurnUndo, at: usize, outcome: Undone) {
        undo.note(at, outcome);
        if let Err(error) = self.undos.note_undone(undo.run, at, outcome).await {
            // This process still reports the outcome; after a crash it counts as unknown.
            tracing::error!(%error, run = %undo.run, "what became of a call that was taken back could not be stored");
        }
    }

    /// Reports the outcomes: as a toast, on the button and, if something could not be taken back, in a new message.
    async fn told(&self, press: &Press<'_>, undo: &TurnUndo, taken: &UndoAuthor) -> Pressed {
        let texts = self.cards.texts(press.asker);
        if undo.is_whole() {
            let toast = lines(texts, undo).join("; ");
            return Pressed::Relabelled { toast, label: Some(label(texts, undo, taken)) };
        }
        let is_unsent = |call: &&Undoable| call.outcome == Some(Undone::Unsent);
        let unsent = undo.calls.iter().filter(is_unsent).count();
        let done = undo.calls.iter().filter(|call| call.outcome == Some(Undone::Done)).count();
        if unsent > 0 && unsent + done == undo.calls.len() {
            return Pressed::toast(texts.undo_unreached());
        }
        let title = fill(texts.undo_result(), &[("name", &one_line(&taken.name, NAME_CHARS))]);
        self.cards.show(press.asker, Card::titled(&title, lines(texts, undo).join("\n"))).await;
        // Calls that did not reach Telegram can be tried again.
        if unsent > 0 {
            return Pressed::toast(texts.undo_unreached());
        }
        Pressed::Relabelled { toast: texts.undo_partly().to_owned(), label: Some(label(texts, undo, taken)) }
    }
}

/// Returns the label of the button after everything was tried.
fn label(texts: &Texts, undo: &TurnUndo, taken: &UndoAuthor) -> String {
    let words = if undo.is_whole() { texts.undo_label() } else { texts.undo_label_partly() };
    fill(words, &[("name", &one_line(&taken.name, NAME_CHARS))])
}

/// Returns a line for the outcome of each call, and one for the number of other calls.
fn lines(texts: &Texts, undo: &TurnUndo) -> Vec<String> {
    let line = |call: &Undoable| {
        let what = what(texts, undo, call);
        match call.outcome {
            Some(Undone::Done) => fill(texts.undo_line_done(), &[("what", &what)]),
            Some(Undone::Refused(refusal)) => {
                fill(texts.undo_line_refused(), &[("what", &what), ("why", why(texts, refusal))])
            }
            Some(Undone::Unsent) => {
                fill(texts.undo_line_refused(), &[("what", &what), ("why", texts.undo_why_unsent())])
            }
            Some(Undone::Unknown) | None => fill(texts.undo_line_unknown(), &[("what", &what)]),
        }
    };
    undo.calls.iter().map(line).chain(left_out(texts, undo)).collect()
}

fn left_out(texts: &Texts, undo: &TurnUndo) -> Option<String> {
    let count = undo.left_out;
    (count > 0).then(|| fill(texts.undo_left_out(), &[("count", &count.to_string())]))
}

fn why(texts: &Texts, refusal: UndoRefusal) -> &str {
    match refusal {
        UndoRefusal::TooOld => texts.undo_why_old(),
        UndoRefusal::Gone => texts.undo_why_gone(),
        UndoRefusal::NoRight => texts.undo_why_right(),
        UndoRefusal::NotThere => texts.undo_why_left(),
        UndoRefusal::Changed => texts.undo_why_changed(),
        UndoRefusal::Other => texts.undo_why_refused(),
    }
}

/// Returns the description of a call to take back.
fn what(texts: &Texts, undo: &TurnUndo, undoable: &Undoable) -> String {
    let (call, target) = (&undoable.call, &undoable.target);
    let words = match call.method.as_str() {
        "unbanChatMember" => texts.undo_ban(),
        "unbanChatSenderChat" => texts.undo_ban_channel(),
        "restrictChatMember" => texts.undo_restriction(),
        "unpinChatMessage" => texts.undo_pin(),
        "pinChatMessage" => texts.undo_unpin(),
        "setChatTitle" => texts.undo_title(),
        "setChatDescription" => texts.undo_description(),
        "deleteMessages" => texts.undo_messages(),
        RESTORE_RECORDS => texts.undo_record(),
        _ => texts.undo_message(),
    };
    let chat = match &target.title {
        Some(title) => one_line(title, NAME_CHARS),
        None if target.chat == undo.asked_in => texts.approval_here().to_owned(),
        None => target.chat.to_string(),
    };
    let number = undoable.user().map(|user| user.to_string()).unwrap_or_default();
    let user = match &undoable.person {
        Some(name) => format!("{} ({number})", one_line(name, NAME_CHARS)),
        None => number,
    };
    let count = call.arguments.get("message_ids").and_then(serde_json::Value::as_array).map_or(1, Vec::len);
    let channel = call.arguments.get("sender_chat_id").map(ToString::to_string).unwrap_or_default();
    let name = one_line(undoable.record_name(), NAME_CHARS);
    let values = [
        ("chat", chat.as_str()),
        ("user", &user),
        ("count", &count.to_string()),
        ("channel", &channel),
        ("name", &name),
    ];
    fill(words, &values)
}
