//! Calls of tools, as the model asks for them and as they are stored.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::observation::Observation;
use super::said::Said;
use super::source::{Source, add_sources};
use super::usage::Usage;
use figaro_base::ids::{MessageId, NoteId, RecordId, RunId, TaskId};

/// What a call does to the world; decides whether a restart may repeat it and what policy asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// It only reads: making it again does no harm.
    Read,
    /// Changes something that can be changed back.
    Write,
    /// It deletes or changes something that cannot be restored.
    Destructive,
}

/// What a tool is for, where it is treated unlike others.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ToolKind {
    /// A tool without a special rule.
    #[default]
    Plain,
    /// It searches the web. Whoever has it may search, by it or by the provider's own search in its place.
    WebSearch,
    /// It finds tools of the sources. Whoever has it may call what it finds.
    Finder,
    /// It gives the whole of what a prompt shows in part. It is offered where a key stands in the prompt, to agents too that
    /// name no tools: what they see in part they may read on.
    Lookup,
    /// It finds what was said before. It is offered where a chat has more messages than the prompt shows.
    Recall,
    /// It says which memories an answer rests on. It is offered where the prompt shows memories, to agents too that name no
    /// tools: it does nothing. A call of it beside the words of an answer ends the turn.
    Memories,
    /// It keeps records in the forms of context packs. It is offered in chats that have chosen one.
    Records,
}

/// The key, in `prompts/locales`, of the text that a chat shows while a tool is at work. `{hint}` in the text stands for
/// the argument that says most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StatusKey(pub &'static str);

/// So many tools that were found stay offered in a session, the last ones: each takes up to 1,600 tokens of every pass.
pub const MAX_FOUND: usize = 8;

/// The side effects of a call that matter to the rest of its turn. Stored with its result, so that a turn that goes on
/// after a restart has them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SideEffects {
    /// The tool itself sent the words that answer, so that the run's final text need not be sent.
    #[serde(default)]
    pub spoke: bool,
    /// The result comes from outside, and has nothing of what the chat keeps. Any other one is forgotten with each message that
    /// is older: the tool may have read that.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub outside: bool,
    /// Names of tools that the model may call from now on, until the session ends.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub found: Vec<String>,
    /// Pages that the answer may rest on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<Source>,
    /// Tasks that were made or changed, and are to be shown as they are stored.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tasks: Vec<TaskId>,
    /// Records that were saved and offer reminders.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remindable: Vec<RecordId>,
    /// A note of the list that was changed or looked at last, and is still there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noted: Option<NoteId>,
    /// Notes that were added.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub added: Vec<NoteId>,
    /// The model has seen what tasks are stored, and may well speak of them.
    #[serde(default)]
    pub looked: bool,
    /// What children have said to the person; the answer of the turn begins with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub said: Vec<Said>,
    /// Another agent has answered in this turn's place: it ends with what that has said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub taken_over: Option<TakenOver>,
    /// Calls that whoever asks makes with tools of their own: the turn ends with them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub handed: Vec<Call>,
    /// What a child took. It counts once, when the call that asked it has its result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spent: Option<ToolSpent>,
    /// What the model has noted about its answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observation: Option<Box<Observation>>,
}

/// That another agent has answered in place of a turn's own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TakenOver {
    /// The model that answered, as `provider:model`; `None` where it is not known.
    pub model: Option<String>,
    /// Its words, where the person has not heard them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// What model calls within a tool took that belong to the turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolSpent {
    /// The tokens.
    pub usage: Usage,
    /// What they cost in nano-dollars; `None` where the price is not known.
    pub nano_usd: Option<u64>,
}

impl ToolSpent {
    /// Nothing.
    pub const NONE: Self = Self { usage: Usage { input: 0, cached: 0, output: 0 }, nano_usd: Some(0) };

    /// Adds what another took.
    pub fn add(&mut self, other: Self) {
        self.usage += other.usage;
        self.nano_usd = self.nano_usd.zip(other.nano_usd).map(|(all, one)| all.saturating_add(one));
    }
}

impl SideEffects {
    /// Adds the side effects of a later call, apart from what it took. For found tools see [`Self::add_found`].
    pub fn add(&mut self, later: Self) {
        self.spoke |= later.spoke;
        self.looked |= later.looked;
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

    /// Adds names of found tools behind those that are known. A known name keeps its place, so that requests keep their
    /// beginning. At most [`MAX_FOUND`] stay: the oldest go first, those of `later` last.
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

/// A call as the model wrote it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// The provider's id, unique in its turn.
    pub id: String,
    /// The name of the tool.
    pub name: String,
    /// JSON, as far as the model managed.
    pub arguments: String,
}

/// The state of a stored call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolStatus {
    /// It was started. After a crash it may or may not have acted.
    Running,
    /// It ended with a result.
    Complete,
    /// It ended with an error.
    Failed,
    /// It was broken off: whether it acted is not known.
    Unknown,
    /// Policy refused it. Nothing was done.
    Denied,
}

/// A call as it is stored with its turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The call as the model asked for it.
    #[serde(flatten)]
    pub call: Call,
    /// The turn it belongs to.
    pub run: RunId,
    /// The state of the call.
    pub status: ToolStatus,
    /// The result as JSON text, whole up to 1 MB; of a long one the model was given a part. Once its turn has ended the message
    /// of the result holds it alone, except of what a provider did itself.
    pub result: Option<String>,
    /// When it was started, UTC.
    pub started_at: DateTime<Utc>,
    /// How long it took, in milliseconds; `None` while it runs.
    pub duration_ms: Option<u64>,
    /// The message under which a person has approved it; `None` for what took no approval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approved_on: Option<MessageId>,
    /// The provider made it itself while it answered: the model has its result, and no message carries it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub hosted: bool,
}

impl ToolCall {
    /// Whether a person has approved it and it was not made, or nobody knows whether it was.
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
