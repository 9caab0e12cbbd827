"""Writes container images as an OCI layout: the binary alone, and the binary with a shell (a static busybox) for hooks.

usage: oci.py VERSION FOLDER PLATFORM=BINARY=BUSYBOX...

A platform is linux_amd64 or the like; BUSYBOX may be empty. The layout has the references VERSION and VERSION-shell.
"""
import gzip
import hashlib
import io
import json
import os
import subprocess
import sys
import tarfile
import time

if len(sys.argv) < 4:
    sys.exit(__doc__)
VERSION, FOLDER = sys.argv[1:3]
EPOCH = int(os.environ["SOURCE_DATE_EPOCH"])
CREATED = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(EPOCH))
BLOBS = os.path.join(FOLDER, "blobs", "sha256")
TYPE = "application/vnd.oci.image."
USER = 65532
os.makedirs(BLOBS)


def blob(data, media_type, **more):
    """Keeps a blob and returns its descriptor."""
    digest = hashlib.sha256(data).hexdigest()
    with open(os.path.join(BLOBS, digest), "wb") as file:
        file.write(data)
    return {"mediaType": media_type, "digest": f"sha256:{digest}", "size": len(data), **more}


def document(value, media_type, **more):
    return blob(json.dumps(value, sort_keys=True, separators=(",", ":")).encode(), media_type, **more)


def layer(entries):
    """Returns a layer's descriptor and the digest of its tar. An entry is bytes, a link's target, or None for a folder."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name in sorted(entries):
            data, info = entries[name], tarfile.TarInfo(name)
            info.mtime, info.mode = EPOCH, 0o755
            if data is None:
                info.type, info.mode = tarfile.DIRTYPE, 0o1777 if name == "tmp" else 0o755
            elif isinstance(data, str):
                info.type, info.linkname, info.mode = tarfile.SYMTYPE, data, 0o777
            else:
                info.size = len(data)
            tar.addfile(info, io.BytesIO(data) if isinstance(data, bytes) else None)
    packed = gzip.compress(out.getvalue(), 9, mtime=0)
    return blob(packed, TYPE + "layer.v1.tar+gzip"), "sha256:" + hashlib.sha256(out.getvalue()).hexdigest()


def read(path):
    with open(path, "rb") as file:
        return file.read()


def manifest(platform, entries):
    system, architecture = platform.split("_")
    descriptor, difference = layer(entries)
    labels = {"org.opencontainers.image.title": "kubectl-inplace", "org.opencontainers.image.version": VERSION,
              "org.opencontainers.image.revision": os.environ["KUBECTL_INPLACE_COMMIT"],
              "org.opencontainers.image.licenses": "Apache-2.0" + (" AND GPL-2.0-only" if "bin/busybox" in entries else "")}
    config = {"created": CREATED, "architecture": architecture, "os": system,
              "config": {"User": str(USER), "Env": ["PATH=/usr/local/bin:/bin", "HOME=/tmp"], "WorkingDir": "/tmp",
                         "Entrypoint": ["/usr/local/bin/kubectl-inplace"], "Labels": labels},
              "rootfs": {"type": "layers", "diff_ids": [difference]},
              "history": [{"created": CREATED, "created_by": "release"}]}
    value = {"schemaVersion": 2, "mediaType": TYPE + "manifest.v1+json",
             "config": document(config, TYPE + "config.v1+json"), "layers": [descriptor]}
    return document(value, TYPE + "manifest.v1+json", platform={"architecture": architecture, "os": system})


alone, with_shell = [], []
for argument in sys.argv[3:]:
    platform, binary, busybox = argument.split("=", 2)
    entries = {"usr": None, "usr/local": None, "usr/local/bin": None, "tmp": None, "usr/local/bin/kubectl-inplace": read(binary)}
    alone.append(manifest(platform, entries))
    if busybox:
        applets = subprocess.run(["/bin/busybox", "--list"], check=True, capture_output=True, text=True).stdout.split()
        links = {f"bin/{applet}": "busybox" for applet in applets if applet != "busybox"}
        with_shell.append(manifest(platform, {**entries, **links, "bin": None, "bin/busybox": read(busybox)}))
tags = [(VERSION, alone)] + ([(f"{VERSION}-shell", with_shell)] if with_shell else [])
index = {"schemaVersion": 2, "mediaType": TYPE + "index.v1+json", "manifests": [
    document({"schemaVersion": 2, "mediaType": TYPE + "index.v1+json", "manifests": manifests}, TYPE + "index.v1+json",
             annotations={"org.opencontainers.image.ref.name": tag}) for tag, manifests in tags]}
for name, value in [("index.json", index), ("oci-layout", {"imageLayoutVersion": "1.0.0"})]:
    with open(os.path.join(FOLDER, name), "w", encoding="utf-8") as file:
        json.dump(value, file, sort_keys=True)
