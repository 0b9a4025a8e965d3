//! Records: what may stand in fields, what becomes of drafts, what belongs together.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use chrono::{DateTime, NaiveDate, NaiveTime, TimeDelta, TimeZone, Utc};
use figaro_base::tz::Tz;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::read::NamedRecord;
use super::times::Times;
use super::*;
use figaro_base::ids::{ChatId, RecordId, RunId, UserId};

static ZONE: LazyLock<Tz> = LazyLock::new(|| "Europe/Riga".parse().unwrap());

fn now() -> DateTime<Utc> {
    Utc.with_ymd_and_hms(2026, 11, 25, 8, 0, 0).unwrap()
}

fn field(name: &str, form: FieldType) -> Field {
    let chart = form.range().map(|_| name.to_owned());
    Field { name: name.to_owned(), label: Words::plain(name), form, required: false, key: false, chart }
}

fn key(name: &str, form: FieldType) -> Field {
    Field { required: true, key: true, ..field(name, form) }
}

fn kg() -> Range {
    Range { unit: Some("kg".to_owned()), min: Some(20.0), max: Some(300.0) }
}

fn kind(name: &str, fields: Vec<Field>) -> Kind {
    Kind {
        name: name.to_owned(),
        title: Words::plain(name),
        plural: Words::plain(name),
        about: None,
        fields,
        series: None,
        upcoming: None,
        triggers: Vec::new(),
        render: None,
        remind: None,
    }
}

/// A pack of patients, their medication, visits and weights.
fn pack() -> Pack {
    let patient = || key("patient", FieldType::Ref("patient".to_owned()));
    let remind = |field: &str, before: Vec<u32>| Remind {
        field: field.to_owned(),
        text: Words::by_language(vec![
            ("en".to_owned(), "{patient}: {name} {dose}.".to_owned()),
            ("pt".to_owned(), "Lembre {patient} de {name}".to_owned()),
        ]),
        before,
    };
    let medication = vec![
        patient(),
        key("name", FieldType::Text),
        field("dose", FieldType::Text),
        field("times", FieldType::Schedule),
    ];
    let visit = vec![patient(), key("name", FieldType::Text), key("on", FieldType::Date)];
    let kinds = vec![
        kind("patient", vec![key("name", FieldType::Text), field("born", FieldType::Date)]),
        Kind { remind: Some(remind("times", Vec::new())), ..kind("medication", medication) },
        Kind {
            upcoming: Some("on".to_owned()),
            remind: Some(remind("on", vec![24 * 60, 120])),
            ..kind("visit", visit)
        },
        Kind {
            series: Some(Series { days: 30 }),
            ..kind("weight", vec![patient(), field("weight", FieldType::Number(kg()))])
        },
    ];
    Pack {
        name: "care".to_owned(),
        title: Words::plain("Care"),
        description: Words::plain("Care"),
        share: Share { percent: 5, max: 900 },
        rules: ImportanceRules::default(),
        kinds,
    }
}

fn draft(kind: &str, values: &[(&str, FieldValue)]) -> RecordDraft {
    let pack = pack();
    let kind = pack.kind(kind).unwrap();
    RecordDraft {
        chat: ChatId(5),
        pack: pack.name.clone(),
        kind: kind.name.clone(),
        record: None,
        values: values.iter().map(|(name, value)| ((*name).to_owned(), Some(value.clone()))).collect(),
        at: None,
        keys: kind.keys().map(|key| key.name.clone()).collect(),
        required: kind.fields.iter().filter(|field| field.required).map(|field| field.name.clone()).collect(),
        origin: ValueOrigin { turn: RunId::new(), user: UserId::telegram(7) },
        now: now(),
    }
}

fn text(words: &str) -> FieldValue {
    FieldValue::Text(words.to_owned())
}

fn saved(kept: &mut Vec<Record>, draft: &RecordDraft) -> Record {
    match saving(kept, draft) {
        SaveResult::New(record) => {
            kept.push(record.clone());
            record
        }
        SaveResult::Changed(record) => {
            kept.iter_mut().filter(|known| known.id == record.id).for_each(|known| *known = record.clone());
            record
        }
        other => panic!("{other:?}"),
    }
}

fn object(value: Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

#[test]
fn what_does_not_fit_a_field_is_told_all_at_once() {
    let all = kind(
        "all",
        vec![
            key("name", FieldType::Text),
            field("weight", FieldType::Number(kg())),
            field("count", FieldType::Integer(Range::default())),
            field("done", FieldType::Boolean),
            field("born", FieldType::Date),
            field("wakes", FieldType::Time),
            field("comes", FieldType::Moment),
            field("mood", FieldType::Choice(vec!["good".to_owned(), "bad".to_owned()])),
            field("likes", FieldType::List),
            field("of", FieldType::Ref("patient".to_owned())),
            field("times", FieldType::Schedule),
        ],
    );
    let mary = NamedRecord { id: RecordId::new(), kind: "patient".to_owned(), name: "Mary Smith".to_owned() };
    let names = [mary.clone()];
    let reading = ParseContext { zone: *ZONE, now: now(), names: &names };
    let wrong = object(json!({
        "name": null, "weight": 400, "count": 1.5, "done": "perhaps", "born": "5 May", "wakes": "early",
        "comes": "tomorrow", "mood": "god", "likes": 5, "of": "Mary Smit", "times": "often", "wieght": 70,
    }));
    insta::assert_snapshot!(read_fields(&all, &wrong, reading).unwrap_err().join("\n"));
    let right = object(json!({
        "name": "  Ann   Lee ", "weight": "72,5 kg", "count": "3", "done": "yes", "born": "1944-05-01",
        "wakes": "7:30", "comes": "2026-12-01T10:00", "mood": "GOOD", "likes": "tea, Tea; walks", "of": "mary  smith",
        "times": ["20:00", "8:00"],
    }));
    let time = |hour| NaiveTime::from_hms_opt(hour, 0, 0).unwrap();
    let wanted: Vec<(&str, FieldValue)> = vec![
        ("born", FieldValue::Date(NaiveDate::from_ymd_opt(1944, 5, 1).unwrap())),
        ("comes", FieldValue::Moment(Utc.with_ymd_and_hms(2026, 12, 1, 8, 0, 0).unwrap())),
        ("count", FieldValue::Integer(3)),
        ("done", FieldValue::Boolean(true)),
        ("likes", FieldValue::List(vec!["tea".to_owned(), "walks".to_owned()])),
        ("mood", text("good")),
        ("name", text("Ann Lee")),
        ("of", FieldValue::Ref(mary.id)),
        ("times", FieldValue::Schedule(Times::Daily(vec![time(8), time(20)]))),
        ("wakes", FieldValue::Time(NaiveTime::from_hms_opt(7, 30, 0).unwrap())),
        ("weight", FieldValue::Number(72.5)),
    ];
    let wanted: BTreeMap<String, Option<FieldValue>> =
        wanted.into_iter().map(|(name, value)| (name.to_owned(), Some(value))).collect();
    assert_eq!(read_fields(&all, &right, reading), Ok(wanted));
}

#[test]
fn years_that_nobody_means_are_refused_and_reckoned_with_nowhere() {
    let visit = kind("visit", vec![key("on", FieldType::Date), field("at", FieldType::Moment)]);
    let reading = ParseContext { zone: *ZONE, now: now(), names: &[] };
    let read = |fields: Value| read_fields(&visit, &object(fields), reading);
    for (name, written, year) in [
        ("on", "1899-12-31", "1899"),
        ("on", "2201-01-01", "2201"),
        ("at", "-262143-01-01T00:00", "-262143"),
        ("at", "+262142-12-31T23:30", "262142"),
        ("at", "0001-01-01T00:00:00Z", "1"),
        ("at", "9999-12-31T23:59", "9999"),
    ] {
        let wanted = format!("{name}: takes years from 1900 to 2200; this has {year}");
        assert_eq!(read(json!({name: written})), Err(vec![wanted]), "{written}");
    }
    for (name, written) in [("on", "1900-01-01"), ("on", "2200-12-31"), ("at", "2200-12-31T23:59")] {
        assert!(read(json!({name: written})).is_ok(), "{written}");
    }
    // What was kept before the years were held to does no harm either.
    let first = Point { at: DateTime::<Utc>::MIN_UTC, value: 1.0 };
    assert_eq!(trend(&[first], 30).map(|trend| trend.count), Some(1));
    let mut kept = Vec::new();
    let mary = saved(&mut kept, &draft("patient", &[("name", text("Mary"))]));
    let on = FieldValue::Date(DateTime::<Utc>::MIN_UTC.date_naive());
    let values = [("patient", FieldValue::Ref(mary.id)), ("name", text("Dr. Old")), ("on", on)];
    saved(&mut kept, &draft("visit", &values));
    let book = Book::new(vec![Arc::new(pack())], kept, figaro_base::tz::Tz::UTC);
    assert!(reminders(&book, &book.entries()[1], None, now()).is_empty());
}

fn value() -> impl Strategy<Value = (FieldType, FieldValue)> {
    let of = |form: FieldType| move |value: FieldValue| (form.clone(), value);
    let range = || Range::default();
    prop_oneof![
        "[a-zа-я0-9]{1,12}( [a-z]{1,9}){0,3}".prop_map(FieldValue::Text).prop_map(of(FieldType::Text)),
        (-1_000_000_i64..1_000_000)
            .prop_map(|number| FieldValue::Number(number as f64 / 8.0))
            .prop_map(of(FieldType::Number(range()))),
        any::<i32>()
            .prop_map(|number| FieldValue::Integer(number.into()))
            .prop_map(of(FieldType::Integer(range()))),
        any::<bool>().prop_map(FieldValue::Boolean).prop_map(of(FieldType::Boolean)),
        (0_i64..40_000)
            .prop_map(|day| FieldValue::Date(NaiveDate::default() + TimeDelta::days(day)))
            .prop_map(of(FieldType::Date)),
        (0_u32..24 * 60)
            .prop_map(|minute| FieldValue::Time(
                NaiveTime::from_hms_opt(minute / 60, minute % 60, 0).unwrap()
            ))
            .prop_map(of(FieldType::Time)),
        prop::collection::vec("[a-z]{1,9}", 1..6)
            .prop_map(|mut items| {
                items.sort();
                items.dedup();
                FieldValue::List(items)
            })
            .prop_map(of(FieldType::List)),
        prop::collection::btree_set(0_u32..24 * 60, 1..5)
            .prop_map(|minutes| {
                let time = |minute: u32| NaiveTime::from_hms_opt(minute / 60, minute % 60, 0).unwrap();
                FieldValue::Schedule(Times::Daily(minutes.into_iter().map(time).collect()))
            })
            .prop_map(of(FieldType::Schedule)),
    ]
}

proptest! {
    #[test]
    fn what_the_model_is_shown_of_a_field_it_can_write_back((form, value) in value()) {
        let kind = kind("one", vec![key("name", FieldType::Text), field("it", form)]);
        let shown = value.to_json(*ZONE, |_| None);
        let reading = ParseContext { zone: *ZONE, now: now(), names: &[] };
        let read = read_fields(&kind, &object(json!({"it": shown})), reading);
        prop_assert_eq!(read.map(|mut read| read.remove("it").flatten()), Ok(Some(value.clone())));
        let stored: FieldValue = serde_json::from_str(&serde_json::to_string(&value).unwrap()).unwrap();
        prop_assert_eq!(stored, value);
    }
}

#[test]
fn the_same_keys_change_the_record_that_is_there() {
    let mut kept = Vec::new();
    let mary = saved(&mut kept, &draft("patient", &[("name", text("Mary Smith"))]));
    let named = [("patient", FieldValue::Ref(mary.id)), ("name", text("Metformin"))];
    let first = saved(&mut kept, &draft("medication", &named));
    let again =
        draft("medication", &[named[0].clone(), ("name", text("METFORMIN")), ("dose", text("500 mg"))]);
    let second = saved(&mut kept, &again);
    assert_eq!((second.id, kept.len()), (first.id, 2), "the case of a name does not matter");
    assert_eq!(second.value("dose"), Some(&text("500 mg")));
    assert_eq!(
        second.fields["patient"].origin, first.fields["patient"].origin,
        "what stood there keeps its origin"
    );
    assert_eq!(second.fields["dose"].origin, again.origin);
    let same = draft("medication", &[named[0].clone(), ("name", text("METFORMIN"))]);
    assert!(matches!(saving(&kept, &same), SaveResult::Same(_)));
    let missing = saving(&kept, &draft("medication", &[("name", text("Aspirin"))]));
    assert_eq!(missing, SaveResult::Missing(vec!["patient".to_owned()]));
    saved(&mut kept, &draft("medication", &[named[0].clone(), ("name", text("Aspirin"))]));
    let renamed = RecordDraft { record: Some(first.id), ..draft("medication", &[("name", text("aspirin"))]) };
    assert!(matches!(saving(&kept, &renamed), SaveResult::Taken(_)));
    let unknown = RecordDraft { record: Some(mary.id), ..draft("medication", &[("dose", text("1"))]) };
    assert_eq!(saving(&kept, &unknown), SaveResult::Unknown, "it is of another kind");
    let many: Vec<Record> =
        (0..MAX_RECORDS).map(|_| Record { id: RecordId::new(), ..mary.clone() }).collect();
    assert_eq!(saving(&many, &draft("patient", &[("name", text("Ben"))])), SaveResult::Full);
}

#[test]
fn a_text_or_a_list_that_changes_keeps_where_its_older_parts_came_from() {
    let mut kept = Vec::new();
    let list = |items: &[&str]| FieldValue::List(items.iter().map(|&item| item.to_owned()).collect());
    let said = |value: FieldValue| draft("patient", &[("name", text("Mary")), ("born", value)]);
    let drafts = [said(list(&["penicillin"])), said(list(&["penicillin", "nuts"])), said(text("nuts"))];
    drafts.iter().for_each(|draft| drop(saved(&mut kept, draft)));
    let all: Vec<&ValueOrigin> = kept[0].fields["born"].origins().collect();
    assert_eq!(all, drafts.iter().map(|draft| &draft.origin).collect::<Vec<_>>());
    // A number says nothing of the one before.
    let record = saved(&mut kept, &said(FieldValue::Number(5.0)));
    assert_eq!(record.fields["born"].origins().count(), 1);
    // What was kept before there were several reads as one.
    let shape = serde_json::to_value(&record.fields["born"]).unwrap();
    assert!(shape.get("earlier").is_none(), "{shape}");
    let read: Filled = serde_json::from_value(shape).unwrap();
    assert_eq!(read, record.fields["born"]);
}

#[test]
fn readings_are_a_history_with_a_trend() {
    let mut kept = Vec::new();
    let mary = saved(&mut kept, &draft("patient", &[("name", text("Mary"))]));
    for (day, weight) in [(50, 80.0), (20, 72.0), (10, 74.0), (0, 73.0)] {
        let values = [("patient", FieldValue::Ref(mary.id)), ("weight", FieldValue::Number(weight))];
        let at = Some(now() - TimeDelta::days(day));
        saved(&mut kept, &RecordDraft { at, ..draft("weight", &values) });
    }
    let book = Book::new(vec![Arc::new(pack())], kept, *ZONE);
    let entries = book.entries();
    assert_eq!(entries.len(), 2, "readings with the same keys are one entry");
    let history = &entries[1].history;
    let trend = trend(&points(history.iter().copied(), "weight"), 30).unwrap();
    assert_eq!(
        (trend.last.value, trend.change, trend.min, trend.max, trend.count),
        (73.0, Some(-1.0), 72.0, 74.0, 3)
    );
    assert_eq!(
        book.name(entries[1].record),
        "Mary",
        "without words of its own it has the name of whom it is of"
    );
    assert_eq!(book.referring(mary.id).len(), 4);
}

#[test]
fn reminders_come_at_the_times_of_a_record() {
    let mut kept = Vec::new();
    let mary = saved(&mut kept, &draft("patient", &[("name", text("Mary"))]));
    let times = Times::read("08:00, 20:00, 13:30", *ZONE, now()).unwrap();
    let of = |more: (&'static str, FieldValue)| {
        let first = [("patient", FieldValue::Ref(mary.id)), ("name", text("Metformin {x}"))];
        first.into_iter().chain([more]).collect::<Vec<_>>()
    };
    saved(&mut kept, &draft("medication", &of(("times", FieldValue::Schedule(times)))));
    let day = NaiveDate::from_ymd_opt(2026, 11, 26).unwrap();
    saved(&mut kept, &draft("visit", &of(("on", FieldValue::Date(day)))));
    let book = Book::new(vec![Arc::new(pack())], kept, *ZONE);
    let entries = book.entries();
    let told = |at: usize, tag| {
        let all = reminders(&book, &entries[at], tag, now());
        all.into_iter().map(|one| (one.prompt, one.schedule, one.recurring)).collect::<Vec<_>>()
    };
    let english = "Mary: Metformin x.".to_owned();
    assert_eq!(
        told(1, None),
        [
            (english.clone(), "0 8,20 * * *".to_owned(), true),
            (english.clone(), "30 13 * * *".to_owned(), true)
        ]
    );
    // A day before at nine has passed; two hours before has not.
    assert_eq!(
        told(2, Some("pt-BR")),
        [("Lembre Mary de Metformin x".to_owned(), "2026-11-26T07:00".to_owned(), false)]
    );
    assert!(book.due(&entries[2]).unwrap() > now());
}

#[test]
fn a_record_goes_with_what_it_makes_no_sense_without() {
    let record = saved(&mut Vec::new(), &draft("patient", &[("name", text("Mary")), ("born", text("x"))]));
    let lost = without_fields(record.clone(), |filled| !filled.is_essential).unwrap();
    assert_eq!(lost.fields.keys().collect::<Vec<_>>(), ["name"]);
    assert_eq!(without_fields(record, |filled| filled.is_essential), None);
}
