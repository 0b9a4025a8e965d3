//! What an owner finds on the pages: by words, by chat, page by page.

use figaro_offline::model::ModelReply;

use super::browser::{Browser, Page};
use super::{Dashboard, html};
use crate::support::scene::TEAM;
use crate::support::{ANN, BOB, World};

/// More conversations than a page has.
const MANY: usize = 60;

async fn started() -> (World, Dashboard, Browser) {
    let world = World::new().await;
    world.team();
    world.otherwise(ModelReply::text("Fine."));
    let dashboard = world.dashboard().await;
    let browser = world.browser(&dashboard, ANN).await;
    (world, dashboard, browser)
}

#[tokio::test]
async fn conversations_are_found_by_their_words_and_by_their_chat() {
    let (world, _dashboard, browser) = started().await;
    for (who, chat, words) in [
        (ANN, ANN, "a zebra of Ann"),
        (BOB, BOB, "a zebra of Bob"),
        (BOB, TEAM, "@figaro_bot a lion of the team"),
    ] {
        world.told(who, chat, words).await;
    }
    let found = browser.reads("conversations?q=zebra").await;
    assert!(found.contains("a zebra of Ann") || found.contains("of Ann"), "{found}");
    let text = html::unescaped(&found);
    assert!(text.contains("Bob") && !text.contains("lion"), "{found}");
    let of_bob = html::unescaped(&browser.reads("conversations?chat=12&q=zebra").await);
    assert!(of_bob.contains("Bob") && !of_bob.contains("of Ann"), "{of_bob}");
    let nothing = browser.reads("conversations?q=giraffe").await;
    assert!(!nothing.contains("zebra") && !nothing.contains("lion"), "{nothing}");
    let of_team = browser.reads(&format!("conversations?chat={TEAM}")).await;
    assert!(of_team.contains("Team") && !of_team.contains("zebra"), "{of_team}");
}

#[tokio::test]
async fn a_search_says_when_it_shows_its_best_results_alone() {
    const NOTE: &str = "These are the 100 best results.";
    let (world, _dashboard, browser) = started().await;
    assert!(browser.reads("conversations?q=zebra").await.contains("Nothing was found."));
    for number in 0..100 {
        world.told(BOB, BOB, &format!("zebra number {number}")).await;
    }
    let results = |page: &str| page.matches("<p class=\"words\"").count();
    let all = browser.reads("conversations?q=zebra").await;
    assert!(results(&all) == 100 && !all.contains(NOTE), "{all}");
    world.told(BOB, BOB, "zebra number 100").await;
    for path in ["conversations?q=zebra", "conversations?chat=12&q=zebra"] {
        let best = browser.reads(path).await;
        assert!(results(&best) == 100 && best.contains(NOTE), "{best}");
    }
}

#[tokio::test]
async fn many_conversations_have_several_pages_without_one_left_out() {
    let (world, _dashboard, browser) = started().await;
    for number in 0..MANY {
        world.told(BOB, BOB, &format!("/new talk-{number}-")).await;
        world.told(BOB, BOB, "hello").await;
    }
    let found = browser.finds().await;
    for number in 0..MANY {
        assert!(found.has(&format!("talk-{number}-")), "{number}");
    }
    assert!(!browser.reads("conversations").await.contains("talk-0-"), "it is on a later page");
    assert!(
        browser.reads("conversations").await.contains(&format!("talk-{}-", MANY - 1)),
        "the newest come first"
    );
}

#[tokio::test]
async fn a_long_conversation_is_shown_whole_in_parts() {
    let (world, _dashboard, browser) = started().await;
    for number in 0..MANY {
        world.told(BOB, BOB, &format!("message-{number}-")).await;
    }
    let found = browser.finds().await;
    for number in 0..MANY {
        assert!(found.has(&format!("message-{number}-")), "{number}");
    }
    let is_one = |page: &&Page| page.url.path().contains("/conversations/") && page.url.query().is_none();
    let one = found.pages.iter().find(is_one).unwrap().url.clone();
    for from in ["-1", "0", "1", "119", "120", "99999999999999999999", "18446744073709551615", "none", "%ff"]
    {
        let page = browser.get(&format!("{one}?from={from}")).await;
        assert!(page.status < 500, "{from}: {}", page.whole());
    }
}

#[tokio::test]
async fn the_audit_log_is_shown_from_the_newest_back_and_verified() {
    let (world, _dashboard, browser) = started().await;
    for number in 0..MANY {
        world.told(ANN, ANN, &format!("/allow 12 {}", ["guest", "member"][number % 2])).await;
    }
    let all = browser.finds().await;
    let numbers: std::collections::BTreeSet<String> = all
        .pages
        .iter()
        .filter(|page| page.url.path().ends_with("/audit"))
        .flat_map(|page| cells(&page.body))
        .collect();
    assert!((0..MANY).all(|number| numbers.contains(&number.to_string())), "{numbers:?}");
    let first = browser.reads("audit").await;
    assert!(cells(&first).contains(&(MANY - 1).to_string()), "{first}");
    let older = browser.reads("audit?before=3").await;
    assert!(cells(&older).contains(&"2".to_owned()) && !cells(&older).contains(&"3".to_owned()), "{older}");
    let verified = browser.reads("audit?verify=true").await;
    assert_ne!(verified, first, "it says whether the chain holds");
    assert!(cells(&browser.reads("audit?refused=true").await).is_empty(), "nothing was refused");
}

/// Contents of the cells of tables.
fn cells(page: &str) -> Vec<String> {
    let cells = page.split("<td").skip(1).filter_map(|cell| cell.split_once('>')?.1.split_once("</td>"));
    cells.map(|(words, _)| words.trim().to_owned()).collect()
}
