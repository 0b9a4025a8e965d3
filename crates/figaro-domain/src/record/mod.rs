//! Records: data of a chat in the forms that context packs declare, such as patients, medications and readings. Covers the
//! forms (`pack`), their values (`value`, `read`), the records (`kept`, `saving`, `removal`), reminders (`reminders`,
//! `following`) and histories of readings (`series`). Pure: `prompts` reads the files of packs, `store` stores the records.

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

pub use book::{Book, BookEntry};
pub use following::{Forms, RecordChange, ReminderEdits, following};
pub use kept::{Filled, MAX_RECORDS, Record, ValueOrigin};
pub use pack::{Field, FieldType, ImportanceRules, Kind, Pack, Range, Remind, Series, Share};
pub use read::{FieldValues, ParseContext, read_fields, read_moment};
pub use reminders::{Reminder, reminders};
pub use removal::{Removal, Removed, Restored, restoring};
pub use saving::{RecordDraft, SaveResult, saving, without_fields};
pub use series::{Point, Trend, points, trend};
pub use value::FieldValue;
pub use words::Words;
