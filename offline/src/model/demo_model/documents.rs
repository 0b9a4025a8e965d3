//! Answers from the passage of a document that shares most words with the question.

use super::language::DemoText;
use super::passage::DemoPassage;
use super::question::DemoQuestion;
use super::step::DemoStep;

/// Maximum length of the quoted text, in characters.
const QUOTED: usize = 400;

const FROM: DemoText = DemoText {
    en: "That stands in {}. An offline stand-in can only quote it; a real model would read it and answer.",
    pt: "Isso está em {}. Um substituto offline só pode citar; um modelo de verdade leria e responderia.",
    es: "Eso está en {}. Un sustituto sin conexión solo puede citarlo; un modelo de verdad lo leería y respondería.",
};

const UNREAD: DemoText =
    DemoText { en: "I could not read {}.", pt: "Não consegui ler {}.", es: "No pude leer {}." };

/// Quotes the passage that shares most words with the question; `None` if the prompt has none.
pub(super) fn quote(question: &DemoQuestion) -> Option<DemoStep> {
    let shared = |passage: &&DemoPassage| {
        let text = passage.text.to_lowercase();
        question.plain.iter().filter(|word| word.chars().count() > 2 && text.contains(word.as_str())).count()
    };
    // Of equal ones the first.
    let best = question.passages.iter().rev().max_by_key(shared)?;
    // A file or page without text has the reason in brackets.
    let reason = best.text.strip_prefix("[This ").and_then(|text| text.strip_suffix(".]"));
    if let Some((_, reason)) = reason.and_then(|reason| reason.split_once(' ')) {
        let named = format!("{} ({reason})", best.from);
        return Some(DemoStep::Say(UNREAD.with(question.language, &named)));
    }
    let mut quoted: String = best.text.chars().take(QUOTED).collect();
    if quoted.len() < best.text.len() {
        quoted.push('…');
    }
    let quoted = quoted.replace('\n', "\n> ");
    Some(DemoStep::Say(format!("> {quoted}\n\n{}", FROM.with(question.language, &best.from))))
}
