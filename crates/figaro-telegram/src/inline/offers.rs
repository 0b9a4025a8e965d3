//! Results that an inline query offers: the question itself, or the last answers of the person who types. Pure apart from
//! the reading of these answers.

use std::sync::Arc;

use serde_json::{Value, json};

use super::content::quotation;
use super::{InlineAnswers, InlineContent, with_question};
use crate::callback::InlineButton;
use crate::outgoing::MESSAGE_UNITS;
use crate::outgoing::{PREVIEW, no_preview};
use crate::send::{Button, keyboard};
use figaro_base::ids::{ChatId, UserId};
use figaro_base::text::one_line;
use figaro_domain::conversation::{ConversationId, Message, MessageRole, begins_exchange};
use figaro_markup::{Formatted, render, split};
use figaro_prompts::texts::{Texts, fill};
use figaro_store::{ConversationStore, Result, SessionStore};

/// Number of recent messages in which answers are looked for.
const LOOKED_AT: usize = 100;
/// Maximum number of offered answers.
const MAX_ANSWERS: usize = 10;
/// Maximum length of a title and of a description, in characters.
const TITLE_CHARS: usize = 60;
const DESCRIPTION_CHARS: usize = 120;
/// Seconds for which Telegram may show the offered question again without asking.
const CACHE_SECONDS: u32 = 60;

/// Makes the answers to inline queries.
#[derive(Debug)]
pub(crate) struct Offers<'a> {
    pub(crate) texts: &'a Texts,
    /// Name of the bot.
    pub(crate) name: &'a str,
    pub(crate) conversations: &'a ConversationStore,
    pub(crate) sessions: &'a SessionStore,
}

impl Offers<'_> {
    /// Returns the arguments of `answerInlineQuery` for a person who may ask: their question, or their last answers.
    ///
    /// # Errors
    /// If the store fails.
    pub(crate) fn of(&self, answers: &InlineAnswers, user: &UserId, query: &str) -> Result<Value> {
        let query = query.trim();
        if !query.is_empty() {
            let number = answers.offer(user.clone(), query.to_owned());
            let results = [self.question(number, query)];
            return Ok(json!({"results": results, "is_personal": true, "cache_time": CACHE_SECONDS}));
        }
        let results = match user.telegram_id() {
            Some(chat) => self.last_answers(ChatId(chat))?,
            None => Vec::new(),
        };
        let hint = json!({"text": self.texts.inline_hint(), "start_parameter": "inline"});
        Ok(json!({"results": results, "is_personal": true, "cache_time": 0, "button": hint}))
    }

    /// Returns the answer for a person who may not ask.
    pub(crate) fn none(&self) -> Value {
        let ask = json!({"text": self.texts.inline_access(), "start_parameter": "inline"});
        json!({"results": [], "is_personal": true, "cache_time": 0, "button": ask})
    }

    fn question(&self, number: u32, query: &str) -> Value {
        let waiting = Formatted { text: self.texts.inline_waiting().to_owned(), entities: Vec::new() };
        let answer = Button::new(self.texts.inline_answer(), InlineButton::Answer(number));
        let shown =
            InlineContent { text: with_question(&quotation(query), waiting), buttons: vec![vec![answer]] };
        let title = fill(self.texts.inline_ask(), &[("name", self.name)]);
        article(&format!("ask-{number}"), &title, query, &shown)
    }

    /// Returns the last answers of a person's private chat, newest first.
    fn last_answers(&self, chat: ChatId) -> Result<Vec<Value>> {
        let Some(session) = self.sessions.current(ConversationId::whole(chat))? else {
            return Ok(Vec::new());
        };
        let recent = self.conversations.recent(session, LOOKED_AT)?;
        let found =
            recent.iter().enumerate().rev().filter(|(_, message)| is_answer(message)).take(MAX_ANSWERS);
        Ok(found.map(|(at, answer)| offered(asked(&recent, at), answer)).collect())
    }
}

/// Returns the result that answers a guest message for now.
pub(crate) fn guest_result(texts: &Texts, name: &str) -> Value {
    let waiting = Formatted { text: texts.inline_waiting().to_owned(), entities: Vec::new() };
    let stop = Button::new(texts.inline_stop(), InlineButton::Stop);
    article("guest", name, "", &InlineContent { text: waiting, buttons: vec![vec![stop]] })
}

fn is_answer(message: &Message) -> bool {
    let is_whole = message.token_usage.is_some() && message.model_id.is_some();
    message.role == MessageRole::Assistant && is_whole && !message.replaced && !message.text.trim().is_empty()
}

/// Returns the question before the message at this position.
fn asked(messages: &[Arc<Message>], at: usize) -> Option<&Message> {
    let first = (0..at).rev().find(|&before| begins_exchange(messages, before))?;
    messages.get(first).map(|message| &**message)
}

fn offered(question: Option<&Message>, answer: &Message) -> Value {
    let text = render(&answer.text);
    let title =
        question.map(|question| one_line(&question.text, TITLE_CHARS)).filter(|title| !title.is_empty());
    let description = one_line(&text.text, DESCRIPTION_CHARS);
    let title = title.unwrap_or_else(|| one_line(&text.text, TITLE_CHARS));
    let first = split(text, MESSAGE_UNITS).into_iter().next().unwrap_or_default();
    article(&answer.id.to_string(), &title, &description, &InlineContent::text(first))
}

fn article(id: &str, title: &str, description: &str, shown: &InlineContent) -> Value {
    let mut content = json!({"message_text": shown.text.text, "entities": shown.text.entities});
    content[PREVIEW] = no_preview();
    let mut article = json!({"type": "article", "id": id, "title": title, "input_message_content": content});
    if !description.is_empty() {
        article["description"] = json!(description);
    }
    if !shown.buttons.is_empty() {
        article["reply_markup"] = keyboard(&shown.buttons);
    }
    article
}
