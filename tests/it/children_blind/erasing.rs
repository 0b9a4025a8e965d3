//! `/forget` reaches what children said and were told, after their turn and while it goes on.

use figaro_offline::model::{Gate, ModelReply, ModelRequest};
use serde_json::json;

use super::{Scene, agent, asks, is_of};
use crate::forgetting::BUSY;
use crate::support::bytes::holding;
use crate::support::scene::number;
use crate::support::{BOB, Bot, World};

/// Said by children alone.
const SECRET: &[u8] = b"quetzal-7719";
const END: &str = "I keep it to myself.";

fn cast(world: &World) {
    agent(world, "boss", &["agents: [silent, speaker]", "tools: [{name: ask_agent}]"]);
    agent(world, "silent", &["tools: [{name: list_notes}]"]);
    agent(world, "speaker", &["speaks: true"]);
}

/// Waits until no file of the store holds the secret.
async fn is_gone(scene: &Scene, bot: &Bot) {
    bot.logged("what was erased is gone from the files").await;
    scene.world.erased(&[SECRET]).await;
}

async fn forgets_everything(scene: &Scene) {
    let card = scene.world.told(BOB, BOB, "/forget").await;
    let id = number(&card["message_id"]);
    scene.world.press(BOB, &card, "Everything").await;
    scene.world.shows(BOB, id, "Forget everything about you").await;
    scene.world.press(BOB, &card, "Forget").await;
    scene.world.shows(BOB, id, "Forgotten").await;
}

fn brain(gate: Option<Gate>) -> impl Fn(&ModelRequest) -> ModelReply + Send + Sync + 'static {
    move |request| {
        let secret = String::from_utf8_lossy(SECRET);
        if is_of(request, "silent") {
            return match request.tool_results().len() {
                0 => ModelReply::call("list_notes", json!({"key": secret})),
                _ => ModelReply::text(&format!("The silent one found {secret}.")),
            };
        }
        if is_of(request, "speaker") {
            return ModelReply::text(&format!("The speaker tells you {secret}."));
        }
        if request.tool_results().is_empty() {
            let input = format!("Find it, and mind {secret}.");
            return ModelReply::turn(vec![asks("silent", &input), asks("speaker", "Say it.")]);
        }
        match &gate {
            Some(gate) => ModelReply::text(END).behind(gate),
            None => ModelReply::text(END),
        }
    }
}

async fn scene(gate: Option<Gate>) -> (Scene, Bot) {
    let world = World::new().await;
    cast(&world);
    let scene = Scene::new(world, brain(gate)).await.set("ERASE_AFTER", "1");
    let bot = scene.start().await;
    scene.world.told(BOB, BOB, "/config agent boss").await;
    (scene, bot)
}

#[tokio::test]
async fn what_children_said_is_gone_after_forget() {
    let (scene, bot) = scene(None).await;
    scene.world.say(BOB, BOB, "Find it");
    scene.says(BOB, END).await;
    forgets_everything(&scene).await;
    is_gone(&scene, &bot).await;
    scene.is_quiet(&[]).await;
    bot.ends_well().await;
    assert_eq!(holding(&scene.world.store_folder(), &[SECRET]), [""; 0]);
}

/// Asked while the turn still waits for the boss: the turn has to be stopped first.
#[tokio::test]
async fn what_children_said_is_gone_when_forgotten_in_the_middle() {
    let gate = Gate::new();
    let (scene, bot) = scene(Some(gate.clone())).await;
    scene.world.say(BOB, BOB, "Find it");
    scene.asked("boss", 2).await;
    let card = scene.world.told(BOB, BOB, "/forget").await;
    scene.world.press(BOB, &card, "Everything").await;
    scene.world.shows(BOB, number(&card["message_id"]), "Forget everything about you").await;
    assert_eq!(scene.world.press(BOB, &card, "Forget").await, BUSY);
    scene.world.say(BOB, BOB, "/stop");
    // The turn is over once it says so.
    scene.says(BOB, "topped").await;
    gate.open();
    forgets_everything(&scene).await;
    is_gone(&scene, &bot).await;
    scene.is_quiet(&[]).await;
    bot.ends_well().await;
    assert_eq!(holding(&scene.world.store_folder(), &[SECRET]), [""; 0]);
}
