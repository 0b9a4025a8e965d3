//! Texts for the times of tasks. Used by their cards and by the dashboard.

use chrono::{DateTime, Datelike, NaiveTime, TimeDelta, Utc, Weekday};

use super::{Texts, fill, nth};
use figaro_domain::schedule::{Schedule, ScheduleShape};
use figaro_domain::task::Task;

/// Times within this span are also told in minutes.
const NEAR: TimeDelta = TimeDelta::hours(1);

/// Formats a time in the time zone of a task, with the year unless it is the current year: `today 09:00`, `Tue 1 Dec
/// 07:30`.
#[must_use]
pub fn moment(texts: &Texts, task: &Task, at: DateTime<Utc>, now: DateTime<Utc>) -> String {
    texts.spoken(&at.with_timezone(&task.zone), &now.with_timezone(&task.zone))
}

/// Formats a future time; within an hour with the remaining minutes: `today 09:00, in 20 minutes`.
#[must_use]
pub fn coming(texts: &Texts, task: &Task, at: DateTime<Utc>, now: DateTime<Utc>) -> String {
    let (when, left) = (moment(texts, task, at, now), at - now);
    let minutes = (left.num_seconds() + 59) / 60;
    match minutes {
        _ if left <= TimeDelta::zero() || left > NEAR => when,
        1 => fill(texts.in_minute(), &[("when", &when)]),
        60 => fill(texts.in_hour(), &[("when", &when)]),
        _ => fill(texts.in_minutes(), &[("when", &when), ("count", &minutes.to_string())]),
    }
}

/// Formats a time for a button: `09:00 Mon`, and from a week on `09:00 1 Dec`.
#[must_use]
pub fn short(texts: &Texts, task: &Task, at: DateTime<Utc>, now: DateTime<Utc>) -> String {
    let (at, now) = (at.with_timezone(&task.zone), now.with_timezone(&task.zone));
    let day = match (at.date_naive() - now.date_naive()).num_days() {
        ..7 => weekday(texts, at.weekday()),
        _ => texts.date(&at, (at.year() != now.year()).then(|| at.year())),
    };
    format!("{} {day}", at.format("%H:%M"))
}

/// Formats the schedule of a task with its time zone: `every weekday 09:00 (Europe/Riga)`.
#[must_use]
pub fn schedule(texts: &Texts, task: &Task, now: DateTime<Utc>) -> String {
    let when = match &task.schedule {
        Schedule::Once { at, .. } => fill(texts.when_once(), &[("when", &coming(texts, task, *at, now))]),
        Schedule::Cron(_) => recurring(texts, &task.schedule.shape()),
    };
    fill(texts.task_zone(), &[("when", &when), ("zone", task.zone.name())])
}

fn recurring(texts: &Texts, shape: &ScheduleShape) -> String {
    let at = |text: &str, values: &[(&str, &str)], times: &[NaiveTime]| {
        let times = listed(times, |time| time.format("%H:%M").to_string());
        fill(text, &[values, &[("times", &times)]].concat())
    };
    match shape {
        ScheduleShape::Once => String::new(),
        ScheduleShape::EveryMinutes(1) => texts.when_minute().to_owned(),
        ScheduleShape::EveryMinutes(count) => fill(texts.when_minutes(), &[("count", &count.to_string())]),
        ScheduleShape::EveryHours { hours: 1, minute } => {
            fill(texts.when_hour(), &[("minute", &format!("{minute:02}"))])
        }
        ScheduleShape::EveryHours { hours, minute } => {
            fill(texts.when_hours(), &[("count", &hours.to_string()), ("minute", &format!("{minute:02}"))])
        }
        ScheduleShape::Daily { times } => at(texts.when_daily(), &[], times),
        ScheduleShape::Weekdays { times } => at(texts.when_weekdays(), &[], times),
        ScheduleShape::Weekly { days, times } => {
            let days = listed(days, |day| weekday(texts, *day));
            at(texts.when_weekly(), &[("days", &days)], times)
        }
        ScheduleShape::Monthly { days, times } => {
            let days = listed(days, |day| nth(texts.month_days(), day.saturating_sub(1)).to_owned());
            at(texts.when_monthly(), &[("days", &days)], times)
        }
        ScheduleShape::Yearly { month, day, times } => {
            let date = texts.date_of(*day, month.saturating_sub(1), None);
            at(texts.when_yearly(), &[("date", &date)], times)
        }
        ScheduleShape::Between { minutes, from, until, days } => {
            let [from, until] = [from, until].map(|time| time.format("%H:%M").to_string());
            let (every, days) = (spaced(texts, *minutes), on(texts, days));
            let values = [("every", &*every), ("from", &from), ("until", &until), ("days", &days)];
            fill(texts.when_between(), &values)
        }
        ScheduleShape::Other => texts.when_own().to_owned(),
    }
}

/// Returns the text for the interval between two runs.
fn spaced(texts: &Texts, minutes: u32) -> String {
    let (text, count) = match minutes {
        1 => (texts.when_minute(), 1),
        60 => (texts.when_each_hour(), 1),
        _ if minutes.is_multiple_of(60) => (texts.when_each_hours(), minutes / 60),
        _ => (texts.when_minutes(), minutes),
    };
    fill(text, &[("count", &count.to_string())])
}

/// Returns the text for days of the week; `days` is sorted from Monday on.
fn on(texts: &Texts, days: &[Weekday]) -> String {
    match days {
        [_, _, _, _, _, _, _] => texts.days_all().to_owned(),
        [Weekday::Mon, .., Weekday::Fri] if days.len() == 5 => texts.days_work().to_owned(),
        _ => fill(texts.days_some(), &[("days", &listed(days, |day| weekday(texts, *day)))]),
    }
}

/// Returns the short name of a day of the week.
fn weekday(texts: &Texts, day: Weekday) -> String {
    nth(texts.weekdays(), day.num_days_from_monday()).to_owned()
}

fn listed<T>(items: &[T], word: impl Fn(&T) -> String) -> String {
    items.iter().map(word).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use chrono::TimeZone;
    use figaro_base::tz::Tz;

    use super::*;
    use crate::texts::Locales;
    use figaro_base::ids::{ChatId, UserId};
    use figaro_domain::chat::{ChatKind, Place};
    use figaro_domain::message::Speaker;
    use figaro_domain::task::NewTask;

    fn task(schedule: &str) -> Task {
        let (zone, now) =
            ("Europe/Riga".parse::<Tz>().unwrap(), DateTime::UNIX_EPOCH + TimeDelta::days(20_000));
        let read = Schedule::recurring(schedule, zone, now).or_else(|_| Schedule::once(schedule, zone, now));
        let place = Place { chat: ChatId(-5), kind: ChatKind::Group, title: None, topic: None };
        let creator = Speaker { user: UserId::telegram(1), name: "Ann".into(), username: None };
        let (language, prompt, zone_assumed) = (None, String::new(), false);
        let schedule = read.unwrap();
        Task::new(NewTask { place, creator, language, prompt, schedule, zone, zone_assumed }, now)
    }

    #[test]
    fn a_schedule_is_told_as_people_say_it() {
        let cases = [
            ("0 9 * * *", "every day 09:00", "todo dia às 09:00"),
            ("0 9,18 * * *", "every day 09:00, 18:00", "todo dia às 09:00, 18:00"),
            ("0 9 * * 1-5", "every weekday 09:00", "de segunda a sexta às 09:00"),
            ("30 18 * * 1,4", "every Mon, Thu 18:30", "toda semana, seg, qui às 18:30"),
            ("0 8 1 * *", "monthly on the 1st 08:00", "no dia 1 de cada mês às 08:00"),
            ("0 8 2,31 * *", "monthly on the 2nd, 31st 08:00", "no dia 2, 31 de cada mês às 08:00"),
            ("0 7 24 12 *", "every year on 24 Dec 07:00", "todo ano em 24 dez às 07:00"),
            ("* * * * *", "every minute", "a cada minuto"),
            ("*/15 * * * *", "every 15 minutes", "a cada 15 minutos"),
            ("5 * * * *", "every hour at :05", "a cada hora, no minuto 05"),
            ("0 */6 * * *", "every 6 hours at :00", "a cada 6 horas, no minuto 00"),
            (
                "*/15 9-18 * * 1-5",
                "every 15 minutes from 09:00 to 18:45, on weekdays",
                "a cada 15 minutos das 09:00 às 18:45, de segunda a sexta",
            ),
            (
                "0 9-18 * * *",
                "every hour from 09:00 to 18:00, every day",
                "a cada hora das 09:00 às 18:00, todo dia",
            ),
            (
                "0 */2 * * 1-5",
                "every 2 hours from 00:00 to 22:00, on weekdays",
                "a cada 2 horas das 00:00 às 22:00, de segunda a sexta",
            ),
            (
                "* 9 * * 0,6",
                "every minute from 09:00 to 09:59, on Sat, Sun",
                "a cada minuto das 09:00 às 09:59, sáb, dom",
            ),
            ("0 9 * 6 1-5", "by a schedule of its own", "em horários próprios"),
            ("2026-12-01T07:30", "once, Tue 1 Dec 07:30", "uma vez, ter 1 dez 07:30"),
            ("2026-11-23T10:45", "once, today 10:45, in 45 minutes", "uma vez, hoje às 10:45, em 45 minutos"),
            ("2026-11-23T10:01", "once, today 10:01, in 1 minute", "uma vez, hoje às 10:01, em 1 minuto"),
            ("2026-11-23T11:00", "once, today 11:00, in an hour", "uma vez, hoje às 11:00, em uma hora"),
            ("2026-11-23T18:00", "once, today 18:00", "uma vez, hoje às 18:00"),
            ("2026-11-24T00:00", "once, tomorrow 00:00", "uma vez, amanhã às 00:00"),
            ("2027-01-04T07:30", "once, Mon 4 Jan 2027 07:30", "uma vez, seg 4 jan 2027 07:30"),
        ];
        let now = Utc.with_ymd_and_hms(2026, 11, 23, 8, 0, 0).unwrap();
        let locales = Locales::default();
        for (written, english, portuguese) in cases {
            let task = task(written);
            for (tag, words) in [("en", english), ("pt", portuguese)] {
                let told = schedule(locales.of(Some(tag)), &task, now);
                assert_eq!(told, format!("{words} ({})", "Europe/Riga".parse::<Tz>().unwrap()), "{written}");
            }
        }
    }
}
