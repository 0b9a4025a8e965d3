//! What a compatible server's model takes that no list knows: found out by what it refuses, kept in mind, or said by the owner.

use serde_json::{Value, json};

use figaro_offline::telegram::Say;

use crate::support::bot::Recipe;
use crate::support::output::words;
use crate::support::replay::{Replay, Sent};
use crate::support::wait::eventually;
use crate::support::{ANN, World};

fn answer() -> Sent {
    let chunk = json!({"choices": [{"index": 0, "delta": {"content": "Yes."}, "finish_reason": "stop"}]});
    Sent::events(&format!("data: {chunk}\n\ndata: [DONE]\n\n"))
}

fn refusal(status: u16, words: &str) -> Sent {
    Sent::document(status, &json!({"error": {"message": words, "code": status}}))
}

fn small(world: &World, server: &Replay) -> Recipe {
    let url = format!("{}/v1", server.url);
    world.bot_of("compatible").set("COMPATIBLE_BASE_URL", &url).set("COMPATIBLE_MODEL", "smollm2")
}

/// Ann sends a picture; the answer is waited for.
async fn picture(world: &World, at: usize) {
    let bytes = [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', 1];
    world.telegram.send(Say::new(ANN, ANN, "What is this?").photo(bytes.to_vec())).unwrap();
    world.answers(ANN, at).await;
}

fn parts(request: &Value) -> (bool, bool) {
    let has_tools = request["tools"].as_array().is_some_and(|tools| !tools.is_empty());
    (request.to_string().contains("data:image/png"), has_tools)
}

#[tokio::test]
async fn a_refused_picture_and_refused_tools_are_left_out_of_what_follows() {
    let cases = [
        (
            refusal(500, "image input is not supported - hint: you may need to provide the mmproj"),
            (false, true),
        ),
        (refusal(404, "No endpoints found that support tool use"), (true, false)),
    ];
    for (refused, left) in cases {
        let world = World::new().await;
        let server = Replay::start(vec![refused, answer()]).await;
        let bot = small(&world, &server).spawn();
        bot.ready().await;
        picture(&world, 1).await;
        picture(&world, 2).await;
        let sent: Vec<_> = server.requests().iter().map(parts).collect();
        assert_eq!(sent, [(true, true), left, left]);
        bot.ends_well().await;
    }
}

#[tokio::test]
async fn what_was_refused_is_left_out_after_a_restart_too_and_check_tells_it() {
    let world = World::new().await;
    let refused = refusal(500, "image input is not supported - hint: you may need to provide the mmproj");
    let server = Replay::start(vec![refused, answer()]).await;
    let bot = small(&world, &server).spawn();
    bot.ready().await;
    picture(&world, 1).await;
    bot.ends_well().await;
    let bot = small(&world, &server).spawn();
    bot.ready().await;
    picture(&world, 2).await;
    let sent: Vec<_> = server.requests().iter().map(parts).collect();
    assert_eq!(sent, [(true, true), (false, true), (false, true)]);
    // Beside the running bot, and where the address is another one.
    let line = "compatible:smollm2: its service refused pictures, which is left out for a week";
    let (told, _) = words(&small(&world, &server).arg("check").run().await);
    assert!(told.contains(line), "{told}");
    let other = small(&world, &server).set("COMPATIBLE_BASE_URL", "http://127.0.0.1:1/v1");
    let (told, _) = words(&other.arg("check").run().await);
    assert!(!told.contains(line), "{told}");
    bot.ends_well().await;
}

#[tokio::test]
async fn what_the_owner_says_of_a_model_holds_from_the_first_request_on() {
    for (said, left) in [("text", (false, false)), ("tools", (false, true)), ("pictures/8192", (true, false))]
    {
        let world = World::new().await;
        let server = Replay::start(vec![answer()]).await;
        let own = format!("compatible:smol*={said}");
        let bot = small(&world, &server).set("MODEL_CAPABILITIES", &own).spawn();
        bot.ready().await;
        picture(&world, 1).await;
        assert_eq!(server.requests().iter().map(parts).collect::<Vec<_>>(), [left], "{said}");
        bot.ends_well().await;
    }
}

#[tokio::test]
async fn an_unknown_model_is_held_to_a_form_and_told_of_it_in_words() {
    for refused in [None, Some(refusal(400, "This response_format type is unavailable now"))] {
        let world = World::new().await;
        let none = "{\\\"items\\\":[]}";
        let chunk = format!(
            "{{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{none}\"}},\"finish_reason\":\"stop\"}}]}}"
        );
        let read = Sent::events(&format!("data: {chunk}\n\ndata: [DONE]\n\n"));
        let is_refused = refused.is_some();
        let answers = [Some(answer()), refused, Some(read)].into_iter().flatten().collect();
        let server = Replay::start(answers).await;
        let bot = small(&world, &server).set("MEMORY_LIMIT", "50").spawn();
        bot.ready().await;
        world.told(ANN, ANN, "I am a baker and I live in Lisbon.").await;
        let wanted = if is_refused { 3 } else { 2 };
        eventually(
            || format!("{:?}", server.requests()),
            async || (server.requests().len() >= wanted).then_some(()),
        )
        .await;
        let forms: Vec<bool> =
            server.requests().iter().skip(1).map(|request| request["response_format"].is_object()).collect();
        assert_eq!(forms, if is_refused { vec![true, false] } else { vec![true] });
        bot.ends_well().await;
    }
}
