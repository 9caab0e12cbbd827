//! Every command in a text, whoever prints it: the program's own are parsed by its own command line, kubectl's
//! are checked against the verbs and flags that it has.
#![expect(clippy::disallowed_methods, reason = "reads the sources")]

use std::fs;
use std::path::{Path, PathBuf};

use clap::CommandFactory;
use kubectl_inplace::cli::Cli;

use crate::support::pages::pages;

/// kubectl's commands, as far as texts name them, with the flags that are used there.
const KUBECTL: &[(&str, &[&str])] = &[
    ("api-resources", &[]),
    ("annotate", &["-l"]),
    ("apply", &["-f", "-k", "--server-side", "--force-conflicts", "--dry-run", "--prune"]),
    ("auth can-i", &["--subresource", "--all-namespaces", "--list"]),
    ("auth whoami", &[]),
    ("config use-context", &[]),
    ("create", &["--clusterrole", "--role", "--serviceaccount", "-f"]),
    ("cp", &[]),
    ("debug", &[]),
    ("delete", &["--cascade", "--all", "--wait", "-f"]),
    ("describe", &[]),
    ("diff", &["-f"]),
    ("drain", &[]),
    ("edit", &[]),
    ("exec", &[]),
    ("get", &["-o", "-w", "-l", "-A", "--all-namespaces", "--sort-by", "--show-labels", "-f", "--no-headers"]),
    ("kustomize", &[]),
    ("krew", &["--manifest", "--archive"]),
    ("label", &["-l", "--overwrite", "--all"]),
    ("logs", &["-c", "--previous", "--tail"]),
    ("patch", &["-p", "--type", "--subresource"]),
    ("plugin", &[]),
    ("replace", &["-f", "--force"]),
    ("rollout history", &[]),
    ("rollout pause", &[]),
    ("rollout restart", &[]),
    ("rollout resume", &[]),
    ("rollout status", &["--timeout", "-w"]),
    ("rollout undo", &["--to-revision"]),
    ("scale", &["--replicas"]),
    ("set image", &["-l", "--all"]),
    ("set resources", &["-c", "--requests", "--limits"]),
    ("version", &["--client"]),
    ("wait", &["--for"]),
];

/// Words of prose that follow the name of the tool.
const PROSE: [&str; 31] = [
    "passes", "inplace", "has", "is", "does", "would", "can", "reads", "may", "and", "or", "itself", "finds", "runs",
    "gives", "drops", "names", "users", "knows", "writes", "prints", "shows", "gets", "looks", "as", "on", "needs",
    "with", "in", "alone", "to",
];

/// Flags of every command of kubectl's.
const GLOBAL: [&str; 12] = [
    "-n",
    "--namespace",
    "--context",
    "--kubeconfig",
    "--cluster",
    "--user",
    "--server",
    "--token",
    "--as",
    "--as-group",
    "-h",
    "-v",
];

/// Splits a text as a shell would, up to where the command ends.
fn words(text: &str) -> Vec<String> {
    let (mut words, mut word, mut quote, mut is_begun) = (Vec::new(), String::new(), None, false);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match (c, quote) {
            (_, Some(open)) if c == open => quote = None,
            (_, Some(_)) => word.push(c),
            ('\'' | '"', None) => (quote, is_begun) = (Some(c), true),
            ('\\', None) => {
                // As in a string of a source: a quote, or the end of the line.
                if matches!(chars.next(), Some('n') | None) {
                    break;
                }
            }
            ('|' | ';' | '&' | '>' | '<' | '#' | '`' | '\n' | '(' | ')', None) => break,
            (' ', None) => {
                if is_begun {
                    words.push(std::mem::take(&mut word));
                }
                is_begun = false;
            }
            (_, None) => {
                word.push(c);
                is_begun = true;
            }
        }
    }
    // A quote that is not closed is an apostrophe of prose: the word before it counts.
    if is_begun && quote.is_none() {
        words.push(word);
    }
    // A sentence goes on behind a comma or a colon, and ends with a full stop.
    let end = words.iter().position(|word| word.ends_with([',', ':', '.', '?']) && !word.ends_with("..."));
    if let Some(end) = end {
        words.truncate(end + 1);
        let last = words.last_mut().expect("it has that word");
        *last = last.trim_end_matches([',', ':', '.', '?']).to_owned();
    }
    words
}

/// Returns what is wrong with a command of kubectl's.
fn kubectl(words: &[String]) -> Option<String> {
    let first = words.first().map(String::as_str).unwrap_or_default();
    let is_put_in = first.contains('{') || first.starts_with(|c: char| !c.is_ascii_alphabetic());
    if first.is_empty() || PROSE.contains(&first) || is_put_in {
        return None;
    }
    let two = words.iter().take(2).cloned().collect::<Vec<_>>().join(" ");
    let known = KUBECTL.iter().find(|(verb, _)| *verb == two || *verb == first);
    let Some((_, flags)) = known else {
        let is_group = KUBECTL.iter().any(|(verb, _)| verb.split(' ').next() == Some(first));
        // `kubectl rollout`, `kubectl set`: the group by itself.
        let alone = is_group && words.len() < 2;
        return (!alone).then(|| format!("kubectl {two} is no command of kubectl's"));
    };
    let flag = |word: &String| word.split('=').next().unwrap_or_default().to_owned();
    let is_flag = |word: &&String| word.starts_with('-') && word.len() > 1 && !word.starts_with("---");
    let unknown = words
        .iter()
        .filter(is_flag)
        .map(flag)
        .find(|flag| !flags.contains(&flag.as_str()) && !GLOBAL.contains(&flag.as_str()) && !flag.contains('{'));
    unknown.map(|flag| format!("kubectl {two} has no {flag} here"))
}

/// Returns what is wrong with a command of this program's.
fn own(words: &[String]) -> Option<String> {
    let first = words.first().map(String::as_str).unwrap_or_default();
    if first.is_empty() || first.starts_with(['.', '-', '{', '$']) {
        return None;
    }
    // A generic `...` or `[OPTIONS]`, and what a source puts in, are replaced by words.
    let words = words
        .iter()
        .filter(|word| word.as_str() != "..." && !word.starts_with('['))
        .map(|word| word.replace("{}", "1"));
    let line: Vec<String> = std::iter::once("kubectl-inplace".to_owned()).chain(words).collect();
    match Cli::command().try_get_matches_from(&line) {
        Ok(_) => None,
        // The value of a placeholder or an ellipsis is missing.
        Err(error) => {
            use clap::error::ErrorKind::{
                DisplayHelp, DisplayHelpOnMissingArgumentOrSubcommand, DisplayVersion, InvalidValue,
                MissingRequiredArgument,
            };
            let is_fine =
                [DisplayHelp, DisplayHelpOnMissingArgumentOrSubcommand, DisplayVersion, MissingRequiredArgument];
            // So is the value that a source puts in.
            let is_put_in = error.kind() == InvalidValue && line.iter().any(|word| word.contains('{'));
            (!is_put_in && !is_fine.contains(&error.kind())).then(|| format!("{line:?}: {}", error.render()))
        }
    }
}

/// Returns what is wrong with the commands of a text, and how many there are.
fn wrong(place: &str, text: &str, number: &mut usize) -> Vec<String> {
    let found = text.match_indices("kubectl ").filter_map(|(at, _)| {
        let before = text.get(..at).and_then(|before| before.chars().next_back());
        if before.is_some_and(|c| c.is_alphanumeric() || matches!(c, '-' | '/' | '_' | '.')) {
            return None;
        }
        let rest = words(text.get(at + "kubectl ".len()..).unwrap_or_default());
        *number += 1;
        let wrong = match rest.split_first() {
            Some((first, rest)) if first == "inplace" => own(rest),
            _ => kubectl(&rest),
        };
        wrong.map(|why| format!("{place}: {why}"))
    });
    found.collect()
}

fn sources(place: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(place).expect("the folder can be read").flatten().map(|entry| entry.path());
    let (folders, files): (Vec<_>, Vec<_>) = entries.partition(|path| path.is_dir());
    let rust = files.into_iter().filter(|path| path.extension().is_some_and(|extension| extension == "rs"));
    rust.chain(folders.iter().flat_map(|folder| sources(folder))).collect()
}

fn is_test(file: &Path) -> bool {
    file.to_string_lossy().contains("tests") || file.components().any(|part| part.as_os_str() == "simulation")
}

/// The sources that the program is built from.
pub(crate) fn program_sources() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let all = ["src", "crates/engine/src"].into_iter().flat_map(|folder| sources(&root.join(folder)));
    all.filter(|file| !is_test(file.strip_prefix(root).unwrap_or(file))).collect()
}

#[test]
fn every_command_in_a_text_is_one() {
    let (mut all, mut number) = (Vec::new(), 0);
    for page in pages() {
        for (line, text) in page.text.lines().enumerate() {
            all.extend(wrong(&format!("{}:{}", page.path, line + 1), text, &mut number));
        }
    }
    for command in Cli::command().get_subcommands() {
        let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        help.lines().for_each(|line| all.extend(wrong(command.get_name(), line, &mut number)));
    }
    // What is put together while it runs: the strings of the sources, one line each.
    for file in program_sources() {
        let source = fs::read_to_string(&file).expect("a source can be read");
        let code = source.split("#[cfg(test)]").next().unwrap_or_default();
        for (line, text) in code.lines().enumerate().filter(|(_, text)| !text.trim_start().starts_with("//")) {
            let place = format!("{}:{}", file.display(), line + 1);
            text.split('"').for_each(|text| all.extend(wrong(&place, text, &mut number)));
            // Values of commands (`engine::value::hint`).
            for (call, before) in [("inplace(\"", "kubectl inplace "), ("kubectl(\"", "kubectl ")] {
                let values = text.split(call).skip(1).filter_map(|value| value.split('"').next());
                values.for_each(|value| all.extend(wrong(&place, &format!("{before}{value}"), &mut number)));
            }
        }
    }
    assert!(all.is_empty(), "{}", all.join("\n"));
    assert!(number > 300, "{number} commands were found");
}

#[test]
fn a_wrong_command_is_found() {
    let wrong = |text: &str| wrong("x", text, &mut 0).len();
    for text in [
        "hint: kubectl inplace aply deployment/web",
        "Next: kubectl inplace apply deployment/web side=:v2 --dry-rum",
        "see `kubectl inplace status --to x`",
        "see them with: kubectl gett pods",
        "kubectl rollout stats deployment/web",
        "kubectl get pods --nope",
    ] {
        assert_eq!(wrong(text), 1, "{text}");
    }
    for text in [
        "kubectl inplace apply deployment/web 'side=a b' --yes | cat -x",
        "as kubectl would",
        "kubectl get pods, --nope",
    ] {
        assert_eq!(wrong(text), 0, "{text}");
    }
}

/// A command to copy is a value (`engine::value::hint`), so that whoever shows it adds the caller's flags. Explanations
/// and help are for nobody's cluster.
#[test]
fn no_command_to_copy_is_put_into_a_sentence() {
    let explains = ["src/cli/", "commands/explain.rs", "commands/usage.rs"];
    let mut found = Vec::new();
    for file in program_sources() {
        let name = file.display().to_string();
        if explains.iter().any(|known| name.contains(known)) {
            continue;
        }
        let source = fs::read_to_string(&file).expect("a source can be read");
        let code = source.split("#[cfg(test)]").next().unwrap_or_default();
        let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
        for text in lines.flat_map(|line| line.split('"').skip(1).step_by(2)) {
            found.extend(copied(text).map(|command| format!("{name}: {command}")));
        }
    }
    assert!(found.is_empty(), "{found:#?}");
    assert!(copied("see its pods: kubectl get pods -n {}").is_some());
    assert!(copied("resume it (kubectl inplace resume {workload}), or not").is_some());
    assert!(copied("save it (kubectl rollout undo keeps working)").is_none());
}

/// Returns the command to copy in a text: after a colon or in brackets, up to its end or to what is put in.
fn copied(text: &str) -> Option<&str> {
    text.match_indices("kubectl ").find_map(|(at, _)| {
        let (before, command) = text.split_at(at);
        let is_command = before.ends_with(": ") || before.ends_with('(');
        let end = command.find(|c: char| !(c.is_ascii_lowercase() || c == ' ' || c == '-')).unwrap_or(command.len());
        let (words, rest) = command.split_at(end);
        let is_prose = ["kubectl apply creates it", "kubectl rollout undo would go there next"].contains(&words);
        let is_whole = rest.is_empty() && !is_prose || rest.starts_with('{');
        (is_command && is_whole).then_some(command)
    })
}
