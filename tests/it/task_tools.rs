//! The tools with which the model schedules, lists, changes and cancels: what they take, what they refuse and say, and
//! what the person sees of it.

use chrono::{
    DateTime, Datelike, Duration, LocalResult, NaiveDate, TimeDelta, TimeZone, Timelike, Utc, Weekday,
};
use figaro_base::clock::Clock;
use figaro_base::tz::Tz;
use figaro_offline::telegram::MemberStatus;
use serde_json::{Value, json};

use crate::support::calls::{call, calls, error, says};
use crate::support::scene::{TEAM, labels, text};
use crate::support::{ANN, Bot, World};

pub const CAROL: i64 = 13;

/// A time that comes only years from now.
pub const LEAP: &str = "30 9 29 2 *";
const BUTTONS: [&str; 4] = ["Run now", "Pause", "Edit", "Cancel"];

/// The cards of tasks in a chat with this title.
pub fn cards(world: &World, chat: i64, title: &str) -> Vec<Value> {
    let card = format!("⏰ {title}");
    let all = world.telegram.view(|view| view.bot_messages(chat).into_iter().cloned().collect::<Vec<_>>());
    all.into_iter().filter(|m| text(m).contains(&card) && !labels(m).is_empty()).collect()
}

/// What `list_tasks` lists.
pub async fn listed(world: &World, who: (i64, i64), said: &str) -> Vec<Value> {
    let list = call(world, who, said, "list_tasks", json!({})).await;
    list["tasks"].as_array().unwrap_or_else(|| panic!("{list}")).clone()
}

pub fn recurring(prompt: &str, schedule: &str) -> Value {
    json!({"prompt": prompt, "schedule": schedule, "recurring": true})
}

pub fn once(prompt: &str, schedule: &str) -> Value {
    json!({"prompt": prompt, "schedule": schedule, "recurring": false})
}

/// The time that the bot goes by.
pub fn now() -> DateTime<Utc> {
    Clock::system().now()
}

/// A world with a group of Ann, Bob and Carol, and a bot that writes as fast as it can.
pub async fn scene() -> (World, Bot) {
    let world = World::new().await;
    world.team();
    world.person(CAROL, "Carol", "en");
    world.telegram.set_member(TEAM, CAROL, MemberStatus::Member).unwrap();
    let bot = start(&world, &[]).await;
    (world, bot)
}

/// The bot with these settings, writing as fast as it can.
pub async fn start(world: &World, settings: &[(&str, &str)]) -> Bot {
    let mut recipe = world.bot().set("ACCESS", "open");
    for (name, value) in settings {
        recipe = recipe.set(name, value);
    }
    let bot = recipe.spawn();
    bot.ready().await;
    bot
}

/// The requests that carried out a task.
pub fn runs(world: &World) -> usize {
    world.model.requests().iter().filter(|request| request.user_text().contains("<scheduled_task")).count()
}

/// The first three moments on these days at a time of a zone, reckoned day by day.
fn upcoming(zone: Tz, (hour, minute): (u32, u32), is_day: impl Fn(NaiveDate) -> bool) -> Vec<DateTime<Tz>> {
    let now = now();
    let today = now.with_timezone(&zone).date_naive();
    today
        .iter_days()
        .filter(|day| is_day(*day))
        .filter_map(|day| zone.from_local_datetime(&day.and_hms_opt(hour, minute, 0)?).earliest())
        .filter(|at| *at > now)
        .take(3)
        .collect()
}

fn iso(at: &DateTime<Tz>) -> String {
    at.format("%Y-%m-%dT%H:%M:%S%:z").to_string()
}

fn on_card(at: &DateTime<Tz>) -> String {
    at.format("%a %-d %b %H:%M").to_string()
}

/// Calls that are wrong, each with the words of what is to be said of it.
type Wrong = Vec<(Value, &'static [&'static str])>;

/// With prompts and times that are none.
fn wrong_times() -> Wrong {
    let past = (now() - TimeDelta::hours(3)).format("%Y-%m-%dT%H:%M:%SZ").to_string();
    let offset = recurring("Ping.", &(now() + TimeDelta::hours(3)).format("%Y-%m-%dT%H:%MZ").to_string());
    vec![
        (recurring("", LEAP), &["prompt"]),
        (recurring(" \n\t ", LEAP), &["prompt"]),
        (recurring(&"x".repeat(5000), LEAP), &["4000"]),
        (recurring(&"é".repeat(4001), LEAP), &["4000"]),
        (recurring("Ping.", ""), &["cron"]),
        (recurring("Ping.", "0 0 9 * * * 2030"), &["fields"]),
        (recurring("Ping.", "9 * * *"), &["fields"]),
        (recurring("Ping.", "0 0 30 2 *"), &["never"]),
        (recurring("Ping.", "* * * * *"), &["10m"]),
        (recurring("Ping.", "*/30 * * * * *"), &["10m"]),
        (recurring("Ping.", "*/7 * * * *"), &["10m"]),
        (recurring("Ping.", "0,59 * * * *"), &["10m"]),
        (recurring("Ping.", "*/5 9 29 2 *"), &["10m"]),
        (recurring("Ping.", "0,55 0,2,4,6,8,10,12,14,16,18,20,23 * * *"), &["10m"]),
        (recurring("Ping.", "0,30 0 9 * * *"), &["10m"]),
        (recurring("Ping.", "0 25 * * *"), &["hour", "0 to 23"]),
        (recurring("Ping.", "every day at 9"), &["cron"]),
        (recurring("Ping.", "@reboot"), &["@daily"]),
        (offset, &["recurring to false"]),
        (recurring("Ping.", "in 20m"), &["recurring to false"]),
        (once("Ping.", LEAP), &["recurring to true"]),
        (once("Ping.", "@daily"), &["recurring to true"]),
        (once("Ping.", &past), &["not in the future", "later"]),
        (once("Ping.", "2020-01-01T09:00"), &["not in the future", "later"]),
        (once("Ping.", "2100-01-01T09:00"), &["five years", "earlier"]),
        (once("Ping.", "in 90000d"), &["five years", "earlier"]),
        (once("Ping.", "in 99999999999999999999d"), &["in 20m"]),
        (once("Ping.", "2027-02-30T09:00"), &["T09:00"]),
        (once("Ping.", "2027-01-10T25:00"), &["T09:00"]),
        (once("Ping.", "tomorrow"), &["T09:00", "in 20m"]),
        (once("Ping.", "in -5m"), &["in 20m"]),
        (once("Ping.", "in 0s"), &["not in the future", "later"]),
        (once("Ping.", "in m"), &["in 20m"]),
        (once("Ping.", "in"), &["in 20m"]),
    ]
}

/// With zones and arguments that are none.
fn wrong_arguments() -> Wrong {
    let zoned = |zone: &str| {
        let mut call = recurring("Ping.", LEAP);
        call["timezone"] = zone.into();
        call
    };
    vec![
        (zoned("Paris, Texas"), &["Europe/Paris", "America/Chicago"]),
        (zoned("Nowhere"), &["time zone", "IANA", "leave it out"]),
        (zoned("UTC+3"), &["Etc/GMT-3"]),
        (json!({"prompt": "Ping.", "schedule": LEAP, "recurring": "true"}), &["recurring: ", "a boolean"]),
        (json!({"prompt": 5, "schedule": LEAP, "recurring": true}), &["prompt: ", "a string"]),
        (json!({"prompt": "Ping.", "schedule": 5, "recurring": true}), &["schedule: ", "a string"]),
        (
            json!({"prompt": "Ping.", "schedule": LEAP, "recurring": true, "timezone": 3}),
            &["timezone: ", "a string"],
        ),
        (json!({"prompt": "Ping.", "schedule": LEAP, "recurring": true, "colour": "red"}), &["colour"]),
        (json!({"prompt": "Ping.", "schedule": LEAP}), &["recurring"]),
        (json!({"prompt": "Ping.", "recurring": true}), &["schedule"]),
        (json!({"schedule": LEAP, "recurring": true}), &["prompt"]),
        (json!({}), &["prompt"]),
    ]
}

#[tokio::test]
async fn nonsense_is_refused_with_what_to_do_and_nothing_is_stored() {
    let world = World::new().await;
    let _bot = start(&world, &[]).await;
    world.told(ANN, ANN, "/timezone Riga").await;
    let table = wrong_times().into_iter().chain(wrong_arguments());
    let (arguments, words): (Vec<Value>, Vec<&[&str]>) = table.unzip();
    let wanted: Vec<_> = arguments.iter().map(|call| ("schedule_task", call.clone())).collect();
    // A step makes at most 32.
    let mut told = Vec::new();
    for (at, some) in wanted.chunks(32).enumerate() {
        told.extend(calls(&world, (ANN, ANN), &format!("part {at} of it"), some.to_vec()).await);
    }
    let mut wrong = Vec::new();
    for ((call, words), told) in arguments.iter().zip(words).zip(&told) {
        let error = told["error"].as_str().unwrap_or_default();
        let says = words.iter().all(|word| error.contains(word));
        // Enough of it to do better the next time, and not what a machine says to itself.
        if told["success"] != false || error.len() < 20 || !says {
            wrong.push(format!("{call:.150} {words:?}\n    {told}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(listed(&world, (ANN, ANN), "what is there?").await, Vec::<Value>::new());
    assert!(text(&world.told(ANN, ANN, "/tasks").await).starts_with("No tasks yet."));
    assert!(!world.bot_texts(ANN).iter().any(|said| said.contains('⏰')), "{:?}", world.bot_texts(ANN));
}

/// A schedule, what is done then, its zone, and the next times.
type Kind = (String, &'static str, Tz, Vec<DateTime<Tz>>);

fn kinds() -> Vec<Kind> {
    let riga = "Europe/Riga".parse::<Tz>().unwrap();
    let york = "America/New_York".parse::<Tz>().unwrap();
    let howe = "Australia/Lord_Howe".parse::<Tz>().unwrap();
    // Hours away from the present in each zone, so that no minute that passes changes what comes next.
    let hour = |zone: Tz| (now() + Duration::hours(3)).with_timezone(&zone).hour();
    let work = |day: NaiveDate| day.weekday().num_days_from_monday() < 5;
    let (r, y, h) = (hour(riga), hour(york), hour(howe));
    let seasons = |day: NaiveDate| day.day() == 1 && [4, 11].contains(&day.month());
    vec![
        (format!("15 {r} * * *"), "every day", riga, upcoming(riga, (r, 15), |_| true)),
        (format!("0 15 {r} * * *"), "six fields", riga, upcoming(riga, (r, 15), |_| true)),
        (format!("15 {r} * * MON-FRI"), "on workdays", riga, upcoming(riga, (r, 15), work)),
        (format!("15 {r} * * mon,tue,wed,thu,fri"), "small names", riga, upcoming(riga, (r, 15), work)),
        (
            format!("15 {r} * * 0"),
            "on Sundays",
            riga,
            upcoming(riga, (r, 15), |day| day.weekday() == Weekday::Sun),
        ),
        (
            format!("15 {r} * * 7"),
            "on Sundays too",
            riga,
            upcoming(riga, (r, 15), |day| day.weekday() == Weekday::Sun),
        ),
        (format!("15 {r} 1 APR,NOV *"), "in both seasons", riga, upcoming(riga, (r, 15), seasons)),
        (format!("15 {y} 1 4,11 *"), "in New York", york, upcoming(york, (y, 15), seasons)),
        (format!("15 {h} 1 4,11 *"), "half an hour of summer", howe, upcoming(howe, (h, 15), seasons)),
        (
            format!("15 {r} 31 * *"),
            "the last of long months",
            riga,
            upcoming(riga, (r, 15), |d| d.day() == 31),
        ),
        (
            format!("15 {r} 13 * FRI"),
            "the 13th and Fridays",
            riga,
            upcoming(riga, (r, 15), |d| d.day() == 13 || d.weekday() == Weekday::Fri),
        ),
        ("@monthly".to_owned(), "at the first", riga, upcoming(riga, (0, 0), |day| day.day() == 1)),
        ("@yearly".to_owned(), "at new year", riga, upcoming(riga, (0, 0), |d| d.ordinal() == 1)),
    ]
}

#[tokio::test]
async fn every_kind_of_time_comes_by_the_clocks_of_its_zone_and_is_shown_once() {
    let world = World::new().await;
    let _bot = start(&world, &[]).await;
    world.told(ANN, ANN, "/timezone Riga").await;
    let (table, riga) = (kinds(), "Europe/Riga".parse::<Tz>().unwrap());
    let make = |(schedule, prompt, zone, _): &Kind| {
        let mut call = recurring(prompt, schedule);
        if *zone != riga {
            call["timezone"] = zone.name().into();
        }
        ("schedule_task", call)
    };
    let told = calls(&world, (ANN, ANN), "all of them", table.iter().map(make).collect()).await;
    for ((schedule, prompt, zone, times), told) in table.iter().zip(&told) {
        let wanted: Vec<String> = times.iter().map(iso).collect();
        assert_eq!((&told["success"], &told["next"]), (&json!(true), &json!(wanted)), "{schedule}: {told}");
        assert_eq!((&told["timezone"], &told["zone_assumed"]), (&json!(zone.name()), &Value::Null), "{told}");
        let card = says(&world, ANN, &format!("⏰ {prompt} — ")).await;
        assert_eq!(labels(&card), BUTTONS, "{card}");
        assert!(text(&card).contains(zone.name()), "{card}");
        let next = text(&card).lines().find(|line| line.starts_with("Next: ")).unwrap();
        for (at, shown) in times.iter().zip(next["Next: ".len()..].split(" · ")) {
            let year = at.format(" %Y").to_string();
            let near = |days: i64, word: &str| {
                let day = now().with_timezone(&at.timezone()).date_naive() + TimeDelta::days(days);
                (at.date_naive() == day).then(|| at.format(&format!("{word} %H:%M")).to_string())
            };
            let wanted = near(0, "today").or(near(1, "tomorrow")).unwrap_or_else(|| on_card(at));
            assert_eq!(shown.replace(&year, ""), wanted, "{card}");
        }
        assert_eq!(next.split(" · ").count(), 3, "{next}");
    }
    let said = world.bot_texts(ANN);
    let at = said.iter().position(|said| said.starts_with("Dealt with: all of them")).unwrap();
    assert!(!said[..at].iter().any(|said| said.contains('⏰')), "the answer comes first: {said:?}");
    world.caught_up().await;
    for (_, prompt, ..) in &table {
        assert_eq!(cards(&world, ANN, &format!("{prompt} — ")).len(), 1, "{prompt}");
    }
    assert_eq!(listed(&world, (ANN, ANN), "what is there?").await.len(), table.len());
    assert_eq!(world.refused(), Vec::<String>::new());
}

#[tokio::test]
async fn a_single_run_is_meant_by_the_clocks_of_its_chat_unless_it_says_otherwise() {
    let world = World::new().await;
    let _bot = start(&world, &[]).await;
    world.told(ANN, ANN, "/timezone Riga").await;
    let (riga, york) = ("Europe/Riga".parse::<Tz>().unwrap(), "America/New_York".parse::<Tz>().unwrap());
    let day = (now() + TimeDelta::days(2)).with_timezone(&riga).date_naive();
    let at = |zone: Tz| zone.from_local_datetime(&day.and_hms_opt(14, 30, 0).unwrap()).unwrap();
    let mut there = once("there", &format!("{day}T14:30"));
    there["timezone"] = york.name().into();
    let table = [
        (once("here", &format!("{day}T14:30")), iso(&at(riga))),
        (once("here, to the second", &format!("{day}T14:30:00")), iso(&at(riga))),
        (there, iso(&at(york))),
        (
            once("in Calcutta's offset", &format!("{day}T14:30+05:30")),
            iso(&Utc.from_utc_datetime(&day.and_hms_opt(9, 0, 0).unwrap()).with_timezone(&riga)),
        ),
        (
            once("in Greenwich", &format!("{day}T14:30:00Z")),
            iso(&Utc.from_utc_datetime(&day.and_hms_opt(14, 30, 0).unwrap()).with_timezone(&riga)),
        ),
    ];
    let wanted = table.iter().map(|(call, _)| ("schedule_task", call.clone())).collect();
    let told = calls(&world, (ANN, ANN), "each once", wanted).await;
    for ((call, at), told) in table.iter().zip(&told) {
        assert_eq!((&told["success"], &told["next"]), (&json!(true), &json!([at])), "{call}: {told}");
        let card = says(&world, ANN, &format!("⏰ {} — ", call["prompt"].as_str().unwrap())).await;
        assert_eq!(labels(&card), BUTTONS, "{card}");
    }
    // Durations, with the time that the turn takes as the room for error.
    let durations = [
        ("in 90m", 90),
        ("in 2h", 120),
        ("in 1h30m", 90),
        ("in 2 hours", 120),
        ("in 1 day", 1440),
        ("in 45 min", 45),
    ];
    let before = now();
    let wanted =
        durations.iter().map(|(when, _)| ("schedule_task", once(&format!("do {when}"), when))).collect();
    let told = calls(&world, (ANN, ANN), "a little later", wanted).await;
    let after = now();
    for ((when, minutes), told) in durations.iter().zip(&told) {
        assert_eq!(told["success"], true, "{when}: {told}");
        let next: DateTime<Utc> = told["next"][0].as_str().unwrap().parse().unwrap();
        let from = next - TimeDelta::minutes(*minutes);
        assert!(from >= before - TimeDelta::seconds(1) && from <= after, "{when}: {told}");
    }
}

#[tokio::test]
async fn the_same_call_twice_is_one_task_and_one_card_in_a_turn() {
    let world = World::new().await;
    let _bot = start(&world, &[]).await;
    world.told(ANN, ANN, "/timezone Riga").await;
    let same = || ("schedule_task", recurring("Tell Ann a joke.", LEAP));
    let told =
        calls(&world, (ANN, ANN), "twice", vec![same(), same(), ("schedule_task", recurring("Sing.", LEAP))])
            .await;
    assert!(told.iter().all(|told| told["success"] == true), "{told:?}");
    assert_eq!(told[0]["task_id"], told[1]["task_id"]);
    let again = told[..2].iter().filter(|told| told["already_there"] == true).count();
    assert_eq!(again, 1, "{told:?}");
    says(&world, ANN, "⏰ Sing.").await;
    world.caught_up().await;
    assert_eq!((cards(&world, ANN, "Tell Ann a joke.").len(), cards(&world, ANN, "Sing.").len()), (1, 1));
    assert_eq!(listed(&world, (ANN, ANN), "what is there?").await.len(), 2);
}

/// A chat in Riga with one task.
async fn with_a_joke() -> (World, Bot, Value) {
    let world = World::new().await;
    let bot = start(&world, &[]).await;
    world.told(ANN, ANN, "/timezone Riga").await;
    let made = call(&world, (ANN, ANN), "a joke", "schedule_task", recurring("Tell a joke.", LEAP)).await;
    (world, bot, made)
}

async fn update(world: &World, made: &Value, said: &str, mut change: Value) -> Value {
    change["task_id"] = made["task_id"].clone();
    call(world, (ANN, ANN), said, "update_task", change).await
}

/// The next times of what comes on the first of April and November at half past nine.
fn spring(zone: Tz) -> Value {
    let times = upcoming(zone, (9, 30), |day| day.day() == 1 && [4, 11].contains(&day.month()));
    json!(times.iter().map(iso).collect::<Vec<_>>())
}

#[tokio::test]
async fn a_change_leaves_what_it_does_not_name() {
    let (world, _bot, made) = with_a_joke().await;
    let update = async |said: &str, change: Value| update(&world, &made, said, change).await;

    let told = update("rather a riddle", json!({"prompt": "Tell a riddle."})).await;
    assert_eq!((&told["success"], &told["next"]), (&json!(true), &made["next"]), "{told}");
    let told = update("in spring", json!({"schedule": "30 9 1 4,11 *"})).await;
    assert_eq!(
        (&told["success"], &told["next"]),
        (&json!(true), &spring("Europe/Riga".parse::<Tz>().unwrap())),
        "{told}"
    );
    let kept = listed(&world, (ANN, ANN), "what is there?").await.remove(0);
    assert_eq!((&kept["prompt"], &kept["schedule"]), (&json!("Tell a riddle."), &json!("30 9 1 4,11 *")));
    let told = update("by the clocks of Tokyo", json!({"timezone": "Asia/Tokyo"})).await;
    assert_eq!(
        (&told["timezone"], &told["next"]),
        (&json!("Asia/Tokyo"), &spring("Asia/Tokyo".parse::<Tz>().unwrap())),
        "{told}"
    );
}

#[tokio::test]
async fn a_change_that_is_refused_changes_nothing() {
    let (world, _bot, made) = with_a_joke().await;
    let before = listed(&world, (ANN, ANN), "what was there?").await;
    // Nothing of what it refuses is done, not even the part that it could do.
    let refused: Wrong = vec![
        (json!({"schedule": "*/5 * * * *"}), &["10m"]),
        (json!({"schedule": "*/5 * * * *", "prompt": "Half of it."}), &["10m"]),
        (json!({"schedule": "in 5m"}), &["recurring"]),
        (json!({"schedule": "2020-01-01T09:00", "recurring": false}), &["not in the future"]),
        (json!({"recurring": false}), &["schedule"]),
        (json!({"prompt": ""}), &["prompt"]),
        (json!({"prompt": "x".repeat(5000)}), &["4000"]),
        (json!({"timezone": "Nowhere"}), &["IANA"]),
        (json!({"model": "nobody:nothing"}), &["openai:offline"]),
        (json!({"model": "nobody:nothing", "paused": true}), &["openai:offline"]),
        (json!({"if_missed": "never"}), &["run_once"]),
        (json!({"paused": "yes"}), &["paused: ", "a boolean"]),
        (json!({"colour": "red"}), &["colour"]),
        (json!({}), &["change"]),
    ];
    let (changes, words): (Vec<Value>, Vec<&[&str]>) = refused.into_iter().unzip();
    let with_id = |mut change: Value| {
        change["task_id"] = made["task_id"].clone();
        ("update_task", change)
    };
    let told = calls(&world, (ANN, ANN), "nothing of this", changes.into_iter().map(with_id).collect()).await;
    for (told, words) in told.iter().zip(words) {
        assert!(words.iter().all(|word| error(told).contains(word)), "{words:?}: {told}");
    }
    for other in ["", "x", "00000000000000000000000000", "🎲", "01M", "*?"] {
        let said = format!("cancel number {}.", other.len());
        let told = call(&world, (ANN, ANN), &said, "cancel_task", json!({"task_id": other})).await;
        assert!(error(&told).contains("list_tasks"), "{other}: {told}");
    }
    let then = listed(&world, (ANN, ANN), "what is there?").await;
    assert_eq!((before, then.len()), (then.clone(), 1));
}

#[tokio::test]
async fn a_task_is_paused_given_to_a_model_and_made_single_by_a_change() {
    let (world, _bot, made) = with_a_joke().await;
    let update = async |said: &str, change: Value| update(&world, &made, said, change).await;
    for missed in ["skip", "ask", "run_once"] {
        let told = update(&format!("missed {missed}"), json!({"if_missed": missed})).await;
        assert_eq!(told["success"], true, "{told}");
    }
    let told = update("paused now", json!({"paused": true})).await;
    assert_eq!(told["state"], "paused", "{told}");
    let told = update("paused still", json!({"prompt": "Tell a tale."})).await;
    assert_eq!(told["state"], "paused", "a change of words wakes nothing: {told}");
    let told = update("awake again", json!({"paused": false})).await;
    assert_eq!((&told["success"], &told["next"]), (&json!(true), &made["next"]), "{told}");
    let told = update("by another model", json!({"model": "openai:offline"})).await;
    assert_eq!(told["model"], "openai:offline", "{told}");
    let told = update("by its own model", json!({"model": null})).await;
    assert_eq!((&told["success"], &told["model"]), (&json!(true), &Value::Null), "{told}");
    let told = update("only once", json!({"schedule": "in 3h", "recurring": false})).await;
    assert_eq!((&told["success"], told["next"].as_array().map(Vec::len)), (&json!(true), Some(1)), "{told}");
    let told = update("again and again", json!({"schedule": "@daily", "recurring": true})).await;
    assert_eq!(told["next"].as_array().map(Vec::len), Some(3), "{told}");
    assert_eq!(world.refused(), Vec::<String>::new());
}

#[tokio::test]
async fn a_time_that_clocks_leave_out_or_have_twice_comes_once() {
    let world = World::new().await;
    let _bot = start(&world, &[]).await;
    world.told(ANN, ANN, "/timezone New York").await;
    let york = "America/New_York".parse::<Tz>().unwrap();
    let at =
        |day: NaiveDate, (hour, minute)| york.from_local_datetime(&day.and_hms_opt(hour, minute, 0).unwrap());
    let days = || now().with_timezone(&york).date_naive().iter_days().skip(1);
    let short = days().find(|day| at(*day, (2, 30)) == LocalResult::None).unwrap();
    let long = days().find(|day| matches!(at(*day, (1, 30)), LocalResult::Ambiguous(..))).unwrap();
    let on = |day: NaiveDate, time| format!("{time} {} {} *", day.day(), day.month());
    let table = [
        // From two to three there is nothing: three is the next time that there is.
        (recurring("left out", &on(short, "30 2")), iso(&at(short, (3, 0)).unwrap())),
        (once("left out once", &format!("{short}T02:30")), iso(&at(short, (3, 0)).unwrap())),
        (recurring("twice", &on(long, "30 1")), iso(&at(long, (1, 30)).earliest().unwrap())),
        (once("twice once", &format!("{long}T01:30")), iso(&at(long, (1, 30)).earliest().unwrap())),
    ];
    let wanted = table.iter().map(|(call, _)| ("schedule_task", call.clone())).collect();
    let told = calls(&world, (ANN, ANN), "about the clocks", wanted).await;
    for ((call, first), told) in table.iter().zip(&told) {
        let next: Vec<&str> =
            told["next"].as_array().unwrap().iter().map(|at| at.as_str().unwrap()).collect();
        assert_eq!(next[0], first, "{call}: {told}");
        assert!(!next[1..].iter().any(|at| at[..10] == first[..10]), "once on that day: {told}");
    }
}

#[tokio::test]
async fn another_zone_keeps_clock_times_and_moves_no_instant() {
    let world = World::new().await;
    let _bot = start(&world, &[]).await;
    world.told(ANN, ANN, "/timezone Riga").await;
    let (riga, york) = ("Europe/Riga".parse::<Tz>().unwrap(), "America/New_York".parse::<Tz>().unwrap());
    let day = (now() + TimeDelta::days(3)).with_timezone(&riga).date_naive();
    let local = |zone: Tz| zone.from_local_datetime(&day.and_hms_opt(14, 30, 0).unwrap()).unwrap();
    let table = [
        (once("by the clocks", &format!("{day}T14:30")), Some(iso(&local(york)))),
        (once("at an instant", &format!("{day}T14:30+02:00")), Some(iso(&local(riga).with_timezone(&york)))),
        (once("in a while", "in 3h"), None),
    ];
    for (call_of_it, then) in table {
        let prompt = call_of_it["prompt"].as_str().unwrap().to_owned();
        let made = call(&world, (ANN, ANN), &format!("make it {prompt}"), "schedule_task", call_of_it).await;
        let move_it = json!({"task_id": made["task_id"], "timezone": york.name()});
        let told = call(&world, (ANN, ANN), &format!("move it {prompt}"), "update_task", move_it).await;
        let next = |told: &Value| told["next"][0].as_str().unwrap().parse::<DateTime<Utc>>().unwrap();
        match then {
            Some(then) => {
                assert_eq!((&told["next"], &told["timezone"]), (&json!([then]), &json!(york.name())))
            }
            None => assert_eq!(next(&told), next(&made), "{told}"),
        }
    }
}

#[tokio::test]
async fn the_least_interval_is_the_owners_choice() {
    let world = World::new().await;
    let _bot = start(&world, &[("TASKS_MIN_INTERVAL", "1m")]).await;
    let each = ["* * * * *", "0 * * * * *", "*/30 * * * * *", "59,0 * * * * *"];
    let wanted = each.iter().map(|when| ("schedule_task", recurring(when, when))).collect();
    let told = calls(&world, (ANN, ANN), "often", wanted).await;
    let taken: Vec<bool> = told.iter().map(|told| told["success"] == true).collect();
    assert_eq!(taken, [true, true, false, false], "{told:?}");
    assert!(error(&told[2]).contains("every 1m"), "{told:?}");
}
