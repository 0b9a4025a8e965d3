//! The buttons of the list of tasks, of a task's cards, and of notices about tasks.

use std::fmt::{self, Display};
use std::str::FromStr;

use super::{Family, Fields, Gone, Page, hash};
use figaro_base::ids::TaskId;
use figaro_domain::task::IfMissed;

/// Stands between a task's id and the page of the list that its card was opened from.
const PAGE_MARK: char = '~';

/// The buttons of the list of tasks, of their cards and of notices about them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tasks {
    /// Shows a page of the chat's tasks, from 0.
    List(Page),
    /// Answers whether tasks that were paused when the bot was removed from their chat run again: `true` resumes them all,
    /// `false` leaves them paused.
    Back(bool),
    /// Shows or changes one task.
    One(TaskPress),
}

/// What a button does with a task: `tasks:VERB:ID`, with `~PAGE` behind the id if its card was opened from the list, and
/// `:MORE` at the end for the verbs that need more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TaskPress {
    /// What the button does with the task.
    pub(crate) verb: TaskVerb,
    /// The task that it acts on.
    pub(crate) task: TaskId,
    /// The page of the list that its card was opened from, from 0; `None` if it was opened elsewhere.
    pub(crate) page: Option<Page>,
}

/// An agent in a button of a task, beside whose id its name has no room: twelve digits of the hash of the name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AgentKey(u64);

impl AgentKey {
    /// What stands for the agent of this name, the same wherever it is made.
    #[must_use]
    pub(crate) fn of(name: &str) -> Self {
        // More digits have no room beside the id and the longest page.
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

/// What a button does with a task. All but `Open`, `History` and `Label` are for whoever may change the task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TaskVerb {
    /// Shows the task's card as it is now.
    Open,
    /// Shows a page of its last runs, from 0, newest first.
    History(Page),
    /// Shows the card with buttons that change its times and what becomes of missed runs.
    Edit,
    /// Moves its times by so many minutes, back if negative.
    Shift(i32),
    /// Sets what becomes of runs that are missed while the bot is off.
    Missed(IfMissed),
    /// Shows a page of the agents, from 0, to choose one of for the task.
    Agents(Page),
    /// Has this agent carry the task out.
    Agent(AgentKey),
    /// Runs the task now; its schedule stays as it is.
    Run,
    /// Skips the missed run that a notice asks about.
    Skip,
    /// Pauses the task until somebody resumes it.
    Pause,
    /// Resumes the paused task at its next due time.
    Resume,
    /// Cancels the task for good, but for a minute in which it can be undone.
    Cancel,
    /// Undoes its cancellation, within a minute and if the chat has room for it.
    Undo,
    /// Says what the buttons below are about.
    Label,
    /// What a task reminded of is done.
    Done,
    /// Has a single run come again, in so many minutes.
    Later(i32),
    /// Has a single run come again tomorrow at its time.
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

    /// Reads a verb from its word and the fields behind the task. Errors if there is no such verb or its fields do not fit.
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

impl Family for Tasks {
    const NAME: &'static str = "tasks";
}

impl Display for Tasks {
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

impl FromStr for Tasks {
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
