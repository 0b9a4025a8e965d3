//! Languages of the demo model: translated texts, language detection, and names of languages.

/// Language the demo model can answer in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DemoLanguage {
    English,
    Portuguese,
    Spanish,
}

/// One text in each language; `{}` is replaced by a value.
#[derive(Debug, Clone, Copy)]
pub(super) struct DemoText {
    pub(super) en: &'static str,
    pub(super) pt: &'static str,
    pub(super) es: &'static str,
}

impl DemoText {
    pub(super) const fn of(self, language: DemoLanguage) -> &'static str {
        match language {
            DemoLanguage::English => self.en,
            DemoLanguage::Portuguese => self.pt,
            DemoLanguage::Spanish => self.es,
        }
    }

    /// Returns the text in one language, with each `{}` replaced by `value`.
    pub(super) fn with(self, language: DemoLanguage, value: &str) -> String {
        self.of(language).replace("{}", value)
    }
}

/// Common words that occur in only one of the three languages.
const MARKS: [(DemoLanguage, &str); 4] = [
    (
        DemoLanguage::English,
        "the and is are to in of you my it this that what where when which for with on at an every tell remind make \
         explain answer go show please how who can do i me",
    ),
    (
        DemoLanguage::Portuguese,
        "você não em uma um na nas nos da do dos das às ao os são isto isso também anote faça explique resuma conte me \
         responda diante agora onde amanhã hoje todo toda lembre enquete duas frases compras sexta segunda sou o \
         tempo mude cancele pesquise agendado notas compre foto formatação ajuda olá oi obrigado escolha arquivo dado \
         código longo devagar longa votação continue parou qual quais é quem quando quanto lembre-me lembra-me diga-me conte-me ficheiro moro anedota reaja bom sabe como chame-me chama-me acorde-me acorda-me adiciona obrigada faz no tenho foi \
         sabes boa lembre-nos lembra-nos explica compra escolhe pesquisa anota muda cancela busca foto dados leite pão ovos juros compostos \
         piada barbeiros reage lança desenha desenhe meu minha pode posso quero",
    ),
    (
        DemoLanguage::Spanish,
        "el la los las una un en del al con por qué esto eso también apunta haz explica resume responde me dime ahora \
         adelante dónde mañana hoy todo cada recuérdame encuesta dos lista compra lunes viernes tiempo cambia cancela \
         busca programado formato ayuda hola gracias archivo dado código largo despacio puedes cuéntame elegir buenos es quién cuál cuándo cómo cuánto recuérdanos leche pan huevos \
         interés compuesto chiste barberos cambia anota dibuja elige mi quiero puedo",
    ),
    // Words of other languages count as English, so that no such text passes for Portuguese or Spanish.
    (
        DemoLanguage::English,
        "der die das ist sind und ich nicht wie was wo wer ein eine mich mir du bist kann kannst warum wann mit für um es \
         morgen heute le la les des du de et est je il elle vous nous tu quel quelle où pourquoi comment quand qui ne \
         pas pour avec un une en dans sur moi demain temps che di è il lo gli per non come dove domani oggi tempo con",
    ),
];

/// Detects the language of lower-case words; English if unclear.
pub(super) fn written(words: &[&str]) -> DemoLanguage {
    let count = |marks: &str| {
        let marks: Vec<&str> = marks.split_whitespace().collect();
        words.iter().filter(|word| marks.contains(word)).count()
    };
    let mut best = (0, DemoLanguage::English);
    for (language, marks) in MARKS {
        let found = (count(marks), language);
        best = if found.0 > best.0 { found } else { best };
    }
    best.1
}

/// Names of languages in English, Portuguese and Spanish.
const NAMES: [([&str; 3], Option<DemoLanguage>); 14] = [
    (["english", "inglês", "inglés"], Some(DemoLanguage::English)),
    (["portuguese", "português", "portugués"], Some(DemoLanguage::Portuguese)),
    (["spanish", "espanhol", "español"], Some(DemoLanguage::Spanish)),
    (["french", "francês", "francés"], None),
    (["german", "alemão", "alemán"], None),
    (["italian", "italiano", "italiano"], None),
    (["russian", "russo", "ruso"], None),
    (["latvian", "letão", "letón"], None),
    (["dutch", "holandês", "neerlandés"], None),
    (["polish", "polonês", "polaco"], None),
    (["swedish", "sueco", "sueco"], None),
    (["ukrainian", "ucraniano", "ucraniano"], None),
    (["chinese", "chinês", "chino"], None),
    (["japanese", "japonês", "japonés"], None),
];

/// Finds the name of a language in lower-case words: `Spanish`, `em espanhol`. The language is `None` if the demo model does
/// not write it.
pub(super) fn named<'a>(words: &[&'a str]) -> Option<(&'a str, Option<DemoLanguage>)> {
    words.iter().find_map(|word| {
        let known = NAMES.iter().find(|(names, _)| names.contains(word));
        known.map(|(_, language)| (*word, *language))
    })
}

/// Returns the language named after `in`, `em` or `en`: `tell me a joke in Spanish`.
pub(super) fn wanted(words: &[&str]) -> Option<DemoLanguage> {
    words.windows(2).find_map(|two| match two {
        ["in" | "em" | "en", name] => named(&[name])?.1,
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_tell_their_language() {
        let cases = [
            ("", DemoLanguage::English),
            ("buy milk", DemoLanguage::English),
            ("go on where you stopped", DemoLanguage::English),
            ("do this for me", DemoLanguage::English),
            ("continue de onde você parou", DemoLanguage::Portuguese),
            ("explique juros compostos em duas frases", DemoLanguage::Portuguese),
            ("todo dia às 7:30", DemoLanguage::Portuguese),
            ("notas", DemoLanguage::Portuguese),
            ("que tempo faz no porto", DemoLanguage::Portuguese),
            ("como me chamo", DemoLanguage::Portuguese),
            ("explica el interés compuesto en dos frases", DemoLanguage::Spanish),
            ("hola", DemoLanguage::Spanish),
            ("compra leite", DemoLanguage::Portuguese),
            ("compra leche", DemoLanguage::Spanish),
            ("explica juros compostos", DemoLanguage::Portuguese),
            ("explica interés compuesto", DemoLanguage::Spanish),
            ("escolhe", DemoLanguage::Portuguese),
            ("elige", DemoLanguage::Spanish),
            ("pesquisa barbeiros de sevilha", DemoLanguage::Portuguese),
            ("busca barberos de sevilla", DemoLanguage::Spanish),
            ("b>bold</b x y", DemoLanguage::English),
            ("quién escribió don quijote", DemoLanguage::Spanish),
            ("quem escreveu os lusíadas", DemoLanguage::Portuguese),
            ("quelle est la capitale de la france", DemoLanguage::English),
            ("wie spät ist es in lissabon", DemoLanguage::English),
            ("che tempo fa a roma", DemoLanguage::English),
            ("какая сегодня погода", DemoLanguage::English),
        ];
        for (text, wanted) in cases {
            assert_eq!(written(&text.split(' ').collect::<Vec<_>>()), wanted, "{text}");
        }
    }

    #[test]
    fn languages_have_names() {
        let of = |text: &str| wanted(&text.split(' ').collect::<Vec<_>>());
        assert_eq!(of("a joke in spanish please"), Some(DemoLanguage::Spanish));
        assert_eq!(of("também em espanhol"), Some(DemoLanguage::Spanish));
        assert_eq!((of("in french"), of("in two sentences")), (None, None));
        assert_eq!(named(&["answer", "latvian"]), Some(("latvian", None)));
    }
}
