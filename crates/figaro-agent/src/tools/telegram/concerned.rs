//! Chats and people affected by calls, as shown to the approving person.

use serde_json::{Map, Value, json};

use super::checked::CheckedCall;
use super::parts::name_of;
use super::{TelegramTools, ToolContext, ToolError, chat_number};
use figaro_base::ids::{ChatId, MessageId};
use figaro_base::text::one_line;
use figaro_domain::approval::{Approval, ApprovalTarget, Concerned};
use figaro_domain::audit::AuditKind;
use figaro_policy::access::Standing;
use figaro_policy::tools::AdminRight;

/// Maximum length of a quoted message, in characters.
const ABOUT_CHARS: usize = 60;

pub(super) struct ConcernedChats {
    pub(super) targets: Vec<ApprovalTarget>,
    /// `true` if a chat was named by username. The calls have its number now.
    pub(super) were_names: bool,
}

impl TelegramTools {
    /// Returns the chats that calls act on, each once. Replaces usernames in the calls by numbers, since a name may belong
    /// to another chat at the time of approval.
    pub(super) async fn targets(
        &self,
        calls: &mut [CheckedCall],
        context: &ToolContext,
    ) -> Result<ConcernedChats, ToolError> {
        let (mut targets, mut were_names): (Vec<ApprovalTarget>, bool) = (Vec::new(), false);
        for call in calls {
            let mut named = Vec::new();
            chats(&Value::Object(call.args.clone()), "", &mut named);
            for (pointer, value) in named {
                let number = chat_number(&value);
                if number.is_some_and(|number| targets.iter().any(|target| target.chat.0 == number)) {
                    continue;
                }
                let target = match number {
                    Some(here) if here == context.place.chat.0 => {
                        ApprovalTarget { chat: context.place.chat, title: context.place.title.clone() }
                    }
                    number => self.told_of(self.look_up(value.clone(), number).await?, &value, context).await,
                };
                if number.is_none() {
                    were_names = true;
                    put(&mut call.args, &pointer, json!(target.chat));
                }
                if targets.iter().all(|known| known.chat != target.chat) {
                    targets.push(target);
                }
            }
        }
        Ok(ConcernedChats { targets, were_names })
    }

    /// Hides the title of a chat that the requester is not in.
    pub(super) async fn told_of(
        &self,
        target: ApprovalTarget,
        named: &Value,
        context: &ToolContext,
    ) -> ApprovalTarget {
        if self.may_know(target.chat, context).await {
            return target;
        }
        ApprovalTarget {
            title: named.as_str().filter(|name| name.starts_with('@')).map(str::to_owned),
            ..target
        }
    }

    /// Returns `true` if the requester may see Telegram's data about a chat: an owner, or one of its members.
    async fn may_know(&self, chat: ChatId, context: &ToolContext) -> bool {
        let is_in_it = async || self.approvers.admins.is_member(chat, &context.speaker.user).await;
        context.standing == Standing::Owner
            || chat == context.place.chat
            || (chat.is_group() && is_in_it().await)
    }

    /// Looks up the people that calls act on, in chats that the requester may know. Telegram names anybody whom the bot has
    /// ever met, so people outside the chat stay numbers, except for owners.
    pub(super) async fn people(&self, approval: &Approval, context: &ToolContext) -> Vec<Concerned> {
        let mut people: Vec<Concerned> = Vec::new();
        let named = approval.calls.iter().filter_map(|call| {
            let user = chat_number(call.arguments.get("user_id")?)?;
            let chat = call.arguments.get("chat_id").map_or(Some(approval.asked_in.0), chat_number)?;
            Some((user, ChatId(chat)))
        });
        for (user, chat) in named {
            if people.iter().any(|known| known.user == user) || !self.may_know(chat, context).await {
                continue;
            }
            let args = json!({"chat_id": chat, "user_id": user});
            let Value::Object(args) = args else { continue };
            let Ok(answer) = self.mcp.call("getChatMember", args).await else { continue };
            let member = answer.content.get("result").unwrap_or(&answer.content);
            let is_away = member.get("status").and_then(Value::as_str) == Some("left");
            if is_away && context.standing != Standing::Owner {
                continue;
            }
            people.extend(member.get("user").and_then(name_of).map(|name| Concerned { user, name }));
        }
        people
    }

    /// Returns the first words of the one message that calls act on, in a chat that the requester may know.
    pub(super) async fn about(
        &self,
        approval: &Approval,
        context: &ToolContext,
    ) -> Result<Option<String>, ToolError> {
        let [call] = approval.calls.as_slice() else { return Ok(None) };
        let message = call.arguments.get("message_id").and_then(Value::as_i64);
        let chat = call.arguments.get("chat_id").map_or(Some(approval.asked_in.0), chat_number).map(ChatId);
        let (Some(message), Some(chat)) = (message, chat) else { return Ok(None) };
        if !self.may_know(chat, context).await {
            return Ok(None);
        }
        let said = self.said.said(chat, MessageId(message)).await?;
        let words = said.map(|said| one_line(&said.text, ABOUT_CHARS));
        Ok(words.filter(|words| !words.is_empty()))
    }

    /// Denies calls that Telegram would reject after approval: in groups, those that need a right the bot lacks. If the
    /// right is unknown, people are asked.
    ///
    /// # Errors
    /// With a message for people, passed on by the model.
    pub(super) async fn may_itself(
        &self,
        calls: &[CheckedCall],
        context: &ToolContext,
    ) -> Result<(), ToolError> {
        for call in calls {
            let chat = call.args.get("chat_id").map_or(Some(context.place.chat.0), chat_number).map(ChatId);
            let (Some(chat), Some(right)) = (chat, AdminRight::for_method(&call.method.name)) else {
                continue;
            };
            // Every member of a group may write and read there.
            let is_everybodys =
                matches!(right, AdminRight::ManageChat | AdminRight::PostMessages | AdminRight::EditMessages);
            // A bot may delete its own messages without a right.
            let is_own = right == AdminRight::DeleteMessages;
            if is_everybodys || is_own || !chat.is_group() || !self.may_know(chat, context).await {
                continue;
            }
            let args = json!({"chat_id": chat, "user_id": self.bot.0});
            let Value::Object(args) = args else { continue };
            let Ok(answer) = self.mcp.call("getChatMember", args).await else { continue };
            let member = answer.content.get("result").unwrap_or(&answer.content);
            let holds = match member.get("status").and_then(Value::as_str) {
                Some("creator") => true,
                Some("administrator") => member.get(right.name()).is_none_or(|holds| *holds == json!(true)),
                Some(_) => false,
                None => true,
            };
            if !holds {
                let right = right.name();
                self.note(AuditKind::CallDenied, std::slice::from_ref(call), context).await?;
                return Err(ToolError::ForModel(format!(
                    "not asked about: {} takes the right {right}, and you do not hold it in chat {chat}. Tell the person to make \
                     you an admin with this right (group info, Edit, Administrators, Add admin), and to ask again",
                    call.method.name
                )));
            }
        }
        Ok(())
    }

    /// Looks up a chat by number or username through `getChat`.
    pub(super) async fn look_up(
        &self,
        name: Value,
        number: Option<i64>,
    ) -> Result<ApprovalTarget, ToolError> {
        let unknown = || {
            ToolError::ForModel(format!(
                "Telegram knows no chat {name} that you are in; ask the person which they mean"
            ))
        };
        let mut args = Map::new();
        args.insert("chat_id".to_owned(), name.clone());
        let answer = self.mcp.call("getChat", args).await;
        let answer = answer.map_err(|error| ToolError::ForModel(error.to_string()))?;
        let chat = answer.content.get("result").unwrap_or(&answer.content);
        let known = chat.get("id").and_then(Value::as_i64).filter(|_| !answer.is_error);
        let title =
            ["title", "first_name"].iter().find_map(|key| chat.get(*key)?.as_str()).map(str::to_owned);
        match known.or(number) {
            Some(id) => Ok(ApprovalTarget { chat: ChatId(id), title: title.filter(|_| known.is_some()) }),
            None => Err(unknown()),
        }
    }
}

/// Collects the chats named in arguments at any depth, as JSON pointers and values.
fn chats(value: &Value, pointer: &str, found: &mut Vec<(String, Value)>) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                let inner = format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1"));
                let names_chat = key.ends_with("chat_id") && (value.is_string() || value.is_number());
                if names_chat {
                    found.push((inner, value.clone()));
                } else {
                    chats(value, &inner, found);
                }
            }
        }
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                chats(item, &format!("{pointer}/{at}"), found);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Replaces the value at a JSON pointer.
fn put(args: &mut Map<String, Value>, pointer: &str, value: Value) {
    let mut whole = Value::Object(std::mem::take(args));
    if let Some(place) = whole.pointer_mut(pointer) {
        *place = value;
    }
    if let Value::Object(whole) = whole {
        *args = whole;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chats_are_found_and_their_names_replaced_wherever_they_stand() {
        let mut args = json!({"chat_id": "@a", "reply_parameters": {"chat_id": -6}, "media": [{"from_chat_id": "@b~/c"}], "text": "@x"});
        let mut found = Vec::new();
        chats(&args, "", &mut found);
        let names: Vec<String> = found.iter().map(|(_, value)| value.to_string()).collect();
        assert_eq!(names, ["\"@a\"", "-6", "\"@b~/c\""]);
        let Value::Object(map) = &mut args else { panic!() };
        put(map, &found[2].0, json!(-7));
        put(map, &found[0].0, json!(-5));
        assert_eq!(args["media"][0]["from_chat_id"], -7);
        assert_eq!(args["chat_id"], -5);
    }
}
