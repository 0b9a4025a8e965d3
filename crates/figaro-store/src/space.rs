//! Key spaces: every key begins with its bot and tenant, so that one store can hold several.

use crate::engine::Keys;
use figaro_base::ids::BotId;

/// Part of a store that belongs to a bot and a tenant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Space(Vec<u8>);

impl Space {
    /// Returns the space of a bot for the Telegram tenant. Other tenants will have their name between the number and the
    /// zero byte.
    pub(super) fn of(bot: BotId) -> Self {
        // The sign bit is flipped: otherwise negative numbers would come after the positive ones.
        let mut prefix = (bot.0 ^ i64::MIN).to_be_bytes().to_vec();
        prefix.push(0);
        Self(prefix)
    }

    /// Returns the beginning of all its keys.
    pub(super) fn prefix(&self) -> &[u8] {
        &self.0
    }

    /// Returns the bot of an engine key; `None` if the key is too short.
    pub(super) fn bot_of(key: &[u8]) -> Option<BotId> {
        Some(BotId(i64::from_be_bytes(*key.first_chunk()?) ^ i64::MIN))
    }

    /// Converts a key of this space to an engine key.
    pub(super) fn outer(&self, key: &[u8]) -> Vec<u8> {
        [&self.0, key].concat()
    }

    /// Converts a range of this space to a range of engine keys.
    pub(super) fn range(&self, keys: &Keys) -> Keys {
        let all = Keys::beginning_with(self.0.as_slice());
        Keys {
            begin: match keys.begin.as_ref() {
                std::ops::Bound::Unbounded => all.begin,
                bound => bound.map(|key| self.outer(key)),
            },
            end: match keys.end.as_ref() {
                std::ops::Bound::Unbounded => all.end,
                bound => bound.map(|key| self.outer(key)),
            },
        }
    }

    /// Converts an engine key to a key of this space.
    pub(super) fn inner(&self, mut key: Vec<u8>) -> Vec<u8> {
        key.drain(..self.0.len().min(key.len()));
        key
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_space_holds_its_own_keys_and_no_others(bot: i64, other: i64, key in prop::collection::vec(any::<u8>(), 0..4), prefix in prop::collection::vec(any::<u8>(), 0..3)) {
            let (space, others) = (Space::of(BotId(bot)), Space::of(BotId(other)));
            prop_assert_eq!(space.inner(space.outer(&key)), key.clone());
            prop_assert_eq!(Space::bot_of(&others.outer(&key)), Some(BotId(other)));
            let keys = space.range(&Keys::beginning_with(prefix.as_slice()));
            prop_assert_eq!(keys.contains(&space.outer(&key)), key.starts_with(&prefix));
            prop_assert_eq!(keys.contains(&others.outer(&key)), bot == other && key.starts_with(&prefix));
        }
    }
}
