//! Every kind of update of the Bot API: each is acted on or passed over for a reason, and none is left open.

use figaro_mcp::table::{ApiTable, TypeDef};
use serde_json::{Value, json};

use crate::support::scene::text;
use crate::support::{ANN, World};

/// A value of each kind, as Telegram sends it, with Ann and the team of these tests.
const REAL: &str = include_str!("update_kinds.json");

#[tokio::test]
async fn each_kind_is_taken_and_why_knows_what_becomes_of_it() {
    let world = World::new().await;
    world.team();
    let bot = world.start().await;
    let Some(TypeDef::Fields(fields)) = ApiTable::get().type_def("Update") else { panic!("no fields") };
    let kinds: Vec<&str> =
        fields.iter().map(|field| field.name.as_str()).filter(|name| *name != "update_id").collect();
    let real: Value = serde_json::from_str(REAL).unwrap();
    assert!(kinds.len() >= 27 && kinds.iter().all(|kind| real[*kind].is_object()), "{kinds:?}");
    for kind in &kinds {
        world.telegram.push_raw(json!({*kind: real[*kind]}));
    }
    world.caught_up().await;
    let mut unused = 0;
    for kind in &kinds {
        let card = world.told(ANN, ANN, &format!("/why {kind}")).await;
        let says = text(&card);
        assert!(says.contains(kind), "{kind}: {says}");
        unused += usize::from(says.starts_with("I do not ask Telegram"));
    }
    assert!((10..20).contains(&unused), "{unused}");
    let card = world.told(ANN, ANN, "/why telepathy").await;
    assert!(text(&card).starts_with("I know of no turn"), "{card}");
    bot.stop().await;
    let store = world.stored().await;
    assert_eq!(store.inbox().unsettled().unwrap(), Vec::new(), "none is left open");
}
