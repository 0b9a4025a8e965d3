//! Files of packs: what is read of them, what is told of each mistake, and how records are rendered.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::Path;

use chrono::{DateTime, TimeDelta};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::*;
use crate::texts::Locales;
use figaro_base::ids::{ChatId, RunId, UserId};
use figaro_domain::record::{
    Book, FieldType, FieldValue, ImportanceRules, Record, RecordDraft, SaveResult, Share, ValueOrigin, saving,
};

const GOOD: &str = "name: shop
title: {en: Shop, pt: Loja}
description: Goods and orders of a small shop
tokens: {percent: 4, max: 600}
importance:
  terms: [order, pedido]
  critical: [recalled]
  unless: [recalled fondly]
kinds:
  product:
    title: Product
    fields:
      name: {type: text, key: true}
      price: {type: number, unit: EUR, min: 0, max: 999}
      size: {type: choice, options: [small, large]}
  order:
    about: What somebody has ordered.
    fields:
      product: {type: ref, to: product, key: true}
      due: {type: date, key: true}
      note: {type: text, label: {en: Note, pt: Nota}}
    upcoming: due
    triggers:
      en: [order, delivery]
      pt: [pedido]
    render: |
      {{ product }} on {{ due }}
      {% if note %}({{ note }}){% endif %}
    remind:
      field: due
      before: [1d, 2h]
      text: \"Say that {product} is due.\"
  stock:
    series: true
    trend_days: 14
    fields:
      product: {type: ref, to: product, key: true}
      count: {type: integer, min: 0, chart: stock}
";

/// A folder of packs with these files.
fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

fn load(folder: &Path) -> Result<PackSet, Vec<String>> {
    PackFiles::of(folder).read("prompts/packs")
}

fn read(text: &str) -> Result<PackSet, Vec<String>> {
    load(folder(&[("shop.yaml", text)]).path())
}

#[test]
fn a_folder_adds_packs_and_replaces_those_built_in() {
    let mine = GOOD.replace("name: shop", "name: class");
    let folder = folder(&[("shop.yaml", GOOD), ("class.yaml", &mine), ("README.md", "no pack")]);
    let packs = load(folder.path()).unwrap();
    assert_eq!(
        packs.all().map(|pack| pack.name.as_str()).collect::<Vec<_>>(),
        ["class", "eldercare", "shop"]
    );
    assert_eq!(["shop", "class", "eldercare"].map(|name| packs.is_built_in(name)), [false, false, true]);
    let shop = packs.get("shop").unwrap();
    assert_eq!((shop.title.of(Some("pt-BR")), shop.title.of(Some("ru"))), ("Loja", "Shop"));
    assert_eq!(shop.share, Share { percent: 4, max: 600 });
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    let rules = ImportanceRules {
        terms: words(&["order", "pedido"]),
        critical: words(&["recalled"]),
        unless: words(&["recalled fondly"]),
    };
    assert_eq!(packs.rules()["shop"], rules);
    let names: Vec<&str> = shop.kinds.iter().map(|kind| kind.name.as_str()).collect();
    assert_eq!(names, ["product", "order", "stock"], "in the order of the file");
    let order = shop.kind("order").unwrap();
    assert_eq!(order.remind.as_ref().unwrap().before, [24 * 60, 120]);
    assert_eq!(order.field("product").unwrap().form, FieldType::Ref("product".to_owned()));
    assert_eq!(shop.kind("stock").unwrap().charts()[0].0, "stock");
}

/// A change that makes a file wrong.
struct Case(&'static str, &'static str);

const MISTAKES: [Case; 62] = [
    Case("name: shop", "name: store"),
    Case("name: shop", "name: Shop"),
    Case("name: shop", "nam: shop"),
    Case("name: shop", "name:"),
    Case("title: {en: Shop, pt: Loja}", "title: \"\""),
    Case("title: {en: Shop, pt: Loja}", "title: {english: Shop}"),
    Case("title: {en: Shop, pt: Loja}", "title: [Shop]"),
    Case("title: {en: Shop, pt: Loja}", "title: A title that is much too long for a button of a card"),
    Case("description: Goods and orders of a small shop\n", ""),
    Case("percent: 4", "percent: 70"),
    Case("max: 600", "max: 10"),
    Case("max: 600", "max: many"),
    Case("terms: [order, pedido]", "terms: order"),
    Case("terms: [order, pedido]", "terms: [order, o]"),
    Case("terms: [order, pedido]", "terms: [order, Order]"),
    Case("unless:", "unles:"),
    Case("kinds:\n", "kinds: {}\nold:\n"),
    Case("  product:\n    title", "  Product:\n    title"),
    Case("  product:\n    title", "  a_name_that_is_longer_than_any:\n    title"),
    Case("    title: Product\n", "    tittle: Product\n"),
    Case("    title: Product\n", "    title: Product\n    title: Product\n"),
    Case("      name: {type: text, key: true}", "      name: {type: text}"),
    Case("      name: {type: text, key: true}", "      name: {type: txt, key: true}"),
    Case("      name: {type: text, key: true}", "      name: {type: money, key: true}"),
    Case("      name: {type: text, key: true}", "      name: {typ: text, key: true}"),
    Case("      name: {type: text, key: true}", "      name: text"),
    Case("      name: {type: text, key: true}", "      Name: {type: text, key: true}"),
    Case("      name: {type: text, key: true}", "      name: {type: text, key: maybe}"),
    Case("      name: {type: text, key: true}", "      name: {type: list, key: true}"),
    Case("      name: {type: text, key: true}", "      name: {type: text, key: true, unit: kg}"),
    Case("min: 0, max: 999", "min: 9, max: 1"),
    Case("min: 0, max: 999", "min: none, max: 1"),
    Case("unit: EUR", "unit: \"\""),
    Case("options: [small, large]", "options: [small]"),
    Case("options: [small, large]", "options: [small, Small]"),
    Case("type: choice, options: [small, large]", "type: choice"),
    Case("type: choice, options: [small, large]", "type: text, options: [small, large]"),
    Case(
        "      product: {type: ref, to: product, key: true}\n      due",
        "      product: {type: ref, to: prodct, key: true}\n      due",
    ),
    Case(
        "      product: {type: ref, to: product, key: true}\n      due",
        "      product: {type: ref, to: car, key: true}\n      due",
    ),
    Case(
        "      product: {type: ref, to: product, key: true}\n      due",
        "      product: {type: ref, key: true}\n      due",
    ),
    Case(
        "      product: {type: ref, to: product, key: true}\n      due",
        "      product: {type: ref, to: order, key: true}\n      due",
    ),
    Case("    upcoming: due", "    upcoming: duo"),
    Case("    upcoming: due", "    upcoming: note"),
    Case("      en: [order, delivery]", "      english: [order, delivery]"),
    Case("      en: [order, delivery]", "      en: []"),
    Case("      en: [order, delivery]", "      en: order"),
    Case("      en: [order, delivery]", "      en: [order, \"!\"]"),
    Case("{{ product }} on {{ due }}", "{{ prodct }} on {{ due }}"),
    Case("{{ product }} on {{ due }}", "{{ product } on {{ due }}"),
    Case("{{ product }} on {{ due }}", "{{ product|shout }} on {{ due }}"),
    Case("{% endif %}", ""),
    Case(
        "    render: |\n      {{ product }} on {{ due }}\n      {% if note %}({{ note }}){% endif %}\n",
        "    render: \"\"\n",
    ),
    Case("    remind:\n      field: due", "    remind:\n      field: note"),
    Case("    remind:\n      field: due", "    remind:\n      field: de"),
    Case("before: [1d, 2h]", "before: [1w]"),
    Case("before: [1d, 2h]", "before: [tomorrow]"),
    Case("{product} is due", "{prodct} is due"),
    Case("    trend_days: 14", "    trend_days: 500"),
    Case("    series: true\n    trend_days: 14", "    trend_days: 14"),
    Case("count: {type: integer, min: 0, chart: stock}", "count: {type: text}"),
    Case("count: {type: integer, min: 0, chart: stock}", "count: {type: integer}\n      at: {type: date}"),
    Case("kinds:\n", "\tkinds:\n"),
];

#[test]
fn each_mistake_is_told_with_its_place() {
    let mut told = String::new();
    for Case(there, instead) in &MISTAKES {
        let text = GOOD.replacen(there, instead, 1);
        assert_ne!(text, GOOD, "{there}");
        let faults = read(&text).map(|_| ()).expect_err(instead);
        assert!(faults.iter().all(|fault| fault.lines().count() == 1), "{faults:?}");
        writeln!(told, "{there:?} -> {instead:?}\n  {}", faults.join("\n  ")).unwrap();
    }
    insta::assert_snapshot!(told);
}

#[test]
fn all_faults_of_all_files_are_told_together_in_the_order_of_their_lines() {
    let two = GOOD.replace("max: 600", "max: 9").replace("upcoming: due", "upcoming: duo");
    let folder = folder(&[("shop.yaml", &two), ("b.yml", GOOD), ("c.yaml", "- a")]);
    let faults = load(folder.path()).map(|_| ()).unwrap_err();
    let places: Vec<&str> = faults.iter().filter_map(|fault| fault.split(": ").next()).collect();
    let wanted = ["b.yml", "c.yaml:1:1", "shop.yaml:4:27", "shop.yaml:22:15"];
    assert_eq!(places, wanted.map(|place| format!("prompts/packs/{place}")), "{faults:#?}");
    assert!(faults[0].ends_with("the file of a pack ends in .yaml"), "{faults:?}");
}

fn records(kind: &str, all: &[&[(&str, FieldValue)]]) -> Vec<Record> {
    let mut kept: Vec<Record> = Vec::new();
    for (day, values) in (0..).zip(all) {
        let draft = RecordDraft {
            chat: ChatId(5),
            pack: "shop".to_owned(),
            kind: if day == 0 { "product".to_owned() } else { kind.to_owned() },
            record: None,
            values: values.iter().map(|(name, value)| ((*name).to_owned(), Some(value.clone()))).collect(),
            at: (kind == "stock" && day > 0).then(|| DateTime::UNIX_EPOCH + TimeDelta::days(day)),
            keys: values.first().map(|(name, _)| (*name).to_owned()).into_iter().collect(),
            required: Vec::new(),
            origin: ValueOrigin { turn: RunId::new(), user: UserId::telegram(7) },
            now: DateTime::UNIX_EPOCH,
        };
        let SaveResult::New(record) = saving(&kept, &draft) else { panic!("{draft:?}") };
        let record = match &record.fields.get("product") {
            Some(_) => {
                let mut record = record.clone();
                record.fields.get_mut("product").unwrap().value = FieldValue::Ref(kept[0].id);
                record
            }
            None => record,
        };
        kept.push(record);
    }
    kept
}

fn lines(kind: &str, all: &[&[(&str, FieldValue)]]) -> Vec<String> {
    let packs = read(GOOD).unwrap();
    let book =
        Book::new(vec![packs.get("shop").unwrap().clone()], records(kind, all), figaro_base::tz::Tz::UTC);
    book.entries().iter().map(|entry| packs.rendering().line(&book, entry)).collect()
}

fn text(words: &str) -> FieldValue {
    FieldValue::Text(words.to_owned())
}

#[test]
fn a_record_is_a_line_by_its_template_or_its_fields() {
    let tea: &[(&str, FieldValue)] = &[("name", text("Tea")), ("price", FieldValue::Number(3.5))];
    let due = FieldValue::Date(chrono::NaiveDate::from_ymd_opt(2026, 12, 1).unwrap());
    let order: &[(&str, FieldValue)] = &[("product", text("")), ("due", due), ("note", text("two\nboxes"))];
    assert_eq!(
        lines("order", &[tea, order]),
        ["product: name: Tea; price: 3.5 EUR", "order: Tea on 2026-12-01 (two boxes)"]
    );
    let count = |number: i64| vec![("product", text("")), ("count", FieldValue::Integer(number))];
    let (first, second) = (count(12), count(9));
    assert_eq!(
        lines("stock", &[tea, &first, &second])[1],
        "stock: product: Tea; count: 9 (1970-01-03 00:00; −3 since the reading before; 9 to 12 in 14 days, 2 readings)"
    );
}

/// The published schema, as an editor applies it.
fn validates(text: &str) -> bool {
    let file: BTreeMap<String, Value> = serde_saphyr::from_str(text).unwrap();
    jsonschema::validator_for(&schema()).unwrap().is_valid(&json!(file))
}

#[test]
fn the_published_schema_takes_what_the_loader_takes() {
    let built_in = [
        include_str!("../../../../prompts/packs/eldercare.yaml"),
        include_str!("../../../../prompts/packs/class.yaml"),
    ];
    for text in built_in.into_iter().chain([GOOD]) {
        assert!(validates(text), "{text}");
    }
    for (there, instead) in [
        ("type: text, key: true", "type: txt, key: true"),
        ("percent: 4", "percent: 70"),
        ("unless:", "unles:"),
        ("trend_days: 14", "trend_days: 500"),
    ] {
        assert!(!validates(&GOOD.replacen(there, instead, 1)), "{instead}");
    }
}

#[test]
fn what_comes_with_figaro_is_right_and_in_every_language() {
    let packs = PackFiles::of_prompts(None).read("prompts/packs").unwrap();
    assert_eq!(packs.all().map(|pack| pack.name.as_str()).collect::<Vec<_>>(), ["class", "eldercare"]);
    for pack in packs.all() {
        for kind in &pack.kinds {
            let codes: BTreeSet<&str> = kind.title.all().map(|(code, _)| code).collect();
            let (first, others) = Locales::tags();
            assert_eq!(codes, others.into_iter().chain([first]).collect(), "{}", kind.name);
        }
    }
}

#[test]
fn the_examples_of_the_guide_are_packs() {
    let guide = include_str!("../../../../docs/packs.md");
    let blocks = guide.split("```yaml\n").skip(1).filter_map(|rest| rest.split("```").next());
    let examples: Vec<&str> = blocks.filter(|block| block.starts_with("name: ")).collect();
    assert_eq!(examples.len(), 2, "{guide}");
    for example in examples {
        let name = example.lines().next().unwrap().trim_start_matches("name: ");
        let file = format!("{name}.yaml");
        let packs = load(folder(&[(&file, example)]).path()).unwrap_or_else(|faults| panic!("{faults:#?}"));
        assert!(!packs.is_built_in(name) && validates(example), "{example}");
    }
}
