//! The web search tool, over any search service, for models whose provider has no search. Results reach the model as data,
//! and the answer as sources.

use std::fmt::Debug;
use std::sync::Arc;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use url::Url;

use super::{Tool, ToolContext, ToolDefinition, ToolError, ToolOutput, as_data, typed};
use figaro_base::text::one_line;
use figaro_domain::source::Source;
use figaro_domain::tool::{Effect, SideEffects, StatusKey, ToolKind};

/// Maximum number of pages in a result.
pub(crate) const MAX_HITS: usize = 5;

/// Maximum length of a query in characters, as Tavily allows.
const MAX_QUERY_CHARS: usize = 400;
const MAX_TITLE_CHARS: usize = 200;
const MAX_CONTENT_CHARS: usize = 1_200;
const MAX_ANSWER_CHARS: usize = 2_000;
/// Maximum length of an address; pages with longer ones are left out.
const MAX_URL_BYTES: usize = 1_000;

const ABOUT: &str = "Searches the web, for what changes or what you are unsure of. Gives up to 5 pages with title, \
                     address and an excerpt. Name in your answer the pages it rests on.";
/// A web search service.
#[async_trait]
pub trait WebSearch: Debug + Send + Sync {
    /// Searches for a turn. `query` has 1 to 400 characters.
    ///
    /// # Errors
    /// A [`SearchError`], worded for the model. An empty result is no error.
    async fn search(&self, context: &ToolContext, query: &str) -> Result<WebSearchResult, SearchError>;
}

/// Result of a search.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WebSearchResult {
    /// Answer of the service itself, if it gives one.
    pub(crate) answer: Option<String>,
    /// Pages found, best first.
    pub(crate) results: Vec<Hit>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hit {
    /// Title of the page; may be empty.
    pub(crate) title: String,
    pub(crate) url: String,
    /// Excerpt about the query.
    pub(crate) content: String,
}

/// Error of a search, by remedy. The text is for the model and holds no secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SearchError {
    /// The setup is wrong; only the owner can fix it.
    #[error("{fault}; tell the person that the owner must check {setting}")]
    Setup {
        /// Description of the fault.
        fault: &'static str,
        /// Name of the variable to check.
        setting: &'static str,
    },
    /// The account has no searches left this month.
    #[error("the month's searches are used up; tell the person that only the owner can get more")]
    UsedUp,
    /// The rate limit of the service is exceeded.
    #[error("the search service is being asked too often; try again in a minute")]
    Busy,
    /// The service cannot be reached or fails; with the reason.
    #[error("the search service does not work right now ({0}); do without, or try again later")]
    Unavailable(String),
    /// The service rejects this query; with its message.
    #[error("the search service refused the query: {0}")]
    Refused(String),
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct WebSearchArguments {
    /// A few words, as one types them into a search engine; 400 characters at most.
    query: String,
}

/// Makes `web_search(query)` over this service.
#[must_use]
pub(crate) fn tool(web: Arc<dyn WebSearch>) -> Arc<dyn Tool> {
    let about = ToolDefinition::new("web_search", ABOUT, Effect::Read, StatusKey("tool_search"));
    typed(about.of_kind(ToolKind::WebSearch), move |context: ToolContext, WebSearchArguments { query }| {
        let web = Arc::clone(&web);
        async move { search(&*web, &context, query.trim()).await }
    })
}

async fn search(web: &dyn WebSearch, context: &ToolContext, query: &str) -> Result<ToolOutput, ToolError> {
    let refuse = |words: String| Err(ToolError::ForModel(words));
    let count = query.chars().count();
    if count == 0 {
        return refuse("the query is empty: say what to search for".to_owned());
    }
    if count > MAX_QUERY_CHARS {
        return refuse(format!(
            "the query has {count} characters and may have {MAX_QUERY_CHARS}: keep the words that matter, and search \
             for one thing at a time"
        ));
    }
    let found = web.search(context, query).await.map_err(|error| {
        tracing::warn!(%error, "a web search failed");
        ToolError::ForModel(error.to_string())
    })?;
    let answer =
        found.answer.map(|answer| one_line(&answer, MAX_ANSWER_CHARS)).filter(|text| !text.is_empty());
    let hits: Vec<Hit> = found.results.into_iter().filter_map(presentable).take(MAX_HITS).collect();
    if hits.is_empty() && answer.is_none() {
        return refuse("nothing was found: try other words, or fewer".to_owned());
    }
    let value = shown(answer, &hits);
    Ok(ToolOutput { side_effects: side_effects(hits), ..value.into() })
}

/// Cuts a hit to size; `None` if its address is not a web address.
fn presentable(hit: Hit) -> Option<Hit> {
    let url = hit.url.trim();
    let parsed = Url::parse(url).ok()?;
    let is_web = ["http", "https"].contains(&parsed.scheme()) && parsed.has_host();
    // The parser ignores line breaks within an address; other programs do not.
    let is_plain = !url.contains(|c: char| c.is_whitespace() || c.is_control());
    (is_web && is_plain && url.len() <= MAX_URL_BYTES).then(|| Hit {
        title: one_line(&hit.title, MAX_TITLE_CHARS),
        url: url.to_owned(),
        content: one_line(&hit.content, MAX_CONTENT_CHARS),
    })
}

fn shown(answer: Option<String>, hits: &[Hit]) -> Value {
    let numbered = (1..).zip(hits).map(|(number, Hit { title, url, content })| {
        json!({"number": number, "title": title, "url": url, "content": content})
    });
    let mut data = json!({"results": numbered.collect::<Vec<_>>()});
    if let Some(answer) = answer {
        data["answer"] = answer.into();
    }
    as_data("data_from_the_web", data)
}

fn side_effects(hits: Vec<Hit>) -> SideEffects {
    let source = |Hit { title, url, .. }: Hit| Source {
        title: if title.is_empty() { url.clone() } else { title },
        url,
    };
    SideEffects { outside: true, sources: hits.into_iter().map(source).collect(), ..SideEffects::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hit(title: &str, url: &str, content: &str) -> Hit {
        Hit { title: title.to_owned(), url: url.to_owned(), content: content.to_owned() }
    }

    /// Finds always the same.
    #[derive(Debug)]
    struct Always(Result<WebSearchResult, SearchError>);

    #[async_trait]
    impl WebSearch for Always {
        async fn search(&self, _context: &ToolContext, query: &str) -> Result<WebSearchResult, SearchError> {
            assert_eq!(query, "rain");
            self.0.clone()
        }
    }

    async fn ask(found: WebSearchResult) -> Result<ToolOutput, String> {
        search(&Always(Ok(found)), &ToolContext::somewhere(), "rain").await.map_err(|error| error.to_string())
    }

    #[tokio::test]
    async fn pages_are_numbered_cut_and_named_as_sources() {
        let long = hit(" Long\n title ", "https://a.example/x?y=1", &"é ".repeat(3_000));
        let bare = hit("", "http://b.example", "b");
        let output = ask(WebSearchResult { answer: Some("It\nrains.".into()), results: vec![long, bare] })
            .await
            .unwrap();
        let data = &output.value["data_from_the_web"];
        assert_eq!(data["answer"], "It rains.");
        assert_eq!(data["results"][0]["title"], "Long title");
        let content = data["results"][0]["content"].as_str().unwrap();
        assert!(content.ends_with('…') && content.chars().count() <= MAX_CONTENT_CHARS, "{content}");
        let second = json!({"number": 2, "title": "", "url": "http://b.example", "content": "b"});
        assert_eq!(data["results"][1], second);
        let sources = [("Long title", "https://a.example/x?y=1"), ("http://b.example", "http://b.example")]
            .map(|(title, url)| Source { title: title.into(), url: url.into() });
        let wanted = SideEffects { outside: true, sources: sources.to_vec(), ..SideEffects::default() };
        assert_eq!(output.side_effects, wanted);
    }

    #[tokio::test]
    async fn only_pages_of_the_web_are_given_and_no_more_than_five() {
        let long = format!("https://long.example/{}", "x".repeat(MAX_URL_BYTES));
        let bad = [
            "javascript:alert(1)",
            "file:///etc/passwd",
            "data:text/html,x",
            "ftp://f.example",
            "tg://resolve?domain=x",
            "/relative",
            "",
            "https://",
            "https://split.example/a\nb",
            "https://two.example/a b",
            long.as_str(),
        ];
        let results: Vec<Hit> = bad.iter().map(|url| hit("t", url, "c")).collect();
        assert_eq!(
            ask(WebSearchResult { answer: None, results: results.clone() }).await,
            Err("nothing was found: try other words, or fewer".to_owned())
        );
        let good = (1..=7).map(|n| hit("t", &format!("HTTPS://{n}.example"), "c"));
        let output =
            ask(WebSearchResult { answer: None, results: results.into_iter().chain(good).collect() }).await;
        let value = output.unwrap().value;
        let urls = value["data_from_the_web"]["results"].as_array().unwrap().iter().map(|hit| &hit["url"]);
        let wanted = (1..=5).map(|n| json!(format!("HTTPS://{n}.example")));
        assert_eq!(urls.cloned().collect::<Vec<_>>(), wanted.collect::<Vec<_>>());
    }

    #[tokio::test]
    async fn an_answer_alone_is_something_and_a_failure_is_told() {
        let output = ask(WebSearchResult { answer: Some("Yes.".into()), results: Vec::new() }).await.unwrap();
        assert_eq!(output.value["data_from_the_web"], json!({"results": [], "answer": "Yes."}));
        assert!(ask(WebSearchResult { answer: Some(" ".into()), results: Vec::new() }).await.is_err());
        let failed = search(&Always(Err(SearchError::UsedUp)), &ToolContext::somewhere(), "rain").await;
        assert_eq!(failed.unwrap_err().to_string(), SearchError::UsedUp.to_string());
    }
}
