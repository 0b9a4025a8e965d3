//! Size of a request within a model's context. Ollama silently cuts what does not fit, and loads the model anew for
//! each other context size. Called by [`super`] only.

use serde_json::Value;

use crate::ProviderError;
use figaro_base::text::most_tokens;

/// Minimum context that is requested: Ollama's own default.
const MIN_CONTEXT: usize = 4096;
/// Tokens added by the model's template, including its text about tools.
const TEMPLATE_TOKENS: usize = 512;
/// Tokens of a message's role and separators.
const MESSAGE_TOKENS: usize = 12;
/// Assumed tokens of a picture: the most that current models count for a photo of Telegram.
const IMAGE_TOKENS: usize = 1600;
/// Tokens reserved for an answer without a set limit, and the addition for thinking.
const ANSWER_TOKENS: usize = 2048;
const THINKING_TOKENS: usize = 4096;
/// Minimum tokens left for an answer. A request that leaves less does not fit.
const MIN_ANSWER: usize = 256;

/// Returns an upper estimate of the tokens of a body of `POST /api/chat`, in any vocabulary.
pub(super) fn input_tokens(body: &Value) -> usize {
    let messages = body["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let tools = json_tokens(&body["tools"]) + json_tokens(&body["format"]);
    TEMPLATE_TOKENS + tools + messages.iter().map(message_tokens).sum::<usize>()
}

fn message_tokens(message: &Value) -> usize {
    let text = |name: &str| message[name].as_str().map_or(0, most_tokens);
    let media = message["images"].as_array().map_or(0, Vec::len);
    let words = text("content") + text("thinking") + text("tool_name");
    MESSAGE_TOKENS + words + json_tokens(&message["tool_calls"]) + media * IMAGE_TOKENS
}

fn json_tokens(value: &Value) -> usize {
    if value.is_null() { 0 } else { most_tokens(&value.to_string()) }
}

/// Returns the tokens that a request may take in a window next to its answer.
pub(super) fn room(longest_answer: Option<u32>, thinks: bool, window: usize) -> usize {
    window.saturating_sub(answer_tokens(longest_answer, thinks).min(window / 2))
}

fn answer_tokens(longest_answer: Option<u32>, thinks: bool) -> usize {
    let free = if thinks { ANSWER_TOKENS + THINKING_TOKENS } else { ANSWER_TOKENS };
    longest_answer.map_or(free, |most| usize::try_from(most).unwrap_or(usize::MAX))
}

/// Returns the context to request: a power of two that holds request and answer, or the model's maximum.
pub(super) fn context(
    input: usize,
    longest_answer: Option<u32>,
    thinks: bool,
    window: usize,
) -> Result<usize, ProviderError> {
    let answer = answer_tokens(longest_answer, thinks);
    if input.saturating_add(answer.min(MIN_ANSWER)) > window {
        let told = format!("it takes up to {input} tokens and room for an answer, of a context of {window}");
        return Err(ProviderError::TooLong(told));
    }
    let needed = input.saturating_add(answer).min(window);
    Ok(needed.max(MIN_CONTEXT).checked_next_power_of_two().unwrap_or(window).min(window))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_context_is_the_next_power_of_two_within_the_models() {
        let cases = [
            // input, longest answer, thinks, window, context
            (0, None, false, 131_072, Some(4096)),
            (2048, None, false, 131_072, Some(4096)),
            (2049, None, false, 131_072, Some(8192)),
            (2049, Some(100), false, 131_072, Some(4096)),
            (2048, None, true, 131_072, Some(8192)),
            (2049, None, true, 131_072, Some(16_384)),
            (2049, None, true, 8192, Some(8192)),
            (20_000, None, false, 40_960, Some(32_768)),
            (31_000, None, false, 40_960, Some(40_960)),
            (40_704, None, false, 40_960, Some(40_960)),
            (40_705, None, false, 40_960, None),
            (40_940, Some(20), false, 40_960, Some(40_960)),
            (10, Some(u32::MAX), false, 40_960, Some(40_960)),
            (1000, None, false, 2048, Some(2048)),
            (2000, None, false, 2048, None),
            (usize::MAX, None, false, 2048, None),
            (5000, Some(u32::MAX), false, usize::MAX, Some(1 << 33)),
        ];
        for (input, longest, thinks, window, expected) in cases {
            let case = format!("{input} {longest:?} {thinks} {window}");
            assert_eq!(context(input, longest, thinks, window).ok(), expected, "{case}");
        }
        let told = context(9000, None, false, 8192).unwrap_err();
        assert_eq!(told.label(), "too_long");
        assert!(told.to_string().contains("9000 tokens") && told.to_string().contains("8192"), "{told}");
    }

    #[test]
    fn everything_that_is_sent_counts() {
        let tokens = |body: Value| input_tokens(&body) - TEMPLATE_TOKENS;
        let message = |more: Value| {
            let mut message = json!({"role": "user", "content": "Hello"});
            message.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            tokens(json!({"messages": [message]}))
        };
        assert_eq!(tokens(json!({"model": "m"})), 0);
        let plain = message(json!({}));
        assert_eq!(plain, MESSAGE_TOKENS + 2);
        assert_eq!(message(json!({"images": ["aGVsbG8=".repeat(1000), "aGk="]})), plain + 2 * IMAGE_TOKENS);
        assert_eq!(message(json!({"thinking": "hm", "tool_name": "f"})), plain + 2);
        assert!(
            message(json!({"tool_calls": [{"function": {"name": "f", "arguments": {"a": 1}}}]})) > plain + 15
        );
        assert!(tokens(json!({"tools": [{"type": "function"}]})) > 5);
        assert!(tokens(json!({"format": {"type": "object"}})) > 4);
    }
}
