//! Changes of chat settings in words: language, standing instructions and place.

use serde_json::{Value, json};

use super::language::{self, DemoLanguage, DemoText};
use super::question::{DemoQuestion, capital};
use super::shape::Shape;
use super::step::{DemoStep, ToolResults};
use super::{fallback, schedule};

/// Phrases for “from now on”.
const FROM_NOW: [&str; 7] = [
    "from now on",
    "de agora em diante",
    "a partir de agora",
    "daqui em diante",
    "de ahora en adelante",
    "a partir de ahora",
    "desde ahora",
];
/// Phrases before the name of a language that is asked for.
const ANSWER_IN: [&str; 12] = [
    "answer me in",
    "answer in",
    "always answer in",
    "speak",
    "responda em",
    "responda sempre em",
    "responde em",
    "responde en",
    "respóndeme en",
    "fale",
    "fala",
    "habla",
];
/// First words of a statement, which is no instruction.
const STATES: [&str; 9] = ["i", "i'm", "we", "he", "she", "they", "eu", "yo", "nós"];
/// First words of a message about the writer's place.
const PLACES: [&str; 6] = ["i live in", "moro em", "vivo en", "i am in", "estou em", "estoy en"];
/// Number of `PLACES` that only a place follows. Others need a name with a capital letter: `I am in love`.
const SURE_PLACES: usize = 3;
/// Phrases before and after a local time.
const CLOCKS: [(&str, &str); 4] =
    [("it is", "here"), ("it's", "here"), ("aqui são", ""), ("aquí son las", "")];

const SPEAKS: DemoText = DemoText {
    en: "From now on I answer in English.",
    pt: "De agora em diante respondo em português.",
    es: "De ahora en adelante respondo en español.",
};
const UNKNOWN_LANGUAGE: DemoText = DemoText {
    en: "Saved: {}. A stand-in writes only English, Portuguese and Spanish; a real model would answer in it now.",
    pt: "Salvo: {}. Um modelo substituto só escreve inglês, português e espanhol; um modelo de verdade já responderia assim.",
    es: "Guardado: {}. Un modelo sustituto solo escribe inglés, portugués y español; un modelo de verdad ya respondería así.",
};
const KEPT: DemoText = DemoText {
    en: "Saved. A real model would keep that in mind here; a stand-in's answers stay as they are.",
    pt: "Salvo. Um modelo de verdade teria isso em mente aqui; as respostas de um substituto ficam como são.",
    es: "Guardado. Un modelo de verdad lo tendría en cuenta aquí; las respuestas de un sustituto quedan como son.",
};
const ZONE: DemoText = DemoText {
    en: "Times here are in {} from now on.",
    pt: "Agora sigo os relógios de {}.",
    es: "Ahora sigo los relojes de {}.",
};
/// Answer for a place that is not the city in its time zone's name.
const BY_CLOCKS: DemoText = DemoText {
    en: "{}. Times here are too from now on.",
    pt: "{}. Os horários daqui também, a partir de agora.",
    es: "{}. Las horas de aquí también, a partir de ahora.",
};
const IN_ZONE: DemoText =
    DemoText { en: " is in the time zone ", pt: " fica no fuso horário ", es: " está en la zona horaria " };

const WHERE: DemoText = DemoText {
    en: "I cannot tell by that alone where you are. `/timezone {}` shows the places that it may be, with a button each.",
    pt: "Só por isso não sei dizer onde você está. `/timezone {}` mostra os lugares possíveis, com um botão cada.",
    es: "Solo por eso no sé decir dónde estás. `/timezone {}` muestra los lugares posibles, con un botón cada uno.",
};

/// Returns `true` if a message changes a setting.
pub(super) fn is_asked(question: &DemoQuestion) -> bool {
    wanted(question).is_some()
}

/// Changes the setting that a message names.
pub(super) fn change(question: &DemoQuestion, results: &ToolResults<'_>) -> DemoStep {
    let wanted = wanted(question).unwrap_or_else(|| json!({"custom_prompt": question.text}));
    let Some((_, result)) = results.iter().find(|(tool, _)| *tool == "set_config") else {
        return DemoStep::call("set_config", wanted);
    };
    schedule::also(&told(&wanted, result, question.language), question, results)
}

/// Returns the answer to a place that `set_config` refused.
pub(super) fn unclear(question: &DemoQuestion, results: &ToolResults<'_>) -> Option<DemoStep> {
    let place = zone(question)?;
    let refused = |(tool, result): &&(&str, Value)| *tool == "set_config" && result["success"] == false;
    let (_, result) = results.iter().find(refused)?;
    // For a writer without the right to change the chat's settings, the place is a personal fact.
    let is_unclear = result["error"].as_str().is_some_and(|error| error.contains("time zone"));
    let told = match is_unclear {
        true => WHERE.with(question.language, &place),
        false => fallback::learned(question).to_owned(),
    };
    Some(schedule::also(&told, question, results))
}

/// Returns the arguments of `set_config` for a message.
fn wanted(question: &DemoQuestion) -> Option<Value> {
    if let Some(zone) = zone(question) {
        return Some(json!({"timezone": zone}));
    }
    let holds = FROM_NOW.iter().find(|words| question.begins(words));
    let rest = question.said.get(holds.map_or(0, |words| words.split(' ').count())..)?;
    let rest = question.with_words(&rest.join(" "));
    if let Some(name) = asked_language(&rest) {
        return Some(json!({"language": capital(&name)}));
    }
    // A request with “from now on” may be a task.
    let instructs = holds.is_some()
        && schedule::behind(question).is_none()
        && !STATES.iter().any(|word| rest.begins(word));
    instructs.then(|| json!({"custom_prompt": capital(&rest.text)}))
}

/// Returns the language that a message asks to be answered in, in lower case.
fn asked_language(question: &DemoQuestion) -> Option<String> {
    let phrase = ANSWER_IN.iter().find(|phrase| Shape::Verb.fits(question, &[**phrase]))?;
    let (_, behind) = question.line.split_once(&format!(" {phrase} "))?;
    let name = behind.split(' ').find(|word| !["in", "em", "en"].contains(word))?;
    let is_one = language::named(&[name]).is_some() && !question.text.ends_with('?');
    is_one.then(|| name.to_owned())
}

/// Returns the place of the writer, or the local time there, if the message names it.
fn zone(question: &DemoQuestion) -> Option<String> {
    let clock = |(before, after): &(&str, &str)| {
        let has_time = question.plain.iter().any(|word| word.contains(':'));
        question.begins(before) && has_time && (after.is_empty() || question.says(after))
    };
    if CLOCKS.iter().any(clock) {
        return Some(question.text.trim_end_matches('.').to_owned());
    }
    let (at, place) = PLACES.iter().enumerate().find(|(_, words)| question.begins(words))?;
    let rest = question.said.get(place.split(' ').count()..)?.join(" ");
    let end = schedule::ENDS.iter().filter_map(|end| rest.find(end)).min().unwrap_or(rest.len());
    let rest = super::question::trimmed(rest.get(..end)?).to_owned();
    let is_named = at < SURE_PLACES || rest.starts_with(char::is_uppercase);
    (is_named && (1..=3).contains(&rest.split_whitespace().count())).then_some(rest)
}

fn told(wanted: &Value, result: &Value, language: DemoLanguage) -> String {
    if let Some(name) = wanted["language"].as_str() {
        return match language::named(&[name.to_lowercase().as_str()]) {
            Some((_, Some(spoken))) => SPEAKS.of(spoken).to_owned(),
            _ => UNKNOWN_LANGUAGE.with(language, name),
        };
    }
    let (Some(zone), Some(place)) = (result["timezone"].as_str(), wanted["timezone"].as_str()) else {
        return KEPT.of(language).to_owned();
    };
    let city = zone.rsplit('/').next().unwrap_or(zone).replace('_', " ");
    if place.contains(|c: char| c.is_ascii_digit()) || place.eq_ignore_ascii_case(&city) || place == zone {
        return ZONE.with(language, zone);
    }
    BY_CLOCKS.with(language, &format!("{}{}{zone}", capital(place), IN_ZONE.of(language)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_change_settings() {
        let cases = [
            ("From now on, answer me in Spanish", Some(json!({"language": "Spanish"}))),
            ("De agora em diante, responda em espanhol", Some(json!({"language": "Espanhol"}))),
            ("answer me in Latvian, please", Some(json!({"language": "Latvian"}))),
            ("From now on, be brief", Some(json!({"custom_prompt": "Be brief"}))),
            ("it is 14:20 here", Some(json!({"timezone": "it is 14:20 here"}))),
            ("aqui são 14:20", Some(json!({"timezone": "aqui são 14:20"}))),
            ("I live in São Paulo.", Some(json!({"timezone": "São Paulo"}))),
            ("I live in Lisbon and I get up at 7:30", Some(json!({"timezone": "Lisbon"}))),
            ("it is cold here", None),
            ("I am in love", None),
            ("Can you speak Spanish?", None),
            ("From now on I eat no meat", None),
            ("answer me in Latvian from now on", Some(json!({"language": "Latvian"}))),
            ("what is Spanish for milk?", None),
            ("I am in no mood to talk to anybody", None),
            ("Explain compound interest in two sentences", None),
        ];
        for (text, arguments) in cases {
            assert_eq!(wanted(&DemoQuestion::of(text)), arguments, "{text}");
        }
    }

    #[test]
    fn a_time_that_many_places_have_is_left_to_the_command() {
        let refused = [("set_config", json!({"success": false, "error": "it may be several time zones"}))];
        let told = unclear(&DemoQuestion::of("it is 14:20 here"), &refused);
        assert!(
            matches!(&told, Some(DemoStep::Say(words)) if words.contains("`/timezone it is 14:20 here`")),
            "{told:?}"
        );
        let denied = [("set_config", json!({"success": false, "error": "only an admin of this chat may"}))];
        let member = DemoQuestion::of("I live in Porto");
        assert_eq!(unclear(&member, &denied), Some(DemoStep::Say(fallback::learned(&member).to_owned())));
        assert_eq!(unclear(&DemoQuestion::of("answer me in Spanish"), &refused), None);
    }

    #[test]
    fn a_change_is_told_in_the_language_that_counts_now() {
        let speaks =
            |name: &str| told(&json!({"language": name}), &json!({"success": true}), DemoLanguage::English);
        assert_eq!(speaks("Espanhol"), SPEAKS.es);
        assert!(speaks("Latvian").starts_with("Saved: Latvian."));
        let goes = |place: &str| {
            told(&json!({"timezone": place}), &json!({"timezone": "Europe/Lisbon"}), DemoLanguage::English)
        };
        assert!(goes("Porto").starts_with("Porto is in the time zone Europe/Lisbon. "));
        assert_eq!(goes("lisbon"), "Times here are in Europe/Lisbon from now on.");
    }
}
