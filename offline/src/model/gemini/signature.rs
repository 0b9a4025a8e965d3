//! The signatures of thoughts, and the ids of calls: such that it shows, without remembering them, where they belong.

/// What a signature of ours begins with; all of it is base64.
const MARK: &str = "FigaroSigned";

const OUR_CALL: &str = "offline-call-";

/// Stand in for signatures that another model never made.
const PLACEHOLDERS: [&str; 2] = ["skip_thought_signature_validator", "context_engineering_is_the_way_to_go"];

/// The signature of a call of this function, or of words, which have no name.
pub(super) fn of(name: &str, number: u64) -> String {
    format!("{MARK}{:016x}{:08}", digest(name), number % 100_000_000)
}

pub(super) fn is_of(signature: &str, name: &str) -> bool {
    signature.strip_prefix(MARK).is_some_and(|rest| rest.starts_with(&format!("{:016x}", digest(name))))
}

pub(super) fn is_placeholder(signature: &str) -> bool {
    PLACEHOLDERS.contains(&signature)
}

/// The id of a call; models before the third generation give none.
pub(super) fn call_id(number: u64, at: usize) -> String {
    format!("{OUR_CALL}{number}-{at}")
}

pub(super) fn is_our_call(id: &str) -> bool {
    id.starts_with(OUR_CALL)
}

/// The FNV-1a hash of a name: the same in every process, which the standard hasher is not.
fn digest(name: &str) -> u64 {
    name.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
