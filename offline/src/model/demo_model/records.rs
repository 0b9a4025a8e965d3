//! Medications that a message states, in a chat that keeps such records: `Mary takes 500 mg of metformin at 8 and 20`.

use serde_json::{Value, json};

use super::language::Words;
use super::question::Question;
use super::step::{Results, Step};

const TAKES: [&str; 3] = ["takes", "toma", "tomar"];
const OF: [&str; 2] = ["of", "de"];
const AT: [&str; 4] = ["at", "às", "as", "a"];

const SAVED: Words = Words {
    en: "Saved: {}. /records shows it.",
    pt: "Salvo: {}. /records mostra.",
    es: "Guardado: {}. /records lo muestra.",
};

/// What somebody takes.
#[derive(Debug, PartialEq)]
struct Medication {
    patient: String,
    name: String,
    dose: String,
    /// `8:00, 20:00`.
    times: String,
}

impl Medication {
    fn read(question: &Question) -> Option<Self> {
        let plain = &question.plain;
        let find = |words: &[&str], from: usize| {
            let found = plain.iter().skip(from).position(|word| words.contains(&word.as_str()))?;
            Some(from + found)
        };
        let takes = find(&TAKES, 1)?;
        let of = find(&OF, takes + 2)?;
        let at = find(&AT, of + 2)?;
        let said = |from: usize, to: usize| {
            let words = question.said.get(from..to)?.join(" ");
            Some(words).filter(|words| !words.is_empty())
        };
        let dose = said(takes + 1, of)?;
        let hours = plain.iter().skip(at + 1).filter_map(|word| time(word)).collect::<Vec<_>>();
        let is_one = dose.starts_with(|c: char| c.is_ascii_digit()) && !hours.is_empty();
        is_one.then_some(Self {
            patient: said(0, takes)?,
            name: said(of + 1, at)?,
            dose,
            times: hours.join(", "),
        })
    }
}

/// `8` or `20:30` as a time of day.
fn time(word: &str) -> Option<String> {
    let (hour, minute) = word.split_once(':').unwrap_or((word, "00"));
    let (hour, minute): (u32, u32) = (hour.parse().ok()?, minute.parse().ok()?);
    (hour < 24 && minute < 60).then(|| format!("{hour}:{minute:02}"))
}

/// Whether a message states what somebody takes.
pub(super) fn is_stated(question: &Question) -> bool {
    Medication::read(question).is_some()
}

/// Saves the patient first, whom the medication refers to, then the medication.
pub(super) fn save(question: &Question, results: &Results<'_>) -> Step {
    let Some(stated) = Medication::read(question) else { return Step::Say(String::new()) };
    let Medication { patient, name, dose, times } = stated;
    let call = |kind: &str, fields: Value| Step::call("save_record", json!({"kind": kind, "fields": fields}));
    match results.iter().filter(|(tool, _)| *tool == "save_record").count() {
        0 => call("patient", json!({ "name": patient })),
        1 => call("medication", json!({"patient": patient, "name": name, "dose": dose, "times": times})),
        _ => Step::Say(SAVED.with(question.language, &format!("{patient}, {name} {dose}, {times}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_the_card_is_saved() {
        let question = Question::of("Mary takes 500 mg of metformin at 8 and 20.");
        let saved = ("save_record", json!({"success": true}));
        let step = |count: usize| save(&question, &vec![saved.clone(); count]);
        let call =
            |kind: &str, fields: Value| Step::call("save_record", json!({"kind": kind, "fields": fields}));
        assert_eq!(step(0), call("patient", json!({"name": "Mary"})));
        let fields =
            json!({"patient": "Mary", "name": "metformin", "dose": "500 mg", "times": "8:00, 20:00"});
        assert_eq!(step(1), call("medication", fields));
        assert_eq!(
            step(2),
            Step::Say("Saved: Mary, metformin 500 mg, 8:00, 20:00. /records shows it.".to_owned())
        );
        assert!(is_stated(&Question::of("Maria toma 500 mg de metformina às 8 e às 20")));
        for other in ["she takes a bus of the line at 8", "it takes 5 minutes", "remind me at 8"] {
            assert!(!is_stated(&Question::of(other)), "{other}");
        }
    }
}
