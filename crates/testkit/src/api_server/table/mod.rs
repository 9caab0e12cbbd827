//! Lists and objects as `kubectl get` prints them: what a client asks for, and how old things are.

mod pod;
mod rows;

use serde_json::{Value, json};

use super::http::Request;
use super::resource::Resource;
use crate::clock;

/// Whether the client asks for a Table, and what it wants with each row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// The objects themselves.
    Objects,
    Table(Include),
}

/// What comes with a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Include {
    Nothing,
    Metadata,
    Object,
}

impl Form {
    /// Reads what a request accepts.
    pub(crate) fn of(request: &Request) -> Self {
        let first = request.header("accept").unwrap_or_default().split(',').next().unwrap_or_default();
        if !(first.contains("as=Table") && first.contains("g=meta.k8s.io")) {
            return Self::Objects;
        }
        Self::Table(match request.parameter("includeObject") {
            Some("None") => Include::Nothing,
            Some("Object") => Include::Object,
            _ => Include::Metadata,
        })
    }
}

/// Returns objects as a Table; later events of a watch do without the columns.
pub(crate) fn table<'o>(
    resource: &Resource,
    objects: impl IntoIterator<Item = &'o Value>,
    metadata: &Value,
    include: Include,
    with_columns: bool,
) -> Value {
    let row = |object: &Value| {
        let mut row = json!({"cells": rows::cells(resource.plural, object)});
        match include {
            Include::Nothing => {}
            Include::Metadata => {
                row["object"] = json!({"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1",
                    "metadata": object["metadata"]});
            }
            Include::Object => row["object"] = object.clone(),
        }
        row
    };
    let rows: Vec<Value> = objects.into_iter().map(row).collect();
    let columns: Vec<Value> = if with_columns { rows::columns(resource.plural) } else { Vec::new() };
    json!({"kind": "Table", "apiVersion": "meta.k8s.io/v1", "metadata": metadata, "columnDefinitions": columns, "rows": rows})
}

/// How long ago a time is, as kubectl writes it.
pub(crate) fn since(time: &str) -> String {
    if time.is_empty() { "<unknown>".to_owned() } else { human(clock::seconds_since(time)) }
}

/// `duration.HumanDuration` (`apimachinery/pkg/util/duration`).
fn human(seconds: i64) -> String {
    let two = |large: i64, unit: &str, small: i64, small_unit: &str| {
        if small == 0 { format!("{large}{unit}") } else { format!("{large}{unit}{small}{small_unit}") }
    };
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86_400);
    match seconds {
        ..-1 => "<invalid>".to_owned(),
        -1..=0 => "0s".to_owned(),
        1..120 => format!("{seconds}s"),
        120..600 => two(minutes, "m", seconds % 60, "s"),
        600..10_800 => format!("{minutes}m"),
        10_800..28_800 => two(hours, "h", minutes % 60, "m"),
        28_800..172_800 => format!("{hours}h"),
        172_800..691_200 => two(days, "d", hours % 24, "h"),
        691_200..63_072_000 => format!("{days}d"),
        63_072_000..252_288_000 => two(days / 365, "y", days % 365, "d"),
        _ => format!("{}y", days / 365),
    }
}

#[cfg(test)]
mod tests {
    use super::human;

    #[test]
    fn ages_are_written_as_by_kubectl() {
        let table = [
            (-5, "<invalid>"),
            (0, "0s"),
            (119, "119s"),
            (120, "2m"),
            (125, "2m5s"),
            (600, "10m"),
            (10_799, "179m"),
            (10_860, "3h1m"),
            (28_800, "8h"),
            (172_800, "2d"),
            (176_400, "2d1h"),
            (691_200, "8d"),
            (63_072_000, "2y"),
        ];
        for (seconds, wanted) in table {
            assert_eq!(human(seconds), wanted, "{seconds}");
        }
    }
}
