//! The buttons of the audit log.

use super::Page;
use super::buttons::buttons;

buttons! {
    /// A button of the audit log.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) enum Audit = "audit" {
        /// Shows a page of all entries, the newest first.
        All(page: Page) = "all",
        /// Shows a page of those that tell of a refusal.
        Refused(page: Page) = "refused",
        /// Sends the whole log as a file.
        Export = "export",
    }
}
