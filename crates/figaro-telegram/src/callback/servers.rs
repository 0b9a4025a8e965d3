//! The buttons of other MCP servers.

use super::buttons::buttons;
use super::{Page, Short};

buttons! {
    /// A button of the cards of `/mcp`.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub(crate) enum Servers = "mcp" {
        /// Shows a page of the servers.
        List(page: Page) = "list",
        /// Shows a server, with a page of its tools.
        Open(server: Short<32>, page: Page) = "open",
        /// Starts a server anew.
        Restart(server: Short<32>) = "restart",
    }
}
