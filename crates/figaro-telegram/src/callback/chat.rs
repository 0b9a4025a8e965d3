//! Buttons of the first card, of notes, of usage, of pictures, of spoken answers and of the bot's status.

use super::Page;
use super::buttons::buttons;
use figaro_base::ids::{MessageId, NoteId, RunId};
use figaro_domain::chat::VoiceMode;

buttons! {
    /// Buttons of the card of `/start`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) enum StartButton = "start" {
        /// Asks the example question of the card.
        Example = "example",
        /// Shows who may talk to the bot.
        Access = "access",
        /// Shows the card of `/start` again.
        Back = "back",
    }
}

buttons! {
    /// Buttons of `/help`. Each asks the example with this index, from 0.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) struct HelpButton = "help" (u8)
}

buttons! {
    /// Explains how the answer in this message came about.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) struct WhyButton = "why" (MessageId)
}

buttons! {
    /// Buttons of notes. A list is identified by its first note, because its name may be too long.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) enum NotesButton = "notes" {
        /// Shows a page of all lists.
        Lists(page: Page) = "list",
        /// Shows a page of the list with this note.
        Open(note: NoteId, page: Page) = "open",
        /// Shows the list with this note in a new message; for the button under an answer.
        Show(note: NoteId) = "show",
        /// Removes the note that an answer has just added; the answer stays.
        Drop(note: NoteId) = "back",
        /// Removes the notes that a turn has added; the answer stays.
        DropAll(turn: RunId) = "all",
        /// Removes a note that is done.
        Done(note: NoteId) = "done",
        Remove(note: NoteId) = "drop",
        /// Restores a note that was removed.
        Undo(note: NoteId) = "undo",
    }
}

buttons! {
    /// Buttons of `/usage`, one for each view of the usage.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) enum UsageButton = "usage" {
        Days = "days",
        Chats = "chats",
        People = "people",
        Models = "models",
        Agents = "agents",
        Tasks = "tasks",
        Keys = "keys",
        /// Usage of the last months.
        Month = "month",
    }
}

impl UsageButton {
    /// All views, in the order of their buttons.
    pub(crate) const ALL: [Self; 8] = [
        Self::Days,
        Self::Month,
        Self::Chats,
        Self::People,
        Self::Models,
        Self::Agents,
        Self::Tasks,
        Self::Keys,
    ];
}

buttons! {
    /// Buttons under a drawn picture.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) enum DrawButton = "draw" {
        /// Asks for another picture like it.
        Again = "again",
        /// Asks the person what should change in it.
        Change = "change",
    }
}

buttons! {
    /// Buttons of `/voice`, one for each mode.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) enum VoiceButton = "voice" {
        Off = "off",
        Reply = "reply",
        Always = "always",
    }
}

impl VoiceButton {
    #[must_use]
    pub(crate) const fn of(mode: VoiceMode) -> Self {
        match mode {
            VoiceMode::Off => Self::Off,
            VoiceMode::Reply => Self::Reply,
            VoiceMode::Always => Self::Always,
        }
    }

    #[must_use]
    pub(crate) const fn mode(self) -> VoiceMode {
        match self {
            Self::Off => VoiceMode::Off,
            Self::Reply => VoiceMode::Reply,
            Self::Always => VoiceMode::Always,
        }
    }
}

buttons! {
    /// Button that refreshes the status of the bot.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) struct StatusButton = "status", ""
}
