//! Many texts that are looked for at once: how long that takes depends on where they are looked for, not on how many there are.

use std::collections::HashSet;

/// Shorter texts are not looked for: they stand everywhere.
const LEAST: usize = 6;

/// Texts to be found in others.
#[derive(Debug)]
pub(super) struct Needles {
    /// In order, and none that begins with another one: where it stands, the other does.
    sorted: Vec<Vec<u8>>,
    /// Whether one begins with these two bytes.
    pairs: Vec<bool>,
    /// What they begin with.
    beginnings: HashSet<[u8; LEAST]>,
}

impl Needles {
    /// These texts, but for short ones.
    pub(super) fn of(texts: impl IntoIterator<Item = String>) -> Self {
        let long = texts.into_iter().filter(|text| text.len() >= LEAST);
        let mut sorted: Vec<Vec<u8>> = long.map(String::into_bytes).collect();
        sorted.sort_unstable();
        sorted.dedup_by(|text, before| text.starts_with(before));
        let (mut pairs, mut beginnings) = (vec![false; 1 << 16], HashSet::new());
        for beginning in sorted.iter().filter_map(|text| text.first_chunk::<LEAST>()) {
            pairs[pair(beginning)] = true;
            beginnings.insert(*beginning);
        }
        Self { sorted, pairs, beginnings }
    }

    /// Whether one of them stands in these bytes.
    pub(super) fn stand_in(&self, bytes: &[u8]) -> bool {
        let is_here = |(at, part): (usize, &[u8])| {
            self.pairs[pair(part)] && self.beginnings.contains(part) && self.begin(&bytes[at..])
        };
        !self.sorted.is_empty() && bytes.windows(LEAST).enumerate().any(is_here)
    }

    /// Whether one of them is the beginning of these bytes. That one is the last that does not sort behind them: what sorts
    /// between the two begins with it.
    fn begin(&self, bytes: &[u8]) -> bool {
        let behind = self.sorted.partition_point(|text| text.as_slice() <= bytes);
        behind.checked_sub(1).is_some_and(|last| bytes.starts_with(&self.sorted[last]))
    }
}

fn pair(bytes: &[u8]) -> usize {
    let [first, second] = bytes.first_chunk().copied().unwrap_or_default();
    usize::from(u16::from_be_bytes([first, second]))
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn they_are_found_where_one_of_them_stands(
            texts in vec("[ab]{0,12}", 0..40),
            hay in "[abc]{0,60}",
            from in any::<prop::sample::Index>(),
        ) {
            let mut hay = hay;
            if !texts.is_empty() {
                hay.insert_str(hay.len() / 2, &texts[from.index(texts.len())]);
            }
            let one_by_one = texts.iter().any(|text| text.len() >= LEAST && hay.contains(text.as_str()));
            prop_assert_eq!(Needles::of(texts).stand_in(hay.as_bytes()), one_by_one);
        }
    }
}
