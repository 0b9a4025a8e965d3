//! Buttons under messages.

use serde_json::{Value, json};

use super::callback::{Data, ParentCard};

/// A button of an inline keyboard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Button {
    /// The text on the button.
    pub(crate) text: String,
    /// What a press does.
    pub(crate) press: Press,
    /// The card that it leads away from, to one of another command that leads back.
    pub(crate) parent: Option<ParentCard>,
}

/// What a press of a button does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Press {
    /// Telegram sends this back to the bot.
    Data(Data),
    /// The client opens this address.
    Url(String),
}

impl Button {
    /// A button with this text and this callback data.
    #[must_use]
    pub fn new(text: impl Into<String>, data: impl Into<Data>) -> Self {
        Self { text: text.into(), press: Press::Data(data.into()), parent: None }
    }

    /// A button with this text that opens an address.
    #[must_use]
    pub(crate) fn link(text: impl Into<String>, url: impl Into<String>) -> Self {
        Self { text: text.into(), press: Press::Url(url.into()), parent: None }
    }

    /// The same as one that opens a card of another command, from which Back leads here.
    #[must_use]
    pub(crate) fn through(self, parent: ParentCard) -> Self {
        Self { parent: Some(parent), ..self }
    }

    fn as_json(&self) -> Value {
        match &self.press {
            Press::Data(data) => json!({"text": self.text, "callback_data": data.as_str()}),
            Press::Url(url) => json!({"text": self.text, "url": url}),
        }
    }
}

/// The `reply_markup` value of an inline keyboard with these rows.
pub(super) fn keyboard(buttons: &[Vec<Button>]) -> Value {
    let rows: Vec<Vec<Value>> = buttons.iter().map(|row| row.iter().map(Button::as_json).collect()).collect();
    json!({"inline_keyboard": rows})
}
