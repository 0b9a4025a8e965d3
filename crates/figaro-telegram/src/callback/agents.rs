//! The buttons that show agents and choose which one answers.

use super::buttons::buttons;
use super::{Page, Short};

buttons! {
    /// The buttons of the cards of `/agents`. A page is the one of the list that is shown again.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub(crate) enum Agents = "agents" {
        /// Shows a page of the agents to choose one of for the chat.
        List(page: Page) = "list",
        /// Has this agent answer in the chat.
        Set(agent: Short<40>, page: Page) = "set",
        /// Takes the chat's agent away.
        Clear(page: Page) = "clear",
        /// Shows a page of the agents to choose one of for the conversation that goes on now.
        Here(page: Page) = "here",
        /// Has this agent answer in that conversation alone.
        SetHere(agent: Short<40>, page: Page) = "use",
        /// Takes that conversation's agent away: that of the chat answers again.
        ClearHere(page: Page) = "drop",
    }
}
