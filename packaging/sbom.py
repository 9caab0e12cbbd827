"""Writes the software bill of materials of the binaries: CycloneDX 1.5 as JSON, from what cargo resolves.

usage: sbom.py VERSION TARGET...

It works offline where the crates of these targets of Rust's are there, as they are after a build.
"""
import json
import os
import subprocess
import sys
import time
import uuid

if len(sys.argv) < 3:
    sys.exit(__doc__)
VERSION, TARGETS = sys.argv[1].removeprefix("v"), sys.argv[2:]


def metadata(target):
    """Asks cargo what the package is built from for a target: offline, and where crates are missing with the network."""
    command = ["cargo", "metadata", "--locked", "--format-version=1", "--filter-platform", target]
    asked = subprocess.run([*command, "--offline"], capture_output=True, text=True)
    if asked.returncode:
        asked = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
    return json.loads(asked.stdout)


PACKAGES, DEPENDENCIES = {}, {}
for told in map(metadata, TARGETS):
    PACKAGES.update((package["id"], package) for package in told["packages"])
    ROOT = told["resolve"]["root"]
    for node in told["resolve"]["nodes"]:
        # What only tests need is left out.
        needed = {one["pkg"] for one in node["deps"] if any(kind["kind"] in (None, "build") for kind in one["dep_kinds"])}
        DEPENDENCIES.setdefault(node["id"], set()).update(needed)


def checksums():
    """Returns the digests in Cargo.lock, by name and version."""
    found, package = {}, {}
    with open("Cargo.lock", encoding="utf-8") as lock:
        for line in lock:
            key, _, value = line.strip().partition(" = ")
            package = {} if line.startswith("[[package]]") else {**package, key: value.strip('"')}
            if key == "checksum":
                found[package["name"], package["version"]] = package["checksum"]
    return found


def reference(package):
    return f"pkg:cargo/{package['name']}@{package['version']}"


def component(package, sums):
    made = {"type": "library", "bom-ref": reference(package), "name": package["name"], "version": package["version"],
            "purl": reference(package)}
    if package["license"]:
        # A slash is an old "OR".
        made["licenses"] = [{"expression": package["license"].replace("/", " OR ")}]
    digest = sums.get((package["name"], package["version"]))
    if digest:
        made["hashes"] = [{"alg": "SHA-256", "content": digest}]
    if package["repository"]:
        made["externalReferences"] = [{"type": "vcs", "url": package["repository"]}]
    return made


reached, open_ids = {ROOT}, [ROOT]
while open_ids:
    for found in DEPENDENCIES[open_ids.pop()]:
        if found not in reached:
            reached.add(found)
            open_ids.append(found)
ids = sorted(reached, key=lambda package: reference(PACKAGES[package]))
sums = checksums()
program = {**component(PACKAGES[ROOT], sums), "type": "application"}
epoch = int(os.environ["SOURCE_DATE_EPOCH"])
seed = f"kubectl-inplace {VERSION} {os.environ['KUBECTL_INPLACE_COMMIT']}"
json.dump({
    "bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
    "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, seed)}",
    "metadata": {"timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(epoch)), "component": program,
                 "properties": [{"name": "commit", "value": os.environ["KUBECTL_INPLACE_COMMIT"]}]},
    "components": [component(PACKAGES[package], sums) for package in ids if package != ROOT],
    "dependencies": [{"ref": reference(PACKAGES[package]),
                      "dependsOn": sorted({reference(PACKAGES[other]) for other in DEPENDENCIES[package]})} for package in ids],
}, sys.stdout, indent=2)
print()
