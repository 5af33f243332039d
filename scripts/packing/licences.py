#!/usr/bin/env python3
"""Lists the licences of everything that is in the program, with their texts.

Usage: licences.py SBOM OUTPUT. What is in the program comes from the SBOM; if there is none, from the dependency graph.
"""

import collections
import json
import pathlib
import subprocess
import sys

sbom, output = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
NAMES = ("licen", "copying", "copyright", "notice", "unlicense")


def metadata():
    host = subprocess.run(["rustc", "-vV"], check=True, capture_output=True, text=True).stdout.split("host: ")[1].split("\n")[0]
    command = ["cargo", "metadata", "--locked", "--format-version", "1", "--no-default-features", "--filter-platform", host,
               "--manifest-path", "crates/service/Cargo.toml"]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def in_program(known):
    """The packages that are in the program, by name and version."""
    packages = {package["id"]: package for package in known["packages"]}
    if sbom.exists():
        listed = {(part["name"], part["version"]) for part in json.loads(sbom.read_text())["components"]}
        return [package for package in packages.values() if (package["name"], package["version"]) in listed]
    nodes = {node["id"]: node for node in known["resolve"]["nodes"]}
    (start,) = [id for id, package in packages.items() if package["name"] == "backhaul"]
    seen, open_ = set(), [start]
    while open_:
        id = open_.pop()
        if id not in seen:
            seen.add(id)
            # `kind` is null for what is linked in; tests and build scripts are left out.
            open_ += [below["pkg"] for below in nodes[id]["deps"] if any(kind["kind"] is None for kind in below["dep_kinds"])]
    return [packages[id] for id in seen]


def texts(package):
    """The files in which a package states its licence."""
    folder = pathlib.Path(package["manifest_path"]).parent
    return [file for file in sorted(folder.iterdir()) if file.is_file() and file.name.lower().startswith(NAMES)]


def main():
    packages = sorted((package for package in in_program(metadata()) if package["source"]), key=lambda package: (package["name"], package["version"]))
    by_text = collections.defaultdict(list)
    lines = ["Backhaul contains these libraries. Their licences follow, each text once.", ""]
    for package in packages:
        name = f'{package["name"]} {package["version"]}'
        own = texts(package)
        lines.append(f'{name}: {package["license"]}' + ("" if own else f'; it comes without the text, by {", ".join(package["authors"]) or "its authors"}'))
        for file in own:
            text = "\n".join(line.rstrip() for line in file.read_text(encoding="utf-8", errors="replace").strip().splitlines())
            by_text[text].append(name)
    for text, names in sorted(by_text.items(), key=lambda item: item[1]):
        lines += ["", "=" * 80, *sorted(set(names)), "-" * 80, text]
    output.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"the list of licences has {len(packages)} libraries and {len(by_text)} texts")


main()
