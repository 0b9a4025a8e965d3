//! Commands below those of `figaro`, such as `figaro store check`.

use std::path::PathBuf;

use clap::Subcommand;

use super::values::{NamedChat, Only, chat, number, role, share, store_in};
use figaro_config::StoreUrl;
use figaro_policy::tools::CallerRole;

/// Commands for a store. A store that a running bot has open is in use and left alone.
#[derive(Debug, Subcommand)]
pub enum StoreSubcommand {
    /// Copy a store into a new one, of another engine or in another folder, and compare the two.
    ///
    /// FROM is not changed. If the copy is interrupted, run the same command again: it continues. For
    /// example: figaro store copy sled:./data redb:./data
    Copy {
        /// The store that is copied, as redb:FOLDER, sled:FOLDER or postgres://….
        from: StoreUrl,
        /// Where the copy is made; there must be no store of that engine yet.
        to: StoreUrl,
    },
    /// Read the whole store, say what it contains and if it is intact, and repair the effects of a power failure.
    Check {
        /// The store, as redb:FOLDER, sled:FOLDER or postgres://…; else that of STORE_URL.
        store: Option<StoreUrl>,
        /// Accept the loss of a damaged store, so that the bot can open it again; the check says what is missing.
        #[arg(long)]
        accept_loss: bool,
    },
    /// Give the free space inside the store back to the disk.
    Compact {
        /// The store, as redb:FOLDER, sled:FOLDER or postgres://…; else that of STORE_URL.
        store: Option<StoreUrl>,
    },
    /// Make the tables of a database, or bring them to the version of this program.
    ///
    /// The bot does that itself if its user may. Otherwise run this once as the owner of the database.
    Migrate {
        /// The store, as postgres://…; else that of STORE_URL.
        store: Option<StoreUrl>,
    },
}

/// Commands for the audit log.
#[derive(Debug, Subcommand)]
pub enum AuditSubcommand {
    /// Count the entries and test that nobody changed them; the exit code is 1 if somebody did.
    Verify {
        /// The store, as redb:FOLDER, sled:FOLDER or postgres://…; else that of STORE_URL.
        #[arg(long)]
        store: Option<StoreUrl>,
    },
    /// Write all entries into a new file as lines of JSON, the oldest first.
    Export {
        /// The file; there must be none yet.
        to: PathBuf,
        /// The store, as redb:FOLDER, sled:FOLDER or postgres://…; else that of STORE_URL.
        #[arg(long)]
        store: Option<StoreUrl>,
    },
}

/// Measurements of the memory of chats, by the code that the bot runs. No model is asked and nothing is sent.
#[derive(Debug, Subcommand)]
pub enum MemorySubcommand {
    /// Add conversations to a store; what is there already is left alone.
    ///
    /// Each line of the file is a conversation as JSON: conversation_id, and messages with id, text and, where known, session,
    /// speaker, role (user or assistant) and timestamp.
    Import {
        /// The folder of the store, or redb:FOLDER, sled:FOLDER or postgres://….
        #[arg(long, value_parser = store_in)]
        store: StoreUrl,
        /// The file; `-` reads from standard input.
        from: PathBuf,
    },
    /// Print the part of a conversation that goes to the model for a question.
    Recall {
        /// The folder of the store, or redb:FOLDER, sled:FOLDER or postgres://….
        #[arg(long, value_parser = store_in)]
        store: StoreUrl,
        /// A file of questions, a line of JSON each: question_id, conversation_id, question and, where known, asked_at; `-` reads
        /// from standard input.
        #[arg(long, value_name = "FILE", conflicts_with_all = ["conversation", "question"], required_unless_present = "question")]
        batch: Option<PathBuf>,
        /// The conversation that the question is asked in: as it was imported, or the number of a chat.
        #[arg(long, value_name = "ID", requires = "question")]
        conversation: Option<String>,
        /// Question to find messages for; alternatively --batch names a file of them.
        #[arg(requires = "conversation")]
        question: Option<String>,
        /// The most tokens of a context.
        #[arg(long, value_name = "TOKENS", default_value_t = 3000, value_parser = number::<usize>(100..=1_000_000), allow_negative_numbers = true)]
        budget: usize,
        /// The part of it for the newest messages, from 0 to 1; without it, what the bot gives them.
        #[arg(long, value_name = "SHARE", value_parser = share, allow_negative_numbers = true)]
        recent: Option<f64>,
        /// Leave the newest messages out.
        #[arg(long, conflicts_with = "recent")]
        only: Option<Only>,
        /// Print a line of JSON for each question: question_id, context, tokens, items (best first) and took_ms.
        #[arg(long)]
        json: bool,
    },
    /// Print how many messages there are, what they take, and how long their indexes take to be read.
    Stats {
        /// The folder of the store, or redb:FOLDER, sled:FOLDER or postgres://….
        #[arg(long, value_parser = store_in)]
        store: StoreUrl,
        /// Print one line of JSON.
        #[arg(long)]
        json: bool,
    },
}

/// Commands for agents. They need no token and no store; the bot may be running.
#[derive(Debug, Subcommand)]
pub enum AgentsSubcommand {
    /// Say whether the files of agents are right, and what is wrong with them.
    Check {
        /// The folder of the files; else prompts/agents of this folder.
        folder: Option<PathBuf>,
    },
    /// Print the JSON Schema of an agent's file, for editors.
    Schema,
}

/// Commands for context packs. They need no token and no store; the bot may be running.
#[derive(Debug, Subcommand)]
pub enum PacksSubcommand {
    /// Say whether the files of packs are right, and what is wrong with them.
    Check {
        /// The folder of the files; else prompts/packs of this folder.
        folder: Option<PathBuf>,
    },
    /// Print the JSON Schema of a pack's file, by which editors check it.
    Schema,
}

/// Commands for other MCP servers. They need no token and no store; the bot may be running.
#[derive(Debug, Subcommand)]
pub enum McpSubcommand {
    /// Say whether the file is right, and what is wrong with it. No server is started.
    Check {
        /// The file; else that of MCP_CONFIG.
        file: Option<PathBuf>,
        /// Start each server as well, and list its tools.
        #[arg(long)]
        start: bool,
    },
}

/// Commands for the rules about what the model may do with Telegram. The bot may be running.
#[derive(Debug, Subcommand)]
pub enum PolicySubcommand {
    /// Say whether a file of rules is right, and what is wrong with it.
    Check {
        /// The file; else that of POLICY_FILE.
        file: Option<PathBuf>,
    },
    /// Say what happens to a call, by which rule, and who may approve it.
    Explain {
        /// The method of the Bot API, such as banChatMember; or a tool of another MCP server: by its name there with --server,
        /// or as SERVER__TOOL.
        method: String,
        /// The other MCP server whose tool it is.
        #[arg(long)]
        server: Option<String>,
        /// The chat that the call names: here (the one that the model is in), a number, or @username.
        #[arg(long, default_value = "here", value_parser = chat, allow_hyphen_values = true)]
        chat: NamedChat,
        /// Role of the person who asks: owner, admin (of the chat that the model is in), member or guest (words of somebody else).
        #[arg(long, default_value = "member", value_parser = role)]
        role: CallerRole,
        /// The agent that makes the call; else Figaro itself.
        #[arg(long)]
        agent: Option<String>,
        /// The model sent the messages that the call changes.
        #[arg(long)]
        own: bool,
        /// It is the run of a task.
        #[arg(long)]
        task: bool,
        /// Print one line of JSON.
        #[arg(long)]
        json: bool,
    },
}
