//! What every engine does, beside a model of it: maps of ordered keys.

use std::collections::BTreeMap;

use proptest::prelude::*;
use tempfile::TempDir;

use super::*;
use crate::config::{EngineKind, StoreUrl};

const TABLES: [&str; 3] = ["a", "b", "c"];

type Model = BTreeMap<(usize, Vec<u8>), Vec<u8>>;

struct Place {
    _folder: TempDir,
    url: StoreUrl,
}

impl Place {
    fn new(kind: EngineKind) -> Self {
        let folder = TempDir::new().unwrap();
        Self { url: StoreUrl::new(kind, folder.path().join("data")), _folder: folder }
    }

    fn open(&self) -> Box<dyn Engine> {
        let mut engine = open(&self.url).unwrap();
        engine.create_tables(&TABLES).unwrap();
        engine
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
            let expected: Vec<Entry> = model
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

fn behaves_as_its_model(kind: EngineKind) {
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
                    drop(engine);
                    engine = place.open();
                }
            }
            is_as(&*engine.view().unwrap(), &model, &ranges);
        }
    });
}

fn one(table: usize, key: &[u8], value: &[u8]) -> Batch {
    batch(&[(table, key.to_vec(), Some(value.to_vec()))])
}

fn a_commit_on_an_old_view_is_refused_whole(kind: EngineKind) {
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
fn a_view_shows_one_moment(kind: EngineKind) {
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

fn what_is_in_use_is_refused(kind: EngineKind) {
    let place = Place::new(kind);
    let engine = place.open();
    assert!(matches!(open(&place.url), Err(EngineError::InUse)));
    drop(engine);
    drop(place.open());
}

fn what_was_removed_takes_no_room(kind: EngineKind) {
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
    assert!(kind == EngineKind::Sled || left < full / 2, "{left} of {full}");
    assert_eq!(engine.view().unwrap().keys("a", &Keys::beginning_with([])).unwrap().count(), 0);
}

macro_rules! for_every_engine {
    ($($behaviour:ident)+) => {
        mod redb {
            $(#[test]
            fn $behaviour() {
                super::$behaviour(super::EngineKind::Redb);
            })+
        }

        mod sled {
            $(#[test]
            fn $behaviour() {
                super::$behaviour(super::EngineKind::Sled);
            })+
        }
    };
}

for_every_engine! {
    behaves_as_its_model
    a_commit_on_an_old_view_is_refused_whole
    a_view_shows_one_moment
    what_is_in_use_is_refused
    what_was_removed_takes_no_room
}
