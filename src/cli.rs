//! The command line: what `figaro` can be asked to do.

use std::ops::RangeInclusive;
use std::path::PathBuf;

use chrono::NaiveDate;
use clap::{Parser, Subcommand};

use figaro_config::{EngineKind, NoStoreUrl, StoreUrl};
use figaro_domain::model::ModelName;
use figaro_mcp_client::locate::SUBCOMMAND;
use figaro_policy::tools::CallerRole;

/// How a question is asked in the terminal.
const ASK_EXAMPLES: &str = "Examples:
  figaro ask \"What is 17 percent of 2,350?\"
  figaro ask \"Is it going to rain in Riga today?\" --agent researcher
  figaro ask - --model PROVIDER:MODEL < question.txt
  figaro ask \"And in June?\" --session travel
  figaro ask \"Which papers cite this?\" --json | jq -r 'select(.event == \"done\").text'";
/// The longest name of a session of the terminal, in characters.
const MAX_SESSION_CHARS: usize = 100;

/// A self-hosted AI agent that lives in Telegram.
///
/// Without a command it runs the bot. `figaro init` asks for what it needs and writes it into a file .env in this folder; `figaro
/// demo` needs nothing. Environment variables win over the file. .env.example of the source explains all of them;
/// TELEGRAM_BOT_TOKEN and OPENAI_API_KEY are enough to begin.
#[derive(Debug, Parser)]
#[command(name = "figaro", version, max_term_width = 100)]
pub struct Cli {
    /// Command to carry out; without one the bot runs.
    #[command(subcommand)]
    pub command: Option<CliCommand>,
}

/// Commands of the program.
#[derive(Debug, Subcommand)]
pub enum CliCommand {
    /// Try the bot in the browser: no account, no key, no network.
    ///
    /// Starts an offline Telegram with a chat page, and an offline model unless a model is chosen by
    /// OPENAI_API_KEY or LLM_PROVIDER. It says which model answers and what leaves this machine.
    Demo {
        /// The port of the chat page on this machine; 0 takes a free one.
        #[arg(long, default_value_t = 0, value_parser = number::<u16>(0..=65_535), allow_negative_numbers = true)]
        port: u16,
        /// Keep what is said in this folder and go on with it next time; without it everything is gone at the end.
        #[arg(long)]
        store: Option<PathBuf>,
        /// The offline model's pause before each word, in milliseconds: 0 shows an answer at once.
        #[arg(long, value_name = "MILLISECONDS", default_value_t = 25, value_parser = number::<u16>(0..=65_535), allow_negative_numbers = true)]
        word_pause: u16,
    },
    /// Set the bot up: ask for what it needs, check each answer, and write it into the file .env of this folder.
    ///
    /// It asks for the token of the bot, for the service that runs the model and its key, for a model, and for the time zone. Other
    /// lines of the file stay as they are. What the environment sets is not asked for: it wins over the file. At the end it shows
    /// a link that makes you the owner of the bot.
    Init,
    /// Check settings, store, token and models, without starting the bot and without a change of anything.
    Check,
    /// Ask a question in the terminal and print the answer as it comes: no Telegram, no token.
    ///
    /// The answer goes to standard output, what the agent does meanwhile to standard error. Nothing is kept unless --session
    /// names a conversation to go on with, which is kept in the store of STORE_URL; a bot that runs has that one open. The exit
    /// code is 0 with an answer, 1 without one, and 2 if something has to be put right first. docs/ask.md explains the events
    /// of --json.
    #[command(after_help = ASK_EXAMPLES)]
    Ask {
        /// The question; `-`, or none at all, reads it from standard input.
        question: Option<String>,
        /// The agent that answers, by the name of its file in prompts/agents; else Figaro itself.
        #[arg(long, value_name = "NAME")]
        agent: Option<String>,
        /// The model that answers, as provider:model; else that of the agent or of the settings.
        #[arg(long, value_name = "PROVIDER:MODEL")]
        model: Option<ModelName>,
        /// Go on with the conversation of this name, and keep what is said in it.
        #[arg(long, value_name = "NAME", value_parser = session)]
        session: Option<String>,
        /// Only test an agent: the question stands alone, no memory is used or made, and no later call sees it.
        #[arg(long)]
        eval: bool,
        /// Print events, a line of JSON each.
        #[arg(long)]
        json: bool,
    },
    /// Look after the store of a bot that does not run.
    #[command(subcommand)]
    Store(StoreSubcommand),
    /// Write all that a bot has stored into a file, as lines of JSON.
    ///
    /// The bot must not run. An export that was cut short goes on where it stopped when the same command is run again. The
    /// file holds what people said: keep it as safe as the store.
    Export {
        /// The file; `-` writes to standard output.
        to: PathBuf,
        /// The store, as redb:FOLDER or sled:FOLDER; else that of STORE_URL.
        #[arg(long)]
        store: Option<StoreUrl>,
    },
    /// Make a new store of an export.
    ///
    /// An import that was cut short goes on where it stopped when the same command is run again. No bot opens the store before
    /// all is there and was compared with the export.
    Import {
        /// The file; `-` reads from standard input.
        from: PathBuf,
        /// The store, as redb:FOLDER or sled:FOLDER; else that of STORE_URL. There must be none yet.
        #[arg(long)]
        store: Option<StoreUrl>,
    },
    /// Read the audit log of a bot that does not run: who was let in, what calls were allowed, asked about and refused.
    ///
    /// It has ids and names of methods and rules, never what people said. TELEGRAM_BOT_TOKEN says which bot's log it is.
    #[command(args_conflicts_with_subcommands = true)]
    Audit {
        /// Further commands for the log.
        #[command(subcommand)]
        command: Option<AuditSubcommand>,
        /// The most entries, the newest first.
        #[arg(long, default_value_t = 50, value_parser = number::<usize>(1..=1_000_000), allow_negative_numbers = true)]
        limit: usize,
        /// Only entries of this day (UTC) and later, as 2026-12-31.
        #[arg(long, value_name = "DATE", value_parser = day)]
        since: Option<NaiveDate>,
        /// A line of JSON for each entry.
        #[arg(long)]
        json: bool,
        /// The store, as redb:FOLDER or sled:FOLDER; else that of STORE_URL.
        #[arg(long)]
        store: Option<StoreUrl>,
    },
    /// Measure what the memory of chats finds, on conversations from anywhere.
    #[command(subcommand)]
    Memory(MemorySubcommand),
    /// Check and explain the rules about what the model may do with Telegram.
    #[command(subcommand)]
    Policy(PolicySubcommand),
    /// Check the files of agents, or print the schema of one.
    #[command(subcommand)]
    Agents(AgentsSubcommand),
    /// Check the files of context packs, or print the schema of one.
    #[command(subcommand)]
    Packs(PacksSubcommand),
    /// Check the file of other MCP servers, whose tools agents can have.
    #[command(subcommand)]
    Mcp(McpSubcommand),
    /// Be the Telegram MCP server, which the bot starts as a process of its own.
    #[command(name = SUBCOMMAND, hide = true)]
    McpServer,
}

/// Commands for a store. A store that a running bot has open is in use and left alone.
#[derive(Debug, Subcommand)]
pub enum StoreSubcommand {
    /// Copy a store into a new one, of another engine or in another folder, and compare the two.
    ///
    /// FROM stays as it is. A copy that was cut short goes on where it stopped when the same command is run again. For
    /// example: figaro store copy sled:./data redb:./data
    Copy {
        /// The store that is copied, as redb:FOLDER or sled:FOLDER.
        from: StoreUrl,
        /// Where the copy is made; there must be no store of that engine yet.
        to: StoreUrl,
    },
    /// Read all there is in a store, and say what it is and whether it is whole.
    Check {
        /// The store, as redb:FOLDER or sled:FOLDER; else that of STORE_URL.
        store: Option<StoreUrl>,
        /// Go on without what a damaged store has lost; the check says what that is, and no bot opens it before.
        #[arg(long)]
        accept_loss: bool,
    },
    /// Give the space of what was removed back to the disk.
    Compact {
        /// The store, as redb:FOLDER or sled:FOLDER; else that of STORE_URL.
        store: Option<StoreUrl>,
    },
}

/// Commands for the audit log.
#[derive(Debug, Subcommand)]
pub enum AuditSubcommand {
    /// Say how many entries there are and whether they are as they were written; the exit code is 1 if not.
    Verify {
        /// The store, as redb:FOLDER or sled:FOLDER; else that of STORE_URL.
        #[arg(long)]
        store: Option<StoreUrl>,
    },
    /// Write all entries into a new file as lines of JSON, the oldest first.
    Export {
        /// The file; there must be none yet.
        to: PathBuf,
        /// The store, as redb:FOLDER or sled:FOLDER; else that of STORE_URL.
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
        /// The folder of the store, or redb:FOLDER or sled:FOLDER.
        #[arg(long, value_parser = store_in)]
        store: StoreUrl,
        /// The file; `-` reads from standard input.
        from: PathBuf,
    },
    /// Print what of a conversation a request would carry for a question: the very text that goes to the model.
    Recall {
        /// The folder of the store, or redb:FOLDER or sled:FOLDER.
        #[arg(long, value_parser = store_in)]
        store: StoreUrl,
        /// A file of questions, a line of JSON each: question_id, conversation_id, question and, where known, asked_at; `-` reads
        /// from standard input.
        #[arg(long, value_name = "FILE", conflicts_with_all = ["conversation", "question"], required_unless_present = "question")]
        batch: Option<PathBuf>,
        /// The conversation that the question is asked in: as it was imported, or the number of a chat.
        #[arg(long, value_name = "ID", requires = "question")]
        conversation: Option<String>,
        /// The question.
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
        /// The folder of the store, or redb:FOLDER or sled:FOLDER.
        #[arg(long, value_parser = store_in)]
        store: StoreUrl,
        /// As JSON.
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
    /// Print the JSON Schema of an agent's file, by which editors check it.
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
    /// Say what becomes of a call, by which rule, and who could approve it.
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
        /// As JSON.
        #[arg(long)]
        json: bool,
    },
}

/// A chat as the command line names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NamedChat {
    /// The one that the model is in.
    Here,
    /// That of this number or username, as a call names it.
    Other(String),
}

/// Parts of a context.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Only {
    /// Older messages that bear on the question.
    Retrieved,
}

fn chat(text: &str) -> Result<NamedChat, String> {
    let is_number = text.parse::<i64>().is_ok_and(|number| number != 0);
    let is_username = text.strip_prefix('@').is_some_and(|name| !name.is_empty());
    match text {
        "here" => Ok(NamedChat::Here),
        _ if is_number || is_username => Ok(NamedChat::Other(text.to_owned())),
        _ => Err("is not here, nor the number of a chat, nor a username with its @".to_owned()),
    }
}

fn session(text: &str) -> Result<String, String> {
    let name = text.trim();
    match name.chars().count() {
        1..=MAX_SESSION_CHARS => Ok(name.to_owned()),
        _ => Err(format!("takes a name of 1 to {MAX_SESSION_CHARS} characters")),
    }
}

fn role(text: &str) -> Result<CallerRole, String> {
    let found = CallerRole::ALL.into_iter().find(|role| role.name() == text);
    found.ok_or_else(|| format!("takes {}", CallerRole::ALL.map(CallerRole::name).join(", ")))
}

fn store_in(text: &str) -> Result<StoreUrl, String> {
    if EngineKind::ALL.iter().any(|kind| text.starts_with(&format!("{}:", kind.name()))) {
        return text.parse().map_err(|_none: NoStoreUrl| NoStoreUrl::WORDS.to_owned());
    }
    if text.trim().is_empty() {
        Err("is no folder".to_owned())
    } else {
        Ok(StoreUrl::new(EngineKind::ALL[0], text))
    }
}

fn share(text: &str) -> Result<f64, String> {
    let share = text.parse().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "takes a number from 0 to 1".to_owned())
}

fn day(text: &str) -> Result<NaiveDate, String> {
    text.trim().parse().map_err(|_none| "takes a day, as 2026-12-31".to_owned())
}

/// Reads a number within these bounds.
fn number<T: TryFrom<u64>>(
    bounds: RangeInclusive<u64>,
) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync + 'static {
    move |text| {
        let number = text.trim().parse().ok().filter(|number| bounds.contains(number));
        let number = number.and_then(|number| T::try_from(number).ok());
        number.ok_or_else(|| format!("takes a whole number from {} to {}", bounds.start(), bounds.end()))
    }
}
