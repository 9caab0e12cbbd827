//! Who imports whom, held against the sources, every line of them; and that nothing is forgotten.
#![expect(clippy::disallowed_methods, reason = "reads the sources")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use engine::kinds::{CONTROLLER_REVISION_HASH, DEPLOYMENT_REVISION, POD_TEMPLATE_HASH, WorkloadKind};

/// A place, and what its sources may not name: crates and what reaches outside. What Cargo keeps a crate from is not here. The map
/// of `src/lib.rs` says which module may import which.
const FENCES: &[(&str, &[&str])] = &[
    (
        "crates/engine/src",
        &[
            "async fn",
            ".await",
            "std::fs",
            "std::env",
            "std::io",
            "std::net",
            "std::process",
            "std::thread",
            "Instant",
            "SystemTime",
            "Timestamp::now",
            "println!",
        ],
    ),
    ("src/manifest", &["kube::", "tokio", "clap::"]),
    ("src/cluster", &["clap::"]),
    ("src/render", &["kube::", "k8s_openapi", "tokio", "println!"]),
    ("src/drive.rs", &["kube::", "clap::", "render::Lines", "render::Live", "render::JsonLines"]),
    ("src/hook", &["kube::", "clap::"]),
    ("src/process.rs", &["kube::", "clap::", "tokio"]),
    ("src/signals.rs", &["kube::", "clap::"]),
    ("src/record.rs", &["kube::", "tokio"]),
    ("src/error.rs", &["kube::", "tokio", "clap::"]),
    ("src/cli", &["kube::", "tokio"]),
    ("src/commands", &["kube::", "k8s_openapi"]),
    ("src/main.rs", &["kube::", "crate::"]),
    ("src/lib.rs", &["kube::", "tokio", "clap::"]),
];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Every source below a place, by its path from the root of the repository.
fn sources(place: &str) -> Vec<String> {
    let whole = root().join(place);
    if whole.is_file() {
        return if place.ends_with(".rs") { vec![place.to_owned()] } else { Vec::new() };
    }
    let entries = fs::read_dir(whole).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut found: Vec<String> = names.flat_map(|name| sources(&format!("{place}/{name}"))).collect();
    found.sort();
    found
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The code of a source: no comments, and no item that only tests are built with. An item ends, as rustfmt leaves it, at
/// the first line that is no deeper than its beginning and closes it; the end of a text over several lines is none.
fn code(source: &str) -> String {
    let mut kept = Vec::new();
    let mut lines = source.lines().filter(|line| !line.trim_start().starts_with("//"));
    while let Some(line) = lines.next() {
        if line.trim() != "#[cfg(test)]" {
            kept.push(line);
            continue;
        }
        let indent = line.len() - line.trim_start().len();
        let ends = |line: &str| {
            let (own, text) = (line.len() - line.trim_start().len(), line.trim());
            own == indent && !text.starts_with(['#', '"']) && (text.ends_with([';', ',']) || text.starts_with('}'))
        };
        let _last = lines.by_ref().find(|line| ends(line));
    }
    kept.join("\n")
}

fn is_test(path: &str) -> bool {
    let mut parts = path.split('/');
    parts.any(|part| matches!(part, "tests.rs" | "tests" | "fixtures.rs" | "simulation"))
}

/// Returns the forbidden words that a source contains.
fn trespasses(source: &str, forbidden: &[&'static str]) -> Vec<&'static str> {
    let code = code(source);
    forbidden.iter().filter(|word| code.contains(**word)).copied().collect()
}

/// The sources that the product is built from, with their code.
fn product(place: &str) -> impl Iterator<Item = (String, String)> {
    sources(place).into_iter().filter(|path| !is_test(path)).map(|path| (path.clone(), code(&read(&path))))
}

/// The plugin and the engine.
fn whole_product() -> impl Iterator<Item = (String, String)> {
    product("crates/engine/src").chain(product("src"))
}

#[test]
fn no_module_names_what_it_may_not() {
    let mut found = Vec::new();
    for (place, forbidden) in FENCES {
        let mut files = product(place).peekable();
        assert!(files.peek().is_some(), "{place} is gone: the fence guards nothing");
        found.extend(files.flat_map(|(path, code)| {
            trespasses(&code, forbidden).into_iter().map(move |word| format!("{path}: {word}"))
        }));
    }
    assert!(found.is_empty(), "{found:#?}");
    let guarded = |path: &String| FENCES.iter().any(|(place, _)| path.starts_with(place));
    let unguarded: Vec<String> = whole_product().map(|(path, _)| path).filter(|path| !guarded(path)).collect();
    assert!(unguarded.is_empty(), "no fence: {unguarded:#?}");
}

#[test]
fn the_fence_bites() {
    let sees = |source: &str, word: &'static str| !trespasses(source, &[word]).is_empty();
    assert!(sees("use tokio::time;\nfn x() {}", "tokio"));
    assert!(!sees("// kube::Client\nfn x() {}", "kube::"));
    assert!(!sees("fn x() {}\n#[cfg(test)]\nmod tests {\n    use std::fs;\n}\n", "std::fs"));
    // Code after the tests is seen, wherever they are.
    assert!(sees("#[cfg(test)]\nmod tests;\nuse std::fs;\n", "std::fs"));
    assert!(sees("#[cfg(test)]\nmod tests {\n    fn x() {}\n}\n\nuse std::fs;\n", "std::fs"));
    assert!(sees("struct X {\n    #[cfg(test)]\n    looks: usize,\n    at: Instant,\n}\n", "Instant"));
    assert!(!sees("struct X {\n    #[cfg(test)]\n    at: Instant,\n}\n", "Instant"));
}

/// The first names after a path such as `crate::`, in braces too.
fn imported(code: &str, path: &str) -> BTreeSet<String> {
    let name = |text: &str| text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
    let mut found = BTreeSet::new();
    // `super::super::x` is not a name after `super::`, unless that is the path.
    let places = code.match_indices(path).filter(|(at, _)| !code[..*at].ends_with("::"));
    for rest in places.map(|(at, _)| &code[at + path.len()..]) {
        let Some(braced) = rest.strip_prefix('{') else {
            found.insert(name(rest));
            continue;
        };
        let mut depth = 0_usize;
        let ends = |(_, c): &(usize, char)| {
            match c {
                '{' => depth += 1,
                '}' if depth == 0 => return true,
                '}' => depth -= 1,
                _ => {}
            }
            false
        };
        let end = braced.char_indices().find(ends).map_or(braced.len(), |(at, _)| at);
        let mut depth = 0_usize;
        for part in braced[..end].split_inclusive(['{', '}', ',']) {
            if depth == 0 {
                found.insert(name(part.trim()));
            }
            depth = (depth + part.matches('{').count()).saturating_sub(part.matches('}').count());
        }
    }
    found
}

/// What a module may import; and what it does import, since it is named.
struct Importable {
    may: BTreeSet<String>,
    must: BTreeSet<String>,
}

/// The rows of the map in `src/lib.rs`, by module.
fn map() -> BTreeMap<String, Importable> {
    let mut rows: BTreeMap<String, Importable> = BTreeMap::new();
    let source = read("src/lib.rs");
    for line in source.lines().filter_map(|line| line.strip_prefix("//! | ")) {
        let cells: Vec<&str> = line.trim_end_matches('|').split('|').map(str::trim).collect();
        let [module, _, may] = cells[..] else { panic!("a row of three cells: {line}") };
        let names = |cell: &str| -> Vec<String> { cell.split('`').skip(1).step_by(2).map(str::to_owned).collect() };
        let Some(module) = names(module).pop() else { continue };
        let above: BTreeSet<String> = rows.keys().cloned().collect();
        let may = match may {
            "all of the above" => Importable { may: above, must: BTreeSet::new() },
            named => {
                let named: BTreeSet<String> = names(named).into_iter().collect();
                Importable { may: named.clone(), must: named }
            }
        };
        rows.insert(module, may);
    }
    rows
}

#[test]
fn the_map_is_true() {
    let rows = map();
    let source = code(&read("src/lib.rs"));
    let declared = source.lines().filter_map(|line| line.trim_start_matches("pub ").strip_prefix("mod "));
    let declared: BTreeSet<String> = declared.map(|name| name.trim_end_matches(';').to_owned()).collect();
    assert_eq!(declared, rows.keys().cloned().collect(), "the map has a row for every module, and no other");
    let mut wrong = Vec::new();
    for (module, Importable { may, must }) in &rows {
        let mut used = BTreeSet::new();
        for place in [format!("src/{module}.rs"), format!("src/{module}")] {
            for (path, code) in product(&place) {
                let names =
                    imported(&code, "crate::").into_iter().filter(|name| rows.contains_key(name) && name != module);
                for name in names {
                    if !may.contains(&name) && !must.contains(&name) {
                        wrong.push(format!("{path} imports {name}"));
                    }
                    used.insert(name);
                }
            }
        }
        wrong.extend(
            must.difference(&used).map(|name| format!("{module} does not import {name}, as the map says it may")),
        );
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// What names a kind of workload, or compares with one: its variant, its names as whole strings, the labels of its revisions,
/// and comparisons with the resources that have a name.
fn names_of_kinds() -> Vec<String> {
    let mut names: Vec<String> = ["WorkloadKind::{", "WorkloadKind::*"].map(str::to_owned).to_vec();
    for kind in WorkloadKind::ALL {
        let spec = kind.spec();
        names.push(format!("WorkloadKind::{}", spec.kind));
        // A pod is not only a kind of workload: of any workload they are counted in these words.
        let words = [spec.singular, spec.plural].into_iter().filter(|_| kind.has_template());
        names.extend(words.chain([spec.kind]).map(|name| format!("\"{name}\"")));
    }
    for label in [POD_TEMPLATE_HASH, CONTROLLER_REVISION_HASH, DEPLOYMENT_REVISION] {
        names.push(format!("\"{label}\""));
    }
    for resource in ["PODS", "REPLICA_SETS"] {
        names.extend([format!("== {resource}"), format!("!= {resource}"), format!("{resource} =>")]);
    }
    names
}

/// Elsewhere these name something else than a kind of workload.
const NO_KIND: &[(&str, &[&str])] = &[
    // What a dry run creates.
    ("crates/engine/src/status/made.rs", &["\"Pod\""]),
    // kubectl's command, and a document's field.
    ("src/commands/next/mod.rs", &["\"rollout\""]),
    ("src/commands/usage.rs", &["\"rollout\""]),
    ("src/render/status/document.rs", &["\"rollout\""]),
    // The types of the API.
    ("crates/engine/src/merge/schema.rs", &["\"Pod\""]),
    // Each kind's type of k8s-openapi, which the engine does not know.
    (
        "src/manifest/types.rs",
        &[
            "WorkloadKind::Deployment",
            "WorkloadKind::StatefulSet",
            "WorkloadKind::DaemonSet",
            "WorkloadKind::ReplicaSet",
            "WorkloadKind::Pod",
            "WorkloadKind::CloneSet",
            "WorkloadKind::AdvancedStatefulSet",
            "WorkloadKind::AdvancedDaemonSet",
            "WorkloadKind::Rollout",
            "WorkloadKind::SidecarSet",
        ],
    ),
];

#[test]
fn only_one_place_compares_kinds() {
    let names = names_of_kinds();
    let named = |code: &str| names.iter().filter(|name| code.contains(name.as_str())).cloned().collect::<Vec<_>>();
    assert_eq!(named("text == \"statefulsets\" || kind == PODS").len(), 3);
    assert_eq!(named("// of pods, and WorkloadKind::ALL"), [""; 0]);
    let is_excused = |path: &str, name: &str| {
        NO_KIND.iter().any(|(place, excused)| path.starts_with(place) && excused.contains(&name))
    };
    let mut found = Vec::new();
    for (path, code) in whole_product().filter(|(path, _)| !path.starts_with("crates/engine/src/kinds/")) {
        let names = named(&code).into_iter().filter(|name| !is_excused(&path, name));
        found.extend(names.map(|name| format!("{path}: {name}")));
    }
    assert!(found.is_empty(), "ask the kind what it can do (crates/engine/src/kinds/mod.rs): {found:#?}");
}

/// Which module of `engine` a source belongs to, and the modules of `engine` that it names.
fn engine_imports() -> BTreeMap<String, BTreeSet<String>> {
    let of = |path: &str| path.split('/').nth(3).unwrap_or_default().trim_end_matches(".rs").to_owned();
    let modules: BTreeSet<String> = sources("crates/engine/src").iter().map(|path| of(path)).collect();
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (path, code) in product("crates/engine/src") {
        let own = of(&path);
        // From a module's file or `mod.rs`, `super` is the folder above.
        let deep = path.split('/').count() - 3 - usize::from(path.ends_with("/mod.rs"));
        let mut names = imported(&code, "crate::");
        names.extend(imported(&code, &"super::".repeat(deep)));
        found.entry(own.clone()).or_default().extend(names.into_iter().filter(|n| modules.contains(n) && *n != own));
    }
    found
}

#[test]
fn no_modules_of_the_engine_import_each_other_in_a_circle() {
    let imports = engine_imports();
    assert!(imports.values().any(|names| !names.is_empty()), "nothing was seen");
    let mut circles = Vec::new();
    for start in imports.keys() {
        let mut reached = BTreeSet::new();
        let mut ways = vec![vec![start.clone()]];
        while let Some(way) = ways.pop() {
            for next in way.last().and_then(|last| imports.get(last)).into_iter().flatten() {
                if next == start {
                    circles.push(way.join(" -> "));
                } else if reached.insert(next.clone()) {
                    ways.push([way.clone(), vec![next.clone()]].concat());
                }
            }
        }
    }
    assert!(circles.is_empty(), "{circles:#?}");
}

/// Whoever opens a folder finds what each of its files is.
#[test]
fn the_tables_of_large_folders_name_every_file() {
    for folder in ["crates/engine/src/rollout", "crates/engine/src/plan"] {
        let source = read(&format!("{folder}/mod.rs"));
        let rows = source.lines().filter_map(|line| line.strip_prefix("//! | ")?.split('|').next());
        let named: BTreeSet<&str> = rows.flat_map(|cell| cell.split('`').skip(1).step_by(2)).collect();
        let product = code(&source);
        let declared = product.lines().filter_map(|line| line.trim_start_matches("pub ").strip_prefix("mod "));
        let declared: BTreeSet<&str> = declared.map(|name| name.trim_end_matches(';')).collect();
        assert!(declared.len() > 20, "{folder}");
        assert_eq!(named, declared, "{folder}/mod.rs");
    }
}

/// People keep about ten things in mind.
#[test]
fn the_engine_has_few_modules() {
    let modules =
        read("crates/engine/src/lib.rs").lines().filter(|line| line.contains("mod ") && line.ends_with(';')).count();
    assert!((5..=10).contains(&modules), "{modules} modules in crates/engine/src");
}

#[test]
fn only_one_place_selects() {
    let selecting = whole_product().filter(|(_, code)| code.contains("select! {")).map(|(path, _)| path);
    assert_eq!(selecting.collect::<Vec<_>>(), ["src/drive.rs"]);
}

#[test]
fn every_test_file_is_run() {
    for folder in ["tests/it", "tests/real"] {
        let main = read(&format!("{folder}/main.rs"));
        for entry in fs::read_dir(root().join(folder)).expect("the folder can be read").flatten() {
            let name = entry.path().file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            assert!(name == "main" || main.contains(&format!("mod {name};")), "{folder}/{name} is in no binary");
        }
    }
}

/// The texts in backticks of a document.
fn quoted(document: &str) -> Vec<String> {
    read(document).split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

#[test]
fn the_documents_for_contributors_name_what_exists() {
    let places = ["src/", "crates/", "tests/", "docs/", "examples/", "Cargo.toml", ".clippy.toml"];
    let engine: Vec<String> = sources("crates/engine/src").iter().map(|path| read(path)).collect();
    let mut missing = Vec::new();
    for document in ["CONTRIBUTING.md", "docs/architecture.md"] {
        for word in quoted(document).into_iter().filter(|word| !word.contains("NAME") && !word.contains("```")) {
            let is_path = places.iter().any(|place| word.starts_with(place));
            let path = word.split_whitespace().next().unwrap_or_default();
            let is_key = word.starts_with("kubectl-inplace.io/");
            if is_path && !root().join(path).exists() || is_key && !engine.iter().any(|code| code.contains(&word)) {
                missing.push(format!("{document}: {word}"));
            }
        }
    }
    let map = read("docs/architecture.md");
    let rows = map.split("| in `crates/engine/src` | what |").nth(1).and_then(|rest| rest.split("\n\n").next());
    let modules = rows.unwrap_or_default().lines().filter_map(|row| row.split('|').nth(1));
    for module in modules.flat_map(|cell| cell.split('`').skip(1).step_by(2)) {
        if !root().join("crates/engine/src").join(module).exists() {
            missing.push(format!("docs/architecture.md: {module} in crates/engine/src"));
        }
    }
    let rows = map.split("| type | in | what |").nth(1).and_then(|rest| rest.split("\n\n").next()).unwrap_or_default();
    let types: Vec<&str> = rows.lines().filter(|row| row.starts_with("| `")).collect();
    assert!((30..=40).contains(&types.len()), "{} types on the walk", types.len());
    for row in types {
        let [name, place] = [1, 3].map(|at| row.split('`').nth(at).unwrap_or_default());
        let code =
            read(&if place.starts_with("src/") { place.to_owned() } else { format!("crates/engine/src/{place}") });
        let words: Vec<&str> = code.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
        // `findings!` has a type and that of its codes.
        let defines = |pair: &[&str]| {
            ["struct", "enum"].contains(&pair[0]) && pair[1] == name
                || pair[0] == name && pair[1] == format!("{name}Code")
        };
        if !words.windows(2).any(defines) {
            missing.push(format!("docs/architecture.md: {name} in {place}"));
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
}

#[test]
fn the_sources_stay_small() {
    let lines = |path: String| (read(&path).lines().count(), path);
    let all = ["src", "crates"].into_iter().flat_map(sources);
    let long: Vec<(usize, String)> = all.map(lines).filter(|(lines, _)| *lines > 600).collect();
    assert!(long.is_empty(), "{long:#?}");
}

/// The parameters of each function of a source, beside `self`: its name, and how many.
fn parameters(code: &str) -> Vec<(String, usize)> {
    let mut found = Vec::new();
    for (at, _) in code.match_indices("fn ") {
        let rest = &code[at + 3..];
        let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        let is_item = code[..at].chars().next_back().is_none_or(char::is_whitespace) && !name.is_empty();
        let (mut depth, mut parts, mut part, mut before) = (0_usize, Vec::new(), String::new(), ' ');
        let mut is_open = false;
        for c in rest[name.len()..].chars().filter(|_| is_item) {
            let closes = matches!(c, ')' | ']' | '}') || c == '>' && !matches!(before, '-' | '=');
            before = c;
            depth = depth.saturating_sub(usize::from(closes));
            if is_open && depth == 0 {
                break;
            }
            match c {
                '(' if depth == 0 => is_open = true,
                ',' if is_open && depth == 1 => parts.push(std::mem::take(&mut part)),
                _ if is_open => part.push(c),
                _ => {}
            }
            depth += usize::from(matches!(c, '(' | '[' | '{' | '<'));
        }
        parts.push(part);
        let is_counted =
            |part: &&String| !part.trim().is_empty() && !part.trim().split(':').next().is_some_and(is_self);
        found.push((name, parts.iter().filter(is_counted).count()));
    }
    found
}

fn is_self(name: &str) -> bool {
    name.trim_start_matches('&').split_whitespace().next_back() == Some("self")
}

/// A function that needs more is given one thing that holds them.
#[test]
fn few_functions_take_six_parameters_or_more() {
    let source = "fn a(&mut self, b: (u8, u8), c: impl Fn(u8, u8) -> u8) {}\npub fn d<T: Into<X<A, B>>>(a: A<B, C>, b: [T; 2],) {}";
    assert_eq!(parameters(source), [("a".to_owned(), 2), ("d".to_owned(), 2)]);
    let many = whole_product().flat_map(|(path, code)| {
        let many = parameters(&code).into_iter().filter(|(_, number)| *number >= 6);
        many.map(|(name, number)| format!("{path}: {name} takes {number}")).collect::<Vec<_>>()
    });
    let many: Vec<String> = many.collect();
    assert!(many.len() <= 8, "{many:#?}");
}

/// The turn owns the state of a run; the protocols own theirs, and say what is to be done.
#[test]
fn only_the_kernel_changes_the_state_of_a_run() {
    let names = |word: &'static str| {
        let files = product("crates/engine/src").filter(move |(_, code)| code.contains(word)).map(|(path, _)| path);
        files.map(|path| path.trim_start_matches("crates/engine/src/rollout/").to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(names("&mut RunState"), ["state.rs", "turn.rs"]);
    assert_eq!(names("&mut Pods"), [""; 0]);
    assert_eq!(names("impl CurrentTurn<'"), ["judge.rs", "schedule.rs", "turn.rs"]);
    assert_eq!(names("impl<'a> CurrentTurn<'a>"), ["state.rs"]);
    // One door for a phase, so that no set, count, timer or notice is forgotten.
    let enters = product("crates/engine/src/rollout").map(|(_, code)| code.matches(".enter(").count()).sum::<usize>();
    assert_eq!(enters, 1, "Pods::set_phase");
    let protocols: Vec<(String, String)> = product("crates/engine/src/rollout/protocol").collect();
    assert!(protocols.len() > 8, "the protocols are gone: the fence guards nothing");
    for (path, code) in protocols {
        let sees = code.contains("super::state") || code.contains("rollout::state");
        assert!(!sees && !code.contains("RunState"), "{path} sees the state of others");
    }
}
