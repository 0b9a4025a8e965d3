use proptest::prelude::*;

use super::*;

/// The text that is left of pieces.
fn left<'a>(pieces: impl IntoIterator<Item = &'a str>) -> String {
    let mut thinking = Thinking::default();
    let mut told = String::new();
    let mut take = |passed: Passed| {
        if passed.takes_back {
            told.clear();
        }
        told.push_str(&passed.text);
    };
    pieces.into_iter().for_each(|piece| take(thinking.pass(piece)));
    take(thinking.end());
    told
}

const HARMONY: &str =
    "<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>Hello<|return|>";
const CODE: &str = "Write it so:\n```\n<think>hm</think>\nHello\n```\nIt ends with\n</think>\n.";

const CASES: &[(&str, &str)] = &[
    ("Hello", "Hello"),
    (" Hello", " Hello"),
    ("<think>hm</think>Hello", "Hello"),
    ("\n<think>\nhm < 3 </thin k></think>\n\nHello <think>", "Hello <think>"),
    ("<think></think>\n\n<think>é</think> Hello", "Hello"),
    ("<think>hm</think>", ""),
    ("<think>hm", ""),
    ("<think>hm</thi", ""),
    ("<thi", "<thi"),
    ("<think>a</think>\n<thi", "<thi"),
    ("a <think>b</think>", "a <think>b</think>"),
    // On lines of its own within the answer.
    ("Sure.\n\n<think>\nhm\n</think>\n\nHello", "Sure.\n\nHello"),
    ("Hello.\n<think>is it?</think>", "Hello.\n"),
    ("Let me see!\n<thinking>\nhm\n</thinking> \nHello", "Let me see!\nHello"),
    ("*One.*\n<think>a</think>\nTwo.\n<think>b</think>\nThree", "*One.*\nTwo.\nThree"),
    ("One.\n<think>a</think>\n<think>b</think>\nTwo", "One.\nTwo"),
    ("One.\n<think>\n</think>\nTwo", "One.\n<think>\n</think>\nTwo"),
    ("One.\n<think> opens it, </think> closes it.", "One.\n<think> opens it, </think> closes it."),
    ("One.\n<think>\nis how it begins.", "One.\n<think>\nis how it begins."),
    ("It begins with\n<think>a</think>\nand goes on.", "It begins with\n<think>a</think>\nand goes on."),
    ("So:\n<think>a</think>\nb", "So:\n<think>a</think>\nb"),
    ("One.\n<reason>a</reason>\nTwo", "One.\n<reason>a</reason>\nTwo"),
    ("One.\n\n    <think>a</think>\nTwo", "One.\n\n    <think>a</think>\nTwo"),
    ("`One.`\n```\nTwo.\n<think>a</think>\n```", "`One.`\n```\nTwo.\n<think>a</think>\n```"),
    ("<think><think>a</think>b", "b"),
    (" \n", ""),
    // Other marks.
    ("<thinking>no</thinking>\n\nHello", "Hello"),
    ("<mm:think>no</mm:think>\nHello", "Hello"),
    ("<antThinking>no</antThinking>\n\nHello", "Hello"),
    ("<reason>no</reason>Hello", "Hello"),
    ("<inner_monologue>no</inner_monologue>Hello", "Hello"),
    ("<analysis>no</analysis><response>Hello</response>", "Hello"),
    ("<Think time=\"3\">hm</THINK>Hello", "Hello"),
    ("<think\n", "<think\n"),
    ("<thinker>Hello", "<thinker>Hello"),
    ("<thought>a</thought><reasoning>b</reasoning>Hello", "Hello"),
    ("<seed:think>hm</seed:think>Hello", "Hello"),
    ("[THINK]hm[/THINK]Hello", "Hello"),
    ("[link](http://a)", "[link](http://a)"),
    ("◁think▷hm◁/think▷Hello", "Hello"),
    ("<|begin_of_thought|>hm<|end_of_thought|>\n<|begin_of_solution|>Hello<|end_of_solution|>", "Hello"),
    ("<|START_THINKING|>hm<|END_THINKING|><|START_RESPONSE|>Hello<|END_RESPONSE|>", "Hello"),
    ("<unused94>thought\nhm<unused95>Hello", "Hello"),
    ("<|channel>thought\nhm<channel|>Hello", "Hello"),
    (HARMONY, "Hello"),
    ("<|channel|>final <|constrain|>json<|message|>Hello", "Hello"),
    (
        "<|channel|>analysis<|message|>hm<|end|><|channel|>commentary to=f<|message|>{}",
        "<|channel|>commentary to=f<|message|>{}",
    ),
    ("<|think|>hm<|/think|>Hello", "Hello"),
    (
        "<|open|>think<|sep|>hm<|close|>think<|sep|><|open|>response<|sep|>Hello<|close|>response<|sep|>",
        "Hello",
    ),
    ("&lt;think&gt;hm &lt;&lt;/think&gt;Hello", "Hello"),
    ("<details type=\"reasoning\" done=\"true\">\nhm\n</details>\nHello", "Hello"),
    ("<details>\nhm\n</details>", "<details>\nhm\n</details>"),
    ("<|begin_of_box|>Hello<|end_of_box|>", "Hello"),
    ("<think>hm</think><output>Hello</output>", "Hello"),
    ("<think_fast>hm</think_fast>Hello", "Hello"),
    ("<|im_start|>assistant\nHello", "Hello"),
    ("/no_think\n\n<think>\n\n</think>\n\nHello", "Hello"),
    ("/no_think is a word", "/no_think is a word"),
    ("Here is my thought process:\nhm\nHere is my response:\nHello", "Hello"),
    ("Here's my thought process:\nhm", "Here's my thought process:\nhm"),
    ("Here is my response:\nHello", "Here is my response:\nHello"),
    ("<|channel|>final<|message|>Hello<|end|>", "Hello"),
    ("hm<|end|><|start|>assistant<|channel|>final<|message|>Hello", "Hello"),
    ("<|channel|>commentary<|message|>hm<|end|><|start|>assistant<|channel|>analysis<|message|>x", ""),
    // An answer within marks of its own.
    ("<think>hm<final>Hello</final>", "Hello"),
    ("<think>hm</think>\n<answer>\nHello\n</answer>", "Hello\n"),
    ("<think>hm</think><final_answer>Hello", "Hello"),
    ("<answer>Hello</answer>", "<answer>Hello</answer>"),
    ("<final>Hello</final>", "<final>Hello</final>"),
    // The end alone.
    ("hm, two remain.\n</think>\n\nHello", "Hello"),
    ("hm, two remain.</think>Hello", "Hello"),
    ("</think>Hello", "Hello"),
    ("hm\n</thinking>\nHello", "Hello"),
    ("hm[/THINK]Hello", "Hello"),
    ("hm◁/think▷\nHello", "Hello"),
    ("hm\n</think>\n\n<answer>Hello</answer>", "Hello"),
    ("hm\n</think>\n\n<think>hm again</think>Hello", "Hello"),
    ("hm\n</think>\n", ""),
    ("hm</think>", ""),
    ("<think>a <think>b</think> c</think>Hello", "Hello"),
    ("<think>hm</think>Hello</think>\n", "Hello\n"),
    ("<think><</</t</think>b</think>", "b"),
    // Where an answer speaks of it.
    (CODE, CODE),
    ("It ends with `</think>`.", "It ends with `</think>`."),
    ("It ends with </think> and goes on.", "It ends with </think> and goes on."),
    ("~~~\na\n</think>\nb\n~~~", "~~~\na\n</think>\nb\n~~~"),
    ("So:\n\n    </think>\n", "So:\n\n    </think>\n"),
    ("It is [THINK] up to\n[/THINK]\n.", "It is [THINK] up to\n[/THINK]\n."),
    ("\"</think>\" ends it.", "\"</think>\" ends it."),
    ("A <think> block\nends with\n</think>\nthere.", "A <think> block\nends with\n</think>\nthere."),
    (
        "<think>hm</think>Put it in `<think>` and\n</think>\n, then go on.",
        "Put it in `<think>` and\n</think>\n, then go on.",
    ),
];

#[test]
fn reasoning_is_taken_out_wherever_it_is_cut() {
    for (text, expected) in CASES {
        assert_eq!(left([*text]), *expected, "{text:?}");
        for (at, _) in text.char_indices() {
            let (start, end) = text.split_at(at);
            assert_eq!(left([start, end]), *expected, "{text:?} cut at {at}");
        }
        let letters: Vec<String> = text.chars().map(String::from).collect();
        assert_eq!(left(letters.iter().map(String::as_str)), *expected, "{text:?} in letters");
    }
}

#[test]
fn text_is_told_at_once_and_a_block_is_not_kept() {
    let said = |text: &str| Passed { takes_back: false, text: text.into() };
    let mut thinking = Thinking::default();
    assert_eq!(thinking.pass("<think>"), said(""));
    for _ in 0..100 {
        assert_eq!(thinking.pass("a long < thought "), said(""));
        assert!(thinking.held.len() < 8, "{}", thinking.held);
    }
    assert_eq!(thinking.pass("</think>Yes"), said("Yes"));
    assert_eq!(thinking.pass(", 1 < 2"), said(", 1 < 2"));
    assert_eq!(thinking.pass(", 1 <"), said(", 1 "));
    assert_eq!(thinking.pass("3"), said("<3"));
}

#[test]
fn what_was_told_is_taken_back_once_it_proves_to_be_reasoning() {
    let mut thinking = Thinking::default();
    assert_eq!(thinking.pass("They ask."), Passed { takes_back: false, text: "They ask.".into() });
    assert_eq!(thinking.pass("\n</think>\n"), Passed { takes_back: false, text: "\n".into() });
    assert!(!thinking.has_reasoned());
    assert_eq!(thinking.pass("Two"), Passed { takes_back: true, text: "Two".into() });
    assert!(thinking.has_reasoned());
    assert_eq!(thinking.pass(" loaves."), Passed { takes_back: false, text: " loaves.".into() });
    assert_eq!(thinking.end(), Passed::default());
}

#[test]
fn of_a_model_that_begins_its_reasoning_unmarked_nothing_is_told_before_it_ends() {
    let said = |text: &str| Passed { takes_back: false, text: text.into() };
    let mut thinking = Thinking::of_model(true);
    assert_eq!(thinking.pass("They ask."), said(""));
    assert_eq!(thinking.pass("\n</think>\n\nTwo"), said("Two"));
    assert_eq!((thinking.pass(" loaves."), thinking.end()), (said(" loaves."), said("")));
    assert!(thinking.was_taken_back());
    let mut thinking = Thinking::of_model(true);
    assert_eq!((thinking.pass("Two "), thinking.pass("loaves.")), (said(""), said("")));
    assert_eq!(thinking.end(), said("Two loaves."));
    assert!(!thinking.was_taken_back());
    let mut thinking = Thinking::of_model(true);
    assert_eq!((thinking.pass("They ask.</think>"), thinking.end()), (said(""), said("")));
    assert!(thinking.has_reasoned());
    let mut thinking = Thinking::of_model(true);
    assert_eq!((thinking.pass("<think>They ask.</think>Two"), thinking.end()), (said("Two"), said("")));
}

#[test]
fn space_is_looked_at_once() {
    let mut thinking = Thinking::default();
    for count in 1..=1000 {
        assert_eq!(thinking.pass(" "), Passed::default());
        assert_eq!(thinking.space, count, "none of it is looked at again");
    }
    assert_eq!(thinking.pass("<think>a</think>"), Passed::default());
    assert_eq!((thinking.pass("\n\n"), thinking.space), (Passed::default(), 2));
    assert_eq!(thinking.pass("b ").text, "b ");
}

proptest! {
    #[test]
    fn any_cuts_leave_the_same(text in "[<>/a `\n]{0,3}(<think>|)[<>/thinkaé ]{0,12}(</think>|)[<thinka\n ]{0,8}(</think>|<final>|)[a\n]{0,2}", cuts in prop::collection::vec(1_usize..6, 0..30)) {
        let letters: Vec<char> = text.chars().collect();
        let mut rest = letters.as_slice();
        let mut pieces = Vec::new();
        for cut in cuts {
            let (piece, tail) = rest.split_at(cut.min(rest.len()));
            pieces.push(piece.iter().collect::<String>());
            rest = tail;
        }
        pieces.push(rest.iter().collect());
        prop_assert_eq!(left(pieces.iter().map(String::as_str)), left([text.as_str()]));
    }
}
