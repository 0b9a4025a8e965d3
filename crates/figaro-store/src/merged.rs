//! Scan of an engine merged with changes that are not in it yet.

use std::collections::{BTreeMap, VecDeque};

use super::fault::StoreFault;
use crate::engine::{Batch, EntryScan, Keys, Result};

/// Changes of a range by key: a new value, or `None` for a removed key.
pub(super) type RangeOverlay<T> = BTreeMap<Vec<u8>, Option<T>>;

/// Collects the changes of some batches to a range, the latest batch last.
pub(super) fn over<'b, T>(
    batches: impl IntoIterator<Item = &'b Batch>,
    table: &str,
    keys: &Keys,
    value: impl Fn(&[u8]) -> T,
) -> RangeOverlay<T> {
    let mut over = RangeOverlay::new();
    for batch in batches {
        over.extend(batch.range(table, keys).map(|(key, changed)| (key.to_vec(), changed.map(&value))));
    }
    over
}

/// Merged items in key order, from either end.
pub(super) struct Merged<'a, T> {
    base: EntryScan<'a, (Vec<u8>, T)>,
    /// Base items read from an end and not returned yet.
    first: Option<(Vec<u8>, T)>,
    last: Option<(Vec<u8>, T)>,
    over: VecDeque<(Vec<u8>, Option<T>)>,
}

impl<'a, T> Merged<'a, T> {
    pub(super) fn new(base: EntryScan<'a, (Vec<u8>, T)>, over: RangeOverlay<T>) -> Self {
        Self { base, first: None, last: None, over: over.into_iter().collect() }
    }

    /// Returns the first base item that was not returned yet.
    fn first(&mut self) -> Result<Option<(Vec<u8>, T)>> {
        match self.first.take() {
            Some(first) => Ok(Some(first)),
            None => Ok(self.base.next().transpose()?.or_else(|| self.last.take())),
        }
    }

    fn last(&mut self) -> Result<Option<(Vec<u8>, T)>> {
        match self.last.take() {
            Some(last) => Ok(Some(last)),
            None => Ok(self.base.next_back().transpose()?.or_else(|| self.first.take())),
        }
    }
}

impl<T> Iterator for Merged<'_, T> {
    type Item = Result<(Vec<u8>, T), StoreFault>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let base = match self.first() {
                Ok(base) => base,
                Err(error) => return Some(Err(error.into())),
            };
            let Some((key, changed)) =
                self.over.pop_front_if(|(key, _)| base.as_ref().is_none_or(|(other, _)| *key <= *other))
            else {
                return base.map(Ok);
            };
            // A changed item replaces that of the base.
            self.first = base.filter(|(other, _)| *other != key);
            if let Some(value) = changed {
                return Some(Ok((key, value)));
            }
        }
    }
}

impl<T> DoubleEndedIterator for Merged<'_, T> {
    fn next_back(&mut self) -> Option<Self::Item> {
        loop {
            let base = match self.last() {
                Ok(base) => base,
                Err(error) => return Some(Err(error.into())),
            };
            let Some((key, changed)) =
                self.over.pop_back_if(|(key, _)| base.as_ref().is_none_or(|(other, _)| *key >= *other))
            else {
                return base.map(Ok);
            };
            self.last = base.filter(|(other, _)| *other != key);
            if let Some(value) = changed {
                return Some(Ok((key, value)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn both_ends_meet_without_loss(
            base: BTreeMap<u8, u8>, changes: BTreeMap<u8, Option<u8>>, from_back: Vec<bool>,
        ) {
            let mut expected = base.clone();
            for (key, change) in &changes {
                match change {
                    Some(value) => drop(expected.insert(*key, *value)),
                    None => drop(expected.remove(key)),
                }
            }
            let mut expected: VecDeque<_> = expected.into_iter().collect();
            let scan = base.into_iter().map(|(key, value)| Ok((vec![key], value)));
            let over = changes.into_iter().map(|(key, value)| (vec![key], value)).collect();
            let mut merged = Merged::new(Box::new(scan), over);
            for back in from_back.into_iter().chain(std::iter::repeat(false)) {
                let (found, wanted) = match back {
                    true => (merged.next_back(), expected.pop_back()),
                    false => (merged.next(), expected.pop_front()),
                };
                let found = found.map(|item| item.map(|(key, value)| (key[0], value)).unwrap());
                prop_assert_eq!(found, wanted);
                if wanted.is_none() {
                    break;
                }
            }
        }
    }
}
