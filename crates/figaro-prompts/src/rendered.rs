//! Cache of rendered messages: those of a conversation are in each of its prompts, and rendering them took a twentieth of
//! the CPU time of a turn in a long one.

use std::hash::{BuildHasher, RandomState};

use quick_cache::Weighter;
use quick_cache::sync::Cache;

use super::question::PromptMessageView;

/// Cache limit in bytes.
const BYTES: u64 = 512 * 1024;
/// Typical size of a rendered message in bytes.
const BYTES_OF_ONE: u64 = 256;

/// Rendered messages by the hash of their input. The hash has a secret key, so that nobody can write a message that
/// collides with another.
#[derive(Debug)]
pub(super) struct RenderCache {
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

impl Default for RenderCache {
    fn default() -> Self {
        let items = usize::try_from(BYTES / BYTES_OF_ONE).unwrap_or_default();
        Self { hasher: RandomState::new(), texts: Cache::with_weighter(items, BYTES, Weight) }
    }
}

impl RenderCache {
    /// Returns the rendered text of a message, from the cache if possible.
    ///
    /// # Errors
    /// Those of `render`, each time.
    pub(super) fn of(
        &self,
        view: &PromptMessageView,
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
        let rendered = RenderCache::default();
        let view = |text: &str| PromptMessageView { text: text.to_owned(), ..PromptMessageView::default() };
        let mut count = 0;
        for text in ["one", "two", "one", "two", "one"] {
            let found = rendered.of(&view(text), || {
                count += 1;
                Ok(text.to_owned())
            });
            assert_eq!(found.as_deref(), Ok(text));
        }
        assert_eq!(count, 2);
        let task = PromptMessageView { task: true, ..view("one") };
        assert_eq!(rendered.of(&task, || Ok("task".to_owned())).as_deref(), Ok("task"));
        assert_eq!(
            rendered.of(&view("three"), || Err("fault".to_owned())).as_deref(),
            Err(&"fault".to_owned())
        );
        assert_eq!(rendered.of(&view("three"), || Ok("mended".to_owned())).as_deref(), Ok("mended"));
    }
}
