//! Behaviour of the Bot API methods. Called by `http` with arguments that passed the table's check. A method without
//! behaviour here returns the smallest value of its return type.
//!
//! The table names the modules of the methods. They use `media`, `content` and `keyboard`, the parts of messages, and
//! `request`, the call itself.

mod answering;
mod business;
mod chats;
mod commands;
mod content;
mod editing;
mod inline;
mod keyboard;
mod media;
mod menu;
mod request;
mod rich;
mod sending;

use figaro_mcp::table::{ApiType, Method};

pub(super) use self::keyboard::check as check_keyboard;
use self::request::{CheckedRequest, MethodOutcome};
use super::args::Args;
use super::sample;
use super::state::TelegramState;

type Behaviour = fn(&mut TelegramState, &CheckedRequest<'_>) -> MethodOutcome;

/// Methods with their own behaviour. Other methods that return a `Message` send one.
const BEHAVIOURS: [(&str, Behaviour); 47] = [
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
    ("answerInlineQuery", inline::answer_query),
    ("answerGuestQuery", inline::answer_guest),
    ("getBusinessConnection", business::get_connection),
    ("readBusinessMessage", business::read),
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
    ("restrictChatMember", chats::restrict),
    ("setChatTitle", chats::set_title),
    ("setChatDescription", chats::set_description),
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
    ("setChatMenuButton", menu::set),
    ("getChatMenuButton", menu::get),
    ("getFile", media::get_file),
    ("uploadStickerFile", media::upload),
];

/// Performs a call that arrived at `now`, in Unix time. Returns its `result`.
pub(super) fn perform(state: &mut TelegramState, method: &Method, args: &Args, now: i64) -> MethodOutcome {
    let request = CheckedRequest { method, args, now };
    let own = BEHAVIOURS.iter().find(|(name, _)| *name == method.name);
    if let Some((_, behaviour)) = own {
        return behaviour(state, &request);
    }
    let sends = method.name.starts_with("send") && method.returns == ApiType::Named("Message".to_owned());
    if sends && request.value("chat_id").is_some() {
        return sending::send_other(state, &request);
    }
    Ok(sample::of_type(&method.returns))
}
