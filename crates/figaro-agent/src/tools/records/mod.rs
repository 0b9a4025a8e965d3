//! The record tools: `save_record`, `list_records`, `remove_record`. Records belong to the chat; its context packs define
//! their fields. Without packs these tools are not offered.

mod arguments;
mod base;
mod list;
mod offered;
mod reminding;
mod remove;
mod rights;
mod save;
mod scheduling;

pub use self::base::RecordTools;
pub use self::reminding::{NotReminded, RemindedBy, Reminding};
pub use self::rights::Remover;
