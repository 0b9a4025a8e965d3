//! All pages that a browser finds, by their links, and all forms on them.

use reqwest::Url;

use super::browser::{Browser, Page};
use super::html::Form;

/// More pages than any test has: beyond, links lead to ever new ones.
const MOST: usize = 400;

/// Everything that a browser has found.
pub struct Found {
    pub pages: Vec<Page>,
}

impl Browser {
    /// Opens each page that some page links to, from the first on. The stream of events never ends, so it is left out.
    pub async fn finds(&self) -> Found {
        let mut left = vec![self.root.clone()];
        let mut pages: Vec<Page> = Vec::new();
        while let Some(url) = left.pop() {
            let page = self.get(url.as_str()).await;
            for link in page.links(&self.root) {
                if !left.contains(&link) && link != url && pages.iter().all(|page| page.url != link) {
                    left.push(link);
                }
            }
            pages.push(page);
            assert!(pages.len() < MOST, "ever new pages: {url}");
        }
        Found { pages }
    }
}

impl Found {
    pub fn urls(&self) -> Vec<Url> {
        self.pages.iter().map(|page| page.url.clone()).collect()
    }

    /// Forms of all pages, each once. Whoever sends the one that signs out is out, so it is left out.
    pub fn forms(&self) -> Vec<Form> {
        let mut all: Vec<Form> = Vec::new();
        for form in self.pages.iter().flat_map(Page::forms) {
            if !form.url.path().ends_with("/leave") && !all.contains(&form) {
                all.push(form);
            }
        }
        all
    }

    /// Returns `true` if some page has these words.
    pub fn has(&self, words: &str) -> bool {
        self.pages.iter().any(|page| page.body.contains(words))
    }
}
