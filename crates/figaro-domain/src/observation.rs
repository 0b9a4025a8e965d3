//! The model's notes on its own answer, made with `action`: confidence, sources and risk.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Maximum number of entries in a list.
pub(crate) const MAX_ENTRIES: usize = 20;
/// Maximum length of an entry, in characters.
pub(crate) const MAX_ENTRY_CHARS: usize = 300;
/// Maximum size of `extra` as JSON, in bytes.
pub(crate) const MAX_EXTRA_BYTES: usize = 4_000;

/// Notes on an answer; stored with its message.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Observation {
    /// Confidence of the model, from 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    /// Sources of the answer: URLs or titles.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<String>,
    /// Name that the model suggests for the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_name: Option<String>,
    /// References, such as document numbers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub references: Vec<String>,
    /// Marks for reviewers of answers, such as `needs_review`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<String>,
    /// Risk of the answer, as a level.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub risk_level: Option<RiskLevel>,
    /// Risk of the answer, from 0 to 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub risk_score: Option<f64>,
    /// Any further fields noted by an agent.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub extra: Map<String, Value>,
}

/// Level of risk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RiskLevel {
    /// Little is at risk.
    Low,
    /// Something is at risk.
    Moderate,
    /// Much is at risk.
    High,
    /// Everything is at risk.
    Critical,
}

impl Observation {
    /// Checks the limits and normalizes the texts: trimmed, without duplicates.
    ///
    /// # Errors
    /// The first fault, in one line; also if the observation is empty.
    pub fn checked(mut self) -> Result<Self, String> {
        in_range("confidence", self.confidence, 1.0)?;
        in_range("risk_score", self.risk_score, 100.0)?;
        for (field, entries) in
            [("sources", &mut self.sources), ("references", &mut self.references), ("flags", &mut self.flags)]
        {
            if entries.len() > MAX_ENTRIES {
                return Err(format!("{field} has {} entries; {MAX_ENTRIES} are the most", entries.len()));
            }
            for entry in entries.iter_mut() {
                *entry = within(&format!("an entry of {field}"), entry)?;
            }
            let listed = std::mem::take(entries);
            join(entries, listed);
        }
        if let Some(name) = &mut self.session_name {
            *name = within("session_name", name)?;
        }
        let bytes = extra_bytes(&self.extra);
        if bytes > MAX_EXTRA_BYTES {
            return Err(format!("extra has {bytes} bytes as JSON; {MAX_EXTRA_BYTES} are the most"));
        }
        if self == Self::default() {
            return Err(
                "an observation has at least one of confidence, sources, session_name, references, flags, \
                 risk_level, risk_score and extra"
                    .to_owned(),
            );
        }
        Ok(self)
    }

    /// Adds a later observation. Its values replace existing ones; its entries are appended without duplicates. Beyond the
    /// limits the oldest are removed.
    pub(crate) fn add(&mut self, later: Self) {
        self.confidence = later.confidence.or(self.confidence);
        self.risk_level = later.risk_level.or(self.risk_level);
        self.risk_score = later.risk_score.or(self.risk_score);
        self.session_name = later.session_name.or(self.session_name.take());
        join(&mut self.sources, later.sources);
        join(&mut self.references, later.references);
        join(&mut self.flags, later.flags);
        for (key, value) in later.extra {
            self.extra.shift_remove(&key);
            self.extra.insert(key, value);
        }
        while extra_bytes(&self.extra) > MAX_EXTRA_BYTES {
            let Some(oldest) = self.extra.keys().next().cloned() else { break };
            self.extra.shift_remove(&oldest);
        }
    }
}

fn extra_bytes(extra: &Map<String, Value>) -> usize {
    serde_json::to_string(extra).map_or(usize::MAX, |json| json.len())
}

fn in_range(field: &str, value: Option<f64>, most: f64) -> Result<(), String> {
    match value.filter(|value| !(0.0..=most).contains(value)) {
        Some(value) => Err(format!("{field} is {value}; it takes 0 to {most}")),
        None => Ok(()),
    }
}

fn within(field: &str, text: &str) -> Result<String, String> {
    let text = text.trim();
    match text.chars().count() {
        1..=MAX_ENTRY_CHARS => Ok(text.to_owned()),
        count => Err(format!("{field} has {count} characters; it takes 1 to {MAX_ENTRY_CHARS}")),
    }
}

fn join(entries: &mut Vec<String>, later: Vec<String>) {
    for entry in later {
        entries.retain(|known| *known != entry);
        entries.push(entry);
    }
    entries.drain(..entries.len().saturating_sub(MAX_ENTRIES));
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn read(value: Value) -> Result<Observation, String> {
        serde_json::from_value::<Observation>(value).map_err(|error| error.to_string())?.checked()
    }

    #[test]
    fn what_is_out_of_its_bounds_is_told() {
        let long = "x".repeat(MAX_ENTRY_CHARS + 1);
        for (value, complaint) in [
            (json!({}), "an observation has at least one of"),
            (json!({"flags": []}), "an observation has at least one of"),
            (json!({"confidence": 1.1}), "confidence is 1.1; it takes 0 to 1"),
            (json!({"confidence": -0.1}), "confidence is -0.1"),
            (json!({"confidence": "high"}), "invalid type: string \"high\", expected f64"),
            (json!({"risk_score": 101}), "risk_score is 101; it takes 0 to 100"),
            (json!({"risk_level": "some"}), "unknown variant `some`, expected one of `low`, `moderate`"),
            (json!({"sources": [" "]}), "an entry of sources has 0 characters"),
            (json!({"references": [long]}), "an entry of references has 301 characters"),
            (json!({"flags": vec!["a"; 21]}), "flags has 21 entries; 20 are the most"),
            (json!({"session_name": ""}), "session_name has 0 characters"),
            (json!({"extra": {"a": "x".repeat(MAX_EXTRA_BYTES)}}), "extra has 4008 bytes"),
            (json!({"extra": []}), "invalid type: sequence, expected a map"),
            (json!({"mood": 1}), "unknown field `mood`, expected one of `confidence`"),
        ] {
            let error = read(value.clone()).unwrap_err();
            assert!(error.starts_with(complaint), "{value}: {error}");
        }
        let all = json!({
            "confidence": 0.85, "sources": ["https://a.example/"], "session_name": " Trip ", "references": ["7"],
            "flags": ["needs_review"], "risk_level": "critical", "risk_score": 72.5, "extra": {"a": [1]},
        });
        let read = read(all).unwrap();
        assert_eq!((read.confidence, read.session_name.as_deref()), (Some(0.85), Some("Trip")));
        assert_eq!(read.risk_level, Some(RiskLevel::Critical));
    }

    #[test]
    fn it_is_stored_as_it_was_read() {
        let read = read(json!({"confidence": 0.5, "extra": {"b": 1, "a": 2}})).unwrap();
        let stored = serde_json::to_string(&read).unwrap();
        assert_eq!(stored, r#"{"confidence":0.5,"extra":{"b":1,"a":2}}"#);
        assert_eq!(serde_json::from_str::<Observation>(&stored).unwrap(), read);
    }

    prop_compose! {
        fn any_observation()(
            confidence in proptest::option::of(0.0..=1.0_f64),
            risk_level in proptest::option::of(prop_oneof![Just(RiskLevel::Low), Just(RiskLevel::High)]),
            session_name in proptest::option::of("[a-c]"),
            sources in proptest::collection::vec("[a-p]", 0..MAX_ENTRIES),
            flags in proptest::collection::vec("[a-zA-Z]", 0..MAX_ENTRIES),
            extra in proptest::collection::btree_map("[a-c]", "[a-c]{0,900}", 0..4),
        ) -> Observation {
            let extra = extra.into_iter().map(|(key, value)| (key, value.into())).collect();
            Observation { confidence, risk_level, session_name, sources, flags, extra, ..Observation::default() }
        }
    }

    fn sum(first: &Observation, later: &Observation) -> Observation {
        let mut sum = first.clone();
        sum.add(later.clone());
        sum
    }

    proptest! {
        /// What comes later wins, nothing stands twice, the bounds hold, and the same once more changes nothing.
        #[test]
        fn later_ones_win_and_nothing_stands_twice(a in any_observation(), b in any_observation()) {
            let both = sum(&sum(&Observation::default(), &a), &b);
            prop_assert_eq!(both.confidence, b.confidence.or(a.confidence));
            prop_assert_eq!(both.risk_level, b.risk_level.or(a.risk_level));
            prop_assert_eq!(both.session_name.clone(), b.session_name.clone().or(a.session_name.clone()));
            for (all, later) in [(&both.sources, &b.sources), (&both.flags, &b.flags)] {
                prop_assert!(all.len() <= MAX_ENTRIES && later.iter().all(|entry| all.contains(entry)));
                let mut once = all.clone();
                once.sort();
                once.dedup();
                prop_assert_eq!(once.len(), all.len());
            }
            prop_assert!(b.extra.iter().all(|(key, value)| both.extra.get(key) == Some(value)));
            prop_assert!(extra_bytes(&both.extra) <= MAX_EXTRA_BYTES);
            prop_assert_eq!(sum(&both, &b), both);
        }
    }
}
