#!/usr/bin/env python3
"""Writes an OCI image of the program as an archive of an OCI layout: two layers of tar and three JSON documents.

Usage: image.py TREE OUTPUT VERSION. The first layer has the libraries that the program is linked to, from this machine's Debian
packages, with the packages' copyright and status for scanners; the second has TREE. Nothing is fetched, and there is no shell.
"""

import gzip
import hashlib
import io
import json
import os
import pathlib
import re
import subprocess
import sys
import tarfile
import time

tree, output, version = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]
# The same commit gives the same bytes.
MOMENT = int(os.environ["SOURCE_DATE_EPOCH"])
# Nobody on the host has this number, and Kubernetes can see that it is not root.
USER = 65532
GO_NAMES = {"amd64": "amd64", "arm64": "arm64"}


def run(*words):
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


class Layer:
    """A layer that is being written: entries in order, all of root, all of one moment."""

    def __init__(self):
        self.bytes = io.BytesIO()
        self.tar = tarfile.open(fileobj=self.bytes, mode="w", format=tarfile.PAX_FORMAT)
        self.folders = set()

    def entry(self, name, mode, kind=tarfile.REGTYPE, data=None, link=""):
        info = tarfile.TarInfo(name)
        info.mode, info.type, info.mtime, info.linkname = mode, kind, MOMENT, link
        info.size = len(data) if data is not None else 0
        self.tar.addfile(info, io.BytesIO(data) if data is not None else None)

    def folder(self, name, mode=0o755):
        for part in [*reversed(pathlib.PurePosixPath(name).parents), pathlib.PurePosixPath(name)]:
            if str(part) not in (".", *self.folders):
                self.folders.add(str(part))
                self.entry(str(part), mode if str(part) == name else 0o755, tarfile.DIRTYPE)

    def file(self, name, data, mode=0o644):
        self.folder(str(pathlib.PurePosixPath(name).parent))
        self.entry(name, mode, data=data)

    def link(self, name, target):
        self.entry(name, 0o777, tarfile.SYMTYPE, link=target)

    def done(self):
        """The layer's content, its digest before compression, and itself compressed."""
        self.tar.close()
        plain = self.bytes.getvalue()
        return "sha256:" + hashlib.sha256(plain).hexdigest(), gzip.compress(plain, 6, mtime=0)


def libraries(program):
    """The libraries and the loader that a program needs."""
    needed = re.findall(r"(?:=> )?(/\S+) \(0x", run("ldd", str(program)))
    assert any("libc.so" in path for path in needed), "ldd names no libraries"
    return sorted(set(needed))


def owner(path):
    """The Debian package of a file. With merged /usr, dpkg may know it by either name."""
    real = os.path.realpath(path)
    for name in (real, real.removeprefix("/usr"), path):
        found = subprocess.run(["dpkg-query", "-S", name], capture_output=True, text=True)
        if found.returncode == 0:
            return found.stdout.split(": ")[0].split(",")[0]
    sys.exit(f"no Debian package owns {path}: build the image on Debian")


def base(program):
    """The layer with what every program needs: libraries, users, name resolution."""
    layer = Layer()
    for folder in ("bin", "lib", "lib64", "sbin"):
        layer.link(folder, f"usr/{folder}")
        layer.folder(f"usr/{folder}")
    packages = set()
    for path in libraries(program):
        # The name by which it is asked for; the versioned name behind it is of no interest to anybody.
        name = path.lstrip("/") if path.startswith("/usr/") else "usr" + path
        layer.file(name, pathlib.Path(path).read_bytes(), 0o755)
        packages.add(owner(path))
    layer.file("etc/passwd", f"root:x:0:0:root:/:/sbin/nologin\nbackhaul:x:{USER}:{USER}::/:/sbin/nologin\n".encode())
    layer.file("etc/group", f"root:x:0:\nbackhaul:x:{USER}:\n".encode())
    layer.file("etc/nsswitch.conf", b"passwd: files\ngroup: files\nhosts: files dns\n")
    layer.file("etc/os-release", pathlib.Path("/etc/os-release").read_bytes())
    layer.folder("tmp", 0o1777)
    for package in sorted(packages):
        name = package.split(":")[0]
        copyright = pathlib.Path(f"/usr/share/doc/{name}/copyright")
        layer.file(f"usr/share/doc/{name}/copyright", copyright.read_bytes())
        layer.file(f"var/lib/dpkg/status.d/{name}", run("dpkg-query", "-s", package).encode())
    return layer.done(), sorted(packages)


def own():
    layer = Layer()
    for file in sorted(path for path in tree.rglob("*") if path.is_file()):
        layer.file(str(file.relative_to(tree)), file.read_bytes(), 0o755 if os.access(file, os.X_OK) else 0o644)
    return layer.done()


def architecture():
    return GO_NAMES[run("dpkg", "--print-architecture").strip()]


def main():
    created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(MOMENT))
    (below, packages), above = base(tree / "usr/bin/backhaul"), own()
    files = {}

    def blob(data, kind, **more):
        digest = hashlib.sha256(data).hexdigest()
        files[f"blobs/sha256/{digest}"] = data
        return {"mediaType": f"application/vnd.oci.image.{kind}", "digest": f"sha256:{digest}", "size": len(data), **more}

    def document(content):
        return json.dumps(content, separators=(",", ":"), sort_keys=True).encode()

    labels = {
        "org.opencontainers.image.title": "backhaul",
        "org.opencontainers.image.description": "Returns, exchange and fulfilment integration",
        "org.opencontainers.image.version": version,
        "org.opencontainers.image.licenses": "Apache-2.0",
        "org.opencontainers.image.created": created,
    }
    config = {
        "architecture": architecture(),
        "os": "linux",
        "created": created,
        "config": {
            "User": f"{USER}:{USER}",
            "Env": ["PATH=/usr/bin"],
            "Entrypoint": ["/usr/bin/backhaul"],
            "Cmd": ["serve"],
            "WorkingDir": "/",
            "ExposedPorts": {"8080/tcp": {}, "9090/tcp": {}, "9092/tcp": {}},
            "Labels": labels,
            "StopSignal": "SIGTERM",
        },
        "rootfs": {"type": "layers", "diff_ids": [below[0], above[0]]},
        "history": [{"created": created, "created_by": "libraries of " + ", ".join(packages)}, {"created": created, "created_by": f"backhaul {version}"}],
    }
    manifest = {
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "config": blob(document(config), "config.v1+json"),
        "layers": [blob(data, "layer.v1.tar+gzip") for _, data in (below, above)],
        "annotations": labels,
    }
    name = {"org.opencontainers.image.ref.name": version, "io.containerd.image.name": f"localhost/backhaul:{version}"}
    described = blob(document(manifest), "manifest.v1+json", platform={"architecture": architecture(), "os": "linux"}, annotations=name)
    index = {"schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json", "manifests": [described]}
    archive = Layer()
    archive.file("oci-layout", document({"imageLayoutVersion": "1.0.0"}))
    archive.file("index.json", document(index))
    # Docker's own list, so that every `docker load` takes the archive.
    layers = [layer["digest"].replace("sha256:", "blobs/sha256/") for layer in manifest["layers"]]
    docker = {"Config": manifest["config"]["digest"].replace("sha256:", "blobs/sha256/"), "RepoTags": [f"backhaul:{version}"], "Layers": layers}
    archive.file("manifest.json", document([docker]))
    for path, data in sorted(files.items()):
        archive.file(path, data)
    archive.tar.close()
    output.write_bytes(archive.bytes.getvalue())
    print(f"{output.name}: {described['digest']}, libraries of {', '.join(packages)}")


main()
