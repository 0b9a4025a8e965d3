//! A proxy in front of the database of the tests, which can be slow, or forward nothing.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpStream, UnixStream};
use tokio::sync::watch;
use tokio::task::AbortHandle;

use super::listener;

/// State of the connections through the proxy.
#[derive(Debug, Clone, Copy, Default)]
struct Line {
    is_cut: bool,
    /// Time added to each round trip.
    delay: Duration,
}

/// A running proxy; it ends when dropped.
pub struct DatabaseProxy {
    port: u16,
    line: watch::Sender<Line>,
    task: AbortHandle,
}

impl DatabaseProxy {
    /// Starts one in front of the socket of a server.
    pub async fn start(socket: PathBuf) -> Self {
        let listener = listener().await;
        let port = listener.local_addr().unwrap().port();
        let (line, state) = watch::channel(Line::default());
        #[expect(clippy::disallowed_methods, reason = "it ends with the test's proxy")]
        let serving = tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                // A connection that breaks is the client's business.
                drop(tokio::spawn(forward(client, socket.clone(), state.clone())));
            }
        });
        Self { port, line, task: serving.abort_handle() }
    }

    /// URL of a database behind the proxy.
    pub fn url(&self, database: &str) -> String {
        format!("postgres://figaro@127.0.0.1:{}/{database}?sslmode=disable", self.port)
    }

    /// Forwards nothing any more, as a network that swallows everything.
    pub fn cut(&self) {
        self.line.send_modify(|line| line.is_cut = true);
    }

    /// Ends the effect of [`Self::cut`]: waiting bytes go on.
    pub fn mend(&self) {
        self.line.send_modify(|line| line.is_cut = false);
    }

    /// Makes each round trip longer by this time.
    pub fn delay(&self, delay: Duration) {
        self.line.send_modify(|line| line.delay = delay);
    }
}

impl Drop for DatabaseProxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn forward(client: TcpStream, socket: PathBuf, mut line: watch::Receiver<Line>) -> io::Result<()> {
    client.set_nodelay(true)?;
    drop(line.wait_for(|line| !line.is_cut).await);
    let (from_server, to_server) = UnixStream::connect(socket).await?.into_split();
    let (from_client, to_client) = client.into_split();
    tokio::try_join!(
        pump(from_client, to_server, line.clone(), true),
        pump(from_server, to_client, line, false)
    )?;
    Ok(())
}

async fn pump(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    mut line: watch::Receiver<Line>,
    is_slow: bool,
) -> io::Result<()> {
    let mut piece = vec![0; 16 * 1024];
    loop {
        let read = from.read(&mut piece).await?;
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        drop(line.wait_for(|line| !line.is_cut).await);
        let delay = line.borrow().delay;
        if is_slow && !delay.is_zero() {
            tokio::time::sleep(delay).await;
        }
        to.write_all(&piece[..read]).await?;
    }
}
