//! The offline model of `figaro demo` carries through every example that the README, `/help`, the bot's texts, the page
//! and its own greeting give, in English and Portuguese, and every button. The examples are read from those places.

mod places;
mod room;

use std::collections::BTreeSet;

use serde_json::{Value, json};

use self::places::Texts;
use self::room::{Room, buttons, id, shown};
use crate::support::World;
use crate::support::demo::{Demo, recipe};

const GROUP: i64 = -100_200;
const ROBIN: i64 = 1002;
const FORUM: i64 = -100_300;
/// What an example names, and what an answer to it says. An example that names none of these has to get an answer.
const ANSWERS: [(&str, &str); 45] = [
    ("three short examples", "Three examples:"),
    ("compound interest", "Compound interest is interest"),
    ("milk, bread and coffee", "Noted for “shopping list”: milk, bread, coffee."),
    ("milk for the shopping list", "Noted for “shopping list”: milk."),
    ("buy milk, bread and tea", "Noted for “shopping list”: milk, bread, tea."),
    ("buy milk", "Noted for “shopping list”: milk."),
    ("where do we eat on friday", "Where do we eat on Friday? The pizza place, "),
    ("where shall we eat", "Where shall we eat? Pizza, soup, salad"),
    ("poll about lunch", "What shall we have for lunch? Pizza, Soup, Salad"),
    ("summarise", "In short: Compound interest is interest"),
    ("tell me the weather in riga", "⏰ the weather in Riga — every weekday 08:00"),
    ("tell me the weather", "⏰ the weather — every weekday 08:00"),
    ("in 20 minutes to take the bread out", "⏰ take the bread out — once"),
    ("in 20 minutes", "⏰ Remind Alex — once"),
    ("in 1 minute", "⏰ drink water — once"),
    ("make it 7:30", "07:30"),
    ("every day at 7:30", "⏰ the weather in Riga — every day 07:30"),
    ("also in spanish", "⏰ the weather in Riga — "),
    ("answer me in spanish", "De ahora en adelante respondo en español."),
    ("is scheduled", "This is scheduled here:"),
    ("cancel it", "Cancelled: "),
    ("format", "The barber's menu"),
    ("três exemplos curtos", "Três exemplos:"),
    ("juros compostos", "Juros compostos são juros"),
    ("leite, pão e café", "Anotado em “lista de compras”: leite, pão, café."),
    ("leite", "Anotado em “lista de compras”: leite."),
    ("onde comemos na sexta", "Onde comemos na sexta? Na pizzaria, "),
    ("onde vamos comer", "Onde vamos comer? Pizza, sopa, salada"),
    ("resuma", "Em resumo: Juros compostos são juros"),
    ("me conte o tempo em lisboa", "⏰ o tempo em Lisboa — every weekday 08:00"),
    ("em 1 minuto", "⏰ beber água — once"),
    ("diga-me o tempo em lisboa", "⏰ o tempo em Lisboa — every weekday 08:00"),
    ("todo dia às 7:30", "⏰ o tempo em Lisboa — every day 07:30"),
    ("também em espanhol", "⏰ o tempo em Lisboa — "),
    ("responda em espanhol", "De ahora en adelante respondo en español."),
    ("está agendado", "Isto está agendado aqui:"),
    ("cancele", "Cancelada: "),
    ("search barbers", "All about barbers of Seville (made up)"),
    ("pesquise barbeiros", "All about barbeiros de Sevilha (made up)"),
    ("like this", "I left a 👍"),
    ("notes", "This is what I keep:"),
    ("notas", "Isto é o que guardo:"),
    ("mude para as 7:30", "07:30"),
    ("choose", "Which service shall it be?"),
    ("escolha", "Qual serviço vai ser?"),
];

/// The words that an answer to an example has.
fn wanted(example: &str) -> &'static str {
    let lower = example.to_lowercase();
    ANSWERS.iter().find(|(names, _)| lower.contains(names)).map_or("", |(_, words)| words)
}

/// Sentences said one after another, each with part of its answer.
const SAID: [(&str, &str); 25] = [
    ("buy milk, bread and tea", "Noted for “shopping list”"),
    ("remove milk from the shopping list", "Taken off “shopping list”: milk."),
    ("take bread off the list", "Taken off “shopping list”: bread."),
    ("add butter to the list", "Noted for “shopping list”: butter."),
    ("forget the shopping list", "Taken off “shopping list”: "),
    ("what time is it in Tokyo?", " there."),
    ("remind me at 9am and 5pm to stretch", "Say one time, such as"),
    ("call me Annie", "I call you Annie"),
    ("what is my name?", "You are Annie."),
    ("what do you know about me?", "You are Annie. I know nothing else yet"),
    ("Tom got 8 in maths", "choose a pack in /records"),
    ("what time is it?", "by the clock of this chat"),
    ("remind me in 0 minutes to stretch", "That time has passed"),
    ("remind me yesterday at 5 to jump", "That time has passed"),
    ("remind me at 25:00 to sing", "25:00 is no time of day"),
    ("I am allergic to nuts.", "what is remembered about you"),
    ("I live in Porto and I get up at 7:30", "Porto is in the time zone Europe/Lisbon. Times here are too"),
    ("/memory", "[I live in Porto and I get up at 7:30]"),
    ("forget that I live in Porto and I get up at 7:30", "I take that out of what is remembered about you"),
    ("/memory", "What I remember about you\n1 of at most 50"),
    ("mute @robin for 10 minutes", "in groups only"),
    ("What is on this picture?", "no picture and no file"),
    ("/start", "Answers come from demo:on-this-machine."),
    ("/privacy", "the model's provider, demo (on-this-machine)."),
    ("draw a barber who shaves a lion", "I cannot draw yet: no model for pictures is set (PAINTER)."),
];

#[tokio::test]
async fn names_lists_records_and_times_are_dealt_with_as_the_cards_say() {
    let world = World::new().await;
    let recipe = recipe(&world).arg("--word-pause").arg("3").set("TELEGRAM_RATES", "off");
    let demo = Demo::start(world.folder.path(), &recipe).await;
    let mut room = Room::private(&demo).await;
    for (said, words) in SAID {
        room.ask(said, words).await;
    }
    let card = room.ask("buy ham and cheese", "Noted for “shopping list”: ham, cheese.").await;
    let toast = room.press(&card, "Undo").await;
    assert!(["Removed: ham, cheese", "Removed: cheese, ham"].contains(&toast.as_str()), "{toast}");
    for caption in ["what is in this picture?", ""] {
        let photo = room.send("photo.gif", "GIF89a", caption).await;
        room.hears(photo, "an offline stand-in has no eyes", caption).await;
    }
    for caption in ["what is in this file?", "summarise this", ""] {
        let note = room.send("note.txt", "Buy a wig.", caption).await;
        room.hears(note, "That stands in note.txt.", caption).await;
    }
    let card = room.ask("/records", "").await;
    room.press(&card, "Care of the elderly").await;
    room.ask("Mary takes 500 mg of metformin at 8 and 20", "Saved: Mary, metformin 500 mg, 8:00, 20:00.")
        .await;
    room.ask("Mary's blood pressure is 120/80", "Saved: Mary, 120/80.").await;
    room.ask("Ann looks after Mary", "Saved: Ann, Mary.").await;
    let card = room.ask("/records", "[Add]").await;
    room.press(&card, "Add").await;
    let asked = room.hears(id(&card), "What should I save?", "Add").await;
    room.reply("her favourite colour", Some(id(&asked)), "• Mary's blood pressure is 120/80").await;
    // Agents that are chosen for the chat do what they are there for.
    for (agent, said, words) in [
        ("researcher", "how do tides come about?", "All about how do tides come about? (made up)"),
        ("orchestrator", "compare Riga and Lisbon", "The agent researcher found this out for me"),
    ] {
        room.ask(&format!("/agents {agent}"), &format!("Answers here: {agent}")).await;
        room.ask(said, words).await;
    }
    demo.stop().await;
}

#[tokio::test]
async fn what_is_told_is_kept_beside_the_reminder_behind_it() {
    let world = World::new().await;
    let recipe = recipe(&world).arg("--word-pause").arg("3").set("TELEGRAM_RATES", "off");
    let demo = Demo::start(world.folder.path(), &recipe).await;
    let mut room = Room::private(&demo).await;
    for (said, words) in [
        ("call me Annie and wake me at 7", "⏰ wake up — once"),
        ("I live in Lisbon and wake me at 7", "Times here are in Europe/Lisbon from now on.\n\nIt is set."),
        ("what do you know about me?", "You are Annie. You told me:\n\n• I live in Lisbon"),
        ("Moro em Lisboa e lembre-me amanhã às 9 de ligar ao Bob", "⏰ ligar ao Bob — once"),
        ("remind me at 8 tomorrow and the day after to run", "Say one time, such as"),
    ] {
        room.ask(said, words).await;
    }
    demo.stop().await;
}

#[tokio::test]
async fn an_owner_moderates_a_group() {
    let world = World::new().await;
    let recipe = recipe(&world).arg("--word-pause").arg("3").set("TELEGRAM_RATES", "off");
    let demo = Demo::start(world.folder.path(), &recipe).await;
    let mut room = Room::group(&demo, GROUP, None).await;
    for (said, told) in [
        ("pin this", "The message is at the top of the chat now."),
        ("mute @robin for 10 minutes", "Done: mute @robin for 10 minutes."),
        ("unmute Robin", "Done: unmute Robin."),
    ] {
        let card = room.ask(said, "[✓ Once]").await;
        if said == "pin this" {
            assert!(shown(&card).contains("May I do this? Pin “@figaro_bot pin this”"), "{}", shown(&card));
        }
        room.press(&card, "✓ Once").await;
        room.hears(id(&card), told, said).await;
        let robin = json!({"chat_id": GROUP, "from": ROBIN, "text": "still here"});
        let refused = demo.does("send", &robin).await.err();
        let muted = Some(json!({"error": "Robin may not write here for 10 more min"}).to_string());
        assert_eq!(refused, muted.filter(|_| said.starts_with("mute")), "{said}");
    }
    let mut forum = Room::group(&demo, FORUM, None).await;
    let said = "mute @robin for 10 minutes";
    let card = forum.ask(said, "[✓ Once]").await;
    forum.press(&card, "✓ Once").await;
    forum.hears(id(&card), "Done: mute @robin for 10 minutes.", said).await;
    demo.stop().await;
}

#[tokio::test]
async fn every_example_and_button_is_carried_through() {
    let world = World::new().await;
    let recipe = recipe(&world).arg("--word-pause").arg("3").set("TELEGRAM_RATES", "off");
    let demo = Demo::start(world.folder.path(), &recipe).await;
    let hello = demo.hello().await;
    let forum = hello["chats"].as_array().unwrap().iter().find(|chat| chat["id"] == FORUM).unwrap();
    let topics = forum["topics"].as_array().unwrap().iter().map(|topic| topic["message_thread_id"].as_i64());
    let [ideas, releases] = topics.collect::<Vec<_>>().try_into().unwrap();
    let english = Texts::english();
    let private = async {
        let mut room = Room::private(&demo).await;
        said(&mut room, &english).await;
        of_the_readme(&mut room).await;
        gone_on_with(&mut room, &english).await;
        pressed(&mut room).await;
    };
    let group = async {
        let mut room = Room::group(&demo, GROUP, None).await;
        said(&mut room, &Texts::portuguese()).await;
    };
    let page = async {
        let mut room = Room::group(&demo, FORUM, None).await;
        for example in places::page() {
            room.ask(&example, wanted(&example)).await;
        }
    };
    let greeting = async {
        let mut room = Room::group(&demo, FORUM, ideas).await;
        greeted(&mut room, "help", "offline stand-in model", "an answer you can stop half way").await;
    };
    let portuguese_greeting = async {
        let mut room = Room::group(&demo, FORUM, releases).await;
        greeted(&mut room, "ajuda", "modelo substituto offline", "uma que dá para parar").await;
    };
    tokio::join!(private, group, page, greeting, portuguese_greeting);
    demo.stop().await;
}

/// The examples of the bot's texts, and what they store.
async fn said(room: &mut Room<'_>, texts: &Texts) {
    let others = ["notes_empty", "tasks_empty"].map(|key| texts.said(key));
    let examples = [vec![texts.of("example_question").to_owned()], texts.help(), others.to_vec()].concat();
    let (mut explained, mut task) = (None, None);
    for example in examples {
        let answer = room.reply(&example, explained, wanted(&example)).await;
        let words = shown(&answer);
        if words.contains("Compound interest") || words.contains("Juros compostos") {
            explained = Some(id(&answer));
        } else if words.contains("[Edit]") {
            task.get_or_insert(answer);
        } else if words.contains("respondo en español") {
            // The card speaks the new language too.
            let card = room.hears(id(&answer), "[Deshacer]", &example).await;
            room.press(&card, "Deshacer").await;
        }
    }
    let notes = if texts.is_english() { "shopping list (3)" } else { "lista de compras (3)" };
    room.ask("/notes", notes).await;
    changed(room, texts, &task.expect("an example that schedules")).await;
    placed(room, texts).await;
    configured(room, texts).await;
}

/// The examples of the card that changes a task: they change this one, and make no other.
async fn changed(room: &mut Room<'_>, texts: &Texts, task: &Value) {
    let mut last = id(task);
    // What is filled in is no example.
    for example in texts.quoted("task_edit_help").into_iter().filter(|words| !words.contains('{')) {
        // The card is drawn anew after each change, which may come after the answer to it.
        room.shows(id(task), "[Edit]").await;
        room.press(task, "Edit").await;
        room.shows(id(task), "Edit: ").await;
        let asked = room.hears(last, "What should change", "the question of the card").await;
        last = id(&asked);
        room.reply(&example, Some(last), wanted(&example)).await;
    }
    let list = if texts.is_english() { "what is scheduled?" } else { "o que está agendado?" };
    let listed = room.ask(list, wanted(list)).await;
    assert_eq!(shown(&listed).matches('•').count(), 1, "one task, changed: {}", shown(&listed));
}

/// The commands that the cards of settings suggest, and what is set then.
async fn configured(room: &mut Room<'_>, texts: &Texts) {
    for key in ["config_ask_language", "config_ask_personality"] {
        let command = texts.command(key);
        let [name, setting, value] = command.splitn(3, ' ').collect::<Vec<_>>().try_into().unwrap();
        room.ask(&command, value).await;
        room.ask(&format!("{name} {setting} clear"), "How I behave in this chat").await;
    }
}

/// Says what time it is, as the question for it suggests: two hours later than the bot believes.
async fn placed(room: &mut Room<'_>, texts: &Texts) {
    let question = room.hears(0, "Which time zone are you in?", "a task by the clock").await;
    let text = shown(&question);
    let now = text.split("where it is ").nth(1).unwrap();
    let (hour, minute) = now[..5].split_once(':').unwrap();
    let there = format!("{:02}:{minute}", (hour.parse::<u32>().unwrap() + 2) % 24);
    let [example] = texts.quoted("zone_answer").try_into().unwrap();
    room.reply(&example.replace("{time}", &there), Some(id(&question)), "Which one is it?").await;
}

/// The examples of the README, in their order: the later ones are about what the earlier ones made.
async fn of_the_readme(room: &mut Room<'_>) {
    for example in places::readme() {
        room.ask(&example, wanted(&example)).await;
    }
    room.ask("remind me tomorrow at 8 to call mum", "⏰ call mum — once").await;
    room.ask("cancel it", "Cancelled: call mum").await;
    room.ask("what is scheduled?", "• the weather — ").await;
}

/// An answer that was stopped goes on where it stopped, by the button and by its words.
async fn gone_on_with(room: &mut Room<'_>, texts: &Texts) {
    for by_button in [true, false] {
        let asked = room.say("slow", None).await;
        room.stop("taking").await;
        let stopped = room.hears(asked, texts.of("stopped"), "Stop").await;
        let rest = match by_button {
            true => {
                room.press(&stopped, texts.of("button_go_on")).await;
                room.hears(id(&stopped), "which is here.", "Go on").await
            }
            false => room.ask(texts.of("go_on_question"), "which is here.").await,
        };
        let written = stopped["text"].as_str().unwrap().replace(texts.of("stopped"), "");
        let whole = format!("{} {}", written.trim(), rest["text"].as_str().unwrap());
        assert!(whole.starts_with("I am taking my time with this one, word by word, so that"), "{whole}");
        assert_eq!(whole.matches("taking").count(), 1, "{whole}");
    }
}

/// The examples of the greeting, which says what answers. In a group it is shown while it is written: only with its last
/// words all of them are there.
async fn greeted(room: &mut Room<'_>, hello: &str, stand_in: &str, last_words: &str) {
    let greeting = room.ask(hello, last_words).await;
    assert!(shown(&greeting).contains(stand_in), "{}", shown(&greeting));
    let mut chosen = 0;
    for example in places::code(&greeting) {
        let answer = room.ask(&example, wanted(&example)).await;
        if let Some((label, _)) = buttons(&answer).first().filter(|(_, data)| data.starts_with("choose:")) {
            room.press(&answer, label).await;
            room.hears(id(&answer), &format!("{label}."), "a choice").await;
            chosen += 1;
        }
    }
    assert_eq!(chosen, 1, "one example has the bot ask back, which a button answers");
}

/// Presses every button of every card that there is a command for.
async fn pressed(room: &mut Room<'_>) {
    for command in
        ["/start", "/help", "/config", "/notes", "/tasks", "/timezone", "/model", "/usage", "/status"]
    {
        let has_card = ["/start", "/config", "/tasks", "/timezone"].contains(&command);
        let (mut seen, mut before) = (BTreeSet::new(), None);
        // A card may end where nothing leads on: others of its buttons are on a fresh one.
        while before != Some(seen.len()) {
            before = Some(seen.len());
            // One of the buttons may have set a language, whose own examples the demo may not know.
            room.ask("/config language English", "English").await;
            let mut card = room.ask(command, "").await;
            // A notice of a task may come between.
            while has_card && buttons(&card).is_empty() {
                card = room.hears(id(&card), "", command).await;
            }
            while let Some((view, data)) = next(&card, &seen) {
                assert!(seen.len() < 200, "{command} has no end: {}", shown(&card));
                seen.insert((view, data.clone()));
                // A card that changed meanwhile may have no such button any more.
                room.try_press(id(&card), &data).await.ok();
                card = room.changed(id(&card)).await;
            }
        }
        if has_card {
            assert!(seen.len() > 3, "{command}: {seen:?}");
        }
    }
}

/// A button of a card that was not pressed in this view of it. Views differ by their buttons, apart from times in them.
fn next(card: &Value, seen: &BTreeSet<(String, String)>) -> Option<(String, String)> {
    let all = buttons(card);
    let labels = all.iter().flat_map(|(label, _)| label.chars());
    let view: String = labels.filter(|c| !c.is_ascii_digit()).collect();
    // Another agent has other tools, and may answer in data: it would not carry out what is said later.
    let chooses =
        |data: &str| ["agents:set:", "agents:use:", ":agent:"].iter().any(|verb| data.contains(verb));
    // Said before. Its answer may come after the card of the next command, whose examples it would change.
    let sets_language = |label: &str| label.contains("in Spanish");
    let all = all.into_iter().filter(|(label, data)| !chooses(data) && !sets_language(label));
    all.map(|(_, data)| (view.clone(), data)).find(|one| !seen.contains(one))
}
