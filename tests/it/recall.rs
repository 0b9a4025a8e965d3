//! What of an old conversation stands in a later request, and what `recall` finds: messages of the same chat that bear on the
//! question, through restarts, moves and stores of older versions; nothing of any other chat.

use chrono::{DateTime, TimeDelta, Utc};
use figaro_base::ids::{ChatId, UserId};
use figaro_domain::conversation::{ConversationId, Message, MessageRole};
use figaro_domain::message::Speaker;
use figaro_offline::model::{Gate, ModelReply, ModelRequest};
use serde_json::{Value, json};

use super::history::key_in;
use super::task_tools::{now, start};
use crate::support::calls::{call, calls, says};
use crate::support::{ANN, BOB, World};

/// So small that a few exchanges fill it.
pub const SMALL: (&str, &str) = ("HISTORY_TOKENS", "600");
const BEES: &str = "My sister Ines keeps bees in Vilnius";
const ASKED: &str = "Where does Ines keep her bees?";

/// Someone writes, and the answer is waited for; gives the first request of it.
pub async fn says_and_gets(world: &World, (who, chat): (i64, i64), said: &str, answer: &str) -> ModelRequest {
    let before = world.model.requests().len();
    world.when(said, ModelReply::text(answer));
    world.say(who, chat, &format!("@figaro_bot {said}"));
    let request = world.asks(before + 1).await;
    says(world, chat, answer).await;
    request
}

/// Exchanges about other things, which take all the room of the newest messages.
pub async fn talks_of_other_things(world: &World, who: (i64, i64), about: &str) {
    for at in 0..5 {
        let said = format!("{about} {at}{}", ": the train was late and full again today".repeat(8));
        says_and_gets(world, who, &said, &format!("Trains {about} {at}{}", ". So it is".repeat(15))).await;
    }
}

/// What a question carries of older messages; empty for none.
pub fn older(request: &ModelRequest) -> String {
    let text = request.user_text();
    let Some((_, rest)) = text.split_once("<older_messages>") else { return String::new() };
    rest.split_once("</older_messages>").expect("its end").0.to_owned()
}

/// The texts that `recall` gave.
pub fn found(result: &Value) -> Vec<&str> {
    let messages = result["messages"].as_array().unwrap_or_else(|| panic!("{result}"));
    messages.iter().map(|message| message["text"].as_str().unwrap()).collect()
}

/// What `recall` gives for a query.
pub async fn recall(world: &World, who: (i64, i64), said: &str, query: &str) -> Value {
    call(world, who, said, "recall", json!({"query": query})).await
}

#[tokio::test]
async fn an_old_message_stands_once_with_its_date_in_a_question_that_it_bears_on() {
    let world = World::new().await;
    let _bot = start(&world, &[SMALL]).await;
    let day = || now().format("%Y-%m-%d").to_string();
    let before = day();
    says_and_gets(&world, (ANN, ANN), BEES, "How lovely.").await;
    says_and_gets(&world, (BOB, BOB), "Our Ines keeps bees in Lisbon", "I see.").await;
    let near = says_and_gets(&world, (ANN, ANN), "What else does Ines keep?", "Nothing.").await;
    assert_eq!(older(&near), "", "all of it is there anyway");
    talks_of_other_things(&world, (ANN, ANN), "trip").await;

    let request = says_and_gets(&world, (ANN, ANN), ASKED, "In Vilnius.").await;
    let shown = older(&request);
    assert!(shown.contains(&format!("Ann: @figaro_bot {BEES}\n")), "{shown}");
    let all = request.body.to_string();
    assert_eq!(all.matches(BEES).count(), 1, "{all}");
    assert!([before, day()].iter().any(|day| shown.contains(&format!("\n{day}\n"))), "{shown}");
    assert!(!all.contains("Lisbon"), "of another chat: {all}");
    let at = |words: &str| request.user_text().find(words).unwrap_or_else(|| panic!("{words}: {all}"));
    assert!(at("</older_messages>") < at("<now>") && at("<now>") < at(ASKED), "the question comes last");
}

#[tokio::test]
async fn a_new_session_begins_anew_but_for_what_is_vital() {
    let world = World::new().await;
    let _bot = start(&world, &[]).await;
    says_and_gets(&world, (ANN, ANN), BEES, "How lovely.").await;
    says_and_gets(&world, (ANN, ANN), "I am allergic to nuts", "Noted.").await;
    says_and_gets(&world, (BOB, BOB), "I am allergic to fish", "Noted by me.").await;
    world.told(ANN, ANN, "/new").await;
    let request = says_and_gets(&world, (ANN, ANN), ASKED, "I do not know.").await;
    assert!(older(&request).contains("I am allergic to nuts"), "{request:?}");
    let all = request.body.to_string();
    assert!(!all.contains("Vilnius") && !all.contains("fish"), "{all}");
}

#[tokio::test]
async fn recall_is_offered_once_there_is_more_and_finds_it_in_this_chat_alone() {
    let world = World::new().await;
    let _bot = start(&world, &[SMALL]).await;
    let first = says_and_gets(&world, (ANN, ANN), BEES, "How lovely.").await;
    let second = says_and_gets(&world, (ANN, ANN), "And she sings.", "She does.").await;
    for request in [first, second] {
        assert!(!request.tool_names().contains(&"recall"), "all of it is shown: {:?}", request.tool_names());
    }
    talks_of_other_things(&world, (ANN, ANN), "trip").await;
    let cut = says_and_gets(&world, (ANN, ANN), "What a day", "Indeed.").await;
    assert!(cut.tool_names().contains(&"recall"), "{:?}", cut.tool_names());

    world.told(ANN, ANN, "/new").await;
    let anew = says_and_gets(&world, (ANN, ANN), "Good morning", "Hello again.").await;
    assert!(anew.tool_names().contains(&"recall"), "{:?}", anew.tool_names());
    let result = recall(&world, (ANN, ANN), "think back", "Ines bees").await;
    assert!(found(&result)[0].contains(BEES), "of another session: {result}");
    let one = &result["messages"][0];
    assert_eq!(one["from"], "Ann");
    assert!(
        DateTime::parse_from_rfc3339(&format!("{}:00Z", one["sent"].as_str().unwrap().replace(' ', "T")))
            .is_ok()
    );

    says_and_gets(&world, (BOB, BOB), "I keep a cat", "Nice.").await;
    world.told(BOB, BOB, "/new").await;
    let result = recall(&world, (BOB, BOB), "think of mine", "Ines bees Vilnius, and a cat").await;
    let texts = found(&result);
    assert!(texts.iter().any(|text| text.contains("I keep a cat")), "{result}");
    assert!(!result.to_string().contains("Vilnius"), "of another chat: {result}");
    for (said, query) in [("nothing", String::new()), ("too much", "bee ".repeat(200))] {
        let refused = recall(&world, (ANN, ANN), said, &query).await;
        assert_eq!(refused["success"], false, "{refused}");
    }
}

#[tokio::test]
async fn a_long_old_answer_stands_in_part_with_a_key_to_the_whole() {
    let world = World::new().await;
    let _bot = start(&world, &[("HISTORY_TOKENS", "1500")]).await;
    let sentence = |at: usize| format!("Step {at} of the plan asks for patience and dry wood.");
    let mut steps: Vec<String> = (0..60).map(sentence).collect();
    steps[30] = "The hive of Ines must be smoked with pine needles.".to_owned();
    let long = steps.join(" ");
    says_and_gets(&world, (ANN, ANN), "Tell me the whole plan", &long).await;
    for about in ["trip", "way back", "next trip"] {
        talks_of_other_things(&world, (ANN, ANN), about).await;
    }
    let request = says_and_gets(&world, (ANN, ANN), "With what is the hive of Ines smoked?", "Pine.").await;
    let shown = older(&request);
    assert!(shown.contains(&steps[30]), "the sentence that matters: {shown}");
    assert!(
        shown.contains(" … [session-") && !shown.contains(&long) && !shown.contains(&steps[50]),
        "only a part: {shown}"
    );
    let key = key_in(&[shown]);
    assert!(request.tool_names().contains(&"lookup"), "{:?}", request.tool_names());
    let whole = call(&world, (ANN, ANN), "read it whole", "lookup", json!({"key": key})).await;
    assert_eq!(whole["text"], long);
}

#[tokio::test]
async fn a_kill_changes_nothing_of_what_is_found() {
    let world = World::new().await;
    let bot = start(&world, &[SMALL]).await;
    says_and_gets(&world, (ANN, ANN), BEES, "How lovely.").await;
    talks_of_other_things(&world, (ANN, ANN), "trip").await;
    let (before, gate) = (world.asked().len(), Gate::new());
    world.when(ASKED, ModelReply::text("Never said.").behind(&gate));
    world.say(ANN, ANN, ASKED);
    let first = world.asks(before + 1).await;
    assert!(older(&first).contains(BEES), "{first:?}");
    bot.kill();
    world.when(ASKED, ModelReply::text("In Vilnius."));
    let _bot = start(&world, &[SMALL]).await;
    says(&world, ANN, "In Vilnius.").await;
    let again = world.asked().pop().unwrap();
    assert_eq!(older(&again), older(&first));
    let result = recall(&world, (ANN, ANN), "think back", "Ines bees").await;
    assert!(found(&result).iter().any(|text| text.contains(BEES)), "{result}");
}

#[tokio::test]
async fn an_answer_that_retry_replaced_is_not_found() {
    let world = World::new().await;
    let _bot = start(&world, &[SMALL]).await;
    says_and_gets(&world, (ANN, ANN), "Who lives in the lighthouse?", "Zacharias the wizard lives there.")
        .await;
    world.script.push(ModelReply::text("Ottilie the keeper lives there."));
    world.told(ANN, ANN, "/retry").await;
    talks_of_other_things(&world, (ANN, ANN), "trip").await;
    let request =
        says_and_gets(&world, (ANN, ANN), "Is it a wizard or a keeper who lives there?", "One.").await;
    assert!(older(&request).contains("Ottilie the keeper"), "{request:?}");
    assert!(!request.body.to_string().contains("Zacharias"), "{request:?}");
    let result = recall(&world, (ANN, ANN), "think back", "Zacharias the wizard in the lighthouse").await;
    assert!(!found(&result).iter().any(|text| text.contains("Zacharias the wizard lives")), "{result}");
}

#[tokio::test]
async fn a_group_takes_its_memory_along_when_it_becomes_a_supergroup() {
    const GROUP: i64 = -500;
    let world = World::new().await;
    world.telegram.add_group(GROUP, "Garden");
    world.join(GROUP);
    let _bot = start(&world, &[SMALL]).await;
    says_and_gets(&world, (BOB, GROUP), BEES, "How lovely.").await;
    talks_of_other_things(&world, (BOB, GROUP), "trip").await;
    let before = says_and_gets(&world, (BOB, GROUP), ASKED, "In Vilnius.").await;
    assert!(older(&before).contains(BEES), "{before:?}");
    let new = world.telegram.migrate(GROUP).unwrap();
    talks_of_other_things(&world, (BOB, new), "way back").await;
    let request = says_and_gets(&world, (BOB, new), "Whose sister has bees?", "Bob's.").await;
    assert!(older(&request).contains(BEES), "{request:?}");
    let result = recall(&world, (BOB, new), "think back", "Ines bees").await;
    assert!(found(&result).iter().any(|text| text.contains(BEES)), "{result}");
}

#[tokio::test]
async fn an_edited_message_is_found_by_its_new_words_and_not_by_its_old_ones() {
    const BOAT: &str = "Our wooden boat Falcon is moored in Tromso";
    let world = World::new().await;
    let bot = start(&world, &[SMALL]).await;
    world.when(BEES, ModelReply::text("How lovely."));
    let sent = world.say(ANN, ANN, BEES);
    says(&world, ANN, "How lovely.").await;
    talks_of_other_things(&world, (ANN, ANN), "trip").await;
    let before = says_and_gets(&world, (ANN, ANN), ASKED, "In Vilnius.").await;
    assert!(older(&before).contains(BEES), "{before:?}");
    world.telegram.edit(ANN, ANN, sent.message_id, BOAT).unwrap();
    world.caught_up().await;
    talks_of_other_things(&world, (ANN, ANN), "way back").await;
    let request =
        says_and_gets(&world, (ANN, ANN), "Where does my sister Ines keep bees?", "Who knows.").await;
    assert!(!older(&request).contains(BOAT), "its old words find it: {}", older(&request));
    talks_of_other_things(&world, (ANN, ANN), "walk").await;
    let request =
        says_and_gets(&world, (ANN, ANN), "Where is our wooden boat Falcon moored?", "In the north.").await;
    assert!(older(&request).contains(BOAT), "{}", older(&request));
    bot.ends_well().await;
    assert_eq!(world.records().all("index_edits"), [], "the index has taken note of it");
}

/// So many messages are in the old store: more than a block of the index holds.
const STORED: i64 = 700;

#[tokio::test]
async fn a_store_without_an_index_is_indexed_at_the_first_question() {
    let world = World::new().await;
    let (store, here) = (world.stored().await, ConversationId { chat: ChatId(ANN), topic: None });
    let begin: DateTime<Utc> = now() - TimeDelta::days(30);
    let session = store.conversations().session(here, begin).unwrap().id;
    for at in 0..STORED {
        let text = if at == 40 { BEES.to_owned() } else { format!("The train number {at} was late again.") };
        let mut message = Message::new(session, MessageRole::User, text, begin + TimeDelta::minutes(at));
        message.speaker =
            Some(Speaker { user: UserId::telegram(ANN), name: "Ann".to_owned(), username: None });
        store.conversations().append(message).unwrap();
    }
    drop(store);
    let records = world.records();
    assert_eq!(records.all("index_blocks"), [], "nothing has made an index");
    drop(records);
    let bot = start(&world, &[]).await;
    let request = says_and_gets(&world, (ANN, ANN), ASKED, "In Vilnius.").await;
    let shown = older(&request);
    assert!(shown.contains(BEES), "{shown}");
    assert!(shown.contains(&begin.format("%Y-%m-%d").to_string()), "{shown}");
    bot.ends_well().await;
    assert!(!world.records().all("index_blocks").is_empty(), "the index is kept");
}

#[tokio::test]
async fn of_a_long_list_of_notes_those_that_bear_on_the_question_are_told() {
    let world = World::new().await;
    let _bot = start(&world, &[]).await;
    let films = (0..24).map(|number| format!("the film number {number}"));
    let all = films.chain(["gardens of Kyoto, with Mia".to_owned(), "a documentary on whales".to_owned()]);
    let add = |content: String| ("add_note", json!({"key": "films", "content": content}));
    calls(&world, (ANN, ANN), "note them all", all.map(add).collect()).await;

    let notes = |request: &ModelRequest| {
        let text = request.user_text();
        text.split_once("<notes>").unwrap().1.split_once("</notes>").unwrap().0.to_owned()
    };
    let asked = says_and_gets(&world, (ANN, ANN), "Which film about a garden was that?", "Kyoto.").await;
    let told = notes(&asked);
    assert!(told.contains("(26 items") && told.contains("gardens of Kyoto, with Mia"), "{told}");
    assert!(!told.contains("whales") && !told.contains("number 3"), "{told}");
    let asked = says_and_gets(&world, (ANN, ANN), "Good evening", "Hello.").await;
    assert!(!notes(&asked).contains("among them"), "{}", notes(&asked));
    world.all_well();
}
