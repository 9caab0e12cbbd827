//! `-o`: what clap's own parser of an enum has not: kubectl's refusal and its tips.

use std::ffi::OsStr;
use std::marker::PhantomData;

use clap::builder::{PossibleValue, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Arg, Command, Error, ValueEnum};

use engine::value::suggest;

/// The formats of kubectl that take fields out of a document.
const TEMPLATES: [&str; 9] = [
    "jsonpath",
    "jsonpath-as-json",
    "jsonpath-file",
    "go-template",
    "go-template-file",
    "template",
    "templatefile",
    "custom-columns",
    "custom-columns-file",
];

/// Reads a format, and refuses what is none as kubectl does.
#[derive(Debug, Clone)]
pub(super) struct Formats<F>(PhantomData<F>);

/// The parser of a command's `-o`.
pub(super) fn format<F: ValueEnum>() -> Formats<F> {
    Formats(PhantomData)
}

impl<F: ValueEnum> Formats<F> {
    fn names() -> Vec<PossibleValue> {
        F::value_variants().iter().filter_map(ValueEnum::to_possible_value).collect()
    }

    fn refusal(given: &str) -> String {
        let format = given.split('=').next().unwrap_or_default();
        if TEMPLATES.contains(&format) {
            return format!("output format {format:?} is not supported: use -o json, and jq\n");
        }
        let names: Vec<String> = Self::names().iter().map(|value| value.get_name().to_owned()).collect();
        let allowed = names.join(",");
        // kubectl's sentence (cli-runtime `genericclioptions.NoCompatiblePrinterError`).
        let sentence = format!(
            "unable to match a printer suitable for the output format {given:?}, allowed formats are: {allowed}"
        );
        match suggest::closest(format, names.iter().map(String::as_str)) {
            Some(near) => format!("{sentence}\n\n  tip: a similar value exists: '{near}'\n"),
            None => format!("{sentence}\n"),
        }
    }
}

impl<F: ValueEnum + Send + Sync + 'static> TypedValueParser for Formats<F> {
    type Value = F;

    fn parse_ref(&self, command: &Command, _: Option<&Arg>, value: &OsStr) -> Result<F, Error> {
        let given = value.to_string_lossy();
        F::from_str(&given, false)
            .map_err(|_| Error::raw(ErrorKind::InvalidValue, Self::refusal(&given)).with_cmd(command))
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(Self::names().into_iter()))
    }
}
