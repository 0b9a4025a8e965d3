//! Statements to be saved as records of a chat: `Mary takes 500 mg of metformin at 8 and 20`.

use serde_json::{Value, json};

use super::language::DemoText;
use super::question::{DemoQuestion, plain};
use super::step::{DemoStep, ToolResults};

const TAKES: [&str; 3] = ["takes", "toma", "tomar"];
const OF: [&str; 2] = ["of", "de"];
const AT: [&str; 4] = ["at", "às", "as", "a"];
const PRESSURE: [&str; 3] = ["pressure", "pressão", "presión"];
const WHOSE: [&str; 5] = ["of", "de", "da", "do", "del"];
const GOT: [&str; 4] = ["got", "tirou", "sacó", "has"];
const IN: [&str; 2] = ["in", "em"];
const CARES: [&str; 6] = ["looks after", "cares for", "cuida de", "cuida da", "cuida do", "cuida a"];

/// Question of the bot about what to save, by language.
const ASKED: [&str; 2] = ["what should i save?", "o que devo guardar?"];

const SAVED: DemoText = DemoText {
    en: "Saved: {}. /records shows it.",
    pt: "Salvo: {}. /records mostra.",
    es: "Guardado: {}. /records lo muestra.",
};
const EXAMPLES: DemoText = DemoText {
    en: "An offline stand-in saves only a few kinds of sentences; a real model takes your own words. For *Care of the elderly*:\n\n\
         - `Mary takes 500 mg of metformin at 8 and 20`\n- `Mary's blood pressure is 120/80`\n- `Ann looks after Mary`\n\n\
         For *School class*:\n\n- `Tom got 8 in maths`",
    pt: "Um substituto offline guarda só alguns tipos de frases; um modelo de verdade aceita outras palavras. Para *Cuidado de \
         idosos*:\n\n- `Maria toma 500 mg de metformina às 8 e às 20`\n- `A pressão de Maria é 120/80`\n- `Ana cuida de \
         Maria`\n\nPara *Turma*:\n\n- `Pedro tirou 8 em matemática`",
    es: "Un sustituto sin conexión guarda solo algunos tipos de frases; un modelo de verdad acepta tus palabras. Para el cuidado \
         de mayores:\n\n- `María toma 500 mg de metformina a las 8 y a las 20`\n- `La presión de María es 120/80`\n- `Ana \
         cuida a María`\n\nPara una clase:\n\n- `Pedro sacó 8 en matemáticas`",
};

/// Records stated by a message, and the answer that reports them. Referenced records come before those that refer to them.
#[derive(Debug, PartialEq)]
struct Stated {
    records: Vec<(&'static str, Value)>,
    told: String,
}

impl Stated {
    fn read(question: &DemoQuestion) -> Option<Self> {
        medication(question)
            .or_else(|| reading(question))
            .or_else(|| mark(question))
            .or_else(|| caregiver(question))
    }
}

/// Returns the position of the first of these words, at or after `from`.
fn find(question: &DemoQuestion, words: &[&str], from: usize) -> Option<usize> {
    let found = question.plain.iter().skip(from).position(|word| words.contains(&word.as_str()))?;
    Some(from + found)
}

/// Returns the original words from `from` to `to`, without punctuation around them.
fn said(question: &DemoQuestion, from: usize, to: usize) -> Option<String> {
    let words = question.said.get(from..to)?.join(" ");
    let words = words.trim_matches(|c: char| !c.is_alphanumeric());
    (!words.is_empty()).then(|| words.to_owned())
}

fn medication(question: &DemoQuestion) -> Option<Stated> {
    let takes = find(question, &TAKES, 1)?;
    let of = find(question, &OF, takes + 2)?;
    let at = find(question, &AT, of + 2)?;
    let (patient, dose) =
        (said(question, 0, takes).filter(|name| is_name(name))?, said(question, takes + 1, of)?);
    let name = said(question, of + 1, at)?;
    let hours = question.plain.iter().skip(at + 1).filter_map(|word| time(word)).collect::<Vec<_>>();
    if !dose.starts_with(|c: char| c.is_ascii_digit()) || hours.is_empty() {
        return None;
    }
    let times = hours.join(", ");
    let told = format!("{patient}, {name} {dose}, {times}");
    let medication = json!({"patient": patient, "name": name, "dose": dose, "times": times});
    Some(Stated { records: vec![("patient", json!({ "name": patient })), ("medication", medication)], told })
}

/// Parses `8` or `20:30` as a time of day.
fn time(word: &str) -> Option<String> {
    let (hour, minute) = word.split_once(':').unwrap_or((word, "00"));
    let (hour, minute): (u32, u32) = (hour.parse().ok()?, minute.parse().ok()?);
    (hour < 24 && minute < 60).then(|| format!("{hour}:{minute:02}"))
}

fn reading(question: &DemoQuestion) -> Option<Stated> {
    let at = find(question, &PRESSURE, 0)?;
    let pair = |word: &String| {
        let (high, low) = word.split_once('/')?;
        Some((high.parse::<u16>().ok()?, low.parse::<u16>().ok()?))
    };
    let (systolic, diastolic) = question.plain.iter().find_map(pair)?;
    let possessive =
        |word: &String| word.strip_suffix("'s").or_else(|| word.strip_suffix("’s")).map(str::to_owned);
    let behind = || said(question, find(question, &WHOSE, at)? + 1, find(question, &WHOSE, at)? + 2);
    let patient = question.said.iter().find_map(possessive).or_else(behind)?;
    let told = format!("{patient}, {systolic}/{diastolic}");
    let vitals = json!({"patient": patient, "systolic": systolic, "diastolic": diastolic});
    Some(Stated { records: vec![("patient", json!({ "name": patient })), ("vitals", vitals)], told })
}

fn mark(question: &DemoQuestion) -> Option<Stated> {
    let got = find(question, &GOT, 1)?;
    let number = |word: &String| word.parse::<f64>().ok().filter(|mark| (0.0..=10.0).contains(mark));
    let (pupil, mark) = (
        said(question, 0, got).filter(|name| is_name(name))?,
        question.plain.iter().skip(got + 1).find_map(number)?,
    );
    let subject = said(question, find(question, &IN, got + 2)? + 1, question.said.len())?;
    let told = format!("{pupil}, {mark}, {subject}");
    let record = json!({"pupil": pupil, "mark": mark, "subject": subject});
    Some(Stated { records: vec![("pupil", json!({ "name": pupil })), ("mark", record)], told })
}

/// Returns `true` for at most two words with a capital letter that are no pronoun; others belong to another sentence.
fn is_name(words: &str) -> bool {
    let is_pronoun = ["i", "he", "she", "we", "they", "you", "it", "ele", "ela", "él", "ella", "eu", "yo"]
        .contains(&plain(words).as_str());
    words.starts_with(char::is_uppercase) && words.split(' ').count() <= 2 && !is_pronoun
}

fn caregiver(question: &DemoQuestion) -> Option<Stated> {
    let begins = |at: usize, words: &str| {
        words
            .split(' ')
            .enumerate()
            .all(|(step, word)| question.plain.get(at + step).is_some_and(|said| said == word))
    };
    let at = (1..question.plain.len()).find(|at| CARES.iter().any(|words| begins(*at, words)))?;
    let (name, patient) = (said(question, 0, at)?, said(question, at + 2, question.said.len())?);
    if !is_name(&name) || !is_name(&patient) {
        return None;
    }
    let told = format!("{name}, {patient}");
    let caregiver = json!({"name": name, "patient": patient});
    Some(Stated { records: vec![("patient", json!({ "name": patient })), ("caregiver", caregiver)], told })
}

/// Returns `true` if a message states records.
pub(super) fn is_stated(question: &DemoQuestion) -> bool {
    Stated::read(question).is_some()
}

/// Returns `true` if a message answers the bot's question about what to save.
pub(super) fn is_answer(question: &DemoQuestion) -> bool {
    question.quoted.as_deref().is_some_and(|quoted| {
        let quoted = quoted.to_lowercase();
        ASKED.iter().any(|asked| quoted.contains(asked))
    })
}

/// Answers with examples of records the demo model can save.
pub(super) fn examples(question: &DemoQuestion) -> DemoStep {
    DemoStep::say(EXAMPLES, question)
}

/// Saves the stated records, one call after the other.
pub(super) fn save(question: &DemoQuestion, results: &ToolResults<'_>) -> DemoStep {
    let Some(stated) = Stated::read(question) else { return DemoStep::Say(String::new()) };
    let saved = results.iter().filter(|(tool, _)| *tool == "save_record").count();
    match stated.records.into_iter().nth(saved) {
        Some((kind, fields)) => DemoStep::call("save_record", json!({"kind": kind, "fields": fields})),
        None => DemoStep::Say(SAVED.with(question.language, &stated.told)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_the_card_is_saved() {
        let question = DemoQuestion::of("Mary takes 500 mg of metformin at 8 and 20.");
        let saved = ("save_record", json!({"success": true}));
        let step = |count: usize| save(&question, &vec![saved.clone(); count]);
        let call = |kind: &str, fields: Value| {
            DemoStep::call("save_record", json!({"kind": kind, "fields": fields}))
        };
        assert_eq!(step(0), call("patient", json!({"name": "Mary"})));
        let fields =
            json!({"patient": "Mary", "name": "metformin", "dose": "500 mg", "times": "8:00, 20:00"});
        assert_eq!(step(1), call("medication", fields));
        assert_eq!(
            step(2),
            DemoStep::Say("Saved: Mary, metformin 500 mg, 8:00, 20:00. /records shows it.".to_owned())
        );
    }

    #[test]
    fn each_kind_is_read_from_a_sentence() {
        let cases = [
            ("Maria toma 500 mg de metformina às 8 e às 20", "Maria, metformina 500 mg, 8:00, 20:00"),
            ("Add Mary's blood pressure: 120/80", "Mary, 120/80"),
            ("A pressão de Maria é 120/80", "Maria, 120/80"),
            ("Tom got 8 in maths.", "Tom, 8, maths"),
            ("Pedro tirou 8.5 em matemática", "Pedro, 8.5, matemática"),
            ("Ann looks after Mary.", "Ann, Mary"),
            ("Ana cuida de Maria", "Ana, Maria"),
        ];
        for (text, told) in cases {
            assert_eq!(
                Stated::read(&DemoQuestion::of(text)).map(|stated| stated.told).as_deref(),
                Some(told),
                "{text}"
            );
        }
        for other in [
            "she takes a bus of the line at 8",
            "it takes 5 minutes",
            "remind me at 8",
            "under pressure, 24/7",
            "I got 3 apples",
            "He got 3 in a row",
            "who looks after the shop in August?",
        ] {
            assert!(!is_stated(&DemoQuestion::of(other)), "{other}");
        }
    }
}
