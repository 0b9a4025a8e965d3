//! Input of writes and reads: a batch of changes, a range of keys.

use std::collections::BTreeMap;
use std::ops::Bound;

/// Changes of one table by key: the new value, or `None` to remove the key.
type TableChanges = BTreeMap<Vec<u8>, Option<Vec<u8>>>;

/// Changes of several tables, made together or not at all. The last change of a key counts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Batch(BTreeMap<&'static str, TableChanges>);

impl Batch {
    /// Writes a value, replacing an existing one.
    pub fn put(&mut self, table: &'static str, key: Vec<u8>, value: Vec<u8>) {
        self.0.entry(table).or_default().insert(key, Some(value));
    }

    /// Removes a key, if it exists.
    pub fn remove(&mut self, table: &'static str, key: Vec<u8>) {
        self.0.entry(table).or_default().insert(key, None);
    }

    /// Returns `true` if there are no changes.
    #[must_use]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns `true` if a key of a table is changed.
    #[must_use]
    pub(crate) fn touches(&self, table: &'static str, key: &[u8]) -> bool {
        self.0.get(table).is_some_and(|changes| changes.contains_key(key))
    }

    /// Returns the change of a key, with `Some(None)` for a removed key; `None` if it is unchanged.
    #[must_use]
    pub(crate) fn get(&self, table: &str, key: &[u8]) -> Option<Option<&[u8]>> {
        self.0.get(table)?.get(key).map(Option::as_deref)
    }

    /// Iterates over the changes of a range of keys, in order.
    pub(crate) fn range(&self, table: &str, keys: &Keys) -> impl Iterator<Item = (&[u8], Option<&[u8]>)> {
        let changes = self.0.get(table).filter(|_| !keys.is_empty()).into_iter();
        changes
            .flat_map(|changes| changes.range::<[u8], _>(keys.bounds()))
            .map(|(key, value)| (key.as_slice(), value.as_deref()))
    }

    /// Adds the changes of a later batch. Returns their approximate size in bytes.
    pub(crate) fn absorb(&mut self, later: Self) -> usize {
        let mut bytes = 0;
        for (table, changes) in later.0 {
            bytes += changes
                .iter()
                .map(|(key, value)| key.len() + value.as_ref().map_or(0, Vec::len))
                .sum::<usize>();
            self.0.entry(table).or_default().extend(changes);
        }
        bytes
    }

    /// Iterates over the changes by table, and in each by key.
    pub(crate) fn tables(
        &self,
    ) -> impl Iterator<Item = (&'static str, impl Iterator<Item = (&[u8], Option<&[u8]>)>)> {
        self.0.iter().map(|(table, changes)| {
            (*table, changes.iter().map(|(key, value)| (key.as_slice(), value.as_deref())))
        })
    }
}

/// A range of keys with inclusive, exclusive or open ends.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Keys {
    /// First key, or the key before it; unbounded from the very first key.
    pub(crate) begin: Bound<Vec<u8>>,
    /// Last key, or the key after it; unbounded up to the very last key.
    pub(crate) end: Bound<Vec<u8>>,
}

impl Keys {
    /// Returns the range of keys with this prefix; all keys for an empty one.
    #[must_use]
    pub fn beginning_with(prefix: impl Into<Vec<u8>>) -> Self {
        let prefix = prefix.into();
        Self { end: after(&prefix), begin: Bound::Included(prefix) }
    }

    /// Returns the range from this key on, within `prefix`.
    #[must_use]
    pub(crate) fn from(first: impl Into<Vec<u8>>, prefix: &[u8]) -> Self {
        Self { begin: Bound::Included(first.into()), end: after(prefix) }
    }

    /// Returns the range after this key.
    #[must_use]
    pub(crate) fn after(last: impl Into<Vec<u8>>) -> Self {
        Self { begin: Bound::Excluded(last.into()), end: Bound::Unbounded }
    }

    /// Returns the range before this key, within `prefix`.
    #[must_use]
    pub(crate) fn before(end: impl Into<Vec<u8>>, prefix: &[u8]) -> Self {
        Self { begin: Bound::Included(prefix.to_vec()), end: Bound::Excluded(end.into()) }
    }

    /// Returns `true` if the range cannot contain a key. Engines may skip it; some panic on such a range.
    #[must_use]
    pub(crate) fn is_empty(&self) -> bool {
        match (&self.begin, &self.end) {
            (Bound::Included(begin), Bound::Included(end)) => begin > end,
            (
                Bound::Included(begin) | Bound::Excluded(begin),
                Bound::Excluded(end) | Bound::Included(end),
            ) => begin >= end,
            (Bound::Unbounded, _) | (_, Bound::Unbounded) => false,
        }
    }

    /// Returns `true` if the range contains a key.
    #[cfg(test)]
    pub(crate) fn contains(&self, key: &[u8]) -> bool {
        std::ops::RangeBounds::<[u8]>::contains(&self.bounds(), key)
    }

    /// Returns both ends in the form of standard collections.
    #[must_use]
    pub(crate) fn bounds(&self) -> (Bound<&[u8]>, Bound<&[u8]>) {
        (self.begin.as_ref().map(Vec::as_slice), self.end.as_ref().map(Vec::as_slice))
    }
}

/// Returns the end of the keys with this prefix: the prefix with one added to the last byte that can take it.
fn after(prefix: &[u8]) -> Bound<Vec<u8>> {
    match prefix.iter().rposition(|byte| *byte < u8::MAX) {
        Some(last) => {
            let mut end = prefix[..=last].to_vec();
            end[last] += 1;
            Bound::Excluded(end)
        }
        None => Bound::Unbounded,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_range_holds_what_begins_so(prefix in prop::collection::vec(250u8.., 0..3), key in prop::collection::vec(250u8.., 0..5)) {
            let keys = Keys::beginning_with(prefix.clone());
            prop_assert!(!keys.is_empty());
            prop_assert_eq!(keys.contains(&key), key.starts_with(&prefix));
        }

        #[test]
        fn a_range_ends_and_begins_where_it_is_told(at in prop::collection::vec(any::<u8>(), 0..4), key in prop::collection::vec(any::<u8>(), 0..4)) {
            let (begin, end) = (Keys::from(at.clone(), &[]), Keys::before(at.clone(), &[]));
            prop_assert_eq!(begin.contains(&key), key >= at);
            prop_assert_eq!(end.contains(&key), key < at);
            prop_assert_eq!(end.is_empty(), at.is_empty());
        }
    }
}
