//! Passages of documents in the prompt.

/// A passage of a document in the prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DemoPassage {
    /// Name of the file, and the place in it if there is one.
    pub(super) from: String,
    pub(super) text: String,
}

impl DemoPassage {
    /// Reads the passages of a prompt.
    pub(super) fn all(prompt: &str, unescape: fn(&str) -> String) -> Vec<Self> {
        let part = prompt.split("<documents>").nth(1).and_then(|part| part.split("</documents>").next());
        let documents = part.unwrap_or_default().split("<document ").skip(1);
        let passages = documents.flat_map(|document| {
            let name = between(document, "name=\"", "\"").unwrap_or("file");
            document.split("<part").skip(1).filter_map(move |part| {
                let (tag, text) = part.split_once('>')?;
                let place = between(tag, "at=\"", "\"").map(|place| format!(", {place}")).unwrap_or_default();
                let text = text.split("</part>").next().unwrap_or_default();
                Some(Self { from: unescape(&format!("{name}{place}")), text: unescape(text) })
            })
        });
        passages.collect()
    }
}

fn between<'a>(text: &'a str, begin: &str, end: &str) -> Option<&'a str> {
    text.split_once(begin)?.1.split_once(end).map(|(found, _)| found)
}
