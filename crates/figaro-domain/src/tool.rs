//! Tool calls: requests of the model and their stored form.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::observation::Observation;
use super::said::SentText;
use super::source::{Source, add_sources};
use super::usage::Usage;
use figaro_base::ids::{MessageId, NoteId, RecordId, RunId, TaskId};

/// Effect of a call. Decides whether a restart may repeat it, and which policy applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Only reads; repeating it does no harm.
    Read,
    /// Changes something that can be changed back.
    Write,
    /// Deletes or changes something that cannot be restored.
    Destructive,
}

/// Special role of a tool.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ToolKind {
    /// A tool without a special rule.
    #[default]
    Plain,
    /// Searches the web. An agent that has it may also use the provider's own search instead.
    WebSearch,
    /// Finds tools of the tool sources. An agent that has it may call what it finds.
    Finder,
    /// Returns the full text of something that a prompt shows in part. Offered if a key is in the prompt, even to agents
    /// whose tool list does not name it: they may read on in what they see in part.
    Lookup,
    /// Searches earlier messages. Offered if the chat has more messages than the prompt shows.
    Recall,
    /// Names the memories used by an answer. Offered if the prompt shows memories, even to agents whose tool list does not
    /// name it, because it has no effect. A call of it beside an answer ends the turn.
    Memories,
    /// Reads documents. Offered in chats with documents.
    Documents,
    /// Keeps records in the forms of context packs. Offered in chats with a pack.
    Records,
}

/// Key in `prompts/locales` of the text that a chat shows while a tool is running. `{hint}` in the text stands for the most
/// informative argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StatusKey(pub &'static str);

/// Maximum number of found tools offered in a session; the last ones stay. Each takes up to 1,600 tokens of every pass.
pub const MAX_FOUND: usize = 8;

/// Side effects of a call that matter to the rest of its turn. They are stored with its result, for a turn that continues
/// after a restart.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SideEffects {
    /// `true` if the tool itself sent the answer, so that the final text of the turn need not be sent.
    #[serde(default)]
    pub spoke: bool,
    /// `true` if the tool showed the person something that can be all of the answer, such as a picture: an empty text of the
    /// turn is then no failure.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shown: bool,
    /// `true` if the result comes from outside and contains no data of the chat. Any other result is forgotten with every
    /// older message, because the tool may have read it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub outside: bool,
    /// Text by others that the model has read in the result, such as a page, by its name; `None` for none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read: Option<String>,
    /// Names of tools that the model may call from now until the end of the session.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub found: Vec<String>,
    /// Pages that the answer may be based on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<Source>,
    /// Tasks that were created or changed, to be shown as they are stored.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tasks: Vec<TaskId>,
    /// Records that were saved and offer reminders.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remindable: Vec<RecordId>,
    /// A note of the list last changed or read, which still exists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noted: Option<NoteId>,
    /// Notes added by the call.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub added: Vec<NoteId>,
    /// `true` if the model has seen the stored tasks, and may mention them.
    #[serde(default)]
    pub looked: bool,
    /// Texts that children sent to the person. The answer of the turn begins with them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub said: Vec<SentText>,
    /// Answer of another agent in place of this turn's own. The turn ends with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub taken_over: Option<TakenOver>,
    /// Calls that the client makes with its own tools. The turn ends with them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub handed: Vec<Call>,
    /// Cost of a child. Counted once, when the call that started it has its result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spent: Option<ToolSpent>,
    /// Observation that the model noted about its answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observation: Option<Box<Observation>>,
}

/// Answer of another agent in place of a turn's own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TakenOver {
    /// Model that answered, as `provider:model`; `None` if unknown.
    pub model: Option<String>,
    /// Text of the answer; `None` if the person has already received it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// Cost of model calls within a tool, counted for the turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolSpent {
    /// Tokens of the calls.
    pub usage: Usage,
    /// Cost in nano-dollars; `None` if the price is unknown.
    pub nano_usd: Option<u64>,
}

impl ToolSpent {
    /// No tokens and no cost.
    pub const NONE: Self = Self { usage: Usage { input: 0, cached: 0, output: 0 }, nano_usd: Some(0) };

    /// Adds the cost of another call.
    pub fn add(&mut self, other: Self) {
        self.usage += other.usage;
        self.nano_usd = self.nano_usd.zip(other.nano_usd).map(|(all, one)| all.saturating_add(one));
    }
}

impl SideEffects {
    /// Adds the side effects of a later call, except its cost. For found tools see [`Self::add_found`].
    pub fn add(&mut self, later: Self) {
        self.spoke |= later.spoke;
        self.shown |= later.shown;
        self.looked |= later.looked;
        self.read = self.read.take().or(later.read);
        for said in later.said {
            if !self.said.contains(&said) {
                self.said.push(said);
            }
        }
        self.said.sort_by_key(|said| said.order);
        self.taken_over = later.taken_over.or_else(|| self.taken_over.take());
        add_sources(&mut self.sources, later.sources);
        for task in later.tasks {
            self.tasks.retain(|known| *known != task);
            self.tasks.push(task);
        }
        for record in later.remindable {
            if !self.remindable.contains(&record) {
                self.remindable.push(record);
            }
        }
        self.noted = later.noted.or(self.noted);
        self.added.extend(later.added);
        if let Some(later) = later.observation {
            self.observation.get_or_insert_default().add(*later);
        }
        self.handed.extend(later.handed);
        self.add_found(later.found);
    }

    /// Appends names of found tools. A known name keeps its place, so that requests keep their beginning. At most
    /// [`MAX_FOUND`] stay. The oldest are removed first, those of `later` last.
    pub fn add_found(&mut self, later: Vec<String>) {
        let (again, new): (Vec<String>, Vec<String>) =
            later.into_iter().partition(|name| self.found.contains(name));
        for name in new {
            if !self.found.contains(&name) {
                self.found.push(name);
            }
        }
        while self.found.len() > MAX_FOUND {
            let oldest = self.found.iter().position(|name| !again.contains(name));
            self.found.remove(oldest.unwrap_or_default());
        }
    }
}

/// A tool call as the model wrote it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// Provider's id of the call, unique in its turn.
    pub id: String,
    /// Name of the tool.
    pub name: String,
    /// Arguments as JSON text; may be invalid JSON.
    pub arguments: String,
}

/// State of a stored call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolStatus {
    /// Started. After a crash it is unknown whether it acted.
    Running,
    /// Ended with a result.
    Complete,
    /// Ended with an error.
    Failed,
    /// Interrupted; it is unknown whether it acted.
    Unknown,
    /// Refused by policy; nothing was done.
    Denied,
}

/// A tool call as stored with its turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The call as the model requested it.
    #[serde(flatten)]
    pub call: Call,
    /// Turn of the call.
    pub run: RunId,
    /// Current state of the call.
    pub status: ToolStatus,
    /// Result as JSON text, in full up to 1 MB. The model gets only a part of a long one. After the end of the turn, only
    /// the message of the result holds it, except for calls made by a provider.
    pub result: Option<String>,
    /// Start time, UTC.
    pub started_at: DateTime<Utc>,
    /// Duration in milliseconds; `None` while the call runs.
    pub duration_ms: Option<u64>,
    /// Message on which a person approved the call; `None` if it needed no approval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approved_on: Option<MessageId>,
    /// `true` if the provider made the call while it answered. The model has its result, and no message carries it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub hosted: bool,
}

impl ToolCall {
    /// Returns `true` if a person approved the call, but it was not made or its outcome is unknown.
    #[must_use]
    pub fn is_called_off(&self) -> bool {
        let is_made = match self.status {
            ToolStatus::Complete => true,
            ToolStatus::Running | ToolStatus::Denied | ToolStatus::Failed | ToolStatus::Unknown => false,
        };
        self.approved_on.is_some() && !is_made
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn found_tools_keep_their_order_and_the_oldest_go_first() {
        let cases: [(&[&str], &str); 6] = [
            (&["a b", "c"], "a b c"),
            (&["a b c", "b d a"], "a b c d"),
            (&["a a", "a"], "a"),
            (&["a b c d", "e f g h", "i"], "b c d e f g h i"),
            (&["a b c d", "e f g h", "a i"], "a c d e f g h i"),
            (&["a b c d e f g h i j"], "c d e f g h i j"),
        ];
        for (finds, kept) in cases {
            let mut side_effects = SideEffects::default();
            for names in finds {
                let found = names.split(' ').map(str::to_owned).collect();
                side_effects.add(SideEffects { found, ..SideEffects::default() });
            }
            assert_eq!(side_effects.found.join(" "), kept, "{finds:?}");
        }
    }
}
