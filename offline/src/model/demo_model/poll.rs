//! Polls: question and options from a message, or default options that suit the question.

use serde_json::{Value, json};

use super::language::{DemoLanguage, DemoText};
use super::question::{DemoQuestion, capital, trimmed};
use super::step::{DemoStep, ToolResults, last};

/// Words that ask for a poll.
const POLL: [&str; 6] = ["poll", "vote", "enquete", "votação", "sondagem", "encuesta"];
/// Words before the subject of a poll.
const ABOUT: [&str; 8] = ["about ", "on ", "for ", "sobre ", "para ", "acerca de ", "de ", "whether "];
const MAX_QUESTION: usize = 299;
const MAX_OPTION: usize = 100;
const MAX_OPTIONS: usize = 10;

const PLACES: DemoText = DemoText {
    en: "The pizza place|The noodle bar|A picnic in the park",
    pt: "Na pizzaria|No restaurante da esquina|Um piquenique no parque",
    es: "En la pizzería|En el bar de la esquina|Un pícnic en el parque",
};
const DISHES: DemoText =
    DemoText { en: "Pizza|Soup|Salad", pt: "Pizza|Sopa|Salada", es: "Pizza|Sopa|Ensalada" };
const DAYS: DemoText =
    DemoText {
        en: "Friday|Saturday|Sunday", pt: "Sexta-feira|Sábado|Domingo", es: "Viernes|Sábado|Domingo"
    };
const TIMES: DemoText =
    DemoText { en: "12:00|12:30|13:00", pt: "12:00|12:30|13:00", es: "13:00|13:30|14:00" };
const YES_OR_NO: DemoText = DemoText { en: "Yes|No|Perhaps", pt: "Sim|Não|Talvez", es: "Sí|No|Quizás" };
/// Default options by words in the question. The first matching row counts.
const OPTIONS: [(&[&str], DemoText); 4] = [
    (&["where", "onde", "dónde"], PLACES),
    (&["when", "which day", "what day", "quando", "que dia", "cuándo", "qué día"], DAYS),
    (&["what time", "a que horas", "a qué hora"], TIMES),
    (&FOOD, DISHES),
];

const FOOD: [&str; 11] = [
    "eat",
    "lunch",
    "dinner",
    "breakfast",
    "food",
    "almoço",
    "jantar",
    "comer",
    "comemos",
    "almuerzo",
    "cena",
];

const ABOUT_FOOD: DemoText =
    DemoText {
        en: "What shall we have for {}?", pt: "O que vamos comer no {}?", es: "¿Qué comemos en {}?"
    };
const ABOUT_ANYTHING: DemoText =
    DemoText { en: "{}: is it a good idea?", pt: "{}: é uma boa ideia?", es: "{}: ¿es una buena idea?" };
const SAMPLE: DemoText =
    DemoText { en: "Where shall we eat?", pt: "Onde vamos comer?", es: "¿Dónde comemos?" };
const THERE: DemoText =
    DemoText { en: "There is the poll.", pt: "Aí está a enquete.", es: "Ahí está la encuesta." };

/// Sends the poll that a message asks for.
pub(super) fn make(question: &DemoQuestion, results: &ToolResults<'_>) -> DemoStep {
    if last(results, "sendPoll").is_some() {
        return DemoStep::say(THERE, question);
    }
    let (asked, options) = wanted(question);
    let cut = |text: &str, most: usize| text.chars().take(most).collect::<String>();
    let options: Vec<Value> =
        options.iter().take(MAX_OPTIONS).map(|option| json!({"text": cut(option, MAX_OPTION)})).collect();
    let mut arguments = question.place();
    arguments["question"] = cut(&asked, MAX_QUESTION).into();
    arguments["options"] = options.into();
    DemoStep::call("sendPoll", arguments)
}

fn wanted(question: &DemoQuestion) -> (String, Vec<String>) {
    let language = question.language;
    let rest = question.after(&POLL).unwrap_or_default();
    let about = ABOUT.iter().find_map(|about| rest.strip_prefix(about));
    match (rest.split_once('?'), about) {
        (Some((asked, named)), None) if !trimmed(asked).is_empty() => {
            let asked = format!("{}?", capital(trimmed(asked)));
            let options = match named_options(named) {
                named if named.len() > 1 => named,
                _ => fitting(&asked, language),
            };
            (asked, options)
        }
        (_, Some(about)) => {
            let about = trimmed(about).trim_end_matches('?');
            let bare =
                ["o ", "a ", "the "].iter().find_map(|article| about.strip_prefix(article)).unwrap_or(about);
            let is_food = FOOD.iter().any(|word| DemoQuestion::of(about).says(word));
            let (words, about) =
                if is_food { (ABOUT_FOOD, bare.to_owned()) } else { (ABOUT_ANYTHING, capital(about)) };
            let asked = words.with(language, &about);
            let options = fitting(&asked, language);
            (asked, options)
        }
        (None, None) if !rest.is_empty() => {
            (ABOUT_ANYTHING.with(language, &capital(&rest)), options_of(YES_OR_NO, language))
        }
        _ => (SAMPLE.of(language).to_owned(), options_of(PLACES, language)),
    }
}

/// Splits `Pizza, soup or salad` into options.
fn named_options(text: &str) -> Vec<String> {
    let parts = [" or ", " ou ", " o "].iter().fold(text.to_owned(), |text, or| text.replace(or, ","));
    parts.split(',').map(|option| trimmed(option).to_owned()).filter(|option| !option.is_empty()).collect()
}

/// Returns default options for a question that names none.
fn fitting(asked: &str, language: DemoLanguage) -> Vec<String> {
    let asked = DemoQuestion::of(asked);
    let found = OPTIONS.iter().find(|(words, _)| words.iter().any(|word| asked.says(word)));
    options_of(found.map_or(YES_OR_NO, |(_, options)| *options), language)
}

fn options_of(options: DemoText, language: DemoLanguage) -> Vec<String> {
    options.of(language).split('|').map(ToOwned::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_poll_asks_what_the_message_says_with_options_that_fit() {
        let cases = [
            ("poll: Tea? Yes, no or maybe", "Tea?", "Yes|no|maybe"),
            ("poll Where shall we eat? Pizza, soup, salad", "Where shall we eat?", "Pizza|soup|salad"),
            ("Make a poll: where do we eat on Friday?", "Where do we eat on Friday?", PLACES.en),
            ("Make a poll about lunch", "What shall we have for lunch?", DISHES.en),
            ("make a poll: when do we meet?", "When do we meet?", DAYS.en),
            ("make a poll: is it too cold?", "Is it too cold?", YES_OR_NO.en),
            ("sondagem sobre o jantar", "O que vamos comer no jantar?", DISHES.pt),
            ("make a poll about a picnic", "A picnic: is it a good idea?", YES_OR_NO.en),
            ("make a poll", "Where shall we eat?", PLACES.en),
            ("Faça uma enquete: onde comemos na sexta?", "Onde comemos na sexta?", PLACES.pt),
            ("Haz una encuesta: ¿cuándo comemos?", "¿cuándo comemos?", DAYS.es),
        ];
        for (text, asked, options) in cases {
            let options = options.split('|').map(ToOwned::to_owned).collect();
            assert_eq!(wanted(&DemoQuestion::of(text)), (asked.to_owned(), options), "{text}");
        }
    }
}
