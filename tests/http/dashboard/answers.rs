//! Headers of every answer, whatever was asked; and that a page that has not changed is not sent again.

use figaro_offline::model::ModelReply;
use reqwest::Method;

use super::Dashboard;
use super::browser::{Browser, OWN, Page};
use crate::support::{ANN, BOB, World};

const FORGED: &str = "enter/0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

/// Sources that a policy allows for a kind of content.
fn allowed<'a>(policy: &'a str, kind: &str) -> Vec<&'a str> {
    let directives = policy.split(';').map(|one| one.split_whitespace().collect::<Vec<_>>());
    let found = directives.into_iter().find(|words| words.first() == Some(&kind));
    found.map(|words| words[1..].to_vec()).unwrap_or_default()
}

/// Fails if the head of an answer lets more happen than a page of the dashboard needs.
fn is_guarded(what: &str, page: &Page) {
    let policies: Vec<_> = page.headers.get_all("content-security-policy").iter().collect();
    assert_eq!(policies.len(), 1, "{what}: {}", page.whole());
    let policy = policies[0].to_str().unwrap();
    for word in ["unsafe-inline", "unsafe-eval", "unsafe-hashes", "data:", "blob:", "*", "http:", "https:"] {
        assert!(!policy.contains(word), "{what}: {policy}");
    }
    assert_eq!(allowed(policy, "frame-ancestors"), ["'none'"], "{what}: {policy}");
    assert_eq!(allowed(policy, "default-src"), ["'none'"], "{what}: {policy}");
    for kind in ["script-src", "style-src", "form-action", "connect-src", "img-src"] {
        assert!(
            allowed(policy, kind).iter().all(|from| *from == "'self'" || *from == "'none'"),
            "{what}: {policy}"
        );
    }
    // Neither is meant by `default-src`.
    assert!(
        !allowed(policy, "form-action").is_empty() && !allowed(policy, "base-uri").is_empty(),
        "{what}: {policy}"
    );
    assert_eq!(page.header("x-content-type-options"), "nosniff", "{what}: {}", page.whole());
    assert_eq!(page.header("access-control-allow-origin"), "", "{what}");
    assert!(page.headers.get("server").is_none() && page.headers.get("x-powered-by").is_none(), "{what}");
    if page.url.path().contains("/assets/") && page.status == 200 {
        return;
    }
    assert_eq!(page.header("cache-control"), "no-store", "{what}: {}", page.whole());
    assert!(page.status == 200 || !page.body.contains("panicked"), "{what}: {}", page.body);
}

/// Requests, from pages that are there to paths that no browser asks for.
const OPENED: &str =
    "conversations conversations?q=a memory tasks approvals people agents servers audit settings
assets/dashboard.css assets/dashboard.js assets/icon.svg assets/none.css assets/ assets none none/none
tasks/none tasks/01BX5ZZKBKACTAV9WEVRYEMGVS conversations/none conversations/01BX5ZZKBKACTAV9WEVRYEMGVS
memory?of=none conversations?chat=none conversations?page=none audit?before=none audit?refused=perhaps
conversations?page=99999999999999999999999 conversations?page=-1 conversations?page=4294967295
conversations?page=18446744073709551615 audit?before=-1 audit?before=18446744073709551615 audit?before=0
conversations?q=%ff%fe conversations?q=%00 conversations?q=a&q=b conversations?chat=1&chat=2 ?by=none ?by=%ff
conversations?chat=-9223372036854775808 memory?of=-9223372036854775808 memory?of=%00 ?%%% leave enter/ enter
approvals/none people/12 servers/none memory/facts/1 memory/pins/1/remove %ff %00";
/// Where forms are sent.
const SENT: &str = "none leave?x enter enter/ enter/none conversations settings assets/dashboard.css events
tasks/none tasks/01BX5ZZKBKACTAV9WEVRYEMGVS approvals/none approvals/01BX5ZZKBKACTAV9WEVRYEMGVS people/none
people/0 people/12 people/99999999999999999999 servers/none servers/%00 memory/facts/none memory/notes/1
memory/facts/01BX5ZZKBKACTAV9WEVRYEMGVS memory/facts/01BX5ZZKBKACTAV9WEVRYEMGVS/remove
memory/pins/01BX5ZZKBKACTAV9WEVRYEMGVS/remove memory/pins/none/remove memory/facts/none/remove/twice";

/// All that is asked for. The stream of events has no end: its head is looked at elsewhere.
fn asked() -> Vec<(Method, String)> {
    let each = |method: Method, paths: &str| {
        let paths: Vec<String> = paths.split_whitespace().chain(["", FORGED]).map(str::to_owned).collect();
        paths.into_iter().map(|path| (method.clone(), path)).collect::<Vec<_>>()
    };
    let mut all = [each(Method::GET, OPENED), each(Method::POST, SENT)].concat();
    all.push((Method::GET, format!("conversations?q={}", "a".repeat(20_000))));
    all.push((Method::GET, "x".repeat(20_000)));
    for method in [Method::HEAD, Method::PUT, Method::DELETE, Method::PATCH, Method::OPTIONS, Method::TRACE] {
        all.extend(each(method, "settings tasks/none leave assets/dashboard.css"));
    }
    all
}

/// Sends each of them, with and without what a browser says of where a form comes from.
async fn each_is_guarded(browser: &Browser, who: &str) {
    for (method, path) in asked() {
        let what = format!("{who}: {method} {}", &path[..path.len().min(80)]);
        let plain = browser.request(method.clone(), &path);
        let mut requests = vec![plain];
        if method == Method::POST && path != "leave?x" {
            for body in [
                "",
                "change=none&action=none&ruled=none&words=",
                "=&&%",
                "words=%00&sure=1",
                "action=run&action=cancel",
            ] {
                let form = browser.request(method.clone(), &path).header(OWN.0, OWN.1);
                requests.push(form.header("content-type", "application/x-www-form-urlencoded").body(body));
            }
            let odd = browser.request(method.clone(), &path).header(OWN.0, OWN.1);
            requests.push(odd.header("content-type", "application/json").body("{\"change\": \"admin\"}"));
            let large = browser.request(method.clone(), &path).header(OWN.0, OWN.1);
            let words = format!("words={}", "a".repeat(100_000));
            requests.push(large.header("content-type", "application/x-www-form-urlencoded").body(words));
        }
        for request in requests {
            let page = Page::patiently(&request).await;
            assert!(page.status < 500, "{what}: {}", page.whole());
            is_guarded(&what, &page);
        }
    }
}

async fn started(world: &World) -> Dashboard {
    world.otherwise(ModelReply::text("Fine."));
    let dashboard = world.dashboard().await;
    world.told(ANN, ANN, "hello").await;
    dashboard
}

#[tokio::test]
async fn whatever_an_owner_asks_for_the_answer_is_guarded() {
    let world = World::new().await;
    let dashboard = started(&world).await;
    let browser = world.browser(&dashboard, ANN).await;
    each_is_guarded(&browser, "an owner").await;
    assert_eq!(browser.status("").await, 200);
    for page in browser.finds().await.pages {
        is_guarded("a page that is there", &page);
        assert_eq!(page.status, 200, "{}", page.url);
    }
    assert!(!dashboard.bot().log().contains("panicked"), "{}", dashboard.bot().log());
}

#[tokio::test]
async fn whatever_a_member_or_nobody_asks_for_the_answer_is_guarded() {
    let world = World::new().await;
    let dashboard = started(&world).await;
    let (member, nobody) = (world.browser(&dashboard, BOB).await, dashboard.nobody());
    futures::future::join(each_is_guarded(&member, "a member"), each_is_guarded(&nobody, "nobody")).await;
    let link = world.link(BOB).await;
    let mut browser = dashboard.nobody();
    is_guarded("a link", &browser.get(&link).await);
    is_guarded("a link that is redeemed", &browser.signs_in(&link).await);
    is_guarded("a link that was used", &browser.post(&link, &[]).await);
    is_guarded("a form of another page", &browser.post_with("leave", &[], &[]).await);
    is_guarded("the end", &browser.post("leave", &[("now", "1")]).await);
    is_guarded("after the end", &browser.get("").await);
    assert!(!dashboard.bot().log().contains("panicked"), "{}", dashboard.bot().log());
}

#[tokio::test]
async fn a_page_that_has_not_changed_is_not_sent_again() {
    let world = World::new().await;
    let dashboard = started(&world).await;
    let browser = world.browser(&dashboard, ANN).await;
    for path in
        ["conversations", "memory", "tasks", "approvals", "people", "agents", "servers", "audit", "settings"]
    {
        let tag = browser.get(path).await.header("etag").to_owned();
        assert!(!tag.is_empty(), "{path}");
        let asks = |tag: String| browser.request(Method::GET, path).header("if-none-match", tag);
        let page = Page::patiently(&asks(tag.clone())).await;
        assert_eq!((page.status, page.body.as_str()), (304, ""), "{path} {tag}");
        is_guarded(path, &page);
        let page = Page::patiently(&asks("\"another\"".to_owned())).await;
        assert_eq!(page.status, 200, "{path}");
    }
    let tag = browser.get("memory").await.header("etag").to_owned();
    world.told(ANN, ANN, "/pin something new").await;
    let asks = browser.request(Method::GET, "memory").header("if-none-match", &tag);
    let page = Page::patiently(&asks).await;
    assert!(page.status == 200 && page.body.contains("something new") && page.header("etag") != tag);
    // Whoever is not signed in is told so, whatever they have seen before.
    let tag = page.header("etag").to_owned();
    let asks = dashboard.nobody().request(Method::GET, "memory").header("if-none-match", tag);
    assert_eq!(Page::patiently(&asks).await.status, 401);
}

#[tokio::test]
async fn what_is_the_same_for_all_may_be_kept_and_has_its_kind() {
    let world = World::new().await;
    let dashboard = started(&world).await;
    for (path, kind) in [
        ("assets/dashboard.css", "text/css"),
        ("assets/dashboard.js", "javascript"),
        ("assets/icon.svg", "image/svg+xml"),
    ] {
        let page = dashboard.nobody().get(path).await;
        assert!(page.status == 200 && page.header("content-type").contains(kind), "{}", page.whole());
        is_guarded(path, &page);
    }
}
