//! Buttons that show agents and choose the agent that answers.

use super::buttons::buttons;
use super::{Page, Short};

buttons! {
    /// Buttons of the cards of `/agents`. A page is the list page to show afterwards.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub(crate) enum AgentsButton = "agents" {
        /// Shows a page of the agents to choose from for the chat.
        List(page: Page) = "list",
        /// Lets this agent answer in the chat.
        Set(agent: Short<40>, page: Page) = "set",
        /// Removes the chat's agent; Figaro itself answers again.
        Clear(page: Page) = "clear",
        /// Shows a page of the agents to choose from for the current conversation.
        Here(page: Page) = "here",
        /// Lets this agent answer in the current conversation only.
        SetHere(agent: Short<40>, page: Page) = "use",
        /// Removes the conversation's agent; the chat's agent answers again.
        ClearHere(page: Page) = "drop",
    }
}
