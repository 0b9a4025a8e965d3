//! Limits on the number and frequency of scheduled prompts.

use std::time::Duration;

use super::reader::VariableReader;

/// Limits of scheduled prompts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TaskSettings {
    /// Maximum number of tasks per chat.
    pub per_chat: usize,
    /// Maximum number of tasks per person, in all chats.
    pub per_user: usize,
    /// Minimum time between two runs of a task: 1 minute to a day.
    pub min_interval: Duration,
}

impl TaskSettings {
    pub(super) fn read(reader: &mut VariableReader<'_>) -> Self {
        let mut most = |name| reader.number(name, 1..=10_000).try_into().unwrap_or_default();
        let (per_chat, per_user) = (most("TASKS_PER_CHAT"), most("TASKS_PER_USER"));
        let bounds = Duration::from_secs(60)..=Duration::from_secs(24 * 3600);
        Self { per_chat, per_user, min_interval: reader.duration("TASKS_MIN_INTERVAL", bounds) }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::variables::Variables;

    #[test]
    fn the_interval_is_a_time_with_its_unit() {
        let read = |text: &str| {
            let variables = HashMap::from([("TASKS_MIN_INTERVAL".to_owned(), text.to_owned())]);
            let known = Variables::builtin();
            let mut reader = VariableReader::new(&variables, &known);
            let settings = TaskSettings::read(&mut reader);
            reader.finish(settings).map(|settings| settings.min_interval.as_secs()).map_err(|faults| faults.0)
        };
        for (text, seconds) in
            [("", 600), ("60", 60), ("90s", 90), ("10m", 600), ("24h", 86_400), ("5 m", 300), ("1h30m", 5400)]
        {
            assert_eq!(read(text), Ok(seconds), "{text}");
        }
        for text in
            ["59s", "0m", "25h", "m", "10x", "1h30", "-5m", "99999999999999999999h", "9999999999999999999h"]
        {
            let faults = read(text).unwrap_err();
            let said = "is not a time from 1m to 24h, such as 90s, 10m or 2h";
            let fault = faults.first().map(String::as_str).unwrap_or_default();
            assert!(fault.starts_with("TASKS_MIN_INTERVAL ") && fault.ends_with(said), "{text}: {faults:?}");
            assert_eq!(faults.len(), 1, "{text}");
        }
    }
}
