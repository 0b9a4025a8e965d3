//! Names of processes, which tell if one that holds a lease has died: then the lease need not run out.

use std::fs;

/// Returns the name of this process: the run of the machine's system, the space of process ids, the id, and the time when the
/// process began. `None` where the system does not tell.
pub(super) fn name() -> Option<String> {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let space = fs::read_link("/proc/self/ns/pid").ok()?;
    let id = std::process::id();
    Some(format!("{} {} {id} {}", boot.trim(), space.display(), began(id)?))
}

/// Returns the name of this machine.
pub(super) fn machine() -> String {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    if name.trim().is_empty() { "a machine without a name".to_owned() } else { name.trim().to_owned() }
}

/// Returns `true` if the process with this name has ended for certain: it ran on this system, among these ids.
pub(super) fn has_ended(owner: &str) -> bool {
    let Some(own) = name() else { return false };
    let (own, parts): (Vec<&str>, Vec<&str>) = (own.split(' ').collect(), owner.split(' ').collect());
    // A number may follow, of a process that joined the others several times.
    let [boot, space, id, beginning, ..] = parts[..] else { return false };
    let is_here = own.starts_with(&[boot, space]);
    // Where processes of other accounts are hidden, one that is not seen may live.
    let sees_all = fs::read_to_string("/proc/1/stat").is_ok();
    is_here && sees_all && id.parse().is_ok_and(|id| began(id).is_none_or(|began| began != beginning))
}

/// Returns the time when a process began, in ticks since the start of the system; `None` if it has ended. See
/// proc_pid_stat(5): field 22, after the name in brackets.
fn began(process: u32) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let (_, after_name) = stat.rsplit_once(')')?;
    let fields: Vec<&str> = after_name.split_whitespace().collect();
    // A process that has ended but was not collected yet.
    let has_ended = matches!(fields.first(), Some(&"Z" | &"X"));
    fields.get(19).filter(|_| !has_ended).map(|began| (*began).to_owned())
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn a_process_has_ended_only_if_that_is_certain() {
        let own = name().unwrap();
        assert!(!has_ended(&own), "{own}");
        let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
        let id = std::process::id().to_string();
        let beginning = began(child.id()).unwrap();
        let of_child = own.replace(
            &format!(" {id} {}", began(std::process::id()).unwrap()),
            &format!(" {} {beginning}", child.id()),
        );
        assert!(!has_ended(&of_child), "{of_child}");
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(has_ended(&of_child), "{of_child}");
        let elsewhere = format!("another{of_child}");
        for unknown in [elsewhere.as_str(), "", "process 7", "a b c d"] {
            assert!(!has_ended(unknown), "{unknown}");
        }
    }
}
