use super::super::request::RequestContent;
use super::*;

pub(super) const MODEL: DemoModel = DemoModel { unescape: str::to_owned, word_pause: Duration::ZERO };

fn said(text: &str) -> Value {
    json!({"role": "user", "content": format!("<message chat_id=\"-5\" from=\"Ann\" message_id=\"7\">\n{text}\n</message>")})
}

fn step(input: Vec<Value>) -> DemoStep {
    MODEL.step(&ModelRequest::new(Value::Null, RequestContent { input, ..RequestContent::default() }))
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
    let DemoStep::SaySlowly(rest) = step(stopped.clone()) else { panic!("it is not gone on with") };
    assert_eq!(format!("{begun} {rest}"), shows::SLOW);
    let again = [stopped, vec![written("with this one, word"), go_on()]].concat();
    assert!(matches!(step(again), DemoStep::SaySlowly(rest) if rest.starts_with("by word, so that")));
    let over = step(vec![said("hello"), written("Hello yourself."), go_on()]);
    assert!(matches!(&over, DemoStep::Say(words) if words.starts_with("That was all")), "{over:?}");
}

#[test]
fn what_is_stated_is_kept_and_the_reminder_behind_it_is_made() {
    let set = json!({"success": true, "timezone": "Europe/Lisbon", "next": []});
    let cases = [
        ("I live in Lisbon and wake me at 7", "set_config", "Remind Ann to wake up", "Times here are in"),
        (
            "I live in Lisbon, please remind me at 9 to call Bob.",
            "set_config",
            "Remind Ann to call Bob",
            "Times",
        ),
        (
            "Moro em Lisboa e lembre-me às 9 de ligar ao Bob",
            "set_config",
            "Lembre Ann de ligar ao Bob",
            "Lisboa",
        ),
        ("Vivo en Madrid y despiértame a las 7", "set_config", "Recuerda a Ann despertarse", "Madrid"),
        ("call me Annie and wake me at 7", "set_profile", "Remind Ann to wake up", "I call you Annie"),
        ("I like tea and remind me at 9 to buy some", "", "Remind Ann to buy some", "Good to know."),
    ];
    for (text, first, prompt, told) in cases {
        let now = "<now>Tuesday, 24 November 2026, 02:34 (UTC)</now>\n";
        let said = said(text)["content"]
            .as_str()
            .map(|content| json!({"role": "user", "content": format!("{now}{content}")}));
        let mut input: Vec<Value> = said.into_iter().collect();
        if !first.is_empty() {
            assert!(matches!(step(input.clone()), DemoStep::Call(tool, _) if tool == first), "{text}");
            input.extend(result(first, &set));
        }
        let call = step(input.clone());
        let asks = |calls: &[Value]| calls[0]["prompt"] == prompt;
        assert!(matches!(&call, DemoStep::Call("schedule_task", calls) if asks(calls)), "{text}: {call:?}");
        let answer = step([input, result("schedule_task", &set).to_vec()].concat());
        let is_set =
            |said: &str| [" is set.", "Está marcado.", "Está puesto."].iter().any(|set| said.contains(set));
        let kept = matches!(&answer, DemoStep::Say(said) if is_set(said) && said.contains(told));
        assert!(kept, "{text}: {answer:?}");
    }
    let denied = result("set_config", &json!({"success": false, "error": "only an admin of this chat may"}));
    let input = [vec![said("I live in Lisbon and wake me in an hour")], denied.to_vec()].concat();
    assert!(matches!(step(input), DemoStep::Call("schedule_task", _)));
}

#[test]
fn a_question_that_no_script_has_is_told_so_in_one_sentence() {
    for (text, told) in [
        ("Wie spät ist es in Lissabon?", "The demo's offline model knows only a few phrases"),
        ("Quelle est la capitale de la France ?", "The demo's offline model knows only a few phrases"),
        ("Какая столица Латвии?", "The demo's offline model knows only a few phrases"),
        ("¿Cuál es la capital de Francia?", "El modelo sin conexión de la demo solo conoce algunas frases"),
        ("Quem escreveu Os Lusíadas?", "O modelo offline da demo só conhece algumas frases"),
    ] {
        let answer = step(vec![said(text)]);
        assert!(matches!(&answer, DemoStep::Say(words) if words.starts_with(told)), "{text}: {answer:?}");
    }
}

#[test]
fn a_result_that_says_no_is_told_in_words() {
    let error = json!({"success": false, "error": "only an admin of this chat may do that"});
    let input = [vec![said("make a poll")], result("sendPoll", &error).to_vec()].concat();
    let told = "I could not do that: only an admin of this chat may do that.";
    assert_eq!(step(input), DemoStep::Say(told.to_owned()));
}

#[test]
fn the_task_last_spoken_of_is_the_one_that_changes() {
    let task = |id: &str| json!({"task_id": id, "prompt": format!("Sing {id}."), "schedule": "0 8 * * *"});
    let made = result("schedule_task", &json!({"success": true, "task_id": "B"}));
    let listed = result("list_tasks", &json!({"success": true, "tasks": [task("A"), task("B"), task("C")]}));
    let input =
        [vec![said("every day at 8 sing B")], made.to_vec(), vec![said("make it 7:30")], listed.to_vec()];
    let arguments = json!({"task_id": "B", "schedule": "30 7 * * *", "recurring": true});
    assert_eq!(step(input.concat()), DemoStep::call("update_task", arguments));
}

#[test]
fn a_task_is_carried_out() {
    let due = |prompt: &str| {
        let text = format!("<scheduled_task set_up_by=\"Ann\" chat_id=\"5\">\n{prompt}\n</scheduled_task>");
        json!({"role": "user", "content": text})
    };
    assert_eq!(step(vec![due("Remind Ann to drink water.")]), DemoStep::Say("⏰ Drink water!".to_owned()));
    let weather = due("Tell Ann the weather in Riga, also in Spanish.");
    assert_eq!(step(vec![weather.clone()]), DemoStep::call("web_search", json!({"query": "weather Riga"})));
    let found = result("web_search", &json!({"success": true, "data_from_the_web": {"results": []}}));
    let told = step([vec![weather], found.to_vec()].concat());
    let fits = |words: &str| words.contains("weather in Riga") && words.contains("el tiempo en Riga");
    assert!(matches!(&told, DemoStep::Say(words) if fits(words)), "{told:?}");
}
