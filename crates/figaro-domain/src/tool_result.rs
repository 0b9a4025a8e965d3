//! Results of tool calls: stored whole within a bound, shown to models in part. Used by the store, the turn and its children.

use figaro_base::text::cut_middle;

use crate::conversation::{EntryKey, Message, Role};

/// The most bytes of a stored result.
const MAX_STORED_BYTES: usize = 1_000_000;
/// A longer result would crowd out the conversation: a model sees so many characters of its beginning,
const SHOWN_FIRST: usize = 12_000;
/// and so many of its end.
const SHOWN_LAST: usize = 4_000;

/// The result as it is stored: whole, or its beginning and its end, with the number of characters that are missing in between.
#[must_use]
pub fn stored(result: String) -> String {
    if result.len() <= MAX_STORED_BYTES {
        return result;
    }
    let characters = result.chars().count();
    // Of one character at most four bytes.
    let kept = (MAX_STORED_BYTES - 100) * characters / result.len() / 2;
    let between =
        format!(" … [{} characters are missing here: a result is kept up to 1 MB] … ", characters - 2 * kept);
    let kept = cut_middle(&result, kept, kept, &between);
    match kept.len() <= MAX_STORED_BYTES {
        true => kept,
        // Its ends are written in longer characters than the rest.
        false => {
            cut_middle(&result, MAX_STORED_BYTES / 10, MAX_STORED_BYTES / 10, " … [the middle is missing] … ")
        }
    }
}

/// What a model sees of a result that is too long to be shown whole; `None` of one that is not. The rest is looked up by the key;
/// without one the model can only ask for less.
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

/// Cuts a stored result to what models see of it, and gives how many bytes fewer it takes.
pub fn show(message: &mut Message) -> usize {
    let whole = message.text.len();
    let shown = (message.role == Role::Tool).then(|| shown(&message.text, Some(message.key()))).flatten();
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
