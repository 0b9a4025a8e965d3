//! Menu buttons, and people who open Mini Apps.

use serde_json::{Value, json};

use super::super::OfflineTelegram;
use super::super::mini_app::{self, MiniAppButton, MiniAppPress};
use super::super::possible::Possible;
use super::observe::TelegramView;

impl OfflineTelegram {
    /// Opens a Mini App as a person, in the private chat with the bot. Returns the address that the client loads; its fragment
    /// has the signed data as `tgWebAppData`, dated by the clock of the runtime.
    ///
    /// # Errors
    /// The person is unknown, has no private chat, or has no such button there.
    pub fn open_mini_app(&self, user: i64, button: MiniAppButton<'_>) -> Possible<String> {
        let theme = json!({"bg_color": "#ffffff", "text_color": "#000000", "button_color": "#2481cc"});
        let press = MiniAppPress { user, button, theme: &theme };
        let now = self.shared.now().timestamp();
        self.shared.change(|state| mini_app::open(state, &self.token, &press, now))
    }
}

impl TelegramView<'_> {
    /// Returns the `MenuButton` object that a private chat shows: its own, else that of all chats.
    #[must_use]
    pub fn menu_button(&self, chat: i64) -> &Value {
        self.0.menu.shown(chat)
    }
}
