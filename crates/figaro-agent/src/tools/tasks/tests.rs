use chrono::{DateTime, TimeDelta, TimeZone, Utc};
use figaro_base::tz::Tz;
use serde_json::{Map, Value, json};
use tempfile::TempDir;

use super::*;
use figaro_base::ids::{BotId, ChatId, UserId};
use figaro_config::{EngineKind, StoreUrl};
use figaro_domain::chat::{ChatKind, ConfigPatch, Place};
use figaro_domain::message::Speaker;
use figaro_domain::model::ModelName;
use figaro_domain::task::MAX_PROMPT_CHARS;
use figaro_policy::address::Addresses;
use figaro_prompts::Prompts;
use figaro_provider::models::Models;
use figaro_store::Store;

/// Nobody administers anything.
#[derive(Debug)]
struct Nobody;

impl Admins for Nobody {}

struct Bed {
    tools: TaskTools,
    context: ToolContext,
    _folder: TempDir,
}

fn now() -> DateTime<Utc> {
    // A Monday, 8:30 in Riga.
    Utc.with_ymd_and_hms(2026, 11, 23, 6, 30, 0).unwrap()
}

fn name(text: &str) -> ModelName {
    text.parse().unwrap()
}

impl Bed {
    async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store =
            Arc::new(Store::open(&StoreUrl::new(EngineKind::Redb, folder.path()), BotId(1)).await.unwrap());
        let tools = TaskTools {
            store: store.tasks(),
            records: store.records(),
            admins: Arc::new(Nobody),
            limits: TaskLimits { per_chat: 50, per_user: 50 },
            reader: TaskReader {
                settings: store.settings(),
                models: Arc::new(Models::new([], name("a:x"), vec![name("b:y")])),
                prompts: Arc::new(Prompts::load(None).unwrap()),
                min_interval: TimeDelta::minutes(10),
                default_zone: "Europe/Riga".parse::<Tz>().unwrap(),
            },
        };
        let context = ToolContext { now: now(), ..ToolContext::somewhere() };
        Self { tools, context, _folder: folder }
    }

    async fn call(&self, context: &ToolContext, tool: &str, arguments: Value) -> Result<ToolOutput, String> {
        let all = [
            self.tools.clone().schedule_tool(),
            self.tools.clone().list_tool(),
            self.tools.clone().cancel_tool(),
            self.tools.clone().update_tool(),
        ];
        let tool = all.into_iter().find(|one| one.spec().name == tool).unwrap();
        tool.call(context, arguments).await.map_err(|error| error.to_string())
    }

    /// What a call gives as Ann; an error as the model reads it.
    async fn says(&self, tool: &str, arguments: Value) -> Value {
        match self.call(&self.context, tool, arguments).await {
            Ok(output) => output.value,
            Err(error) => json!({ "error": error }),
        }
    }

    async fn made(&self, schedule: &str, recurring: bool) -> String {
        let arguments = json!({"prompt": "Say hello.", "schedule": schedule, "recurring": recurring});
        self.says("schedule_task", arguments).await["task_id"].as_str().unwrap().to_owned()
    }
}

/// Holds the fields of a result to those wanted; an error to the words it is to have.
fn check(given: &Value, wanted: &Value, case: &str) {
    for (field, wanted) in wanted.as_object().unwrap() {
        match (field.as_str(), wanted) {
            ("error", Value::Array(words)) => {
                let error = given["error"].as_str().unwrap_or_else(|| panic!("{case}: {given}"));
                assert!(
                    words.iter().all(|word| error.contains(word.as_str().unwrap())),
                    "{case}: {error} has not all of {words:?}"
                );
            }
            _ => assert_eq!(given[field], *wanted, "{case}: {given}"),
        }
    }
}

fn with(base: &Value, changes: Value) -> Value {
    let (Value::Object(mut base), Value::Object(changes)) = (base.clone(), changes) else { panic!() };
    base.extend(changes);
    Value::Object(base.into_iter().filter(|(_, value)| !value.is_null()).collect::<Map<_, _>>())
}

#[tokio::test]
async fn what_the_model_writes_is_read_or_it_is_told_what_to_write() {
    let base = json!({"prompt": " Tell Ann the news. ", "schedule": "0 9 * * 1-5", "recurring": true});
    let cases = [
        (
            json!({}),
            json!({
                "success": true, "title": "Tell Ann the news.", "what": "0 9 * * 1-5", "timezone": "Europe/Riga",
                "next": ["2026-11-23T09:00:00+02:00", "2026-11-24T09:00:00+02:00", "2026-11-25T09:00:00+02:00"],
                "zone_assumed": true,
            }),
        ),
        (
            json!({"timezone": "america/new_york"}),
            json!({
                "timezone": "America/New_York", "zone_assumed": null,
                "next": ["2026-11-23T09:00:00-05:00", "2026-11-24T09:00:00-05:00", "2026-11-25T09:00:00-05:00"],
            }),
        ),
        (json!({"timezone": ""}), json!({"timezone": "Europe/Riga", "zone_assumed": true})),
        (json!({"timezone": "Lisbon"}), json!({"timezone": "Europe/Lisbon"})),
        (json!({"timezone": "Middle Earth"}), json!({"error": ["Middle Earth", "IANA", "leave it out"]})),
        (json!({"timezone": "Brazil"}), json!({"error": ["several time zones", "America/Sao_Paulo"]})),
        (
            json!({"schedule": "in 20m", "recurring": false}),
            json!({
                "what": "2026-11-23T08:50:00+02:00", "next": ["2026-11-23T08:50:00+02:00"], "zone_assumed": null,
            }),
        ),
        (
            json!({"schedule": "2026-11-24T07:15", "recurring": false}),
            json!({"next": ["2026-11-24T07:15:00+02:00"], "zone_assumed": true}),
        ),
        (
            json!({"schedule": "2026-11-24T07:15:00Z", "recurring": false}),
            json!({"next": ["2026-11-24T09:15:00+02:00"], "zone_assumed": null}),
        ),
        (json!({"recurring": false}), json!({"error": ["`0 9 * * 1-5` is a cron", "recurring to true"]})),
        (json!({"schedule": "in 2h"}), json!({"error": ["`in 2h`", "recurring to false", "0 */2 * * *"]})),
        (json!({"schedule": "2020-01-01T09:00"}), json!({"error": ["single time", "recurring to false"]})),
        (json!({"schedule": "every day at nine"}), json!({"error": ["5 fields", "this has 4"]})),
        (
            json!({"schedule": "2020-01-01T09:00", "recurring": false}),
            json!({"error": ["not in the future", "2026-11-23T08:30:00+02:00"]}),
        ),
        (json!({"schedule": "soon", "recurring": false}), json!({"error": ["`soon`", "in 20m"]})),
        (json!({"schedule": "*/5 * * * *"}), json!({"error": ["5m apart", "every 10m", "owner"]})),
        (json!({"schedule": "0,59 * * * *"}), json!({"error": ["1m apart"]})),
        (json!({"schedule": "*/10 * * * *"}), json!({"success": true})),
        (json!({"prompt": " \n ", "schedule": "@daily"}), json!({"error": ["1 to 4000", "has 0"]})),
        (json!({"prompt": "x".repeat(MAX_PROMPT_CHARS), "schedule": "@daily"}), json!({"what": "0 0 * * *"})),
        (json!({"prompt": "é".repeat(MAX_PROMPT_CHARS + 1)}), json!({"error": ["has 4001"]})),
        (json!({"recurring": null}), json!({"error": ["missing field `recurring`"]})),
        (json!({"when": "now"}), json!({"error": ["unknown field `when`"]})),
    ];
    scheduled(&base, &cases).await;
}

/// Schedules with each of these changes, and holds what comes of it to what is wanted.
async fn scheduled(base: &Value, cases: &[(Value, Value)]) {
    for (changes, wanted) in cases {
        let bed = Bed::new().await;
        let given = bed.says("schedule_task", with(base, changes.clone())).await;
        check(&given, wanted, &changes.to_string());
        let stored = bed.tools.store.of_chat(ChatId(1)).unwrap();
        assert_eq!(stored.len(), usize::from(given["success"] == true), "{changes}");
    }
}

#[tokio::test]
async fn a_zone_that_stands_in_a_schedule_counts() {
    let base = json!({"prompt": "Tell Ann the news.", "schedule": "0 9 * * 1-5", "recurring": true});
    let cases = [
        (
            json!({"schedule": "CRON_TZ=Europe/Oslo 0 8 * * *"}),
            json!({"what": "0 8 * * *", "timezone": "Europe/Oslo", "zone_assumed": null}),
        ),
        (
            json!({"schedule": "0 8 * * MON Asia/Tokyo", "timezone": "Tokyo"}),
            json!({"what": "0 8 * * 1", "timezone": "Asia/Tokyo"}),
        ),
        (json!({"schedule": "@daily utc"}), json!({"what": "0 0 * * *", "timezone": "UTC"})),
        (
            json!({"schedule": "2026-11-24T07:15[Europe/Oslo]", "recurring": false}),
            json!({"next": ["2026-11-24T07:15:00+01:00"], "timezone": "Europe/Oslo"}),
        ),
        (
            json!({"schedule": "TZ=Europe/Oslo 0 8 * * *", "timezone": "Asia/Tokyo"}),
            json!({"error": ["schedule names the time zone Europe/Oslo", "timezone Asia/Tokyo"]}),
        ),
        (json!({"schedule": "0 8 * * * Europe/Atlantis"}), json!({"error": ["Europe/Atlantis", "IANA"]})),
    ];
    scheduled(&base, &cases).await;
}

#[tokio::test]
async fn what_changes_is_held_to_the_same_and_the_rest_stays() {
    let cases = [
        (json!({}), json!({"error": ["nothing is to change"]})),
        (json!({"prompt": ""}), json!({"error": ["prompt takes"]})),
        (
            json!({"prompt": "Say bye."}),
            json!({"title": "Say bye.", "what": "0 9 * * *", "zone_assumed": true}),
        ),
        (
            json!({"schedule": "0 10 * * *"}),
            json!({"what": "0 10 * * *", "title": "Say hello.", "zone_assumed": true}),
        ),
        (
            json!({"schedule": "0 10 * * *", "timezone": "Europe/Riga"}),
            json!({"zone_assumed": null, "timezone": "Europe/Riga"}),
        ),
        (
            json!({"timezone": "Europe/Lisbon"}),
            json!({"what": "0 9 * * *", "timezone": "Europe/Lisbon", "zone_assumed": null}),
        ),
        (
            json!({"schedule": "TZ=Europe/Lisbon 0 10 * * *"}),
            json!({"what": "0 10 * * *", "timezone": "Europe/Lisbon", "zone_assumed": null}),
        ),
        (json!({"schedule": "in 1h"}), json!({"error": ["recurring to false"]})),
        (json!({"recurring": false}), json!({"error": ["give the new schedule too"]})),
        (
            json!({"recurring": true, "paused": true}),
            json!({"state": "paused", "because": "a person paused it"}),
        ),
        (
            json!({"schedule": "in 1h", "recurring": false}),
            json!({"next": ["2026-11-23T09:30:00+02:00"], "zone_assumed": null}),
        ),
        (json!({"schedule": "* * * * *"}), json!({"error": ["1m apart"]})),
        (json!({"model": "gpt"}), json!({"error": ["provider:model"]})),
        (json!({"model": "c:z"}), json!({"error": ["c:z cannot be chosen here", "a:x, b:y"]})),
        (json!({"model": "b:y"}), json!({"model": "b:y"})),
        (
            json!({"agent": "reseacher"}),
            json!({"error": ["no agent `reseacher`: did you mean researcher?", "extractor, orchestrator, researcher, scheduled)"]}),
        ),
        (json!({"agent": "default"}), json!({"error": ["no agent `default`"]})),
        (json!({"agent": "Researcher"}), json!({"agent": "researcher"})),
        (json!({"agent": "scheduled", "title": "News"}), json!({"agent": null, "title": "News"})),
        (json!({"model": "b:y", "if_missed": "ask"}), json!({"success": true})),
        (json!({"if_missed": "never"}), json!({"error": ["unknown variant `never`", "run_once"]})),
        (json!({"paused": false}), json!({"success": true, "state": null})),
    ];
    for (changes, wanted) in cases {
        let bed = Bed::new().await;
        let id = bed.made("0 9 * * *", true).await;
        let given = bed.says("update_task", with(&json!({ "task_id": id }), changes.clone())).await;
        check(&given, &wanted, &changes.to_string());
    }
}

#[tokio::test]
async fn a_change_is_shown_as_it_is_stored_and_null_gives_the_model_back() {
    let bed = Bed::new().await;
    let id = bed.made("0 9 * * *", true).await;
    for (model, wanted) in [(json!("b:y"), Some(name("b:y"))), (Value::Null, None)] {
        let arguments = json!({"task_id": id, "model": model});
        let output = bed.call(&bed.context, "update_task", arguments).await.unwrap();
        assert_eq!(output.side_effects.tasks, [id.parse().unwrap()]);
        let stored = bed.tools.store.find(id.parse().unwrap()).unwrap().unwrap();
        assert_eq!(stored.model, wanted);
    }
    let short = id[..MIN_PREFIX].to_lowercase();
    check(
        &bed.says("update_task", json!({"task_id": short, "paused": true})).await,
        &json!({"success": true}),
        "",
    );
    let tasks = bed.says("list_tasks", json!({})).await["tasks"].clone();
    let wanted = json!([{
        "task_id": id, "prompt": "Say hello.", "schedule": "0 9 * * *", "timezone": "Europe/Riga", "creator": "Ann",
        "state": "paused", "because": "a person paused it",
    }]);
    assert_eq!(tasks, wanted);
    let cancelled = bed.says("cancel_task", json!({"task_id": id})).await;
    assert_eq!(cancelled, json!({"success": true, "cancelled": {"task_id": id, "title": "Say hello."}}));
    assert_eq!(bed.says("list_tasks", json!({})).await["tasks"], json!([]));
    for tool in ["cancel_task", "update_task"] {
        let again = bed.says(tool, json!({"task_id": id})).await;
        check(&again, &json!({"error": ["no task of this chat", "list_tasks"]}), tool);
    }
}

#[tokio::test]
async fn a_single_run_moves_with_its_zone_unless_it_would_have_passed() {
    let bed = Bed::new().await;
    let id = bed.made("2026-11-23T09:00", false).await;
    let update = async |zone: &str| bed.says("update_task", json!({"task_id": id, "timezone": zone})).await;
    check(&update("Asia/Tokyo").await, &json!({"error": ["Asia/Tokyo", "has passed"]}), "east");
    check(&update("Europe/Lisbon").await, &json!({"next": ["2026-11-23T09:00:00+00:00"]}), "west");
}

#[tokio::test]
async fn the_chats_zone_counts_before_the_default_and_is_no_guess() {
    let bed = Bed::new().await;
    let zone =
        ConfigPatch { timezone: Some(Some("Asia/Tokyo".parse::<Tz>().unwrap())), ..ConfigPatch::default() };
    bed.tools.reader.settings.change_chat_config(ChatId(1), zone).await.unwrap();
    let arguments = json!({"prompt": "Say hello.", "schedule": "0 9 * * *", "recurring": true});
    let wanted = json!({"timezone": "Asia/Tokyo", "zone_assumed": null});
    check(&bed.says("schedule_task", arguments).await, &wanted, "");
}

#[tokio::test]
async fn nobody_borrows_rights_and_a_task_is_its_makers() {
    let bed = Bed::new().await;
    let place = Place { chat: ChatId(-5), kind: ChatKind::Group, title: None, topic: None };
    let ann = ToolContext { place, ..bed.context.clone() };
    let bob = Speaker { user: UserId::telegram(2), name: "Bob".to_owned(), username: None };
    let bob = ToolContext { speaker: bob, ..ann.clone() };
    let owner = ToolContext { standing: Standing::Owner, ..bob.clone() };
    let borrowed = ToolContext { standing: Standing::Borrowed, ..ann.clone() };
    let elsewhere = ToolContext { place: bed.context.place.clone(), ..ann.clone() };
    let arguments = json!({"prompt": "Say hello.", "schedule": "0 9 * * *", "recurring": true});
    let id = bed.call(&ann, "schedule_task", arguments.clone()).await.unwrap().value["task_id"].clone();
    let update = json!({"task_id": id, "paused": true});
    let cases = [
        (&borrowed, "schedule_task", arguments, Err("words of someone else")),
        (&borrowed, "update_task", update.clone(), Err("words of someone else")),
        (&borrowed, "cancel_task", json!({"task_id": id}), Err("words of someone else")),
        (&borrowed, "list_tasks", json!({}), Ok(())),
        (&bob, "update_task", update.clone(), Err("only Ann")),
        (&bob, "cancel_task", json!({"task_id": id}), Err("only Ann")),
        (&elsewhere, "cancel_task", json!({"task_id": id}), Err("no task of this chat")),
        (&owner, "update_task", update.clone(), Ok(())),
        (&ann, "update_task", update, Ok(())),
        (&ann, "cancel_task", json!({"task_id": id}), Ok(())),
    ];
    for (context, tool, arguments, wanted) in cases {
        let given = bed.call(context, tool, arguments.clone()).await;
        match (&given, wanted) {
            (Ok(_), Ok(())) => {}
            (Err(error), Err(words)) => assert!(error.contains(words), "{tool} {arguments}: {error}"),
            _ => panic!("{tool} {arguments}: {given:?}"),
        }
    }
}

#[tokio::test]
async fn full_is_told_with_the_number_and_the_same_again_is_there_already() {
    let mut bed = Bed::new().await;
    bed.tools.limits = TaskLimits { per_chat: 2, per_user: 3 };
    let first = bed.made("0 9 * * *", true).await;
    let hello = |schedule: &str| json!({"prompt": "Say hello.", "schedule": schedule, "recurring": true});
    let again = bed.call(&bed.context, "schedule_task", hello("0 9 * * *")).await.unwrap();
    check(&again.value, &json!({"success": true, "already_there": true, "task_id": first}), "again");
    assert_eq!(again.side_effects.tasks, [first.parse().unwrap()]);
    bed.made("0 10 * * *", true).await;
    let full = json!({"error": ["this chat has as many", "may be: 2", "list_tasks"]});
    check(&bed.says("schedule_task", hello("0 11 * * *")).await, &full, "chat");
    bed.context.place.chat = ChatId(3);
    bed.made("0 12 * * *", true).await;
    bed.context.place.chat = ChatId(4);
    let full = json!({"error": ["this person has", "may be: 3"]});
    check(&bed.says("schedule_task", hello("0 13 * * *")).await, &full, "person");
}

#[tokio::test]
async fn a_long_list_fits_into_a_result_and_says_what_it_leaves_out() {
    let mut bed = Bed::new().await;
    bed.tools.limits = TaskLimits { per_chat: 60, per_user: 60 };
    bed.context.speaker.name = "A".repeat(200);
    for minute in 0..60 {
        let prompt = format!("{minute} {}", "word ".repeat(700));
        let schedule = format!("{minute} 9 * * *");
        let arguments = json!({"prompt": prompt, "schedule": schedule, "recurring": true});
        check(&bed.says("schedule_task", arguments).await, &json!({"success": true}), &schedule);
    }
    let list = bed.says("list_tasks", json!({})).await;
    let count = list["tasks"].as_array().unwrap().len();
    assert!(list.to_string().len() < 16_000, "{}", list.to_string().len());
    assert_eq!(list["left_out"], 60 - count);
    let first = &list["tasks"][0];
    assert!(first["prompt"].as_str().unwrap().ends_with('…') && count > 30, "{first}");
}

#[tokio::test]
async fn of_a_prompt_the_addresses_are_kept_that_not_only_the_model_wrote() {
    let mut bed = Bed::new().await;
    let (known, own) = ("https://a.example/x", "https://a.example/x?d=words");
    bed.context.addresses = Addresses::written([known]);
    let addresses =
        async |bed: &Bed, id: &str| bed.tools.store.find(id.parse().unwrap()).unwrap().unwrap().addresses;
    let made =
        json!({"prompt": format!("Send {known}, not {own}."), "schedule": "0 9 * * *", "recurring": true});
    let id = bed.says("schedule_task", made).await["task_id"].as_str().unwrap().to_owned();
    assert_eq!(addresses(&bed, &id).await, [known]);
    // Nobody speaks of it any more.
    bed.context.addresses = Addresses::default();
    bed.says("update_task", json!({"task_id": id, "schedule": "0 8 * * *"})).await;
    assert_eq!(addresses(&bed, &id).await, [known]);
    bed.says("update_task", json!({"task_id": id, "prompt": format!("Send {known} or {own}")})).await;
    assert_eq!(addresses(&bed, &id).await, [known]);
    bed.says("update_task", json!({"task_id": id, "prompt": format!("Send {own}")})).await;
    assert_eq!(addresses(&bed, &id).await, Vec::<String>::new());
}
