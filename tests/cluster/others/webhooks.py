"""OpenKruise's webhook configurations, read as JSON: only those of the kinds that the tests have, and only for namespaces
that ask for them, because many tests share the cluster.

usage: webhooks.py PORT
"""
import json
import sys

# "mpod" brings SidecarSets' containers and the readiness gates.
KEPT = {
    "mutating-webhook-configuration": ["mpod", "mcloneset", "mcontainerrecreaterequest", "mdaemonset", "msidecarset", "mstatefulset"],
    "validating-webhook-configuration": ["vcloneset", "vdaemonset", "vsidecarset", "vstatefulset"],
}
configurations = json.load(sys.stdin)
for configuration in configurations["items"]:
    kept = KEPT[configuration["metadata"]["name"]]
    # The manager looks for it by this name.
    configuration["metadata"] = {"name": "kruise-" + configuration["metadata"]["name"]}
    configuration["webhooks"] = [hook for hook in configuration["webhooks"] if hook["name"].removesuffix(".kb.io") in kept]
    assert len(configuration["webhooks"]) == len(kept), [hook["name"] for hook in configuration["webhooks"]]
    for hook in configuration["webhooks"]:
        hook["clientConfig"] = {"url": f"https://127.0.0.1:{sys.argv[1]}{hook['clientConfig']['service']['path']}"}
        # A SidecarSet has no namespace.
        if "sidecarset" not in hook["name"]:
            hook["namespaceSelector"] = {"matchLabels": {"inplace.test/others": "kruise"}}
json.dump(configurations, sys.stdout)
