use super::browser::Browser;
use super::{Dashboard, fact, part};
use crate::support::calls::{call, says};
use crate::support::scene::TEAM;
use crate::support::{ANN, BOB, World};
use figaro_offline::model::ModelReply;
use serde_json::json;

fn dump(name: &str, page: &super::browser::Page) {
    std::fs::create_dir_all("/tmp/dash").unwrap();
    std::fs::write(format!("/tmp/dash/{name}.html"), format!("{}\n{}", page.url, page.whole())).unwrap();
}

async fn crawl(who: &str, browser: &Browser) {
    let mut queue = vec![browser.root.clone()];
    let mut seen = queue.clone();
    let mut forms = String::new();
    while let Some(url) = queue.pop() {
        if url.path().ends_with("events") {
            continue;
        }
        let page = browser.get(url.as_str()).await;
        dump(
            &format!("{who}-{}", url.as_str().split("/dashboard/").nth(1).unwrap().replace('/', "_")),
            &page,
        );
        for form in page.forms() {
            forms += &format!("{} {:?}\n", form.url, form.fields);
        }
        for link in page.links(&browser.root) {
            if !seen.contains(&link) {
                seen.push(link.clone());
                queue.push(link);
            }
        }
    }
    std::fs::write(format!("/tmp/dash/{who}-FORMS"), forms).unwrap();
    std::fs::write(
        format!("/tmp/dash/{who}-LINKS"),
        seen.iter().map(|u| format!("{u}\n")).collect::<String>(),
    )
    .unwrap();
}

#[tokio::test]
async fn explore() {
    let world = World::new().await;
    world.team();
    world.otherwise(ModelReply::text("Fine."));
    let dashboard: Dashboard =
        world.dashboard_of(world.bot().set("ACCESS", "open").set("MEMORY_LIMIT", "50")).await;
    for (who, n) in [(ANN, "ann"), (BOB, "bob")] {
        world
            .script
            .extract_when(&format!("My dog is called Q{n}fact"), fact(&format!("My dog is called Q{n}fact")));
        world.told(who, who, &format!("My dog is called Q{n}fact.")).await;
        world.told(who, who, &format!("/pin Q{n}pin")).await;
        println!(
            "{}",
            call(
                &world,
                (who, who),
                &format!("note it {n}"),
                "add_note",
                json!({"key": "list", "content": format!("Q{n}note")})
            )
            .await
        );
        println!(
            "{}",
            call(
                &world,
                (who, who),
                &format!("task it {n}"),
                "schedule_task",
                json!({"prompt": format!("Q{n}task"), "schedule": "30 9 29 2 *", "recurring": true})
            )
            .await
        );
        let said = format!("title it {n}");
        world.when(&said, ModelReply::turn(vec![part("find_tools", json!({"query": "sendMessage"}))]));
        world.when(
            &said,
            ModelReply::turn(vec![part(
                "sendMessage",
                json!({"chat_id": TEAM, "text": format!("Q{n}other")}),
            )]),
        );
        world.when(&said, ModelReply::text("Over."));
        world.say(who, who, &said);
        says(&world, who, "May I").await;
    }
    println!("{:#?}", world.bot_texts(BOB));
    let link = world.link(BOB).await;
    println!("{link}");
    let mut bob = dashboard.nobody();
    dump("enter", &bob.get(&link).await);
    dump("redeem", &bob.signs_in(&link).await);
    dump("twice", &bob.post(&link, &[]).await);
    dump("twiceget", &bob.get(&link).await);
    let nobody = dashboard.nobody();
    for path in ["", "tasks", "nopage", "assets/dashboard.css", "assets/nothing.css", "enter/zz"] {
        dump(&format!("nobody-{}", path.replace('/', "_")), &nobody.get(path).await);
    }
    dump("foreign", &bob.post_with("leave", &[], &[]).await);
    let ann = world.browser(&dashboard, ANN).await;
    crawl("ann", &ann).await;
    crawl("bob", &bob).await;
    for path in ["people", "tasks/9", "nopage"] {
        dump(&format!("bob-404-{}", path.replace('/', "_")), &bob.get(path).await);
    }
    println!("{}", dashboard.bot().log());
}
