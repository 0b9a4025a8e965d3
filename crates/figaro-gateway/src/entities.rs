//! Stored objects as callers see them: each with its ids and all of its fields.

use serde_json::{Value, json};

use figaro_domain::conversation::{Message, MessageRole, Session};
use figaro_domain::memory::Memory;
use figaro_domain::pin::Pin;
use figaro_domain::summary::Summary;

/// Converts a session. Its `id` is the caller's name for it; its messages refer to it by its internal id.
pub(super) fn session(session: &Session) -> Value {
    json!({
        "id": session.external_name,
        "object": "session",
        "session_id": session.id.to_string(),
        "name": session.name.as_ref().map(|name| &name.text),
        "agent": session.agent,
        "model": session.model.as_ref().map(ToString::to_string),
        "created_at": session.created_at,
        "updated_at": session.updated_at,
    })
}

/// Converts a message. Results of tools are left out: they are data of others and may hold instructions to a model
/// that a client shows them to.
pub(super) fn message(message: &Message) -> Value {
    let is_tool = message.role == MessageRole::Tool;
    let text = (!is_tool).then_some(&message.text);
    let tool = message.tool.as_ref().filter(|_| is_tool).map(|tool| {
        json!({
            "name": tool.tool_name, "arguments": tool.tool_arguments,
            "tool_call_id": tool.tool_call_id, "tool_name": tool.tool_name, "tool_arguments": tool.tool_arguments,
        })
    });
    let speaker =
        message.speaker.as_ref().map(|speaker| json!({"id": speaker.user.to_string(), "name": speaker.name}));
    let usage = message.token_usage.map(|usage| {
        json!({"input": usage.input, "cached": usage.cached, "output": usage.output, "total": usage.total()})
    });
    json!({
        "id": message.id.to_string(),
        "object": "message",
        "session_id": message.session.to_string(),
        "index": message.index,
        "role": message.role,
        "speaker": speaker,
        "text": text,
        "content": text,
        "model_id": message.model_id,
        "model": message.model_id,
        "token_usage": usage,
        "importance": message.importance,
        "referenced_memories": message.referenced_memories.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "tool": tool,
        "client_id": message.program,
        "created_at": message.created_at,
    })
}

pub(super) fn pin(pin: &Pin) -> Value {
    json!({
        "id": pin.id.to_string(), "object": "pin", "session_id": pin.session.to_string(), "content": pin.content,
        "source_message_id": pin.source_message_id.map(|id| id.to_string()), "importance": pin.importance,
        "pin_type": pin.pin_type, "created_at": pin.created_at,
    })
}

pub(super) fn summary(summary: &Summary) -> Value {
    json!({
        "id": summary.id.to_string(), "object": "summary", "session_id": summary.session.to_string(),
        "summary": summary.summary, "message_count": summary.message_count,
        "start_message_id": summary.start_message_id.to_string(), "end_message_id": summary.end_message_id.to_string(),
        "start": summary.start, "end": summary.end, "importance": summary.importance, "created_at": summary.created_at,
    })
}

/// Converts a memory of the caller.
pub(super) fn memory(memory: &Memory) -> Value {
    json!({
        "id": memory.id.to_string(), "object": "memory", "content": memory.content,
        "source_message_id": memory.source_message_id.to_string(), "access_count": memory.access_count,
        "last_accessed_at": memory.last_accessed_at, "created_at": memory.created_at, "updated_at": memory.updated_at,
    })
}
