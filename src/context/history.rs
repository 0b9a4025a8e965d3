//! Stored messages as items of a request: tool results together with their calls, whole exchanges within a budget,
//! the newest first to get in.

use crate::domain::conversation::{Message, Role};
use crate::domain::tool::Call;
use crate::prompts::fence;
use crate::provider::Item;
use crate::text::keep_ends;

/// An assistant text longer than this loses its middle, unless it is recent.
const LONG_ANSWER_CHARS: usize = 400;
/// So many of the newest messages are recent.
const RECENT: usize = 6;

/// The newest exchanges that fit, oldest first. An exchange is a person's message and all that followed it; it gets
/// in whole or not at all, so that no call is ever without its result; its pictures are left out before its words are.
pub(super) fn within_budget(
    history: &[Message],
    budget: usize,
    render: &impl Fn(&Message) -> Result<Item, String>,
) -> Result<Vec<Item>, String> {
    let recent_from = history.len().saturating_sub(RECENT);
    let mut kept: Vec<Vec<Item>> = Vec::new();
    let mut left = budget;
    let mut end = history.len();
    for start in (0..history.len()).rev() {
        let begins =
            history[start].role == Role::User && (start == 0 || history[start - 1].role != Role::User);
        if !begins {
            continue;
        }
        let exchange: Vec<Message> =
            (start..end).map(|at| shortened(&history[at], at >= recent_from)).collect();
        let mut items = items_of(&exchange, render)?;
        let mut cost = items.iter().map(Item::estimate_tokens).sum::<usize>();
        if cost > left {
            items.iter_mut().for_each(leave_out_pictures);
            cost = items.iter().map(Item::estimate_tokens).sum();
        }
        if cost > left {
            break;
        }
        left -= cost;
        end = start;
        kept.push(items);
    }
    Ok(kept.into_iter().rev().flatten().collect())
}

fn leave_out_pictures(item: &mut Item) {
    if let Item::User { images, .. } = item {
        images.clear();
    }
}

/// Stored messages as items, in order; calls are rebuilt from the results' stored metadata.
pub(super) fn items_of(
    messages: &[Message],
    render: &impl Fn(&Message) -> Result<Item, String>,
) -> Result<Vec<Item>, String> {
    let mut items: Vec<Item> = Vec::new();
    for message in messages {
        match (message.role, &message.tool) {
            (Role::User, _) => items.push(render(message)?),
            (Role::System, _) => items.push(Item::user(message.text.clone())),
            (Role::Assistant, _) => items.push(Item::Assistant {
                text: message.text.clone(),
                calls: Vec::new(),
                private: message.private.clone(),
            }),
            (Role::Tool, Some(meta)) => {
                let call = Call {
                    id: meta.tool_call_id.clone(),
                    name: meta.tool_name.clone(),
                    arguments: meta.tool_arguments.clone(),
                };
                push_result(&mut items, call, fence::result(&message.text));
            }
            (Role::Tool, None) => {}
        }
    }
    Ok(items)
}

/// Adds a call to the pass it was made in, and its result behind the results of that pass.
fn push_result(items: &mut Vec<Item>, call: Call, output: String) {
    let results = items.iter().rev().take_while(|item| matches!(item, Item::ToolResult { .. })).count();
    let pass = items.len() - results;
    let result = Item::ToolResult { call_id: call.id.clone(), name: call.name.clone(), output };
    match pass.checked_sub(1).and_then(|at| items.get_mut(at)) {
        Some(Item::Assistant { calls, .. }) => calls.push(call),
        _ => items
            .insert(pass, Item::Assistant { text: String::new(), calls: vec![call], private: Vec::new() }),
    }
    items.push(result);
}

/// The message as the model sees it: an older long answer keeps its start and its end.
fn shortened(message: &Message, is_recent: bool) -> Message {
    let long = message.role == Role::Assistant && message.text.chars().count() > LONG_ANSWER_CHARS;
    if is_recent || !long {
        return message.clone();
    }
    let key = format!(" … [session-{}-msg-{}] … ", message.session, message.index);
    let text = keep_ends(&message.text, LONG_ANSWER_CHARS / 2, &key);
    Message { text, ..message.clone() }
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;
    use proptest::prelude::*;

    use super::*;
    use crate::domain::conversation::ToolMeta;
    use crate::domain::tool::Carried;
    use crate::ids::SessionId;

    fn message(role: Role, text: &str) -> Message {
        let mut message = Message::new(SessionId::new(), role, text.to_owned(), DateTime::UNIX_EPOCH);
        if role == Role::Tool {
            message.tool = Some(ToolMeta {
                tool_call_id: format!("call-{}", message.id),
                tool_name: "t".into(),
                tool_arguments: "{}".into(),
                carried: Carried::default(),
            });
        }
        message
    }

    fn render(message: &Message) -> Result<Item, String> {
        Ok(Item::user(message.text.clone()))
    }

    #[test]
    fn calls_of_one_pass_stand_together_before_their_results() {
        let turn = [
            message(Role::User, "q"),
            message(Role::Assistant, "let me see"),
            message(Role::Tool, "1"),
            message(Role::Tool, "2"),
            message(Role::Assistant, "answer"),
        ];
        let items = items_of(&turn, &render).unwrap();
        assert_eq!(items.len(), 5);
        let Item::Assistant { text, calls, .. } = &items[1] else { panic!("{items:?}") };
        assert_eq!((text.as_str(), calls.len()), ("let me see", 2));
        assert!(
            matches!(&items[4], Item::Assistant { text, calls, .. } if text == "answer" && calls.is_empty())
        );
    }

    #[test]
    fn an_older_long_answer_keeps_its_ends_and_a_key() {
        let mut history = vec![message(Role::User, "q"), message(Role::Assistant, &"word ".repeat(200))];
        history.extend((0..RECENT).map(|_| message(Role::User, "later")));
        let items = within_budget(&history, 100_000, &render).unwrap();
        let Item::Assistant { text, .. } = &items[1] else { panic!("{items:?}") };
        assert!(text.contains("-msg-0]") && text.chars().count() < 500, "{text}");
    }

    proptest! {
        #[test]
        fn every_result_has_its_call_and_the_budget_holds(
            roles in proptest::collection::vec((0..4_u8, 0..300_usize), 0..40),
            budget in 0..3000_usize,
        ) {
            let history: Vec<Message> = roles
                .into_iter()
                .map(|(role, length)| {
                    let role = [Role::User, Role::Assistant, Role::Tool, Role::User][usize::from(role)];
                    message(role, &"x ".repeat(length))
                })
                .collect();
            let items = within_budget(&history, budget, &render).unwrap();
            prop_assert!(items.iter().map(Item::estimate_tokens).sum::<usize>() <= budget);
            let mut open = Vec::new();
            for item in &items {
                match item {
                    Item::Assistant { calls, .. } => {
                        prop_assert!(open.is_empty());
                        open = calls.iter().map(|call| call.id.clone()).collect();
                    }
                    Item::ToolResult { call_id, .. } => {
                        prop_assert!(open.iter().any(|id| id == call_id));
                        open.retain(|id| id != call_id);
                    }
                    Item::User { .. } => prop_assert!(open.is_empty()),
                }
            }
            prop_assert!(open.is_empty());
        }
    }
}
