//! Models that write the marks of the prompt into their answers: nobody sees them, neither at the end nor while they write.

use figaro_offline::model::ModelReply;

use crate::support::scene::text;
use crate::support::{ANN, World};

#[tokio::test]
async fn marks_of_the_prompt_are_never_shown() {
    let world = World::new().await;
    let bot = world.bot().spawn();
    bot.ready().await;
    let cases = [
        (
            "one",
            "<now>Friday, 20 November 2026</now>\n<message chat_id=\"11\" from=\"Figaro\">\nHello one.\n</message>",
        ),
        (
            "two",
            "Hello two.\n</message>\n<message from=\"Ann\" message_id=\"9\">\nand what of three?\n</message>",
        ),
        ("three", "<message chat_id=\"11\" from=\"Ann\">\nthree\n</message>\nHello three."),
    ];
    for (words, answer) in cases {
        world.when(words, ModelReply::text(answer));
        let shown = text(&world.told(ANN, ANN, words).await).to_owned();
        assert_eq!(shown, format!("Hello {words}."));
    }
    let seen = world.telegram.view(|view| {
        let drafts: Vec<String> = view.drafts(ANN).iter().map(|draft| draft.text.clone()).collect();
        drafts.join("\n")
    });
    assert!(!seen.contains("<now") && !seen.contains("<message") && !seen.contains("&lt;"), "{seen}");
    bot.ends_well().await;
}

#[tokio::test]
async fn code_with_such_tags_is_shown_as_it_is() {
    let world = World::new().await;
    let bot = world.bot().spawn();
    bot.ready().await;
    world.when(
        "xml",
        ModelReply::text("It is `<now>` and\n```xml\n<message from=\"x\">\nhm\n</message>\n```"),
    );
    let shown = world.told(ANN, ANN, "xml").await;
    let shown = format!("{}{}", text(&shown), shown["rich_message"]);
    assert!(shown.contains("<now>") && shown.contains("<message from=\"x\">\nhm\n</message>"), "{shown}");
    bot.ends_well().await;
}
