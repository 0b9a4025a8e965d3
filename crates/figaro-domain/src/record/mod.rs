//! Records: what a chat keeps in the forms that context packs declare, such as patients, medications and readings. The forms
//! (`pack`), what may stand in them (`value`, `read`), the records themselves (`kept`, `saving`, `removal`), what reminds of them
//! (`reminders`, `following`), and what a history of readings comes to (`series`). Pure: the files of packs are read by `prompts`, records are stored by `store`.

mod book;
mod following;
mod kept;
mod pack;
mod read;
mod reminders;
mod removal;
mod saving;
mod series;
#[cfg(test)]
mod tests;
mod times;
mod value;
mod words;

pub use book::{Book, Entry};
pub use following::{Change, Following, Forms, following};
pub use kept::{Filled, MAX_RECORDS, Origin, Record};
pub use pack::{Field, FieldType, Kind, Pack, Range, Remind, Rules, Series, Share};
pub use read::{Reading, Values, read_fields, read_moment};
pub use reminders::{Reminder, reminders};
pub use removal::{Removal, Removed, Restored, restoring};
pub use saving::{Draft, Saved, saving, without_fields};
pub use series::{Point, Trend, points, trend};
pub use value::FieldValue;
pub use words::Words;
