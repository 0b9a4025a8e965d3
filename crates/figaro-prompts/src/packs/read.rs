//! Parses a pack's file, and reports all its faults at once.

use std::collections::BTreeSet;

use serde_saphyr::{Location, Spanned};

use super::faults::PackFileReader;
use super::field;
use super::file::{KindFile, PackFile, RemindFile};
use super::ordered::is_code;
use super::plain;
use super::template;
use crate::files::{FileFault, SourceFile, name_faults};
use figaro_base::text::with_nearest;
use figaro_domain::record::{Field, FieldType, ImportanceRules, Kind, Pack, Remind, Series, Share, Words};
use figaro_files::yaml;

/// Maximum characters of a name of a kind or field: buttons and tools carry it.
const MAX_NAME: usize = 24;
/// Maximum kinds of a pack, and fields of a kind: the model sees all of them in every turn.
const MAX_KINDS: usize = 12;
const MAX_FIELDS: usize = 24;
/// Maximum characters of titles, labels and units, and of descriptions and reminders.
const MAX_TITLE: usize = 40;
const MAX_TEXT: usize = 300;
/// Maximum characters of a template.
const MAX_RENDER: usize = 2000;
/// Default days of a trend.
const TREND_DAYS: u32 = 30;
/// Default share of a prompt in percent, and its limit in tokens.
const PERCENT: u64 = 5;
const MAX_TOKENS: u64 = 1000;
/// Maximum lead time of a reminder, in minutes: 60 days.
const MAX_BEFORE: u32 = 60 * 24 * 60;

/// Reads the file of a pack.
///
/// # Errors
/// All faults of the file; only the first if it does not have the form of a pack.
pub(super) fn read(source: &SourceFile<'_>) -> Result<Pack, Vec<FileFault>> {
    let file: PackFile =
        yaml::parse(source.text).map_err(|misfit| vec![plain::fault(source.text, misfit)])?;
    let mut reading = PackFileReader::default();
    if let Some(words) = name_faults(&file.name.value, source.file) {
        reading.fault(file.name.defined, words);
    }
    let share = reading.share(&file);
    let rules = ImportanceRules {
        terms: reading.terms("terms", &file.importance.terms),
        critical: reading.terms("critical", &file.importance.critical),
        unless: reading.terms("unless", &file.importance.unless),
    };
    let title = reading.words("title", file.title, MAX_TITLE);
    let description = reading.words("description", file.description, 2 * MAX_TEXT);
    let at = file.kinds.defined;
    let names: Vec<String> = file.kinds.value.0.iter().map(|(name, _)| name.clone()).collect();
    if names.is_empty() || names.len() > MAX_KINDS {
        reading.fault(at, format!("kinds: a pack has 1 to {MAX_KINDS} kinds"));
    }
    let kinds = file.kinds.value.0.into_iter();
    let kinds: Vec<Kind> = kinds.map(|(name, kind)| reading.kind(name, kind, &names)).collect();
    reading.circles(&kinds, at);
    let pack = Pack { name: file.name.value, title, description, share, rules, kinds };
    if reading.faults.is_empty() { Ok(pack) } else { Err(reading.faults) }
}

impl PackFileReader {
    fn share(&mut self, file: &PackFile) -> Share {
        let mut bounded = |key: &str, given: &Option<Spanned<u64>>, range: (u64, u64), otherwise: u64| {
            let Some(given) = given else { return otherwise };
            if !(range.0..=range.1).contains(&given.value) {
                let words = format!("tokens: {key} is {}, and takes {} to {}", given.value, range.0, range.1);
                self.fault(given.defined, words);
            }
            given.value
        };
        let percent = bounded("percent", &file.tokens.percent, (1, 50), PERCENT);
        let max = bounded("max", &file.tokens.max, (50, 8000), MAX_TOKENS);
        let size = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        Share { percent: size(percent), max: size(max) }
    }

    /// Reads the words of rules, folded for comparison without case and accents.
    fn terms(&mut self, key: &str, terms: &[Spanned<String>]) -> Vec<String> {
        let mut seen = BTreeSet::new();
        for term in terms {
            let word = term.value.trim();
            if word.chars().filter(|c| c.is_alphanumeric()).nth(1).is_none() {
                self.fault(
                    term.defined,
                    format!("importance: {key}: `{word}` is too short: two letters at least"),
                );
            } else if !seen.insert(word.to_lowercase()) {
                self.fault(term.defined, format!("importance: {key}: {word} stands twice"));
            }
        }
        terms.iter().map(|term| term.value.trim().to_owned()).collect()
    }

    /// Checks the name of a kind or field.
    fn name(&mut self, what: &str, name: &str, at: Location) {
        let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        let begins = name.starts_with(|c: char| c.is_ascii_lowercase());
        if !begins || name.len() > MAX_NAME || !name.chars().all(fits) {
            let words = format!(
                "{what} `{name}`: a name takes up to {MAX_NAME} lower-case letters, digits and _, and begins with a letter"
            );
            self.fault(at, words);
        }
    }

    fn kind(&mut self, name: String, kind: Spanned<KindFile>, kinds: &[String]) -> Kind {
        let at = kind.defined;
        let kind = kind.value;
        self.name("kind", &name, at);
        let title = kind.title.map(|title| self.words("title", title, MAX_TITLE));
        let title = title.unwrap_or_else(|| Words::plain(&name));
        let plural = kind.plural.map(|plural| self.words("plural", plural, MAX_TITLE));
        let plural = plural.unwrap_or_else(|| title.clone());
        let mut fields = Vec::new();
        let (fields_at, count) = (kind.fields.defined, kind.fields.value.0.len());
        for (field, spec) in kind.fields.value.0 {
            self.name("field", &field, spec.defined);
            if kind.series && field == "at" {
                let words = "field `at`: a reading has its time under this name already; leave it out";
                self.fault(spec.defined, words);
            }
            let about = field::FieldContext { kinds, is_series: kind.series };
            fields.extend(field::read(self, field, spec, about));
        }
        if fields.len() > MAX_FIELDS {
            self.fault(fields_at, format!("fields: a kind has at most {MAX_FIELDS} fields"));
        }
        if !fields.iter().any(|field| field.key) && fields.len() == count {
            let words = format!("{name}: no field has `key: true`; records are told apart by at least one");
            self.fault(fields_at, words);
        }
        if kind.series && !fields.iter().any(|field| field.form.range().is_some()) {
            let words = format!("{name}: a series has at least one field of type number or integer");
            self.fault(fields_at, words);
        }
        let days = self.days(kind.series, kind.trend_days);
        let series = kind.series.then_some(Series { days });
        let mut read = Kind {
            name,
            title,
            plural,
            about: kind.about.as_ref().map(|about| about.value.trim().to_owned()),
            fields,
            series,
            upcoming: None,
            triggers: Vec::new(),
            render: None,
            remind: None,
        };
        if let Some(about) = kind.about.filter(|about| about.value.trim().chars().count() > MAX_TEXT) {
            self.fault(about.defined, format!("about takes at most {MAX_TEXT} characters"));
        }
        read.upcoming = kind.upcoming.map(|upcoming| self.upcoming(&read, upcoming));
        read.triggers = kind
            .triggers
            .0
            .into_iter()
            .map(|(code, words)| {
                let words = self.triggers(&code, words);
                (code, words)
            })
            .collect();
        read.remind = kind.remind.map(|remind| self.remind(&read, remind));
        read.render = kind.render.map(|render| self.render(&read, render));
        read
    }

    /// Reads the days of a trend, with the default if none are given.
    fn days(&mut self, is_series: bool, days: Option<Spanned<u32>>) -> u32 {
        let Some(days) = days else { return TREND_DAYS };
        if !is_series {
            self.fault(days.defined, "trend_days: only a kind with `series: true` has a trend");
        } else if !(1..=366).contains(&days.value) {
            self.fault(days.defined, format!("trend_days is {}, and takes 1 to 366", days.value));
        }
        days.value
    }

    /// Returns the field that a key names; reports a fault if there is none.
    fn field_of(&mut self, kind: &Kind, key: &str, name: &Spanned<String>) -> Option<Field> {
        let found = kind.field(&name.value).cloned();
        if found.is_none() {
            let words = format!("{key}: {} has no field `{}`", kind.name, name.value);
            let names = kind.fields.iter().map(|field| field.name.as_str());
            self.fault(name.defined, with_nearest(words, &name.value, names));
        }
        found
    }

    fn upcoming(&mut self, kind: &Kind, name: Spanned<String>) -> String {
        if let Some(field) = self.field_of(kind, "upcoming", &name)
            && !matches!(field.form, FieldType::Date | FieldType::Moment)
        {
            let words = format!("upcoming: {} is neither of type date nor datetime", name.value);
            self.fault(name.defined, words);
        }
        name.value
    }

    fn triggers(&mut self, code: &str, words: Spanned<Vec<Spanned<String>>>) -> Vec<String> {
        if !is_code(code) {
            let fault = format!(
                "triggers: `{code}` is no code of a language: write two or three lower-case letters, such as en or pt"
            );
            self.fault(words.defined, fault);
        }
        if words.value.is_empty() {
            self.fault(words.defined, format!("triggers: {code} lists no words"));
        }
        for word in &words.value {
            if !word.value.chars().any(char::is_alphanumeric) {
                self.fault(word.defined, format!("triggers: {code}: `{}` is no word", word.value));
            }
        }
        words.value.into_iter().map(|word| word.value.trim().to_owned()).collect()
    }

    fn remind(&mut self, kind: &Kind, remind: RemindFile) -> Remind {
        let RemindFile { field, text, before } = remind;
        if let Some(found) = self.field_of(kind, "remind", &field) {
            let is_day = matches!(found.form, FieldType::Date | FieldType::Moment);
            if !is_day && found.form != FieldType::Schedule {
                let words = format!("remind: {} is not of type schedule, date or datetime", field.value);
                self.fault(field.defined, words);
            }
            if let Some(first) = before.first().filter(|_| found.form == FieldType::Schedule) {
                self.fault(
                    first.defined,
                    "remind: before is for a date or datetime; a schedule has its times",
                );
            }
        }
        let at = text.defined;
        let text = self.words("remind: text", text, MAX_TEXT);
        for name in text.all().flat_map(|(_, words)| places(words)) {
            if kind.field(name).is_none() {
                let words = format!("remind: text: {} has no field `{name}`", kind.name);
                let names = kind.fields.iter().map(|field| field.name.as_str());
                self.fault(at, with_nearest(words, name, names));
            }
        }
        let before = before.iter().filter_map(|span| self.span(span)).collect();
        Remind { field: field.value, text, before }
    }

    /// Parses a lead time, in minutes.
    fn span(&mut self, span: &Spanned<String>) -> Option<u32> {
        let text = span.value.trim();
        let (number, unit) = text.split_at(text.len() - text.chars().next_back().map_or(0, char::len_utf8));
        let minutes = match unit {
            "m" => Some(1),
            "h" => Some(60),
            "d" => Some(24 * 60),
            _ => None,
        };
        let span_minutes =
            number.parse::<u32>().ok().zip(minutes).and_then(|(count, unit)| count.checked_mul(unit));
        let fits = span_minutes.filter(|minutes| (1..=MAX_BEFORE).contains(minutes));
        if fits.is_none() {
            let words = format!("remind: before: `{text}` is no time up to 60 days such as 30m, 2h or 1d");
            self.fault(span.defined, words);
        }
        fits
    }

    fn render(&mut self, kind: &Kind, render: Spanned<String>) -> String {
        let template = render.value.trim().to_owned();
        let fault = match template.chars().count() {
            0 => Some("it is empty".to_owned()),
            1..=MAX_RENDER => template::fault(kind, &template),
            count => Some(format!("it has {count} characters, and takes at most {MAX_RENDER}")),
        };
        if let Some(fault) = fault {
            self.fault(render.defined, format!("render: {fault}"));
        }
        template
    }

    /// Reports kinds that require each other: no record of any of them could be the first.
    fn circles(&mut self, kinds: &[Kind], at: Location) {
        for kind in kinds {
            let (mut seen, mut open) = (BTreeSet::new(), vec![kind.name.as_str()]);
            while let Some(name) = open.pop() {
                let fields =
                    kinds.iter().find(|other| other.name == name).map_or(&[][..], |kind| &kind.fields);
                let needed = fields.iter().filter(|field| field.required);
                for to in needed.filter_map(|field| match &field.form {
                    FieldType::Ref(to) => Some(to.as_str()),
                    _ => None,
                }) {
                    if seen.insert(to) {
                        open.push(to);
                    }
                }
            }
            if seen.contains(kind.name.as_str()) {
                let words = format!(
                    "kinds: {} refers to what cannot be without {} itself, so no first one could be saved; take `required` or `key` off one of these refs",
                    kind.name, kind.name
                );
                self.fault(at, words);
                return;
            }
        }
    }
}

/// Returns the names in braces.
fn places(text: &str) -> Vec<&str> {
    text.split('{').skip(1).filter_map(|rest| rest.split_once('}')).map(|(name, _)| name).collect()
}
