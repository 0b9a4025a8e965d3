//! Why the bot does not run.

/// Why the bot did not start, in words for its owner. The process ends with code 2 and nothing left running.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct StartupError(pub String);

/// Why the bot ended without being told to.
#[derive(Debug, thiserror::Error)]
pub enum AppFailure {
    /// It did not start: something has to be put right first.
    #[error(transparent)]
    Refused(#[from] StartupError),
    /// Its store failed while it ran, and it could not start again. The process ends with code 1, so that a supervisor
    /// starts another.
    #[error("the store had failed, and a new start did too: {0}")]
    Broken(String),
    /// A question has no answer. The process ends with code 1.
    #[error("{0}")]
    Unanswered(String),
    /// The answer to a question is not whole. The process ends with code 3.
    #[error("{0}")]
    Cut(String),
    /// What was looked at is not as it has to be. The process ends with code 1.
    #[error("{0}")]
    Unsound(String),
}
