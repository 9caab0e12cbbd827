//! `-o`: what clap's own parser of an enum has not: kubectl's refusal, its tips, and the templates of `-o jsonpath`.

use std::ffi::OsStr;
use std::marker::PhantomData;

use clap::builder::{PossibleValue, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Arg, ArgAction, Args, Command, Error, ValueEnum};

use super::booleans::boolean;
use crate::render::{DocumentFormat, HashFormat, PlanFormat, RoleFormat, StatusFormat, StreamFormat};
use engine::value::suggest;

/// What kubectl has besides, and this program has not.
const TEMPLATES: [&str; 6] =
    ["go-template", "go-template-file", "template", "templatefile", "custom-columns", "custom-columns-file"];

/// The ways to give a template for one document; its text is read where the command begins.
const JSON_PATHS: [&str; 3] = ["jsonpath", "jsonpath-as-json", "jsonpath-file"];

/// What clap has to know of the formats of a command besides their names.
pub(super) trait Format: ValueEnum {
    /// What a template takes fields out of; `None` where the command has no templates.
    const DOCUMENT: Option<Self>;
}

impl Format for PlanFormat {
    const DOCUMENT: Option<Self> = Some(Self::Json);
}

impl Format for StatusFormat {
    const DOCUMENT: Option<Self> = Some(Self::Json);
}

impl Format for DocumentFormat {
    const DOCUMENT: Option<Self> = Some(Self::Json);
}

impl Format for RoleFormat {
    const DOCUMENT: Option<Self> = Some(Self::Json);
}

impl Format for HashFormat {
    const DOCUMENT: Option<Self> = Some(Self::Json);
}

impl Format for StreamFormat {
    const DOCUMENT: Option<Self> = None;
}

/// Reads a format, and refuses what is none as kubectl does.
#[derive(Debug, Clone)]
pub(super) struct Formats<F>(PhantomData<F>);

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

/// The parser of a command's `-o`.
pub(super) fn format<F: Format>() -> Formats<F> {
    Formats(PhantomData)
}

impl<F: Format> Formats<F> {
    fn names() -> Vec<PossibleValue> {
        let templates = F::DOCUMENT.into_iter().flat_map(|_| JSON_PATHS);
        let templates = templates.map(|name| PossibleValue::new(name).hide(name != "jsonpath"));
        F::value_variants().iter().filter_map(ValueEnum::to_possible_value).chain(templates).collect()
    }

    fn refusal(given: &str) -> String {
        let names: Vec<String> = Self::names().iter().map(|value| value.get_name().to_owned()).collect();
        let allowed = names.join(",");
        // kubectl's sentence (cli-runtime `genericclioptions.NoCompatiblePrinterError`).
        let sentence = format!(
            "unable to match a printer suitable for the output format {given:?}, allowed formats are: {allowed}"
        );
        let format = given.split('=').next().unwrap_or_default();
        let is_template = TEMPLATES.contains(&format) || JSON_PATHS.contains(&format);
        let tip = match suggest::closest(format, names.iter().map(String::as_str)) {
            _ if is_template && F::DOCUMENT.is_some() => {
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

impl<F: Format + Send + Sync + 'static> TypedValueParser for Formats<F> {
    type Value = F;

    fn parse_ref(&self, command: &Command, _: Option<&Arg>, value: &OsStr) -> Result<F, Error> {
        let given = value.to_string_lossy();
        let is_template = JSON_PATHS.contains(&given.split('=').next().unwrap_or_default());
        let format = F::from_str(&given, false).ok().or(F::DOCUMENT.filter(|_| is_template));
        format.ok_or_else(|| Error::raw(ErrorKind::InvalidValue, Self::refusal(&given)).with_cmd(command))
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(Self::names().into_iter()))
    }
}
