//! Models that keep giving unusable answers: after several in a row, a model is suspended for a while.

use std::collections::HashMap;
use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use parking_lot::Mutex;

use figaro_domain::model::ModelName;

/// Number of consecutive unusable answers that suspends a model.
const IN_A_ROW: u32 = 5;
/// First suspension; each further one is twice as long.
const FIRST: TimeDelta = TimeDelta::hours(1);
/// Upper limit of the duration of a suspension.
const LONGEST: TimeDelta = TimeDelta::days(1);

/// Unusable answers by model. Cheap to clone; clones share the data.
#[derive(Debug, Clone, Default)]
pub struct Misfits(Arc<Mutex<HashMap<ModelName, Row>>>);

/// Unusable answers of a model since its last usable one.
#[derive(Debug, Clone, Copy)]
struct Row {
    count: u32,
    rests_until: DateTime<Utc>,
}

impl Misfits {
    /// Returns the end of the model's suspension; `None` if it is not suspended.
    #[must_use]
    pub fn rests(&self, model: &ModelName, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
        let until = self.0.lock().get(model)?.rests_until;
        (until > now).then_some(until)
    }

    /// Returns the suspended models and the ends of their suspensions, sorted by name.
    #[must_use]
    pub fn resting(&self, now: DateTime<Utc>) -> Vec<(ModelName, DateTime<Utc>)> {
        let all = self.0.lock();
        let resting = all.iter().filter(|(_, row)| row.rests_until > now);
        let mut resting: Vec<_> = resting.map(|(model, row)| (model.clone(), row.rests_until)).collect();
        resting.sort_by_key(|(model, _)| model.to_string());
        resting
    }

    /// Records a usable answer, which resets the count.
    pub(super) fn fits(&self, model: &ModelName) {
        self.0.lock().remove(model);
    }

    /// Records an unusable answer. Returns the end of the suspension if the model is suspended from now on.
    pub(super) fn misfits(&self, model: &ModelName, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
        let mut all = self.0.lock();
        let row = all.entry(model.clone()).or_insert(Row { count: 0, rests_until: DateTime::UNIX_EPOCH });
        row.count += 1;
        let rests = row.count.checked_sub(IN_A_ROW)?;
        row.rests_until = now + LONGEST.min(FIRST * 2_i32.pow(rests.min(8)));
        Some(row.rests_until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_that_never_fits_is_left_alone_for_longer_and_longer() {
        let (misfits, now) = (Misfits::default(), DateTime::UNIX_EPOCH + TimeDelta::days(9));
        let model: ModelName = "ollama:tiny".parse().unwrap();
        let mut hours = Vec::new();
        for _ in 0..12 {
            hours.push(misfits.misfits(&model, now).map(|until| (until - now).num_hours()));
        }
        let wanted = [1, 2, 4, 8, 16, 24, 24, 24].map(Some);
        assert_eq!((&hours[..4], &hours[4..]), (&[None; 4][..], &wanted[..]));
        assert_eq!(misfits.rests(&model, now), Some(now + LONGEST));
        assert_eq!(misfits.rests(&model, now + LONGEST), None);
        assert_eq!(misfits.resting(now), [(model.clone(), now + LONGEST)]);
        misfits.fits(&model);
        assert_eq!(misfits.misfits(&model, now), None, "one that fits begins the row anew");
    }
}
