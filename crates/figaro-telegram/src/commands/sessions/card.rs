//! The cards of sessions: the list, one session, and the question whether it is to be deleted.

use chrono::{DateTime, Datelike, Utc};
use chrono_tz::Tz;

use super::super::card::{Card, pager};
use crate::callback::Sessions;
use crate::send::Button;
use figaro_base::ids::SessionId;
use figaro_base::text::one_line;
use figaro_domain::conversation::Session;
use figaro_domain::model::ModelName;
use figaro_prompts::texts::{Texts, fill, nth};
use figaro_store::{Outline, SessionStats};

/// What a row shows of a name or of first words.
const ROW_CHARS: usize = 34;
/// What a card shows of first words.
const NAME_CHARS: usize = 60;

/// How sessions are shown to somebody.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct View<'a> {
    /// The texts in their language.
    pub(in super::super) texts: &'a Texts,
    /// The zone of the chat.
    pub(in super::super) zone: Tz,
    /// The current time, UTC.
    pub(in super::super) now: DateTime<Utc>,
    /// The session that the next question belongs to.
    pub(in super::super) current: Option<SessionId>,
}

/// What a session has.
#[derive(Debug)]
pub(super) struct Kept {
    /// What is said in it.
    pub(super) outline: Outline,
    /// What is kept beside that.
    pub(super) stats: SessionStats,
}

impl View<'_> {
    /// What a session is called: its name, else its first words.
    pub(in super::super) fn name(&self, session: &Session, outline: &Outline) -> String {
        let named = session.name.as_ref().map(|name| name.text.clone());
        let words = || outline.first_words.as_deref().map(|words| one_line(words, NAME_CHARS));
        named.or_else(words).unwrap_or_else(|| self.texts.session_unnamed().to_owned())
    }

    /// A page of the list, of so many sessions.
    pub(super) fn list(&self, shown: &[(Session, Outline)], page: usize, total: usize) -> Card {
        let is_empty = |(_, outline): &(Session, Outline)| outline.messages == 0;
        if shown.is_empty() || (total == 1 && shown.iter().all(is_empty)) {
            return Card::text(self.texts.sessions_empty());
        }
        let row = |(session, outline): &(Session, Outline)| {
            let mark = if self.current == Some(session.id) { "✓ " } else { "" };
            let name = one_line(&self.name(session, outline), ROW_CHARS);
            let label = format!("{mark}{name} · {}", self.day(session.updated_at));
            vec![Button::new(label, Sessions::Open(session.id))]
        };
        Card::titled(self.texts.sessions_title(), self.texts.sessions_about())
            .rows(shown.iter().map(row))
            .row(pager(self.texts, page, total, Sessions::List))
    }

    /// The card of a session, in which this model answers, with what somebody may do with it.
    pub(super) fn card(&self, session: &Session, kept: &Kept, model: &ModelName, may_change: bool) -> Card {
        let texts = self.texts;
        let count = kept.outline.messages.to_string();
        let [began, last] = [session.created_at, session.updated_at].map(|at| self.moment(at));
        let about = fill(texts.session_about(), &[("began", &began), ("last", &last), ("count", &count)]);
        let of_model =
            if session.model.is_some() { texts.session_model_own() } else { texts.session_model() };
        let pins = (kept.stats.pins > 0).then(|| self.pins(kept.stats.pins));
        let mut body = vec![about];
        body.extend(pins);
        body.push(fill(of_model, &[("model", &model.to_string())]));
        let is_current = self.current == Some(session.id);
        body.extend(is_current.then(|| texts.session_current().to_owned()));
        let id = session.id;
        let switch = (!is_current).then(|| Button::new(texts.button_switch(), Sessions::Switch(id)));
        let changes = [
            vec![
                Button::new(texts.button_rename(), Sessions::Rename(id)),
                Button::new(texts.model_title(), Sessions::Models(id)),
            ],
            vec![
                Button::new(texts.button_export(), Sessions::Export(id)),
                Button::new(texts.button_delete(), Sessions::Ask(id)),
            ],
        ];
        Card::titled(&self.name(session, &kept.outline), body.join("\n"))
            .row(switch.into_iter().collect())
            .rows(changes.into_iter().filter(|_| may_change))
            .row(vec![Button::new(texts.button_back(), Sessions::List(0))])
    }

    /// How many pins belong to a session.
    fn pins(&self, count: usize) -> String {
        fill(self.texts.session_pins(), &[("count", &count.to_string())])
    }

    /// Asks whether a session is to be deleted, and says what goes with it.
    pub(super) fn ask_to_delete(&self, session: &Session, outline: &Outline) -> Card {
        let texts = self.texts;
        let values = [("name", self.name(session, outline)), ("count", outline.messages.to_string())];
        let values = values.each_ref().map(|(key, value)| (*key, value.as_str()));
        Card::text(fill(texts.session_delete_ask(), &values)).row(vec![
            Button::new(texts.button_delete(), Sessions::Delete(session.id)),
            Button::new(texts.button_back(), Sessions::Open(session.id)),
        ])
    }

    /// A day, such as `23 Nov`; with the year unless it is this one.
    fn day(&self, at: DateTime<Utc>) -> String {
        let (at, now) = (at.with_timezone(&self.zone), self.now.with_timezone(&self.zone));
        let year = if at.year() == now.year() { String::new() } else { format!(" {}", at.year()) };
        format!("{} {}{year}", at.day(), nth(self.texts.months(), at.month0()))
    }

    /// A day and a time by the clock of the chat.
    pub(in super::super) fn moment(&self, at: DateTime<Utc>) -> String {
        let this_year = self.now.with_timezone(&self.zone).year();
        self.texts.dated(&at.with_timezone(&self.zone), this_year)
    }
}
