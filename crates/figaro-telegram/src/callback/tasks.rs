//! Buttons of the list of tasks, of a task's cards, and of notices about tasks.

use std::fmt::{self, Display};
use std::str::FromStr;

use super::{ButtonFamily, Fields, Gone, Page, hash};
use figaro_base::ids::TaskId;
use figaro_domain::task::IfMissed;

/// Separates a task's id from the list page that its card was opened from.
const PAGE_MARK: char = '~';

/// Buttons of the list of tasks, of their cards and of notices about them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TasksButton {
    /// Shows a page of the chat's tasks, from 0.
    List(Page),
    /// Answers the question about tasks that were paused when the bot was removed from their chat: `true` resumes
    /// them all, `false` leaves them paused.
    Back(bool),
    /// Acts on one task: shows or changes it.
    One(TaskPress),
}

/// Action on a task: `tasks:VERB:ID`, then `~PAGE` if the card was opened from the list, then `:MORE` for verbs with
/// a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TaskPress {
    pub(crate) verb: TaskVerb,
    pub(crate) task: TaskId,
    /// List page that the card was opened from, from 0; `None` if it was opened elsewhere.
    pub(crate) page: Option<Page>,
}

/// Agent in a button of a task: 12 hex digits of the hash of its name, which has no room beside the task's id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AgentKey(u64);

impl AgentKey {
    /// Returns the key of an agent; equal names give the same key in every process.
    #[must_use]
    pub(crate) fn of(name: &str) -> Self {
        // Longer keys do not fit beside the id and the longest page.
        Self(hash(name) & 0xffff_ffff_ffff)
    }
}

impl Display for AgentKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:012x}", self.0)
    }
}

impl FromStr for AgentKey {
    type Err = Gone;

    fn from_str(text: &str) -> Result<Self, Gone> {
        let key = u64::from_str_radix(text, 16).map(Self).map_err(|_no_digits| Gone)?;
        if key.to_string() == text { Ok(key) } else { Err(Gone) }
    }
}

/// Action on a task. All but `Open`, `History` and `Label` require the right to change the task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TaskVerb {
    /// Shows the current card of the task.
    Open,
    /// Shows a page of the task's last runs, newest first.
    History(Page),
    /// Shows the card with buttons that change the task's times and its policy for missed runs.
    Edit,
    /// Moves the task's times by this number of minutes, back if negative.
    Shift(i32),
    /// Sets the policy for runs that are missed while the bot is off.
    Missed(IfMissed),
    /// Shows a page of the agents to choose from for the task.
    Agents(Page),
    /// Lets this agent run the task.
    Agent(AgentKey),
    /// Runs the task now; its schedule stays as it is.
    Run,
    /// Skips the missed run that a notice asks about.
    Skip,
    /// Pauses the task until somebody resumes it.
    Pause,
    /// Resumes the paused task at its next due time.
    Resume,
    /// Cancels the task. It can be restored for a minute.
    Cancel,
    /// Restores a cancelled task, within a minute and if the chat has room for it.
    Undo,
    /// Label of the buttons below; a press only explains them.
    Label,
    /// Marks the reminder of the task as done.
    Done,
    /// Repeats a single run after this number of minutes.
    Later(i32),
    /// Repeats a single run tomorrow at the same time.
    Tomorrow,
}

impl TaskVerb {
    const fn word(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::History(_) => "history",
            Self::Edit => "edit",
            Self::Shift(_) => "shift",
            Self::Missed(_) => "missed",
            Self::Agents(_) => "agents",
            Self::Agent(_) => "agent",
            Self::Run => "run",
            Self::Skip => "skip",
            Self::Pause => "pause",
            Self::Resume => "resume",
            Self::Cancel => "cancel",
            Self::Undo => "undo",
            Self::Label => "label",
            Self::Done => "done",
            Self::Later(_) => "later",
            Self::Tomorrow => "tomorrow",
        }
    }

    /// Reads a verb from its word and the fields after the task. Errors if the verb is unknown or its fields are
    /// invalid.
    fn read(word: &str, fields: &mut Fields<'_>) -> Result<Self, Gone> {
        Ok(match word {
            "open" => Self::Open,
            "history" => Self::History(fields.page()),
            "edit" => Self::Edit,
            "shift" => Self::Shift(fields.parse()?),
            "missed" => Self::Missed(IfMissed::named(fields.word()?).ok_or(Gone)?),
            "agents" => Self::Agents(fields.page()),
            "agent" => Self::Agent(fields.parse()?),
            "run" => Self::Run,
            "skip" => Self::Skip,
            "pause" => Self::Pause,
            "resume" => Self::Resume,
            "cancel" => Self::Cancel,
            "undo" => Self::Undo,
            "label" => Self::Label,
            "done" => Self::Done,
            "later" => Self::Later(fields.parse()?),
            "tomorrow" => Self::Tomorrow,
            _ => return Err(Gone),
        })
    }
}

impl ButtonFamily for TasksButton {
    const NAME: &'static str = "tasks";
}

impl Display for TasksButton {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Self::NAME;
        match self {
            Self::List(page) => write!(f, "{name}:list:{page}"),
            Self::Back(again) => write!(f, "{name}:back:{}", if *again { "yes" } else { "no" }),
            Self::One(TaskPress { verb, task, page }) => {
                write!(f, "{name}:{}:{task}", verb.word())?;
                if let Some(page) = page {
                    write!(f, "{PAGE_MARK}{page}")?;
                }
                match verb {
                    TaskVerb::History(page) | TaskVerb::Agents(page) => write!(f, ":{page}"),
                    TaskVerb::Shift(minutes) | TaskVerb::Later(minutes) => write!(f, ":{minutes}"),
                    TaskVerb::Agent(agent) => write!(f, ":{agent}"),
                    TaskVerb::Missed(policy) => write!(f, ":{}", policy.name()),
                    TaskVerb::Open
                    | TaskVerb::Edit
                    | TaskVerb::Run
                    | TaskVerb::Skip
                    | TaskVerb::Pause
                    | TaskVerb::Resume
                    | TaskVerb::Cancel
                    | TaskVerb::Undo
                    | TaskVerb::Label
                    | TaskVerb::Done
                    | TaskVerb::Tomorrow => Ok(()),
                }
            }
        }
    }
}

impl FromStr for TasksButton {
    type Err = Gone;

    fn from_str(data: &str) -> Result<Self, Gone> {
        let mut fields = Fields::of::<Self>(data)?;
        let press = match fields.word()? {
            "list" => Self::List(fields.page()),
            "back" => Self::Back(match fields.word()? {
                "yes" => true,
                "no" => false,
                _ => return Err(Gone),
            }),
            word => {
                let target = fields.word()?;
                let (id, page) = match target.split_once(PAGE_MARK) {
                    Some((id, page)) => (id, Some(page.parse().map_err(|_not_a_number| Gone)?)),
                    None => (target, None),
                };
                let task = id.parse().map_err(|_no_id| Gone)?;
                Self::One(TaskPress { verb: TaskVerb::read(word, &mut fields)?, task, page })
            }
        };
        fields.end(press)
    }
}
