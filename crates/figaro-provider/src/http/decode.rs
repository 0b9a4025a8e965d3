//! Values of a streamed answer on their way through a decoder.

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
use crate::written::{AnswerEnd, Tail};
use crate::{Event, EventStream, Finish, ProviderError, loose};
use figaro_domain::tool::Call;
use figaro_domain::usage::Usage;

/// Maximum text read of one answer, in bytes. The output of a model comes in up to four copies, including hidden text
/// such as reasoning. A longer answer ends as one that reached its length limit.
const MAX_TEXT_BYTES: usize = 16 * 1024 * 1024;

/// Maximum number of available values that are read before text is sent.
const MAX_AHEAD: usize = 64;

/// Time that a complete answer is kept open for trailing data.
const AFTERWORD: Duration = Duration::from_secs(5);

/// Turns the values of one answer into events, without I/O.
pub(crate) trait Decode: Send + 'static {
    /// Returns the events for the next value.
    fn absorb(&mut self, value: &Value) -> Result<Vec<Event>, ProviderError>;

    /// Returns the remaining events if the stream ends without an end mark.
    fn end(&mut self) -> Result<Vec<Event>, ProviderError> {
        Err(ProviderError::Cut("the stream ended early".into()))
    }

    /// Returns the size of reasoning that came apart from the text, in bytes.
    fn reasoned(&self) -> usize {
        0
    }

    /// Returns the size of calls in progress that an answer cut here does not report, in bytes.
    fn begun(&self) -> usize {
        0
    }

    /// Returns `true` if the answer is complete. Further data, such as the token count, may follow, but a break or a
    /// silence is then a normal end.
    fn is_whole(&self) -> bool {
        false
    }
}

/// Models of a provider whose reasoning begins without a mark, because a template opens it. Cheap to clone; clones
/// share them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Habits(Arc<Mutex<HashSet<String>>>);

impl Habits {
    /// Returns the habit of a model.
    pub(crate) fn of(&self, model: &str) -> Habit {
        Habit { model: model.to_owned(), known: self.clone() }
    }
}

/// Tells whether a model begins its reasoning without a mark, from its answers so far.
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

/// Values of an answer. The first error ends them.
pub(crate) type ValueStream = BoxStream<'static, Result<Value, ProviderError>>;

/// Decodes an answer into events, which end with [`Event::Completed`] or the first error. Names of calls become those
/// of the offered tools, and their arguments become an object where only one meaning is possible.
pub(crate) fn decoded(
    values: ValueStream,
    decoder: impl Decode,
    habit: Habit,
    offered: Offered,
) -> EventStream {
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

/// Returns the size of all strings in a value, at any depth, in bytes.
fn text_bytes(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(text_bytes).sum(),
        Value::Object(entries) => entries.iter().map(|(key, value)| key.len() + text_bytes(value)).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}

/// Returns the size of a call, in bytes.
fn call_bytes(event: &Event) -> usize {
    if let Event::ToolCall(call) = event { call.name.len() + call.arguments.len() } else { 0 }
}

struct Decoding<D> {
    values: ValueStream,
    decoder: D,
    thinking: Thinking,
    boxed: Boxed,
    tail: Tail,
    habit: Habit,
    offered: Offered,
    /// `true` once text of the answer or a call was sent.
    has_answer: bool,
    /// `true` once text was sent that stands as part of the answer.
    has_told: bool,
    /// `true` once the text so far was reported as reasoning.
    has_taken_back: bool,
    ready: VecDeque<Result<Event, ProviderError>>,
    /// First call, and the calls and opaque parts after it. They are sent once the answer has ended: a cut answer may
    /// lack the better part of its last call, or what the calls belong to.
    calls: Vec<Event>,
    ended: bool,
    /// Number of bytes of text that may still be read.
    left: usize,
    /// Number of bytes that proved to be reasoning before they were sent.
    untold: usize,
}

impl<D: Decode> Decoding<D> {
    /// Returns the next event. Values that have already arrived are read before text is sent, because they may show
    /// that the text was reasoning.
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

    /// Takes the next value, or the end. After a complete answer, an error is a normal end.
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

    /// Queues events without the reasoning in their text.
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

    /// Queues the end: held-back text, the calls of a complete answer, and the report that all text was reasoning.
    fn complete(&mut self, finish: Finish, usage: Option<Usage>) {
        let passed = match &finish {
            Finish::Stop => self.thinking.end(),
            // If the answer was cut within its reasoning, no text is known to be part of the answer.
            Finish::Length | Finish::Filtered(_) => self.thinking.cut(),
        };
        self.tell(passed);
        let rest = self.boxed.end();
        let text = self.tail.pass(&rest);
        self.say(text);
        // A pass with calls only shows nothing about the model's habit.
        if finish == Finish::Stop && (self.has_answer || self.thinking.was_taken_back()) {
            self.habit.note(self.thinking.was_taken_back());
        }
        let mut calls = std::mem::take(&mut self.calls);
        match self.tail.end(&self.offered) {
            AnswerEnd::Text(text) => self.say(text),
            // The call itself may have come apart from the text.
            _ if finish != Finish::Stop || !calls.is_empty() => {}
            AnswerEnd::Calls(written) => calls.extend(written.into_iter().map(Event::ToolCall)),
            AnswerEnd::Garbled => {
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
