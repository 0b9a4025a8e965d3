//! Commands and buttons, which act at once, independently of turns. A command is a file or folder that implements
//! [`Command`]; the [`CommandTable`] finds the command to run. A new command is one file here and one line in
//! [`builtin()`].

mod access;
mod agents;
mod approve;
mod asker;
mod audit;
mod budget;
mod builtin;
mod business;
mod card;
mod cards;
mod command;
mod config;
mod dashboard;
mod docs;
mod draw;
mod export;
mod forget;
mod handles;
mod help;
mod list_page;
mod memory;
mod menu;
mod menu_button;
mod model;
mod new;
mod notes;
pub(crate) mod notices;
mod persona;
mod pins;
mod presses;
mod privacy;
mod records;
mod removed;
mod replies;
mod retry;
mod servers;
mod sessions;
mod start;
mod status;
mod stop;
mod summary;
mod table;
mod take_back;
mod tasks;
mod usage;
mod versions;
mod voice;
mod why;
mod zone;

pub use access::AccessRequests;
pub(crate) use asker::Asker;
pub use builtin::builtin;
pub use card::Card;
pub use cards::Cards;
pub(crate) use cards::named;
pub use command::{
    Access, Command, CommandOutcome, CommandRequest, CommandSpec, Group, Press, PressError, Pressed,
};
pub(crate) use config::undo::{settings_card, unreadable_card};
pub(crate) use draw::draw_buttons;
pub use handles::{Handles, PictureHandles};
pub use memory::Rewordings;
pub(crate) use memory::consent_card;
pub use persona::Personas;
pub(crate) use replies::asked_by;
pub(crate) use retry::action_buttons;
pub use sessions::Renames;
pub use table::CommandTable;
pub(crate) use take_back::undo_card;
pub use tasks::back::RestingTasks;
pub use tasks::{CardKeeper, TaskCards};
pub(crate) use zone::Clocks;
pub use zone::Zones;
