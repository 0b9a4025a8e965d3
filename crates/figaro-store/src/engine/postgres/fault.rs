//! Errors of the database, in words that say what to do.

use std::error::Error as _;

use deadpool_postgres::PoolError;
use tokio_postgres::error::SqlState;

use super::super::error::EngineError;

/// Error of a call.
#[derive(Debug)]
pub(super) enum DatabaseFault {
    /// The database was not reached, or the connection broke during the call: the call may be made again.
    Unreached(String),
    /// The database or this program refuses.
    Refused(EngineError),
}

impl From<tokio_postgres::Error> for DatabaseFault {
    fn from(error: tokio_postgres::Error) -> Self {
        of_error(&error)
    }
}

/// Reads an error of the library.
fn of_error(error: &tokio_postgres::Error) -> DatabaseFault {
    let Some(stated) = error.as_db_error() else {
        let (words, reason) =
            (error.to_string(), error.source().map(ToString::to_string).unwrap_or_default());
        return match () {
            () if error.is_closed() => DatabaseFault::Unreached("the connection was closed".to_owned()),
            () if words.contains("TLS") => DatabaseFault::refused(format!(
                "no encrypted connection ({reason}): give the server a certificate that this machine trusts, or write \
                 sslmode=disable into STORE_URL for a network that nobody else reads"
            )),
            () if words.contains("invalid configuration") || words.contains("authentication") => {
                DatabaseFault::refused(format!("{words}: {reason}"))
            }
            () if reason.is_empty() => DatabaseFault::Unreached(words),
            () => DatabaseFault::Unreached(reason),
        };
    };
    let (code, said) = (stated.code(), stated.message());
    let is_any = |of: &[SqlState]| of.contains(code);
    match code.code() {
        _ if is_any(&[SqlState::INVALID_PASSWORD, SqlState::INVALID_AUTHORIZATION_SPECIFICATION]) => {
            DatabaseFault::refused(format!(
                "it does not let this user in ({said}): mend user and password in STORE_URL"
            ))
        }
        _ if is_any(&[SqlState::INVALID_CATALOG_NAME]) => DatabaseFault::refused(format!(
            "{said}: make it with `createdb`, or name another one in STORE_URL"
        )),
        _ if is_any(&[SqlState::INSUFFICIENT_PRIVILEGE]) => DatabaseFault::refused(format!(
            "its user lacks a right ({said}): make this user the owner of the database"
        )),
        _ if is_any(&[SqlState::READ_ONLY_SQL_TRANSACTION]) => DatabaseFault::refused(format!(
            "it is a replica that only reads ({said}): name the primary in STORE_URL"
        )),
        // A broken connection; a server that starts, stops or has no room; a lost race with another statement.
        class if ["08", "57P", "53", "40"].iter().any(|begin| class.starts_with(begin)) => {
            DatabaseFault::Unreached(said.to_owned())
        }
        class => DatabaseFault::refused(format!("{said} (SQLSTATE {class})")),
    }
}

impl From<EngineError> for DatabaseFault {
    fn from(error: EngineError) -> Self {
        Self::Refused(error)
    }
}

impl From<DatabaseFault> for EngineError {
    fn from(fault: DatabaseFault) -> Self {
        match fault {
            DatabaseFault::Unreached(why) => Self::Failed(format!("it cannot be reached ({why})")),
            DatabaseFault::Refused(error) => error,
        }
    }
}

impl DatabaseFault {
    pub(super) fn refused(words: String) -> Self {
        Self::Refused(EngineError::Failed(words))
    }
}

/// Reads an error of taking a connection.
pub(super) fn of_pool(error: &PoolError) -> DatabaseFault {
    match error {
        PoolError::Backend(error) => of_error(error),
        PoolError::Timeout(_) => DatabaseFault::Unreached("no connection within a few seconds".to_owned()),
        error => DatabaseFault::Unreached(error.to_string()),
    }
}
