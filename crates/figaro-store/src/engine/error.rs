//! What an engine says when it cannot do what it was asked.

/// Why an engine failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EngineError {
    /// Another process has it open.
    #[error("it is in use by another process")]
    InUse,
    /// What is there is no store of this engine, or a damaged one. Nothing was changed.
    #[error("{0}")]
    Unreadable(String),
    /// Something else was committed since the view that a batch is based on.
    #[error("something else was written meanwhile")]
    Conflict,
    /// The storage failed; what happened, in the system's words.
    #[error("{0}")]
    Failed(String),
}

/// What an owner does about errors of the system, by how the standard library writes their numbers.
const ADVICE: [(&str, &str); 4] = [
    ("(os error 13)", "give the folder to the account that runs the bot, or name another one in STORE_URL"),
    ("(os error 30)", "it lies on a file system that takes no writes: name another folder in STORE_URL"),
    ("(os error 28)", "the disk is full: make room, or name a folder on another one in STORE_URL"),
    ("(os error 24)", "too many files are open: raise the limit (`ulimit -n`)"),
];

impl EngineError {
    /// There is no store, or a damaged one, for this reason. What the engine or the system says of it goes into the log alone: its
    /// words help nobody who has to put it right.
    pub(crate) fn unreadable(reason: &str, said: &impl ToString) -> Self {
        tracing::debug!(said = said.to_string(), "the storage engine cannot read the store");
        Self::Unreadable(reason.to_owned())
    }

    /// A failure of the storage, with what to do where the system's words say it.
    pub(crate) fn failed(error: &impl ToString) -> Self {
        let said = error.to_string();
        let advice = ADVICE.iter().find(|(code, _)| said.contains(code));
        Self::Failed(advice.map_or(said.clone(), |(_, advice)| format!("{said}: {advice}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_the_system_say_what_to_do() {
        for (code, wanted) in [(13, "STORE_URL"), (28, "make room"), (30, "takes no writes")] {
            let error = EngineError::failed(&std::io::Error::from_raw_os_error(code)).to_string();
            assert!(error.contains(wanted) && error.contains("os error"), "{error}");
        }
        assert_eq!(EngineError::failed(&"it broke").to_string(), "it broke");
    }
}
