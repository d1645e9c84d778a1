# SPDX-License-Identifier: Apache-2.0
"""A scripted model for the pipeline `loop`: the task of the recorded transcript, planned in two steps."""

import json

from harness import IMPLEMENTATION, call, entry, load_transcript, short_transcript

STEPS = [
    {"number": 1, "title": "Write slugify", "description": "Replace the skeleton's body", "estimate": "small", "requirements": ["REQ-001", "REQ-002", "REQ-003"], "files": ["textkit/slug.py"]},
    {"number": 2, "title": "Export it", "description": "textkit exports slugify", "estimate": "trivial", "requirements": [], "depends_on": [1], "files": ["textkit/__init__.py"]},
]
PLANNER = "software_architect"
DEVELOPER = "software_developer"


def said(stage, role, step, calls, visit=1, run=1):
    return {"stage": stage, "role": role, "visit": visit, "run": run, "step": step, "tool_calls": calls}


def _arguments(stage, step, role=None):
    return entry(short_transcript(), stage, step, role)["tool_calls"][0]["arguments"]


def plan(visit=1, steps=STEPS, **changes):
    return [said("plan", PLANNER, 1, call("complete", **{**_arguments("spec", 1, "software_architect"), "steps": steps, **changes}), visit)]


def tests(visit=1):
    return [said("tests", "test_engineer", one["step"], one["tool_calls"], visit) for one in short_transcript()["entries"] if one["stage"] == "red"]


RIGHT_TEST = 'slugify("Hello, World!"), "hello-world"'
WRONG_TEST = 'slugify("Hello, World!"), "hello_world"'


def wrong_tests():
    """Returns tests of which one expects something that is not in the plan."""
    return [json.loads(json.dumps(one).replace(json.dumps(RIGHT_TEST)[1:-1], json.dumps(WRONG_TEST)[1:-1])) for one in tests()]


def corrects_tests(visit=2):
    written, handed_in = (one["tool_calls"] for one in tests())
    actions = [call("delete_file", path="tests/test_slug.py"), written, handed_in]
    return [said("tests", "test_engineer", step, action, visit) for step, action in enumerate(actions, 1)]


def hands_back(visit=1, run=2, step=1, to="red"):
    claim = {"to": to, "tests": ["tests/test_slug.py::TestSlugify::test_words_are_joined_by_hyphens_in_lower_case"], "criterion": "'Hello, World!' becomes 'hello-world'",
             "reason": "The test expects an underscore where the plan says a hyphen"}
    return said("execute", DEVELOPER, step, call("complete", summary="One test is wrong.", file_notes={}, hand_back=claim), visit, run)


def skeleton():
    return _arguments("green", 1)["search"]


def writes_slugify(visit=1, run=1, text=IMPLEMENTATION, replaces=None, step=1):
    """Returns a plan step that writes the function and hands in its artifact."""
    edit = call("edit_file", path="textkit/slug.py", search=replaces or skeleton(), replace=text)
    return [said("execute", DEVELOPER, step, edit, visit, run), hands_in("slugify joins ASCII words by hyphens.", visit, run, step + 1, {"textkit/slug.py": "the function"})]


def exports(visit=1, run=2):
    edit = next(one["tool_calls"] for one in _all_of("green") if one["tool_calls"][0]["arguments"].get("path") == "textkit/__init__.py")
    return [said("execute", DEVELOPER, 1, edit, visit, run), hands_in("The package exports slugify.", visit, run, 2, {"textkit/__init__.py": "exports it"})]


def _all_of(stage):
    return [one for one in load_transcript()["entries"] if one["stage"] == stage]


def hands_in(summary, visit=1, run=1, step=1, notes=None):
    return said("execute", DEVELOPER, step, call("complete", summary=summary, file_notes=notes or {}), visit, run)


def fails(visit=1, run=1):
    """Returns a plan step in which the same action fails three times."""
    return [said("execute", DEVELOPER, step, call("read_file", path="no/such/file.py"), visit, run) for step in (1, 2, 3)]


def review(decision="approve", visit=1, issues=()):
    summary = {"approve": "It does what was asked for.", "revise": "The code is not good enough yet.", "replan": "The plan lacks something."}[decision]
    return [said("review", "code_reviewer", 1, call("complete", decision=decision, summary=summary, issues=list(issues)), visit)]


def issue(description, severity="high"):
    return {"id": "REV-001", "severity": severity, "description": description, "remediation": "Handle it."}


def deliver(visit=1):
    return [said("deliver", "devops_engineer", 1, entry(short_transcript(), "deliver", 1)["tool_calls"], visit)]


WRONG = '''"""Slugs for URLs."""


def slugify(text: str) -> str:
    """Return the text in lower case."""
    return text.casefold()
'''


def transcript(*parts):
    entries = json.loads(json.dumps([one for part in parts for one in part]))      # No shared objects: YAML would write anchors for them.
    return {**{key: value for key, value in short_transcript().items() if key != "entries"}, "entries": entries}


def good():
    return transcript(plan(), tests(), writes_slugify(), exports(), review(), deliver())
