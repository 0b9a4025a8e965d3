//! What a stop waits for, and a second one that waits for nothing.

use std::time::Duration;

use figaro::demo::model::Reply;

use crate::support::demo::{Demo, recipe};
use crate::support::{ANN, PATIENCE, World, proc};

/// How soon a child must be gone once its parent is.
const SOON: Duration = Duration::from_secs(2);

async fn asked(world: &World, times: usize) {
    let is_asked = |requests: &[_]| (requests.len() >= times).then_some(());
    world.model.wait_until(PATIENCE, |requests| is_asked(requests)).await.expect("the model is asked");
}

#[tokio::test]
async fn a_second_signal_ends_at_once_and_the_next_start_goes_on() {
    let signals = [("INT", "INT"), ("TERM", "TERM"), ("TERM", "INT")].map(|(first, second)| async move {
        let world = World::new().await;
        world.script.push(Reply::silence());
        let mut bot = world.start().await;
        let child = bot.children()[0];
        world.telegram.say(ANN, ANN, "Are you there?").unwrap();
        asked(&world, 1).await;
        bot.signal(first);
        bot.logged("waiting up to 8 s for 1 running turn to end; a second signal ends at once").await;
        bot.signal(second);
        assert!(bot.ended().await.success(), "{}", bot.log());
        let log = bot.log();
        assert!(log.contains("ending at once") && !log.contains("turns that are still running"), "{log}");
        assert!(proc::becomes(SOON, || !proc::is_running(child)).await, "the server is left");
        world.script.push(Reply::text("Here I am."));
        let bot = world.start().await;
        assert_eq!(world.answers(ANN, 1).await[0]["text"], "Here I am.");
        assert!(bot.stop().success());
        assert_eq!((world.bot_texts(ANN).len(), world.model.requests().len()), (1, 2));
    });
    futures::future::join_all(signals).await;
}

#[tokio::test]
async fn without_a_turn_nothing_is_waited_for() {
    let world = World::new().await;
    let mut bot = world.start().await;
    bot.signal("INT");
    assert!(bot.ended().await.success());
    let log = bot.log();
    assert!(
        log.contains("stopping: no more updates are taken in") && !log.contains("waiting up to"),
        "{log}"
    );
}

#[tokio::test]
async fn the_demo_says_on_the_terminal_what_it_waits_for() {
    let world = World::new().await;
    let recipe = recipe(&world).arg("--store").arg("kept");
    let recipe = recipe.set("OPENAI_API_KEY", "sk-offline-key");
    let recipe = recipe.set("OPENAI_BASE_URL", world.model.url()).set("OPENAI_MODEL", "offline");
    world.script.push(Reply::silence());
    let mut demo = Demo::start(world.folder.path(), &recipe).await;
    demo.say("Are you there?").await;
    asked(&world, 1).await;
    demo.signal("INT");
    demo.printed("Stopping: waiting up to 8 s for 1 running turn to end. Ctrl-C again ends at once.").await;
    demo.signal("INT");
    assert!(demo.ended().await.success());
    assert!(
        proc::becomes(SOON, || proc::with_words(&world.folder.path().to_string_lossy()).is_empty()).await
    );
    world.script.push(Reply::text("Here I am."));
    let demo = Demo::start(world.folder.path(), &recipe).await;
    demo.shows("Here I am.").await;
    demo.stop().await;
}
