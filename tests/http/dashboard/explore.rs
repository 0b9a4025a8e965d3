use super::*;
use crate::support::{ANN, BOB};
use std::time::Instant;

#[tokio::test]
async fn explore() {
    let world = World::new().await;
    world.otherwise(ModelReply::text("Fine."));
    let dashboard = world.dashboard().await;
    let ann = world.browser(&dashboard, ANN).await;
    let ann2 = world.browser(&dashboard, ANN).await;
    let bob = world.browser(&dashboard, BOB).await;
    let nobody = dashboard.nobody();
    for (what, browser, path) in [
        ("ann", &ann, "tasks"),
        ("ann", &ann, "conversations?q=x"),
        ("assets", &ann, "assets/dashboard.css"),
        ("nobody", &nobody, "tasks"),
    ] {
        let begun = Instant::now();
        let mut first = None;
        for n in 0..400 {
            let page = browser.get(path).await;
            if page.status == 429 && first.is_none() {
                first = Some(n);
                println!("{what} {path}: first 429 at {n} after {:?}: {:?}", begun.elapsed(), page.headers);
                println!(
                    "other browser of the same: {} bob: {} nobody: {} css: {}",
                    ann2.status("tasks").await,
                    bob.status("tasks").await,
                    nobody.status("tasks").await,
                    ann.status("assets/dashboard.css").await
                );
                let again = Instant::now();
                loop {
                    if browser.status(path).await != 429 {
                        break;
                    }
                }
                println!("served again after {:?}", again.elapsed());
                break;
            }
        }
        println!("{what} {path}: {first:?} {:?}", begun.elapsed());
    }
}
