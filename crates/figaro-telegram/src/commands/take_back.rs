//! The button under an answer that takes back what its turn did, and what is told of that.

use super::card::Card;
use super::cards::Cards;
use super::command::{Press, PressError, Pressed};
use super::handles::Handles;
use crate::callback::Back;
use crate::send::Button;
use figaro_agent::tools::telegram::{Approvers, TelegramTools};
use figaro_base::text::one_line;
use figaro_domain::undo::{RESTORE_RECORDS, Refusal, Taken, TurnUndo, Undoable, Undone};
use figaro_policy::approval::NotAllowed;
use figaro_prompts::texts::{Texts, fill};
use figaro_store::{RecordStore, UndoStore};

/// A name or a title is at most so long there.
const NAME_CHARS: usize = 60;

/// What a turn did that said nothing, with the button that takes it back.
#[must_use]
pub(crate) fn undo_card(texts: &Texts, undo: &TurnUndo) -> Card {
    let line = |call: &Undoable| format!("• {}", what(texts, undo, call));
    let mut lines: Vec<String> = undo.calls.iter().map(line).collect();
    lines.extend(left_out(texts, undo));
    let button = Button::new(texts.button_undo(), Back(undo.run));
    Card::titled(texts.undo_offer(), lines.join("\n")).row(vec![button])
}

/// Takes back what turns did.
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

    /// Takes back what a turn did, once, if whoever presses may have that done now.
    pub(super) async fn press(&self, press: &Press<'_>) -> Result<Pressed, PressError> {
        match self.pressed(press).await {
            // The message with the button is an answer: it is to stay as it is.
            Err(PressError::Store(error)) => Ok(Pressed::toast(self.cards.failed(press.asker, &error).body)),
            pressed => pressed,
        }
    }

    async fn pressed(&self, press: &Press<'_>) -> Result<Pressed, PressError> {
        let Back(run) = press.data.parse()?;
        let (asker, texts, now) = (press.asker, self.cards.texts(press.asker), self.cards.now());
        let user = &asker.speaker.user;
        let late = || Pressed::Relabelled { toast: texts.undo_late().to_owned(), label: None };
        let Some(undo) = self.undos.find(run).await? else { return Ok(late()) };
        if undo.asked_in != asker.place.chat {
            return Err(PressError::Gone);
        }
        // The first press comes once more after a crash, whatever rights whoever pressed has now.
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
            Taken { by: user.clone(), name: asker.speaker.name.clone(), at: now, press: press.update };
        let Some(mut undo) = self.undos.take(run, taken.clone()).await? else {
            return Ok(Pressed::toast(texts.undo_under_way()));
        };
        tracing::info!(%run, %user, calls = undo.calls.len(), "what a turn did is taken back");
        // What was done last may rest on what was done before.
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

    /// Puts removed records back. Done once more after a crash, it is done once.
    async fn restore(&self, undo: &mut TurnUndo, at: usize) {
        match self.records.undo_removal(undo.run, at, self.cards.now()).await {
            Ok(outcome) => undo.note(at, outcome),
            Err(error) => {
                tracing::error!(%error, run = %undo.run, "removed records could not be put back");
                self.note(undo, at, Undone::Unsent).await;
            }
        }
    }

    /// A press after the first. The first one comes once more if a crash came between: what had no outcome by then is not asked of
    /// Telegram a second time.
    async fn again(&self, press: &Press<'_>, mut undo: TurnUndo, taken: &Taken) -> Pressed {
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
            // What follows is told as it was in this process; after a crash it is not known.
            tracing::error!(%error, run = %undo.run, "what became of a call that was taken back could not be stored");
        }
    }

    /// What is told of a record whose calls all have an outcome: over the button, on it and, where something was not taken back, in a
    /// message of its own.
    async fn told(&self, press: &Press<'_>, undo: &TurnUndo, taken: &Taken) -> Pressed {
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
        // What did not reach Telegram can be tried again.
        if unsent > 0 {
            return Pressed::toast(texts.undo_unreached());
        }
        Pressed::Relabelled { toast: texts.undo_partly().to_owned(), label: Some(label(texts, undo, taken)) }
    }
}

/// What the button says once what it was for is done.
fn label(texts: &Texts, undo: &TurnUndo, taken: &Taken) -> String {
    let words = if undo.is_whole() { texts.undo_label() } else { texts.undo_label_partly() };
    fill(words, &[("name", &one_line(&taken.name, NAME_CHARS))])
}

/// What became of each call, and how many there were beside.
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

fn why(texts: &Texts, refusal: Refusal) -> &str {
    match refusal {
        Refusal::TooOld => texts.undo_why_old(),
        Refusal::Gone => texts.undo_why_gone(),
        Refusal::NoRight => texts.undo_why_right(),
        Refusal::NotThere => texts.undo_why_left(),
        Refusal::Changed => texts.undo_why_changed(),
        Refusal::Other => texts.undo_why_refused(),
    }
}

/// What was done, as what is taken back.
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
