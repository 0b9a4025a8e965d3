//! Spending limits of the whole bot, and prices of models that override the built-in list.

use super::of_model::OfModel;
use super::reader::VariableReader;

/// Limits of the whole bot, and the owner's prices.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SpendingSettings {
    /// Maximum number of tokens per day; `None` for no limit.
    pub daily_tokens: Option<u64>,
    /// Maximum cost per day in nano-dollars; `None` for no limit.
    pub daily_nano_usd: Option<u64>,
    /// Maximum number of tokens per calendar month; `None` for no limit.
    pub monthly_tokens: Option<u64>,
    /// Maximum cost per calendar month in nano-dollars; `None` for no limit.
    pub monthly_nano_usd: Option<u64>,
    /// Share of the bot's limits for background work, in percent.
    pub background_percent: u64,
    /// Prices of models that override the built-in list.
    pub prices: Vec<OfModel<TokenPrice>>,
}

/// Prices of a model per token, in nano-dollars.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TokenPrice {
    /// Price of a token sent to the model.
    pub input: u64,
    /// Price of a token read from the provider's cache.
    pub cached: u64,
    /// Price of a token written by the model.
    pub output: u64,
}

impl SpendingSettings {
    pub(super) fn read(reader: &mut VariableReader<'_>) -> Self {
        let [daily_tokens, monthly_tokens] =
            ["DAILY_TOKENS", "MONTHLY_TOKENS"].map(|name| tokens(reader, name));
        let [daily_nano_usd, monthly_nano_usd] = ["DAILY_USD", "MONTHLY_USD"].map(|name| money(reader, name));
        let background_percent = reader.number("BACKGROUND_SHARE", 0..=100);
        let advice = "is not of the form provider:model=sent/cached/written in US dollars for a million tokens, such as \
                      openai:gpt-4.1-mini=0.40/0.10/1.60";
        let prices = OfModel::read(reader, "LLM_PRICES", advice, read_price);
        Self { daily_tokens, daily_nano_usd, monthly_tokens, monthly_nano_usd, background_percent, prices }
    }
}

fn tokens(reader: &mut VariableReader<'_>, name: &'static str) -> Option<u64> {
    let text = reader.get(name)?;
    let tokens = text.replace('_', "").parse().ok().filter(|tokens: &u64| *tokens > 0);
    if tokens.is_none() {
        reader.fault(name, "is not a whole number from 1 on, such as 500000; leave it out for no bound");
    }
    tokens
}

fn money(reader: &mut VariableReader<'_>, name: &'static str) -> Option<u64> {
    let text = reader.get(name)?;
    let money = nano(&text).filter(|money| *money > 0);
    if money.is_none() {
        reader.fault(name, "is not an amount of US dollars above 0, such as 2.50; leave it out for no bound");
    }
    money
}

/// Parses `0.40/0.10/1.60` in US dollars per million tokens: sent, cached, written; or just sent and written.
fn read_price(text: &str) -> Option<TokenPrice> {
    let figures: Option<Vec<u64>> = text.split('/').map(|figure| nano(figure.trim())).collect();
    let (input, cached, output) = match figures?.as_slice() {
        [input, output] => (*input, *input, *output),
        [input, cached, output] => (*input, *cached, *output),
        _ => return None,
    };
    // Round up, so that a tiny price does not become zero.
    let [input, cached, output] = [input, cached, output].map(|figure| figure.div_ceil(1_000_000));
    Some(TokenPrice { input, cached, output })
}

/// Parses an amount of at most nine decimals into billionths. Exact, unlike a float.
fn nano(amount: &str) -> Option<u64> {
    let (whole, part) = amount.split_once('.').unwrap_or((amount, ""));
    let is_number = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    if whole.is_empty() || part.len() > 9 || !is_number(whole) || !is_number(part) {
        return None;
    }
    let part: u64 = format!("{part:0<9}").parse().ok()?;
    whole.parse::<u64>().ok()?.checked_mul(1_000_000_000)?.checked_add(part)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::variables::Variables;

    fn read(pairs: &[(&str, &str)]) -> Result<SpendingSettings, Vec<String>> {
        let variables: HashMap<String, String> =
            pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let known = Variables::builtin();
        let mut reader = VariableReader::new(&variables, &known);
        let settings = SpendingSettings::read(&mut reader);
        reader.finish(settings).map_err(|faults| faults.0)
    }

    #[test]
    fn amounts_are_read_exactly() {
        assert_eq!(read(&[]), Ok(SpendingSettings { background_percent: 10, ..SpendingSettings::default() }));
        let read = read(&[
            ("DAILY_TOKENS", "500_000"),
            ("DAILY_USD", "2.5"),
            ("MONTHLY_TOKENS", "9000000"),
            ("MONTHLY_USD", "15"),
            (
                "LLM_PRICES",
                "openai:gpt-4.1-mini=0.40/0.10/1.6, ollama:qwen3:8b=0/0.0005, compatible:my/*=1/3",
            ),
        ])
        .unwrap();
        assert_eq!((read.daily_tokens, read.daily_nano_usd), (Some(500_000), Some(2_500_000_000)));
        assert_eq!((read.monthly_tokens, read.monthly_nano_usd), (Some(9_000_000), Some(15_000_000_000)));
        let price = |name: &str, is_prefix, input, cached, output| OfModel {
            name: name.into(),
            is_prefix,
            value: TokenPrice { input, cached, output },
        };
        let wanted = [
            price("openai:gpt-4.1-mini", false, 400, 100, 1600),
            price("ollama:qwen3:8b", false, 0, 0, 1),
            price("compatible:my/", true, 1000, 1000, 3000),
        ];
        assert_eq!(read.prices, wanted);
    }

    #[test]
    fn what_is_no_amount_is_told() {
        let cases = [
            ("DAILY_TOKENS", "many"),
            ("DAILY_TOKENS", "0"),
            ("DAILY_TOKENS", "1.5"),
            ("DAILY_USD", "-1"),
            ("DAILY_USD", "0"),
            ("DAILY_USD", "$5"),
            ("DAILY_USD", "1e3"),
            ("MONTHLY_TOKENS", "0"),
            ("MONTHLY_USD", "ten"),
            ("BACKGROUND_SHARE", "101"),
            ("BACKGROUND_SHARE", "10%"),
            ("LLM_PRICES", "gpt-4.1=1/2"),
            ("LLM_PRICES", "opnai:x=1/2"),
            ("LLM_PRICES", "openai:=1/2"),
            ("LLM_PRICES", "openai:x=1"),
            ("LLM_PRICES", "openai:x=1/2/3/4"),
            ("LLM_PRICES", "openai:x=free/0"),
        ];
        for (name, value) in cases {
            let faults = read(&[(name, value)]).unwrap_err();
            assert!(faults.len() == 1 && faults[0].starts_with(name), "{faults:?}");
            assert!(value.len() < 6 || !faults[0].contains(value), "{faults:?}");
        }
    }
}
