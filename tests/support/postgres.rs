//! A real PostgreSQL on a socket in a temporary folder, one for all tests of a process. It ends with the process, however that
//! ends.

use std::collections::HashMap;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{LazyLock, Mutex, mpsc};
use std::time::{Duration, Instant};
use std::{fs, thread};

use figaro_config::StoreUrl;
use tempfile::TempDir;

/// Folder with the server's programs, of the newest version; `None` if it is not installed.
fn programs() -> Option<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql").ok()?;
    let number = |path: &Path| path.file_name()?.to_str()?.parse::<u32>().ok();
    let newest = versions.filter_map(|entry| Some(entry.ok()?.path())).max_by_key(|path| number(path))?;
    Some(newest.join("bin")).filter(|bin| bin.join("initdb").is_file())
}

/// A server with an owner of databases named `figaro`.
pub struct PostgresServer {
    folder: PathBuf,
    made: AtomicU32,
    /// Databases that stand in for folders.
    of_folders: Mutex<HashMap<PathBuf, String>>,
}

/// Runs the server until this process ends, and removes the folder then. A server that ends by itself is started again as soon
/// as no file `down` keeps it away.
const UNTIL_TOLD: &str = r#"folder=$0; trap 'is_told=1; kill -QUIT $server' TERM
while [ -z "$is_told" ]; do
  "$@" & server=$!
  [ -z "$is_told" ] || kill -QUIT $server
  wait $server; wait $server; sleep 0.05
  while [ -e "$folder/down" ] && [ -z "$is_told" ]; do sleep 0.05; done
done
cd /; rm -rf "$folder""#;

/// End of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerEnd {
    /// Connections are ended, and everything is written.
    Orderly,
    /// Nothing is written any more, as after a crash.
    Crash,
}

static SERVER: LazyLock<Option<PostgresServer>> = LazyLock::new(|| PostgresServer::start("off"));

impl PostgresServer {
    /// Returns the server of this process; `None`, said once, where PostgreSQL is not installed.
    pub fn get() -> Option<&'static Self> {
        SERVER.as_ref()
    }

    /// Starts a server; `fsync` as its setting takes it. One whose data survives a power loss is slower than tests need.
    pub fn start(fsync: &str) -> Option<Self> {
        let Some(bin) = programs() else {
            eprintln!("skipped: PostgreSQL is not installed (Debian: postgresql)");
            return None;
        };
        let (folder, is_root) = (own_folder(), rustix::process::getuid().is_root());
        let status = as_nobody(&bin.join("initdb"), is_root)
            .args(["--username=figaro", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync", "-D"])
            .arg(folder.join("data"))
            .stdout(Stdio::null())
            .current_dir(&folder)
            .status();
        assert!(status.unwrap().success(), "initdb failed");
        Some(Self::run(&bin, folder, fsync))
    }

    /// Starts a server that follows this one: a commit here waits for it.
    pub fn replica(&self) -> Self {
        let (bin, folder) = (programs().unwrap(), own_folder());
        let status = as_nobody(&bin.join("pg_basebackup"), rustix::process::getuid().is_root())
            .args(["--username=figaro", "--no-sync", "--checkpoint=fast", "--write-recovery-conf", "-h"])
            .arg(&self.folder)
            .arg("-D")
            .arg(folder.join("data"))
            .current_dir(&folder)
            .status();
        assert!(status.unwrap().success(), "pg_basebackup failed");
        let replica = Self::run(&bin, folder, "off");
        for sql in ["ALTER SYSTEM SET synchronous_standby_names = '*'", "SELECT pg_reload_conf()"] {
            assert!(self.psql("postgres", sql), "{sql}");
        }
        replica
    }

    /// Makes a replica the primary.
    pub fn promote(&self) {
        assert!(self.psql("postgres", "SELECT pg_promote()"));
    }

    /// Runs the server with the data in a folder.
    fn run(bin: &Path, folder: PathBuf, fsync: &str) -> Self {
        let (program, socket, fsync) = (bin.join("postgres"), folder.clone(), format!("fsync={fsync}"));
        let (started, is_started) = mpsc::channel();
        // The server ends with the thread that started it, and the thread with the process.
        thread::spawn(move || {
            let mut command = as_nobody(Path::new("sh"), rustix::process::getuid().is_root());
            command.args(["-c", UNTIL_TOLD]).arg(&socket).arg(&program).arg("-D").arg(socket.join("data"));
            command.arg("-k").arg(&socket);
            command.args(["-c", "listen_addresses=", "-c", "max_connections=200", "-c", &fsync]);
            let log = fs::File::create(socket.join("log")).unwrap();
            let mut server = command.stdout(Stdio::null()).stderr(log).current_dir(&socket).spawn().unwrap();
            started.send(()).unwrap();
            let _ended = server.wait();
        });
        is_started.recv().unwrap();
        let server = Self { folder, made: AtomicU32::new(0), of_folders: Mutex::default() };
        server.wait_until_up();
        server
    }

    fn wait_until_up(&self) {
        let until = Instant::now() + Duration::from_secs(30);
        while !self.psql("postgres", "SELECT 1") {
            assert!(Instant::now() < until, "PostgreSQL did not start");
            thread::sleep(Duration::from_millis(50));
        }
    }

    /// Ends the server until [`Self::come_back`].
    pub fn go_away(&self, end: ServerEnd) {
        fs::write(self.folder.join("down"), "").unwrap();
        let state = fs::read_to_string(self.folder.join("data/postmaster.pid")).unwrap();
        let signal = if end == ServerEnd::Crash { "-QUIT" } else { "-INT" };
        let status = Command::new("kill").args([signal, state.lines().next().unwrap()]).status();
        assert!(status.unwrap().success(), "{signal}");
        let until = Instant::now() + Duration::from_secs(30);
        while self.psql("postgres", "SELECT 1") {
            assert!(Instant::now() < until, "PostgreSQL does not end");
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Starts the server again.
    pub fn come_back(&self) {
        fs::remove_file(self.folder.join("down")).unwrap();
        self.wait_until_up();
    }

    /// Makes a statement in a database; `true` if it was made.
    pub fn psql(&self, database: &str, sql: &str) -> bool {
        let mut psql = Command::new("psql");
        psql.arg("-h").arg(&self.folder).args(["-U", "figaro", "-q", "-X", "-c", sql, database]);
        psql.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
    }

    /// Returns all keys and values of the store that stands in for a folder; bytes that are no text have other forms.
    pub fn dump(&self, folder: &Path) -> Vec<u8> {
        let name = self.of_folders.lock().unwrap().get(folder).unwrap().clone();
        let sql = "SELECT encode(key, 'escape') || ' ' || encode(value, 'escape') FROM figaro.entries";
        let mut psql = Command::new("psql");
        psql.arg("-h").arg(&self.folder).args(["-U", "figaro", "-q", "-X", "-A", "-t", "-c", sql, &name]);
        let output = psql.output().unwrap();
        assert!(output.status.success(), "{output:?}");
        output.stdout
    }

    /// Makes an empty database and returns its name.
    pub fn database(&self) -> String {
        let name = format!("test{}", self.made.fetch_add(1, Ordering::Relaxed));
        assert!(self.psql("postgres", &format!("CREATE DATABASE {name} TEMPLATE template0")), "{name}");
        name
    }

    /// Returns the URL of the store in the database that stands in for a folder.
    pub fn url_for(&self, folder: &Path) -> StoreUrl {
        let mut of_folders = self.of_folders.lock().unwrap();
        let name = of_folders.entry(folder.to_owned()).or_insert_with(|| self.database());
        self.url(name)
    }

    /// Returns the socket of the server.
    pub fn socket(&self) -> PathBuf {
        self.folder.join(".s.PGSQL.5432")
    }

    /// Returns the URL of a store in a database.
    pub fn url(&self, database: &str) -> StoreUrl {
        format!("postgres://figaro@{}/{database}", self.host()).parse().unwrap()
    }

    /// Returns the name of the server's machine as a URL has it: the folder of its socket.
    pub fn host(&self) -> String {
        self.folder.display().to_string().replace('/', "%2F")
    }
}

/// Makes a folder that the account without rights owns.
fn own_folder() -> PathBuf {
    let folder = TempDir::new().unwrap().keep();
    if rustix::process::getuid().is_root() {
        std::os::unix::fs::chown(&folder, Some(NOBODY), None).unwrap();
    }
    folder
}

/// User and group id of an account without rights: the server refuses to run as root.
const NOBODY: u32 = 65534;

/// Makes a program run without rights, and end when its parent does.
fn as_nobody(program: &Path, is_root: bool) -> Command {
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "TERM"]);
    if is_root {
        command.arg(format!("--reuid={NOBODY}")).arg(format!("--regid={NOBODY}")).arg("--clear-groups");
    }
    command.arg(program).process_group(0);
    command
}
