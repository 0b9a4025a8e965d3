//! What people are offered works for them: no button and no command that only fails for whoever sees it, no words behind a
//! command that change nothing in silence, and a way back from a card to the one it was opened from.

use figaro_offline::model::ModelReply;
use figaro_offline::telegram::{PlannedFailure, Say, TelegramView};
use serde_json::json;

use crate::approvals::ban;
use crate::support::calls::says;
use crate::support::scene::{TEAM, labels, number, text};
use crate::support::{ANN, BOB, World};

const ADMINS: &str = "Only an admin of this chat can";

#[tokio::test]
async fn a_member_of_a_group_is_offered_no_setting_that_only_admins_change() {
    let world = World::new().await;
    world.team();
    let _bot = world.start_open().await;
    let settings = ["/config", "/model", "/persona", "/agents", "/timezone"];
    let spanish = "From now on, answer me in Spanish".to_owned();
    for (who, chat, may) in [(BOB, TEAM, false), (ANN, TEAM, true), (BOB, BOB, true)] {
        let help = world.told(who, chat, "/help@figaro_bot").await;
        for command in settings {
            assert_eq!(text(&help).contains(&format!("{command} –")), may, "{command}: {help}");
        }
        assert_eq!(labels(&help).contains(&spanish), may, "{help}");
        assert!(labels(&help).contains(&"Remember: milk, bread and coffee for the shopping list".to_owned()));
        for command in settings.into_iter().chain(["/records"]) {
            let card = world.told(who, chat, &format!("{command}@figaro_bot")).await;
            assert_eq!(labels(&card).is_empty(), !may, "{command}: {card}");
            assert_eq!(text(&card).contains(ADMINS), !may, "{command}: {card}");
            for words in ["Choose with a button", "Choose, or type", "Press a pack"] {
                assert!(may || !text(&card).contains(words), "{command}: {card}");
            }
        }
        for command in ["/forget", "/export"] {
            let card = world.told(who, chat, &format!("{command}@figaro_bot")).await;
            let has_session = labels(&card).contains(&"This conversation".to_owned());
            assert_eq!(
                (has_session, labels(&card).last().unwrap().as_str()),
                (may, "Everything about me here")
            );
        }
    }
    // A member does not spoil the card of an admin.
    let card = world.told(ANN, TEAM, "/config@figaro_bot").await;
    assert!(world.press(BOB, &card, "Language").await.starts_with(ADMINS));
    world.caught_up().await;
    let now = world.telegram.messages(TEAM).into_iter().find(|one| one["message_id"] == card["message_id"]);
    assert_eq!(labels(&now.unwrap()), labels(&card));
    // Of a conversation a member may look at what there is.
    world.when("hello", ModelReply::text("Hello."));
    world.told(BOB, TEAM, "@figaro_bot hello").await;
    for (who, may) in [(BOB, false), (ANN, true)] {
        let list = world.told(who, TEAM, "/sessions@figaro_bot").await;
        world.press(who, &list, "✓ ").await;
        let card = world.shows(TEAM, number(&list["message_id"]), "Began ").await;
        assert_eq!(labels(&card).contains(&"Delete".to_owned()), may, "{card}");
    }
}

#[tokio::test]
async fn a_guest_is_offered_only_what_needs_no_rights() {
    let world = World::new().await;
    let _bot = world.start().await;
    world.told(ANN, ANN, &format!("/allow {BOB} guest")).await;
    assert_eq!(labels(&world.told(BOB, BOB, "/help").await), ["Explain compound interest in two sentences"]);
    assert!(text(&world.told(BOB, BOB, "/config").await).contains(ADMINS));
}

#[tokio::test]
async fn words_behind_a_command_count_or_are_told_to_change_nothing() {
    let world = World::new().await;
    let bot = world.start_open().await;
    let takes_none = [
        "help", "sessions", "why", "docs", "records", "pins", "memory", "export", "privacy", "tasks",
        "business", "usage", "status", "stop",
    ];
    for (who, command) in
        takes_none.into_iter().map(|one| (BOB, one)).chain([(ANN, "approve"), (ANN, "mcp"), (ANN, "audit")])
    {
        let alone = text(&world.told(who, who, &format!("/{command}")).await).to_owned();
        let told = world.told(who, who, &format!("/{command} foo  bar")).await;
        let words = format!("/{command} takes no extra words, so I ignored “foo bar”.\n\n");
        let rest = text(&told).strip_prefix(&words).unwrap_or_else(|| panic!("{told}"));
        assert_eq!(rest.lines().next(), alone.lines().next(), "it does what it does alone: {told}");
    }
    // A search leads to the list.
    for (key, content) in [("shopping", "milk"), ("films", "Alien")] {
        world.script.push(ModelReply::call("add_note", json!({"key": key, "content": content})));
        world.script.push(ModelReply::text("Noted."));
        world.told(BOB, BOB, &format!("note {content}")).await;
    }
    for (words, list) in
        [("shopping", "shopping\n• milk"), ("FILM", "films\n• Alien"), ("alien", "films\n• Alien")]
    {
        assert_eq!(text(&world.told(BOB, BOB, &format!("/notes {words}")).await), list, "{words}");
    }
    let none = world.told(BOB, BOB, "/notes birthdays").await;
    assert!(text(&none).contains("There is no list and no item with “birthdays”."), "{none}");
    assert_eq!(labels(&none), ["shopping (1)", "films (1)"]);
    // Either order says the same.
    for clears in ["/config clear language", "/config language clear", "/config none language"] {
        let set = world.told(BOB, BOB, "/config language Português").await;
        assert!(text(&set).contains("Idioma: Português"), "{set}");
        let card = world.told(BOB, BOB, clears).await;
        assert!(text(&card).contains("Language: as you write"), "{clears}: {card}");
    }
    bot.ends_well().await;
}

#[tokio::test]
async fn from_every_question_of_forget_there_is_a_way_back() {
    let world = World::new().await;
    world.otherwise(ModelReply::text("Well."));
    let _bot = world.start_open().await;
    for n in 1..=9 {
        world.told(BOB, BOB, &format!("the old address, number {n}")).await;
    }
    let card = world.told(BOB, BOB, "/privacy").await;
    let id = number(&card["message_id"]);
    for (opens, shows) in [("Forget", "Forget\n"), ("Save as a file", "Export\n")] {
        world.press(BOB, &card, opens).await;
        world.shows(BOB, id, shows).await;
        world.press(BOB, &card, "‹ Back").await;
        world.shows(BOB, id, "Privacy\n").await;
    }
    world.press(BOB, &card, "Forget").await;
    for opens in ["This conversation", "Everything about me"] {
        world.shows(BOB, id, "Or choose:").await;
        world.press(BOB, &card, opens).await;
        assert_eq!(labels(&world.shows(BOB, id, "for good").await), ["Forget", "‹ Back"]);
        world.press(BOB, &card, "‹ Back").await;
    }
    let list = world.told(BOB, BOB, "/forget address").await;
    let id = number(&list["message_id"]);
    world.press(BOB, &list, "Next ▶").await;
    let is_second = |view: &TelegramView<'_>| {
        let now = view.messages(BOB).into_iter().find(|one| one["message_id"] == list["message_id"])?;
        labels(now).contains(&"◀ Previous".to_owned()).then(|| now.clone())
    };
    let second = world.see("the second page", is_second).await;
    world.press(BOB, &second, "the old address, number 1").await;
    world.shows(BOB, id, "Forget this message").await;
    world.press(BOB, &second, "‹ Back").await;
    // The page that it was opened from.
    world.see("the second page again", is_second).await;
}

#[tokio::test]
async fn whatever_ends_the_waiting_says_so_on_the_card() {
    for command in ["/stop", "/new", "/retry", "/forget"] {
        // All of it in one group is more than Telegram lets a bot send there in a minute.
        let world = World::new().await;
        let _bot = world.moderated().await;
        let card = world.wants(BOB, &format!("ban her before {command}"), ban()).await;
        if command == "/forget" {
            let menu = world.told(BOB, TEAM, "/forget@figaro_bot").await;
            world.press(BOB, &menu, "This conversation").await;
            world.shows(TEAM, number(&menu["message_id"]), "for good").await;
            world.press(BOB, &menu, "Forget").await;
        } else {
            world.say(BOB, TEAM, &format!("{command}@figaro_bot"));
        }
        let shown = world.shows(TEAM, number(&card["message_id"]), "✗ Called off by Bob").await;
        assert!(labels(&shown).is_empty() && !text(&shown).contains("approve it"), "{command}: {shown}");
        if command == "/stop" {
            let told = says(&world, TEAM, "Called off: 🔐 May I do this? Ban").await;
            assert!(!text(&told).contains("Asked by"), "{told}");
        }
        assert_eq!(world.made("banChatMember").len(), 0);
    }
}

#[tokio::test]
async fn a_call_that_was_under_way_when_its_turn_was_stopped_is_told_to_be_broken_off() {
    let world = World::new().await;
    let _bot = world.start_open().await;
    world.telegram.fail("sendDice", PlannedFailure::Hang, 1);
    world.when("throw it", ModelReply::call("find_tools", json!({"query": "sendDice"})));
    world.when("throw it", ModelReply::call("sendDice", json!({})));
    let asked = world.say(BOB, BOB, "throw it").message_id;
    world.see("the call", |view| view.calls_of("sendDice").first().map(|_| ())).await;
    world.told(BOB, BOB, "/stop").await;
    let before = world.bot_texts(BOB).len();
    world.telegram.send(Say::new(BOB, BOB, "/why").reply_to(asked)).unwrap();
    let told = world.answers(BOB, before + 1).await.pop().unwrap();
    assert!(
        text(&told).contains("The answer was stopped.") && text(&told).contains("Roll the dice: broken off"),
        "{told}"
    );
}
