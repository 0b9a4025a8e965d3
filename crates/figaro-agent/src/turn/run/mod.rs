//! The agent loop as a state machine without I/O. It names the next step, takes its result, and can be stored between
//! any two steps. One function per transition. Only its `RunState` is stored: the items are rebuilt from the stored
//! messages, so that the record of a turn stays small.

mod anew;
mod begin;
mod children;
mod earlier;
mod failed;
mod handed;
mod part;
mod read;
mod repeats;
mod same;
mod shown;
mod state;

use std::collections::HashMap;

use self::anew::{hand_back, taken_back};
pub(crate) use self::earlier::EarlierCall;
pub(in crate::turn) use self::repeats::Unrepeated;
pub(crate) use self::shown::ShownMemories;
pub use self::state::Handed;
pub(crate) use self::state::{Answer, CallResult, InHand, PlannedCall, RunState};
use self::state::{RunPhase, TakenBack, TurnModels};
use figaro_domain::form::{Form, bare};
use figaro_domain::source::Source;
use figaro_domain::tool::{Call, SideEffects};
use figaro_domain::turn::PersonQuestion;
use figaro_policy::address::Addresses;
use figaro_policy::promise::promises;
use figaro_prompts::fence;
use figaro_provider::fit::bound_pictures;
use figaro_provider::fold::Pass;
use figaro_provider::{Earlier, Item};

/// Maximum length in base64 of the result pictures that a turn carries from pass to pass, in characters.
const MAX_PICTURES: usize = 8 * 1024 * 1024;

/// State machine of a turn, from the question to the answer.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Run {
    items: Vec<Item>,
    /// Keys of the items from finished exchanges; the question follows them.
    earlier: Earlier,
    /// Number of items at the beginning of the turn: history and question.
    begins: usize,
    max_passes: u32,
    side_effects: SideEffects,
    /// Addresses that people wrote or that the turn has found.
    addresses: Addresses,
    /// `true` if an answer may only promise things that a task was stored for.
    keeps_promises: bool,
    /// Memories in the prompt, and how passes name them.
    shown: ShownMemories,
    form: Option<Form>,
    /// `true` if a truncated answer is returned unchanged, even if it does not fit the form.
    gives_cut: bool,
    asked: TurnModels,
    /// Results of the calls of earlier attempts at the question, by the fingerprint of the call.
    acted: HashMap<u64, String>,
    state: RunState,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum RunStep {
    /// Call the model with the current items.
    CallModel {
        /// `true` if it may call tools; `false` on the last pass.
        with_tools: bool,
    },
    /// Make these calls in parallel: those of the pass without a result.
    CallTools(Vec<PlannedCall>),
    /// Ask a person, and wait for the answer, which is the result of this call.
    Ask {
        /// Tool call that a person's answer is the result of.
        call: Call,
        question: PersonQuestion,
    },
    /// The turn has ended with this answer.
    Done(Box<Answer>),
}

impl Run {
    /// Creates a turn with these items, the question last.
    #[must_use]
    pub(crate) fn new(items: Vec<Item>, max_passes: u32) -> Self {
        Self {
            begins: items.len(),
            items,
            earlier: Earlier::default(),
            max_passes,
            side_effects: SideEffects::default(),
            addresses: Addresses::default(),
            keeps_promises: false,
            shown: ShownMemories::default(),
            form: None,
            gives_cut: false,
            asked: TurnModels::default(),
            acted: HashMap::new(),
            state: RunState::default(),
        }
    }

    /// Restores the stored state. `in_hand` holds the text and the finished results of the pass whose calls were in
    /// progress.
    #[must_use]
    pub(crate) fn restored(mut self, state: RunState, in_hand: InHand) -> Self {
        if let Some(back @ TakenBack { pass, at, .. }) = &state.taken_back {
            let at = (self.begins + at).min(self.items.len());
            // Passes without text between them are stored as one, whose results stay together.
            let is_result = |item: &&Item| matches!(item, Item::ToolResult { .. });
            let at = at + self.items.iter().skip(at).take_while(is_result).count();
            self.items.splice(at..at, taken_back(back));
            self.take_sources(pass);
        }
        if let RunPhase::Calling { planned, results } = &state.phase {
            let calls = planned.iter().map(|planned| planned.call.clone()).collect();
            self.items.push(Item::Assistant { text: in_hand.text, calls, private: in_hand.private });
            debug_assert!(results.is_empty(), "results are stored as messages");
        }
        if state.hands_back {
            self.items.push(hand_back());
        }
        self.state = state;
        match &mut self.state.phase {
            RunPhase::Calling { results, .. } => *results = in_hand.results,
            // A waiting turn is resumed once it has its answer, as a stored result.
            RunPhase::Waiting { .. } => self.state.phase = RunPhase::Asking,
            RunPhase::Asking | RunPhase::Done(_) => {}
        }
        self
    }

    /// Returns the state to store for [`Self::restored`].
    #[must_use]
    pub(crate) const fn state(&self) -> &RunState {
        &self.state
    }

    /// Makes this call the next step: the turn waited for its approval, and a person has approved it.
    #[must_use]
    pub(crate) fn making(mut self, call: Call) -> Self {
        let own = self.items.get_mut(self.begins..).unwrap_or_default();
        let pass = own.iter_mut().rev().find_map(|item| match item {
            Item::Assistant { calls, .. } => Some(calls),
            Item::User { .. } | Item::ToolResult { .. } => None,
        });
        match pass {
            // Matches the stored messages of the pass once the call has its result.
            Some(calls) => calls.push(call.clone()),
            None => {
                let (text, private) = (String::new(), Vec::new());
                self.items.push(Item::Assistant { text, calls: vec![call.clone()], private });
            }
        }
        let planned = vec![PlannedCall { call, refusal: None }];
        self.state.phase = RunPhase::Calling { planned, results: Vec::new() };
        self
    }

    #[must_use]
    pub(crate) fn next(&self) -> RunStep {
        match &self.state.phase {
            RunPhase::Asking if self.side_effects.taken_over.is_some() => {
                RunStep::Done(Box::new(self.taken_over()))
            }
            RunPhase::Asking if !self.side_effects.handed.is_empty() => {
                RunStep::Done(Box::new(self.handed()))
            }
            RunPhase::Asking => RunStep::CallModel { with_tools: self.may_call() },
            RunPhase::Calling { planned, results } => {
                let has_result =
                    |planned: &&PlannedCall| results.iter().any(|r| r.call.id == planned.call.id);
                let open = planned.iter().filter(|planned| !has_result(planned));
                RunStep::CallTools(open.cloned().collect())
            }
            RunPhase::Waiting { call, question } => {
                RunStep::Ask { call: call.clone(), question: question.clone() }
            }
            RunPhase::Done(answer) => RunStep::Done(answer.clone()),
        }
    }

    /// Returns the conversation so far, as the model gets it.
    #[must_use]
    pub(crate) fn items(&self) -> &[Item] {
        &self.items
    }

    /// Returns the description of the items from before the turn.
    #[must_use]
    pub(crate) const fn earlier(&self) -> &Earlier {
        &self.earlier
    }

    /// Returns the tools found by search, which may be called besides the tools that are always offered.
    #[must_use]
    pub(crate) fn found(&self) -> &[String] {
        &self.side_effects.found
    }

    /// Returns the addresses that people wrote, and those that searches have found so far.
    #[must_use]
    pub(crate) const fn addresses(&self) -> &Addresses {
        &self.addresses
    }

    fn find_sources(&mut self) {
        find(&mut self.addresses, &self.side_effects.sources);
    }

    fn add_side_effects(&mut self, side_effects: SideEffects) {
        find(&mut self.addresses, &side_effects.sources);
        self.side_effects.add(side_effects);
    }

    /// Returns the answer of the turn if this is its last pass.
    #[must_use]
    pub(crate) fn answer(&self, mut pass: Pass) -> Answer {
        let structured = self.form.as_ref().and_then(|form| form.read(&pass.text).ok());
        let is_misfit = self.form.is_some() && structured.is_none() && !self.is_given_cut(&pass);
        if structured.is_some() {
            pass.text = bare(&pass.text).to_owned();
        } else if is_misfit {
            // An answer without the required form is not shown at all.
            pass.text.clear();
        }
        let unkept = self.is_unkept(&pass);
        let addresses = self.addresses.clone();
        let SideEffects {
            spoke, shown, sources, tasks, remindable, noted, added, mut said, observation, ..
        } = self.side_effects.clone();
        said.retain(|said| !self.state.told.contains(&said.order));
        let is_cut = self.state.hands_back || self.state.passes >= self.max_passes;
        let (usage, nano_usd) = (self.state.usage, self.state.nano_usd);
        let memories = self.shown.used_in(&pass, &self.state.memories);
        Answer {
            pass,
            spoke,
            shown,
            sources,
            addresses,
            read: self.read(),
            tasks,
            remindable,
            noted,
            added,
            said,
            is_cut,
            hands_back: self.state.hands_back,
            memories,
            observation,
            structured,
            is_misfit,
            unkept,
            handed: None,
            usage,
            nano_usd,
        }
    }

    fn count(&mut self, pass: &Pass) {
        let state = &mut self.state;
        state.usage += pass.usage.unwrap_or_default();
        state.nano_usd = state.nano_usd.zip(pass.nano_usd).map(|(all, one)| all.saturating_add(one));
    }

    /// Takes the answer of the model. It calls tools, ends the turn, must be rewritten, or is empty and the next model
    /// is called. Ignored in any other phase.
    #[must_use]
    pub(crate) fn model_answered(mut self, pass: Pass) -> Self {
        if self.state.phase != RunPhase::Asking {
            return self;
        }
        let may_call = self.may_call();
        self.count(&pass);
        if self.is_passed_on(&pass) {
            self.state.mute = pass.model;
            return self;
        }
        self.state.passes += 1;
        self.take_sources(&pass);
        let pass = self.note_memories(pass);
        if pass.calls.is_empty() || !may_call {
            return self.conclude(pass);
        }
        let planned = self.plan_all(&pass);
        self.items.push(Item::Assistant { text: pass.text, calls: pass.calls, private: pass.private });
        self.state.phase = RunPhase::Calling { planned, results: Vec::new() };
        self
    }

    /// Records the memories that a pass names. If a pass has text and only such calls, the text is the answer.
    fn note_memories(&mut self, pass: Pass) -> Pass {
        for id in self.shown.named(&pass) {
            if !self.state.memories.contains(&id) {
                self.state.memories.push(id);
            }
        }
        self.shown.as_answer(pass)
    }

    /// Ends the turn with this pass, or requests a rewrite.
    fn conclude(mut self, pass: Pass) -> Self {
        let is_whole = pass.filtered.is_none() && !pass.cut_short;
        let is_last = self.state.passes >= self.max_passes;
        let form = self.form.as_ref().filter(|_| !self.is_given_cut(&pass));
        let mistakes = form.and_then(|form| form.read(&pass.text).err());
        let is_wrong = mistakes.is_some() || (is_whole && self.is_unkept(&pass));
        if self.state.taken_back.is_none() && pass.filtered.is_none() && !is_last && is_wrong {
            let at = self.items.len() - self.begins;
            let back = TakenBack { pass: Box::new(pass), at, mistakes };
            self.items.extend(taken_back(&back));
            self.state.taken_back = Some(back);
            return self;
        }
        let says_nothing = pass.text.trim().is_empty()
            && pass.filtered.is_none()
            && !self.side_effects.spoke
            && !self.side_effects.shown
            && self.side_effects.said.is_empty();
        let pass = match self.state.taken_back.take() {
            Some(first) if says_nothing && first.mistakes.is_none() => *first.pass,
            Some(_) | None => pass,
        };
        self.state.phase = RunPhase::Done(Box::new(self.answer(pass)));
        self
    }

    /// Returns `true` if the text makes a promise that nothing was stored for, as far as the turn knows.
    fn is_unkept(&self, pass: &Pass) -> bool {
        let SideEffects { spoke, tasks, looked, .. } = &self.side_effects;
        // A call for an earlier wording of the question may keep the promise.
        let has_acted = !self.acted.is_empty() || !tasks.is_empty();
        self.keeps_promises && !has_acted && !spoke && !looked && promises(&pass.text)
    }

    /// Takes the results of the calls. Together with earlier ones, they go to the model in the order of the calls. If a
    /// call asks a person, the turn waits. Ignored in any other phase.
    #[must_use]
    pub(crate) fn tools_answered(mut self, made: Vec<CallResult>) -> Self {
        let RunPhase::Calling { planned, results } = std::mem::take(&mut self.state.phase) else {
            return self;
        };
        let lost = |call: &Call| CallResult {
            call: call.clone(),
            output: r#"{"success":false,"error":"the call has no result"}"#.to_owned(),
            side_effects: SideEffects::default(),
            images: Vec::new(),
            asks: None,
        };
        for PlannedCall { call, .. } in &planned {
            let mut all = results.iter().chain(&made);
            let result = all.find(|r| r.call.id == call.id).cloned().unwrap_or_else(|| lost(call));
            find(&mut self.addresses, &result.side_effects.sources);
            if let Some(spent) = result.side_effects.spent {
                self.add_spent(spent);
            }
            self.side_effects.add(result.side_effects);
            if let Some(question) = result.asks {
                self.state.phase = RunPhase::Waiting { call: result.call, question };
                continue;
            }
            let Call { id, name, .. } = result.call;
            let (output, media) = (fence::result(&result.output), result.images);
            self.items.push(Item::ToolResult { call_id: id, name, output, media });
        }
        bound_pictures(&mut self.items, MAX_PICTURES);
        self
    }

    /// Returns `true` if the next pass may call tools: every pass but the last. If the answer needs a form, one more
    /// pass is kept to correct it, if there are enough. It has no tools either, because some providers enforce a form
    /// only without tools.
    fn may_call(&self) -> bool {
        let is_mending = self.state.taken_back.as_ref().is_some_and(|back| back.mistakes.is_some());
        let kept = if self.form.is_some() && self.max_passes > 2 { 2 } else { 1 };
        !is_mending && !self.state.hands_back && self.state.passes + kept < self.max_passes
    }
}

fn find(addresses: &mut Addresses, sources: &[Source]) {
    sources.iter().for_each(|source| addresses.add_found(&source.url));
}

#[cfg(test)]
mod tests;
