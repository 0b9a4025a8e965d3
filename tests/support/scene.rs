//! What tests of behaviour do again and again: a group, a proof of silence, a press of a button, a look at a prompt.

use figaro_offline::model::{ModelReply, ModelRequest, OfflineModel};
use figaro_offline::telegram::{MemberStatus, Person, SentByPerson, TelegramOptions, TelegramView};
use serde_json::{Value, json};

use super::bot::Recipe;
use super::{ANN, BOB, Bot, TIMEOUT, World};

/// A supergroup with Ann, Bob and the bot in it.
pub const TEAM: i64 = -1001;

/// Asked in Ann's own chat to prove that everything said before has been dealt with.
const MARKER: &str = "Have you dealt with everything so far?";
/// What the bot says to that.
pub const CAUGHT_UP: &str = "I have.";

impl World {
    /// A world whose bot Telegram shows all messages of its groups.
    pub async fn without_privacy() -> Self {
        Self::with(TelegramOptions { can_read_all_group_messages: true, ..TelegramOptions::default() }).await
    }

    /// Adds the group [`TEAM`].
    pub fn team(&self) {
        self.telegram.add_supergroup(TEAM, "Team");
        self.join(TEAM);
    }

    /// Makes Ann and Bob members of a chat.
    pub fn join(&self, chat: i64) {
        for user in [ANN, BOB] {
            self.telegram.set_member(chat, user, MemberStatus::Member).unwrap();
        }
    }

    /// Adds a person with a private chat.
    pub fn person(&self, id: i64, name: &str, language: &str) {
        self.telegram.add_user(Person::new(id, name).language(language));
        self.telegram.add_private(id).unwrap();
    }

    /// The bot, open to everybody.
    pub async fn start_open(&self) -> Bot {
        let bot = self.bot().set("ACCESS", "open").spawn();
        bot.ready().await;
        bot
    }

    /// The model gives this reply once, when the question has these words.
    pub fn when(&self, words: &str, reply: ModelReply) {
        drop(self.script.clone().when(words, reply));
    }

    /// The model gives this reply whenever the script has no other.
    pub fn otherwise(&self, reply: ModelReply) {
        drop(self.script.clone().otherwise(reply));
    }

    pub fn say(&self, from: i64, chat: i64, text: &str) -> SentByPerson {
        self.telegram.say(from, chat, text).unwrap()
    }

    /// Someone writes to a chat, and the bot's next message there is given back.
    pub async fn told(&self, from: i64, chat: i64, text: &str) -> Value {
        let before = self.bot_texts(chat).len();
        self.say(from, chat, text);
        self.answers(chat, before + 1).await.pop().unwrap()
    }

    /// Waits until something can be seen at Telegram.
    pub async fn see<T>(&self, what: &str, find: impl FnMut(&TelegramView<'_>) -> Option<T>) -> T {
        let seen = self.telegram.wait_until(TIMEOUT, find).await;
        seen.unwrap_or_else(|| panic!("never seen: {what}"))
    }

    /// Waits until a message has these words.
    pub async fn shows(&self, chat: i64, message: i64, words: &str) -> Value {
        let find = |view: &TelegramView<'_>| {
            let found = view.messages(chat).into_iter().find(|m| m["message_id"] == message)?;
            text(found).contains(words).then(|| found.clone())
        };
        self.see(words, find).await
    }

    /// Waits until a message has these words and a button that begins with `label`. After a press, [`Self::shows`] may
    /// still find the old card, if it has the same words.
    pub async fn becomes(&self, card: &Value, words: &str, label: &str) -> Value {
        let (chat, id) = (number(&card["chat"]["id"]), &card["message_id"]);
        let find = |view: &TelegramView<'_>| {
            let now = view.messages(chat).into_iter().find(|m| m["message_id"] == *id)?;
            (text(now).contains(words) && labels(now).iter().any(|l| l.starts_with(label)))
                .then(|| now.clone())
        };
        let found = self.telegram.wait_until(TIMEOUT, find).await;
        found.unwrap_or_else(|| {
            let now = self.telegram.messages(chat).into_iter().find(|m| m["message_id"] == *id);
            panic!("never seen: `{words}` with {label}; there is {now:?}")
        })
    }

    /// Waits until everything said so far has been dealt with, except for turns that wait for the model.
    pub async fn caught_up(&self) {
        self.when(MARKER, ModelReply::text(CAUGHT_UP));
        // A chat may want to see what an answer cost, in a line under it.
        let is_it = |text: &str| text.lines().next() == Some(CAUGHT_UP);
        let before = self.bot_texts(ANN).iter().filter(|text| is_it(text)).count();
        self.say(ANN, ANN, MARKER);
        self.see("the answer to the marker", |view| {
            let all = view.bot_messages(ANN).into_iter();
            let answers = all.filter(|m| m["text"].as_str().is_some_and(is_it)).count();
            (answers > before).then_some(())
        })
        .await;
    }

    /// The requests the model got, those of [`Self::caught_up`] not counted.
    pub fn asked(&self) -> Vec<ModelRequest> {
        let requests = self.model.requests();
        requests.into_iter().filter(|request| !request.user_text().contains(MARKER)).collect()
    }

    /// Waits until the model got so many requests, and gives the last of these.
    pub async fn asks(&self, count: usize) -> ModelRequest {
        let find = |requests: &[ModelRequest]| requests.get(count - 1).cloned();
        self.model.wait_until(TIMEOUT, find).await.unwrap_or_else(|| panic!("no request number {count}"))
    }

    /// Waits until the model got so many requests of a kind, such as [`OfflineModel::extraction_requests`], with these words in
    /// the user's text; gives them.
    pub async fn asked_for(
        &self,
        kind: fn(&OfflineModel) -> Vec<ModelRequest>,
        words: &str,
        count: usize,
    ) -> Vec<ModelRequest> {
        let has_words = |request: &ModelRequest| request.user_text().contains(words);
        let find = |model: &OfflineModel| {
            let found: Vec<ModelRequest> = kind(model).into_iter().filter(has_words).collect();
            (found.len() >= count).then_some(found)
        };
        let found = self.model.wait_for(TIMEOUT, find).await;
        found.unwrap_or_else(|| {
            let all: Vec<String> = kind(&self.model).iter().map(ModelRequest::user_text).collect();
            panic!("no {count} requests with `{words}`: {all:#?}; the log:\n{}", self.log())
        })
    }

    /// Someone presses the button that begins with these words; gives the words shown over it.
    pub async fn press(&self, user: i64, card: &Value, label: &str) -> String {
        let (chat, id) = (number(&card["chat"]["id"]), number(&card["message_id"]));
        let now = self.telegram.messages(chat).into_iter().find(|m| m["message_id"] == id).unwrap();
        let data = buttons(&now).into_iter().find(|(text, _)| text.starts_with(label));
        let (_, data) = data.unwrap_or_else(|| panic!("no button {label}: {:?}", buttons(&now)));
        self.press_data(user, card, &data).await
    }

    /// Someone presses the button with this data; gives the words shown over it.
    pub async fn press_data(&self, user: i64, card: &Value, data: &str) -> String {
        let (chat, id) = (number(&card["chat"]["id"]), number(&card["message_id"]));
        let press = self.telegram.press(user, chat, id, data).unwrap();
        let answer = self.see("the answer to a press", |view| view.callback_answer(&press).cloned()).await;
        text(&answer).to_owned()
    }

    /// Someone's client sends a press that no button offers it; gives the words shown for it.
    pub async fn forged(&self, user: i64, card: &Value, data: &str) -> String {
        let id = format!("forged-{user}-{}-{data}", self.telegram.calls().len());
        let from = json!({"id": user, "is_bot": false, "first_name": "Someone", "language_code": "en"});
        let press = json!({"id": id, "from": from, "message": card, "chat_instance": "1", "data": data});
        self.telegram.push_raw(json!({"callback_query": press}));
        let find = |view: &TelegramView<'_>| {
            let calls = view.calls_of("answerCallbackQuery");
            let found = calls.into_iter().find(|call| call.args["callback_query_id"] == *id)?;
            Some(found.args.get("text").and_then(Value::as_str).unwrap_or_default().to_owned())
        };
        self.see("the answer to a forged press", find).await
    }

    /// A bot for everybody whose owner has named three models; its own one sees and searches.
    pub fn many(&self) -> Recipe {
        self.bot()
            .set("ACCESS", "open")
            .set("OPENAI_MODEL", "gpt-4.1-mini")
            .set("COMPATIBLE_BASE_URL", self.model.url())
            .set("COMPATIBLE_API_KEY", "sk-offline-key")
            .set("COMPATIBLE_MODEL", "offline-text")
            .set("GEMINI_BASE_URL", &self.model.gemini_url())
            .set("GEMINI_API_KEY", "sk-offline-key")
            .set("GEMINI_MODEL", "gemini-2.5-flash")
    }

    /// Calls of the bot's that Telegram refused: there is never a reason for one unless a test makes it.
    pub fn refused(&self) -> Vec<String> {
        let calls = self.telegram.calls();
        calls.iter().filter(|c| !c.ok).map(|c| format!("{} {:?} {:?}", c.method, c.args, c.error)).collect()
    }

    /// The emoji the bot has put on a message.
    pub fn reactions(&self, chat: i64, message: i64) -> Vec<String> {
        let emoji = |r: &Value| r["emoji"].as_str().unwrap_or_default().to_owned();
        self.telegram.view(|view| view.reactions(chat, message).iter().map(emoji).collect())
    }
}

/// The text of a message or of an answer to a press.
pub fn text(message: &Value) -> &str {
    message["text"].as_str().unwrap_or_default()
}

pub fn number(value: &Value) -> i64 {
    value.as_i64().unwrap()
}

/// Label and data of each button.
pub fn buttons(message: &Value) -> Vec<(String, String)> {
    let rows = message["reply_markup"]["inline_keyboard"].as_array().cloned().unwrap_or_default();
    let all = rows.iter().filter_map(Value::as_array).flatten();
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    all.map(|b| (word(&b["text"]), word(&b["callback_data"]))).collect()
}

/// The labels of the buttons.
pub fn labels(message: &Value) -> Vec<String> {
    buttons(message).into_iter().map(|(label, _)| label).collect()
}
