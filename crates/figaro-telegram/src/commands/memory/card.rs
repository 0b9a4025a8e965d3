//! The cards of what is remembered about a person: the list, one memory, and the questions.

use chrono::{DateTime, Utc};
use chrono_tz::Tz;

use super::super::card::{Card, ROWS, pager};
use crate::callback::Memory as Press;
use crate::send::Button;
use figaro_base::text::one_line;
use figaro_domain::memory::Memory;
use figaro_prompts::texts::{Texts, fill};

/// What a row shows of a memory.
const ROW_CHARS: usize = 48;

/// How memories are shown to the person whose they are.
#[derive(Debug, Clone, Copy)]
pub(super) struct View<'a> {
    /// The texts in their language.
    pub(super) texts: &'a Texts,
    /// The zone of their chat.
    pub(super) zone: Tz,
    /// The current time, UTC.
    pub(super) now: DateTime<Utc>,
    /// The most memories.
    pub(super) limit: usize,
    /// Whether facts are remembered from now on.
    pub(super) is_on: bool,
}

/// Where a memory was said, for its card.
#[derive(Debug, Clone, Default)]
pub(super) struct Origin {
    /// The name of the group; `None` for the private chat.
    pub(super) group: Option<String>,
    /// The address of the message in the group, where it has one.
    pub(super) link: Option<String>,
}

/// Asks a person whether facts about them may be remembered.
#[must_use]
pub(crate) fn consent_card(texts: &Texts) -> Card {
    Card::text(texts.memory_consent()).row(vec![
        Button::new(texts.button_remember(), Press::On),
        Button::new(texts.button_not_remember(), Press::Off),
    ])
}

impl View<'_> {
    /// A page of the list; the memories are those of the page.
    pub(super) fn list(&self, shown: &[Memory], page: usize, total: usize) -> Card {
        let texts = self.texts;
        let switch = match self.is_on {
            true => Button::new(texts.button_memory_off(), Press::Off),
            false => Button::new(texts.button_memory_on(), Press::On),
        };
        let state = if self.is_on { texts.memory_is_on() } else { texts.memory_is_off() };
        if total == 0 {
            let words = if self.is_on { texts.memory_empty() } else { texts.memory_empty_off() };
            let switch = Some(switch).filter(|_| self.limit > 0);
            return Card::titled(texts.memory_title(), words).row(switch.into_iter().collect());
        }
        let values = [("count", total.to_string()), ("limit", self.limit.to_string())];
        let values = values.each_ref().map(|(key, value)| (*key, value.as_str()));
        let body = format!("{}\n{state}", fill(texts.memory_about(), &values));
        let row =
            |memory: &Memory| vec![Button::new(one_line(&memory.content, ROW_CHARS), Press::Open(memory.id))];
        let switch = Some(switch).filter(|_| self.limit > 0);
        let erase = Button::new(texts.button_erase_all(), Press::Ask);
        Card::titled(texts.memory_title(), body)
            .rows(shown.iter().take(ROWS).map(row))
            .row(pager(texts, page, total, Press::List))
            .row(switch.into_iter().chain([erase]).collect())
    }

    /// The card of one memory.
    pub(super) fn one(&self, memory: &Memory, origin: &Origin) -> Card {
        let texts = self.texts;
        let mut body = vec![memory.content.clone(), String::new()];
        let said = self.moment(memory.updated_at);
        body.push(match &origin.group {
            Some(group) => fill(texts.memory_said_in(), &[("time", &said), ("group", group)]),
            None => fill(texts.memory_said(), &[("time", &said)]),
        });
        body.push(match memory.last_accessed_at {
            Some(last) => {
                let (count, last) = (memory.access_count.to_string(), self.moment(last));
                fill(texts.memory_used(), &[("count", &count), ("last", &last)])
            }
            None => texts.memory_unused().to_owned(),
        });
        body.extend(origin.link.as_ref().map(|link| fill(texts.memory_link(), &[("link", link)])));
        let id = memory.id;
        Card::text(body.join("\n"))
            .row(vec![
                Button::new(texts.button_source(), Press::Source(id)),
                Button::new(texts.button_edit(), Press::Edit(id)),
                Button::new(texts.button_delete(), Press::Remove(id)),
            ])
            .row(vec![Button::new(texts.button_back(), Press::List(0))])
    }

    /// Asks whether all memories are to be erased.
    pub(super) fn ask(&self, total: usize) -> Card {
        let texts = self.texts;
        Card::text(fill(texts.memory_erase_ask(), &[("count", &total.to_string())])).row(vec![
            Button::new(texts.button_erase_all(), Press::Erase),
            Button::new(texts.button_back(), Press::List(0)),
        ])
    }

    fn moment(&self, at: DateTime<Utc>) -> String {
        use chrono::Datelike;
        let this_year = self.now.with_timezone(&self.zone).year();
        self.texts.dated(&at.with_timezone(&self.zone), this_year)
    }
}
