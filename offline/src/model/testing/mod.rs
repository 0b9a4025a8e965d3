//! Controls of the offline model for tests and benchmarks: scripted replies, records and faults.

mod records;
mod replies;
mod script;

pub(super) use self::records::RequestLog;
pub use self::script::ReplyScript;
