//! `figaro demo --store`: what was said is there at the next start, however the last one ended; and what every demo
//! says of the model that answers and of what leaves the machine.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::check::refused;
use crate::support::World;
use crate::support::bot::Recipe;
use crate::support::demo::{ALEX, Demo, recipe};

fn kept(world: &World) -> Recipe {
    recipe(world).arg("--store").arg("kept")
}

fn world_file(world: &World) -> PathBuf {
    world.folder.path().join("kept/demo/world.json")
}

#[tokio::test]
async fn a_kept_demo_goes_on_where_it_was() {
    let world = World::new().await;
    let folder = world.folder.path();
    let demo = Demo::start(folder, &kept(&world)).await;
    demo.ask("the barber of Seville", "the barber of Seville").await;
    assert!(demo.printed("kept/demo/world.json").await.contains("kept"));
    demo.stop().await;
    let mut demo = Demo::start(folder, &kept(&world)).await;
    assert_eq!(demo.hello().await["me"]["id"], ALEX, "the page shows nothing to nobody");
    let mut known = demo.history().await;
    assert!(known.iter().filter(|text| text.contains("the barber of Seville")).count() >= 2, "{known:?}");
    // Killed at once after each answer: the last moment may be lost, and what was there before it not.
    for round in 0..3 {
        demo.ask(&format!("word {round}"), &format!("word {round}")).await;
        demo.kill().await;
        demo = Demo::start(folder, &kept(&world)).await;
        let now = demo.history().await;
        assert!(now.len() >= known.len() && now[..known.len()] == known, "{known:?} {now:?}");
        known = now;
    }
    demo.ask("and the end", "and the end").await;
    demo.stop().await;
    let saved: Value = serde_json::from_slice(&fs::read(world_file(&world)).unwrap()).unwrap();
    let chats = saved["chats"].as_array().unwrap();
    let private = chats.iter().find(|chat| chat["id"] == ALEX).unwrap();
    assert!(private["messages"].to_string().contains("and the end"));
    assert_eq!(
        fs::read_dir(world_file(&world).parent().unwrap()).unwrap().count(),
        2,
        "the world and its lock"
    );
}

#[tokio::test]
async fn a_kept_demo_without_a_world_that_can_be_read_begins_anew_and_answers() {
    let world = World::new().await;
    let folder = world.folder.path();
    let demo = Demo::start(folder, &kept(&world)).await;
    demo.ask("the first", "the first").await;
    demo.stop().await;
    let cases =
        [("{\"version\": 1, \"chats\"", "it is damaged"), ("{\"version\": 99}", "it is of version 99")];
    for (text, words) in cases {
        fs::write(world_file(&world), text).unwrap();
        let demo = Demo::start(folder, &kept(&world)).await;
        let said = demo.printed(words).await;
        let aside = said.split_once("That file is now ").unwrap().1.split_once(';').unwrap().0;
        assert_eq!(fs::read_to_string(folder.join(aside)).unwrap(), text);
        assert_eq!(demo.history().await, Vec::<String>::new());
        demo.ask(words, words).await;
        demo.stop().await;
    }
    // As an earlier version left it: a store, and no world.
    fs::remove_file(world_file(&world)).unwrap();
    let demo = Demo::start(folder, &kept(&world)).await;
    demo.ask("the last", "the last").await;
    let message = refused(&world, &kept(&world)).await;
    assert!(message.contains("another demo is using") && message.contains("--store"), "{message}");
    demo.stop().await;
}

#[tokio::test]
async fn page_and_terminal_say_which_model_answers_and_what_leaves_the_machine() {
    let world = World::new().await;
    let folder = world.folder.path();
    let offline = "A small offline model answers; nothing leaves this machine.";
    let unused = "GEMINI_API_KEY is set and not used: LLM_PROVIDER=gemini chooses it.";
    let gemini = [("LLM_PROVIDER", "gemini"), ("GEMINI_API_KEY", "g-test-key")];
    let own = [("OPENAI_BASE_URL", world.model.url()), ("OPENAI_MODEL", "offline")];
    let here = format!(
        "The model openai:offline answers. Your messages go to openai at {} (on this machine).",
        world.model.url().trim_start_matches("http://").trim_end_matches("/v1")
    );
    let cases = [
        (vec![("DAILY_USD", "0.01")], offline, ""),
        (vec![gemini[1], ("LLM_FALLBACK", "gemini:x")], offline, unused),
        (
            gemini.to_vec(),
            "The model gemini:gemini-3.5-flash answers. Your messages go to gemini at \
             generativelanguage.googleapis.com.",
            "",
        ),
        (own.to_vec(), here.as_str(), ""),
    ];
    for (variables, notice, line) in cases {
        let recipe = variables.iter().fold(recipe(&world), |recipe, (name, value)| recipe.set(name, value));
        let demo = Demo::start(folder, &recipe).await;
        demo.printed(notice).await;
        demo.printed(line).await;
        assert_eq!(demo.hello().await["notice"], notice, "{variables:?}");
        if notice == offline {
            demo.ask("is there anybody?", "is there anybody?").await;
        }
        demo.stop().await;
    }
}
