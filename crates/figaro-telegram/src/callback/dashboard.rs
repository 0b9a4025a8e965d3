//! Button of `/dashboard`.

use super::buttons::buttons;

buttons! {
    /// Signs the person out of the dashboard everywhere.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) struct SignOutButton = "dashboard", "out"
}
