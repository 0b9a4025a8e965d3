//! What older messages are found by their meaning, and how their vectors are made: in the background, within the caps, and anew
//! where another model makes them. What the embedder does not give delays no answer.

use std::time::{Duration, Instant};

use chrono::{DateTime, TimeDelta, Utc};
use figaro_base::ids::{ChatId, UserId};
use figaro_domain::conversation::{ConversationId, Message, MessageRole};
use figaro_domain::message::Speaker;
use figaro_offline::model::{ModelReply, ModelRequest, VectorFault, VectorRequest};
use serde_json::Value;

use super::recall::{SMALL, found, older, recall, talks_of_other_things};
use super::task_tools::{now, start};
use crate::support::calls::says;
use crate::support::wait::eventually;
use crate::support::{ANN, World};

const EMBEDDER: (&str, &str) = ("EMBEDDER", "openai:text-embedding-3-small");
/// Shares no word with the question, but for the offline model means much the same.
const SUGAR: &str = "No sugar on my list";
const CAKE: &str = "Would chocolate cake make grandfather happy?";

/// Ann writes without the name of the bot, which would be a word in common, and the answer is waited for; gives the request.
async fn asks(world: &World, said: &str, answer: &str) -> ModelRequest {
    let before = world.asked().len();
    world.when(said, ModelReply::text(answer));
    world.say(ANN, ANN, said);
    let request = world.asks(before + 1).await;
    says(world, ANN, answer).await;
    request
}

/// What goes on in the background has time to come to its end.
async fn settle() {
    tokio::time::sleep(Duration::from_secs(1)).await;
}

/// Waits until a vector was asked for of a message with these words.
async fn embedded(world: &World, words: &str) {
    let asked = async || passages(world).iter().any(|text| text.contains(words)).then_some(());
    eventually(|| format!("never embedded: {words}; {:?}", passages(world)), asked).await;
}

/// The texts of requests for many vectors or of messages: all but the questions, which are asked alone and as they were written.
fn passages(world: &World) -> Vec<String> {
    world.model.vector_requests().into_iter().flat_map(|request| request.texts).collect()
}

/// How many vectors the store holds; the bot must not run.
fn stored(world: &World) -> Vec<Value> {
    let records = world.records().all("vectors");
    records.into_iter().map(|(_, value)| serde_json::from_slice(&value).unwrap()).collect()
}

#[tokio::test]
async fn a_message_that_shares_no_word_with_the_question_is_found_by_its_meaning() {
    let world = World::new().await;
    store_old(&world, 200, Some(SUGAR)).await;
    let bot = start(&world, &[SMALL, EMBEDDER]).await;
    asks(&world, "Good morning", "Hello.").await;
    embedded(&world, SUGAR).await;
    settle().await;
    let request = asks(&world, CAKE, "Better not.").await;
    let asked = passages(&world);
    let last = asked.last().map(String::as_str);
    assert!(older(&request).contains(SUGAR), "{last:?} {} {}", request.user_text(), bot.log());
    world.told(ANN, ANN, "/new").await;
    let result = recall(&world, (ANN, ANN), "think back", CAKE).await;
    assert!(found(&result).iter().any(|text| text.contains(SUGAR)), "{result}");
    bot.ends_well().await;
    let vectors = stored(&world);
    assert!(vectors.len() >= 202, "{}", vectors.len());
    let vector = &vectors[0];
    assert_eq!(vector[0], "openai:text-embedding-3-small");
    assert_eq!(
        vector[2].as_str().unwrap().len(),
        256_usize.div_ceil(3) * 4 - 2,
        "a byte for each number: {vector}"
    );
    assert_eq!(world.model.violations(), Vec::<String>::new());
}

#[tokio::test]
async fn without_an_embedder_nothing_is_asked_and_words_alone_count() {
    let world = World::new().await;
    store_old(&world, 200, Some(SUGAR)).await;
    let bot = start(&world, &[SMALL]).await;
    asks(&world, "Good morning", "Hello.").await;
    let request = asks(&world, CAKE, "Why not.").await;
    assert!(!older(&request).contains(SUGAR), "{}", request.user_text());
    bot.ends_well().await;
    assert_eq!(world.model.vector_requests(), Vec::<VectorRequest>::new());
    assert_eq!(stored(&world), Vec::<Value>::new());
}

#[tokio::test]
async fn an_embedder_that_is_silent_or_fails_delays_no_answer_and_is_told_once_for_each_kind() {
    let world = World::new().await;
    let bot = start(&world, &[SMALL, EMBEDDER]).await;
    asks(&world, "My sister Ines keeps bees in Vilnius", "Lovely.").await;
    talks_of_other_things(&world, (ANN, ANN), "trip").await;
    embedded(&world, "Trains trip 3").await;
    // A success that comes after the first failure has it told again.
    settle().await;
    world.model.fail_vectors(std::iter::repeat_with(|| VectorFault::status(401, "no")).take(3));
    let request = asks(&world, "Where does Ines keep her bees?", "In Vilnius, by words.").await;
    assert!(older(&request).contains("bees in Vilnius"), "found by its words: {}", older(&request));
    asks(&world, "What else?", "Nothing else.").await;
    bot.logged("there are no vectors").await;
    let told = bot.log().matches("there are no vectors").count();
    assert_eq!(told, 1, "{}", bot.log());
    bot.kill();

    let bot = start(&world, &[SMALL, EMBEDDER]).await;
    world.model.fail_vectors(std::iter::repeat_with(|| VectorFault::Silence).take(40));
    for number in 0..5 {
        let begun = Instant::now();
        let question = format!("Where does Ines keep bees {number}?");
        let request = asks(&world, &question, &format!("As I said, number {number}.")).await;
        assert!(!older(&request).is_empty(), "words alone find something");
        assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    }
    assert!(bot.stop().await.success(), "what is silent does not keep it from ending");
}

/// Messages of an older time, in the store, and another one among the first.
async fn store_old(world: &World, count: i64, other: Option<&str>) {
    let (store, here) = (world.stored().await, ConversationId { chat: ChatId(ANN), topic: None });
    let begin: DateTime<Utc> = now() - TimeDelta::days(30);
    let session = store.conversations().session(here, begin).unwrap().id;
    for at in 0..count {
        let text = format!("The train number {at} was late again.");
        let text = other.filter(|_| at == 7).map_or(text, ToOwned::to_owned);
        // Each is answered: what is not belongs to what comes next, and would stand in the prompt with it.
        let role = if at % 2 == 0 { MessageRole::Assistant } else { MessageRole::User };
        let mut message = Message::new(session, role, text, begin + TimeDelta::minutes(at));
        let ann = Speaker { user: UserId::telegram(ANN), name: "Ann".to_owned(), username: None };
        message.speaker = Some(ann).filter(|_| role == MessageRole::User);
        store.conversations().append(message).unwrap();
    }
}

/// How many of the old messages a vector was asked for, each counted as often as it was.
fn old_embedded(world: &World) -> usize {
    passages(world).iter().filter(|text| text.contains("The train number")).count()
}

/// Waits until vectors of so many old messages were asked for.
async fn embedded_of_old(world: &World, count: usize) {
    let asked = async || (old_embedded(world) >= count).then_some(());
    eventually(|| format!("{} of {count}", old_embedded(world)), asked).await;
}

#[tokio::test]
async fn older_messages_get_their_vectors_bit_by_bit_and_each_once_also_over_a_restart() {
    const OLD: usize = 900;
    let world = World::new().await;
    store_old(&world, 900, None).await;
    let bot = start(&world, &[EMBEDDER]).await;
    asks(&world, "Good morning", "Hello.").await;
    embedded_of_old(&world, 500).await;
    settle().await;
    let first = old_embedded(&world);
    assert!(first < 600, "so many after a turn: {first}");
    bot.ends_well().await;
    assert!(stored(&world).len() >= first - 64 && stored(&world).len() <= first + 2);
    let bot = start(&world, &[EMBEDDER]).await;
    asks(&world, "Good evening", "Hello again.").await;
    embedded_of_old(&world, OLD).await;
    asks(&world, "Good night", "Sleep well.").await;
    embedded(&world, "Sleep well.").await;
    settle().await;
    bot.ends_well().await;
    let twice = old_embedded(&world) - OLD;
    assert!(twice <= 64, "only a batch that a stop broke off is made again: {twice}");
    assert_eq!(stored(&world).len(), OLD + 6);
}

#[tokio::test]
async fn another_model_makes_all_vectors_anew() {
    let world = World::new().await;
    let bot = start(&world, &[EMBEDDER]).await;
    asks(&world, SUGAR, "Understood.").await;
    embedded(&world, "Understood.").await;
    bot.ends_well().await;
    let large = ("EMBEDDER", "openai:text-embedding-3-large");
    let bot = start(&world, &[large]).await;
    asks(&world, "Good morning", "Hello.").await;
    let anew = async || {
        let asked = world.model.vector_requests();
        let texts =
            asked.iter().filter(|one| one.model == "text-embedding-3-large").flat_map(|one| &one.texts);
        let texts: Vec<&String> = texts.collect();
        let has = |words: &str| texts.iter().any(|text| text.contains(words));
        [SUGAR, "Understood.", "Hello."].into_iter().all(has).then_some(())
    };
    eventually(|| format!("{:?}", world.model.vector_requests()), anew).await;
    settle().await;
    bot.ends_well().await;
    let vectors = stored(&world);
    assert_eq!(vectors.len(), 4);
    assert!(vectors.iter().all(|vector| vector[0] == "openai:text-embedding-3-large"), "{vectors:?}");
}

#[tokio::test]
async fn a_day_that_is_nearly_used_up_has_no_vectors_made_in_the_background() {
    let world = World::new().await;
    let bot = start(&world, &[EMBEDDER, ("DAILY_TOKENS", "40000")]).await;
    world.when("costly", ModelReply::text("That was much.").usage(36_500, 50));
    world.say(ANN, ANN, "a costly question");
    says(&world, ANN, "That was much.").await;
    asks(&world, "Hi", "Cheap.").await;
    settle().await;
    bot.ends_well().await;
    assert_eq!(stored(&world), Vec::<Value>::new());
    assert!(!passages(&world).iter().any(|text| text.contains("costly")), "{:?}", passages(&world));
}

#[tokio::test]
async fn vectors_go_with_the_session_they_are_of() {
    let world = World::new().await;
    let bot = start(&world, &[EMBEDDER]).await;
    asks(&world, SUGAR, "Understood.").await;
    world.told(ANN, ANN, "/new").await;
    asks(&world, "The car is red", "I see.").await;
    embedded(&world, "I see.").await;
    let card = world.told(ANN, ANN, "/sessions").await;
    let id = crate::support::scene::number(&card["message_id"]);
    world.press(ANN, &card, "No sugar").await;
    let opened = world.shows(ANN, id, "No sugar").await;
    world.press(ANN, &opened, "Delete").await;
    let asked = world.shows(ANN, id, "for good?").await;
    world.press(ANN, &asked, "Delete").await;
    world.shows(ANN, id, "Conversations").await;
    settle().await;
    bot.ends_well().await;
    let left = world.records().all("vectors");
    let messages = world.records().all("messages");
    assert_eq!(left.len(), 2);
    assert!(left.iter().all(|(key, _)| messages.iter().any(|(other, _)| other == key)));
}
