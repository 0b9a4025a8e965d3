//! Several bots in one process, as the owner's file names them. Each lives by itself; the file is read again when it changes,
//! and bots start and stop with it.

mod file;
mod fleet;
mod keeper;
mod list;
mod owners;
mod set_up;
mod shares;
#[cfg(test)]
mod simulation;
mod watch;

pub(super) use self::file::told_once;
pub use self::fleet::run_all;
pub use self::list::bots;
pub use self::set_up::{BotsToRun, bots_to_run};
