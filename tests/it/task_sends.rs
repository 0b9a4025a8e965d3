//! How much a task may send: the tools of one run send five messages, counted one by one and over a restart too.

use std::time::Duration;

use figaro_offline::model::{Gate, ModelReply, ModelRequest, ReplyPart};
use figaro_offline::telegram::PlannedFailure;
use serde_json::{Value, json};

use super::formats::content;
use super::task_runs::{keep, once, said, soon};
use crate::support::canned::PNG;
use crate::support::scene::text;
use crate::support::{ANN, TIMEOUT, World, proc};

const TASK: &str = "Count for me.";

fn send(words: &str) -> ReplyPart {
    ReplyPart::Call { name: "sendMessage".to_owned(), arguments: json!({"text": words}) }
}

/// What the tools told the model of the run until its request with so many results.
async fn told(world: &World, count: usize) -> Vec<Value> {
    let find = |requests: &[ModelRequest]| {
        let run = requests.iter().rev().find(|request| request.user_text().contains(TASK))?;
        let results = run.tool_results();
        let read = |(_, told): (_, String)| serde_json::from_str(&told).unwrap();
        (results.len() == count).then(|| results.into_iter().map(read).collect())
    };
    world.model.wait_until(TIMEOUT, find).await.expect("so many results")
}

fn good(results: &[Value]) -> Vec<bool> {
    results.iter().map(|result| result["success"] == true).collect()
}

#[tokio::test]
async fn a_run_sends_five_messages_and_no_more_however_it_asks() {
    let world = World::new().await;
    keep(&world, &[&once(ANN, ANN, TASK, soon())]).await;
    // Refused by Telegram: nothing was sent, nothing is counted.
    world.when(
        TASK,
        ModelReply::turn(vec![ReplyPart::Call {
            name: "sendMessage".to_owned(),
            arguments: json!({"text": "x", "parse_mode": "nonsense"}),
        }]),
    );
    world.when(TASK, ModelReply::turn(["1", "2", "3", "4"].map(send).to_vec()));
    world.when(TASK, ModelReply::turn(["5", "6", "7"].map(send).to_vec()));
    world.when(TASK, ModelReply::turn(vec![send("8")]));
    world.when(TASK, ModelReply::text("Counted."));
    let bot = world.bot().spawn();
    bot.ready().await;
    let results = told(&world, 9).await;
    let made = good(&results);
    assert_eq!(made.iter().filter(|good| **good).count(), 5, "{results:?}");
    assert_eq!(made[..5], [false, true, true, true, true], "{results:?}");
    let refused: Vec<&Value> = results[5..].iter().filter(|told| told["success"] == false).collect();
    for told in &refused {
        assert!(text_of(told).contains("5 messages at most"), "{told}");
    }
    world.caught_up().await;
    assert_eq!(world.bot_texts(ANN).iter().filter(|text| text.len() == 1).count(), 5);
}

#[tokio::test]
async fn what_was_sent_before_a_restart_counts_and_what_may_have_been() {
    let world = World::new().await;
    keep(&world, &[&once(ANN, ANN, TASK, soon())]).await;
    let recipe = world.bot();
    world.when(TASK, ModelReply::turn(["1", "2", "3"].map(send).to_vec()));
    let first = Gate::new();
    world.when(TASK, ModelReply::turn(vec![send("lost")]).behind(&first));
    let bot = recipe.spawn();
    bot.ready().await;
    told(&world, 3).await;
    world.telegram.fail("sendMessage", PlannedFailure::Hang, 1);
    first.open();
    world
        .see("the call", |view| {
            view.calls_of("sendMessage").iter().any(|call| call.args["text"] == "lost").then_some(())
        })
        .await;
    bot.kill();
    let gate = Gate::new();
    world.when(TASK, ModelReply::turn(["5", "6"].map(send).to_vec()));
    world.when(TASK, ModelReply::text("Counted.").behind(&gate));
    let bot = recipe.spawn();
    bot.ready().await;
    let results = told(&world, 6).await;
    gate.open();
    assert_eq!(good(&results[..4]), [true, true, true, false], "{results:?}");
    assert_eq!(good(&results[4..]).iter().filter(|good| **good).count(), 1, "{results:?}");
}

/// What Telegram failed at, and what the server of tools died over, may have been sent: it counts in the same process
/// and in the next one, and the model is told.
#[tokio::test]
async fn what_may_have_been_sent_counts_and_is_told() {
    let world = World::new().await;
    keep(&world, &[&once(ANN, ANN, TASK, soon())]).await;
    let recipe = world.bot();
    let (second, third, fourth) = (Gate::new(), Gate::new(), Gate::new());
    world.when(TASK, ModelReply::turn(vec![send("failed")]));
    world.when(TASK, ModelReply::turn(vec![send("lost")]).behind(&second));
    world.when(TASK, ModelReply::turn(["1", "2", "3", "4"].map(send).to_vec()).behind(&third));
    let failed = PlannedFailure::Status { status: 502, description: "Bad Gateway".to_owned() };
    world.telegram.fail("sendMessage", failed, 1);
    let bot = recipe.spawn();
    bot.ready().await;
    told(&world, 1).await;
    world.telegram.fail("sendMessage", PlannedFailure::Hang, 1);
    second.open();
    world
        .see("the call", |view| {
            view.calls_of("sendMessage").iter().any(|call| call.args["text"] == "lost").then_some(())
        })
        .await;
    proc::signal(bot.children()[0], "KILL");
    let results = told(&world, 2).await;
    for told in &results {
        let words = text_of(told);
        assert!(words.ends_with("It may have been sent: do not repeat it without checking"), "{told}");
    }
    assert_eq!(bot.log().matches("status=Unknown").count(), 2, "{}", bot.log());
    third.open();
    let results = told(&world, 6).await;
    assert_eq!(good(&results).iter().filter(|good| **good).count(), 3, "{results:?}");
    bot.kill();
    world.when(TASK, ModelReply::turn(vec![send("5")]));
    world.when(TASK, ModelReply::text("Counted.").behind(&fourth));
    let bot = recipe.spawn();
    bot.ready().await;
    let results = told(&world, 7).await;
    fourth.open();
    assert!(text_of(&results[6]).contains("0 of them are left"), "{results:?}");
    drop(bot);
}

/// What Telegram never saw was certainly not sent, and can be sent again.
#[tokio::test]
async fn what_was_certainly_not_sent_does_not_count() {
    let world = World::new().await;
    keep(&world, &[&once(ANN, ANN, TASK, soon())]).await;
    world.when(TASK, ModelReply::turn(["1", "2", "3", "4", "5", "6"].map(send).to_vec()));
    world.when(TASK, ModelReply::turn(["1", "2", "3", "4", "5", "6"].map(send).to_vec()));
    world.when(TASK, ModelReply::text("Counted."));
    let failed = PlannedFailure::Status { status: 403, description: "Forbidden".to_owned() };
    world.telegram.fail("sendMessage", failed, 5);
    let bot = world.bot().spawn();
    bot.ready().await;
    let results = told(&world, 12).await;
    assert_eq!(good(&results).iter().filter(|good| **good).count(), 5, "{results:?}");
    drop(bot);
}

#[tokio::test]
async fn an_album_counts_by_its_items_and_an_answer_does_not_count() {
    let world = World::new().await;
    let agents = world.folder.path().join("prompts/agents");
    std::fs::create_dir_all(&agents).unwrap();
    let agent = "type: object\ndescription: Do it.\njson_schema_extra:\n  kind: agent\n  name: scheduled\n  version: \"1\"\n  \
                 structured_output: false\n  tools:\n    - name: sendMediaGroup\n    - name: sendPhoto\n";
    std::fs::write(agents.join("scheduled.yaml"), agent).unwrap();
    keep(&world, &[&once(ANN, ANN, TASK, soon())]).await;
    let photo = |n: usize| json!({"name": format!("{n}.png"), "base64": PNG});
    let album = |count: usize| ReplyPart::Call {
        name: "sendMediaGroup".to_owned(),
        arguments: json!({"media": (0..count).map(|n| json!({"type": "photo", "media": photo(n)})).collect::<Vec<_>>()}),
    };
    let one = ReplyPart::Call { name: "sendPhoto".to_owned(), arguments: json!({"photo": photo(9)}) };
    for calls in [vec![album(6)], vec![album(4)], vec![album(2)], vec![one.clone()], vec![one]] {
        world.when(TASK, ModelReply::turn(calls));
    }
    world.when(TASK, ModelReply::text("There they are."));
    let bot = world.bot().spawn();
    bot.ready().await;
    let results = told(&world, 5).await;
    assert_eq!(good(&results), [false, true, false, true, false], "{results:?}");
    assert!(text_of(&results[2]).contains("1 of them"), "{results:?}");
    assert_eq!(text(&said(&world, ANN, "There they are.").await), "There they are.");
}

#[tokio::test]
async fn a_person_who_asks_gets_as_many_as_they_ask_for() {
    let world = World::new().await;
    let bot = world.bot().spawn();
    bot.ready().await;
    world.when(TASK, ModelReply::turn(["1", "2", "3", "4", "5", "6"].map(send).to_vec()));
    world.when(TASK, ModelReply::text("Counted."));
    world.say(ANN, ANN, TASK);
    assert_eq!(good(&told(&world, 6).await), [true; 6]);
}

/// Paragraphs that fill some ten messages, each with a link.
fn long_answer() -> String {
    let paragraph =
        |n: usize| format!("**Point {n}** [source](https://example.org/{n}): {}\n\n", "word ".repeat(150));
    (0..50).map(paragraph).collect::<String>().trim_end().to_owned()
}

#[tokio::test]
async fn a_runs_own_answer_is_five_messages_at_most_the_last_a_document() {
    for refused in [false, true] {
        let world = World::new().await;
        keep(&world, &[&once(ANN, ANN, TASK, soon())]).await;
        let answer = long_answer();
        world.when(TASK, ModelReply::text(&answer).paced(4000, Duration::ZERO));
        if refused {
            let no_documents = "Bad Request: not enough rights to send documents to the chat".to_owned();
            let failed = PlannedFailure::Status { status: 400, description: no_documents };
            world.telegram.fail("sendDocument", failed, 1);
        }
        let bot = world.bot().spawn();
        bot.ready().await;
        let messages = world.answers(ANN, 5).await;
        world.caught_up().await;
        assert_eq!(world.bot_texts(ANN).len() - 1, 5, "{:?}", world.bot_texts(ANN));
        let words: Vec<&str> = messages[..4].iter().map(text).collect();
        assert!(words.iter().all(|words| words.starts_with("Point ") && words.len() > 2000), "{words:?}");
        if refused {
            let last = text(&messages[4]);
            assert!(last.starts_with("Point ") && last.ends_with(" …"), "{last}");
        } else {
            assert_eq!(messages[4]["document"]["file_name"], "answer.md");
            assert_eq!(content(&world, &messages[4]), answer, "all of it");
        }
        bot.ends_well().await;
    }
}

#[tokio::test]
async fn a_long_answer_to_a_person_is_as_many_messages_as_it_takes() {
    let world = World::new().await;
    world.otherwise(ModelReply::text(&long_answer()).paced(4000, Duration::ZERO));
    let bot = world.bot().spawn();
    bot.ready().await;
    world.say(ANN, ANN, "tell me");
    let messages = world.answers(ANN, 9).await;
    assert!(messages.iter().all(|message| message["document"].is_null()));
    bot.ends_well().await;
}

fn text_of(told: &Value) -> &str {
    told["error"].as_str().unwrap_or_default()
}
