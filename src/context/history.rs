//! Stored messages as items of a request: tool results together with their calls, whole exchanges within a budget,
//! the newest first to get in.

use crate::domain::conversation::{Message, Role};
use crate::domain::tool::Call;
use crate::prompts::fence;
use crate::provider::Item;
use crate::provider::fit::{Part, Stage, shrink};
use crate::text::{estimate_tokens, keep_ends};

/// An assistant text longer than this loses its middle, unless it is recent.
const LONG_ANSWER_CHARS: usize = 400;
/// So many of the newest messages are recent at least, and at most twice as many.
const RECENT: u32 = 6;

/// With fewer tokens of room, an exchange before the newest is left out and not shortened.
const LEAST_ROOM: usize = 300;

/// What a model sees of the messages before a question.
#[derive(Debug, Default)]
pub(super) struct History {
    /// Whole exchanges, oldest first.
    pub(super) items: Vec<Item>,
    /// Something was left out of them, and its key stands in its place.
    pub(super) has_keys: bool,
}

/// The newest exchanges that fit, oldest first. An exchange is a person's message and all that followed it; it gets
/// in or not, so that no call is ever without its result; its pictures are left out before its words are. The last to get
/// in is shortened where it does not fit, the newest always, so that a long one does not take all of the history along.
pub(super) fn within_budget(
    history: &[Message],
    budget: usize,
    render: &impl Fn(&Message) -> Result<Item, String>,
) -> Result<History, String> {
    let recent_from = recent_from(history);
    let mut kept: Vec<Vec<Part>> = Vec::new();
    let (mut left, mut end, mut has_keys) = (budget, history.len(), false);
    for start in (0..history.len()).rev() {
        let begins =
            history[start].role == Role::User && (start == 0 || history[start - 1].role != Role::User);
        if !begins {
            continue;
        }
        let is_long = |message: &&Message| message.index < recent_from && is_long_answer(message);
        let has_long = history[start..end].iter().any(|message| is_long(&message));
        let shown: Vec<Message> = history[start..end]
            .iter()
            .map(|message| if is_long(&message) { shortened(message) } else { message.clone() })
            .collect();
        let mut exchange = parts_of(&shown, render)?;
        if tokens(&exchange) > left {
            exchange.iter_mut().for_each(leave_out_pictures);
        }
        let mut cost = tokens(&exchange);
        let is_cut = cost > left
            && (kept.is_empty() || left >= LEAST_ROOM)
            && shrink(&mut exchange, left, estimate_tokens);
        if is_cut {
            cost = tokens(&exchange);
        }
        if cost > left {
            break;
        }
        has_keys |= has_long || is_cut;
        left -= cost;
        end = start;
        kept.push(exchange);
        if is_cut {
            break;
        }
    }
    let items = kept.into_iter().rev().flatten().map(|part| part.item).collect();
    Ok(History { items, has_keys })
}

fn tokens(parts: &[Part]) -> usize {
    parts.iter().map(|part| part.item.estimate_tokens()).sum()
}

fn leave_out_pictures(part: &mut Part) {
    if let Item::User { images, .. } = &mut part.item {
        images.clear();
    }
}

/// Stored messages as items, in order; calls are rebuilt from the results' stored metadata.
pub(super) fn items_of(
    messages: &[Message],
    render: &impl Fn(&Message) -> Result<Item, String>,
) -> Result<Vec<Item>, String> {
    Ok(parts_of(messages, render)?.into_iter().map(|part| part.item).collect())
}

/// The same with their keys; what people say before anything else is the question.
fn parts_of(
    messages: &[Message],
    render: &impl Fn(&Message) -> Result<Item, String>,
) -> Result<Vec<Part>, String> {
    let mut parts: Vec<Part> = Vec::new();
    for message in messages {
        let key = Some(message.key().to_string());
        match (message.role, &message.tool) {
            (Role::User, _) => {
                let is_question = parts.iter().all(|part| part.stage == Stage::Question);
                let stage = if is_question { Stage::Question } else { Stage::Earlier };
                parts.push(Part { item: render(message)?, stage, key });
            }
            (Role::System, _) => parts.push(earlier(Item::user(message.text.clone()), key)),
            (Role::Assistant, _) => {
                let (text, private) = (message.text.clone(), message.private.clone());
                parts.push(earlier(Item::Assistant { text, calls: Vec::new(), private }, key));
            }
            (Role::Tool, Some(meta)) => {
                let call = Call {
                    id: meta.tool_call_id.clone(),
                    name: meta.tool_name.clone(),
                    arguments: meta.tool_arguments.clone(),
                };
                push_result(&mut parts, call, (fence::result(&message.text), key));
            }
            (Role::Tool, None) => {}
        }
    }
    Ok(parts)
}

const fn earlier(item: Item, key: Option<String>) -> Part {
    Part { item, stage: Stage::Earlier, key }
}

/// Adds a call to the pass it was made in, and its result behind the results of that pass.
fn push_result(parts: &mut Vec<Part>, call: Call, (output, key): (String, Option<String>)) {
    let is_result = |part: &&Part| matches!(part.item, Item::ToolResult { .. });
    let pass = parts.len() - parts.iter().rev().take_while(is_result).count();
    let result = Item::ToolResult { call_id: call.id.clone(), name: call.name.clone(), output };
    match pass.checked_sub(1).and_then(|at| parts.get_mut(at)).map(|part| &mut part.item) {
        Some(Item::Assistant { calls, .. }) => calls.push(call),
        _ => {
            let item = Item::Assistant { text: String::new(), calls: vec![call], private: Vec::new() };
            parts.insert(pass, earlier(item, None));
        }
    }
    parts.push(earlier(result, key));
}

/// The index from which messages are recent: at a border of a block, so that a prompt keeps its beginning while the block
/// fills.
fn recent_from(history: &[Message]) -> u32 {
    let next = history.last().map_or(0, |message| message.index + 1);
    next.saturating_sub(RECENT) / RECENT * RECENT
}

fn is_long_answer(message: &Message) -> bool {
    message.role == Role::Assistant && message.text.chars().count() > LONG_ANSWER_CHARS
}

/// The message with the start and the end of its text, and its key in between.
fn shortened(message: &Message) -> Message {
    let text = keep_ends(&message.text, LONG_ANSWER_CHARS / 2, &format!(" … [{}] … ", message.key()));
    // What a provider wants back beside the words may tell of places in them.
    Message { text, private: Vec::new(), ..message.clone() }
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

    /// The same with the indexes that a session gives.
    fn session(messages: impl IntoIterator<Item = Message>) -> Vec<Message> {
        messages.into_iter().zip(0..).map(|(message, index)| Message { index, ..message }).collect()
    }

    #[test]
    fn an_older_long_answer_keeps_its_ends_and_a_key_from_a_border_on() {
        let words = "word ".repeat(200);
        let shown = |later: usize| {
            let answers = [message(Role::User, "q"), message(Role::Assistant, &words)];
            let later = (0..later).map(|_| message(Role::User, "later"));
            within_budget(&session(answers.into_iter().chain(later)), 100_000, &render).unwrap()
        };
        for later in [0, 6, 9] {
            let History { items, has_keys } = shown(later);
            assert_eq!((items[1].text(), has_keys), (words.as_str(), false), "{later}");
        }
        for later in [10, 11, 40] {
            let History { items, has_keys } = shown(later);
            let text = items[1].text();
            assert!(text.contains("-msg-1]") && text.chars().count() < 500 && has_keys, "{later}: {text}");
        }
    }

    #[test]
    fn the_newest_exchange_is_shortened_where_it_does_not_fit_and_older_ones_are_left_out() {
        let story = format!("Once {} the end", "upon a time ".repeat(2_000));
        let history = session([
            message(Role::User, "before"),
            message(Role::Assistant, "an answer"),
            message(Role::User, "tell me a story"),
            message(Role::Assistant, &story),
        ]);
        let History { items, has_keys } = within_budget(&history, 1_000, &render).unwrap();
        assert_eq!((items.len(), items[0].text(), has_keys), (2, "tell me a story", true));
        let cut = items[1].text();
        assert!(cut.starts_with("Once") && cut.ends_with("the end") && cut.contains("-msg-3]"), "{cut}");
        let tokens: usize = items.iter().map(Item::estimate_tokens).sum();
        assert!((800..=1_000).contains(&tokens), "the room is used: {tokens}");
    }

    proptest! {
        #[test]
        fn every_result_has_its_call_and_the_budget_holds(
            roles in proptest::collection::vec((0..4_u8, 0..300_usize), 0..40),
            budget in 0..3000_usize,
        ) {
            let history = session(roles.into_iter().map(|(role, length)| {
                let role = [Role::User, Role::Assistant, Role::Tool, Role::User][usize::from(role)];
                message(role, &"x ".repeat(length))
            }));
            let items = within_budget(&history, budget, &render).unwrap().items;
            prop_assert!(items.iter().map(Item::estimate_tokens).sum::<usize>() <= budget);
            let asks = history.iter().any(|message| message.role == Role::User);
            prop_assert!(!items.is_empty() || !asks || budget < 2_500, "the newest exchange is there");
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
