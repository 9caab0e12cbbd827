//! What `-o` can be: a type for each set of formats that a command has, so that a renderer has arms for these alone. The doc
//! comments of the variants are the help texts.

use clap::ValueEnum;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PlanFormat {
    /// Plain text.
    Text,
    /// The text with more of it, such as UIDs, kubelet versions, image IDs and hashes.
    Wide,
    /// One document for a script.
    Json,
    /// The JSON document as YAML.
    Yaml,
    /// The pods that would change, one a line as `pod/NAME`.
    Name,
    /// For a pull request's comment.
    Markdown,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum StatusFormat {
    /// Plain text.
    Text,
    /// The text with more of it, such as UIDs, kubelet versions, image IDs and hashes.
    Wide,
    /// One document for a script.
    Json,
    /// The JSON document as YAML.
    Yaml,
    /// The workloads, one a line as `deployment.apps/NAME`.
    Name,
}

/// How an answer is written that is one document for a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DocumentFormat {
    /// Plain text.
    Text,
    /// One document for a script.
    Json,
    /// The JSON document as YAML.
    Yaml,
}

/// How a Role is written, or who has it; of a Role the text is YAML, for `kubectl apply -f -`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RoleFormat {
    /// YAML for `kubectl apply -f -`; with --check, a table.
    Text,
    /// One document for a script.
    Json,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum HashFormat {
    /// A table.
    Text,
    /// One document for a script.
    Json,
}

/// How a rollout reports what happens: in JSON no document, but one object a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum StreamFormat {
    /// Plain text.
    Text,
    /// For a script: one object a line.
    Json,
}
