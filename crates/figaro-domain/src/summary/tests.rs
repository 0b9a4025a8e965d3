use chrono::TimeDelta;
use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::message::Speaker;
use figaro_base::ids::{RunId, UserId};

const SESSION: SessionId = SessionId::from_bytes([1; 16]);
const RULES: SummaryRules = SummaryRules { every: 50, recent_tokens: 750 };

/// A message of a session; those of one exchange have the same turn.
fn message(index: u32, role: MessageRole, text: &str, turn: RunId) -> Arc<Message> {
    let at = DateTime::UNIX_EPOCH + TimeDelta::minutes(i64::from(index));
    let speaker = Speaker { user: UserId::telegram(11), name: "Ann".into(), username: None };
    Arc::new(Message {
        index,
        turn: Some(turn),
        speaker: (role == MessageRole::User).then_some(speaker),
        ..Message::new(SESSION, role, text.to_owned(), at)
    })
}

/// Exchanges of so many parts of a question and results and answers of so many words.
fn exchanges(of: &[(usize, usize, usize)]) -> Vec<Arc<Message>> {
    let mut all = Vec::new();
    for (parts, others, words) in of {
        let turn = RunId::new();
        let roles = std::iter::repeat_n(MessageRole::User, *parts)
            .chain(std::iter::repeat_n(MessageRole::Assistant, *others));
        for role in roles {
            let index = u32::try_from(all.len()).unwrap();
            all.push(message(index, role, &"word ".repeat(*words), turn));
        }
    }
    all
}

fn plain(count: usize, words: usize) -> Vec<Arc<Message>> {
    exchanges(&vec![(1, 1, words); count])
}

fn summary(run: MessageRange) -> Summary {
    Summary {
        id: run.id,
        session: SESSION,
        summary: "They talked.".to_owned(),
        message_count: run.end.saturating_sub(run.start) + 1,
        start_message_id: EntryId::new(),
        start: run.start,
        end_message_id: EntryId::new(),
        end: run.end,
        from: DateTime::UNIX_EPOCH,
        until: DateTime::UNIX_EPOCH,
        importance: 5.0,
        created_at: DateTime::UNIX_EPOCH,
    }
}

fn run(messages: &[Arc<Message>], rules: SummaryRules) -> Option<(u32, u32)> {
    next_run(messages, false, rules).map(|run| (run.start, run.end))
}

#[test]
fn a_run_is_due_by_its_messages_or_when_requests_leave_some_out() {
    // Requests show fourteen messages of twenty words.
    let small = SummaryRules { recent_tokens: 14 * estimate_tokens(&"word ".repeat(20)), ..RULES };
    let cases = [
        ("nothing", plain(0, 5), RULES, None),
        ("few short ones", plain(24, 5), RULES, None),
        ("as many as a summary covers", plain(25, 5), RULES, Some((0, 41))),
        ("switched off", plain(200, 5), SummaryRules { every: 0, ..RULES }, None),
        ("none is left out", plain(7, 20), small, None),
        ("few are left out", plain(20, 20), small, None),
        ("just enough are left out", plain(21, 20), small, Some((0, 27))),
        ("enough are left out", plain(24, 20), small, Some((0, 33))),
        ("the newest exchange alone is over the room", plain(5, 400), small, Some((0, 7))),
        (
            "one exchange is longer than that",
            exchanges(&[[(1, 80, 2)].as_slice(), &[(1, 1, 2); 5]].concat()),
            RULES,
            Some((0, 80)),
        ),
        ("nothing but one exchange", exchanges(&[(1, 80, 50)]), RULES, None),
        ("a small number", plain(3, 5), SummaryRules { every: 4, ..RULES }, Some((0, 3))),
    ];
    for (name, messages, rules, wanted) in cases {
        assert_eq!(run(&messages, rules), wanted, "{name}");
    }
    // Of an old session only its beginning was read.
    let many = plain(60, 5);
    assert_eq!(next_run(&many, true, RULES).map(|run| (run.start, run.end)), Some((0, 49)));
    let endless = exchanges(&[(1, 80, 2)]);
    assert_eq!(next_run(&endless, true, RULES).map(|run| (run.start, run.end)), Some((0, 80)));
}

#[test]
fn a_summary_fits_behind_the_last_or_in_the_place_of_one_to_be_made_anew() {
    let at = |start, end| summary(MessageRange { id: SummaryId::new(), start, end });
    let others = [at(0, 9), at(10, 19)];
    let fits = |new: &Summary| new.fits(&others, 40);
    assert!(fits(&at(20, 29)) && fits(&at(20, 39)));
    for wrong in [at(21, 29), at(19, 29), at(10, 19), at(0, 9), at(20, 40), at(20, 19)] {
        assert!(!fits(&wrong), "{wrong:?}");
    }
    assert!(at(0, 3).fits(&[], 4) && !at(1, 3).fits(&[], 4));
    let stale = others[0].without_words();
    let again = Summary { id: stale.id, ..others[0].clone() };
    let with = [stale.clone(), others[1].clone()];
    assert!(again.fits(&with, 40) && !others[0].fits(&with, 40), "only of the messages as they are now");
    assert!(!Summary { end: 8, ..again }.fits(&with, 40));
    assert_eq!(to_be_made_again(&with), Some(MessageRange { id: stale.id, start: 0, end: 9 }));
    // One in the middle was lost.
    let gap = [at(0, 9), at(20, 29)];
    let run = to_be_made_again(&gap).unwrap();
    assert_eq!((run.start, run.end), (10, 19));
    assert!(summary(run).fits(&gap, 40) && !at(10, 20).fits(&gap, 40));
}

#[test]
fn what_matters_stands_for_a_run_that_no_model_summarised() {
    let turn = RunId::new();
    let said =
        ["ok", "I am allergic to nuts, so no cake please", "Noted.", "and what else?", "thanks a lot then"];
    let messages: Vec<Arc<Message>> = said
        .iter()
        .zip(0..)
        .map(|(text, at)| {
            message(at, if at == 2 { MessageRole::Assistant } else { MessageRole::User }, text, turn)
        })
        .collect();
    let (words, importance) = extract(&messages);
    assert!(words.contains("Ann: I am allergic to nuts") && !words.contains("Noted"), "{words}");
    assert_eq!(importance, 10.0);
    let replaced = Arc::new(Message { replaced: true, ..(*messages[1]).clone() });
    assert_eq!(extract(&[replaced]), ("-".to_owned(), 0.0));
}

#[test]
fn what_lasts_does_not_lose_by_age() {
    let of = |importance| Summary {
        importance,
        ..summary(MessageRange { id: SummaryId::new(), start: 0, end: 1 })
    };
    assert_eq!(
        (of(7.0).worth(90), of(6.0).worth(0), of(6.0).worth(2), of(6.0).worth(90)),
        (7.0, 6.0, 5.0, 2.0)
    );
    assert!(of(1.0).is_shown() && !of(0.0).is_shown() && !of(9.0).without_words().is_shown());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn summaries_tile_a_session_whatever_is_said(
        talk in vec((1..4_usize, 0..9_usize, 0..40_usize), 1..40),
        every in 4..60_u32,
        recent_tokens in 0..400_usize,
        edits in vec((0..60_usize, 0..400_u32), 0..12),
        read in 20..120_usize,
    ) {
        let rules = SummaryRules { every, recent_tokens };
        let whole = exchanges(&talk);
        let ends: Vec<usize> = (1..=whole.len())
            .filter(|at| *at == whole.len() || begins_exchange(&whole, *at))
            .collect();
        let mut all: Vec<Summary> = Vec::new();
        for (turn, end) in ends.into_iter().enumerate() {
            for (_, index) in edits.iter().filter(|(at, _)| *at == turn) {
                if let Some(covering) = all.iter_mut().find(|summary| summary.covers(*index)) {
                    *covering = covering.without_words();
                }
            }
            let messages = u32::try_from(end).unwrap();
            // As the worker does it: from the state alone, until nothing is left to do.
            loop {
                let cursor = all.last().map_or(0, |last| last.end + 1);
                let uncovered: Vec<_> = whole[cursor as usize..end].iter().take(read).cloned().collect();
                let has_more = cursor as usize + uncovered.len() < end;
                let again = to_be_made_again(&all);
                let Some(run) = again.or_else(|| next_run(&uncovered, has_more, rules)) else { break };
                let made = summary(run);
                prop_assert!(made.fits(&all, messages), "{:?} beside {:?}", run, all);
                all.retain(|other| other.start != made.start);
                all.push(made.clone());
                all.sort_by_key(|summary| summary.start);
                prop_assert!(!made.fits(&all, messages), "once only");
            }
            let mut next = 0;
            for summary in &all {
                prop_assert_eq!(summary.start, next, "no gap, no overlap");
                prop_assert!(!summary.is_stale() && begins_exchange(&whole, summary.start as usize));
                next = summary.end + 1;
            }
            prop_assert!((next as usize) < end, "the newest exchange stays out");
            prop_assert!(end - (next as usize) < (every as usize).max(20), "{} of {}", next, end);
        }
    }
}
