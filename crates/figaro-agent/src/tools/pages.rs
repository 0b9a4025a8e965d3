//! The tool `read_page`. It reads addresses that people wrote or a search found. Any other could carry words of the chat away
//! in itself, so a person has to approve it.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::counts::TurnCounts;
use super::telegram::Approvers;
use super::{Tool, ToolContext, ToolDefinition, ToolError, ToolOutput, as_data, typed};
use crate::documents::{Documents, NewFile};
use crate::pages::{Pages, WebPage};
use figaro_base::text::{estimate_tokens, one_line};
use figaro_domain::approval::{Approval, ApprovalTarget, Fingerprint, MethodCall};
use figaro_domain::audit::AuditKind;
use figaro_domain::document::DocumentSource;
use figaro_domain::source::Source;
use figaro_domain::tool::{Effect, SideEffects, StatusKey};
use figaro_policy::access::Standing;
use figaro_policy::tools::AdminRight;
use figaro_store::AuditStore;

/// Name of the tool.
pub const NAME: &str = "read_page";
const ABOUT: &str = "Reads a web page or a file behind a link. Name it in your answer.";
/// Name of the rule in the audit log, and of the reason on the card: that of a method of the Bot API that would load it.
const RULE: &str = "default/unknown_address";
/// Maximum number of tokens of one call.
const MAX_TOKENS: usize = 3_000;
/// Maximum length of an address, in bytes.
const MAX_URL: usize = 2_048;
/// Maximum length of an address that a person is asked about, in bytes: they have to read it.
const MAX_ASKED_URL: usize = 300;
/// Maximum number of pages of a turn. A page can redirect to another each time, so that each fetch tells somebody something.
const MAX_PAGES: usize = 20;
const UNKNOWN: &str = "no person wrote this address and no search found it, so it could carry words of this chat away. It takes \
    an approval, and nobody is asked now. Tell the person, who can send the address";

/// Dependencies of the tool.
#[derive(Debug, Clone)]
pub struct PageTools {
    /// Fetches and reads pages.
    pub pages: Pages,
    /// Keeps the files among them.
    pub documents: Documents,
    /// Decides who may approve an address.
    pub approvers: Approvers,
    /// Log of the decisions about addresses that nobody wrote.
    pub audit: AuditStore,
    /// Pages that the last turns have read.
    pub counts: TurnCounts,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct PageArguments {
    url: String,
    // A result with more to read says how to call the tool again. It costs no tokens before.
    #[schemars(skip)]
    next: Option<usize>,
}

/// Makes `read_page(url, next?)`.
#[must_use]
pub(crate) fn tool(tools: PageTools) -> Arc<dyn Tool> {
    let about = ToolDefinition::new(NAME, ABOUT, Effect::Read, StatusKey("tool_page"));
    typed(about, move |context: ToolContext, arguments: PageArguments| {
        let tools = tools.clone();
        async move { tools.perform(&context, arguments).await }
    })
}

impl PageTools {
    async fn perform(&self, context: &ToolContext, asked: PageArguments) -> Result<ToolOutput, ToolError> {
        let written = asked.url.trim();
        if written.len() > MAX_URL {
            return Err(ToolError::ForModel(format!("an address has at most {MAX_URL} characters")));
        }
        let refused = |reason| ToolError::ForModel(format!("the page {reason}"));
        let url = &self.pages.check(written).map_err(refused)?;
        let call = call(url);
        if let Some(approved) = &context.approved {
            let approval = &approved.approval;
            let (ruled, by) = (approved.ruling.ruled, &approved.ruling.by);
            if !approval.is_for(context.run, &context.call) || approval.calls != [call.clone()] {
                return Err(ToolError::Denied("not read: what was approved is something else".to_owned()));
            }
            if self.approvers.may_rule(ruled, by, approval).await?.is_err() {
                let words = "not read: whoever approved it may not approve it any more";
                return Err(ToolError::Denied(words.to_owned()));
            }
            self.note(AuditKind::ApprovalUsed, &call, context).await?;
        } else if !context.addresses.has(written) && !context.addresses.has(url) {
            if url.len() > MAX_ASKED_URL {
                let words = "not read: only a person may give such a long address; tell them";
                return Err(ToolError::Denied(words.to_owned()));
            }
            if !context.can_ask || matches!(context.standing, Standing::Borrowed | Standing::Guest) {
                self.note(AuditKind::CallDenied, &call, context).await?;
                return Err(ToolError::Denied(format!("not read: {UNKNOWN}.")));
            }
            self.note(AuditKind::CallAsked, &call, context).await?;
            return Ok(ToolOutput::asking(approval(call, context)));
        }
        if !self.counts.has_room(context.run, MAX_PAGES) {
            let words =
                format!("{MAX_PAGES} pages were read for this question already: answer with what you have");
            return Err(ToolError::ForModel(words));
        }
        self.read(context, url, asked.next.unwrap_or(0)).await
    }

    async fn read(&self, context: &ToolContext, url: &str, from: usize) -> Result<ToolOutput, ToolError> {
        let source = DocumentSource {
            telegram: None,
            session: context.agent.session_id,
            turn: Some(context.run),
            sender: context.speaker.user.clone(),
        };
        let file = NewFile {
            chat: context.place.chat,
            name: String::new(),
            file_id: None,
            unique_id: None,
            source,
            now: context.now,
        };
        let page = match self.pages.read(url, &self.documents, file).await? {
            Ok(page) => page,
            Err(reason) => {
                tracing::info!(%reason, "a page could not be read");
                return Err(ToolError::ForModel(format!("the page {reason}")));
            }
        };
        // Sources may be opened without asking. Where a page redirects to is not chosen by a person.
        let sources = vec![Source { title: page.title.clone(), url: url.to_owned() }];
        // An address that only the model wrote may hold words of the chat.
        let outside = page.document.is_none() && context.approved.is_none();
        let side_effects = SideEffects { outside, sources, ..SideEffects::default() };
        Ok(ToolOutput { side_effects, ..shown(&page, url, from).into() })
    }

    async fn note(&self, what: AuditKind, call: &MethodCall, context: &ToolContext) -> Result<(), ToolError> {
        Ok(self.audit.add(vec![context.audited(what, call, RULE)]).await?)
    }
}

fn call(url: &str) -> MethodCall {
    let arguments = Map::from_iter([("url".to_owned(), Value::from(url))]);
    MethodCall { method: NAME.to_owned(), arguments }
}

/// Makes the approval to request: from the person in a private chat, from an admin in a group.
fn approval(call: MethodCall, context: &ToolContext) -> Approval {
    let (place, calls) = (&context.place, vec![call]);
    Approval {
        fingerprint: Fingerprint::of(context.run, &context.call, &calls),
        calls,
        server: None,
        targets: vec![ApprovalTarget { chat: place.chat, title: place.title.clone() }],
        people: Vec::new(),
        about: None,
        right: Some(AdminRight::ManageChat.name().to_owned()),
        needs_other: false,
        may_last: false,
        reason: None,
        rule: RULE.to_owned(),
        read: context.read_for(RULE),
        asked_in: place.chat,
        requester: context.speaker.clone(),
    }
}

/// Shows the passages from an index on, as many as fit. `url` is the address that was asked for.
fn shown(page: &WebPage, url: &str, from: usize) -> Value {
    let extracted = &page.extracted;
    let mut left = MAX_TOKENS;
    let mut parts = Vec::new();
    for passage in extracted.passages.iter().skip(from) {
        let tokens = estimate_tokens(&passage.text);
        if tokens > left && !parts.is_empty() {
            break;
        }
        left = left.saturating_sub(tokens);
        let mut part = json!({"text": passage.text});
        if !passage.place.is_empty() {
            part["place"] = passage.place.clone().into();
        }
        parts.push(part);
    }
    let next = from + parts.len();
    let mut about = json!({"title": page.title, "url": page.url, "parts": parts});
    let facts = [("date", &extracted.date), ("language", &extracted.language)];
    for (name, value) in facts {
        if let Some(value) = value {
            about[name] = one_line(value, 60).into();
        }
    }
    if let Some(document) = &page.document {
        about["size"] = document.size().into();
    }
    let mut value = as_data("page", about);
    if next < extracted.passages.len() {
        value["read_on_with"] = json!({"url": url, "next": next});
    }
    value
}
