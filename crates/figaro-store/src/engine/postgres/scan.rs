//! Entries of a range, read page by page from either end.

use std::collections::VecDeque;

use super::super::batch::Keys;
use super::super::port::{KeyValue, Result};
use super::cache::TableRead;
use super::reader::{ReadPage, RowReader};
use super::span::ScanOrder;

/// Number of entries in the first page. Later ones double up to the largest: most readers want a few, some want all.
const FIRST: usize = 32;
const LARGEST: usize = 1_024;

/// Iterator over the entries of a range.
pub(super) struct PageScan {
    reader: RowReader,
    table: String,
    with_values: bool,
    /// Part of the range that is not read yet; `None` once all is.
    rest: Option<Keys>,
    size: usize,
    /// Entries that were read from the beginning, and from the end.
    front: VecDeque<KeyValue>,
    back: VecDeque<KeyValue>,
}

impl PageScan {
    /// Makes a scan of a range.
    pub(super) fn new(reader: RowReader, of: TableRead<'_>, keys: &Keys) -> Self {
        let (front, back) = (VecDeque::new(), VecDeque::new());
        let TableRead { table, with_values } = of;
        let rest = Some(keys.clone()).filter(|keys| !keys.is_empty());
        Self { reader, table: table.to_owned(), with_values, rest, size: FIRST, front, back }
    }

    /// Reads from one end until there is an entry, or nothing is left.
    fn read(&mut self, order: ScanOrder) -> Result<()> {
        while let Some(keys) = &self.rest {
            let of = TableRead { table: &self.table, with_values: self.with_values };
            let ReadPage { entries, rest } = self.reader.page(of, keys, order, self.size)?;
            self.size = LARGEST.min(self.size * 2);
            self.rest = rest;
            if entries.is_empty() {
                continue;
            }
            match order {
                ScanOrder::Ascending => self.front.extend(entries),
                ScanOrder::Descending => entries.into_iter().for_each(|entry| self.back.push_front(entry)),
            }
            return Ok(());
        }
        Ok(())
    }

    /// Ends the scan after an error.
    fn broken(&mut self) {
        self.rest = None;
        self.front.clear();
        self.back.clear();
    }
}

impl Iterator for PageScan {
    type Item = Result<KeyValue>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.front.is_empty()
            && let Err(error) = self.read(ScanOrder::Ascending)
        {
            self.broken();
            return Some(Err(error));
        }
        self.front.pop_front().or_else(|| self.back.pop_front()).map(Ok)
    }
}

impl DoubleEndedIterator for PageScan {
    fn next_back(&mut self) -> Option<Self::Item> {
        if self.back.is_empty()
            && let Err(error) = self.read(ScanOrder::Descending)
        {
            self.broken();
            return Some(Err(error));
        }
        self.back.pop_back().or_else(|| self.front.pop_back()).map(Ok)
    }
}
