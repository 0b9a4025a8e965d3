//! Prepared texts for questions that a real model would answer by itself; each says that it was prepared. Also the summary
//! of a message: its first sentence.

use super::language::{DemoLanguage, DemoText};
use super::question::DemoQuestion;
use super::shape::Shape;
use super::step::DemoStep;

/// Maximum length of the sentence in a summary, in characters.
const MAX_SENTENCE: usize = 240;
const EXPLAIN: [&str; 3] = ["explain", "explique", "explica"];

/// Prepared texts by keyword.
const TEXTS: [(&[&str], DemoText); 4] = [
    (
        &["compound interest", "juros compostos", "interés compuesto"],
        DemoText {
            en: "Compound interest is interest on the money you put in and also on the interest it has already earned. \
                 So the sum grows faster every year: 100 at 5 % is 105 after one year and about 163 after ten.",
            pt: "Juros compostos são juros sobre o dinheiro que você aplicou e também sobre os juros que ele já rendeu. \
                 Por isso a soma cresce mais a cada ano: 100 a 5 % viram 105 em um ano e cerca de 163 em dez.",
            es: "El interés compuesto es el interés sobre el dinero que pusiste y también sobre los intereses que ya dio. \
                 Por eso la suma crece más cada año: 100 al 5 % son 105 en un año y unos 163 en diez.",
        },
    ),
    (
        &["inflation", "inflação", "inflación"],
        DemoText {
            en: "Inflation is the rise of prices in general, so that the same money buys less. At 3 % a year prices double \
                 in about 24 years.",
            pt: "Inflação é a alta geral dos preços: com o mesmo dinheiro se compra menos. A 3 % ao ano os preços dobram em \
                 cerca de 24 anos.",
            es: "La inflación es la subida general de los precios: con el mismo dinero se compra menos. Al 3 % al año los \
                 precios se duplican en unos 24 años.",
        },
    ),
    (
        &["sky blue", "blue sky", "céu azul", "céu é azul", "cielo azul", "cielo es azul"],
        DemoText {
            en: "Air scatters blue light more than red, so blue reaches the eye from the whole sky. In the evening the light \
                 comes a longer way, most blue is lost on it, and the sky turns red.",
            pt: "O ar espalha mais a luz azul do que a vermelha, e assim o azul chega aos olhos de todo o céu. À tarde a luz vem \
                 de mais longe, quase todo o azul se perde, e o céu fica vermelho.",
            es: "El aire dispersa más la luz azul que la roja, y así el azul llega a los ojos desde todo el cielo. Por la \
                 tarde la luz viene de más lejos, casi todo el azul se pierde, y el cielo se pone rojo.",
        },
    ),
    (
        &["joke", "piada", "anedota", "chiste"],
        DemoText {
            en: "A customer asks: “How long for a haircut?” The barber: “Two hours.” The customer leaves. The barber to his \
                 friend: “Follow him: where does he always go?” The friend comes back: “To your house.”",
            pt: "Um cliente pergunta: “Quanto demora um corte?” O barbeiro: “Duas horas.” O cliente sai. O barbeiro a um amigo: \
                 “Siga-o: para onde ele sempre vai?” O amigo volta: “Para a sua casa.”",
            es: "Un cliente pregunta: «¿Cuánto falta para un corte?» El barbero: «Dos horas.» El cliente se va. El barbero a un \
                 amigo: «Síguelo: ¿adónde va siempre?» El amigo vuelve: «A tu casa.»",
        },
    ),
];

const LABEL: DemoText = DemoText {
    en: "_(a prepared text: an offline stand-in answers here)_",
    pt: "_(um texto pronto: aqui responde um substituto offline)_",
    es: "_(un texto preparado: aquí responde un sustituto sin conexión)_",
};
const UNPREPARED: DemoText = DemoText {
    en: "A stand-in has texts on compound interest, inflation and why the sky is blue, and a joke; no more. A real model \
         would explain this too.",
    pt: "Um substituto tem textos sobre juros compostos, inflação e por que o céu é azul, e uma piada; nada mais. Um modelo de \
         verdade explicaria isto também.",
    es: "Un sustituto tiene textos sobre el interés compuesto, la inflación y por qué el cielo es azul, y un chiste; nada más. \
         Un modelo de verdad explicaría esto también.",
};
const EXAMPLES: DemoText = DemoText {
    en: "Three examples:\n\n\
         - `Every weekday at 8:00, tell me the weather in Riga`: I come back by myself\n\
         - `Remember: milk, bread and coffee for the shopping list`: I keep lists\n\
         - `Make a poll: where do we eat on Friday?`: I use what Telegram has\n\n\
         An offline stand-in answers here: `help` shows what it can do.",
    pt: "Três exemplos:\n\n\
         - `De segunda a sexta às 8:00, diga-me o tempo em Lisboa`: uma tarefa com hora\n\
         - `Anote: leite, pão e café na lista de compras`: guardo listas\n\
         - `Faça uma enquete: onde comemos na sexta?`: uso o que o Telegram tem\n\n\
         Aqui responde um substituto offline: `ajuda` mostra o que ele sabe fazer.",
    es: "Tres ejemplos:\n\n\
         - `De lunes a viernes a las 8:00, dime el tiempo en Madrid`: una tarea con hora\n\
         - `Apunta leche, pan y café en la lista de la compra`: guardo listas\n\
         - `Haz una encuesta: ¿dónde comemos el viernes?`: uso lo que tiene Telegram\n\n\
         Aquí responde un sustituto sin conexión: `ayuda` muestra lo que sabe hacer.",
};
const SUMMARY: DemoText = DemoText { en: "In short: {}", pt: "Em resumo: {}", es: "En resumen: {}" };
const SUMMARY_LABEL: DemoText = DemoText {
    en: "_(its first sentence, of {} words in all: a stand-in does not understand the rest)_",
    pt: "_(a primeira frase, de {} palavras ao todo: um substituto não entende o resto)_",
    es: "_(su primera frase, de {} palabras en total: un sustituto no entiende el resto)_",
};
const NOTHING_TO_SUM_UP: DemoText = DemoText {
    en: "Reply with that to the message that you want summarised.",
    pt: "Responda com isso à mensagem que você quer resumida.",
    es: "Responde con eso al mensaje que quieres resumido.",
};

/// Returns `true` if a prepared text matches the message, or the message asks for an explanation.
pub(super) fn is_asked(question: &DemoQuestion) -> bool {
    has_text(question) || Shape::Verb.fits(question, &EXPLAIN)
}

pub(super) fn answer(question: &DemoQuestion) -> DemoStep {
    let language = question.answer_language();
    match text(question) {
        Some(text) => DemoStep::Say(format!("{}\n\n{}", text.of(language), LABEL.of(language))),
        None => DemoStep::Say(UNPREPARED.of(language).to_owned()),
    }
}

/// Returns `true` if a prepared text answers the message.
pub(super) fn has_text(question: &DemoQuestion) -> bool {
    text(question).is_some()
}

fn text(question: &DemoQuestion) -> Option<DemoText> {
    let found = TEXTS.iter().find(|(about, _)| Shape::Told.fits(question, about));
    found.map(|(_, text)| *text)
}

/// Answers with three examples of questions.
pub(super) fn examples(question: &DemoQuestion) -> DemoStep {
    DemoStep::say(EXAMPLES, question)
}

/// Summarises the message that the question replies to.
pub(super) fn summary(question: &DemoQuestion) -> DemoStep {
    let language: DemoLanguage = question.answer_language();
    let Some(quoted) = question.quoted.as_deref() else {
        return DemoStep::Say(NOTHING_TO_SUM_UP.of(language).to_owned());
    };
    let count = quoted.split_whitespace().count().to_string();
    let summary = SUMMARY.with(language, &first_sentence(quoted));
    DemoStep::Say(format!("{summary}\n\n{}", SUMMARY_LABEL.with(language, &count)))
}

/// Returns the first sentence of a text, on one line, shortened if too long.
fn first_sentence(text: &str) -> String {
    let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().trim();
    let ends = line.match_indices(['.', '!', '?']).map(|(at, end)| at + end.len());
    let end = ends.into_iter().find(|end| line[*end..].starts_with(' ')).unwrap_or(line.len());
    let sentence = &line[..end];
    if sentence.chars().count() <= MAX_SENTENCE {
        return sentence.to_owned();
    }
    let cut: String = sentence.chars().take(MAX_SENTENCE).collect();
    format!("{}…", cut.rsplit_once(' ').map_or(cut.as_str(), |(words, _)| words))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(step: DemoStep) -> String {
        match step {
            DemoStep::Say(words) => words,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn prepared_texts_come_in_the_language_asked_and_say_what_they_are() {
        let cases = [
            ("Explain compound interest in two sentences", "Compound interest is", LABEL.en),
            ("explain compound interest in Spanish", "El interés compuesto", LABEL.es),
            ("Explique juros compostos em duas frases", "Juros compostos são", LABEL.pt),
            ("why is the sky blue?", "Air scatters", LABEL.en),
            ("tell me a joke", "A customer", LABEL.en),
            ("explain love", "A stand-in has texts", "too."),
        ];
        for (text, begin, end) in cases {
            let told = said(answer(&DemoQuestion::of(text)));
            assert!(told.starts_with(begin) && told.ends_with(end), "{text}: {told}");
        }
    }

    #[test]
    fn a_summary_is_the_first_sentence() {
        let quoted = "\nRain is coming. It will be wet.\nVery.";
        let question = DemoQuestion { quoted: Some(quoted.to_owned()), ..DemoQuestion::of("Summarise this") };
        let told = said(summary(&question));
        assert!(told.starts_with("In short: Rain is coming.\n\n") && told.contains("8 words"), "{told}");
        assert_eq!(said(summary(&DemoQuestion::of("Resuma isto"))), NOTHING_TO_SUM_UP.pt);
        assert!(first_sentence(&"word ".repeat(100)).ends_with("word…"));
    }
}
