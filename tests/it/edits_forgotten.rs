//! `/forget` and `/export` of a question that was edited: every version of it and of its answer is meant.

use figaro_offline::model::ModelReply;
use serde_json::json;

use super::forgetting::{files, pressed, replied};
use crate::support::records::holding;
use crate::support::scene::{labels, number, text};
use crate::support::{ANN, World};

/// Words of the first version, and of the second.
const FIRST: &str = "zebra4711";
const SECOND: &str = "okapi4712";

/// A question about both versions, answered in place. Gives its message and that of its answer.
async fn twice(world: &World) -> (i64, i64) {
    world.when(FIRST, ModelReply::text(&format!("About {FIRST}.")));
    world.when(SECOND, ModelReply::text(&format!("About {SECOND}.")));
    let asked = world.say(ANN, ANN, &format!("tell me of {FIRST}")).message_id;
    let answer = number(&world.answers(ANN, 1).await[0]["message_id"]);
    world.telegram.edit(ANN, ANN, asked, &format!("tell me of {SECOND}")).unwrap();
    world.shows(ANN, answer, SECOND).await;
    (asked, answer)
}

#[tokio::test]
async fn an_answer_is_forgotten_with_its_earlier_versions() {
    let world = World::new().await;
    let bot = world.bot().set("ERASE_AFTER", "1").spawn();
    bot.ready().await;
    let note = json!({"key": "shopping", "content": "milk"});
    world.script.push(ModelReply::call("add_note", note));
    world.script.push(ModelReply::text("About zebra4711."));
    let asked = world.say(ANN, ANN, "milk, and tell me of zebra4711").message_id;
    let answer = number(&world.answers(ANN, 1).await[0]["message_id"]);
    world.when(SECOND, ModelReply::text(&format!("About {SECOND}.")));
    world.telegram.edit(ANN, ANN, asked, &format!("milk, and tell me of {SECOND}")).unwrap();
    world.shows(ANN, answer, SECOND).await;
    // The bot records a message when Telegram has confirmed it, a moment after it shows.
    world.caught_up().await;
    let card = replied(&world, ANN, ANN, answer, "/forget").await;
    assert!(text(&card).contains("Forget this answer"), "{card}");
    pressed(&world, ANN, &card, "Forget", "• answers of mine: 1").await;
    world.erased(&["About zebra4711".to_owned(), format!("About {SECOND}")]).await;
    assert_eq!(labels(&world.told(ANN, ANN, "/notes").await), ["shopping (1)"], "the question made it");
    // The question goes with every version, and with what it made.
    let card = replied(&world, ANN, ANN, asked, "/forget").await;
    pressed(&world, ANN, &card, "Forget", "Forgotten").await;
    world.erased(&[FIRST, SECOND]).await;
    bot.stop().await;
    assert_eq!((holding(&world, FIRST), holding(&world, SECOND)), (Vec::new(), Vec::new()));
    assert_eq!(holding(&world, "milk"), [""; 0]);
}

#[tokio::test]
async fn words_of_an_earlier_version_are_found_and_forgotten_with_the_later_ones() {
    let world = World::new().await;
    let bot = world.bot().set("ERASE_AFTER", "1").spawn();
    bot.ready().await;
    let (asked, _) = twice(&world).await;
    let card = world.told(ANN, ANN, &format!("/forget {FIRST}")).await;
    let found =
        [format!("Figaro: About {FIRST}."), format!("tell me of {FIRST}"), "Forget all (2)".to_owned()];
    assert_eq!(labels(&card), found);
    // A message is listed once, by the version that counts.
    let all = world.told(ANN, ANN, "/forget about").await;
    assert_eq!(labels(&all), [format!("Figaro: About {SECOND}.")]);
    pressed(&world, ANN, &card, "Figaro: About", "Forget this answer").await;
    pressed(&world, ANN, &card, "Forget", "Forgotten").await;
    world.erased(&["About zebra4711".to_owned(), format!("About {SECOND}")]).await;
    // The question goes with all that is left.
    let card = replied(&world, ANN, ANN, asked, "/forget").await;
    pressed(&world, ANN, &card, "Forget", "Forgotten").await;
    world.erased(&[FIRST, SECOND]).await;
    bot.stop().await;
    assert_eq!((holding(&world, FIRST), holding(&world, SECOND)), (Vec::new(), Vec::new()));
}

#[tokio::test]
async fn every_version_is_exported() {
    let world = World::new().await;
    let _bot = world.start().await;
    twice(&world).await;
    let card = world.told(ANN, ANN, "/export").await;
    world.press(ANN, &card, "Everything about me here").await;
    let [(_, page), (_, json)] = &files(&world, ANN, 2).await[..] else { panic!("two files") };
    for words in [FIRST, SECOND] {
        assert!(
            page.contains(&format!("About {words}.")) && json.contains(&format!("About {words}.")),
            "{page}"
        );
        assert!(page.contains(&format!("tell me of {words}")), "{page}");
    }
    assert_eq!(page.matches("· earlier version").count(), 2, "{page}");
    // The conversation alone is what everybody in it sees.
    world.press(ANN, &card, "This conversation").await;
    let all = files(&world, ANN, 4).await;
    assert!(!all[2].1.contains(FIRST) && all[2].1.contains(SECOND), "{}", all[2].1);
}
