//! The file of bots: a name for each, and what differs from the settings of the environment.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::app::base_files::missing_agents;
use figaro_config::{BotOverrides, Settings, Variables, looks_secret};
use figaro_files::yaml;

/// Maximum length of a bot's name.
const MAX_NAME: usize = 32;

/// A bot of the file.
#[derive(Debug, Clone)]
pub(in crate::app) struct NamedBot {
    /// Name in the file, in the log and in paths of the gateway.
    pub(in crate::app) name: String,
    overrides: BotOverrides,
    pub(in crate::app) settings: Arc<Settings>,
}

impl NamedBot {
    /// Returns the name of the variable with the token.
    pub(in crate::app) fn token_variable(&self) -> &str {
        &self.overrides.token
    }
}

impl PartialEq for NamedBot {
    /// Two are equal if the file says the same of them: the environment of a process does not change.
    fn eq(&self, other: &Self) -> bool {
        (&self.name, &self.overrides) == (&other.name, &other.overrides)
    }
}

/// Keys of a bot in the file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct BotFile {
    token: String,
    owners: Option<Vec<i64>>,
    access: Option<String>,
    provider: Option<String>,
    model: Option<String>,
    agents: Option<String>,
    daily_tokens: Option<Amount>,
    daily_usd: Option<Amount>,
    monthly_tokens: Option<Amount>,
    monthly_usd: Option<Amount>,
}

/// An amount, written as a number or in quotation marks.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Amount {
    Whole(u64),
    Parts(f64),
    Text(String),
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole(amount) => amount.fmt(f),
            Self::Parts(amount) => amount.fmt(f),
            Self::Text(amount) => amount.fmt(f),
        }
    }
}

impl BotFile {
    fn overrides(self) -> BotOverrides {
        let owners = self.owners.map(|ids| ids.iter().map(ToString::to_string).collect::<Vec<_>>().join(","));
        let amount = |amount: Option<Amount>| amount.map(|amount| amount.to_string());
        let variables = [
            ("OWNER_IDS", owners),
            ("ACCESS", self.access),
            ("AGENTS_FOLDER", self.agents),
            ("DAILY_TOKENS", amount(self.daily_tokens)),
            ("DAILY_USD", amount(self.daily_usd)),
            ("MONTHLY_TOKENS", amount(self.monthly_tokens)),
            ("MONTHLY_USD", amount(self.monthly_usd)),
        ];
        let variables = variables.into_iter().filter_map(|(name, value)| Some((name, value?))).collect();
        BotOverrides { token: self.token, provider: self.provider, model: self.model, variables }
    }
}

/// Bots in the order of the file: the first serves paths of the gateway that name none.
struct InOrder(Vec<(String, BotFile)>);

impl<'de> Deserialize<'de> for InOrder {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;
        impl<'de> Visitor<'de> for Entries {
            type Value = InOrder;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a name for each bot, with its keys below it")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<InOrder, A::Error> {
                let mut bots = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    bots.push(entry);
                }
                Ok(InOrder(bots))
            }
        }
        deserializer.deserialize_map(Entries)
    }
}

/// Reads the bots of a text.
///
/// # Errors
/// All faults, one per line, with the name of the file.
pub(super) fn bots_of(
    text: &str,
    file: &Path,
    values: &HashMap<String, String>,
    variables: &Variables,
) -> Result<Vec<NamedBot>, String> {
    let shown = file.display().to_string();
    let InOrder(entries) = yaml::parse(text).map_err(|misfit| misfit.in_file(&shown))?;
    let (mut bots, mut faults): (Vec<NamedBot>, Vec<String>) = Default::default();
    let mut of_settings = Vec::new();
    for (name, entry) in entries {
        let overrides = entry.overrides();
        if !is_name(&name) {
            // It may be a token in the wrong place.
            let name = if looks_secret(&name) { "what stands there".to_owned() } else { format!("`{name}`") };
            faults.push(format!(
                "{shown}: {name} is no name of a bot: it has 1 to {MAX_NAME} lower-case letters, digits, - and _"
            ));
            continue;
        }
        if !is_variable(&overrides.token) {
            // It may be a token.
            faults.push(format!(
                "{shown}: {name}: token is the name of an environment variable, such as SALES_TOKEN, not the token itself"
            ));
            continue;
        }
        match Settings::of_bot(&name, &overrides, values, variables) {
            Ok(settings) => {
                faults.extend(missing_agents(&settings).map(|fault| format!("{shown}: {name}: {fault}")));
                bots.push(NamedBot { name, overrides, settings: Arc::new(settings) });
            }
            Err(found) => of_settings.push((name, found.0)),
        }
    }
    faults.extend(told_once(&of_settings, |name, fault| format!("{shown}: {name}: {fault}")));
    if bots.is_empty() && faults.is_empty() {
        faults.push(format!("{shown}: it names no bot: docs/several-bots.md shows how"));
    }
    faults.extend(twice(&bots).map(|(one, other)| {
        format!("{shown}: {one} and {other} have the token of the same bot: Telegram gives each message to one of them only")
    }));
    if faults.is_empty() { Ok(bots) } else { Err(faults.join("\n")) }
}

/// Returns words about bots, each once and in order: with the name of its bot by `named`, or as they are if several bots have
/// them, as they are about the environment then.
pub(in crate::app) fn told_once(
    found: &[(String, Vec<String>)],
    named: impl Fn(&str, &str) -> String,
) -> Vec<String> {
    let mut told: Vec<String> = Vec::new();
    for (name, all) in found {
        for words in all {
            let bots = found.iter().filter(|(_, others)| others.contains(words)).count();
            let line = if bots > 1 || name.is_empty() { words.clone() } else { named(name, words) };
            if !told.contains(&line) {
                told.push(line);
            }
        }
    }
    told
}

fn is_name(name: &str) -> bool {
    let is_plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-' || b == b'_';
    !name.is_empty() && name.len() <= MAX_NAME && name.bytes().all(is_plain)
}

/// Returns `true` for a name that an environment variable can have.
fn is_variable(name: &str) -> bool {
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
    name.bytes().all(is_plain) && name.bytes().next().is_some_and(|first| !first.is_ascii_digit())
}

/// Returns pairs of bots with one token.
fn twice(bots: &[NamedBot]) -> impl Iterator<Item = (&str, &str)> {
    let mut known = BTreeMap::new();
    bots.iter().filter_map(move |bot| {
        let other = known.insert(bot.settings.telegram.bot, bot.name.as_str());
        other.map(|other| (other, bot.name.as_str()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::Additions;
    use crate::app::providers::variables;

    fn read(text: &str) -> Result<Vec<NamedBot>, String> {
        let values = [("A_TOKEN", "11:abcdef"), ("B_TOKEN", "12:abcdef"), ("OPENAI_API_KEY", "sk-x")];
        let values = values.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        bots_of(text, Path::new("bots.yaml"), &values, &variables(&Additions::default()).unwrap())
    }

    #[test]
    fn bots_are_read_in_their_order() {
        let bots = read(
            "zoe: {token: A_TOKEN}\nann:\n  token: B_TOKEN\n  owners: [7, 8]\n  daily_usd: 2.5\n  monthly_tokens: '10_000_000'\n",
        );
        let bots = bots.unwrap();
        assert_eq!(bots.iter().map(|bot| bot.name.as_str()).collect::<Vec<_>>(), ["zoe", "ann"]);
        let spending = &bots[1].settings.spending;
        assert_eq!(
            (spending.daily_nano_usd, spending.monthly_tokens),
            (Some(2_500_000_000), Some(10_000_000))
        );
        assert_eq!(bots[1].settings.access.owners.len(), 2);
    }

    #[test]
    fn every_mistake_is_told_with_the_name_of_its_bot() {
        for (text, words) in [
            ("", "it names no bot"),
            ("a: {tokn: A_TOKEN}", "did you mean token?"),
            ("a: {owners: [1]}", "token"),
            ("a: {token: '11:abcdefghijklm'}", "a: token is the name of an environment variable"),
            ("a: {token: NONE_TOKEN}", "bots.yaml: a: NONE_TOKEN is missing"),
            ("Sales!: {token: A_TOKEN}", "`Sales!` is no name of a bot"),
            ("a: {token: A_TOKEN}\nb: {token: A_TOKEN}", "a and b have the token of the same bot"),
            ("a: {token: A_TOKEN}\na: {token: B_TOKEN}", "duplicate"),
            ("a: {token: A_TOKEN, access: all}", "bots.yaml: a: ACCESS (`all`) is not known here"),
            ("a: {token: A_TOKEN, owners: [ann]}", "bots.yaml:1:"),
            ("a: {token: A_TOKEN, provider: skynet}", "a: LLM_PROVIDER (`skynet`)"),
            ("- a", "bots.yaml:1:1"),
        ] {
            let faults = read(text).unwrap_err();
            assert!(faults.contains(words) && !faults.contains("abcdefghijklm"), "{text}: {faults}");
        }
    }
}
