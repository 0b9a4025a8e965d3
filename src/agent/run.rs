//! The loop as a machine without I/O: it says what to do next, is told what came of it, and can be stored between any
//! two steps. One function per transition.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

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
    the person asked for it, call schedule_task now, and answer once it has confirmed. If they did not, or it cannot be \
    done, write the whole answer anew and say plainly that nothing is scheduled. If you only spoke of a task that was \
    stored before, make that clear. Do not mention this note.";

/// A turn's reasoning, from the question to the answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Run {
    items: Vec<Item>,
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
    /// The call.
    pub call: Call,
    /// Why it is not to be made.
    pub refusal: Option<String>,
}

/// What a call came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallResult {
    /// The call.
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

    /// What there is of the turn where a pass that was to write its answer anew failed: that answer. `None` where no
    /// answer was to be written anew.
    #[must_use]
    pub fn fallen_back(&self, failed: &Pass) -> Option<Answer> {
        let first = self.taken_back.clone()?;
        let mut run = self.clone();
        run.count(failed);
        Some(run.answer(*first))
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
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::provider::Event;

    fn call(id: &str, arguments: &str) -> Call {
        Call { id: id.into(), name: "look".into(), arguments: arguments.into() }
    }

    fn wants(calls: Vec<Call>) -> Pass {
        Pass { calls, ..Pass::default() }
    }

    fn says(text: &str) -> Pass {
        Pass { text: text.into(), ..Pass::default() }
    }

    fn done(call: &Call) -> CallResult {
        CallResult { call: call.clone(), output: "{}".into(), carried: Carried::default() }
    }

    #[test]
    fn of_very_many_calls_the_first_are_made_and_the_model_is_told_of_the_rest() {
        let mut pass = Pass::default();
        for at in 0..5000 {
            pass.absorb(Event::ToolCall(call(&at.to_string(), &format!("{{\"at\":{at}}}"))));
        }
        let run = Run::new(vec![Item::user("hi")], 10).model_answered(pass);
        let Step::CallTools(planned) = run.next() else { panic!("no calls") };
        assert_eq!(planned.len(), MAX_CALLS + 1);
        assert!(planned[..MAX_CALLS].iter().all(|planned| planned.refusal.is_none()));
        let refusal = planned[MAX_CALLS].refusal.as_ref().unwrap();
        assert!(refusal.contains("of the 5000 calls") && refusal.contains("the first 32"), "{refusal}");
        let results = planned.iter().map(|planned| done(&planned.call)).collect();
        let asked: Vec<&str> = planned.iter().map(|planned| planned.call.id.as_str()).collect();
        let run = run.tools_answered(results);
        let answered: Vec<&str> = run
            .items()
            .iter()
            .filter_map(|item| match item {
                Item::ToolResult { call_id, .. } => Some(call_id.as_str()),
                _ => None,
            })
            .collect();
        assert_eq!(answered, asked, "each call that the model is shown has its result");
    }

    #[test]
    fn a_plain_answer_ends_the_turn() {
        let run = Run::new(vec![Item::user("hi")], 10);
        assert_eq!(run.next(), Step::CallModel { with_tools: true });
        let Step::Done(answer) = run.model_answered(says("hello")).next() else { panic!("not done") };
        assert_eq!(answer.pass.text, "hello");
    }

    #[test]
    fn results_go_back_in_the_order_of_the_calls() {
        let (a, b) = (call("a", "{}"), call("b", "{\"x\":1}"));
        let run = Run::new(Vec::new(), 10).model_answered(wants(vec![a.clone(), b.clone()]));
        let run = run.tools_answered(vec![done(&b), done(&a)]);
        let order: Vec<&str> = run
            .items()
            .iter()
            .filter_map(|item| match item {
                Item::ToolResult { call_id, .. } => Some(call_id.as_str()),
                Item::User { .. } | Item::Assistant { .. } => None,
            })
            .collect();
        assert_eq!(order, ["a", "b"]);
    }

    #[test]
    fn the_last_pass_has_no_tools_and_ends_the_turn_whatever_it_says() {
        let mut run = Run::new(Vec::new(), 3);
        for at in 0..2 {
            let next = call(&at.to_string(), &format!("{{\"n\":{at}}}"));
            run = run.model_answered(wants(vec![next.clone()])).tools_answered(vec![done(&next)]);
        }
        assert_eq!(run.next(), Step::CallModel { with_tools: false });
        assert!(matches!(run.model_answered(wants(vec![call("x", "{}")])).next(), Step::Done(_)));
    }

    #[test]
    fn the_same_call_is_refused_the_third_time_however_it_is_written() {
        let mut run = Run::new(Vec::new(), 10);
        let ways = [
            r#"{"a":1,"b":[{"d":1,"c":2}]}"#,
            r#"{ "b":[{"c":2,"d":1}], "a":1 }"#,
            r#"{"a":1,"b":[{"c":2,"d":1}]}"#,
        ];
        let mut refused = Vec::new();
        for (at, way) in ways.into_iter().enumerate() {
            let next = call(&at.to_string(), way);
            run = run.model_answered(wants(vec![next.clone()]));
            let Step::CallTools(planned) = run.next() else { panic!("no calls") };
            refused.push(planned[0].refusal.is_some());
            run = run.tools_answered(vec![done(&next)]);
        }
        assert_eq!(refused, [false, false, true]);
    }

    #[test]
    fn what_a_tool_said_is_remembered() {
        let said = call("s", "{}");
        let run = Run::new(Vec::new(), 10).model_answered(wants(vec![said.clone()]));
        let run = run
            .tools_answered(vec![CallResult {
                carried: Carried { spoke: true, ..Carried::default() },
                ..done(&said)
            }])
            .model_answered(says("told you"));
        assert!(matches!(run.next(), Step::Done(answer) if answer.spoke && answer.pass.text == "told you"));
    }

    #[test]
    fn what_was_found_stays_offered_and_the_last_ones_win() {
        let look = call("f", "{}");
        let found = |names: &[u32]| Carried {
            found: names.iter().map(|n| format!("t{n}")).collect(),
            ..Carried::default()
        };
        let run = Run::new(Vec::new(), 10).carrying([found(&[1, 2, 3, 4, 5]), found(&[1])]);
        let run = run.model_answered(wants(vec![look.clone()]));
        let run = run.tools_answered(vec![CallResult { carried: found(&[6, 7, 7, 8, 9]), ..done(&look) }]);
        assert_eq!(run.found(), ["t3", "t4", "t5", "t1", "t6", "t7", "t8", "t9"]);
    }

    #[test]
    fn what_is_known_is_shared_with_each_pass_and_grows_with_what_is_found() {
        let look = call("l", "{}");
        let page = |url: &str| Source { title: "x".into(), url: url.into() };
        let carried = |url: &str| Carried { sources: vec![page(url)], ..Carried::default() };
        let written = Addresses::written(["see https://written.example/"]);
        let run = Run::new(Vec::new(), 10).carrying([carried("https://before.example/")]).knowing(written);
        assert!(run.addresses().shares(&run.clone().addresses().clone()));
        let pass = Pass { sources: vec![page("https://told.example/")], ..wants(vec![look.clone()]) };
        let run = run.model_answered(pass);
        let found = CallResult { carried: carried("https://found.example/"), ..done(&look) };
        let answer = answer_of(&run.tools_answered(vec![found]).model_answered(says("hello")));
        for page in ["written", "before", "told", "found"] {
            assert!(answer.addresses.has(&format!("https://{page}.example/")), "{page}");
        }
    }

    const PROMISE: &str = "I'll remind you tomorrow at 9.";

    /// A turn that can store tasks, with the answers it was given so far.
    fn keeping(max_passes: u32, answers: &[&str]) -> Run {
        let run = Run::new(vec![Item::user("hi")], max_passes).keeping_promises(true);
        answers
            .iter()
            .fold(run, |run, answer| run.model_answered(Pass { usage: Some(one()), ..says(answer) }))
    }

    fn one() -> Usage {
        Usage { input: 1, output: 1, ..Usage::default() }
    }

    fn answer_of(run: &Run) -> Answer {
        let Step::Done(answer) = run.next() else { panic!("not done: {run:?}") };
        *answer
    }

    fn stored(call: &Call) -> CallResult {
        CallResult { carried: Carried { tasks: vec![TaskId::new()], ..Carried::default() }, ..done(call) }
    }

    #[test]
    fn an_answer_that_promises_what_is_not_stored_is_written_anew() {
        let run = keeping(10, &[PROMISE]);
        let run: Run = serde_json::from_str(&serde_json::to_string(&run).unwrap()).unwrap();
        assert_eq!(run.next(), Step::CallModel { with_tools: true });
        let [_, Item::Assistant { text, calls, .. }, Item::User { text: note, .. }] = run.items() else {
            panic!("{:?}", run.items())
        };
        assert_eq!((text.as_str(), calls.len(), note.as_str()), (PROMISE, 0, UNKEPT));
        let answer = answer_of(&run.model_answered(Pass { usage: Some(one()), ..says("I cannot, sorry.") }));
        assert_eq!((answer.pass.text.as_str(), answer.unkept), ("I cannot, sorry.", false));
        assert_eq!((answer.usage.input, answer.usage.output), (2, 2), "both passes count");
    }

    #[test]
    fn it_is_written_anew_once_only() {
        let answer = answer_of(&keeping(10, &[PROMISE, "Reminder set!"]));
        assert_eq!((answer.pass.text.as_str(), answer.unkept), ("Reminder set!", true));
    }

    #[test]
    fn a_promise_whose_task_is_stored_stands() {
        let make = call("s", "{}");
        let before =
            keeping(10, &[]).model_answered(wants(vec![make.clone()])).tools_answered(vec![stored(&make)]);
        let after = keeping(10, &[PROMISE])
            .model_answered(wants(vec![make.clone()]))
            .tools_answered(vec![stored(&make)]);
        let carried = keeping(10, &[]).carrying([stored(&make).carried]);
        for run in [before, after, carried] {
            let answer = answer_of(&run.model_answered(says(PROMISE)));
            assert_eq!((answer.pass.text.as_str(), answer.unkept, answer.tasks.len()), (PROMISE, false, 1));
        }
    }

    #[test]
    fn an_answer_is_written_anew_only_as_far_as_passes_are_left() {
        let look = call("l", "{}");
        let looked = |max_passes: u32| {
            let run = keeping(max_passes, &[]).model_answered(wants(vec![look.clone()]));
            run.tools_answered(vec![done(&look)])
        };
        let run = looked(3);
        assert_eq!(run.next(), Step::CallModel { with_tools: true });
        let run = run.model_answered(says(PROMISE));
        assert_eq!(run.next(), Step::CallModel { with_tools: false });
        assert!(answer_of(&run.model_answered(says(PROMISE))).unkept);
        let run = looked(2);
        assert_eq!(run.next(), Step::CallModel { with_tools: false });
        assert!(answer_of(&run.model_answered(says(PROMISE))).unkept, "none is left");
    }

    #[test]
    fn what_nobody_reads_or_nothing_could_keep_is_left_alone() {
        let make = call("s", "{}");
        let spoke = CallResult { carried: Carried { spoke: true, ..Carried::default() }, ..done(&make) };
        let spoken = keeping(10, &[]).model_answered(wants(vec![make])).tools_answered(vec![spoke]);
        assert!(!answer_of(&spoken.model_answered(says(PROMISE))).unkept);
        let withheld = Pass { filtered: Some("safety".into()), ..says(PROMISE) };
        assert_eq!(answer_of(&keeping(10, &[]).model_answered(withheld)).pass.text, PROMISE);
        assert!(!answer_of(&Run::new(Vec::new(), 10).model_answered(says(PROMISE))).unkept);
        let cut = Pass { cut_short: true, ..says(PROMISE) };
        assert!(answer_of(&keeping(10, &[]).model_answered(cut)).unkept, "but it is told");
    }

    #[test]
    fn writing_anew_costs_nobody_the_answer() {
        let answer = answer_of(&keeping(10, &[PROMISE, " "]));
        assert_eq!((answer.pass.text.as_str(), answer.unkept), (PROMISE, true));
        let broken = Pass { usage: Some(one()), ..says("No") };
        let answer = keeping(10, &[PROMISE]).fallen_back(&broken).unwrap();
        assert_eq!((answer.pass.text.as_str(), answer.unkept, answer.usage.input), (PROMISE, true, 2));
        assert_eq!(keeping(10, &[]).fallen_back(&broken), None);
    }

    #[test]
    fn a_turn_that_has_looked_at_what_is_stored_may_speak_of_it() {
        let list = call("l", "{}");
        let carried = Carried { looked: true, ..Carried::default() };
        let before = keeping(10, &[])
            .model_answered(wants(vec![list.clone()]))
            .tools_answered(vec![CallResult { carried: carried.clone(), ..done(&list) }]);
        let restarted = keeping(10, &[]).carrying([carried, Carried::default()]);
        for run in [before, restarted] {
            let answer = answer_of(&run.model_answered(says(PROMISE)));
            assert_eq!((answer.pass.text.as_str(), answer.unkept), (PROMISE, false));
        }
    }

    #[test]
    fn a_turn_stored_by_an_older_version_is_read() {
        let mut stored = serde_json::to_value(Run::new(Vec::new(), 3)).unwrap();
        let fields = stored.as_object_mut().unwrap();
        assert!(fields.remove("keeps_promises").is_some() && fields.remove("taken_back").is_some());
        assert_eq!(serde_json::from_value::<Run>(stored).unwrap(), Run::new(Vec::new(), 3));
    }

    proptest! {
        /// Whatever the model and the tools do: the turn ends, each call gets one result, and storing changes nothing.
        #[test]
        fn every_turn_ends_and_each_call_has_one_result(
            passes in proptest::collection::vec(proptest::collection::vec(0..3_u8, 0..4), 1..20),
            lose in proptest::bool::ANY,
            keeps in proptest::bool::ANY,
        ) {
            let mut run = Run::new(Vec::new(), 5).keeping_promises(keeps);
            let mut calls = 0;
            for (at, pass) in passes.iter().enumerate() {
                run = serde_json::from_str(&serde_json::to_string(&run).unwrap()).unwrap();
                if let Step::Done(_) = run.next() {
                    break;
                }
                let wanted: Vec<Call> =
                    pass.iter().enumerate().map(|(n, x)| call(&format!("{at}-{n}"), &format!("{{\"x\":{x}}}"))).collect();
                run = run.model_answered(Pass { calls: wanted.clone(), ..says(PROMISE) });
                if let Step::CallTools(planned) = run.next() {
                    calls += planned.len();
                    let results = if lose { Vec::new() } else { wanted.iter().map(done).collect() };
                    run = run.tools_answered(results);
                }
            }
            let results = run.items().iter().filter(|item| matches!(item, Item::ToolResult { .. })).count();
            prop_assert_eq!(results, calls);
            prop_assert!(run.passes <= 5, "every pass counts");
        }
    }
}
