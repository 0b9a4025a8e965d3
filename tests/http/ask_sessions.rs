//! Conversations of `figaro ask`: what is kept of them, who sees it, and what becomes of the store that they share with a bot.

use figaro_offline::model::{ModelReply, ModelRequest};

use crate::support::terminal::said;
use crate::support::{ANN, World, proc};

impl World {
    /// Asks in the terminal with these further options, and gives the request that the model got.
    async fn asks_in(&self, question: &str, options: &[&str]) -> ModelRequest {
        self.script.push(ModelReply::text("I see."));
        let recipe = self.terminal_of_bot(&[&[question][..], options].concat()).set("MEMORY_LIMIT", "50");
        let (out, error, code) = said(&recipe.run().await);
        assert_eq!((out.as_str(), code), ("I see.\n", Some(0)), "{error}");
        self.model.requests().pop().unwrap()
    }
}

fn has(request: &ModelRequest, words: &str) -> bool {
    request.body.to_string().contains(words)
}

#[tokio::test]
async fn a_session_goes_on_and_no_other_knows_of_it() {
    let world = World::new().await;
    let travel = ["--session", "travel"];
    world.asks_in("My aunt lives in Zanzibar.", &travel).await;
    let next = world.asks_in("Where does my aunt live?", &travel).await;
    assert!(has(&next, "Zanzibar") && has(&next, "I see."), "{}", next.body);
    for other in [&["--session", "work"][..], &[], &["--session", "travel", "--eval"]] {
        let request = world.asks_in("Where does my aunt live?", other).await;
        assert!(!has(&request, "Zanzibar"), "{other:?}: {}", request.body);
    }
    // The bot of this store knows nothing of it, and has nothing to do with it.
    let bot = world.start().await;
    world.script.push(ModelReply::text("I do not know."));
    world.ask("Where does my aunt live?").await;
    assert!(!has(&world.model.requests().pop().unwrap(), "Zanzibar"));
    assert_eq!(world.bot_texts(ANN).len(), 1);
    bot.ends_well().await;
}

#[tokio::test]
async fn a_test_of_an_agent_leaves_nothing_behind() {
    let world = World::new().await;
    let eval = ["--session", "travel", "--eval"];
    world.asks_in("I am allergic to peanuts.", &eval).await;
    world.asks_in("Remember that I like Zanzibar.", &["--eval"]).await;
    for later in [&["--session", "travel"][..], &eval, &[]] {
        let request = world.asks_in("What do you know of me?", later).await;
        assert!(!has(&request, "peanuts") && !has(&request, "Zanzibar"), "{later:?}: {}", request.body);
    }
    assert!(world.model.extraction_requests().is_empty(), "nothing is taken from what is said");
}

#[tokio::test]
async fn beside_a_bot_that_runs_a_session_says_what_to_do_and_a_plain_question_is_answered() {
    let world = World::new().await;
    let bot = world.start().await;
    let (out, error, code) = said(&world.terminal_of_bot(&["hello", "--session", "a"]).run().await);
    assert_eq!((out.as_str(), code), ("", Some(2)));
    assert!(error.contains("is in use by another process"), "{error}");
    assert!(
        error.contains("such as STORE_URL=redb:./terminal. Without --session no store is needed."),
        "{error}"
    );
    world.asks_in("hello", &[]).await;
    world.script.push(ModelReply::text("Here."));
    assert_eq!(world.ask("are you there?").await["text"], "Here.");
    bot.ends_well().await;
}

#[tokio::test]
async fn what_a_killed_call_has_left_is_neither_answered_later_nor_by_the_bot() {
    let world = World::new().await;
    for _ in 0..2 {
        world.script.push(ModelReply::text(&"and on ".repeat(50)).hang_after(4));
        let mut call = world.terminal_of_bot(&["Go on about it.", "--session", "a"]).call();
        call.reads_until("and on").await;
        proc::signal(call.pid(), "KILL");
        call.ends().await;
        let request = world.asks_in("What is new?", &["--session", "a"]).await;
        assert!(request.user_text().contains("What is new?"), "{}", request.user_text());
    }
    world.script.push(ModelReply::text(&"and on ".repeat(50)).hang_after(4));
    let mut call = world.terminal_of_bot(&["Go on about it.", "--session", "b"]).call();
    call.reads_until("and on").await;
    proc::signal(call.pid(), "KILL");
    call.ends().await;
    let before = world.model.requests().len();
    let bot = world.start().await;
    world.script.push(ModelReply::text("Here."));
    assert_eq!(world.ask("are you there?").await["text"], "Here.");
    assert_eq!(world.model.requests().len(), before + 1, "the bot does not go on with it");
    bot.ends_well().await;
}
