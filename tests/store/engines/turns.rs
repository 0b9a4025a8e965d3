//! Turns: their question, their tool calls, their one end.

use std::slice::from_ref;

use figaro_base::ids::{MessageId, RunId, SessionId, TaskId, UpdateId};
use figaro_domain::conversation::{Message, MessageRole};
use figaro_domain::message::Inbound;
use figaro_domain::model::ModelName;
use figaro_domain::origin::Origin;
use figaro_domain::tool::{ToolCall, ToolStatus};
use figaro_domain::turn::{ActiveTurn, Checkpoint, Step};
use figaro_store::{Store, TurnEnd};

use serde_json::json;

use super::{
    Backend, HERE, TOPIC, accept, again, at, from, ids, inbound, reply, started, texts, tool_call, words,
};

pub(super) async fn a_turn_begins_with_its_question(backend: &dyn Backend) {
    let store = backend.open().await;
    let session = store.conversations().session(HERE, at(0)).unwrap().id;
    store.conversations().append(words(session, "before")).unwrap();
    let question = [inbound(7, "part one"), inbound(8, "part two")];
    let run = store.conversations().begin_turn(HERE, &question, at(9)).unwrap();
    let expected = ActiveTurn {
        id: run.id,
        conversation: HERE,
        session,
        origins: vec![from(7), from(8)],
        first_index: 1,
        started_at: at(9),
        again: false,
        edited: false,
        model: None,
        task: None,
        checkpoint: None,
        resumed_by: None,
    };
    assert_eq!(run, expected);
    assert_eq!(texts(&store, session).await, ["before", "part one", "part two"]);
    assert_eq!(store.conversations().recent(session, 1).unwrap()[0].speaker, Some(inbound(8, "").speaker));

    // Asked again after a crash, it is the same turn.
    let store = backend.reopen(store).await;
    assert_eq!(store.conversations().active_runs().unwrap(), from_ref(&run));
    assert_eq!(store.conversations().begin_turn(HERE, &question, at(50)).unwrap(), run);
    assert_eq!(store.conversations().begin_turn(HERE, &question[1..], at(50)).unwrap(), run);
    assert_eq!(texts(&store, session).await.len(), 3);
}

pub(super) async fn a_conversation_has_one_turn(backend: &dyn Backend) {
    let store = backend.open().await;
    accept(&store, &[1, 2, 3], 0).await;
    let left = store.conversations().begin_turn(HERE, &[inbound(1, "one")], at(0)).unwrap();
    let elsewhere = store.conversations().begin_turn(TOPIC, &[inbound(2, "two")], at(0)).unwrap();
    assert_ne!(elsewhere.session, left.session);
    let next = store.conversations().begin_turn(HERE, &[inbound(3, "three")], at(0)).unwrap();
    assert_eq!((next.session, next.first_index), (left.session, 1));
    let mut active = store.conversations().active_runs().unwrap();
    active.sort_by_key(|run| run.started_at.max(at(run.origins[0].update().unwrap().0)));
    assert_eq!(active, [elsewhere, next.clone()]);

    // The turn that gave way ends without effect, and its update waits for another.
    let late =
        TurnEnd { messages: vec![words(left.session, "too late")], delivery: None, ..TurnEnd::default() };
    store.conversations().end_turn(&left, late).await.unwrap();
    assert_eq!(texts(&store, left.session).await, ["one", "three"]);
    assert_eq!(ids(&store.inbox().unsettled().unwrap()), [1, 2, 3]);
    let again = store.conversations().begin_turn(HERE, &[inbound(1, "one")], at(0)).unwrap();
    assert_ne!(again.id, left.id);
}

pub(super) async fn a_turn_that_acted_is_not_begun_again(backend: &dyn Backend) {
    let store = backend.open().await;
    accept(&store, &[1, 2, 3], 0).await;
    let left =
        store.conversations().begin_turn(HERE, &[inbound(1, "one"), inbound(2, "two")], at(0)).unwrap();
    started(&store.conversations(), &left, &[tool_call(left.id, "c", ToolStatus::Running)]).await;
    let next =
        store.conversations().begin_turn(HERE, &[inbound(3, "three"), inbound(2, "two")], at(0)).unwrap();
    let store = backend.reopen(store).await;
    // Its update is dealt with; the one that is asked about again waits for the new turn.
    assert_eq!(ids(&store.inbox().unsettled().unwrap()), [2, 3]);
    assert_eq!(store.conversations().active_runs().unwrap(), from_ref(&next));
    assert_eq!(texts(&store, left.session).await, ["one", "two", "three", "two"]);
    assert_eq!(store.conversations().tool_calls(left.id).unwrap().len(), 1);
    assert_eq!(store.conversations().tool_calls(next.id).unwrap(), []);
    store.conversations().end_turn(&next, TurnEnd::default()).await.unwrap();
    assert_eq!(store.inbox().unsettled().unwrap(), []);
}

pub(super) async fn a_turn_ends_once_and_at_once(backend: &dyn Backend) {
    let store = backend.open().await;
    accept(&store, &[1, 2], 0).await;
    let run = store.conversations().begin_turn(HERE, &[inbound(1, "why?")], at(0)).unwrap();
    let (thought, answer) = (words(run.session, "hm"), words(run.session, "because"));
    let delivery = reply(&run, &answer);
    let end =
        TurnEnd { messages: vec![thought, answer], delivery: Some(delivery.clone()), ..TurnEnd::default() };
    store.conversations().end_turn(&run, end.clone()).await.unwrap();
    let mut store = backend.reopen(store).await;
    for _ in 0..2 {
        assert_eq!(texts(&store, run.session).await, ["why?", "hm", "because"]);
        assert_eq!(store.outbox().deliveries().unwrap(), from_ref(&delivery));
        assert_eq!(store.conversations().active_runs().unwrap(), []);
        assert_eq!(ids(&store.inbox().unsettled().unwrap()), [2]);
        assert_eq!(accept(&store, &[1], 1).await, [0; 0]);
        store.conversations().end_turn(&run, end.clone()).await.unwrap();
        store = backend.reopen(store).await;
    }
}

pub(super) async fn a_turn_may_end_without_words(backend: &dyn Backend) {
    let store = backend.open().await;
    accept(&store, &[1], 0).await;
    let run = store.conversations().begin_turn(HERE, &[inbound(1, "hush")], at(0)).unwrap();
    store.conversations().end_turn(&run, TurnEnd::default()).await.unwrap();
    assert_eq!(texts(&store, run.session).await, ["hush"]);
    assert_eq!(store.outbox().deliveries().unwrap(), []);
    assert_eq!(store.inbox().unsettled().unwrap(), []);
}

pub(super) async fn a_turn_can_be_taken_back(backend: &dyn Backend) {
    let store = backend.open().await;
    accept(&store, &[1, 2], 0).await;
    let kept = store.conversations().begin_turn(HERE, &[inbound(1, "kept")], at(0)).unwrap();
    store.conversations().end_turn(&kept, TurnEnd::default()).await.unwrap();
    let run = store.conversations().begin_turn(HERE, &[inbound(2, "gone")], at(0)).unwrap();
    store.conversations().append(words(run.session, "gone too")).unwrap();
    started(&store.conversations(), &run, &[tool_call(run.id, "c", ToolStatus::Running)]).await;
    for _ in 0..2 {
        store.conversations().retract_turn(&run).unwrap();
        store.conversations().retract_turn(&kept).unwrap();
    }
    let store = backend.reopen(store).await;
    assert_eq!(texts(&store, run.session).await, ["kept"]);
    assert_eq!(store.conversations().active_runs().unwrap(), []);
    assert_eq!(ids(&store.inbox().unsettled().unwrap()), [2]);
    let again = store.conversations().begin_turn(HERE, &[inbound(2, "again")], at(0)).unwrap();
    assert_ne!(again.id, run.id);
    assert_eq!(store.conversations().tool_calls(again.id).unwrap(), []);
    store
        .conversations()
        .end_turn(
            &run,
            TurnEnd { messages: vec![words(run.session, "late")], delivery: None, ..TurnEnd::default() },
        )
        .await
        .unwrap();
    store.conversations().retract_turn(&run).unwrap();
    assert_eq!(texts(&store, run.session).await, ["kept", "again"]);
}

pub(super) async fn a_turn_needs_no_question(backend: &dyn Backend) {
    let store = backend.open().await;
    let first = store.conversations().begin_turn(HERE, &[], at(0)).unwrap();
    let second = store.conversations().begin_turn(HERE, &[], at(0)).unwrap();
    assert_ne!(first.id, second.id);
    assert_eq!(store.conversations().active_runs().unwrap(), [second]);
}

pub(super) async fn a_step_is_recorded_whole(backend: &dyn Backend) {
    let store = backend.open().await;
    let turn = store.conversations().begin_turn(HERE, &[inbound(1, "q")], at(0)).unwrap();
    assert_eq!(turn.checkpoint, None);
    let call = tool_call(turn.id, "a", ToolStatus::Running);
    let step = |state: &str, said: Option<&str>, calls: &[ToolCall]| Step {
        state: Some(json!(state)),
        said: said.map(|text| words(turn.session, text)),
        calls: calls.to_vec(),
    };
    let checkpoint = |state: &str, from| Some(Checkpoint { state: json!(state), from });
    store.conversations().record_step(&turn, step("first", Some("wait"), from_ref(&call))).await.unwrap();
    let store = backend.reopen(store).await;
    let on_record = store.conversations().active_runs().unwrap();
    assert_eq!(on_record, [ActiveTurn { checkpoint: checkpoint("first", 1), ..turn.clone() }]);
    assert_eq!(texts(&store, turn.session).await, ["q", "wait"]);
    assert_eq!(store.conversations().tool_calls(turn.id).unwrap(), from_ref(&call));

    // Where only calls start, what the machine goes on with stays; the next state counts from what is stored by then.
    store.conversations().record_step(&turn, Step { state: None, ..step("", None, &[]) }).await.unwrap();
    assert_eq!(store.conversations().active_runs().unwrap(), on_record);
    store.conversations().tool_ended(&call, words(turn.session, "done")).await.unwrap();
    store.conversations().record_step(&turn, step("second", None, &[])).await.unwrap();
    let on_record = store.conversations().active_runs().unwrap();
    assert_eq!(on_record[0].checkpoint, checkpoint("second", 3));

    // A turn that gave way leaves what it did, and nothing to go on with.
    let next = store.conversations().begin_turn(HERE, &[inbound(2, "next")], at(0)).unwrap();
    let late = tool_call(turn.id, "b", ToolStatus::Running);
    store.conversations().record_step(&turn, step("late", Some("late"), from_ref(&late))).await.unwrap();
    assert_eq!(store.conversations().active_runs().unwrap(), [next]);
    assert_eq!(texts(&store, turn.session).await, ["q", "wait", "done", "next", "late"]);
    assert_eq!(store.conversations().tool_calls(turn.id).unwrap(), [call, late]);
}

pub(super) async fn tool_calls_are_recorded_as_they_go(backend: &dyn Backend) {
    let store = backend.open().await;
    let run = store.conversations().begin_turn(HERE, &[inbound(1, "q")], at(0)).unwrap();
    let mut calls = ["z", "a", "m"].map(|id| tool_call(run.id, id, ToolStatus::Running));
    started(&store.conversations(), &run, &calls[..1]).await;
    // One that is known keeps its place.
    started(&store.conversations(), &run, &calls).await;
    let store = backend.reopen(store).await;
    assert_eq!(store.conversations().tool_calls(run.id).unwrap(), calls);

    for (call, status) in calls.iter_mut().zip([ToolStatus::Complete, ToolStatus::Failed]) {
        *call = ToolCall { status, result: Some("done".into()), duration_ms: Some(12), ..call.clone() };
        let result = Message { role: MessageRole::Tool, ..words(run.session, &call.call.id) };
        store.conversations().tool_ended(call, result).await.unwrap();
    }
    // Refused calls never start.
    let denied = tool_call(run.id, "b", ToolStatus::Denied);
    store.conversations().tool_ended(&denied, words(run.session, "no")).await.unwrap();
    let store = backend.reopen(store).await;
    let [z, a, m] = calls;
    assert_eq!(store.conversations().tool_calls(run.id).unwrap(), [z, a, m, denied]);
    assert_eq!(texts(&store, run.session).await, ["q", "z", "a", "no"]);
    assert_eq!(store.conversations().tool_calls(RunId::new()).unwrap(), []);
}

async fn answer(store: &Store, run: &ActiveTurn, text: &str) {
    let message = Message::new(run.session, MessageRole::Assistant, text.into(), at(2));
    store
        .conversations()
        .end_turn(run, TurnEnd { messages: vec![message], delivery: None, ..TurnEnd::default() })
        .await
        .unwrap();
}

fn told(store: &Store, session: SessionId) -> Vec<String> {
    let recent = store.conversations().recent(session, 100).unwrap();
    recent.iter().map(|message| message.text.clone()).collect()
}

pub(super) async fn a_question_is_tried_again(backend: &dyn Backend) {
    let store = backend.open().await;
    accept(&store, &[1, 2, 3, 4], 0).await;
    let first = store.conversations().begin_turn(HERE, &[inbound(1, "first")], at(1)).unwrap();
    answer(&store, &first, "one").await;
    // Nobody answered this one: it is no part of the next question.
    let silent = store.conversations().begin_turn(HERE, &[inbound(2, "quiet")], at(1)).unwrap();
    store.conversations().end_turn(&silent, TurnEnd::default()).await.unwrap();
    let parts = [
        inbound(3, "second"),
        Inbound { origin: Origin::telegram(UpdateId(3), MessageId(1030)), ..inbound(30, "and more") },
    ];
    let second = store.conversations().begin_turn(HERE, &parts, at(2)).unwrap();
    answer(&store, &second, "two").await;

    let model: ModelName = "openai:x".parse().unwrap();
    let again =
        store.conversations().begin_again(HERE, again(from(4), Some(model.clone())), at(3)).await.unwrap();
    let (run, question) = again.unwrap();
    assert_eq!(
        (run.again, run.model.as_ref(), run.origins.as_slice()),
        (true, Some(&model), [from(4)].as_slice())
    );
    let said: Vec<&str> = question.iter().map(|message| message.text.as_str()).collect();
    assert_eq!(said, ["second", "and more"]);
    assert_eq!(question[0].speaker, Some(inbound(3, "").speaker));
    assert_eq!(told(&store, run.session), ["first", "one", "quiet", "second", "and more"]);
    assert_eq!(store.conversations().question(&run).unwrap(), question);
    answer(&store, &run, "two, better").await;
    let store = backend.reopen(store).await;
    let all = ["first", "one", "quiet", "second", "and more", "two, better"];
    assert_eq!(told(&store, run.session), all);
    assert_eq!(store.inbox().unsettled().unwrap(), []);
}

pub(super) async fn a_task_in_between_is_not_tried_again(backend: &dyn Backend) {
    let store = backend.open().await;
    accept(&store, &[1, 2, 3], 0).await;
    let prompt = |text: &str| Inbound { task: Some(TaskId::new()), ..inbound(50, text) };
    let task = store.conversations().begin_turn(HERE, &[prompt("sing")], at(0)).unwrap();
    answer(&store, &task, "la").await;
    assert_eq!(
        store.conversations().begin_again(HERE, again(from(1), None), at(1)).await.unwrap(),
        None,
        "nobody has asked yet"
    );

    let first = store.conversations().begin_turn(HERE, &[inbound(2, "why?")], at(1)).unwrap();
    answer(&store, &first, "because").await;
    for (text, said) in [("sing again", "la la"), ("hush", "…")] {
        let task = store.conversations().begin_turn(HERE, &[prompt(text)], at(2)).unwrap();
        answer(&store, &task, said).await;
    }
    let (run, question) =
        store.conversations().begin_again(HERE, again(from(3), None), at(3)).await.unwrap().unwrap();
    assert_eq!(question.iter().map(|message| message.text.as_str()).collect::<Vec<_>>(), ["why?"]);
    answer(&store, &run, "so it is").await;
    let store = backend.reopen(store).await;
    let recent = store.conversations().recent(run.session, 100).unwrap();
    let kept: Vec<&str> =
        recent.iter().filter(|message| !message.replaced).map(|message| message.text.as_str()).collect();
    assert_eq!(kept, ["sing", "la", "sing again", "la la", "hush", "…", "why?", "so it is"]);
}

pub(super) async fn what_was_never_asked_is_not_tried_again(backend: &dyn Backend) {
    let store = backend.open().await;
    accept(&store, &[1], 0).await;
    assert_eq!(store.conversations().begin_again(HERE, again(from(1), None), at(1)).await.unwrap(), None);
    let store = backend.reopen(store).await;
    assert_eq!(store.inbox().unsettled().unwrap(), [], "its update is settled");
    assert_eq!(store.conversations().active_runs().unwrap(), []);
}

pub(super) async fn a_further_try_goes_on_after_a_restart(backend: &dyn Backend) {
    let store = backend.open().await;
    accept(&store, &[1, 2], 0).await;
    let first = store.conversations().begin_turn(HERE, &[inbound(1, "why?")], at(1)).unwrap();
    answer(&store, &first, "because").await;
    let (run, question) =
        store.conversations().begin_again(HERE, again(from(2), None), at(2)).await.unwrap().unwrap();
    let store = backend.reopen(store).await;
    assert_eq!(store.conversations().active_runs().unwrap(), from_ref(&run));
    // The same update again is the same turn.
    let once_more = store.conversations().begin_again(HERE, again(from(2), None), at(3)).await.unwrap();
    assert_eq!(once_more, Some((run.clone(), question)));
    assert_eq!(told(&store, run.session), ["why?"]);
}
