//! Prices of models: the owner's, then the list in `models.yaml`.

use super::capabilities::list_price;
use super::local_transcribe::LOCAL;
use figaro_config::{OfModel, TokenPrice};
use figaro_domain::model::ModelName;
use figaro_domain::usage::Price;

/// Provider name of searches at Tavily.
pub const TAVILY: &str = "tavily";
/// Price of such a search in nano-dollars: one credit, from <https://docs.tavily.com/documentation/api-credits>.
const TAVILY_SEARCH: u64 = 8_000_000;

/// Prices of models.
#[derive(Debug, Clone, Default)]
pub struct Prices {
    own: Vec<OfModel<TokenPrice>>,
}

impl Prices {
    /// Creates the prices. The owner's own take precedence over the list.
    #[must_use]
    pub const fn new(own: Vec<OfModel<TokenPrice>>) -> Self {
        Self { own }
    }

    /// Returns the price of a model; `None` if unknown. Of the owner's matching prices the one with the longest name
    /// applies.
    #[must_use]
    pub fn of(&self, model: &ModelName) -> Option<Price> {
        if model.provider == LOCAL {
            return Some(Price { input: 0, cached: 0, output: 0, search: None });
        }
        if model.provider == TAVILY {
            // A search is reserved like a written token.
            return Some(Price { input: 0, cached: 0, output: TAVILY_SEARCH, search: Some(TAVILY_SEARCH) });
        }
        let listed = list_price(&model.provider, &model.model);
        let Some(own) = OfModel::best(&self.own, &model.to_string()) else { return listed };
        // The owner sets prices of tokens only; a search costs its list price.
        let search = listed.and_then(|price| price.search);
        Some(Price { input: own.input, cached: own.cached, output: own.output, search })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use figaro_domain::usage::{Spent, Usage};

    fn own(name: &str, is_prefix: bool, input: u64) -> OfModel<TokenPrice> {
        OfModel { name: name.into(), is_prefix, value: TokenPrice { input, cached: input, output: input } }
    }

    #[test]
    fn the_owner_knows_best_and_the_unknown_stays_unknown() {
        let prices = Prices::new(vec![
            own("openai:gpt-4.1", true, 7),
            own("openai:gpt-4.1-mini", false, 8),
            own("compatible:", true, 9),
        ]);
        let input = |name: &str| prices.of(&name.parse().unwrap()).map(|price| price.input);
        let cases = [
            ("openai:gpt-4.1-nano", Some(7)),
            ("openai:gpt-4.1-mini", Some(8)),
            ("openai:nobody-has-heard-of-it", None),
            ("compatible:any", Some(9)),
            ("ollama:qwen3:8b", Some(0)),
            ("ollama:gpt-oss:120b-cloud", None),
            ("local:whisper-base", Some(0)),
        ];
        for (name, wanted) in cases {
            assert_eq!(input(name), wanted, "{name}");
        }
        let listed = Prices::default().of(&"openai:gpt-4.1-mini".parse().unwrap()).unwrap();
        assert_eq!((listed.input, listed.cached, listed.output), (400, 100, 1600));
    }
    #[test]
    fn each_odd_case_is_booked_as_the_table_says() {
        let prices = Prices::new(vec![
            own("compatible:cheap", false, 1),
            own("compatible:free", false, 0),
            own("openai:gpt-4.1", false, 5),
        ]);
        // Model; tokens sent, those of them from the cache, and written, with thinking; searches. What it costs in
        // nano-dollars, and what of it has no price.
        let cases = [
            ("openai:gpt-4.1-mini", (1_000, 0, 0), 0, (400_000, 0)),
            ("openai:gpt-4.1-mini", (0, 0, 1_000), 0, (1_600_000, 0)),
            ("openai:gpt-4.1-mini", (1_000, 400, 10), 0, (296_000, 0)),
            ("openai:gpt-4.1-mini", (1_000, 1_000, 0), 0, (100_000, 0)),
            // More from the cache than was sent is the provider's mistake, and no credit.
            ("openai:gpt-4.1-mini", (10, 5_000, 0), 0, (1_000, 0)),
            ("openai:gpt-4.1-mini", (0, 0, 0), 0, (0, 0)),
            // Thinking is written, too.
            ("openai:gpt-5-mini", (100, 0, 9_000), 0, (25_000 + 18_000_000, 0)),
            ("openai:gpt-6-luna", (10_000, 9_000, 100), 0, (100_000 + 90_000 + 50_000, 0)),
            // A dated name is its family's, and a search has a price of its own.
            ("openai:gpt-4.1-mini-2025-04-14", (1_000, 0, 0), 0, (400_000, 0)),
            ("openai:gpt-4.1-mini", (1_000, 0, 0), 1, (400_000 + 10_000_000, 0)),
            ("openai:gpt-4.1-mini", (0, 0, 0), 3, (30_000_000, 0)),
            ("gemini:gemini-3.5-flash", (1_000, 0, 100), 0, (1_500_000 + 900_000, 0)),
            ("gemini:gemini-3.5-flash", (1_000, 500, 0), 0, (750_000 + 75_000, 0)),
            ("gemini:gemini-3.5-flash", (0, 0, 0), 1, (14_000_000, 0)),
            // The owner's price goes before the list; a search still costs what the list says.
            ("openai:gpt-4.1", (1_000, 0, 0), 0, (5_000, 0)),
            ("openai:gpt-4.1", (1_000, 0, 0), 1, (5_000 + 10_000_000, 0)),
            ("compatible:cheap", (7, 3, 2), 0, (9, 0)),
            ("compatible:free", (1_000_000, 0, 1_000_000), 0, (0, 0)),
            // A search of unknown price makes the sum unknown, and never nothing.
            ("compatible:cheap", (7, 0, 0), 1, (7, 1)),
            // An unknown price counts by tokens.
            ("openai:nobody-knows-it", (700, 600, 50), 0, (0, 750)),
            ("openai:nobody-knows-it", (700, 0, 50), 2, (0, 750)),
            ("compatible:unknown", (1, 0, 0), 0, (0, 1)),
            ("ollama:gpt-oss:120b-cloud", (10, 0, 10), 0, (0, 20)),
            // Models on this machine are free.
            ("ollama:qwen3:8b", (9_000, 0, 900), 0, (0, 0)),
            ("local:whisper-base", (40, 0, 10), 0, (0, 0)),
            ("tavily:search", (0, 0, 0), 2, (16_000_000, 0)),
            // Pictures, speech, hearing and vectors have prices of their own.
            ("openai:gpt-image-1-mini", (50, 0, 1_056), 0, (125_000 + 8_448_000, 0)),
            ("gemini:gemini-2.5-flash-image", (100, 0, 1_290), 0, (30_000 + 38_700_000, 0)),
            ("openai:gpt-4o-mini-tts", (100, 0, 1_000), 0, (60_000 + 12_000_000, 0)),
            ("openai:whisper-1", (2_400, 0, 0), 0, (6_000_000, 0)),
            ("openai:text-embedding-3-small", (1_000, 0, 0), 0, (20_000, 0)),
            // Sums that would be too large for a number stay the largest.
            ("openai:gpt-4.1-mini", (u64::MAX, 0, u64::MAX), 0, (u64::MAX, 0)),
        ];
        for (name, (input, cached, output), searches, (nano_usd, unpriced)) in cases {
            let usage = Usage { input, cached, output };
            let spent = Spent::new(usage, searches, prices.of(&name.parse().unwrap()));
            let wanted = Spent { tokens: usage.total(), nano_usd, unpriced };
            assert_eq!(spent, wanted, "{name} {usage:?} {searches}");
        }
    }
}
