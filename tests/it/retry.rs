//! `/retry` and the buttons under an answer that broke off or failed: the last question once more, done once, by those
//! who may, whatever happens in between.

use std::time::Duration;

use figaro_offline::model::{Gate, ModelReply};
use figaro_offline::telegram::Say;
use serde_json::{Value, json};

use crate::support::scene::{TEAM, buttons, labels, number, text};
use crate::support::{ANN, BOB, Bot, World};

const LATE: &str = "This is no longer up to date.";
const NOTHING: &str = "There is no question here to try again.";

impl World {
    async fn many_ready(&self) -> Bot {
        let bot = self.many().spawn();
        bot.ready().await;
        bot
    }

    /// A question whose answer fails with buttons under it.
    async fn failed(&self, user: i64, words: &str) -> Value {
        self.when(words, ModelReply::status(400, "no"));
        let told = self.told(user, user, words).await;
        assert_eq!(labels(&told), ["Try again", "Another model"], "{told}");
        told
    }

    /// The data of the button with this label.
    fn data(&self, message: &Value, label: &str) -> String {
        let found = buttons(message).into_iter().find(|(text, _)| text.starts_with(label));
        found.unwrap_or_else(|| panic!("no {label}: {message}")).1
    }

    /// Waits until a message has no buttons.
    async fn bare(&self, message: &Value) {
        let (chat, id) = (number(&message["chat"]["id"]), &message["message_id"]);
        self.see("a message without buttons", |view| {
            let now = view.messages(chat).into_iter().find(|m| m["message_id"] == *id)?;
            labels(now).is_empty().then_some(())
        })
        .await;
    }
}

/// The question of a prompt, without the time and what stands before it.
fn question(prompt: &str) -> &str {
    prompt.split_once("</now>").unwrap().1
}

#[tokio::test]
async fn the_last_question_is_asked_again_as_it_was_and_the_old_answer_is_in_no_later_prompt() {
    let world = World::new().await;
    let bot = world.many_ready().await;
    let say = |words: &str| Say::new(BOB, BOB, words);
    world.script.push(ModelReply::text("first answer"));
    world.telegram.send(say("what do you think of this?")).unwrap();
    world.telegram.send(say("Cats are better.").forward_from(ANN)).unwrap();
    world.answers(BOB, 1).await;
    world.script.push(ModelReply::text("second answer"));
    let again = world.told(BOB, BOB, "/retry").await;
    assert_eq!(text(&again), "second answer");
    world.script.push(ModelReply::text("third answer"));
    world.told(BOB, BOB, "/retry compatible:offline-text").await;
    world.script.push(ModelReply::text("Next."));
    world.told(BOB, BOB, "and dogs?").await;
    let asked = world.asked();
    let first = question(&asked[0].user_text()).to_owned();
    assert!(first.contains("what do you think") && first.contains("forwarded_from=\"Ann\""), "{first}");
    for (at, model) in ["gpt-4.1-mini", "gpt-4.1-mini", "offline-text"].into_iter().enumerate() {
        assert_eq!(question(&asked[at].user_text()), first, "try {at}");
        assert_eq!((asked[at].input().len(), asked[at].model()), (1, model), "nothing of an earlier try");
    }
    let last = asked[3].body.to_string();
    assert_eq!(asked[3].model(), "gpt-4.1-mini", "another model for that once");
    assert!(
        last.contains("third answer") && !last.contains("first answer") && !last.contains("second answer"),
        "{last}"
    );
    assert_eq!(last.matches("Cats are better.").count(), 1, "{last}");
    bot.ends_well().await;
    assert_eq!(world.refused(), Vec::<String>::new());
}

#[tokio::test]
async fn with_nothing_to_try_again_that_is_said() {
    let world = World::new().await;
    world.team();
    world.otherwise(ModelReply::text("Well."));
    let _bot = world.many_ready().await;
    assert_eq!(text(&world.told(BOB, BOB, "/retry").await), NOTHING);
    world.told(BOB, BOB, "a question").await;
    world.told(BOB, BOB, "/new").await;
    assert_eq!(text(&world.told(BOB, BOB, "/retry").await), NOTHING);
    let sent = world.say(BOB, TEAM, "/retry@figaro_bot");
    world.see("a shrug", |view| (!view.reactions(TEAM, sent.message_id).is_empty()).then_some(())).await;
    assert_eq!(world.asked().len(), 1);
}

#[tokio::test]
async fn a_stopped_answer_goes_on_and_pressed_buttons_are_gone() {
    let world = World::new().await;
    let _bot = world.many_ready().await;
    world
        .script
        .push(ModelReply::text(&"one word and another ".repeat(200)).paced(4, Duration::from_millis(50)));
    world.say(BOB, BOB, "tell me");
    world.see("a draft", |view| view.calls_of("sendMessageDraft").get(2).map(|_| ())).await;
    world.say(BOB, BOB, "/stop");
    let stopped = &world.answers(BOB, 1).await[0];
    assert!(text(stopped).starts_with("one word"), "{stopped}");
    assert!(text(stopped).ends_with("— stopped"), "{stopped}");
    assert_eq!(labels(stopped), ["Go on", "Try again"]);
    world.script.push(ModelReply::text("and so it ends."));
    let data = world.data(stopped, "Try again");
    world.press(BOB, stopped, "Go on").await;
    let answer = world.answers(BOB, 2).await.remove(1);
    assert_eq!(text(&answer), "and so it ends.");
    let request = world.asks(2).await;
    assert!(request.user_text().contains("Go on where you stopped."), "{}", request.user_text());
    assert!(request.body.to_string().contains("one word and another"), "it knows what it had said");
    world.bare(stopped).await;
    assert_eq!(world.forged(BOB, stopped, &data).await, LATE);
    assert_eq!(world.asked().len(), 2);
}

#[tokio::test]
async fn a_failed_answer_is_tried_again_once_by_each_button() {
    let world = World::new().await;
    let _bot = world.many_ready().await;
    let failed = world.failed(BOB, "my question").await;
    world.script.push(ModelReply::text("This time."));
    // Two presses before anything is seen of the first.
    let data = world.data(&failed, "Try again");
    let told = tokio::join!(world.press_data(BOB, &failed, &data), world.forged(BOB, &failed, &data));
    assert!([("", LATE), (LATE, "")].contains(&(told.0.as_str(), told.1.as_str())), "{told:?}");
    assert_eq!(text(&world.answers(BOB, 2).await[1]), "This time.");
    world.bare(&failed).await;
    world.caught_up().await;
    assert_eq!(world.asked().len(), 2);

    let failed = world.failed(BOB, "another question").await;
    world.press(BOB, &failed, "Another model").await;
    let list = world.answers(BOB, 4).await.remove(3);
    world.bare(&failed).await;
    assert_eq!(labels(&list).len(), 3, "no pages, nothing to set: {list}");
    world.script.push(ModelReply::text("By another."));
    world.press(BOB, &list, "gemini:").await;
    assert_eq!(text(&world.answers(BOB, 5).await[4]), "By another.");
    assert_eq!(world.asked().last().unwrap().model(), "gemini-2.5-flash");
    world.bare(&list).await;
    assert_eq!(world.forged(BOB, &failed, &world.data(&failed, "Try again")).await, LATE);
    assert_eq!(world.forged(BOB, &list, &world.data(&list, "compatible:")).await, LATE);
}

#[tokio::test]
async fn a_button_under_an_earlier_question_says_that_it_is_late() {
    let world = World::new().await;
    world.otherwise(ModelReply::text("Well."));
    let _bot = world.many_ready().await;
    let first = world.failed(BOB, "first question").await;
    let second = world.failed(BOB, "second question").await;
    world.press(BOB, &second, "Another model").await;
    let list = world.answers(BOB, 3).await.remove(2);
    for label in ["Try again", "Another model"] {
        let data = world.data(&first, label);
        assert_eq!(world.forged(BOB, &first, &data).await, LATE, "{label}");
    }
    world.bare(&first).await;
    world.told(BOB, BOB, "third question").await;
    assert_eq!(world.press(BOB, &list, "gemini:").await, LATE);
    let third = world.failed(BOB, "fourth question").await;
    world.told(BOB, BOB, "/new").await;
    assert_eq!(world.press(BOB, &third, "Try again").await, LATE);
    for data in ["retry:again", "retry:with:gemini:gemini-2.5-flash", "retry:nonsense:x", "retry:"] {
        assert_eq!(world.forged(BOB, &third, data).await, LATE, "{data}");
    }
    world.caught_up().await;
    assert_eq!(world.asked().len(), 4);
}

#[tokio::test]
async fn a_model_that_someone_may_not_have_is_refused_and_a_long_name_works() {
    let world = World::new().await;
    let long = format!("org/{}", "a-model-with-a-long-name".repeat(3));
    let bot = world.many().set("COMPATIBLE_MODEL", &long).spawn();
    bot.ready().await;
    let failed = world.failed(BOB, "my question").await;
    let tag = world.data(&failed, "Try again").rsplit(':').next().unwrap().to_owned();
    let told = world.forged(BOB, &failed, &format!("retry:with:{tag}:gemini:gemini-2.5-pro")).await;
    assert!(told.starts_with("You can choose one of these: openai:gpt-4.1-mini"), "{told}");
    let told = world.told(BOB, BOB, "/retry gemini:gemini-2.5-pro").await;
    assert!(text(&told).starts_with("You can choose one of these"), "{told}");
    assert_eq!(world.asked().len(), 1);
    world.press(BOB, &failed, "Another model").await;
    let list = world.answers(BOB, 3).await.remove(2);
    world.script.push(ModelReply::text("By a long name."));
    world.press(BOB, &list, "⚠️ compatible:").await;
    assert_eq!(text(&world.answers(BOB, 4).await[3]), "By a long name.");
    assert_eq!(world.asks(2).await.model(), long);
    // The same name as a choice for the chat.
    let card = world.told(BOB, BOB, "/model").await;
    world.press(BOB, &card, "⚠️ compatible:").await;
    let chosen =
        world.shows(BOB, number(&card["message_id"]), &format!("compatible:{long} answers here.")).await;
    assert!(labels(&chosen).contains(&"The bot's own".to_owned()));
}

#[tokio::test]
async fn in_a_group_the_question_is_quoted_and_nobody_gets_the_rights_of_its_writer() {
    let world = World::without_privacy().await;
    world.team();
    let _bot = world.many_ready().await;
    let set = || ModelReply::call("set_config", json!({"language": "German"}));
    world.script.push(set());
    world.script.push(ModelReply::text("It is German now."));
    let asked = world.say(ANN, TEAM, "@figaro_bot speak German");
    // The answer, and the card that shows what was changed.
    world.answers(TEAM, 2).await;
    world.script.push(set());
    world.script.push(ModelReply::text("Only an admin can do that."));
    let again = world.told(BOB, TEAM, "/retry@figaro_bot").await;
    assert_eq!(again["reply_to_message"]["message_id"], asked.message_id, "{again}");
    world.script.push(set());
    world.script.push(ModelReply::text("It is German again."));
    world.told(ANN, TEAM, "/retry@figaro_bot").await;
    let done: Vec<bool> = world
        .asked()
        .iter()
        .flat_map(|request| request.tool_results().into_iter().map(|(_, result)| result).collect::<Vec<_>>())
        .map(|result| serde_json::from_str::<Value>(&result).unwrap()["success"] == true)
        .collect();
    assert_eq!(
        done,
        [true, false, true],
        "{:?}",
        world.asked().iter().map(|r| r.tool_results().len()).collect::<Vec<_>>()
    );
    let prompt = world.asks(3).await.user_text();
    assert!(
        question(&prompt).contains("from=\"Ann\" username=\"ann\""),
        "it is still Ann's question: {prompt}"
    );
    // Nor do words of someone else get those of an owner who has them tried again.
    world.script.push(ModelReply::text("You may not."));
    world.told(BOB, TEAM, "@figaro_bot speak French").await;
    world.script.push(set());
    world.script.push(ModelReply::text("Still no."));
    world.told(ANN, TEAM, "/retry@figaro_bot").await;
    let last = world.asked().last().unwrap().tool_results().remove(0).1;
    assert!(last.contains("\"success\":false"), "{last}");
}

#[tokio::test]
async fn it_waits_for_the_turn_that_runs_and_goes_before_what_comes_after_it() {
    let world = World::new().await;
    let gate = Gate::new();
    world.script.push(ModelReply::text("slow").behind(&gate));
    for words in ["slow again", "quick"] {
        world.script.push(ModelReply::text(words));
    }
    let _bot = world.many_ready().await;
    world.say(BOB, BOB, "a slow question");
    world.asks(1).await;
    world.say(BOB, BOB, "/retry");
    world.say(BOB, BOB, "a quick question");
    world.caught_up().await;
    assert_eq!(world.asked().len(), 1);
    gate.open();
    world.answers(BOB, 3).await;
    assert_eq!(world.bot_texts(BOB), ["slow", "slow again", "quick"]);
    let asked = world.asked();
    assert!(asked[1].user_text().contains("a slow question"), "{}", asked[1].user_text());
    assert!(asked[2].user_text().contains("a quick question"), "{}", asked[2].user_text());
}

#[tokio::test]
async fn killed_while_it_tries_again_it_answers_once() {
    let world = World::new().await;
    let gate = Gate::new();
    let bot = world.many_ready().await;
    world.script.push(ModelReply::text("first answer"));
    world.told(BOB, BOB, "my question").await;
    let failed = world.failed(ANN, "her question").await;
    world.press(ANN, &failed, "Another model").await;
    let list = world.answers(ANN, 2).await.remove(1);
    world.when("my question", ModelReply::text("never seen").behind(&gate));
    world.when("her question", ModelReply::text("never seen").behind(&gate));
    world.say(BOB, BOB, "/retry");
    world.press(ANN, &list, "gemini:").await;
    world.asks(4).await;
    bot.kill();
    world.when("my question", ModelReply::text("second answer"));
    world.when("her question", ModelReply::text("By Gemini."));
    let bot = world.many_ready().await;
    world.answers(BOB, 2).await;
    world.answers(ANN, 3).await;
    bot.ends_well().await;
    let _bot = world.many_ready().await;
    world.caught_up().await;
    assert_eq!(world.bot_texts(BOB), ["first answer", "second answer"]);
    assert_eq!(world.bot_texts(ANN)[2..], ["By Gemini.", "I have."]);
    let asked = world.asked();
    assert_eq!(asked.len(), 6);
    let models =
        |at: usize| asked[at..at + 2].iter().filter(|request| request.model() == "gemini-2.5-flash").count();
    assert_eq!((models(2), models(4)), (1, 1), "the model asked for is still the one");
    assert!(
        !asked[4].body.to_string().contains("first answer")
            && !asked[5].body.to_string().contains("first answer")
    );
}

#[tokio::test]
async fn an_answer_that_broke_off_or_was_too_long_goes_on() {
    let world = World::new().await;
    let _bot = world.many_ready().await;
    world.script.push(ModelReply::text("I had begun to say something").break_after(2));
    let broken = world.told(BOB, BOB, "say something").await;
    assert!(text(&broken).contains("\n\n⚠️ The answer broke off"), "{broken}");
    assert_eq!(labels(&broken), ["Go on", "Try again", "Another model"]);
    world.script.push(ModelReply::text("and this is the rest").cut_by_length());
    world.press(BOB, &broken, "Go on").await;
    let long = world.answers(BOB, 2).await.remove(1);
    assert_eq!((text(&long), labels(&long)), ("and this is the rest …", vec!["Go on".to_owned()]));
    world.script.push(ModelReply::text("of it."));
    world.press(BOB, &long, "Go on").await;
    assert_eq!(text(&world.answers(BOB, 3).await[2]), "of it.");
    let prompt = world.asked().pop().unwrap().body.to_string();
    assert!(prompt.contains("I had begun to say") && prompt.contains("and this is the rest"), "{prompt}");
}

#[tokio::test]
async fn in_a_group_a_stopped_answer_goes_on_for_anybody() {
    let world = World::new().await;
    world.team();
    let _bot = world.many_ready().await;
    world
        .script
        .push(ModelReply::text(&"one word and another ".repeat(100)).paced(4, Duration::from_millis(50)));
    world.say(ANN, TEAM, "@figaro_bot tell me");
    world.answers(TEAM, 1).await;
    world.say(ANN, TEAM, "/stop@figaro_bot");
    let stopped = world.answers(TEAM, 1).await.remove(0);
    let stopped = world.shows(TEAM, number(&stopped["message_id"]), "— stopped").await;
    assert_eq!(labels(&stopped), ["Go on", "Try again"]);
    world.script.push(ModelReply::text("and so it ends."));
    world.press(BOB, &stopped, "Go on").await;
    let answer = world.answers(TEAM, 2).await.remove(1);
    assert_eq!(text(&answer), "and so it ends.");
    assert_eq!(answer["reply_to_message"]["message_id"], stopped["message_id"]);
    let prompt = world.asked().pop().unwrap().user_text();
    assert!(
        prompt.contains("from=\"Bob\" username=\"bob\"") && prompt.contains("Go on where you stopped."),
        "{prompt}"
    );
    world.bare(&stopped).await;
    assert_eq!(world.refused(), Vec::<String>::new());
}

#[tokio::test]
async fn what_someone_else_asked_goes_on_with_nobodys_rights() {
    let world = World::new().await;
    world.team();
    let _bot = world.many_ready().await;
    // Bob's question let go on by an owner and by himself, then an owner's own.
    for (writer, presser, may) in [(BOB, ANN, false), (BOB, BOB, false), (ANN, ANN, true)] {
        world.script.push(ModelReply::text("A poem, and then").cut_by_length());
        let cut = world.told(writer, TEAM, "@figaro_bot a poem, then speak German").await;
        world.script.push(ModelReply::call("set_config", json!({"language": "German"})));
        world.script.push(ModelReply::text("That is that."));
        let before = world.bot_texts(TEAM).len();
        world.press(presser, &cut, "Go on").await;
        world.answers(TEAM, before + 1).await;
        let (_, result) = world.asked().pop().unwrap().tool_results().pop().unwrap();
        assert_eq!(!result.contains("\"success\":false"), may, "{writer} {presser}: {result}");
    }
}
