//! What every engine does, beside a model of it: maps of ordered keys.

use std::collections::BTreeMap;

use proptest::prelude::*;
use tempfile::TempDir;

use super::*;
use figaro_config::{EngineKind, StoreUrl};

const TABLES: [&str; 3] = ["a", "b", "c"];

type Model = BTreeMap<(usize, Vec<u8>), Vec<u8>>;

/// Which engine; `None` for the one that keeps no files.
type Kind = Option<EngineKind>;

struct Place {
    _folder: TempDir,
    kind: Kind,
    url: StoreUrl,
}

impl Place {
    fn new(kind: Kind) -> Self {
        let folder = TempDir::new().unwrap();
        let engine = kind.unwrap_or(EngineKind::Redb);
        Self { kind, url: StoreUrl::new(engine, folder.path().join("data")), _folder: folder }
    }

    fn open(&self) -> Box<dyn Engine> {
        let mut engine = match self.kind {
            Some(_) => open(&self.url).unwrap(),
            None => Box::<MemoryEngine>::default(),
        };
        engine.create_tables(&TABLES).unwrap();
        engine
    }

    /// Closes a store and opens it again, where that is possible without losing it.
    fn reopen(&self, engine: Box<dyn Engine>) -> Box<dyn Engine> {
        match self.kind {
            Some(_) => {
                drop(engine);
                self.open()
            }
            None => engine,
        }
    }
}

/// Table, key, and the value or none.
type Change = (usize, Vec<u8>, Option<Vec<u8>>);

#[derive(Debug, Clone)]
enum Step {
    Commit(Vec<Change>),
    Reopen,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let key = prop::collection::vec(prop_oneof![Just(0_u8), Just(1), Just(254), Just(255)], 0..4);
    let value = prop::option::weighted(0.7, prop::collection::vec(any::<u8>(), 0..40));
    let changes = prop::collection::vec((0..TABLES.len(), key, value), 0..6);
    let step = prop_oneof![8 => changes.prop_map(Step::Commit), 1 => Just(Step::Reopen)];
    prop::collection::vec(step, 1..20)
}

fn batch(changes: &[Change]) -> Batch {
    let mut batch = Batch::default();
    for (table, key, value) in changes {
        match value {
            Some(value) => batch.put(TABLES[*table], key.clone(), value.clone()),
            None => batch.remove(TABLES[*table], key.clone()),
        }
    }
    batch
}

fn apply(model: &mut Model, changes: &[Change]) {
    for (table, key, value) in changes {
        let at = (*table, key.clone());
        match value {
            Some(value) => drop(model.insert(at, value.clone())),
            None => drop(model.remove(&at)),
        }
    }
}

fn is_as(view: &dyn View, model: &Model, ranges: &[Keys]) {
    for (number, table) in TABLES.iter().enumerate() {
        for keys in ranges {
            let expected: Vec<KeyValue> = model
                .iter()
                .filter(|((of, key), _)| *of == number && keys.contains(key))
                .map(|((_, key), value)| (key.clone(), value.clone()))
                .collect();
            let scan = || view.scan(table, keys).unwrap().map(Result::unwrap);
            assert_eq!(scan().collect::<Vec<_>>(), expected);
            let mut backwards: Vec<_> = scan().rev().collect();
            backwards.reverse();
            assert_eq!(backwards, expected);
            let found = view.keys(table, keys).unwrap().map(Result::unwrap);
            assert!(found.eq(expected.iter().map(|(key, _)| key.clone())));
            for (key, value) in expected {
                assert_eq!(view.get(table, &key).unwrap(), Some(value));
            }
        }
    }
    assert_eq!(view.get("a", b"never written").unwrap(), None);
}

fn behaves_as_its_model(kind: Kind) {
    let config = ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() };
    proptest!(config, |(steps in steps(), at in prop::collection::vec(0..=255_u8, 0..3))| {
        let ranges = [
            Keys::beginning_with([]),
            Keys::beginning_with(at.clone()),
            Keys::from(at.clone(), &[]),
            Keys::before(at.clone(), &[]),
            Keys::from([255, 255], &[0]),
        ];
        let place = Place::new(kind);
        let (mut engine, mut model) = (place.open(), Model::new());
        for step in &steps {
            match step {
                Step::Commit(changes) => {
                    let revision = engine.view().unwrap().revision();
                    engine.commit(revision, &batch(changes)).unwrap();
                    apply(&mut model, changes);
                }
                Step::Reopen => {
                    engine = place.reopen(engine);
                }
            }
            is_as(&*engine.view().unwrap(), &model, &ranges);
        }
    });
}

fn one(table: usize, key: &[u8], value: &[u8]) -> Batch {
    batch(&[(table, key.to_vec(), Some(value.to_vec()))])
}

fn a_commit_on_an_old_view_is_refused_whole(kind: Kind) {
    let place = Place::new(kind);
    let engine = place.open();
    let old = engine.view().unwrap().revision();
    engine.commit(old, &one(0, b"k", b"first")).unwrap();
    let both =
        batch(&[(0, b"k".to_vec(), Some(b"second".to_vec())), (1, b"k".to_vec(), Some(b"x".to_vec()))]);
    assert_eq!(engine.commit(old, &both), Err(EngineError::Conflict));
    let view = engine.view().unwrap();
    assert_eq!(view.get("a", b"k").unwrap().as_deref(), Some(&b"first"[..]));
    assert_eq!(view.get("b", b"k").unwrap(), None);
}

/// Who looks while others write sees one moment, whether they wait for each other or not.
fn a_view_shows_one_moment(kind: Kind) {
    let place = Place::new(kind);
    let engine = place.open();
    std::thread::scope(|threads| {
        threads.spawn(|| {
            for round in 0..200_u8 {
                let revision = engine.view().unwrap().revision();
                let both = [0, 1].map(|table| (table, b"k".to_vec(), Some(vec![round])));
                engine.commit(revision, &batch(&both)).unwrap();
            }
        });
        for _ in 0..200 {
            let view = engine.view().unwrap();
            let first = view.get("a", b"k").unwrap();
            std::thread::yield_now();
            assert_eq!(view.get("b", b"k").unwrap(), first);
        }
    });
}

fn what_is_in_use_is_refused(kind: Kind) {
    let place = Place::new(kind);
    let engine = place.open();
    assert!(matches!(open(&place.url), Err(EngineError::InUse)));
    drop(engine);
    drop(place.open());
}

fn a_store_whose_files_are_just_replaced_is_not_opened(kind: Kind) {
    let place = Place::new(kind);
    drop(place.open());
    let held = folder::lock(place.url.folder().unwrap()).unwrap();
    assert!(matches!(open(&place.url), Err(EngineError::InUse)));
    drop(held);
    drop(place.open());
}

fn what_was_removed_takes_no_room(kind: Kind) {
    let place = Place::new(kind);
    let mut engine = place.open();
    for round in 0..40_u8 {
        let revision = engine.view().unwrap().revision();
        engine.commit(revision, &one(0, &[round], &[round; 50_000])).unwrap();
    }
    let full = engine.disk_bytes().unwrap();
    assert!(full >= 2_000_000, "{full}");
    for round in 0..40_u8 {
        let revision = engine.view().unwrap().revision();
        engine.commit(revision, &batch(&[(0, vec![round], None)])).unwrap();
    }
    engine.compact().unwrap();
    let left = engine.disk_bytes().unwrap();
    // sled gives nothing back.
    assert!(kind == Some(EngineKind::Sled) || left < full / 2, "{left} of {full}");
    assert_eq!(engine.view().unwrap().keys("a", &Keys::beginning_with([])).unwrap().count(), 0);
}

/// All files in a folder, those of folders in it included.
fn files(folder: &std::path::Path) -> Vec<(std::path::PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => found.extend(files(&path)),
            false => found.push((path.clone(), std::fs::read(&path).unwrap())),
        }
    }
    found
}

/// A value that nothing else holds a part of, longer for some: sled keeps long ones in files of their own.
fn words(number: usize) -> Vec<u8> {
    let long = [1, 30, 4_000][number % 3];
    format!("<words {number} {}>", number.wrapping_mul(2_654_435_761)).repeat(long).into_bytes()
}

fn marker(value: &[u8]) -> &[u8] {
    let end = value.iter().position(|byte| *byte == b'>').unwrap();
    &value[..=end]
}

fn holds(folder: &std::path::Path, words: &[u8]) -> Option<std::path::PathBuf> {
    let finder = |bytes: &[u8]| bytes.windows(words.len()).any(|part| part == words);
    files(folder).into_iter().find(|(_, bytes)| finder(bytes)).map(|(path, _)| path)
}

/// Whatever is written and removed: what is left is the same, byte for byte, and what was removed or replaced stands in no file.
fn a_rewritten_store_has_what_it_had_and_nothing_else(kind: Kind) {
    let config = ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() };
    let change = (0..TABLES.len(), 0..12_u8, any::<bool>());
    let commits = prop::collection::vec(prop::collection::vec(change, 1..5), 1..14);
    proptest!(config, |(commits in commits, reopens in any::<bool>())| {
        let place = Place::new(kind);
        let (mut engine, mut model, mut gone) = (place.open(), Model::new(), Vec::new());
        let mut number = 0;
        for changes in &commits {
            let mut batch_of = Vec::new();
            for (table, key, stays) in changes {
                number += 1;
                // Keys begin alike, and engines may keep only the rest.
                let key = format!("key {key}").into_bytes();
                batch_of.push((*table, key.clone(), stays.then(|| words(number))));
                let before = match stays {
                    true => model.insert((*table, key), words(number)),
                    false => model.remove(&(*table, key)),
                };
                gone.extend(before);
            }
            engine.write(&batch(&batch_of)).unwrap();
        }
        engine.rewrite(&TABLES).unwrap();
        if reopens {
            drop(engine);
            engine = place.open();
        }
        is_as(&*engine.view().unwrap(), &model, &[Keys::beginning_with([])]);
        for value in &gone {
            prop_assert_eq!(holds(place.url.folder().unwrap(), marker(value)), None);
        }
        // It goes on as before.
        engine.write(&one(0, b"later", b"<later>")).unwrap();
        engine.rewrite(&TABLES).unwrap();
        drop(engine);
        let engine = place.open();
        prop_assert_eq!(engine.view().unwrap().get("a", b"later").unwrap(), Some(b"<later>".to_vec()));
        let names: Vec<_> = std::fs::read_dir(place.url.folder().unwrap()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        prop_assert!(!names.iter().any(|name| name.to_string_lossy().starts_with("fresh")), "{:?}", names);
    });
}

/// Who writes and looks while a store is rewritten loses nothing and sees one moment.
fn a_store_is_rewritten_while_others_use_it(kind: Kind) {
    let place = Place::new(kind);
    let engine = place.open();
    for number in 0..2_500_usize {
        engine.write(&one(2, &number.to_be_bytes(), &words(3 * number))).unwrap();
        if number % 500 == 0 {
            engine.write(&one(1, b"gone", &words(1))).unwrap();
        }
    }
    engine.write(&batch(&[(1, b"gone".to_vec(), None)])).unwrap();
    let done = std::sync::atomic::AtomicBool::new(false);
    let written = std::thread::scope(|threads| {
        let writer = threads.spawn(|| {
            let mut written = 0_u32;
            while !done.load(std::sync::atomic::Ordering::Acquire) {
                let both = [0, 1].map(|table| (table, b"k".to_vec(), Some(written.to_be_bytes().to_vec())));
                engine.write(&batch(&both)).unwrap();
                engine.write(&one(0, format!("n {written}").as_bytes(), b"kept")).unwrap();
                written += 1;
            }
            written
        });
        let reader = threads.spawn(|| {
            while !done.load(std::sync::atomic::Ordering::Acquire) {
                let view = engine.view().unwrap();
                let first = view.get("a", b"k").unwrap();
                std::thread::yield_now();
                assert_eq!(view.get("b", b"k").unwrap(), first);
            }
        });
        for _ in 0..4 {
            engine.rewrite(&TABLES).unwrap();
        }
        done.store(true, std::sync::atomic::Ordering::Release);
        reader.join().unwrap();
        writer.join().unwrap()
    });
    assert!(written > 0);
    drop(engine);
    let engine = place.open();
    let view = engine.view().unwrap();
    for number in 0..written {
        assert!(view.get("a", format!("n {number}").as_bytes()).unwrap().is_some(), "{number} of {written}");
    }
    assert_eq!(view.get("a", b"k").unwrap(), Some((written - 1).to_be_bytes().to_vec()));
    assert_eq!(view.keys("c", &Keys::beginning_with([])).unwrap().count(), 2_500);
    assert_eq!(holds(place.url.folder().unwrap(), marker(&words(1))), None);
}

/// A snapshot shows one moment while others write, and leaves nothing behind.
fn a_snapshot_shows_one_moment_while_others_write(kind: Kind) {
    let place = Place::new(kind);
    let engine = place.open();
    for number in 0..2_500_usize {
        engine.write(&one(2, &number.to_be_bytes(), &words(3 * number))).unwrap();
    }
    let done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|threads| {
        let writer = threads.spawn(|| {
            let mut written = 0_u32;
            while !done.load(std::sync::atomic::Ordering::Acquire) {
                let both = [0, 1].map(|table| (table, b"k".to_vec(), Some(written.to_be_bytes().to_vec())));
                engine.write(&batch(&both)).unwrap();
                engine.write(&one(0, format!("n {written:06}").as_bytes(), b"kept")).unwrap();
                written += 1;
            }
            written
        });
        let count = |view: &dyn View, table| view.keys(table, &Keys::beginning_with([])).unwrap().count();
        let looks = [(); 3].map(|()| {
            let snapshot = engine.snapshot(&TABLES).unwrap();
            let look = || (snapshot.get("a", b"k").unwrap(), count(&*snapshot, "a"));
            let first = look();
            // Others write on meanwhile.
            let before = engine.view().unwrap().revision();
            while engine.view().unwrap().revision().0 < before.0 + 2 {
                std::thread::yield_now();
            }
            (first, look(), snapshot.get("b", b"k").unwrap(), count(&*snapshot, "c"))
        });
        done.store(true, std::sync::atomic::Ordering::Release);
        writer.join().unwrap();
        for (first, later, beside, others) in looks {
            assert_eq!(later, first);
            assert_eq!((beside, others), (first.0, 2_500));
        }
    });
    if place.kind.is_some() {
        assert!(!place.url.folder().unwrap().join("fresh.copy").exists());
    }
}

fn a_table_that_is_not_known_is_not_lost(kind: Kind) {
    let place = Place::new(kind);
    let engine = place.open();
    engine.write(&one(2, b"k", b"kept")).unwrap();
    assert!(engine.rewrite(&TABLES[..2]).is_err());
    assert_eq!(engine.view().unwrap().get("c", b"k").unwrap(), Some(b"kept".to_vec()));
}

/// Somebody who looks at the store may hold its folder for a while on a busy machine: longer than an opening waits for it.
fn a_rewriting_waits_for_a_folder_that_is_locked(kind: Kind) {
    let place = Place::new(kind);
    let engine = place.open();
    engine.write(&one(0, b"k", b"kept")).unwrap();
    std::thread::scope(|scope| {
        let locked = super::folder::lock(place.url.folder().unwrap()).unwrap();
        scope.spawn(move || {
            std::thread::sleep(std::time::Duration::from_millis(1_500));
            drop(locked);
        });
        engine.rewrite(&TABLES).unwrap();
    });
    assert_eq!(engine.view().unwrap().get("a", b"k").unwrap(), Some(b"kept".to_vec()));
}

macro_rules! for_engine {
    ($engine:ident is $kind:expr => $($behaviour:ident)+) => {
        mod $engine {
            $(#[test]
            fn $behaviour() {
                super::$behaviour($kind);
            })+
        }
    };
}

macro_rules! for_every_engine {
    ($($behaviour:ident)+; those with files: $($of_files:ident)+) => {
        for_engine!(redb is Some(super::EngineKind::Redb) => $($behaviour)+ $($of_files)+);
        for_engine!(sled is Some(super::EngineKind::Sled) => $($behaviour)+ $($of_files)+);
        for_engine!(memory is None => $($behaviour)+);
    };
}

for_every_engine! {
    behaves_as_its_model
    a_commit_on_an_old_view_is_refused_whole
    a_view_shows_one_moment
    a_snapshot_shows_one_moment_while_others_write
    what_was_removed_takes_no_room
    a_table_that_is_not_known_is_not_lost;
    those with files:
    what_is_in_use_is_refused
    a_store_whose_files_are_just_replaced_is_not_opened
    a_rewritten_store_has_what_it_had_and_nothing_else
    a_store_is_rewritten_while_others_use_it
    a_rewriting_waits_for_a_folder_that_is_locked
}
