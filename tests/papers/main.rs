//! Holds README, docs and the other papers to the product: links and anchors lead somewhere, named settings, paths, commands and
//! options exist, files that are shown parse, command blocks run, and the README stays short.
//!
//! A block of `sh` runs in an empty folder, with `figaro` and `figaro-mcp` on the path and no other machine to be reached. A
//! comment before it, such as `<!-- needs: account -->`, says why it cannot; then its options are looked up in `--help`.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod blocks;
mod mutations;
mod names;
mod paper;
mod run;

use std::collections::BTreeSet;
use std::fmt;

use paper::Paper;

/// Something untrue or broken in a paper.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Fault {
    pub(crate) paper: String,
    pub(crate) line: usize,
    pub(crate) words: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.paper, self.line, self.words)
    }
}

/// Longest README: lines, words, and characters of a line.
const README: (usize, usize, usize) = (130, 1200, 120);

fn told(faults: &[Fault]) -> String {
    faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

/// Marks of a merge that nobody finished.
fn unmerged(paper: &Paper) -> Vec<Fault> {
    let marks = ["<<<<<<< ", ">>>>>>> "];
    let lines =
        paper.text.lines().enumerate().filter(|(_, line)| marks.iter().any(|mark| line.starts_with(mark)));
    let fault =
        |(at, line): (usize, &str)| Fault { paper: paper.path.clone(), line: at + 1, words: line.to_owned() };
    lines.map(fault).collect()
}

/// Returns all that is wrong in the papers without running their blocks.
fn faults(papers: &[Paper]) -> Vec<Fault> {
    let mut faults = Vec::new();
    for paper in papers {
        faults.extend(unmerged(paper));
        faults.extend(names::links(paper, papers));
        faults.extend(names::settings(paper));
        faults.extend(names::paths(paper));
        faults.extend(blocks::files(paper));
        faults.extend(blocks::options(paper));
        faults.extend(names::figures(paper, papers));
    }
    faults.extend(papers.iter().filter(|paper| paper.path == "README.md").flat_map(long));
    faults
}

fn long(readme: &Paper) -> Vec<Fault> {
    let (lines, words, width) = README;
    let fault = |line, words| Fault { paper: readme.path.clone(), line, words };
    let mut faults = Vec::new();
    if readme.text.lines().count() > lines {
        faults.push(fault(
            lines,
            format!("the README has {} lines, over {lines}", readme.text.lines().count()),
        ));
    }
    if readme.text.split_whitespace().count() > words {
        let count = readme.text.split_whitespace().count();
        faults.push(fault(1, format!("the README has {count} words, over {words}")));
    }
    for (at, line) in readme.text.lines().enumerate().filter(|(_, line)| line.chars().count() > width) {
        faults.push(fault(at + 1, format!("{} characters, over {width}", line.chars().count())));
    }
    faults
}

#[test]
fn papers_name_only_things_that_exist() {
    let papers = Paper::all();
    assert!(papers.len() > 8, "{} papers", papers.len());
    let faults = faults(&papers);
    assert!(faults.is_empty(), "{}", told(&faults));
}

#[test]
fn command_blocks_run() {
    let papers = Paper::all();
    let blocks: usize = papers.iter().map(|paper| paper.runnable().count()).sum();
    assert!(blocks > 0, "no paper has a block that runs");
    let faults: Vec<Fault> = papers.iter().flat_map(run::blocks).collect();
    assert!(faults.is_empty(), "{}", told(&faults));
}

#[test]
fn deliberate_mistakes_are_found() {
    mutations::are_found(&Paper::all());
}

/// Names of metrics in a text.
fn metrics(text: &str) -> BTreeSet<&str> {
    let is_part = |c: char| c.is_ascii_lowercase() || c == '_';
    let names =
        text.match_indices("figaro_").map(|(at, _)| text[at..].split(|c| !is_part(c)).next().unwrap_or(""));
    names.map(|name| name.strip_suffix("_bucket").unwrap_or(name)).collect()
}

#[test]
fn the_dashboard_for_grafana_shows_the_metrics_of_the_docs() {
    let [docs, dashboard] =
        ["docs/operations.md", "deploy/grafana.json"].map(|path| std::fs::read_to_string(path).unwrap());
    let rows = docs.lines().filter(|line| line.starts_with("| `figaro_")).collect::<Vec<_>>().join("\n");
    let shown: serde_json::Value = serde_json::from_str(&dashboard).unwrap();
    assert_eq!(shown["title"], "Figaro");
    // Turns of a client are told by its tokens, and turns that are open by those that run.
    let known = metrics(&rows);
    let left: Vec<_> = known.difference(&metrics(&dashboard)).copied().collect();
    assert_eq!(left, ["figaro_http_client_turns_total", "figaro_http_turns_open"]);
    assert!(metrics(&dashboard).is_subset(&known), "{:?}", metrics(&dashboard));
}
