//! Offline Telegram, model and search on loopback, for `figaro demo` and for the tests of the real binaries. Knows the bot
//! only through HTTP.

#[cfg(feature = "testing")]
mod gate;
pub mod model;
mod page;
mod runtime;
pub mod tavily;
pub mod telegram;

use axum::serve::{Listener, ListenerExt};
use tokio::net::TcpListener;

pub use self::page::PAGE;
pub use self::runtime::Runtime;

/// Disables Nagle's algorithm. Otherwise small writes wait 40 ms for the peer's acknowledgement.
fn at_once(listener: TcpListener) -> impl Listener<Addr = std::net::SocketAddr> {
    listener.tap_io(|socket| {
        if let Err(error) = socket.set_nodelay(true) {
            tracing::debug!(%error, "a connection stays slow");
        }
    })
}
