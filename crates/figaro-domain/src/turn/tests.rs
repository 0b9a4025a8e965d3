//! The transitions as tables: what is stored, what happens, what is to be written.

use chrono::{DateTime, TimeDelta, TimeZone, Utc};
use figaro_base::tz::Tz;
use serde_json::json;

use super::*;
use crate::chat::{ChatKind, Place};
use crate::conversation::{ConversationId, EntryKey, Message, MessageRole, Session};
use crate::delivery::{CardKind, DeliveryEnd, PendingDelivery};
use crate::facts::UsedMemories;
use crate::message::{Inbound, Speaker};
use crate::origin::Origin;
use crate::record::ImportanceRules;
use crate::schedule::Schedule;
use crate::task::{
    Cost, DueRun, Lease, NewTask, PauseReason, Reason, RunStatus, Task, TaskChange, TaskRunResult, TaskState,
};
use figaro_base::ids::{
    ChatId, EntryId, MemoryId, MessageId, RequestId, RunId, SessionId, TaskId, UpdateId, UserId,
};

const HERE: ConversationId = ConversationId { chat: ChatId(1), topic: None };
const THERE: ConversationId = ConversationId { chat: ChatId(2), topic: None };

fn at(minute: i64) -> DateTime<Utc> {
    Utc.with_ymd_and_hms(2026, 11, 23, 8, 0, 0).unwrap() + TimeDelta::minutes(minute)
}

fn place() -> Place {
    Place { chat: HERE.chat, kind: ChatKind::Private, title: None, topic: None }
}

fn speaker() -> Speaker {
    Speaker { user: UserId::telegram(1), name: "Ann".to_owned(), username: None }
}

fn once() -> Task {
    let (prompt, zone) = ("Sing".to_owned(), Tz::UTC);
    let schedule = Schedule::Once { at: at(60), wall: false };
    let (place, creator, language, zone_assumed) = (place(), speaker(), None, false);
    Task::new(NewTask { place, creator, language, prompt, schedule, zone, zone_assumed }, at(0))
}

/// A task whose run is under way.
fn leased(run: RunId) -> Task {
    let mut task = once();
    task.apply(TaskChange::Lease(run, DueRun { at: at(60), attempt: 1, late: false }), at(60)).unwrap();
    task
}

fn from(update: i64) -> Origin {
    Origin::telegram(UpdateId(update), MessageId(update))
}

fn asked(update: i64, text: &str) -> Inbound {
    let (origin, sent_at) = (from(update), at(1));
    Inbound { origin, task: None, text: text.to_owned(), ..Inbound::of_task(&once(), sent_at) }
}

fn tail() -> SessionTail {
    let session = Session::new(HERE, at(0));
    SessionTail { session: session.id, record: Some(session), next_index: 5 }
}

fn turn(tail: &SessionTail, updates: &[i64]) -> ActiveTurn {
    let origins = updates.iter().copied().map(from).collect();
    ActiveTurn { origins, first_index: 3, ..ActiveTurn::new(HERE, tail, at(0)) }
}

fn said(role: MessageRole, text: &str) -> Message {
    Message::new(SessionId::new(), role, text.to_owned(), at(2))
}

/// A change in a few words, without the ids that differ from run to run.
fn short(change: TurnChange) -> String {
    let places = |answer: Option<EntryKey>| answer.map_or("nowhere".to_owned(), |key| key.index.to_string());
    match change {
        TurnChange::BeginSession(_) => "begin session".to_owned(),
        TurnChange::PutSession(session) => format!("session {}", (session.updated_at - at(0)).num_minutes()),
        TurnChange::PutMessage(message) if message.replaced => format!("replaced {}", message.text),
        TurnChange::PutMessage(message) => format!("{} {}", message.index, message.text),
        TurnChange::RemoveMessages(first) => format!("remove from {}", first.index),
        TurnChange::PutTurn(turn) => format!("turn at {}", turn.first_index),
        TurnChange::RemoveTurn(_) => "no turn".to_owned(),
        TurnChange::PutDelivery(delivery, answer) => {
            format!("deliver {} {}", delivery.markdown, places(answer))
        }
        TurnChange::RemoveDelivery(_) => "delivered".to_owned(),
        TurnChange::PutLive(live) => format!("live {}", live.message),
        TurnChange::ForgetLive(_) => "forget live".to_owned(),
        TurnChange::EndChildren(_) => "end children".to_owned(),
        TurnChange::RemoveChildren(_) => "no children".to_owned(),
        TurnChange::PutParked(parked) => format!("parked at {}", parked.asked_at),
        TurnChange::RemoveParked(_) => "not parked".to_owned(),
        TurnChange::PutCalls(_, calls) => format!("{} calls", calls.len()),
        TurnChange::PinVital(pins) => {
            format!("pin {:?}", pins.iter().map(|pin| &pin.content).collect::<Vec<_>>())
        }
        TurnChange::Settle(updates) => {
            format!("settle {:?}", updates.iter().map(|id| id.0).collect::<Vec<_>>())
        }
        TurnChange::PutUnread(unread) => format!("unread {}", unread.place.index),
        TurnChange::Audit(audited) => format!("audit {:?}", audited.event.what),
        TurnChange::UseMemories(used) => format!("uses {}", used.ids.len()),
        TurnChange::ChangeTask(step) => match step.entry {
            Some(entry) => format!("task {:?} {:?}", entry.status, entry.error),
            None => "task".to_owned(),
        },
    }
}

/// All of them but what becomes of children, which [`whatever_ends_a_turn_ends_its_children`] looks at.
fn shorts(changes: ChangeSet) -> Vec<String> {
    let is_of_children =
        |change: &TurnChange| matches!(change, TurnChange::EndChildren(_) | TurnChange::RemoveChildren(_));
    changes.into_iter().filter(|change| !is_of_children(change)).map(short).collect()
}

/// Whose children end, and whose are removed.
fn of_children(changes: ChangeSet) -> (Vec<RunId>, Vec<RunId>) {
    let (mut ended, mut removed) = (Vec::new(), Vec::new());
    for change in changes {
        match change {
            TurnChange::EndChildren(turn) => ended.push(turn),
            TurnChange::RemoveChildren(turn) => removed.push(turn),
            _ => {}
        }
    }
    (ended, removed)
}

#[test]
fn whatever_ends_a_turn_ends_its_children() {
    let tail = tail();
    let turn = turn(&tail, &[4]);
    let stored = || StoredTurn { on_record: Some(turn.clone()), tail: tail.clone() };
    let ended = end(&turn, stored(), EndsWith::default(), TurnEnd::default());
    assert_eq!(of_children(ended), (vec![turn.id], Vec::new()));
    assert_eq!(
        of_children(retract(&turn, &stored())),
        (Vec::new(), vec![turn.id]),
        "as if they had never been"
    );
    let gone = StoredTurn { on_record: None, tail: tail.clone() };
    assert_eq!(
        of_children(end(&turn, gone, EndsWith::default(), TurnEnd::default())),
        (Vec::new(), Vec::new())
    );
    for acted in [false, true] {
        let left = LeftTurn { turn: turn.clone(), question: Vec::new(), acted, task: None };
        let standing = ConversationState {
            rules: ImportanceRules::default(),
            conversation: HERE,
            left: Some(left),
            current: Some(tail.clone()),
        };
        let part = Inbound::addressed(from(9), place(), speaker(), "next".to_owned(), at(1));
        let begun = begin(standing, &[part], at(1));
        assert_eq!(of_children(begun.changes).0, [turn.id]);
    }
}

#[test]
fn what_is_vital_in_a_question_is_pinned_with_it() {
    let tail = tail();
    let part = |text: &str| Inbound::addressed(from(0), place(), speaker(), text.to_owned(), at(1));
    let parts = [part("I am allergic to nuts"), part("What can I cook?")];
    let standing = ConversationState {
        rules: ImportanceRules::default(),
        conversation: HERE,
        left: None,
        current: Some(tail),
    };
    let begun = begin(standing, &parts, at(1));
    let pins: Vec<_> =
        begun.changes.into_iter().filter(|change| matches!(change, TurnChange::PinVital(_))).collect();
    let [TurnChange::PinVital(pins)] = pins.as_slice() else { panic!("{pins:?}") };
    let [pin] = pins.as_slice() else { panic!("{pins:?}") };
    let [asked, _] = begun.output.question.as_slice() else { panic!() };
    assert_eq!(
        (pin.content.as_str(), pin.source, pin.chat),
        ("I am allergic to nuts", Some(asked.key()), HERE.chat)
    );
    assert_eq!((pin.source_message_id, pin.session), (Some(asked.id), asked.session));
}

#[test]
fn a_question_takes_the_place_of_a_turn_that_never_ended() {
    let new = ["5 why?", "6 now!", "session 1", "turn at 5"];
    // The updates of the turn on record, whether it acted, what is written.
    for (left, acted, wanted) in [
        (None, false, new.to_vec()),
        (Some(&[7][..]), false, new.to_vec()),
        (Some(&[7][..]), true, [&["settle [7]"][..], &new].concat()),
        (Some(&[7, 2][..]), true, [&["settle [7]"][..], &new].concat()),
        (Some(&[1][..]), true, vec![]),
        (Some(&[0, 1][..]), false, vec![]),
    ] {
        let tail = tail();
        let left = left.map(|updates| {
            let question = vec![said(MessageRole::User, "before")];
            LeftTurn { turn: turn(&tail, updates), question, acted, task: None }
        });
        let standing = ConversationState {
            rules: ImportanceRules::default(),
            conversation: HERE,
            left: left.clone(),
            current: Some(tail),
        };
        let Transition { output, changes } = begin(standing, &[asked(1, "why?"), asked(2, "now!")], at(9));
        assert_eq!(shorts(changes), wanted, "{left:?}");
        if wanted.is_empty() {
            let left = left.unwrap();
            assert_eq!((output.turn, output.question, output.gave_way), (left.turn, left.question, None));
        } else {
            assert_eq!(output.gave_way, left);
            assert_eq!((output.turn.origins, output.turn.started_at), (vec![from(1), from(2)], at(9)));
            assert!(output.question.iter().all(|message| message.turn == Some(output.turn.id)));
        }
    }
}

#[test]
fn only_a_turn_asked_in_telegram_settles_updates() {
    let request = RequestId::new();
    let http = Origin::Http { request };
    let terminal = Origin::Terminal { request };
    for (origins, wanted) in
        [(vec![http], None), (vec![terminal], None), (vec![http, from(7)], Some("settle [7]"))]
    {
        let turn = ActiveTurn { origins, ..ActiveTurn::new(HERE, &tail(), at(0)) };
        let stored = StoredTurn { on_record: Some(turn.clone()), tail: tail() };
        let changes = shorts(end(&turn, stored, EndsWith::default(), TurnEnd::default()));
        let settled: Vec<&String> = changes.iter().filter(|change| change.starts_with("settle")).collect();
        assert_eq!(settled, Vec::from_iter(wanted), "{changes:?}");
    }
    let part = Inbound::addressed(http, place(), speaker(), "why?".to_owned(), at(1));
    assert_eq!(Message::from_inbound(SessionId::new(), &part).telegram, []);
}

#[test]
fn the_first_turn_of_a_conversation_begins_its_session() {
    let standing = ConversationState {
        rules: ImportanceRules::default(),
        conversation: HERE,
        left: None,
        current: None,
    };
    let begun = begin(standing.clone(), &[asked(1, "hi")], at(0));
    assert_eq!(shorts(begun.changes), ["begin session", "0 hi", "session 1", "turn at 0"]);
    assert!(begun.output.question.iter().all(|message| message.session == begun.output.turn.session));
    let silent = begin(standing, &[], at(0));
    assert_eq!(shorts(silent.changes), ["begin session", "turn at 0"]);
}

#[test]
fn what_a_person_typed_themselves_is_marked_to_be_read_for_facts() {
    let typed = || Inbound { learns: true, ..asked(1, "I live in Riga") };
    let begin_with = |part: Inbound| {
        let standing = ConversationState {
            rules: ImportanceRules::default(),
            conversation: HERE,
            left: None,
            current: Some(tail()),
        };
        shorts(begin(standing, &[part], at(0)).changes).last().cloned().unwrap()
    };
    assert_eq!(begin_with(typed()), "unread 5");
    let channel = Speaker { user: UserId::telegram(-100), ..typed().speaker };
    for part in [
        Inbound { learns: false, ..typed() },
        Inbound { forwarded_from: Some("Bob".into()), ..typed() },
        Inbound { task: Some(TaskId::new()), ..typed() },
        Inbound { borrowed: true, ..typed() },
        Inbound { speaker: channel, ..typed() },
        Inbound { text: "  ".into(), ..typed() },
    ] {
        assert_eq!(begin_with(part.clone()), "turn at 5", "{part:?}");
    }
}

#[test]
fn a_run_that_acted_fails_when_it_gives_way() {
    for (acted, wanted) in [(true, vec!["task Failed Some(Interrupted)"]), (false, vec![])] {
        let (tail, run) = (tail(), RunId::new());
        let task = leased(run);
        let turn = ActiveTurn { id: run, task: Some(task.id), ..turn(&tail, &[]) };
        let left = LeftTurn { turn, question: Vec::new(), acted, task: Some(task) };
        let standing = ConversationState {
            rules: ImportanceRules::default(),
            conversation: HERE,
            left: Some(left),
            current: Some(tail),
        };
        let changes = shorts(begin(standing, &[asked(1, "why?")], at(70)).changes);
        assert_eq!(changes, [wanted, vec!["5 why?", "session 1", "turn at 5"]].concat(), "{acted}");
    }
}

#[test]
fn a_question_is_tried_again_if_there_is_one() {
    let exchange = vec![
        said(MessageRole::User, "why?"),
        said(MessageRole::Tool, "x"),
        said(MessageRole::Assistant, "because"),
    ];
    let replaced = ["replaced why?", "replaced x", "replaced because", "5 why?", "session 2", "turn at 5"];
    for (left, exchange, wanted) in [
        (None, &exchange, replaced.to_vec()),
        (Some(4), &exchange, [&["settle [4]"][..], &replaced].concat()),
        (Some(9), &exchange, vec![]),
        (None, &vec![], vec!["settle [9]"]),
        (Some(4), &vec![], vec!["settle [9]"]),
    ] {
        let tail = tail();
        let left = left.map(|update| LeftTurn {
            turn: turn(&tail, &[update]),
            question: Vec::new(),
            acted: true,
            task: None,
        });
        let standing = ConversationState {
            rules: ImportanceRules::default(),
            conversation: HERE,
            left: left.clone(),
            current: Some(tail),
        };
        let model = Some("openai:x".parse().unwrap());
        let asked = AskedAgain {
            origin: from(9),
            model: model.clone(),
            edited: None,
            exchange: exchange.clone(),
            parked: Vec::new(),
        };
        let Transition { output, changes } = begin_again(standing, asked, at(9));
        let mut changes = shorts(changes);
        changes.sort_by_key(|change| !change.starts_with("settle"));
        assert_eq!(changes, wanted, "{left:?}");
        let Some(begun) = output else {
            assert!(exchange.is_empty());
            continue;
        };
        if wanted.is_empty() {
            assert_eq!(Some(begun.turn), left.map(|left| left.turn), "it is the turn on record");
        } else {
            assert_eq!(
                (begun.turn.again, begun.turn.model, begun.turn.origins),
                (true, model, vec![from(9)])
            );
            assert_ne!(begun.question[0].id, exchange[0].id);
        }
    }
}

#[test]
fn an_edit_is_read_for_facts_and_pinned_as_a_new_question_is() {
    let tail = tail();
    let session = tail.session;
    let standing = ConversationState {
        rules: ImportanceRules::default(),
        conversation: HERE,
        left: None,
        current: Some(tail),
    };
    let part = |text: &str| Inbound::addressed(from(1), place(), speaker(), text.to_owned(), at(1));
    let asked = Message { turn: Some(RunId::new()), ..Message::from_inbound(session, &part("I like nuts")) };
    let edited = Some(Box::new(Inbound { learns: true, ..part("I am allergic to nuts") }));
    let asked =
        AskedAgain { origin: from(2), model: None, edited, exchange: vec![asked], parked: Vec::new() };
    let Transition { output, changes } = begin_again(standing, asked, at(2));
    let question = &output.unwrap().question;
    assert_eq!(question[0].text, "I am allergic to nuts");
    let shown = shorts(changes);
    let of = format!("unread {}", question[0].index);
    assert!(shown.contains(&of) && shown.iter().any(|change| change.starts_with("pin")), "{shown:?}");
}

#[test]
fn the_last_exchange_is_what_a_person_asked_last() {
    let turns = [RunId::new(), RunId::new()];
    // One word a message, oldest first: a role, the turn of a question, "t" for one of a task, "r" for a replaced one.
    for (stored, wanted) in [
        ("", ""),
        ("a", ""),
        ("u0", "u0"),
        ("u0 a", "u0 a"),
        ("u0 a u1 a", "u1 a"),
        ("u0 u1 u1 a", "u1 u1 a"),
        ("u u a", "u u a"),
        ("u0 a ut a", "u0 a"),
        ("u0 a ut a ut", "u0 a"),
        ("ut a", ""),
        ("u0r ar u1 x a", "u1 x a"),
        ("u0r ar", ""),
    ] {
        let message = |word: &str| {
            let role = match &word[..1] {
                "u" => MessageRole::User,
                "x" => MessageRole::Tool,
                _ => MessageRole::Assistant,
            };
            Message {
                turn: word.chars().find_map(|c| turns.get(c.to_digit(10)? as usize)).copied(),
                task: word.contains('t').then(TaskId::new),
                replaced: word.contains('r'),
                ..said(role, word)
            }
        };
        let mut exchange = LastExchange::default();
        for word in stored.split_whitespace().rev() {
            if exchange.add(message(word)).is_break() {
                break;
            }
        }
        let picked: Vec<String> = exchange.into_messages().into_iter().map(|message| message.text).collect();
        assert_eq!(picked.join(" "), wanted, "{stored}");
    }
}

#[test]
fn the_turn_of_a_task_begins_if_the_run_is_wanted() {
    let (begun, none) = (&["5 Sing", "session 60", "turn at 5"][..], &[][..]);
    let skipped = &["task Skipped None"][..];
    let (paused, done) = (TaskState::Paused(PauseReason::Person), TaskState::Done(at(50)));
    for (state, by_hand, wanted) in [
        (TaskState::Active, false, begun),
        (TaskState::Active, true, begun),
        (paused, false, skipped),
        (paused, true, begun),
        (done, false, skipped),
        (done, true, begun),
        (TaskState::Cancelled(at(50)), false, skipped),
        (TaskState::Cancelled(at(50)), true, skipped),
    ] {
        let run = RunId::new();
        let lease = leased(run).lease.map(|lease| Lease { by_hand, ..lease });
        let task = Task { state, lease, ..leased(run) };
        let standing = ConversationState {
            rules: ImportanceRules::default(),
            conversation: HERE,
            left: None,
            current: Some(tail()),
        };
        let Transition { output, changes } = begin_task(standing.clone(), &task, run, at(60));
        assert_eq!(shorts(changes), wanted, "{state:?} {by_hand}");
        let output = output.map(|begun| (begun.turn.id, begun.turn.task));
        assert_eq!(output, (wanted == begun).then_some((run, Some(task.id))), "{state:?} {by_hand}");

        // A lease of another run, none, and one that has its answer.
        let answered = lease.map(|lease| Lease { answered: Some(Cost::default()), ..lease });
        for (run, lease) in [(RunId::new(), lease), (run, None), (run, answered)] {
            let other = begin_task(standing.clone(), &Task { lease, ..task.clone() }, run, at(60));
            assert_eq!((other.output, shorts(other.changes).as_slice()), (None, none));
        }
        // Begun before, it goes on in any state.
        let turn = ActiveTurn { id: run, ..turn(&tail(), &[]) };
        let left =
            LeftTurn { turn: turn.clone(), question: Vec::new(), acted: true, task: Some(task.clone()) };
        let again = begin_task(ConversationState { left: Some(left), ..standing }, &task, run, at(61));
        assert_eq!(
            again,
            Transition::unchanged(Some(BegunTurn { turn, question: Vec::new(), gave_way: None }))
        );
    }
}

#[test]
fn a_turn_ends_with_its_words_deliveries_and_task() {
    let (tail, run) = (tail(), RunId::new());
    let task = leased(run);
    let plain = ActiveTurn { id: run, ..turn(&tail, &[1, 2]) };
    let of_task = ActiveTurn { task: Some(task.id), ..plain.clone() };
    let (thought, answer) = (said(MessageRole::Assistant, "hm"), said(MessageRole::Assistant, "because"));
    let messages = vec![thought, answer.clone()];
    let words =
        |entry| PendingDelivery { entry, ..PendingDelivery::new(run, place(), "words".into(), at(2)) };
    let card = PendingDelivery::of_card(run, place(), CardKind::Zone, at(3));
    let settle = |ended| Some((TaskChange::Settle(run, ended), at(61)));
    let failed = |again| settle(TaskRunResult::Failed { error: Reason::Busy, again, cost: Cost::default() });
    let with_words = |entry| TurnEnd {
        messages: messages.clone(),
        delivery: Some(words(entry)),
        cards: vec![card.clone()],
        task: None,
        used: Some(UsedMemories { user: UserId::telegram(4), ids: vec![MemoryId::new()], at: at(3) }),
        ..TurnEnd::default()
    };
    let end_of_task = |change| TurnEnd { task: change, ..TurnEnd::default() };
    let ended = ["no turn", "settle [1, 2]"];
    for (turn, end_with, wanted) in [
        (&plain, TurnEnd::default(), vec![]),
        (
            &plain,
            with_words(Some(answer.id)),
            vec!["5 hm", "6 because", "session 2", "deliver words 6", "deliver  nowhere", "uses 1"],
        ),
        (
            &plain,
            with_words(Some(EntryId::new())),
            vec!["5 hm", "6 because", "session 2", "deliver words 4", "deliver  nowhere", "uses 1"],
        ),
        (
            &plain,
            with_words(None),
            vec!["5 hm", "6 because", "session 2", "deliver words nowhere", "deliver  nowhere", "uses 1"],
        ),
        // Only the turn of a task changes it.
        (&plain, end_of_task(failed(false)), vec![]),
        (&of_task, end_of_task(failed(false)), vec!["task Failed Some(Busy)"]),
        (&of_task, end_of_task(failed(true)), vec!["remove from 3", "task"]),
        (&of_task, end_of_task(settle(TaskRunResult::Silent(Cost::default()))), vec!["task Silent None"]),
        (&of_task, end_of_task(Some((TaskChange::Answered(run, Cost::default()), at(61)))), vec!["task"]),
        // A change that does not fit the task leaves it as it is.
        (&of_task, end_of_task(Some((TaskChange::Resume, at(61)))), vec![]),
    ] {
        let answer = EntryKey { session: tail.session, index: 4 };
        let with = EndsWith { answer: Some(answer), task: Some(task.clone()) };
        let stored = StoredTurn { on_record: Some(turn.clone()), tail: tail.clone() };
        let changes = shorts(end(turn, stored, with.clone(), end_with.clone()));
        assert_eq!(changes, [wanted, ended.to_vec()].concat(), "{end_with:?}");
        let other = ActiveTurn { id: RunId::new(), ..turn.clone() };
        for on_record in [None, Some(other)] {
            let stored = StoredTurn { on_record, tail: tail.clone() };
            assert_eq!(
                end(turn, stored, with.clone(), end_with.clone()),
                ChangeSet::default(),
                "it has ended"
            );
        }
    }
}

#[test]
fn the_end_of_a_turn_names_its_session_with_its_words_or_without() {
    let tail = tail();
    let turn = turn(&tail, &[1]);
    for (messages, wanted) in [
        (vec![], vec!["session 0", "no turn", "settle [1]"]),
        (
            vec![said(MessageRole::Assistant, "because")],
            vec!["5 because", "session 2", "no turn", "settle [1]"],
        ),
    ] {
        let name = crate::session::SessionName::by_agent("Pumps", turn.id);
        let with = TurnEnd { messages, name: name.clone(), ..TurnEnd::default() };
        let stored = StoredTurn { on_record: Some(turn.clone()), tail: tail.clone() };
        let changes = end(&turn, stored, EndsWith::default(), with);
        for change in changes.clone() {
            if let TurnChange::PutSession(session) = change {
                assert_eq!(session.name, name);
            }
        }
        assert_eq!(shorts(changes), wanted);
    }
}

#[test]
fn an_answer_is_looked_for_if_the_end_does_not_bring_it() {
    let (answer, before) = (said(MessageRole::Assistant, "because"), EntryId::new());
    for (entry, wanted) in [(None, None), (Some(answer.id), None), (Some(before), Some(before))] {
        let delivery =
            PendingDelivery { entry, ..PendingDelivery::new(RunId::new(), place(), "words".into(), at(2)) };
        let end = TurnEnd { messages: vec![answer.clone()], delivery: Some(delivery), ..TurnEnd::default() };
        assert_eq!(end.earlier_answer(), wanted);
    }
    assert_eq!(TurnEnd::default().earlier_answer(), None);
}

#[test]
fn a_turn_is_taken_back_unless_its_session_has_moved() {
    let here = tail();
    let record = here.record.clone().map(|record| Session { conversation: THERE, ..record });
    let (moved, lost) =
        (SessionTail { record, ..here.clone() }, SessionTail { record: None, ..here.clone() });
    for (tail, wanted) in [
        (&here, &["remove from 3", "no turn"][..]),
        (&lost, &["remove from 3", "no turn"]),
        (&moved, &["no turn"]),
    ] {
        let turn = turn(tail, &[1]);
        let stored = StoredTurn { on_record: Some(turn.clone()), tail: tail.clone() };
        assert_eq!(shorts(retract(&turn, &stored)), wanted);
        let ended = StoredTurn { on_record: None, ..stored };
        assert_eq!(retract(&turn, &ended), ChangeSet::default());
    }
}

#[test]
fn the_end_of_a_delivery_ends_the_run_of_its_task() {
    for (end, status, error, message) in [
        (DeliveryEnd::Whole, RunStatus::Delivered, None, Some(MessageId(8))),
        (DeliveryEnd::Stopped, RunStatus::Stopped, None, None),
        (DeliveryEnd::Refused, RunStatus::Failed, Some(Reason::Undelivered), None),
        (DeliveryEnd::Unclear, RunStatus::Failed, Some(Reason::Unclear), None),
    ] {
        let run = RunId::new();
        let task = leased(run);
        let mut delivery = PendingDelivery::new(run, place(), "words".into(), at(61));
        assert!([7, 8].into_iter().all(|part| delivery.confirm(MessageId(part))));
        let stored = StoredDelivery { delivery, answer: None, task: Some(task) };
        let steps = end_delivery(stored, end.clone(), at(62)).into_iter().filter_map(|change| match change {
            TurnChange::ChangeTask(step) => step.entry,
            _ => None,
        });
        let steps: Vec<_> = steps.map(|entry| (entry.status, entry.error, entry.message)).collect();
        assert_eq!(steps, [(status, error, message)], "{end:?}");
    }
}

#[test]
fn a_delivered_answer_knows_its_messages_and_a_card_leaves_the_live_ones() {
    let mut words = PendingDelivery::new(RunId::new(), place(), "words".into(), at(2));
    words.confirm(MessageId(7));
    let card = PendingDelivery { card: Some(CardKind::Zone), ..words.clone() };
    let answer = Message { index: 4, ..said(MessageRole::Assistant, "words") };
    for (delivery, answer, wanted) in [
        (&words, Some(&answer), vec!["delivered", "forget live", "4 words"]),
        (&words, None, vec!["delivered", "forget live"]),
        (&card, None, vec!["delivered"]),
    ] {
        let stored = StoredDelivery { delivery: delivery.clone(), answer: answer.cloned(), task: None };
        let changes = end_delivery(stored, DeliveryEnd::Whole, at(3));
        for change in changes.clone() {
            if let TurnChange::PutMessage(message) = change {
                assert_eq!(message.telegram, [MessageId(7)]);
            }
        }
        assert_eq!(shorts(changes), wanted);
    }
}

#[test]
fn a_part_is_confirmed_once_and_begins_the_count_of_repeats_anew() {
    let mut delivery = PendingDelivery::new(RunId::new(), place(), "words".into(), at(2));
    delivery.count_repeat();
    assert_eq!(delivery.repeats, 1);
    assert!(delivery.confirm(MessageId(7)));
    assert_eq!((delivery.repeats, delivery.confirmed.as_slice()), (0, [MessageId(7)].as_slice()));
    delivery.count_repeat();
    assert!(!delivery.confirm(MessageId(7)));
    assert_eq!((delivery.repeats, delivery.confirmed.len()), (1, 1));
}

#[test]
fn people_are_told_of_a_change_of_tasks_only_if_one_was_made() {
    let words = || vec![PendingDelivery::new(RunId::new(), place(), "told".into(), at(2))];
    let resume = |task| AskedChange { task, change: TaskChange::Resume };
    let pause = || AskedChange { task: Some(once()), change: TaskChange::Pause(PauseReason::Person) };
    for (asked, changed, wanted) in [
        (vec![resume(Some(once())), resume(None)], vec![false, false], vec![]),
        (vec![resume(None), pause()], vec![false, true], vec!["task", "deliver told nowhere"]),
    ] {
        let Transition { output, changes } = change_tasks(asked, words(), at(2));
        assert_eq!(output.iter().map(Option::is_some).collect::<Vec<_>>(), changed);
        assert_eq!(shorts(changes), wanted);
    }
}

#[test]
fn messages_are_appended_without_gaps_also_where_the_record_of_the_session_is_lost() {
    let new = || [said(MessageRole::User, "a"), said(MessageRole::Assistant, "b")];
    let (mut messages, here) = (new(), tail());
    assert_eq!(shorts(here.clone().append(&mut messages)), ["5 a", "6 b", "session 2"]);
    assert!(messages.iter().all(|message| message.session == here.session));
    assert_eq!(messages.map(|message| message.index), [5, 6]);
    assert_eq!(shorts(SessionTail { record: None, ..here.clone() }.append(&mut new())), ["5 a", "6 b"]);
    assert_eq!(here.append(&mut []), ChangeSet::default());
}

#[test]
fn what_older_versions_stored_of_a_turn_is_read() {
    let (id, session) = (RunId::new(), SessionId::new());
    let stored = json!({
        "id": id, "conversation": {"chat": 1, "topic": null}, "session": session, "origins": [{"telegram": {"update": 7, "message": 7}}], "first_index": 3,
        "started_at": "2026-11-23T08:00:00Z"
    });
    let turn: ActiveTurn = serde_json::from_value(stored).unwrap();
    let tail = SessionTail { session, record: None, next_index: 3 };
    let wanted = ActiveTurn { id, origins: vec![from(7)], ..ActiveTurn::new(HERE, &tail, at(0)) };
    assert_eq!(turn, wanted);
}
