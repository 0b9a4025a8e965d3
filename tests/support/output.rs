//! What a process said before it ended.

use std::process::Output;

use super::bot::Recipe;
use super::{World, proc};

/// Runs a bot that must refuse to start, and gives its one message.
pub async fn refused(world: &World, recipe: &Recipe) -> String {
    let output = recipe.run().await;
    let (said, errors) = words(&output);
    assert_eq!(output.status.code(), Some(2), "{errors}");
    assert_eq!(said, "", "a refusal is no output");
    let message =
        errors.strip_prefix("figaro: ").unwrap_or_else(|| panic!("more than the message: {errors}"));
    assert!(!message.contains("figaro: ") && !message.contains("panicked"), "{errors}");
    assert!(!errors.contains(world.telegram.token()) && !errors.contains("sk-offline-key"), "{errors}");
    // A child ends when its standard input closes, which may be a moment after its parent's end.
    proc::none_has(world.telegram.url()).await;
    message.trim_end().to_owned()
}

pub fn words(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (text(&output.stdout), text(&output.stderr))
}
