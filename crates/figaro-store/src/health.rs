//! What can be said of a store as a whole.

/// How the store is doing, for `/status` and `figaro check`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StoreHealth {
    /// The size of the store on disk, in bytes.
    pub bytes: u64,
    /// The bytes of the records in it.
    pub live: u64,
    /// Records and updates that could not be read and were set aside.
    pub unreadable: u64,
}
