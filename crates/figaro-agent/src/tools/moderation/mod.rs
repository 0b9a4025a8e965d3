//! The `moderate` tool: an admin's request in names and words, translated to calls of the Bot API. Policy treats each call
//! as if the model had made it itself.

mod compose;

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use self::compose::{ModerationAction, ModerationRequest, compose};
use super::telegram::TelegramTools;
use super::{Tool, ToolContext, ToolDefinition, ToolError, ToolOutput, names, typed};
use figaro_base::ids::{MessageId, UserId};
use figaro_domain::approval::MethodCall;
use figaro_domain::people::{KnownPerson, MAX_POSTED};
use figaro_domain::tool::{Effect, StatusKey};
use figaro_store::PeopleStore;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Moderate {
    /// unban, unmute and unpin take back; kick lets them come back; pin, unpin and `delete_messages` without a person are for
    /// the message that the question replies to.
    action: ModerationAction,
    /// @username, a name, "me", or "replied" for the writer of the message that the question replies to.
    #[serde(default)]
    person: Option<String>,
    /// How long a mute or ban lasts; for good unless given.
    #[serde(default)]
    minutes: Option<u32>,
    /// Of `delete_messages` with a person: how many of their last; 1 unless given.
    #[serde(default)]
    count: Option<usize>,
    /// The new title or description.
    #[serde(default)]
    text: Option<String>,
}

/// Target of a request, and its messages to delete.
#[derive(Default)]
struct ModerationTarget {
    id: Option<i64>,
    messages: Vec<MessageId>,
}

/// Makes `moderate`, which carries out requests of a group's admins. A rare tool.
#[must_use]
pub(super) fn tool(telegram: TelegramTools) -> Arc<dyn Tool> {
    let words = "Moderates this group for an admin who asks for it. People by name or username: ids are found for you.";
    let about = ToolDefinition::new("moderate", words, Effect::Destructive, StatusKey("tool_telegram")).rare(
        "moderate mute silence restrict unmute ban unban kick remove member user spammer delete last messages of somebody pin \
         this message or take it down set change group title name description",
    );
    typed(about, move |context: ToolContext, request: Moderate| {
        let telegram = telegram.clone();
        async move { moderate(&telegram, &context, request).await }
    })
}

async fn moderate(
    telegram: &TelegramTools,
    context: &ToolContext,
    request: Moderate,
) -> Result<ToolOutput, ToolError> {
    if !context.place.is_group() {
        return Err(ToolError::ForModel(
            "this works in groups only: ask the person to say it there".to_owned(),
        ));
    }
    let wanted = wanted(&request)?;
    // Approved calls are made as shown, even if a name means somebody else by now.
    if let Some(approved) = &context.approved {
        let reached = approved.approval.calls.iter().map(deletes).sum();
        let output = telegram.perform(Vec::new(), context).await?;
        return Ok(told(output, wanted, reached));
    }
    let whom = whom(&telegram.people, context, &request, wanted)?;
    let asked = ModerationRequest {
        action: request.action,
        person: whom.id,
        replied: context.replied.as_ref().map(|replied| replied.message),
        messages: whom.messages,
        minutes: request.minutes,
        text: request.text,
    };
    let call = compose(&asked, context.place.chat, context.now).map_err(ToolError::ForModel)?;
    let output = telegram.perform(vec![call], context).await?;
    Ok(told(output, wanted, asked.messages.len()))
}

/// Returns the number of messages that a call deletes.
fn deletes(call: &MethodCall) -> usize {
    match call.method.as_str() {
        "deleteMessage" => 1,
        "deleteMessages" => call.arguments.get("message_ids").and_then(Value::as_array).map_or(0, Vec::len),
        _ => 0,
    }
}

/// Adds the number of deleted messages to the result if it is less than wanted.
fn told(mut output: ToolOutput, wanted: usize, reached: usize) -> ToolOutput {
    if output.asks.is_none() && reached < wanted {
        output.value["deleted"] = json!(reached);
        output.value["not_reached"] = json!(wanted - reached);
        output.value["why"] = json!(format!(
            "bots can delete only messages of the last 48 hours, and only those are known that were seen here, at most \
             {MAX_POSTED} of a person: tell them so"
        ));
    }
    output
}

/// Returns the number of a person's messages to delete.
fn wanted(request: &Moderate) -> Result<usize, ToolError> {
    let deletes = request.action == ModerationAction::DeleteMessages;
    match (request.count, &request.person) {
        (Some(0), _) => Err(ToolError::ForModel("count takes 1 or more".to_owned())),
        (Some(_), None) if deletes => {
            Err(ToolError::ForModel("count needs a person whose messages are meant".to_owned()))
        }
        (count, Some(_)) if deletes => Ok(count.unwrap_or(1)),
        _ => Ok(0),
    }
}

fn whom(
    people: &PeopleStore,
    context: &ToolContext,
    request: &Moderate,
    wanted: usize,
) -> Result<ModerationTarget, ToolError> {
    let Some(words) = &request.person else { return Ok(ModerationTarget::default()) };
    let seen = people.of_chat(context.place.chat)?;
    let id = names::person(&seen, context, words)?;
    let user = UserId::telegram(id);
    let known: Option<&KnownPerson> = seen.iter().find(|seen| seen.speaker.user == user);
    let messages = known.map(|seen| seen.last(wanted, context.now)).unwrap_or_default();
    Ok(ModerationTarget { id: Some(id), messages })
}
