//! Holds the modules to the layer table of `src/lib.rs`: imports go down only, siblings never import each other. No files
//! and no folders use each other in a circle, no file grows past its bound, parameters have names, and no code names a
//! command or a provider but its own.
//!
//! Layers are read by a text scan: `crate::name` anywhere in a file counts as an import of `name`. Circles are found by
//! the paths in the parsed code.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod cycles;
mod providers;
mod sources;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use cycles::Graph;
use sources::{Segments, Sources};

/// A file's lines before its tests.
const MAX_LINES: usize = 400;

/// The crates of the workspace, by their root files.
const CRATES: [&str; 3] = ["src/lib.rs", "mcp-server/src/lib.rs", "offline/src/lib.rs"];

/// They take a second to parse.
static PARSED: LazyLock<Vec<Sources>> =
    LazyLock::new(|| CRATES.iter().map(|root| Sources::read(Path::new(root))).collect());

#[test]
fn modules_import_only_from_rows_above_them() {
    let rows = rows();
    let mut faults = Vec::new();
    for (file, text) in sources(Path::new("src")) {
        let Some(module) = module_of(&file) else { continue };
        let Some(row) = rows.get(&module) else {
            faults.push(format!("{} is in no row of the table in src/lib.rs", file.display()));
            continue;
        };
        for used in imports(&text).into_iter().filter(|used| *used != module) {
            match rows.get(&used) {
                Some(other) if other < row => {}
                Some(other) => {
                    faults.push(format!("{} (row {row}) imports {used} (row {other})", file.display()))
                }
                None => faults.push(format!("{} imports {used}, which is in no row", file.display())),
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn no_file_is_longer_than_its_bound() {
    let long: Vec<String> = ["src", "mcp-server/src", "offline/src"]
        .into_iter()
        .flat_map(|folder| sources(Path::new(folder)))
        .map(|(file, text)| (file, before_tests(&text).lines().count()))
        .filter(|(_, lines)| *lines > MAX_LINES)
        .map(|(file, lines)| format!("{} has {lines} lines", file.display()))
        .collect();
    assert!(long.is_empty(), "{}", long.join("\n"));
}

/// A command is found by the table, and a button by its family: no other code tells one from another by its name.
#[test]
fn no_name_of_a_command_stands_outside_of_its_own_file() {
    let commands = Path::new("src/telegram/commands");
    let own: Vec<(PathBuf, String)> = sources(commands)
        .into_iter()
        .flat_map(|(file, text)| names_of_commands(&text).into_iter().map(move |name| (file.clone(), name)))
        .collect();
    let names: BTreeSet<&str> = own.iter().map(|(_, name)| name.as_str()).collect();
    assert!(names.len() >= 14 && names.contains("deny"), "the scan finds the commands: {names:?}");
    let mut faults = Vec::new();
    for (file, text) in sources(Path::new("src")) {
        let code = code_of(&text);
        // Where commands are told apart; elsewhere the same word may name something else, such as a field of JSON.
        let near = ["src/telegram/commands", "src/telegram/router", "src/telegram/inbound.rs"];
        let is_near = near.iter().any(|path| file.starts_with(path));
        for (home, name) in own.iter().filter(|(home, _)| *home != file) {
            // A pair such as `("model", words)` fills a place in a text.
            let words = code.replace(&format!("(\"{name}\", "), "");
            let is_named = is_near && words.contains(&format!("\"{name}\""));
            let is_named = is_named || code.contains(&format!("\"/{name}\""));
            if is_named {
                faults.push(format!("{} names /{name} of {}", file.display(), home.display()));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// The literals of a file that implements commands which may be their names: what `fn name` gives, and what the fields and
/// constants of that name are set to.
fn names_of_commands(text: &str) -> Vec<String> {
    let text = before_tests(text);
    if !text.contains("impl Command for ") {
        return Vec::new();
    }
    let body = text.split("fn name(&self) -> &'static str {").nth(1).unwrap();
    let body = body.split('}').next().unwrap();
    let set = text.split("name: \"").skip(1).chain(text.split("const COMMAND: &'static str = \"").skip(1));
    let given = body.split('"').skip(1).step_by(2);
    set.map(|rest| rest.split('"').next().unwrap()).chain(given).map(str::to_owned).collect()
}

/// The lines before the tests that are no comments.
fn code_of(text: &str) -> String {
    before_tests(text)
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn no_files_use_each_other_in_a_circle() {
    let cycles = PARSED.iter().flat_map(|sources| cycles::of(&cycles::files(sources)));
    let cycles: Vec<String> = cycles.map(|cycle| cycle.join("\n")).collect();
    assert!(cycles.is_empty(), "{}", cycles.join("\n\n"));
}

#[test]
fn no_folders_use_each_other_in_a_circle() {
    let folders = PARSED.iter().flat_map(|sources| cycles::folders(&cycles::files(sources)).into_values());
    let folders = folders.flat_map(|graph| cycles::of(&graph));
    let cycles: Vec<_> = folders.collect();
    assert!(cycles.is_empty(), "{cycles:#?}");
}

#[test]
fn no_parameter_is_a_tuple_without_a_name() {
    let tuples = PARSED.iter().flat_map(|sources| sources.0.values()).flat_map(|module| {
        module.tuples.iter().map(|function| format!("{}: {function}", module.file.display()))
    });
    let tuples: Vec<String> = tuples.collect();
    assert!(tuples.is_empty(), "{}", tuples.join("\n"));
}

#[test]
fn the_graph_sees_what_it_should() {
    let files = BTreeMap::from([
        ("lib.rs", "mod a; mod b; mod c; mod e;"),
        ("a.rs", "use crate::c::Passed; pub fn f((_, _): (Passed, u8)) {}"),
        (
            "b.rs",
            "pub fn h() { print!(\"{:?}\", crate::a::f) } #[cfg(test)] mod tests { use crate::c::Own; }",
        ),
        (
            "c/mod.rs",
            "//! Not crate::a.\nmod d; pub use self::d::Passed; pub struct Own; const TEXT: &str = \"crate::a\";",
        ),
        (
            "c/d.rs",
            "use super::super::b; pub struct Passed; impl Passed { fn g() { b::h(); std::fs::read(1); } }",
        ),
        ("e.rs", "use crate::c; fn i(_: c::Own) {}"),
    ]);
    let mut sources = Sources::default();
    let read = |path: &Path| files.get(path.to_str().unwrap()).map(|text| (*text).to_owned());
    sources.load(Segments::new(), Path::new("lib.rs"), &read);
    let graph = cycles::files(&sources);
    assert_eq!(
        edges(&graph),
        [("a.rs", "c/d.rs"), ("b.rs", "a.rs"), ("c/d.rs", "b.rs"), ("e.rs", "c/mod.rs")]
    );
    assert_eq!(
        cycles::of(&graph),
        [["a.rs uses c/d.rs (Passed)", "b.rs uses a.rs (crate::a::f)", "c/d.rs uses b.rs (b::h)"]]
    );
    let folders = cycles::folders(&graph);
    assert_eq!(
        edges(&folders[Path::new("")]),
        [("a.rs", "c"), ("b.rs", "a.rs"), ("c", "b.rs"), ("e.rs", "c")]
    );
    let tuples: Vec<&str> =
        sources.0.values().flat_map(|module| &module.tuples).map(String::as_str).collect();
    assert_eq!(tuples, ["f"]);
}

#[test]
fn the_scan_sees_what_it_should() {
    assert_eq!(
        imports("use crate::ids::ChatId;\nfn f() { crate::text::one_line(x) }"),
        set(&["ids", "text"])
    );
    assert_eq!(imports("use crate::{clock::Clock, ids};"), set(&["clock", "ids"]));
    assert_eq!(imports("//! see crate::app"), set(&[]));
    let rows = rows();
    assert!(
        rows["ids"] < rows["store"] && rows["store"] < rows["telegram"] && rows["telegram"] < rows["app"]
    );
    assert_eq!(rows["provider"], rows["policy"]);
}

fn edges(graph: &Graph) -> Vec<(&str, &str)> {
    let edges = graph.iter().flat_map(|(from, uses)| uses.keys().map(move |to| (from, to)));
    edges.map(|(from, to)| (from.to_str().unwrap(), to.to_str().unwrap())).collect()
}

/// Row numbers by module, out of the table in the crate's docs.
fn rows() -> BTreeMap<String, u32> {
    let docs = fs::read_to_string("src/lib.rs").unwrap();
    let mut rows = BTreeMap::new();
    for line in docs.lines() {
        let cells: Vec<&str> = line.trim_start_matches("//!").split('|').map(str::trim).collect();
        if let [_, number, modules, ..] = cells.as_slice()
            && let Ok(number) = number.parse::<u32>()
        {
            rows.extend(modules.split_whitespace().map(|module| (module.to_owned(), number)));
        }
    }
    rows
}

/// The top-level module a file belongs to; none for the crate's own roots.
fn module_of(file: &Path) -> Option<String> {
    let first = file.strip_prefix("src").ok()?.components().next()?.as_os_str().to_str()?;
    let name = first.trim_end_matches(".rs");
    (!["lib", "main"].contains(&name)).then(|| name.to_owned())
}

fn imports(text: &str) -> BTreeSet<String> {
    let code = code_of(text);
    let mut used = BTreeSet::new();
    for part in code.split("crate::").skip(1) {
        match part.strip_prefix('{') {
            Some(group) => used.extend(group_names(group)),
            None => used.extend(word(part)),
        }
    }
    used
}

/// The first words of `a::B, c}` at its own depth.
fn group_names(group: &str) -> Vec<String> {
    let mut depth = 1;
    let mut names = Vec::new();
    let mut item = String::new();
    for c in group.chars() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 1 => names.extend(word(&std::mem::take(&mut item))),
            _ => {}
        }
        if depth == 0 {
            break;
        }
        item.push(c);
    }
    names.extend(word(item.trim_start_matches([',', ' ', '\n'])));
    names
}

fn word(text: &str) -> Option<String> {
    let text = text.trim_start_matches([',', ' ', '\n']);
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len());
    (end > 0).then(|| text[..end].to_owned())
}

fn before_tests(text: &str) -> &str {
    text.split("\n#[cfg(test)]\nmod tests {").next().unwrap_or(text)
}

/// Every source file that is no test, with its text.
fn sources(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() && name != "tests" {
            found.extend(sources(&path));
        } else if name.ends_with(".rs") && name != "tests.rs" {
            found.push((path.clone(), fs::read_to_string(&path).unwrap()));
        }
    }
    found
}

fn set(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}
