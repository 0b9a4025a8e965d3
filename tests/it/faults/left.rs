//! What a fault leaves behind, and whether it is what the table says.

use super::Row;
use crate::support::scene::CAUGHT_UP;
use crate::support::{ANN, Bot, World};

/// What can be seen once a driver is done.
pub struct Left {
    pub person: Vec<String>,
    pub owner: Vec<String>,
    pub log: String,
    /// None if a signal ended it.
    pub exit: Option<i32>,
}

impl Left {
    /// Asks the bot to end, and gathers what is in this chat, in the owner's and in the log.
    pub async fn stopped(world: &World, chat: i64, bot: Bot) -> Self {
        bot.signal("TERM");
        Self::ended(world, chat, bot).await
    }

    /// The same of a bot that ends without being asked.
    pub async fn ended(world: &World, chat: i64, mut bot: Bot) -> Self {
        let exit = bot.ended().await.code();
        let mut owner = world.bot_texts(ANN);
        owner.retain(|text| text != CAUGHT_UP);
        Self { person: world.bot_texts(chat), owner, log: bot.log(), exit }
    }
}

impl Row {
    /// Looks for each column in what is left of its fault.
    pub fn check(&self, left: &Left) {
        for (who, seen, wanted) in [("person", &left.person, self.person), ("owner", &left.owner, self.owner)]
        {
            let alike = seen.iter().zip(wanted).all(|(seen, wanted)| is_like(seen, wanted));
            assert!(
                alike && seen.len() == wanted.len(),
                "the {who} sees {seen:#?}, not {wanted:#?}\n{}",
                left.log
            );
        }
        for words in self.log {
            assert!(is_like(&left.log, &format!("[…]{words}[…]")), "no “{words}” in the log:\n{}", left.log);
        }
        for error in left.log.lines().filter(|line| line.contains(" ERROR ")) {
            let is_named = self.log.iter().any(|words| is_like(error, &format!("[…]{words}[…]")));
            assert!(is_named, "an error that no row names: {error}");
        }
        assert_eq!(left.exit, Some(self.exit), "{}", left.log);
    }
}

/// Whether a text is this one, where `[…]` stands for any words.
pub fn is_like(text: &str, wanted: &str) -> bool {
    let parts: Vec<&str> = wanted.split("[…]").collect();
    let [first, parts @ .., last] = &parts[..] else { return text == wanted };
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    for part in parts {
        let Some((_, behind)) = rest.split_once(*part) else { return false };
        rest = behind;
    }
    rest.ends_with(last)
}
