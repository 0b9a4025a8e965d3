//! The loop as a machine without I/O: it says what to do next, is told what came of it, and can be stored between any
//! two steps. One function per transition.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::domain::conversation::EntryKey;
use crate::domain::source::{Source, add_sources};
use crate::domain::tool::{Call, Carried};
use crate::domain::usage::Usage;
use crate::ids::TaskId;
use crate::policy::address::Addresses;
use crate::policy::promise::promises;
use crate::prompts::fence;
use crate::provider::Item;
use crate::provider::fold::{MAX_CALLS, Pass};

/// The same call is made at most so often in a turn; the next time it is refused with an explanation.
const SAME_CALL_LIMIT: u32 = 2;

/// What the model is told when its answer promises something for later and nothing was stored.
const UNKEPT: &str = "(Not from a person.) Your answer promises something for later, but this turn has stored no task: \
    as it stands, nothing will happen. What you wrote is still on the screen and is replaced by what you write next. If \
    the person asked for it and you have schedule_task, call it now, and answer once it has confirmed. If not, or it \
    cannot be done, write the whole answer anew and say plainly that nothing is scheduled. If you only spoke of a task that was \
    stored before, make that clear. Do not mention this note.";

/// A turn's reasoning, from the question to the answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Run {
    items: Vec<Item>,
    /// The key of each of them that belongs to an exchange that is over; the question follows.
    #[serde(default)]
    earlier: Vec<Option<EntryKey>>,
    passes: u32,
    max_passes: u32,
    made: HashMap<String, u32>,
    usage: Usage,
    /// `None` once a price was not known.
    nano_usd: Option<u64>,
    carried: Carried,
    phase: Phase,
    /// Addresses that people wrote or that the turn has found.
    #[serde(default)]
    addresses: Addresses,
    /// Whether an answer may promise only what a task was stored for.
    #[serde(default)]
    keeps_promises: bool,
    /// The answer that promised what nothing was stored for, once it is to be written anew.
    #[serde(default)]
    taken_back: Option<Box<Pass>>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Phase {
    Asking,
    Calling(Vec<Planned>),
    Done(Box<Answer>),
}

/// What is to be done next.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// Call the model with the items so far.
    CallModel {
        /// Whether it may call tools; on the last pass it may not.
        with_tools: bool,
    },
    /// Make these calls, all at once.
    CallTools(Vec<Planned>),
    /// Nothing: this is the answer.
    Done(Box<Answer>),
}

/// A call and what is to become of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Planned {
    /// The call as the model asked for it.
    pub call: Call,
    /// Why it is not to be made.
    pub refusal: Option<String>,
}

/// What a call came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallResult {
    /// The call that this is the result of.
    pub call: Call,
    /// JSON text for the model.
    pub output: String,
    /// What it left behind for the rest of the turn.
    pub carried: Carried,
}

/// What the turn came to.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// The last pass.
    pub pass: Pass,
    /// A tool has sent the words that answer: the text is kept, not sent.
    pub spoke: bool,
    /// Pages that the whole turn rests on.
    #[serde(default)]
    pub sources: Vec<Source>,
    /// Addresses that people wrote or that the turn has found.
    #[serde(default)]
    pub addresses: Addresses,
    /// Tasks that the turn made or changed.
    #[serde(default)]
    pub tasks: Vec<TaskId>,
    /// The words promise something for later, and nothing was stored for it.
    #[serde(default)]
    pub unkept: bool,
    /// Tokens of all passes.
    pub usage: Usage,
    /// What they cost in nano-dollars, where the price is known.
    #[serde(default)]
    pub nano_usd: Option<u64>,
}

impl Run {
    /// A turn that begins with these items, the question last (or what was done for it before a restart).
    #[must_use]
    pub fn new(items: Vec<Item>, max_passes: u32) -> Self {
        let phase = Phase::Asking;
        let (made, usage) = (HashMap::new(), Usage::default());
        Self {
            items,
            earlier: Vec::new(),
            passes: 0,
            max_passes,
            made,
            usage,
            nano_usd: Some(0),
            carried: Carried::default(),
            phase,
            addresses: Addresses::default(),
            keeps_promises: false,
            taken_back: None,
        }
    }

    /// The same turn, of whose items the first belong to exchanges that are over, each with its key.
    #[must_use]
    pub fn after(self, earlier: Vec<Option<EntryKey>>) -> Self {
        Self { earlier, ..self }
    }

    /// The same turn, which can store tasks: an answer that promises something for later and stored none is written
    /// anew, once.
    #[must_use]
    pub fn keeping_promises(self, keeps_promises: bool) -> Self {
        Self { keeps_promises, ..self }
    }

    /// The same turn, which knows the addresses that people wrote.
    #[must_use]
    pub fn knowing(mut self, written: Addresses) -> Self {
        self.addresses = written;
        find(&mut self.addresses, &self.carried.sources);
        self
    }

    /// The same turn with what its calls left behind before a restart, in their order.
    #[must_use]
    pub fn carrying(mut self, before: impl IntoIterator<Item = Carried>) -> Self {
        before.into_iter().for_each(|carried| self.carry(carried));
        self
    }

    /// What is to be done next.
    #[must_use]
    pub fn next(&self) -> Step {
        match &self.phase {
            Phase::Asking => Step::CallModel { with_tools: self.may_call() },
            Phase::Calling(planned) => Step::CallTools(planned.clone()),
            Phase::Done(answer) => Step::Done(answer.clone()),
        }
    }

    /// The conversation so far, as the model gets it.
    #[must_use]
    pub fn items(&self) -> &[Item] {
        &self.items
    }

    /// The key of each item that belongs to an exchange that is over.
    #[must_use]
    pub fn earlier(&self) -> &[Option<EntryKey>] {
        &self.earlier
    }

    /// The tools that were found on the way and may be called beside those always offered.
    #[must_use]
    pub fn found(&self) -> &[String] {
        &self.carried.found
    }

    /// The addresses that people wrote, and those that search has found so far.
    #[must_use]
    pub const fn addresses(&self) -> &Addresses {
        &self.addresses
    }

    fn carry(&mut self, carried: Carried) {
        find(&mut self.addresses, &carried.sources);
        self.carried.add(carried);
    }

    /// What the turn has come to if this is its last pass.
    #[must_use]
    pub fn answer(&self, pass: Pass) -> Answer {
        let unkept = self.is_unkept(&pass);
        let addresses = self.addresses.clone();
        let Carried { spoke, sources, tasks, .. } = self.carried.clone();
        let (usage, nano_usd) = (self.usage, self.nano_usd);
        Answer { pass, spoke, sources, addresses, tasks, unkept, usage, nano_usd }
    }

    /// What the turn has come to where its last pass broke off.
    #[must_use]
    pub fn broken_off(mut self, pass: Pass) -> Answer {
        self.count(&pass);
        self.answer(pass)
    }

    /// The model has failed in this pass. Where it was to write its answer anew, that answer stands.
    ///
    /// # Errors
    /// With what the turn has come to, where that is its end.
    pub fn model_failed(mut self, failed: Pass) -> Result<Self, Box<Answer>> {
        self.count(&failed);
        match self.taken_back.take() {
            Some(first) => {
                self.phase = Phase::Done(Box::new(self.answer(*first)));
                Ok(self)
            }
            None => Err(Box::new(self.answer(failed))),
        }
    }

    fn count(&mut self, pass: &Pass) {
        self.usage += pass.usage.unwrap_or_default();
        self.nano_usd = self.nano_usd.zip(pass.nano_usd).map(|(all, one)| all.saturating_add(one));
    }

    /// The model has answered: it wants tools, or this is the end, or it promised what it has to write anew. Ignored in
    /// any other phase.
    #[must_use]
    pub fn model_answered(mut self, pass: Pass) -> Self {
        if self.phase != Phase::Asking {
            return self;
        }
        let may_call = self.may_call();
        self.passes += 1;
        self.count(&pass);
        find(&mut self.addresses, &pass.sources);
        add_sources(&mut self.carried.sources, pass.sources.iter().cloned());
        if pass.calls.is_empty() || !may_call {
            return self.conclude(pass);
        }
        let planned = self.plan_all(&pass);
        self.items.push(Item::Assistant { text: pass.text, calls: pass.calls, private: pass.private });
        self.phase = Phase::Calling(planned);
        self
    }

    /// Ends the turn with this pass, or has it written anew.
    fn conclude(mut self, pass: Pass) -> Self {
        let is_whole = pass.filtered.is_none() && !pass.cut_short;
        let is_last = self.passes >= self.max_passes;
        if self.taken_back.is_none() && is_whole && !is_last && self.is_unkept(&pass) {
            let (text, private) = (pass.text.clone(), pass.private.clone());
            self.items.push(Item::Assistant { text, calls: Vec::new(), private });
            self.items.push(Item::user(UNKEPT));
            self.taken_back = Some(Box::new(pass));
            return self;
        }
        let says_nothing = pass.text.trim().is_empty() && pass.filtered.is_none() && !self.carried.spoke;
        let pass = match self.taken_back.take() {
            Some(first) if says_nothing => *first,
            Some(_) | None => pass,
        };
        self.phase = Phase::Done(Box::new(self.answer(pass)));
        self
    }

    /// Whether people would read a promise in it that nothing was stored for, as far as the turn has seen.
    fn is_unkept(&self, pass: &Pass) -> bool {
        let Carried { spoke, tasks, looked, .. } = &self.carried;
        self.keeps_promises && tasks.is_empty() && !spoke && !looked && promises(&pass.text)
    }

    /// The calls have been made: their results go to the model in the order of the calls. Ignored in any other phase.
    #[must_use]
    pub fn tools_answered(mut self, results: Vec<CallResult>) -> Self {
        let Phase::Calling(planned) = &self.phase else {
            return self;
        };
        let lost = |call: &Call| CallResult {
            call: call.clone(),
            output: r#"{"success":false,"error":"the call has no result"}"#.to_owned(),
            carried: Carried::default(),
        };
        for Planned { call, .. } in planned {
            let result = results.iter().find(|r| r.call.id == call.id).cloned().unwrap_or_else(|| lost(call));
            find(&mut self.addresses, &result.carried.sources);
            self.carried.add(result.carried);
            let Call { id, name, .. } = result.call;
            self.items.push(Item::ToolResult { call_id: id, name, output: fence::result(&result.output) });
        }
        self.phase = Phase::Asking;
        self
    }

    /// Tools are offered on every pass but the last.
    const fn may_call(&self) -> bool {
        self.passes + 1 < self.max_passes
    }

    /// The calls of a pass: those beyond the bound are refused, and the last of them tells of the rest.
    fn plan_all(&mut self, pass: &Pass) -> Vec<Planned> {
        let made = pass.calls.iter().take(MAX_CALLS).map(|call| self.plan(call)).collect::<Vec<_>>();
        let all = pass.calls.len() + pass.calls_left_out;
        let refused = pass.calls.iter().skip(MAX_CALLS).map(|call| {
            let refusal = format!(
                "not made: of the {all} calls of this step only the first {MAX_CALLS} are made. Make what is still \
                 needed in the next step, fewer at once"
            );
            Planned { call: call.clone(), refusal: Some(refusal) }
        });
        made.into_iter().chain(refused).collect()
    }

    fn plan(&mut self, call: &Call) -> Planned {
        let made = self.made.entry(fingerprint(call)).or_default();
        *made += 1;
        let refusal = (*made > SAME_CALL_LIMIT).then(|| {
            format!("this same call was made {SAME_CALL_LIMIT} times already; use its results, or try something else")
        });
        Planned { call: call.clone(), refusal }
    }
}

fn find(addresses: &mut Addresses, sources: &[Source]) {
    sources.iter().for_each(|source| addresses.add_found(&source.url));
}

/// The same for calls that differ only in how their JSON is written.
fn fingerprint(call: &Call) -> String {
    fn sorted(value: Value) -> Value {
        match value {
            Value::Object(map) => {
                let mut pairs: Vec<_> = map.into_iter().map(|(key, value)| (key, sorted(value))).collect();
                pairs.sort_by(|a, b| a.0.cmp(&b.0));
                Value::Object(pairs.into_iter().collect())
            }
            Value::Array(items) => Value::Array(items.into_iter().map(sorted).collect()),
            plain => plain,
        }
    }
    let arguments = serde_json::from_str(&call.arguments)
        .map_or_else(|_| call.arguments.clone(), |value: Value| sorted(value).to_string());
    format!("{} {arguments}", call.name)
}

#[cfg(test)]
mod tests;
