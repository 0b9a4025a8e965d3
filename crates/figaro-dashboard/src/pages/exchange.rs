//! Messages of a conversation as they are shown: words, the calls of their turn, cost, and the memories that an answer used.

use std::collections::HashSet;
use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

use crate::error::DashboardError;
use crate::state::Dashboard;
use crate::viewer::Viewer;
use figaro_base::ids::RunId;
use figaro_base::text::one_line;
use figaro_domain::conversation::{EntryKey, Message, MessageRole};
use figaro_domain::message::Attachment;
use figaro_domain::tool::{ToolCall, ToolStatus};
use figaro_domain::usage::{UNKNOWN_MONEY, dollars};
use figaro_prompts::texts::{Texts, fill};

/// Maximum length of the arguments and of the result of a call, in characters.
const CALL_CHARS: usize = 4_000;
/// Maximum length of a memory, in characters.
const MEMORY_CHARS: usize = 200;

/// Messages before a message that a link to it shows, too.
const BEFORE: u32 = 5;

#[derive(Debug, Serialize)]
pub(super) struct ShownMessage {
    index: u32,
    is_person: bool,
    /// `true` if a page tells how it came about, or what became of it: an answer, or a question without one.
    is_explained: bool,
    /// `true` if a later try replaced it.
    is_replaced: bool,
    by: String,
    at: String,
    text: String,
    attachments: Vec<String>,
    /// Model, tokens and money of an answer.
    cost: String,
    calls: Vec<ShownCall>,
    memories: Vec<String>,
    /// Number of memories of others that an answer used.
    hidden_memories: usize,
    sources: Vec<String>,
}

#[derive(Debug, Serialize)]
struct ShownCall {
    name: String,
    arguments: String,
    result: String,
    status: &'static str,
    is_bad: bool,
    milliseconds: Option<u64>,
}

/// Returns where a message stands, below the conversations.
pub(super) fn place(EntryKey { session, index }: EntryKey) -> String {
    format!("{session}?from={}#m{index}", index.saturating_sub(BEFORE))
}

/// Returns messages as they are shown. The calls of a turn stand with the last message of its question.
pub(super) fn shown_messages(
    dashboard: &Dashboard,
    viewer: &Viewer,
    messages: &[Arc<Message>],
) -> Result<Vec<ShownMessage>, DashboardError> {
    let said: Vec<&Arc<Message>> = messages.iter().filter(|message| is_said(message)).collect();
    let mut shown = Vec::new();
    let mut told: HashSet<RunId> = HashSet::new();
    // From the end, because calls stand with the last message that names their turn.
    let mut has_answer = false;
    for message in said.iter().rev() {
        let is_answer = message.role == MessageRole::Assistant;
        let run = message.turn.filter(|run| told.insert(*run));
        let calls = match run {
            Some(run) => dashboard.store.conversations().tool_calls(run)?,
            None => Vec::new(),
        };
        let (memories, hidden_memories) = memories(dashboard, viewer, message)?;
        let is_final = message.model_id.is_some() && !message.replaced;
        let is_explained = is_final || run.is_some() && !has_answer && !message.replaced;
        has_answer = is_answer && (has_answer || is_final);
        shown.push(ShownMessage {
            index: message.index,
            is_person: !is_answer,
            is_explained,
            is_replaced: message.replaced,
            by: dashboard.writer(message.speaker.as_ref()),
            at: viewer.time(message.created_at),
            text: message.text.clone(),
            attachments: message.attachments.iter().map(described).collect(),
            cost: cost(&viewer.texts, message),
            calls: calls.iter().map(|call| shown_call(viewer, call)).collect(),
            memories,
            hidden_memories,
            sources: message.sources.iter().map(|source| source.url.clone()).collect(),
        });
    }
    shown.reverse();
    Ok(shown)
}

fn described(attachment: &Attachment) -> String {
    match &attachment.label {
        Some(label) => format!("{}: {label}", attachment.word()),
        None => attachment.word().to_owned(),
    }
}

/// Returns `true` if a message has words for people.
fn is_said(message: &Message) -> bool {
    match message.role {
        MessageRole::User => true,
        MessageRole::Assistant => !message.text.trim().is_empty(),
        MessageRole::Tool | MessageRole::System => false,
    }
}

fn cost(texts: &Texts, message: &Message) -> String {
    let Some(usage) = message.token_usage.filter(|_| message.role == MessageRole::Assistant) else {
        return String::new();
    };
    let count = texts.tokens(usage.total());
    let money = message.nano_usd.map_or_else(|| UNKNOWN_MONEY.to_owned(), dollars);
    let model = message.model_id.as_deref().unwrap_or("?");
    fill(texts.why_model(), &[("model", model), ("tokens", &count), ("money", &money)])
}

fn shown_call(viewer: &Viewer, made: &ToolCall) -> ShownCall {
    let texts = &viewer.texts;
    let (status, is_bad) = match made.status {
        ToolStatus::Running => (texts.why_call_running(), false),
        ToolStatus::Complete => (texts.why_call_done(), false),
        ToolStatus::Failed => (texts.why_call_failed(), true),
        ToolStatus::Unknown => (texts.why_call_unknown(), true),
        ToolStatus::Denied => (texts.why_call_denied(), true),
    };
    // A model may write what is no JSON.
    let arguments: Option<Value> = serde_json::from_str(&made.call.arguments).ok();
    let arguments = arguments.and_then(|arguments| serde_json::to_string_pretty(&arguments).ok());
    let arguments = arguments.unwrap_or_else(|| made.call.arguments.clone());
    let call = ShownCall {
        name: made.call.name.clone(),
        arguments: cut(&arguments),
        result: cut(made.result.as_deref().unwrap_or_default()),
        status,
        is_bad,
        milliseconds: made.duration_ms,
    };
    if viewer.is_owner {
        return call;
    }
    // Members read words: arguments and results may have reasons of the owner's rules, and faults of servers.
    ShownCall { name: texts.method(&call.name), arguments: String::new(), result: String::new(), ..call }
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(CALL_CHARS) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

/// Returns the memories of the viewer that an answer used, and for owners the number of those of others.
fn memories(
    dashboard: &Dashboard,
    viewer: &Viewer,
    message: &Message,
) -> Result<(Vec<String>, usize), DashboardError> {
    let used = &message.referenced_memories;
    if used.is_empty() {
        return Ok((Vec::new(), 0));
    }
    let all = dashboard.store.facts().of_person(viewer.user())?;
    let own = all.iter().filter(|memory| memory.is_active() && used.contains(&memory.id));
    let words: Vec<String> = own.map(|memory| one_line(&memory.content, MEMORY_CHARS)).collect();
    let hidden = if viewer.is_owner { used.len().saturating_sub(words.len()) } else { 0 };
    Ok((words, hidden))
}
