//! The stream that tells a page to load itself again: it says that something has changed, and nothing else.

use figaro_offline::model::ModelReply;
use reqwest::{Method, Response};

use super::browser::Browser;
use crate::support::{ANN, BOB, World};

/// A stream that is open.
pub struct Stream {
    response: Response,
    heard: String,
}

impl Stream {
    pub async fn of(browser: &Browser) -> Self {
        let response = browser.request(Method::GET, "events").send().await.unwrap();
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Self { response, heard: String::new() }
    }

    /// The next piece of it; `None` at its end.
    async fn goes_on(&mut self) -> Option<()> {
        let piece = match self.response.chunk().await {
            Ok(piece) => piece?,
            Err(error) if error.is_timeout() => panic!("it neither says anything nor ends: {}", self.heard),
            Err(_) => return None,
        };
        self.heard.push_str(std::str::from_utf8(&piece).unwrap());
        Some(())
    }

    fn events(&self) -> usize {
        self.heard.matches("event: changed").count()
    }

    /// Waits for an event.
    pub async fn tells(&mut self) {
        let before = self.events();
        while self.events() == before {
            self.goes_on().await.expect("an event, not the end");
        }
    }

    /// Events other than `changed` and signs of life.
    fn beside(&self) -> Vec<&str> {
        let is_known = |line: &&str| {
            line.is_empty() || line.starts_with(':') || *line == "event: changed" || *line == "data: 1"
        };
        self.heard.lines().filter(|line| !is_known(line)).collect()
    }
}

#[tokio::test]
async fn it_tells_that_something_has_changed_and_not_what() {
    let world = World::new().await;
    world.otherwise(ModelReply::text("a secret zebra"));
    let dashboard = world.dashboard().await;
    let (mut anns, mut bobs) = (
        Stream::of(&world.browser(&dashboard, ANN).await).await,
        Stream::of(&world.browser(&dashboard, BOB).await).await,
    );
    for policy in [&anns, &bobs].map(|stream| stream.response.headers()["content-security-policy"].clone()) {
        assert!(policy.to_str().unwrap().contains("frame-ancestors 'none'"));
    }
    world.told(BOB, BOB, "a secret of Bob").await;
    futures::future::join(anns.tells(), bobs.tells()).await;
    world.told(BOB, BOB, "/pin another secret").await;
    futures::future::join(anns.tells(), bobs.tells()).await;
    assert_eq!((anns.beside(), bobs.beside()), (Vec::new(), Vec::new()));
}

/// Fails if somebody who is out is told more than what was on its way, or if the stream does not end.
pub async fn is_over(mut stream: Stream) {
    let before = stream.events();
    while stream.goes_on().await.is_some() {
        assert!(stream.events() <= before + 2, "it goes on: {}", stream.heard);
    }
}

#[tokio::test]
async fn it_ends_for_whoever_is_shut_out() {
    let world = World::new().await;
    world.otherwise(ModelReply::text("Fine."));
    let dashboard = world.dashboard().await;
    let browser = world.browser(&dashboard, BOB).await;
    let mut stream = Stream::of(&browser).await;
    world.told(BOB, BOB, "hello").await;
    stream.tells().await;
    world.told(ANN, ANN, "/deny 12").await;
    assert_eq!(browser.status("").await, 401);
    world.told(ANN, ANN, "hello").await;
    is_over(stream).await;
}

#[tokio::test]
async fn it_ends_for_whoever_leaves() {
    let world = World::new().await;
    world.otherwise(ModelReply::text("Fine."));
    let dashboard = world.dashboard().await;
    for who in [ANN, BOB] {
        let browser = world.browser(&dashboard, who).await;
        let mut stream = Stream::of(&browser).await;
        world.told(who, who, "hello").await;
        stream.tells().await;
        browser.post("leave", &[("now", "1")]).await;
        assert_eq!(browser.status("").await, 401);
        for _ in 0..4 {
            world.told(ANN, ANN, "/pin something").await;
            world.told(BOB, BOB, "hello").await;
        }
        is_over(stream).await;
    }
}

#[tokio::test]
async fn a_bot_that_stops_does_not_wait_for_those_who_listen() {
    let world = World::new().await;
    let dashboard = world.dashboard().await;
    let mut stream = Stream::of(&world.browser(&dashboard, ANN).await).await;
    dashboard.gateway.bot.ends_well().await;
    while stream.goes_on().await.is_some() {}
}
