//! The commands that Figaro has: a new one is one file here and one line below.

use std::sync::Arc;

use super::access::ChangeAccess;
use super::agents::Agents;
use super::approve::Approve;
use super::audit::Audit;
use super::command::Command;
use super::config::Config;
use super::export::Export;
use super::forget::Forget;
use super::handles::Handles;
use super::help::Help;
use super::memory::Memory;
use super::model::Model;
use super::new::NewSession;
use super::notes::Notes;
use super::persona::Persona;
use super::pins::{PinWords, Pins};
use super::privacy::Privacy;
use super::records::Records;
use super::retry::Retry;
use super::servers::McpServers;
use super::sessions::Sessions;
use super::start::Start;
use super::status::Status;
use super::stop::Stop;
use super::tasks::Tasks;
use super::usage::Usage;
use super::why::Why;
use super::zone::Timezone;

/// Every built-in command, in the order in which Telegram's list and `/help` show them.
#[must_use]
pub fn builtin(handles: &Handles) -> Vec<Arc<dyn Command>> {
    vec![
        Arc::new(Start::new(handles)),
        Arc::new(Help::new(handles)),
        Arc::new(NewSession::new(handles)),
        Arc::new(Sessions::new(handles)),
        Arc::new(Retry::new(handles)),
        Arc::new(Stop::new(handles)),
        Arc::new(Why::new(handles)),
        Arc::new(Notes::new(handles)),
        Arc::new(Records::new(handles)),
        Arc::new(PinWords::new(handles)),
        Arc::new(Pins::new(handles)),
        Arc::new(Memory::new(handles)),
        Arc::new(Forget::new(handles)),
        Arc::new(Export::new(handles)),
        Arc::new(Privacy::new(handles)),
        Arc::new(Tasks::new(handles)),
        Arc::new(Model::new(handles)),
        Arc::new(Persona::new(handles)),
        Arc::new(Agents::new(handles)),
        Arc::new(Config::new(handles)),
        Arc::new(Timezone::new(handles)),
        Arc::new(Usage::new(handles)),
        Arc::new(Status::new(handles)),
        Arc::new(Approve::new(handles)),
        Arc::new(Audit::new(handles)),
        Arc::new(McpServers::new(handles)),
        Arc::new(ChangeAccess::allow(handles)),
        Arc::new(ChangeAccess::deny(handles)),
    ]
}
