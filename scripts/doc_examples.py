"""Which public items of the libraries for kernels have no example in their documentation.

    python3 scripts/doc_examples.py FOLDER       FOLDER is that of the build, target

Prints the items without one and a line for each crate; the exit status is 1 if there are any. Counted are
modules, types, traits, functions, methods and macros, also those that a crate exports from private modules.
"""

import json
import os
import subprocess
import sys
import tempfile

# The package without its "warpsolve-", and features.
CRATES = [("cuda-std", "rand"), ("cust", ""), ("cuda-builder", ""), ("cuda-std-macros", ""), ("cust-derive", "")]

COUNTED = {"module", "struct", "enum", "union", "trait", "function", "macro", "proc_macro"}

# What needs no example, and why.
ALLOWED = {
    "cust::sys": "raw declarations of the driver's functions: NVIDIA documents them",
}


# What the macro `bitflags!` makes for each type of flags, with its own documentation.
BITFLAGS = """
    all bits complement contains difference empty from_bits from_bits_retain from_bits_truncate from_name insert
    intersection intersects is_all is_empty iter iter_names remove set symmetric_difference toggle union
""".split()


def is_allowed(path):
    of, _, name = path.rpartition("::")
    if of.endswith("Flags") and name in BITFLAGS:
        return True
    return any(path == allowed or path.startswith(allowed + "::") for allowed in ALLOWED)


class Crate:
    def __init__(self, document):
        self.items = document["index"]
        self.seen = {}
        root = self.items[str(document["root"])]
        self.name = root["name"]
        self.visit(root, root["name"])

    def children(self, item):
        """What an item has in it that is public, as far as it belongs to this crate."""
        kind, inner = next(iter(item["inner"].items()))
        if kind in ("module", "trait"):
            return inner["items"]
        if kind in ("struct", "enum", "union"):
            impls = [self.items[str(id)]["inner"]["impl"] for id in inner["impls"] if str(id) in self.items]
            return [id for impl in impls if impl["trait"] is None for id in impl["items"]]
        return []

    def visit(self, item, path):
        if item["id"] in self.seen:
            return
        kind, inner = next(iter(item["inner"].items()))
        if kind == "use":
            target = self.items.get(str(inner["id"]))
            if target and target["crate_id"] == item["crate_id"]:
                # Documented where it is used; `as` gives it another name.
                above = path.rsplit("::", 1)[0]
                if inner["is_glob"]:
                    for id in self.children(target):
                        if str(id) in self.items:
                            self.descend(above, self.items[str(id)])
                else:
                    self.visit(target, f"{above}::{inner['name']}")
            return
        if is_allowed(path):
            return
        if kind in COUNTED:
            self.seen[item["id"]] = (path, "```" in (item["docs"] or ""))
        for id in self.children(item):
            if str(id) in self.items:
                self.descend(path, self.items[str(id)])

    def descend(self, path, item):
        self.visit(item, f"{path}::{item['name']}")

    def missing(self):
        return sorted(path for path, has_example in self.seen.values() if not has_example)


def describe(package, features, folder, rustdoc):
    """What rustdoc knows of a crate."""
    command = ["cargo", "rustdoc", "--quiet", "--lib", "--package", f"warpsolve-{package}", "--features", features]
    command += ["--target-dir", folder, "--", "-Zunstable-options", "--output-format", "json"]
    subprocess.run(command, check=True, env={**os.environ, "RUSTDOC": rustdoc})
    with open(f"{folder}/doc/{package.replace('-', '_')}.json", encoding="utf-8") as file:
        return json.load(file)


def outspoken_rustdoc(folder):
    """A rustdoc that tells what is unstable. No other program is asked for that, so that what the compiler has
    made of other crates in the folder of the build serves as it is."""
    path = os.path.join(folder, "rustdoc")
    with open(path, "w", encoding="utf-8") as file:
        file.write('#!/bin/sh\nRUSTC_BOOTSTRAP=1 exec rustdoc "$@"\n')
    os.chmod(path, 0o755)
    return path


def main():
    complete = True
    with tempfile.TemporaryDirectory() as folder:
        rustdoc = outspoken_rustdoc(folder)
        crates = [Crate(describe(package, features, sys.argv[1], rustdoc)) for package, features in CRATES]
    for crate in crates:
        missing = crate.missing()
        for item in missing:
            print(f"no example: {item}")
        print(f"{crate.name}: {len(crate.seen) - len(missing)} of {len(crate.seen)} public items have an example")
        complete = complete and not missing
    sys.exit(0 if complete else 1)


if __name__ == "__main__":
    main()
