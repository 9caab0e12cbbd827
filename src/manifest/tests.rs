//! Tables of cases.

mod scalars;

use serde_json::Value;

use super::parse;

/// A custom resource with the given lines below `spec`.
fn object(spec: &str) -> String {
    format!("apiVersion: example.com/v1\nkind: Foo\nmetadata:\n  name: a\nspec:\n{spec}")
}

/// The `spec` of the only object of a text.
fn spec(text: &str) -> Option<Value> {
    let manifests = parse("a.yaml", text.as_bytes()).ok()?;
    manifests.first()?.object.get("spec").cloned()
}

#[test]
fn zz_probe() {
    let h = "apiVersion: e/v1\nkind: Foo\nmetadata:\n  name: a\nspec:\n";
    let d = format!("{h}  x: 1\n");
    let big = 16 * 1024 * 1024 - 200;
    let mut cases: Vec<(String, String)> = vec![];
    let mut add = |n: &str, s: String| cases.push((n.into(), s));
    for k in ["<<: {a: 1}\n  a: 2","a: 2\n  <<: {a: 1}","<<: [{a: 1},{a: 2, b: 3}]\n  c: 3","<<: x","<<: null","<<: []","<<: [{a: 1}]\n  <<: [{b: 1}]","a: 1\n  a: 2","1: a\n  0x1: b","'1': x\n  1: y","a: &x [*x]","a: *nope","x: &a 1\n  q: &a 2\n  z: *a","&k a: b\n  c: *k", "[a]: x", "? a", "a: .inf","a: b: c","\tx: 1","a: 'x","a: [1, 2","\"\\ud83d\\ude00\": 1","a: !!int 08", "a: \"\\q\""] { add(k, format!("{h}  {k}\n")); }
    add("dots", format!("{d}...\nfoo: 1\n"));
    add("dots2", format!("{d}...\n---\n# x\n"));
    add("directive", format!("%YAML 1.1\n---\n{d}"));
    add("onlydots", "...\n".into());
    add("seq-nest-block", format!("{}", "- ".repeat(100_000)));
    add("flow nest", format!("{h}  a: {}", "[".repeat(1_000_000)));
    add("flow nest map", format!("{h}  a: {}", "{a: ".repeat(100_000)));
    add("127 ok", format!("{h}  a: {}1{}", "[".repeat(126), "]".repeat(126)));
    add("json nest", format!("{{\"a\":{}", "[".repeat(1_000_000)));
    add("bomb", { let mut s = format!("{h}  a0: &a0 [x,x,x,x,x,x,x,x,x]\n"); for i in 1..12 { s += &format!("  a{i}: &a{i} [*a{0},*a{0},*a{0},*a{0},*a{0},*a{0},*a{0},*a{0},*a{0}]\n", i-1); } s });
    add("string bomb", format!("{h}  a: &a {}\n  b: [{}]\n", "x".repeat(1_000_000), "*a,".repeat(1000)));
    add("merge bomb", { let mut s = format!("{h}  a0: &a0 {{"); for i in 0..1000 { s += &format!("k{i}: v,"); } s += "}\n"; for i in 1..500 { s += &format!("  a{i}: &a{i} {{<<: *a{}}}\n", i-1); } s });
    add("anchors nested", { let mut s = h.to_string() + "  a: "; for i in 0..120 { s += &format!("&a{i} ["); } s += &"x,".repeat(200_000); s += &"]".repeat(120); s });
    add("many anchors", { let mut s = h.to_string(); for i in 0..90_000 { s += &format!("  a{i}: &a{i} x\n"); } s });
    add("16M commas", format!("{h}  a: [{}]", "a,".repeat(big/2-100)));
    add("16M dashes", format!("{h}{}", "- \n".repeat(big/3-100)));
    add("16M string", format!("{h}  a: {}", "a".repeat(big-100)));
    add("16M quoted", format!("{h}  a: \"{}\"", "\\n".repeat(big/2-100)));
    add("16M plain words", format!("{h}  a: {}", "a ".repeat(big/2-100)));
    add("16M plain lines", format!("{h}  a: {}", "a\n     ".repeat(big/7-100)));
    add("16M literal", format!("{h}  a: |\n{}", "     a\n".repeat(big/7-100)));
    add("16M literal blank", format!("{h}  a: |\n{}", "\n".repeat(big-200)));
    add("16M comments", format!("{h}{}", "#\n".repeat(big/2-100)));
    add("16M comments in seq", format!("{h}  - a\n{}  - b", "  #\n".repeat(big/4-100)));
    add("16M spaces", format!("{h}  a: {}x", " ".repeat(big-100)));
    add("16M separators", "---\n".repeat(big/4));
    add("16M keys", { let mut s = h.to_string(); let mut i = 0; while s.len() < big { s += &format!("  k{i}:\n"); i += 1; } s });
    add("16M docs", { let mut s = String::new(); let mut i = 0; while s.len() < big { s += &format!("{{apiVersion: v1,kind: A,metadata: {{name: a{i}}}}}\n---\n"); i += 1; } s });
    add("16M ? ", format!("{h}  {}", "? ".repeat(big/2-100)));
    add("16M tags", format!("{h}  a: [{}]", "!a ,".repeat(big/4-100)));
    add("16M bang", format!("{h}  a: !{}", "a".repeat(big-100)));
    add("16M anchor", format!("{h}  a: &{} x", "a".repeat(big-100)));
    add("16M colon", format!("{h}  a: {}", ":".repeat(big-100)));
    add("16M quotes", format!("{h}  a: [{}]", "'',".repeat(big/3-100)));
    add("16M flow keys", format!("{h}  a: {{{}}}", "?,".repeat(big/2-100)));
    add("16M flow colon", format!("{h}  a: [{}]", ":,".repeat(big/2-100)));
    add("16M open dquote lines", format!("{h}  a: \"{}", "\n".repeat(big-100)));
    add("16M json arr", format!("{{\"a\":[{}1]}}", "1,".repeat(big/2-100)));
    add("16M json docs", "{}".repeat(big/2));
    add("16M json nulls", format!("{{\"apiVersion\":\"v1\",\"kind\":\"A\",\"metadata\":{{\"name\":\"a\"}}}}{}", "null ".repeat(big/5-100)));
    add("legit", { let mut s = String::from("apiVersion: v1\nkind: List\nitems:\n"); let mut i = 0; while s.len() < big - 1000 { s += &format!("- apiVersion: v1\n  kind: Pod\n  metadata:\n    name: pod-{i}\n    namespace: default\n    labels:\n      app.kubernetes.io/name: web\n      pod-template-hash: 6d4cf56db6\n    uid: 0e1c9b1e-0000-0000-0000-000000000000\n  spec:\n    containers:\n    - name: app\n      image: registry.k8s.io/web:1.2.3\n      imagePullPolicy: IfNotPresent\n      resources:\n        limits:\n          cpu: 100m\n          memory: 128Mi\n      terminationMessagePath: /dev/termination-log\n    dnsPolicy: ClusterFirst\n    restartPolicy: Always\n"); i += 1; } s });
    let only = std::env::var("ONLY").ok();
    for (n, s) in cases {
        if let Some(o) = &only { if !n.contains(o.as_str()) { continue; } }
        let t = std::time::Instant::now();
        let r = parse("web.yaml", s.as_bytes());
        let e = t.elapsed();
        let rss = std::fs::read_to_string("/proc/self/status").unwrap().lines().find(|l| l.starts_with("VmHWM")).unwrap().to_string();
        let out = match &r { Ok(m) => { let v = m.first().map(|m| m.object["spec"].to_string()).unwrap_or_default(); format!("OK {} {}", m.len(), v.chars().take(80).collect::<String>()) }, Err(e) => e.to_string() };
        eprintln!("== {:?} {:?} {} \n{}", n.chars().take(40).collect::<String>(), e, rss, out.chars().take(400).collect::<String>());
    }
}
