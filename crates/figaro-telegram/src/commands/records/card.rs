//! Cards of records: the packs, the kinds, the records of a kind, one record.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};

use super::super::card::Card;
use super::super::list_page::ListPage;
use crate::callback::{KindKey, Page, RecordsButton, Short};
use crate::send::Button as Key;
use figaro_base::ids::RecordId;
use figaro_base::text::one_line;
use figaro_domain::record::{Book, BookEntry, Field, Pack, Record, points, reminders, trend};
use figaro_prompts::PackSet;
use figaro_prompts::texts::{Texts, fill};

/// Maximum length of a record's name on a button, in characters.
const BUTTON_CHARS: usize = 40;
/// Maximum length of a line on a card, in characters.
const LINE_CHARS: usize = 300;

/// Settings and data to build the cards of records.
pub(super) struct RecordsView<'a> {
    pub(super) texts: &'a Texts,
    /// IETF tag of the reader's language.
    pub(super) tag: Option<&'a str>,
    pub(super) book: &'a Book,
    pub(super) now: DateTime<Utc>,
    /// Only people with this right see the buttons that choose packs.
    pub(super) may_change: bool,
    /// `true` if the record already has a reminder.
    pub(super) is_reminded: bool,
}

/// Returns a record with its history and all records that refer to these, directly or indirectly.
pub(super) fn with_belonging<'a>(book: &'a Book, entry: &BookEntry<'a>) -> Vec<&'a Record> {
    let mut all: Vec<&Record> = entry.history.clone();
    let mut ids: BTreeSet<RecordId> = all.iter().map(|record| record.id).collect();
    loop {
        let belongs =
            |record: &&Record| !ids.contains(&record.id) && record.refers_to().any(|to| ids.contains(&to));
        let new: Vec<&Record> = book.records().iter().filter(belongs).collect();
        if new.is_empty() {
            break;
        }
        ids.extend(new.iter().map(|record| record.id));
        all.extend(new);
    }
    all
}

impl RecordsView<'_> {
    /// Returns a page of the packs, each with a button that enables or disables it.
    pub(super) fn packs(&self, packs: &PackSet, chosen: &[String], page: Page) -> Card {
        let page = ListPage::of(packs.all().collect(), page);
        let is_chosen = |name: &str| chosen.iter().any(|one| one == name);
        let point = |pack: &Pack| if is_chosen(&pack.name) && !self.may_change { "✓" } else { "•" };
        let mut lines = vec![self.texts.packs_about().to_owned(), String::new()];
        lines.extend(page.items.iter().map(|pack| {
            format!("{} {}: {}", point(pack), pack.title.of(self.tag), pack.description.of(self.tag))
        }));
        let gone: Vec<&str> =
            chosen.iter().map(String::as_str).filter(|name| packs.get(name).is_none()).collect();
        if !gone.is_empty() {
            lines.push(String::new());
            lines.push(fill(self.texts.packs_gone(), &[("packs", &gone.join(", "))]));
        }
        let switch = |pack: &Pack| {
            let mark = if is_chosen(&pack.name) { "✓ " } else { "" };
            let label = format!("{mark}{}", pack.title.of(self.tag));
            let press = if is_chosen(&pack.name) { RecordsButton::Leave } else { RecordsButton::Take };
            let name = Short::new(&pack.name).filter(|_| self.may_change);
            name.map(|name| Key::new(label, press(name, page.number()))).into_iter().collect()
        };
        let back = (!self.book.packs().is_empty())
            .then(|| Key::new(self.texts.button_records(), RecordsButton::Kinds));
        let how = if self.may_change { self.texts.packs_how() } else { self.texts.admins_change() };
        Card::titled(self.texts.packs_title(), lines.join("\n"))
            .how(how)
            .list(self.texts, &page, |pack| switch(pack), RecordsButton::Packs)
            .row(back.into_iter().collect())
            .first()
    }

    /// Returns the card of the kinds with the number of their records.
    pub(super) fn kinds(&self) -> Card {
        let mut rows: Vec<Vec<Key>> = Vec::new();
        let mut has_records = false;
        for (pack, kind) in self.book.kinds() {
            let count = self.book.entries_of(pack, kind).len();
            has_records |= count > 0;
            let label = format!("{} ({count})", kind.plural.of(self.tag));
            rows.push(vec![Key::new(label, RecordsButton::Kind(KindKey::of(&pack.name, &kind.name), 0))]);
        }
        let titles: Vec<&str> = self.book.packs().iter().map(|pack| pack.title.of(self.tag)).collect();
        let empty = (!has_records).then(|| format!("\n\n{}", self.texts.records_empty()));
        let body = format!("{}{}", titles.join(" · "), empty.unwrap_or_default());
        let packs = Key::new(self.texts.button_packs(), RecordsButton::Packs(0));
        let packs = Some(packs).filter(|_| self.may_change);
        let add = Key::new(self.texts.button_add(), RecordsButton::Add(None));
        Card::titled(self.texts.button_records(), body)
            .rows(rows)
            .row([add].into_iter().chain(packs).collect())
            .first()
    }

    /// Returns a page of the records of a kind; `None` if no kind has this key.
    pub(super) fn kind(&self, key: KindKey, page: Page) -> Option<Card> {
        let (pack, kind) =
            self.book.kinds().find(|(pack, kind)| KindKey::of(&pack.name, &kind.name) == key)?;
        let entries = self.book.entries_of(pack, kind);
        let open = |entry: &BookEntry<'_>| {
            vec![Key::new(one_line(&self.label(entry), BUTTON_CHARS), RecordsButton::Open(entry.record.id))]
        };
        let body = if entries.is_empty() { self.texts.records_empty() } else { "" };
        let add = Key::new(self.texts.button_add(), RecordsButton::Add(Some(key)));
        let back = Key::new(self.texts.button_back(), RecordsButton::Kinds);
        Some(
            Card::titled(kind.plural.of(self.tag), body)
                .list(self.texts, &ListPage::of(entries, page), open, |page| RecordsButton::Kind(key, page))
                .row(vec![add, back]),
        )
    }

    /// Returns the label of a record: its name, and the length of its history if it has one.
    fn label(&self, entry: &BookEntry<'_>) -> String {
        let name = self.book.name(entry.record);
        if entry.kind.series.is_some() { format!("{name} ({})", entry.history.len()) } else { name }
    }

    /// Returns the card of a record with its fields and actions.
    pub(super) fn entry(&self, entry: &BookEntry<'_>) -> Card {
        let filled = entry.kind.fields.iter().filter_map(|field| self.line(entry, field));
        let mut lines: Vec<String> = filled.collect();
        let id = entry.record.id;
        if let Some(at) = entry.record.at {
            let at = self.texts.moment(&at.with_timezone(&self.book.zone()));
            lines.push(String::new());
            let count = entry.history.len();
            let words = if count == 1 { self.texts.records_last_one() } else { self.texts.records_last() };
            lines.push(fill(words, &[("when", at.as_str()), ("count", &count.to_string())]));
        }
        let offers = !self.is_reminded && !reminders(self.book, entry, self.tag, self.now).is_empty();
        let remind = offers.then(|| Key::new(self.texts.button_remind(), RecordsButton::Remind(id)));
        let title = format!("{}: {}", entry.kind.title.of(self.tag), self.book.name(entry.record));
        Card::titled(&one_line(&title, LINE_CHARS), lines.join("\n"))
            .row(remind.into_iter().collect())
            .rows(self.charts(entry))
            .row(vec![
                Key::new(self.texts.button_remove(), RecordsButton::Ask(id)),
                Key::new(
                    self.texts.button_back(),
                    RecordsButton::Kind(KindKey::of(&entry.pack.name, &entry.kind.name), 0),
                ),
            ])
    }

    /// Returns a button for each chart with at least two readings.
    fn charts(&self, entry: &BookEntry<'_>) -> Vec<Vec<Key>> {
        let has_line = |field: &&Field| points(entry.history.iter().copied(), &field.name).len() > 1;
        let charts = (0_u8..).zip(entry.kind.charts());
        let shown = charts.filter(|(_, (_, fields))| fields.iter().any(&has_line));
        let key = |(at, (_, fields)): (u8, (&str, Vec<&Field>))| {
            let labels: Vec<&str> = fields.iter().map(|field| field.label.of(self.tag)).collect();
            vec![Key::new(format!("📈 {}", labels.join(" / ")), RecordsButton::Chart(entry.record.id, at))]
        };
        shown.map(key).collect()
    }

    /// Returns the line of a field with its value; for readings, the last value and the trend.
    fn line(&self, entry: &BookEntry<'_>, field: &Field) -> Option<String> {
        let unit = match field.form.unit() {
            "" => String::new(),
            unit => format!(" {unit}"),
        };
        let label = field.label.of(self.tag);
        let shown = |number: f64| {
            let number = figaro_domain::record::FieldValue::Number(number);
            self.book.shown(&number)
        };
        if let (Some(series), Some(_)) = (entry.kind.series, field.form.range()) {
            let trend = trend(&points(entry.history.iter().copied(), &field.name), series.days)?;
            let values = [
                ("label", label),
                ("last", &shown(trend.last.value)),
                ("unit", &unit),
                ("min", &shown(trend.min)),
                ("max", &shown(trend.max)),
                ("days", &series.days.to_string()),
            ];
            return Some(fill(self.texts.records_trend(), &values));
        }
        let value = self.book.shown(entry.record.value(&field.name)?);
        Some(one_line(&format!("{label}: {value}{unit}"), LINE_CHARS))
    }

    /// Asks for confirmation before a record is removed, and tells what is removed with it.
    pub(super) fn asks(&self, entry: &BookEntry<'_>) -> Card {
        let all = with_belonging(self.book, entry);
        let others = all.len() - entry.history.len();
        let name = self.book.name(entry.record);
        let values = [("name", name.as_str()), ("count", &entry.history.len().to_string())];
        let words =
            if entry.history.len() > 1 { self.texts.records_ask_history() } else { self.texts.records_ask() };
        let mut lines = vec![fill(words, &values)];
        if others > 0 {
            lines.push(fill(self.texts.records_ask_others(), &[("count", &others.to_string())]));
        }
        Card::text(lines.join("\n")).row(vec![
            Key::new(self.texts.button_remove(), RecordsButton::Remove(entry.record.id)),
            Key::new(self.texts.button_keep(), RecordsButton::Open(entry.record.id)),
        ])
    }
}
