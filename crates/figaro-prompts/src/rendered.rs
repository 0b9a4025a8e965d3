//! Messages that were rendered lately: those of a conversation stand in each of its prompts, and rendering them took a twentieth of
//! the CPU time of a turn in a long one.

use std::hash::{BuildHasher, RandomState};

use quick_cache::Weighter;
use quick_cache::sync::Cache;

use super::question::MessageView;

/// The most bytes of rendered messages.
const BYTES: u64 = 512 * 1024;
/// A message has about so many bytes.
const BYTES_OF_ONE: u64 = 256;

/// Rendered messages by the hash of all that they are rendered from. It has a key that nobody knows, so that nobody can write a
/// message that has the hash of another.
#[derive(Debug)]
pub(super) struct Rendered {
    hasher: RandomState,
    texts: Cache<u64, String, Weight>,
}

#[derive(Debug, Clone)]
struct Weight;

impl Weighter<u64, String> for Weight {
    fn weight(&self, _hash: &u64, text: &String) -> u64 {
        text.len() as u64 + BYTES_OF_ONE / 4
    }
}

impl Default for Rendered {
    fn default() -> Self {
        let items = usize::try_from(BYTES / BYTES_OF_ONE).unwrap_or_default();
        Self { hasher: RandomState::new(), texts: Cache::with_weighter(items, BYTES, Weight) }
    }
}

impl Rendered {
    /// The text of a message: as it was rendered before, else as it is rendered now.
    ///
    /// # Errors
    /// Those of `render`, each time.
    pub(super) fn of(
        &self,
        view: &MessageView,
        render: impl FnOnce() -> Result<String, String>,
    ) -> Result<String, String> {
        let hash = self.hasher.hash_one(view);
        if let Some(text) = self.texts.get(&hash) {
            return Ok(text);
        }
        let text = render()?;
        self.texts.insert(hash, text.clone());
        Ok(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_the_same_is_rendered_once() {
        let rendered = Rendered::default();
        let view = |text: &str| MessageView { text: text.to_owned(), ..MessageView::default() };
        let mut count = 0;
        for text in ["one", "two", "one", "two", "one"] {
            let found = rendered.of(&view(text), || {
                count += 1;
                Ok(text.to_owned())
            });
            assert_eq!(found.as_deref(), Ok(text));
        }
        assert_eq!(count, 2);
        let task = MessageView { task: true, ..view("one") };
        assert_eq!(rendered.of(&task, || Ok("task".to_owned())).as_deref(), Ok("task"));
        assert_eq!(
            rendered.of(&view("three"), || Err("fault".to_owned())).as_deref(),
            Err(&"fault".to_owned())
        );
        assert_eq!(rendered.of(&view("three"), || Ok("mended".to_owned())).as_deref(), Ok("mended"));
    }
}
