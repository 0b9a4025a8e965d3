//! The record tools: `save_record`, `list_records`, `remove_record`. Records belong to the chat, in the forms of the context packs that
//! it has chosen; without any these tools are not offered.

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
