//! Signing in by a link and out again, and what does not sign anybody in.

use std::collections::BTreeSet;

use figaro_offline::model::ModelReply;
use reqwest::Method;

use super::browser::{OWN, PROGRAM, Page};
use super::link_in;
use crate::support::scene::{TEAM, text};
use crate::support::{ANN, BOB, World};

/// A ticket that nobody was given.
const FORGED: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

#[tokio::test]
async fn a_link_shows_a_button_that_signs_in_once() {
    let world = World::new().await;
    let dashboard = world.dashboard().await;
    let link = world.link(BOB).await;
    let ticket = link.strip_prefix(&format!("{}enter/", dashboard.root)).unwrap_or_else(|| panic!("{link}"));
    assert!(
        ticket.len() == 64 && ticket.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b)),
        "{ticket}"
    );
    let mut browser = dashboard.nobody();
    // Those who look at links for others, such as previews of messengers, do not use it up.
    for method in [Method::GET, Method::HEAD, Method::GET, Method::OPTIONS, Method::PUT, Method::DELETE] {
        let page = Page::patiently(&browser.request(method.clone(), &link)).await;
        assert_eq!(page.header("set-cookie"), "", "{method}");
    }
    let page = browser.get(&link).await;
    assert_eq!((page.status, page.forms().len()), (200, 1), "{}", page.body);
    assert_eq!(page.forms()[0].url.as_str(), link);
    let redeemed = browser.signs_in(&link).await;
    assert_eq!(redeemed.header("location"), "../");
    let cookie = redeemed.header("set-cookie").to_owned();
    let mut parts = cookie.split("; ");
    let (name, value) = parts.next().unwrap().split_once('=').unwrap();
    assert_eq!(name, format!("figaro_dashboard_{}", world.telegram.bot_id()));
    assert!(value.len() >= 32 && !cookie.contains(ticket), "{cookie}");
    // No other bot of this address is sent it.
    let wanted = ["HttpOnly", "Max-Age=43200", "Path=/dashboard", "SameSite=Strict"];
    assert_eq!(parts.collect::<BTreeSet<_>>(), wanted.into_iter().collect());
    assert_eq!(browser.status("").await, 200);
    for used in [dashboard.nobody(), browser.clone()] {
        let again = used.post(&link, &[]).await;
        assert_eq!((again.status, again.header("set-cookie")), (410, ""), "{}", again.body);
        assert_eq!(used.status(&link).await, 410);
    }
    assert_eq!(browser.status("").await, 200, "whoever tries again stays signed in");
    assert!(!dashboard.bot().log().contains(ticket) && !dashboard.bot().log().contains(value));
}

#[tokio::test]
async fn of_many_who_press_at_once_one_is_signed_in() {
    let world = World::new().await;
    let dashboard = world.dashboard().await;
    for _ in 0..3 {
        let (link, browser) = (world.link(BOB).await, dashboard.nobody());
        let presses = (0..24).map(|_| browser.post(&link, &[]));
        let answers = futures::future::join_all(presses).await;
        let of = |status: u16| answers.iter().filter(|page| page.status == status).count();
        assert_eq!((of(303), of(410)), (1, 23));
        assert_eq!(answers.iter().filter(|page| !page.header("set-cookie").is_empty()).count(), 1);
    }
}

#[tokio::test]
async fn a_ticket_that_nobody_was_given_signs_nobody_in() {
    let world = World::new().await;
    let dashboard = world.dashboard().await;
    let link = world.link(BOB).await;
    let (root, ticket) = link.rsplit_once('/').unwrap();
    let mut other = ticket.to_owned();
    other.replace_range(63.., if ticket.ends_with('0') { "1" } else { "0" });
    let forged = [
        FORGED.to_owned(),
        other,
        ticket[..63].to_owned(),
        format!("{ticket}0"),
        format!("{ticket}{ticket}"),
        format!("{ticket}%00"),
        format!("{ticket}%20"),
        format!("{ticket},{FORGED}"),
        "0".repeat(64),
        "%".repeat(3),
        "a".repeat(5_000),
        "null".to_owned(),
    ];
    let browser = dashboard.nobody();
    for ticket in forged {
        let page = browser.post(&format!("{root}/{ticket}"), &[]).await;
        assert!([400, 404, 410].contains(&page.status), "{ticket}: {}", page.whole());
        assert_eq!(page.header("set-cookie"), "", "{ticket}");
    }
    for unknown in [FORGED, &"0".repeat(64)] {
        for page in [
            browser.post(&format!("{root}/{unknown}"), &[]).await,
            browser.get(&format!("{root}/{unknown}")).await,
        ] {
            assert_eq!((page.status, page.header("set-cookie")), (410, ""), "{unknown}");
        }
    }
    assert_eq!(browser.post(&link, &[]).await.status, 303, "the right one is good still");
}

#[tokio::test]
async fn a_newer_link_and_one_of_another_are_each_their_owners() {
    let world = World::new().await;
    let dashboard = world.dashboard().await;
    let (first, second, anns) = (world.link(BOB).await, world.link(BOB).await, world.link(ANN).await);
    assert_eq!([&first, &second, &anns].into_iter().collect::<BTreeSet<_>>().len(), 3);
    for (link, status) in [(second, 200), (anns, 200)] {
        let mut browser = dashboard.nobody();
        browser.signs_in(&link).await;
        assert_eq!(browser.status("").await, status);
    }
    // A browser in which somebody is signed in becomes that of whoever signs in there next.
    let mut browser = world.browser(&dashboard, BOB).await;
    assert_eq!(browser.status("people").await, 404);
    browser.signs_in(&world.link(ANN).await).await;
    assert_eq!(browser.status("people").await, 200);
}

#[tokio::test]
async fn a_page_elsewhere_signs_nobody_in_and_sends_no_form() {
    let world = World::new().await;
    let dashboard = world.dashboard().await;
    world.told(BOB, BOB, "/pin the pin that stays").await;
    let browser = world.browser(&dashboard, BOB).await;
    let host = dashboard.root.trim_start_matches("http://").trim_end_matches("/dashboard/").to_owned();
    let own = format!("http://{host}");
    let cases: [&[(&str, &str)]; 20] = [
        &[],
        &[("origin", "null")],
        &[("origin", "")],
        &[("origin", "http://evil.example")],
        &[("origin", &format!("http://{host}.evil.example"))],
        &[("origin", &format!("http://{host}@evil.example"))],
        &[("origin", &format!("http://evil.example/{host}"))],
        &[("origin", &format!("http://evil.example?{host}"))],
        &[("origin", &format!("http://evil.example#{host}"))],
        &[("origin", &format!("http://evil{host}"))],
        &[("origin", "http://127.0.0.1:1")],
        &[("origin", "http://localhost:1")],
        &[("origin", "file://")],
        &[("referer", &dashboard.root)],
        &[("sec-fetch-site", "cross-site")],
        &[("sec-fetch-site", "same-site")],
        &[("sec-fetch-site", "none")],
        &[("sec-fetch-site", "")],
        &[("sec-fetch-site", "cross-site"), ("origin", &own)],
        &[("sec-fetch-site", "same-site"), ("origin", &own)],
    ];
    let link = world.link(BOB).await;
    let forms: Vec<_> = browser.finds().await.forms();
    assert!(!forms.is_empty());
    for headers in cases {
        let signing = dashboard.nobody().post_with(&link, &[], headers).await;
        assert_eq!((signing.status, signing.header("set-cookie")), (403, ""), "{headers:?}");
        for form in &forms {
            let fields: Vec<_> = form.fields.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
            let page = browser.post_with(form.url.as_str(), &fields, headers).await;
            assert_eq!(page.status, 403, "{headers:?} {form:?}");
        }
        assert_eq!(browser.post_with("leave", &[("now", "1")], headers).await.status, 403, "{headers:?}");
    }
    assert!(browser.reads("memory").await.contains("the pin that stays"), "nothing has happened");
    // The same by a browser that tells less, and the ticket is good still.
    let old = [("origin", own.as_str())];
    assert_eq!(dashboard.nobody().post_with(&link, &[], &old).await.status, 303);
    assert_eq!(browser.post_with("leave", &[("now", "1")], &old).await.status, 303);
    assert_eq!(browser.status("").await, 401);
}

#[tokio::test]
async fn a_cookie_is_good_in_the_browser_that_signed_in_and_as_it_was_given() {
    let world = World::new().await;
    let dashboard = world.dashboard().await;
    let browser = world.browser(&dashboard, BOB).await;
    let cookie = browser.cookie.clone().unwrap();
    let (name, value) = cookie.split_once('=').unwrap();
    for program in [None, Some(""), Some("curl/8"), Some(&PROGRAM[1..]), Some(&format!("{PROGRAM} "))] {
        // What ends with a space arrives without it.
        let wanted = if program.is_some_and(|program| program.trim_end() == PROGRAM) { 200 } else { 401 };
        assert_eq!(browser.program(program).status("").await, wanted, "{program:?}");
        assert_eq!(browser.program(program).status("tasks").await, wanted, "{program:?}");
    }
    let mut nameless = dashboard.nobody().program(None);
    nameless.signs_in(&world.link(BOB).await).await;
    assert_eq!(nameless.program(Some(PROGRAM)).status("").await, 401);
    let mut other = value.to_owned();
    other.replace_range(..1, if value.starts_with('0') { "1" } else { "0" });
    let forged = [
        format!("{name}={other}"),
        format!("{name}={}", &value[..value.len() - 1]),
        format!("{name}={value}0"),
        format!("{name}="),
        name.to_owned(),
        format!("{name}x={value}"),
        format!("figaro_dashboard={value}"),
        format!("figaro_dashboard_1={value}"),
        value.to_owned(),
        format!("{name}={}", "0".repeat(value.len())),
        format!("{name}={}", "a".repeat(6_000)),
        format!("{name}=%22%00"),
        format!("{name}=tg:{ANN}"),
        format!("{name}={ANN}"),
    ];
    for cookie in forged {
        assert_eq!(browser.cookie(&cookie).status("").await, 401, "{cookie}");
    }
    let among = format!("a=b; {cookie}; theme=dark");
    assert_eq!(browser.cookie(&among).status("").await, 200, "others on this machine have cookies too");
    assert_eq!(browser.status("").await, 200);
}

#[tokio::test]
async fn without_a_cookie_no_page_is_shown_and_no_form_taken() {
    let world = World::new().await;
    let dashboard = world.dashboard().await;
    world.otherwise(ModelReply::text("Fine."));
    world.told(ANN, ANN, "a zebra").await;
    let found = world.browser(&dashboard, ANN).await.finds().await;
    assert!(found.pages.len() > 12);
    let nobody = dashboard.nobody();
    for url in found.urls().iter().filter(|url| !url.path().contains("/assets/")) {
        let page = nobody.get(url.as_str()).await;
        assert!(page.status == 401 && !page.body.contains("zebra"), "{url}: {}", page.whole());
    }
    for path in
        ["events", "conversations?q=zebra", "audit?verify=true", "tasks/1", "conversations/1", "memory?of=11"]
    {
        assert_eq!(nobody.status(path).await, 401, "{path}");
    }
    for path in [
        "memory/facts/1",
        "memory/facts/1/remove",
        "memory/pins/1/remove",
        "tasks/1",
        "approvals/1",
        "people/12",
        "servers/x",
    ] {
        assert_eq!(nobody.post(path, &[("change", "admin")]).await.status, 401, "{path}");
    }
}

#[tokio::test]
async fn whoever_leaves_is_out_and_their_other_browsers_stay() {
    let world = World::new().await;
    let dashboard = world.dashboard().await;
    let [leaves, stays] = [world.browser(&dashboard, BOB).await, world.browser(&dashboard, BOB).await];
    assert_ne!(leaves.cookie, stays.cookie);
    let page = leaves.post("leave", &[]).await;
    assert!(page.status < 400, "{}", page.whole());
    assert_eq!((leaves.status("").await, leaves.status("tasks").await), (401, 401));
    assert!(leaves.post("leave", &[]).await.status < 500, "whoever presses twice");
    assert_eq!(stays.status("").await, 200);
}

#[tokio::test]
async fn no_link_is_given_in_a_group_or_to_a_stranger() {
    let world = World::new().await;
    world.team();
    let dashboard = world.dashboard_of(world.bot()).await;
    world.told(ANN, TEAM, "/allow@figaro_bot").await;
    for who in [ANN, BOB] {
        let told = world.told(who, TEAM, "/dashboard@figaro_bot").await;
        assert!(!text(&told).contains("http") && !text(&told).contains("enter"), "{told}");
    }
    // Nobody has let Bob in himself.
    world.say(BOB, BOB, "/dashboard");
    world.caught_up().await;
    assert!(world.bot_texts(BOB).iter().all(|text| link_in(text).is_none()), "{:?}", world.bot_texts(BOB));
    assert!(!world.telegram.calls().iter().any(|call| format!("{:?}", call.args).contains("/enter/")));
    world.browser(&dashboard, ANN).await.reads("").await;
}

#[tokio::test]
async fn without_an_address_there_is_no_dashboard_and_no_link() {
    let world = World::new().await;
    let _bot = world.start().await;
    let told = world.told(ANN, ANN, "/dashboard").await;
    assert!(link_in(text(&told)).is_none() && text(&told).contains("HTTP_ADDR"), "{told}");
}

#[tokio::test]
async fn a_form_says_whether_it_is_of_the_page_by_one_header_alone() {
    let world = World::new().await;
    let dashboard = world.dashboard().await;
    // A program in between may leave out where it comes from, and a browser says it by itself.
    let foreign = [OWN, ("origin", "http://evil.example")];
    let page = dashboard.nobody().post_with(&world.link(BOB).await, &[], &foreign).await;
    assert_eq!(page.status, 303, "{}", page.whole());
}

#[tokio::test]
async fn another_header_with_a_host_makes_no_page_of_it_ones_own() {
    let world = World::new().await;
    let dashboard = world.dashboard().await;
    let foreign = [("origin", "http://evil.example"), ("x-forwarded-host", "evil.example")];
    let page = dashboard.nobody().post_with(&world.link(BOB).await, &[], &foreign).await;
    assert_eq!((page.status, page.header("set-cookie")), (403, ""));
}

#[tokio::test]
async fn many_links_of_one_person_end_no_link_of_another() {
    let world = World::new().await;
    let dashboard = world.dashboard().await;
    let anns = world.link(ANN).await;
    let mut last = String::new();
    for _ in 0..80 {
        last = world.link(BOB).await;
    }
    for link in [anns, last] {
        assert_eq!(dashboard.nobody().post(&link, &[]).await.status, 303);
    }
}

#[tokio::test]
async fn no_model_reads_a_link() {
    let world = World::new().await;
    world.otherwise(ModelReply::text("Fine."));
    let _dashboard = world.dashboard().await;
    world.told(BOB, BOB, "hello").await;
    let link = world.link(BOB).await;
    world.told(BOB, BOB, "what did you just send me?").await;
    let ticket = link.rsplit('/').next().unwrap();
    assert!(!world.model.requests().iter().any(|request| request.body.to_string().contains(ticket)));
    let calls = world.telegram.calls();
    let sent = calls.iter().find(|call| format!("{:?}", call.args).contains(ticket)).unwrap();
    assert_eq!(sent.args["link_preview_options"]["is_disabled"], true, "no machine opens it: {sent:?}");
}
