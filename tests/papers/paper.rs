//! A paper, taken apart: headings, links, names in code, blocks.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

#[derive(Debug, Clone)]
pub(crate) struct Paper {
    /// Its path from the root.
    pub(crate) path: String,
    pub(crate) text: String,
    /// The anchors that links can lead to.
    pub(crate) anchors: BTreeSet<String>,
    /// Targets of links and pictures, with their lines.
    pub(crate) links: Vec<(usize, String)>,
    /// Names between backticks, with their lines.
    pub(crate) codes: Vec<(usize, String)>,
    pub(crate) blocks: Vec<Block>,
}

/// Fenced block of a file or of commands.
#[derive(Debug, Clone, Default)]
pub(crate) struct Block {
    pub(crate) line: usize,
    pub(crate) language: String,
    pub(crate) text: String,
    /// Reason why it cannot run in a test, from the comment before it.
    pub(crate) needs: Option<String>,
}

impl Paper {
    /// Reads all papers of the repository.
    pub(crate) fn all() -> Vec<Self> {
        let mut paths: Vec<String> =
            ["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"].map(ToOwned::to_owned).into();
        let docs = fs::read_dir("docs").unwrap().map(|entry| entry.unwrap().path());
        let docs = docs.filter(|path| path.extension().is_some_and(|ending| ending == "md"));
        paths.extend(docs.map(|path| path.to_str().unwrap().to_owned()));
        paths.sort();
        paths.into_iter().map(|path| Self::new(&path, fs::read_to_string(&path).unwrap())).collect()
    }

    /// Takes a text apart.
    pub(crate) fn new(path: &str, text: String) -> Self {
        let mut reader = Reader {
            text: &text,
            found: Self::empty(path),
            heading: None,
            needs: None,
            seen: BTreeMap::new(),
        };
        let parser = Parser::new_ext(&text, Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH);
        let mut block: Option<Block> = None;
        for (event, range) in parser.into_offset_iter() {
            match (&event, block.as_mut()) {
                (Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(language))), _) => {
                    let needs = reader.needs.take();
                    let line = reader.line(range.start);
                    block = Some(Block { line, language: language.to_string(), needs, ..Block::default() });
                }
                (Event::Text(words), Some(block)) => block.text.push_str(words),
                (Event::End(TagEnd::CodeBlock), _) => reader.found.blocks.extend(block.take()),
                _ => reader.see(&event, range.start),
            }
        }
        let found = reader.found;
        Self { text, ..found }
    }

    fn empty(path: &str) -> Self {
        let (anchors, links, codes, blocks) = Default::default();
        Self { path: path.to_owned(), text: String::new(), anchors, links, codes, blocks }
    }

    /// Returns the folder of the paper.
    pub(crate) fn folder(&self) -> &Path {
        Path::new(&self.path).parent().unwrap()
    }

    /// Returns the blocks of commands that run in a test.
    pub(crate) fn runnable(&self) -> impl Iterator<Item = &Block> {
        self.blocks.iter().filter(|block| block.language == "sh" && block.needs.is_none())
    }
}

struct Reader<'a> {
    text: &'a str,
    found: Paper,
    /// Words of the heading that is being read.
    heading: Option<String>,
    /// Needs of the next block, from the comment before it.
    needs: Option<String>,
    /// How often each anchor was made.
    seen: BTreeMap<String, usize>,
}

impl Reader<'_> {
    fn line(&self, at: usize) -> usize {
        self.text[..at].matches('\n').count() + 1
    }

    fn see(&mut self, event: &Event<'_>, at: usize) {
        match event {
            Event::Start(Tag::Heading { .. }) => self.heading = Some(String::new()),
            Event::End(TagEnd::Heading(_)) => {
                let made = slug(&self.heading.take().unwrap_or_default());
                let again = self.seen.entry(made.clone()).and_modify(|count| *count += 1).or_default();
                let anchor = if *again == 0 { made } else { format!("{made}-{again}") };
                self.found.anchors.insert(anchor);
            }
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                let line = self.line(at);
                self.found.links.push((line, dest_url.to_string()));
            }
            Event::Code(words) => {
                let line = self.line(at);
                self.found.codes.push((line, words.to_string()));
                self.add(words);
            }
            Event::Text(words) => self.add(words),
            Event::Html(html) | Event::InlineHtml(html) => self.html(html, at),
            Event::Start(Tag::Paragraph) => self.needs = None,
            _ => {}
        }
    }

    fn add(&mut self, words: &str) {
        if let Some(heading) = &mut self.heading {
            heading.push_str(words);
        }
    }

    fn html(&mut self, html: &str, at: usize) {
        if let Some(needs) = html.trim().strip_prefix("<!-- needs:") {
            self.needs = Some(needs.trim_end_matches("-->").trim().to_owned());
        }
        let line = self.line(at);
        for (attribute, is_anchor) in
            [("id=\"", true), ("name=\"", true), ("src=\"", false), ("srcset=\"", false), ("href=\"", false)]
        {
            for part in html.split(attribute).skip(1) {
                let value = part.split('"').next().unwrap().to_owned();
                if is_anchor {
                    self.found.anchors.insert(value);
                } else {
                    self.found.links.push((line, value));
                }
            }
        }
    }
}

/// Makes an anchor of a heading as GitHub does.
fn slug(heading: &str) -> String {
    let kept = heading.trim().to_lowercase();
    let kept = kept.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}
