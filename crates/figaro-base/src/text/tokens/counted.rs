//! Cache of token counts. Instructions, tools and most of the history repeat in every request.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;

use parking_lot::Mutex;

/// Minimum length in bytes of a cached text. Shorter ones are counted faster than looked up.
const SHORTEST: usize = 64;
/// Size of a cache generation: the cache holds up to twice as many counts.
const KEPT: usize = 4_000;

static COUNTED: LazyLock<TokenCountCache> = LazyLock::new(TokenCountCache::default);

/// Counts by keyed hash of the text. The key keeps outsiders from making texts that collide.
#[derive(Default)]
struct TokenCountCache {
    hasher: RandomState,
    counts: Mutex<Generations>,
}

/// Recently used counts, and those of the generation before.
#[derive(Default)]
struct Generations {
    new: HashMap<u64, usize>,
    old: HashMap<u64, usize>,
}

/// Returns the cached count of a text, or computes it by `count`.
pub(super) fn once(text: &str, count: impl FnOnce(&str) -> usize) -> usize {
    match text.len() < SHORTEST {
        true => count(text),
        false => COUNTED.of(text, count),
    }
}

impl TokenCountCache {
    fn of(&self, text: &str, count: impl FnOnce(&str) -> usize) -> usize {
        let key = self.hasher.hash_one(text);
        let known = self.counts.lock().get(key);
        known.unwrap_or_else(|| {
            let tokens = count(text);
            self.counts.lock().put(key, tokens);
            tokens
        })
    }
}

impl Generations {
    fn get(&mut self, key: u64) -> Option<usize> {
        if let Some(known) = self.new.get(&key) {
            return Some(*known);
        }
        let known = self.old.remove(&key)?;
        self.put(key, known);
        Some(known)
    }

    fn put(&mut self, key: u64, tokens: usize) {
        if self.new.len() >= KEPT {
            self.old = std::mem::take(&mut self.new);
        }
        self.new.insert(key, tokens);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_for_again_is_counted_once_and_the_rest_forgotten() {
        let (counted, mut counts) = (TokenCountCache::default(), 0);
        let text = |number: usize| format!("{number:0300}");
        for number in 0..10 * KEPT {
            for number in [number, 0] {
                let mut is_counted = false;
                assert_eq!(
                    counted.of(&text(number), |text| {
                        is_counted = true;
                        text.len()
                    }),
                    300
                );
                counts += usize::from(is_counted);
            }
        }
        assert_eq!(counts, 10 * KEPT, "each once");
        let kept = counted.counts.lock();
        assert!(kept.new.len() + kept.old.len() <= 2 * KEPT);
    }
}
