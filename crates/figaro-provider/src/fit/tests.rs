use proptest::prelude::*;

use super::*;
use crate::{Earlier, MediaPart};
use figaro_base::text::estimate_tokens;
use figaro_domain::conversation::PrivatePart;
use figaro_domain::tool::Call;

fn words(count: usize) -> String {
    (0..count).map(|n| format!("w{n} ")).collect()
}

fn said(text: &str) -> Item {
    Item::user(format!("<message from=\"Ann\" user_id=\"11\">\n{text}\n</message>"))
}

fn answer(text: &str) -> Item {
    Item::Assistant { text: text.to_owned(), calls: Vec::new(), private: Vec::new() }
}

fn calls(ids: &[&str], arguments: &str) -> Item {
    let call = |id: &&str| Call { id: (*id).to_owned(), name: "t".into(), arguments: arguments.to_owned() };
    let data = serde_json::json!(words(60));
    let private = vec![PrivatePart { provider: "p".to_owned(), data }];
    Item::Assistant { text: String::new(), calls: ids.iter().map(call).collect(), private }
}

fn result(id: &str, output: &str) -> Item {
    Item::ToolResult {
        call_id: id.to_owned(),
        name: "t".to_owned(),
        output: output.to_owned(),
        media: Vec::new(),
    }
}

fn picture() -> MediaPart {
    MediaPart { mime_type: "image/png".to_owned(), seconds: 0, base64: "aGk=".into() }
}

fn key(at: usize) -> EntryKey {
    format!("session-01ARZ3NDEKTSV4RRFFQ69G5FAV-msg-{at}").parse().unwrap()
}

/// An exchange: the first is its question, and each part has a key.
fn exchange(items: Vec<Item>) -> Vec<ConversationPart> {
    let part = |(at, item)| ConversationPart {
        item,
        stage: if at == 0 { Stage::Question } else { Stage::Earlier },
        key: Some(key(at)),
    };
    items.into_iter().enumerate().map(part).collect()
}

fn total(parts: &[ConversationPart]) -> usize {
    parts.iter().map(|part| part.item.estimate_tokens()).sum()
}

#[test]
fn results_are_cut_before_long_texts_and_the_question_last() {
    let question = format!("begin {} end", words(400));
    let long = format!("first {} last", words(400));
    let output = serde_json::json!({"success": true, "result": words(400)}).to_string();
    let whole = exchange(vec![
        said(&question),
        calls(&["a", "b"], "{}"),
        result("a", &output),
        result("b", &output),
        answer(&long),
    ]);
    let is_cut = |parts: &[ConversationPart], at: usize| parts[at].item.text() != whole[at].item.text();
    let all = total(&whole);
    // The budget, and which parts are cut: the question, the results, the answer.
    let cases = [
        (all, [false, false, false, false]),
        (all - 60, [false, false, false, false]), // What only the provider understands goes first.
        (all - 300, [false, true, false, false]),
        (all * 2 / 3, [false, true, true, false]),
        (all / 2, [false, true, true, true]),
        (all / 4, [true, true, true, true]),
    ];
    for (budget, expected) in cases {
        let mut parts = whole.clone();
        assert!(shrink(&mut parts, budget, estimate_tokens), "{budget} of {all}");
        assert!(total(&parts) <= budget);
        if parts.len() == whole.len() {
            assert_eq!([0, 2, 3, 4].map(|at| is_cut(&parts, at)), expected, "{budget} of {all}");
        }
    }
    let mut parts = whole.clone();
    shrink(&mut parts, all / 2, estimate_tokens);
    let cut = parts[4].item.text();
    assert!(
        cut.starts_with("first") && cut.ends_with("last") && cut.contains(&gap(&key(4).to_string())),
        "{cut}"
    );
    let gap = cut.find("session").unwrap();
    assert!(gap < cut.len() / 2, "of an answer the end stays: {cut}");
    let mut parts = whole.clone();
    shrink(&mut parts, all / 4, estimate_tokens);
    let cut = parts[0].item.text();
    assert!(cut.starts_with("<message from=\"Ann\" user_id=\"11\">\nbegin"), "{cut}");
    assert!(cut.ends_with("end\n</message>") && cut.contains(&format!("[{}: ", key(0))), "{cut}");
    assert!(cut.contains("characters left out]"), "it says so: {cut}");
}

#[test]
fn calls_of_what_is_over_go_where_nothing_else_helps_and_those_of_the_turn_never() {
    let ids: Vec<String> = (0..40).map(|n| n.to_string()).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let mut items = vec![said("q"), calls(&ids, r#"{"text":"x"}"#)];
    items.extend(ids.iter().map(|id| result(id, "{}")));
    items.push(answer("done"));
    let mut parts = exchange(items.clone());
    assert!(shrink(&mut parts, 200, estimate_tokens));
    let texts: Vec<&str> = parts.iter().map(|part| part.item.text()).collect();
    assert_eq!(texts, [items[0].text(), "done"]);

    let mut of_turn = exchange(items.clone());
    of_turn.iter_mut().skip(1).for_each(|part| part.stage = Stage::Turn);
    assert!(!shrink(&mut of_turn, 200, estimate_tokens), "it cannot fit");
    assert_eq!(of_turn.len(), items.len());
}

#[test]
fn long_arguments_stay_json_and_pictures_are_told_of() {
    let arguments = serde_json::json!({"text": words(300), "list": [1, {"deep": words(300)}]}).to_string();
    let mut question = said("look");
    if let Item::User { media, .. } = &mut question {
        media.push(picture());
    }
    let mut parts = exchange(vec![question, calls(&["a"], &arguments), result("a", "{}")]);
    parts[0].key = None; // It is asked just now.
    assert!(shrink(&mut parts, 2_200, estimate_tokens));
    let Item::Assistant { calls, private, .. } = &parts[1].item else { panic!("{parts:?}") };
    let short: serde_json::Value = serde_json::from_str(&calls[0].arguments).unwrap();
    assert!(short["list"][1]["deep"].as_str().unwrap().len() < 200 && private.is_empty());
    assert!(matches!(&parts[0].item, Item::User { media, .. } if media.len() == 1));
    assert!(shrink(&mut parts, 500, estimate_tokens));
    let Item::User { text, media } = &parts[0].item else { panic!("{parts:?}") };
    assert!(
        media.is_empty() && text.contains("[pictures or sounds left out because there is no room: 1]"),
        "{text}"
    );
}

#[test]
fn a_request_keeps_the_newest_exchange_and_the_turn_and_the_question_says_what_it_lacks() {
    let turn = |question: &str| {
        let items = vec![
            said("old"),
            answer(&words(300)),
            said("new"),
            answer(&words(300)),
            said(question),
            calls(&["a"], "{}"),
            result("a", &words(300)),
        ];
        Request {
            earlier: Earlier { keys: (0..4).map(|at| Some(key(at))).collect(), kept: 0 },
            ..Request::new("m", "Be brief.", items)
        }
    };
    let fitted = |question: &str, room: usize| {
        let mut request = turn(question);
        fit(&mut request, room);
        let tokens: usize = request.items.iter().map(|item| item.tokens(most_tokens)).sum();
        assert!(tokens <= room, "{tokens} of {room}");
        assert!(matches!(&request.items[request.earlier.keys.len()], Item::User { .. }));
        request
    };
    let whole = turn("now?");
    assert_eq!(fitted("now?", 1_000_000), whole);
    let most = whole.items.iter().map(|item| item.tokens(most_tokens)).sum::<usize>();
    let without_old = fitted("now?", most - 100);
    assert_eq!((without_old.earlier.keys.len(), &without_old.items[..]), (2, &whole.items[2..]));
    let tight = fitted("now?", 600);
    assert_eq!(
        (tight.earlier.keys.len(), tight.items.len()),
        (2, 5),
        "nothing of the newest exchange is dropped"
    );
    assert_eq!(tight.items[2], whole.items[4], "the question is whole");
    assert_eq!(key_in(tight.items[1].text()), Some(key(3).to_string().as_str()), "the rest can be looked up");
    let huge = format!("begin {} end", words(5_000));
    let cut = fitted(&huge, 1_500);
    let question = cut.items[cut.earlier.keys.len()].text();
    assert!(question.contains("characters of this message are left out"), "{question}");
    assert!(question.contains("\nbegin") && question.ends_with("end\n</message>"));
    assert_eq!(cut.items.len() - cut.earlier.keys.len(), 3, "the turn in progress is there");
}

#[test]
fn parts_of_a_question_are_cut_alike() {
    assert_eq!(level(vec![10, 500, 400], 300), 145);
    assert_eq!(level(vec![10, 20], 300), usize::MAX);
    assert_eq!(level(vec![10, 20], 0), 0);
    let parts: Vec<String> =
        (0..5).map(|at| format!("<message n=\"{at}\">\n{}\n</message>", words(300))).collect();
    let question = format!("<now>today</now>\n{}", parts.join("\n"));
    let mut cut = exchange(vec![Item::user(question)]);
    assert!(shrink(&mut cut, 1_000, estimate_tokens));
    let text = cut[0].item.text();
    assert!(
        text.starts_with("<now>today</now>\n<message n=\"0\">\nw0 ") && text.ends_with("\n</message>"),
        "{text}"
    );
    assert_eq!(text.matches("characters left out]").count(), 5);
    assert!(estimate_tokens(text) > 800, "the room is used");
}

#[test]
fn what_stands_around_a_question_goes_before_its_words_and_a_second_cut_keeps_the_key() {
    let around = format!(
        "<background>\n<said from=\"Bob\">{}</said>\n</background>\n<notes>\nlist: {}\n</notes>\n",
        words(90),
        words(90)
    );
    let question = format!("{around}<now>today</now>\n<message from=\"Ann\">\n{}\n</message>", words(200));
    let mut request = Request::new("m", "", vec![Item::user(question.clone())]);
    fit(&mut request, most_tokens(&question) - 50);
    assert_eq!(request.items[0].text(), &question[around.len()..]);

    let long = cut_middle(&words(400), 400, 400, &gap(&key(7).to_string()));
    let mut parts = vec![ConversationPart { item: answer(&long), stage: Stage::Turn, key: None }];
    assert!(shrink(&mut parts, 150, estimate_tokens));
    let cut = parts[0].item.text();
    assert_eq!(
        (key_in(cut), cut.matches("session-").count()),
        (Some(key(7).to_string().as_str()), 1),
        "{cut}"
    );
}

proptest! {
    #[test]
    fn calls_have_their_results_and_what_fits_fits(
        shape in prop::collection::vec((0..5_u8, 0..200_usize, 0..4_usize), 1..20),
        budget in 0..4_000_usize,
    ) {
        let mut items = vec![said("q")];
        for (at, (kind, length, many)) in shape.into_iter().enumerate() {
            match kind {
                0 => items.push(answer(&words(length))),
                1 => items.push(said(&words(length))),
                _ => {
                    let ids: Vec<String> = (0..=many).map(|n| format!("{at}-{n}")).collect();
                    let all: Vec<&str> = ids.iter().map(String::as_str).collect();
                    items.push(calls(&all, "{}"));
                    items.extend(all.iter().map(|id| result(id, &words(length))));
                }
            }
        }
        let mut parts = exchange(items);
        let before = total(&parts);
        let fits = shrink(&mut parts, budget, estimate_tokens);
        prop_assert_eq!(fits, total(&parts) <= budget);
        prop_assert!(total(&parts) <= before);
        prop_assert!(fits || budget < 3_000);
        let mut open: Vec<String> = Vec::new();
        for part in &parts {
            match &part.item {
                Item::ToolResult { call_id, .. } => {
                    prop_assert_eq!(open.first(), Some(call_id));
                    open.remove(0);
                }
                Item::Assistant { calls, .. } => {
                    prop_assert!(open.is_empty());
                    open = calls.iter().map(|call| call.id.clone()).collect();
                }
                Item::User { text, .. } => {
                    prop_assert!(open.is_empty());
                    prop_assert!(text.starts_with("<message") && text.ends_with("</message>"));
                }
            }
        }
        prop_assert!(open.is_empty());
    }
}

#[test]
fn of_the_pictures_of_results_the_newest_stay() {
    let drawn = |count: usize| Item::ToolResult {
        call_id: "c".to_owned(),
        name: "draw".to_owned(),
        output: "{}".to_owned(),
        media: vec![picture(); count],
    };
    let one = picture().base64.len();
    let mut items = vec![said("draw"), drawn(1), drawn(2), drawn(0), drawn(1)];
    bound_pictures(&mut items, 2 * one);
    let counts: Vec<usize> = items
        .iter()
        .filter_map(|item| match item {
            Item::ToolResult { media, .. } => Some(media.len()),
            Item::User { .. } | Item::Assistant { .. } => None,
        })
        .collect();
    assert_eq!(counts, [0, 0, 0, 1], "what is older than one that has no room goes too");
    assert!(
        items[2].text().ends_with("[pictures or sounds left out because there is no room: 2]"),
        "{items:?}"
    );
    assert_eq!(items[3].text(), "{}");
}
