//! Buttons of documents.

use super::Page;
use super::buttons::buttons;
use figaro_base::ids::DocumentId;

buttons! {
    /// Buttons of the list and of a document's card. The page is the list page that the card was opened from.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) enum DocsButton = "docs" {
        /// Shows a page of the list.
        List(page: Page) = "list",
        /// Shows the card of a document.
        Open(document: DocumentId, page: Page) = "open",
        /// Sends the file again.
        Send(document: DocumentId) = "send",
        Remove(document: DocumentId, page: Page) = "drop",
        /// Restores a document that was removed.
        Undo(document: DocumentId, page: Page) = "undo",
    }
}
