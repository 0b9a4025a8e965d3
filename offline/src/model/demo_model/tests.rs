use super::super::request::Asked;
use super::*;

const MODEL: DemoModel = DemoModel { unescape: str::to_owned, word_pause: Duration::ZERO };

fn said(text: &str) -> Value {
    json!({"role": "user", "content": format!("<message chat_id=\"-5\" from=\"Ann\" message_id=\"7\">\n{text}\n</message>")})
}

fn step(input: Vec<Value>) -> Step {
    MODEL.step(&ModelRequest::new(Value::Null, Asked { input, ..Asked::default() }))
}

fn result(tool: &str, output: &Value) -> [Value; 2] {
    [
        json!({"type": "function_call", "call_id": tool, "name": tool}),
        json!({"type": "function_call_output", "call_id": tool, "output": output.to_string()}),
    ]
}

#[test]
fn an_answer_that_was_stopped_is_gone_on_with_as_often_as_it_takes() {
    let written =
        |text: &str| json!({"role": "assistant", "content": [{"type": "output_text", "text": text}]});
    let go_on = || said("Go on where you stopped.");
    let begun = "I am taking my time";
    let stopped = vec![said("slow"), written(begun), go_on()];
    let Step::SaySlowly(rest) = step(stopped.clone()) else { panic!("it is not gone on with") };
    assert_eq!(format!("{begun} {rest}"), shows::SLOW);
    let again = [stopped, vec![written("with this one, word"), go_on()]].concat();
    assert!(matches!(step(again), Step::SaySlowly(rest) if rest.starts_with("by word, so that")));
    let over = step(vec![said("hello"), written("Hello yourself."), go_on()]);
    assert!(matches!(&over, Step::Say(words) if words.starts_with("That was all")), "{over:?}");
}

#[test]
fn a_result_that_says_no_is_told_in_words() {
    let error = json!({"success": false, "error": "only an admin of this chat may do that"});
    let input = [vec![said("make a poll")], result("sendPoll", &error).to_vec()].concat();
    let told = "I could not do that: only an admin of this chat may do that.";
    assert_eq!(step(input), Step::Say(told.to_owned()));
}

#[test]
fn the_task_last_spoken_of_is_the_one_that_changes() {
    let task = |id: &str| json!({"task_id": id, "prompt": format!("Sing {id}."), "schedule": "0 8 * * *"});
    let made = result("schedule_task", &json!({"success": true, "task_id": "B"}));
    let listed = result("list_tasks", &json!({"success": true, "tasks": [task("A"), task("B"), task("C")]}));
    let input =
        [vec![said("every day at 8 sing B")], made.to_vec(), vec![said("make it 7:30")], listed.to_vec()];
    let arguments = json!({"task_id": "B", "schedule": "30 7 * * *", "recurring": true});
    assert_eq!(step(input.concat()), Step::call("update_task", arguments));
}

#[test]
fn a_task_is_carried_out() {
    let due = |prompt: &str| {
        let text = format!("<scheduled_task set_up_by=\"Ann\" chat_id=\"5\">\n{prompt}\n</scheduled_task>");
        json!({"role": "user", "content": text})
    };
    assert_eq!(step(vec![due("Remind Ann to drink water.")]), Step::Say("⏰ Drink water!".to_owned()));
    let weather = due("Tell Ann the weather in Riga, also in Spanish.");
    assert_eq!(step(vec![weather.clone()]), Step::call("web_search", json!({"query": "weather Riga"})));
    let found = result("web_search", &json!({"success": true, "data_from_the_web": {"results": []}}));
    let told = step([vec![weather], found.to_vec()].concat());
    let fits = |words: &str| words.contains("weather in Riga") && words.contains("el tiempo en Riga");
    assert!(matches!(&told, Step::Say(words) if fits(words)), "{told:?}");
}
