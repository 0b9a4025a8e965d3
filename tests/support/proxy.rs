//! A small forward proxy: HTTP in absolute form, CONNECT and SOCKS5. It alone knows the names of `.test`, which all mean
//! this machine, and it records what it is asked for.

use std::io;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::TcpStream;
use tokio::task::AbortHandle;

use super::listener;

/// A running proxy; it ends when dropped.
pub struct ForwardProxy {
    /// Such as `127.0.0.1:4711`.
    pub address: String,
    heads: Arc<Mutex<Vec<String>>>,
    task: AbortHandle,
}

impl ForwardProxy {
    pub async fn start() -> Self {
        let listener = listener().await;
        let address = listener.local_addr().unwrap().to_string();
        let heads = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&heads);
        #[expect(clippy::disallowed_methods, reason = "it ends with the test's proxy")]
        let serving = tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                // A connection that breaks is the client's business.
                drop(tokio::spawn(forward(client, Arc::clone(&kept))));
            }
        });
        Self { address, heads, task: serving.abort_handle() }
    }

    /// What each connection began with: the head of a request, or `SOCKS5 host:port`.
    pub fn heads(&self) -> Vec<String> {
        self.heads.lock().unwrap().clone()
    }
}

impl Drop for ForwardProxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn forward(mut client: TcpStream, heads: Arc<Mutex<Vec<String>>>) -> io::Result<()> {
    let mut first = [0];
    client.read_exact(&mut first).await?;
    if first == [5] {
        let target = socks(&mut client).await?;
        heads.lock().unwrap().push(format!("SOCKS5 {target}"));
        client.write_all(&[5, 0, 0, 1, 127, 0, 0, 1, 0, 0]).await?;
        return join(client, &target, &[]).await;
    }
    let mut head = first.to_vec();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(client.read_u8().await?);
    }
    let text = String::from_utf8_lossy(&head).into_owned();
    heads.lock().unwrap().push(text.clone());
    let asked = text.split(' ').nth(1).unwrap_or_default();
    if text.starts_with("CONNECT ") {
        client.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await?;
        return join(client, asked, &[]).await;
    }
    let target = asked.strip_prefix("http://").and_then(|rest| rest.split('/').next()).unwrap_or_default();
    join(client, target, &head).await
}

/// The greeting and the request of SOCKS5, without a password; gives the target.
async fn socks(client: &mut TcpStream) -> io::Result<String> {
    let methods = usize::from(client.read_u8().await?);
    client.read_exact(&mut vec![0; methods]).await?;
    client.write_all(&[5, 0]).await?;
    let mut request = [0; 4];
    client.read_exact(&mut request).await?;
    assert_eq!((request[1], request[3]), (1, 3), "a connection to a name");
    let mut name = vec![0; usize::from(client.read_u8().await?)];
    client.read_exact(&mut name).await?;
    Ok(format!("{}:{}", String::from_utf8_lossy(&name), client.read_u16().await?))
}

async fn join(mut client: TcpStream, target: &str, sent: &[u8]) -> io::Result<()> {
    let Some((name, port)) = target.rsplit_once(':').filter(|(name, _)| name.ends_with(".test")) else {
        return Ok(());
    };
    assert!(!name.is_empty());
    let mut server = TcpStream::connect(("127.0.0.1", port.parse().unwrap_or(0))).await?;
    server.write_all(sent).await?;
    copy_bidirectional(&mut client, &mut server).await.map(drop)
}
