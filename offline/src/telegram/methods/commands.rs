//! The bot's command lists, one per scope and language.

use serde_json::{Value, json};

use super::super::error::BotApiError;
use super::super::state::{CommandList, TelegramState};
use super::request::{CheckedRequest, MethodOutcome};

pub(super) fn set(state: &mut TelegramState, request: &CheckedRequest<'_>) -> MethodOutcome {
    let commands = request.list("commands");
    for command in commands {
        let name = command["command"].as_str().unwrap_or_default().trim_start_matches('/');
        let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        if name.is_empty() || !name.chars().all(fits) {
            return Err(BotApiError::bad("BOT_COMMAND_INVALID"));
        }
    }
    let (scope, language) = key(state, request)?;
    forget(state, &scope, &language);
    if !commands.is_empty() {
        state.commands.push(CommandList { scope, language, commands: json!(commands) });
    }
    state.tell("commands", json!({"lists": state.command_lists()}));
    Ok(json!(true))
}

pub(super) fn get(state: &mut TelegramState, request: &CheckedRequest<'_>) -> MethodOutcome {
    let (scope, language) = key(state, request)?;
    let found = state.commands.iter().find(|l| l.scope == scope && l.language == language);
    Ok(found.map_or_else(|| json!([]), |l| l.commands.clone()))
}

pub(super) fn delete(state: &mut TelegramState, request: &CheckedRequest<'_>) -> MethodOutcome {
    let (scope, language) = key(state, request)?;
    forget(state, &scope, &language);
    state.tell("commands", json!({"lists": state.command_lists()}));
    Ok(json!(true))
}

fn key(state: &TelegramState, request: &CheckedRequest<'_>) -> Result<(Value, String), BotApiError> {
    let scope = request.value("scope").cloned().unwrap_or_else(|| json!({"type": "default"}));
    if scope.get("chat_id").is_some_and(|id| state.world.find(id).is_none()) {
        return Err(BotApiError::bad("chat not found"));
    }
    Ok((scope, request.text("language_code").unwrap_or_default().to_owned()))
}

fn forget(state: &mut TelegramState, scope: &Value, language: &str) {
    state.commands.retain(|l| l.scope != *scope || l.language != language);
}
