//! Changes that are not durable yet. They are layered in memory over the engine: operations see them at once, and they
//! reach the engine together in one commit. A change that is undone before the commit never reaches it.

use std::sync::Arc;

use crate::engine::Batch;

/// Changes that are not in the engine yet.
#[derive(Default)]
pub(super) struct Buffer {
    /// Changes of the commit in progress.
    flushing: Arc<Batch>,
    /// Changes made since that commit began.
    active: Batch,
    /// Approximate size of `active`, in bytes.
    active_bytes: usize,
    /// Number of operations that changed something.
    count: u64,
}

impl Buffer {
    /// Returns both batches, the later one last.
    pub(super) fn batches(&self) -> [&Batch; 2] {
        [&self.flushing, &self.active]
    }

    /// Adds the changes of an operation and returns its number.
    pub(super) fn add(&mut self, batch: Batch) -> u64 {
        self.active_bytes += self.active.absorb(batch);
        self.count += 1;
        self.count
    }

    /// Adds a value to the next commit without counting an operation; ignored if nothing waits for a commit.
    pub(super) fn add_to_commit(&mut self, table: &'static str, key: &[u8], value: Vec<u8>) {
        if !self.active.is_empty() {
            self.active.put(table, key.to_vec(), value);
        }
    }

    /// Returns the number of the last operation.
    pub(super) const fn number(&self) -> u64 {
        self.count
    }

    /// Returns the approximate number of bytes waiting for a commit.
    pub(super) const fn waiting_bytes(&self) -> usize {
        self.active_bytes
    }

    /// Begins a commit of all changes. Returns them and the number of the last operation in them.
    pub(super) fn begin_flush(&mut self) -> (Arc<Batch>, u64) {
        self.flushing = Arc::new(std::mem::take(&mut self.active));
        self.active_bytes = 0;
        (Arc::clone(&self.flushing), self.count)
    }

    /// Marks the commit as done: its changes are in the engine.
    pub(super) fn end_flush(&mut self) {
        self.flushing = Arc::default();
    }
}
