//! Tests of rich messages.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::tests::markdown;
use super::super::{Piece, messages, render};
use super::*;

const LIMIT: usize = 4096;

/// The blocks of an answer that is one rich message.
fn blocks(markdown: &str) -> Value {
    let pieces = rich_messages(markdown, LIMIT);
    let [Piece::Rich(part)] = pieces.as_slice() else { panic!("{markdown:?} is {pieces:?}") };
    let instead: Vec<Piece> = part.instead.iter().cloned().map(Piece::Text).collect();
    assert_eq!(instead, messages(markdown, LIMIT), "{markdown:?}");
    serde_json::to_value(&part.message.blocks).unwrap()
}

/// All text of a value of the Bot API.
fn text(value: &Value) -> String {
    match value {
        Value::String(text) => format!("{text} "),
        Value::Array(parts) => parts.iter().map(text).collect(),
        Value::Object(fields) => {
            let shown = |(name, _): &(&String, &Value)| {
                !matches!(name.as_str(), "type" | "url" | "align" | "valign" | "language")
            };
            fields.iter().filter(shown).map(|(_, value)| text(value)).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => String::new(),
    }
}

#[test]
fn what_text_shows_as_well_is_no_rich_message() {
    let sources = [
        "Yes, **of course**.",
        "- one\n  - two\n    - three",
        "1. one\n2. two",
        "```rust\nlet a = 1;\n```",
        "> a quote\n\n---\n\n[a link](https://a.b) ||hidden|| ~~gone~~",
        "It costs $5 or $10, and $x$ is unknown.",
        "#hashtag, # 5 | 6",
        "a | b",
        "<b>bold</b> <details>",
        "`| a | b |` `$$x^2$$`",
        "```\n# no heading\n| a |\n|---|\n```",
        "",
    ];
    for source in sources {
        assert!(!is_rich(source), "{source:?}");
        assert_eq!(rich_messages(source, LIMIT), messages(source, LIMIT), "{source:?}");
    }
}

/// Checks that each answer is one rich message of these blocks.
fn check<const N: usize>(cases: [(&str, Value); N]) {
    for (source, expected) in cases {
        assert_eq!(blocks(source), expected, "{source:?}");
    }
}

fn bold(text: Value) -> Value {
    json!({"type": "bold", "text": text})
}

fn paragraph(text: Value) -> Value {
    json!({"type": "paragraph", "text": text})
}

fn math(expression: &str) -> Value {
    json!({"type": "mathematical_expression", "expression": expression})
}

#[test]
fn headings_tables_and_formulas_keep_what_they_hold() {
    let cell = |text: Value, align: &str| json!({"text": text, "align": align, "valign": "middle"});
    let head = |text: &str, align: &str| json!({"text": text, "is_header": true, "align": align, "valign": "middle"});
    check([
        (
            "## The **plan**\n\nSee [this](https://a.b).",
            json!([
                {"type": "heading", "text": ["The ", bold(json!("plan"))], "size": 2},
                paragraph(json!(["See ", {"type": "url", "text": "this", "url": "https://a.b"}, "."])),
            ]),
        ),
        (
            "| A | B |\n|---|--:|\n| **x** `y` | |",
            json!([{"type": "table", "is_bordered": true, "cells": [
                [head("A", "left"), head("B", "right")],
                [
                    cell(json!([bold(json!("x")), " ", {"type": "code", "text": "y"}]), "left"),
                    {"align": "right", "valign": "middle"},
                ],
            ]}]),
        ),
        (
            "So $$x^2 = 4$$. And \\(y_1\\) **is \\(z\\)**",
            json!([
                paragraph(json!("So")),
                math("x^2 = 4."),
                paragraph(json!(["And ", math("y_1"), " ", bold(json!(["is ", math("z")]))])),
            ]),
        ),
    ]);
}

#[test]
fn lists_sections_and_notes_keep_what_they_hold() {
    check([
        (
            "# T\n\n1. one\n   ```rust\n     let a = 1;\n   ```\n3. - [x] done\n   - [ ] open",
            json!([
                {"type": "heading", "text": "T", "size": 1},
                {"type": "list", "items": [
                    {"value": 1, "type": "1", "blocks": [
                        paragraph(json!("one")), {"type": "pre", "text": "  let a = 1;", "language": "rust"},
                    ]},
                    {"value": 2, "type": "1", "blocks": [{"type": "list", "items": [
                        {"has_checkbox": true, "is_checked": true, "blocks": [paragraph(json!("done"))]},
                        {"has_checkbox": true, "blocks": [paragraph(json!("open"))]},
                    ]}]},
                ]},
            ]),
        ),
        (
            "<details>\n<summary>More <b>of</b> it</summary>\n\n- a\n\n> b\n\n</details>\n\nend",
            json!([
                {"type": "details", "summary": ["More ", bold(json!("of")), " it"], "blocks": [
                    {"type": "list", "items": [{"blocks": [paragraph(json!("a"))]}]},
                    {"type": "blockquote", "blocks": [paragraph(json!("b"))]},
                ]},
                paragraph(json!("end")),
            ]),
        ),
        (
            "<details open><summary>A</summary>\nb\n</details>\n\n---",
            json!([
                {"type": "details", "summary": "A", "blocks": [paragraph(json!("b"))]},
                {"type": "divider"},
            ]),
        ),
        (
            "# **标题：**字\n\nA note[^1] and [words][x].\n\n[^1]: the note\n\n[x]: https://a.b\n[y]: https://c.d",
            json!([
                {"type": "heading", "text": [bold(json!("标题：")), "字"], "size": 1},
                paragraph(json!(["A note[1] and ", {"type": "url", "text": "words", "url": "https://a.b"}, "."])),
                paragraph(json!("[1] the note")),
                paragraph(json!("[y]: https://c.d")),
            ]),
        ),
    ]);
}

#[test]
fn an_answer_beyond_one_message_is_divided_between_blocks() {
    let section = |n: usize| format!("## Part {n}\n\n{}end {n}.\n\n", "many words ".repeat(700));
    let long: String = (1..=10).map(section).collect();
    let pieces = rich_messages(&long, LIMIT);
    assert_eq!(pieces.len(), 3);
    let mut shown = String::new();
    for piece in &pieces {
        let Piece::Rich(part) = piece else { panic!("{piece:?}") };
        let all = text(&serde_json::to_value(&part.message.blocks).unwrap());
        assert!(all.len() < 32_768 + 100 && part.instead.len() > 3, "{}", all.len());
        assert!(all.contains("end ") && part.instead.iter().all(|text| text.text.len() <= LIMIT));
        let instead: String = part.instead.iter().map(|text| format!("{} ", text.text)).collect();
        assert_eq!(instead.matches("many").count(), all.matches("many").count());
        shown += &all;
    }
    assert_eq!((shown.matches("Part ").count(), shown.matches("many").count()), (10, 7000));
    let items = format!("# List\n\n{}", "- item\n".repeat(600));
    let wide = format!("{}a\n{}-\n# T", "a|".repeat(20), "-|".repeat(20));
    let deep = format!("# T\n\n{}x", "> ".repeat(5_000));
    let rtl = "# עברית\n\nשלום a";
    for beyond in [items, wide, deep, format!("# T\n\n{}", "word ".repeat(7_000))] {
        assert_eq!(rich_messages(&beyond, LIMIT), messages(&beyond, LIMIT));
    }
    let [Piece::Rich(part)] = &rich_messages(rtl, LIMIT)[..] else { panic!() };
    assert!(part.message.is_rtl);
}

#[test]
fn long_code_is_still_a_file() {
    let code = "let a = 1;\n".repeat(90);
    let source = format!(
        "# One\n\n```rust\n{code}```\n\nPlain **words**.\n\n```rust\n{code}```\n\n| A |\n|---|\n| b |"
    );
    let pieces = rich_messages(&source, LIMIT);
    let kinds: Vec<&str> = pieces
        .iter()
        .map(|piece| match piece {
            Piece::Rich(_) => "rich",
            Piece::Text(text) => &text.text,
            Piece::File(file) | Piece::Whole(file, _) => &file.name,
        })
        .collect();
    assert_eq!(kinds, ["rich", "main.rs", "Plain words.", "main-2.rs", "rich"]);
}

proptest! {
    #[test]
    fn a_rich_message_has_every_word_of_the_text(source in markdown()) {
        let pieces = rich_messages(&source, LIMIT);
        prop_assert_eq!(pieces.iter().any(|piece| matches!(piece, Piece::Rich(_))), is_rich(&source));
        let rich: String = pieces.iter().map(|piece| match piece {
            Piece::Rich(part) => text(&serde_json::to_value(&part.message.blocks).unwrap()),
            Piece::Text(text) => text.text.clone(),
            Piece::File(file) | Piece::Whole(file, _) => file.content.clone(),
        }).collect();
        let plain = render(&source).text;
        for word in ["word", "слово", "日本", "שלום", "snake", "sub", "item", "indented", "Guide", "code"] {
            // A table as a list repeats its headers.
            let most = if source.contains("|---|") { 1 } else { usize::MAX };
            let count = |text: &str| text.matches(word).count().min(most);
            prop_assert!(count(&rich) >= count(&plain), "{} in {:#?} of {}", word, pieces, source);
        }
    }

    #[test]
    fn any_beginning_is_a_draft_within_the_limits(source in markdown(), end in any::<prop::sample::Index>()) {
        let table = format!("| a | b |\n|---|---|\n| c | d |\n\n{source}");
        let end = table.floor_char_boundary(end.index(table.len() + 1));
        if let Some(draft) = rich_draft(&table[..end]) {
            let extent = draft.blocks.iter().map(RichBlock::extent).reduce(RichExtent::and).unwrap();
            prop_assert!(extent.fits() && extent.is_rich, "{draft:?}");
        }
    }

    #[test]
    fn any_markers_make_valid_blocks(source in "[ab1 \n*_~`|<>/!()\\[\\]#.\\\\$-]{0,80}") {
        drop(rich_messages(&format!("# T\n\n{source}"), LIMIT));
        drop(rich_messages(&format!("<details>{source}"), LIMIT));
    }
}
