//! Folds the stream of a pass into the whole pass.

use serde::{Deserialize, Serialize};

use super::{Event, Finish};
use figaro_domain::conversation::PrivatePart;
use figaro_domain::model::ModelName;
use figaro_domain::source::{Source, add_sources};
use figaro_domain::tool::Call;
use figaro_domain::usage::Usage;

/// Maximum number of calls made in one pass. One more is kept, whose result explains what happened to the rest.
pub const MAX_CALLS: usize = 32;

/// Complete pass of the model.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pass {
    /// Model that answered, if the stream named it.
    #[serde(default)]
    pub model: Option<ModelName>,
    /// Text of the answer, without reasoning.
    pub text: String,
    /// `true` if the text began with reasoning, which is left out. There may be no other text.
    #[serde(default)]
    pub reasoned: bool,
    /// Calls in order; at most one more than [`MAX_CALLS`].
    pub calls: Vec<Call>,
    /// Number of calls dropped after these.
    #[serde(default)]
    pub calls_left_out: usize,
    /// Cited pages, each once.
    #[serde(default)]
    pub sources: Vec<Source>,
    /// Number of web searches by the provider.
    #[serde(default)]
    pub searches: u64,
    /// Opaque parts, without those of dropped calls.
    pub private: Vec<PrivatePart>,
    /// Number of the opaque parts that precede a text or call that was kept.
    #[serde(default)]
    pub led: usize,
    /// Token usage, if the provider reports it.
    pub usage: Option<Usage>,
    /// Cost in nano-dollars; `None` until the price is known.
    #[serde(default)]
    pub nano_usd: Option<u64>,
    /// `true` if the answer ended at the limit on its length.
    pub cut_short: bool,
    /// Reason of the provider for withholding the answer.
    pub filtered: Option<String>,
}

impl Pass {
    /// Adds the next event.
    ///
    /// An opaque part belongs to what follows it; one at the end, to the answer as a whole. Parts of a dropped call
    /// are dropped too, because the provider would refuse them alone.
    pub fn absorb(&mut self, event: Event) {
        match event {
            Event::Answering(model) => self.model = Some(model),
            Event::TextDelta(text) => {
                self.text.push_str(&text);
                self.led = self.private.len();
            }
            Event::Reasoned => {
                self.text.clear();
                self.reasoned = true;
            }
            Event::ToolCall(call) if self.calls.len() <= MAX_CALLS => {
                self.calls.push(call);
                self.led = self.private.len();
            }
            Event::ToolCall(_) => {
                self.calls_left_out += 1;
                self.private.truncate(self.led);
            }
            Event::Searched => self.searches += 1,
            // A search is recorded separately; the other events matter for the bill only.
            Event::Found(_) | Event::Unseen(_) | Event::Lost(_) => {}
            Event::Source(source) => add_sources(&mut self.sources, [source]),
            Event::Private(part) => self.private.push(part),
            Event::Completed { finish, usage } => self.complete(finish, usage),
        }
    }

    fn complete(&mut self, finish: Finish, usage: Option<Usage>) {
        // If parts led to calls before, a part after the last call belongs to a dropped one.
        if self.calls_left_out > 0 && self.led > 0 {
            self.private.truncate(self.led);
        }
        self.usage = usage;
        match finish {
            Finish::Stop => {}
            Finish::Length => self.cut_short = true,
            Finish::Filtered(reason) => self.filtered = Some(reason),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// What is kept of these: `c` is a call, `t` text, anything else an opaque part of this name.
    fn kept(events: impl IntoIterator<Item = String>) -> (usize, usize, String) {
        let mut pass = Pass::default();
        for event in events {
            pass.absorb(match event.as_str() {
                "c" => Event::ToolCall(Call { id: event, name: "f".into(), arguments: "{}".into() }),
                "t" => Event::TextDelta(event),
                _ => Event::Private(PrivatePart { provider: "p".into(), data: json!(event) }),
            });
        }
        pass.absorb(Event::Completed { finish: Finish::Stop, usage: None });
        let parts = pass.private.iter().map(|part| part.data.as_str().unwrap_or_default());
        (pass.calls.len(), pass.calls_left_out, parts.collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn parts_of_calls_that_are_left_out_are_left_out() {
        let calls = |count: usize| vec!["c"; count].join(" ");
        let all = MAX_CALLS + 1;
        let cases = [
            ("none is left out", format!("a {} b", calls(all)), (all, 0, "a b")),
            ("one before all", format!("a {}", calls(all + 5)), (all, 5, "a")),
            ("one behind all", format!("{} a", calls(all + 5)), (all, 5, "a")),
            ("words and one behind all", format!("t {} a", calls(all + 5)), (all, 5, "a")),
            ("some between", format!("a c b {} d c e c f", calls(all - 1)), (all, 2, "a b")),
            ("two for one call", format!("{} a b c", calls(all)), (all, 1, "")),
            ("words behind", format!("a {} b c d t e", calls(all)), (all, 1, "a d")),
        ];
        for (name, events, (made, left_out, parts)) in cases {
            let told = kept(events.split(' ').map(str::to_owned));
            assert_eq!(told, (made, left_out, parts.to_owned()), "{name}");
        }
    }

    #[test]
    fn text_that_was_reasoning_is_left_out() {
        let mut pass = Pass::default();
        for event in [Event::TextDelta("hm".into()), Event::Reasoned, Event::TextDelta("Two".into())] {
            pass.absorb(event);
        }
        assert_eq!((pass.text.as_str(), pass.reasoned), ("Two", true));
    }

    #[test]
    fn a_pass_is_stored_and_read() {
        let pass = Pass {
            text: "a".into(),
            private: vec![PrivatePart { provider: "p".into(), data: Value::Null }],
            ..Pass::default()
        };
        let stored = serde_json::to_value(&pass).unwrap();
        assert_eq!(serde_json::from_value::<Pass>(stored).unwrap(), pass);
    }
}
