//! Helpers for the setup of the demo.

use std::collections::HashMap;

use tokio::net::TcpListener;

use crate::app::failure::StartupError;
use figaro_base::system::in_words;

/// Listens on a port of 127.0.0.1; 0 picks a free one.
pub(super) async fn listen(port: u16) -> Result<TcpListener, StartupError> {
    let bound = TcpListener::bind(("127.0.0.1", port)).await;
    bound.map_err(|error| {
        StartupError(format!(
            "port {port} of this machine cannot be used ({}); --port chooses",
            in_words(&error)
        ))
    })
}

/// Sets a variable and replaces any earlier value.
pub(super) fn set(variables: &mut HashMap<String, String>, name: &str, value: &str) {
    variables.insert(name.to_owned(), value.to_owned());
}
