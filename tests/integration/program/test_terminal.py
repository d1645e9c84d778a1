# SPDX-License-Identifier: Apache-2.0
"""The program in a terminal: its screen while it runs, when the window changes or a person presses a key, and afterwards."""

import os
import re
import signal
import threading
import time

import yaml

from harness import REQUEST, SOURCE, TRANSCRIPT, ProgramTest, main, short_transcript, wait_until
from model_server import KEY, ModelServer
from test_commands import QUESTION, doubtful_transcript
from terminal import Terminal

STAGES = "intake  · clarify  · analyze  · spec  · red  · green  · refactor  · deliver"


class TerminalTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.make_repository()

    def held(self, request, *arguments, **options):
        """Starts a run whose model does not answer request number `request` until `release` is set."""
        self.release = threading.Event()
        self.addCleanup(self.release.set)
        self.environment["SCRIPTED_MODEL_KEY"] = KEY
        self.server = ModelServer(short_transcript(), SOURCE / "config", before={request: lambda: self.release.wait() and None})
        self.addCleanup(self.server.close)
        terminal = Terminal(self, "start", "--set", "llm.backend=openai", "--set", "llm.model=scripted", "--set", f"llm.base_url={self.server.url}/v1",
                            "--set", "llm.api_key_env=SCRIPTED_MODEL_KEY", *arguments, REQUEST, **options)
        wait_until(lambda: len(self.server.requests) >= request or terminal.process.poll() is not None, "the model's request")
        return terminal

    def live(self, terminal, count=3):
        """Returns the live lines, with zeros for the time."""
        return [re.sub(r"\b\d+:\d\d\b", "0:00", line) for line in terminal.lines()[-count:]]


class TestTerminalLiveView(TerminalTest):
    def test_shows_the_pipeline_progress_and_cost(self):
        terminal = self.held(1)
        terminal.wait_for("asking the model")
        self.assertEqual([re.sub(r"  0:00$", "", line) for line in self.live(terminal)],
                         ["● " + STAGES, "intake  requirements_analyst  asking the model", "0:00  tests 21/21"])

    def test_disappears_when_the_task_ends(self):
        terminal = Terminal(self, "start", "--transcript", TRANSCRIPT, "--exit-after", "intake", REQUEST)
        shown = "\n".join(terminal.ended(0))
        self.assertNotIn("● ", shown)
        self.assertIn("1/8 intake    requirements_analyst\n    ok   step 1", shown)
        self.assertIn("\nDone: ", shown)

    def test_fits_a_terminal_of_forty_columns(self):
        terminal = self.held(1, columns=40)
        terminal.wait_for("● intake  0/8")
        self.assertEqual(self.live(terminal)[0], "● intake  0/8")
        self.assertTrue(all(len(line) < 40 for line in self.live(terminal)), self.live(terminal))

    def test_survives_a_shrinking_window(self):
        terminal = self.held(1)
        terminal.wait_for("asking the model")
        before = terminal.lines()[0]
        terminal.resize(50)
        terminal.wait_for("● intake  0/8")
        self.assertEqual(terminal.lines()[0], before[:50].rstrip())
        self.assertEqual(self.live(terminal)[0], "● intake  0/8")

    def test_is_redrawn_below_the_shell_after_ctrl_z(self):
        terminal = self.held(1)
        terminal.wait_for("asking the model")
        # A terminal does not stop the leader of its session, as it would stop a shell's job. So the test sends the signal.
        os.kill(terminal.process.pid, signal.SIGSTOP)
        drawn = len(terminal.raw)
        os.kill(terminal.process.pid, signal.SIGCONT)
        wait_until(lambda: len(terminal.raw) > drawn, "it to be drawn again")
        wait_until(lambda: terminal.text().count("● " + STAGES) == 2, "both drawings")
        self.assertEqual(self.live(terminal)[0], "● " + STAGES)

    def test_success_is_green_and_refusal_is_yellow(self):
        terminal = Terminal(self, "start", "--transcript", TRANSCRIPT, "--exit-after", "red", REQUEST, lines=80)
        terminal.ended(0)
        self.assertEqual(terminal.colour_of("ok   step 1 "), "green")
        self.assertEqual(terminal.colour_of("deny step"), "brown")

    def test_no_color_is_respected(self):
        terminal = self.held(1, environment={"NO_COLOR": "1"})
        terminal.wait_for("asking the model")
        self.assertNotRegex(terminal.raw.decode(), r"\x1b\[[0-9;]*m")

    def test_a_dumb_terminal_gets_plain_lines(self):
        terminal = Terminal(self, "start", "--transcript", TRANSCRIPT, "--exit-after", "intake", REQUEST, environment={"TERM": "dumb"})
        terminal.ended(0)
        self.assertNotIn(b"\x1b", terminal.raw)

    def test_a_locale_without_unicode_gets_ascii(self):
        terminal = self.held(1, environment={"LANG": "C", "LC_ALL": "C"})
        terminal.wait_for("asking the model")
        self.assertEqual(self.live(terminal)[0], ("* " + STAGES).replace("·", "."))
        self.assertTrue(terminal.raw.isascii())

    def test_lines_of_successful_steps_fit(self):
        terminal = Terminal(self, "start", "--transcript", TRANSCRIPT, "--exit-after", "red", REQUEST, columns=60, lines=90)
        for line in terminal.ended(0):
            if line.lstrip().startswith("ok   step"):
                self.assertRegex(line, r"step \d+ +[a-z_]+ ")


class TestTerminalKeys(TerminalTest):
    def test_ctrl_c_stops_after_the_step_and_says_how_to_resume(self):
        terminal = self.held(2)
        terminal.press(b"\x03")
        terminal.wait_for("stopping at the end of this step")
        self.release.set()
        shown = terminal.ended(23)
        self.assertIn(f"  agentforge resume {self.task()[-8:]}     # continues where it stopped", shown)
        self.assertEqual(len(self.steps()), 2)

    def test_ctrl_c_twice_does_not_wait_for_the_step(self):
        terminal = self.held(2)
        terminal.press(b"\x03")
        terminal.wait_for("(Ctrl-C again: at once)")
        terminal.press(b"\x03")
        shown = terminal.ended(23)
        self.assertIn(f"  agentforge resume {self.task()[-8:]}     # continues where it stopped", shown)
        self.assertEqual(len(self.steps()), 1)

    def test_a_closed_terminal_pauses_the_task(self):
        terminal = self.held(2)
        terminal.close()
        terminal.process.wait()
        self.assertEqual(terminal.process.returncode, 23)
        self.assertEqual(self.journal()[-1]["type"], "task_paused")

    def test_supervised_shows_each_artifact_and_asks_there(self):
        terminal = Terminal(self, "start", "--transcript", str(TRANSCRIPT), "--supervised", "--exit-after", "clarify", REQUEST, lines=120)
        terminal.wait_for("Approve? [y/n")
        self.assertIn("  | suggested_approach:", terminal.text())
        terminal.press(b"y\n")
        self.assertIn("Done: " + REQUEST, terminal.ended(0))
        self.assertEqual([r["decision"] for r in self.records("approval_decided")], ["approve"])

    def test_approval_can_be_given_and_refused(self):
        model = ("--transcript", str(TRANSCRIPT))
        shown = later(Terminal(self, "start", *model, "--supervised", "--exit-after", "analyze", REQUEST))
        self.assertIn(f"  agentforge approve {self.task()[-8:]}", "\n".join(shown))
        shown = "\n".join(later(Terminal(self, "approve", self.task(), lines=120)))
        self.assertIn("2/8 clarify", shown)
        self.assertNotIn("● ", shown)
        shown = "\n".join(Terminal(self, "reject", self.task()).ended(23))
        self.assertIn("Not done, aborted at stage clarify: " + REQUEST, shown)

    def init_with_claude(self):
        """Starts `init` with the `claude` command on the path, and waits until it asks for the model."""
        commands = self.folder / "commands"
        commands.mkdir()
        (commands / "claude").write_text("#!/bin/sh\n")
        (commands / "claude").chmod(0o755)
        self.environment["PATH"] = f"{commands}:{self.environment['PATH']}"
        terminal = Terminal(self, "init", environment=self.environment)
        terminal.wait_for("Number (empty: each task uses the first that answers):")
        self.assertIn("  1  claude  (the `claude` command)", terminal.text())
        return terminal

    def test_init_asks_for_the_model_and_saves_it_in_the_users_settings(self):
        terminal = self.init_with_claude()
        terminal.press(b"1\n")
        shown = terminal.ended(0)
        self.assertEqual(shown[-1], 'Next: agentforge start "what you want"')
        self.assertEqual(self.run_program("config", "get", "llm.backend").out, "cli\n")
        self.assertEqual(self.run_program("config", "get", "llm.preset").out, "claude\n")

    def test_init_saves_no_model_if_none_is_chosen(self):
        terminal = self.init_with_claude()
        terminal.press(b"\n")
        self.assertIn("Nothing was written; each task uses the first that answers.", terminal.ended(0))
        self.assertEqual(self.run_program("config", "get", "llm.preset").out.strip('"\n'), "")


def later(terminal):
    """Postpones the approval that the terminal asks for. Returns the lines of the screen."""
    terminal.wait_for("Approve? [y/n")
    terminal.press(b"\n")
    return terminal.ended(22)


def plain(text):
    """Replaces ids and times, which change from run to run. Keeps the right edge of a box in its place."""
    text = re.sub(r"task-\d{8}-[a-z0-9-]*?-([0-9a-f]{8})\b", "TASK", text)
    text = re.sub(r"\b[0-9a-f]{8}\b", "IDIDIDID", text)
    text = re.sub(r"\b\d+:\d\d\b", "0:00", text)
    text = re.sub(r" +\d+ s ago │", " 0 s ago │", text)
    text = re.sub(r" +\d+ s │", " 0 s │", text)
    text = re.sub(r"\(\d+ s ago\) *│", "(0 s ago) │", text)
    return re.sub(r"\d+(\.\d)? m?s\b", "0 s", text)


class TestTerminalForADay(TerminalTest):
    """One task, followed by a person screen by screen."""

    def shown(self, terminal):
        return plain(terminal.text()).splitlines()

    def box(self, terminal, columns, *lines):
        """Compares the whole screen with a box that contains these lines."""
        rule = "─" * (columns - 2)
        expected = [f"┌{rule}┐", *(f"├{rule}┤" if line is None else "│ " + line for line in lines), f"└{rule}┘"]
        expected = [re.sub(r" +", " ", line).rstrip() for line in expected]
        deadline = time.monotonic() + 10
        while (got := [re.sub(r" +", " ", re.sub(r" *│$", "", line)) for line in self.shown(terminal)]) != expected and time.monotonic() < deadline:
            os.sched_yield()        # The program is still drawing.
        self.assertEqual(got, expected)

    def watched(self, stage, *last):
        return ["AGENTFORGE STATUS textkit", None, "Active: 1 Completed: 0 Waiting for you: 0", "", f"● IDIDIDID {stage} █████░░░░░ 50% 0 s", f' "{REQUEST}"', *last]

    def test_start_watch_resize_interrupt_and_resume(self):
        terminal = self.held(2, "--exit-after", "clarify", columns=200)
        terminal.wait_for("asking the model")
        watch = Terminal(self, "status", "--watch", columns=80, lines=30)
        watch.wait_for("CLARIFY")
        self.box(watch, 80, *self.watched("CLARIFY", " Last: complete (0 s ago)"))

        watch.resize(40, 30)
        watch.wait_for("1 active, 0 done")
        self.assertTrue(all(len(line) == 40 for line in watch.lines()), watch.text())
        watch.resize(80, 30)
        watch.wait_for("Active: 1")

        terminal.press(b"\x03")
        terminal.wait_for("(Ctrl-C again: at once)")
        self.release.set()
        self.assertEqual([plain(line) for line in terminal.ended(23)[-2:]], ["  agentforge resume IDIDIDID     # continues where it stopped", "  agentforge inspect IDIDIDID    # shows every step"])
        watch.wait_for("PAUSED")
        self.box(watch, 80, "AGENTFORGE STATUS textkit", None, "Active: 0 Completed: 0 Waiting for you: 0 Paused: 1", "", "· IDIDIDID PAUSED █████████░ 95% 0 s", f' "{REQUEST}"',
                 " Last: complete (0 s ago)", " Paused: interrupted", " agentforge resume IDIDIDID")
        watch.press(b"\x03")
        watch.ended(23)

        resumed = [plain(line) for line in Terminal(self, "resume", "--set", "llm.backend=replay", "--set", f"llm.transcript={TRANSCRIPT}", self.task(), columns=200, lines=60).ended(0)]
        self.assertEqual([line for line in resumed if line.startswith(("task", "1/8", "2/8", "3/8", "Done"))],
                         ["task IDIDIDID  (pipeline implement)", "2/8 clarify   business_analyst  (continued)", "Done: " + REQUEST])

    def test_approve_reject_and_the_box_of_each(self):
        later(Terminal(self, "start", "--transcript", str(TRANSCRIPT), "--supervised", "--exit-after", "analyze", REQUEST))
        status = Terminal(self, "status", columns=80)
        status.ended(0)
        self.box(status, 80, "AGENTFORGE STATUS textkit", None, "Active: 0 Completed: 0 Waiting for you: 1", "", "⚠ IDIDIDID WAITS: APPROVAL 30% 0 s", f' "{REQUEST}"', " Waiting: approval of intake",
                 " agentforge approve IDIDIDID")
        (self.task_folder() / "state.yaml").unlink()        # `status TASK` reads the journal.
        status = Terminal(self, "status", self.task(), columns=80)
        status.ended(0)
        self.assertIn(" Waiting: approval of intake", "\n".join(self.shown(status)))
        approved = [plain(line) for line in later(Terminal(self, "approve", self.task()[-8:], columns=200))]
        self.assertEqual([line for line in approved if line.startswith(("2/8", "Waiting", "  agentforge"))],
                         ["2/8 clarify   business_analyst", "Waiting for your approval at stage clarify: " + REQUEST, "  agentforge approve IDIDIDID                      # continues with the next stage",
                          '  agentforge feedback IDIDIDID "what to change"    # the stage runs again with it', "  agentforge reject IDIDIDID                       # ends the task"])
        Terminal(self, "reject", self.task()[-8:]).ended(23)
        status = Terminal(self, "status", columns=80)
        status.ended(0)
        self.assertIn("│ ✗ IDIDIDID ABORTED", "\n".join(self.shown(status)))

    def test_a_question_is_shown_and_answered(self):
        file = self.folder / "doubtful.yaml"
        file.write_text(yaml.safe_dump(doubtful_transcript(), allow_unicode=True), encoding="utf-8")
        asked = [plain(line) for line in Terminal(self, "start", "--transcript", file, "--exit-after", "clarify", REQUEST, columns=200).ended(22)]
        question = self.run_program("escalations", "list", "--json").json["escalations"][0]["id"]
        self.assertIn('  agentforge resolve IDIDIDID "your answer"    # or --abort, which ends the task', asked)
        status = Terminal(self, "status", columns=80)
        status.ended(0)
        text = re.sub(r" *│\n│ *", " ", status.text())
        self.assertIn("ESCALATED", text)
        self.assertIn(f"Waiting: {QUESTION}"[:60], text)
        self.assertIn(f"agentforge resolve {question}", text.replace(" ", "").replace("agentforgeresolve", "agentforge resolve "))
        answered = [plain(line) for line in Terminal(self, "resolve", self.task()[-8:], "Yes, digits stay", columns=200).ended(0)]
        self.assertIn("Done: " + REQUEST, answered)

    def test_watch_reprints_the_box_on_a_terminal_without_cursor_control(self):
        terminal = self.held(1)
        terminal.wait_for("asking the model")
        watch = Terminal(self, "status", "--watch", columns=80, environment={"TERM": "dumb"})
        watch.wait_for("● ")
        watch.press(b"\x03")
        watch.ended(23)
        self.assertNotIn(b"\x1b", watch.raw)


    def test_follow_shows_progress_and_ends_with_the_task(self):
        terminal = self.held(2, "--exit-after", "clarify")
        terminal.wait_for("asking the model")
        follower = Terminal(self, "logs", self.task(), "--follow", columns=60)
        follower.wait_for("stage_started  stage=clarify")
        self.assertTrue(all(len(line) < 60 for line in follower.lines()), follower.text())
        self.release.set()
        terminal.ended(0)
        shown = "\n".join(follower.ended(0))
        self.assertRegex(shown, r"(?m)^\d\d:\d\d:\d\d  step 2 complete: completed$")
        self.assertRegex(shown, r"\d  task_completed$")

    def test_ctrl_c_ends_follow_and_leaves_the_task_running(self):
        terminal = self.held(1)
        terminal.wait_for("asking the model")
        follower = Terminal(self, "logs", self.task(), "--follow")
        follower.wait_for("stage_started  stage=intake")
        follower.press(b"\x03")
        follower.ended(23)
        self.assertIsNone(terminal.process.poll())


class TestTerminalPager(TerminalTest):
    """Long output on a terminal."""

    def setUp(self):
        super().setUp()
        self.assert_code(self.start("--exit-after", "intake"), 0)
        self.pager = self.folder / "pager"
        self.seen = self.folder / "seen"
        self.pager.write_text(f"#!/bin/sh\ncat > {self.seen}\n")
        self.pager.chmod(0o755)

    def inspect(self, lines, **environment):
        return Terminal(self, "inspect", self.task(), lines=lines, environment=environment).ended(0)

    def test_long_output_goes_to_the_pager(self):
        self.assertEqual(self.inspect(5, PAGER=str(self.pager)), [])
        seen, whole = self.seen.read_text().splitlines(), self.run_program("inspect", self.task()).out.splitlines()
        self.assertEqual((seen[0], seen[-1], len(seen)), (whole[0], whole[-1], len(whole)))

    def test_output_that_fits_does_not_go_to_the_pager(self):
        self.assertIn("verifies", "\n".join(self.inspect(400, PAGER=str(self.pager))))
        self.assertFalse(self.seen.exists())

    def test_a_pager_that_cannot_be_run_loses_nothing(self):
        terminal = Terminal(self, "inspect", self.task(), lines=5, environment={"PAGER": "/nowhere/pager"})
        terminal.ended(0)
        self.assertRegex(terminal.raw.decode(), r"(?s)/nowhere/pager.*verifies")

    def test_agentforge_pager_takes_precedence(self):
        self.inspect(5, PAGER="false", AGENTFORGE_PAGER=str(self.pager))
        self.assertTrue(self.seen.exists())

    def test_lines_of_a_journal_and_of_lists_fit_the_terminal(self):
        for command in (("inspect", self.task()), ("agents", "list"), ("plugins", "list")):
            lines = Terminal(self, *command, columns=60, lines=400, environment={"PAGER": "cat"}).ended(0)
            self.assertTrue(any(line.endswith("…") for line in lines), lines)
            self.assertTrue(all(len(line) < 60 for line in lines if line.endswith("…")), lines)

    def test_prose_is_wrapped_at_blanks(self):
        for command in (("start", "--help"), ("help", "plugins", "new"), ("pipelines", "list"), ("cost", self.task())):
            terminal = Terminal(self, *command, columns=40, lines=400, environment={"PAGER": "cat"})
            terminal.ended(0)
            told = terminal.raw.decode()
            self.assertTrue(all(len(line) <= 40 for line in told.splitlines() if " " in line.strip()), told)
            self.assertEqual([word.rstrip("…") for word in told.split()][-1], self.run_program(*command).out.split()[-1])

    def test_help_is_paged(self):
        terminal = Terminal(self, "start", "--help", lines=5, environment={"PAGER": str(self.pager)})
        self.assertEqual(terminal.ended(0), [])
        self.assertIn("--exit-after", self.seen.read_text())

    def test_ctrl_c_belongs_to_the_pager(self):
        self.pager.write_text(f"#!/bin/sh\ntrap 'echo heard' INT\ncat > /dev/null\necho up\nuntil [ \"$key\" = q ]; do read key < /dev/tty; done\n: > {self.seen}\n")
        terminal = Terminal(self, "inspect", self.task(), lines=5, environment={"PAGER": str(self.pager)})
        terminal.wait_for("up")
        for _ in range(3):
            terminal.press(b"\x03")
        terminal.wait_for("heard")
        self.assertIsNone(terminal.process.poll())
        terminal.press(b"q\n")
        terminal.ended(0)
        self.assertTrue(self.seen.exists())

    def test_a_pipeline_may_be_the_pager(self):
        self.assertEqual(self.inspect(5, PAGER="cat | head -n 1"), [self.run_program("inspect", self.task()).out.splitlines()[0]])

    def test_json_is_never_paged(self):
        self.assertIn("}", Terminal(self, "inspect", self.task(), "--json", lines=5, environment={"PAGER": str(self.pager)}).ended(0)[-1])
        self.assertFalse(self.seen.exists())


if __name__ == "__main__":
    main()
