//! The buttons of the first card, of notes, of what was spent, and of how the bot is doing.

use std::fmt::{self, Display};
use std::str::FromStr;

use super::{Family, Fields, Gone, Page};
use figaro_base::ids::{NoteId, RunId};

/// Buttons of the first card.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Start {
    /// Asks the example.
    Example,
    /// Shows who may talk to the bot.
    Access,
    /// Shows the first card again.
    Back,
}

impl Family for Start {
    const NAME: &'static str = "start";
}

impl Display for Start {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verb = match self {
            Self::Example => "example",
            Self::Access => "access",
            Self::Back => "back",
        };
        write!(f, "{}:{verb}", Self::NAME)
    }
}

impl FromStr for Start {
    type Err = Gone;

    fn from_str(data: &str) -> Result<Self, Gone> {
        match Fields::of::<Self>(data)?.rest()? {
            "example" => Ok(Self::Example),
            "access" => Ok(Self::Access),
            "back" => Ok(Self::Back),
            _ => Err(Gone),
        }
    }
}

/// The buttons of `/help`: each asks the example with this number, from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Help(pub(crate) u8);

impl Family for Help {
    const NAME: &'static str = "help";
}

impl Display for Help {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", Self::NAME, self.0)
    }
}

impl FromStr for Help {
    type Err = Gone;

    fn from_str(data: &str) -> Result<Self, Gone> {
        let mut fields = Fields::of::<Self>(data)?;
        let example = fields.parse()?;
        fields.end(Self(example))
    }
}

/// Buttons of notes. A list is named by its first note: its own name may be too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Notes {
    /// Shows a page of all lists.
    Lists(Page),
    /// Shows a page of the list with this note.
    Open(NoteId, Page),
    /// The same in a message of its own, as it stands under an answer.
    Show(NoteId),
    /// Removes the note that an answer has just added; the answer stays.
    Drop(NoteId),
    /// Removes the notes that a turn has added; the answer stays.
    DropAll(RunId),
    /// Removes a note that is done.
    Done(NoteId),
    /// Removes a note.
    Remove(NoteId),
    /// Puts a removed note back.
    Undo(NoteId),
}

impl Family for Notes {
    const NAME: &'static str = "notes";
}

impl Display for Notes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Self::NAME;
        match self {
            Self::Lists(page) => write!(f, "{name}:list:{page}"),
            Self::Open(note, page) => write!(f, "{name}:open:{note}:{page}"),
            Self::Show(note) => write!(f, "{name}:show:{note}"),
            Self::Drop(note) => write!(f, "{name}:back:{note}"),
            Self::DropAll(turn) => write!(f, "{name}:all:{turn}"),
            Self::Done(note) => write!(f, "{name}:done:{note}"),
            Self::Remove(note) => write!(f, "{name}:drop:{note}"),
            Self::Undo(note) => write!(f, "{name}:undo:{note}"),
        }
    }
}

impl FromStr for Notes {
    type Err = Gone;

    fn from_str(data: &str) -> Result<Self, Gone> {
        let mut fields = Fields::of::<Self>(data)?;
        let press = match fields.word()? {
            "list" => Self::Lists(fields.page()),
            "open" => Self::Open(fields.parse()?, fields.page()),
            "show" => Self::Show(fields.parse()?),
            "back" => Self::Drop(fields.parse()?),
            "all" => Self::DropAll(fields.parse()?),
            "done" => Self::Done(fields.parse()?),
            "drop" => Self::Remove(fields.parse()?),
            "undo" => Self::Undo(fields.parse()?),
            _ => return Err(Gone),
        };
        fields.end(press)
    }
}

/// The ways in which an owner looks at what was spent, each a button.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Usage {
    /// Shows figures by day.
    Days,
    /// Shows figures by chat.
    Chats,
    /// Shows figures by person.
    People,
    /// Shows figures by model.
    Models,
}

impl Usage {
    /// All of them, in the order of their buttons.
    pub(crate) const ALL: [Self; 4] = [Self::Days, Self::Chats, Self::People, Self::Models];

    const fn word(self) -> &'static str {
        match self {
            Self::Days => "days",
            Self::Chats => "chats",
            Self::People => "people",
            Self::Models => "models",
        }
    }
}

impl Family for Usage {
    const NAME: &'static str = "usage";
}

impl Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", Self::NAME, self.word())
    }
}

impl FromStr for Usage {
    type Err = Gone;

    fn from_str(data: &str) -> Result<Self, Gone> {
        let word = Fields::of::<Self>(data)?.rest()?;
        Self::ALL.into_iter().find(|view| view.word() == word).ok_or(Gone)
    }
}

/// The button that shows anew how the bot is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Status;

impl Family for Status {
    const NAME: &'static str = "status";
}

impl Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", Self::NAME)
    }
}

impl FromStr for Status {
    type Err = Gone;

    fn from_str(data: &str) -> Result<Self, Gone> {
        if Fields::of::<Self>(data)?.rest()?.is_empty() { Ok(Self) } else { Err(Gone) }
    }
}
