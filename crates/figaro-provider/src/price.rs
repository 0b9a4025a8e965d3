//! Prices of models: the owner's, then the list in `models.yaml`.

use super::capabilities::list_price;
use super::local_transcribe::LOCAL;
use figaro_config::{OfModel, TokenPrice};
use figaro_domain::model::ModelName;
use figaro_domain::usage::Price;

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
}
