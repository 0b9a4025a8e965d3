//! What was changed and is not durable yet. It stands in memory on top of the engine: operations see it at once, and reach the
//! engine together, in one commit. A change that is undone before that never does.

use std::sync::Arc;

use crate::engine::Batch;

/// The changes that the engine has not got.
#[derive(Default)]
pub(super) struct Buffer {
    /// Those that are being committed to the engine.
    flushing: Arc<Batch>,
    /// Those that operations have made since that commit began.
    active: Batch,
    /// About how many bytes these are.
    active_bytes: usize,
    /// How many operations have changed something.
    count: u64,
}

impl Buffer {
    /// Both parts, the later changes last.
    pub(super) fn batches(&self) -> [&Batch; 2] {
        [&self.flushing, &self.active]
    }

    /// Adds the changes of an operation. Gives its number.
    pub(super) fn add(&mut self, batch: Batch) -> u64 {
        self.active_bytes += self.active.absorb(batch);
        self.count += 1;
        self.count
    }

    /// Adds to the next commit what is no operation of its own; if nothing waits, there is no commit to add it to.
    pub(super) fn add_to_commit(&mut self, table: &'static str, key: &[u8], value: Vec<u8>) {
        if !self.active.is_empty() {
            self.active.put(table, key.to_vec(), value);
        }
    }

    /// The number of the last operation.
    pub(super) const fn number(&self) -> u64 {
        self.count
    }

    /// About how many bytes wait.
    pub(super) const fn waiting_bytes(&self) -> usize {
        self.active_bytes
    }

    /// Begins a commit of all there is. Gives it, and the number of the last operation in it.
    pub(super) fn begin_flush(&mut self) -> (Arc<Batch>, u64) {
        self.flushing = Arc::new(std::mem::take(&mut self.active));
        self.active_bytes = 0;
        (Arc::clone(&self.flushing), self.count)
    }

    /// The commit is in the engine.
    pub(super) fn end_flush(&mut self) {
        self.flushing = Arc::default();
    }
}
