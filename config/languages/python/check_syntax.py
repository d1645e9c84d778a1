# SPDX-License-Identifier: Apache-2.0
"""Compiles files without running them.

Input: {"root": folder, "files": [relative path]}. Output, one JSON object a line: {"file", "line", "message"} for each file
that does not compile, then {"end": true, "checked": number of files}. No code of the project is run.
"""
import errno
import json
import os
import sys
import warnings


def main():
    request = json.loads(sys.stdin.buffer.read().decode("utf-8", "surrogateescape"))
    warnings.simplefilter("ignore")
    for file in request["files"]:
        line, message = 0, None
        try:
            with open(os.path.join(request["root"], file), "rb") as stream:
                compile(stream.read(), file, "exec", dont_inherit=True)
        except SyntaxError as error:
            line, message = error.lineno or 0, f"{type(error).__name__}: {error.msg}"
        except (OSError, ValueError, RecursionError, MemoryError) as error:
            if getattr(error, "errno", None) == errno.EIO:
                raise               # The disk failed, so this is not a finding about the file.
            message = f"{type(error).__name__}: {error}"
        if message is not None:
            line = json.dumps({"file": file, "line": line, "message": message[:500]}, ensure_ascii=False)
            sys.stdout.buffer.write(line.encode("utf-8", "replace") + b"\n")
    sys.stdout.buffer.write(json.dumps({"end": True, "checked": len(request["files"])}).encode() + b"\n")


if __name__ == "__main__":
    main()
