//! Groups: the bot speaks when it is addressed, keeps to the message and the topic it was addressed in, and is
//! otherwise silent.

use figaro_offline::model::{Gate, ModelReply};
use figaro_offline::telegram::{ChatType, MemberStatus, Say, TelegramOptions};
use serde_json::{Value, json};

use crate::support::scene::{TEAM, number, text};
use crate::support::{ANN, BOB, World};

#[tokio::test]
async fn it_answers_when_it_is_mentioned_replied_to_or_commanded_and_quotes_the_message() {
    let world = World::without_privacy().await;
    world.team();
    world.otherwise(ModelReply::text("Yes?"));
    let _bot = world.start_open().await;
    world.say(BOB, TEAM, "lunch at noon?");
    world.say(ANN, TEAM, "@other_bot what is the weather");
    let mention = world.say(BOB, TEAM, "@Figaro_Bot are you there?");
    let answer = world.answers(TEAM, 1).await.remove(0);
    assert_eq!(answer["reply_to_message"]["message_id"], mention.message_id);

    let reply = Say::new(ANN, TEAM, "and now?").reply_to(number(&answer["message_id"]));
    let reply = world.telegram.send(reply).unwrap();
    let answer = world.answers(TEAM, 2).await.remove(1);
    assert_eq!(answer["reply_to_message"]["message_id"], reply.message_id);

    let command = world.say(BOB, TEAM, "/help@figaro_bot");
    let card = world.answers(TEAM, 3).await.remove(2);
    assert_eq!(card["reply_to_message"]["message_id"], command.message_id);

    world.caught_up().await;
    assert_eq!(world.bot_texts(TEAM).len(), 3);
    assert_eq!(world.asked().len(), 2, "only what was addressed to it");
    assert_eq!(world.refused(), Vec::<String>::new());
}

#[tokio::test]
async fn what_is_said_around_it_becomes_bounded_background() {
    let world = World::without_privacy().await;
    world.team();
    world.otherwise(ModelReply::text("At noon."));
    let _bot = world.start_open().await;
    for n in 1..=40 {
        world.say(BOB, TEAM, &format!("remark number {n}. {}", "blah ".repeat(100)));
    }
    world.told(ANN, TEAM, "@figaro_bot when is lunch?").await;
    let prompt = world.asks(1).await.user_text();
    let (_, rest) = prompt.split_once("<background>").unwrap();
    let (background, question) = rest.split_once("</background>").unwrap();
    let lines: Vec<&str> = background
        .lines()
        .filter(|line| line.starts_with("<said from=\"Bob\" username=\"bob\" user_id=\"12\">"))
        .collect();
    assert_eq!(lines.len(), 30, "{background}");
    assert!(lines[0].contains("remark number 11.") && lines[29].contains("remark number 40."), "{lines:?}");
    assert!(lines.iter().all(|line| line.chars().count() < 370));
    assert!(question.contains("when is lunch?") && !background.contains("lunch"));
}

#[tokio::test]
async fn answers_always_off_and_mention_are_obeyed() {
    let world = World::without_privacy().await;
    world.team();
    world.otherwise(ModelReply::text("Yes."));
    let _bot = world.start_open().await;
    let card = world.told(ANN, TEAM, "/config answers always").await;
    assert!(text(&card).contains("Answers when: to everything"), "{card}");
    assert!(!text(&card).contains("privacy"), "nothing is hidden from this bot");
    world.told(BOB, TEAM, "nobody is addressed here").await;
    // A command for someone else is not for the model either.
    world.say(BOB, TEAM, "/weather@other_bot Riga");
    world.told(ANN, TEAM, "/config answers off").await;
    world.say(BOB, TEAM, "@figaro_bot hello?");
    world.told(ANN, TEAM, "/config@figaro_bot answers MENTION").await;
    world.say(BOB, TEAM, "nobody again");
    world.told(BOB, TEAM, "@figaro_bot hello again").await;
    world.caught_up().await;
    let asked: Vec<String> = world.asked().iter().map(|request| request.user_text()).collect();
    assert_eq!(asked.len(), 2, "{asked:?}");
    assert!(asked[0].contains("nobody is addressed here") && asked[1].contains("hello again"), "{asked:?}");
}

#[tokio::test]
async fn always_tells_of_privacy_mode_only_where_it_hides_something() {
    let world = World::new().await;
    world.team();
    let other = -1002;
    world.telegram.add_supergroup(other, "Where the bot is an admin");
    world.join(other);
    world.telegram.set_member(other, world.telegram.bot_id(), MemberStatus::Admin).unwrap();
    let _bot = world.start().await;
    let card = world.told(ANN, TEAM, "/config answers always").await;
    assert!(text(&card).contains("privacy mode hides"), "{card}");
    let card = world.told(ANN, other, "/config answers always").await;
    assert!(text(&card).contains("to everything") && !text(&card).contains("privacy"), "{card}");
}

#[tokio::test]
async fn topics_are_conversations_of_their_own_side_by_side() {
    let world = World::new().await;
    let forum = -1003;
    world.telegram.add_forum(forum, "Forum");
    world.join(forum);
    let (garden, kitchen) = (
        world.telegram.add_topic(forum, "Garden").unwrap(),
        world.telegram.add_topic(forum, "Kitchen").unwrap(),
    );
    let gate = Gate::new();
    world.when("slow", ModelReply::text("in the garden").behind(&gate));
    world.when("quick", ModelReply::text("in the kitchen"));
    world.when("general", ModelReply::text("in general"));
    let _bot = world.start_open().await;
    let send = |topic: Option<i64>, words: &str| {
        let say = Say::new(BOB, forum, &format!("@figaro_bot {words}"));
        world.telegram.send(topic.map_or(say.clone(), |topic| say.topic(topic))).unwrap()
    };
    let slow = send(Some(garden), "a slow question");
    world.asks(1).await;
    send(Some(kitchen), "a quick question");
    send(None, "a general question");
    // The bot also stands as the maker of the two topics.
    let early = world.answers(forum, 2 + 2).await;
    gate.open();
    let late = world.answers(forum, 2 + 3).await.pop().unwrap();

    let topic_of = |words: &str| {
        let message = early.iter().find(|m| m["text"] == words).unwrap();
        message["message_thread_id"].clone()
    };
    assert_eq!(topic_of("in the kitchen"), kitchen);
    assert_eq!(topic_of("in general"), Value::Null, "the General topic has no id");
    assert_eq!((&late["text"], &late["message_thread_id"]), (&json!("in the garden"), &json!(garden)));
    assert_eq!(late["reply_to_message"]["message_id"], slow.message_id);
    let requests = world.asked();
    assert!(requests.iter().all(|request| request.input().len() == 1), "no topic sees another's history");
    assert!(requests[0].user_text().contains(&format!("message_thread_id=\"{garden}\"")));
    let typing = |topic: &Value| {
        world.telegram.view(|view| {
            view.calls_of("sendChatAction")
                .iter()
                .any(|c| c.ok && c.args.get("message_thread_id") == Some(topic))
        })
    };
    assert!(typing(&json!(garden)), "typing is shown in the topic");
    assert_eq!(world.refused(), Vec::<String>::new());
}

#[tokio::test]
async fn bots_are_not_heard_and_anonymous_admins_are() {
    let world = World::without_privacy().await;
    world.team();
    world.otherwise(ModelReply::text("At your service."));
    let _bot = world.start_open().await;
    let robot = json!({"id": 77, "is_bot": true, "first_name": "Robot", "username": "robot_bot"});
    world.telegram.send(Say::new(BOB, TEAM, "@figaro_bot beep").field("from", robot)).unwrap();
    let anonymous =
        world.telegram.send(Say::new(BOB, TEAM, "@figaro_bot who am I?").sender_chat(TEAM)).unwrap();
    let answer = world.answers(TEAM, 1).await.remove(0);
    assert_eq!(answer["reply_to_message"]["message_id"], anonymous.message_id);
    assert!(world.asks(1).await.user_text().contains("from=\"Team\""));
    // Who speaks as the group is one of its admins.
    world.telegram.send(Say::new(BOB, TEAM, "/config tone formal").sender_chat(TEAM)).unwrap();
    let card = world.answers(TEAM, 2).await.remove(1);
    assert!(text(&card).contains("Tone: formal"), "{card}");
    world.caught_up().await;
    assert_eq!(world.asked().len(), 1);
}

#[tokio::test]
async fn what_is_replied_to_and_quoted_is_part_of_the_question() {
    let world = World::new().await;
    world.team();
    world.otherwise(ModelReply::text("Short: no."));
    let _bot = world.start_open().await;
    let long = world.say(BOB, TEAM, "The report is late. The figures are wrong. Nobody cares.");
    let photo = world.telegram.send(Say::new(BOB, TEAM, "our new office").photo("jpeg")).unwrap();
    let ask = |words: &str, to: i64| Say::new(ANN, TEAM, &format!("@figaro_bot {words}")).reply_to(to);
    world.telegram.send(ask("summarise this", long.message_id).quote("The figures are wrong.")).unwrap();
    world.answers(TEAM, 1).await;
    world.telegram.send(ask("and this", photo.message_id)).unwrap();
    world.answers(TEAM, 2).await;
    let first = world.asks(1).await.user_text();
    let (quote, message) = first.split_once("</replies_to>").unwrap();
    assert!(quote.contains("from=\"Bob\""), "{quote}");
    assert!(quote.contains("The report is late. The figures are wrong. Nobody cares."), "{quote}");
    assert!(quote.contains("<quoted_part>The figures are wrong.</quoted_part>"), "{quote}");
    assert!(message.contains("summarise this") && message.contains("mentioned=\"yes\""), "{message}");
    let second = world.asks(2).await;
    let (quote, _) =
        second.user_text().split_once("</replies_to>").map(|(a, b)| (a.to_owned(), b.to_owned())).unwrap();
    assert!(
        quote.contains("our new office") && quote.contains("<attached kind=\"photo\" not_given_to_you="),
        "{quote}"
    );
    assert_eq!(second.input().len(), 3, "the first exchange is remembered");
    assert!(second.input()[0].to_string().contains("The report is late."), "with what it was about");
}

#[tokio::test]
async fn added_by_its_owner_it_says_so_once_and_everybody_may_talk() {
    for sees_all in [false, true] {
        let options = TelegramOptions { can_read_all_group_messages: sees_all, ..TelegramOptions::default() };
        let world = World::with(options).await;
        world.team();
        world.telegram.set_member(TEAM, world.telegram.bot_id(), MemberStatus::Left).unwrap();
        world.otherwise(ModelReply::text("Hello Bob."));
        let _bot = world.start().await;
        world.telegram.bot_joined(TEAM, ANN).unwrap();
        let hello = world.answers(TEAM, 1).await.remove(0);
        assert!(text(&hello).contains("@figaro_bot") && text(&hello).contains("/config"), "{hello}");
        assert_eq!(text(&hello).contains("privacy mode"), !sees_all, "{hello}");
        assert_eq!(text(&world.told(BOB, TEAM, "@figaro_bot hi").await), "Hello Bob.");
        world.caught_up().await;
        assert_eq!(world.bot_texts(TEAM).len(), 2);
    }
}

#[tokio::test]
async fn a_group_nobody_allowed_is_told_so_once_until_an_owner_allows_it() {
    let world = World::new().await;
    world.team();
    world.telegram.set_member(TEAM, world.telegram.bot_id(), MemberStatus::Left).unwrap();
    world.otherwise(ModelReply::text("Hello Bob."));
    let bot = world.start().await;
    world.telegram.bot_joined(TEAM, BOB).unwrap();
    for words in ["@figaro_bot hello", "/help", "/allow@figaro_bot"] {
        world.say(BOB, TEAM, words);
    }
    world.caught_up().await;
    assert_eq!(world.bot_texts(TEAM), ["I may talk in this group once my owner agrees. I have asked."]);
    bot.logged("added to a group that no owner has let in").await;

    let card = world.told(ANN, TEAM, "/allow").await;
    assert_eq!(text(&card), "Everyone in this group may talk to me now.");
    assert_eq!(text(&world.told(BOB, TEAM, "@figaro_bot hello").await), "Hello Bob.");
    assert_eq!(text(&world.told(BOB, TEAM, "/deny").await), "Only an owner of the bot can do that.");
    let card = world.told(ANN, TEAM, "/deny").await;
    world.press(ANN, &card, "Yes").await;
    world.say(BOB, TEAM, "@figaro_bot hello");
    world.caught_up().await;
    assert_eq!(world.bot_texts(TEAM).len(), 5);
    assert_eq!(world.asked().len(), 1);
}

#[tokio::test]
async fn troubles_are_a_reaction_and_nothing_to_say_is_silence() {
    let world = World::new().await;
    world.team();
    world.when("first", ModelReply::status(401, "bad key"));
    world.when("second", ModelReply::empty());
    world.when("third", ModelReply::text("I had begun to say somethi").cut_after(6));
    world.when("fourth", ModelReply::text("All is well."));
    let _bot = world.start_open().await;
    let sent =
        ["first", "second", "third"].map(|words| world.say(BOB, TEAM, &format!("@figaro_bot {words}")));
    assert_eq!(text(&world.told(BOB, TEAM, "@figaro_bot fourth").await), "All is well.");
    let reactions = sent.map(|sent| world.reactions(TEAM, sent.message_id));
    assert_eq!(reactions, [vec!["🤷".to_owned()], vec![], vec!["🤷".to_owned()]]);
    assert_eq!(world.bot_texts(TEAM).len(), 1);
}

#[tokio::test]
async fn a_command_it_does_not_know_is_left_to_others_unless_it_is_named() {
    let world = World::without_privacy().await;
    world.team();
    world.otherwise(ModelReply::text("?"));
    let _bot = world.start_open().await;
    world.say(BOB, TEAM, "/roll 2d6");
    world.say(BOB, TEAM, "/help@other_bot");
    let card = world.told(BOB, TEAM, "/roll@figaro_bot 2d6").await;
    assert!(text(&card).starts_with("I do not know that command."), "{card}");
    world.caught_up().await;
    assert_eq!(world.bot_texts(TEAM).len(), 1);
    assert_eq!(world.asked().len(), 0);
}

#[tokio::test]
async fn an_album_whose_first_photo_addresses_it_is_one_question() {
    let world = World::without_privacy().await;
    world.team();
    world.otherwise(ModelReply::text("Three photos."));
    let _bot = world.start_open().await;
    for caption in ["@figaro_bot what are these?", "", ""] {
        world.telegram.send(Say::new(ANN, TEAM, caption).photo("jpeg").media_group_id("a1")).unwrap();
    }
    assert_eq!(text(&world.answers(TEAM, 1).await[0]), "Three photos.");
    let prompt = world.asked().last().unwrap().user_text();
    assert_eq!(prompt.matches("<attached kind=\"photo\" not_given_to_you=").count(), 3, "{prompt}");
    assert!(!prompt.contains("<background>"), "{prompt}");
}

#[tokio::test]
async fn where_it_answers_everything_a_sticker_gets_no_complaint_and_a_channel_no_greeting() {
    let world = World::without_privacy().await;
    world.team();
    world.otherwise(ModelReply::text("Good."));
    let _bot = world.start_open().await;
    world.told(ANN, TEAM, "/config answers always").await;
    let cards = world.bot_texts(TEAM).len();
    world.telegram.send(Say::new(BOB, TEAM, "").photo("jpeg")).unwrap();
    world.say(BOB, TEAM, "morning all");
    assert_eq!(text(world.answers(TEAM, cards + 1).await.last().unwrap()), "Good.");

    const CHANNEL: i64 = -100_777;
    world.telegram.add_chat(CHANNEL, ChatType::Channel, "News");
    world.telegram.set_member(CHANNEL, ANN, MemberStatus::Owner).unwrap();
    world.telegram.set_member(CHANNEL, world.telegram.bot_id(), MemberStatus::Left).unwrap();
    world.telegram.bot_joined(CHANNEL, ANN).unwrap();
    world.caught_up().await;
    assert_eq!(world.bot_texts(CHANNEL), Vec::<String>::new());
    assert_eq!(world.bot_texts(TEAM).len(), cards + 1, "{:?}", world.bot_texts(TEAM));
}
