//! Demonstrations of tools: react, send a picture or a file, roll a dice, ask back.

use serde_json::{Value, json};

use super::language::DemoText;
use super::question::DemoQuestion;
use super::step::{DemoStep, ToolResults, last};

/// Picture of red, white and blue stripes, a PNG in base64.
const POLE: &str = "iVBORw0KGgoAAAANSUhEUgAAAGAAAABgAgMAAACf9p+rAAAACVBMVEX////IHi0ePKC9/z/pAAAAm0lEQVR42u3UsQnDUBCD4d8BN+69hKfwCC\
    mifTJKyqApc4Y0Dqc+mNc8BIL3VScASfXa/smT9ICb/T5nZukOi/06Z1Zph81+nvPFCQIxEYiZQKwEQgSiip6ooieq6AkRCBEIEYjj15Y4cktU\
    7onKPbFfniAQNwKxEIiNQJhAVNETVfREFeFGCIQJhAnE99rGXo29Gns19ur/9+oDGv4937nGYnkAAAAASUVORK5CYII=";

const REACTED: DemoText = DemoText {
    en: "I left a 👍 on your message.",
    pt: "Deixei um 👍 na sua mensagem.",
    es: "Dejé un 👍 en tu mensaje.",
};
const PICTURE: DemoText =
    DemoText { en: "There is the picture.", pt: "Aí está a foto.", es: "Ahí está la foto." };
const FILE: DemoText = DemoText {
    en: "There is the file, written just now.",
    pt: "Aí está o arquivo, escrito agora mesmo.",
    es: "Ahí está el archivo, escrito ahora mismo.",
};
const POLE_CAPTION: DemoText =
    DemoText { en: "A barber's pole", pt: "Um poste de barbearia", es: "Un poste de barbería" };
const PRICES_CAPTION: DemoText =
    DemoText { en: "The barber's prices", pt: "Os preços da barbearia", es: "Los precios de la barbería" };
const CHOSEN: DemoText = DemoText {
    en: "You chose **{}**. I waited for that, and would have waited over a restart too.",
    pt: "Você escolheu **{}**. Esperei por isso, e teria esperado também depois de um reinício.",
    es: "Elegiste **{}**. Esperé por eso, y habría esperado también tras un reinicio.",
};
const APPROVED: DemoText = DemoText {
    en: "The message is at the top of the chat now. That changes more than my own messages, so I ask first.",
    pt: "A mensagem está agora no topo do chat. Isso muda mais do que as minhas próprias mensagens, por isso pergunto antes.",
    es: "El mensaje está ahora arriba del chat. Eso cambia más que mis propios mensajes, por eso pregunto antes.",
};
const SERVICE: DemoText =
    DemoText {
        en: "Which service shall it be?", pt: "Qual serviço vai ser?", es: "¿Qué servicio va a ser?"
    };
const SERVICES: DemoText =
    DemoText { en: "Cut|Shave|Wig", pt: "Corte|Barba|Peruca", es: "Corte|Afeitado|Peluca" };
const ROLLED: DemoText = DemoText {
    en: "It shows {}. I looked that method up first, and may use it until `/new`.",
    pt: "Deu {}. Procurei primeiro como se joga um dado, e posso jogar de novo até `/new`.",
    es: "Salió {}. Busqué primero cómo se tira un dado, y puedo volver a tirarlo hasta `/new`.",
};

const TIDES: DemoText = DemoText { en: "tides", pt: "marés", es: "mareas" };
const FOUND_OUT: DemoText = DemoText {
    en: "The agent researcher found this out for me; `/usage` shows what it took:\n\n{}",
    pt: "O agente researcher descobriu isto para mim; `/usage` mostra o que gastou:\n\n{}",
    es: "El agente researcher averiguó esto para mí; `/usage` muestra lo que gastó:\n\n{}",
};

/// Words that address another agent. The text after them is the question for it.
pub(super) const AGENT: [&str; 7] =
    ["agent", "researcher", "specialist", "agente", "pesquisador", "investigador", "especialista"];

/// Words that order a picture. The text after them describes it.
pub(super) const DRAW: [&str; 6] = ["draw", "paint", "desenhe", "desenha", "dibuja", "dibújame"];

pub(super) fn react(question: &DemoQuestion, results: &ToolResults<'_>) -> DemoStep {
    if last(results, "setMessageReaction").is_some() {
        return DemoStep::say(REACTED, question);
    }
    let mut arguments = question.message();
    arguments["reaction"] = json!([{"type": "emoji", "emoji": "👍"}]);
    DemoStep::call("setMessageReaction", arguments)
}

pub(super) fn photo(question: &DemoQuestion, results: &ToolResults<'_>) -> DemoStep {
    if last(results, "sendPhoto").is_some() {
        return DemoStep::say(PICTURE, question);
    }
    let mut arguments = question.place();
    arguments["photo"] = json!({"name": "barber-pole.png", "base64": POLE});
    arguments["caption"] = POLE_CAPTION.of(question.language).into();
    DemoStep::call("sendPhoto", arguments)
}

/// Writes a table and sends it as a file.
pub(super) fn file(question: &DemoQuestion, results: &ToolResults<'_>) -> DemoStep {
    if last(results, "sendDocument").is_some() {
        return DemoStep::say(FILE, question);
    }
    let mut arguments = question.place();
    let table = "service,minutes,euro\ncut,30,20\nshave,15,12\nwig,45,35\n";
    arguments["document"] = json!({"name": "prices.csv", "text": table});
    arguments["caption"] = PRICES_CAPTION.of(question.language).into();
    DemoStep::call("sendDocument", arguments)
}

/// Orders a picture. Without `PAINTER` the tool is not offered.
pub(super) fn draw(question: &DemoQuestion, results: &ToolResults<'_>) -> DemoStep {
    if last(results, "draw").is_some() {
        return DemoStep::say(PICTURE, question);
    }
    let wanted = question.after(&DRAW).filter(|wanted| !wanted.is_empty());
    DemoStep::call("draw", json!({"prompt": wanted.unwrap_or_else(|| question.text.clone())}))
}

/// Rolls a dice, with a method that `find_tools` must find first.
pub(super) fn dice(question: &DemoQuestion, results: &ToolResults<'_>) -> DemoStep {
    if let Some(result) = last(results, "sendDice") {
        let value = result.pointer("/result/dice/value").and_then(Value::as_i64).unwrap_or_default();
        return DemoStep::Say(ROLLED.with(question.language, &value.to_string()));
    }
    DemoStep::call("sendDice", json!({"emoji": "🎲"}))
}

/// Calls a method that needs approval: pins the message, or the one it replies to.
pub(super) fn approve(question: &DemoQuestion, results: &ToolResults<'_>) -> DemoStep {
    if last(results, "pinChatMessage").is_some() {
        return DemoStep::say(APPROVED, question);
    }
    let mut arguments = question.message();
    if let Some(replied) = &question.replied {
        arguments["message_id"] = replied.clone();
    }
    DemoStep::call("pinChatMessage", arguments)
}

/// Asks the researcher agent about a topic and reports its answer.
pub(super) fn ask_agent(question: &DemoQuestion, results: &ToolResults<'_>) -> DemoStep {
    let topic = question.after(&AGENT).filter(|topic| !topic.is_empty());
    let topic = topic.unwrap_or_else(|| TIDES.of(question.language).to_owned());
    research(&topic, question, results)
}

/// Passes the whole question on to the researcher agent.
pub(super) fn pass_on(question: &DemoQuestion, results: &ToolResults<'_>) -> DemoStep {
    research(&question.text, question, results)
}

fn research(topic: &str, question: &DemoQuestion, results: &ToolResults<'_>) -> DemoStep {
    if let Some(result) = last(results, "ask_agent") {
        return DemoStep::Say(FOUND_OUT.with(question.language, result["text"].as_str().unwrap_or("?")));
    }
    DemoStep::call("ask_agent", json!({"agent_name": "researcher", "input_text": format!("search {topic}")}))
}

/// Asks the person a question and waits for the answer.
pub(super) fn choose(question: &DemoQuestion, results: &ToolResults<'_>) -> DemoStep {
    let language = question.language;
    if let Some(result) = last(results, "action") {
        return DemoStep::Say(CHOSEN.with(language, result["answer"].as_str().unwrap_or("?")));
    }
    let options: Vec<&str> = SERVICES.of(language).split('|').collect();
    let payload = json!({"question": SERVICE.of(language), "options": options});
    DemoStep::call("action", json!({"type": "elicit", "payload": payload}))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_called_and_then_told() {
        let question = DemoQuestion::of("like this");
        let DemoStep::Call(tool, calls) = react(&question, &[]) else { panic!("it calls no tool") };
        assert_eq!((tool, &calls[0]["reaction"][0]["emoji"]), ("setMessageReaction", &json!("👍")));
        let told = react(&question, &[("setMessageReaction", json!({"success": true}))]);
        assert_eq!(told, DemoStep::Say(REACTED.en.to_owned()));
    }

    #[test]
    fn another_agent_is_asked_about_what_follows_its_name() {
        let asked = |text: &str| match ask_agent(&DemoQuestion::of(text), &[]) {
            DemoStep::Call("ask_agent", calls) => calls[0]["input_text"].as_str().unwrap().to_owned(),
            other => panic!("{other:?}"),
        };
        assert_eq!(asked("agent the tides of Riga"), "search the tides of Riga");
        assert_eq!(asked("show me an agent"), "search tides");
        let found = ("ask_agent", json!({"success": true, "text": "High water at noon."}));
        let told = ask_agent(&DemoQuestion::of("agent tides"), &[found]);
        assert!(matches!(told, DemoStep::Say(words) if words.ends_with("\n\nHigh water at noon.")));
    }

    #[test]
    fn a_dice_is_rolled_and_told() {
        let question = DemoQuestion::of("dice");
        assert!(matches!(dice(&question, &[]), DemoStep::Call("sendDice", _)));
        let rolled = ("sendDice", json!({"success": true, "result": {"dice": {"value": 4}}}));
        assert!(
            matches!(dice(&question, &[rolled]), DemoStep::Say(words) if words.starts_with("It shows 4."))
        );
    }
}
