//! What somebody at the terminal can do about a turn that failed.

/// What to do about a failure of this label, as the rest of a line.
pub(super) fn remedy(label: &str) -> &'static str {
    match label {
        "unauthorized" => "check the key of this provider",
        "unknown_model" => "name another one with --model, or in the settings",
        "no_quota" => "its account has to be topped up; --model names another one",
        "rate_limited" | "unavailable" | "garbled" | "cut" | "stalled" | "unspoken" => {
            "ask again in a minute, or another one with --model"
        }
        "too_long" => "ask something shorter, or in another --session",
        "spent" => "ask for less at once, or another one with --model",
        "refused" | "withheld" | "empty" => "put the question differently",
        "foreign" | "wrong_address" => "check the base URL of this provider, and proxies on the way",
        "over_budget" => "ask again then, or raise DAILY_TOKENS or DAILY_USD",
        "unpriced" => "set its price in LLM_PRICES, or a bound in DAILY_TOKENS",
        _ => "RUST_LOG=info shows more",
    }
}
