//! Web searches and the pages found. The demo's pages are made up, and the answer says so.

use serde_json::{Value, json};

use super::language::{DemoLanguage, DemoText};
use super::question::{DemoQuestion, trimmed};
use super::shape::Shape;
use super::step::{DemoStep, ToolResults, last};

/// Maximum length of a query, in characters.
const MAX_QUERY: usize = 400;
/// Words that ask for a search. The text after them is the query.
pub(super) const SEARCH: [&str; 11] = [
    "search",
    "google",
    "pesquise",
    "pesquisa",
    "pesquisar",
    "procure",
    "procura",
    "busque",
    "busca",
    "buscar",
    "investiga",
];
/// Words between the order and the query.
const SKIPPED: [&str; 11] = ["the", "web", "for", "na", "internet", "por", "sobre", "en", "la", "red", "up"];
const WEATHER: [&str; 7] =
    ["weather", "weather forecast", "forecast", "tempo", "previsão do tempo", "tiempo", "pronóstico"];
const NEWS: [&str; 4] = ["news", "headlines", "notícias", "noticias"];
/// Words before the name of a place.
const IN: [&str; 7] = ["in", "for", "em", "en", "no", "na", "de"];

const SAMPLE: DemoText =
    DemoText { en: "barbers of Seville", pt: "barbeiros de Sevilha", es: "barberos de Sevilla" };
const WEATHER_QUERY: DemoText =
    DemoText { en: "weather", pt: "previsão do tempo", es: "pronóstico del tiempo" };
const NEWS_QUERY: DemoText = DemoText { en: "news", pt: "notícias", es: "noticias" };
const WEATHER_FOUND: DemoText = DemoText {
    en: "I searched for the weather{}. The demo's pages are made up, so this is no forecast:",
    pt: "Procurei o tempo{}. As páginas da demo são inventadas, então isto não é uma previsão:",
    es: "Busqué el tiempo{}. Las páginas de la demo son inventadas, así que esto no es un pronóstico:",
};
const FOUND: DemoText = DemoText {
    en: "This is what a search found. The demo's pages are made up, and a stand-in cannot weigh them:",
    pt: "Isto é o que uma busca encontrou. As páginas da demo são inventadas, e um substituto não sabe avaliá-las:",
    es: "Esto es lo que encontró una búsqueda. Las páginas de la demo son inventadas, y un sustituto no sabe valorarlas:",
};

/// Returns `true` if a message asks for the weather or the news.
pub(super) fn is_news(question: &DemoQuestion) -> bool {
    Shape::Placed.fits(question, &WEATHER) || Shape::Placed.fits(question, &NEWS)
}

/// Searches for the question and reports the pages.
pub(super) fn search(question: &DemoQuestion, results: &ToolResults<'_>) -> DemoStep {
    match last(results, "web_search") {
        Some(result) => DemoStep::Say(told(question, result)),
        None => DemoStep::call("web_search", json!({"query": query(question)})),
    }
}

/// Formats the pages of a search, in the language of the question.
pub(super) fn told(question: &DemoQuestion, result: &Value) -> String {
    let language = question.answer_language();
    let found = match is_about(question, &WEATHER) {
        true => WEATHER_FOUND
            .with(language, &place(question).map(|place| there(&place, language)).unwrap_or_default()),
        false => FOUND.of(language).to_owned(),
    };
    format!("{found}\n\n{}", pages(result))
}

fn query(question: &DemoQuestion) -> String {
    let words = if is_about(question, &WEATHER) {
        let place = place(question).map(|place| format!(" {place}")).unwrap_or_default();
        format!("{}{place}", WEATHER_QUERY.of(question.language))
    } else if is_about(question, &NEWS) && question.after(&SEARCH).is_none() {
        NEWS_QUERY.of(question.language).to_owned()
    } else {
        asked(question)
    };
    words.chars().take(MAX_QUERY).collect()
}

fn is_about(question: &DemoQuestion, phrases: &[&str]) -> bool {
    question.after(&SEARCH).is_none() && phrases.iter().any(|phrase| question.says(phrase))
}

/// Returns the text after the search word; a sample if there is none.
fn asked(question: &DemoQuestion) -> String {
    let rest = question.after(&SEARCH).unwrap_or_else(|| question.text.clone());
    let is_skipped = |word: &&str| SKIPPED.contains(&super::question::plain(word).as_str());
    let words: Vec<&str> = rest.split_whitespace().skip_while(is_skipped).collect();
    let words = words.join(" ");
    if words.is_empty() { SAMPLE.of(question.language).to_owned() } else { words }
}

/// Returns the place at the end of a question about the weather.
fn place(question: &DemoQuestion) -> Option<String> {
    let at = question.plain.iter().rposition(|word| IN.contains(&word.as_str()))?;
    let place = question.said.get(at + 1..)?.join(" ");
    let place = trimmed(&place).trim_end_matches('?').to_owned();
    let is_name = place.chars().next().is_some_and(char::is_uppercase);
    (is_name && place.split_whitespace().count() <= 3).then_some(place)
}

fn there(place: &str, language: DemoLanguage) -> String {
    DemoText { en: " in {}", pt: " em {}", es: " en {}" }.with(language, place)
}

fn pages(result: &Value) -> String {
    let hits = result["data_from_the_web"]["results"].as_array().into_iter().flatten();
    let line = |hit: &Value| {
        let text = |key: &str| hit[key].as_str().unwrap_or_default();
        format!("- [{}]({}): {}", text("title"), text("url"), text("content"))
    };
    hits.map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_is_for_what_the_words_name() {
        let cases = [
            ("search the web for notes on Rossini", "notes on Rossini"),
            ("please, Search: wigs!", "wigs"),
            ("google", "barbers of Seville"),
            ("search for", "barbers of Seville"),
            ("pesquise na internet por barbeiros", "barbeiros"),
            ("what is the weather in Riga?", "weather Riga"),
            ("the weather in Riga", "weather Riga"),
            ("tell me the weather", "weather"),
            ("o tempo em Lisboa", "previsão do tempo Lisboa"),
            ("the news", "news"),
        ];
        for (text, wanted) in cases {
            assert_eq!(query(&DemoQuestion::of(text)), wanted, "{text}");
        }
        assert_eq!(query(&DemoQuestion::of(&format!("search {}", "é".repeat(500)))).chars().count(), 400);
    }

    #[test]
    fn pages_are_told_as_made_up() {
        let hit = json!({"title": "Rain", "url": "https://rain.example", "content": "It rains."});
        let result = json!({"data_from_the_web": {"results": [hit]}});
        let told = told(&DemoQuestion::of("o tempo em Lisboa"), &result);
        assert!(told.starts_with("Procurei o tempo em Lisboa.") && told.contains("inventadas"), "{told}");
        assert!(told.ends_with("- [Rain](https://rain.example): It rains."), "{told}");
    }
}
