//! What calls do, what they answer, and how bad ones are refused.

use serde_json::{Value, json};

use super::super::Say;
use super::{ANN, BOB, Bed, FORUM, GROUP};

/// `method arguments => ok`, or the description after `Bad Request: `. `%5` stands for five letters.
/// Ann's chat is 11, the group -21; message 1 there is the bot's, message 2 a person's, the forum's topic is 1.
const SENDING: &str = r#"
sendMessage {"chat_id": 11, "text": "hi"} => ok
SENDMESSAGE {"chat_id": "11", "text": "hi"} => ok
sendMessage {"chat_id": 11, "text": ""} => message text is empty
sendMessage {"chat_id": 11, "text": " \n "} => message text is empty
sendMessage {"chat_id": 11} => message text is empty
sendMessage {"text": "x"} => chat_id is empty
sendMessage {"chat_id": 11, "text": "%4097"} => message is too long
sendMessage {"chat_id": 11, "text": "<b>%4096</b>", "parse_mode": "HTML"} => ok
sendMessage {"chat_id": 99, "text": "x"} => chat not found
sendMessage {"chat_id": 12, "text": "x"} => chat not found
sendMessage {"chat_id": 11, "text": "x", "oops": 1} => oops is not a parameter of sendMessage
sendMessage {"chat_id": 11, "text": 5} => text must be String, not a number
sendMessage {"chat_id": 11, "text": "x", "message_thread_id": 5} => message thread not found
sendMessage {"chat_id": -1000000000031, "text": "x", "message_thread_id": 1} => ok
sendMessage {"chat_id": -1000000000031, "text": "x", "message_thread_id": 2} => message thread not found
sendMessage {"chat_id": 11, "text": "x", "reply_parameters": {"message_id": 2}} => ok
sendMessage {"chat_id": 11, "text": "x", "reply_parameters": {"message_id": 2, "quote": "his"}} => ok
sendMessage {"chat_id": 11, "text": "x", "reply_parameters": {"message_id": 2, "quote": "y"}} => QUOTE_TEXT_INVALID
sendMessage {"chat_id": 11, "text": "x", "reply_parameters": {"message_id": 99}} => message to be replied not found
sendMessage {"chat_id": 11, "text": "x", "reply_parameters": {"message_id": 99, "allow_sending_without_reply": true}} => ok
sendMessage {"chat_id": 11, "text": "x", "reply_markup": {"inline_keyboard": [[{"text": "a", "callback_data": "x"}]]}} => ok
sendMessage {"chat_id": 11, "text": "x", "reply_markup": {"inline_keyboard": [[{"text": "a", "callback_data": "%65"}]]}} => BUTTON_DATA_INVALID
sendMessage {"chat_id": 11, "text": "x", "reply_markup": {"inline_keyboard": [[{"text": "a"}]]}} => can't parse inline keyboard button: Text buttons are unallowed in the inline keyboard
sendMessage {"chat_id": 11, "text": "x", "reply_markup": {"inline_keyboard": [[{"text": "a", "url": "no"}]]}} => inline keyboard button URL 'no' is invalid: Wrong HTTP URL
sendMessage {"chat_id": 11, "text": "x", "reply_markup": {"inline_keyboard": [[{"text": "a", "web_app": {"url": "https://example.com/app"}}]]}} => ok
sendMessage {"chat_id": 11, "text": "x", "reply_markup": {"inline_keyboard": [[{"text": "a", "web_app": {"url": "http://127.0.0.1:8080/app"}}]]}} => ok
sendMessage {"chat_id": 11, "text": "x", "reply_markup": {"inline_keyboard": [[{"text": "a", "web_app": {"url": "http://localhost:8080"}}]]}} => ok
sendMessage {"chat_id": 11, "text": "x", "reply_markup": {"inline_keyboard": [[{"text": "a", "web_app": {"url": "http://[::1]:8080/"}}]]}} => ok
sendMessage {"chat_id": 11, "text": "x", "reply_markup": {"inline_keyboard": [[{"text": "a", "web_app": {"url": "http://example.com/app"}}]]}} => inline keyboard button Web App URL 'http://example.com/app' is invalid: Only HTTPS links are allowed
sendMessage {"chat_id": 11, "text": "x", "reply_markup": {"inline_keyboard": [[{"text": "a", "web_app": {"url": "http://127.0.0.1.example.com/"}}]]}} => inline keyboard button Web App URL 'http://127.0.0.1.example.com/' is invalid: Only HTTPS links are allowed
sendMessage {"chat_id": 11, "text": "x", "reply_markup": {"inline_keyboard": [[{"text": "a", "web_app": {"url": "tg://app"}}]]}} => inline keyboard button Web App URL 'tg://app' is invalid: Only HTTPS links are allowed
sendMessage {"chat_id": 11, "text": "x", "reply_markup": {"inline_keyboard": [[{"text": "a", "web_app": {"url": "app"}}]]}} => inline keyboard button Web App URL 'app' is invalid: Only HTTPS links are allowed
sendMessage {"chat_id": 11, "text": "x", "reply_markup": {"inline_keyboard": [[{"text": "a", "web_app": {"url": ""}}]]}} => inline keyboard button Web App URL '' is invalid: URL host is empty
sendMessage {"chat_id": -21, "text": "x", "reply_markup": {"inline_keyboard": [[{"text": "a", "web_app": {"url": "https://example.com/app"}}]]}} => BUTTON_TYPE_INVALID
sendMessage {"chat_id": 11, "text": "hi", "entities": [{"type": "bold", "offset": 1, "length": 2}]} => entity beginning at UTF-16 offset 1 ends after the end of the text at UTF-16 offset 3
sendMessage {"chat_id": 11, "text": "1. x", "parse_mode": "MarkdownV2"} => can't parse entities: Character '.' is reserved and must be escaped with the preceding '\'
sendPhoto {"chat_id": 11} => there is no photo in the request
sendPhoto {"chat_id": 11, "photo": "https://example.com/cat.jpg"} => ok
sendPhoto {"chat_id": 11, "photo": "nonsense"} => wrong file identifier/HTTP URL specified
sendPhoto {"chat_id": 11, "photo": "attach://gone"} => invalid file HTTP URL specified: Unsupported URL protocol
sendPhoto {"chat_id": 11, "photo": "https://example.com/a", "caption": "%1025"} => message caption is too long
"#;

const THE_REST: &str = r#"
editMessageText {"chat_id": 11, "message_id": 1, "text": "mine"} => message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message
editMessageText {"chat_id": 11, "message_id": 1, "text": "new"} => ok
editMessageText {"chat_id": 11, "message_id": 1, "text": ""} => message text is empty
editMessageText {"chat_id": 11, "message_id": 99, "text": "new"} => message to edit not found
editMessageText {"chat_id": 11, "message_id": 2, "text": "new"} => message can't be edited
editMessageText {"chat_id": 11, "text": "x"} => message identifier is not specified
editMessageReplyMarkup {"chat_id": -21, "message_id": 1, "reply_markup": {"inline_keyboard": [[{"text": "a", "web_app": {"url": "https://example.com"}}]]}} => BUTTON_TYPE_INVALID
deleteMessage {"chat_id": 11} => message identifier is not specified
deleteMessage {"chat_id": 11, "message_id": 99} => message to delete not found
deleteMessage {"chat_id": -21, "message_id": 2} => message can't be deleted
setMessageReaction {"chat_id": 11, "message_id": 2, "reaction": [{"type": "emoji", "emoji": "👍"}]} => ok
setMessageReaction {"chat_id": 11, "message_id": 2} => ok
setMessageReaction {"chat_id": 11, "message_id": 2, "reaction": [{"type": "emoji", "emoji": "👍"}, {"type": "emoji", "emoji": "🔥"}]} => REACTIONS_TOO_MANY
setMessageReaction {"chat_id": 11, "message_id": 2, "reaction": [{"type": "emoji", "emoji": "🧪"}]} => REACTION_INVALID
setMessageReaction {"chat_id": 11, "message_id": 99} => message to react not found
sendMessageDraft {"chat_id": 11, "draft_id": 5, "text": ""} => ok
sendMessageDraft {"chat_id": 11, "draft_id": 0} => draft identifier must be non-zero
sendMessageDraft {"chat_id": -21, "draft_id": 5, "text": "x"} => TEXTDRAFT_PEER_INVALID
sendChatAction {"chat_id": 11, "action": "typing"} => ok
sendChatAction {"chat_id": 11, "action": "dancing"} => wrong parameter action in request
answerCallbackQuery {"callback_query_id": "1"} => query is too old and response timeout expired or query ID is invalid
pinChatMessage {"chat_id": 11, "message_id": 1} => ok
pinChatMessage {"chat_id": -21, "message_id": 2} => not enough rights to manage pinned messages in the chat
createForumTopic {"chat_id": -21, "name": "x"} => the chat is not a forum
createForumTopic {"chat_id": -1000000000031, "name": "x"} => not enough rights to create a topic
getChatMember {"chat_id": -21, "user_id": 99} => user not found
getFile {"file_id": "x"} => wrong file_id or the file is temporarily unavailable
setMyCommands {"commands": [{"command": "Help", "description": "x"}]} => BOT_COMMAND_INVALID
setChatMenuButton {} => ok
setChatMenuButton {"menu_button": {"type": "commands"}} => ok
setChatMenuButton {"menu_button": {"type": "web_app", "text": "Panel", "web_app": {"url": "https://example.com"}}} => ok
setChatMenuButton {"chat_id": 11, "menu_button": {"type": "web_app", "text": "Panel", "web_app": {"url": "http://127.0.0.1:8080/app"}}} => ok
setChatMenuButton {"chat_id": 12, "menu_button": {"type": "web_app", "text": "Panel", "web_app": {"url": "https://example.com"}}} => ok
setChatMenuButton {"chat_id": 99, "menu_button": {"type": "default"}} => user not found
setChatMenuButton {"chat_id": -21, "menu_button": {"type": "commands"}} => invalid chat_id specified
setChatMenuButton {"menu_button": {"type": "web_app", "text": "", "web_app": {"url": "https://example.com"}}} => menu button text must be non-empty
setChatMenuButton {"menu_button": {"type": "web_app", "text": "Panel", "web_app": {"url": "http://example.com"}}} => menu button Web App URL 'http://example.com' is invalid: Only HTTPS links are allowed
setChatMenuButton {"menu_button": {"type": "web_app", "text": "Panel", "web_app": {"url": ""}}} => menu button Web App URL '' is invalid: URL host is empty
getChatMenuButton {"chat_id": 99} => user not found
forwardMessage {"chat_id": 11, "from_chat_id": 11, "message_id": 99} => message to forward not found
copyMessage {"chat_id": 11, "from_chat_id": 11, "message_id": 99} => message to copy not found
"#;

#[tokio::test]
async fn bad_calls_are_refused_in_telegrams_words() {
    for cases in [SENDING, THE_REST] {
        let bed = Bed::new().await;
        for chat in [ANN, GROUP] {
            assert_eq!(bed.send(chat, "mine").await, 1);
            assert_eq!(bed.tg.say(ANN, chat, "this").unwrap().message_id, 2);
        }
        for case in cases.lines().filter(|l| !l.is_empty()) {
            let (call, wanted) = case.split_once(" => ").unwrap();
            let (method, args) = call.split_once(' ').unwrap();
            let args = [65, 1025, 4096, 4097]
                .into_iter()
                .fold(args.to_owned(), |args, n| args.replace(&format!("%{n}"), &"x".repeat(n)));
            let got = bed.call(method, serde_json::from_str(&args).unwrap()).await;
            let told = got.map_or_else(|why| why, |_| "Bad Request: ok".to_owned());
            assert_eq!(told.strip_prefix("Bad Request: "), Some(wanted), "{case}");
        }
        bed.end().await;
    }
}

#[tokio::test]
async fn a_sent_message_is_whole() {
    let bed = Bed::new().await;
    let asked = bed.tg.send(Say::new(ANN, FORUM, "which one?").topic(bed.topic)).unwrap().message_id;
    let sent = bed
        .call(
            "sendMessage",
            json!({
                "chat_id": FORUM, "text": "<b>This</b> one, @ann ", "parse_mode": "HTML",
                "reply_parameters": {"message_id": asked, "quote": "one"},
                "reply_markup": {"inline_keyboard": [[{"text": "Ok", "callback_data": "ok"}]]},
            }),
        )
        .await
        .unwrap();
    let chat = json!({"id": FORUM, "type": "supergroup", "title": "Project", "is_forum": true});
    let wanted = json!({
        "message_id": asked + 1,
        "from": {"id": 7_000_000_001_i64, "is_bot": true, "first_name": "Figaro", "username": "figaro_bot"},
        "chat": chat, "date": 1_772_366_400, "message_thread_id": bed.topic, "is_topic_message": true,
        "quote": {"text": "one", "position": 6, "is_manual": true},
        "reply_to_message": {
            "message_id": asked,
            "from": {"id": ANN, "is_bot": false, "first_name": "Ann", "username": "ann", "language_code": "en"},
            "chat": chat, "date": 1_772_366_400, "message_thread_id": bed.topic, "is_topic_message": true,
            "text": "which one?",
        },
        "text": "This one, @ann",
        "entities": [{"type": "bold", "offset": 0, "length": 4}, {"type": "mention", "offset": 10, "length": 4}],
        "reply_markup": {"inline_keyboard": [[{"text": "Ok", "callback_data": "ok"}]]},
    });
    assert_eq!(sent, wanted);
    assert_eq!(bed.tg.messages(FORUM).last(), Some(&sent));
    bed.end().await;
}

#[tokio::test]
async fn messages_can_be_edited_copied_forwarded_deleted() {
    let bed = Bed::new().await;
    let keyboard = json!({"inline_keyboard": [[{"text": "Ok", "callback_data": "ok"}]]});
    let sent = bed
        .call("sendMessage", json!({"chat_id": ANN, "text": "one", "reply_markup": keyboard}))
        .await
        .unwrap();
    let id = sent["message_id"].as_i64().unwrap();
    let edited =
        bed.call("editMessageText", json!({"chat_id": ANN, "message_id": id, "text": "two"})).await.unwrap();
    assert_eq!(edited["text"], "two");
    assert!(edited["edit_date"].is_i64() && edited.get("reply_markup").is_none(), "{edited}");
    let from = json!({"chat_id": GROUP, "from_chat_id": ANN, "message_id": id});
    let copied = bed.call("copyMessage", from.clone()).await.unwrap();
    assert_eq!(copied, json!({"message_id": 1}));
    let forwarded = bed.call("forwardMessage", from).await.unwrap();
    assert_eq!(forwarded["forward_origin"]["sender_user"]["username"], "figaro_bot");
    assert_eq!(forwarded["text"], "two");
    let all = json!({"chat_id": GROUP, "message_ids": [1, 2, 99]});
    assert_eq!(bed.call("deleteMessages", all).await, Ok(json!(true)));
    assert_eq!(bed.tg.messages(GROUP), Vec::<Value>::new());
    assert_eq!(bed.send(GROUP, "ids do not come back").await, 3);
    bed.end().await;
}

#[tokio::test]
async fn polls_are_sent_and_stopped() {
    let bed = Bed::new().await;
    let poll =
        json!({"chat_id": GROUP, "question": "When?", "options": [{"text": "now"}, {"text": "later"}]});
    let sent = bed.call("sendPoll", poll).await.unwrap();
    assert_eq!(sent["poll"]["options"][1], json!({"persistent_id": "1", "text": "later", "voter_count": 0}));
    let closed =
        bed.call("stopPoll", json!({"chat_id": GROUP, "message_id": sent["message_id"]})).await.unwrap();
    assert_eq!(closed["is_closed"], true);
    bed.end().await;
}

#[tokio::test]
async fn commands_members_and_chats() {
    let bed = Bed::new().await;
    let help = json!([{"command": "help", "description": "What I can do"}]);
    bed.call("setMyCommands", json!({"commands": help})).await.unwrap();
    bed.call("setMyCommands", json!({"commands": help, "language_code": "de"})).await.unwrap();
    bed.call("deleteMyCommands", json!({"language_code": "de"})).await.unwrap();
    assert_eq!(bed.call("getMyCommands", json!({})).await, Ok(help));
    assert_eq!(bed.call("getMyCommands", json!({"language_code": "de"})).await, Ok(json!([])));
    assert_eq!(bed.call("getChatMemberCount", json!({"chat_id": GROUP})).await, Ok(json!(3)));
    let admins = bed.call("getChatAdministrators", json!({"chat_id": GROUP})).await.unwrap();
    assert_eq!((admins[0]["status"].as_str(), admins.as_array().map(Vec::len)), (Some("creator"), Some(1)));
    let bob = bed.call("getChatMember", json!({"chat_id": GROUP, "user_id": BOB})).await.unwrap();
    assert_eq!(bob["status"], "member");
    assert_eq!(bed.call("getChat", json!({"chat_id": FORUM})).await.unwrap()["is_forum"], true);
    assert_eq!(bed.call("leaveChat", json!({"chat_id": GROUP})).await, Ok(json!(true)));
    let gone = bed.call("sendMessage", json!({"chat_id": GROUP, "text": "x"})).await;
    assert_eq!(gone, Err("Forbidden: bot is not a member of the group chat".to_owned()));
    bed.end().await;
}

#[tokio::test]
async fn arguments_come_in_every_form() {
    let bed = Bed::new().await;
    let get = bed.address(&format!("sendMessage?chat_id={ANN}&text=a+%26+b&disable_notification=true"));
    let body: Value = bed.http.get(get).send().await.unwrap().json().await.unwrap();
    assert_eq!(body["result"]["text"], "a & b");
    let keyboard = "{\"inline_keyboard\":[[{\"text\":\"Ok\",\"callback_data\":\"ok\"}]]}";
    let form = bed
        .http
        .post(bed.address("sendMessage"))
        .header("content-type", "application/x-www-form-urlencoded")
        .body(format!("chat_id={ANN}&text=b&reply_markup={}", keyboard.replace('"', "%22")));
    let body: Value = form.send().await.unwrap().json().await.unwrap();
    assert_eq!(body["result"]["reply_markup"]["inline_keyboard"][0][0]["text"], "Ok");
    let file = || reqwest::multipart::Part::bytes(b"content".to_vec()).file_name("notes.txt");
    let direct = reqwest::multipart::Form::new().text("chat_id", ANN.to_string()).part("document", file());
    let attached = reqwest::multipart::Form::new()
        .text("chat_id", ANN.to_string())
        .text("document", "attach://part1")
        .text("caption", "see")
        .part("part1", file());
    for form in [direct, attached] {
        let response = bed.http.post(bed.address("sendDocument")).multipart(form).send().await.unwrap();
        let body: Value = response.json().await.unwrap();
        assert_eq!(body["result"]["document"]["file_name"], "notes.txt", "{body}");
        let file_id = &body["result"]["document"]["file_id"];
        let file = bed.call("getFile", json!({"file_id": file_id})).await.unwrap();
        let path = file["file_path"].as_str().unwrap();
        let address = format!("{}/file/bot{}/{path}", bed.tg.url(), bed.tg.token());
        assert_eq!(bed.http.get(address).send().await.unwrap().text().await.unwrap(), "content");
    }
    bed.end().await;
}

#[tokio::test]
async fn wrong_addresses_and_tokens_are_refused() {
    let bed = Bed::new().await;
    let url = bed.tg.url();
    let token = bed.tg.token();
    let cases = [
        (format!("{url}/bot{token}/getMe"), 200),
        (format!("{url}/bot{}/GetMe", token.replace(':', "%3A")), 200),
        (format!("{url}/bot7:wrong/getMe"), 401),
        (format!("{url}/bot{token}"), 404),
        (format!("{url}/bot{token}/getNothing"), 404),
        (format!("{url}/"), 404),
    ];
    for (address, wanted) in cases {
        let response = bed.http.get(&address).send().await.unwrap();
        assert_eq!(response.status().as_u16(), wanted, "{address}");
        let body: Value = response.json().await.unwrap();
        assert_eq!(body["ok"], wanted == 200, "{body}");
    }
    bed.end().await;
}
