//! Pictures and files that come with a message: what the stand-in knows of them, and says when it is asked. It never takes
//! one for another, and does not make up what it cannot see.

use super::language::Words;
use super::question::Question;
use super::step::Step;
use super::topic::Topic;
use crate::model::request::{ModelRequest, last_element, tagged, text_of};

/// What begins a question about a picture or a file.
const ABOUT: [&str; 15] = [
    "what", "what's", "which", "who", "where", "describe", "read", "o que", "qual", "quem", "descreva",
    "leia", "qué", "cuál", "quién",
];
/// So many earlier messages are looked through for what is asked about.
const MAX_BACK: usize = 4;

const PHOTO: &str = "photo";

const PICTURE: Words = Words {
    en: "I was sent a picture, but an offline stand-in has no eyes; a model that sees would look at it.",
    pt: "Recebi uma imagem, mas um substituto offline não tem olhos; um modelo que vê a olharia.",
    es: "Recibí una imagen, pero un sustituto sin conexión no tiene ojos; un modelo que ve la miraría.",
};
const FILES: Words = Words {
    en: "I was sent a file ({}). Its name is all that a model is given of it, this one or a real one: send its words as a \
         message.",
    pt: "Recebi um arquivo ({}). Dele um modelo só recebe o nome, este ou um de verdade: envie as palavras como mensagem.",
    es: "Recibí un archivo ({}). De él un modelo solo recibe el nombre, este o uno de verdad: envía sus palabras como mensaje.",
};
const OTHERS: Words = Words {
    en: "I was sent this: {}. An offline stand-in has no rule for it.",
    pt: "Recebi isto: {}. Um substituto offline não tem regra para isso.",
    es: "Recibí esto: {}. Un sustituto sin conexión no tiene regla para eso.",
};
const NONE: Words = Words {
    en: "There is no picture and no file with your message or just before it.",
    pt: "Não há imagem nem arquivo com a sua mensagem nem logo antes.",
    es: "No hay ninguna imagen ni archivo con tu mensaje ni justo antes.",
};

/// Something that came with a message, as the prompt tells of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Attached {
    /// Such as `photo` or `file`.
    kind: String,
    name: Option<String>,
}

impl Attached {
    /// A picture that nothing is told of.
    pub(super) fn picture() -> Self {
        Self { kind: PHOTO.to_owned(), name: None }
    }

    /// Parts the words of a message from the lines that tell what came with it.
    pub(super) fn parted(text: &str, unescape: fn(&str) -> String) -> (String, Vec<Self>) {
        let (lines, words): (Vec<&str>, Vec<&str>) =
            text.lines().partition(|line| line.starts_with("<attached "));
        let one = |line: &str| {
            let tag = last_element(line, "attached")?;
            // A picture may come as a file.
            let is_picture = tag.attribute("not_given_to_you").is_some();
            let kind = if is_picture { PHOTO } else { tag.attribute("kind")? };
            Some(Self { kind: kind.to_owned(), name: tag.attribute("name").map(unescape) })
        };
        (words.join("\n").trim().to_owned(), lines.into_iter().filter_map(one).collect())
    }
}

/// Whether a message asks what is in a picture or a file, or sends one without words that ask for something else.
pub(super) fn is_asked(question: &Question, named: Option<&Topic>) -> bool {
    let is_of_files = matches!(named, Some(Topic::Photo | Topic::File));
    if question.attached.is_empty() {
        return is_of_files && ABOUT.iter().any(|word| question.begins(word));
    }
    named.is_none() || is_of_files || question.text.ends_with('?')
}

/// Says what is known of what came with a message, else of what came last before it.
pub(super) fn describe(question: &Question, request: &ModelRequest) -> Step {
    let users = request.input().iter().rev().filter(|item| item["role"] == "user");
    let earlier = users.skip(1).take(MAX_BACK).find_map(|item| {
        let (_, attached) = Attached::parted(tagged(&text_of(&item["content"])).text, str::to_owned);
        told(question, &attached)
    });
    let told = told(question, &question.attached).or(earlier);
    Step::Say(told.unwrap_or_else(|| NONE.of(question.language).to_owned()))
}

fn told(question: &Question, attached: &[Attached]) -> Option<String> {
    let words = match attached.first()?.kind.as_str() {
        PHOTO => PICTURE,
        "file" => FILES,
        _ => OTHERS,
    };
    let names = attached.iter().map(|one| one.name.as_ref().unwrap_or(&one.kind).as_str());
    Some(words.with(question.language, &names.collect::<Vec<_>>().join(", ")))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::language::Language;
    use super::*;
    use crate::model::request::Asked;

    #[test]
    fn what_came_is_told_and_nothing_is_made_up() {
        let user =
            |text: &str| json!({"role": "user", "content": format!("<message x=\"1\">\n{text}\n</message>")});
        let asked = |texts: &[&str]| {
            let input = texts.iter().map(|text| user(text)).collect();
            let request = ModelRequest::new(Value::Null, Asked { input, ..Asked::default() });
            let question = Question::read(&request, str::to_owned);
            assert_eq!(Topic::of(&question), Topic::Attached, "{question:?}");
            let Step::Say(words) = describe(&question, &request) else { panic!("it calls a tool") };
            words
        };
        let photo = "<attached kind=\"photo\" not_given_to_you=\"you cannot see pictures\"/>";
        assert_eq!(asked(&[photo]), PICTURE.en);
        assert_eq!(asked(&[photo, "What is on this picture?"]), PICTURE.en);
        let note = "what is in this file?\n<attached kind=\"file\" name=\"note.txt\"/>";
        assert_eq!(asked(&[note]), FILES.with(Language::English, "note.txt"));
        let place = "<attached kind=\"location\" name=\"56.9, 24.1\"/>";
        assert_eq!(asked(&[place]), OTHERS.with(Language::English, "56.9, 24.1"));
        assert_eq!(asked(&["what is in this file?"]), NONE.en);
    }
}
