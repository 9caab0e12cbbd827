//! `-o`: the formats that a command has, in kubectl's words.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Arg, ArgAction, Args, Command, Error, ValueEnum};

use super::booleans::boolean;
use crate::engine::value::suggest;
use crate::render::{HashFormat, OutputFormat};

/// What kubectl has besides, and this program has not.
const TEMPLATES: [&str; 6] =
    ["go-template", "go-template-file", "template", "templatefile", "custom-columns", "custom-columns-file"];

/// The ways to give a template for one document; its text is read where the command begins.
const JSON_PATHS: [&str; 3] = ["jsonpath", "jsonpath-as-json", "jsonpath-file"];

/// The formats of a command; with `document`, which is JSON, also templates that take fields out of it.
#[derive(Debug, Clone)]
pub(super) struct Formats<F> {
    known: Vec<F>,
    document: Option<F>,
}

/// What a template is, and what it is strict about; read with `-o`, as kubectl's `get` has them.
#[derive(Debug, Args, Default, Clone)]
pub struct TemplateArgs {
    /// The template or its file, for -o jsonpath, jsonpath-as-json or jsonpath-file without one
    #[arg(long, hide_short_help = true, value_name = "TEMPLATE")]
    pub template: Option<String>,
    /// Take a field that is missing for nothing; false: for an error
    #[arg(long, hide_short_help = true, action = ArgAction::Set, value_name = "BOOLEAN", num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value = "true", value_parser = boolean)]
    pub allow_missing_template_keys: bool,
}

/// The formats of what a rollout says: JSON is one object a line.
pub(super) fn text_or_lines() -> Formats<OutputFormat> {
    Formats { known: vec![OutputFormat::Text, OutputFormat::Json], document: None }
}

/// Text and a document.
pub(super) fn text_or_json() -> Formats<OutputFormat> {
    documents(&[OutputFormat::Text, OutputFormat::Json])
}

/// Text and a document, in both of its forms.
pub(super) fn text_json_or_yaml() -> Formats<OutputFormat> {
    documents(&[OutputFormat::Text, OutputFormat::Json, OutputFormat::Yaml])
}

/// These, and templates.
pub(super) fn documents(known: &[OutputFormat]) -> Formats<OutputFormat> {
    Formats { known: known.to_vec(), document: Some(OutputFormat::Json) }
}

/// Those of hashes, and templates.
pub(super) fn of_hashes() -> Formats<HashFormat> {
    Formats { known: HashFormat::value_variants().to_vec(), document: Some(HashFormat::Json) }
}

impl<F: ValueEnum> Formats<F> {
    fn names(&self) -> Vec<PossibleValue> {
        let templates =
            self.document.iter().flat_map(|_| JSON_PATHS).map(|name| PossibleValue::new(name).hide(name != "jsonpath"));
        self.known.iter().filter_map(ValueEnum::to_possible_value).chain(templates).collect()
    }

    fn refusal(&self, given: &str) -> String {
        let names: Vec<String> = self.names().iter().map(|value| value.get_name().to_owned()).collect();
        let allowed = names.join(",");
        // kubectl's sentence (cli-runtime `genericclioptions.NoCompatiblePrinterError`).
        let sentence = format!(
            "unable to match a printer suitable for the output format {given:?}, allowed formats are: {allowed}"
        );
        let format = given.split('=').next().unwrap_or_default();
        let is_template = TEMPLATES.contains(&format) || JSON_PATHS.contains(&format);
        let tip = match suggest::closest(format, names.iter().map(String::as_str)) {
            _ if is_template && self.document.is_some() => {
                "-o json prints every field, and -o jsonpath=TEMPLATE takes some of them".to_owned()
            }
            _ if is_template => {
                "-o json prints every field: take what is needed from it, for example with jq".to_owned()
            }
            Some(near) => format!("a similar value exists: '{near}'"),
            None => return format!("{sentence}\n"),
        };
        format!("{sentence}\n\n  tip: {tip}\n")
    }
}

impl<F: ValueEnum + Clone + Send + Sync + 'static> TypedValueParser for Formats<F> {
    type Value = F;

    fn parse_ref(&self, command: &Command, _: Option<&Arg>, value: &OsStr) -> Result<F, Error> {
        let given = value.to_string_lossy();
        let known = self
            .known
            .iter()
            .find(|format| format.to_possible_value().is_some_and(|value| value.matches(&given, false)));
        let is_template = || JSON_PATHS.contains(&given.split('=').next().unwrap_or_default());
        let found = known.or_else(|| self.document.as_ref().filter(|_| is_template()));
        found.cloned().ok_or_else(|| Error::raw(ErrorKind::InvalidValue, self.refusal(&given)).with_cmd(command))
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(self.names().into_iter()))
    }
}
