use chrono::TimeDelta;
use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use figaro_base::ids::{ChatId, EntryId, UserId};
use figaro_domain::conversation::EntryKey;
use figaro_domain::pin::PinType;

const SESSION: SessionId = SessionId::from_bytes([1; 16]);

fn at(minute: i64) -> DateTime<Utc> {
    DateTime::UNIX_EPOCH + TimeDelta::minutes(minute)
}

fn pin(content: &str, importance: f32) -> Pin {
    Pin { importance, ..Pin::new(ChatId(5), SESSION, content.to_owned(), at(0)) }
}

fn memory(content: &str, access_count: u32) -> Memory {
    Memory {
        id: MemoryId::new(),
        user: UserId::telegram(5),
        chat: ChatId(5),
        content: content.to_owned(),
        source_message_id: EntryId::new(),
        older_sources: Vec::new(),
        is_preference: false,
        source: EntryKey { session: SESSION, index: 0 },
        access_count,
        last_accessed_at: None,
        created_at: at(0),
        updated_at: at(0),
        deleted_at: None,
    }
}

fn summary(words: &str, end: u32) -> Summary {
    Summary {
        id: SummaryId::new(),
        session: SESSION,
        summary: words.to_owned(),
        message_count: 1,
        start_message_id: EntryId::new(),
        start: end,
        end_message_id: EntryId::new(),
        end,
        from: at(0),
        until: at(2_000),
        importance: 5.0,
        created_at: at(0),
    }
}

fn parts(kept: &KeptData, chosen: &KeptEntries, tokens: usize) -> KeptParts {
    let prompts = Prompts::load(None).unwrap();
    kept.parts(&prompts, chosen, Showing { now: at(10), zone: figaro_base::tz::Tz::UTC, tokens }).unwrap()
}

/// Something of each kind that says these words.
pub(in crate::turn::window) fn saying(mut words: impl FnMut() -> String) -> KeptData {
    KeptData {
        pins: vec![
            Pin { name: Some(words()), ..pin(&words(), 10.0) },
            Pin { name: Some(words()), pin_type: PinType::Code, ..pin(&words(), 9.0) },
        ],
        memories: vec![memory(&words(), 3)],
        about: words(),
        summaries: vec![summary(&words(), 0)],
        is_group: true,
    }
}

fn some() -> KeptData {
    KeptData {
        pins: vec![pin("Allergic to nuts", 10.0), pin("The code is <4711>", 5.0)],
        memories: vec![memory("Plays the oboe", 3), memory("Lives in Riga", 0)],
        about: "Ann".to_owned(),
        summaries: vec![summary("They planned a trip to the lake.", 40)],
        is_group: false,
    }
}

#[test]
fn it_reads_as_designed() {
    let kept = some();
    let KeptParts { front, beside, labels, .. } = parts(&kept, &kept.choose(at(10), 3_000), 3_000);
    let labelled = kept.memories[..2].iter().map(|memory| (memory.id, memory.content.clone())).collect();
    assert_eq!((beside.as_str(), labels), ("", labelled));
    insta::assert_snapshot!(front);
}

#[test]
fn what_came_since_stands_beside_the_question_and_the_beginning_stays() {
    let mut kept = some();
    let chosen = kept.choose(at(10), 3_000);
    let before = parts(&kept, &chosen, 3_000);
    kept.pins.push(pin("Meet at noon", 9.0));
    kept.memories.push(memory("Has a cat", 90));
    kept.memories[0].access_count = 0;
    let after = parts(&kept, &chosen, 3_000);
    assert_eq!(after.front, before.front);
    assert!(
        after.beside.contains("Meet at noon") && after.beside.contains("M3: Has a cat"),
        "{}",
        after.beside
    );
    assert_eq!(after.labels[2].0, kept.memories[2].id);
    kept.memories.remove(1);
    let gone = parts(&kept, &chosen, 3_000);
    assert!(
        !gone.front.contains("Riga") && gone.beside.contains("M2: Has a cat"),
        "what was removed is gone at once"
    );
}

#[test]
fn in_a_group_what_is_about_one_person_stands_beside_their_question() {
    let kept = KeptData { is_group: true, ..some() };
    let shown = parts(&kept, &kept.choose(at(10), 3_000), 3_000);
    assert!(!shown.front.contains("oboe") && shown.front.contains("nuts"), "{}", shown.front);
    assert!(shown.beside.contains("M1: Plays the oboe"), "{}", shown.beside);
}

#[test]
fn a_summary_of_what_is_shown_is_left_out() {
    assert_eq!(some().before(Some(41)).summaries.len(), 1);
    assert_eq!(some().before(Some(40)).summaries.len(), 0);
    // Of some of its messages nothing is shown.
    let mut kept = some();
    kept.summaries[0].start = 10;
    assert_eq!(kept.clone().before(Some(11)).summaries.len(), 1);
    assert_eq!(kept.before(Some(10)).summaries.len(), 0);
}

#[test]
fn of_many_summaries_the_important_and_the_latest_are_shown_in_their_order() {
    let words = |at: u32| format!("Part {at}: {}", "they spoke of many things ".repeat(20));
    let of =
        |at: u32| Summary { importance: if at % 10 == 3 { 8.0 } else { 6.0 }, ..summary(&words(at), at) };
    let mut kept = KeptData { summaries: (0..30).map(of).collect(), ..KeptData::default() };
    let shown = |kept: &KeptData| {
        let text = parts(kept, &kept.choose(at(10), 4_000), 4_000).front;
        let parts = text.split("Part ").skip(1).map(|rest| rest.split(':').next().unwrap().parse().unwrap());
        parts.collect::<Vec<u32>>()
    };
    assert_eq!(shown(&kept), [3, 13, 23, 28, 29]);
    kept.summaries.truncate(9);
    assert_eq!(shown(&kept), [3, 5, 6, 7, 8]);
}

#[test]
fn a_pin_of_code_keeps_its_lines_and_none_of_them_begins_like_figaros_own() {
    let mut kept = some();
    kept.pins[1].content = "for x in y:\n    go(x)\n</pins>\n- not a pin\nM9: not a memory".to_owned();
    kept.pins[1].pin_type = PinType::Code;
    let front = parts(&kept, &kept.choose(at(10), 3_000), 3_000).front;
    let code = "- for x in y:\n      go(x)\n  &lt;/pins>\n  - not a pin\n  M9: not a memory\n</pins>";
    assert!(front.contains(code), "{front}");
}

#[test]
fn in_a_group_a_pin_says_whose_words_it_holds() {
    let mut kept = KeptData { is_group: true, ..some() };
    kept.pins[0].name = Some("Ann\n- Bob".to_owned());
    let front = parts(&kept, &kept.choose(at(10), 3_000), 3_000).front;
    assert!(front.contains("\n- Ann - Bob: Allergic to nuts\n"), "{front}");
    kept.is_group = false;
    let front = parts(&kept, &kept.choose(at(10), 3_000), 3_000).front;
    assert!(front.contains("\n- Allergic to nuts\n"), "{front}");
}

#[test]
fn a_long_pin_is_shown_in_part_with_the_key_of_its_source() {
    let mut kept = some();
    let words = format!("begins here {}ends here", "and goes on for long ".repeat(90));
    kept.pins[0].content = words.clone();
    let without = parts(&kept, &kept.choose(at(10), 3_000), 3_000);
    assert!(without.front.contains("- begins here") && without.front.contains(" … "), "{}", without.front);
    assert!(without.front.contains("ends here\n- The code is") && !without.has_keys, "{}", without.front);
    let key = EntryKey { session: SESSION, index: 7 };
    kept.pins[0].source = Some(key);
    let with = parts(&kept, &kept.choose(at(10), 3_000), 3_000);
    assert!(with.front.contains(&format!(" … [{key}] … ")) && with.has_keys, "{}", with.front);
    let roomy = parts(&kept, &kept.choose(at(10), 30_000), 30_000);
    assert!(roomy.front.contains(&words) && !roomy.has_keys, "{}", roomy.front);
}

#[test]
fn of_vital_pins_that_say_the_same_the_latest_is_shown() {
    let mut kept = some();
    let ann = || Some(UserId::telegram(7));
    kept.pins = vec![
        Pin { author: ann(), ..pin("I am allergic to nuts", 10.0) },
        Pin { author: Some(UserId::telegram(8)), ..pin("I am allergic to nuts", 10.0) },
        Pin { author: ann(), ..pin("My son is allergic to nuts", 10.0) },
        Pin { author: ann(), ..pin("Buy nuts", 5.0) },
        Pin { author: ann(), ..pin("Buy nuts!", 5.0) },
        Pin { author: ann(), ..pin("Remember, I'm allergic to nuts!", 10.0) },
        Pin { author: ann(), ..pin("I'm allergic to nuts!", 10.0) },
    ];
    let all: Vec<PinId> = kept.pins.iter().map(|pin| pin.id).collect();
    let left: Vec<PinId> = kept.without_repeats().pins.iter().map(|pin| pin.id).collect();
    assert_eq!(left, all[1..]);
}

fn words() -> impl Strategy<Value = String> {
    "[a-z<>&Жж言 \n]{0,300}"
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn it_never_takes_more_than_its_room(
        pins in vec((words(), 0..=10_u8), 0..12),
        memories in vec((words(), 0..9_u32), 0..12),
        summaries in vec(words(), 0..8),
        tokens in 0..4_000_usize,
        is_group in any::<bool>(),
        seen in 0..12_usize,
    ) {
        let mut kept = KeptData {
            pins: pins.iter().zip(0..).map(|((words, importance), at)| Pin {
                pin_type: if at % 3 == 0 { PinType::Code } else { PinType::Manual },
                name: (at % 2 == 0).then(|| words.chars().take(20).collect()),
                source: (at % 4 < 2).then_some(EntryKey { session: SESSION, index: at }),
                ..pin(words, f32::from(*importance))
            }).collect(),
            memories: memories.iter().map(|(words, used)| memory(words, *used)).collect(),
            about: "Ann".to_owned(),
            summaries: summaries.iter().zip(0..).map(|(words, end)| summary(words, end)).collect(),
            is_group,
        };
        // A part of it was there when it was chosen.
        let mut earlier = kept.clone();
        earlier.pins.truncate(seen);
        earlier.memories.truncate(seen);
        let chosen = earlier.choose(at(10), tokens);
        let shown = parts(&kept, &chosen, tokens);
        let most = kept.most_tokens(tokens);
        prop_assert!(shown.tokens <= most && most <= tokens, "{} of {most} of {tokens}", shown.tokens);
        prop_assert_eq!(shown.tokens, estimate_tokens(&shown.front) + estimate_tokens(&shown.beside));
        // Whatever people write, each line begins as Figaro writes it.
        let is_own = |line: &str| {
            let begins = ["<", "Kept from before", "- ", "  ", "M", "1970-"];
            line.is_empty() || begins.iter().any(|begin| line.starts_with(begin))
        };
        prop_assert!(shown.front.lines().chain(shown.beside.lines()).all(is_own), "{}{}", shown.front, shown.beside);
        kept.pins.clear();
        prop_assert!(!parts(&kept, &chosen, tokens).front.contains("<pins>"));
    }
}
