//! A browser at the dashboard: it keeps its cookie, names its program, and sends what browsers send.

use reqwest::header::HeaderMap;
use reqwest::redirect::Policy;
use reqwest::{Client, Method, RequestBuilder, Response, Url};

use super::html::{self, Form};
use crate::support::TIMEOUT;
use crate::support::wait::eventually;

/// Program of whoever signs in, unless a test names another.
pub const PROGRAM: &str = "Mozilla/5.0 (X11; Linux x86_64) Tests/1.0";
/// Header that a browser sends with a form of the page itself.
pub const OWN: (&str, &str) = ("sec-fetch-site", "same-origin");

/// A browser with the dashboard of a bot open.
#[derive(Clone)]
pub struct Browser {
    client: Client,
    /// Address of the dashboard, with a slash at its end.
    pub root: Url,
    program: Option<String>,
    pub cookie: Option<String>,
}

/// An answer that was read to its end.
#[derive(Debug, Clone)]
pub struct Page {
    pub url: Url,
    pub status: u16,
    pub headers: HeaderMap,
    pub body: String,
}

impl Browser {
    /// A browser that is not signed in.
    pub fn at(root: &str) -> Self {
        // Each request has a connection of its own: one whose body was not read to its end takes no further request.
        let client =
            Client::builder().no_proxy().redirect(Policy::none()).timeout(TIMEOUT).pool_max_idle_per_host(0);
        let client = client.build().unwrap();
        let root = Url::parse(root).unwrap();
        Self { client, root, program: Some(PROGRAM.to_owned()), cookie: None }
    }

    /// The same browser under another name, or under none.
    pub fn program(&self, program: Option<&str>) -> Self {
        Self { program: program.map(str::to_owned), ..self.clone() }
    }

    /// The same browser with this value of the header `Cookie`.
    pub fn cookie(&self, cookie: &str) -> Self {
        Self { cookie: Some(cookie.to_owned()), ..self.clone() }
    }

    /// A request with what this browser always sends. A path is below the dashboard, a whole address is itself.
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let mut request = self.client.request(method, self.root.join(path).unwrap());
        if let Some(program) = &self.program {
            request = request.header("user-agent", program);
        }
        if let Some(cookie) = &self.cookie {
            request = request.header("cookie", cookie);
        }
        request
    }

    pub async fn get(&self, path: &str) -> Page {
        Page::patiently(&self.request(Method::GET, path)).await
    }

    /// The text of a page that has to be there.
    pub async fn reads(&self, path: &str) -> String {
        let page = self.get(path).await;
        assert_eq!(page.status, 200, "{path}: {}", page.body);
        page.body
    }

    /// The status of a page.
    pub async fn status(&self, path: &str) -> u16 {
        self.get(path).await.status
    }

    /// Sends a form as a page of the dashboard itself does.
    pub async fn post(&self, path: &str, fields: &[(&str, &str)]) -> Page {
        self.post_with(path, fields, &[OWN]).await
    }

    /// Sends a form with these headers about where it comes from.
    pub async fn post_with(&self, path: &str, fields: &[(&str, &str)], headers: &[(&str, &str)]) -> Page {
        let request = self.form(path, fields);
        let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
        Page::patiently(&request).await
    }

    /// A form that says nothing of where it comes from.
    pub fn form(&self, path: &str, fields: &[(&str, &str)]) -> RequestBuilder {
        let request = self.request(Method::POST, path);
        request.header("content-type", "application/x-www-form-urlencoded").body(html::encoded(fields))
    }

    /// Sends a form that a page shows, with the values that it has.
    pub async fn submits(&self, form: &Form) -> Page {
        let fields: Vec<(&str, &str)> = form.fields.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
        self.post(form.url.as_str(), &fields).await
    }

    /// Opens a link, presses its button, and keeps the cookie.
    pub async fn signs_in(&mut self, link: &str) -> Page {
        let redeemed = self.post(link, &[]).await;
        assert_eq!(redeemed.status, 303, "{}", redeemed.body);
        let cookie = redeemed.header("set-cookie");
        self.cookie = Some(cookie.split(';').next().unwrap().to_owned());
        redeemed
    }
}

impl Page {
    /// Asks again while there are too many requests: a test asks faster than a person.
    pub async fn patiently(request: &RequestBuilder) -> Self {
        let asking = async || {
            let page = Self::of(request.try_clone().unwrap().send().await.unwrap()).await;
            (page.status != 429).then_some(page)
        };
        eventually(|| "always too many requests", asking).await
    }

    pub async fn of(response: Response) -> Self {
        let (url, status) = (response.url().clone(), response.status().as_u16());
        let headers = response.headers().clone();
        Self { url, status, headers, body: response.text().await.unwrap() }
    }

    /// A header, or nothing.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map(|value| value.to_str().unwrap()).unwrap_or_default()
    }

    /// Everything that whoever asked can see of the answer.
    pub fn whole(&self) -> String {
        let headers = self
            .headers
            .iter()
            .map(|(name, value)| format!("{name}: {}\n", String::from_utf8_lossy(value.as_bytes())));
        format!("{}\n{}{}", self.status, headers.collect::<String>(), self.body)
    }

    /// The answer around these words, for whoever reads that a test failed.
    pub fn around(&self, words: &str) -> String {
        let whole = self.whole();
        let at = whole.to_lowercase().find(&words.to_lowercase()).unwrap_or_default();
        let from = whole.floor_char_boundary(at.saturating_sub(300));
        whole[from..whole.ceil_char_boundary(whole.len().min(at + 300))].to_owned()
    }

    /// Addresses below the dashboard that the page links to, without their fragments.
    pub fn links(&self, root: &Url) -> Vec<Url> {
        html::links(&self.url, &self.body)
            .into_iter()
            .filter(|url| url.as_str().starts_with(root.as_str()))
            .collect()
    }

    /// Forms of the page.
    pub fn forms(&self) -> Vec<Form> {
        html::forms(&self.url, &self.body)
    }
}
