//! Every method of the table can be called, and answers what the table promises.

use std::collections::{BTreeMap, BTreeSet};

use figaro_mcp::table::{ApiTable, ApiType, TypeDef};
use serde_json::{Map, Value, json};

use super::super::business::BusinessLink;
use super::super::inline::InlineQueryState;
use super::super::state::{ButtonPress, StoredFile};
use super::super::{MemberStatus, sample};
use super::{ANN, Bed, FORUM, GROUP};

/// Arguments that make sense to the methods which look at them.
fn sensible(bed: &Bed, mine: i64, args: &mut Map<String, Value>, method: &str) {
    let forum = method.contains("ForumTopic");
    for (name, value) in args.iter_mut() {
        let better = match name.as_str() {
            "chat_id" | "from_chat_id" if forum => json!(FORUM),
            "chat_id" if method == "leaveChat" => json!(GROUP),
            "chat_id" if method == "getChatAdministrators" => json!(FORUM),
            "chat_id" | "from_chat_id" => json!(ANN),
            "message_id" => json!(mine),
            "message_thread_id" => json!(bed.topic),
            "user_id" => json!(ANN),
            "draft_id" => json!(1),
            "file_id" => json!("file-known"),
            "callback_query_id" => json!("press-known"),
            "media" if method == "sendMediaGroup" => {
                json!([{"type": "photo", "media": "https://example.com/a.png"}, {"type": "document", "media": "https://example.com/b.pdf"}])
            }
            "rich_message" => json!({"markdown": "# x"}),
            _ => continue,
        };
        *value = better;
    }
}

#[tokio::test]
async fn every_method_of_the_table_answers_its_smallest_call() {
    let bed = Bed::new().await;
    bed.tg.set_member(FORUM, bed.tg.bot_id(), MemberStatus::Admin).unwrap();
    bed.tg.shared.change(|state| {
        let file = StoredFile { path: "x".to_owned(), bytes: Vec::new() };
        state.files.insert("file-known".to_owned(), file);
        let open = InlineQueryState { from: json!({}), query: String::new(), answer: None };
        state.inline.queries.insert("query-known".to_owned(), open.clone());
        state.inline.queries.insert("guest-known".to_owned(), open);
        let messages = BTreeMap::from([(ANN, vec![json!({"message_id": 1})])]);
        let rights = BTreeSet::from(["can_read_messages".to_owned()]);
        let user = json!({"id": ANN, "is_bot": false, "first_name": "Ann"});
        let link = BusinessLink { user, is_enabled: true, rights, messages, read: Vec::new() };
        state.business.connections.insert("link-known".to_owned(), link);
        state.presses.insert("press-known".to_owned(), ButtonPress { answer: None });
    });
    let mut refused = Vec::new();
    for method in ApiTable::get().methods() {
        let keyboard = json!({"inline_keyboard": [[{"text": "a", "callback_data": "x"}]]});
        let fresh = json!({"chat_id": ANN, "text": "x", "reply_markup": keyboard});
        let mine = bed.call("sendMessage", fresh).await.unwrap()["message_id"].as_i64().unwrap();
        let mut args = sample::object(&method.params, 0);
        sensible(&bed, mine, &mut args, &method.name);
        let special = match method.name.as_str() {
            "editMessageText" => json!({"chat_id": ANN, "message_id": mine, "text": "y"}),
            "editMessageReplyMarkup" => json!({"chat_id": ANN, "message_id": mine}),
            "editMessageCaption" => json!({"inline_message_id": "x"}),
            "getBusinessConnection" => json!({"business_connection_id": "link-known"}),
            "readBusinessMessage" => {
                json!({"business_connection_id": "link-known", "chat_id": ANN, "message_id": 1})
            }
            "answerInlineQuery" => json!({"inline_query_id": "query-known"}),
            "answerGuestQuery" => json!({"guest_query_id": "guest-known"}),
            "editMessageMedia" => json!({
                "chat_id": ANN, "message_id": mine, "media": {"type": "photo", "media": "https://example.com/a.png"},
            }),
            "stopPoll" => {
                let poll = json!({"chat_id": ANN, "question": "q", "options": [{"text": "a"}]});
                let sent = bed.call("sendPoll", poll).await.unwrap();
                json!({"chat_id": ANN, "message_id": sent["message_id"]})
            }
            _ => json!({}),
        };
        args.extend(special.as_object().unwrap().clone());
        match bed.call(&method.name, Value::Object(args.clone())).await {
            Ok(result) => assert!(fits(&method.returns, &result), "{}: {result}", method.name),
            Err(why) => refused.push(format!("{} {}: {why}", method.name, Value::Object(args))),
        }
    }
    assert_eq!(refused, Vec::<String>::new());
    bed.end().await;
}

/// The result has the returned type's own fields and no others.
fn fits(ty: &ApiType, value: &Value) -> bool {
    match ty {
        ApiType::Integer => value.is_i64(),
        ApiType::Float => value.is_number(),
        ApiType::String | ApiType::InputFile => value.is_string(),
        ApiType::Boolean => value.is_boolean(),
        ApiType::True => *value == json!(true),
        ApiType::Array(inner) => value.as_array().is_some_and(|items| items.iter().all(|v| fits(inner, v))),
        ApiType::Union(types) => types.iter().any(|t| fits(t, value)),
        ApiType::Named(name) => match (ApiTable::get().type_def(name), value) {
            (Some(TypeDef::Union(types)), _) => types.iter().any(|t| fits(t, value)),
            (Some(TypeDef::Fields(fields)), Value::Object(map)) => {
                let typed = |(key, value): (&String, &Value)| {
                    fields.iter().any(|f| f.name == *key && fits(&f.ty, value))
                };
                fields.iter().all(|f| !f.required || map.contains_key(&f.name)) && map.iter().all(typed)
            }
            _ => false,
        },
    }
}
