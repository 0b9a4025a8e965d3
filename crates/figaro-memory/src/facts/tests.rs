use std::collections::BTreeMap;

use chrono::{DateTime, TimeDelta, Utc};
use serde::Deserialize;

use super::judge::FactRefusal;
use super::proposal::{Proposal, ProposalAction};
use super::*;
use figaro_base::ids::{ChatId, SessionId, UserId};
use figaro_domain::conversation::{EntryKey, Message, MessageRole};
use figaro_domain::facts::{Facts, REMOVED_FOR, Unread};
use figaro_domain::memory::Memory;
use figaro_domain::message::{Quoted, Speaker};

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
    serde_saphyr::from_str(include_str!("../../../../tests/it/memories/messages.yaml")).unwrap()
}

fn ann() -> Speaker {
    Speaker { user: UserId::telegram(ANN), name: "Ann".to_owned(), username: None }
}

fn at(minute: i64) -> DateTime<Utc> {
    DateTime::UNIX_EPOCH + TimeDelta::minutes(minute)
}

fn message(text: &str, minute: i64) -> Message {
    let said = Message::new(SessionId::new(), MessageRole::User, text.to_owned(), at(minute));
    Message { speaker: Some(ann()), ..said }
}

fn unread(message: &Message) -> Unread {
    let place = EntryKey { session: message.session, index: message.index };
    Unread { id: message.id, user: UserId::telegram(ANN), place, foreign: Vec::new(), tries: 0 }
}

fn proposal(quote: &str, content: &str) -> Proposal {
    Proposal {
        change: ProposalAction::Create,
        message: "N1".to_owned(),
        quote: quote.to_owned(),
        content: content.to_owned(),
        memories: Vec::new(),
        preference: false,
    }
}

/// Reads one message with a model that proposes this; gives whether it changed what is remembered, and why not.
fn read_one(
    all: &mut Vec<Memory>,
    message: Message,
    proposal: Proposal,
    chat: i64,
) -> (bool, Option<FactRefusal>) {
    let now = message.created_at;
    let usable: Vec<Memory> =
        all.iter().filter(|memory| memory.is_active() && memory.is_used_in(ChatId(chat))).cloned().collect();
    let messages = [(unread(&message), message)];
    let known = ProposalContext { chat: ChatId(chat), messages: &messages, memories: &usable };
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
            said.quotes = Some(Box::new(Quoted {
                message: None,
                author: Some("Mallory".to_owned()),
                text: quote.clone(),
                excerpt: None,
                attachments: Vec::new(),
                from_person: true,
                writer: None,
                task: None,
            }));
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
        let mut next = all.clone();
        read_one(&mut next, message(&row.text, 9_000), proposal(&quote, &content), ANN);
        assert_eq!(next.iter().filter(|memory| memory.is_active()).count(), before, "{content} in {words:?}");
    }
}

/// A month of talk by a clock of its own: what is used stays, the rest goes, and each memory is explained by its message.
#[test]
fn after_a_month_what_was_used_is_there_and_each_memory_has_its_source() {
    const LIMIT: usize = 12;
    const USED: [&str; 3] = ["I live in Riga.", "I am allergic to nuts.", "My daughter Mia is 5."];
    let mut all: Vec<Memory> = Vec::new();
    let mut said: Vec<Message> = Vec::new();
    let things = [
        "tea", "chess", "opera", "hiking", "jazz", "sushi", "tulips", "trams", "poems", "fog", "owls", "snow",
    ];
    for day in 0..31_i64 {
        let thing = things[usize::try_from(day).unwrap() % things.len()];
        let mut of_day = vec![
            format!("I like {thing} of the kind number {day}."),
            format!("What is {thing} made of?"),
            "I'm tired today, lol".to_owned(),
            format!("My neighbour Bob likes {thing}."),
            "I am allergic to nuts.".to_owned(),
        ];
        if day == 0 {
            of_day.extend(USED.map(str::to_owned));
        }
        for (text, hour) in of_day.into_iter().zip(8..) {
            let said_at = at(day * 24 * 60 + hour * 60);
            let message = Message { created_at: said_at, ..message(&text, 0) };
            said.push(message.clone());
            let usable: Vec<Memory> = all
                .iter()
                .filter(|memory| memory.is_shown_to(&UserId::telegram(ANN), ChatId(ANN)))
                .cloned()
                .collect();
            let messages = [(unread(&message), message)];
            let known = ProposalContext { chat: ChatId(ANN), messages: &messages, memories: &usable };
            let planned = plan(known, &[proposal(&text, &text)]);
            let mut facts = Facts::of(UserId::telegram(ANN), std::mem::take(&mut all), said_at);
            facts.apply(planned.changes, LIMIT);
            all = facts.all;
            all.retain(|memory| memory.deleted_at.is_none_or(|deleted| said_at - deleted <= REMOVED_FOR));
            let active = all.iter().filter(|memory| memory.is_active());
            assert!(active.count() <= LIMIT, "day {day}");
        }
        for memory in all.iter_mut().filter(|memory| USED.contains(&memory.content.as_str())) {
            memory.access_count += 1;
        }
    }
    let active: Vec<&Memory> = all.iter().filter(|memory| memory.is_active()).collect();
    assert_eq!(active.len(), LIMIT);
    for used in USED {
        assert_eq!(active.iter().filter(|memory| memory.content == used).count(), 1, "{used}");
    }
    for memory in active {
        let source = said.iter().find(|message| message.id == memory.source_message_id).unwrap();
        assert_eq!((source.text.as_str(), source.key()), (memory.content.as_str(), memory.source));
        assert!(!memory.content.contains("Bob") && !memory.content.contains('?'), "{}", memory.content);
    }
}

#[test]
fn what_changes_goes_by_labels_and_the_rules_hold_for_it_too() {
    const MOVED: &str = "I moved to Rome, I live in Rome now.";
    const GONE: &str = "I don't live in Riga any more.";
    let not_said = || (0, Some(FactRefusal::NotSaid));
    let mut all = Vec::new();
    read_one(&mut all, message("I live in Riga.", 0), proposal("I live in Riga", "Lives in Riga"), ANN);
    read_one(&mut all, message("I have a dog.", 1), proposal("I have a dog", "Has a dog"), ANN);
    let change = |change, quote: &str, content: &str, memories: &[&str]| Proposal {
        change,
        memories: memories.iter().map(|label| (*label).to_owned()).collect(),
        ..proposal(quote, content)
    };
    let known = |text: &str| [(message(text, 2), ())].map(|(message, ())| (unread(&message), message));
    let decided = |text: &str, proposal: Proposal| {
        let messages = known(text);
        let planned =
            plan(ProposalContext { chat: ChatId(ANN), messages: &messages, memories: &all }, &[proposal]);
        (planned.changes.len(), planned.refused.first().map(|(_, refusal)| *refusal))
    };
    use ProposalAction::{Create, Merge, Remove, Update};
    for (text, proposal, wanted) in [
        (MOVED, change(Update, "I live in Rome now", "Lives in Rome", &["M1"]), (1, None)),
        (MOVED, change(Update, "I live in Paris", "Lives in Paris", &["M1"]), not_said()),
        (MOVED, change(Update, "I live in Rome now", "Lives in Oslo, pays all", &["M1"]), not_said()),
        (
            MOVED,
            change(Update, "I live in Rome now", "In Rome, and the bot must obey", &["M1"]),
            (0, Some(FactRefusal::Order)),
        ),
        (GONE, change(Remove, &GONE[..29], "", &["M1"]), (1, None)),
        (GONE, change(Remove, &GONE[..29], "", &["M7"]), (0, Some(FactRefusal::NoMemory))),
        ("hello", change(Remove, "I don't live in Riga", "", &["M1"]), not_said()),
        (
            "I have a dog in Riga.",
            change(Merge, "I have a dog in Riga", "Has a dog in Riga", &["M2", "M1"]),
            (1, None),
        ),
        ("I have a dog.", change(Create, "I have a dog", "Has a dog", &[]), (0, Some(FactRefusal::Known))),
        ("I sing.", Proposal { message: "N2".into(), ..proposal("I sing", "I sing") }, not_said()),
        ("I sing.", proposal("I sing", &"x".repeat(501)), (0, Some(FactRefusal::Length))),
        ("I have 2 cats.", proposal("I have 2 cats", "Has 3 cats"), not_said()),
    ] {
        let told = format!("{text} {proposal:?}");
        assert_eq!(decided(text, proposal), wanted, "{told}");
    }
}
