//! Signatures of thoughts and ids of calls. Both can be verified without stored state.

/// Prefix of our signatures, valid base64 like the rest.
const MARK: &str = "FigaroSigned";

const OUR_CALL: &str = "offline-call-";

/// Placeholders for missing signatures of calls by another model.
const PLACEHOLDERS: [&str; 2] = ["skip_thought_signature_validator", "context_engineering_is_the_way_to_go"];

/// Returns the signature for a call of this function, or for text if `name` is empty.
pub(super) fn of(name: &str, number: u64) -> String {
    format!("{MARK}{:016x}{:08}", digest(name), number % 100_000_000)
}

pub(super) fn is_of(signature: &str, name: &str) -> bool {
    signature.strip_prefix(MARK).is_some_and(|rest| rest.starts_with(&format!("{:016x}", digest(name))))
}

pub(super) fn is_placeholder(signature: &str) -> bool {
    PLACEHOLDERS.contains(&signature)
}

/// Returns the id of a call. Models before the third generation have no call ids.
pub(super) fn call_id(number: u64, at: usize) -> String {
    format!("{OUR_CALL}{number}-{at}")
}

pub(super) fn is_our_call(id: &str) -> bool {
    id.starts_with(OUR_CALL)
}

/// Computes the FNV-1a hash of a name. Unlike the standard hasher, it is stable across processes.
fn digest(name: &str) -> u64 {
    name.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
