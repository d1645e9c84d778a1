# SPDX-License-Identifier: Apache-2.0
"""The scripts of `agentforge completion`, loaded in the real shells."""

import os
import pathlib
import pty
import select
import subprocess
import time

from harness import PROGRAM, ProgramTest, main

BIN = str(pathlib.Path(PROGRAM).resolve().parent) if PROGRAM else ""
COMMAND_LINES = (
    # the typed words, words that must be offered, words that must not
    ("agentforge pipel", {"pipelines"}, {"start"}),
    ("agentforge plugins l", {"list", "lock"}, {"show", "plugins"}),
    ("agentforge start --exit-a", {"--exit-after"}, {"--json"}),
    ("agentforge start --output-format s", {"stream-json"}, {"json"}),
    ("agentforge start --exit-after ana", {"analyze"}, {"spec"}),
    ("agentforge pipelines show des", {"design"}, {"implement"}),
    ("agentforge -C /tmp config get llm.replay.m", {"llm.replay.match"}, {"llm.backend"}),
    ("agentforge completion z", {"zsh"}, {"bash"}),
    ("agentforge help sta", {"start", "status"}, {"init"}),
    ("agentforge help plugins l", {"list", "lock"}, {"show"}),
    ("agentforge plugins new st", {"stage"}, {"tool"}),
    ("agentforge start --deliver p", {"pr"}, {"commit"}),
    ("agentforge config set llm.mode a", {"agentic"}, {"plain"}),
)


class TestCompletion(ProgramTest):
    def setUp(self):
        super().setUp()
        self.make_repository()
        self.environment["PATH"] = f"{BIN}:{self.environment['PATH']}"

    def script(self, shell):
        file = self.folder / f"_agentforge.{shell}"
        file.write_text(self.assert_code(self.run_program("completion", shell), 0).out)
        return file

    def run_shell(self, *words):
        ran = subprocess.run(words, cwd=self.repository, env=self.environment, capture_output=True, text=True, check=False, timeout=60)
        self.assertEqual(ran.stderr, "")
        return ran.stdout

    def offered(self, lines, offers):
        """Compares the offers of one shell for all lines. A marker precedes each answer."""
        answers = [{word.split("\t")[0].strip() for word in part.splitlines() if word.strip()} for part in offers.split("@@@\n")[1:]]
        self.assertEqual(len(answers), len(lines), offers)
        for (line, wanted, unwanted), answer in zip(lines, answers):
            with self.subTest(line):
                self.assertEqual(wanted - answer, set(), answer)
                self.assertEqual(unwanted & answer, set(), answer)

    def lines(self):
        return [(line.replace("/tmp", str(self.repository)), wanted, unwanted) for line, wanted, unwanted in COMMAND_LINES]

    def test_bash_offers_commands_flags_values_and_names(self):
        asked = f"source {self.script('bash')}\n"
        for line, _, _ in self.lines():
            asked += f"echo @@@; COMP_WORDS=({line}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); _agentforge; printf '%s\\n' \"${{COMPREPLY[@]}}\"\n"
        self.offered(self.lines(), self.run_shell("bash", "--norc", "-c", asked))

    def test_bash_knows_the_function_by_the_command(self):
        self.assertIn("-F _agentforge agentforge", self.run_shell("bash", "--norc", "-c", f"source {self.script('bash')}; complete -p agentforge"))

    def test_fish_offers_commands_flags_values_and_names(self):
        asked = f"source {self.script('fish')}\n"
        for line, _, _ in self.lines():
            asked += f"echo @@@; complete -C '{line}'\n"
        self.offered(self.lines(), self.run_shell("fish", "--no-config", "-c", asked))

    def test_zsh_completes_a_command_and_a_name_on_its_line(self):
        script = self.script("zsh")
        (self.home / ".zshrc").write_text(f"autoload -U compinit; compinit -u -D; source {script}; PS1='ready> '\n")
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(self.repository)
            os.execvpe("zsh", ["zsh", "-i", "-o", "NO_GLOBAL_RCS"], {**self.environment, "TERM": "dumb"})
        seen = ""

        def read_until(text):
            nonlocal seen
            deadline = time.monotonic() + 60
            while text not in seen:
                self.assertGreater(deadline, time.monotonic(), f"no {text!r} in {seen!r}")
                if select.select([terminal], [], [], 1)[0]:
                    seen += os.read(terminal, 4096).decode(errors="replace")

        try:
            read_until("ready> ")
            for typed, completed in (("agentforge pipel\t", "pipelines "), ("sh\t", "show "), ("des\t", "design "), ("\x15agentforge status --state=c\t", "completed")):
                seen = ""
                os.write(terminal, typed.encode())
                read_until(completed)
        finally:
            os.close(terminal)
            os.waitpid(pid, 0)

    def test_the_file_of_a_zsh_function_folder_begins_with_its_command(self):
        self.assertTrue(self.script("zsh").read_text().startswith("#compdef agentforge\n"))


if __name__ == "__main__":
    main()
