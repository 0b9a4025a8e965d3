use super::*;

/// A question of Ann's on Tuesday, 24 November 2026, at 14:05.
pub(super) fn asks(text: &str) -> DemoQuestion {
    let now = chrono::NaiveDate::from_ymd_opt(2026, 11, 24).and_then(|day| day.and_hms_opt(14, 5, 0));
    DemoQuestion { name: "Ann".to_owned(), now, ..DemoQuestion::of(text) }
}

/// Time and verb in each order.
const ORDERS_OF_WORDS: [(&str, &str, &str); 20] = [
    ("tomorrow at 9 remind us to order lunch", "2026-11-25T09:00", "Remind everyone to order lunch"),
    ("remind us tomorrow at 9 to order lunch", "2026-11-25T09:00", "Remind everyone to order lunch"),
    ("remind us to order lunch tomorrow at 9", "2026-11-25T09:00", "Remind everyone to order lunch"),
    ("at 9 tomorrow, please remind us to order lunch", "2026-11-25T09:00", "Remind everyone to order lunch"),
    ("tomorrow remind me at 9am to order lunch", "2026-11-25T09:00", "Remind Ann to order lunch"),
    ("hey Figaro, in 20 minutes remind us to order lunch", "in 20 minutes", "Remind everyone to order lunch"),
    ("can you remind me on Friday at 9 to order lunch?", "2026-11-27T09:00", "Remind Ann to order lunch"),
    ("every Friday at 11 remind us to order lunch", "0 11 * * 5", "Remind everyone to order lunch"),
    ("remind us in 1 minute to release", "in 1 minute", "Remind everyone to release"),
    ("amanhã às 9 lembre-nos de pedir o almoço", "2026-11-25T09:00", "Lembre todos de pedir o almoço"),
    ("lembra-nos amanhã às 9 de pedir o almoço", "2026-11-25T09:00", "Lembre todos de pedir o almoço"),
    ("nos lembre de pedir o almoço amanhã às 9", "2026-11-25T09:00", "Lembre todos de pedir o almoço"),
    ("às 9 de amanhã lembre-me de pedir o almoço", "2026-11-25T09:00", "Lembre Ann de pedir o almoço"),
    ("daqui a 20 minutos lembra-me de pedir o almoço", "in 20 minutes", "Lembre Ann de pedir o almoço"),
    (
        "mañana a las 9 recuérdanos pedir el almuerzo",
        "2026-11-25T09:00",
        "Recuerda a todos pedir el almuerzo",
    ),
    (
        "recuérdanos mañana a las 9 pedir el almuerzo",
        "2026-11-25T09:00",
        "Recuerda a todos pedir el almuerzo",
    ),
    (
        "recuérdanos pedir el almuerzo mañana a las 9",
        "2026-11-25T09:00",
        "Recuerda a todos pedir el almuerzo",
    ),
    (
        "a las 9 de mañana recuérdame pedir el almuerzo",
        "2026-11-25T09:00",
        "Recuerda a Ann pedir el almuerzo",
    ),
    ("en 20 minutos recuérdame pedir el almuerzo", "in 20 minutes", "Recuerda a Ann pedir el almuerzo"),
    (
        "el viernes a las 9 recuérdanos pedir el almuerzo",
        "2026-11-27T09:00",
        "Recuerda a todos pedir el almuerzo",
    ),
];

/// Monday to Friday, in other words than “every weekday”.
const WORKING_DAYS: [(&str, &str, &str); 11] = [
    ("todo dia útil às 8 me diga o tempo", "0 8 * * 1-5", "Diga a Ann o tempo"),
    ("todos os dias úteis às 8 diz-me o tempo", "0 8 * * 1-5", "Diga a Ann o tempo"),
    ("nos dias úteis às 8 me diga o tempo", "0 8 * * 1-5", "Diga a Ann o tempo"),
    ("cada día laborable a las 8 dime el tiempo", "0 8 * * 1-5", "Di a Ann el tiempo"),
    ("todos los días laborables a las 8 dime el tiempo", "0 8 * * 1-5", "Di a Ann el tiempo"),
    ("cada día hábil a las 8 dime el tiempo", "0 8 * * 1-5", "Di a Ann el tiempo"),
    ("dime el tiempo entre semana a las 8", "0 8 * * 1-5", "Di a Ann el tiempo"),
    ("every working day at 8 tell me the weather", "0 8 * * 1-5", "Tell Ann the weather"),
    ("tell me the weather on workdays at 8", "0 8 * * 1-5", "Tell Ann the weather"),
    ("every business day at 8 tell me the weather", "0 8 * * 1-5", "Tell Ann the weather"),
    ("Monday through Friday at 8 tell me the weather", "0 8 * * 1-5", "Tell Ann the weather"),
];

#[test]
fn ways_of_saying_when_make_schedules() {
    let cases = [
        ("Remind me in 1 minute to drink water!", "in 1 minute", "Remind Ann to drink water"),
        ("remind me in half an hour to drink water", "in 30 minutes", "Remind Ann to drink water"),
        ("remind me in 90min to rest", "in 90 minutes", "Remind Ann to rest"),
        ("set an alarm for 6:30", "2026-11-25T06:30", "Remind Ann to wake up"),
        ("remind me to drink water in an hour", "in 1 hour", "Remind Ann to drink water"),
        ("Remind me in 20 minutes", "in 20 minutes", "Remind Ann"),
        ("remind me tomorrow at 8 to call mum", "2026-11-25T08:00", "Remind Ann to call mum"),
        ("remind me at 18:00 to call mum", "2026-11-24T18:00", "Remind Ann to call mum"),
        ("remind me at 9 to call mum", "2026-11-25T09:00", "Remind Ann to call mum"),
        (
            "remind me on 24 December at 18:00 to light candles",
            "2026-12-24T18:00",
            "Remind Ann to light candles",
        ),
        ("remind me on March 1st at 9 of the rent", "2027-03-01T09:00", "Remind Ann of the rent"),
        ("remind me the day after tomorrow at 9 to vote", "2026-11-26T09:00", "Remind Ann to vote"),
        ("remind me at 7:30 in the evening to cook", "2026-11-24T19:30", "Remind Ann to cook"),
        ("remind me tomorrow at ten to call mum", "2026-11-25T10:00", "Remind Ann to call mum"),
        ("me lembre depois de amanhã às duas da tarde de votar", "2026-11-26T14:00", "Lembre Ann de votar"),
        (
            "recuérdame el 24 de diciembre a las 8 de la noche cenar",
            "2026-12-24T20:00",
            "Recuerda a Ann cenar",
        ),
        ("remind me on Friday to call mum", "2026-11-27T09:00", "Remind Ann to call mum"),
        ("remind me tonight to lock the door", "2026-11-24T20:00", "Remind Ann to lock the door"),
        ("remind me next Tuesday at 9 of the cake", "2026-12-01T09:00", "Remind Ann of the cake"),
        ("remind me tomorrow evening to rest", "2026-11-25T20:00", "Remind Ann to rest"),
        ("every weekday at 9 tell me the news", "0 9 * * 1-5", "Tell Ann the news"),
        ("Every weekday at 8:00, tell me the weather in Riga", "0 8 * * 1-5", "Tell Ann the weather in Riga"),
        ("Every day at 18:30, remind me to call Bob.", "30 18 * * *", "Remind Ann to call Bob"),
        ("tell me a joke every friday at 7pm", "0 19 * * 5", "Tell Ann a joke"),
        ("tell me a joke tomorrow at 8", "2026-11-25T08:00", "Tell Ann a joke"),
        ("every hour remind me", "0 * * * *", "Remind Ann"),
        ("every 2 hours remind me to stretch", "0 */2 * * *", "Remind Ann to stretch"),
        ("every minute tell me the time", "* * * * *", "Tell Ann the time"),
        ("me lembre amanhã às 8 de ligar para a mãe", "2026-11-25T08:00", "Lembre Ann de ligar para a mãe"),
        (
            "De segunda a sexta às 8:00, me conte o tempo em Lisboa",
            "0 8 * * 1-5",
            "Conte a Ann o tempo em Lisboa",
        ),
        ("me lembre em 20 minutos de beber água", "in 20 minutes", "Lembre Ann de beber água"),
        ("me lembre na sexta-feira às 9 da reunião", "2026-11-27T09:00", "Lembre Ann da reunião"),
        ("toda segunda às 9 me lembre da reunião", "0 9 * * 1", "Lembre Ann da reunião"),
        ("recuérdame mañana a las 8 llamar a mamá", "2026-11-25T08:00", "Recuerda a Ann llamar a mamá"),
        ("cada lunes a las 9 recuérdame la reunión", "0 9 * * 1", "Recuerda a Ann la reunión"),
    ];
    for (text, schedule, prompt) in cases.into_iter().chain(ORDERS_OF_WORDS).chain(WORKING_DAYS) {
        let recurring = schedule.contains('*');
        let wanted = json!({"prompt": prompt, "schedule": schedule, "recurring": recurring});
        let mut made = task(&asks(text)).unwrap();
        let title = made.as_object_mut().unwrap().remove("title");
        assert!(title.is_none_or(|title| prompt.contains(title.as_str().unwrap())), "{text}");
        assert_eq!(made, wanted, "{text}");
        assert!(is_new(&asks(text)), "{text}");
    }
}

#[test]
fn a_reminder_without_a_time_is_asked_for_one() {
    let question = asks("remind me to call mum");
    assert!(is_new(&question));
    assert_eq!(new(&question, &[]), DemoStep::Say(NO_TIME.en.to_owned()));
}

#[test]
fn a_time_that_is_half_understood_is_asked_for() {
    let unclear = [
        "remind me at 10 minutes before 5pm to leave",
        "remind me 10 minutes before 5pm to leave",
        "remind me at 9am and 5pm to stretch",
        "remind me every weekday at 7:15 and on Saturday at 9 to jog",
        "remind me every Monday and Thursday at 9 to jog",
        "remind me on the 24th at 9 to pay",
        "remind me on 24/12 at 9 to pay",
        "remind me tomorrow at half past seven to cook",
        "me lembre às dez e meia de sair",
        "recuérdame hoy y mañana a las 9 correr",
        "remind me at 8 tomorrow and the day after to run",
        "remind me to take pills every day at 8 and 20",
        "remind me at 8, 12 and 20 to drink",
        "remind me tomorrow at 8 and the next day to run",
        "lembre-me amanhã às 8 e no dia seguinte de correr",
        "recuérdame mañana a las 8 y el día siguiente correr",
        "tell me the news every day except holidays at 8",
        "remind me every working Saturday at 8 to rest, working day or not",
    ];
    for text in unclear {
        let question = asks(text);
        assert!(is_new(&question), "{text}");
        assert_eq!(new(&question, &[]), DemoStep::say(ONE_TIME, &question), "{text}");
    }
    assert_eq!(new(&asks("remind me tomorrow"), &[]), DemoStep::Say(NOTHING.en.to_owned()));
    assert_eq!(new(&asks("Remind me every day at 9"), &[]), DemoStep::Say(NOTHING.en.to_owned()));
    for text in ["Remind me every day", "every Monday remind us to stretch"] {
        assert_eq!(new(&asks(text), &[]), DemoStep::Say(NO_TIME.en.to_owned()), "{text}");
    }
    let replied = DemoQuestion { quoted: Some("Pay the rent".to_owned()), ..asks("remind me tomorrow") };
    assert!(matches!(new(&replied, &[]), DemoStep::Call("schedule_task", _)));
}

#[test]
fn other_words_ask_for_no_task() {
    let cases = [
        "every now and then",
        "I swim every day at 8",
        "Every day is a gift",
        "We meet in 20 minutes",
        "in two minds",
        "in 5 acts",
        "every day at 7:30",
        "where do we eat on Friday?",
        "lunch on Friday",
        "Who is free on Friday?",
        "Explain compound interest in two sentences",
        "",
    ];
    for text in cases {
        assert!(!is_new(&asks(text)), "{text}");
    }
}
