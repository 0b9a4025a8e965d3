//! User-visible texts by language: one YAML file per language in `prompts/locales/`, which the build reads. Used by all code
//! that writes to a chat. A new text is a line in each of these files, a new language one more file.

mod fill;
mod names;
pub mod schedules;

use chrono::{DateTime, Datelike, TimeZone, Timelike};

use figaro_domain::approval::{Ruled, method_words};
use figaro_domain::audit::AuditKind;
use figaro_domain::budget::{Caps, Period, percent};
use figaro_domain::language::ByLanguage;
use figaro_domain::role::AccessRole;
use figaro_domain::task::Reason;
use figaro_domain::usage::{Spent, amount, dollars};

pub use fill::fill;
pub use names::name_a_language;

// `FILES`, `KEYS` and a method of `Texts` for each key: `build.rs` makes them from the files.
include!(concat!(env!("OUT_DIR"), "/texts.rs"));

/// All texts of one language, with a method for each key. `{name}` marks a place that [`fill`] fills. The docs show the
/// texts in English.
///
/// They are read from the program where they stand, one after another: a language that nobody speaks takes no memory.
#[derive(Debug, Clone, Copy)]
pub struct Texts {
    words: &'static str,
    /// End of the text of each key, in bytes.
    ends: &'static [usize; KEYS.len()],
}

/// Texts of every available language.
#[derive(Debug, Clone)]
pub struct Locales(ByLanguage<Texts>);

impl Default for Locales {
    fn default() -> Self {
        let [first, others @ ..] = FILES;
        Self(ByLanguage::new(first, others.to_vec()))
    }
}

impl Locales {
    /// Returns the IETF tags of the available languages: the fallback, and the others.
    #[must_use]
    pub(crate) fn tags() -> (&'static str, Vec<&'static str>) {
        let [(first, _), others @ ..] = FILES;
        (first, others.into_iter().map(|(tag, _)| tag).collect())
    }

    /// Returns the texts for an IETF tag such as `pt-BR`; those of the first language for an unknown one.
    #[must_use]
    pub fn of(&self, tag: Option<&str>) -> &Texts {
        self.0.of(tag)
    }

    /// Iterates over the languages with their texts, the first language first.
    pub fn all(&self) -> impl Iterator<Item = (&'static str, &Texts)> {
        self.0.all()
    }

    /// Applies `make` to the texts of each language.
    #[must_use]
    pub fn map<U>(&self, make: impl Fn(&Texts) -> U) -> ByLanguage<U> {
        self.0.map(make)
    }

    /// Returns `true` if a word in place of a value clears the value, such as `clear`, in any language.
    #[must_use]
    pub fn clears(&self, word: &str) -> bool {
        let word = word.trim().to_lowercase();
        self.all().any(|(_, texts)| texts.words_that_clear().split_whitespace().any(|one| one == word))
    }

    /// Returns the tag of the language that these words name: `pt` for `Brazilian Portuguese`, `português` or `pt-BR`.
    /// `None` if they name no language, several, or one that is not available.
    #[must_use]
    pub fn named(&self, words: &str) -> Option<&'static str> {
        let &[named] = &names::codes_in(words)[..] else { return None };
        self.all().map(|(tag, _)| tag).find(|tag| *tag == named)
    }

    /// Returns how an available language calls itself if the words are exactly its code or one of its names.
    #[must_use]
    pub fn own_name(words: &str) -> Option<&'static str> {
        let code = names::code(words)?;
        FILES.iter().find(|(tag, _)| *tag == code).map(|(_, texts)| texts.language_name())
    }
}

impl Texts {
    /// Returns the text of the key with this index in [`KEYS`].
    fn at(&self, index: usize) -> &'static str {
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.words[start..self.ends[index]]
    }

    /// Iterates over the keys with their texts, sorted by key.
    pub fn entries(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        KEYS.into_iter().enumerate().map(|(index, key)| (key, self.at(index)))
    }

    /// Returns the text of a key; `None` for an unknown key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&str> {
        self.entries().find(|(name, _)| *name == key).map(|(_, text)| text)
    }

    /// Returns why a built-in rule asks or refuses; `None` for a rule that does neither, or is an owner's.
    #[must_use]
    pub fn rule(&self, rule: &str) -> Option<&str> {
        named(self.rules(), rule)
    }

    /// Returns the words for an error, by its label in the log; the label itself if there are none.
    #[must_use]
    pub fn error(&self, label: &str) -> String {
        named(self.errors(), label).map_or_else(|| label.replace('_', " "), str::to_owned)
    }

    /// Returns the words for a parameter of a model: its effect, and its name.
    #[must_use]
    pub fn writes(&self, setting: &str, value: &str) -> String {
        let words = named(self.writing(), setting).unwrap_or_default();
        format!("{words} {value}").trim().to_owned() + &format!(" ({setting})")
    }

    /// Returns the words for a method of the Bot API; its name in lower case if the language has none.
    #[must_use]
    pub fn method(&self, method: &str) -> String {
        self.known_method(method).map_or_else(|| method_words(method), str::to_owned)
    }

    /// Returns the words for a method of the Bot API; `None` if the language has none, as for a tool that is no method.
    #[must_use]
    pub fn known_method(&self, method: &str) -> Option<&str> {
        named(self.methods(), method)
    }

    /// Returns why a run of a task failed, as the rest of a sentence.
    #[must_use]
    pub fn reason(&self, reason: &Reason) -> String {
        let text = match reason {
            Reason::Budget { time, zone } => {
                return fill(self.reason_budget(), &[("time", time), ("zone", zone)]);
            }
            Reason::Agent { agent } => return fill(self.reason_agent(), &[("agent", agent)]),
            Reason::Model => self.reason_model(),
            Reason::Busy => self.reason_busy(),
            Reason::Refused => self.reason_refused(),
            Reason::Empty => self.reason_empty(),
            Reason::Spent => self.reason_spent(),
            Reason::Misfit => self.reason_misfit(),
            Reason::Internal => self.reason_internal(),
            Reason::Interrupted => self.reason_interrupted(),
            Reason::Undelivered => self.reason_undelivered(),
            Reason::Unclear => self.reason_unclear(),
        };
        text.to_owned()
    }

    /// Returns what an entry of the audit log records.
    #[must_use]
    pub fn audited(&self, what: AuditKind) -> &'static str {
        match what {
            AuditKind::CallAllowed => self.audit_call_allowed(),
            AuditKind::CallAsked => self.audit_call_asked(),
            AuditKind::CallDenied => self.audit_call_denied(),
            AuditKind::ApprovalGiven => self.audit_approval_given(),
            AuditKind::ApprovalDenied => self.audit_approval_denied(),
            AuditKind::ApprovalExpired => self.audit_approval_expired(),
            AuditKind::ApprovalEnded => self.audit_approval_ended(),
            AuditKind::ApprovalUsed => self.audit_approval_used(),
            AuditKind::AccessAllowed => self.audit_access_allowed(),
            AuditKind::AccessDenied => self.audit_access_denied(),
            AuditKind::AccessLifted => self.audit_access_lifted(),
            AuditKind::OwnerMade => self.audit_owner_made(),
            AuditKind::CodeMade => self.audit_code_made(),
            AuditKind::RoleGiven => self.audit_role_given(),
            AuditKind::SettingChanged => self.audit_setting_changed(),
            AuditKind::Undone => self.audit_undone(),
            AuditKind::SignedIn => self.audit_signed_in(),
            AuditKind::SignedOut => self.audit_signed_out(),
        }
    }

    /// Returns what is said of a ruling on a call, with the place `{name}`.
    #[must_use]
    pub fn ruled(&self, ruled: Ruled) -> &'static str {
        match ruled {
            Ruled::Once => self.approval_approved(),
            Ruled::Hour => self.approval_approved_hour(),
            Ruled::Denied => self.approval_denied(),
        }
    }

    /// Returns the name of a role.
    #[must_use]
    pub fn role(&self, role: AccessRole) -> &'static str {
        match role {
            AccessRole::Admin => self.role_admin(),
            AccessRole::Member => self.role_member(),
            AccessRole::Guest => self.role_guest(),
        }
    }

    /// Returns lines that show how much of a limit of a period is used: of its tokens and of its money.
    #[must_use]
    pub fn used_of(&self, period: Period, caps: Caps, spent: Spent) -> Vec<String> {
        let frame = match period {
            Period::Day => self.usage_cap(),
            Period::Month => self.usage_cap_month(),
        };
        let line = |gone: String, cap: String, percent: String| {
            fill(frame, &[("gone", &gone), ("cap", &cap), ("percent", &percent)])
        };
        let by_tokens = caps
            .tokens
            .map(|cap| line(amount(spent.tokens), self.tokens(cap), percent(spent.tokens, cap).to_string()));
        let by_money = caps.nano_usd.map(|cap| {
            let known = percent(spent.nano_usd, cap).to_string();
            line(spent.money(), dollars(cap), if spent.unpriced == 0 { known } else { "?".to_owned() })
        });
        by_tokens.into_iter().chain(by_money).collect()
    }

    /// Formats an amount of tokens: `940 tokens`, `71 k tokens`, `1.2 M tokens`.
    #[must_use]
    pub fn tokens(&self, count: u64) -> String {
        fill(self.token_count(), &[("count", &amount(count))])
    }

    /// Formats a duration in its two largest units, such as `2 d 3 h`; under an hour in minutes.
    #[must_use]
    pub fn span(&self, seconds: i64) -> String {
        let [days, hours, minutes] = [seconds / 86_400, seconds / 3600 % 24, seconds / 60 % 60];
        let text = match (days, hours) {
            (0, 0) => self.span_minutes(),
            (0, _) => self.span_hours(),
            _ => self.span_days(),
        };
        let values = [days, hours, minutes].map(|value| value.to_string());
        let [days, hours, minutes] = &values;
        fill(text, &[("days", days), ("hours", hours), ("minutes", minutes)])
    }

    /// Puts words of a person into quotation marks.
    #[must_use]
    pub fn in_quotes(&self, words: &str) -> String {
        fill(self.quoted(), &[("words", words)])
    }

    /// Formats a day and time, such as `Mon 23 Nov 09:00`.
    #[must_use]
    pub fn moment<Z: TimeZone>(&self, at: &DateTime<Z>) -> String {
        self.dated(at, at.year())
    }

    /// Formats a day and time with the year, such as `Mon 4 Jan 2027 09:00`, unless it is this year.
    #[must_use]
    pub fn dated<Z: TimeZone>(&self, at: &DateTime<Z>, this_year: i32) -> String {
        let weekday = nth(self.weekdays(), at.weekday().num_days_from_monday());
        let date = self.date(at, (at.year() != this_year).then(|| at.year()));
        fill(self.day_of_week(), &[("weekday", weekday), ("date", &date)])
            + &format!(" {:02}:{:02}", at.hour(), at.minute())
    }

    /// Formats a day, such as `4 Jan`, with a year `4 Jan 2027`.
    #[must_use]
    pub fn date(&self, day: &impl Datelike, year: Option<i32>) -> String {
        self.date_of(day.day(), day.month0(), year)
    }

    /// Formats the day of a month, which is counted from 0.
    #[must_use]
    pub(crate) fn date_of(&self, day: u32, month0: u32, year: Option<i32>) -> String {
        let values = [("day", &*day.to_string()), ("month", nth(self.months(), month0))];
        match year {
            Some(year) => fill(self.day_of_year(), &[&values[..], &[("year", &year.to_string())]].concat()),
            None => fill(self.day_of_month(), &values),
        }
    }

    /// Formats a time relative to now in the same zone: `today 09:00`, `tomorrow 07:30`, `Tue 1 Dec 07:30`.
    #[must_use]
    pub fn spoken<Z: TimeZone>(&self, at: &DateTime<Z>, now: &DateTime<Z>) -> String {
        let day = match (at.naive_local().date() - now.naive_local().date()).num_days() {
            0 => self.day_today(),
            1 => self.day_tomorrow(),
            _ => return self.dated(at, now.year()),
        };
        format!("{day} {:02}:{:02}", at.hour(), at.minute())
    }
}

/// Returns the text of a name in a list with one `name: text` per line.
fn named<'a>(list: &'a str, name: &str) -> Option<&'a str> {
    let mut lines = list.lines().filter_map(|line| line.split_once(": "));
    lines.find(|(one, _)| *one == name).map(|(_, words)| words)
}

/// Returns a word of a list such as [`Texts::months`] by its index from 0; empty beyond the end.
#[must_use]
pub fn nth(list: &str, index: u32) -> &str {
    let index = usize::try_from(index).unwrap_or(usize::MAX);
    list.split_whitespace().nth(index).unwrap_or_default()
}

#[cfg(test)]
mod tests;
