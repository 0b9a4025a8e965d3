//! Fetches the page or file behind an address. An address of a private network is never connected to, whatever names,
//! redirects and name servers say: the IP address is checked on the way to the connection, and each redirect is a new
//! request.

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use futures::future::BoxFuture;
use futures::{StreamExt, TryStreamExt};
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::header::{ACCEPT, ACCEPT_LANGUAGE, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, LOCATION};
use reqwest::redirect::Policy;
use reqwest::{Client, Response};
use url::Url;

use crate::channel::{FileError, FileStream};
use figaro_config::PageSettings;
use figaro_domain::document::MAX_FILE_BYTES;
use figaro_policy::address::{is_public, is_public_ip};

/// Maximum number of redirects.
const MAX_REDIRECTS: usize = 5;
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
const USER_AGENT: &str = concat!("Mozilla/5.0 (compatible; Figaro/", env!("CARGO_PKG_VERSION"), ")");
const ACCEPTED: &str = "text/html,application/xhtml+xml,application/pdf;q=0.9,*/*;q=0.8";

/// Reason why there is nothing to read behind an address. The words complete "The page ...".
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum PageError {
    /// No address of http or https.
    #[error("has no address that can be opened: give the whole of it, with https:// and without a password")]
    NoAddress,
    /// The address, or one that it redirects to, is not on the public web.
    #[error("is not on the public web")]
    Private,
    /// There is no such host, or no connection.
    #[error("cannot be reached")]
    Unreachable,
    /// The server answers with an error.
    #[error("answers with HTTP {0}")]
    Status(u16),
    /// Redirects that lead nowhere.
    #[error("redirects too often")]
    Redirects,
    /// A picture, a sound or a video.
    #[error("is no text: it is {0}")]
    NoText(String),
    /// More than a file may have.
    #[error("is too large: 20 MB at most")]
    TooLarge,
    /// No answer, or not all of it, in time.
    #[error("took too long: it was given up after 30 seconds")]
    Late,
}

/// An answer, before its content is read.
pub(super) struct OpenPage {
    /// Address after all redirects.
    pub(super) url: Url,
    pub(super) kind: PageKind,
    pub(super) content: FileStream,
}

/// Kind of the content, as the server states it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PageKind {
    /// Name for the reader of files; its ending tells the format.
    pub(super) name: String,
    /// Stated encoding; empty if there is none.
    pub(super) charset: String,
    /// `true` for a file, such as a PDF. Others are pages.
    pub(super) is_file: bool,
}

/// Looks up the addresses of a host.
pub(super) type Lookup = Arc<dyn Fn(String) -> BoxFuture<'static, io::Result<Vec<SocketAddr>>> + Send + Sync>;

/// Fetches pages. The client is made when the first one is asked for, since it holds the root certificates.
pub(super) struct PageClient {
    settings: PageSettings,
    lookup: Lookup,
    http: OnceLock<Option<Client>>,
}

impl PageClient {
    pub(super) fn new(settings: PageSettings) -> Self {
        let lookup: Lookup =
            Arc::new(|host| Box::pin(async move { Ok(tokio::net::lookup_host((host, 0)).await?.collect()) }));
        Self { settings, lookup, http: OnceLock::new() }
    }

    /// Requests an address and follows its redirects.
    pub(super) async fn open(&self, address: &str) -> Result<OpenPage, PageError> {
        let http = self.http.get_or_init(|| self.client()).as_ref().ok_or(PageError::Unreachable)?;
        let mut url = self.check(address)?;
        // No page of others leads into the owner's network.
        let is_private = self.is_allowed(&url);
        for _ in 0..=MAX_REDIRECTS {
            if !self.is_open(&url, is_private) {
                return Err(PageError::Private);
            }
            let request = http.get(url.clone()).header(ACCEPT, ACCEPTED).header(ACCEPT_LANGUAGE, "*");
            let response = request.send().await.map_err(|error| reason(&error))?;
            match redirect(&response) {
                Some(next) => url = url.join(&next).map_err(|_bad| PageError::Redirects)?,
                None => return opened(url, response),
            }
        }
        Err(PageError::Redirects)
    }

    /// Returns an address as it will be asked for. The IP addresses behind its name are checked by [`PublicOnly`].
    pub(super) fn check(&self, address: &str) -> Result<Url, PageError> {
        let mut url = Url::parse(address.trim()).map_err(|_bad| PageError::NoAddress)?;
        if !["http", "https"].contains(&url.scheme())
            || !url.username().is_empty()
            || url.password().is_some()
        {
            return Err(PageError::NoAddress);
        }
        if !self.is_open(&url, true) {
            return Err(PageError::Private);
        }
        url.set_fragment(None);
        Ok(url)
    }

    /// Returns `true` for a public address, or an allowed one if the owner's network may be read. Of a host in the settings only
    /// the allowed ports are open, also if its name looks public.
    fn is_open(&self, url: &Url, is_private: bool) -> bool {
        let is_named = self.settings.private.iter().any(|host| url.host_str() == Some(&host.name));
        if is_named { is_private && self.is_allowed(url) } else { is_public(url.as_str()) }
    }

    fn is_allowed(&self, url: &Url) -> bool {
        self.settings.private.iter().any(|host| host.has(url))
    }

    /// Makes the client; `None` if the certificates of the system are missing. It uses no proxy, because a proxy looks hosts
    /// up by itself.
    fn client(&self) -> Option<Client> {
        let resolver = PublicOnly {
            lookup: self.lookup.clone(),
            private: self.settings.private.iter().map(|host| host.name.clone()).collect(),
        };
        let client = Client::builder()
            .user_agent(USER_AGENT)
            .connect_timeout(CONNECT_TIMEOUT)
            .redirect(Policy::none())
            .dns_resolver(Arc::new(resolver))
            .no_proxy()
            .http1_only()
            .pool_max_idle_per_host(0)
            .build();
        client.inspect_err(|error| tracing::error!(%error, "pages cannot be read")).ok()
    }
}

/// Resolver that gives the addresses of the internet alone, so that a connection to any other is impossible.
struct PublicOnly {
    lookup: Lookup,
    /// Names whose addresses may be private.
    private: Vec<String>,
}

/// Error of a name that leads to a private network.
#[derive(Debug, thiserror::Error)]
#[error("the host has no public address")]
struct NotPublic;

impl Resolve for PublicOnly {
    fn resolve(&self, name: Name) -> Resolving {
        let found = (self.lookup)(name.as_str().to_owned());
        let is_private = self.private.iter().any(|one| one == name.as_str());
        Box::pin(async move {
            let mut found = found.await?;
            found.retain(|address| is_private || is_public_ip(address.ip()));
            match found.is_empty() {
                true => Err(NotPublic.into()),
                false => Ok(Box::new(found.into_iter()) as Addrs),
            }
        })
    }
}

/// Returns the place that a response redirects to.
fn redirect(response: &Response) -> Option<String> {
    let place = response.headers().get(LOCATION).filter(|_| response.status().is_redirection())?;
    place.to_str().ok().map(str::to_owned)
}

fn opened(url: Url, response: Response) -> Result<OpenPage, PageError> {
    if !response.status().is_success() {
        return Err(PageError::Status(response.status().as_u16()));
    }
    let length = text_of(response.headers(), CONTENT_LENGTH.as_str()).parse::<usize>();
    if length.is_ok_and(|length| length > MAX_FILE_BYTES) {
        return Err(PageError::TooLarge);
    }
    let kind = kind(&text_of(response.headers(), CONTENT_TYPE.as_str()), &url)?;
    let content = response.bytes_stream().map_ok(|piece| piece.to_vec());
    let content = content.map_err(|error| FileError::Unavailable(error.without_url().to_string()));
    Ok(OpenPage { url, kind, content: content.boxed() })
}

fn text_of(headers: &HeaderMap, name: &str) -> String {
    headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned()
}

/// Returns the kind of a content by its media type, otherwise by the end of its address.
fn kind(content_type: &str, url: &Url) -> Result<PageKind, PageError> {
    let (media, parameters) = content_type.split_once(';').unwrap_or((content_type, ""));
    let media = media.trim().to_lowercase();
    let parameters = parameters.to_lowercase();
    let charset = parameters.split(';').find_map(|one| one.trim().strip_prefix("charset="));
    let charset = charset.map(|charset| charset.trim_matches('"').to_owned()).unwrap_or_default();
    let last = url.path_segments().and_then(|mut parts| parts.next_back()).unwrap_or_default();
    let kind =
        |name: &str, is_file| Ok(PageKind { name: name.to_owned(), charset: charset.clone(), is_file });
    match media.as_str() {
        "text/html" | "application/xhtml+xml" => kind("page.html", false),
        "text/csv" => kind(if last.is_empty() { "table.csv" } else { last }, true),
        "application/pdf" => kind(if last.is_empty() { "file.pdf" } else { last }, true),
        "application/json" | "application/xml" => kind("page.txt", false),
        text if text.starts_with("text/") || text.ends_with("+json") || text.ends_with("+xml") => {
            kind("page.txt", false)
        }
        other if ["image/", "audio/", "video/", "font/"].iter().any(|no| other.starts_with(no)) => {
            Err(PageError::NoText(other.chars().take(40).collect()))
        }
        _ => kind(if last.is_empty() { "file" } else { last }, true),
    }
}

/// Converts a failed request. The text of the error could quote the address.
fn reason(error: &reqwest::Error) -> PageError {
    let mut source: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(cause) = source {
        if cause.is::<NotPublic>() {
            return PageError::Private;
        }
        source = cause.source();
    }
    if error.is_timeout() { PageError::Late } else { PageError::Unreachable }
}

#[cfg(test)]
mod tests;
