//! Notes: adds, removes and lists them.

use serde_json::{Value, json};

use super::language::{DemoLanguage, DemoText};
use super::question::{DemoQuestion, trimmed};
use super::shape::Shape;
use super::step::{DemoStep, ToolResults, last};

/// Words that ask to save a note, and the key of the note if the message names no list.
const KEEP: [(&[&str], DemoText); 3] = [
    (
        &["buy", "compre", "comprar", "compra"],
        DemoText { en: "shopping list", pt: "lista de compras", es: "lista de la compra" },
    ),
    (&["remember", "lembre", "recuerda"], DemoText { en: "facts", pt: "fatos", es: "datos" }),
    (
        &["note", "anote", "anota", "guarde", "adicione", "adiciona", "añade", "apunta", "add", "put"],
        DemoText { en: "notes", pt: "notas", es: "notas" },
    ),
];
/// Verbs of `KEEP` before goods for the shopping list: `add eggs`.
const TAKES_GOODS: [&str; 8] =
    ["remember", "add", "put", "lembre", "recuerda", "adicione", "adiciona", "añade"];
/// First words of items that are no goods.
const NO_GOODS: [&str; 20] = [
    "that", "this", "it", "me", "to", "the", "my", "our", "when", "que", "isto", "isso", "esto", "o", "a",
    "el", "la", "de", "i", "how",
];
/// Maximum number of words in the name of goods.
const MAX_GOODS: usize = 2;
/// First words of a question that asks to add something.
const CAN: [&str; 8] = ["can", "could", "will", "would", "pode", "podes", "puedes", "podrías"];
/// Phrases before the name of a list.
const BEFORE_LIST: [&str; 16] = [
    " for the ",
    " on the ",
    " to the ",
    " for my ",
    " on my ",
    " to my ",
    " for our ",
    " on our ",
    " to our ",
    " na ",
    " para a ",
    " à ",
    " en la ",
    " para la ",
    " a la ",
    " em minha ",
];
const LINKS: [&str; 6] = ["that ", "que ", "to buy ", "to ", "de comprar ", "comprar "];

const NOTED: DemoText =
    DemoText { en: "Noted for “{}”: ", pt: "Anotado em “{}”: ", es: "Apuntado en «{}»: " };
const SHOW: DemoText = DemoText {
    en: "`notes` or /notes shows all that I keep.",
    pt: "`notas` ou /notes mostra tudo o que guardo.",
    es: "`notas` o /notes muestra todo lo que guardo.",
};
const KEPT: DemoText =
    DemoText { en: "This is what I keep:", pt: "Isto é o que guardo:", es: "Esto es lo que guardo:" };
const NONE: DemoText = DemoText {
    en: "I keep nothing yet. Say `remember to buy milk`.",
    pt: "Ainda não guardo nada. Diga `anote leite na lista de compras`.",
    es: "Todavía no guardo nada. Di `apunta leche en la lista de la compra`.",
};

/// First words of a request to remove something from a list.
const REMOVE: [&str; 16] = [
    "remove", "delete", "forget", "take", "cross", "clear", "remova", "apague", "esqueça", "tire", "risque",
    "quita", "borra", "olvida", "tacha", "elimina",
];
/// Phrases before the name of the list in a request to remove something.
const OFF_LIST: [&str; 12] = [
    " from the ",
    " off the ",
    " from my ",
    " off my ",
    " from our ",
    " off our ",
    " da ",
    " da minha ",
    " de la ",
    " de mi ",
    " of the ",
    " of my ",
];
/// Optional words before the name of a list that is removed as a whole.
const WHOLE: [&str; 9] = ["all of ", "the ", "my ", "our ", "a minha ", "a ", "la ", "mi ", "toda "];

const REMOVED: DemoText =
    DemoText { en: "Taken off “{}”: ", pt: "Tirado de “{}”: ", es: "Quitado de «{}»: " };
const NOT_THERE: DemoText =
    DemoText { en: "I keep nothing like that.", pt: "Não guardo nada assim.", es: "No guardo nada así." };

/// Returns `true` if a message asks to remove items from a list, or a whole list.
pub(super) fn is_removal(question: &DemoQuestion) -> bool {
    REMOVE.iter().any(|verb| question.begins(verb)) && !question.is_due && unwanted(question).is_some()
}

/// Removes the notes that a message names.
pub(super) fn remove(question: &DemoQuestion, results: &ToolResults<'_>) -> DemoStep {
    let lists = results.iter().find(|(tool, _)| *tool == "list_notes").map(|(_, result)| &result["lists"]);
    let (Some(lists), Some((list, items))) = (lists, unwanted(question)) else {
        return DemoStep::call("list_notes", json!({}));
    };
    let lists: Vec<&Value> = lists.as_array().into_iter().flatten().collect();
    // “The list” is the only one, else the shopping list. Items are looked up on all lists.
    let (is_any, bought) = (is_plain(&list), KEEP[0].1.of(question.language));
    let is_meant = |one: &&&Value| match is_any {
        true => !items.is_empty() || lists.len() == 1 || is_same(&one["key"], bought),
        false => is_same(&one["key"], &list),
    };
    let meant: Vec<&Value> = lists.iter().filter(is_meant).copied().collect();
    let notes = meant.iter().flat_map(|one| one["notes"].as_array().into_iter().flatten());
    let is_named =
        |note: &&Value| items.is_empty() || items.iter().any(|item| is_same(&note["content"], item));
    let notes: Vec<&Value> = notes.filter(is_named).collect();
    if notes.is_empty() {
        return DemoStep::say(NOT_THERE, question);
    }
    if last(results, "remove_note").is_some() {
        let names: Vec<&str> = notes.iter().filter_map(|note| note["content"].as_str()).collect();
        let has = |one: &&&Value| one["notes"].as_array().is_some_and(|of| of.contains(notes[0]));
        let list = meant.iter().find(has).and_then(|one| one["key"].as_str()).unwrap_or(&list);
        return DemoStep::Say(format!("{}{}.", REMOVED.with(question.language, list), names.join(", ")));
    }
    DemoStep::Call("remove_note", notes.iter().map(|note| json!({"note_id": note["note_id"]})).collect())
}

fn is_same(written: &Value, meant: &str) -> bool {
    written.as_str().is_some_and(|written| written.to_lowercase() == meant.to_lowercase())
}

/// Returns the list and the items to remove. No items means the whole list.
fn unwanted(question: &DemoQuestion) -> Option<(String, Vec<String>)> {
    let rest = question.after(&REMOVE)?;
    if let Some((items, list)) = named_list(&rest, &OFF_LIST) {
        return Some((list, parted(items)));
    }
    let name = WHOLE.iter().find_map(|word| rest.strip_prefix(word)).unwrap_or(&rest);
    is_list(name).then(|| (name.to_owned(), Vec::new()))
}

/// Returns `true` if a message asks to keep something.
pub(super) fn is_addition(question: &DemoQuestion) -> bool {
    let verbs: Vec<&str> = KEEP.iter().flat_map(|(verbs, _)| *verbs).copied().collect();
    if !Shape::Verb.fits(question, &verbs) {
        return false;
    }
    // `Put` alone and sums such as `add 5 and 7` are for a real model.
    let is_of_list = list_of(&question.text).is_some();
    let is_sum = wanted(question).1.iter().all(|item| item.parse::<f64>().is_ok());
    let is_question = question.text.ends_with('?');
    let is_open = is_question || Shape::Verb.fits(question, &["put"]);
    !is_sum && (is_of_list || !is_open) && (!is_question || CAN.iter().any(|word| question.begins(word)))
}

/// Returns `true` if a verb takes goods, and the text behind it names nothing but goods.
fn is_goods(question: &DemoQuestion, items: &str) -> bool {
    let names_goods = |item: &String| {
        let words: Vec<&str> = item.split(' ').collect();
        let is_other = words.first().is_none_or(|word| NO_GOODS.contains(word));
        words.len() <= MAX_GOODS && !is_other && !item.starts_with(char::is_uppercase)
    };
    Shape::Verb.fits(question, &TAKES_GOODS) && parted(items).iter().all(names_goods)
}

/// Saves the items of a message, one note per item.
pub(super) fn add(question: &DemoQuestion, results: &ToolResults<'_>) -> DemoStep {
    let (key, items) = wanted(question);
    if last(results, "add_note").is_some() {
        let language = question.language;
        let noted = format!("{}{}.", NOTED.with(language, &key), items.join(", "));
        return DemoStep::Say(format!("{noted}\n\n{}", SHOW.of(language)));
    }
    let call = |item: &String| json!({"key": key, "content": item});
    DemoStep::Call("add_note", items.iter().map(call).collect())
}

pub(super) fn list(question: &DemoQuestion, results: &ToolResults<'_>) -> DemoStep {
    match last(results, "list_notes") {
        Some(result) => DemoStep::Say(read_out(result, question.language)),
        None => DemoStep::call("list_notes", json!({})),
    }
}

/// Returns the key and the items to save. Text is split into items only for a list.
fn wanted(question: &DemoQuestion) -> (String, Vec<String>) {
    let (text, list) = match list_of(&question.text) {
        Some((text, list)) => (DemoQuestion::of(text), Some(list)),
        None => (DemoQuestion::of(&question.text), None),
    };
    let [bought, .., (_, other)] = &KEEP;
    let found = KEEP.iter().find_map(|(words, key)| Some((text.after(words)?, *key, *words == bought.0)));
    let found = found.filter(|(rest, ..)| !rest.is_empty());
    let (rest, key, is_bought) = found.unwrap_or_else(|| (text.text.clone(), *other, false));
    let is_bought = is_bought || list.is_none() && is_goods(question, &rest);
    let key = if is_bought { bought.1 } else { key };
    let linked = LINKS.iter().find_map(|link| rest.strip_prefix(link)).unwrap_or(&rest);
    if list.is_none() && !is_bought {
        return (key.of(question.language).to_owned(), vec![trimmed(linked).to_owned()]);
    }
    let list =
        list.map(|list| if is_plain(&list) { bought.1.of(question.language).to_owned() } else { list });
    let key = list.unwrap_or_else(|| key.of(question.language).to_owned());
    (key, parted(linked))
}

/// Splits a written list into at most 20 items.
fn parted(words: &str) -> Vec<String> {
    let parts = [" and ", " e ", " y "].iter().fold(words.to_owned(), |text, and| text.replace(and, ","));
    let items = parts.split(',').map(|item| trimmed(item).to_owned()).filter(|item| !item.is_empty());
    items.take(20).collect()
}

/// Splits a text that ends with the name of a list: `milk for the shopping list`, `add milk to groceries`.
fn list_of(text: &str) -> Option<(&str, String)> {
    let text = text.trim_end_matches(['?', ' ']);
    let adds = ["add ", "put "].iter().any(|verb| text.to_lowercase().starts_with(verb));
    let short = || text.rsplit_once(" to ").map(|(items, name)| (items, trimmed(name)));
    let is_one = |(_, name): &(&str, &str)| adds && !name.is_empty() && !name.contains(' ');
    named_list(text, &BEFORE_LIST)
        .or_else(|| short().filter(is_one).map(|(items, name)| (items, name.to_owned())))
}

fn named_list<'a>(text: &'a str, before: &[&str]) -> Option<(&'a str, String)> {
    let found = before.iter().find_map(|before| {
        let at = text.rfind(before)?;
        let name = trimmed(text.get(at + before.len()..)?);
        is_list(name).then(|| (at, name.to_owned()))
    });
    found.and_then(|(at, name)| Some((text.get(..at)?, name)))
}

fn is_list(name: &str) -> bool {
    let ends = name.strip_suffix("list").is_some_and(|rest| rest.is_empty() || rest.ends_with(' '));
    ends || name.starts_with("lista")
}

fn is_plain(list: &str) -> bool {
    ["list", "lista"].contains(&list)
}

/// Formats the lists of a `list_notes` result.
fn read_out(result: &Value, language: DemoLanguage) -> String {
    let text = |value: &Value, key: &str| value[key].as_str().unwrap_or_default().to_owned();
    let list = |list: &Value| {
        let notes = list["notes"].as_array().into_iter().flatten();
        let lines = notes.map(|note| format!("- {}", text(note, "content"))).collect::<Vec<_>>();
        format!("**{}**\n{}", text(list, "key"), lines.join("\n"))
    };
    let lists: Vec<String> = result["lists"].as_array().into_iter().flatten().map(list).collect();
    if lists.is_empty() {
        return NONE.of(language).to_owned();
    }
    format!("{}\n\n{}", KEPT.of(language), lists.join("\n\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_are_read_out_in_words() {
        let lists = json!([{"key": "shopping", "notes": [{"note_id": "x", "content": "milk"}]}]);
        let told = read_out(&json!({"lists": lists}), DemoLanguage::English);
        assert_eq!(told, "This is what I keep:\n\n**shopping**\n- milk");
        assert!(read_out(&json!({"lists": []}), DemoLanguage::Portuguese).starts_with("Ainda não guardo"));
    }

    #[test]
    fn items_are_taken_off_a_list_and_a_list_is_forgotten() {
        let lists = json!({"success": true, "lists": [
            {"key": "shopping list", "notes": [{"note_id": "a", "content": "milk"}, {"note_id": "b", "content": "Bread"}]},
            {"key": "notes", "notes": [{"note_id": "c", "content": "milk"}]},
        ]});
        let (listed, gone) = (("list_notes", lists), ("remove_note", json!({"success": true})));
        let cases = [
            ("remove milk from the shopping list", &["a"][..], "Taken off “shopping list”: milk."),
            (
                "Take bread and milk off my shopping list!",
                &["a", "b"],
                "Taken off “shopping list”: milk, Bread.",
            ),
            ("forget the shopping list", &["a", "b"], "Taken off “shopping list”: milk, Bread."),
            ("take bread off the list", &["b"], "Taken off “shopping list”: Bread."),
            ("clear the list", &["a", "b"], "Taken off “shopping list”: milk, Bread."),
        ];
        for (text, ids, told) in cases {
            let question = DemoQuestion::of(text);
            assert!(is_removal(&question), "{text}");
            assert_eq!(remove(&question, &[]), DemoStep::call("list_notes", json!({})));
            let calls = ids.iter().map(|id| json!({"note_id": id})).collect();
            assert_eq!(
                remove(&question, std::slice::from_ref(&listed)),
                DemoStep::Call("remove_note", calls),
                "{text}"
            );
            assert_eq!(remove(&question, &[listed.clone(), gone.clone()]), DemoStep::Say(told.to_owned()));
        }
        let other = DemoQuestion::of("remove eggs from the shopping list");
        assert_eq!(remove(&other, &[listed]), DemoStep::Say(NOT_THERE.en.to_owned()));
        assert!(
            !is_removal(&DemoQuestion::of("remove the task"))
                && !is_removal(&DemoQuestion::of("the shopping list"))
        );
    }

    #[test]
    fn a_note_is_filed_by_the_list_that_it_names_or_the_word_that_asks_for_it() {
        let shopping = "shopping list";
        let cases = [
            ("Buy milk and bread.", shopping, &["milk", "bread"][..]),
            ("Remember to buy milk", shopping, &["milk"]),
            ("remember milk and bread", shopping, &["milk", "bread"]),
            ("add eggs", shopping, &["eggs"]),
            ("adiciona ovos e leite", "lista de compras", &["ovos", "leite"]),
            ("remember Bob and Ann", "facts", &["Bob and Ann"]),
            (
                "Remember: milk, bread and coffee for the shopping list",
                shopping,
                &["milk", "bread", "coffee"],
            ),
            ("remember milk for the shopping list.", shopping, &["milk"]),
            ("put eggs on my holiday list", "holiday list", &["eggs"]),
            ("add butter to the list", shopping, &["butter"]),
            ("add milk and tea to groceries.", "groceries", &["milk", "tea"]),
            ("remember that tea is green and hot", "facts", &["tea is green and hot"]),
            ("Note: call Bob", "notes", &["call Bob"]),
            ("note", "notes", &["note"]),
            ("Anote: leite, pão e café na lista de compras", "lista de compras", &["leite", "pão", "café"]),
            ("anote leite na lista de compras.", "lista de compras", &["leite"]),
            ("compre leite", "lista de compras", &["leite"]),
            ("apunta pan y café en la lista de la compra", "lista de la compra", &["pan", "café"]),
        ];
        for (text, key, items) in cases {
            let items = items.iter().map(|item| (*item).to_owned()).collect();
            assert_eq!(wanted(&DemoQuestion::of(text)), (key.to_owned(), items), "{text}");
        }
    }
}
