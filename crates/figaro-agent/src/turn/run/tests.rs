use proptest::prelude::*;

use super::anew::UNKEPT;
use super::*;
use figaro_base::ids::{MemoryId, TaskId};
use figaro_domain::usage::Usage;
use figaro_provider::Event;
use figaro_provider::fold::MAX_CALLS;

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
    CallResult {
        call: call.clone(),
        output: "{}".into(),
        side_effects: SideEffects::default(),
        images: Vec::new(),
        asks: None,
    }
}

#[test]
fn of_very_many_calls_the_first_are_made_and_the_model_is_told_of_the_rest() {
    let mut pass = Pass::default();
    for at in 0..5000 {
        pass.absorb(Event::ToolCall(call(&at.to_string(), &format!("{{\"at\":{at}}}"))));
    }
    let run = Run::new(vec![Item::user("hi")], 10).model_answered(pass);
    let RunStep::CallTools(planned) = run.next() else { panic!("no calls") };
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
    assert_eq!(run.next(), RunStep::CallModel { with_tools: true });
    let RunStep::Done(answer) = run.model_answered(says("hello")).next() else { panic!("not done") };
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
    assert_eq!(run.next(), RunStep::CallModel { with_tools: false });
    assert!(matches!(run.model_answered(wants(vec![call("x", "{}")])).next(), RunStep::Done(_)));
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
        let RunStep::CallTools(planned) = run.next() else { panic!("no calls") };
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
            side_effects: SideEffects { spoke: true, ..SideEffects::default() },
            ..done(&said)
        }])
        .model_answered(says("told you"));
    assert!(matches!(run.next(), RunStep::Done(answer) if answer.spoke && answer.pass.text == "told you"));
}

#[test]
fn what_was_found_stays_offered_and_the_last_ones_win() {
    let look = call("f", "{}");
    let found = |names: &[u32]| SideEffects {
        found: names.iter().map(|n| format!("t{n}")).collect(),
        ..SideEffects::default()
    };
    let run = Run::new(Vec::new(), 10).with_side_effects([found(&[1, 2, 3, 4, 5]), found(&[1])]);
    let run = run.model_answered(wants(vec![look.clone()]));
    let run = run.tools_answered(vec![CallResult { side_effects: found(&[6, 7, 7, 8, 9]), ..done(&look) }]);
    assert_eq!(run.found(), ["t2", "t3", "t4", "t5", "t6", "t7", "t8", "t9"]);
}

#[test]
fn what_is_known_is_shared_with_each_pass_and_grows_with_what_is_found() {
    let look = call("l", "{}");
    let page = |url: &str| Source { title: "x".into(), url: url.into() };
    let side_effects = |url: &str| SideEffects { sources: vec![page(url)], ..SideEffects::default() };
    let written = Addresses::written(["see https://written.example/"]);
    let run = Run::new(Vec::new(), 10)
        .with_side_effects([side_effects("https://before.example/")])
        .knowing(written);
    assert!(run.addresses().shares(&run.clone().addresses().clone()));
    let pass = Pass { sources: vec![page("https://told.example/")], ..wants(vec![look.clone()]) };
    let run = run.model_answered(pass);
    let found = CallResult { side_effects: side_effects("https://found.example/"), ..done(&look) };
    let answer = answer_of(&run.tools_answered(vec![found]).model_answered(says("hello")));
    for page in ["written", "before", "told", "found"] {
        assert!(answer.addresses.has(&format!("https://{page}.example/")), "{page}");
    }
}

const PROMISE: &str = "I'll remind you tomorrow at 9.";

/// A turn that can store tasks, with the answers it was given so far.
fn keeping(max_passes: u32, answers: &[&str]) -> Run {
    let run = Run::new(vec![Item::user("hi")], max_passes).keeping_promises(true);
    answers.iter().fold(run, |run, answer| run.model_answered(Pass { usage: Some(one()), ..says(answer) }))
}

fn one() -> Usage {
    Usage { input: 1, output: 1, ..Usage::default() }
}

fn answer_of(run: &Run) -> Answer {
    let RunStep::Done(answer) = run.next() else { panic!("not done: {run:?}") };
    *answer
}

fn stored(call: &Call) -> CallResult {
    CallResult {
        side_effects: SideEffects { tasks: vec![TaskId::new()], ..SideEffects::default() },
        ..done(call)
    }
}

#[test]
fn an_answer_that_promises_what_is_not_stored_is_written_anew() {
    let run = keeping(10, &[PROMISE]);
    let run = stored_and_restored(&run);
    assert_eq!(run.next(), RunStep::CallModel { with_tools: true });
    let [_, Item::Assistant { text, calls, .. }, Item::User { text: note, .. }] = run.items() else {
        panic!("{:?}", run.items())
    };
    assert_eq!((text.as_str(), calls.len(), note.as_str()), (PROMISE, 0, UNKEPT));
    let answer = answer_of(&run.model_answered(Pass { usage: Some(one()), ..says("I cannot, sorry.") }));
    assert_eq!((answer.pass.text.as_str(), answer.unkept), ("I cannot, sorry.", false));
    assert_eq!((answer.usage.input, answer.usage.output), (2, 2), "both passes count");
}

#[test]
fn an_answer_taken_back_does_not_part_calls_that_were_stored_as_one_pass_from_their_results() {
    let (before, after) = (call("b", "{}"), call("a", "{}"));
    let run =
        keeping(10, &[]).model_answered(wants(vec![before.clone()])).tools_answered(vec![done(&before)]);
    let run = run.model_answered(says(PROMISE));
    let run = run.model_answered(wants(vec![after.clone()])).tools_answered(vec![done(&after)]);
    let results = run.items().iter().filter(|item| matches!(item, Item::ToolResult { .. })).cloned();
    let calls = Item::Assistant { text: String::new(), calls: vec![before, after], private: Vec::new() };
    let stored: Vec<Item> = [calls].into_iter().chain(results).collect();
    let begun = Run::new(vec![Item::user("hi")], 10).keeping_promises(true).having_done(stored.clone());
    let restored = begun.restored(run.state().clone(), InHand::default());
    assert_eq!(restored.items()[1..4], stored);
    let back = TakenBack { pass: Box::new(says(PROMISE)), at: 3, mistakes: None };
    assert_eq!(restored.items()[4..], taken_back(&back));
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
    let after =
        keeping(10, &[PROMISE]).model_answered(wants(vec![make.clone()])).tools_answered(vec![stored(&make)]);
    let restored = keeping(10, &[]).with_side_effects([stored(&make).side_effects]);
    for run in [before, after, restored] {
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
    assert_eq!(run.next(), RunStep::CallModel { with_tools: true });
    let run = run.model_answered(says(PROMISE));
    assert_eq!(run.next(), RunStep::CallModel { with_tools: false });
    assert!(answer_of(&run.model_answered(says(PROMISE))).unkept);
    let run = looked(2);
    assert_eq!(run.next(), RunStep::CallModel { with_tools: false });
    assert!(answer_of(&run.model_answered(says(PROMISE))).unkept, "none is left");
}

#[test]
fn what_nobody_reads_or_nothing_could_keep_is_left_alone() {
    let make = call("s", "{}");
    let spoke =
        CallResult { side_effects: SideEffects { spoke: true, ..SideEffects::default() }, ..done(&make) };
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
    let answer = answer_of(&keeping(10, &[PROMISE]).model_failed(broken.clone(), false).unwrap());
    assert_eq!((answer.pass.text.as_str(), answer.unkept, answer.usage.input), (PROMISE, true, 2));
    assert!(keeping(10, &[]).model_failed(broken, false).is_err(), "there is no earlier answer");
}

#[test]
fn a_turn_that_has_looked_at_what_is_stored_may_speak_of_it() {
    let list = call("l", "{}");
    let side_effects = SideEffects { looked: true, ..SideEffects::default() };
    let before = keeping(10, &[])
        .model_answered(wants(vec![list.clone()]))
        .tools_answered(vec![CallResult { side_effects: side_effects.clone(), ..done(&list) }]);
    let restarted = keeping(10, &[]).with_side_effects([side_effects, SideEffects::default()]);
    for run in [before, restarted] {
        let answer = answer_of(&run.model_answered(says(PROMISE)));
        assert_eq!((answer.pass.text.as_str(), answer.unkept), (PROMISE, false));
    }
}

/// The turn as a restart builds it: its state, and its items from what was stored as messages.
fn stored_and_restored(run: &Run) -> Run {
    let state: RunState = serde_json::from_str(&serde_json::to_string(run.state()).unwrap()).unwrap();
    let mut done = run.items[run.begins..].to_vec();
    let mut in_hand = InHand::default();
    if let RunPhase::Calling { .. } = state.phase {
        let Some(Item::Assistant { text, private, .. }) = done.pop() else { panic!("{done:?}") };
        in_hand = InHand { text, private, results: Vec::new() };
    }
    if let Some(TakenBack { at, .. }) = &state.taken_back {
        // The note and the answer that it is about are in the state alone.
        done.drain(*at..*at + 2);
    }
    let begun = Run { items: run.items[..run.begins].to_vec(), state: RunState::default(), ..run.clone() };
    begun.having_done(done).restored(state, in_hand)
}

#[test]
fn calls_that_have_a_result_are_not_made_again() {
    let (a, b) = (call("a", "{}"), call("b", "{\"x\":1}"));
    let run = Run::new(Vec::new(), 10).model_answered(wants(vec![a.clone(), b.clone()]));
    let state: RunState = serde_json::from_str(&serde_json::to_string(run.state()).unwrap()).unwrap();
    let in_hand = InHand { results: vec![done(&b)], ..InHand::default() };
    let restored = Run::new(Vec::new(), 10).restored(state, in_hand);
    let RunStep::CallTools(planned) = restored.next() else { panic!("no calls") };
    assert_eq!(planned.iter().map(|planned| planned.call.id.as_str()).collect::<Vec<_>>(), ["a"]);
    assert_eq!(restored.tools_answered(vec![done(&a)]), run.tools_answered(vec![done(&b), done(&a)]));
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
            if let RunStep::Done(_) = run.next() {
                break;
            }
            let restored = stored_and_restored(&run);
            prop_assert_eq!(&restored, &run, "storing changes nothing");
            run = restored;
            let wanted: Vec<Call> =
                pass.iter().enumerate().map(|(n, x)| call(&format!("{at}-{n}"), &format!("{{\"x\":{x}}}"))).collect();
            run = run.model_answered(Pass { calls: wanted.clone(), ..says(PROMISE) });
            if let RunStep::CallTools(planned) = run.next() {
                calls += planned.len();
                let results = if lose { Vec::new() } else { wanted.iter().map(done).collect() };
                run = run.tools_answered(results);
            }
        }
        let results = run.items().iter().filter(|item| matches!(item, Item::ToolResult { .. })).count();
        prop_assert_eq!(results, calls);
        prop_assert!(run.state.passes <= 5, "every pass counts");
    }
}

/// A turn whose answer is to be an object with a number, with the answers it was given so far.
fn shaped(max_passes: u32, answers: &[&str]) -> Run {
    let schema = serde_json::json!({
        "type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"],
    });
    let form = Form::new("counter", schema).unwrap();
    let run = Run::new(vec![Item::user("hi")], max_passes).keeping_promises(true).shaped(Some(form));
    answers.iter().fold(run, |run, answer| run.model_answered(Pass { usage: Some(one()), ..says(answer) }))
}

#[test]
fn an_answer_that_does_not_fit_its_form_is_written_anew_once_also_after_a_restart() {
    let fits = answer_of(&shaped(10, &["```json\n{\"n\": 1}\n```"]));
    assert_eq!((fits.pass.text.as_str(), fits.is_misfit), ("{\"n\": 1}", false));
    assert_eq!(fits.structured, Some(serde_json::json!({"n": 1})));

    let run = stored_and_restored(&shaped(10, &["{\"n\": \"one\"}"]));
    assert_eq!(run.next(), RunStep::CallModel { with_tools: false });
    let [_, Item::Assistant { .. }, Item::User { text: note, .. }] = run.items() else {
        panic!("{:?}", run.items())
    };
    assert!(note.ends_with("- /n: value is not of type \"integer\""), "{note}");
    let mended = answer_of(&run.clone().model_answered(says("{\"n\":2}")));
    assert_eq!((mended.structured, mended.is_misfit), (Some(serde_json::json!({"n": 2})), false));
    for again in ["two", "", "{}"] {
        let failed = answer_of(&run.clone().model_answered(Pass { usage: Some(one()), ..says(again) }));
        assert_eq!(
            (failed.pass.text.as_str(), failed.structured, failed.is_misfit),
            ("", None, true),
            "{again}"
        );
        assert_eq!(failed.usage.input, 2, "both passes count");
    }
}

#[test]
fn nothing_half_written_is_left_of_an_answer_with_a_form() {
    let broken = shaped(10, &[]).broken_off(says("{\"n\":"));
    assert_eq!((broken.pass.text.as_str(), broken.is_misfit), ("", true));
    let failed = shaped(10, &["no"]).model_failed(says("{"), false).unwrap_err();
    assert_eq!(failed.pass.text, "", "what does not fit does not stand in for what was to mend it");
    let withheld = Pass { filtered: Some("safety".into()), ..says("{") };
    assert!(
        answer_of(&shaped(10, &[]).model_answered(withheld)).is_misfit,
        "what is withheld is not asked for again"
    );
    assert!(shaped(10, &[PROMISE]).next() == RunStep::CallModel { with_tools: false }, "it is no promise");
}

#[test]
fn a_pass_is_kept_to_mend_an_answer_with_a_form() {
    for (max_passes, calls) in [(1, 0), (2, 1), (3, 1), (4, 2)] {
        let mut run = shaped(max_passes, &[]);
        for at in 0..calls {
            assert_eq!(run.next(), RunStep::CallModel { with_tools: true }, "{max_passes} {at}");
            let next = call(&at.to_string(), &format!("{{\"n\":{at}}}"));
            run = run.model_answered(wants(vec![next.clone()])).tools_answered(vec![done(&next)]);
        }
        assert_eq!(run.next(), RunStep::CallModel { with_tools: false }, "{max_passes}");
        let run = run.model_answered(says("no"));
        let is_mended = matches!(run.next(), RunStep::CallModel { with_tools: false });
        assert_eq!(is_mended, max_passes > 2, "{max_passes}");
    }
}

#[test]
fn words_beside_which_only_memories_are_named_are_the_answer() {
    let memories = [MemoryId::new(), MemoryId::new()];
    let run = || {
        let memories = memories.iter().map(|id| (*id, String::new())).collect();
        let shown = ShownMemories { tool: Some("use".into()), memories, asked: String::new() };
        Run::new(vec![Item::user("hi")], 10).remembering(shown)
    };
    let names = |labels: &str| Call { name: "use".into(), ..call("n", &format!("{{\"labels\":{labels}}}")) };
    let both = Pass { calls: vec![names(r#"["M2","M2","M7","x","M0"]"#)], ..says("hello") };
    let RunStep::Done(answer) = run().model_answered(both.clone()).next() else { panic!("not done") };
    assert_eq!((answer.pass.text.as_str(), &answer.memories), ("hello", &vec![memories[1]]));
    assert!(answer.pass.calls.is_empty());
    // Without words, or beside another call, the turn goes on, and what was named is known at its end.
    for calls in [vec![names(r#"["M1"]"#)], vec![names(r#"["M1"]"#), call("a", "{}")]] {
        let text = if calls.len() > 1 { "wait" } else { "" };
        let run = run().model_answered(Pass { calls: calls.clone(), ..says(text) });
        let RunStep::CallTools(planned) = run.next() else { panic!("no calls") };
        assert_eq!(planned.len(), calls.len());
        let stored = serde_json::to_string(run.state()).unwrap();
        let state: RunState = serde_json::from_str(&stored).unwrap();
        let restored = Run::new(Vec::new(), 10).restored(state, InHand::default());
        let run = restored.tools_answered(calls.iter().map(done).collect());
        let RunStep::Done(answer) = run.model_answered(says("bye")).next() else { panic!("not done") };
        assert_eq!(answer.memories, [memories[0]]);
    }
    // Where no memories are shown there is no such tool.
    let plain = Run::new(Vec::new(), 10).model_answered(both);
    assert!(matches!(plain.next(), RunStep::CallTools(_)));
}
