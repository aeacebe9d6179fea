#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Tests packaging/release, its bill of materials and its notices, on a small tree with a stand-in for Swift.

It needs git, binutils and dpkg's tools, and builds nothing.
"""

import hashlib
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.dont_write_bytecode = True
loader = importlib.machinery.SourceFileLoader("check_release", str(ROOT / "packaging/check-release"))
check = importlib.util.module_from_spec(importlib.util.spec_from_loader("check_release", loader))
loader.exec_module(check)

# Answers the calls of packaging/components.py: the files MANIFEST and GRAPH in each folder.
SWIFT = """#!/bin/sh
case "$*" in
    -print-target-info)
        printf '{"compilerVersion": "Swift version 6.2 (test)", "paths": {"runtimeResourcePath": "%s/toolchain/lib/swift"}}' "$TREE" ;;
    *dump-package) cat "$3/MANIFEST" ;;
    *show-dependencies*) cat "$3/GRAPH" ;;
    *) echo "swift: unexpected: $*" >&2; exit 1 ;;
esac
"""
APACHE = "Apache License\nVersion 2.0, January 2004\nThe text.\n"
MIT = "Permission is hereby granted, free of charge, to any person obtaining a copy of this software\n"


def executable(name, *dependencies):
    return {"name": name, "type": "executable", "dependencies": list(dependencies)}


def manifest(*targets):
    return {"products": [{"name": target["name"], "targets": [target["name"]]} for target in targets], "targets": list(targets)}


class ReleaseTests(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.tree = pathlib.Path(folder.name)
        shutil.copytree(ROOT / "packaging", self.tree / "packaging", ignore=shutil.ignore_patterns("__pycache__"))
        self.write("Sources/Ground/WhorlSupport/WhorlVersion.swift", 'enum WhorlVersion {\n    static let text = "1.2.3"\n}\n')
        self.write("Server/Sources/whorl-login-server/WhorlLoginServer.swift", '        version: "1.2.3",\n')
        self.write("CHANGELOG.md", "# Changelog\n\nText.\n\n## 1.2.3 (2026-11-29)\n\n- Add [a\n  page](Docs/A.md).\n\n## 1.2.2\n\n- Old.\n")
        self.write(".gitignore", ".build*/\n*.resolved\ndebs/\n")
        self.write("Makefile", "deb:\n\tmkdir -p .build/deb && cp debs/*.deb .build/deb/\n")
        self.write("swift", SWIFT).chmod(0o755)
        self.write("toolchain/share/swift/LICENSE.txt", APACHE)
        self.write("toolchain/lib/swift_static/linux/lib_FoundationICU.a", "\0icudt99_dat\0")

        # The program links alpha, and alpha beta; nothing links gamma.
        self.write(".build/checkouts/alpha/LICENSE.txt", APACHE)
        self.write(".build/checkouts/alpha/NOTICE.txt", "The alpha project\n")
        self.write(".build/checkouts/alpha/Sources/CAlphaBoringSSL/hash.txt", "at revision " + "ab" * 20 + "\n")
        for year in (2014, 2015):
            self.write(f".build/checkouts/alpha/Sources/CAlphaBoringSSL/{year}.c", f"// Copyright {year} Someone\n//\n// Keep this.\nint a;\n")
        self.write(".build/checkouts/beta/LICENSE", MIT)
        self.write(".build/checkouts/beta/Sources/CBeta/LICENSE", "The license of a copy.\n")
        self.write(".build/checkouts/gamma/LICENSE", "Ask the authors.\n")
        beta = self.node("beta")
        self.graph(".", self.node("alpha", beta), self.node("gamma"))
        self.write("Package.resolved", json.dumps({"pins": [self.pin("alpha"), self.pin("beta"), self.pin("gamma")], "version": 3}))
        self.write("MANIFEST", json.dumps(manifest(
            executable("whorl", {"target": ["Library", None]}), executable("whorld"), executable("whorl-login-http"),
            executable("whorl-simulate"), executable("Library", {"product": ["Alpha", "alpha", None, None]}),
            {"name": "CHeaders", "type": "system", "dependencies": [], "providers": [{"apt": [["libc6-dev"]]}]},
        )))
        for place in ("Desktop", "Server", "Samples/kiosk"):
            names = {"Desktop": ("whorl-prompt", "whorl-settings", "whorl-keyring", "whorl-keyring-dialog"),
                     "Server": ("whorl-login-server",), "Samples/kiosk": ("kiosk-greeter",)}[place]
            self.write(f"{place}/MANIFEST", json.dumps(manifest(*map(executable, names))))
            self.graph(place)
            self.write(f"{place}/Package.resolved", json.dumps({"pins": [], "version": 3}))
        self.deb("whorl", program="/bin/true")
        self.deb("whorld")

        self.git("init", "--quiet")
        self.git("add", ".")
        self.git("commit", "--quiet", "--message", "test")

    def write(self, name, text):
        file = self.tree / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    def node(self, name, *children):
        return {"identity": name, "path": str(self.tree / ".build/checkouts" / name), "dependencies": list(children)}

    def graph(self, place, *children):
        self.write(f"{place}/GRAPH", json.dumps({"identity": "root", "path": str(self.tree), "dependencies": list(children)}))

    def pin(self, name):
        return {"identity": name, "location": f"https://example.org/{name}.git", "state": {"version": "1.0.0", "revision": "cd" * 20}}

    def deb(self, name, program=None):
        folder = self.tree / "debs" / name
        self.write(f"debs/{name}/DEBIAN/control",
                   f"Package: {name}\nVersion: 1.2.3-1\nArchitecture: {'amd64' if program else 'all'}\nMaintainer: T <t@example.org>\nDescription: t\n")
        if program:
            (folder / "usr/bin").mkdir(parents=True)
            shutil.copy(os.path.realpath(program), folder / "usr/bin" / name)
        subprocess.run(["dpkg-deb", "--root-owner-group", "-Znone", "--build", folder, self.tree / "debs"], check=True, stdout=subprocess.DEVNULL)
        shutil.rmtree(folder)

    def git(self, *arguments):
        subprocess.run(["git", "-c", "user.name=Test", "-c", "user.email=test@example.org", *arguments], cwd=self.tree, check=True)

    def run_in_tree(self, *command):
        environment = {**os.environ, "SWIFT": str(self.tree / "swift"), "TREE": str(self.tree), "PYTHONDONTWRITEBYTECODE": "1"}
        return subprocess.run(command, cwd=self.tree, env=environment, capture_output=True, text=True)

    def refusal(self, *options):
        result = self.run_in_tree("packaging/release", "--check", *options)
        return result.stderr if result.returncode else ""

    def release(self, *options):
        result = self.run_in_tree("packaging/release", "--here", "--untagged", *options)
        self.assertEqual(result.returncode, 0, result.stderr)
        return self.tree / ".build-release"

    def bill(self, folder):
        (file,) = folder.glob("*.spdx.json")
        return file, json.loads(file.read_text())

    # --- the version

    def test_release_requires_the_tag_of_its_version(self):
        self.assertIn("does not have the tag 1.2.3", self.refusal())
        self.git("tag", "1.2.2")
        self.assertIn("it has: 1.2.2", self.refusal())
        self.assertEqual(self.refusal("--untagged"), "")
        self.git("tag", "1.2.3")
        self.assertEqual(self.refusal(), "")
        self.write("CHANGELOG.md", (self.tree / "CHANGELOG.md").read_text() + "more\n")
        self.assertIn("uncommitted changes", self.refusal())

    def test_release_requires_the_version_in_the_changelog_and_in_the_server(self):
        self.git("tag", "1.2.3")
        self.write("CHANGELOG.md", "# Changelog\n\n## Unreleased (1.2.3)\n")
        self.assertIn("## 1.2.3 (YYYY-MM-DD)", self.refusal())
        self.assertEqual(self.refusal("--untagged"), "")
        self.write("CHANGELOG.md", "# Changelog\n\n## 1.2.4\n")
        self.assertIn("begins with '## 1.2.4'", self.refusal("--untagged"))
        self.write("CHANGELOG.md", "# Changelog\n\n## 1.2.3\n")
        self.write("Server/Sources/whorl-login-server/WhorlLoginServer.swift", '        version: "1.2.2",\n')
        self.assertIn("whorl-login-server has version '1.2.2'", self.refusal("--untagged"))

    # --- the contents

    def test_release_is_complete_and_the_same_each_time(self):
        folder = self.release()
        first = (folder / "SHA256SUMS").read_text()
        self.assertEqual(subprocess.run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=folder).returncode, 0)
        self.assertEqual((folder / "RELEASE-NOTES.md").read_text(), "# Whorl 1.2.3\n\n- Add a\n  page.\n\n")
        # Other versions of Swift packages are available, but those of the earlier release are used.
        self.write("Package.resolved", "{}")
        self.release("--resolved", ".build-release")
        self.assertEqual((folder / "SHA256SUMS").read_text(), first)

    def test_bill_lists_what_each_package_links(self):
        file, bill = self.bill(self.release())
        self.assertEqual(list(check.faults(bill)), [])
        names = {package["SPDXID"]: package["name"] for package in bill["packages"]}
        relations = {(names.get(r["spdxElementId"]), r["relationshipType"], names.get(r["relatedSpdxElement"])) for r in bill["relationships"]}
        for expected in (
            ("whorl", "STATIC_LINK", "alpha"), ("whorl", "STATIC_LINK", "beta"), ("whorl", "DYNAMIC_LINK", "libc6"),
            ("alpha", "CONTAINS", "BoringSSL"), ("gamma", "BUILD_DEPENDENCY_OF", "whorl"), (None, "DESCRIBES", "whorld"),
        ):
            self.assertIn(expected, relations)
        self.assertNotIn(("whorl", "STATIC_LINK", "gamma"), relations)
        self.assertFalse([relation for relation in relations if relation[0] == "whorld" and "LINK" in relation[1]])
        swift = {package["name"]: package for package in bill["packages"] if package["SPDXID"].startswith("SPDXRef-Swift")}
        self.assertEqual([swift[name]["licenseDeclared"] for name in ("alpha", "beta", "gamma")], ["Apache-2.0", "MIT", "NOASSERTION"])
        self.assertEqual(swift["alpha"]["downloadLocation"], f"git+https://example.org/alpha.git@{'cd' * 20}")
        self.assertNotIn(str(self.tree), file.read_text())

    def test_package_with_unlisted_programs_is_refused(self):
        self.deb("whorl-other", program="/bin/true")
        result = self.run_in_tree("packaging/sbom", "debs")
        self.assertIn("whorl-other has programs", result.stderr)
        self.assertNotEqual(result.returncode, 0)

    def test_notices_have_every_license_and_each_text_once(self):
        text = (self.release() / "THIRD-PARTY-NOTICES.txt").read_text()
        for part in ("The alpha project", "The license of a copy.", MIT.strip(), "==== ICU 99", "GCC Runtime Library Exception"):
            self.assertEqual(text.count(part), 1, part)
        self.assertIn("Copyright 2014 Someone\nCopyright 2015 Someone\n\nKeep this.\n", text.replace("\n\n\n", "\n\n"))
        self.assertNotIn("Ask the authors.", text)

    # --- the check

    def test_check_finds_each_fault_of_a_bill(self):
        _, bill = self.bill(self.release())

        def fault(change):
            copy = json.loads(json.dumps(bill))
            change(copy)
            return " ".join(check.faults(copy))

        for change, expected in (
            (lambda b: b.pop("dataLicense"), "dataLicense"),
            (lambda b: b.update(documentNamespace="urn:a#b"), "documentNamespace"),
            (lambda b: b["creationInfo"].update(created="today"), "created"),
            (lambda b: b["packages"].append(dict(b["packages"][0])), "is not unique"),
            (lambda b: b["packages"][0].pop("downloadLocation"), "no download location"),
            (lambda b: b["packages"][0].pop("name"), "no name or version"),
            (lambda b: b["packages"][0].update(SPDXID="SPDXRef-a b"), "is not an SPDXID"),
            (lambda b: b["packages"][0].update(filesAnalyzed=True), "filesAnalyzed"),
            (lambda b: b["packages"][0].update(licenseDeclared="some license"), "license expression"),
            (lambda b: b["relationships"][0].update(relatedSpdxElement="SPDXRef-none"), "does not exist"),
            (lambda b: b["relationships"][0].update(relationshipType="LIKES"), "unknown relationship"),
            (lambda b: b.update(relationships=[]), "describes no package"),
            (lambda b: b["packages"].append({**b["packages"][0], "SPDXID": "SPDXRef-new"}), "has no relationship"),
        ):
            self.assertIn(expected, fault(change))

    def test_check_finds_what_is_missing_from_a_release(self):
        folder = self.release()
        sums = (folder / "SHA256SUMS").read_text()

        def problems():
            return " ".join(check.problems(folder))

        self.assertEqual(problems(), "")
        (deb,) = folder.glob("whorl_*.deb")
        contents = deb.read_bytes()
        deb.write_bytes(contents + b"x")
        self.assertIn("wrong checksum", problems())
        # Also if someone updates the checksum.
        digest = hashlib.sha256(contents).hexdigest()
        (folder / "SHA256SUMS").write_text(sums.replace(digest, hashlib.sha256(contents + b"x").hexdigest()))
        self.assertIn("bills of materials have another checksum", problems())
        deb.write_bytes(contents)
        (folder / "SHA256SUMS").write_text(sums)
        file, bill = self.bill(folder)
        bill["packages"] = [package for package in bill["packages"] if package["name"] != "gamma"]
        file.write_text(json.dumps(bill))
        self.assertIn("the Swift package gamma 1.0.0 is missing", problems())
        file.unlink()
        self.assertIn("*.spdx.json is missing", problems())


if __name__ == "__main__":
    unittest.main(verbosity=1)
