//! Errors that end the program.

/// Reason why the bot did not start, in words for its owner. The process exits with code 2; nothing is left running.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct StartupError(pub String);

/// Failure that ends the program.
#[derive(Debug, thiserror::Error)]
pub enum AppFailure {
    /// The bot did not start; the owner has to fix something first. The process exits with code 2.
    #[error(transparent)]
    Refused(#[from] StartupError),
    /// The store failed at run time, and the bot could not start again. The process exits with code 1, so that a supervisor
    /// restarts it.
    #[error("the store had failed, and a new start did too: {0}")]
    Broken(String),
    /// A question has no answer. The process exits with code 1.
    #[error("{0}")]
    Unanswered(String),
    /// The answer to a question is cut. The process exits with code 3.
    #[error("{0}")]
    Cut(String),
    /// A verification failed. The process exits with code 1.
    #[error("{0}")]
    Unsound(String),
}
