//! Live locations: the latest place is known, and a move is no question.

use figaro_offline::model::ModelReply;
use figaro_offline::telegram::Say;
use serde_json::json;

use crate::support::{ANN, World};

#[tokio::test]
async fn of_a_live_location_the_latest_place_is_known_and_no_move_is_a_question() {
    let world = World::new().await;
    world.otherwise(ModelReply::text("I see."));
    let bot = world.bot().spawn();
    bot.ready().await;
    let live = |latitude: f64| json!({"latitude": latitude, "longitude": 24.1, "live_period": 900});
    let sent = world.telegram.send(Say::new(ANN, ANN, "").field("location", live(56.5))).unwrap();
    let request = world.asks(1).await;
    assert!(request.user_text().contains("56.5, 24.1, live"), "{}", request.user_text());
    world.answers(ANN, 1).await;
    let messages = world.telegram.messages(ANN);
    let message = messages.iter().find(|message| message["message_id"] == sent.message_id).unwrap();
    for latitude in [57.5, 58.5, 59.5] {
        let mut moved = message.clone();
        moved["location"] = live(latitude);
        moved["edit_date"] = moved["date"].clone();
        world.telegram.push_raw(json!({"edited_message": moved}));
    }
    world.caught_up().await;
    world.say(ANN, ANN, "where am I?");
    let request = world.asks(2).await;
    let body = request.body.to_string();
    assert!(body.contains("59.5, 24.1, live") && !body.contains("56.5, 24.1"), "{body}");
}
