use super::scene::*;
#[tokio::test]
async fn explore() {
    let (world, dashboard) = filled().await;
    for who in [&OWNER, &BETH] {
        let b = world.browser(&dashboard, who.id).await;
        let found = b.finds().await;
        for u in found.urls() { println!("{} URL {u}", who.root); }
        for f in found.forms() { println!("{} FORM {} {:?}", who.root, f.url, f.fields); }
        for page in found.pages {
            let n = page.url.as_str().split("/dashboard/").nth(1).unwrap().replace('/', "_");
            std::fs::write(format!("/tmp/dash/y{}-{n}.html", who.root), page.whole()).unwrap();
        }
    }
}
