//! Sentences of everyday talk, which must set off nothing, and the examples of cards, `/help`, README and docs, which must.

use super::super::request::RequestContent;
use super::tests::MODEL;
use super::*;

/// Sentences that only a real model understands. Each has a word of some topic.
const TALK: [&str; 87] = [
    "how long is the notice period in the lease?",
    "How long does it take to fly to Riga?",
    "That was a long day",
    "Is the code of conduct public?",
    "What is the zip code of Riga?",
    "I forgot the code for the door",
    "Do you approve of this?",
    "He needs my approval for the trip",
    "Pin the tail on the donkey",
    "Please send the file to Bob",
    "Can you file my taxes?",
    "I lost a document at the airport",
    "delete my notes",
    "She plays the wrong notes",
    "translate hello to French",
    "help me write an email",
    "can you help me plan a trip?",
    "I need help with my homework",
    "Say hi to your mother",
    "Do it like this every time",
    "It looks like this is broken",
    "I had a bad reaction to the cake",
    "Help me choose a name for my cat",
    "I took a photo of the sea",
    "What is the file format of a picture?",
    "I would rather die",
    "On a roll of paper",
    "An agent is at the door",
    "The program starts at eight",
    "The train is slow",
    "Google is a big company",
    "Search engines are great",
    "The poll was close",
    "How do polls work?",
    "The vote is tomorrow",
    "Put yourself in my shoes",
    "add 5 and 7",
    "How do I add you to a group?",
    "Where can I buy milk?",
    "Will you remember me?",
    "The weather was awful in May and June and July",
    "No news is good news",
    "That is no joke",
    "The inflation of the tyre is low",
    "Who ate on Friday?",
    "I swim every day",
    "We meet in 20 minutes",
    "What can I cook in 20 minutes?",
    "make it quick, I have to leave at 5",
    "Better late than never, see you at 5",
    "call me a taxi",
    "Do you speak Spanish?",
    "She can speak French well",
    "I am vegan from now on",
    "I am in love",
    "ban plastic bags",
    "Mute the television",
    "He got 3 in a row",
    "What time is it going to end?",
    "What is the date of the wedding of the king?",
    "Let me know if you start early",
    "Format my hard disk",
    "What is a chemical reaction?",
    "How much is the dice game?",
    "Quanto tempo leva para chegar a Lisboa?",
    "Não tenho tempo para isso",
    "O código do prédio mudou",
    "A viagem foi longa",
    "Preciso de ajuda com o trabalho",
    "Qual é o programa de hoje?",
    "Mande o arquivo para a Ana",
    "Tirei uma foto do mar",
    "O agente saiu de férias",
    "As notas da escola são boas",
    "Você fala inglês?",
    "O documento está em cima da mesa",
    "A agenda dele está cheia",
    "Todo dia é dia de festa",
    "¿Cuánto tiempo tarda el tren?",
    "No tengo tiempo para eso",
    "El código de la puerta cambió",
    "El viaje fue largo",
    "Necesito ayuda con los deberes",
    "Manda el archivo a Ana",
    "Saqué una foto del mar",
    "¿Puedes ayudarme a elegir un regalo?",
    "Ese programa es muy despacio",
];

/// Examples that people are shown, and the tool that is called, or a part of the answer.
const SHOWN: [(&str, &str); 80] = [
    ("format", "The barber's menu"),
    ("Show me your formatting", "The barber's menu"),
    ("formatação", "The barber's menu"),
    ("poll Where shall we eat? Pizza, soup, salad", "sendPoll"),
    ("Make a poll about lunch", "sendPoll"),
    ("Make a poll: where do we eat on Friday?", "sendPoll"),
    ("Faça uma enquete: onde comemos na sexta?", "sendPoll"),
    ("encuesta ¿Dónde comemos? Pizza, sopa, ensalada", "sendPoll"),
    ("like this", "setMessageReaction"),
    ("curta isto", "setMessageReaction"),
    ("reacciona", "setMessageReaction"),
    ("buy milk", "add_note"),
    ("Buy milk, bread and tea", "add_note"),
    ("Remember to buy milk", "add_note"),
    ("remember milk and bread", "add_note"),
    ("put eggs on the shopping list", "add_note"),
    ("remember milk for the shopping list", "add_note"),
    ("Remember: milk, bread and coffee for the shopping list", "add_note"),
    ("Can you add eggs to the shopping list?", "add_note"),
    ("compre leite", "add_note"),
    ("compra leite", "add_note"),
    ("Anote: leite, pão e café na lista de compras", "add_note"),
    ("apunta leche en la lista de la compra", "add_note"),
    ("notes", "list_notes"),
    ("notas", "list_notes"),
    ("what is on the shopping list?", "list_notes"),
    ("remind me in 1 minute to drink water", "schedule_task"),
    ("Remind me in 20 minutes to take the bread out", "schedule_task"),
    ("remind me in 20 minutes", "schedule_task"),
    ("tomorrow at 9 remind us to order lunch", "schedule_task"),
    ("every weekday at 8 tell me the weather", "schedule_task"),
    ("Every weekday at 8:00, tell me the weather in Riga", "schedule_task"),
    ("De segunda a sexta às 8:00, diga-me o tempo em Lisboa", "schedule_task"),
    ("De lunes a viernes a las 8:00, dime el tiempo en Madrid", "schedule_task"),
    ("lembre-me em 1 minuto de beber água", "schedule_task"),
    ("recuérdame en 1 minuto beber agua", "schedule_task"),
    ("What is scheduled?", "list_tasks"),
    ("o que está agendado?", "list_tasks"),
    ("¿qué está programado?", "list_tasks"),
    ("make it 7:30", "list_tasks"),
    ("make the weather 7:30", "list_tasks"),
    ("mude para as 7:30", "list_tasks"),
    ("ponlo a las 7:30", "list_tasks"),
    ("cancel it", "list_tasks"),
    ("cancele", "list_tasks"),
    ("cancela", "list_tasks"),
    ("choose", "action"),
    ("escolha", "action"),
    ("escolhe", "action"),
    ("elige", "action"),
    ("a photo, please", "sendPhoto"),
    ("foto", "sendPhoto"),
    ("file", "sendDocument"),
    ("arquivo", "sendDocument"),
    ("archivo", "sendDocument"),
    ("roll the dice", "sendDice"),
    ("dado", "sendDice"),
    ("approval", "pinChatMessage"),
    ("pin this", "pinChatMessage"),
    ("aprovação", "pinChatMessage"),
    ("aprobación", "pinChatMessage"),
    ("agent tides", "ask_agent"),
    ("agente marés", "ask_agent"),
    ("search barbers of Seville", "web_search"),
    ("Search the web for barbers of Seville", "web_search"),
    ("pesquisa barbeiros de Sevilha", "web_search"),
    ("busca barberos de Sevilla", "web_search"),
    ("Explain compound interest in two sentences", "Compound interest is"),
    ("explica juros compostos", "Juros compostos são"),
    ("tell me a joke", "A customer asks"),
    ("conta uma piada", "Um cliente pergunta"),
    ("cuéntame un chiste", "Un cliente pregunta"),
    ("code", "A day at the barber's"),
    ("longo", "A long story"),
    ("What can you do for me in Telegram? Three short examples.", "Three examples"),
    ("help", "Hello! I am Figaro"),
    ("Mute @robin for 10 minutes", "moderate"),
    ("From now on, answer me in Spanish", "set_config"),
    ("call me Annie", "set_profile"),
    ("draw a barber who shaves a lion", "draw"),
];

fn step(text: &str, before: &str) -> DemoStep {
    let now = "<now>Tuesday, 24 November 2026, 14:05 (UTC)</now>";
    let content =
        format!("{now}\n{before}<message chat_id=\"-5\" from=\"Ann\" message_id=\"7\">\n{text}\n</message>");
    let input = vec![json!({"role": "user", "content": content})];
    MODEL.step(&ModelRequest::new(Value::Null, RequestContent { input, ..RequestContent::default() }))
}

#[test]
fn everyday_talk_sets_off_nothing() {
    let unknown = |step: &DemoStep| {
        let honest = ["knows only a few phrases", "só conhece algumas frases", "solo conoce algunas frases"];
        matches!(step, DemoStep::Say(words) if honest.iter().any(|part| words.contains(part)))
    };
    let wrong: Vec<(&str, DemoStep)> =
        TALK.iter().map(|text| (*text, step(text, ""))).filter(|(_, step)| !unknown(step)).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn statements_about_oneself_set_off_no_reaction() {
    for text in [
        "I like pizza",
        "I like it",
        "My agent sold the house",
        "My schedule is full",
        "I have too many tasks",
        "Gosto de pizza",
        "Gosto de escolher os filmes",
    ] {
        assert!(matches!(step(text, ""), DemoStep::Say(words) if words.contains("/memory")), "{text}");
    }
}

#[test]
fn examples_that_people_are_shown_are_carried_through() {
    let is_done = |wanted: &str, step: &DemoStep| match step {
        DemoStep::Say(words) | DemoStep::SaySlowly(words) => words.contains(wanted),
        DemoStep::Call(tool, _) => *tool == wanted,
    };
    let all = SHOWN.iter().map(|(text, wanted)| (*text, *wanted, step(text, "")));
    let wrong: Vec<_> = all.filter(|(_, wanted, step)| !is_done(wanted, step)).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_question_about_a_document_of_the_chat_is_answered_from_it() {
    let document = "<documents>\n<document name=\"lease.pdf\">\n<part at=\"page 2\">The notice period is three months.</part>\n\
                    </document>\n</documents>\n";
    for text in [
        "how long is the notice period in the lease?",
        "Explain the notice period of the lease",
        "Summarise the lease",
        "Is the code for the door in the document?",
        "Quanto tempo é o aviso?",
    ] {
        let answer = step(text, document);
        let is_quoted = matches!(&answer, DemoStep::Say(words) if words.starts_with("> The notice period is three months."));
        assert!(is_quoted, "{text}: {answer:?}");
    }
}
