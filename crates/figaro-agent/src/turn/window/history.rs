//! Stored messages as items of a request: tool results together with their calls, whole exchanges within a budget,
//! the newest first to get in.

use std::sync::Arc;

use crate::tools::lookup::has_key;
use figaro_base::text::{estimate_tokens, keep_ends};
use figaro_domain::conversation::{EntryKey, Message, Role, begins_exchange};
use figaro_domain::tool::Call;
use figaro_prompts::fence;
use figaro_provider::Item;
use figaro_provider::fit::{Part, Stage, gap, shrink};

/// An assistant text longer than this loses its middle, unless it is recent.
const LONG_ANSWER_CHARS: usize = 400;
/// So many of the newest messages are recent at least, and at most twice as many.
const RECENT: u32 = 6;

/// An exchange before the newest that does not fit whole is shortened to so many tokens: always the same, so that prompts
/// keep their beginning.
const SHORT_EXCHANGE: usize = 400;
/// Old exchanges leave so many messages at a time, so that between two such times prompts keep their beginning.
const BLOCK: u32 = 8;

/// What a model sees of the messages before a question.
#[derive(Debug, Default)]
pub struct History {
    /// The newest exchanges, oldest first.
    pub items: Vec<Item>,
    /// The key of each item that can be looked up.
    pub(crate) keys: Vec<Option<EntryKey>>,
    /// A key stands in them where something was left out.
    pub(crate) has_keys: bool,
    /// Some were shortened to get in.
    pub(crate) is_short: bool,
    /// The index of their first message; `None` without any.
    pub from: Option<u32>,
    /// How many tokens they take.
    pub(crate) tokens: usize,
}

impl History {
    /// What whoever asks says was said before: nothing of it can be looked up.
    #[must_use]
    pub(crate) fn given(items: &[Item]) -> Self {
        let tokens = items.iter().map(Item::estimate_tokens).sum();
        Self { items: items.to_vec(), keys: vec![None; items.len()], tokens, ..Self::default() }
    }

    /// The same with what was said right behind it.
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

/// An exchange as a model sees it: what a person said for one turn, and all that followed.
#[derive(Debug)]
struct Exchange {
    /// The index of its first message.
    index: u32,
    parts: Vec<Part>,
    tokens: usize,
}

/// The newest exchanges that fit, oldest first. No call is ever without its result. What does not fit loses its pictures
/// first, and what only a provider understands; then the newest exchange is shortened to the room there is, an older one to
/// [`SHORT_EXCHANGE`], so that a long one does not take all of the history along.
pub(super) fn within_budget(
    history: &[Arc<Message>],
    budget: usize,
    render: &impl Fn(&Message) -> Result<Item, String>,
) -> Result<History, String> {
    let recent_from = recent_from(history);
    let mut kept: Vec<Exchange> = Vec::new();
    let (mut left, mut end, mut next, mut is_short) = (budget, history.len(), None, false);
    for start in (0..history.len()).rev().filter(|at| begins_exchange(history, *at)) {
        let mut exchange = Exchange::of(&history[start..end], recent_from, render)?;
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
    // What was not loaded has left too.
    let loaded_from = kept.last().and_then(|exchange| exchange.index.checked_sub(1));
    if let Some(next) = next.or(loaded_from) {
        leave_at_border(&mut kept, next, budget / 2);
    }
    let from = kept.last().map(|exchange| exchange.index);
    let parts: Vec<Part> = kept.into_iter().rev().flat_map(|exchange| exchange.parts).collect();
    let has_keys = parts.iter().any(|part| has_key(part.item.text()));
    let tokens = tokens(&parts);
    let (items, keys) = parts.into_iter().map(|part| (part.item, part.key)).unzip();
    Ok(History { items, keys, has_keys, is_short, from, tokens })
}

/// Leaves out the oldest exchanges, newest first here, up to the first that begins another block than the one before
/// it, as long as so many tokens stay. The one at `next` is left out already.
fn leave_at_border(kept: &mut Vec<Exchange>, next: u32, least: usize) {
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

impl Exchange {
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

    /// Makes it take at most `left` tokens, or `shortened` where words have to be cut for that; whether it does.
    fn fit(&mut self, left: usize, shortened: usize) -> bool {
        if self.tokens > left {
            self.parts.iter_mut().for_each(Part::leave_out_unseen);
            self.tokens = tokens(&self.parts);
        }
        if self.tokens > left && shortened <= left {
            shrink(&mut self.parts, shortened, estimate_tokens);
            // Of a question in many parts the newest stay.
            while tokens(&self.parts) > shortened && self.has_questions() {
                self.parts.remove(0);
            }
            while tokens(&self.parts) > shortened && self.leave_oldest_pass() {}
            self.tokens = tokens(&self.parts);
        }
        self.tokens <= left
    }

    /// Of all that followed the question the oldest goes, a call with its results; whether something newer is left.
    fn leave_oldest_pass(&mut self) -> bool {
        let is_question = |part: &&Part| part.stage == Stage::Question;
        let is_result = |part: &&Part| matches!(part.item, Item::ToolResult { .. });
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

fn tokens(parts: &[Part]) -> usize {
    parts.iter().map(|part| part.item.estimate_tokens()).sum()
}

/// Stored messages as items, in order; calls are rebuilt from the results' stored metadata.
pub(in crate::turn) fn items_of(
    messages: &[Arc<Message>],
    render: &impl Fn(&Message) -> Result<Item, String>,
) -> Result<Vec<Item>, String> {
    Ok(parts_of(messages, render)?.into_iter().map(|part| part.item).collect())
}

/// The same with their keys; what people say before anything else is the question.
fn parts_of(
    messages: &[Arc<Message>],
    render: &impl Fn(&Message) -> Result<Item, String>,
) -> Result<Vec<Part>, String> {
    let mut parts: Vec<Part> = Vec::new();
    for message in in_order_of_calls(messages) {
        let key = Some(message.key());
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
                push_result(&mut parts, call, fence::result(&message.text), key);
            }
            (Role::Tool, None) => {}
        }
    }
    Ok(parts)
}

/// Results in the order in which their calls began, and not in that in which they ended: so the model got them while the turn
/// ran.
fn in_order_of_calls(messages: &[Arc<Message>]) -> Vec<&Message> {
    let mut ordered: Vec<&Message> = messages.iter().map(AsRef::as_ref).collect();
    for results in ordered.chunk_by_mut(|one, next| one.role == Role::Tool && next.role == Role::Tool) {
        results.sort_by_key(|result| result.created_at);
    }
    ordered
}

const fn earlier(item: Item, key: Option<EntryKey>) -> Part {
    Part { item, stage: Stage::Earlier, key }
}

/// Adds a call to the pass it was made in, and its result behind the results of that pass.
fn push_result(parts: &mut Vec<Part>, call: Call, output: String, key: Option<EntryKey>) {
    let is_result = |part: &&Part| matches!(part.item, Item::ToolResult { .. });
    let pass = parts.len() - parts.iter().rev().take_while(is_result).count();
    let (call_id, name) = (call.id.clone(), call.name.clone());
    // Pictures are not kept: they are seen in the turn of their call.
    let result = Item::ToolResult { call_id, name, output, images: Vec::new() };
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
fn recent_from(history: &[Arc<Message>]) -> u32 {
    let next = history.last().map_or(0, |message| message.index + 1);
    next.saturating_sub(RECENT) / RECENT * RECENT
}

fn is_long_answer(message: &Message) -> bool {
    message.role == Role::Assistant && message.text.chars().count() > LONG_ANSWER_CHARS
}

/// The message with the start and the end of its text, and its key in between.
fn shortened(message: &Message) -> Message {
    let text = keep_ends(&message.text, LONG_ANSWER_CHARS / 2, &gap(&message.key().to_string()));
    // What a provider wants back beside the words may tell of places in them.
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

    fn message(role: Role, text: &str) -> Message {
        let mut message = Message::new(SessionId::new(), role, text.to_owned(), DateTime::UNIX_EPOCH);
        if role == Role::Tool {
            message.tool = Some(ToolMeta {
                tool_call_id: format!("call-{}", message.id),
                tool_name: "t".into(),
                tool_arguments: "{}".into(),
                side_effects: SideEffects::default(),
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
            ..message(Role::Tool, text)
        };
        let turn =
            [message(Role::User, "q"), began("second", 2), began("first", 1), message(Role::User, "q")]
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
            let answers = [message(Role::User, "q"), message(Role::Assistant, &words)];
            let later = (0..later).map(|_| message(Role::User, "later"));
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
            message(Role::User, "before"),
            message(Role::Assistant, "an answer"),
            message(Role::User, "tell me a story"),
            message(Role::Assistant, &story),
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
        let steps = (0..80).map(|n| message(Role::Assistant, &format!("step {n} {words}")));
        let history = session(std::iter::once(message(Role::User, "do all of it")).chain(steps));
        let items = within_budget(&history, 1_000, &render).unwrap().items;
        assert_eq!(items[0].text(), "do all of it");
        assert!(items.last().unwrap().text().starts_with("step 79"), "{items:?}");
        assert!(items.len() > 4, "{items:?}");
    }

    #[test]
    fn a_long_exchange_before_the_newest_is_short_always_in_the_same_way() {
        let story = format!("Once {} the end", "upon a time ".repeat(2_000));
        let first = [message(Role::User, "tell me a story"), message(Role::Assistant, &story)];
        let later = ["and?", "No more.", "why?", "It is over."];
        let later = later.iter().zip([Role::User, Role::Assistant].into_iter().cycle());
        let history = session(first.into_iter().chain(later.map(|(text, role)| message(role, text))));
        let shown = |later: usize| within_budget(&history[..2 + 2 * later], 1_000, &render).unwrap().items;
        let (once, again) = (shown(1), shown(2));
        assert_eq!(once[0].text(), "tell me a story");
        assert!(once[1].text().ends_with("the end") && has_key(once[1].text()), "{once:?}");
        assert_eq!(once, again[..once.len()], "the prompt keeps its beginning");
    }

    #[test]
    fn questions_without_an_answer_are_exchanges_of_their_own() {
        let asked = |_| Message { turn: Some(RunId::new()), ..message(Role::User, "is anybody there?") };
        let history = session((0..100).map(asked));
        let items = within_budget(&history, 500, &render).unwrap().items;
        assert!((15..=40).contains(&items.len()), "{}", items.len());
        // The parts of one question are one exchange, of which the newest stay.
        let turn = Some(RunId::new());
        let part = |n: i32| Message { turn, ..message(Role::User, &format!("part {n} {}", "x ".repeat(40))) };
        let items = within_budget(&session((0..20).map(part)), 500, &render).unwrap().items;
        assert!(items.len() < 20 && items.last().unwrap().text().starts_with("part 19"), "{items:?}");
    }

    #[test]
    fn sealed_reasoning_makes_room_before_words_do() {
        let sealed = vec![PrivatePart { provider: "p".to_owned(), data: "0aF9".repeat(3_000).into() }];
        let thought = Message { private: sealed, ..message(Role::Assistant, "an answer") };
        let history = session([
            message(Role::User, "before"),
            message(Role::Assistant, "an earlier answer"),
            message(Role::User, "now"),
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
            let said =
                (0..count).map(|n| message([Role::User, Role::Assistant][n % 2], &format!("words {n}")));
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
                let role = [Role::User, Role::Assistant, Role::Tool, Role::User][usize::from(role)];
                message(role, &"x ".repeat(length))
            }));
            let items = within_budget(&history, budget, &render).unwrap().items;
            prop_assert!(items.iter().map(Item::estimate_tokens).sum::<usize>() <= budget);
            let fits = budget >= 500 && history.iter().any(|message| message.role == Role::User);
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
