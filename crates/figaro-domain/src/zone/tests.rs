use std::collections::HashMap;

use chrono::{Offset, TimeDelta, TimeZone};
use proptest::prelude::*;

use super::names::{fold, spellings, table, written};
use super::*;

/// 12:00 in London, 09:00 in São Paulo.
fn winter() -> DateTime<Utc> {
    Utc.with_ymd_and_hms(2026, 1, 15, 12, 0, 20).unwrap()
}

fn summer() -> DateTime<Utc> {
    Utc.with_ymd_and_hms(2026, 7, 15, 12, 0, 20).unwrap()
}

/// A told zone's name, or the names of several.
fn shown(told: &ZoneMatch) -> String {
    match told {
        ZoneMatch::Zone(zone) => zone.name().to_owned(),
        ZoneMatch::Several(zones) => zones.iter().map(|zone| zone.name()).collect::<Vec<_>>().join(" "),
        ZoneMatch::Unknown => "?".to_owned(),
    }
}

fn zones(told: ZoneMatch) -> Vec<Tz> {
    match told {
        ZoneMatch::Zone(zone) => vec![zone],
        ZoneMatch::Several(zones) => zones,
        ZoneMatch::Unknown => Vec::new(),
    }
}

fn read_in_winter(text: &str) -> String {
    shown(&read(text, winter(), None))
}

/// Minutes ahead of UTC.
fn ahead(zone: Tz, now: DateTime<Utc>) -> i32 {
    zone.offset_from_utc_datetime(&now.naive_utc()).fix().local_minus_utc() / 60
}

fn assert_all(cases: &[(&str, &str)], read: impl Fn(&str) -> String) {
    let wrong: Vec<String> = cases
        .iter()
        .map(|(text, expected)| (text, expected, read(text)))
        .filter(|(_, expected, told)| told != *expected)
        .map(|(text, expected, told)| format!("{text}: {told}, not {expected}"))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn names_of_zones_and_places_are_read() {
    assert_all(
        &[
            ("Europe/Riga", "Europe/Riga"),
            (" europe/riga ", "Europe/Riga"),
            ("america/new york", "America/New_York"),
            ("Asia/Calcutta", "Asia/Kolkata"),
            ("US/Eastern", "America/New_York"),
            ("Etc/GMT-3", "Etc/GMT-3"),
            ("Riga", "Europe/Riga"),
            ("RĪGA!", "Europe/Riga"),
            ("Рига", "Europe/Riga"),
            ("São Paulo", "America/Sao_Paulo"),
            ("sao paulo", "America/Sao_Paulo"),
            ("Sa\u{303}o Paulo", "America/Sao_Paulo"),
            ("SAO-PAULO", "America/Sao_Paulo"),
            ("Москва", "Europe/Moscow"),
            ("München", "Europe/Berlin"),
            ("Muenchen", "Europe/Berlin"),
            ("Munchen", "Europe/Berlin"),
            ("Munich", "Europe/Berlin"),
            ("Düsseldorf", "Europe/Berlin"),
            ("Kobenhavn", "Europe/Copenhagen"),
            ("Malmoe", "Europe/Stockholm"),
            ("Gießen", "?"),
            ("Strassburg", "Europe/Paris"),
            ("New York", "America/New_York"),
            ("NYC", "America/New_York"),
            ("Lissabon", "Europe/Lisbon"),
            ("Buenos Aires", "America/Argentina/Buenos_Aires"),
            ("St. John's", "America/St_Johns"),
            ("Xi'an", "Asia/Shanghai"),
            ("Wrocław", "Europe/Warsaw"),
            ("İstanbul", "Europe/Istanbul"),
            ("Орёл", "Europe/Moscow"),
            ("орел", "Europe/Moscow"),
            ("東京", "Asia/Tokyo"),
            ("Hà Nội", "Asia/Ho_Chi_Minh"),
        ],
        read_in_winter,
    );
}

#[test]
fn countries_letters_and_names_of_several_places_are_read() {
    assert_all(
        &[
            ("Portugal", "Europe/Lisbon"),
            ("Germany", "Europe/Berlin"),
            ("Deutschland", "Europe/Berlin"),
            ("Latvia", "Europe/Riga"),
            ("Côte d’Ivoire", "Africa/Abidjan"),
            ("U.S.A.", &read_in_winter("USA")),
            ("Brazil", &read_in_winter("BRASIL")),
            (
                "Australia",
                "Australia/Sydney Australia/Melbourne Australia/Brisbane Australia/Perth Australia/Adelaide \
                 Australia/Darwin",
            ),
            ("Georgia", "Asia/Tbilisi America/New_York"),
            ("Portland", "America/Los_Angeles America/New_York"),
            ("Birmingham", "Europe/London America/Chicago"),
            ("Valencia", "Europe/Madrid America/Caracas"),
            ("CET", "CET"),
            ("msk", "Europe/Moscow"),
            ("UTC", "UTC"),
            ("GMT", "GMT"),
            ("BRT", "America/Sao_Paulo"),
            ("EST", "America/New_York"),
            ("PST", "America/Los_Angeles"),
            ("IST", "Asia/Kolkata Asia/Jerusalem Europe/Dublin"),
            ("Pacific time", "America/Los_Angeles"),
            ("horário de Brasília", "America/Sao_Paulo"),
            ("", "?"),
            ("🙂", "?"),
            ("not Riga", "?"),
            ("Riga is nice", "?"),
            ("Atlantis", "?"),
        ],
        read_in_winter,
    );
}

#[test]
fn words_around_a_place_and_what_it_lies_in_are_understood() {
    assert_all(
        &[
            ("I live in Riga", "Europe/Riga"),
            ("I'm in Lisbon", "Europe/Lisbon"),
            ("i’m in lisbon now", "Europe/Lisbon"),
            ("my time zone is Europe/Riga", "Europe/Riga"),
            ("moro em Lisboa", "Europe/Lisbon"),
            ("Estou em São Paulo.", "America/Sao_Paulo"),
            ("vivo en Madrid", "Europe/Madrid"),
            ("ich wohne in München", "Europe/Berlin"),
            ("j'habite à Paris", "Europe/Paris"),
            ("я живу в Москве", "Europe/Moscow"),
            ("живу в Риге", "Europe/Riga"),
            ("я из Казани", "Europe/Moscow"),
            ("в Германии", "Europe/Berlin"),
            ("Riga, Latvia", "Europe/Riga"),
            ("Riga Latvia", "Europe/Riga"),
            ("Lisboa (Portugal)", "Europe/Lisbon"),
            ("Ponta Delgada, Portugal", "Atlantic/Azores"),
            ("São Paulo - SP", "America/Sao_Paulo"),
            ("Portland, Oregon", "America/Los_Angeles"),
            ("Portland, ME", "America/New_York"),
            ("portland or", "America/Los_Angeles"),
            ("Austin, Texas, USA", "America/Chicago"),
            ("I'm in Springfield, IL", "America/Chicago"),
            ("Atlanta, Georgia", "America/New_York"),
            ("Tbilisi, Georgia", "Asia/Tbilisi"),
            ("Valencia, Venezuela", "America/Caracas"),
            ("Birmingham, UK", "Europe/London"),
            ("Washington, DC", "America/New_York"),
            ("Vancouver, WA", "America/Vancouver America/Los_Angeles"),
            ("London, Ontario", "Europe/London America/Toronto"),
            ("Anchorage, USA", "America/Anchorage"),
            ("dinner, Riga, please", "?"),
        ],
        read_in_winter,
    );
}

#[test]
fn a_distance_from_utc_is_read_by_what_holds_now() {
    let told = |text: &str, now| shown(&read(text, now, Some("de")));
    for text in ["UTC+1", "gmt +01:00", "+0100", "my time zone is UTC+1", "(UTC+1)"] {
        assert!(told(text, winter()).starts_with("Europe/Berlin Europe/Vienna Europe/Zurich "), "{text}");
        assert!(told(text, winter()).ends_with(" Etc/GMT-1"), "{text}");
    }
    assert!(told("UTC+2", summer()).starts_with("Europe/Berlin "));
    assert!(!told("UTC+1", summer()).contains("Berlin"));
    assert_all(
        &[
            ("+05:45", "Asia/Kathmandu"),
            ("UTC+5.75", "Asia/Kathmandu"),
            ("+05:30", "Asia/Kolkata Asia/Colombo"),
            ("UTC−3:30", "America/St_Johns"),
            ("UTC-12", "Etc/GMT+12"),
            ("UTC+14", "Pacific/Kiritimati Etc/GMT-14"),
            ("МСК+4", &read_in_winter("UTC+7")),
            ("UTC+15", "?"),
            ("UTC+14:30", "?"),
            ("UTC+05:17", "?"),
        ],
        read_in_winter,
    );
    let brazil = shown(&read("GMT-3", winter(), Some("pt-br")));
    assert!(brazil.starts_with("America/Sao_Paulo America/Bahia America/Fortaleza "), "{brazil}");
}

#[test]
fn a_time_of_day_is_read_as_the_present_one() {
    let first = |text: &str, language| {
        let told = read(text, winter(), Some(language));
        zones(told).first().map_or("?", |zone| zone.name())
    };
    let cases = [
        ("14:00", "en", "Africa/Johannesburg"),
        ("it is 14:00 here", "lv", "Europe/Riga"),
        ("14.04", "lv", "Europe/Riga"),
        ("it's 13:56", "lv", "Europe/Riga"),
        ("7:00 am", "en", "America/New_York"),
        ("it's 7 a.m. here", "en", "America/New_York"),
        ("5:30 PM", "en", "Asia/Kolkata"),
        ("17:30", "en", "Asia/Kolkata"),
        ("5:30", "en", "Asia/Kolkata"),
        ("17:45", "en", "Asia/Kathmandu"),
        ("são 9:00 aqui", "pt-br", "America/Sao_Paulo"),
        ("agora são 9h", "pt-br", "America/Sao_Paulo"),
        ("9h02", "pt-br", "America/Sao_Paulo"),
        ("son las 13:00", "es", "Europe/Madrid"),
        ("es ist 13:00 Uhr", "de", "Europe/Berlin"),
        ("13 Uhr", "de", "Europe/Berlin"),
        ("il est 13h01", "fr", "Europe/Paris"),
        ("сейчас 15:00", "ru", "Europe/Moscow"),
        ("у меня 19:00", "ru", "Asia/Novosibirsk"),
        ("ahora mismo son las 13:00", "es", "Europe/Madrid"),
        ("qui sono le 13:00", "it", "Europe/Rome"),
        ("burada saat 15:00", "tr", "Europe/Istanbul"),
        ("sekarang jam 19:00", "id", "Asia/Jakarta"),
        ("هنا الساعة 14:00", "ar", "Africa/Cairo"),
        ("اینجا ساعت 15:30 است", "fa", "Asia/Tehran"),
        ("यहाँ अभी 17:30 बजे हैं", "hi", "Asia/Kolkata"),
        ("现在是20:00", "zh", "Asia/Shanghai"),
        ("今は21:00です", "ja", "Asia/Tokyo"),
        ("지금 21:00이에요", "ko", "Asia/Seoul"),
        ("01:00", "en", "Pacific/Auckland"),
        ("2:00", "en", "Africa/Johannesburg"),
        ("25:00", "en", "?"),
        ("14:60", "en", "?"),
        ("14", "en", "?"),
        ("13:00 pm", "en", "?"),
        ("14:05:99", "en", "?"),
        ("meet me at 14:00 tomorrow", "en", "?"),
        ("14:00 - 15:00", "en", "?"),
        ("14:10", "en", "?"),
    ];
    let wrong: Vec<String> = cases
        .iter()
        .filter(|(text, language, expected)| first(text, language) != *expected)
        .map(|(text, language, _)| format!("{text} in {language}: {}", first(text, language)))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_same_time_means_other_zones_in_summer_and_over_the_date_line() {
    assert!(shown(&read("15:00", summer(), Some("lv"))).starts_with("Europe/Riga "));
    assert!(!shown(&read("14:00", summer(), Some("lv"))).contains("Riga"));
    // 23:00 of the day before, or of today.
    let told = zones(read("23:00", summer(), None));
    assert_eq!(told.iter().map(|zone| ahead(*zone, summer()) / 60).collect::<Vec<_>>(), [11; 6]);
    let told = zones(read("01:00", summer(), None));
    assert!(
        told.contains(&"Pacific/Tongatapu".parse::<Tz>().unwrap())
            && told.contains(&"Pacific/Pago_Pago".parse::<Tz>().unwrap()),
        "{told:?}"
    );
    // Shortly before midnight in London it is tomorrow in Berlin and still today in New York.
    let late = Utc.with_ymd_and_hms(2026, 1, 15, 23, 58, 0).unwrap();
    assert_eq!(shown(&read("0:58", late, Some("de"))), shown(&read("00:59", late, Some("de"))));
    assert!(shown(&read("00:58", late, Some("de"))).starts_with("Europe/Berlin "));
    assert!(shown(&read("18:58", late, Some("en-US"))).starts_with("America/New_York "));
}

#[test]
fn guesses_fit_the_language_and_never_fail() {
    let first = |language| guesses(language).first().map_or("", |zone| zone.name());
    for (language, expected) in [
        (Some("pt-br"), "America/Sao_Paulo"),
        (Some("pt-BR"), "America/Sao_Paulo"),
        (Some("pt_BR"), "America/Sao_Paulo"),
        (Some("pt"), "Europe/Lisbon"),
        (Some("en"), "America/New_York"),
        (Some("en-GB"), "Europe/London"),
        (Some("en-AU"), "Australia/Sydney"),
        (Some("es-419"), "Europe/Madrid"),
        (Some("es-mx"), "America/Mexico_City"),
        (Some("zh-hant-tw"), "Asia/Taipei"),
        (Some("zh-hans"), "Asia/Shanghai"),
        (Some("lv"), "Europe/Riga"),
        (Some("tlh"), "Europe/London"),
        (Some("-"), "Europe/London"),
        (Some(""), "Europe/London"),
        (None, "Europe/London"),
    ] {
        assert_eq!(first(language), expected, "{language:?}");
        let zones = guesses(language);
        assert!((1..=6).contains(&zones.len()), "{language:?}");
        assert!(zones.iter().enumerate().all(|(at, zone)| !zones[..at].contains(zone)), "{language:?}");
    }
}

#[test]
fn a_city_is_called_as_people_do() {
    for (zone, expected) in [
        ("Europe/Riga".parse::<Tz>().unwrap(), "Riga"),
        ("America/Argentina/Buenos_Aires".parse::<Tz>().unwrap(), "Buenos Aires"),
        ("America/Port-au-Prince".parse::<Tz>().unwrap(), "Port-au-Prince"),
        (Tz::UTC, "UTC"),
        ("Etc/GMT-3".parse::<Tz>().unwrap(), "UTC+3"),
        ("Etc/GMT+3".parse::<Tz>().unwrap(), "UTC-3"),
    ] {
        assert_eq!(city(zone), expected);
    }
}

const ANSWERS: &[&str] = &[
    "Riga",
    "riga!",
    "I live in Riga",
    "I'm in Lisbon",
    "moro em Lisboa",
    "Nice, France",
    "I live in Nice",
    "UTC+3",
    "+05:30",
    "14:00",
    "it is 14:00 here",
    "2 pm",
    "EST",
    "est",
    "CAT",
    "Europe/Riga",
    "Georgia",
    "Riga, Latvia",
];

const NO_ANSWERS: &[&str] = &[
    "is Paris nice?",
    "Riga?",
    "nice",
    "Nice",
    "Nice, thanks",
    "reading",
    "in general",
    "general",
    "cat",
    "wake",
    "+1",
    "-3",
    "14",
    "ok",
    "no",
    "yes",
    "sim",
    "да",
    "hello",
    "thanks",
    "para",
    "remind me at 14:00",
    "Paris is nice",
    "what time is it in Riga",
    "tell me about Lisbon",
    "boston or",
    "hello, Paris, my friend",
    "hello, Paris",
    "I live in a small town not far from Riga, Latvia",
    "Riga\nLatvia",
    "Brazil won!",
    "?",
    "¿Madrid?",
    "",
];

#[test]
fn only_what_is_likely_an_answer_is_taken_for_one() {
    for text in ANSWERS {
        assert!(answer(text, winter(), Some("en")).is_some_and(|told| told != ZoneMatch::Unknown), "{text}");
    }
    for text in NO_ANSWERS {
        assert_eq!(answer(text, winter(), Some("en")), None, "{text}");
    }
}

#[test]
fn a_name_in_the_table_means_one_thing() {
    let table = table();
    let mut seen: HashMap<String, Vec<Tz>> = HashMap::new();
    let mut wrong = Vec::new();
    for (names, zones) in written(&table) {
        assert!((1..=6).contains(&zones.len()), "{names:?}");
        for spelling in names.iter().flat_map(|name| spellings(name)) {
            assert!(!spelling.is_empty(), "{names:?}");
            let before = seen.entry(spelling.clone()).or_insert_with(|| zones.clone());
            if *before != zones {
                wrong.push(format!("{spelling}: {before:?} and {zones:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(seen.len() > 1_500, "{}", seen.len());
    for entry in &table.several {
        assert!(entry.zones.len() > 1, "{:?}", entry.names);
    }
    // What is offered has the name that zone has today.
    let lists = table.languages.values().chain(std::iter::once(&table.known));
    let offered = written(&table).flat_map(|(_, zones)| zones).chain(lists.flatten().copied());
    for zone in offered.chain(table.links.values().copied()) {
        assert!(!table.links.contains_key(zone.name()), "{zone}");
    }
    for name in table.links.keys() {
        assert!(name.parse::<Tz>().is_ok(), "{name}");
    }
}

#[test]
fn every_written_name_is_read_in_any_spelling() {
    for (names, expected) in written(&table()) {
        for name in names {
            for text in [name.clone(), name.to_uppercase(), fold(name), format!(" {name}. ")] {
                assert_eq!(zones(read(&text, winter(), None)), expected, "{text}");
            }
        }
    }
}

#[test]
fn every_zone_reads_back_from_its_name_and_its_city() {
    let links = table().links;
    for zone in Tz::all() {
        let today = links.get(zone.name()).copied().unwrap_or(zone);
        for now in [winter(), summer()] {
            assert_eq!(zones(read(zone.name(), now, None)), [today], "{zone}");
            if today == zone {
                let told = zones(read(&city(zone), now, Some("en")));
                assert!(told.contains(&zone), "{zone}: {told:?}");
            }
        }
    }
}

#[test]
fn the_time_on_any_clock_finds_a_zone_like_it() {
    for now in [winter(), summer()] {
        // Nobody lives by the westernmost one.
        for zone in Tz::all().filter(|zone| zone.name() != "Etc/GMT+12") {
            let text = now.with_timezone(&zone).format("it is %H:%M here").to_string();
            let told = zones(read(&text, now, Some("en")));
            assert!(
                told.iter().any(|other| ahead(*other, now) == ahead(zone, now)),
                "{zone} {text}: {told:?}"
            );
            assert!(told.len() <= 6, "{told:?}");
        }
    }
}

proptest! {
    #[test]
    fn no_text_breaks_it(text in ".{0,120}", language in proptest::option::of(".{0,12}"), at in 0_i64..4_000_000_000) {
        let now = Utc.timestamp_opt(at, 0).unwrap();
        let told = read(&text, now, language.as_deref());
        if let ZoneMatch::Several(zones) = &told {
            prop_assert!((2..=6).contains(&zones.len()));
        }
        prop_assert!(!guesses(language.as_deref()).is_empty());
        if let Some(answer) = answer(&text, now, language.as_deref()) {
            prop_assert_eq!(answer, read(text.trim(), now, language.as_deref()));
        }
    }

    #[test]
    fn no_text_of_such_parts_breaks_it(text in "[ a-zäßя0-9+:.,h/()–-]{0,30}", minutes in 0_i64..2_000_000) {
        let now = winter() + TimeDelta::minutes(minutes);
        let told = zones(read(&text, now, Some("en")));
        prop_assert!(told.len() <= 6);
        prop_assert!(told.iter().enumerate().all(|(at, zone)| !told[..at].contains(zone)));
    }
}
