//! `figaro dashboard`: asks the running bot for a link to its dashboard, prints it, and opens it in a browser of this machine.

use std::collections::HashMap;
use std::io::{self, IsTerminal, Write, stdout};
use std::path::PathBuf;

use reqwest::Url;
use tokio::task::spawn_blocking;

use super::failure::StartupError;
use super::socket;
use super::store::url_of;
use super::terminal::{all_said, say};
use figaro_agent::sign_in::TICKET_MINUTES;
use figaro_base::system::in_words;
use figaro_config::StoreUrl;
use figaro_store::engine;

/// Variables that say that whoever runs this sits elsewhere, or is somebody else at the desktop.
const FROM_AFAR: [&str; 3] = ["SSH_CONNECTION", "SSH_TTY", "SUDO_USER"];
/// Variables of which a desktop on Linux has one.
const DESKTOP: [&str; 2] = ["DISPLAY", "WAYLAND_DISPLAY"];

/// Beginning and end of the name of a file that leads to the link.
const PAGE_PREFIX: &str = "figaro-dashboard-";
const PAGE_SUFFIX: &str = ".html";

/// Prints a link that signs the owner in to the dashboard of a running bot, and opens it unless `is_printed_only`. `name` is that
/// of the bot among several; empty for one bot alone.
///
/// # Errors
/// If the bot does not run here, has no dashboard, or has no owner; with a remedy.
pub async fn dashboard(
    name: String,
    store: Option<StoreUrl>,
    is_printed_only: bool,
    variables: &HashMap<String, String>,
) -> Result<(), StartupError> {
    let url = engine::found(&url_of(store, variables)?);
    let StoreUrl::Folder(place) = url else {
        let words = "a bot whose store is a database gives the link in the chat: send it /dashboard";
        return Err(StartupError(words.to_owned()));
    };
    let asking = spawn_blocking(move || socket::ask_for_link(&place.folder, &name));
    let link = asking.await.unwrap_or_else(|error| Err(StartupError(format!("it broke off: {error}"))))?;
    // A socket in a folder of somebody else could say anything.
    let link = Url::parse(&link).ok().filter(|link| ["http", "https"].contains(&link.scheme()));
    let link = link.ok_or_else(|| {
        StartupError("the bot gave no link: is the folder of its store its own?".to_owned())
    })?;
    if is_printed_only {
        say(link.as_str());
        return all_said();
    }
    say(&format!("{link}\nIt signs you in once, within {TICKET_MINUTES} minutes."));
    let is_set = |name: &str| variables.get(name).is_some_and(|value| !value.is_empty());
    if rustix::process::geteuid().is_root() || !stdout().is_terminal() || !has_desktop(is_set) {
        say("Open it in a browser.");
    } else if let Err(error) = open_in_browser(&link, variables.get("XDG_RUNTIME_DIR")) {
        say(&format!("Open it in a browser: none could be asked to here ({}).", in_words(&error)));
    } else {
        say("Your desktop was asked to open it. If nothing opens, open the link in a browser.");
    }
    all_said()
}

/// Returns `true` if these variables are those of somebody at a desktop of this machine.
fn has_desktop(is_set: impl Fn(&str) -> bool) -> bool {
    let is_desktop = cfg!(target_os = "macos") || DESKTOP.iter().any(|name| is_set(name));
    is_desktop && !FROM_AFAR.iter().any(|name| is_set(name))
}

/// Opens the link by a file that only this user can read: everybody on the machine can see the arguments of a program.
/// `runtime_folder` is the value of XDG_RUNTIME_DIR, which the system empties when the user leaves.
fn open_in_browser(link: &Url, runtime_folder: Option<&String>) -> io::Result<()> {
    // The specification has values that are no absolute path ignored.
    let folder = runtime_folder.map(PathBuf::from).filter(|folder| folder.is_absolute());
    let folder = folder.unwrap_or_else(std::env::temp_dir);
    for entry in folder.read_dir()?.flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with(PAGE_PREFIX) && name.ends_with(PAGE_SUFFIX) {
            // That of another user stays.
            drop(std::fs::remove_file(entry.path()));
        }
    }
    let page = format!(
        "<!doctype html><meta http-equiv=\"refresh\" content=\"0;url={link}\"><a href=\"{link}\">{link}</a>\n"
    );
    let mut file = tempfile::Builder::new().prefix(PAGE_PREFIX).suffix(PAGE_SUFFIX).tempfile_in(folder)?;
    file.write_all(page.as_bytes())?;
    let (_, path) = file.keep().map_err(|error| error.error)?;
    open::that_detached(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_browser_opens_for_somebody_at_a_desktop() {
        if cfg!(target_os = "macos") {
            return;
        }
        let cases: [(&[&str], bool); 6] = [
            (&[], false),
            (&["DISPLAY"], true),
            (&["WAYLAND_DISPLAY", "SHELL"], true),
            (&["DISPLAY", "SSH_CONNECTION"], false),
            (&["DISPLAY", "SUDO_USER"], false),
            (&["SSH_TTY"], false),
        ];
        for (set, wanted) in cases {
            assert_eq!(has_desktop(|name| set.contains(&name)), wanted, "{set:?}");
        }
    }
}
