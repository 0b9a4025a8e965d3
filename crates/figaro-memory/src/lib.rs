//! Memory: an index of each chat's messages, the search for older messages relevant to a question, and the reading of
//! facts. Used when a turn is prepared, by the tool `recall`, and by `figaro memory`.

mod bearing;
mod chats;
mod documents;
mod excerpt;
pub mod facts;
mod index;
mod making;
mod meaning;
mod question;
mod recall;
mod records;
mod remember;
mod repeats;
mod search;
#[cfg(test)]
mod tests;
mod used;
mod wishes;
mod words;

pub use self::bearing::bearing;
pub use self::chats::Chats;
pub use self::documents::{DocumentSearch, FoundPassage, PassageQuery};
pub use self::making::VectorMaker;
pub use self::meaning::Meaning;
pub use self::question::RecallQuery;
pub use self::recall::Recalled;
pub use self::records::{RecordBooks, bearing_lines};
pub use self::repeats::Statement;
pub use self::search::{ChatSearch, SearchHit};
pub use self::used::used;
