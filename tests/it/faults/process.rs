//! Processes that die or are told to: the server of tools beside the bot, the bot itself, and the demo.

use figaro_offline::model::ModelReply;
use futures::future::join;

use super::Left;
use crate::process::{child, tools_work};
use crate::support::demo::{Demo, recipe};
use crate::support::{ANN, BOB, World, proc};

/// It comes back, each time; nobody is there to say goodbye to.
pub async fn the_server_of_tools_is_killed() -> Left {
    let world = World::new().await;
    let bot = world.start_open().await;
    for _ in 0..2 {
        let before = child(&bot);
        proc::signal(before, "KILL");
        tools_work(&world).await;
        assert_ne!(child(&bot), before);
        world.ask("/status").await;
    }
    assert!(!bot.log().contains("delete session"), "{}", bot.log());
    let child = child(&bot);
    let left = Left::stopped(&world, BOB, bot).await;
    assert!(!proc::is_running(child));
    left
}

/// The model is silent when the first signal comes, and at the second the bot waits no longer.
async fn two_signals(first: &str, second: &str) -> Left {
    let world = World::new().await;
    world.script.push(ModelReply::silence());
    let mut bot = world.start_open().await;
    let child = child(&bot);
    world.say(BOB, BOB, "Are you there?");
    world.asks(1).await;
    bot.signal(first);
    bot.logged("waiting up to 8 s for 1 running turn to end; a second signal ends at once").await;
    bot.signal(second);
    assert!(bot.ended().await.success(), "{}", bot.log());
    let log = bot.log();
    assert!(log.contains("ending at once") && !log.contains("turns that are still running"), "{log}");
    proc::gone(child).await;
    world.script.push(ModelReply::text("Here I am."));
    let bot = world.start_open().await;
    world.answers(BOB, 1).await;
    let left = Left::stopped(&world, BOB, bot).await;
    assert_eq!((world.model.requests().len(), world.bot_texts(ANN).len()), (2, 0));
    left
}

pub async fn ctrl_c_is_pressed_twice_during_an_answer() -> Left {
    two_signals("INT", "INT").await
}

pub async fn two_stops_are_asked_for_during_an_answer() -> Left {
    let (left, also) = join(two_signals("TERM", "TERM"), two_signals("TERM", "INT")).await;
    assert_eq!(left.person, also.person);
    left
}

/// It ends without waiting for anything.
pub async fn ctrl_c_is_pressed_when_nothing_runs() -> Left {
    let world = World::new().await;
    let bot = world.start_open().await;
    bot.signal("INT");
    let left = Left::ended(&world, BOB, bot).await;
    assert!(!left.log.contains("waiting up to"), "{}", left.log);
    left
}

/// The terminal says what is waited for.
pub async fn ctrl_c_is_pressed_twice_during_an_answer_of_a_demo() -> Left {
    let world = World::new().await;
    let recipe = recipe(&world).arg("--store").arg("kept").set("OPENAI_API_KEY", "sk-offline-key");
    let recipe = recipe.set("OPENAI_BASE_URL", world.model.url()).set("OPENAI_MODEL", "offline");
    world.script.push(ModelReply::silence());
    let mut demo = Demo::start(world.folder.path(), &recipe).await;
    demo.say("Are you there?").await;
    world.asks(1).await;
    demo.signal("INT");
    let terminal = demo.printed("Ctrl-C again ends at once.").await;
    demo.signal("INT");
    assert!(demo.ended().await.success());
    proc::none_has(&world.folder.path().to_string_lossy()).await;
    world.script.push(ModelReply::text("Here I am."));
    let demo = Demo::start(world.folder.path(), &recipe).await;
    demo.shows("Here I am.").await;
    let mut said = demo.history().await;
    Left { person: said.split_off(said.len() - 1), owner: Vec::new(), log: terminal, exit: demo.end().await }
}
