//! Roles as YAML and JSON for `kubectl apply -f -`, and what the server said about permissions, as a table and as JSON.
//!
//! Promise: what is required, or asked for, is a rule of the YAML; what is optional is a comment that is one without its `#`.

use std::io;

use comfy_table::{ContentArrangement, Table, presets};
use serde_json::{Value, json};

use super::style::{Meaning, Style};
use super::{Out, escape, json};
use engine::k8s::permissions::{self, AccessAnswer, Need, Permission, RoleRule};
use engine::plan::PLAN_API_VERSION;
use engine::state::outcome::EndResult;
use engine::value::hint::{Hint, kubectl};

const RBAC: &str = "rbac.authorization.k8s.io/v1";

#[derive(Debug, Clone)]
pub struct Role {
    pub command: String,
    pub name: String,
    /// Its namespace; `None` leaves that to kubectl.
    pub namespace: Option<String>,
    pub all_namespaces: bool,
    /// What is optional is a rule too, and no comment.
    pub optional: bool,
    pub permissions: Vec<Permission>,
}

impl Role {
    /// Returns kind, namespace and rules of each object. Rules without a namespace are in a ClusterRole of their own.
    fn documents(&self) -> Vec<(&'static str, Option<&str>, Vec<RoleRule>)> {
        let (wide, namespaced): (Vec<Permission>, Vec<Permission>) = self
            .permissions
            .iter()
            .cloned()
            .partition(|permission| permission.resource.cluster_wide && !self.all_namespaces);
        let kind = if self.all_namespaces { "ClusterRole" } else { "Role" };
        let mut documents = vec![(kind, self.namespace(), permissions::rules(&namespaced))];
        if !wide.is_empty() {
            documents.push(("ClusterRole", None, permissions::rules(&wide)));
        }
        documents
    }

    fn namespace(&self) -> Option<&str> {
        self.namespace.as_deref().filter(|_| !self.all_namespaces)
    }

    fn binds(&self) -> String {
        let (binding, role) =
            if self.all_namespaces { ("clusterrolebinding", "clusterrole") } else { ("rolebinding", "role") };
        let create = format!("create {binding} {0} --{role}={0} --serviceaccount=NAMESPACE:NAME", self.name);
        let create = kubectl(&create).in_namespace(self.namespace().unwrap_or_default());
        Hint::default().command(create).to_string()
    }
}

pub fn role_yaml(role: &Role, out: Out<'_>) -> io::Result<()> {
    let extent = if role.optional { "and what makes its answers stronger" } else { "and nothing else" };
    writeln!(out, "# What {} needs, {extent}. Give it to somebody with:", role.command)?;
    writeln!(out, "# {}", role.binds())?;
    if !role.optional {
        writeln!(out, "# What is optional is commented out; --optional writes it out.")?;
    }
    for (index, (kind, namespace, rules)) in role.documents().iter().enumerate() {
        let is_active = |rule: &RoleRule| role.optional || rule.need == Need::Required;
        // A role without a rule is of no use: its head is a comment too.
        let head = if rules.iter().any(is_active) { "" } else { "#" };
        if index > 0 {
            writeln!(out, "{head}---")?;
            writeln!(out, "# Optional, and of the cluster: only a ClusterRole can give it.")?;
        }
        writeln!(out, "{head}apiVersion: {RBAC}\n{head}kind: {kind}\n{head}metadata:")?;
        writeln!(out, "{head}  name: {}", role.name)?;
        if let Some(namespace) = namespace {
            writeln!(out, "{head}  namespace: {}", escape::json(&Value::from(*namespace).to_string()))?;
        }
        writeln!(out, "{head}rules:")?;
        let mut optional_began = false;
        for rule in rules {
            if rule.need == Need::Optional && !optional_began && index == 0 {
                optional_began = true;
                writeln!(out, "  # Optional from here on: the answer is weaker without, or a flag needs it.")?;
            }
            let mark = if is_active(rule) { "" } else { "#" };
            yaml_rule(rule, mark, out)?;
        }
    }
    Ok(())
}

fn yaml_rule(rule: &RoleRule, mark: &str, out: Out<'_>) -> io::Result<()> {
    for alike in rule.verbs.chunk_by(|(_, reasons), (_, others)| reasons == others) {
        let verbs: Vec<&str> = alike.iter().map(|(verb, _)| verb.word()).collect();
        let reasons = alike.first().map(|(_, reasons)| reasons.join("; ")).unwrap_or_default();
        writeln!(out, "  # {}: {reasons}", verbs.join(", "))?;
    }
    let verbs: Vec<String> = rule.verbs.iter().map(|(verb, _)| format!("{:?}", verb.word())).collect();
    // The mark takes the place of nothing, so that the line is in its place once it is taken away.
    let begin = if mark.is_empty() { "  " } else { "#  " };
    writeln!(out, "{begin}- apiGroups: [{:?}]", rule.resource.group)?;
    writeln!(out, "{begin}  resources: [{:?}]", rule.resource.plural)?;
    writeln!(out, "{begin}  verbs: [{}]", verbs.join(", "))
}

/// Writes the rules that apply as one JSON document: a result, for stdout.
pub fn role_json(role: &Role, out: Out<'_>) -> io::Result<()> {
    let of_rule = |rule: &RoleRule| {
        let verbs: Vec<&str> = rule.verbs.iter().map(|(verb, _)| verb.word()).collect();
        json!({ "apiGroups": [rule.resource.group], "resources": [rule.resource.plural], "verbs": verbs })
    };
    let mut items = Vec::new();
    for (kind, namespace, rules) in role.documents() {
        let active = rules.iter().filter(|rule| role.optional || rule.need == Need::Required);
        let rules: Vec<Value> = active.map(of_rule).collect();
        if !rules.is_empty() {
            let metadata = json::without_empty(json!({"name": role.name, "namespace": namespace}), &["namespace"]);
            items.push(json!({"apiVersion": RBAC, "kind": kind, "metadata": metadata, "rules": rules}));
        }
    }
    json::write(&json!({"apiVersion": "v1", "kind": "List", "items": items}), out)
}

/// Writes what the caller may do, and a last line that counts it: a result, for stdout. `namespace` `None` is all.
pub fn access_table(answers: &[AccessAnswer], namespace: Option<&str>, style: &Style, out: Out<'_>) -> io::Result<()> {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    if let Some(width) = style.width {
        table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width.max(60));
    }
    table.set_header(vec!["VERB", "RESOURCE", "ALLOWED", "NEEDED FOR"]);
    for answer in answers {
        let Permission { verb, resource, need, reasons } = &answer.permission;
        let optional = if *need == Need::Optional { "optional: " } else { "" };
        let allowed = if answer.allowed { "yes" } else { "no" };
        let reasons = format!("{optional}{}", reasons.join("; "));
        table.add_row(vec![verb.word().to_owned(), resource.to_string(), allowed.to_owned(), reasons]);
    }
    for column in table.column_iter_mut() {
        column.set_padding((0, 3));
    }
    for line in table.lines() {
        writeln!(out, "{}", line.trim_end())?;
    }
    let place = namespace.map_or_else(|| "all namespaces".to_owned(), |namespace| format!("namespace {namespace}"));
    let count = |need: Need| {
        let of_need: Vec<&AccessAnswer> = answers.iter().filter(|answer| answer.permission.need == need).collect();
        let allowed = of_need.iter().filter(|answer| answer.allowed).count();
        format!("{allowed} of {}", of_need.len())
    };
    let meaning = if permissions::missing(answers).is_empty() { Meaning::Ok } else { Meaning::Failing };
    let heading = style.paint(meaning, "Allowed");
    let (required, optional) = (count(Need::Required), count(Need::Optional));
    writeln!(out, "\n{heading} in {}: {required} required, {optional} optional.", style.show(&place))
}

/// Writes what the caller may do as one JSON document: a result, for stdout. `namespace` `None` is all.
pub fn access_json(answers: &[AccessAnswer], namespace: Option<&str>, end: EndResult, out: Out<'_>) -> io::Result<()> {
    let permissions: Vec<Value> = answers
        .iter()
        .map(|answer| {
            let Permission { verb, resource, need, reasons } = &answer.permission;
            json!({
                "verb": verb.word(),
                "group": resource.group,
                "resource": resource.plural,
                "required": *need == Need::Required,
                "allowed": answer.allowed,
                "neededFor": reasons,
                "serverMessage": answer.message,
            })
        })
        .collect();
    let document = json!({
        "apiVersion": PLAN_API_VERSION,
        "kind": "AccessCheck",
        "namespace": namespace,
        "result": end.word(),
        "permissions": permissions,
    });
    json::write(&document, out)
}
