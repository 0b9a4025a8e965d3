//! The command that the recipe adds: people give it, and its button changes its card.

use crate::support::scene::{labels, number, text};
use crate::support::{ANN, World};

#[tokio::test]
async fn an_added_command_answers_and_its_button_changes_the_card() {
    let world = World::new().await;
    world.person(13, "Rui", "pt");
    let _bot = world.start_open().await;
    let card = world.told(ANN, ANN, "/tally").await;
    assert_eq!((text(&card), labels(&card)), ("Tally\nCounted: 0", vec!["One more".to_owned()]));
    for counted in ["Counted: 1", "Counted: 2"] {
        world.press(ANN, &card, "One more").await;
        world.shows(ANN, number(&card["message_id"]), counted).await;
    }
    assert_eq!(world.forged(ANN, &card, "tally:show:many").await, "This is no longer up to date.");
    let help = world.told(ANN, ANN, "/help").await;
    assert!(text(&help).contains("/tally – count something"), "{help}");
    let untranslated = world.told(13, 13, "/tally").await;
    assert_eq!(labels(&untranslated), ["One more"], "a text without a translation is in English");
}
