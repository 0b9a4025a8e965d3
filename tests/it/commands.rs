//! Commands and buttons: they act at once, are forgiving, speak the person's language, and every press is answered.

use std::time::Duration;

use figaro_offline::model::{Gate, ModelReply, ReplyPart};
use figaro_offline::telegram::{MemberStatus, TelegramView};
use futures::future::join_all;
use serde_json::{Value, json};

use crate::support::scene::{TEAM, labels, number, text};
use crate::support::wait::eventually;
use crate::support::{ANN, BOB, World};

const RUI: i64 = 13;

#[tokio::test]
async fn start_and_help_suit_the_person() {
    let world = World::new().await;
    world.person(RUI, "Rui", "pt-br");
    let _bot = world.start_open().await;
    let owner = world.told(ANN, ANN, "/start").await;
    assert_eq!(labels(&owner), ["Try an example", "Who may talk to me", "Settings"]);
    assert!(text(&owner).starts_with("I am Figaro") && text(&owner).contains("openai:offline"), "{owner}");
    let member = world.told(BOB, BOB, "/start").await;
    assert_eq!(labels(&member), ["Try an example"]);
    assert!(!text(&member).contains("openai"), "{member}");

    let help = world.told(ANN, ANN, "/HELP").await;
    assert!(text(&help).contains("/allow") && text(&help).contains("/notes"), "{help}");
    let help = world.told(BOB, BOB, "  /help").await;
    assert!(text(&help).contains("/notes") && !text(&help).contains("/allow"), "{help}");

    let portuguese = world.told(RUI, RUI, "/start").await;
    assert_eq!(labels(&portuguese), ["Ver um exemplo"]);
    let unknown = world.told(RUI, RUI, "/abracadabra").await;
    assert_eq!(text(&unknown), "Não conheço esse comando. /help lista os que conheço.");
    assert_eq!(
        text(&world.told(ANN, ANN, "/abracadabra").await),
        "I do not know that command. /help lists those I know."
    );
    for (typed, meant) in [("/hlep", "help"), ("/note", "notes"), ("/Persna", "persona")] {
        let told = world.told(BOB, BOB, typed).await;
        assert!(text(&told).ends_with(&format!("Did you mean /{meant}?")), "{typed}: {told}");
    }
    let kept = world.told(BOB, BOB, "/aprove").await;
    assert_eq!(text(&kept), "I do not know that command. /help lists those I know.", "owners give it");
    assert!(world.asked().is_empty(), "no command goes to the model");
}

#[tokio::test]
async fn commands_are_registered_in_each_language() {
    let world = World::new().await;
    let _bot = world.start().await;
    let lists = world
        .see("both lists of commands", |view| {
            let calls = view.calls_of("setMyCommands");
            let list = |language: &Value| {
                let call = calls
                    .iter()
                    .find(|c| c.ok && c.args.get("language_code").unwrap_or(&Value::Null) == language)?;
                Some(call.args["commands"].clone())
            };
            Some((list(&Value::Null)?, list(&json!("pt"))?))
        })
        .await;
    let names = |list: &Value| -> Vec<String> {
        list.as_array().unwrap().iter().map(|c| c["command"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(
        names(&lists.0),
        [
            "start", "help", "new", "sessions", "retry", "stop", "summary", "why", "notes", "docs",
            "records", "pin", "pins", "memory", "forget", "export", "privacy", "tasks", "model", "persona",
            "agents", "config", "business", "timezone", "usage", "budget", "status"
        ]
    );
    assert_eq!(names(&lists.0), names(&lists.1));
    let of_notes = |list: &Value| {
        let found = list.as_array().unwrap().iter().find(|c| c["command"] == "notes");
        found.unwrap()["description"].clone()
    };
    assert_eq!((of_notes(&lists.0), of_notes(&lists.1)), (json!("your lists"), json!("suas listas")));
}

/// A command with words of its card, and buttons with words of the cards that they open.
type Way<'a> = (&'a str, &'a str, &'a [(&'a str, &'a str)]);

/// Goes through buttons, each with words of the card that it opens, and back again to the card of the command, which alone has no Back.
async fn leads_back_the_way_it_came(world: &World) {
    let settings = ("Settings", "How I behave in this chat");
    let (model, writing) = (("Model", "Prices are for"), ("How it writes", "You can set"));
    let ways: [Way<'_>; 10] = [
        ("/start", "I am Figaro", &[settings, model, writing]),
        ("/start", "I am Figaro", &[settings, ("Language", "Which language")]),
        ("/start", "I am Figaro", &[("Who may talk", "People: nobody"), ("People", "Nobody but the owners")]),
        ("/allow", "People: nobody", &[("People", "Nobody but the owners")]),
        ("/deny", "Who may not talk to me", &[("People", "Nobody but the owners")]),
        ("/config", settings.1, &[model, writing]),
        ("/config", settings.1, &[("Persona", "type /persona")]),
        ("/config", settings.1, &[("Packs", "Records: packs of forms")]),
        ("/config", settings.1, &[("Time zone", "Nobody has said")]),
        ("/model", model.1, &[writing]),
    ];
    for (command, first, way) in ways {
        let card = world.told(ANN, ANN, command).await;
        let id = number(&card["message_id"]);
        assert!(!labels(&card).contains(&"‹ Back".to_owned()), "{command}: {card}");
        for (button, opened) in way {
            world.press(ANN, &card, button).await;
            let opened = world.shows(ANN, id, opened).await;
            assert!(labels(&opened).contains(&"‹ Back".to_owned()), "{command}, {button}: {opened}");
        }
        let before = way.iter().rev().skip(1).map(|(_, opened)| *opened).chain([first]);
        for opened in before {
            world.press(ANN, &card, "‹ Back").await;
            let again = world.shows(ANN, id, opened).await;
            assert_eq!(labels(&again).contains(&"‹ Back".to_owned()), opened != first, "{command}: {again}");
        }
    }
}

#[tokio::test]
async fn the_buttons_of_start_act() {
    let world = World::new().await;
    world.otherwise(ModelReply::text("Three examples."));
    let _bot = world.start().await;
    let card = world.told(ANN, ANN, "/start").await;
    let id = number(&card["message_id"]);
    world.press(ANN, &card, "Who may talk").await;
    let access = world.shows(ANN, id, "Who may talk to me").await;
    assert!(
        text(&access).contains("Owners: Ann (@ann)") && text(&access).contains("People: nobody"),
        "{access}"
    );
    world.press(ANN, &card, "‹ Back").await;
    world.shows(ANN, id, "I am Figaro").await;
    let toast = world.press(ANN, &card, "Try an example").await;
    assert!(toast.starts_with("What can you do for me"), "{toast}");
    assert_eq!(text(&world.answers(ANN, 2).await[1]), "Three examples.");
    assert!(world.asks(1).await.user_text().contains("What can you do for me in Telegram?"));
    leads_back_the_way_it_came(&world).await;
}

#[tokio::test]
async fn new_begins_a_conversation_without_the_old_one() {
    let world = World::new().await;
    world.otherwise(ModelReply::text("Noted."));
    let _bot = world.start().await;
    world.ask("my cat is called Tom").await;
    let card = world.told(ANN, ANN, "/new").await;
    assert!(text(&card).starts_with("New conversation."), "{card}");
    world.ask("what is my cat called?").await;
    let request = world.asks(2).await;
    assert_eq!(request.input().len(), 1);
    assert!(!request.body.to_string().contains("Tom"));
}

#[tokio::test]
async fn notes_are_shown_done_removed_and_put_back() {
    let world = World::new().await;
    let _bot = world.start().await;
    let empty = world.told(ANN, ANN, "/notes").await;
    assert!(text(&empty).starts_with("No notes yet.") && labels(&empty).is_empty(), "{empty}");

    let add = |content: &str| ReplyPart::Call {
        name: "add_note".into(),
        arguments: json!({"key": "Shopping", "content": content}),
    };
    world.script.push(ModelReply::turn(vec![add("milk"), add("bread")]));
    world.script.push(ModelReply::text("Both are on the list."));
    world.ask("milk and bread").await;
    let (card, stale) = (world.told(ANN, ANN, "/notes").await, world.told(ANN, ANN, "/notes").await);
    let id = number(&card["message_id"]);
    assert_eq!(labels(&card), ["shopping (2)"]);
    for card in [&card, &stale] {
        world.press(ANN, card, "shopping").await;
        let open = world.shows(ANN, number(&card["message_id"]), "• milk").await;
        assert_eq!(labels(&open), ["✓ milk", "✕", "✓ bread", "✕", "‹ Back"]);
    }
    assert_eq!(world.press(ANN, &card, "✓ milk").await, "Done: milk");
    let undo = |card: &Value| labels(card).contains(&"Undo".to_owned());
    world
        .see("a card without milk", |view| {
            let card = view.messages(ANN).into_iter().find(|m| m["message_id"] == id)?.clone();
            (!text(&card).contains("milk") && undo(&card)).then_some(())
        })
        .await;
    assert_eq!(world.press(ANN, &stale, "✓ milk").await, "This is no longer up to date.");
    assert_eq!(world.press(ANN, &card, "Undo").await, "Back on the list: milk");
    world.shows(ANN, id, "• milk").await;
    assert_eq!(world.press(ANN, &card, "✕").await, "Removed: milk");
}

#[tokio::test]
async fn an_answer_about_a_list_has_a_button_to_remove_items() {
    let world = World::new().await;
    let bot = world.start().await;
    for (said, call) in [
        ("note milk", ModelReply::call("add_note", json!({"key": "Shopping", "content": "milk"}))),
        ("what do I need?", ModelReply::call("list_notes", json!({}))),
    ] {
        world.script.push(call);
        world.script.push(ModelReply::text(&format!("Answer to {said}")));
        let answer = world.ask(said).await;
        let adds = said == "note milk";
        let both = ["Undo", "Show the list"];
        assert_eq!(labels(&answer), if adds { &both[..] } else { &both[1..] }, "{said}");
        let before = world.bot_texts(ANN).len();
        world.press(ANN, &answer, "Show the list").await;
        let list = world.answers(ANN, before + 1).await.pop().unwrap();
        assert_eq!(
            (text(&list), &labels(&list)[..2]),
            ("shopping\n• milk", &["✓ milk".into(), "✕".into()][..])
        );
        let id = number(&list["message_id"]);
        assert_eq!(world.press(ANN, &list, "✕").await, "Removed: milk");
        world.shows(ANN, id, "No notes yet").await;
        assert_eq!(world.press(ANN, &list, "Undo").await, "Back on the list: milk");
        world.shows(ANN, id, "• milk").await;
    }
    // A single item is taken back where it is told of.
    world.script.push(ModelReply::call("add_note", json!({"key": "Shopping", "content": "bread"})));
    world.script.push(ModelReply::text("Noted: bread."));
    let answer = world.ask("note bread").await;
    assert_eq!(world.press(ANN, &answer, "Undo").await, "Removed: bread");
    let left = |view: &TelegramView<'_>| {
        let now = view.messages(ANN).into_iter().find(|one| one["message_id"] == answer["message_id"])?;
        (labels(now) == ["Show the list"] && text(now) == "Noted: bread.").then_some(())
    };
    world.see("the answer without the button", left).await;
    assert_eq!(text(&world.told(ANN, ANN, "/notes shopping").await), "shopping\n• milk");
    bot.ends_well().await;
}

/// So many characters are in a line of a phone.
const PHONE_COLUMNS: usize = 40;

#[tokio::test]
async fn help_fits_two_screens_of_a_phone() {
    let world = World::new().await;
    let _bot = world.start().await;
    let help = world.told(ANN, ANN, "/help").await;
    let lines = text(&help).lines().map(|line| line.chars().count().div_ceil(PHONE_COLUMNS).max(1));
    let lines: usize = lines.sum();
    assert!(lines + 2 * labels(&help).len() <= 60, "{lines} lines: {help}");
}

#[tokio::test]
async fn long_lists_have_pages() {
    let world = World::new().await;
    let add = |n: usize| ReplyPart::Call {
        name: "add_note".into(),
        arguments: json!({"key": format!("list {n:02}"), "content": "one thing"}),
    };
    world.script.push(ModelReply::turn((1..=11).map(add).collect()));
    world.script.push(ModelReply::text("Eleven lists."));
    let _bot = world.start().await;
    world.ask("eleven lists, please").await;
    let card = world.told(ANN, ANN, "/notes").await;
    let first = labels(&card);
    assert_eq!(
        (first.len(), first[0].as_str(), first[8].as_str()),
        (9, "list 01 (1)", "Next ▶"),
        "{first:?}"
    );
    world.press(ANN, &card, "Next ▶").await;
    let id = card["message_id"].clone();
    let second = world
        .see("the second page", |view| {
            let card = view.messages(ANN).into_iter().find(|m| m["message_id"] == id)?;
            labels(card).contains(&"◀ Previous".to_owned()).then(|| labels(card))
        })
        .await;
    assert_eq!(second, ["list 09 (1)", "list 10 (1)", "list 11 (1)", "◀ Previous"]);
}

#[tokio::test]
async fn settings_are_changed_and_cleared_by_words() {
    let world = World::new().await;
    let cases = [
        ("language", "Latvian", "Language: Latvian", "Language: as you write"),
        ("language", "lv-LV", "Language: lv-LV", "Language: as you write"),
        ("Tone", "like a sports reporter", "Tone: like a sports reporter", "Tone: none"),
        ("instructions", "we live in Riga", "Instructions: we live in Riga", "Instructions: none"),
    ];
    for at in 0..cases.len() {
        world.person(100 + i64::try_from(at).unwrap(), "Someone", "en");
    }
    let _bot = world.start_open().await;
    let trying = (100..).zip(cases).map(async |(user, (name, value, set, cleared))| {
        let card = world.told(user, user, &format!("/config {name} {value}")).await;
        assert!(text(&card).contains(set), "{card}");
        for word in ["CLEAR", "none", "nenhum"] {
            world.told(user, user, &format!("/config {name} {value}")).await;
            let card = world.told(user, user, &format!("/config {name} {word}")).await;
            assert!(text(&card).contains(cleared), "{word}: {card}");
        }
    });
    join_all(trying).await;
    for language in ["asdf", "like a pirate"] {
        let complaint = world.told(ANN, ANN, &format!("/config language {language}")).await;
        assert!(
            text(&complaint).starts_with(&format!("I do not know the language “{language}”")),
            "{complaint}"
        );
    }

    let complaint = world.told(ANN, ANN, &format!("/config instructions {}", "x".repeat(2001))).await;
    assert_eq!(text(&complaint), "That is too long: 2000 characters at most.");
    let usage = world.told(ANN, ANN, "/config colour blue").await;
    let names = "The names: language, tone, instructions, agent, format, quiet, cost, persona, timezone. ";
    assert!(
        text(&usage).starts_with("I have no setting “colour”.\n") && text(&usage).contains(names),
        "{usage}"
    );
    let usage = world.told(ANN, ANN, "/config langage Latvian").await;
    let meant = "I have no setting “langage”. Did you mean language?\n";
    assert!(text(&usage).starts_with(meant) && text(&usage).contains(names), "{usage}");
    let question = world.told(BOB, BOB, "/config language").await;
    assert!(text(&question).starts_with("Language\nWhich language"), "{question}");
    for name in ["answers", "Answer"] {
        let usage = world.told(BOB, BOB, &format!("/config {name} always")).await;
        let wanted = "answers is a setting for groups: send it in the group.";
        assert_eq!(text(&usage), wanted, "in a private chat every message is answered");
    }
}

#[tokio::test]
async fn settings_are_changed_and_cleared_by_buttons() {
    let world = World::new().await;
    let cases = [
        ("Language", "English", "Language: English", "Language: as you write"),
        ("Tone", "as short as possible", "Tone: as short as possible", "Tone: none"),
        (
            "Answers when",
            "only to commands",
            "Answers when: only to commands",
            "Answers when: when addressed",
        ),
    ];
    let bot = world.start_open().await;
    for n in 0..3 {
        world.telegram.add_supergroup(-100 - n, "Team");
        world.join(-100 - n);
    }
    let trying = (0_i64..).zip(cases).map(async |(n, (label, choice, set, cleared))| {
        let chat = -100 - n;
        let card = world.told(ANN, chat, "/config").await;
        let id = number(&card["message_id"]);
        world.press(ANN, &card, label).await;
        world.shows(chat, id, &format!("{label}\n")).await;
        assert_eq!(world.press(ANN, &card, choice).await, "Saved.");
        world.shows(chat, id, set).await;
        world.press(ANN, &card, label).await;
        world.shows(chat, id, &format!("{label}\n")).await;
        assert_eq!(world.press(ANN, &card, "Clear").await, "Saved.");
        world.shows(chat, id, cleared).await;
    });
    join_all(trying).await;
    let card = world.told(ANN, ANN, "/config").await;
    assert_eq!(
        labels(&card),
        [
            "Language",
            "Tone",
            "Instructions",
            "Agent",
            "Form of answers",
            "Quiet hours",
            "Cost under answers",
            "Persona",
            "Packs",
            "Time zone",
            "Model"
        ]
    );
    world.press(ANN, &card, "Instructions").await;
    let asked = world.shows(ANN, number(&card["message_id"]), "Now: none").await;
    assert_eq!(labels(&asked), ["Edit", "Clear", "‹ Back"]);
    assert_eq!(world.refused(), Vec::<String>::new(), "{}", bot.log());
}

#[tokio::test]
async fn in_a_group_only_admins_change_settings() {
    let world = World::new().await;
    world.team();
    let _bot = world.start_open().await;
    let denied = world.told(BOB, TEAM, "/config tone rude").await;
    assert_eq!(text(&denied), "Only an admin of this chat can do that.");
    let card = world.told(BOB, TEAM, "/config").await;
    assert!(text(&card).contains("Tone: none") && labels(&card).is_empty(), "{card}");
    let card = world.told(ANN, TEAM, "/config").await;
    world.press(ANN, &card, "Tone").await;
    world.shows(TEAM, number(&card["message_id"]), "How shall I sound?").await;
    assert_eq!(world.press(BOB, &card, "playful").await, "Only an admin of this chat can do that.");
    world.telegram.set_member(TEAM, BOB, MemberStatus::Admin).unwrap();
    assert_eq!(world.press(BOB, &card, "playful").await, "Saved.");
    world.shows(TEAM, number(&card["message_id"]), "Tone: playful").await;
}

#[tokio::test]
async fn status_is_two_words_for_members_and_everything_for_owners() {
    let world = World::new().await;
    world.when("fail", ModelReply::status(401, "no"));
    let bot = world.start_open().await;
    let member = world.told(BOB, BOB, "/status").await;
    assert!(
        text(&member).starts_with("I have been up since ")
            && text(&member).ends_with(". My model is openai:offline."),
        "no call of it is known: {member}"
    );
    assert!(labels(&member).is_empty());

    let card = world.told(ANN, ANN, "/status").await;
    let line = |card: &Value, name: &str| {
        let found =
            text(card).lines().find_map(|line| line.strip_prefix(&format!("{name}: ")).map(str::to_owned));
        found.unwrap_or_else(|| panic!("no {name} in {card}"))
    };
    assert!(text(&card).starts_with(&format!("Figaro {}, up 0 min", env!("CARGO_PKG_VERSION"))), "{card}");
    assert_eq!(line(&card, "Model"), "openai:offline");
    let memory = line(&card, "Memory in use");
    let size: u64 = memory.strip_suffix(" MB").unwrap().parse().unwrap();
    assert!((1..800).contains(&size), "{memory}");
    assert!(line(&card, "On disk").ends_with(" MB"), "{card}");
    // Zeros and faults that are not there get no line.
    for words in ["Waiting", "waiting", "error", "restarted", "cannot be read"] {
        assert!(!text(&card).contains(words), "{words} in {card}");
    }

    world.ask("fail").await;
    let member = world.told(BOB, BOB, "/status").await;
    let failed = text(&member).split_once("My model openai:offline could not be used (today ").unwrap().1;
    assert!(failed.ends_with("); the owner has to look at it."), "{member}");
    world.when("work", ModelReply::text("I do."));
    world.ask("work").await;
    let member = world.told(BOB, BOB, "/status").await;
    assert!(text(&member).ends_with(" openai:offline answers."), "{member}");
    let child = bot.children().first().copied().unwrap().to_string();
    assert!(std::process::Command::new("kill").args(["-9", &child]).status().unwrap().success());
    let now =
        || world.telegram.messages(ANN).into_iter().find(|m| m["message_id"] == card["message_id"]).unwrap();
    let restarted = async || {
        world.press(ANN, &card, "Refresh").await;
        Some(now()).filter(|now| text(now).contains("Telegram tools restarted: 1"))
    };
    let now = eventually(|| now().to_string(), restarted).await;
    let error = line(&now, "Last error");
    assert!(error.starts_with("the model’s provider refuses the key, ") && !error.contains("202"), "{now}");
}

/// A reply of so many words, one every 100 ms.
fn slowly(words: usize) -> ModelReply {
    let all: Vec<String> = (1..=words).map(|n| format!("word{n}")).collect();
    ModelReply::text(&all.join(" ")).paced(0, Duration::from_millis(100))
}

#[tokio::test]
async fn stop_ends_a_running_answer_at_once_and_keeps_what_was_written() {
    let world = World::new().await;
    world.when("count", slowly(300));
    world.when("next", ModelReply::text("Here I am."));
    let _bot = world.start().await;
    assert_eq!(text(&world.told(ANN, ANN, "/stop").await), "Nothing is running.");
    world.say(ANN, ANN, "count");
    world
        .see("some words", |view| view.drafts(ANN).iter().any(|d| d.text.contains("word3")).then_some(()))
        .await;
    world.say(ANN, ANN, "/STOP");
    let partial = world
        .see("the stopped answer", |view| {
            let found = view.bot_messages(ANN).into_iter().find(|m| text(m).ends_with("— stopped"));
            found.cloned()
        })
        .await;
    assert!(!text(&partial).contains("word300"), "it was not ended: {partial}");
    assert!(text(&partial).starts_with("word1 word2 word3"), "{partial}");
    assert_eq!(text(&world.ask("next").await), "Here I am.");
    let texts = world.bot_texts(ANN);
    assert!(!texts.contains(&"Stopped.".to_owned()), "it is said once: {texts:?}");
    assert_eq!(world.asks(2).await.input().len(), 3, "what was written stays in the conversation");
}

#[tokio::test]
async fn the_stop_button_of_a_draft_does_the_same() {
    let world = World::new().await;
    world.when("count", slowly(300));
    let _bot = world.start().await;
    world.say(ANN, ANN, "count");
    let draft = world
        .see("some words", |view| {
            let draft = view.drafts(ANN).into_iter().find(|d| d.text.contains("word3"))?;
            assert!(draft.can_stop);
            Some(draft.id)
        })
        .await;
    world.telegram.stop_draft(ANN, draft).unwrap();
    let partial = world.answers(ANN, 1).await.remove(0);
    assert!(
        text(&partial).starts_with("word1 word2 word3") && text(&partial).ends_with("\n\n— stopped"),
        "{partial}"
    );
    world.caught_up().await;
    assert_eq!(world.bot_texts(ANN).len(), 2, "no word about it but that");
}

#[tokio::test]
async fn a_command_during_a_turn_acts_at_once() {
    let world = World::new().await;
    let gate = Gate::new();
    world.when("think", ModelReply::text("Thought.").behind(&gate));
    let _bot = world.start().await;
    world.say(ANN, ANN, "think");
    world.asks(1).await;
    assert!(text(&world.told(ANN, ANN, "/help").await).starts_with("Things to say"));
    gate.open();
    assert_eq!(text(&world.answers(ANN, 2).await[1]), "Thought.");
}

#[tokio::test]
async fn a_strangers_press_is_answered_and_does_nothing() {
    let world = World::new().await;
    world.team();
    let _bot = world.start().await;
    let card = world.told(ANN, TEAM, "/config tone formal").await;
    world.press(ANN, &card, "Tone").await;
    world.shows(TEAM, number(&card["message_id"]), "How shall I sound?").await;
    let toast = "I talk only to people whom my owner has let in.";
    assert_eq!(world.press(BOB, &card, "Clear").await, toast);
    assert_eq!(world.press(BOB, &card, "playful").await, toast);
    let card = world.told(ANN, TEAM, "/config").await;
    assert!(text(&card).contains("Tone: formal"), "{card}");
}

#[tokio::test]
async fn a_command_behind_the_name_of_the_bot_is_one() {
    let world = World::new().await;
    world.team();
    let bot = world.many().spawn();
    bot.ready().await;
    let card = world.told(ANN, TEAM, "@figaro_bot /status").await;
    assert!(text(&card).contains("I have been up since"), "{card}");
    assert!(world.asked().is_empty(), "no model is asked");
    bot.ends_well().await;
}
