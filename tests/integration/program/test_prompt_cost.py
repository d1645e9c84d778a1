# SPDX-License-Identifier: Apache-2.0
"""Compares the prompt cost of a long run with that of a program that sends its whole conversation. The unit is one uncached byte: a byte read
from the server's cache counts 0.1, one written into it 1.25, any other 1. docs/performance.md has the source of the other programs' figures."""

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
LOOKED_AT = 20          # The number of blocks before a mark at whose ends the server looks for a cache entry.


def of_a_conversation(steps, first, last):
    """Returns the cost of a conversation that grows equally each turn. The cache serves the old part; the new part is written into it."""
    growth = (last - first) / (steps - 1)
    return 1.25 * first + sum(0.1 * (first + growth * (step - 1)) + 1.25 * growth for step in range(1, steps))


def blocks_of(body):
    """Yields the prompt's blocks in the server's order: (bytes, whether the block's end is marked)."""
    for block in [*body.get("tools", []), *body["system"], *body["messages"][0]["content"]]:
        marked = block.pop("cache_control", None) is not None
        yield json.dumps(block, ensure_ascii=False, sort_keys=True).encode(), marked


class Cache:
    """Anthropic's prompt cache: an entry is the beginning of a prompt up to a mark."""

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
