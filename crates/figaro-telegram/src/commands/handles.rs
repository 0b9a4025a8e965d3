//! Dependencies of the built-in commands. Each command takes what it needs.

use std::sync::Arc;

use figaro_base::tz::Tz;

use super::cards::Cards;
use crate::business::Drafter;
use crate::inbound::Me;
use figaro_agent::eraser::Eraser;
use figaro_agent::explain::Explainer;
use figaro_agent::rulings::Rulings;
use figaro_agent::sign_in::OfferedDashboard;
use figaro_agent::task_control::TaskControl;
use figaro_agent::tools::draw::LastPictures;
use figaro_agent::tools::records::Reminding;
use figaro_agent::tools::telegram::{Approvers, TelegramTools};
use figaro_agent::turn::extraction::Extractor;
use figaro_agent::turn::parked::Parked;
use figaro_agent::turn::queue::Mailboxes;
use figaro_config::AccessSettings;
use figaro_domain::code::CodeKey;
use figaro_ledger::Ledger;
use figaro_mcp_client::servers::Servers;
use figaro_mcp_client::supervisor::Mcp;
use figaro_memory::RecordBooks;
use figaro_prompts::Prompts;
use figaro_store::Store;

/// Drawn pictures, for the commands.
#[derive(Debug, Clone)]
pub struct PictureHandles {
    /// `true` if there is a model that draws.
    pub is_on: bool,
    /// Last pictures of conversations, which are changed next.
    pub last: LastPictures,
}

/// Dependencies that the built-in commands are created with.
#[derive(Debug)]
pub struct Handles {
    /// Shows and edits cards, and answers presses.
    pub cards: Cards,
    /// Database; gives access to the single stores.
    pub store: Store,
    /// Agents, personas and context packs that a chat can choose.
    pub prompts: Arc<Prompts>,
    /// Owners and access mode, from the settings.
    pub access: AccessSettings,
    /// Turns that wait for an answer or an approval by a person.
    pub parked: Parked,
    /// Records of chats and their packs.
    pub records: RecordBooks,
    /// Creates and finds reminder tasks of records.
    pub reminding: Reminding,
    /// Erases stored data, for `/forget` and deleted sessions.
    pub eraser: Eraser,
    /// Key for the hashes of pairing codes.
    pub code_key: CodeKey,
    /// Checks the right to approve a call.
    pub approvers: Approvers,
    /// Bot API calls, used to take back what a turn did.
    pub telegram: TelegramTools,
    /// Identity of the bot's account, as Telegram tells it.
    pub me: Me,
    /// Models that can answer, with their prices and usage.
    pub ledger: Arc<Ledger>,
    /// Job queues of the conversations, with their limits.
    pub mailboxes: Mailboxes,
    /// Drafts replies to customers of connected accounts.
    pub business: Arc<Drafter>,
    /// Extracts facts to remember from messages.
    pub extractor: Extractor,
    /// Switch of drawing, and the last pictures.
    pub pictures: PictureHandles,
    /// `true` if there is a model that speaks.
    pub speaks: bool,
    /// Changes tasks on request, within the limit of tasks of a chat.
    pub task_control: TaskControl,
    /// Rules on calls that wait for an approval.
    pub rulings: Rulings,
    /// Explains messages, for `/why`.
    pub explainer: Explainer,
    /// The dashboard; `None` if it is off.
    pub dashboard: Option<OfferedDashboard>,
    /// Time zone of chats without a zone.
    pub default_zone: Tz,
    /// Configured MCP servers other than Telegram's.
    pub servers: Servers,
    /// Handle of the Telegram MCP server's process.
    pub mcp: Mcp,
}
