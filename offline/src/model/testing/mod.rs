//! What tests and benchmarks do with the offline model beyond what the demo does: script it, watch it, let it fail.

mod records;
mod replies;
mod script;

pub(super) use self::records::RequestLog;
pub use self::script::ReplyScript;
