//! Tables of workloads: each with its namespace, on the narrowest terminal too.

use std::io::{self, Write};

use engine::k8s::names::WorkloadRef;

use super::style::{Meaning, Style};
use super::table::{self, Column};
use super::words;

const NONE: &str = "<none>";

/// The first two cells of a row.
pub(super) fn cells(workload: &WorkloadRef, style: &Style) -> [String; 2] {
    let namespace = match workload.namespace.as_str() {
        "" => NONE.to_owned(),
        namespace => style.show(namespace),
    };
    [words::workload(style, workload), namespace]
}

/// Writes a table whose first two columns are workload and namespace: one column, where each column counts.
pub(super) fn table(
    columns: &[Column],
    mut rows: Vec<(Meaning, Vec<String>)>,
    style: &Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    if !table::is_narrow(style) {
        return table::write(columns, &rows, style, out);
    }
    for (_, cells) in &mut rows {
        let namespace = if cells.len() > 1 { cells.remove(1) } else { NONE.to_owned() };
        if let Some(name) = cells.first_mut().filter(|_| namespace != NONE) {
            *name = format!("{namespace}/{name}");
        }
    }
    let columns: Vec<Column> =
        columns.iter().enumerate().filter(|(index, _)| *index != 1).map(|(_, column)| *column).collect();
    table::write(&columns, &rows, style, out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::kinds::WorkloadKind;

    #[test]
    fn a_workload_never_goes_without_its_namespace() {
        const COLUMNS: [Column; 3] =
            [Column::name("WORKLOAD", 16), Column::name("NAMESPACE", 9), Column::whole("PODS")];
        let workload = |namespace: &str| WorkloadRef {
            kind: WorkloadKind::Deployment,
            namespace: namespace.into(),
            name: "web".into(),
        };
        for (width, namespace, shown) in [
            (80, "shop", "  deployment/web   shop        3"),
            (40, "shop", "  shop/deployment/web  3"),
            (40, "", "  deployment/web  3"),
        ] {
            let style = Style { width: Some(width), ..Style::PLAIN };
            let [name, namespace] = cells(&workload(namespace), &style);
            let rows = vec![(Meaning::Plain, vec![name, namespace, "3".to_owned()])];
            let mut out = Vec::new();
            words::in_lines(&style, &mut out, |out| table(&COLUMNS, rows, &style, out)).unwrap();
            assert_eq!(String::from_utf8(out).unwrap().lines().nth(1), Some(shown), "{width}");
        }
    }
}
