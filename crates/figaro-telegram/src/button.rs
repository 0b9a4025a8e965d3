//! Buttons under messages.

use serde_json::{Value, json};

use super::callback::{Data, ParentCard};

/// A button of an inline keyboard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Button {
    pub(crate) text: String,
    pub(crate) press: PressEffect,
    /// Card that holds the button, if the button opens the card of another command, which then leads back.
    pub(crate) parent: Option<ParentCard>,
}

/// Effect of a press on a button.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PressEffect {
    /// Telegram sends this callback data back to the bot.
    Data(Data),
    Url(String),
    /// Telegram opens a Mini App at this address, in private chats alone.
    MiniApp(String),
}

impl Button {
    /// Creates a button that sends this callback data.
    #[must_use]
    pub fn new(text: impl Into<String>, data: impl Into<Data>) -> Self {
        Self { text: text.into(), press: PressEffect::Data(data.into()), parent: None }
    }

    /// Creates a button that opens a URL.
    #[must_use]
    pub(crate) fn link(text: impl Into<String>, url: impl Into<String>) -> Self {
        Self { text: text.into(), press: PressEffect::Url(url.into()), parent: None }
    }

    /// Creates a button that opens a Mini App. Telegram takes it in private chats alone.
    #[must_use]
    pub(crate) fn mini_app(text: impl Into<String>, url: impl Into<String>) -> Self {
        Self { text: text.into(), press: PressEffect::MiniApp(url.into()), parent: None }
    }

    /// Marks a button that opens the card of another command; the Back button there leads to `parent`.
    #[must_use]
    pub(crate) fn through(self, parent: ParentCard) -> Self {
        Self { parent: Some(parent), ..self }
    }

    fn as_json(&self) -> Value {
        match &self.press {
            PressEffect::Data(data) => json!({"text": self.text, "callback_data": data.as_str()}),
            PressEffect::Url(url) => json!({"text": self.text, "url": url}),
            PressEffect::MiniApp(url) => json!({"text": self.text, "web_app": {"url": url}}),
        }
    }
}

/// Returns the `reply_markup` value of an inline keyboard with these rows.
pub(super) fn keyboard(buttons: &[Vec<Button>]) -> Value {
    let rows: Vec<Vec<Value>> = buttons.iter().map(|row| row.iter().map(Button::as_json).collect()).collect();
    json!({"inline_keyboard": rows})
}
