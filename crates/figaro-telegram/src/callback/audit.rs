//! Buttons of the audit log.

use super::Page;
use super::buttons::buttons;

buttons! {
    /// A button of the audit log.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) enum AuditButton = "audit" {
        /// Shows a page of all entries, newest first.
        All(page: Page) = "all",
        /// Shows a page of the refusals, newest first.
        Refused(page: Page) = "refused",
        /// Sends the whole log as a file.
        Export = "export",
    }
}
