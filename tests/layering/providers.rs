//! No code names a provider but the provider's own.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::{code_of, product};

/// The table of the built-in providers.
const TABLE: &str = "crates/figaro-provider/src/builtin.rs";

/// Files whose texts show a provider's name as an example of `provider:model`, and why that may stand there.
const NAMES_AS_EXAMPLES: [(&str, &str); 5] = [
    ("crates/figaro-config/src/embedder.rs", "a complaint shows the form of EMBEDDER"),
    ("crates/figaro-config/src/models.rs", "a complaint shows the form of LLM_FALLBACK"),
    ("crates/figaro-config/src/spending.rs", "a complaint shows the form of LLM_PRICES"),
    ("crates/figaro-config/src/variables.rs", "what the variables mean is shown by examples"),
    ("crates/figaro-domain/src/model.rs", "a complaint shows the form of a model's name"),
];

/// A provider is found by its name in the table: no other code tells one from another by its name or by a variable of
/// it. What is not code is not looked at: `models.yaml`, and comments, of which `cli/` makes its help.
#[test]
fn no_name_of_a_provider_stands_outside_of_its_own_folder() {
    let all = product();
    let own: Vec<(&Path, String)> = all
        .iter()
        .filter(|(file, _)| file.starts_with("crates/figaro-provider") && file.ends_with("name.rs"))
        .map(|(file, text)| (file.parent().unwrap(), text.split('"').nth(1).unwrap().to_owned()))
        .collect();
    let table = fs::read_to_string(TABLE).unwrap();
    assert_eq!(
        own.len(),
        table.matches("::DESCRIPTOR").count(),
        "each provider has its name in `name.rs`: {own:?}"
    );
    let mut unused: BTreeSet<&Path> = NAMES_AS_EXAMPLES.iter().map(|(file, _)| Path::new(*file)).collect();
    let mut faults = Vec::new();
    for (file, text) in &all {
        let code = code_of(text);
        for (home, name) in own.iter().filter(|(home, _)| !file.starts_with(home)) {
            let folder = home.file_name().unwrap().to_str().unwrap();
            let is_table = file == Path::new(TABLE);
            let is_named = code.contains(&format!("\"{name}\""))
                || code.contains(&format!("{}_", name.to_uppercase()))
                || (!is_table && code.contains(&format!("{folder}::")));
            let is_example = words_with(&code, &format!("{name}:"));
            let may_show = NAMES_AS_EXAMPLES.iter().any(|(shown, _)| file == Path::new(*shown));
            if is_example && may_show {
                unused.remove(file.as_path());
            }
            if is_named || (is_example && !may_show) {
                faults.push(format!("{} names {name} of {}", file.display(), home.display()));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(unused.is_empty(), "these show no name any more, take them off the list: {unused:?}");
}

/// Whether words of the code begin so, as in `such as NAME:x`; a path such as `name::Type` does not count.
fn words_with(code: &str, start: &str) -> bool {
    code.match_indices(start).any(|(at, _)| {
        let before = code[..at].chars().next_back();
        let is_begun = before.is_none_or(|c| !c.is_alphanumeric() && c != '_');
        is_begun && !code[at + start.len()..].starts_with([':', ' '])
    })
}
