//! Summaries: each beside the others without gap or overlap, whoever stores them; made anew after an edit.

use std::sync::Arc;

use figaro_base::ids::{EntryId, SessionId, SummaryId};
use figaro_domain::conversation::{EntryKey, Message};
use figaro_domain::erasure::{Erasure, SaidAt};
use figaro_domain::summary::{Summary, SummaryJob, SummaryRules, next_run};
use figaro_store::{Store, TurnEnd};
use tokio::task::JoinSet;

use super::{Backend, HERE, at, inbound, texts, words};

fn summary(session: SessionId, start: u32, end: u32) -> Summary {
    Summary {
        id: SummaryId::new(),
        session,
        summary: format!("From {start} to {end}."),
        message_count: end.saturating_sub(start) + 1,
        start_message_id: EntryId::new(),
        start,
        end_message_id: EntryId::new(),
        end,
        from: at(0),
        until: at(1),
        importance: 5.0,
        created_at: at(2),
    }
}

/// Asks and answers; the question has Telegram's id 1000 and its number.
async fn exchange(store: &Store, number: i64) -> SessionId {
    let question = [inbound(number, &format!("question {number}"))];
    let turn = store.conversations().begin_turn(HERE, &question, at(number)).unwrap();
    let messages = vec![words(turn.session, &format!("answer {number}"))];
    store.conversations().end_turn(&turn, TurnEnd { messages, ..TurnEnd::default() }).await.unwrap();
    turn.session
}

pub(super) async fn summaries_tile_a_session_whoever_makes_them(backend: &dyn Backend) {
    let store = backend.open().await;
    let session = exchange(&store, 0).await;
    for number in 1..30 {
        exchange(&store, number).await;
    }
    // Eight workers that know nothing of each other.
    let rules = SummaryRules { every: 6, recent_tokens: 0 };
    let mut workers = JoinSet::new();
    for _ in 0..8 {
        let store = store.clone();
        workers.spawn(async move {
            let mut stored = 0;
            loop {
                let open = store.summaries().unsummarised(session, 20).unwrap().unwrap();
                let Some(run) = next_run(&open.messages, open.has_more, rules) else { return stored };
                tokio::task::yield_now().await;
                let made = summary(session, run.start, run.end);
                stored += u32::from(store.summaries().put(&made, &[]).unwrap());
            }
        });
    }
    let stored: u32 = workers.join_all().await.into_iter().sum();
    let store = backend.reopen(store).await;
    let all = store.summaries().of_session(session).unwrap();
    assert_eq!(usize::try_from(stored).unwrap(), all.len(), "each is stored once");
    let mut next = 0;
    for summary in &all {
        assert_eq!(summary.start, next);
        next = summary.end + 1;
    }
    assert!((50..60).contains(&next), "{next}");
    assert!(!store.summaries().put(&summary(SessionId::new(), 0, 1), &[]).unwrap(), "no such session");
}

pub(super) async fn what_a_turn_may_take_back_is_not_summarised(backend: &dyn Backend) {
    let store = backend.open().await;
    let session = exchange(&store, 0).await;
    let turn = store.conversations().begin_turn(HERE, &[inbound(1, "still open")], at(1)).unwrap();
    let open = store.summaries().unsummarised(session, 20).unwrap().unwrap();
    assert_eq!((open.messages.len(), open.has_more, open.left), (2, false, 2));
    assert!(store.summaries().unsummarised(session, 1).unwrap().unwrap().has_more);
    assert!(!store.summaries().put(&summary(session, 0, 2), &[]).unwrap());
    assert!(store.summaries().put(&summary(session, 0, 1), &[]).unwrap());
    assert_eq!(store.conversations().edit_message(&inbound(1, "too late for it")).await.unwrap(), 0);
    store.conversations().retract_turn(&turn).unwrap();
    assert!(store.summaries().unsummarised(session, 20).unwrap().unwrap().messages.is_empty());
    assert!(store.summaries().unsummarised(SessionId::new(), 20).unwrap().is_none());
}

pub(super) async fn words_that_were_erased_while_they_were_summarised_do_not_come_back(
    backend: &dyn Backend,
) {
    let store = backend.open().await;
    let session = exchange(&store, 0).await;
    for number in 1..4 {
        exchange(&store, number).await;
    }
    let read = store.summaries().unsummarised(session, 20).unwrap().unwrap().messages;
    let erase = async |index| {
        let places = vec![SaidAt::Session(EntryKey { session, index })];
        store.erasures().erase(&Erasure::Said(HERE.chat, places), at(9)).await.unwrap()
    };
    erase(2).await;
    assert!(!store.summaries().put(&summary(session, 0, 5), &read[..6]).unwrap(), "it has their words");
    // Nor does one of words that were edited meanwhile.
    let read = store.summaries().unsummarised(session, 20).unwrap().unwrap().messages;
    store.conversations().edit_message(&inbound(3, "edited")).await.unwrap();
    assert!(!store.summaries().put(&summary(session, 0, 7), &read).unwrap());
    // What is gone at the beginning, and between two summaries, is covered by the next one.
    erase(0).await;
    let read = store.summaries().unsummarised(session, 20).unwrap().unwrap().messages;
    assert_eq!(read.iter().map(|message| message.index).collect::<Vec<_>>(), [4, 5, 6, 7]);
    assert!(store.summaries().put(&summary(session, 4, 5), &read[..2]).unwrap());
    exchange(&store, 4).await;
    erase(6).await;
    let read = store.summaries().unsummarised(session, 20).unwrap().unwrap().messages;
    assert!(store.summaries().put(&summary(session, 8, 9), &read).unwrap());
    let store = backend.reopen(store).await;
    let all = store.summaries().of_session(session).unwrap();
    assert_eq!(all.iter().map(|one| (one.start, one.end)).collect::<Vec<_>>(), [(0, 5), (6, 9)]);
}

pub(super) async fn an_edit_changes_what_is_stored_and_what_was_made_of_it(backend: &dyn Backend) {
    let store = backend.open().await;
    let session = exchange(&store, 0).await;
    for number in 1..6 {
        exchange(&store, number).await;
    }
    for (start, end) in [(0, 3), (4, 7)] {
        assert!(store.summaries().put(&summary(session, start, end), &[]).unwrap());
    }
    let edited = inbound(2, "I am allergic to nuts");
    assert_eq!(store.conversations().edit_message(&edited).await.unwrap(), 1);
    assert_eq!(store.conversations().edit_message(&edited).await.unwrap(), 0, "it says so already");
    assert_eq!(store.conversations().edit_message(&inbound(99, "never asked")).await.unwrap(), 0);
    let store = backend.reopen(store).await;
    let entry: Arc<Message> = store.conversations().recent(session, 8).unwrap().remove(0);
    assert_eq!((entry.text.as_str(), entry.importance, entry.index), ("I am allergic to nuts", 10.0, 4));
    assert_eq!(texts(&store, session).await.len(), 12);
    let all = store.summaries().of_session(session).unwrap();
    assert_eq!((all[0].summary.as_str(), all[1].is_stale()), ("From 0 to 3.", true));
    assert_eq!(store.summaries().jobs(9).unwrap(), [SummaryJob::new(session)]);
    let open = store.summaries().unsummarised(session, 1).unwrap().unwrap();
    let run = open.again.unwrap();
    assert_eq!((run.start, run.end, open.messages.len()), (4, 7, 4), "it is read whole");
    // What was begun before the edit does not count, nor what was begun before the next one.
    assert!(!store.summaries().put(&summary(session, 4, 7), &[]).unwrap());
    // One whose words are erased is made anew, once, and not by what was begun before.
    assert!(store.summaries().put(&Summary { id: run.id, ..summary(session, 4, 7) }, &[]).unwrap());
    assert!(store.summaries().erase(session, run.id).await.unwrap());
    assert!(!store.summaries().erase(session, run.id).await.unwrap());
    assert!(!store.summaries().put(&Summary { id: run.id, ..summary(session, 4, 7) }, &[]).unwrap());
    let again = store.summaries().unsummarised(session, 1).unwrap().unwrap().again.unwrap();
    assert!(!store.summaries().erase(session, again.id).await.unwrap(), "it has no words yet");
    store.summaries().end_job(session).unwrap();
    assert_eq!(store.summaries().jobs(9).unwrap().len(), 1, "there is still something to do");
    let run = store.summaries().unsummarised(session, 1).unwrap().unwrap().again.unwrap();
    assert!(store.summaries().put(&Summary { id: run.id, ..summary(session, 4, 7) }, &[]).unwrap());
    store.summaries().end_job(session).unwrap();
    assert_eq!(store.summaries().jobs(9).unwrap(), []);
    assert_eq!(store.summaries().of_session(session).unwrap()[1].summary, "From 4 to 7.");
}

pub(super) async fn what_is_to_be_done_is_known_until_it_is_done(backend: &dyn Backend) {
    let store = backend.open().await;
    let session = exchange(&store, 0).await;
    let job = SummaryJob { tries: 2, not_before: at(60), ..SummaryJob::new(session) };
    store.summaries().put_job(&job).unwrap();
    store.summaries().put_job(&SummaryJob::new(SessionId::new())).unwrap();
    store.flush().await.unwrap();
    let store = backend.reopen(store).await;
    assert_eq!(store.summaries().jobs(9).unwrap(), [job], "a session that is gone has none");
    store.conversations().new_session(HERE, at(5)).await.unwrap();
    store.erasures().erase(&Erasure::Session(HERE, session), at(6)).await.unwrap();
    assert_eq!(store.summaries().jobs(9).unwrap(), []);
    assert!(store.summaries().unsummarised(session, 9).unwrap().is_none());
}
