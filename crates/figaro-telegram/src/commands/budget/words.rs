//! Reads what follows `/budget`: `@ann 20k a day`, `here $5 a month`, `members off`.

use figaro_domain::budget::{Caps, Period, PeriodCaps};
use figaro_domain::role::AccessRole;
use figaro_prompts::texts::{Locales, Texts};

/// Words for a day and for a month, understood in every language.
const DAY: [&str; 2] = ["day", "daily"];
const MONTH: [&str; 2] = ["month", "monthly"];
const NANO: f64 = 1e9;
/// Smallest limit of tokens: no answer takes less, so a smaller one is a slip.
const LEAST_TOKENS: u64 = 1_000;

/// Party as a person names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum NamedParty {
    /// The person whose message the command replies to; the whole bot if it replies to none.
    Unnamed,
    Bot,
    Here,
    Role(AccessRole),
    /// Person by `@username` or number.
    Person(String),
    Task(String),
    Agent(String),
    Key(String),
}

/// Change of the limits of a party.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LimitChange {
    Set(Period, Caps),
    Off,
}

impl LimitChange {
    /// Returns the limits after the change. A limit of tokens leaves one of money as it is, and the other way round.
    pub(super) fn apply(self, mut caps: PeriodCaps) -> PeriodCaps {
        match self {
            Self::Off => PeriodCaps::default(),
            Self::Set(period, Caps { tokens, nano_usd }) => {
                let of = caps.of_mut(period);
                *of = Caps { tokens: tokens.or(of.tokens), nano_usd: nano_usd.or(of.nano_usd) };
                caps
            }
        }
    }
}

/// Reads a party and the change of its limits; `None` if the words are not understood.
pub(super) fn read(words: &str, texts: &Texts, locales: &Locales) -> Option<(NamedParty, LimitChange)> {
    let words: Vec<&str> = words.split_whitespace().collect();
    let is_off = |word: &str| matches!(word, "0" | "off") || locales.clears(word);
    let at = words.iter().rposition(|word| is_off(word) || amount(word).is_some())?;
    let (party, change) = words.split_at(at);
    let change = if change.len() == 1 && is_off(change.first()?) {
        LimitChange::Off
    } else {
        let caps = caps(change)?;
        LimitChange::Set(period(&change[1..], texts)?, caps)
    };
    Some((self::party(party)?, change))
}

fn party(words: &[&str]) -> Option<NamedParty> {
    let lower = |word: &str| word.to_lowercase();
    Some(match words {
        [] => NamedParty::Unnamed,
        [word] if matches!(lower(word).as_str(), "bot" | "all") => NamedParty::Bot,
        [word] if matches!(lower(word).as_str(), "here" | "chat") => NamedParty::Here,
        [word] if word.starts_with('@') || word.parse::<i64>().is_ok() => {
            NamedParty::Person((*word).to_owned())
        }
        [word] => NamedParty::Role(AccessRole::named(lower(word).trim_end_matches('s'))?),
        [kind, name @ ..] => match lower(kind).as_str() {
            "task" => NamedParty::Task(name.join(" ")),
            "agent" => NamedParty::Agent(name.join(" ")),
            "key" => NamedParty::Key(name.join(" ")),
            _ => return None,
        },
    })
}

/// Reads the time after an amount. Words between them, such as “tokens a”, do not matter.
fn period(words: &[&str], texts: &Texts) -> Option<Period> {
    let is_one = |word: &str, all: &[&str], own: &str| {
        let word = word.trim_start_matches('/').to_lowercase();
        all.contains(&word.as_str()) || own.split_whitespace().any(|own| own == word)
    };
    words.iter().find_map(|word| {
        let is_day = is_one(word, &DAY, texts.budget_day_words());
        let is_month = is_one(word, &MONTH, texts.budget_month_words());
        is_day.then_some(Period::Day).or(is_month.then_some(Period::Month))
    })
}

/// Reads an amount of money or tokens, and the unit that may follow it.
fn caps(words: &[&str]) -> Option<Caps> {
    let (first, rest) = words.split_first()?;
    let is_one_number =
        !is_unclear(first) && !rest.iter().any(|word| word.contains(|c: char| c.is_numeric()));
    let (value, is_money) = amount(first).filter(|_| is_one_number)?;
    let unit = words.get(1).map(|word| word.to_lowercase()).unwrap_or_default();
    let is_money = is_money || matches!(unit.as_str(), "$" | "usd" | "dollar" | "dollars");
    let whole = |value: f64| {
        let is_whole = (1.0..=9e18).contains(&value);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range was checked")]
        is_whole.then_some(value as u64)
    };
    match is_money {
        true => Some(Caps { tokens: None, nano_usd: Some(whole((value * NANO).round())?) }),
        false => {
            let tokens = whole(value.round()).filter(|tokens| *tokens >= LEAST_TOKENS)?;
            Some(Caps { tokens: Some(tokens), nano_usd: None })
        }
    }
}

/// Reads `20k`, `1.5M`, `500_000` or `$5`. Returns the number, and `true` for money.
fn amount(word: &str) -> Option<(f64, bool)> {
    let is_money = word.starts_with('$') || word.ends_with('$');
    let word = word.trim_matches('$').replace(['_', '\''], "").replace(',', ".").to_lowercase();
    let (number, scale) = match word.strip_suffix('k') {
        Some(number) => (number, 1e3),
        None => word.strip_suffix('m').map_or((word.as_str(), 1.0), |number| (number, 1e6)),
    };
    let is_number = number.starts_with(|c: char| c.is_ascii_digit());
    let value = number.parse::<f64>().ok().filter(|value| is_number && value.is_finite())?;
    Some((value * scale, is_money))
}

/// Returns `true` for `20,000` and `20.000`, which are thousands to some people and fractions to others.
fn is_unclear(word: &str) -> bool {
    let number = word.trim_matches(|c: char| !c.is_ascii_digit());
    number.split_once([',', '.']).is_some_and(|(whole, rest)| whole != "0" && rest.len() == 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_read_as_people_write_them() {
        let locales = Locales::default();
        let texts = locales.of(None);
        let tokens = |tokens| Caps { tokens: Some(tokens), nano_usd: None };
        let money = |nano_usd| Caps { tokens: None, nano_usd: Some(nano_usd) };
        let person = |name: &str| NamedParty::Person(name.to_owned());
        use LimitChange::{Off, Set};
        use Period::{Day, Month};
        let cases = [
            ("@ann 20k a day", Some((person("@ann"), Set(Day, tokens(20_000))))),
            ("@ann 20k tokens per day", Some((person("@ann"), Set(Day, tokens(20_000))))),
            ("123 1.5M monthly", Some((person("123"), Set(Month, tokens(1_500_000))))),
            ("$5 a month", Some((NamedParty::Unnamed, Set(Month, money(5_000_000_000))))),
            ("bot 2,50 usd /day", Some((NamedParty::Bot, Set(Day, money(2_500_000_000))))),
            (
                "members 500_000 a month",
                Some((NamedParty::Role(AccessRole::Member), Set(Month, tokens(500_000)))),
            ),
            ("here off", Some((NamedParty::Here, Off))),
            (
                "task Water the plants 30k a day",
                Some((NamedParty::Task("Water the plants".to_owned()), Set(Day, tokens(30_000)))),
            ),
            (
                "agent researcher $0.5 a day",
                Some((NamedParty::Agent("researcher".to_owned()), Set(Day, money(500_000_000)))),
            ),
            ("key shop 0", Some((NamedParty::Key("shop".to_owned()), Off))),
            ("$0.125 a day", Some((NamedParty::Unnamed, Set(Day, money(125_000_000))))),
            ("@ann 20,000 a day", None),
            ("123 20.000 a day", None),
            ("$1,500 a month", None),
            ("@ann 1.500k a day", None),
            ("@ann 20k", None),
            ("@ann a day", None),
            ("owners 20k a day", None),
            ("@ann -5 a day", None),
            ("@ann 0.2 a day", None),
            ("@ann nan a day", None),
            ("", None),
        ];
        for (words, expected) in cases {
            assert_eq!(read(words, texts, &locales), expected, "{words}");
        }
    }

    #[test]
    fn a_limit_of_money_leaves_one_of_tokens() {
        let caps = |tokens, nano_usd| Caps { tokens, nano_usd };
        let before = PeriodCaps { day: caps(Some(5), None), month: caps(None, Some(7)) };
        let after = LimitChange::Set(Period::Day, caps(None, Some(9))).apply(before);
        assert_eq!(after, PeriodCaps { day: caps(Some(5), Some(9)), month: caps(None, Some(7)) });
        assert_eq!(LimitChange::Off.apply(after), PeriodCaps::default());
    }
}
