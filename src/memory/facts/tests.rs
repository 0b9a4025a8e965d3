use std::collections::BTreeMap;

use chrono::{DateTime, TimeDelta, Utc};
use serde::Deserialize;

use super::*;
use crate::domain::conversation::{EntryKey, Message, Role};
use crate::domain::facts::{Facts, Unread};
use crate::domain::memory::Memory;
use crate::domain::message::{Quoted, Speaker};
use crate::ids::{ChatId, SessionId, UserId};

const ANN: i64 = 11;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    kind: String,
    keep: bool,
    text: String,
    #[serde(default)]
    quote: Option<String>,
    #[serde(default)]
    propose: Option<String>,
    #[serde(default, rename = "where")]
    place: Option<String>,
}

fn rows() -> Vec<Row> {
    serde_saphyr::from_str(include_str!("../../../tests/it/memories/messages.yaml")).unwrap()
}

fn ann() -> Speaker {
    Speaker { user: UserId::telegram(ANN), name: "Ann".to_owned(), username: None }
}

fn at(minute: i64) -> DateTime<Utc> {
    DateTime::UNIX_EPOCH + TimeDelta::minutes(minute)
}

fn message(text: &str, minute: i64) -> Message {
    let said = Message::new(SessionId::new(), Role::User, text.to_owned(), at(minute));
    Message { speaker: Some(ann()), ..said }
}

fn unread(message: &Message) -> Unread {
    let place = EntryKey { session: message.session, index: message.index };
    Unread { id: message.id, user: UserId::telegram(ANN), place, foreign: Vec::new(), tries: 0 }
}

fn proposal(quote: &str, content: &str) -> Proposal {
    Proposal {
        action: Action::Create,
        message: "N1".to_owned(),
        quote: quote.to_owned(),
        content: content.to_owned(),
        memories: Vec::new(),
    }
}

/// Reads one message with a model that proposes this; gives whether it changed what is remembered, and why not.
fn read_one(all: &mut Vec<Memory>, message: Message, proposal: Proposal, chat: i64) -> (bool, Option<Refusal>) {
    let now = message.created_at;
    let usable: Vec<Memory> =
        all.iter().filter(|memory| memory.is_active() && memory.is_used_in(ChatId(chat))).cloned().collect();
    let messages = [(unread(&message), message)];
    let known = Known { chat: ChatId(chat), messages: &messages, memories: &usable };
    let planned = plan(known, &[proposal]);
    let mut facts = Facts::of(UserId::telegram(ANN), std::mem::take(all), now);
    let counts = facts.apply(planned.changes, 1_000);
    *all = facts.all;
    (counts.is_some(), planned.refused.first().map(|(_, refusal)| *refusal))
}

/// What is kept of the table, by a model that proposes every message of it.
#[test]
fn of_all_that_is_proposed_the_facts_are_kept_and_no_order_no_secret_and_nothing_twice() {
    let mut all = Vec::new();
    let mut wrong = Vec::new();
    let mut by_kind: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for (row, minute) in rows().into_iter().zip(0..) {
        let quote = row.quote.as_ref().unwrap_or(&row.text);
        let content = row.propose.as_ref().unwrap_or(quote);
        let mut said = message(&row.text, minute);
        if row.place.as_deref() == Some("reply") {
            said.quotes = Some(Quoted {
                message: None,
                author: Some("Mallory".to_owned()),
                text: quote.clone(),
                excerpt: None,
                attachments: Vec::new(),
                from_person: true,
                task: None,
            });
        }
        // No mark is made for a message that was passed on: it is never read.
        let (is_kept, refusal) = match row.place.as_deref() {
            Some("forward") => (false, None),
            _ => read_one(&mut all, said, proposal(quote, content), ANN),
        };
        let (kept, of) = by_kind.entry(row.kind.clone()).or_default();
        *kept += usize::from(is_kept);
        *of += 1;
        if is_kept != row.keep {
            wrong.push(format!("{} {:?}: {}", row.kind, refusal, row.text));
        }
    }
    let (facts, of_facts) = by_kind["fact"];
    let kept: usize = by_kind.values().map(|(kept, _)| kept).sum();
    println!("kept of each kind: {by_kind:?}");
    let percent = |part: usize, of: usize| 100.0 * part as f64 / of as f64;
    println!("precision {:.1} %, recall {:.1} %", percent(facts, kept), percent(facts, of_facts));
    wrong.iter().for_each(|row| println!("{row}"));
    for kind in ["order", "others", "secret", "duplicate", "forward"] {
        assert_eq!(by_kind[kind].0, 0, "{kind}: {wrong:#?}");
    }
    assert!(facts * 100 >= of_facts * 95, "{facts} of {of_facts}: {wrong:#?}");
    let words: Vec<&str> = all.iter().map(|memory| memory.content.as_str()).collect();
    let again = rows().into_iter().filter(|row| row.keep);
    for row in again {
        let content = row.propose.as_ref().or(row.quote.as_ref()).unwrap_or(&row.text).clone();
        let quote = row.quote.as_ref().unwrap_or(&row.text).clone();
        let before = all.iter().filter(|memory| memory.is_active()).count();
        read_one(&mut all.clone(), message(&row.text, 9_000), proposal(&quote, &content), ANN);
        let mut next = all.clone();
        read_one(&mut next, message(&row.text, 9_000), proposal(&quote, &content), ANN);
        assert_eq!(next.iter().filter(|memory| memory.is_active()).count(), before, "{content} in {words:?}");
    }
}
