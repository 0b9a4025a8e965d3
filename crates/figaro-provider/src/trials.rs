//! Results of trials of models: features that a service refuses, and unusable answers, several of which in a row
//! suspend a model. It is kept in a file beside the store, so that it outlives the process and `figaro check` can read it
//! beside a running bot. It is forgotten after a week, and when the provider's address changes.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

use chrono::{DateTime, TimeDelta, Utc};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use figaro_domain::model::ModelName;

/// Name of the file in the folder of the store.
pub const FILE: &str = "models.json";
/// Number of consecutive unusable answers that suspends a model.
const IN_A_ROW: u32 = 5;
/// First suspension; each further one is twice as long.
const FIRST: TimeDelta = TimeDelta::hours(1);
/// Upper limit of the duration of a suspension.
const LONGEST: TimeDelta = TimeDelta::days(1);
/// Time after which a trial is forgotten, so that a service that was mended is tried again.
const KEPT: TimeDelta = TimeDelta::days(7);

/// Feature of a request that not every model accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Feature {
    /// Function tools of any kind.
    Tools,
    /// Pictures in messages and in results of tools.
    Pictures,
    /// Constraint on the format of the answer.
    Form,
    /// Constraint on the format in a request with tools.
    FormWithTools,
}

/// Result of the trials of a model.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ModelTrial {
    /// Features that its service refused.
    pub lacks: Vec<Feature>,
    /// Number of unusable answers since the last usable one.
    pub misfits: u32,
    /// End of its last suspension.
    pub rests_until: Option<DateTime<Utc>>,
    /// Time of the last refusal.
    learned: DateTime<Utc>,
    /// Time of the last unusable answer.
    failed: DateTime<Utc>,
    /// Hash of the address at which it was tried, which may hold a secret.
    address: u64,
}

impl ModelTrial {
    fn counts(&self, now: DateTime<Utc>) -> bool {
        now - self.learned.max(self.failed) < KEPT
    }

    /// Drops refusals that are older than a week, whatever else was seen since.
    fn without_old(mut self, now: DateTime<Utc>) -> Self {
        if now - self.learned >= KEPT {
            self.lacks.clear();
        }
        self
    }
}

/// Trials by model, as `provider:model`. Cheap to clone; clones share the data.
#[derive(Debug, Clone, Default)]
pub struct ModelTrials(Arc<Mutex<TrialFile>>);

#[derive(Debug, Default)]
struct TrialFile {
    /// The file; `None` if nothing outlives the process.
    file: Option<PathBuf>,
    /// Hashes of the providers' addresses.
    addresses: BTreeMap<String, u64>,
    trials: BTreeMap<String, ModelTrial>,
}

impl ModelTrials {
    /// Reads the trials from a file in the folder of the store. `addresses` are the providers with their addresses.
    /// Without a readable file there are none.
    #[must_use]
    pub fn open<'a>(
        folder: &Path,
        addresses: impl Iterator<Item = (&'a str, &'a str)>,
        now: DateTime<Utc>,
    ) -> Self {
        let file = folder.join(FILE);
        let addresses = addresses.map(|(provider, address)| (provider.to_owned(), hash(address))).collect();
        let read = fs::read(&file).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let mut opened = TrialFile { file: Some(file), addresses, trials: read.unwrap_or_default() };
        let TrialFile { addresses, trials, .. } = &mut opened;
        trials.retain(|model, trial| {
            let provider = model.split(':').next().unwrap_or_default();
            trial.counts(now) && addresses.get(provider) == Some(&trial.address)
        });
        Self(Arc::new(Mutex::new(opened)))
    }

    /// Returns all trials that still count, by the name of the model.
    #[must_use]
    pub fn all(&self, now: DateTime<Utc>) -> Vec<(String, ModelTrial)> {
        let all = self.0.lock();
        let counting = all.trials.iter().filter(|(_, trial)| trial.counts(now));
        counting.map(|(model, trial)| (model.clone(), trial.clone().without_old(now))).collect()
    }

    /// Returns `true` if the model's service refused the feature.
    pub(crate) fn lacks(&self, provider: &str, model: &str, feature: Feature, now: DateTime<Utc>) -> bool {
        let all = self.0.lock();
        let trial = all.trials.get(&format!("{provider}:{model}"));
        trial.is_some_and(|trial| now - trial.learned < KEPT && trial.lacks.contains(&feature))
    }

    /// Records that the model's service refused the feature.
    pub(crate) fn learn(&self, provider: &str, model: &str, feature: Feature, now: DateTime<Utc>) {
        self.change(provider, &format!("{provider}:{model}"), |trial| {
            *trial = std::mem::take(trial).without_old(now);
            trial.learned = now;
            if !trial.lacks.contains(&feature) {
                trial.lacks.push(feature);
            }
        });
    }

    /// Returns the end of the model's suspension; `None` if it is not suspended.
    #[must_use]
    pub fn rests(&self, model: &ModelName, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
        let until = self.0.lock().trials.get(&model.to_string())?.rests_until?;
        (until > now).then_some(until)
    }

    /// Records a usable answer, which resets the count.
    pub fn fits(&self, model: &ModelName) {
        let name = model.to_string();
        if self.0.lock().trials.get(&name).is_some_and(|trial| trial.misfits > 0) {
            self.change(&model.provider, &name, |trial| {
                (trial.misfits, trial.rests_until) = (0, None);
            });
        }
    }

    /// Records an unusable answer. Returns the end of the suspension if the model is suspended from now on.
    pub fn misfits(&self, model: &ModelName, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
        let mut until = None;
        self.change(&model.provider, &model.to_string(), |trial| {
            (trial.misfits, trial.failed) = (trial.misfits + 1, now);
            let times = trial.misfits.checked_sub(IN_A_ROW);
            until = times.map(|times| now + LONGEST.min(FIRST * 2_i32.pow(times.min(8))));
            trial.rests_until = until.or(trial.rests_until);
        });
        until
    }

    fn change(&self, provider: &str, model: &str, change: impl FnOnce(&mut ModelTrial)) {
        let mut all = self.0.lock();
        let address = all.addresses.get(provider).copied().unwrap_or_default();
        let trial = all.trials.entry(model.to_owned()).or_default();
        trial.address = address;
        change(trial);
        if let Some(Err(error)) = all.file.as_ref().map(|file| write(file, &all.trials)) {
            tracing::warn!(%error, "what was learned of a model could not be written beside the store");
        }
    }
}

/// Replaces the file in one step.
fn write(file: &Path, trials: &BTreeMap<String, ModelTrial>) -> io::Result<()> {
    let fresh = file.with_extension("new");
    fs::write(&fresh, serde_json::to_vec_pretty(trials)?)?;
    fs::rename(&fresh, file)
}

fn hash(address: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    address.trim_end_matches('/').hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tiny() -> ModelName {
        "ollama:tiny".parse().unwrap()
    }

    fn open(folder: &Path, address: &str, now: DateTime<Utc>) -> ModelTrials {
        ModelTrials::open(folder, [("ollama", address)].into_iter(), now)
    }

    #[test]
    fn a_model_that_never_fits_is_suspended_for_longer_and_longer() {
        let (trials, now) = (ModelTrials::default(), DateTime::UNIX_EPOCH + TimeDelta::days(9));
        let model = tiny();
        let mut hours = Vec::new();
        for _ in 0..12 {
            hours.push(trials.misfits(&model, now).map(|until| (until - now).num_hours()));
        }
        let wanted = [1, 2, 4, 8, 16, 24, 24, 24].map(Some);
        assert_eq!((&hours[..4], &hours[4..]), (&[None; 4][..], &wanted[..]));
        assert_eq!(trials.rests(&model, now), Some(now + LONGEST));
        assert_eq!(trials.rests(&model, now + LONGEST), None);
        trials.fits(&model);
        assert_eq!(trials.rests(&model, now), None);
        assert_eq!(trials.misfits(&model, now), None, "a usable answer resets the count");
    }

    #[test]
    fn a_trial_outlives_the_process_but_not_a_week_nor_another_address() {
        let folder = tempfile::tempdir().unwrap();
        let now = DateTime::UNIX_EPOCH + TimeDelta::days(9);
        let first = open(folder.path(), "http://one:1/", now);
        first.learn("ollama", "tiny", Feature::Pictures, now);
        for _ in 0..5 {
            first.misfits(&tiny(), now);
        }
        let again = open(folder.path(), "http://one:1", now);
        assert!(again.lacks("ollama", "tiny", Feature::Pictures, now));
        assert!(!again.lacks("ollama", "tiny", Feature::Tools, now));
        assert_eq!(again.rests(&tiny(), now), Some(now + FIRST));
        assert_eq!(again.misfits(&tiny(), now), Some(now + FIRST * 2), "the count goes on");
        // An unusable answer does not keep an old refusal.
        again.misfits(&tiny(), now + KEPT - TimeDelta::hours(1));
        assert!(!again.lacks("ollama", "tiny", Feature::Pictures, now + KEPT));
        assert!(again.all(now + KEPT).iter().all(|(_, trial)| trial.lacks.is_empty() && trial.misfits == 7));
        again.learn("ollama", "tiny", Feature::Tools, now + KEPT);
        assert!(!again.lacks("ollama", "tiny", Feature::Pictures, now + KEPT));
        assert!(open(folder.path(), "http://one:1", now + KEPT * 2).all(now).is_empty());
        assert!(open(folder.path(), "http://two:1", now).all(now).is_empty());
        fs::write(folder.path().join(FILE), "{ torn").unwrap();
        assert!(open(folder.path(), "http://one:1", now).all(now).is_empty());
    }
}
