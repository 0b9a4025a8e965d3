//! Finds the task that a message is about: the task of the replied card, the one it names, the last one mentioned, or the
//! only one.

use serde_json::Value;

use super::super::question::{DemoQuestion, plain};
use super::{FILLERS, parted};

/// First words of a request to reschedule a task.
pub(super) const MOVE: [&str; 17] = [
    "make it",
    "make the",
    "change it",
    "move",
    "set it",
    "reschedule",
    "better",
    "mude",
    "muda",
    "troque",
    "passe",
    "coloque",
    "cambia",
    "cámbialo",
    "ponlo",
    "muévelo",
    "make that",
];
/// Minimum length of a word that identifies a task, in characters.
const MIN_WORD: usize = 3;
/// Words that do not identify a task.
const COMMON: [&str; 48] = [
    "cancele",
    "cancela",
    "cancelar",
    "delete",
    "remove",
    "apague",
    "pausar",
    "pausa",
    "interrompa",
    "resume",
    "retome",
    "reanuda",
    "please",
    "favor",
    "isso",
    "isto",
    "esto",
    "essa",
    "esta",
    "task",
    "tell",
    "remind",
    "reminder",
    "every",
    "cancel",
    "pause",
    "that",
    "this",
    "with",
    "lembre",
    "conte",
    "tarefa",
    "lembrete",
    "move",
    "make",
    "change",
    "reschedule",
    "the",
    "and",
    "for",
    "one",
    "que",
    "los",
    "las",
    "del",
    "por",
    "uma",
    "una",
];

/// Returns the task that a question means, from a `list_tasks` result. `mentioned` holds ids from the conversation, newest
/// last. With `is_strict`, words that match no task yield `None`.
pub(super) fn meant<'a>(
    question: &DemoQuestion,
    tasks: &'a [Value],
    mentioned: &[String],
    is_strict: bool,
) -> Option<&'a Value> {
    let id = |task: &Value| task["task_id"].as_str().unwrap_or_default().to_owned();
    if let Some(replied) = &question.task {
        return tasks.iter().find(|task| id(task) == *replied);
    }
    let quoted = question.quoted.as_deref().unwrap_or_default();
    let shown = tasks.iter().find(|task| {
        let title = task["title"].as_str().or(task["prompt"].as_str());
        let title = title.unwrap_or_default().trim_end_matches('.');
        !title.is_empty() && quoted.contains(title)
    });
    let names = names(question);
    let counts = tasks.iter().map(|task| (count(&names, task), task));
    let most = counts.clone().map(|(count, _)| count).max().unwrap_or_default();
    let named = || only(counts.filter(|(count, _)| *count == most).map(|(_, task)| task));
    if most > 0 || is_strict && !names.is_empty() {
        return shown.or_else(|| named().filter(|_| most > 0));
    }
    let last = || mentioned.iter().rev().find_map(|last| tasks.iter().find(|task| id(task) == *last));
    shown.or_else(last).or_else(|| only(tasks.iter()))
}

fn only<'a>(mut tasks: impl Iterator<Item = &'a Value>) -> Option<&'a Value> {
    match (tasks.next(), tasks.next()) {
        (Some(task), None) => Some(task),
        _ => None,
    }
}

/// Returns the words of a question that may identify a task.
pub(super) fn names(question: &DemoQuestion) -> Vec<String> {
    let name = question.name.to_lowercase();
    let is_common = |word: &str| {
        COMMON.contains(&word)
            || FILLERS.contains(&word)
            || MOVE.iter().any(|phrase| phrase.split(' ').any(|part| part == word))
    };
    let tells = |word: &String| word.chars().count() >= MIN_WORD && !is_common(word) && *word != name;
    parted(question).rest.into_iter().map(plain).filter(tells).collect()
}

/// Counts the words that occur in the prompt of a task.
fn count(names: &[String], task: &Value) -> usize {
    let prompt = DemoQuestion::of(task["prompt"].as_str().unwrap_or_default());
    names.iter().filter(|word| prompt.says(word)).count()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::tests::asks;
    use super::*;

    #[test]
    fn a_task_is_found_by_its_card_its_words_or_what_was_said() {
        let (weather, mum, bob) = ("06ABCDEFGHIJKLMN", "06ABCDEFZZZZZZZZ", "06ABCDEFBBBBBBBB");
        let tasks = [
            json!({"task_id": weather, "prompt": "Tell Ann the weather in Riga."}),
            json!({"task_id": mum, "prompt": "Remind Ann to call mum."}),
            json!({"task_id": bob, "prompt": "Remind Ann to call Bob."}),
        ];
        let card = "⏰ Remind Ann to call mum — once, tomorrow";
        let cases = [
            ("at 7:30", Some(card), &[][..], Some(mum)),
            ("cancel the weather", None, &[mum], Some(weather)),
            ("cancel it", None, &[weather, mum, "gone"], Some(mum)),
            ("cancel it", None, &[], None),
            ("cancel call Bob", None, &[mum], Some(bob)),
            ("move call Bob to 10", None, &[mum], Some(bob)),
            ("cancel the call", None, &[mum], None),
            ("cancel the train", None, &[mum], None),
        ];
        for (text, quoted, mentioned, wanted) in cases {
            let question = DemoQuestion { quoted: quoted.map(ToOwned::to_owned), ..asks(text) };
            let mentioned: Vec<String> = mentioned.iter().map(|id| (*id).to_owned()).collect();
            let found = meant(&question, &tasks, &mentioned, text.starts_with("cancel"))
                .and_then(|task| task["task_id"].as_str());
            assert_eq!(found, wanted, "{text} {quoted:?}");
        }
        assert!(meant(&asks("cancel it"), &tasks[..1], &[], true).is_some());
        for (replied, wanted) in [(weather, Some(weather)), ("06ABCDEFXX", None)] {
            let question = DemoQuestion { task: Some(replied.to_owned()), ..asks("cancel it") };
            let found = meant(&question, &tasks, &[mum.to_owned()], true);
            assert_eq!(found.and_then(|task| task["task_id"].as_str()), wanted);
        }
    }
}
