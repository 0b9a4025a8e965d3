//! Due tasks. A reminder is said; any other task is handled as a question asked now.

use super::super::language::{self, DemoText};
use super::super::question::{DemoQuestion, capital};
use super::super::step::DemoStep;
use super::wording;

const NOW: DemoText = DemoText { en: "It is time, {}!", pt: "Está na hora, {}!", es: "¡Es la hora, {}!" };
const NOT_ADDED: DemoText = DemoText {
    en: "What was added to this task, “{}”, a stand-in cannot do for a reminder.",
    pt: "O que foi acrescentado a esta tarefa, “{}”, um modelo substituto não sabe fazer num lembrete.",
    es: "Lo que se añadió a esta tarea, “{}”, un modelo sustituto no sabe hacerlo en un recordatorio.",
};

/// Parsed instruction of a due task.
#[derive(Debug)]
pub(in super::super) struct DueTask {
    /// Request of the task as a question asked now, once per requested language.
    pub(in super::super) questions: Vec<DemoQuestion>,
    /// `true` if the task is only a reminder.
    pub(in super::super) reminds: bool,
}

impl DueTask {
    /// Parses the instruction of a due task.
    pub(in super::super) fn read(task: &DemoQuestion) -> Self {
        let (content, reminds) = wording::content(&task.text, &task.name);
        let (what, addition) = wording::parted(content);
        let asks = |language| DemoQuestion { name: task.name.clone(), language, ..DemoQuestion::of(what) };
        let mut questions = vec![asks(task.language)];
        let words: Vec<String> =
            addition.unwrap_or_default().split(' ').map(super::super::question::plain).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        if let Some(second) = language::wanted(&words) {
            // The first answer is in the language of the task's own words.
            let own: Vec<&str> = task
                .plain
                .iter()
                .map(String::as_str)
                .take_while(|word| !wording::is_addition(word))
                .collect();
            questions = vec![asks(language::written(&own)), asks(second)];
        }
        Self { questions, reminds }
    }
}

/// Says the text of a reminder.
pub(in super::super) fn step(task: &DemoQuestion) -> DemoStep {
    let (content, _) = wording::content(&task.text, &task.name);
    let (what, addition) = wording::parted(content);
    let words = match what {
        "" => NOW.with(task.language, &task.name),
        what => format!("{}!", capital(what)),
    };
    let added = addition.map(|addition| format!("\n\n{}", NOT_ADDED.with(task.language, addition)));
    DemoStep::Say(format!("⏰ {words}{}", added.unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::super::super::language::DemoLanguage;
    use super::super::tests::asks;
    use super::*;

    #[test]
    fn a_reminder_speaks_to_the_person() {
        let cases = [
            ("Remind Ann to drink water.", "⏰ Drink water!"),
            ("Remind Ann.", "⏰ It is time, Ann!"),
            ("Lembre Ann de ligar para a mãe.", "⏰ Ligar para a mãe!"),
        ];
        for (text, wanted) in cases {
            assert_eq!(step(&asks(text)), DemoStep::Say(wanted.to_owned()), "{text}");
            assert!(DueTask::read(&asks(text)).reminds, "{text}");
        }
    }

    #[test]
    fn other_tasks_are_asked_for_now() {
        let due = DueTask::read(&asks("Tell Ann the weather in Riga, also in Spanish."));
        let asked: Vec<(&str, DemoLanguage)> =
            due.questions.iter().map(|one| (one.text.as_str(), one.language)).collect();
        let wanted =
            [("the weather in Riga", DemoLanguage::English), ("the weather in Riga", DemoLanguage::Spanish)];
        assert_eq!((asked.as_slice(), due.reminds), (&wanted[..], false));
    }
}
