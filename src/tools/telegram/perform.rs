//! The way of calls of methods through policy: they are made, refused, or shown to a person first.

use chrono::{DateTime, Utc};
use figaro_mcp::check::{Place, check};
use figaro_mcp::table::Method;
use serde_json::{Map, Value, json};

use super::send::Sent;
use super::{TelegramTools, ToolContext, ToolError, ToolOutput, chat_number};
use crate::domain::approval::{Approval, Concerned, Fingerprint, MethodCall, Target, WAITS_MINUTES};
use crate::domain::delivery::Author;
use crate::domain::tool::SideEffects;
use crate::domain::turn::PersonQuestion;
use crate::ids::{ChatId, MessageId};
use crate::policy::access::Standing;
use crate::policy::tools::{Decision, TelegramCall, Terms, decide, settle_previews, terms};
use crate::tools::as_data;

/// A time that is nearer counts as for ever; with something for the way to Telegram.
const MIN_AHEAD_SECONDS: i64 = 40;
/// What is told where nobody can be asked.
const NOBODY: &str = "It takes an approval, and nobody is asked now: this is the run of a task, or not the person's own words, or \
    too many questions wait for an answer already. Tell the person";

/// A call whose arguments fit its method.
struct Checked {
    method: &'static Method,
    args: Map<String, Value>,
    files: Vec<Place>,
}

/// Who sent the messages that a call names.
struct Senders {
    /// Whether the model sent all of them; `None` where it names none.
    own: Option<bool>,
    /// Whether one of them is Figaro's.
    figaros: bool,
}

/// The chats that calls act on.
struct Named {
    targets: Vec<Target>,
    /// Whether one was named by its username, in whose place its number stands now.
    were_names: bool,
}

/// Why calls are not made before a person has approved them.
struct Asks {
    reason: String,
    terms: Terms,
}

impl TelegramTools {
    /// Makes calls of methods for a tool call, in their order, as far as policy lets them go: where one of them takes an
    /// approval, a person is shown all of them first, and where one is refused none is made. Where a person has approved the tool
    /// call, exactly what they were shown is made.
    ///
    /// # Errors
    /// With why they were not made, or that it is not known whether one was.
    pub async fn perform(
        &self,
        calls: Vec<MethodCall>,
        context: &ToolContext,
    ) -> Result<ToolOutput, ToolError> {
        if let Some(approved) = &context.approved {
            let approval = &approved.approval;
            if !approval.is_for(context.run, &context.call) {
                return Err(ToolError::Denied("not made: what was approved is something else".to_owned()));
            }
            if self.approvers.may_rule(approved.ruling.ruled, &approved.ruling.by, approval).await?.is_err() {
                let words = "not made: whoever approved it may not approve it any more";
                return Err(ToolError::Denied(words.to_owned()));
            }
            // Nothing in it is settled anew: it was shown like this.
            let calls =
                approval.calls.iter().cloned().map(|call| self.check(call)).collect::<Result<Vec<_>, _>>()?;
            if calls.iter().any(|call| is_late(&call.args, context.now)) {
                let words = "not made: the time until which it was to hold is over, or nearly; Telegram would take it as \
                    for ever. Ask again with a later time";
                return Err(ToolError::Denied(words.to_owned()));
            }
            // What no approval opens stays closed.
            self.decide_all(&calls, context).await?;
            return self.make_all(calls, context).await;
        }
        let mut calls = self.check_all(calls, context)?;
        let Some(asks) = self.decide_all(&calls, context).await? else {
            return self.make_all(calls, context).await;
        };
        // Words of somebody else, tried again, are asked about in nobody's name.
        if !context.can_ask || context.standing == Standing::Borrowed {
            return Err(ToolError::Denied(format!("not allowed: {}. {NOBODY}.", asks.reason)));
        }
        let Named { targets, were_names } = self.targets(&mut calls, context).await?;
        // A name may have turned out to be that of this chat.
        let asks = if were_names { self.decide_all(&calls, context).await? } else { Some(asks) };
        let Some(asks) = asks else { return self.make_all(calls, context).await };
        let mut approval = approval(&calls, targets, asks, context);
        approval.people = self.people(&approval).await;
        if self.approvers.has_granted(&approval, context.now).await? {
            return self.make_all(calls, context).await;
        }
        let question = PersonQuestion {
            text: String::new(),
            options: Vec::new(),
            is_free: false,
            expires_after_min: WAITS_MINUTES,
            approval: Some(Box::new(approval)),
        };
        Ok(ToolOutput { value: Value::Null, side_effects: SideEffects::default(), asks: Some(question) })
    }

    fn check_all(&self, calls: Vec<MethodCall>, context: &ToolContext) -> Result<Vec<Checked>, ToolError> {
        let check_one = |mut call: MethodCall| {
            if let Some(method) = self.catalog.method(&call.method) {
                settle_previews(method, &mut call.arguments, &context.addresses);
            }
            self.check(call)
        };
        calls.into_iter().map(check_one).collect()
    }

    fn check(&self, MethodCall { method, arguments }: MethodCall) -> Result<Checked, ToolError> {
        let known = self.catalog.method(&method);
        let method = known.ok_or_else(|| ToolError::ForModel(format!("there is no method {method}")))?;
        let files = check(method, &arguments).map_err(|fault| ToolError::ForModel(fault.to_string()))?;
        Ok(Checked { method, args: arguments, files })
    }

    /// Why the calls take an approval; `None` where all of them may be made.
    async fn decide_all(&self, calls: &[Checked], context: &ToolContext) -> Result<Option<Asks>, ToolError> {
        let mut asks: Option<Asks> = None;
        for call in calls {
            let decision = self.decide(call, context).await?;
            let method = &call.method.name;
            tracing::info!(method, chat = %context.place.chat, ?decision, "policy decided about a Telegram call");
            match decision {
                Decision::Allow => {}
                Decision::Ask(rule, reason) => {
                    let terms = terms(call.method, rule);
                    asks = Some(match asks {
                        None => Asks { reason, terms },
                        Some(first) => Asks { terms: first.terms.and(terms), ..first },
                    });
                }
                Decision::Deny(why) => return Err(ToolError::Denied(format!("not allowed: {why}."))),
            }
        }
        Ok(asks)
    }

    async fn decide(&self, call: &Checked, context: &ToolContext) -> Result<Decision, ToolError> {
        let (here, args) = (context.place.chat, &call.args);
        let whole = Value::Object(args.clone());
        let files: Vec<&str> =
            call.files.iter().filter_map(|place| whole.pointer(&place.pointer)?.as_str()).collect();
        let Senders { own, figaros } = self.senders(args, here).await?;
        let speaker = (context.standing != Standing::Borrowed).then_some(&context.speaker.user);
        let addresses = &context.addresses;
        let method = call.method;
        Ok(decide(&TelegramCall { method, args, here, speaker, own, figaros, files: &files, addresses }))
    }

    /// Who sent the messages that a call names. What is no number names a message that nobody knows.
    async fn senders(&self, args: &Map<String, Value>, here: ChatId) -> Result<Senders, ToolError> {
        let many = args.get("message_ids").and_then(Value::as_array).into_iter().flatten();
        let mut senders = Senders { own: None, figaros: false };
        for id in args.get("message_id").into_iter().chain(many) {
            // What is no id of a message is nobody's: how Telegram would read it is not known.
            let author = match id.as_i64().filter(|id| *id > 0) {
                Some(id) => self.outbox.author(here, MessageId(id)).await?,
                None => None,
            };
            senders.own = Some(senders.own != Some(false) && author == Some(Author::Model));
            senders.figaros |= author.is_some_and(|author| author != Author::Model);
        }
        Ok(senders)
    }

    /// The chats that calls act on, each once. Names of chats become their numbers in the calls: a name may belong to another
    /// chat by the time a person approves.
    async fn targets(&self, calls: &mut [Checked], context: &ToolContext) -> Result<Named, ToolError> {
        let (mut targets, mut were_names): (Vec<Target>, bool) = (Vec::new(), false);
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
                        Target { chat: context.place.chat, title: context.place.title.clone() }
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
        Ok(Named { targets, were_names })
    }

    /// A chat as whoever asked may know it: the title of one that they are not in says nothing to them.
    async fn told_of(&self, target: Target, named: &Value, context: &ToolContext) -> Target {
        let admins = &self.approvers.admins;
        let is_owner = context.standing == Standing::Owner;
        if is_owner || (target.chat.is_group() && admins.is_member(target.chat, &context.speaker.user).await)
        {
            return target;
        }
        Target { title: named.as_str().filter(|name| name.starts_with('@')).map(str::to_owned), ..target }
    }

    /// The people that calls act on, by what Telegram says of them in the chat.
    async fn people(&self, approval: &Approval) -> Vec<Concerned> {
        let mut people: Vec<Concerned> = Vec::new();
        let named = approval.calls.iter().filter_map(|call| {
            let user = chat_number(call.arguments.get("user_id")?)?;
            Some((user, call.arguments.get("chat_id").cloned().unwrap_or_else(|| json!(approval.asked_in))))
        });
        for (user, chat) in named {
            if people.iter().any(|known| known.user == user) {
                continue;
            }
            let args = json!({"chat_id": chat, "user_id": user});
            let Value::Object(args) = args else { continue };
            let Ok(answer) = self.mcp.call("getChatMember", args).await else { continue };
            let member = answer.content.get("result").unwrap_or(&answer.content).get("user");
            let text = |key: &str| member?.get(key)?.as_str().map(str::to_owned);
            let names: Vec<String> = ["first_name", "last_name"].into_iter().filter_map(text).collect();
            if names.is_empty() {
                continue;
            }
            let username = text("username").map(|name| format!(" @{name}")).unwrap_or_default();
            people.push(Concerned { user, name: format!("{}{username}", names.join(" ")) });
        }
        people
    }

    /// What Telegram says of a chat that is named by its number or its username.
    async fn look_up(&self, name: Value, number: Option<i64>) -> Result<Target, ToolError> {
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
            Some(id) => Ok(Target { chat: ChatId(id), title: title.filter(|_| known.is_some()) }),
            None => Err(unknown()),
        }
    }

    /// Makes calls that may be made, one after the other, until one fails.
    async fn make_all(&self, calls: Vec<Checked>, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let (mut results, mut side_effects, mut shows_words) = (Vec::new(), SideEffects::default(), false);
        let all = calls.len();
        for Checked { method, args, .. } in calls {
            let made = results.len();
            let sent = self.send(method, args, context).await.map_err(|error| match error {
                ToolError::ForModel(words) | ToolError::Denied(words) if made > 0 => {
                    ToolError::ForModel(format!("{made} of {all} calls were made; {}: {words}", method.name))
                }
                error => error,
            });
            let Sent { mut result, spoke, shows_words: words } = sent?;
            if !method.name.ends_with("InviteLink") {
                without_secrets(&mut result);
            }
            side_effects.spoke |= spoke;
            shows_words |= words;
            results.push(result);
        }
        let result = match results.len() {
            1 => results.swap_remove(0),
            _ => Value::Array(results),
        };
        let value = match shows_words {
            true => as_data("result", result),
            false => json!({"success": true, "result": result}),
        };
        Ok(ToolOutput { value, side_effects, asks: None })
    }
}

/// Whether Telegram would take the time until which a call is to hold as for ever, by the docs of `restrictChatMember`: less than 30
/// seconds from now. None, or 0, is meant so.
fn is_late(args: &Map<String, Value>, now: DateTime<Utc>) -> bool {
    let until = args.get("until_date").and_then(Value::as_i64).filter(|until| *until != 0);
    until.is_some_and(|until| until < now.timestamp() + MIN_AHEAD_SECONDS)
}

/// What a person is to approve. What names no chat acts on the chat of the turn.
fn approval(calls: &[Checked], mut targets: Vec<Target>, asks: Asks, context: &ToolContext) -> Approval {
    let place = &context.place;
    if targets.is_empty() {
        targets.push(Target { chat: place.chat, title: place.title.clone() });
    }
    let is_one = targets.len() == 1;
    let call = |call: &Checked| MethodCall { method: call.method.name.clone(), arguments: call.args.clone() };
    let calls: Vec<MethodCall> = calls.iter().map(call).collect();
    Approval {
        fingerprint: Fingerprint::of(context.run, &context.call, &calls),
        calls,
        targets,
        people: Vec::new(),
        right: asks.terms.right,
        needs_other: asks.terms.needs_other,
        // Of several chats it is not clear which is which.
        may_last: asks.terms.may_last && is_one,
        rule: asks.terms.rule,
        asked_in: place.chat,
        requester: context.speaker.clone(),
    }
}

/// Leaves out of a result what lets somebody into a chat: whoever may look a chat up may not invite to it.
fn without_secrets(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.remove("invite_link");
            map.values_mut().for_each(without_secrets);
        }
        Value::Array(items) => items.iter_mut().for_each(without_secrets),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Where arguments name chats, however deep: JSON pointers and what stands there.
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

/// Puts a value where a pointer says.
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
    fn a_link_into_a_chat_is_left_out_however_deep() {
        let mut result = json!({"id": -5, "invite_link": "x", "pinned_message": {"chat": [{"invite_link": "x", "title": "T"}]}});
        without_secrets(&mut result);
        assert_eq!(result, json!({"id": -5, "pinned_message": {"chat": [{"title": "T"}]}}));
    }

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
