//! Results of tool calls. They are stored in full up to a limit, and shown to models in part. Used by the store, the turn
//! and its children.

use figaro_base::text::cut_middle;

use crate::conversation::{EntryKey, Message, MessageRole};

/// Maximum size of a stored result, in bytes.
const MAX_STORED_BYTES: usize = 1_000_000;
/// Number of characters that a model sees of the beginning of a long result. A longer part would displace the conversation.
const SHOWN_FIRST: usize = 12_000;
/// Number of characters that a model sees of the end of a long result.
const SHOWN_LAST: usize = 4_000;

/// Returns the stored form of a result: in full, or its beginning and end with the number of omitted characters between
/// them.
#[must_use]
pub fn stored(result: String) -> String {
    if result.len() <= MAX_STORED_BYTES {
        return result;
    }
    let characters = result.chars().count();
    // A character has at most four bytes.
    let kept = (MAX_STORED_BYTES - 100) * characters / result.len() / 2;
    let between =
        format!(" … [{} characters are missing here: a result is kept up to 1 MB] … ", characters - 2 * kept);
    let kept = cut_middle(&result, kept, kept, &between);
    match kept.len() <= MAX_STORED_BYTES {
        true => kept,
        // The two ends have longer characters than the rest.
        false => {
            cut_middle(&result, MAX_STORED_BYTES / 10, MAX_STORED_BYTES / 10, " … [the middle is missing] … ")
        }
    }
}

/// Returns the shortened form of a result for a model; `None` if it fits in full. The model can read the rest by the key;
/// without a key it can only ask for less.
#[must_use]
pub fn shown(result: &str, key: Option<EntryKey>) -> Option<String> {
    let most = SHOWN_FIRST + SHOWN_LAST;
    if result.len() <= most {
        return None;
    }
    let left_out = result.chars().count().checked_sub(most).filter(|left_out| *left_out > 0)?;
    let between = match key {
        Some(key) => format!(" … [{key}: {left_out} characters left out] … "),
        None => format!(" … [{left_out} characters left out; ask for less, or for one part at a time] … "),
    };
    Some(cut_middle(result, SHOWN_FIRST, SHOWN_LAST, &between))
}

/// Shortens a stored result to the part shown to models. Returns the number of bytes saved.
pub fn show(message: &mut Message) -> usize {
    let whole = message.text.len();
    let shown =
        (message.role == MessageRole::Tool).then(|| shown(&message.text, Some(message.key()))).flatten();
    if let Some(shown) = shown {
        message.text = shown;
    }
    whole.saturating_sub(message.text.len())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use figaro_base::ids::SessionId;

    #[test]
    fn what_is_short_stays_whole() {
        let result = "ä".repeat(16_000);
        assert_eq!((stored(result.clone()), shown(&result, None)), (result, None));
    }

    #[test]
    fn a_long_result_shows_both_ends_and_how_to_get_the_rest() {
        let result = format!("{}{}{}", "a".repeat(12_000), "m".repeat(5_000), "z".repeat(4_000));
        let key = EntryKey { session: SessionId::from_bytes([7; 16]), index: 3 };
        let with_key = shown(&result, Some(key)).unwrap();
        let between = with_key.trim_start_matches('a').trim_end_matches('z');
        assert_eq!(between, format!(" … [{key}: 5000 characters left out] … "));
        assert!(shown(&result, None).unwrap().contains("5000 characters left out; ask for less"));
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

        #[test]
        fn a_stored_result_is_within_its_bound_and_keeps_both_ends(
            first in "[a-zä言😀]{0,9}", middle in prop::sample::select(vec!["m", "é", "言", "😀"]), last in "[a-zä言😀]{0,9}",
            count in 0..1_200_000_usize,
        ) {
            let whole = format!("{first}{}{last}", middle.repeat(count));
            let kept = stored(whole.clone());
            prop_assert!(kept.len() <= MAX_STORED_BYTES);
            prop_assert!(kept.starts_with(&first) && kept.ends_with(&last));
            prop_assert_eq!(kept == whole, whole.len() <= MAX_STORED_BYTES);
            prop_assert!(kept.len() == whole.len() || kept.contains("missing"));
        }
    }
}
