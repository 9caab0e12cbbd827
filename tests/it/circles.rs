//! No folder of the product imports another one that imports it, directly or through others.
//!
//! A folder and the files in it are one module: a file is a topic, and no door. A folder within it may use all of it.
#![expect(clippy::disallowed_methods, reason = "reads the sources")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use syn::visit::{self, Visit};
use syn::{Attribute, Item, ItemUse, UseTree, Visibility};

/// A module by its path from the crate.
type Module = Vec<String>;

/// What a file names: the paths that it imports or writes out, and those that it gives on under a name.
#[derive(Default)]
struct Source {
    names: Vec<Vec<String>>,
    /// What a path may begin with because it is imported.
    imports: BTreeMap<String, Vec<String>>,
    gives_on: BTreeMap<String, Vec<String>>,
}

fn is_of_tests(attributes: &[Attribute]) -> bool {
    attributes
        .iter()
        .any(|it| it.path().is_ident("cfg") && it.parse_args::<syn::Path>().is_ok_and(|it| it.is_ident("test")))
}

fn flattened(tree: &UseTree, mut before: Vec<String>, found: &mut Vec<(String, Vec<String>)>) {
    match tree {
        UseTree::Path(path) => {
            before.push(path.ident.to_string());
            flattened(&path.tree, before, found);
        }
        UseTree::Name(name) => {
            if name.ident != "self" {
                before.push(name.ident.to_string());
            }
            found.push((before.last().cloned().unwrap_or_default(), before));
        }
        UseTree::Rename(rename) => {
            before.push(rename.ident.to_string());
            found.push((rename.rename.to_string(), before));
        }
        UseTree::Glob(_) => found.push((String::new(), before)),
        UseTree::Group(group) => group.items.iter().for_each(|tree| flattened(tree, before.clone(), found)),
    }
}

impl<'ast> Visit<'ast> for Source {
    fn visit_item(&mut self, item: &'ast Item) {
        let attributes = match item {
            Item::Fn(it) => &it.attrs,
            Item::Impl(it) => &it.attrs,
            Item::Mod(it) => &it.attrs,
            Item::Use(it) => &it.attrs,
            Item::Const(it) => &it.attrs,
            Item::Struct(it) => &it.attrs,
            _ => return visit::visit_item(self, item),
        };
        if !is_of_tests(attributes) {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        let mut found = Vec::new();
        flattened(&item.tree, Vec::new(), &mut found);
        for (name, path) in found {
            self.imports.insert(name.clone(), path.clone());
            if matches!(item.vis, Visibility::Inherited) {
                self.names.push(path);
            } else {
                self.gives_on.insert(name, path);
            }
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        self.names.push(path.segments.iter().map(|segment| segment.ident.to_string()).collect());
        visit::visit_path(self, path);
    }
}

/// Every file of the product by its module.
fn sources(folder: &Path, module: &Module, found: &mut BTreeMap<Module, Source>) {
    for entry in fs::read_dir(folder).expect("the folder can be read").flatten() {
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        let name = if path.is_dir() { Some(name.as_str()) } else { name.strip_suffix(".rs") };
        let Some(name) = name.map(str::to_owned) else { continue };
        if ["tests", "simulation", "fixtures", "main"].contains(&name.as_str()) {
            continue;
        }
        let inner = |name: String| [module.clone(), vec![name]].concat();
        if path.is_dir() {
            sources(&path, &inner(name), found);
        } else {
            let text = fs::read_to_string(&path).expect("a source can be read");
            let mut source = Source::default();
            let file = syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            source.visit_file(&file);
            found.insert(if name == "mod" || name == "lib" { module.clone() } else { inner(name) }, source);
        }
    }
}

/// The path from the crate; `None` of what is another crate's or is no module here.
fn from_the_crate(module: &Module, path: &[String], all: &BTreeMap<Module, Source>) -> Option<Vec<String>> {
    let (first, mut rest) = path.split_first()?;
    let mut base = module.clone();
    match first.as_str() {
        "crate" => base.clear(),
        "self" => {}
        "super" => {
            base.pop();
            while let [next, after @ ..] = rest
                && next == "super"
            {
                base.pop();
                rest = after;
            }
        }
        _ => {
            let child = [module.clone(), vec![first.clone()]].concat();
            if all.contains_key(&child) {
                return Some([child, rest.to_vec()].concat());
            }
            let imported = all.get(module)?.imports.get(first).filter(|imported| imported.first() != Some(first))?;
            return from_the_crate(module, &[imported.clone(), rest.to_vec()].concat(), all);
        }
    }
    Some([base, rest.to_vec()].concat())
}

/// The file that has what a path names, through those that give it on.
fn owner(path: &[String], all: &BTreeMap<Module, Source>, depth: usize) -> Option<Module> {
    let length = (0..=path.len()).rev().find(|length| all.contains_key(&path[..*length]))?;
    let (module, rest) = path.split_at(length);
    let given = rest.first().and_then(|name| all.get(module)?.gives_on.get(name)).filter(|_| depth < 8);
    let behind = given.and_then(|given| {
        let whole = from_the_crate(&module.to_vec(), given, all)?;
        owner(&[whole, rest[1..].to_vec()].concat(), all, depth + 1)
    });
    behind.or_else(|| Some(module.to_vec()))
}

/// The folder that a file is in; a folder is its own, and so is a file beside the folders of the crate.
fn folder(module: &Module, all: &BTreeMap<Module, Source>) -> Module {
    let is_folder = all.keys().any(|other| other.len() > module.len() && other.starts_with(module));
    let length = if is_folder || module.len() < 2 { module.len() } else { module.len() - 1 };
    module[..length].to_vec()
}

fn imports(all: &BTreeMap<Module, Source>) -> BTreeMap<Module, BTreeSet<Module>> {
    let folders: BTreeMap<&Module, Module> = all.keys().map(|module| (module, folder(module, all))).collect();
    let mut found: BTreeMap<Module, BTreeSet<Module>> = BTreeMap::new();
    for (module, source) in all {
        let (named, own) = (&source.names, &folders[module]);
        let owners = named.iter().filter_map(|path| owner(&from_the_crate(module, path, all)?, all, 0));
        let others = owners.map(|owner| folders[&owner].clone());
        let others = others.filter(|other| !other.starts_with(own) && !own.starts_with(other));
        found.entry(own.clone()).or_default().extend(others);
    }
    found
}

/// The modules that are reached from one, each with the way to it.
fn ways(start: &Module, imports: &BTreeMap<Module, BTreeSet<Module>>) -> BTreeMap<Module, Vec<Module>> {
    let mut found: BTreeMap<Module, Vec<Module>> = BTreeMap::new();
    let mut open = vec![vec![start.clone()]];
    while let Some(way) = open.pop() {
        for next in way.last().and_then(|last| imports.get(last)).into_iter().flatten() {
            if !found.contains_key(next) {
                let whole = [way.clone(), vec![next.clone()]].concat();
                found.insert(next.clone(), whole.clone());
                open.push(whole);
            }
        }
    }
    found
}

fn circles(all: &BTreeMap<Module, Source>) -> Vec<String> {
    let imports = imports(all);
    let circle = |module: &Module| ways(module, &imports).remove(module);
    let written = |way: &Vec<Module>| way.iter().map(|module| module.join("/")).collect::<Vec<_>>().join(" -> ");
    imports.keys().filter_map(circle).map(|way| written(&way)).collect()
}

#[test]
fn no_folders_import_each_other_in_a_circle() {
    for folder in ["src", "crates/engine/src"] {
        let mut all = BTreeMap::new();
        sources(&PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(folder), &Vec::new(), &mut all);
        assert!(all.len() > 100, "the sources are seen");
        let found = circles(&all);
        assert!(found.is_empty(), "{found:#?}");
    }
}

#[test]
fn a_circle_is_seen() {
    let of = |files: &[(&str, &str)]| {
        let source = |text: &str| {
            let mut source = Source::default();
            source.visit_file(&syn::parse_file(text).unwrap());
            source
        };
        let module = |name: &str| name.split('/').filter(|part| !part.is_empty()).map(str::to_owned).collect();
        circles(&files.iter().map(|(name, text)| (module(name), source(text))).collect())
    };
    let to_b = ("a", "use crate::b::B;\nfn a() {}");
    assert_eq!(of(&[to_b, ("b", "struct B;")]), [""; 0]);
    assert_eq!(of(&[to_b, ("b", "struct B;\nfn b() { crate::a::a() }")]), ["a -> b -> a", "b -> a -> b"]);
    assert_eq!(of(&[to_b, ("b", "#[cfg(test)]\nmod tests { use crate::a::a; }")]), [""; 0]);
    // What a folder gives on is of the file that has it.
    let folder = ("m", "mod c;\npub use c::C;");
    let (first, second) = (("m/c", "use super::d::D;\npub struct C;"), ("m/d", "use super::c::C;\npub struct D;"));
    assert_eq!(of(&[folder, first, second]), [""; 0], "the files of a folder are one module");
    assert_eq!(of(&[folder, ("m/c", "use crate::d::D;\npub struct C;"), ("d", "use crate::m::C;")]).len(), 2);
    assert_eq!(of(&[folder, ("m/c", "use super::Shared;\npub struct C;")]), [""; 0]);
    let by_folder = ("d", "use crate::m;\nfn d() { m::C }");
    assert_eq!(of(&[folder, ("m/c", "use crate::d::D;\npub struct C;"), by_folder]).len(), 2);
}
