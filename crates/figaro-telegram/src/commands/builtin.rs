//! List of the built-in commands: a new command is one file here and one line below.

use std::sync::Arc;

use super::access::AccessCommand;
use super::agents::AgentsCommand;
use super::approve::ApproveCommand;
use super::audit::AuditCommand;
use super::budget::BudgetCommand;
use super::business::BusinessCommand;
use super::command::Command;
use super::config::ConfigCommand;
use super::dashboard::DashboardCommand;
use super::docs::DocsCommand;
use super::draw::DrawCommand;
use super::export::ExportCommand;
use super::forget::ForgetCommand;
use super::handles::Handles;
use super::help::HelpCommand;
use super::memory::MemoryCommand;
use super::model::ModelCommand;
use super::new::NewCommand;
use super::notes::NotesCommand;
use super::persona::PersonaCommand;
use super::pins::{PinCommand, PinsCommand};
use super::privacy::PrivacyCommand;
use super::records::RecordsCommand;
use super::retry::RetryCommand;
use super::servers::McpCommand;
use super::sessions::SessionsCommand;
use super::start::StartCommand;
use super::status::StatusCommand;
use super::stop::StopCommand;
use super::summary::SummaryCommand;
use super::tasks::TasksCommand;
use super::usage::UsageCommand;
use super::voice::VoiceCommand;
use super::why::WhyCommand;
use super::zone::TimezoneCommand;

/// Creates every built-in command, in the order of Telegram's list and of `/help`.
#[must_use]
pub fn builtin(handles: &Handles) -> Vec<Arc<dyn Command>> {
    vec![
        Arc::new(StartCommand::new(handles)),
        Arc::new(HelpCommand::new(handles)),
        Arc::new(NewCommand::new(handles)),
        Arc::new(SessionsCommand::new(handles)),
        Arc::new(RetryCommand::new(handles)),
        Arc::new(StopCommand::new(handles)),
        Arc::new(SummaryCommand::new(handles)),
        Arc::new(WhyCommand::new(handles)),
        Arc::new(DrawCommand::new(handles)),
        Arc::new(NotesCommand::new(handles)),
        Arc::new(DocsCommand::new(handles)),
        Arc::new(RecordsCommand::new(handles)),
        Arc::new(PinCommand::new(handles)),
        Arc::new(PinsCommand::new(handles)),
        Arc::new(MemoryCommand::new(handles)),
        Arc::new(ForgetCommand::new(handles)),
        Arc::new(ExportCommand::new(handles)),
        Arc::new(PrivacyCommand::new(handles)),
        Arc::new(TasksCommand::new(handles)),
        Arc::new(ModelCommand::new(handles)),
        Arc::new(PersonaCommand::new(handles)),
        Arc::new(AgentsCommand::new(handles)),
        Arc::new(ConfigCommand::new(handles)),
        Arc::new(BusinessCommand::new(handles)),
        Arc::new(VoiceCommand::new(handles)),
        Arc::new(TimezoneCommand::new(handles)),
        Arc::new(UsageCommand::new(handles)),
        Arc::new(BudgetCommand::new(handles)),
        Arc::new(StatusCommand::new(handles)),
        Arc::new(DashboardCommand::new(handles)),
        Arc::new(ApproveCommand::new(handles)),
        Arc::new(AuditCommand::new(handles)),
        Arc::new(McpCommand::new(handles)),
        Arc::new(AccessCommand::new(handles, true)),
        Arc::new(AccessCommand::new(handles, false)),
    ]
}
