//! `ask_agent`: has another agent do a part of the work.

use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{About, Asked, Tool, ToolContext, ToolError, typed};
use figaro_domain::tool::{Effect, StatusKey};

/// What is handed to an agent has at most so many characters.
const MAX_INPUT_CHARS: usize = 20_000;
/// The time that an agent has, in seconds, unless the call says otherwise.
const DEFAULT_SECONDS: u64 = 300;
/// It never has more.
const MAX_SECONDS: u64 = 1_800;
/// A call takes this much longer than its agent at most: the outcome is stored before it is told.
pub(super) const GRACE: Duration = Duration::from_secs(30);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    agent_name: String,
    /// All that it has to know: it sees the conversation, not your plans.
    input_text: String,
    input_data: Option<Map<String, Value>>,
    timeout_seconds: Option<u64>,
    user_id: Option<String>,
}

/// `ask_agent`: several calls of one step run side by side.
#[must_use]
pub(crate) fn tool() -> Arc<dyn Tool> {
    let words = "Has another agent do a part of the work and gives its outcome. Ask several in one step: they work side by side.";
    // What it does has its own rules: the child's calls are judged one by one. It goes on after a restart.
    let about = About::new("ask_agent", words, Effect::Read, StatusKey("tool_agent"))
        .rare("delegate hand over to a specialist, expert, sub-agent, helper, research assistant")
        .taking(Duration::from_secs(MAX_SECONDS).saturating_add(GRACE));
    typed(about, |context: ToolContext, arguments: Arguments| async move {
        let asked = arguments.read(&context).map_err(ToolError::ForModel)?;
        let agents = Arc::clone(&context.agents);
        agents.ask(&context, asked).await
    })
}

impl Arguments {
    fn read(self, context: &ToolContext) -> Result<Asked, String> {
        let Self { agent_name, input_text, input_data, timeout_seconds, user_id } = self;
        let seconds = timeout_seconds.unwrap_or(DEFAULT_SECONDS);
        if !(1..=MAX_SECONDS).contains(&seconds) {
            return Err(format!("timeout_seconds is {seconds}; it takes 1 to {MAX_SECONDS}"));
        }
        // Ids of the same person at other services are not known here.
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

/// What is asked, within its bounds.
///
/// # Errors
/// The complaint for the model.
pub(crate) fn asked(
    agent: String,
    input: &str,
    data: Option<Map<String, Value>>,
    timeout: Duration,
) -> Result<Asked, String> {
    let input = input.trim().to_owned();
    let with_data = data.as_ref().map_or(0, |data| serde_json::to_string(data).map_or(0, |text| text.len()));
    let count = input.chars().count() + with_data;
    if input.is_empty() {
        return Err("the input is empty: say what the agent is to do".to_owned());
    }
    if count > MAX_INPUT_CHARS {
        return Err(format!("the input has {count} characters; it takes at most {MAX_INPUT_CHARS}"));
    }
    Ok(Asked { agent: agent.trim().to_owned(), input, data, timeout, takes_over: false })
}

/// The time that an agent has which answers in place of another.
#[must_use]
pub(crate) const fn usual_timeout() -> Duration {
    Duration::from_secs(DEFAULT_SECONDS)
}
