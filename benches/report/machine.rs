//! What the figures were taken on, for the head of the report.

use std::path::Path;
use std::process::Command;

use super::support::{fsyncs, percentile};

/// A list in Markdown.
pub(crate) fn describe() -> String {
    let cores = std::thread::available_parallelism().unwrap();
    let build = if cfg!(debug_assertions) { "debug" } else { "release" };
    format!(
        "- Commit: {}, {build} build\n- Processor: {}, {cores} cores\n- Kernel: {} {}\n- Disk: a bare fsync takes {}\n- Date: {}",
        commit().unwrap_or_else(|| "unknown".to_owned()),
        processor(),
        std::env::consts::OS,
        std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap().trim(),
        fsync(),
        chrono::Utc::now().format("%Y-%m-%d"),
    )
}

/// The commit that is checked out, and whether the working tree differs from it.
fn commit() -> Option<String> {
    let git = |arguments: &[&str]| {
        let output =
            Command::new("git").current_dir(env!("CARGO_MANIFEST_DIR")).args(arguments).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let commit = git(&["rev-parse", "--short=12", "HEAD"])?;
    let is_changed = !git(&["status", "--porcelain", "--untracked-files=no"])?.is_empty();
    Some(commit + if is_changed { " with changes" } else { "" })
}

fn processor() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap();
    // Not every architecture names its model there.
    let line = text.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    line.map_or_else(|| std::env::consts::ARCH.to_owned(), |(_, name)| name.trim().to_owned())
}

/// In the folder where the bots keep their stores.
fn fsync() -> String {
    let folder = tempfile::tempdir_in(Path::new(env!("CARGO_TARGET_TMPDIR"))).unwrap();
    let mut times = fsyncs(folder.path());
    times.sort();
    let ms = |share| percentile(&times, share).as_secs_f64() * 1000.0;
    format!("{:.2} ms (median; p99 {:.2} ms)", ms(0.5), ms(0.99))
}
