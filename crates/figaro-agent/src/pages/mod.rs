//! Web pages for the model: fetched, read by the process that reads files, and given as passages. Used by the tool `read_page`,
//! and when a message is only a link.

mod fetch;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

pub(crate) use self::fetch::PageError;
use self::fetch::{OpenPage, PageClient};
use crate::documents::{Documents, NewFile};
use figaro_base::text::one_line;
use figaro_config::PageSettings;
use figaro_domain::document::{Document, DocumentFormat, Extracted, Unreadable};
use figaro_store::StoreError;
use ring::digest::{Context, SHA256};

/// Time for a page, from the request to its text.
const PAGE_TIMEOUT: Duration = Duration::from_secs(30);
/// Maximum length of a title, in characters.
const MAX_TITLE: usize = 200;

/// Fetches the pages and files behind links, and reads their text. Cheap to clone.
#[derive(Clone)]
pub struct Pages {
    client: Arc<PageClient>,
    is_on: bool,
}

impl fmt::Debug for Pages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pages").field("is_on", &self.is_on).finish_non_exhaustive()
    }
}

/// A page or file that was read.
#[derive(Debug)]
pub(crate) struct WebPage {
    /// Address after all redirects.
    pub(crate) url: String,
    /// Title, or the address of a page without one; one line.
    pub(crate) title: String,
    /// Text in passages, with language and date.
    pub(crate) extracted: Extracted,
    /// The stored document, if it is a file.
    pub(crate) document: Option<Document>,
}

/// Reason why a page could not be read. The words complete "The page ...".
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum PageReadError {
    #[error(transparent)]
    Fetch(#[from] PageError),
    #[error(transparent)]
    Text(#[from] Unreadable),
}

impl Pages {
    /// Makes the reader of pages.
    #[must_use]
    pub fn new(settings: &PageSettings) -> Self {
        Self { client: Arc::new(PageClient::new(settings.clone())), is_on: settings.is_on }
    }

    /// Returns `true` if pages are read here.
    #[must_use]
    pub const fn is_on(&self) -> bool {
        self.is_on
    }

    /// Returns an address as it will be asked for.
    ///
    /// # Errors
    /// If it is none, or not on the public web.
    pub(crate) fn check(&self, address: &str) -> Result<String, PageError> {
        self.client.check(address).map(Into::into)
    }

    /// Reads the page or file behind an address. A file is stored among `documents`, as `file` describes it; its name and id
    /// come from the address.
    ///
    /// # Errors
    /// When the store fails.
    pub(crate) async fn read(
        &self,
        address: &str,
        documents: &Documents,
        file: NewFile,
    ) -> Result<Result<WebPage, PageReadError>, StoreError> {
        let reading = self.read_slowly(address, documents, file);
        tokio::time::timeout(PAGE_TIMEOUT, reading).await.unwrap_or(Ok(Err(PageError::Late.into())))
    }

    async fn read_slowly(
        &self,
        address: &str,
        documents: &Documents,
        file: NewFile,
    ) -> Result<Result<WebPage, PageReadError>, StoreError> {
        let OpenPage { url, kind, content } = match self.client.open(address).await {
            Ok(open) => open,
            Err(reason) => return Ok(Err(reason.into())),
        };
        let file = NewFile { name: kind.name, ..file };
        let (extracted, bytes) = match documents.extract(&file, Some(&kind.charset), content).await {
            Ok(read) => read,
            Err(Unreadable::TooLong) => return Ok(Err(PageError::Late.into())),
            Err(reason) => return Ok(Err(reason.into())),
        };
        // Servers may state another type than the content has.
        let is_file =
            kind.is_file || !matches!(extracted.format, DocumentFormat::Page | DocumentFormat::Text);
        let title = extracted.title.as_deref().filter(|title| !title.trim().is_empty());
        let name = if is_file { file.name.as_str() } else { url.as_str() };
        let title = one_line(title.unwrap_or(name), MAX_TITLE);
        let document = match is_file {
            true => {
                // The file at an address changes: another text is another document.
                let unique_id = Some(format!("page:{url}#{}", hash(&extracted)));
                Some(documents.keep(NewFile { unique_id, ..file }, &extracted, bytes).await?)
            }
            false => None,
        };
        Ok(Ok(WebPage { url: url.into(), title, extracted, document }))
    }
}

/// Returns a hash of the text, in hexadecimal.
fn hash(extracted: &Extracted) -> String {
    let mut hash = Context::new(&SHA256);
    extracted.passages.iter().for_each(|passage| hash.update(passage.text.as_bytes()));
    hash.finish().as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}
