//! Selection of the calls of a pass: not too many, and no endless repeats.

use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::Value;

use super::Run;
use super::state::PlannedCall;
use figaro_domain::approval::canonical;
use figaro_domain::tool::Call;
use figaro_provider::fold::{MAX_CALLS, Pass};

/// Maximum number of identical calls in a turn. Further ones are refused with an explanation.
const SAME_CALL_LIMIT: u32 = 2;

impl Run {
    /// Plans the calls of a pass. Calls beyond the limit are refused with an explanation.
    pub(super) fn plan_all(&mut self, pass: &Pass) -> Vec<PlannedCall> {
        let made = pass.calls.iter().take(MAX_CALLS).map(|call| self.plan(call)).collect::<Vec<_>>();
        self.refused_once(&pass.calls);
        let all = pass.calls.len() + pass.calls_left_out;
        let refused = pass.calls.iter().skip(MAX_CALLS).map(|call| {
            let refusal = format!(
                "not made: of the {all} calls of this step only the first {MAX_CALLS} are made. Make what is still \
                 needed in the next step, fewer at once"
            );
            PlannedCall { call: call.clone(), refusal: Some(refusal) }
        });
        made.into_iter().chain(refused).collect()
    }

    fn plan(&mut self, call: &Call) -> PlannedCall {
        if let Some(refusal) = self.made_before(call) {
            return PlannedCall { call: call.clone(), refusal: Some(refusal) };
        }
        let made = self.state.made.entry(fingerprint(call)).or_default();
        *made += 1;
        let refusal = (*made > SAME_CALL_LIMIT).then(|| {
            format!("this same call was made {SAME_CALL_LIMIT} times already; use its results, or try something else")
        });
        PlannedCall { call: call.clone(), refusal }
    }
}

/// Returns a hash that is equal for calls that differ only in their JSON formatting. A hash, because arguments may be
/// long and it is stored with every step.
pub(super) fn fingerprint(call: &Call) -> u64 {
    let arguments = serde_json::from_str(&call.arguments)
        .map_or_else(|_| call.arguments.clone(), |value: Value| canonical(&value));
    let mut hasher = DefaultHasher::new();
    (&call.name, arguments).hash(&mut hasher);
    hasher.finish()
}
