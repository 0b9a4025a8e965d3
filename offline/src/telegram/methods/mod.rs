//! What the methods of the Bot API do to the world. Called by `http` with arguments that passed the table's check.
//! A method without behaviour here answers with the smallest value of its return type.

mod answering;
mod chats;
mod commands;
mod editing;
mod media;
mod sending;

use figaro_mcp::table::{Method, Type};
use serde_json::{Value, json};

use super::args::Args;
use super::error::Refusal;
use super::state::State;
use super::world::{ChatKind, Standing};
use super::{entities, sample};

pub(super) use self::answering::reaction_event;
pub(super) use self::commands::default_commands;
pub(super) use self::media::shown;

type Outcome = Result<Value, Refusal>;
type Behaviour = fn(&mut State, &Request<'_>) -> Outcome;

/// Methods with a behaviour of their own; methods that return a `Message` are sent by default.
const BEHAVIOURS: [(&str, Behaviour); 38] = [
    ("getMe", chats::get_me),
    ("sendMessage", sending::send_message),
    ("sendPoll", sending::send_poll),
    ("sendDice", sending::send_dice),
    ("sendRichMessage", sending::send_rich),
    ("sendMediaGroup", sending::send_media_group),
    ("forwardMessage", sending::forward),
    ("forwardMessages", sending::forward_many),
    ("copyMessage", sending::copy),
    ("copyMessages", sending::copy_many),
    ("sendMessageDraft", answering::draft),
    ("sendRichMessageDraft", answering::draft),
    ("sendChatAction", answering::chat_action),
    ("setMessageReaction", answering::react),
    ("answerCallbackQuery", answering::answer_press),
    ("editMessageText", editing::text),
    ("editMessageCaption", editing::caption),
    ("editMessageReplyMarkup", editing::markup),
    ("editMessageMedia", editing::media),
    ("stopPoll", editing::stop_poll),
    ("deleteMessage", editing::delete),
    ("deleteMessages", editing::delete_many),
    ("pinChatMessage", chats::pin),
    ("unpinChatMessage", chats::unpin),
    ("unpinAllChatMessages", chats::unpin),
    ("getChat", chats::get_chat),
    ("getChatMember", chats::member),
    ("getChatAdministrators", chats::administrators),
    ("getChatMemberCount", chats::member_count),
    ("leaveChat", chats::leave),
    ("createForumTopic", chats::create_topic),
    ("editForumTopic", chats::edit_topic),
    ("deleteForumTopic", chats::delete_topic),
    ("setMyCommands", commands::set),
    ("getMyCommands", commands::get),
    ("deleteMyCommands", commands::delete),
    ("getFile", media::get_file),
    ("uploadStickerFile", media::upload),
];

/// One checked call.
pub(super) struct Request<'a> {
    method: &'a Method,
    args: &'a Args,
    /// Unix time of its arrival.
    now: i64,
}

/// Does a call.
pub(super) fn perform(state: &mut State, method: &Method, args: &Args, now: i64) -> Outcome {
    let request = Request { method, args, now };
    let own = BEHAVIOURS.iter().find(|(name, _)| *name == method.name);
    if let Some((_, behaviour)) = own {
        return behaviour(state, &request);
    }
    let sends = method.name.starts_with("send") && method.returns == Type::Named("Message".to_owned());
    if sends && request.value("chat_id").is_some() {
        return sending::send_other(state, &request);
    }
    Ok(sample::of_type(&method.returns))
}

impl Request<'_> {
    fn value(&self, name: &str) -> Option<&Value> {
        self.args.fields.get(name).filter(|v| !v.is_null())
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.value(name)?.as_str()
    }

    fn number(&self, name: &str) -> Option<i64> {
        self.value(name)?.as_i64()
    }

    fn flag(&self, name: &str) -> bool {
        self.value(name).and_then(Value::as_bool).unwrap_or(false)
    }

    fn list(&self, name: &str) -> &[Value] {
        self.value(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }

    /// Text with its entities, as Telegram stores it.
    fn formatted(&self, text: &str, entities: &str) -> (String, Vec<Value>) {
        entities::finish(self.text(text).unwrap_or_default(), self.list(entities))
    }

    /// The chat the call is about, if the bot can act there.
    fn chat(&self, state: &State) -> Result<i64, Refusal> {
        self.chat_named(state, "chat_id")
    }

    fn chat_named(&self, state: &State, parameter: &str) -> Result<i64, Refusal> {
        let found = self.value(parameter).and_then(|id| state.world.find(id));
        let Some(chat) = found.and_then(|id| state.world.chats.get(&id)) else {
            return Err(Refusal::bad("chat not found"));
        };
        if let Some(to) = chat.migrated_to {
            return Err(Refusal::migrated(to));
        }
        let kind = if chat.kind == ChatKind::Supergroup { "supergroup" } else { chat.kind.name() };
        match (chat.standing(state.world.bot.id), chat.kind) {
            (Standing::Owner | Standing::Admin | Standing::Member, _) => Ok(chat.id),
            (Standing::Kicked, ChatKind::Private) => Err(Refusal::forbidden("bot was blocked by the user")),
            (Standing::Kicked, _) => Err(Refusal::forbidden(&format!("bot was kicked from the {kind} chat"))),
            (Standing::Left, ChatKind::Private) => Err(Refusal::bad("chat not found")),
            (Standing::Left, _) => {
                Err(Refusal::forbidden(&format!("bot is not a member of the {kind} chat")))
            }
        }
    }

    /// Counts a message to a chat against the flood limits, if a test wants them.
    #[cfg(feature = "testing")]
    fn count_message(&self, state: &mut State, chat: i64) -> Result<(), Refusal> {
        let group = state.world.chats.get(&chat).is_some_and(super::world::Chat::is_group).then_some(chat);
        state.testing.count_message(group).map_err(Refusal::retry_after)
    }
}

/// Refuses an inline keyboard with a button that does not have exactly one working action.
pub(super) fn check_keyboard(markup: Option<&Value>) -> Result<(), Refusal> {
    let rows = markup.and_then(|m| m["inline_keyboard"].as_array());
    rows.into_iter().flatten().filter_map(Value::as_array).flatten().try_for_each(check_button)
}

/// The inline keyboard of a call; other kinds of keyboard are not kept in messages, nor is an empty one.
fn inline_keyboard(markup: Option<&Value>) -> Option<Value> {
    let rows = markup?["inline_keyboard"].as_array()?;
    let empty = rows.iter().all(|row| row.as_array().is_none_or(Vec::is_empty));
    (!empty).then(|| json!({"inline_keyboard": rows}))
}

fn check_button(button: &Value) -> Result<(), Refusal> {
    let looks = ["text", "icon_custom_emoji_id", "style"];
    let actions = button.as_object().map_or(0, |b| b.keys().filter(|k| !looks.contains(&k.as_str())).count());
    if actions != 1 {
        return Err(Refusal::bad(
            "can't parse inline keyboard button: Text buttons are unallowed in the inline keyboard",
        ));
    }
    let data = button["callback_data"].as_str().map_or(1, str::len);
    if data == 0 || data > 64 {
        return Err(Refusal::bad("BUTTON_DATA_INVALID"));
    }
    let url = button["url"].as_str().unwrap_or("https://example.com");
    if !["http://", "https://", "tg://"].iter().any(|scheme| url.starts_with(scheme)) {
        return Err(Refusal::bad(format!("inline keyboard button URL '{url}' is invalid: Wrong HTTP URL")));
    }
    Ok(())
}
