# SPDX-License-Identifier: Apache-2.0
"""Runs tests as a user would: with plain pytest or unittest, in the order of the arguments. If they pass, outside_tests.py checks that the code
does the same in a plain program, and that the tests make the same calls in BEFORE, the same tree without the change. varied_calls.py tries the
code with other arguments.

usage: python3 run_plain.py BEFORE ID...     as `file::Class::test`, relative to the working directory
The process that runs the tests contains nothing of this file.
"""
import importlib.util
import os
import resource
import subprocess
import sys


def beside(name):
    """Loads a module of this folder."""
    spec = importlib.util.spec_from_file_location(name, os.path.join(os.path.dirname(os.path.abspath(__file__)), name + ".py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def not_measured(why):
    print("agentforge: not measured: " + why, file=sys.stderr)
    sys.exit(77)


def main():
    runner = beside("run_tests")
    root, before, ids = os.getcwd(), sys.argv[1], sys.argv[2:]
    files = sorted({each.split("::")[0] for each in ids})
    with_pytest = runner.configured_for_pytest(root) is not None or runner.written_for_pytest(root, files)
    if with_pytest and importlib.util.find_spec("pytest") is None:
        with_pytest = False
    folders = [os.path.join(root, "src"), root]
    if with_pytest:
        arguments = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "--color=no", "--tb=line"] + ids
    else:
        names = []
        for each in ids:
            parts = each.split("::")
            if len(parts) != 3:
                not_measured(each + " has no name that unittest takes")
            module, folder = runner.module_name_and_folder(root, parts[0])
            if not all(part.isidentifier() for part in module.split(".")):
                not_measured(parts[0] + " is no module's name")
            folders.append(folder)
            names.append(".".join([module] + parts[1:]))
        if len({name.rsplit(".", 2)[0] for name in names}) != len(files):
            not_measured("two test files have one module's name")
        arguments = ["-m", "unittest", "-q"] + names
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    environment["PYTHONPATH"] = os.pathsep.join(dict.fromkeys(folder for folder in folders if os.path.isdir(folder)))
    code = subprocess.run([sys.executable, "-B"] + arguments, env=environment, check=False).returncode
    if code != 0:
        sys.exit(1)
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    other = beside("outside_tests").finding(root, before, files, arguments[1:], environment, spent.ru_utime + spent.ru_stime, beside("varied_calls").finding)
    if other:
        sys.exit(other)


if __name__ == "__main__":
    main()
