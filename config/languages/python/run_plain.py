# SPDX-License-Identifier: Apache-2.0
"""Runs tests as their user would: pytest or unittest by itself, in the order of the arguments.

usage: python3 run_plain.py ID...     as `file::Class::test`, relative to the working directory
Nothing of this file is left in the process that runs the tests.
"""
import importlib.util
import os
import sys


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    spec = importlib.util.spec_from_file_location("run_tests", os.path.join(here, "run_tests.py"))
    runner = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(runner)
    root, ids = os.getcwd(), sys.argv[1:]
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
                sys.exit("agentforge: not measured: " + each + " has no name that unittest takes")
            module, folder = runner.module_name_and_folder(root, parts[0])
            if not all(part.isidentifier() for part in module.split(".")):
                sys.exit("agentforge: not measured: " + parts[0] + " is no module's name")
            folders.append(folder)
            names.append(".".join([module] + parts[1:]))
        if len({name.rsplit(".", 2)[0] for name in names}) != len(files):
            sys.exit("agentforge: not measured: two test files have one module's name")
        arguments = ["-m", "unittest", "-q"] + names
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONHASHSEED"}
    environment["PYTHONPATH"] = os.pathsep.join(dict.fromkeys(folder for folder in folders if os.path.isdir(folder)))
    os.execve(sys.executable, [sys.executable, "-B"] + arguments, environment)


if __name__ == "__main__":
    main()
