//! The buttons that show, choose and change the personas of a chat.

use std::fmt::{self, Display};
use std::str::FromStr;

use super::{Family, Fields, Gone, Page, Short};
use figaro_base::ids::PersonaId;

/// The buttons of the card of `/persona`. A page is the one of the list that is shown again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Persona {
    /// Shows a page of the list.
    List(Page),
    /// Chooses a persona of a file, by its name.
    File(Short<40>, Page),
    /// Chooses a persona of the chat's own.
    Own(PersonaId, Page),
    /// Takes the chosen persona away.
    Clear(Page),
    /// Asks for the words of a new persona.
    New,
    /// Shows a persona of the chat's own, with what can be done to it.
    Open(PersonaId, Page),
    /// Asks for other words of a persona of the chat's own.
    Edit(PersonaId),
    /// Asks for settings of a persona of the chat's own.
    Writing(PersonaId),
    /// Asks whether a persona of the chat's own is to be deleted.
    Drop(PersonaId, Page),
    /// Deletes it.
    Delete(PersonaId, Page),
}

impl Family for Persona {
    const NAME: &'static str = "persona";
}

impl Display for Persona {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Self::NAME;
        match self {
            Self::List(page) => write!(f, "{name}:list:{page}"),
            Self::File(persona, page) => write!(f, "{name}:file:{persona}:{page}"),
            Self::Own(persona, page) => write!(f, "{name}:own:{persona}:{page}"),
            Self::Clear(page) => write!(f, "{name}:clear:{page}"),
            Self::New => write!(f, "{name}:new"),
            Self::Open(persona, page) => write!(f, "{name}:open:{persona}:{page}"),
            Self::Edit(persona) => write!(f, "{name}:edit:{persona}"),
            Self::Writing(persona) => write!(f, "{name}:set:{persona}"),
            Self::Drop(persona, page) => write!(f, "{name}:drop:{persona}:{page}"),
            Self::Delete(persona, page) => write!(f, "{name}:gone:{persona}:{page}"),
        }
    }
}

impl FromStr for Persona {
    type Err = Gone;

    fn from_str(data: &str) -> Result<Self, Gone> {
        let mut fields = Fields::of::<Self>(data)?;
        let press = match fields.word()? {
            "list" => Self::List(fields.page()),
            "file" => Self::File(fields.parse()?, fields.page()),
            "own" => Self::Own(fields.parse()?, fields.page()),
            "clear" => Self::Clear(fields.page()),
            "new" => Self::New,
            "open" => Self::Open(fields.parse()?, fields.page()),
            "edit" => Self::Edit(fields.parse()?),
            "set" => Self::Writing(fields.parse()?),
            "drop" => Self::Drop(fields.parse()?, fields.page()),
            "gone" => Self::Delete(fields.parse()?, fields.page()),
            _ => return Err(Gone),
        };
        fields.end(press)
    }
}
