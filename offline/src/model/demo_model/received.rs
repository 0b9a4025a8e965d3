//! Questions about received pictures and files. Never confuses two attachments, and never invents what it cannot see.

use super::attached::{Attached, PHOTO};
use super::language::DemoText;
use super::question::DemoQuestion;
use super::step::DemoStep;
use crate::model::request::{ModelRequest, tagged, text_of};

/// Maximum number of earlier messages searched for an attachment.
const MAX_BACK: usize = 4;

const PICTURE: DemoText = DemoText {
    en: "I was sent a picture, but an offline stand-in has no eyes; a model that sees would look at it.",
    pt: "Recebi uma imagem, mas um substituto offline não tem olhos; um modelo que vê a olharia.",
    es: "Recibí una imagen, pero un sustituto sin conexión no tiene ojos; un modelo que ve la miraría.",
};
const FILES: DemoText = DemoText {
    en: "I could not read {}. Send it in another format, or as text.",
    pt: "Não consegui ler {}. Envie em outro formato ou como texto.",
    es: "No pude leer {}. Envíalo en otro formato o como texto.",
};
const OTHERS: DemoText = DemoText {
    en: "I was sent this: {}. An offline stand-in does nothing with it; a real model might.",
    pt: "Recebi isto: {}. Um substituto offline não faz nada com isto; um modelo de verdade talvez.",
    es: "Recibí esto: {}. Un sustituto sin conexión no hace nada con esto; un modelo de verdad quizás.",
};
const NONE: DemoText = DemoText {
    en: "There is no picture and no file with your message or just before it.",
    pt: "Não há imagem nem arquivo com a sua mensagem nem logo antes.",
    es: "No hay ninguna imagen ni archivo con tu mensaje ni justo antes.",
};

/// Describes the attachments of the message, else the last ones before it.
pub(super) fn describe(question: &DemoQuestion, request: &ModelRequest) -> DemoStep {
    let users = request.input().iter().rev().filter(|item| item["role"] == "user");
    let earlier = users.skip(1).take(MAX_BACK).find_map(|item| {
        let (_, attached) = Attached::parted(tagged(&text_of(&item["content"])).text, str::to_owned);
        told(question, &attached)
    });
    let told = told(question, &question.attached).or(earlier);
    DemoStep::Say(told.unwrap_or_else(|| NONE.of(question.language).to_owned()))
}

fn told(question: &DemoQuestion, attached: &[Attached]) -> Option<String> {
    let words = match attached.first()?.kind.as_str() {
        PHOTO => PICTURE,
        "file" => FILES,
        _ => OTHERS,
    };
    let names = attached.iter().map(|one| {
        let name = one.name.as_ref().unwrap_or(&one.kind);
        one.unread.as_ref().map_or_else(|| name.clone(), |reason| format!("{name} ({reason})"))
    });
    Some(words.with(question.language, &names.collect::<Vec<_>>().join(", ")))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::language::DemoLanguage;
    use super::super::topic::Topic;
    use super::*;
    use crate::model::request::RequestContent;

    #[test]
    fn what_came_is_told_and_nothing_is_made_up() {
        let user =
            |text: &str| json!({"role": "user", "content": format!("<message x=\"1\">\n{text}\n</message>")});
        let asked = |texts: &[&str]| {
            let input = texts.iter().map(|text| user(text)).collect();
            let request =
                ModelRequest::new(Value::Null, RequestContent { input, ..RequestContent::default() });
            let question = DemoQuestion::read(&request, str::to_owned);
            assert_eq!(Topic::of(&question), Topic::Attached, "{question:?}");
            let DemoStep::Say(words) = describe(&question, &request) else { panic!("it calls a tool") };
            words
        };
        let photo = "<attached kind=\"photo\" not_given_to_you=\"you cannot see pictures\"/>";
        assert_eq!(asked(&[photo]), PICTURE.en);
        assert_eq!(asked(&[photo, "What is on this picture?"]), PICTURE.en);
        let note = "what is in this file?\n<attached kind=\"file\" name=\"note.txt\"/>";
        assert_eq!(asked(&[note]), FILES.with(DemoLanguage::English, "note.txt"));
        let place = "<attached kind=\"location\" name=\"56.9, 24.1\"/>";
        assert_eq!(asked(&[place]), OTHERS.with(DemoLanguage::English, "56.9, 24.1"));
        assert_eq!(asked(&["what is in this file?"]), NONE.en);
    }
}
