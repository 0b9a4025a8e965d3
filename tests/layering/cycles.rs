//! Cycles among files, and among the children of a folder.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::sources::Sources;

/// What uses what, each with a path by which it does.
pub(crate) type Graph = BTreeMap<PathBuf, BTreeMap<PathBuf, String>>;

/// Which file uses items of which.
pub(crate) fn files(sources: &Sources) -> Graph {
    let mut graph = Graph::new();
    for (path, module) in &sources.0 {
        graph.entry(module.file.clone()).or_default().extend(sources.uses(path));
    }
    graph
}

/// Which child of a folder uses which other, by folder. What is in `mod.rs` is the folder's own, and no child.
pub(crate) fn folders(files: &Graph) -> BTreeMap<PathBuf, Graph> {
    let mut folders: BTreeMap<PathBuf, Graph> = BTreeMap::new();
    for (user, uses) in files {
        for (used, why) in uses {
            let common = common(user, used);
            let child = |file: &Path| {
                let rest = file.strip_prefix(&common).ok()?;
                let first = rest.components().next()?;
                (first.as_os_str() != "mod.rs").then(|| common.join(first))
            };
            if let (Some(from), Some(to)) = (child(user), child(used)) {
                let edges = folders.entry(common.clone()).or_default().entry(from).or_default();
                edges.entry(to).or_insert_with(|| why.clone());
            }
        }
    }
    folders
}

/// The folder that holds both files.
fn common(one: &Path, other: &Path) -> PathBuf {
    let parents = |file: &Path| file.parent().map(Path::to_owned).unwrap_or_default();
    let (one, other) = (parents(one), parents(other));
    one.components().zip(other.components()).take_while(|(a, b)| a == b).map(|(a, _)| a).collect()
}

/// Each group of nodes that use each other, in a line for each use within it.
pub(crate) fn of(graph: &Graph) -> Vec<Vec<String>> {
    let graph = without_ends(graph);
    let reach: BTreeMap<&PathBuf, BTreeSet<&PathBuf>> =
        graph.keys().map(|node| (node, reachable(&graph, node))).collect();
    let mut done: BTreeSet<&PathBuf> = BTreeSet::new();
    let mut found = Vec::new();
    for (node, seen) in &reach {
        if !seen.contains(node) || done.contains(node) {
            continue;
        }
        let group: BTreeSet<&PathBuf> =
            seen.iter().copied().filter(|other| reach[other].contains(node)).collect();
        let lines = group.iter().flat_map(|from| {
            let inside = graph[*from].iter().filter(|(to, _)| group.contains(to));
            inside.map(|(to, why)| format!("{} uses {} ({why})", from.display(), to.display()))
        });
        found.push(lines.collect());
        done.extend(group);
    }
    found
}

/// The graph without the nodes from which no way leads back: almost all, so that the rest is quick.
fn without_ends(graph: &Graph) -> Graph {
    let mut left = graph.clone();
    loop {
        let before = left.len();
        let nodes: BTreeSet<PathBuf> = left.keys().cloned().collect();
        left.values_mut().for_each(|uses| uses.retain(|to, _| nodes.contains(to)));
        left.retain(|_, uses| !uses.is_empty());
        if left.len() == before {
            return left;
        }
    }
}

fn reachable<'a>(graph: &'a Graph, from: &PathBuf) -> BTreeSet<&'a PathBuf> {
    let mut seen = BTreeSet::new();
    let mut open: Vec<&PathBuf> = graph.get(from).into_iter().flat_map(BTreeMap::keys).collect();
    while let Some(node) = open.pop() {
        if seen.insert(node) {
            open.extend(graph.get(node).into_iter().flat_map(BTreeMap::keys));
        }
    }
    seen
}
