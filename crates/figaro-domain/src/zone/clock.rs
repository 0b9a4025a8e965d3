//! Zones from the clock: an offset from UTC ("UTC+3"), or somebody's current time ("it is 14:20 here").

use chrono::{DateTime, Offset, TimeZone, Timelike, Utc};
use figaro_base::tz::Tz;

use super::found::{MAX_ZONES, ZoneMatches};
use super::names::{NAMES, fold};

/// Smallest step of offsets, in minutes: all current zones are a multiple of a quarter of an hour from UTC.
const QUARTER: i32 = 15;
const DAY: i32 = 24 * 60;
const HALF_DAY: i32 = DAY / 2;

/// Words that mark a time as one of the afternoon.
const LATE: [&str; 78] = [
    "pm",
    "tarde",
    "noite",
    "noche",
    "abends",
    "nachmittags",
    "вечера",
    "дня",
    "soir",
    "mittags",
    "lapres",
    "pomeriggio",
    "sera",
    "вечора",
    "aksam",
    "aksamin",
    "ogleden",
    "sore",
    "م",
    "مساء",
    "مساءً",
    "المساء",
    "عصرا",
    "عصراً",
    "عصرًا",
    "العصر",
    "عصر",
    "غروب",
    "بعدازظهر",
    "शाम",
    "下午",
    "傍晚",
    "晚上",
    "现在下午",
    "现在傍晚",
    "现在晚上",
    "现在是下午",
    "现在是傍晚",
    "现在是晚上",
    "我这里是下午",
    "我这里是傍晚",
    "我这里是晚上",
    "我这边是下午",
    "我这边是傍晚",
    "我这边是晚上",
    "我这里现在是下午",
    "我这里现在是傍晚",
    "我这里现在是晚上",
    "我这边现在是下午",
    "我这边现在是傍晚",
    "我这边现在是晚上",
    "这里是下午",
    "这里是傍晚",
    "这里是晚上",
    "这里现在是下午",
    "这里现在是傍晚",
    "这里现在是晚上",
    "这边现在是下午",
    "这边现在是傍晚",
    "这边现在是晚上",
    "午後",
    "夕方",
    "夜",
    "今は午後",
    "今は夕方",
    "今は夜",
    "現在午後",
    "現在夕方",
    "現在夜",
    "ここは午後",
    "ここは夕方",
    "ここは夜",
    "こちらは午後",
    "こちらは夕方",
    "こちらは夜",
    "今午後",
    "오후",
    "저녁",
];
/// Words that mark a bare number as an hour, as in "2 pm", "14 Uhr".
const HOURS: [&str; 34] = [
    "am",
    "pm",
    "h",
    "uhr",
    "horas",
    "heures",
    "часов",
    "час",
    "часа",
    "hs",
    "hrs",
    "ore",
    "година",
    "години",
    "saat",
    "jam",
    "pukul",
    "الساعة",
    "الساعه",
    "ساعت",
    "बजे",
    "点",
    "点钟",
    "点整",
    "点了",
    "時",
    "時です",
    "時だよ",
    "時ちょうど",
    "시",
    "시예요",
    "시야",
    "시입니다",
    "시요",
];

/// Finds zones that currently have the given offset from UTC, and the zone with this fixed offset.
pub(super) fn by_distance(text: &str, now: DateTime<Utc>, language: Option<&str>) -> Option<ZoneMatches> {
    let (at, sign) = text.char_indices().find(|(_, c)| "+-−–".contains(*c))?;
    let (before, after) = text.split_at(at);
    let digits = after.strip_prefix(sign)?.trim().trim_end_matches([')', '.', '!']);
    let base = base(before)?;
    let distance = base.unwrap_or(0) + if sign == '+' { 1 } else { -1 } * distance(digits)?;
    if !(-HALF_DAY..=HALF_DAY + 120).contains(&distance) {
        return None;
    }
    let fixed = fixed(distance);
    let mut zones = ordered(&[distance], now, language);
    zones.truncate(MAX_ZONES - usize::from(fixed.is_some()));
    zones.extend(fixed);
    // A text such as "+1" may mean other things.
    let sure = base.is_some() || digits.chars().count() > 1;
    (!zones.is_empty()).then_some(ZoneMatches { zones, sure })
}

/// Finds zones whose clocks now show the given time.
pub(super) fn by_time(text: &str, now: DateTime<Utc>, language: Option<&str>) -> Option<ZoneMatches> {
    let time = time_of_day(text)?;
    let likely = NAMES.likely(language);
    let mut zones = ordered(&distances(time.minutes, now), now, language);
    if time.may_be_late {
        let late = ordered(&distances(time.minutes + HALF_DAY, now), now, language);
        let late = late.into_iter().filter(|zone| likely.contains(zone));
        let known = zones.iter().filter(|zone| likely.contains(zone)).count();
        zones.splice(known..known, late);
    }
    zones.truncate(MAX_ZONES);
    (!zones.is_empty()).then_some(ZoneMatches { zones, sure: true })
}

/// Returns the offset in minutes of the reference named before the sign, such as UTC. The inner value is `None` for a bare
/// offset.
fn base(before: &str) -> Option<Option<i32>> {
    let folded = fold(before);
    NAMES.bare(&folded).into_iter().find_map(|(_, name)| match name {
        "" => Some(None),
        "utc" | "gmt" => Some(Some(0)),
        // Russians count from Moscow.
        "msk" | "мск" => Some(Some(180)),
        _ => None,
    })
}

/// Parses an offset such as `3`, `03`, `0530`, `5:30` or `5.5` into minutes.
fn distance(digits: &str) -> Option<i32> {
    let (hours, minutes) = match digits.split_once([':', '.', ',']) {
        Some((hours, part)) if !digits.contains(':') => (hours, part_of_hour(part)?),
        Some((hours, minutes)) => (hours, number(minutes, 2..=2)?),
        None if digits.len() == 4 => (digits.get(..2)?, number(digits.get(2..)?, 2..=2)?),
        None => (digits, 0),
    };
    let hours = number(hours, 1..=2)?;
    (hours <= 14 && minutes < 60).then_some(hours * 60 + minutes)
}

/// Converts the decimals of an hour to minutes.
fn part_of_hour(part: &str) -> Option<i32> {
    match part {
        "0" | "00" => Some(0),
        "25" => Some(15),
        "5" | "50" | "30" => Some(30),
        "75" | "45" => Some(45),
        _ => None,
    }
}

fn number(digits: &str, length: std::ops::RangeInclusive<usize>) -> Option<i32> {
    let is_number = length.contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit());
    is_number.then(|| digits.parse().ok())?
}

/// Returns the zone with a fixed offset of this many minutes. Such zones exist only for whole hours.
fn fixed(minutes: i32) -> Option<Tz> {
    if minutes == 0 {
        return Some(Tz::UTC);
    }
    // In these names the sign is reversed.
    let name = || format!("Etc/GMT{:+}", -minutes / 60);
    if minutes % 60 == 0 { name().parse().ok() } else { None }
}

struct ClockTime {
    /// Minutes since midnight.
    minutes: i32,
    /// `true` if it may also be in the afternoon, on a twelve-hour clock.
    may_be_late: bool,
}

/// Parses a time of day, with only words around it that belong to a current time.
fn time_of_day(text: &str) -> Option<ClockTime> {
    let lower = text.to_lowercase();
    let start = lower.find(|c: char| c.is_ascii_digit())?;
    let (before, rest) = lower.split_at(start);
    let end = rest.find(|c: char| !c.is_ascii_digit() && !":.h：".contains(c)).unwrap_or(rest.len());
    let (digits, after) = rest.split_at(end);
    let words =
        format!(" {} ", fold(&format!("{before} {after}"))).replace(" p m ", " pm ").replace(" a m ", " am ");
    let words: Vec<&str> = words.split(' ').filter(|word| !word.is_empty()).collect();
    if !words.iter().all(|word| NAMES.around_a_time.contains(*word) || HOURS.contains(word)) {
        return None;
    }
    let says = |some: &[&str]| words.iter().any(|word| some.contains(word));
    let (hour, minute) = hour_and_minute(digits, says(&HOURS))?;
    let is_twelve = (1..=12).contains(&hour);
    let hour = match hour {
        _ if says(&["pm"]) && !is_twelve => return None,
        12 if says(&["am"]) => 0,
        1..=11 if says(&LATE) => hour + 12,
        _ => hour,
    };
    let may_be_late =
        (1..=12).contains(&hour) && !digits.starts_with('0') && !says(&["am", "pm", "uhr", "h"]);
    Some(ClockTime { minutes: hour * 60 + minute, may_be_late })
}

/// Parses `14:20`, `14.20`, `14h20` and `14:20:59`; also `14h`, and `14` if `is_hour`, as a full hour.
fn hour_and_minute(digits: &str, is_hour: bool) -> Option<(i32, i32)> {
    let mut parts = digits.trim_end_matches('.').split([':', '.', 'h', '：']);
    let hour = number(parts.next()?, 1..=2)?;
    let minute = match parts.next() {
        Some("") if digits.ends_with('h') => 0,
        Some(minute) => number(minute, 2..=2)?,
        None if is_hour => 0,
        None => return None,
    };
    let second = parts.next().map_or(Some(0), |second| number(second, 2..=2))?;
    (hour < 24 && minute < 60 && second < 60 && parts.next().is_none()).then_some((hour, minute))
}

/// Returns the possible offsets from UTC, in minutes, of a clock that shows this time. Near the date line there are two.
fn distances(minutes: i32, now: DateTime<Utc>) -> Vec<i32> {
    let utc = i32::try_from(now.num_seconds_from_midnight() / 60).unwrap_or_default();
    let ahead = rounded(minutes - utc).rem_euclid(DAY);
    [ahead, ahead - DAY].into_iter().filter(|ahead| (-HALF_DAY..=HALF_DAY + 120).contains(ahead)).collect()
}

/// Rounds to the nearest quarter of an hour.
fn rounded(minutes: i32) -> i32 {
    (minutes + QUARTER / 2).div_euclid(QUARTER) * QUARTER
}

/// Returns the current offset of a zone from UTC in minutes, rounded to a quarter of an hour.
fn ahead(zone: Tz, now: DateTime<Utc>) -> i32 {
    rounded(zone.offset_from_utc_datetime(&now.naive_utc()).fix().local_minus_utc().div_euclid(60))
}

/// Returns zones that currently have one of these offsets: the likely ones of the language, then a known one for each
/// offset, then other known ones, then the rest by name.
fn ordered(distances: &[i32], now: DateTime<Utc>, language: Option<&str>) -> Vec<Tz> {
    let fits = |zone: &Tz| distances.contains(&ahead(*zone, now));
    let mut zones: Vec<Tz> = NAMES.likely(language).into_iter().filter(fits).collect();
    let known = NAMES.known.iter().copied();
    let rest = Tz::all().filter(|zone| NAMES.is_lived_in(*zone));
    let others: Vec<Tz> = known.chain(rest).filter(fits).collect();
    for distance in distances {
        let is_new = !zones.iter().any(|zone| ahead(*zone, now) == *distance);
        zones.extend(others.iter().find(|zone| is_new && ahead(**zone, now) == *distance));
    }
    for zone in others {
        if !zones.contains(&zone) {
            zones.push(zone);
        }
    }
    zones
}
