//! Commands and buttons: what acts at once, beside any turn. A command is a file or folder that implements [`Command`]; the
//! [`CommandTable`] finds the one that is meant. A new one is one file here and one line in [`builtin()`].

mod access;
mod asker;
mod builtin;
mod card;
mod cards;
mod command;
mod config;
mod handles;
mod help;
mod memory;
mod menu;
mod model;
mod new;
mod notes;
pub mod notices;
mod persona;
mod replies;
mod retry;
mod sessions;
mod start;
mod status;
mod stop;
mod table;
mod tasks;
mod usage;
mod zone;

pub use access::AccessRequests;
pub use asker::Asker;
pub use builtin::builtin;
pub use card::Card;
pub use cards::Cards;
pub use command::{Access, Command, Group, Outcome, Press, PressError, Pressed, Request};
pub use config::undo::{settings_card, unreadable_card};
pub use handles::Handles;
pub use memory::{Rewordings, consent_card};
pub use persona::Personas;
pub use retry::action_buttons;
pub use sessions::Renames;
pub use table::{CommandTable, Taken};
pub use tasks::back::RestingTasks;
pub use tasks::{CardKeeper, TaskCards};
pub use zone::{Clocks, Zones};
