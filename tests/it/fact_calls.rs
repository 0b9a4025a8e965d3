//! How often models are asked for facts, and that no question waits for it.

use figaro_offline::model::{Gate, ModelReply, OfflineModel};

use super::memories::{ON, proposes, remembered, remembering};
use super::task_tools::start;
use crate::support::calls::says;
use crate::support::scene::{labels, text};
use crate::support::{ANN, BOB, Bot, World};

/// Bob says this, and has his answer.
async fn says_so(world: &World, words: &str) {
    let answer = format!("Noted: {words}");
    world.when(words, ModelReply::text(&answer));
    world.say(BOB, BOB, words);
    says(world, BOB, &answer).await;
}

/// Waits until a model was asked for facts so often.
async fn asked(world: &World, count: usize) {
    world.asked_for(OfflineModel::extraction_requests, "", count).await;
}

async fn patient() -> (World, Bot) {
    remembering(&[("MEMORY_DELAY", "3600")]).await
}

#[tokio::test]
async fn eight_messages_are_read_by_one_call_and_before_that_none_is() {
    let (world, bot) = patient().await;
    world.script.extract_when("I own 8 boats.", proposes(&[("I own 1 boats", "Owns 1 boats")]));
    for boats in 1..=7 {
        says_so(&world, &format!("I own {boats} boats.")).await;
    }
    world.caught_up().await;
    assert!(world.model.extraction_requests().is_empty(), "he may go on");
    says_so(&world, "I own 8 boats.").await;
    remembered(&world, BOB, "Owns 1 boats").await;
    let requests = world.model.extraction_requests();
    assert_eq!(requests.len(), 1);
    let all = requests[0].user_text();
    assert!((1..=8).all(|boats| all.contains(&format!("I own {boats} boats."))), "{all}");
    bot.ends_well().await;
}

#[tokio::test]
async fn messages_that_can_hold_no_fact_ask_nothing() {
    let (world, bot) = remembering(&[]).await;
    for words in
        ["hello there", "What is the weather like?", "Translate this into French", "/help", "thanks!"]
    {
        world.otherwise(ModelReply::text("Hm."));
        world.say(BOB, BOB, words);
    }
    says_so(&world, "I live in Riga.").await;
    asked(&world, 1).await;
    world.caught_up().await;
    let requests = world.model.extraction_requests();
    assert!(requests.iter().all(|request| request.user_text().contains("I live in Riga.")), "{requests:?}");
    bot.ends_well().await;
}

#[tokio::test]
async fn a_model_that_never_gives_json_is_asked_twice_and_then_later() {
    let (world, bot) = remembering(&[]).await;
    for town in 0..30 {
        world.script.extract_when(&format!("I live in town {town}."), ModelReply::text("hello there"));
        world.script.extract_when("That cannot be read", ModelReply::text("hello there"));
    }
    for town in 0..30 {
        says_so(&world, &format!("I live in town {town}.")).await;
    }
    asked(&world, 2).await;
    world.caught_up().await;
    let requests = world.model.extraction_requests();
    assert_eq!(requests.len(), 2, "{requests:?}");
    assert!(requests[1].body.to_string().contains("That cannot be read"), "{}", requests[1].body);
    bot.ends_well().await;
}

#[tokio::test]
async fn an_answer_that_cannot_be_read_is_put_right_once_it_is_complained_of() {
    let (world, bot) = remembering(&[]).await;
    world.script.extract_when("I live in Riga.", ModelReply::text("Riga!"));
    world.script.extract_when("That cannot be read", proposes(&[("I live in Riga", "Lives in Riga")]));
    says_so(&world, "I live in Riga.").await;
    remembered(&world, BOB, "Lives in Riga").await;
    assert_eq!(world.model.extraction_requests().len(), 2);
    bot.ends_well().await;
}

#[tokio::test]
async fn with_one_slot_a_question_interrupts_what_nobody_waits_for() {
    let (world, bot) = remembering(&[("LLM_SLOTS", "1")]).await;
    let gate = Gate::new();
    let proposal = || proposes(&[("I live in Riga", "Lives in Riga")]);
    world.script.extract_when("I live in Riga.", proposal().behind(&gate));
    world.script.extract_when("I live in Riga.", proposal());
    says_so(&world, "I live in Riga.").await;
    asked(&world, 1).await;
    // The model is at the facts and goes on for ever; the answer comes all the same.
    says_so(&world, "What is the weather like?").await;
    remembered(&world, BOB, "Lives in Riga").await;
    assert_eq!(world.model.extraction_requests().len(), 2, "it was asked once more");
    gate.open();
    bot.ends_well().await;
}

#[tokio::test]
async fn a_model_that_never_fits_is_left_alone_and_the_owner_is_told() {
    let (world, bot) = remembering(&[]).await;
    for (person, answers) in [(20, 2), (21, 4), (22, 5), (23, 5)] {
        world.person(person, "Pat", "en");
        // The fifth answer is the last.
        for words in ["I live in Riga.", "That cannot be read"] {
            world.script.extract_when(words, ModelReply::text("hello there"));
        }
        world.when("I live in Riga.", ModelReply::text("Nice."));
        world.say(person, person, "I live in Riga.");
        says(&world, person, "Nice.").await;
        asked(&world, answers).await;
    }
    bot.logged("it is left alone").await;
    world.caught_up().await;
    assert_eq!(world.model.extraction_requests().len(), 5);
    let status = world.told(ANN, ANN, "/status").await;
    let line = "openai:offline does not answer as asked when I take facts from messages. I ask it again";
    assert!(text(&status).contains(line), "{status}");
    // A restart does not forget it.
    bot.kill();
    let bot = start(&world, &[ON]).await;
    bot.ready().await;
    world.person(24, "Pat", "en");
    world.when("I live in Riga.", ModelReply::text("Nice."));
    world.say(24, 24, "I live in Riga.");
    says(&world, 24, "Nice.").await;
    world.caught_up().await;
    assert_eq!(world.model.extraction_requests().len(), 5);
    let told = world.told(ANN, ANN, "/status").await;
    assert!(text(&told).contains(line), "{told}");
    bot.ends_well().await;
}

#[tokio::test]
async fn whoever_looks_at_their_memories_sees_what_they_have_just_said() {
    let (world, bot) = patient().await;
    world.script.extract_when("I live in Riga.", proposes(&[("I live in Riga", "Lives in Riga")]));
    says_so(&world, "I live in Riga.").await;
    world.caught_up().await;
    assert!(world.model.extraction_requests().is_empty());
    let card = world.told(BOB, BOB, "/memory").await;
    assert!(labels(&card).iter().any(|label| label.contains("Lives in Riga")), "{card}");
    bot.ends_well().await;
}

#[tokio::test]
async fn an_answer_that_is_cut_is_not_complained_of_and_counts_as_a_try() {
    let (world, bot) = remembering(&[]).await;
    let cut = || ModelReply::text("{\"items\": [").cut_by_length();
    world.script.extract_when("I live in Riga.", cut());
    says_so(&world, "I live in Riga.").await;
    bot.logged("they are read again later").await;
    bot.ends_well().await;
    for readings in 2..=4 {
        world.script.extract_when("I live in Riga.", cut());
        let bot = start(&world, &[ON]).await;
        bot.logged("they are read again later").await;
        assert_eq!(world.model.extraction_requests().len(), readings, "one call each");
        bot.ends_well().await;
    }
    let bot = start(&world, &[ON]).await;
    bot.logged("every try failed").await;
    assert_eq!(world.model.extraction_requests().len(), 4);
    bot.ends_well().await;
}

#[tokio::test]
async fn what_is_about_to_be_summarised_is_read_before() {
    let (world, bot) =
        remembering(&[("MEMORY_DELAY", "3600"), ("SUMMARY_EVERY", "6"), ("HISTORY_TOKENS", "900")]).await;
    for trains in 1..=7 {
        let words = format!("I took {trains} trains to Riga.");
        let answer = format!("Answer {trains}{}.", ", it was late and full again".repeat(30));
        world.when(&words, ModelReply::text(&answer));
        world.say(BOB, BOB, &words);
        says(&world, BOB, &format!("Answer {trains},")).await;
    }
    asked(&world, 1).await;
    bot.ends_well().await;
}

#[tokio::test]
async fn a_fact_beside_a_request_for_tomorrow_is_read() {
    let (world, bot) = remembering(&[]).await;
    let words = "My sister is called Eve and remind me tomorrow at 9 to call her";
    world.script.extract_when(words, proposes(&[("My sister is called Eve", "Their sister is called Eve")]));
    says_so(&world, words).await;
    remembered(&world, BOB, "Their sister is called Eve").await;
    bot.ends_well().await;
}
