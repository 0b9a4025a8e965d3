//! Counts of texts that were counted before: the instructions and the tools of a request are the same again and again, and
//! so is most of its history.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;

use parking_lot::Mutex;

/// Texts shorter than this many bytes are counted faster than they are looked up.
const SHORTEST: usize = 64;
/// So many counts are kept at least, and at most twice as many.
const KEPT: usize = 4_000;

static COUNTED: LazyLock<Counted> = LazyLock::new(Counted::default);

/// Counts by a keyed hash of the text: nobody outside can make two texts that share one.
#[derive(Default)]
struct Counted {
    hasher: RandomState,
    counts: Mutex<Generations>,
}

/// The counts asked for lately, and those before them.
#[derive(Default)]
struct Generations {
    new: HashMap<u64, usize>,
    old: HashMap<u64, usize>,
}

/// The count of a text, worked out by `count` unless it is known.
pub(super) fn once(text: &str, count: impl FnOnce(&str) -> usize) -> usize {
    match text.len() < SHORTEST {
        true => count(text),
        false => COUNTED.of(text, count),
    }
}

impl Counted {
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
        let (counted, mut counts) = (Counted::default(), 0);
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
