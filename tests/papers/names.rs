//! Names in the papers: links, settings, paths, figures.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};
use std::sync::LazyLock;

use crate::Fault;
use crate::paper::Paper;

/// Variables that are none of ours: of the system, of the MCP server's processes, of builds and examples.
const OTHERS: &[&str] = &[
    "ALL_PROXY",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "NO_PROXY",
    "FIGARO_MCP_KEY",
    "FIGARO_MCP_RESTARTED",
    "FIGARO_BASE_URL",
    "FIGARO_BIN",
    "CARGO_TARGET_DIR",
    "CARGO_INCREMENTAL",
    "FIGARO_TEST_STORE",
    "UPDATE_DOCS",
    "OLLAMA_HOST",
];

static SETTINGS: LazyLock<BTreeSet<String>> = LazyLock::new(|| {
    // Another test holds this file to the code.
    let example = std::fs::read_to_string(".env.example").unwrap();
    let lines = example.lines().map(|line| line.trim_start_matches("# "));
    let names = lines.filter_map(|line| line.split_once('=')).map(|(name, _)| name.to_owned());
    let names: BTreeSet<String> = names.filter(|name| !name.contains(' ')).collect();
    assert!(names.len() > 50, "{} settings", names.len());
    names
});

/// Returns `true` for the name of a setting.
pub(crate) fn is_setting(name: &str) -> bool {
    SETTINGS.contains(name)
}

/// Finds links whose file or anchor is not there.
pub(crate) fn links(paper: &Paper, papers: &[Paper]) -> Vec<Fault> {
    let mut faults = Vec::new();
    for (line, target) in &paper.links {
        if target.contains("://") || target.starts_with("mailto:") {
            continue;
        }
        let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
        let path =
            if file.is_empty() { PathBuf::from(&paper.path) } else { plain(&paper.folder().join(file)) };
        let mut fault = |words: String| faults.push(Fault { paper: paper.path.clone(), line: *line, words });
        if !path.exists() {
            fault(format!("the link to {target} leads nowhere"));
        } else if !anchor.is_empty() {
            let other = papers.iter().find(|other| Path::new(&other.path) == path);
            if other.is_none_or(|other| !other.anchors.contains(anchor)) {
                fault(format!("the link to {target} has no such anchor"));
            }
        }
    }
    faults
}

/// Resolves `..` in a path within the repository.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            Component::CurDir => {}
            part => plain.push(part),
        }
    }
    plain
}

/// Finds names between backticks that look like settings and are none.
pub(crate) fn settings(paper: &Paper) -> Vec<Fault> {
    let looks = |name: &str| {
        name.contains('_')
            && name.len() > 4
            && name.starts_with(|c: char| c.is_ascii_uppercase())
            && name.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_')
    };
    let unknown = paper.codes.iter().flat_map(|(line, code)| {
        let names = code.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
        names.filter(|name| looks(name)).map(|name| (*line, name.to_owned())).collect::<Vec<_>>()
    });
    let unknown = unknown.filter(|(_, name)| !is_known(name));
    unknown.map(|(line, name)| fault(paper, line, format!("{name} is no setting"))).collect()
}

fn is_known(name: &str) -> bool {
    is_setting(name) || OTHERS.contains(&name)
}

/// Finds paths between backticks that are not in the repository.
pub(crate) fn paths(paper: &Paper) -> Vec<Fault> {
    let roots =
        ["crates/", "src/", "tests/", "benches/", "mcp-server/", "offline/", "deploy/", "docs/", ".ci/"];
    let mut faults = Vec::new();
    for (line, code) in &paper.codes {
        let path = code.trim_end_matches('/');
        let is_path = roots.iter().any(|root| code.starts_with(root))
            && !path.contains(|c: char| c.is_whitespace() || "*<>{}…:".contains(c))
            && path.chars().all(|c| !c.is_ascii_uppercase() || path.ends_with(".md"));
        if is_path && !Path::new(path).exists() {
            faults.push(fault(paper, *line, format!("there is no {path}")));
        }
    }
    faults
}

/// Finds figures of time and memory in the README that `docs/benchmarks.md` does not have.
pub(crate) fn figures(paper: &Paper, papers: &[Paper]) -> Vec<Fault> {
    if paper.path != "README.md" {
        return Vec::new();
    }
    let Some(measured) = papers.iter().find(|paper| paper.path == "docs/benchmarks.md") else {
        return Vec::new();
    };
    let mut faults = Vec::new();
    for (at, line) in paper.text.lines().enumerate() {
        let words: Vec<&str> = line.split_whitespace().collect();
        for pair in words.windows(2) {
            let number = pair[0].trim_start_matches(['(', '*', '|', '~', '<']);
            let unit = pair[1].trim_end_matches(|c: char| !c.is_alphanumeric());
            let is_figure =
                number.starts_with(|c: char| c.is_ascii_digit()) && ["MB", "ms", "µs"].contains(&unit);
            if is_figure
                && !measured.text.contains(&format!("{number} {unit}"))
                && !measured.text.contains(number)
            {
                faults.push(fault(paper, at + 1, format!("docs/benchmarks.md has no {number} {unit}")));
            }
        }
    }
    faults
}

fn fault(paper: &Paper, line: usize, words: String) -> Fault {
    Fault { paper: paper.path.clone(), line, words }
}
