//! Converts stored messages to request items: tool results follow their calls, and whole exchanges are added within a
//! budget, newest first.

use std::sync::Arc;

use crate::tools::lookup::has_key;
use figaro_base::text::{estimate_tokens, keep_ends};
use figaro_domain::conversation::{EntryKey, Message, MessageRole, begins_exchange};
use figaro_domain::tool::Call;
use figaro_prompts::fence;
use figaro_provider::Item;
use figaro_provider::fit::{ConversationPart, Stage, gap, shrink};

/// Longer assistant texts are cut in the middle, unless they are recent.
const LONG_ANSWER_CHARS: usize = 400;
/// Minimum number of messages that count as recent. The actual number is at most twice as high.
const RECENT: u32 = 6;

/// Token limit for an older exchange that does not fit whole. Constant, so that the beginning of the prompt stays the
/// same.
const SHORT_EXCHANGE: usize = 400;
/// Number of messages that are dropped together, so that in between the beginning of the prompt stays the same.
const BLOCK: u32 = 8;

/// Messages before a question, as the model sees them.
#[derive(Debug, Default)]
pub struct History {
    /// Items of the newest exchanges, oldest first.
    pub items: Vec<Item>,
    /// Lookup key of each item; `None` if it cannot be looked up.
    pub(crate) keys: Vec<Option<EntryKey>>,
    /// `true` if omitted text is marked with a lookup key.
    pub(crate) has_keys: bool,
    /// `true` if an exchange was shortened to fit.
    pub(crate) is_short: bool,
    /// Index of their first message; `None` if there are none.
    pub from: Option<u32>,
    pub(crate) tokens: usize,
}

impl History {
    /// Creates a history from items of the requester; nothing of it can be looked up.
    #[must_use]
    pub(crate) fn given(items: &[Item]) -> Self {
        let tokens = items.iter().map(Item::estimate_tokens).sum();
        Self { items: items.to_vec(), keys: vec![None; items.len()], tokens, ..Self::default() }
    }

    /// Appends the history that follows directly.
    #[must_use]
    pub(super) fn then(mut self, behind: Self) -> Self {
        self.items.extend(behind.items);
        self.keys.extend(behind.keys);
        self.has_keys |= behind.has_keys;
        self.is_short |= behind.is_short;
        self.from = self.from.or(behind.from);
        self.tokens += behind.tokens;
        self
    }
}

/// An exchange as the model sees it: the messages of a person for one turn, and everything that followed.
#[derive(Debug)]
struct HistoryExchange {
    /// Index of its first message in the session.
    index: u32,
    parts: Vec<ConversationPart>,
    tokens: usize,
}

/// Returns the newest exchanges that fit, oldest first. Every call keeps its result. An exchange that does not fit
/// first loses its pictures and its provider-specific data. Then the newest one is shortened to the available room, an
/// older one to [`SHORT_EXCHANGE`], so that a long exchange does not cost the rest of the history.
pub(super) fn within_budget(
    history: &[Arc<Message>],
    budget: usize,
    render: &impl Fn(&Message) -> Result<Item, String>,
) -> Result<History, String> {
    let recent_from = recent_from(history);
    let mut kept: Vec<HistoryExchange> = Vec::new();
    let (mut left, mut end, mut next, mut is_short) = (budget, history.len(), None, false);
    for start in (0..history.len()).rev().filter(|at| begins_exchange(history, *at)) {
        let mut exchange = HistoryExchange::of(&history[start..end], recent_from, render)?;
        let whole = exchange.tokens;
        let fits = exchange.fit(left, if kept.is_empty() { left } else { SHORT_EXCHANGE });
        if !fits {
            next = Some(exchange.index);
            break;
        }
        is_short |= exchange.tokens < whole;
        left -= exchange.tokens;
        end = start;
        kept.push(exchange);
    }
    // Messages that were not loaded count as dropped.
    let loaded_from = kept.last().and_then(|exchange| exchange.index.checked_sub(1));
    if let Some(next) = next.or(loaded_from) {
        leave_at_border(&mut kept, next, budget / 2);
    }
    let from = kept.last().map(|exchange| exchange.index);
    let parts: Vec<ConversationPart> = kept.into_iter().rev().flat_map(|exchange| exchange.parts).collect();
    let has_keys = parts.iter().any(|part| has_key(part.item.text()));
    let tokens = tokens(&parts);
    let (items, keys) = parts.into_iter().map(|part| (part.item, part.key)).unzip();
    Ok(History { items, keys, has_keys, is_short, from, tokens })
}

/// Drops the oldest exchanges up to the first that starts a new block, as long as `least` tokens remain. `kept` is
/// sorted newest first; the exchange at `next` is already dropped.
fn leave_at_border(kept: &mut Vec<HistoryExchange>, next: u32, least: usize) {
    let mut before = next;
    for at in (0..kept.len()).rev() {
        let index = kept[at].index;
        if index / BLOCK != before / BLOCK {
            let stays = kept[..=at].iter().map(|exchange| exchange.tokens).sum::<usize>();
            kept.truncate(if stays >= least { at + 1 } else { kept.len() });
            return;
        }
        before = index;
    }
}

impl HistoryExchange {
    fn of(
        messages: &[Arc<Message>],
        recent_from: u32,
        render: &impl Fn(&Message) -> Result<Item, String>,
    ) -> Result<Self, String> {
        let is_long = |message: &Message| message.index < recent_from && is_long_answer(message);
        let shown = |message: &Arc<Message>| {
            if is_long(message) { Arc::new(shortened(message)) } else { message.clone() }
        };
        let parts = parts_of(&messages.iter().map(shown).collect::<Vec<_>>(), render)?;
        let index = messages.first().map_or(0, |message| message.index);
        Ok(Self { index, tokens: tokens(&parts), parts })
    }

    /// Reduces the exchange to `left` tokens; if its text must be cut, to `shortened`. Returns `true` if it then fits.
    fn fit(&mut self, left: usize, shortened: usize) -> bool {
        if self.tokens > left {
            self.parts.iter_mut().for_each(ConversationPart::leave_out_unseen);
            self.tokens = tokens(&self.parts);
        }
        if self.tokens > left && shortened <= left {
            shrink(&mut self.parts, shortened, estimate_tokens);
            // The newest parts of a question stay.
            while tokens(&self.parts) > shortened && self.has_questions() {
                self.parts.remove(0);
            }
            while tokens(&self.parts) > shortened && self.leave_oldest_pass() {}
            self.tokens = tokens(&self.parts);
        }
        self.tokens <= left
    }

    /// Drops the oldest pass after the question, a call together with its results. Returns `true` if something newer is
    /// left.
    fn leave_oldest_pass(&mut self) -> bool {
        let is_question = |part: &&ConversationPart| part.stage == Stage::Question;
        let is_result = |part: &&ConversationPart| matches!(part.item, Item::ToolResult { .. });
        let from = self.parts.iter().take_while(is_question).count();
        let results = self.parts.iter().skip(from + 1).take_while(is_result).count();
        let next = from + 1 + results;
        let has_newer = next < self.parts.len();
        if has_newer {
            self.parts.drain(from..next);
        }
        has_newer
    }

    fn has_questions(&self) -> bool {
        self.parts.iter().take(2).filter(|part| part.stage == Stage::Question).count() == 2
    }
}

fn tokens(parts: &[ConversationPart]) -> usize {
    parts.iter().map(|part| part.item.estimate_tokens()).sum()
}

/// Converts stored messages to items, in order. Calls are rebuilt from the metadata stored with their results.
pub(in crate::turn) fn items_of(
    messages: &[Arc<Message>],
    render: &impl Fn(&Message) -> Result<Item, String>,
) -> Result<Vec<Item>, String> {
    Ok(parts_of(messages, render)?.into_iter().map(|part| part.item).collect())
}

/// Converts stored messages to parts with keys. Messages of people before anything else are the question.
fn parts_of(
    messages: &[Arc<Message>],
    render: &impl Fn(&Message) -> Result<Item, String>,
) -> Result<Vec<ConversationPart>, String> {
    let mut parts: Vec<ConversationPart> = Vec::new();
    for message in in_order_of_calls(messages) {
        let key = Some(message.key());
        match (message.role, &message.tool) {
            (MessageRole::User, _) => {
                let is_question = parts.iter().all(|part| part.stage == Stage::Question);
                let stage = if is_question { Stage::Question } else { Stage::Earlier };
                parts.push(ConversationPart { item: render(message)?, stage, key });
            }
            (MessageRole::System, _) => parts.push(earlier(Item::user(message.text.clone()), key)),
            (MessageRole::Assistant, _) => {
                let (text, private) = (message.text.clone(), message.private.clone());
                parts.push(earlier(Item::Assistant { text, calls: Vec::new(), private }, key));
            }
            (MessageRole::Tool, Some(meta)) => {
                let call = Call {
                    id: meta.tool_call_id.clone(),
                    name: meta.tool_name.clone(),
                    arguments: meta.tool_arguments.clone(),
                };
                push_result(&mut parts, call, fence::result(&message.text), key);
            }
            (MessageRole::Tool, None) => {}
        }
    }
    Ok(parts)
}

/// Sorts results by the start of their calls, not by their end: the model got them in this order during the turn.
fn in_order_of_calls(messages: &[Arc<Message>]) -> Vec<&Message> {
    let mut ordered: Vec<&Message> = messages.iter().map(AsRef::as_ref).collect();
    for results in
        ordered.chunk_by_mut(|one, next| one.role == MessageRole::Tool && next.role == MessageRole::Tool)
    {
        results.sort_by_key(|result| result.created_at);
    }
    ordered
}

const fn earlier(item: Item, key: Option<EntryKey>) -> ConversationPart {
    ConversationPart { item, stage: Stage::Earlier, key }
}

/// Adds a call to its pass, and its result after the other results of that pass.
fn push_result(parts: &mut Vec<ConversationPart>, call: Call, output: String, key: Option<EntryKey>) {
    let is_result = |part: &&ConversationPart| matches!(part.item, Item::ToolResult { .. });
    let pass = parts.len() - parts.iter().rev().take_while(is_result).count();
    let (call_id, name) = (call.id.clone(), call.name.clone());
    // Pictures are not stored; the model sees them only in the turn of their call.
    let result = Item::ToolResult { call_id, name, output, media: Vec::new() };
    match pass.checked_sub(1).and_then(|at| parts.get_mut(at)).map(|part| &mut part.item) {
        Some(Item::Assistant { calls, .. }) => calls.push(call),
        _ => {
            let item = Item::Assistant { text: String::new(), calls: vec![call], private: Vec::new() };
            parts.insert(pass, earlier(item, None));
        }
    }
    parts.push(earlier(result, key));
}

/// Returns the index of the first recent message. It moves in blocks, so that the beginning of the prompt stays the
/// same while a block fills.
fn recent_from(history: &[Arc<Message>]) -> u32 {
    let next = history.last().map_or(0, |message| message.index + 1);
    next.saturating_sub(RECENT) / RECENT * RECENT
}

fn is_long_answer(message: &Message) -> bool {
    message.role == MessageRole::Assistant && message.text.chars().count() > LONG_ANSWER_CHARS
}

/// Returns the message with only the start and the end of its text, and its key in between.
fn shortened(message: &Message) -> Message {
    let text = keep_ends(&message.text, LONG_ANSWER_CHARS / 2, &gap(&message.key().to_string()));
    // Provider-specific data may refer to positions in the text.
    Message { text, private: Vec::new(), ..message.clone() }
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;
    use proptest::prelude::*;

    use super::*;
    use figaro_base::ids::{RunId, SessionId};
    use figaro_domain::conversation::{PrivatePart, ToolMeta};
    use figaro_domain::tool::SideEffects;

    fn message(role: MessageRole, text: &str) -> Message {
        let mut message = Message::new(SessionId::new(), role, text.to_owned(), DateTime::UNIX_EPOCH);
        if role == MessageRole::Tool {
            message.tool = Some(Box::new(ToolMeta {
                tool_call_id: format!("call-{}", message.id),
                tool_name: "t".into(),
                tool_arguments: "{}".into(),
                side_effects: SideEffects::default(),
            }));
        }
        message
    }

    fn render(message: &Message) -> Result<Item, String> {
        Ok(Item::user(message.text.clone()))
    }

    #[test]
    fn calls_of_one_pass_stand_together_before_their_results() {
        let turn = [
            message(MessageRole::User, "q"),
            message(MessageRole::Assistant, "let me see"),
            message(MessageRole::Tool, "1"),
            message(MessageRole::Tool, "2"),
            message(MessageRole::Assistant, "answer"),
        ]
        .map(Arc::new);
        let items = items_of(&turn, &render).unwrap();
        assert_eq!(items.len(), 5);
        let Item::Assistant { text, calls, .. } = &items[1] else { panic!("{items:?}") };
        assert_eq!((text.as_str(), calls.len()), ("let me see", 2));
        assert!(
            matches!(&items[4], Item::Assistant { text, calls, .. } if text == "answer" && calls.is_empty())
        );
    }

    #[test]
    fn results_stand_in_the_order_in_which_their_calls_began() {
        let began = |text: &str, at: i64| Message {
            created_at: DateTime::from_timestamp_micros(at).unwrap(),
            ..message(MessageRole::Tool, text)
        };
        let turn = [
            message(MessageRole::User, "q"),
            began("second", 2),
            began("first", 1),
            message(MessageRole::User, "q"),
        ]
        .map(Arc::new);
        let items = items_of(&turn, &render).unwrap();
        let outputs: Vec<&str> = items
            .iter()
            .filter_map(|item| match item {
                Item::ToolResult { output, .. } => Some(output.as_str()),
                Item::User { .. } | Item::Assistant { .. } => None,
            })
            .collect();
        assert!(outputs[0].contains("first") && outputs[1].contains("second"), "{outputs:?}");
        let Item::Assistant { calls, .. } = &items[1] else { panic!("{items:?}") };
        let ids = turn[1..3].iter().rev().map(|message| &message.tool.as_ref().unwrap().tool_call_id);
        assert!(calls.iter().map(|call| &call.id).eq(ids), "{calls:?}");
    }

    /// The same with the indexes that a session gives.
    fn session(messages: impl IntoIterator<Item = Message>) -> Vec<Arc<Message>> {
        messages.into_iter().zip(0..).map(|(message, index)| Message { index, ..message }.into()).collect()
    }

    #[test]
    fn an_older_long_answer_keeps_its_ends_and_a_key_from_a_border_on() {
        let words = "word ".repeat(200);
        let shown = |later: usize| {
            let answers = [message(MessageRole::User, "q"), message(MessageRole::Assistant, &words)];
            let later = (0..later).map(|_| message(MessageRole::User, "later"));
            within_budget(&session(answers.into_iter().chain(later)), 100_000, &render).unwrap()
        };
        for later in [0, 6, 9] {
            let History { items, has_keys, .. } = shown(later);
            assert_eq!((items[1].text(), has_keys), (words.as_str(), false), "{later}");
        }
        for later in [10, 11, 40] {
            let History { items, has_keys, .. } = shown(later);
            let text = items[1].text();
            assert!(text.contains("-msg-1]") && text.chars().count() < 500 && has_keys, "{later}: {text}");
        }
    }

    #[test]
    fn the_newest_exchange_is_shortened_where_it_does_not_fit() {
        let story = format!("Once {} the end", "upon a time ".repeat(2_000));
        let history = session([
            message(MessageRole::User, "before"),
            message(MessageRole::Assistant, "an answer"),
            message(MessageRole::User, "tell me a story"),
            message(MessageRole::Assistant, &story),
        ]);
        let History { items, has_keys, .. } = within_budget(&history, 1_000, &render).unwrap();
        let newest = &items[items.len() - 2..];
        assert_eq!((newest[0].text(), has_keys), ("tell me a story", true));
        let cut = newest[1].text();
        assert!(cut.starts_with("Once") && cut.ends_with("the end") && cut.contains("-msg-3]"), "{cut}");
        let tokens: usize = items.iter().map(Item::estimate_tokens).sum();
        assert!((800..=1_000).contains(&tokens), "the room is used: {tokens}");
    }

    #[test]
    fn of_an_exchange_of_very_many_messages_the_question_and_the_newest_stay() {
        let words = "word ".repeat(150);
        let steps = (0..80).map(|n| message(MessageRole::Assistant, &format!("step {n} {words}")));
        let history = session(std::iter::once(message(MessageRole::User, "do all of it")).chain(steps));
        let items = within_budget(&history, 1_000, &render).unwrap().items;
        assert_eq!(items[0].text(), "do all of it");
        assert!(items.last().unwrap().text().starts_with("step 79"), "{items:?}");
        assert!(items.len() > 4, "{items:?}");
    }

    #[test]
    fn a_long_exchange_before_the_newest_is_short_always_in_the_same_way() {
        let story = format!("Once {} the end", "upon a time ".repeat(2_000));
        let first = [message(MessageRole::User, "tell me a story"), message(MessageRole::Assistant, &story)];
        let later = ["and?", "No more.", "why?", "It is over."];
        let later = later.iter().zip([MessageRole::User, MessageRole::Assistant].into_iter().cycle());
        let history = session(first.into_iter().chain(later.map(|(text, role)| message(role, text))));
        let shown = |later: usize| within_budget(&history[..2 + 2 * later], 1_000, &render).unwrap().items;
        let (once, again) = (shown(1), shown(2));
        assert_eq!(once[0].text(), "tell me a story");
        assert!(once[1].text().ends_with("the end") && has_key(once[1].text()), "{once:?}");
        assert_eq!(once, again[..once.len()], "the prompt keeps its beginning");
    }

    #[test]
    fn questions_without_an_answer_are_exchanges_of_their_own() {
        let asked =
            |_| Message { turn: Some(RunId::new()), ..message(MessageRole::User, "is anybody there?") };
        let history = session((0..100).map(asked));
        let items = within_budget(&history, 500, &render).unwrap().items;
        assert!((15..=40).contains(&items.len()), "{}", items.len());
        // The parts of one question are one exchange, of which the newest stay.
        let turn = Some(RunId::new());
        let part =
            |n: i32| Message { turn, ..message(MessageRole::User, &format!("part {n} {}", "x ".repeat(40))) };
        let items = within_budget(&session((0..20).map(part)), 500, &render).unwrap().items;
        assert!(items.len() < 20 && items.last().unwrap().text().starts_with("part 19"), "{items:?}");
    }

    #[test]
    fn sealed_reasoning_makes_room_before_words_do() {
        let sealed = vec![PrivatePart { provider: "p".to_owned(), data: "0aF9".repeat(3_000).into() }];
        let thought = Message { private: sealed, ..message(MessageRole::Assistant, "an answer") };
        let history = session([
            message(MessageRole::User, "before"),
            message(MessageRole::Assistant, "an earlier answer"),
            message(MessageRole::User, "now"),
            thought,
        ]);
        let History { items, has_keys, .. } = within_budget(&history, 1_000, &render).unwrap();
        let texts: Vec<&str> = items.iter().map(Item::text).collect();
        assert_eq!((texts, has_keys), (vec!["before", "an earlier answer", "now", "an answer"], false));
    }

    #[test]
    fn old_exchanges_leave_a_block_at_a_time() {
        let (mut firsts, mut most) = (Vec::new(), 0);
        for count in 10..60 {
            let said = (0..count)
                .map(|n| message([MessageRole::User, MessageRole::Assistant][n % 2], &format!("words {n}")));
            let items = within_budget(&session(said), 300, &render).unwrap().items;
            most = most.max(items.len());
            firsts.push(items[0].text().to_owned());
        }
        firsts.dedup();
        assert!(firsts.len() <= 8, "the prompt keeps its beginning: {firsts:?}");
        assert!(most > 12, "{most}");
    }

    proptest! {
        #[test]
        fn every_result_has_its_call_and_the_budget_holds(
            roles in proptest::collection::vec((0..4_u8, 0..300_usize), 0..40),
            budget in 0..3000_usize,
        ) {
            let history = session(roles.into_iter().map(|(role, length)| {
                let role = [MessageRole::User, MessageRole::Assistant, MessageRole::Tool, MessageRole::User][usize::from(role)];
                message(role, &"x ".repeat(length))
            }));
            let items = within_budget(&history, budget, &render).unwrap().items;
            prop_assert!(items.iter().map(Item::estimate_tokens).sum::<usize>() <= budget);
            let fits = budget >= 500 && history.iter().any(|message| message.role == MessageRole::User);
            prop_assert!(!items.is_empty() || !fits, "the newest exchange is there");
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
