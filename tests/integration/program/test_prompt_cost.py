# SPDX-License-Identifier: Apache-2.0
"""What the prompts of a long run cost beside those of a program that sends its whole conversation, in bytes that no cache knows: a byte read
from the server's cache counts 0.1, one written into it 1.25, any other 1. docs/performance.md says where the others' figures come from."""

import hashlib
import json

from harness import SOURCE, ProgramTest, call, load_transcript, main
from model_server import KEY, ModelServer

PIPELINE = """pipeline:
  name: steps
  description: One stage of many steps
  goal_type: design
  timeout_seconds: 3600
  stages:
    - name: intake
      max_steps: 600
      timeout_seconds: 3600
"""
CLAUDE_CODE = {50: (77_000, 92_000), 500: (77_000, 235_000)}       # Bytes of the first and the last prompt.
LOOKED_AT = 20          # Blocks before a mark of which the server knows whether it has their end in its cache.


def of_a_conversation(steps, first, last):
    """It grows by the same every turn; what was there before is read from the cache, and what is new is written into it."""
    growth = (last - first) / (steps - 1)
    return 1.25 * first + sum(0.1 * (first + growth * (step - 1)) + 1.25 * growth for step in range(1, steps))


def blocks_of(body):
    """In the order in which the server puts them together: (bytes, whether its end is marked)."""
    for block in [*body.get("tools", []), *body["system"], *body["messages"][0]["content"]]:
        marked = block.pop("cache_control", None) is not None
        yield json.dumps(block, ensure_ascii=False, sort_keys=True).encode(), marked


class Cache:
    """Anthropic's: an entry is a prompt's beginning up to a mark."""

    def __init__(self):
        self.entries = set()
        self.sent = self.equivalents = self.read = 0

    def ask(self, body):
        digest, size, ends, marks = hashlib.sha256(), 0, [], []
        for text, marked in blocks_of(body):
            digest.update(text)
            size += len(text)
            ends.append((digest.hexdigest(), size))
            if marked:
                marks.append(len(ends) - 1)
        read = max((end for mark in marks for key, end in ends[max(0, mark - LOOKED_AT):mark + 1] if key in self.entries), default=0)
        stays = ends[marks[-1]][1] if marks else 0
        self.entries.update(ends[mark][0] for mark in marks)
        self.sent += size
        self.read += read
        self.equivalents += 0.1 * read + 1.25 * (stays - read) + (size - stays)
        return len(marks)


class TestPromptCost(ProgramTest):
    def setUp(self):
        super().setUp()
        self.make_repository()
        (self.repository / ".agentforge" / "pipelines").mkdir(parents=True)
        (self.repository / ".agentforge" / "pipelines" / "steps.yaml").write_text(PIPELINE)
        self.environment["SCRIPTED_MODEL_KEY"] = KEY

    def asked(self, steps):
        whole = next(entry for entry in load_transcript()["entries"] if entry["stage"] == "intake" and entry["tool_calls"][0]["name"] == "complete")
        one = {key: value for key, value in whole.items() if key not in ("step", "tool_calls")}
        entries = [{**one, "step": step, "tool_calls": call("read_file", path="README.md")} for step in range(1, steps)]
        server = ModelServer({"entries": [*entries, {**whole, "step": steps}]}, SOURCE / "config")
        self.addCleanup(server.close)
        self.assert_code(self.run_program("start", "--pipeline", "steps", "--quiet", "--set", "llm.backend=anthropic", "--set", "llm.model=scripted", "--set",
                                          f"llm.base_url={server.url}", "--set", "llm.api_key_env=SCRIPTED_MODEL_KEY", "Say what the README says"), 0)
        self.assertEqual(len(server.requests), steps)
        return [body for _, _, body in server.requests]

    def cost(self, steps):
        cache = Cache()
        for body in self.asked(steps):
            self.assertLessEqual(cache.ask(body), 4, "the API takes four marks")
        return cache

    def test_50_steps_cost_at_most_half_of_claude_codes(self):
        cache = self.cost(50)
        self.assertLessEqual(cache.equivalents, of_a_conversation(50, *CLAUDE_CODE[50]) / 2)
        self.assertGreater(cache.read / cache.sent, 0.8, "what stays is marked")

    def test_500_steps_cost_at_most_a_quarter_of_claude_codes(self):
        self.assertLessEqual(self.cost(500).equivalents, of_a_conversation(500, *CLAUDE_CODE[500]) / 4)


if __name__ == "__main__":
    main()
