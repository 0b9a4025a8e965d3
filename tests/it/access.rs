//! Who may talk to the bot: owners, those an owner allowed, everybody where it is open, and the first to open the link.

use figaro_offline::model::{Gate, ModelReply};
use figaro_offline::telegram::Say;

use super::task_tools::{LEAP, recurring};
use crate::support::calls::{call, says};
use crate::support::scene::{TEAM, labels, number, text};
use crate::support::{ANN, BOB, World};

const CARL: i64 = 13;

#[tokio::test]
async fn a_stranger_is_told_once_and_then_nothing_until_an_owner_allows_them() {
    let world = World::new().await;
    world.person(CARL, "Carl", "en");
    world.otherwise(ModelReply::text("Hello."));
    let _bot = world.start().await;
    let told = world.told(BOB, BOB, "hello?").await;
    assert_eq!(text(&told), "This bot is private. I have asked its owner whether you may talk to me.");
    for words in ["hello??", "/start", "/allow 12"] {
        world.say(BOB, BOB, words);
    }
    world.caught_up().await;
    assert_eq!(world.bot_texts(BOB).len(), 1);
    assert!(world.asked().is_empty());

    assert_eq!(text(&world.told(ANN, ANN, "/allow 12").await), "Bob (@bob) may talk to me now.");
    assert_eq!(text(&world.answers(BOB, 2).await[1]), "Hello.", "the first question has its answer");
    assert_eq!(text(&world.told(BOB, BOB, "and now?").await), "Hello.");
    assert_eq!(text(&world.told(BOB, BOB, "/allow 13").await), "Only an owner of the bot can do that.");
    assert_eq!(text(&world.told(ANN, ANN, "/Deny  12").await), "Bob (@bob) may no longer talk to me.");
    world.say(BOB, BOB, "still there?");
    world.caught_up().await;
    assert_eq!(world.bot_texts(BOB).len(), 4);
    assert_eq!(world.asked().len(), 2);
}

#[tokio::test]
async fn allow_and_deny_explain_themselves() {
    let world = World::new().await;
    let _bot = world.start().await;
    let card = world.told(ANN, ANN, "/allow").await;
    assert!(
        text(&card)
            .contains("Owners: Ann (@ann)\nPeople: nobody\nGroups: nobody\nDenied: nobody\nOthers who write: I ask you about each"),
        "{card}"
    );
    let card = world.told(ANN, ANN, "/allow Bob").await;
    assert_eq!(
        text(&card),
        "Who? Send their number (the bot shows it to everybody who asks for access), the @username of somebody on the \
         list, or reply to one of their messages. Or make a code: /allow code. You can add a role: admin, member or guest."
    );
    assert_eq!(text(&world.told(ANN, ANN, "/deny 12").await), "Bob (@bob) may no longer talk to me.");
    assert_eq!(text(&world.told(ANN, ANN, "/deny 12").await), "It is set that way already.");
    let card = world.told(ANN, ANN, "/deny").await;
    assert!(text(&card).starts_with("Who may not talk to me: Bob (@bob)\n\nTo shut out:"), "{card}");
    assert_eq!(labels(&card), ["People"]);
    assert!(text(&world.told(ANN, ANN, "/deny 11").await).starts_with("That is an owner"));
    assert_eq!(text(&world.told(ANN, ANN, "/allow 12").await), "Bob (@bob) may talk to me now.");
    let card = world.told(ANN, ANN, "/allow").await;
    assert!(text(&card).contains("People: Bob (@bob)\nGroups: nobody\nDenied: nobody\nOthers"), "{card}");
}

/// Says something to the bot in a group and gives whether it was answered before Ann's next words there.
async fn is_heard(world: &World, user: i64, chat: i64, words: &str) -> bool {
    let before = world.bot_texts(chat).len();
    world.say(user, chat, words);
    world.caught_up().await;
    let mine = format!("And you, number {before}.");
    world.when(&format!("and me, number {before}?"), ModelReply::text(&mine));
    world.say(ANN, chat, &format!("@figaro_bot and me, number {before}?"));
    says(world, chat, &mine).await;
    world.bot_texts(chat).len() > before + 1
}

#[tokio::test]
async fn a_denied_person_is_nobody_in_groups_too_whatever_they_do() {
    for mode in ["pairing", "allowlist", "open"] {
        let world = World::new().await;
        world.team();
        world.otherwise(ModelReply::text("Hello."));
        let bot = world.bot().set("ACCESS", mode).spawn();
        bot.ready().await;
        world.told(ANN, TEAM, "/allow@figaro_bot").await;
        let ways = ["@figaro_bot hello", "/help@figaro_bot", "/retry@figaro_bot"];
        for words in ways {
            assert!(is_heard(&world, BOB, TEAM, words).await, "{mode}: {words}");
        }
        let card = world.told(ANN, TEAM, "/config@figaro_bot").await;
        assert_eq!(text(&world.told(ANN, ANN, "/deny 12").await), "Bob (@bob) may no longer talk to me.");
        for words in ways {
            assert!(!is_heard(&world, BOB, TEAM, words).await, "{mode}: {words}");
        }
        world.say(BOB, BOB, "hello?");
        let before = world.telegram.messages(TEAM);
        let toast = world.press(BOB, &card, "Tone").await;
        assert_eq!(toast, "I talk only to people whom my owner has let in.", "{mode}");
        world.caught_up().await;
        assert_eq!(world.telegram.messages(TEAM), before, "{mode}: a button does nothing");
        // Allowing the group lifts nothing.
        world.told(ANN, TEAM, "/allow@figaro_bot").await;
        assert!(!is_heard(&world, BOB, TEAM, ways[0]).await, "{mode}: the group is allowed");
        bot.ends_well().await;
        let bot = world.bot().set("ACCESS", mode).spawn();
        bot.ready().await;
        assert!(!is_heard(&world, BOB, TEAM, ways[0]).await, "{mode}: after a restart");
        world.told(ANN, ANN, "/allow 12").await;
        assert!(is_heard(&world, BOB, TEAM, ways[0]).await, "{mode}: allowed again");
        assert_eq!(world.bot_texts(BOB), Vec::<String>::new(), "{mode}: in private nothing was said");
        assert_eq!(text(&world.told(BOB, BOB, "hello?").await), "Hello.", "{mode}");
        assert_eq!(world.refused(), Vec::<String>::new());
    }
}

#[tokio::test]
async fn a_reply_says_whom_to_deny_and_to_allow() {
    let world = World::new().await;
    world.team();
    world.otherwise(ModelReply::text("Hello."));
    let _bot = world.start_open().await;
    let reply = |to: i64, words: &str| Say::new(ANN, TEAM, words).reply_to(to);
    let told = async |say: Say| {
        let before = world.bot_texts(TEAM).len();
        world.telegram.send(say).unwrap();
        text(&world.answers(TEAM, before + 1).await[before]).to_owned()
    };
    let bobs = world.say(BOB, TEAM, "spam").message_id;
    assert_eq!(told(reply(bobs, "/deny@figaro_bot")).await, "Bob (@bob) may no longer talk to me.");
    assert!(!is_heard(&world, BOB, TEAM, "@figaro_bot hello").await);
    assert_eq!(told(reply(bobs, "/allow@figaro_bot")).await, "Bob (@bob) may talk to me now.");
    assert!(is_heard(&world, BOB, TEAM, "@figaro_bot hello").await);
    // Who speaks as a chat is no person, and the group is not meant.
    let channels = world.telegram.send(Say::new(BOB, TEAM, "news").sender_chat(TEAM)).unwrap().message_id;
    assert!(told(reply(channels, "/deny@figaro_bot")).await.starts_with("Who?"));
    assert!(is_heard(&world, BOB, TEAM, "@figaro_bot hello").await);
    assert!(
        told(reply(world.say(ANN, TEAM, "me").message_id, "/deny@figaro_bot")).await.contains("an owner")
    );
}

#[tokio::test]
async fn a_denied_group_is_no_longer_answered_where_the_bot_is_open() {
    let world = World::new().await;
    world.team();
    world.otherwise(ModelReply::text("Hello."));
    let _bot = world.start_open().await;
    assert!(is_heard(&world, BOB, TEAM, "@figaro_bot hello").await);
    // It asks first.
    let ask = "Stop everybody in this group from talking to me? /allow undoes that.";
    let card = world.told(ANN, TEAM, "/deny@figaro_bot").await;
    assert_eq!(text(&card), ask);
    assert_eq!(world.press(BOB, &card, "Yes").await, "Only an owner of the bot can do that.");
    assert_eq!(world.press(ANN, &card, "‹ Back").await, "Nothing has changed.");
    assert!(is_heard(&world, BOB, TEAM, "@figaro_bot hello").await);
    let card = world.told(ANN, TEAM, "/deny@figaro_bot").await;
    assert_eq!(world.press(ANN, &card, "Yes").await, "This group may no longer talk to me.");
    assert!(!is_heard(&world, BOB, TEAM, "@figaro_bot hello").await);
    assert_eq!(text(&world.told(BOB, BOB, "hello").await), "Hello.", "in private Bob still may");
    world.told(ANN, TEAM, "/allow@figaro_bot").await;
    assert!(is_heard(&world, BOB, TEAM, "@figaro_bot hello").await);
}

#[tokio::test]
async fn what_waits_of_someone_who_is_denied_is_not_answered() {
    let world = World::new().await;
    world.team();
    let recipe = world.bot().set("ACCESS", "open");
    let bot = recipe.spawn();
    bot.ready().await;
    world.told(ANN, TEAM, "/timezone@figaro_bot Riga").await;
    let task = recurring("Call for tea.", LEAP);
    call(&world, (BOB, TEAM), "tea", "schedule_task", task).await;
    let card = says(&world, TEAM, "⏰ Call for tea.").await;
    let gate = Gate::new();
    world.when("hold on", ModelReply::text("Held.").behind(&gate));
    world.say(ANN, TEAM, "@figaro_bot hold on");
    let held = world.asked().len() + 1;
    world.asks(held).await;
    world.say(BOB, TEAM, "@figaro_bot what waits");
    world.say(BOB, TEAM, "/retry@figaro_bot");
    assert_eq!(world.press(BOB, &card, "Run now").await, "⏳ Running now");
    world.caught_up().await;
    world.told(ANN, ANN, "/deny 12").await;
    gate.open();
    world.when("the last", ModelReply::text("The end."));
    world.say(ANN, TEAM, "@figaro_bot the last");
    says(&world, TEAM, "The end.").await;
    let asked: Vec<String> = world.asked().iter().skip(held).map(|request| request.user_text()).collect();
    assert!(asked.iter().all(|words| words.contains("the last")), "{asked:?}");
    let card = world.becomes(&card, "Paused", "History").await;
    world.press(ANN, &card, "History").await;
    world.shows(TEAM, number(&card["message_id"]), "skipped").await;
    // Nothing of it is left for the next start.
    bot.ends_well().await;
    let bot = recipe.spawn();
    bot.ready().await;
    world.told(ANN, ANN, "/allow 12").await;
    world.when("now", ModelReply::text("Now, yes."));
    assert_eq!(text(&world.told(BOB, TEAM, "@figaro_bot now").await), "Now, yes.");
    let waited = world.asked().iter().filter(|request| request.user_text().contains("what waits")).count();
    assert_eq!(waited, 0);
}

#[tokio::test]
async fn an_open_bot_talks_to_everybody() {
    let world = World::new().await;
    world.otherwise(ModelReply::text("Hello."));
    let _bot = world.start_open().await;
    assert_eq!(text(&world.told(BOB, BOB, "hello?").await), "Hello.");
    assert_eq!(text(&world.told(BOB, BOB, "/deny 11").await), "Only an owner of the bot can do that.");
}

#[tokio::test]
async fn the_first_to_open_the_link_owns_the_bot_and_nobody_after() {
    let world = World::new().await;
    world.person(CARL, "Carl", "en");
    let recipe = world.bot().unset("OWNER_IDS");
    let bot = recipe.spawn();
    bot.ready().await;
    bot.logged("to become its owner.").await;
    let log = bot.log();
    let (_, link) = log.split_once("https://t.me/figaro_bot?start=").unwrap();
    let code = link.split_whitespace().next().unwrap().to_owned();
    assert_eq!(log.matches("https://t.me/").count(), 1);

    let told = world.told(CARL, CARL, "/start 00112233445566778899aabbccddeeff").await;
    assert!(text(&told).starts_with("This bot is private."), "{told}");
    // Two open it at the same moment.
    for user in [ANN, BOB] {
        world.say(user, user, &format!("/start {code}"));
    }
    // She may already be asked about Bob.
    says(&world, ANN, "You own this bot now.").await;
    assert!(text(&world.answers(BOB, 1).await[0]).starts_with("This bot is private."));
    // The owner is asked about somebody who wrote while there was none.
    let told = world.told(CARL, CARL, "are you there now?").await;
    assert!(text(&told).contains("I have asked"), "{told}");
    says(&world, ANN, "are you there now?").await;
    world.told(ANN, ANN, "/allow 12").await;
    assert_eq!(
        text(&world.told(BOB, BOB, &format!("/start {code}")).await),
        "This link no longer works. Until somebody owns this bot, a new link is printed where it runs."
    );

    // What follows /start may be any other link's.
    for other in ["anything", "ref_2026", "00112233"] {
        let card = world.told(BOB, BOB, &format!("/start {other}")).await;
        assert!(!text(&card).contains("link"), "{card}");
    }

    bot.ends_well().await;
    let bot = recipe.spawn();
    bot.ready().await;
    assert!(text(&world.told(ANN, ANN, "/status").await).starts_with("Figaro "), "owners see it all");
    assert_eq!(bot.log().matches("https://t.me/").count(), 1, "an owned bot offers no link");
}

#[tokio::test]
async fn a_bot_whose_settings_name_an_owner_offers_no_link() {
    let world = World::new().await;
    let bot = world.start().await;
    world.told(ANN, ANN, "/status").await;
    assert!(!bot.log().contains("t.me/"), "{}", bot.log());
}

#[tokio::test]
async fn a_forwarded_command_is_a_text_to_read_and_no_order() {
    let world = World::new().await;
    world.otherwise(ModelReply::text("That would let someone in."));
    let _bot = world.start().await;
    world.telegram.send(Say::new(ANN, ANN, "/allow 12").forward_from(BOB)).unwrap();
    assert_eq!(text(&world.answers(ANN, 1).await[0]), "That would let someone in.");
    world.say(BOB, BOB, "hello?");
    assert!(text(&world.answers(BOB, 1).await[0]).starts_with("This bot is private."));
}
