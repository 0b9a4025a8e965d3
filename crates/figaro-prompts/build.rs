//! Makes the user-visible texts from the files in `prompts/locales/`: the words of each language as one string with the end
//! of each text, and a method of `Texts` for each key. A text that a language lacks is the English one.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write;
use std::path::Path;
use std::{env, fs};

const FOLDER: &str = "../../prompts/locales";
/// Language that decides which keys there are, and stands in for languages without texts.
const FIRST: &str = "en";

type LocaleFile = BTreeMap<String, String>;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed={FOLDER}");
    println!("cargo:rerun-if-changed=build.rs");
    let folder = env::var_os("OUT_DIR").ok_or("cargo sets OUT_DIR")?;
    let first = read(FIRST)?;
    let mut tags = tags()?;
    tags.retain(|tag| tag != FIRST);
    tags.sort();
    let mut code = methods(&first)?;
    let keys: Vec<&String> = first.keys().collect();
    writeln!(code, "/// Keys of [`Texts`], sorted.\nstatic KEYS: [&str; {}] = {keys:?};", keys.len())?;
    writeln!(code, "const FILES: [(&str, Texts); {}] = [", tags.len() + 1)?;
    let mut missing = Vec::new();
    for tag in [FIRST.to_owned()].into_iter().chain(tags) {
        let texts = read(&tag)?;
        if let Some(key) = texts.keys().find(|key| !first.contains_key(*key)) {
            return Err(format!("prompts/locales/{tag}.yaml: unknown key `{key}`").into());
        }
        missing
            .extend(first.keys().filter(|key| !texts.contains_key(*key)).map(|key| format!("{tag}: {key}")));
        let (mut words, mut ends) = (String::new(), Vec::new());
        for (key, english) in &first {
            let (text, tag) = texts.get(key).map_or((english, FIRST), |text| (text, &*tag));
            // A text alone does not tell the language whose plurals it has.
            words += &text.replace(", plural, ", &format!(", plural {tag}, "));
            ends.push(words.len());
        }
        fs::write(Path::new(&folder).join(format!("{tag}.txt")), words)?;
        let words = format!("include_str!(concat!(env!(\"OUT_DIR\"), \"/{tag}.txt\"))");
        writeln!(code, "    ({tag:?}, Texts {{ words: {words}, ends: &{ends:?} }}),")?;
    }
    code += "];\n";
    writeln!(code, "/// Texts without a translation.\n#[cfg(test)]\nconst MISSING: &[&str] = &{missing:?};")?;
    fs::write(Path::new(&folder).join("texts.rs"), code)?;
    Ok(())
}

/// Returns the IETF tags of all files in the folder.
fn tags() -> Result<Vec<String>, Box<dyn Error>> {
    let mut tags = Vec::new();
    for entry in fs::read_dir(FOLDER)? {
        let name =
            entry?.file_name().into_string().map_err(|name| format!("{} is no UTF-8", name.display()))?;
        tags.extend(name.strip_suffix(".yaml").map(str::to_owned));
    }
    Ok(tags)
}

fn read(tag: &str) -> Result<LocaleFile, Box<dyn Error>> {
    let file = fs::read_to_string(format!("{FOLDER}/{tag}.yaml"))?;
    serde_saphyr::from_str(&file).map_err(|error| format!("prompts/locales/{tag}.yaml: {error}").into())
}

fn methods(texts: &LocaleFile) -> Result<String, std::fmt::Error> {
    let mut code = String::from("impl Texts {\n");
    for (index, (key, text)) in texts.iter().enumerate() {
        let doc = format!("```text\n{}\n```", text.trim_end());
        writeln!(code, "    #[doc = {doc:?}]\n    #[must_use]\n    pub fn {key}(&self) -> &'static str {{")?;
        writeln!(code, "        self.at({index})\n    }}\n")?;
    }
    code += "}\n\n";
    Ok(code)
}
