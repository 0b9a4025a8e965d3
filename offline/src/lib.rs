//! An offline Telegram, an offline model and an offline search on loopback: the world of `figaro demo`, and of the
//! tests, which meet the real binaries in it. Knows nothing of the bot but what goes over HTTP.

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

/// A listener whose connections send at once what is written: else small pieces wait 40 ms for the other side's
/// acknowledgement.
fn at_once(listener: TcpListener) -> impl Listener<Addr = std::net::SocketAddr> {
    listener.tap_io(|socket| {
        if let Err(error) = socket.set_nodelay(true) {
            tracing::debug!(%error, "a connection stays slow");
        }
    })
}
