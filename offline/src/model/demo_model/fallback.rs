//! Greeting of the demo model, and its answers to messages that no rule matches.

use super::language::DemoText;
use super::question::DemoQuestion;
use super::step::DemoStep;
use crate::model::extraction;

const GREETING: DemoText = DemoText {
    en: "Hello! I am Figaro, here with an **offline stand-in model**: no key, no network, a handful of rules. Telegram \
         and the web search are stand-ins too; the bot, its store and its tools are real. Try, in a group with my name in front:\n\n\
         - `format`: what formatted text looks like\n\
         - `poll Where shall we eat? Pizza, soup, salad`\n\
         - `like this`: I react to your message\n\
         - `buy milk`, then `notes`: I keep lists\n\
         - `remind me in 1 minute to drink water`, then `what is scheduled?`: I come back by myself\n\
         - `make it 7:30`, `cancel it`: I change what is scheduled\n\
         - `choose`: I ask you something and wait for your answer, up to a day\n\
         - `photo`: I send a picture\n\
         - `file`: I write a table and send it as a file\n\
         - `dice`: I look for the method that rolls one, then roll it\n\
         - `approval`: I ask before I change more than my own messages\n\
         - `agent tides`: I have another agent, the researcher, find that out\n\
         - `search barbers of Seville`: I search the web; here the pages are made up\n\
         - `explain compound interest`, `tell me a joke`: texts that stand ready\n\
         - `code`: a program too long for a message, so it comes as a file\n\
         - `long`: an answer too long for one message\n\
         - `slow`: an answer you can stop half way",
    pt: "Olá! Sou Figaro, aqui com um **modelo substituto offline**: sem chave, sem rede, um punhado de regras. O Telegram \
         e a busca na web também são substitutos; o bot, o que ele guarda e as ferramentas são de verdade. Experimente, em grupo \
         com meu nome na frente:\n\n\
         - `formatação`: como fica um texto formatado\n\
         - `enquete Onde vamos comer? Pizza, sopa, salada`\n\
         - `curta isto`: reajo à sua mensagem\n\
         - `compre leite`, depois `notas`: guardo listas\n\
         - `lembre-me em 1 minuto de beber água`, depois `o que está agendado?`: uma tarefa com hora\n\
         - `mude para as 7:30`, `cancele`: mudo o que está agendado\n\
         - `escolha`: uma pergunta, e a espera pela resposta\n\
         - `foto`: uma imagem\n\
         - `arquivo`: uma tabela como arquivo\n\
         - `dado`: procuro o método que joga um dado, e jogo\n\
         - `aprovação`: uma ação que precisa de aprovação\n\
         - `agente marés`: outro agente, o researcher, pesquisa isso\n\
         - `pesquise barbeiros de Sevilha`: pesquiso na web; aqui as páginas são inventadas\n\
         - `explique juros compostos`, `conte uma piada`: textos prontos\n\
         - `código`, `longo`, `devagar`: um programa, uma resposta longa, uma que dá para parar",
    es: "¡Hola! Soy Figaro, aquí con un **modelo sustituto sin conexión**: sin clave, sin red, un puñado de reglas. Telegram \
         y la búsqueda en la web también son sustitutos; el bot, lo que guarda y sus herramientas son de verdad. Prueba, en un grupo \
         con mi nombre delante:\n\n\
         - `formato`: cómo se ve un texto con formato\n\
         - `encuesta ¿Dónde comemos? Pizza, sopa, ensalada`\n\
         - `reacciona`: reacciono a tu mensaje\n\
         - `apunta leche en la lista de la compra`, después `notas`: guardo listas\n\
         - `recuérdame en 1 minuto beber agua`, después `¿qué está programado?`: una tarea con hora\n\
         - `ponlo a las 7:30`, `cancela`: cambio esa tarea\n\
         - `elige`: hago una pregunta y espero la respuesta\n\
         - `foto`: una imagen\n\
         - `archivo`: una tabla como archivo\n\
         - `dado`: busco el método que tira un dado, y lo tiro\n\
         - `aprobación`: una acción que necesita aprobación\n\
         - `agente mareas`: otro agente, el researcher, lo busca\n\
         - `busca barberos de Sevilla`: busco en la web; aquí las páginas son inventadas\n\
         - `explica el interés compuesto`, `cuéntame un chiste`: textos preparados\n\
         - `código`, `largo`, `despacio`: un programa, una respuesta larga, una que se puede parar",
};
const UNKNOWN: DemoText = DemoText {
    en: "The demo's offline model knows only a few phrases (English, Portuguese, Spanish), and a real model would answer \
         this: try `remind me in 1 minute to drink water`, or `help` for more.",
    pt: "O modelo offline da demo só conhece algumas frases (inglês, português, espanhol), e um modelo de verdade \
         responderia a isto: experimente `lembre-me em 1 minuto de beber água`, ou `ajuda` para mais.",
    es: "El modelo sin conexión de la demo solo conoce algunas frases (inglés, portugués, español), y un modelo de verdad \
         respondería a esto: prueba `recuérdame en 1 minuto beber agua`, o `ayuda` para más.",
};
const NOT_OFFERED: DemoText = DemoText {
    en: "I would need a tool for that which is not given to me here.",
    pt: "Para isso eu precisaria de uma ferramenta que não me é dada aqui.",
    es: "Para eso necesitaría una herramienta que aquí no se me da.",
};
const NO_PACK: DemoText = DemoText {
    en: "This chat has no forms for that yet: choose a pack in /records.",
    pt: "Este chat ainda não tem fichas para isso: escolha um pacote em /records.",
    es: "Este chat todavía no tiene fichas para eso: elige un paquete en /records.",
};
const NO_PAINTER: DemoText = DemoText {
    en: "I cannot draw yet: no model for pictures is set (PAINTER).",
    pt: "Ainda não sei desenhar: não há modelo de imagens configurado (PAINTER).",
    es: "Todavía no sé dibujar: no hay modelo de imágenes configurado (PAINTER).",
};
const LEARNED: DemoText = DemoText {
    en: "Good to know. `/memory` shows, in private, what is remembered about you.",
    pt: "É bom saber. `/memory` mostra, em privado, o que fica lembrado sobre você.",
    es: "Bueno saberlo. `/memory` muestra, en privado, lo que queda recordado sobre ti.",
};
const FORGOTTEN: DemoText = DemoText {
    en: "I take that out of what is remembered about you: `/memory` shows the rest. Our messages stay; `/forget` erases those.",
    pt: "Tiro isso do que fica lembrado sobre você: `/memory` mostra o resto. As mensagens ficam; `/forget` as apaga.",
    es: "Lo quito de lo que queda recordado sobre ti: `/memory` muestra el resto. Los mensajes quedan; `/forget` los borra.",
};
const WELCOME: DemoText = DemoText { en: "You are welcome.", pt: "De nada.", es: "De nada." };

/// Introduces the demo model and suggests things to try. The bot asks for a rewrite of answers that promise something for
/// later, so the words must not sound like a promise in any language.
pub(super) fn greeting(question: &DemoQuestion) -> DemoStep {
    DemoStep::say(GREETING, question)
}

pub(super) fn welcome(question: &DemoQuestion) -> DemoStep {
    DemoStep::say(WELCOME, question)
}

/// Returns `true` if a message states a fact about its writer, by the rule that `extraction` uses.
pub(super) fn is_fact(question: &DemoQuestion) -> bool {
    extraction::is_fact(&question.text) && !question.text.ends_with('?')
}

/// Answers a fact about the writer.
pub(super) fn learned(question: &DemoQuestion) -> &'static str {
    LEARNED.of(question.language)
}

/// Returns `true` if a message asks to forget a fact about its writer.
pub(super) fn is_unwanted_fact(question: &DemoQuestion) -> bool {
    extraction::forgotten(&question.text).is_some()
}

/// Answers a request to forget a fact. The bot itself removes the fact.
pub(super) fn forgotten(question: &DemoQuestion) -> DemoStep {
    DemoStep::say(FORGOTTEN, question)
}

/// Answers a message that no rule fits.
pub(super) fn unknown(question: &DemoQuestion) -> DemoStep {
    DemoStep::say(UNKNOWN, question)
}

/// Says that a tool is missing.
pub(super) fn not_offered(tool: &str, question: &DemoQuestion) -> &'static str {
    let words = match tool {
        "save_record" => NO_PACK,
        "draw" => NO_PAINTER,
        _ => NOT_OFFERED,
    };
    words.of(question.language)
}
