//! Agents that another agent asks have the records of their chat, and no others.

use super::*;

fn agent(world: &World, name: &str, instructions: &str, extra: &str) {
    let folder = world.folder.path().join("prompts/agents");
    fs::create_dir_all(&folder).unwrap();
    let head = "type: object\ndescription: ";
    let file = format!(
        "{head}{instructions}\njson_schema_extra:\n  kind: agent\n  name: {name}\n  version: \"1\"\n{extra}"
    );
    fs::write(folder.join(format!("{name}.yaml")), file).unwrap();
}

#[tokio::test]
async fn a_child_keeps_and_lists_the_records_of_its_chat_alone() {
    let world = World::new().await;
    agent(&world, "boss", "You lead others.", "  agents: [clerk]\n  tools: [{name: ask_agent}]\n");
    agent(&world, "clerk", "You keep records.", "  tools: [{name: save_record}, {name: list_records}]\n");
    let bot = world.start_open().await;
    for (who, name) in [(ANN, "Mary Smith"), (BOB, "Ben Adler")] {
        choose(&world, (who, who), "Care of the elderly").await;
        let named = json!({"kind": "patient", "fields": {"name": name}});
        call(&world, (who, who), &format!("{name} needs care"), "save_record", named).await;
    }
    world.told(ANN, ANN, "/config agent boss").await;
    let asks = json!({"agent_name": "clerk", "input_text": "whom do we know", "timeout_seconds": 60});
    let part = |name: &str, arguments: Value| ReplyPart::Call { name: name.to_owned(), arguments };
    world.when("find out for me", ModelReply::turn(vec![part("ask_agent", asks)]));
    let zoe = json!({"kind": "patient", "fields": {"name": "Zoe Hill"}});
    let both = vec![part("list_records", json!({})), part("save_record", zoe)];
    world.when("whom do we know", ModelReply::turn(both));
    world.when("whom do we know", ModelReply::text("Mary alone."));
    world.when("find out for me", ModelReply::text("So it is."));
    world.say(ANN, ANN, "find out for me");
    says(&world, ANN, "So it is.").await;
    let asked = world.asked();
    let of_child: Vec<_> = asked.iter().filter(|one| one.user_text().contains("whom do we know")).collect();
    let listed = of_child.iter().map(|one| one.body.to_string()).find(|body| body.contains("Zoe Hill"));
    let listed = listed.unwrap_or_else(|| panic!("{of_child:#?}"));
    assert!(listed.contains("Mary Smith") && !listed.contains("Ben Adler"), "{listed}");
    bot.ends_well().await;
    assert_eq!((stored(&world, ANN).await.len(), stored(&world, BOB).await.len()), (2, 1));
}
