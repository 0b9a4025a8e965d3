//! Token counts in OpenAI's two dialects. Services mix their field names with each other and with Anthropic's.

use serde_json::Value;

use crate::loose;
use figaro_domain::usage::Usage;

/// Paths of the number of tokens read from a cache.
const CACHED: [&str; 5] = [
    "/prompt_tokens_details/cached_tokens",
    "/input_tokens_details/cached_tokens",
    "/prompt_cache_hit_tokens",
    "/cached_tokens",
    "/cache_read_input_tokens",
];

/// Returns the usage of an answer. A count of zero is how some servers say that they did not count.
pub(crate) fn usage(usage: &Value) -> Option<Usage> {
    let count = |name: &str| loose::count(&usage[name]);
    // Anthropic counts tokens read from and written to a cache separately.
    let apart = || {
        ["cache_read_input_tokens", "cache_creation_input_tokens"].into_iter().filter_map(count).sum::<u64>()
    };
    let input = match count("prompt_tokens") {
        Some(input) => input,
        None => count("input_tokens")?.saturating_add(apart()),
    };
    let output = count("completion_tokens").or_else(|| count("output_tokens"))?;
    let cached = CACHED.iter().find_map(|place| loose::count(usage.pointer(place)?)).unwrap_or_default();
    // Some services count reasoning in the total only, not in the output.
    let beyond = count("total_tokens").unwrap_or_default().saturating_sub(input);
    let usage = Usage { input, cached: cached.min(input), output: output.max(beyond) };
    (usage.total() > 0).then_some(usage)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn tokens_are_counted_by_the_names_of_every_dialect() {
        let cases = [
            (json!({"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11}), Some((9, 0, 2))),
            (json!({"prompt_tokens": "9", "completion_tokens": " 2 "}), Some((9, 0, 2))),
            (json!({"prompt_tokens": 9.0, "completion_tokens": 2.0}), Some((9, 0, 2))),
            (json!({"input_tokens": 9, "output_tokens": 2}), Some((9, 0, 2))),
            (
                json!({"input_tokens": 9, "output_tokens": 2, "input_tokens_details": {"cached_tokens": 4}}),
                Some((9, 4, 2)),
            ),
            (
                json!({"input_tokens": 5, "cache_read_input_tokens": 3, "cache_creation_input_tokens": 1, "output_tokens": 2}),
                Some((9, 3, 2)),
            ),
            (json!({"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 31}), Some((9, 0, 22))),
            (json!({"prompt_tokens": 0, "completion_tokens": 0}), None),
            (json!({"prompt_tokens": "many", "completion_tokens": 2}), None),
            (json!({"prompt_tokens": -1, "completion_tokens": 2}), None),
            (json!({"prompt_tokens": 9}), None),
            (json!(null), None),
        ];
        for (sent, expected) in cases {
            let counted = usage(&sent).map(|usage| (usage.input, usage.cached, usage.output));
            assert_eq!(counted, expected, "{sent}");
        }
    }
}
