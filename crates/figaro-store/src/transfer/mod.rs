//! Moves of a whole store: into another store (`copy`), into a file (`export`), out of one (`import`). An interrupted
//! move continues where it stopped; a new store cannot be opened until it is complete and was compared.

mod copy;
mod error;
mod export;
mod import;
mod lines;
mod source;
mod target;

pub use self::copy::copy;
pub use self::error::TransferError;
pub(crate) use self::export::write_all;
pub use self::export::{export_beside, export_file, export_to};
pub use self::import::import;
pub use self::lines::is_export_end;
pub(crate) use self::source::StoreSource;

type Result<T, E = TransferError> = std::result::Result<T, E>;
