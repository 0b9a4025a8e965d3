//! Helpers for the setup of the demo.

use std::collections::HashMap;
use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

use tokio::net::TcpListener;

use crate::app::failure::StartupError;
use figaro_base::secret::{ExposeSecret, SecretString, random_hex};
use figaro_base::system::in_words;
use figaro_offline::telegram::MINI_APP_KEY;

/// Length of the key of a page that other machines reach, in random bytes.
const KEY_BYTES: usize = 16;

/// Where the demo listens: the Bot API always on loopback, and the page there too or, with a key, on an address of its own.
pub(super) struct DemoPlace {
    pub(super) telegram: TcpListener,
    pub(super) public: Option<PublicPage>,
}

/// The page for browsers of other machines.
pub(super) struct PublicPage {
    pub(super) listener: TcpListener,
    pub(super) key: SecretString,
}

/// Listens for the page on `port` of `address`; 0 picks a free one. A page that other machines reach gets a new key.
pub(super) async fn listen(address: IpAddr, port: u16) -> Result<DemoPlace, StartupError> {
    let listener = bind(address, port).await?;
    if address.is_loopback() {
        return Ok(DemoPlace { telegram: listener, public: None });
    }
    let key = random_hex(KEY_BYTES)
        .map_err(|error| StartupError(format!("the system gives no random numbers ({error})")))?;
    let telegram = free_listener().await?;
    Ok(DemoPlace { telegram, public: Some(PublicPage { listener, key }) })
}

/// Listens on a free port of 127.0.0.1.
pub(super) async fn free_listener() -> Result<TcpListener, StartupError> {
    bind(IpAddr::V4(Ipv4Addr::LOCALHOST), 0).await
}

async fn bind(address: IpAddr, port: u16) -> Result<TcpListener, StartupError> {
    TcpListener::bind((address, port)).await.map_err(|error| {
        let place = SocketAddr::new(address, port);
        let option =
            if error.kind() == ErrorKind::AddrInUse { "--port chooses" } else { "--bind and --port choose" };
        StartupError(format!("{place} cannot be used ({}); {option} another", in_words(&error)))
    })
}

/// Sets the variables of the offline Telegram at an address.
pub(super) fn set_telegram(
    values: &mut HashMap<String, String>,
    token: &str,
    address: SocketAddr,
    is_public: bool,
) {
    set(values, "TELEGRAM_BOT_TOKEN", token);
    set(values, "TELEGRAM_API_URL", &format!("http://{address}"));
    // The page shows Mini Apps on this machine alone: their cookies need a frame of its own host.
    if !is_public && address.is_ipv4() {
        set(values, "TELEGRAM_PUBLIC_KEY", MINI_APP_KEY);
    }
}

impl PublicPage {
    /// Returns the lines that tell how to reach the page.
    pub(super) fn lines(&self) -> std::io::Result<Vec<String>> {
        let place = self.listener.local_addr()?;
        let named = if place.ip().is_unspecified() { own_address(place.ip()) } else { Some(place.ip()) };
        let host = named.map_or_else(
            || format!("ADDRESS-OF-THIS-MACHINE:{}", place.port()),
            |ip| SocketAddr::new(ip, place.port()).to_string(),
        );
        let key = self.key.expose_secret();
        let mut lines =
            vec![format!("Figaro's demo: open http://{host}/?key={key} in a browser. Ctrl-C ends it.")];
        if place.ip().is_unspecified() {
            lines.push("It listens on all addresses of this machine: another one, or its name, works in the link too.".to_owned());
        }
        let port = place.port();
        lines.push(format!(
            "Everybody with this link acts as the owner: with the key of your model and the MCP servers of this folder, if you set \
             them. HTTP is not encrypted. Safer: `figaro demo --port {port}` here, \
             and `ssh -L {port}:127.0.0.1:{port} SERVER` where the browser is."
        ));
        Ok(lines)
    }
}

/// Returns the address of this machine from which it reaches others; `None` if it reaches none. Nothing is sent.
fn own_address(unspecified: IpAddr) -> Option<IpAddr> {
    // Addresses for documentation: RFC 5737 and RFC 3849.
    let far: IpAddr = match unspecified {
        IpAddr::V4(_) => Ipv4Addr::new(192, 0, 2, 1).into(),
        IpAddr::V6(_) => Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1).into(),
    };
    let socket = UdpSocket::bind((unspecified, 0)).ok()?;
    socket.connect((far, 9)).ok()?;
    socket.local_addr().ok().map(|address| address.ip()).filter(|ip| !ip.is_unspecified())
}

/// Sets a variable and replaces any earlier value.
pub(super) fn set(variables: &mut HashMap<String, String>, name: &str, value: &str) {
    variables.insert(name.to_owned(), value.to_owned());
}
