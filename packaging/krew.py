"""Renders krew-manifest.yaml, the template that krew-release-bot takes, with the digests of archives that are there.

usage: krew.py TEMPLATE VERSION FOLDER ARCHIVE...

A platform whose archive is not among them is left out.
"""
import hashlib
import os
import re
import sys

if len(sys.argv) < 5:
    sys.exit(__doc__)
template, version, folder, archives = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]
with open(template, encoding="utf-8") as file:
    text = file.read()
head, *platforms = re.split(r"(?=^  - selector:\n)", text, flags=re.MULTILINE)
rendered = [head.replace("{{ .TagName }}", version)]
for platform in platforms:
    uri = re.search(r'\{\{addURIAndSha "([^"]*)" \.TagName \}\}', platform)
    address = uri.group(1).replace("{{ .TagName }}", version)
    archive = address.rsplit("/", 1)[-1]
    if archive in archives:
        with open(os.path.join(folder, archive), "rb") as file:
            digest = hashlib.sha256(file.read()).hexdigest()
        rendered.append(platform.replace(uri.group(0), f"uri: {address}\n    sha256: {digest}"))
sys.stdout.write("".join(rendered))
