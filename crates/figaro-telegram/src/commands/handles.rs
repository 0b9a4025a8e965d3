//! What the built-in commands are made of. Each takes what it needs.

use std::sync::Arc;

use chrono_tz::Tz;

use super::cards::Cards;
use crate::inbound::Me;
use figaro_agent::eraser::Eraser;
use figaro_agent::tools::Registry;
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
use figaro_policy::tools::Policy;
use figaro_prompts::Prompts;
use figaro_store::Store;

/// Handles of all that commands work on.
#[derive(Debug)]
pub struct Handles {
    /// Sends and edits cards.
    pub cards: Cards,
    /// All that is stored.
    pub store: Store,
    /// The agents that a chat can choose.
    pub prompts: Arc<Prompts>,
    /// Who may use the bot by the settings.
    pub access: AccessSettings,
    /// Turns that wait for a person.
    pub parked: Parked,
    /// The records of chats.
    pub records: RecordBooks,
    /// Makes reminders of records.
    pub reminding: Reminding,
    /// Erases what people want forgotten.
    pub eraser: Eraser,
    /// The key of the hashes of codes that let people in.
    pub code_key: CodeKey,
    /// Who may approve what takes an approval.
    pub approvers: Approvers,
    /// The calls of the Bot API, by which what was done is taken back.
    pub telegram: TelegramTools,
    /// The bot's own account.
    pub me: Me,
    /// What models there are and what they have cost.
    pub ledger: Arc<Ledger>,
    /// The queues of conversations.
    pub mailboxes: Mailboxes,
    /// Takes facts from what people say.
    pub extractor: Extractor,
    /// Every tool there is.
    pub tools: Arc<Registry>,
    /// What the model may do.
    pub policy: Policy,
    /// The most tasks of a chat.
    pub tasks_per_chat: usize,
    /// The zone of chats that set none.
    pub default_zone: Tz,
    /// The other MCP servers.
    pub servers: Servers,
    /// The handle of the Telegram MCP server's process.
    pub mcp: Mcp,
}
