//! The template of `-o jsonpath`: what is taken out of a document.
#![expect(clippy::disallowed_methods, reason = "reads the file of a template")]

use crate::cli::{Typed, boolean};
use crate::error::CommandError;
use crate::render::{JsonPath, JsonPathOptions};

/// What a template may look like.
const EXAMPLE: &str = "-o jsonpath='{.workloads[*].workload.name}'";

/// Reads the template that was typed, with `-o` or `--template`.
///
/// # Errors
/// When it is missing or malformed, its file cannot be read, or there is no `-o` that it is for.
pub(super) fn typed(typed: &[Typed]) -> Result<Option<JsonPath>, CommandError> {
    let value = |id| typed.iter().find(|typed| typed.id == id).and_then(|typed| typed.values.last());
    let output = value("output").map_or("", String::as_str);
    let (format, in_output) = output.split_once('=').unwrap_or((output, ""));
    let is_jsonpath = format.starts_with("jsonpath");
    let text = match value("template").filter(|text| !text.is_empty()) {
        // kubectl takes it for a Go template then.
        Some(_) if output.is_empty() => {
            return Err(CommandError::usage("--template alone is a Go template, and go-template is not supported")
                .hint(format!("-o json prints every field, and -o jsonpath takes some of them, such as: {EXAMPLE}")));
        }
        Some(_) if !is_jsonpath || !in_output.is_empty() => {
            return Err(CommandError::usage(format!("--template cannot be combined with -o {output}")).hint(
                "--template is for -o jsonpath, jsonpath-as-json or jsonpath-file without a template of their own",
            ));
        }
        Some(text) => text.as_str(),
        None if !is_jsonpath => return Ok(None),
        None => in_output,
    };
    if text.is_empty() {
        return Err(CommandError::usage("template format specified but no template given")
            .hint(format!("write it after an equals sign, such as: {EXAMPLE}")));
    }
    let text = match format {
        "jsonpath-file" => std::fs::read_to_string(text)
            .map_err(|error| CommandError::usage(format!("error reading --template {text}, {error}")))?,
        _ => text.to_owned(),
    };
    let allow_missing_keys = value("allow_missing_template_keys").is_none_or(|text| boolean(text) != Ok(false));
    let options = JsonPathOptions { as_json: format == "jsonpath-as-json", allow_missing_keys };
    let template = JsonPath::parse(&text, options);
    template.map(Some).map_err(|error| CommandError::usage(error.to_string()))
}
