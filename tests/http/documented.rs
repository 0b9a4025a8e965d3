//! What a reader of the documents expects of the HTTP gateway: each header, each scope of a key, each form of a question.

use std::fs;

use figaro_offline::model::{ModelReply, ModelRequest};
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::World;
use crate::support::http::{Asking, Gateway, KEY, OWNER, TENANTS, said};
use crate::support::records::holding;
use crate::support::wait::eventually;

const OTHER: &str = "key-of-another-0123";

fn last(world: &World) -> ModelRequest {
    world.model.requests().pop().unwrap()
}

fn knows(world: &World, words: &str) -> bool {
    last(world).body.to_string().contains(words)
}

/// A world whose model always sees, and its gateway with these keys.
async fn seeing(keys: &str) -> (World, Gateway) {
    let world = World::new().await;
    world.otherwise(ModelReply::text("I see."));
    let gateway = world.gateway_with(&[("API_KEYS", keys)]).await;
    (world, gateway)
}

#[tokio::test]
async fn a_stateless_question_leaves_nothing_where_a_session_is_named() {
    let (world, gateway) = seeing(&format!("app:{KEY}")).await;
    let says = |words: &str, session: &str| gateway.says(words).user("ann").session(session);
    says("My aunt lives in Porto.", "a").words().await;
    for session in ["a", "new"] {
        let asking = says("My uncle lives in Zanzibar.", session).header("x-stateless", "true");
        assert_eq!(asking.words().await, "I see.");
    }
    let list = gateway.get("/v1/sessions").user("ann").ok().await;
    let names: Vec<&Value> = list["data"].as_array().unwrap().iter().map(|session| &session["id"]).collect();
    assert_eq!(names, ["a"]);
    assert_eq!(gateway.get("/v1/sessions/new").user("ann").refused().await.0, 404);
    assert_eq!(gateway.get("/v1/sessions/a").user("ann").ok().await["stats"]["messages"], 2);
    says("Who lives where?", "a").header("x-stateless", "false").words().await;
    assert!(knows(&world, "Porto") && !knows(&world, "Zanzibar"));
    for header in ["x-stateless", "x-is-eval", "x-events"] {
        assert_eq!(says("x", "a").header(header, "maybe").refused().await.0, 400, "{header}");
    }
    assert!(gateway.bot.stop().await.success());
    assert_ne!(holding(&world, "Porto"), [""; 0], "what is kept can be found");
    assert_eq!(holding(&world, "Zanzibar"), [""; 0]);
}

#[tokio::test]
async fn headers_choose_the_model_and_the_agent() {
    let world = World::new().await;
    world.otherwise(ModelReply::text("I see."));
    let folder = world.folder.path().join("prompts/agents");
    fs::create_dir_all(&folder).unwrap();
    for (name, words) in [("poet", "You answer in rhymes."), ("clerk", "You answer in lists.")] {
        let extra = format!("json_schema_extra:\n  kind: agent\n  name: {name}\n  version: \"1\"\n");
        fs::write(
            folder.join(format!("{name}.yaml")),
            format!("type: object\ndescription: {words}\n{extra}"),
        )
        .unwrap();
    }
    let keys = format!("app:{KEY},owner:{OWNER};chat;owner");
    let url = world.model.url();
    let compatible = [("COMPATIBLE_BASE_URL", url), ("COMPATIBLE_API_KEY", "sk-offline-key")];
    let settings =
        [&[("API_KEYS", &keys[..]), ("COMPATIBLE_MODEL", "offline-text")], &compatible[..]].concat();
    let gateway = world.gateway_with(&settings).await;
    let by = |model: &str| gateway.says("hi").header("x-model-name", model);
    gateway.says("hi").words().await;
    assert_eq!(last(&world).model(), "offline");
    by("compatible:offline-text").words().await;
    assert_eq!(last(&world).model(), "offline-text");
    let count = world.model.requests().len();
    for model in ["openai:another", "nowhere:another"] {
        let (status, error) = by(model).refused().await;
        assert!([400, 403, 404].contains(&status), "{model}: {status} {error}");
    }
    assert_eq!(world.model.requests().len(), count);
    by("openai:another").key(OWNER).words().await;
    assert_eq!(last(&world).model(), "another");

    // The header counts before the name in the body; no tools listed, no tools given.
    let mut body = said("hi");
    body["model"] = "clerk".into();
    gateway.chat(&body).words().await;
    assert!(last(&world).instructions().contains("in lists"));
    gateway.chat(&body).header("x-agent-schema", "poet").words().await;
    let request = last(&world);
    assert!(request.instructions().contains("in rhymes") && !request.instructions().contains("in lists"));
    assert_eq!(request.tool_names(), [""; 0]);
    assert_eq!(gateway.says("hi").header("x-agent-schema", "nobody").refused().await.0, 404);
}

#[tokio::test]
async fn a_question_that_only_tests_teaches_nothing() {
    let world = World::new().await;
    world.otherwise(ModelReply::text("I see."));
    let keys = format!("app:{KEY}");
    let gateway = world.gateway_with(&[("API_KEYS", &keys), ("MEMORY_LIMIT", "50")]).await;
    let tests = gateway.says("I live in Zanzibar and I work as a nurse.").user("ann").session("a");
    tests.header("x-is-eval", "true").words().await;
    gateway.says("I live in Riga and I work as a cook.").user("bob").session("b").words().await;
    let remembered = async || {
        let memories = gateway.get("/v1/memories").user("bob").ok().await;
        (memories["data"] != json!([])).then_some(())
    };
    eventually(|| "nothing is remembered of Bob", remembered).await;
    assert_eq!(gateway.get("/v1/memories").user("ann").ok().await["data"], json!([]));
    let looked = world.model.extraction_requests();
    assert!(looked.iter().all(|request| !request.body.to_string().contains("Zanzibar")), "{looked:?}");
}

#[tokio::test]
async fn a_key_is_good_for_what_its_options_say_and_is_whom_they_name() {
    let (ann, acme, asks, reads) =
        ("key-of-ann-alone-01", "key-of-acme-alone-1", "key-for-questions-1", "key-for-reading-012");
    let keys = format!(
        "app:{KEY},ann:{ann};user=ann,acme:{acme};tenant=acme,asks:{asks};chat,reads:{reads};sessions,all:{TENANTS};tenants"
    );
    let (world, gateway) = seeing(&keys).await;
    let says = |key: &str| gateway.says("It is Zanzibar.").key(key).user("bob").session("a");
    for (method, path) in [
        (Method::GET, "/v1/sessions"),
        (Method::GET, "/v1/sessions/a"),
        (Method::GET, "/v1/sessions/a/messages"),
        (Method::POST, "/v1/sessions/a/summaries"),
        (Method::DELETE, "/v1/sessions/a"),
        (Method::GET, "/v1/memories"),
        (Method::DELETE, "/v1/memories"),
    ] {
        assert_eq!(gateway.plain(method.clone(), path).key(asks).refused().await.0, 403, "{method} {path}");
    }
    assert_eq!(says(reads).refused().await.0, 403);
    let body = json!({"model": "figaro", "input": "x"});
    assert_eq!(gateway.post("/v1/responses", &body).key(reads).refused().await.0, 403);
    for key in [KEY, asks, reads] {
        assert_eq!(gateway.get("/metrics").key(key).refused().await.0, 403);
    }
    assert_eq!(gateway.get("/v1/sessions").key(reads).user("bob").ok().await["data"], json!([]));
    assert!(world.model.requests().is_empty());

    // A key of a person's is theirs, whatever the header says.
    says(ann).words().await;
    assert_eq!(gateway.get("/v1/sessions/a").user("bob").refused().await.0, 404);
    assert_eq!(gateway.get("/v1/sessions/a").user("ann").ok().await["id"], "a");
    // A key of a tenant's is of that one, and of no other.
    says(acme).words().await;
    assert_eq!(says(acme).header("x-tenant-id", "globex").refused().await.0, 403);
    let seen =
        |tenant: &str| gateway.get("/v1/sessions/a").key(TENANTS).user("bob").header("x-tenant-id", tenant);
    assert_eq!(seen("acme").ok().await["stats"]["messages"], 2);
    assert_eq!(seen("globex").refused().await.0, 404);
}

#[tokio::test]
async fn what_changes_something_is_closed_to_other_tenants_and_to_other_keys_of_somebody_unknown() {
    let (world, gateway) = seeing(&format!("app:{KEY},other:{OTHER},all:{TENANTS};tenants")).await;
    let by = |tenant: &str, user: &str, method: Method, path: &str| {
        gateway.plain(method, path).key(TENANTS).header("x-tenant-id", tenant).user(user)
    };
    let asking = by("acme", "ann", Method::POST, "/v1/chat/completions").json(&said("It is Zanzibar."));
    let asked = asking.session("x").send().await;
    let turn = format!("/v1/turns/{}", asked.headers()["x-turn-id"].to_str().unwrap());
    assert!(asked.text().await.unwrap().contains("I see."));
    let pins = "/v1/sessions/x/pins";
    let pin = by("acme", "ann", Method::POST, pins).json(&json!({"content": "No nuts."})).ok().await;
    let pin = format!("{pins}/{}", pin["id"].as_str().unwrap());
    let events = format!("{turn}/events");
    for (tenant, user) in [("globex", "ann"), ("default", "ann"), ("acme", "bob")] {
        for (method, path) in [
            (Method::DELETE, &pin[..]),
            (Method::GET, pins),
            (Method::POST, "/v1/sessions/x/summaries"),
            (Method::GET, "/v1/sessions/x/events"),
            (Method::GET, &events),
            (Method::DELETE, &turn),
            (Method::DELETE, "/v1/sessions/x"),
        ] {
            let refused = by(tenant, user, method.clone(), path).refused().await;
            assert_eq!(refused.0, 404, "{tenant} {user} {method} {path}");
        }
    }
    let stats = by("acme", "ann", Method::GET, "/v1/sessions/x").ok().await["stats"].clone();
    assert_eq!((&stats["messages"], &stats["pins"]), (&json!(2), &json!(1)));
    assert!(by("acme", "ann", Method::GET, &events).text().await.1.contains("I see."));

    // Somebody unknown is known by the key.
    gateway.says("It is Madagascar.").session("x").words().await;
    gateway.says("What is it?").session("x").words().await;
    assert!(knows(&world, "Madagascar"));
    for asking in [gateway.says("What is it?").key(OTHER), gateway.says("What is it?").user("ann")] {
        asking.session("x").words().await;
        assert!(!knows(&world, "Madagascar") && !knows(&world, "Zanzibar"));
    }
    assert_eq!(gateway.plain(Method::DELETE, "/v1/sessions/x").key(OTHER).text().await.0, 204);
    assert_eq!(gateway.get("/v1/sessions/x").ok().await["stats"]["messages"], 4);
}

#[tokio::test]
async fn an_answer_that_is_cut_says_so_and_what_it_took_in_both_dialects() {
    let world = World::new().await;
    let gateway = world.gateway().await;
    world.otherwise(ModelReply::text("It rains and").cut_by_length().usage(120, 30));
    let mut body = said("How is the weather?");
    body["max_tokens"] = 20.into();
    let whole = gateway.chat(&body).ok().await;
    assert_eq!(last(&world).body["max_output_tokens"], 20);
    assert_eq!(whole["choices"][0]["finish_reason"], "length", "{whole}");
    let usage = &whole["usage"];
    let took = [&usage["prompt_tokens"], &usage["completion_tokens"], &usage["total_tokens"]];
    assert_eq!(took, [&json!(120), &json!(30), &json!(150)]);
    body["stream"] = true.into();
    let frames = gateway.chat(&body).frames().await;
    let chunks: Vec<Value> =
        frames.iter().filter(|frame| frame.data != "[DONE]").map(|frame| frame.json()).collect();
    let ends: Vec<&str> =
        chunks.iter().filter_map(|chunk| chunk["choices"][0]["finish_reason"].as_str()).collect();
    assert_eq!(ends, ["length"]);
    assert!(chunks.iter().all(|chunk| !chunk["usage"].is_object()), "nobody asked for it: {chunks:?}");
    let body = json!({"model": "figaro", "input": "How is the weather?", "max_output_tokens": 20});
    let response = gateway.post("/v1/responses", &body).ok().await;
    let took = [&response["usage"]["input_tokens"], &response["usage"]["output_tokens"]];
    assert_eq!((&response["status"], took), (&json!("incomplete"), [&json!(120), &json!(30)]), "{response}");
}

#[tokio::test]
async fn what_would_change_the_answer_and_is_not_there_is_refused_and_the_error_says_where() {
    let (world, gateway) = seeing(&format!("app:{KEY}")).await;
    for (field, value) in [
        ("stop", json!(["x"])),
        ("tool_choice", json!("required")),
        ("logprobs", json!(true)),
        ("n", json!(3)),
        ("temperature", json!(2.5)),
        ("top_p", json!(1.5)),
        ("presence_penalty", json!(-3)),
        ("max_tokens", json!(0)),
        ("max_tokens", json!(-1)),
        ("temperature", json!("warm")),
        ("messages", json!("x")),
        ("stream", json!("yes")),
        ("figaro", json!({"colour": "red"})),
        ("response_format", json!({"type": "xml"})),
        (
            "messages",
            json!([{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}]),
        ),
    ] {
        let mut body = said("hi");
        body[field] = value;
        let (status, error) = gateway.chat(&body).refused().await;
        assert_eq!(status, 400, "{field}: {error}");
        assert!(error["param"].as_str().is_some_and(|param| param.contains(field)), "{field}: {error}");
    }
    for field in ["stop", "top_logprobs", "prompt", "response_format", "conversation", "previous_response_id"]
    {
        let body = json!({"model": "figaro", "input": "hi", field: "x"});
        let (status, error) = gateway.post("/v1/responses", &body).refused().await;
        assert_eq!((status, &error["param"]), (400, &json!(field)), "{error}");
    }
    assert!(world.model.requests().is_empty());
    let parts = json!([{"type": "text", "text": "Does it "}, {"type": "text", "text": "rain?"}]);
    let body = json!({
        "model": "figaro", "user": "u", "metadata": {"a": "b"}, "store": true, "made_up": 1, "n": 1, "top_p": 0.5,
        "max_completion_tokens": 64, "tool_choice": "auto", "response_format": {"type": "json_object"}, "stop": null,
        "messages": [{"role": "developer", "content": "You live in 1920."}, {"role": "user", "content": parts}],
    });
    world.script.push(ModelReply::text("{\"rain\": true}"));
    assert_eq!(gateway.chat(&body).words().await, "{\"rain\": true}");
    let request = last(&world);
    assert!(request.wants_json() && request.instructions().contains("You live in 1920."));
    assert!(request.user_text().contains("Does it ") && request.user_text().contains("rain?"));
    assert_eq!((&request.body["top_p"], &request.body["max_output_tokens"]), (&json!(0.5), &json!(64)));
}

#[tokio::test]
async fn pins_stand_in_their_session_and_from_importance_ten_in_all_of_the_user() {
    let (world, gateway) = seeing(&format!("app:{KEY}")).await;
    let asks = async |user: &str, session: &str| {
        gateway.says("What may I eat?").user(user).session(session).words().await;
    };
    for (user, session) in [("ann", "a"), ("ann", "b"), ("bob", "a")] {
        asks(user, session).await;
    }
    let path = "/v1/sessions/a/pins";
    assert_eq!(gateway.get(path).user("ann").ok().await["data"], json!([]), "as its figures say");
    let pin = |body: &Value| gateway.post(path, body).user("ann");
    let made = pin(&json!({"content": "No nuts."})).send().await;
    assert_eq!(made.status(), 201);
    let made: Value = made.json().await.unwrap();
    assert_eq!((&made["object"], made["importance"].as_f64()), (&json!("pin"), Some(5.0)));
    let again = pin(&json!({"content": "No nuts."})).send().await;
    assert_eq!(again.status(), 200);
    assert_eq!(again.json::<Value>().await.unwrap()["id"], made["id"]);
    pin(&json!({"content": "No milk.", "importance": 10})).ok().await;
    for wrong in [
        json!({"content": ""}),
        json!({"content": "x".repeat(2001)}),
        json!({"content": "x", "importance": 10.5}),
        json!({"content": "x", "importance": -1}),
        json!({"importance": 3}),
    ] {
        assert_eq!(pin(&wrong).refused().await.0, 400, "{wrong}");
    }
    for query in ["after=-1", "limit=x"] {
        let path = format!("/v1/sessions/a/messages?{query}");
        assert_eq!(gateway.get(&path).user("ann").refused().await.0, 400, "{query}");
    }
    for (user, session, nuts, milk) in
        [("ann", "a", true, true), ("ann", "b", false, true), ("bob", "a", false, false)]
    {
        asks(user, session).await;
        assert_eq!((knows(&world, "No nuts."), knows(&world, "No milk.")), (nuts, milk), "{user} {session}");
    }
    let list = gateway.get(path).user("ann").ok().await;
    let manual = list["data"].as_array().unwrap().iter().filter(|pin| pin["pin_type"] == "manual").count();
    assert_eq!((&list["object"], manual), (&json!("list"), 2), "{list}");
    let stats = gateway.get("/v1/sessions/a").user("ann").ok().await["stats"].clone();
    let counts = [&stats["messages"], &stats["pins"], &stats["summaries"]];
    assert_eq!(counts, [&json!(4), &json!(2), &json!(0)]);
    assert!(stats["oldest"].as_str().unwrap() <= stats["newest"].as_str().unwrap(), "{stats}");
}

#[tokio::test]
async fn events_are_numbered_and_who_has_seen_some_gets_the_others() {
    let (world, gateway) = seeing(&format!("app:{KEY}")).await;
    let turn = async |asking: Asking| {
        let response = asking.user("ann").send().await;
        let id = response.headers()["x-turn-id"].to_str().unwrap().to_owned();
        drop(response.text().await.unwrap());
        format!("/v1/turns/{id}/events")
    };
    world.script.push(ModelReply::text("One word."));
    let first = turn(gateway.says("Speak.").session("a")).await;
    world.script.push(ModelReply::text("Another word."));
    let second = turn(gateway.says("Speak again.").session("a")).await;
    let alone = turn(gateway.says("And without a session?")).await;
    let follow = |path: &str| gateway.get(path).user("ann");
    let whole = follow(&first).text().await.1;
    let ids: Vec<u64> =
        whole.lines().filter_map(|line| line.strip_prefix("id: ")).map(|id| id.parse().unwrap()).collect();
    assert!(ids.len() > 1 && ids.windows(2).all(|pair| pair[0] < pair[1]), "{whole}");
    for seen in &ids {
        let rest = follow(&first).header("last-event-id", &seen.to_string()).text().await.1;
        let tail = whole.split_once(&format!("id: {seen}\n")).unwrap().1.split_once("\n\n").unwrap().1;
        assert!(rest.ends_with(tail), "behind {seen}: {rest}");
        let is_new =
            |line: &str| line.strip_prefix("id: ").is_none_or(|id| id.parse::<u64>().unwrap() > *seen);
        assert!(
            rest.lines().all(is_new)
                && rest.matches("event: delta").count() == tail.matches("event: delta").count(),
            "behind {seen}: {rest}"
        );
    }
    for wrong in ["-1", "x"] {
        assert_eq!(follow(&first).header("last-event-id", wrong).refused().await.0, 400, "{wrong}");
    }
    let newest = follow("/v1/sessions/a/events").text().await.1;
    assert!(newest.contains("Another word.") && !newest.contains("One word."), "{newest}");
    assert_eq!(newest, follow(&second).text().await.1);
    assert!(follow(&alone).text().await.1.contains("I see."));
}

#[tokio::test]
async fn the_input_of_a_response_takes_each_form_of_messages() {
    let (world, gateway) = seeing(&format!("app:{KEY}")).await;
    let input = json!([
        {"role": "system", "content": "You live in 1920."},
        {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "You report."}]},
        {"role": "user", "content": "My aunt lives in Zanzibar."},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Noted well."}]},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Where is she?"}]},
    ]);
    let asks = |input: &Value| gateway.post("/v1/responses", &json!({"model": "figaro", "input": input}));
    let answer = asks(&input).ok().await;
    assert_eq!(answer["output"][0]["content"][0]["text"], "I see.", "{answer}");
    let request = last(&world);
    assert!(request.instructions().contains("1920") && request.instructions().contains("You report."));
    assert!(
        knows(&world, "Zanzibar")
            && knows(&world, "Noted well.")
            && request.user_text().contains("Where is she?")
    );
    let count = world.model.requests().len();
    let picture = json!([{"role": "user", "content": [{"type": "input_image", "image_url": "https://a.example/b.png"}]}]);
    for wrong in [json!(""), json!([]), json!(7), json!([{"role": "assistant", "content": "x"}]), picture] {
        assert_eq!(asks(&wrong).refused().await.0, 400, "{wrong}");
    }
    assert_eq!(world.model.requests().len(), count);
    // Its sessions are those of the other dialect.
    asks(&json!("It is Madagascar.")).user("ann").session("a").ok().await;
    gateway.says("What is it?").user("ann").session("a").words().await;
    assert!(knows(&world, "Madagascar"));
}
