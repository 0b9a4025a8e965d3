//! The values of a streamed answer on their way through a decoder.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use futures::stream::BoxStream;
use futures::{FutureExt, StreamExt, stream};
use parking_lot::Mutex;
use serde_json::Value;

use crate::boxed::Boxed;
use crate::offered::Offered;
use crate::thinking::{Passed, Thinking};
use crate::written::{End, Tail};
use crate::{Event, EventStream, Finish, ProviderError, loose};
use figaro_domain::tool::Call;
use figaro_domain::usage::Usage;

/// So many bytes of text are read of one answer: what a model writes comes in up to four copies, and among it what is
/// never shown, such as its reasoning. An answer that goes on beyond that is ended as one that was too long.
const MAX_TEXT_BYTES: usize = 16 * 1024 * 1024;

/// So many values that are there already are read before text is told.
const MAX_AHEAD: usize = 64;

/// How long an answer that is whole is kept open for what may still belong to it.
const AFTERWORD: Duration = Duration::from_secs(5);

/// Turns the values of one answer into events, without I/O.
pub(crate) trait Decode: Send + 'static {
    /// What the next value says.
    fn absorb(&mut self, value: &Value) -> Result<Vec<Event>, ProviderError>;

    /// What is left to say when the stream ends without a word of its end.
    fn end(&mut self) -> Result<Vec<Event>, ProviderError> {
        Err(ProviderError::Cut("the stream ended early".into()))
    }

    /// The bytes of the model's reasoning, where that came apart from the text.
    fn reasoned(&self) -> usize {
        0
    }

    /// The bytes of calls that have begun, where an answer that is cut does not tell them.
    fn begun(&self) -> usize {
        0
    }

    /// Nothing has to come any more, though something may, such as the count of tokens: a break or a silence is then
    /// an end like any other.
    fn is_whole(&self) -> bool {
        false
    }
}

/// The models of a provider whose reasoning begins without a mark: a template has opened it before they write. Cheap to clone; all
/// clones are one.
#[derive(Debug, Clone, Default)]
pub(crate) struct Habits(Arc<Mutex<HashSet<String>>>);

impl Habits {
    /// The habit of a model.
    pub(crate) fn of(&self, model: &str) -> Habit {
        Habit { model: model.to_owned(), known: self.clone() }
    }
}

/// Whether a model has the habit, by its answers so far.
#[derive(Debug)]
pub(crate) struct Habit {
    model: String,
    known: Habits,
}

impl Habit {
    fn is_known(&self) -> bool {
        self.known.0.lock().contains(&self.model)
    }

    fn note(&self, has_it: bool) {
        let mut known = self.known.0.lock();
        match has_it {
            true => drop(known.insert(self.model.clone())),
            false => drop(known.remove(&self.model)),
        }
    }
}

/// The values of an answer; the first error ends them.
pub(crate) type Values = BoxStream<'static, Result<Value, ProviderError>>;

/// The events of an answer; they end with [`Event::Completed`] or the first error. Calls have the names of the tools that were
/// offered, and an object of arguments where theirs can only mean one.
pub(crate) fn decoded(values: Values, decoder: impl Decode, habit: Habit, offered: Offered) -> EventStream {
    let decoding = Decoding {
        values,
        decoder,
        thinking: Thinking::of_model(habit.is_known()),
        boxed: Boxed::default(),
        tail: Tail::default(),
        habit,
        offered,
        has_answer: false,
        has_told: false,
        has_taken_back: false,
        ready: VecDeque::new(),
        calls: Vec::new(),
        ended: false,
        left: MAX_TEXT_BYTES,
        untold: 0,
    };
    stream::unfold(decoding, Decoding::next).boxed()
}

/// The bytes of all strings in a value, however deep.
fn text_bytes(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(text_bytes).sum(),
        Value::Object(entries) => entries.iter().map(|(key, value)| key.len() + text_bytes(value)).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}

/// The bytes of a call.
fn call_bytes(event: &Event) -> usize {
    if let Event::ToolCall(call) = event { call.name.len() + call.arguments.len() } else { 0 }
}

struct Decoding<D> {
    values: Values,
    decoder: D,
    thinking: Thinking,
    boxed: Boxed,
    tail: Tail,
    habit: Habit,
    offered: Offered,
    /// Text of the answer, or a call, was told.
    has_answer: bool,
    /// Text was told that stands as part of the answer.
    has_told: bool,
    /// It was told that what came so far was reasoning.
    has_taken_back: bool,
    ready: VecDeque<Result<Event, ProviderError>>,
    /// The first call and the calls and opaque parts behind it. They count once the answer has come to its end: one that was cut may
    /// lack the better part of its last call, or what the calls were to go with.
    calls: Vec<Event>,
    ended: bool,
    /// How many bytes of text may still come.
    left: usize,
    /// How many proved to be reasoning before they were told.
    untold: usize,
}

impl<D: Decode> Decoding<D> {
    /// What has come already is read before text is told: it may say that the text was reasoning.
    async fn next(mut self) -> Option<(Result<Event, ProviderError>, Self)> {
        for ahead in 0.. {
            let is_text = |event: &Result<Event, ProviderError>| matches!(event, Ok(Event::TextDelta(_)));
            let next = match self.ready.is_empty() {
                _ if self.ended => None,
                true => Some(self.value().await),
                false if ahead < MAX_AHEAD && self.ready.iter().all(is_text) => {
                    self.values.next().now_or_never()
                }
                false => None,
            };
            match next {
                Some(value) => self.take(value),
                None => break,
            }
        }
        let event = self.ready.pop_front()?;
        match event {
            Err(_) | Ok(Event::Completed { .. }) => {
                self.ended = true;
                self.ready.clear();
            }
            Ok(Event::TextDelta(_)) => self.has_told = true,
            Ok(_) => {}
        }
        Some((event, self))
    }

    /// The next value, or the end of all. What breaks once the answer is whole is an end like any other.
    fn take(&mut self, value: Option<Result<Value, ProviderError>>) {
        let told = match value.filter(|value| value.is_ok() || !self.decoder.is_whole()) {
            Some(Ok(value)) => match self.left.checked_sub(text_bytes(&value)) {
                Some(left) => {
                    self.left = left;
                    self.decoder.absorb(&value)
                }
                None => Ok(vec![Event::Completed { finish: Finish::Length, usage: None }]),
            },
            Some(Err(error)) => Err(error),
            None => {
                self.ended = true;
                self.decoder.end()
            }
        };
        match told {
            Ok(events) => self.make_ready(events),
            Err(error) => self.ready.push_back(Err(error)),
        }
    }

    /// Events without the reasoning in their text.
    fn make_ready(&mut self, events: Vec<Event>) {
        for event in events {
            match event {
                Event::TextDelta(text) => {
                    let passed = self.thinking.pass(&text);
                    self.tell(passed);
                }
                Event::ToolCall(Call { id, name, arguments }) => {
                    let (name, arguments) = (self.offered.name(name), loose::arguments(arguments));
                    self.calls.push(Event::ToolCall(Call { id, name, arguments }));
                }
                Event::Private(_) if !self.calls.is_empty() => self.calls.push(event),
                Event::Completed { finish, usage } => self.complete(finish, usage),
                Event::Answering(_)
                | Event::Lost(_)
                | Event::Searched
                | Event::Found(_)
                | Event::Source(_)
                | Event::Reasoned
                | Event::Unseen(_)
                | Event::Private(_) => self.ready.push_back(Ok(event)),
            }
        }
    }

    /// The end: what was held back, the calls of an answer that is whole, and that it was nothing but reasoning.
    fn complete(&mut self, finish: Finish, usage: Option<Usage>) {
        let passed = match &finish {
            Finish::Stop => self.thinking.end(),
            // Of an answer that was cut before its reasoning ended nothing is known to be an answer.
            Finish::Length | Finish::Filtered(_) => self.thinking.cut(),
        };
        self.tell(passed);
        let rest = self.boxed.end();
        let text = self.tail.pass(&rest);
        self.say(text);
        // A pass of calls alone says nothing of how the model writes.
        if finish == Finish::Stop && (self.has_answer || self.thinking.was_taken_back()) {
            self.habit.note(self.thinking.was_taken_back());
        }
        let mut calls = std::mem::take(&mut self.calls);
        match self.tail.end(&self.offered) {
            End::Text(text) => self.say(text),
            // The call itself may have come apart from the text.
            _ if finish != Finish::Stop || !calls.is_empty() => {}
            End::Calls(written) => calls.extend(written.into_iter().map(Event::ToolCall)),
            End::Garbled => {
                let words = "the model wrote a call of a tool as text that cannot be read";
                return self.ready.push_back(Err(ProviderError::Garbled(words.into())));
            }
        }
        let mut unseen = self.untold + self.thinking.reasoned() + self.decoder.reasoned();
        if finish == Finish::Stop {
            self.has_answer |= !calls.is_empty();
            self.ready.extend(calls.into_iter().map(Ok));
        } else {
            unseen += self.decoder.begun().max(calls.iter().map(call_bytes).sum());
        }
        let has_reasoned = self.thinking.has_reasoned() || self.decoder.reasoned() > 0;
        if has_reasoned && !self.has_answer && !self.has_taken_back {
            self.ready.push_back(Ok(Event::Reasoned));
        }
        if usage.is_none() && unseen > 0 {
            self.ready.push_back(Ok(Event::Unseen(unseen)));
        }
        self.ready.push_back(Ok(Event::Completed { finish, usage }));
    }

    fn tell(&mut self, Passed { takes_back, text }: Passed) {
        if takes_back {
            self.has_answer = false;
            self.boxed.take_back();
            self.tail.take_back();
            self.ready.retain(|event| match event {
                Ok(Event::TextDelta(text)) => {
                    self.untold += text.len();
                    false
                }
                _ => true,
            });
            if std::mem::take(&mut self.has_told) {
                self.has_taken_back = true;
                self.ready.push_back(Ok(Event::Reasoned));
            }
        }
        let text = self.tail.pass(&self.boxed.pass(&text));
        self.say(text);
    }

    fn say(&mut self, text: String) {
        self.has_answer |= !text.trim().is_empty();
        if !text.is_empty() {
            self.ready.push_back(Ok(Event::TextDelta(text)));
        }
    }

    async fn value(&mut self) -> Option<Result<Value, ProviderError>> {
        if !self.decoder.is_whole() {
            return self.values.next().await;
        }
        tokio::time::timeout(AFTERWORD, self.values.next()).await.ok().flatten()
    }
}
