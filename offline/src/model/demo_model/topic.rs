//! Topics of messages, by tables of words in the demo model's languages. The first matching topic counts.

use super::question::DemoQuestion;
use super::schedule::{self, TaskRequest};
use super::shape::Shape;
use super::tricks::{self, AGENT};
use super::{clock, fallback, go_on, moderate, names, notes, prepared, records, settings, web};

/// Topic of a message; it selects the rule that answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Topic {
    GoOn,
    Settings,
    ChangeTask(TaskRequest),
    NewTask,
    ListTasks,
    Summary,
    Prepared,
    Search,
    Poll,
    Format,
    ListNotes,
    AddNote,
    RemoveNote,
    Name,
    Clock,
    Record,
    Moderate,
    React,
    Choose,
    Approve,
    Photo,
    File,
    Dice,
    Draw,
    Agent,
    Code,
    Long,
    Slow,
    Thanks,
    Examples,
    Greet,
    /// Received picture or file, or its content.
    Attached,
    /// Fact about the writer, to be remembered.
    Fact,
    /// Remembered fact, to be forgotten.
    UnwantedFact,
    Other,
}

/// Phrases that ask for a topic, and their place in the message. The first row that fits counts.
const PHRASES: [(Topic, Shape, &[&str]); 26] = [
    (
        Topic::ListTasks,
        Shape::Asked,
        &[
            "scheduled",
            "schedule",
            "tasks",
            "reminders",
            "agendado",
            "agenda",
            "tarefas",
            "lembretes",
            "programado",
            "tareas",
            "recordatorios",
        ],
    ),
    (
        Topic::Summary,
        Shape::Verb,
        &[
            "summarise",
            "summarize",
            "summary",
            "sum up",
            "resuma",
            "resumo",
            "resume isto",
            "resume esto",
            "resumen",
            "resúmelo",
        ],
    ),
    (Topic::Poll, Shape::Noun, &["poll", "enquete", "sondagem", "encuesta"]),
    (Topic::Search, Shape::Noun, &web::SEARCH),
    (Topic::Search, Shape::Verb, &["look up"]),
    (Topic::Format, Shape::Alone, &["format", "formatting", "markdown", "formatação", "formato"]),
    (
        Topic::ListNotes,
        Shape::Asked,
        &["notes", "notas", "anotações", "shopping list", "lista de compras", "lista de la compra"],
    ),
    (
        Topic::React,
        Shape::Alone,
        &[
            "react",
            "react to this",
            "reaction",
            "like this",
            "like that",
            "like it",
            "reaja",
            "reage",
            "curta",
            "curta isto",
            "reacciona",
        ],
    ),
    (Topic::Choose, Shape::Alone, &["choose", "choice", "escolha", "escolhe", "escolher", "elegir", "elige"]),
    (Topic::Photo, Shape::Alone, &["photo", "picture", "foto", "imagem", "imagen"]),
    (Topic::File, Shape::Alone, &["file", "document", "arquivo", "ficheiro", "archivo", "documento"]),
    (
        Topic::Approve,
        Shape::Alone,
        &[
            "approve",
            "approval",
            "approvals",
            "pin",
            "pin this",
            "pin that",
            "pin it",
            "aprovar",
            "aprovação",
            "fixe",
            "fixe isto",
            "fixa",
            "fixa isto",
            "aprobar",
            "aprobación",
            "fija",
            "fija esto",
        ],
    ),
    (Topic::Dice, Shape::Alone, &["dice", "the dice", "a die", "roll", "dado", "o dado", "el dado"]),
    (Topic::Draw, Shape::Verb, &tricks::DRAW),
    (Topic::Agent, Shape::Noun, &AGENT),
    (Topic::Agent, Shape::Verb, &["ask the agent", "ask the researcher", "ask the specialist"]),
    (Topic::Code, Shape::Alone, &["code", "program", "código", "programa"]),
    (Topic::Long, Shape::Alone, &["long", "long story", "long answer", "longo", "longa", "largo", "larga"]),
    (Topic::Slow, Shape::Alone, &["slow", "slowly", "devagar", "despacio"]),
    (Topic::Thanks, Shape::Verb, &["thanks", "thank you", "obrigado", "obrigada", "gracias"]),
    (Topic::Examples, Shape::Verb, &["what can you do for me", "o que você pode fazer por mim"]),
    (
        Topic::Examples,
        Shape::Alone,
        &[
            "what can you do",
            "o que você pode fazer",
            "o que você sabe fazer",
            "o que sabe fazer",
            "o que sabes fazer",
            "qué puedes hacer",
            "examples",
            "exemplos",
        ],
    ),
    (
        Topic::Greet,
        Shape::Alone,
        &["start", "hello", "hi", "hey", "help", "olá", "oi", "ajuda", "hola", "ayuda"],
    ),
    (Topic::Greet, Shape::Alone, &["who are you", "quem é você", "quem és", "quién eres", "how are you"]),
    (
        Topic::Greet,
        Shape::Alone,
        &["hallo", "bonjour", "привет", "good morning", "bom dia", "boa tarde", "tudo bem", "buenos días"],
    ),
    (Topic::Greet, Shape::Alone, &["may i talk to you"]),
];

/// Nouns for a picture or a file, and the words before them in a question about one.
const FILES: [&str; 10] =
    ["file", "document", "photo", "picture", "foto", "imagem", "imagen", "arquivo", "ficheiro", "archivo"];
const THIS: [&str; 12] =
    ["this", "that", "the", "deste", "desta", "neste", "nesta", "este", "esta", "na", "no", "la"];
/// First words of a question about a picture or a file.
const ABOUT: [&str; 15] = [
    "what", "what's", "which", "who", "where", "describe", "read", "o que", "qual", "quem", "descreva",
    "leia", "qué", "cuál", "quién",
];
impl Topic {
    /// Returns the topic of a message.
    pub(super) fn of(question: &DemoQuestion) -> Self {
        if go_on::is_asked(question) {
            return Self::GoOn;
        }
        if fallback::is_unwanted_fact(question) {
            return Self::UnwantedFact;
        }
        if settings::is_asked(question) {
            return Self::Settings;
        }
        if notes::is_removal(question) {
            return Self::RemoveNote;
        }
        if clock::is_asked(question) {
            return Self::Clock;
        }
        if names::is_asked(question) {
            return Self::Name;
        }
        if moderate::is_asked(question) {
            return Self::Moderate;
        }
        if let Some(change) = schedule::change_asked(question) {
            return Self::ChangeTask(change);
        }
        if records::is_stated(question) {
            return Self::Record;
        }
        if schedule::is_new(question) {
            return Self::NewTask;
        }
        if notes::is_addition(question) {
            return Self::AddNote;
        }
        let named = PHRASES.iter().find(|(_, shape, phrases)| shape.fits(question, phrases));
        let named = named.map(|(topic, ..)| topic.clone());
        if is_of_attached(question, named.as_ref()) {
            return Self::Attached;
        }
        let prepared = || prepared::is_asked(question).then_some(Self::Prepared);
        let news = || web::is_news(question).then_some(Self::Search);
        let fact = || fallback::is_fact(question).then_some(Self::Fact);
        named.or_else(prepared).or_else(news).or_else(fact).unwrap_or(Self::Other)
    }
}

/// Returns `true` if a message asks about a picture or a file, or contains one and asks for nothing else.
fn is_of_attached(question: &DemoQuestion, named: Option<&Topic>) -> bool {
    if question.attached.is_empty() {
        let mut pairs = question.plain.windows(2);
        let is_named = pairs.next_back().is_some_and(|pair| match pair {
            [this, file] => THIS.contains(&this.as_str()) && FILES.contains(&file.as_str()),
            _ => false,
        });
        return is_named && ABOUT.iter().any(|word| question.begins(word));
    }
    let is_of_files = matches!(named, None | Some(Topic::Photo | Topic::File | Topic::Summary));
    is_of_files || question.text.ends_with('?')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_choose_the_topic() {
        let cases = [
            ("/start", Topic::Greet),
            ("Hi there", Topic::Greet),
            ("olá", Topic::Greet),
            ("denotes belong", Topic::Other),
            ("show me some Format!", Topic::Format),
            ("make a poll", Topic::Poll),
            ("Faça uma enquete: onde comemos na sexta?", Topic::Poll),
            ("I like it", Topic::Fact),
            ("what are my notes?", Topic::ListNotes),
            ("what is on the shopping list?", Topic::ListNotes),
            ("put eggs on the shopping list", Topic::AddNote),
            ("remember that I like tea", Topic::AddNote),
            ("please buy milk", Topic::AddNote),
            ("how do I add you to a group?", Topic::Other),
            ("Anote: leite e pão na lista de compras", Topic::AddNote),
            ("remove milk from the shopping list", Topic::RemoveNote),
            ("forget the shopping list", Topic::RemoveNote),
            ("Please forget that I live in Riga.", Topic::UnwantedFact),
            ("call me Annie", Topic::Name),
            ("what is my name?", Topic::Name),
            ("pin this", Topic::Approve),
            ("mute @robin for 10 minutes", Topic::Moderate),
            ("what do you know about me?", Topic::Name),
            ("I am allergic to nuts.", Topic::Fact),
            ("let me choose", Topic::Choose),
            ("a photo, please", Topic::Photo),
            ("write me a file", Topic::File),
            ("what is in this file?", Topic::Attached),
            ("O que há nesta foto?", Topic::Attached),
            ("roll a die", Topic::Dice),
            ("agent tides", Topic::Agent),
            ("ask the researcher about tides", Topic::Agent),
            ("show me an approval", Topic::Approve),
            ("go slow", Topic::Slow),
            ("Search the web for news", Topic::Search),
            ("what is the weather in Riga?", Topic::Search),
            ("o tempo em Lisboa", Topic::Search),
            ("Explain compound interest in two sentences", Topic::Prepared),
            ("Explain the long code", Topic::Prepared),
            ("tell me a joke", Topic::Prepared),
            ("Summarise this", Topic::Summary),
            ("Resuma isto", Topic::Summary),
            ("What can you do for me in Telegram? Three short examples.", Topic::Examples),
            ("O que você pode fazer por mim no Telegram? Três exemplos curtos.", Topic::Examples),
            ("Go on where you stopped.", Topic::GoOn),
            ("From now on, answer me in Spanish", Topic::Settings),
            ("remind me in 1 minute to buy milk", Topic::NewTask),
            ("every weekday at 9 tell me the news", Topic::NewTask),
            ("tell me a joke tomorrow at 8", Topic::NewTask),
            ("what can I cook in 20 minutes?", Topic::Other),
            ("What is scheduled?", Topic::ListTasks),
            ("o que está agendado?", Topic::ListTasks),
            ("cancel it", Topic::ChangeTask(TaskRequest::Cancel)),
            ("Who is free on Friday?", Topic::Other),
        ];
        for (text, wanted) in cases {
            assert_eq!(Topic::of(&DemoQuestion::of(text)), wanted, "{text}");
        }
    }

    #[test]
    fn words_of_portugal_and_greetings_are_known() {
        for (text, wanted) in [
            ("Bom dia!", Topic::Greet),
            ("translate “good morning” to Spanish", Topic::Other),
            ("sondagem: onde comemos?", Topic::Poll),
            ("conte uma anedota", Topic::Prepared),
            ("escreva um ficheiro", Topic::File),
            ("guarde leite na lista de compras", Topic::AddNote),
        ] {
            assert_eq!(Topic::of(&DemoQuestion::of(text)), wanted, "{text}");
        }
    }
}
