use std::net::{IpAddr, Ipv4Addr};
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use super::*;
use figaro_config::PrivateHost;

/// Counts the connections to a port of this machine, on all of its addresses.
struct Trap {
    port: u16,
    connections: Arc<AtomicUsize>,
}

impl Trap {
    async fn set() -> Self {
        let connections = Arc::new(AtomicUsize::new(0));
        let listener = TcpListener::bind("[::]:0").await.unwrap();
        let (port, count) = (listener.local_addr().unwrap().port(), connections.clone());
        #[expect(clippy::disallowed_methods, reason = "it ends with the runtime of the test")]
        tokio::spawn(async move {
            while let Ok((mut client, _)) = listener.accept().await {
                count.fetch_add(1, Ordering::SeqCst);
                drop(client.read(&mut [0; 2048]).await);
                client.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\nx").await.ok();
            }
        });
        Self { port, connections }
    }

    fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

fn client(private: &[&str], lookup: impl Fn(String) -> Vec<IpAddr> + Send + Sync + 'static) -> PageClient {
    drop(rustls::crypto::ring::default_provider().install_default());
    let private = private.iter().map(|word| PrivateHost::read(word).unwrap()).collect();
    let lookup: Lookup = Arc::new(move |host| {
        let found = lookup(host).into_iter().map(|ip| SocketAddr::new(ip, 0)).collect();
        Box::pin(async move { Ok(found) })
    });
    PageClient { lookup, ..PageClient::new(PageSettings { is_on: true, private }) }
}

/// Addresses and tricks that lead into private networks; `PORT` is where the test listens.
const PRIVATE: [&str; 63] = [
    "http://127.0.0.1:PORT/",
    "http://127.1:PORT/",
    "http://127.0.1:PORT/",
    "http://2130706433:PORT/",
    "http://0x7f000001:PORT/",
    "http://0x7f.0.0.1:PORT/",
    "http://0177.0.0.1:PORT/",
    "http://017700000001:PORT/",
    "http://127.0.0.1.:PORT/",
    "http://127.255.255.254:PORT/",
    "http://0.0.0.0:PORT/",
    "http://0:PORT/",
    "http://0.1.2.3:PORT/",
    "http://[::1]:PORT/",
    "http://[::]:PORT/",
    "http://[0:0:0:0:0:0:0:1]:PORT/",
    "http://[::ffff:127.0.0.1]:PORT/",
    "http://[::ffff:7f00:1]:PORT/",
    "http://[::127.0.0.1]:PORT/",
    "http://[64:ff9b::7f00:1]:PORT/",
    "http://[64:ff9b:1::7f00:1]:PORT/",
    "http://[2002:7f00:1::]:PORT/",
    "http://[2001:0:7f00:1::]:PORT/",
    "http://[fe80::1]:PORT/",
    "http://[fc00::1]:PORT/",
    "http://[fd12:3456::1]:PORT/",
    "http://[ff02::1]:PORT/",
    "http://[2001:db8::1]:PORT/",
    "http://[100::1]:PORT/",
    "http://localhost:PORT/",
    "http://LOCALHOST:PORT/",
    "http://localhost.:PORT/",
    "http://a.localhost:PORT/",
    "http://router.local:PORT/",
    "http://metadata.google.internal:PORT/",
    "http://nas.lan:PORT/",
    "http://printer.home.arpa:PORT/",
    "http://intranet:PORT/",
    "http://10.0.0.1:PORT/",
    "http://10.255.255.255:PORT/",
    "http://172.16.0.1:PORT/",
    "http://172.31.255.255:PORT/",
    "http://192.168.0.1:PORT/",
    "http://192.168.255.255:PORT/",
    "http://169.254.169.254/latest/meta-data/",
    "http://169.254.169.254.:80/",
    "http://[fd00:ec2::254]/latest/meta-data/",
    "http://[::ffff:169.254.169.254]/",
    "http://100.64.0.1:PORT/",
    "http://100.100.100.200/latest/meta-data/",
    "http://192.0.0.192/opc/v2/",
    "http://198.18.0.1:PORT/",
    "http://168.63.129.16/machine?comp=goalstate",
    "http://224.0.0.1:PORT/",
    "http://255.255.255.255:PORT/",
    "http://user@127.0.0.1:PORT/",
    "http://example.org@127.0.0.1:PORT/",
    "http://example.org:80@127.0.0.1:PORT/",
    "http://①②⑦.⓪.⓪.①:PORT/",
    "http://127。0。0。1:PORT/",
    "http:\\\\127.0.0.1:PORT/",
    "ftp://127.0.0.1:PORT/",
    "file:///etc/passwd",
];

/// IP addresses that a name server could give for a public name.
const PRIVATE_IPS: [&str; 18] = [
    "127.0.0.1",
    "127.8.8.8",
    "0.0.0.0",
    "10.1.2.3",
    "172.20.0.1",
    "192.168.1.1",
    "169.254.169.254",
    "100.127.0.1",
    "192.0.0.8",
    "198.19.255.255",
    "240.0.0.1",
    "::1",
    "::",
    "::ffff:127.0.0.1",
    "fe80::1",
    "fd00::1",
    "64:ff9b::a00:1",
    "2002:a00:1::1",
];

#[tokio::test]
async fn no_private_address_is_connected_to() {
    let trap = Trap::set().await;
    let pages = client(&[], |_| vec![IpAddr::V4(Ipv4Addr::LOCALHOST)]);
    for address in PRIVATE {
        let address = address.replace("PORT", &trap.port.to_string());
        let opened = pages.open(&address).await.map(|page| page.url);
        assert!(matches!(opened, Err(PageError::Private | PageError::NoAddress)), "{address}: {opened:?}");
    }
    assert_eq!(trap.connections(), 0);
}

#[tokio::test]
async fn no_name_leads_to_a_private_address() {
    let trap = Trap::set().await;
    for ip in PRIVATE_IPS {
        let ip: IpAddr = ip.parse().unwrap();
        let pages = client(&[], move |_| vec![ip, IpAddr::V4(Ipv4Addr::LOCALHOST)]);
        let opened =
            pages.open(&format!("http://rebinding.example:{}/", trap.port)).await.map(|page| page.url);
        assert_eq!(opened, Err(PageError::Private), "{ip}");
    }
    assert_eq!(trap.connections(), 0);
}

/// The name is looked up once for each connection, and the connection goes to what was checked.
#[tokio::test]
async fn a_name_whose_address_changes_is_checked_at_each_connection() {
    let trap = Trap::set().await;
    let site = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let home = site.local_addr().unwrap();
    let target = format!("http://rebinding.example:{}/", trap.port);
    let to = target.clone();
    #[expect(clippy::disallowed_methods, reason = "it ends with the runtime of the test")]
    tokio::spawn(async move {
        while let Ok((mut client, _)) = site.accept().await {
            let mut head = [0; 2048];
            drop(client.read(&mut head).await);
            let answer = format!("HTTP/1.1 302 X\r\nlocation: {to}\r\ncontent-length: 0\r\n\r\n");
            client.write_all(answer.as_bytes()).await.ok();
        }
    });
    let lookups = Arc::new(AtomicUsize::new(0));
    let count = lookups.clone();
    let pages = client(&[&home.to_string()], move |_| {
        count.fetch_add(1, Ordering::SeqCst);
        vec![IpAddr::V4(Ipv4Addr::LOCALHOST)]
    });
    let opened = pages.open(&format!("http://{home}/")).await.map(|page| page.url);
    assert_eq!(opened, Err(PageError::Private), "by a redirect");
    assert_eq!((trap.connections(), lookups.load(Ordering::SeqCst)), (0, 1));
    let again = pages.open(&target).await.map(|page| page.url);
    assert_eq!((again, lookups.load(Ordering::SeqCst)), (Err(PageError::Private), 2));
}

#[tokio::test]
async fn an_allowed_name_of_the_own_network_is_read() {
    let trap = Trap::set().await;
    let host = format!("wiki.lan:{}", trap.port);
    let pages = client(&[&host], |_| vec![IpAddr::V4(Ipv4Addr::LOCALHOST)]);
    let page = pages.open(&format!("http://{host}/start")).await.unwrap();
    assert_eq!((page.url.path(), trap.connections()), ("/start", 1));
    let other = pages.open(&format!("http://nas.lan:{}/", trap.port)).await.map(|page| page.url);
    assert_eq!((other, trap.connections()), (Err(PageError::Private), 1));
}

/// A name that looks public may lead into the own network, by its own name server. Only the port of the settings is open.
#[tokio::test]
async fn of_an_allowed_host_no_other_port_is_open() {
    let (trap, other) = (Trap::set().await, Trap::set().await);
    let host = format!("wiki.example.org:{}", trap.port);
    let pages = client(&[&host], |_| vec![IpAddr::V4(Ipv4Addr::LOCALHOST)]);
    assert!(pages.open(&format!("http://{host}/")).await.is_ok());
    let opened = pages.open(&format!("http://wiki.example.org:{}/", other.port)).await.map(|page| page.url);
    assert_eq!((opened, other.connections()), (Err(PageError::Private), 0));
}

#[test]
fn the_kind_of_a_content_is_what_the_server_states() {
    let kind_of = |kind: &str, url: &str| {
        super::kind(kind, &Url::parse(url).unwrap()).map(|kind| (kind.name, kind.charset, kind.is_file))
    };
    let cases = [
        ("text/html; charset=\"windows-1251\"", "https://a.example/x", ("page.html", "windows-1251", false)),
        ("TEXT/HTML;charset=utf-8", "https://a.example/x.pdf", ("page.html", "utf-8", false)),
        ("application/pdf", "https://a.example/lease.pdf?x=1", ("lease.pdf", "", true)),
        ("application/pdf", "https://a.example/", ("file.pdf", "", true)),
        ("application/ld+json", "https://a.example/", ("page.txt", "", false)),
        ("", "https://a.example/sheet.xlsx", ("sheet.xlsx", "", true)),
        ("application/octet-stream", "https://a.example/", ("file", "", true)),
    ];
    for (kind, url, (name, charset, is_file)) in cases {
        assert_eq!(kind_of(kind, url), Ok((name.to_owned(), charset.to_owned(), is_file)), "{kind} {url}");
    }
    assert_eq!(
        kind_of("image/png", "https://a.example/x.png"),
        Err(PageError::NoText("image/png".to_owned()))
    );
}
