//! What tests and benchmarks do with the offline model beyond what the demo does: script it, watch it, let it fail.

mod records;
mod replies;
mod script;

pub(super) use self::records::Records;
pub use self::script::Script;
