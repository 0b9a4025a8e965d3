//! Cards of the memories about a person: the list, one memory, and the questions.

use chrono::{DateTime, Utc};
use figaro_base::tz::Tz;

use super::super::card::Card;
use super::super::list_page::ListPage;
use crate::callback::MemoryButton;
use crate::send::Button;
use figaro_base::text::one_line;
use figaro_domain::memory::Memory;
use figaro_prompts::texts::{Texts, fill};

/// Maximum length of a memory on a button, in characters.
const ROW_CHARS: usize = 48;

/// Settings and data to show memories to their person.
#[derive(Debug, Clone, Copy)]
pub(super) struct MemoryView<'a> {
    pub(super) texts: &'a Texts,
    /// Time zone of the person's private chat.
    pub(super) zone: Tz,
    pub(super) now: DateTime<Utc>,
    /// Maximum number of memories of a person.
    pub(super) limit: usize,
    /// `true` if new facts are remembered.
    pub(super) is_on: bool,
}

/// Source of a memory, for its card.
#[derive(Debug, Clone, Default)]
pub(super) struct MemorySource {
    /// Name of the group; `None` for the private chat.
    pub(super) group: Option<String>,
    /// Link to the message in the group, if it has one.
    pub(super) link: Option<String>,
}

/// Returns the card that asks a person for consent to remember facts about them.
#[must_use]
pub(crate) fn consent_card(texts: &Texts) -> Card {
    Card::text(texts.memory_consent()).row(vec![
        Button::new(texts.button_remember(), MemoryButton::On),
        Button::new(texts.button_not_remember(), MemoryButton::Off),
    ])
}

impl MemoryView<'_> {
    /// Returns a page of the list.
    pub(super) fn list(&self, page: &ListPage<Memory>) -> Card {
        let texts = self.texts;
        let switch = match self.is_on {
            true => Button::new(texts.button_memory_off(), MemoryButton::Off),
            false => Button::new(texts.button_memory_on(), MemoryButton::On),
        };
        let state = if self.is_on { texts.memory_is_on() } else { texts.memory_is_off() };
        if page.total == 0 {
            let words = if self.is_on { texts.memory_empty() } else { texts.memory_empty_off() };
            let switch = Some(switch).filter(|_| self.limit > 0);
            return Card::titled(texts.memory_title(), words).row(switch.into_iter().collect());
        }
        let values = [("count", page.total.to_string()), ("limit", self.limit.to_string())];
        let values = values.each_ref().map(|(key, value)| (*key, value.as_str()));
        let body = format!("{}\n{state}", fill(texts.memory_about(), &values));
        let row = |memory: &Memory| {
            vec![Button::new(one_line(&memory.content, ROW_CHARS), MemoryButton::Open(memory.id))]
        };
        let switch = Some(switch).filter(|_| self.limit > 0);
        let erase = Button::new(texts.button_erase_all(), MemoryButton::Ask);
        Card::titled(texts.memory_title(), body)
            .list(texts, page, row, MemoryButton::List)
            .row(switch.into_iter().chain([erase]).collect())
    }

    /// Returns the card of one memory.
    pub(super) fn one(&self, memory: &Memory, origin: &MemorySource) -> Card {
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
                Button::new(texts.button_source(), MemoryButton::Source(id)),
                Button::new(texts.button_edit(), MemoryButton::Edit(id)),
                Button::new(texts.button_delete(), MemoryButton::Remove(id)),
            ])
            .row(vec![Button::new(texts.button_back(), MemoryButton::List(0))])
    }

    /// Asks for confirmation before all memories are erased.
    pub(super) fn ask(&self, total: usize) -> Card {
        let texts = self.texts;
        Card::text(fill(texts.memory_erase_ask(), &[("count", &total.to_string())])).row(vec![
            Button::new(texts.button_erase_all(), MemoryButton::Erase),
            Button::new(texts.button_back(), MemoryButton::List(0)),
        ])
    }

    fn moment(&self, at: DateTime<Utc>) -> String {
        use chrono::Datelike;
        let this_year = self.now.with_timezone(&self.zone).year();
        self.texts.dated(&at.with_timezone(&self.zone), this_year)
    }
}
