"""Pushes files to a registry as one layer: an image, or what Flux takes for a source. Prints the digest.

usage: push.py REGISTRY NAME:TAG PATH=FILE...     the first file is what the image runs
"""
import gzip
import hashlib
import io
import json
import platform
import sys
import tarfile
import urllib.request

if len(sys.argv) < 4:
    sys.exit(__doc__)
REGISTRY, (NAME, TAG) = sys.argv[1], sys.argv[2].split(":")
FILES = [file.split("=", 1) for file in sys.argv[3:]]
TYPE = "application/vnd.oci.image."


def request(method, url, data=None, kind="application/octet-stream"):
    asked = urllib.request.Request(url, data, {"Content-Type": kind}, method=method)
    with urllib.request.urlopen(asked) as answer:
        return answer.headers


def blob(data, kind):
    digest = "sha256:" + hashlib.sha256(data).hexdigest()
    place = request("POST", f"http://{REGISTRY}/v2/{NAME}/blobs/uploads/", b"")["Location"]
    request("PUT", f"{place}{'&' if '?' in place else '?'}digest={digest}", data)
    return {"mediaType": TYPE + kind, "digest": digest, "size": len(data)}


out = io.BytesIO()
with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as tar:
    for path, file in FILES:
        info = tarfile.TarInfo(path)
        with open(file, "rb") as content:
            data = content.read()
        info.size, info.mode = len(data), 0o755
        tar.addfile(info, io.BytesIO(data))
layer = blob(gzip.compress(out.getvalue(), 1, mtime=0), "layer.v1.tar+gzip")
machine = {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
config = {"architecture": machine, "os": "linux", "config": {"Entrypoint": ["/" + FILES[0][0]]},
          "rootfs": {"type": "layers", "diff_ids": ["sha256:" + hashlib.sha256(out.getvalue()).hexdigest()]}}
manifest = json.dumps({"schemaVersion": 2, "mediaType": TYPE + "manifest.v1+json",
                       "config": blob(json.dumps(config).encode(), "config.v1+json"), "layers": [layer]}).encode()
request("PUT", f"http://{REGISTRY}/v2/{NAME}/manifests/{TAG}", manifest, TYPE + "manifest.v1+json")
print("sha256:" + hashlib.sha256(manifest).hexdigest())
