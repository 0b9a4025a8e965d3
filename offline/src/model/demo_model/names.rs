//! Preferred names of people, and questions about what is remembered of them.

use serde_json::json;

use super::language::DemoText;
use super::question::{DemoQuestion, trimmed};
use super::schedule;
use super::step::{DemoStep, ToolResults};

/// Phrases before a preferred name.
const CALL: [&str; 12] = [
    "call me",
    "my name is",
    "me chame de",
    "me chama de",
    "chame-me",
    "chama-me",
    "meu nome é",
    "o meu nome é",
    "chamo-me",
    "me chamo",
    "llámame",
    "me llamo",
];
/// Words after `call me` that are no name: `call me back`, `call me when you know`.
const NO_NAMES: [&str; 6] = ["back", "later", "when", "tomorrow", "again", "if"];
const WHO: [&str; 10] = [
    "what is my name",
    "what's my name",
    "who am i",
    "what do you call me",
    "qual é o meu nome",
    "qual é meu nome",
    "quem sou eu",
    "como me chamo",
    "cómo me llamo",
    "quién soy",
];

/// Questions about the facts remembered of the writer.
const KNOWN: [&str; 11] = [
    "what do you know about me",
    "what do you remember about me",
    "what do you remember of me",
    "o que você sabe sobre mim",
    "o que você sabe de mim",
    "o que você lembra de mim",
    "o que você lembra sobre mim",
    "o que sabe sobre mim",
    "o que sabes sobre mim",
    "qué sabes de mí",
    "qué recuerdas de mí",
];

const REMEMBERED: DemoText = DemoText {
    en: "You told me:\n\n{}\n\n`/memory` shows, in private, what is remembered about you.",
    pt: "O que sei sobre você:\n\n{}\n\n`/memory` mostra, em privado, o que fica lembrado sobre você.",
    es: "Me contaste:\n\n{}\n\n`/memory` muestra, en privado, lo que queda recordado sobre ti.",
};
const NOTHING: DemoText = DemoText {
    en: "I know nothing else yet: tell me something about yourself, such as `I live in Riga`.",
    pt: "Nada mais ainda: conte algo sobre você, como `Moro em Lisboa`.",
    es: "No sé nada más todavía: cuéntame algo de ti, como `Vivo en Madrid`.",
};
const CALLED: DemoText = DemoText {
    en: "I call you {} from now on.",
    pt: "De agora em diante chamo você de {}.",
    es: "De ahora en adelante te llamo {}.",
};
const IS: DemoText = DemoText { en: "You are {}.", pt: "Você é {}.", es: "Eres {}." };

/// Returns the preferred name that a message states.
fn given(question: &DemoQuestion) -> Option<String> {
    let call = CALL.iter().find(|call| question.begins(call))?;
    let rest = question.said.get(call.split(' ').count()..)?.join(" ");
    let end = schedule::ENDS.iter().filter_map(|end| rest.find(end)).min().unwrap_or(rest.len());
    let name = trimmed(rest.get(..end)?);
    let is_other = name.contains(|c: char| c.is_ascii_digit())
        || NO_NAMES.iter().any(|word| name.starts_with(word))
        || name.contains(' ') && !name.starts_with(char::is_uppercase);
    ((1..=3).contains(&name.split_whitespace().count()) && !is_other).then(|| name.to_owned())
}

/// Returns `true` if a message is about its writer's name or memories.
pub(super) fn is_asked(question: &DemoQuestion) -> bool {
    given(question).is_some() || WHO.iter().any(|who| question.begins(who)) || is_of_memories(question)
}

fn is_of_memories(question: &DemoQuestion) -> bool {
    KNOWN.iter().any(|known| question.begins(known))
}

/// Saves a stated name, or answers with the known name or memories.
pub(super) fn answer(question: &DemoQuestion, results: &ToolResults<'_>) -> DemoStep {
    if is_of_memories(question) {
        let lines: Vec<String> = question.memories.iter().map(|memory| format!("- {memory}")).collect();
        let known = match lines.is_empty() {
            true => NOTHING.of(question.language).to_owned(),
            false => REMEMBERED.with(question.language, &lines.join("\n")),
        };
        return DemoStep::Say(format!("{} {known}", IS.with(question.language, &question.name)));
    }
    let Some(name) = given(question) else {
        return DemoStep::Say(IS.with(question.language, &question.name));
    };
    match results.iter().any(|(tool, _)| *tool == "set_profile") {
        true => schedule::also(&CALLED.with(question.language, &name), question, results),
        false => DemoStep::call("set_profile", json!({ "name": name })),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_kept_and_told() {
        let given = DemoQuestion::of("Call me Annie!");
        assert_eq!(answer(&given, &[]), DemoStep::call("set_profile", json!({"name": "Annie"})));
        let kept = answer(&given, &[("set_profile", json!({"success": true}))]);
        assert_eq!(kept, DemoStep::Say("I call you Annie from now on.".to_owned()));
        let known = DemoQuestion {
            memories: vec!["I live in Lisbon".to_owned()],
            ..DemoQuestion::of("What do you know about me?")
        };
        let told = "You are you. You told me:\n\n- I live in Lisbon";
        assert!(matches!(answer(&known, &[]), DemoStep::Say(words) if words.starts_with(told)));
        let asked = DemoQuestion { name: "Annie".to_owned(), ..DemoQuestion::of("what is my name?") };
        assert!(!is_asked(&DemoQuestion::of("call me a taxi")));
        assert!(is_asked(&asked) && !is_asked(&DemoQuestion::of("call me back tomorrow at nine please")));
        assert_eq!(answer(&asked, &[]), DemoStep::Say("You are Annie.".to_owned()));
    }
}
