//! What `figaro memory recall` gives where the question shares no word with what it needs: what was said later of a thing that has
//! changed, and what somebody wants to hold for whatever they ask.

use std::fs;

use chrono::{DateTime, Days, TimeDelta, Utc};
use serde_json::{Value, json};

use super::languages_of_memory::memory;
use crate::support::World;

/// A conversation has so many other messages.
const FILLER: usize = 110;

/// A conversation in which these are hidden among others, as a line of JSON: one message a day.
fn conversation(name: &str, hidden: &[(usize, &str, &str)]) -> String {
    let things = ["fence", "gate", "stove", "lamp", "kettle"];
    let deeds = ["painted", "mended", "sold", "cleaned"];
    let people = ["Ida", "Bram", "Olga"];
    let filler = (0..FILLER).map(|at| {
        let (thing, deed, who) = (things[at % 5], deeds[at % 4], people[at % 3]);
        (format!("filler-{at}"), format!("The {thing} was {deed} by {who} on round {at}."))
    });
    let mut said: Vec<(String, String)> = filler.collect();
    for (at, id, text) in hidden {
        said.insert(*at, ((*id).to_owned(), (*text).to_owned()));
    }
    let begin: DateTime<Utc> = "2026-01-05T08:00:00Z".parse().unwrap();
    let days = (0_u64..).map(|day| (begin + Days::new(day)).to_rfc3339());
    let messages: Vec<Value> = said
        .into_iter()
        .zip(days)
        .map(|((id, text), time)| json!({"id": id, "speaker": "Milan", "text": text, "timestamp": time}))
        .collect();
    json!({"conversation_id": name, "messages": messages}).to_string()
}

/// What is found for questions in conversations; both are lines of JSON.
async fn found(said: &[String], asked: &[String], budget: &str) -> Vec<Value> {
    let world = World::new().await;
    let path = |name: &str| world.folder.path().join(name);
    fs::write(path("said.jsonl"), said.join("\n")).unwrap();
    fs::write(path("asked.jsonl"), asked.join("\n")).unwrap();
    memory(&world, &["import", "--store", "./measured", "said.jsonl"]).await;
    let args = ["recall", "--store", "./measured", "--batch", "asked.jsonl", "--budget", budget, "--json"];
    let printed = memory(&world, &args).await;
    printed.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// A conversation: its name, what is hidden in it, and what is asked of it.
type Case<'a> = (&'a str, Vec<(usize, &'a str, &'a str)>, &'a str);

/// What is found within a small room for one question in each of these conversations, by their names.
async fn found_in(cases: &[Case<'_>]) -> Vec<Value> {
    let said: Vec<String> = cases.iter().map(|(name, hidden, _)| conversation(name, hidden)).collect();
    let ask = |(name, _, question): &(&str, Vec<_>, &str)| {
        json!({"question_id": name, "conversation_id": name, "question": question}).to_string()
    };
    found(&said, &cases.iter().map(ask).collect::<Vec<_>>(), "400").await
}

fn has(found: &Value, id: &str) -> bool {
    found["items"].as_array().unwrap().iter().any(|item| item["id"] == id)
}

#[tokio::test]
async fn what_was_said_later_of_the_same_thing_stands_beside_what_was_said_first() {
    let case =
        |name, first, later, question| (name, vec![(20, "first", first), (90, "later", later)], question);
    let cases = [
        case(
            "phone",
            "I call my sister with the Plover phone, it is fine.",
            "The Plover is gone, since Tuesday it is a Dunlin for me.",
            "Which phone do I use now?",
        ),
        case(
            "doctor",
            "My dentist is Doctor Vesely on the square.",
            "Vesely has retired, so I go to Horak these days.",
            "Who is my dentist?",
        ),
        case(
            "flat",
            "We rent a flat in Smichov.",
            "No more Smichov: our boxes stand in Karlin since Sunday.",
            "Where do we rent our flat?",
        ),
        case(
            "car",
            "My car is an old Felicia.",
            "Petr took the Felicia, and I drive an Octavia.",
            "What car do I have?",
        ),
        case(
            "meeting",
            "The meeting with Zuzana is on Monday at nine.",
            "Zuzana cannot come so early and asks for eleven.",
            "When does the meeting begin?",
        ),
        case(
            "school",
            "Unser Sohn geht in die Schule Lindenhof.",
            "Lindenhof schließt, ab Herbst lernt er am Rosenweg.",
            "In welche Schule geht unser Sohn?",
        ),
    ];
    for (found, (name, ..)) in found_in(&cases).await.iter().zip(&cases) {
        assert!(has(found, "first") && has(found, "later"), "{name}: {found}");
        let context = found["context"].as_str().unwrap();
        assert!(
            context.contains("2026-01-") && context.contains("2026-04-"),
            "both with their dates: {context}"
        );
    }
}

#[tokio::test]
async fn what_somebody_wants_to_hold_is_told_whatever_they_ask() {
    let case = |name, wish, question| (name, vec![(60, "wish", wish)], question);
    let cases = [
        case(
            "anise",
            "Please never put anise in anything for me.",
            "What must you avoid when you bake me a cake?",
        ),
        case("units", "From now on give lengths in metres.", "How tall is the tower in Riga?"),
        case("trains", "I hate flying.", "How do I get to Lisbon in June?"),
        case("name", "And please call me Mila.", "Write a greeting for my card."),
        case("meat", "I don't eat pork or beef.", "Plan a dinner for Friday."),
        case("emoji", "Por favor, nunca use emojis comigo.", "Escreva um convite para a festa."),
    ];
    for (found, (name, ..)) in found_in(&cases).await.iter().zip(&cases) {
        assert!(has(found, "wish"), "{name}: {found}");
    }
}

#[tokio::test]
async fn after_a_long_pause_a_long_answer_leaves_the_room_to_what_bears() {
    let begin: DateTime<Utc> = "2026-01-05T08:00:00Z".parse().unwrap();
    let mut messages: Vec<Value> = Vec::new();
    for at in 0_u64..30 {
        let text = format!("The bees of hive {at} gave honey that tastes of lime, and Ines wrote it down.");
        let time = (begin + Days::new(at)).to_rfc3339();
        messages
            .push(json!({"id": format!("hive-{at}"), "speaker": "Milan", "text": text, "timestamp": time}));
    }
    let end = begin + Days::new(40);
    let steps: String = (1..=60).map(|step| format!("Step {step}: turn the screw again.\n")).collect();
    let last = [("user", "How do I mount the shelf?".to_owned()), ("assistant", steps)];
    for (role, text) in last {
        messages.push(json!({"id": role, "role": role, "text": text, "timestamp": end.to_rfc3339()}));
    }
    let said = json!({"conversation_id": "hives", "messages": messages}).to_string();
    let ask = |minutes: i64| {
        let at = (end + TimeDelta::minutes(minutes)).to_rfc3339();
        let question = "What did the honey of my bees taste of?";
        json!({"question_id": minutes, "conversation_id": "hives", "question": question, "asked_at": at})
            .to_string()
    };
    let found = found(&[said], &[ask(20), ask(24 * 60)], "1000").await;
    let context = |at: usize| found[at]["context"].as_str().unwrap();
    assert!(context(0).contains("Step 30:"), "whole after a short pause: {}", context(0));
    assert!(!context(1).contains("Step 30:") && context(1).contains("Step 60:"), "{}", context(1));
    let hives = |at: usize| context(at).matches("gave honey").count();
    assert!(hives(1) > hives(0) + 5, "{} and {}", hives(0), hives(1));
}
