//! The bot library of the product reads everything the offline Telegram serves.

use serde_json::json;
use teloxide::Bot;
use teloxide::payloads::{
    EditMessageTextSetters, GetChatMenuButtonSetters, GetUpdatesSetters, SendMessageSetters,
    SendPhotoSetters, SetChatMenuButtonSetters,
};
use teloxide::requests::Requester;
use teloxide::types::{
    AllowedUpdate, BotCommand, ChatAction, ChatId, InlineKeyboardButton, InlineKeyboardMarkup, InputFile,
    InputPollOption, MenuButton, MessageId, ParseMode, ReplyParameters, UpdateKind, UserId, WebAppInfo,
};

use super::super::{MemberStatus, Say};
use super::{ANN, Bed, FORUM, GROUP};

fn bot(bed: &Bed) -> Bot {
    Bot::new(bed.tg.token()).set_api_url(bed.tg.url().parse().unwrap())
}

#[tokio::test]
async fn calls_of_the_library_are_accepted_and_answers_read() {
    let bed = Bed::new().await;
    let bot = bot(&bed);
    assert_eq!(bot.get_me().await.unwrap().username(), "figaro_bot");
    let keyboard = InlineKeyboardMarkup::new([[InlineKeyboardButton::callback("Ok", "ok")]]);
    let sent = bot
        .send_message(ChatId(ANN), "<b>hi</b>")
        .parse_mode(ParseMode::Html)
        .reply_markup(keyboard)
        .await
        .unwrap();
    let reply =
        bot.send_message(ChatId(ANN), "again").reply_parameters(ReplyParameters::new(sent.id)).await.unwrap();
    assert_eq!(reply.reply_to_message().map(|m| m.id), Some(sent.id));
    let edited = bot.edit_message_text(ChatId(ANN), sent.id, "_new_").parse_mode(ParseMode::MarkdownV2).await;
    assert_eq!(edited.unwrap().text(), Some("new"));
    let photo = InputFile::memory(vec![1, 2, 3]).file_name("a.png");
    let sent = bot.send_photo(ChatId(ANN), photo).caption("see").await.unwrap();
    assert_eq!((sent.caption(), sent.photo().map(<[_]>::len)), (Some("see"), Some(1)));
    let options = ["a", "b"].map(InputPollOption::new);
    assert!(bot.send_poll(ChatId(GROUP), "Which?", options).await.unwrap().poll().is_some());
    bot.send_chat_action(ChatId(ANN), ChatAction::Typing).await.unwrap();
    bot.set_my_commands([BotCommand::new("help", "What I can do")]).await.unwrap();
    assert_eq!(bot.get_my_commands().await.unwrap().len(), 1);
    assert!(bot.get_chat(ChatId(FORUM)).await.unwrap().is_supergroup());
    assert!(bot.get_chat_member(ChatId(GROUP), UserId(11)).await.unwrap().is_owner());
    bot.delete_message(ChatId(ANN), reply.id).await.unwrap();
    let missing = bot.delete_message(ChatId(ANN), MessageId(99)).await.unwrap_err().to_string();
    assert!(
        missing.contains("message to delete not found") || missing.contains("Message to delete"),
        "{missing}"
    );
    bed.end().await;
}

#[tokio::test]
async fn menu_buttons_and_buttons_of_mini_apps_are_read() {
    let bed = Bed::new().await;
    let bot = bot(&bed);
    let web_app = WebAppInfo { url: "http://127.0.0.1:8080/app".parse().unwrap() };
    let keyboard = InlineKeyboardMarkup::new([[InlineKeyboardButton::web_app("Open", web_app.clone())]]);
    let sent = bot.send_message(ChatId(ANN), "see").reply_markup(keyboard.clone()).await.unwrap();
    assert_eq!(sent.reply_markup(), Some(&keyboard));
    let button = MenuButton::WebApp { text: "Panel".to_owned(), web_app };
    bot.set_chat_menu_button().chat_id(ChatId(ANN)).menu_button(button.clone()).await.unwrap();
    assert_eq!(bot.get_chat_menu_button().chat_id(ChatId(ANN)).await.unwrap(), button);
    assert_eq!(bot.get_chat_menu_button().await.unwrap(), MenuButton::Commands);
    bed.end().await;
}

#[tokio::test]
async fn updates_are_read() {
    let bed = Bed::new().await;
    bed.tg.send(Say::new(ANN, FORUM, "/help@figaro_bot").topic(bed.topic)).unwrap();
    bed.tg.send(Say::new(ANN, ANN, "see").photo("jpeg").forward_from(ANN).media_group_id("7")).unwrap();
    bed.tg.send(Say::new(ANN, ANN, "read").document("a.txt", "text")).unwrap();
    let said = bed.tg.say(ANN, ANN, "frist").unwrap().message_id;
    bed.tg.edit(ANN, ANN, said, "first").unwrap();
    bed.tg.send(Say::new(ANN, ANN, "why?").reply_to(said).quote("first")).unwrap();
    bed.tg.bot_removed(GROUP, ANN).unwrap();
    bed.tg.bot_joined(GROUP, ANN).unwrap();
    bed.tg.set_member(GROUP, bed.tg.bot_id(), MemberStatus::Admin).unwrap();
    let keyboard = json!({"inline_keyboard": [[{"text": "Ok", "callback_data": "ok"}]]});
    let asked = bed.call("sendMessage", json!({"chat_id": ANN, "text": "?", "reply_markup": keyboard})).await;
    bed.tg.press(ANN, ANN, asked.unwrap()["message_id"].as_i64().unwrap(), "ok").unwrap();
    bed.tg.migrate(GROUP).unwrap();
    let allowed = [AllowedUpdate::Message, AllowedUpdate::CallbackQuery];
    let updates = bot(&bed).get_updates().allowed_updates(allowed).await.unwrap();
    let unread: Vec<_> = updates.iter().filter(|u| matches!(u.kind, UpdateKind::Error(_))).collect();
    assert!(unread.is_empty(), "{unread:#?}");
    assert_eq!(updates.len(), 12);
    bed.end().await;
}
