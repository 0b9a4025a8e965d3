//! Cards of sessions: the list, one session, and the question before a deletion.

use chrono::{DateTime, Datelike, Utc};
use figaro_base::tz::Tz;

use super::super::card::Card;
use super::super::list_page::ListPage;
use crate::callback::SessionsButton;
use crate::send::Button;
use figaro_base::ids::SessionId;
use figaro_base::text::one_line;
use figaro_domain::conversation::Session;
use figaro_domain::model::ModelName;
use figaro_prompts::texts::{Texts, fill};
use figaro_store::{Outline, SessionStats};

/// Maximum length of a session's name on a button, in characters.
const ROW_CHARS: usize = 34;
/// Maximum length of first words that serve as a name, in characters.
const NAME_CHARS: usize = 60;

/// Settings and data to show sessions to a reader.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct SessionView<'a> {
    pub(in super::super) texts: &'a Texts,
    /// Time zone of the chat that the sessions belong to.
    pub(in super::super) zone: Tz,
    pub(in super::super) now: DateTime<Utc>,
    /// Current session of the conversation, which the next question belongs to.
    pub(in super::super) current: Option<SessionId>,
}

#[derive(Debug)]
pub(super) struct SessionOverview {
    pub(super) outline: Outline,
    pub(super) stats: SessionStats,
}

impl SessionView<'_> {
    /// Returns the name of a session: the given name, or else its first words.
    pub(in super::super) fn name(&self, session: &Session, outline: &Outline) -> String {
        let named = session.name.as_ref().map(|name| name.text.clone());
        let words = || outline.first_words.as_deref().map(|words| one_line(words, NAME_CHARS));
        named.or_else(words).unwrap_or_else(|| self.texts.session_unnamed().to_owned())
    }

    /// Returns a page of the list.
    pub(super) fn list(&self, page: &ListPage<(Session, Outline)>) -> Card {
        let is_empty = |(_, outline): &(Session, Outline)| outline.messages == 0;
        if page.total == 0 || (page.total == 1 && page.items.iter().all(is_empty)) {
            return Card::text(self.texts.sessions_empty());
        }
        let row = |(session, outline): &(Session, Outline)| {
            let mark = if self.current == Some(session.id) { "✓ " } else { "" };
            let name = one_line(&self.name(session, outline), ROW_CHARS);
            let label = format!("{mark}{name} · {}", self.day(session.updated_at));
            vec![Button::new(label, SessionsButton::Open(session.id))]
        };
        Card::titled(self.texts.sessions_title(), self.texts.sessions_about()).list(
            self.texts,
            page,
            row,
            SessionsButton::List,
        )
    }

    /// Returns the card of a session; `may_change` adds the buttons that change it.
    pub(super) fn card(
        &self,
        session: &Session,
        kept: &SessionOverview,
        model: &ModelName,
        may_change: bool,
    ) -> Card {
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
        let switch = (!is_current).then(|| Button::new(texts.button_switch(), SessionsButton::Switch(id)));
        let changes = [
            vec![
                Button::new(texts.button_rename(), SessionsButton::Rename(id)),
                Button::new(texts.model_title(), SessionsButton::Models(id)),
            ],
            vec![
                Button::new(texts.button_export(), SessionsButton::Export(id)),
                Button::new(texts.button_delete(), SessionsButton::Ask(id)),
            ],
        ];
        Card::titled(&self.name(session, &kept.outline), body.join("\n"))
            .row(switch.into_iter().collect())
            .rows(changes.into_iter().filter(|_| may_change))
            .row(vec![Button::new(texts.button_back(), SessionsButton::List(0))])
    }

    /// Returns the line with the number of a session's pins.
    fn pins(&self, count: usize) -> String {
        fill(self.texts.session_pins(), &[("count", &count.to_string())])
    }

    /// Asks for confirmation before a session is deleted, with the number of its messages.
    pub(super) fn ask_to_delete(&self, session: &Session, outline: &Outline) -> Card {
        let texts = self.texts;
        let values = [("name", self.name(session, outline)), ("count", outline.messages.to_string())];
        let values = values.each_ref().map(|(key, value)| (*key, value.as_str()));
        Card::text(fill(texts.session_delete_ask(), &values)).row(vec![
            Button::new(texts.button_delete(), SessionsButton::Delete(session.id)),
            Button::new(texts.button_back(), SessionsButton::Open(session.id)),
        ])
    }

    /// Formats a day, such as `23 Nov`, with the year unless it is the current year.
    fn day(&self, at: DateTime<Utc>) -> String {
        let (at, now) = (at.with_timezone(&self.zone), self.now.with_timezone(&self.zone));
        self.texts.date(&at, (at.year() != now.year()).then(|| at.year()))
    }

    /// Formats a day and a time in the time zone of the chat.
    pub(in super::super) fn moment(&self, at: DateTime<Utc>) -> String {
        let this_year = self.now.with_timezone(&self.zone).year();
        self.texts.dated(&at.with_timezone(&self.zone), this_year)
    }
}
