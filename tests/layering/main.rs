//! Holds the crates to what the compiler does not: the table of rows in `docs/architecture.md`, no files and no folders that use
//! each other in a circle, no two types of one name, no comment that begins with a question, no file past its bound, no derived
//! type of very many fields, names for parameters, no public function that no other crate names, and no code that names a
//! command or a provider but its own; and every crate has its profile.
//!
//! Circles are found by the paths in the parsed code.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod cycles;
mod providers;
mod sources;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use cycles::Graph;
use sources::{Segments, Sources};

/// A file's lines before its tests.
const MAX_LINES: usize = 400;

/// Fields or variants of a type with derived traits.
const MAX_DERIVED: usize = 60;

/// They take a second to parse.
static PARSED: LazyLock<Vec<Sources>> = LazyLock::new(|| {
    let apart = ["src", "mcp-server/src", "offline/src"].map(PathBuf::from);
    let crates = folders(Path::new("crates")).into_iter().map(|folder| folder.join("src"));
    crates.chain(apart).map(|folder| Sources::read(&folder.join("lib.rs"))).collect()
});

/// The table of rows in the guide to the architecture, and what each crate of it depends on.
#[test]
fn crates_depend_only_on_rows_above_them() {
    let rows = rows();
    let mut faults = Vec::new();
    for (name, row) in &rows {
        let manifest = fs::read_to_string(format!("crates/{name}/Cargo.toml")).unwrap();
        let needed = manifest.split("[dependencies]").nth(1).unwrap().split("\n[").next().unwrap();
        for line in needed.lines().filter(|line| line.starts_with("figaro-")) {
            let used = line.split(['.', ' ']).next().unwrap();
            match rows.get(used) {
                Some(other) if other < row => {}
                // The MCP server stands apart and uses none of these.
                None if used == "figaro-mcp" => {}
                other => faults.push(format!("{name} (row {row}) depends on {used} (row {other:?})")),
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    let crates = folders(Path::new("crates"));
    let named: Vec<PathBuf> = rows.keys().map(|name| Path::new("crates").join(name)).collect();
    assert_eq!(crates, named, "every crate has a row in docs/architecture.md");
}

/// A crate that is not named there is compiled for speed, like a library: its code takes more memory.
#[test]
fn the_release_profile_names_every_crate_of_ours() {
    let manifest = fs::read_to_string("Cargo.toml").unwrap();
    let crates = folders(Path::new("crates"));
    let names = crates.iter().map(|folder| folder.file_name().unwrap().to_str().unwrap());
    let missing: Vec<&str> = names
        .chain(["figaro", "figaro-mcp", "figaro-offline"])
        .filter(|name| !manifest.contains(&format!("[profile.release.package.{name}]\nopt-level = \"s\"\n")))
        .collect();
    assert_eq!(missing, Vec::<&str>::new());
}

/// The compiler takes quadratic time for derived code over very many fields.
#[test]
fn no_derived_type_is_too_wide() {
    let wide = PARSED.iter().flat_map(|sources| sources.0.values()).flat_map(|module| {
        let wide = module.derived.iter().filter(|(_, count)| **count > MAX_DERIVED);
        wide.map(|(name, count)| format!("{}: {name} has {count}", module.file.display()))
    });
    let wide: Vec<String> = wide.collect();
    assert!(wide.is_empty(), "{}", wide.join("\n"));
}

#[test]
fn no_file_is_longer_than_its_bound() {
    let apart = ["mcp-server/src", "offline/src"].into_iter().flat_map(|folder| sources(Path::new(folder)));
    let long: Vec<String> = product()
        .into_iter()
        .chain(apart)
        .map(|(file, text)| (file, before_tests(&text).lines().count()))
        .filter(|(_, lines)| *lines > MAX_LINES)
        .map(|(file, lines)| format!("{} has {lines} lines", file.display()))
        .collect();
    assert!(long.is_empty(), "{}", long.join("\n"));
}

/// A question over HTTP or in the terminal came in no update and is no message of a chat.
#[test]
fn the_gateway_and_the_terminal_name_no_ids_of_telegram() {
    let apart = ["crates/figaro-gateway/src", "src/app/ask"];
    let is_apart = |file: &Path| apart.iter().any(|folder| file.starts_with(folder));
    let files: Vec<(PathBuf, String)> = product().into_iter().filter(|(file, _)| is_apart(file)).collect();
    assert!(files.len() > 30, "the scan finds the files");
    let names = |text: &str| ["UpdateId", "MessageId", "TopicId"].iter().any(|name| text.contains(name));
    let faults: Vec<_> = files.iter().filter(|(_, text)| names(text)).map(|(file, _)| file).collect();
    assert!(faults.is_empty(), "{faults:?}");
}

/// A command is found by the table, and a button by its family: no other code tells one from another by its name.
#[test]
fn no_name_of_a_command_stands_outside_of_its_own_file() {
    let commands = Path::new("crates/figaro-telegram/src/commands");
    let own: Vec<(PathBuf, String)> = sources(commands)
        .into_iter()
        .flat_map(|(file, text)| names_of_commands(&text).into_iter().map(move |name| (file.clone(), name)))
        .collect();
    let names: BTreeSet<&str> = own.iter().map(|(_, name)| name.as_str()).collect();
    assert!(names.len() >= 14 && names.contains("deny"), "the scan finds the commands: {names:?}");
    let mut faults = Vec::new();
    // The paths of its pages are named like commands.
    let pages = Path::new("crates/figaro-dashboard");
    for (file, text) in product().into_iter().filter(|(file, _)| !file.starts_with(pages)) {
        let code = code_of(&text);
        // Where commands are told apart; elsewhere the same word may name something else, such as a field of JSON.
        let near = ["commands", "router", "inbound.rs"]
            .map(|part| Path::new("crates/figaro-telegram/src").join(part));
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

/// The literals of a file that implements commands which are their names: in their specs, and in constants.
fn names_of_commands(text: &str) -> Vec<String> {
    let text = before_tests(text);
    if !text.contains("impl Command for ") {
        return Vec::new();
    }
    let set = text.split("CommandSpec::new(\"").skip(1);
    let set = set.chain(text.split("const COMMAND: &'static str = \"").skip(1));
    set.map(|rest| rest.split('"').next().unwrap().to_owned()).collect()
}

/// The lines before the tests that are no comments.
fn code_of(text: &str) -> String {
    before_tests(text)
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .collect::<Vec<_>>()
        .join("\n")
}

/// One name has one meaning: only a crate's `Result` and the settings of the two programs are named alike.
#[test]
fn no_two_types_have_the_same_name() {
    let mut homes: BTreeMap<String, BTreeSet<PathBuf>> = BTreeMap::new();
    for (file, text) in product() {
        for line in code_of(&text).lines() {
            let words: Vec<&str> = line.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
            let at = words.iter().position(|word| ["struct", "enum", "trait"].contains(word));
            let is_item = line.starts_with("pub") || ["struct", "enum", "trait"].contains(&words[0]);
            if let Some(name) = at.filter(|_| is_item).and_then(|at| words.get(at + 1)) {
                homes.entry((*name).to_owned()).or_default().insert(file.clone());
            }
        }
    }
    assert!(homes.len() > 1_000, "the scan finds types: {}", homes.len());
    homes.remove("Settings");
    let twice: Vec<_> = homes.iter().filter(|(_, files)| files.len() > 1).collect();
    assert!(twice.is_empty(), "{twice:#?}");
}

/// A comment begins with its subject, or with a verb: "Name of the server", "Returns the id". Arguments of tools are words
/// for a model.
#[test]
fn no_comment_begins_with_a_question() {
    let opens = ["What ", "Who ", "Whom ", "Whose ", "Whether ", "So many "];
    let mut faults = Vec::new();
    for (file, text) in product().into_iter().filter(|(_, text)| !text.contains("JsonSchema")) {
        let mut before = "";
        for (at, line) in before_tests(&text).lines().map(str::trim_start).enumerate() {
            let words = line.strip_prefix("/// ").filter(|_| !before.starts_with("///"));
            if words.is_some_and(|words| opens.iter().any(|open| words.starts_with(open))) {
                faults.push(format!("{}:{}: {line}", file.display(), at + 1));
            }
            before = line;
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
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

/// What other crates do not name need not be `pub`, and then the compiler tells when nothing uses it. A type may be public without a
/// name outside: signatures give it.
#[test]
fn public_functions_and_constants_are_named_outside_of_their_crate() {
    let apart = ["src", "tests", "benches", "mcp-server/src", "offline/src"].map(PathBuf::from);
    let crates: Vec<PathBuf> =
        folders(Path::new("crates")).into_iter().map(|path| path.join("src")).collect();
    let files: Vec<(&Path, PathBuf, String)> = crates
        .iter()
        .chain(&apart)
        .flat_map(|folder| {
            sources_and_tests(folder).into_iter().map(move |(file, text)| (&**folder, file, text))
        })
        // These files are not compiled where they stand.
        .filter(|(_, file, _)| !file.starts_with("tests/recipes"))
        .collect();
    let mut users: BTreeMap<&str, BTreeSet<&Path>> = BTreeMap::new();
    for (folder, _, text) in &files {
        for word in text.split(|letter: char| !letter.is_alphanumeric() && letter != '_') {
            users.entry(word).or_default().insert(folder);
        }
    }
    let of_crates = files.iter().filter(|(folder, ..)| folder.starts_with("crates"));
    let public = of_crates.flat_map(|(folder, file, text)| {
        text.lines().filter_map(public_value).map(move |name| (*folder, file, name))
    });
    let mut count = 0;
    let unnamed: Vec<String> = public
        .inspect(|_| count += 1)
        .filter(|(folder, _, name)| users[name].iter().all(|user| user == folder))
        .map(|(_, file, name)| format!("{} has {name}", file.display()))
        .collect();
    assert!(count > 500, "the scan finds the functions");
    assert!(unnamed.is_empty(), "{}", unnamed.join("\n"));
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

fn edges(graph: &Graph) -> Vec<(&str, &str)> {
    let edges = graph.iter().flat_map(|(from, uses)| uses.keys().map(move |to| (from, to)));
    edges.map(|(from, to)| (from.to_str().unwrap(), to.to_str().unwrap())).collect()
}

/// Row numbers by crate, out of the table in the guide to the architecture.
fn rows() -> BTreeMap<String, u32> {
    let guide = fs::read_to_string("docs/architecture.md").unwrap();
    let mut rows = BTreeMap::new();
    for line in guide.lines() {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        if let [_, number, crates, ..] = cells.as_slice()
            && let Ok(number) = number.parse::<u32>()
        {
            rows.extend(crates.split_whitespace().map(|name| (format!("figaro-{name}"), number)));
        }
    }
    rows
}

/// The name of the public function, constant or static that begins in this line.
fn public_value(line: &str) -> Option<&str> {
    let (mut kind, mut rest) = line.trim_start().strip_prefix("pub ")?.split_once(' ')?;
    if !["const", "async", "unsafe", "fn", "static"].contains(&kind) {
        return None;
    }
    while ["const", "async", "unsafe", "fn", "static"].contains(&kind) {
        (kind, rest) = rest.split_once(' ')?;
    }
    kind.split(|letter: char| !letter.is_alphanumeric() && letter != '_').next()
}

/// The folders in a folder, sorted.
fn folders(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut folders: Vec<PathBuf> = entries.filter(|path| path.is_dir()).collect();
    folders.sort();
    folders
}

/// The sources of the product, apart from the MCP server and the offline world.
fn product() -> Vec<(PathBuf, String)> {
    let crates = folders(Path::new("crates")).into_iter().map(|path| path.join("src"));
    crates.chain([PathBuf::from("src")]).flat_map(|folder| sources(&folder)).collect()
}

fn before_tests(text: &str) -> &str {
    text.split("\n#[cfg(test)]\nmod tests {").next().unwrap_or(text)
}

/// Every source file that is no test, with its text.
fn sources(folder: &Path) -> Vec<(PathBuf, String)> {
    let is_test = |path: &Path| {
        path.components().any(|part| ["tests", "tests.rs"].map(OsStr::new).contains(&part.as_os_str()))
    };
    let all = sources_and_tests(folder).into_iter();
    all.filter(|(file, _)| !is_test(file.strip_prefix(folder).unwrap())).collect()
}

/// Every source file, with its text.
fn sources_and_tests(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(sources_and_tests(&path));
        } else if path.extension().is_some_and(|kind| kind == "rs") {
            found.push((path.clone(), fs::read_to_string(&path).unwrap()));
        }
    }
    found
}
