//! Buttons of the cards of MCP servers.

use super::buttons::buttons;
use super::{Page, Short};

buttons! {
    /// Button of the cards of `/mcp`.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub(crate) enum ServersButton = "mcp" {
        /// Shows a page of the MCP servers.
        List(page: Page) = "list",
        /// Shows a server, with a page of its tools.
        Open(server: Short<32>, page: Page) = "open",
        Restart(server: Short<32>) = "restart",
    }
}
