//! `figaro demo --store`: what was said is there at the next start, however the last one ended; and what every demo
//! says of the model that answers and of what leaves the machine.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use super::Left;
use crate::support::World;
use crate::support::bot::Recipe;
use crate::support::demo::{ALEX, Demo, recipe};
use crate::support::output::refused;

/// The end of what the offline model says to what it has no rule for: the answer is whole then.
const UNKNOWN: &str = "or help for more.";

fn kept(world: &World) -> Recipe {
    recipe(world).arg("--store").arg("kept")
}

fn world_file(world: &World) -> PathBuf {
    world.folder.path().join("kept/demo/world.json")
}

/// Killed at once after each of three answers: the last moment may be lost, and what was there before it not.
async fn killed(world: &World, mut demo: Demo) -> Demo {
    let mut known = demo.history().await;
    for round in 0..3 {
        demo.ask(&format!("word {round}"), UNKNOWN).await;
        demo.kill().await;
        demo = Demo::start(world.folder.path(), &kept(world)).await;
        let now = demo.history().await;
        assert!(now.len() >= known.len() && now[..known.len()] == known, "{known:?} {now:?}");
        known = now;
    }
    demo
}

/// What was said last is on disk, and beside it nothing but the lock.
fn saved(world: &World) {
    let saved: Value = serde_json::from_slice(&fs::read(world_file(world)).unwrap()).unwrap();
    let chats = saved["chats"].as_array().unwrap();
    let private = chats.iter().find(|chat| chat["id"] == ALEX).unwrap();
    assert!(private["messages"].to_string().contains("and the end"));
    assert_eq!(
        fs::read_dir(world_file(world).parent().unwrap()).unwrap().count(),
        2,
        "the world and its lock"
    );
}

/// It goes on where it was.
pub async fn a_kept_demo_is_stopped_and_killed() -> Left {
    let world = World::new().await;
    let folder = world.folder.path();
    let demo = Demo::start(folder, &kept(&world)).await;
    demo.ask("the barber of Seville", UNKNOWN).await;
    let log = demo.printed("kept/demo/world.json").await;
    demo.stop().await;
    let demo = Demo::start(folder, &kept(&world)).await;
    assert_eq!(demo.hello().await["me"]["id"], ALEX, "the page shows nothing to nobody");
    let known = demo.history().await;
    let is_kept = |words: &str| known.iter().any(|text| text.contains(words));
    assert!(is_kept("the barber of Seville") && is_kept(UNKNOWN), "{known:?}");
    let demo = killed(&world, demo).await;
    demo.ask("and the end", UNKNOWN).await;
    let mut said = demo.history().await;
    let exit = demo.end().await;
    saved(&world);
    Left { person: said.split_off(said.len() - 1), owner: Vec::new(), log, exit }
}

/// A demo whose world is this text begins anew, and says where the text is now. Gives what it says.
async fn set_aside(world: &World, text: &str, words: &str) -> String {
    let folder = world.folder.path();
    fs::write(world_file(world), text).unwrap();
    let demo = Demo::start(folder, &kept(world)).await;
    let said = demo.printed(words).await;
    let aside = said.split_once("That file is now ").unwrap().1.split_once(';').unwrap().0;
    assert_eq!(fs::read_to_string(folder.join(aside)).unwrap(), text);
    assert_eq!(demo.history().await, Vec::<String>::new());
    demo.ask(words, UNKNOWN).await;
    demo.stop().await;
    said
}

/// It begins anew and answers, and what cannot be read is left as it is.
pub async fn the_world_of_a_kept_demo_cannot_be_read() -> Left {
    let world = World::new().await;
    let folder = world.folder.path();
    let demo = Demo::start(folder, &kept(&world)).await;
    demo.ask("the first", UNKNOWN).await;
    demo.stop().await;
    let mut log = String::new();
    let cases =
        [("{\"version\": 1, \"chats\"", "it is damaged"), ("{\"version\": 99}", "it is of version 99")];
    for (text, words) in cases {
        log += &set_aside(&world, text, words).await;
    }
    // As an earlier version left it: a store, and no world.
    fs::remove_file(world_file(&world)).unwrap();
    let demo = Demo::start(folder, &kept(&world)).await;
    demo.ask("the last", UNKNOWN).await;
    // Nor does another demo take its world from it.
    log += &refused(&world, &kept(&world)).await;
    let mut said = demo.history().await;
    Left { person: said.split_off(said.len() - 1), owner: Vec::new(), log, exit: demo.end().await }
}

/// Page and terminal say what answers and what leaves the machine.
pub async fn keys_and_caps_are_set_for_a_demo() -> Left {
    let world = World::new().await;
    let folder = world.folder.path();
    let unused = "GEMINI_API_KEY is set and not used: LLM_PROVIDER=gemini chooses it.";
    let gemini = [("LLM_PROVIDER", "gemini"), ("GEMINI_API_KEY", "g-test-key")];
    let own = [("OPENAI_BASE_URL", world.model.url()), ("OPENAI_MODEL", "offline")];
    let cases = [
        (vec![("DAILY_USD", "0.01")], ""),
        (vec![gemini[1], ("LLM_FALLBACK", "gemini:x")], unused),
        (gemini.to_vec(), ""),
        (own.to_vec(), ""),
    ];
    let mut left = Left { person: Vec::new(), owner: Vec::new(), log: String::new(), exit: None };
    for (variables, line) in cases {
        let recipe = variables.iter().fold(recipe(&world), |recipe, (name, value)| recipe.set(name, value));
        let demo = Demo::start(folder, &recipe).await;
        let notice = demo.hello().await["notice"].as_str().unwrap().to_owned();
        demo.printed(&notice).await;
        left.log += &demo.printed(line).await;
        if notice.starts_with("A small offline model") {
            demo.ask("is there anybody?", UNKNOWN).await;
        }
        left.exit = demo.end().await;
        left.person.push(notice);
    }
    let host = world.model.url().trim_start_matches("http://").trim_end_matches("/v1");
    left.person.iter_mut().for_each(|notice| *notice = notice.replace(host, "HOST"));
    left
}
