//! Passages of documents in the prompt, and the answer from the one that shares most words with the question.

use super::language::DemoText;
use super::question::DemoQuestion;
use super::step::DemoStep;

/// Maximum length of the quoted text, in characters.
const QUOTED: usize = 400;

const FROM: DemoText = DemoText {
    en: "That stands in {}. An offline stand-in can only quote it; a real model would read it and answer.",
    pt: "Isso está em {}. Um substituto offline só pode citar; um modelo de verdade leria e responderia.",
    es: "Eso está en {}. Un sustituto sin conexión solo puede citarlo; un modelo de verdad lo leería y respondería.",
};

/// A passage of a document in the prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DemoPassage {
    /// Name of the file, and the place in it if there is one.
    from: String,
    text: String,
}

impl DemoPassage {
    /// Reads the passages of a prompt.
    pub(super) fn all(prompt: &str, unescape: fn(&str) -> String) -> Vec<Self> {
        let part = prompt.split("<documents>").nth(1).and_then(|part| part.split("</documents>").next());
        let documents = part.unwrap_or_default().split("<document ").skip(1);
        let passages = documents.flat_map(|document| {
            let name = between(document, "name=\"", "\"").unwrap_or("file");
            document.split("<part").skip(1).filter_map(move |part| {
                let (tag, text) = part.split_once('>')?;
                let place = between(tag, "at=\"", "\"").map(|place| format!(", {place}")).unwrap_or_default();
                let text = text.split("</part>").next().unwrap_or_default();
                Some(Self { from: unescape(&format!("{name}{place}")), text: unescape(text) })
            })
        });
        passages.collect()
    }
}

/// Quotes the passage that shares most words with the question; `None` if the prompt has none.
pub(super) fn quote(question: &DemoQuestion) -> Option<DemoStep> {
    let shared = |passage: &&DemoPassage| {
        let text = passage.text.to_lowercase();
        question.plain.iter().filter(|word| word.chars().count() > 2 && text.contains(word.as_str())).count()
    };
    // Of equal ones the first.
    let best = question.passages.iter().rev().max_by_key(shared)?;
    let mut quoted: String = best.text.chars().take(QUOTED).collect();
    if quoted.len() < best.text.len() {
        quoted.push('…');
    }
    let quoted = quoted.replace('\n', "\n> ");
    Some(DemoStep::Say(format!("> {quoted}\n\n{}", FROM.with(question.language, &best.from))))
}

fn between<'a>(text: &'a str, begin: &str, end: &str) -> Option<&'a str> {
    text.split_once(begin)?.1.split_once(end).map(|(found, _)| found)
}
