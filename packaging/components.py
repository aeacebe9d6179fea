# SPDX-License-Identifier: Apache-2.0
"""The Swift packages that are linked into the programs of each Debian package, for packaging/notices and packaging/sbom.

Manifests say which products a program uses, SwiftPM says which packages those need, and Package.resolved has the
versions. A package is included if a program could link any part of it.
"""
import json
import os
import pathlib
import re
import subprocess
import tempfile

# Each Debian package's programs in Swift: the folder of their SwiftPM package, its build folder, and the products.
PROGRAMS = {
    "whorl": (".", ".build", ("whorl", "whorld", "whorl-login-http")),
    "whorl-simulate": (".", ".build", ("whorl-simulate",)),
    "whorl-desktop": ("Desktop", ".build-desktop", ("whorl-prompt", "whorl-settings", "whorl-keyring", "whorl-keyring-dialog")),
    "whorl-kiosk": ("Samples/kiosk", ".build-kiosk", ("kiosk-greeter",)),
    "whorl-login-server": ("Server", ".build-server", ("whorl-login-server",)),
}
# These use Embedded Swift, which has no runtime, and no packages.
EMBEDDED = ("libpam-whorl", "libwhorl1", "whorl-ssh")


class Packages:
    """What SwiftPM knows about the SwiftPM packages of a source tree."""

    def __init__(self, tree):
        self.tree = pathlib.Path(tree)
        self.known = {}

    def swift(self, folder, scratch, *arguments):
        if (folder, arguments) not in self.known:
            swift = os.environ.get("SWIFT", "swift")
            command = [swift, "package", "--package-path", self.tree / folder, "--scratch-path", self.tree / scratch, *arguments]
            # A file, because the pipe of a failed command would hide its messages.
            with tempfile.TemporaryFile("w+") as output:
                subprocess.run(command, stdout=output, check=True)
                output.seek(0)
                text = output.read()
            self.known[folder, arguments] = json.loads(text[text.index("{"):])
        return self.known[folder, arguments]

    def manifest(self, folder, scratch):
        return self.swift(folder, scratch, "dump-package")

    def resolved(self, folder, scratch):
        """The packages of a build by identity: name, version, revision, URL, checkout and the identities they depend on."""
        graph = self.swift(folder, scratch, "show-dependencies", "--format", "json")  # writes the file if it does not exist
        pins = {}
        file = self.tree / folder / "Package.resolved"
        if file.exists():
            pins = {pin["identity"]: pin for pin in json.loads(file.read_text())["pins"]}
        found = {}

        def visit(node):
            for child in node["dependencies"]:
                pin = pins.get(child["identity"])
                if pin:
                    found[child["identity"]] = {
                        "name": pin["location"].rstrip("/").removesuffix(".git").rpartition("/")[2],
                        "url": pin["location"].removesuffix(".git"),
                        # A branch has no version.
                        "version": pin["state"].get("version") or pin["state"]["revision"],
                        "revision": pin["state"]["revision"],
                        "checkout": pathlib.Path(child["path"]),
                        "uses": sorted({below["identity"] for below in child["dependencies"]}),
                    }
                visit(child)

        visit(graph)
        if missing := pins.keys() - found.keys():
            raise SystemExit(f"error: {file} lists packages that the manifest does not use: {', '.join(sorted(missing))}")
        return found

    def linked(self, debian):
        """The packages linked into the programs of a Debian package, sorted by identity."""
        if debian not in PROGRAMS:
            return {}
        folder, scratch, products = PROGRAMS[debian]
        direct, seen = set(), set()
        todo = [(folder, "product", product) for product in products]
        while todo:
            place = todo.pop()
            if place in seen:
                continue
            seen.add(place)
            where, kind, name = place
            manifest = self.manifest(where, scratch if where == folder else ".build")
            if kind == "product":
                (product,) = [product for product in manifest["products"] if product["name"] == name]
                todo += [(where, "target", target) for target in product["targets"]]
                continue
            (target,) = [target for target in manifest["targets"] if target["name"] == name]
            local = {target["name"] for target in manifest["targets"]}
            for dependency in target["dependencies"]:
                (how, values), = dependency.items()
                if how == "product" and values[1] == "whorl":
                    todo.append((".", "product", values[0]))
                elif how == "product":
                    direct.add(values[1].lower())
                elif how == "target" or values[0] in local:
                    todo.append((where, "target", values[0]))
                else:
                    direct.add(values[0].lower())  # a product named like its package
        known = self.resolved(folder, scratch)
        wanted, found = sorted(direct), {}
        while wanted:
            identity = wanted.pop()
            if identity not in found:
                found[identity] = known[identity]
                wanted += known[identity]["uses"]
        return dict(sorted(found.items()))

    def headers(self):
        """The Debian packages with the headers of C libraries, which the manifests name."""
        for folder, scratch in sorted({(folder, scratch) for folder, scratch, _ in PROGRAMS.values()}):
            for target in self.manifest(folder, scratch)["targets"]:
                for provider in target.get("providers") or []:
                    for names in provider.get("apt", []):
                        yield from names

    def toolchain(self):
        """Swift's version, the folder of its static libraries, and its license."""
        swift = os.environ.get("SWIFT", "swift")
        target = json.loads(subprocess.run([swift, "-print-target-info"], stdout=subprocess.PIPE, check=True).stdout)
        resources = pathlib.Path(target["paths"]["runtimeResourcePath"])
        license = resources.parent.parent / "share/swift/LICENSE.txt"
        if not license.exists():
            raise SystemExit(f"error: {license} is missing; install a complete Swift from swift.org")
        version = re.search(r"Swift version (\S+)", target["compilerVersion"])[1]
        return version, resources.parent / "swift_static/linux", license


def icu_version(static):
    """The version of ICU in Swift's Foundation, from the name of its data."""
    library = static / "lib_FoundationICU.a"
    match = re.search(rb"\bicudt(\d+)_dat\b", library.read_bytes()) if library.exists() else None
    return match[1].decode() if match else None


def license_of(checkout):
    """The SPDX identifier of a package's license, if it is one of the usual ones."""
    for file in sorted(checkout.glob("LICENSE*")):
        text = re.sub(r"\s+", " ", file.read_text(errors="replace"))
        if "Apache License Version 2.0" in text:
            return "Apache-2.0 WITH Swift-exception" if "Runtime Library Exception" in text else "Apache-2.0"
        if "Permission is hereby granted, free of charge, to any person obtaining a copy of this software" in text:
            return "MIT"
    return "NOASSERTION"


def revision_of_boringssl(checkout):
    """The commit of BoringSSL that a package contains a copy of, and the copy's folder."""
    for file in sorted(checkout.glob("Sources/*BoringSSL/hash.txt")):
        if match := re.search(r"revision ([0-9a-f]{40})", file.read_text()):
            return match[1], file.parent
    return None
