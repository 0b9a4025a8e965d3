//! Wording of tasks: turns a request into an instruction for later, and reads the instruction when the task is due.

use super::super::question::{capital, plain, trimmed};
use super::super::shape::is_polite;
use super::phrase::begins;

/// Orders of a person, and their form in the instruction; `{}` is replaced by the person's name.
const ORDERS: [(&str, &str); 60] = [
    ("set a reminder", "Remind {}"),
    ("make a reminder", "Remind {}"),
    ("crie um lembrete", "Lembre {}"),
    ("pon un recordatorio", "Recuerda a {}"),
    ("remind me", "Remind {}"),
    ("remind us", "Remind everyone"),
    ("wake us up", "Remind everyone to wake up"),
    ("wake us", "Remind everyone to wake up"),
    ("tell us", "Tell everyone"),
    ("send us", "Send everyone"),
    ("show us", "Show everyone"),
    ("set an alarm", "Remind {} to wake up"),
    ("wake me up", "Remind {} to wake up"),
    ("wake me", "Remind {} to wake up"),
    ("tell me", "Tell {}"),
    ("send me", "Send {}"),
    ("show me", "Show {}"),
    ("give me", "Give {}"),
    ("wish me", "Wish {}"),
    ("me lembre", "Lembre {}"),
    ("me lembra", "Lembre {}"),
    ("lembre-me", "Lembre {}"),
    ("lembra-me", "Lembre {}"),
    ("nos lembre", "Lembre todos"),
    ("nos lembra", "Lembre todos"),
    ("lembre-nos", "Lembre todos"),
    ("lembra-nos", "Lembre todos"),
    ("me acorde", "Lembre {} de acordar"),
    ("acorde-me", "Lembre {} de acordar"),
    ("acorda-me", "Lembre {} de acordar"),
    ("me avise", "Avise {}"),
    ("avise-me", "Avise {}"),
    ("avisa-me", "Avise {}"),
    ("avise-nos", "Avise todos"),
    ("avisa-nos", "Avise todos"),
    ("me conte", "Conte a {}"),
    ("conte-me", "Conte a {}"),
    ("me diga", "Diga a {}"),
    ("diga-me", "Diga a {}"),
    ("diz-me", "Diga a {}"),
    ("nos diga", "Diga a todos"),
    ("diga-nos", "Diga a todos"),
    ("diz-nos", "Diga a todos"),
    ("conta-me", "Conte a {}"),
    ("manda-me", "Mande a {}"),
    ("mande-me", "Mande a {}"),
    ("me mande", "Mande a {}"),
    ("recuérdame", "Recuerda a {}"),
    ("despiértame", "Recuerda a {} despertarse"),
    ("recuérdanos", "Recuerda a todos"),
    ("despiértanos", "Recuerda a todos despertarse"),
    ("avísame", "Avisa a {}"),
    ("avísanos", "Avisa a todos"),
    ("dime", "Di a {}"),
    ("dinos", "Di a todos"),
    ("cuéntanos", "Cuenta a todos"),
    ("mándanos", "Manda a todos"),
    ("cuéntame", "Cuenta a {}"),
    ("mándame", "Manda a {}"),
    ("envíame", "Envía a {}"),
];
/// First words of a reminder in an instruction.
const REMINDERS: [&str; 15] = [
    "Remind {}",
    "Lembre {}",
    "Avise {}",
    "Recuerda a {}",
    "Avisa a {}",
    "Remind {} to wake up",
    "Lembre {} de acordar",
    "Recuerda a {} despertarse",
    "Remind everyone",
    "Remind everyone to wake up",
    "Lembre todos",
    "Avise todos",
    "Recuerda a todos",
    "Recuerda a todos despertarse",
    "Avisa a todos",
];
/// Reminders without a link to their subject; a colon stands there.
const BARE: [&str; 4] = ["Remind {}", "Lembre {}", "Remind everyone", "Lembre todos"];
/// Words between an order and its subject.
const LINKS: [&str; 10] = ["to", "that", "about", "of", "de", "que", "a", "do", "da", "sobre"];
/// First words of an addition to a task.
const ALSO: [&str; 3] = ["also", "também", "también"];

/// Turns the words of a request, without its time, into an instruction. The flag is `true` for a reminder. `None` if the
/// words ask for nothing.
pub(super) fn prompt(words: &[&str], name: &str) -> Option<(String, bool)> {
    let plain: Vec<String> = words.iter().map(|word| plain(word)).collect();
    let plain: Vec<&str> = plain.iter().map(String::as_str).collect();
    let Some((at, task)) = order(&plain) else {
        let rest = words.join(" ");
        let rest = trimmed(&rest);
        return (!rest.is_empty()).then(|| (title(&format!("{name}: {rest}")), false));
    };
    let rest = words.get(at..).unwrap_or_default().join(" ");
    let reminds = REMINDERS.contains(&task);
    let has_colon =
        at.checked_sub(1).and_then(|last| words.get(last)).is_some_and(|last| last.ends_with(':'));
    // `for` belongs to the time of the reminder, which is kept elsewhere.
    let rest = rest
        .strip_prefix("for")
        .filter(|rest| reminds && !rest.starts_with(char::is_alphabetic))
        .unwrap_or(&rest);
    let first = rest.split_whitespace().next().unwrap_or_default();
    let is_bare = BARE.contains(&task) && !first.is_empty() && !LINKS.contains(&first);
    let task = task.replace("{}", name) + if has_colon || is_bare { ":" } else { "" };
    match rest.trim_matches([' ', ',', '.', '!', '?']) {
        "" if reminds => Some((title(&task), true)),
        "" => None,
        what => Some((title(&format!("{task} {what}")), reminds)),
    }
}

/// Returns `true` if the words begin with an order, after polite words.
pub(super) fn begins_with_order(words: &[&str]) -> bool {
    let plain: Vec<String> = words.iter().map(|word| plain(word)).collect();
    let plain: Vec<&str> = plain.iter().map(String::as_str).filter(|word| !word.is_empty()).collect();
    let polite = plain.iter().take_while(|word| is_polite(word)).count();
    (0..=polite)
        .filter_map(|at| plain.get(at..))
        .any(|rest| ORDERS.iter().any(|(order, _)| begins(rest, order).is_some()))
}

/// Returns the position after the order, and the form of the order in the instruction.
fn order(words: &[&str]) -> Option<(usize, &'static str)> {
    ORDERS.iter().find_map(|(order, task)| {
        let order: Vec<&str> = order.split(' ').collect();
        let at = words.windows(order.len()).position(|window| window == order)?;
        Some((at + order.len(), *task))
    })
}

/// Returns `true` if `first` begins an addition to a task.
pub(super) fn is_addition(first: &str) -> bool {
    ALSO.contains(&first)
}

/// Appends an addition such as `also in Spanish`, unless the instruction has it already.
pub(super) fn added(prompt: &str, addition: &str) -> String {
    let prompt = prompt.trim_end_matches('.');
    let (first, rest) = trimmed(addition).split_once(' ').unwrap_or((trimmed(addition), ""));
    let addition = format!("{} {rest}", first.to_lowercase());
    if prompt.to_lowercase().contains(&addition.to_lowercase()) {
        return title(prompt);
    }
    title(&format!("{prompt}, {addition}"))
}

/// Returns the request in an instruction without order and name. The flag is `true` for a reminder.
pub(super) fn content<'a>(prompt: &'a str, name: &str) -> (&'a str, bool) {
    let prompt = trimmed(prompt);
    let orders = ORDERS.iter().map(|(_, task)| *task);
    let order = orders.chain(["{}"]).find_map(|task| {
        let rest = prompt.strip_prefix(&task.replace("{}", name))?;
        let ends = rest.chars().next().is_none_or(|c| !c.is_alphanumeric());
        ends.then_some((trimmed(rest), REMINDERS.contains(&task)))
    });
    let (rest, reminds) = order.unwrap_or((prompt, false));
    let linked = rest.split_once(' ').filter(|(first, _)| reminds && LINKS.contains(first));
    (linked.map_or(rest, |(_, rest)| rest), reminds)
}

/// Splits a request from its addition, if it has one.
pub(super) fn parted(content: &str) -> (&str, Option<&str>) {
    let found = ALSO.iter().find_map(|also| content.split_once(&format!(", {also} ")));
    found.map_or((content, None), |(content, addition)| (content, Some(addition)))
}

/// Converts words into the title of a task: capitalised, without a full stop.
fn title(words: &str) -> String {
    capital(words.trim_end_matches(['.', '!', '?', ' ']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_becomes_an_instruction_and_is_found_in_it_again() {
        let cases = [
            ("Remind me to drink water!", Some("Remind Ann to drink water"), "drink water"),
            ("please remind me", Some("Remind Ann"), ""),
            ("set a reminder for to sing", Some("Remind Ann to sing"), "sing"),
            ("remind me tea", Some("Remind Ann: tea"), "tea"),
            ("remind me: the cake", Some("Remind Ann: the cake"), "the cake"),
            ("tell me the weather in Riga", Some("Tell Ann the weather in Riga"), "the weather in Riga"),
            ("look at the oven", Some("Ann: look at the oven"), "look at the oven"),
            ("me lembre de ligar para a mãe", Some("Lembre Ann de ligar para a mãe"), "ligar para a mãe"),
            ("me conte o tempo em Lisboa", Some("Conte a Ann o tempo em Lisboa"), "o tempo em Lisboa"),
            ("recuérdame llamar a mamá", Some("Recuerda a Ann llamar a mamá"), "llamar a mamá"),
            ("tell me", None, ""),
            (",", None, ""),
        ];
        for (text, wanted, what) in cases {
            let words: Vec<&str> = text.split_whitespace().collect();
            let made = prompt(&words, "Ann").map(|(prompt, _)| prompt);
            assert_eq!(made.as_deref(), wanted, "{text}");
            assert_eq!(made.as_deref().map_or("", |prompt| content(prompt, "Ann").0), what, "{text}");
        }
        assert_eq!(content("Water the plants.", "Ann"), ("Water the plants", false));
    }

    #[test]
    fn an_addition_is_made_once() {
        let once = added("Tell Ann the news.", "Also in Spanish!");
        assert_eq!(once, "Tell Ann the news, also in Spanish");
        assert_eq!(added(&once, "also in Spanish"), once);
        assert_eq!(parted("the news, also in Spanish"), ("the news", Some("in Spanish")));
    }
}
