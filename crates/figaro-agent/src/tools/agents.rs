//! `ask_agent`: delegates a part of the work to another agent.

use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{AgentRequest, Tool, ToolContext, ToolDefinition, ToolError, typed};
use figaro_domain::tool::{Effect, StatusKey};

/// Maximum size of an agent's input, in characters.
const MAX_INPUT_CHARS: usize = 20_000;
/// Default timeout of an agent, in seconds.
const DEFAULT_SECONDS: u64 = 300;
/// Maximum timeout of an agent, in seconds.
const MAX_SECONDS: u64 = 1_800;
/// Extra time of a call beyond the agent's timeout, in which the outcome is stored.
pub(super) const GRACE: Duration = Duration::from_secs(30);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct AgentCallArguments {
    agent_name: String,
    /// All that it has to know: it sees the conversation, not your plans.
    input_text: String,
    input_data: Option<Map<String, Value>>,
    timeout_seconds: Option<u64>,
    user_id: Option<String>,
}

/// Makes the `ask_agent` tool. Several calls of one step run in parallel.
#[must_use]
pub(crate) fn tool() -> Arc<dyn Tool> {
    let words = "Has another agent do a part of the work and gives its outcome. Ask several in one step: they work side by side.";
    // Counts as read: policy judges the child's calls one by one, and a restart resumes it.
    let about = ToolDefinition::new("ask_agent", words, Effect::Read, StatusKey("tool_agent"))
        .rare("delegate hand over to a specialist, expert, sub-agent, helper, research assistant")
        .taking(Duration::from_secs(MAX_SECONDS).saturating_add(GRACE));
    typed(about, |context: ToolContext, arguments: AgentCallArguments| async move {
        let asked = arguments.read(&context).map_err(ToolError::ForModel)?;
        let agents = Arc::clone(&context.agents);
        agents.ask(&context, asked).await
    })
}

impl AgentCallArguments {
    fn read(self, context: &ToolContext) -> Result<AgentRequest, String> {
        let Self { agent_name, input_text, input_data, timeout_seconds, user_id } = self;
        let seconds = timeout_seconds.unwrap_or(DEFAULT_SECONDS);
        if !(1..=MAX_SECONDS).contains(&seconds) {
            return Err(format!("timeout_seconds is {seconds}; it takes 1 to {MAX_SECONDS}"));
        }
        // Ids of the same person at other services are unknown here.
        let is_theirs = |id: &str| {
            let user = &context.speaker.user;
            user.to_string() == id || user.telegram_id().is_some_and(|own| own.to_string() == id)
        };
        if user_id.as_deref().is_some_and(|id| !is_theirs(id)) {
            return Err("user_id is not an id of whoever asks; leave it out".to_owned());
        }
        asked(agent_name, &input_text, input_data, Duration::from_secs(seconds))
    }
}

/// Builds a request after checking the size of its input.
///
/// # Errors
/// A message for the model.
pub(crate) fn asked(
    agent: String,
    input: &str,
    data: Option<Map<String, Value>>,
    timeout: Duration,
) -> Result<AgentRequest, String> {
    let input = input.trim().to_owned();
    let with_data = data.as_ref().map_or(0, |data| serde_json::to_string(data).map_or(0, |text| text.len()));
    let count = input.chars().count() + with_data;
    if input.is_empty() {
        return Err("the input is empty: say what the agent is to do".to_owned());
    }
    if count > MAX_INPUT_CHARS {
        return Err(format!("the input has {count} characters; it takes at most {MAX_INPUT_CHARS}"));
    }
    Ok(AgentRequest { agent: agent.trim().to_owned(), input, data, timeout, takes_over: false })
}

/// Returns the default timeout of an agent, also of one that takes over the answer.
#[must_use]
pub(crate) const fn usual_timeout() -> Duration {
    Duration::from_secs(DEFAULT_SECONDS)
}
