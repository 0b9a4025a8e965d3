//! The sources of a crate as the compiler sees them without its tests: modules, the names in them, the paths they use.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use syn::punctuated::Punctuated;
use syn::visit::{self, Visit};
use syn::{
    Attribute, Expr, FnArg, ImplItemFn, Item, ItemMod, ItemUse, Pat, Signature, Token, UseTree, Visibility,
};

/// A path split at `::`.
pub(crate) type Segments = Vec<String>;

/// The modules of a crate by their paths; the root's is empty.
#[derive(Debug, Default)]
pub(crate) struct Sources(pub(crate) BTreeMap<Segments, Module>);

#[derive(Debug, Default)]
pub(crate) struct Module {
    /// An inline module has that of the module around it.
    pub(crate) file: PathBuf,
    /// The names of what it defines itself, child modules apart.
    items: BTreeSet<String>,
    /// What names stand for that `use` brings in.
    imports: BTreeMap<String, Segments>,
    /// Modules of which it imports everything.
    globs: Vec<Segments>,
    /// The paths in its code. Of a `use` only what others cannot use from here.
    paths: BTreeSet<Segments>,
    /// Functions with a parameter that is a tuple taken apart.
    pub(crate) tuples: BTreeSet<String>,
    /// Structs and enums with derived traits, and how many fields or variants each has.
    pub(crate) derived: BTreeMap<String, usize>,
}

impl Sources {
    /// Reads a crate from its root file on, along its `mod` declarations.
    pub(crate) fn read(root: &Path) -> Self {
        let mut sources = Self::default();
        sources.load(Segments::new(), root, &|path| fs::read_to_string(path).ok());
        sources
    }

    /// Reads a module from its file on. `read` gives the text of a file, and `None` where there is none.
    pub(crate) fn load(&mut self, module: Segments, file: &Path, read: &dyn Fn(&Path) -> Option<String>) {
        let text = read(file).unwrap_or_else(|| panic!("{} cannot be read", file.display()));
        let parsed = syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        self.add(module, file, &parsed.items, read);
    }

    fn add(&mut self, module: Segments, file: &Path, items: &[Item], read: &dyn Fn(&Path) -> Option<String>) {
        let mut found = Module { file: file.to_owned(), ..Module::default() };
        for item in items {
            if is_test(attributes(item)) {
                continue;
            }
            match item {
                Item::Mod(inner) => self.child(&module, file, inner, read),
                item => {
                    found.items.extend(name(item));
                    found.derived.extend(derived(item));
                    found.visit_item(item);
                }
            }
        }
        self.0.insert(module, found);
    }

    fn child(
        &mut self,
        parent: &Segments,
        file: &Path,
        module: &ItemMod,
        read: &dyn Fn(&Path) -> Option<String>,
    ) {
        let name = module.ident.to_string();
        let path: Segments = parent.iter().cloned().chain([name.clone()]).collect();
        if let Some((_, items)) = &module.content {
            return self.add(path, file, items, read);
        }
        let is_folder = parent.is_empty() || file.ends_with("mod.rs");
        let folder = if is_folder { file.with_file_name("") } else { file.with_extension("") };
        let beside = folder.join(format!("{name}.rs"));
        let inside = folder.join(&name).join("mod.rs");
        let place = if read(&beside).is_some() { beside } else { inside };
        self.load(path, &place, read);
    }

    /// The files of the items that a module uses, each with a path by which it does. A `use` that only passes a name on
    /// is none; a module that is named, and nothing in it, neither.
    pub(crate) fn uses(&self, module: &Segments) -> BTreeMap<PathBuf, String> {
        let Some(found) = self.0.get(module) else { return BTreeMap::new() };
        let mut uses = BTreeMap::new();
        for path in &found.paths {
            if let Some(file) = self.file_of(module, path, 0).filter(|file| **file != found.file) {
                uses.entry(file.clone()).or_insert_with(|| path.join("::"));
            }
        }
        uses
    }

    /// The file that defines what a path in a module means; none for a module and what is of another crate.
    fn file_of(&self, module: &Segments, path: &[String], depth: usize) -> Option<&PathBuf> {
        let (first, rest) = path.split_first()?;
        match first.as_str() {
            _ if depth > 16 => None,
            "crate" => self.within(&Segments::new(), rest, depth),
            "self" => self.within(module, rest, depth),
            "super" => {
                let parent = module.split_last()?.1.to_vec();
                match rest.first().map(String::as_str) {
                    Some("super") => self.file_of(&parent, rest, depth + 1),
                    _ => self.within(&parent, rest, depth),
                }
            }
            _ => {
                self.knows(module, first).then(|| self.within(module, path, depth)).flatten().or_else(|| {
                    let globs = &self.0.get(module)?.globs;
                    globs.iter().find_map(|glob| {
                        let path: Segments = glob.iter().chain(path).cloned().collect();
                        self.file_of(module, &path, depth + 1)
                    })
                })
            }
        }
    }

    /// Whether a module itself has something of this name.
    fn knows(&self, module: &Segments, name: &str) -> bool {
        let child: Segments = module.iter().cloned().chain([name.to_owned()]).collect();
        self.0.contains_key(&child)
            || self
                .0
                .get(module)
                .is_some_and(|found| found.items.contains(name) || found.imports.contains_key(name))
    }

    fn within(&self, module: &Segments, path: &[String], depth: usize) -> Option<&PathBuf> {
        let (first, rest) = path.split_first()?;
        let found = self.0.get(module)?;
        let child: Segments = module.iter().cloned().chain([first.clone()]).collect();
        // A function may have the name of a module.
        if self.0.contains_key(&child) && !(rest.is_empty() && found.items.contains(first)) {
            return self.within(&child, rest, depth);
        }
        if let Some(import) = found.imports.get(first).filter(|_| !found.items.contains(first)) {
            // `use name::…` of another crate of that name is no way back to here.
            let path: Segments = import.iter().chain(rest).cloned().collect();
            let is_own = path.first() == Some(first);
            return (!is_own).then(|| self.file_of(module, &path, depth + 1)).flatten();
        }
        Some(&found.file)
    }
}

impl Module {
    fn import(&mut self, before: &Segments, tree: &UseTree, is_reexport: bool) {
        let with = |name: &syn::Ident| before.iter().cloned().chain([name.to_string()]).collect::<Segments>();
        match tree {
            UseTree::Path(path) => self.import(&with(&path.ident), &path.tree, is_reexport),
            UseTree::Group(group) => {
                group.items.iter().for_each(|tree| self.import(before, tree, is_reexport));
            }
            UseTree::Glob(_) => self.globs.push(before.clone()),
            UseTree::Name(name) if name.ident == "self" => {
                if let Some(last) = before.last() {
                    self.name(last.clone(), before.clone(), is_reexport);
                }
            }
            UseTree::Name(name) => self.name(name.ident.to_string(), with(&name.ident), is_reexport),
            UseTree::Rename(name) => self.name(name.rename.to_string(), with(&name.ident), is_reexport),
        }
    }

    fn name(&mut self, name: String, path: Segments, is_reexport: bool) {
        if !is_reexport {
            self.paths.insert(path.clone());
        }
        self.imports.insert(name, path);
    }
}

impl<'ast> Visit<'ast> for Module {
    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        let is_reexport = !matches!(item.vis, Visibility::Inherited);
        self.import(&Segments::new(), &item.tree, is_reexport);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        self.paths.insert(path.segments.iter().map(|segment| segment.ident.to_string()).collect());
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, invoked: &'ast syn::Macro) {
        let arguments = invoked.parse_body_with(Punctuated::<Expr, Token![,]>::parse_terminated);
        match arguments {
            Ok(arguments) => arguments.iter().for_each(|argument| self.visit_expr(argument)),
            Err(_) => self.paths.extend(paths_in(&invoked.tokens.to_string())),
        }
    }

    fn visit_impl_item_fn(&mut self, function: &'ast ImplItemFn) {
        if !is_test(&function.attrs) {
            visit::visit_impl_item_fn(self, function);
        }
    }

    fn visit_signature(&mut self, signature: &'ast Signature) {
        let is_tuple =
            |input: &FnArg| matches!(input, FnArg::Typed(typed) if matches!(*typed.pat, Pat::Tuple(_)));
        if signature.inputs.iter().any(is_tuple) {
            self.tuples.insert(signature.ident.to_string());
        }
        visit::visit_signature(self, signature);
    }

    fn visit_visibility(&mut self, _: &'ast Visibility) {}

    fn visit_attribute(&mut self, _: &'ast Attribute) {}
}

/// The paths in tokens that are no list of expressions.
fn paths_in(tokens: &str) -> BTreeSet<Segments> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let joined = tokens.replace(" :: ", "::");
    let words = joined.split(|c: char| !is_word(c) && c != ':');
    words
        .map(|word| word.split("::").map(str::to_owned).collect::<Segments>())
        .filter(|path| path.iter().all(|segment| segment.chars().next().is_some_and(is_word)))
        .collect()
}

/// Whether something is there in tests only.
fn is_test(attributes: &[Attribute]) -> bool {
    attributes
        .iter()
        .filter(|attribute| attribute.path().is_ident("cfg"))
        .any(|attribute| attribute.parse_args::<syn::Path>().is_ok_and(|path| path.is_ident("test")))
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

fn name(item: &Item) -> Option<String> {
    let name = match item {
        Item::Const(item) => &item.ident,
        Item::Enum(item) => &item.ident,
        Item::Fn(item) => &item.sig.ident,
        Item::Static(item) => &item.ident,
        Item::Struct(item) => &item.ident,
        Item::Trait(item) => &item.ident,
        Item::Type(item) => &item.ident,
        _ => return None,
    };
    Some(name.to_string())
}

/// Name and number of fields or variants of a type with derived traits.
fn derived(item: &Item) -> Option<(String, usize)> {
    let (name, attributes, count) = match item {
        Item::Struct(item) => (&item.ident, &item.attrs, item.fields.len()),
        Item::Enum(item) => (&item.ident, &item.attrs, item.variants.len()),
        _ => return None,
    };
    let is_derived = attributes.iter().any(|attribute| attribute.path().is_ident("derive"));
    is_derived.then(|| (name.to_string(), count))
}
