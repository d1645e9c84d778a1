# SPDX-License-Identifier: Apache-2.0
"""`audit` and `audit verify` on an ended task: from its folder, its archive, a commit, a new clone."""

import datetime
import hashlib
import html
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import zlib

from harness import REQUEST, SOURCE, TRANSCRIPT, ProgramTest, call, entry, insert, main, short_transcript, trace
from model_server import CACHED_TOKENS, INPUT_TOKENS, KEY, OUTPUT_TOKENS, ModelServer


class AuditTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.make_repository()

    def verify(self, subject, cwd=None):
        return self.run_program("audit", "verify", subject, "--json", cwd=cwd)

    def faults(self, outcome):
        return [finding["part"] + ": " + finding["told"] for finding in outcome.json["findings"] if finding["answer"] == "fails"]

    def assert_verified(self, outcome):
        self.assert_code(outcome, 0)
        self.assertEqual(self.faults(outcome), [])
        return outcome.json

    def clone(self, *refs):
        place = self.folder / f"clone-{len(list(self.folder.glob('clone-*')))}"
        self.git("clone", "-q", self.repository, place, cwd=self.folder)
        if refs:
            self.git("fetch", "-q", "origin", *refs, cwd=place)
        return place

    def script(self, *arguments, cwd=None):
        return subprocess.run([sys.executable, SOURCE / "examples" / "verify.py", *map(str, arguments)], cwd=cwd or self.repository, env=self.environment, capture_output=True, text=True, check=False)


ARCHIVES = "refs/agentforge/archive/*:refs/agentforge/archive/*"


class SignedAuditTest(AuditTest):
    def loose(self, identity):
        return self.repository / ".git" / "objects" / identity[:2] / identity[2:]

    def setUp(self):
        super().setUp()
        key = self.new_key("key")
        self.signers = self.folder / "signers"
        self.signers.write_text(f"test@example.invalid {(self.folder / 'key.pub').read_text()}")
        settings = self.folder / "gitconfig"         # Outside the home, so only GIT_CONFIG_GLOBAL names it.
        self.environment["GIT_CONFIG_GLOBAL"] = str(settings)
        for name, value in (("commit.gpgsign", "true"), ("gpg.format", "ssh"), ("user.signingkey", key), ("gpg.ssh.allowedSignersFile", self.signers), ("agentforge.statementNote", "true")):
            self.git("config", "--file", settings, name, value)

    def new_key(self, name):
        key = self.folder / name
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "test", "-f", str(key)], check=True, stdin=subprocess.DEVNULL)
        return key


class TestAudit(SignedAuditTest):
    """One task, delivered and signed with a real SSH key. A run takes seconds, so the cases are steps of one test."""

    def test_a_delivered_task_verifies(self):
        self.assert_code(self.start("--supervised", transcript=short_transcript()), 22)
        task = self.task()
        with self.subTest("a task under way verifies, and what vouches for its end is told"):
            verdict = self.assert_verified(self.verify(task))
            self.assertIn("state", [voucher["who"] for voucher in verdict["vouchers"]])
            self.assertNotIn("trailer", [voucher["who"] for voucher in verdict["vouchers"]])
        outcome = None
        for _ in range(9):
            outcome = self.go_on("approve", task)
            if outcome.code == 0:
                break
            self.assert_code(outcome, 22)
        self.assert_code(outcome, 0)
        branch = f"agentforge/{task}"
        commit = self.git("rev-parse", branch).strip()

        with self.subTest("everything is checked and holds"):
            verdict = self.assert_verified(self.verify(task))
            self.assertEqual({finding["part"] for finding in verdict["findings"]} - {"projections"},
                             {"journal", "files", "blobs", "artifacts", "trees", "patches", "commit", "statement", "signature", "end"})
            self.assertEqual([finding for finding in verdict["findings"] if finding["answer"] == "unchecked"], [])
            self.assertEqual({voucher["who"] for voucher in verdict["vouchers"]}, {"state", "refs", "trailer", "log", "machine", "archive", "statement"})
            self.assertEqual(self.assert_verified(self.verify(branch))["task_id"], task)

        with self.subTest("the report has request, approvals by hash, gates, confinement, cost"):
            report = self.assert_code(self.run_program("audit", task, "--json"), 0).json
            approved = [row for row in report["approvals"] if row["decision"] == "approved"]
            self.assertGreaterEqual(len(approved), 5)
            self.assertTrue(all(re.fullmatch("[0-9a-f]{64}", row["sha256"]) and row["by"] for row in approved))
            self.assertIn("network", report["gates"][0]["confinement"])
            self.assertTrue(any(re.search(r"tests: \S*python\S* .*run_tests\.py", row["commands"]) for row in report["gates"]), report["gates"])
            self.assertFalse(any("()" in row["commands"] for row in report["gates"]))
            for words, format_ in (("# Audit of task", "md"), ("<h1>Audit of task", "html")):
                self.assertIn(words, self.assert_code(self.run_program("audit", task, "--format", format_), 0).out)

        with self.subTest("a fresh clone proves it without our code, and with it"):
            clone = self.clone(ARCHIVES, f"refs/heads/{branch}:refs/heads/{branch}")
            proven = self.script("--allowed-signers", self.signers, "--require-signature", clone, branch)
            self.assertEqual((proven.returncode, proven.stdout.split("\n")[-2]), (0, "VERIFIED"), proven.stdout + proven.stderr)
            self.assertIn('Good "agentforge" signature for test@example.invalid', proven.stdout)
            self.assert_verified(self.verify(branch, cwd=clone))
            self.assert_verified(self.verify(task, cwd=clone))
        with self.subTest("the note alone says which tree and commit, and by whom"):
            bare = self.clone("refs/notes/agentforge:refs/notes/agentforge", f"refs/heads/{branch}:refs/heads/{branch}")
            noted = self.assert_verified(self.verify(branch, cwd=bare))
            self.assertIn("signature", [finding["part"] for finding in noted["findings"] if finding["answer"] == "holds"])
            self.assertEqual(self.script(bare, branch).returncode, 2)
        with self.subTest("a note proves nothing without a signature, or with one of an unknown key"):
            statement = (self.task_folder(task) / "proof" / "statement.json").read_text()
            someone = ("-c", "user.name=Other", "-c", "user.email=other@example.invalid")
            noting = (*someone, "notes", "--ref", "agentforge")
            forged = self.git(*someone, "commit-tree", "-m", "Forged", f"{branch}^{{tree}}", "-p", "main", cwd=bare).strip()
            statement = statement.replace(commit, forged)
            self.git(*noting, "add", "-m", statement, forged, cwd=bare)
            self.assertIn("the statement is not signed", " ".join(self.faults(self.verify(forged, cwd=bare))))
            key, text = self.folder / "unknown_key", self.folder / "forged.json"
            text.write_text(statement)
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
            subprocess.run(["ssh-keygen", "-q", "-Y", "sign", "-n", "agentforge", "-f", key, text], check=True)
            self.git(*noting, "add", "-f", "-m", statement + text.with_name("forged.json.sig").read_text(), forged, cwd=bare)
            self.assertIn("does not name that key", " ".join(self.faults(self.verify(forged, cwd=bare))))

        with self.subTest("a statement of another signer does not pass for one of theirs"):
            other = self.folder / "others"
            other.write_text("other@example.invalid ssh-ed25519 " + "A" * 68 + "\n")
            self.assertEqual(self.script("--allowed-signers", other, clone, branch).returncode, 1)

        self.check_history_that_was_rewritten(clone, branch)
        self.check_changes_of_files(task, commit)
        with self.subTest("rebase measures again and makes a new proof"):
            (self.repository / "other.py").write_text("x = 1\n")
            self.git("add", "other.py")
            self.git("commit", "-q", "-m", "Meanwhile")
            self.assert_code(self.go_on("rebase", task), 0)
            self.assertNotEqual(self.git("rev-parse", branch).strip(), commit)
            self.assert_verified(self.verify(branch))
            self.assertIn("agentforge rebase", self.faults(self.verify(commit))[0])
            again = self.clone(ARCHIVES, f"refs/heads/{branch}:refs/heads/{branch}")
            proven = self.script("--allowed-signers", self.signers, again, branch)
            self.assertEqual(proven.returncode, 0, proven.stdout + proven.stderr)

    def check_history_that_was_rewritten(self, clone, branch):
        for name, value in (("user.name", "Test"), ("user.email", "test@example.invalid"), ("commit.gpgsign", "false")):
            self.git("config", name, value, cwd=clone)
        rewritten = {"amended": ("commit", "-q", "--amend", "-m", self.git("log", "-1", "--format=%B", branch) + "\n"),
                     "cherry-picked": ("cherry-pick", branch)}
        for how, command in rewritten.items():
            with self.subTest("a proof does not hold for a commit that was " + how):
                self.git("checkout", "-q", "--detach", branch, cwd=clone)
                if how == "cherry-picked":
                    self.git("checkout", "-q", "--detach", "origin/main", cwd=clone)
                    (clone / "more.txt").write_text("more")
                    self.git("add", "more.txt", cwd=clone)
                    self.git("commit", "-q", "-m", "More", cwd=clone)
                self.git(*command, cwd=clone)
                self.assertTrue(any("the proof does not hold for this commit" in fault for fault in self.faults(self.verify("HEAD", cwd=clone))))
                said = self.script("--allowed-signers", self.signers, clone, "HEAD")
                self.assertEqual(said.returncode, 1, said.stdout + said.stderr)

    def check_changes_of_files(self, task, commit):
        folder = self.task_folder(task)
        other = self.folder / "other"
        with self.subTest("cut at each line, the journal is found out"):
            file = folder / "actions.yaml"
            whole = file.read_bytes()
            lines = whole.splitlines(keepends=True)
            for count in range(len(lines)):
                file.write_bytes(b"".join(lines[:count]))
                self.assertNotEqual(self.verify(task).code, 0, count)
            file.write_bytes(b"".join(lines[:-1]))
            self.assertTrue(any("its end was cut off" in fault for fault in self.faults(self.verify(task))))
            file.write_bytes(whole)
        with self.subTest("without the projections the statement, the archive and the log still know the end"):
            kept = (folder / "state.yaml").read_bytes()
            (folder / "state.yaml").unlink()
            file.write_bytes(b"".join(lines[:-1]))
            found = " ".join(self.faults(self.verify(task)))
            for words in ("the statement names record", "the log says that the task was completed", "does not begin with the one that the repository keeps"):
                self.assertIn(words, found)
            file.write_bytes(whole)
            (folder / "state.yaml").write_bytes(kept)
        with self.subTest("a damaged object of a recorded tree is found"):
            delivered = self.git("rev-parse", commit + "^{tree}").strip()
            tree = next(step["tree"] for step in self.records("step", task) if step["tree"] and step["tree"] != delivered and self.loose(step["tree"]).exists())
            whole = self.loose(tree).read_bytes()
            self.loose(tree).chmod(0o644)
            self.loose(tree).write_bytes(zlib.compress(b"tree 0\0"))
            faults = self.faults(self.verify(task))
            self.loose(tree).write_bytes(whole)
            self.assertTrue(any(tree in fault for fault in faults), faults)
        shutil.rmtree(other, ignore_errors=True)
        self.assert_verified(self.verify(task))


class TestAuditLater(SignedAuditTest):
    """One delivered task, and changes to its repository afterwards."""

    def setUp(self):
        super().setUp()
        self.assert_code(self.start("--approve", "spec", transcript=short_transcript()), 22)
        self.assert_code(self.go_on("approve", self.task()), 0)

    def test_a_genuine_task_verifies_whatever_has_changed_around_it(self):
        task = self.task()
        with self.subTest("in a checkout of a bare clone"):
            bare, checkout = self.folder / "bare.git", self.folder / "checkout"
            self.git("clone", "-q", "--bare", self.repository, bare, cwd=self.folder)
            self.git("fetch", "-q", "origin", ARCHIVES, cwd=bare)
            self.assert_error(self.run_program("audit", "verify", f"agentforge/{task}", cwd=bare), "AF-GIT-003", "git worktree add --detach")
            self.git("worktree", "add", "-q", "--detach", checkout, "main", cwd=bare)
            self.assert_verified(self.verify(f"agentforge/{task}", cwd=checkout))
        with self.subTest("another length of git's short ids"):
            self.git("config", "core.abbrev", "12")
            self.assert_verified(self.verify(task))
        with self.subTest("attributes of files that say how to compare them"):
            attributes = self.repository / ".git" / "info" / "attributes"
            for text in ("* -diff\n", "* binary\n", "*.py diff=python\n"):
                attributes.write_text(text)
                self.assert_verified(self.verify(task))
                self.assertIn("As recorded", self.assert_code(self.run_program("replay", task, "--verify"), 0).out)
            attributes.unlink()
        with self.subTest("the key has expired since it signed"):
            key = self.signers.read_text().split(" ", 1)[1]
            last_second = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(seconds=1)
            self.signers.write_text(f'test@example.invalid valid-before="{last_second:%Y%m%d%H%M%SZ}" {key}')
            self.assert_verified(self.verify(task))
            proven = self.script("--allowed-signers", self.signers, self.repository, f"agentforge/{task}")
            self.assertEqual(proven.returncode, 0, proven.stdout + proven.stderr)
            self.signers.write_text(f"test@example.invalid {key}")
        with self.subTest("a copy of the folder, without the questions beside it"):
            kept = self.folder / "elsewhere" / task
            shutil.copytree(self.task_folder(task), kept)
            self.assert_verified(self.verify(str(kept)))
            self.assert_verified(self.verify(f".agentforge/tasks/{task}"))
        with self.subTest("a replay signs nothing, and the branch has moved on"):
            (self.repository / "later.txt").write_text("later\n")
            self.git("add", "later.txt")
            self.git("-c", "commit.gpgsign=false", "commit", "-q", "-m", "Later")
            self.assertIn("As recorded", self.assert_code(self.run_program("replay", task, "--verify"), 0).out)
        with self.subTest("a fork does not depend on what its parent does later"):
            fork = self.assert_code(self.go_on("fork", task, "--from-step", 4, "--json"), 22).json["task_id"]
            self.assert_code(self.go_on("approve", fork), 0)
            self.assert_code(self.go_on("rebase", task), 0)
            self.assert_verified(self.verify(fork))
        with self.subTest("a fork of a fork, from a step before the first fork's own"):
            first = self.assert_code(self.run_program("fork", task, "--from-step", 5, "--no-resume", "--json"), 0).json["task_id"]
            second = self.assert_code(self.run_program("fork", first, "--from-step", 4, "--no-resume", "--json"), 0).json["task_id"]
            self.assert_code(self.go_on("resume", second), 22)
            self.assert_code(self.go_on("approve", second), 0)
            proven = self.script("--allowed-signers", self.signers, self.repository, f"agentforge/{second}")
            self.assertEqual(proven.returncode, 0, proven.stdout + proven.stderr)
            self.assert_code(self.run_program("abort", first), 0)
        with self.subTest("a colleague's note under the same name"):
            commit = self.git("rev-parse", f"agentforge/{task}").strip()
            self.git("notes", "--ref", "agentforge", "add", "-f", "-m", "Reviewed by a colleague", commit)
            self.assertIn("holds no statement", str(self.assert_verified(self.verify(task))["findings"]))
        self.check_statement_and_projections(task)
        with self.subTest("blobs that were freed are in the archive, and come back"):
            self.assert_code(self.run_program("gc", "--older-than", "0", "--blobs"), 0)
            self.assert_verified(self.verify(f".agentforge/tasks/{task}"))
            copy = self.folder / "without-blobs" / task
            shutil.copytree(self.task_folder(task), copy)
            self.assert_verified(self.verify(str(copy)))
            self.assertIn("only the archive has them", str(self.assert_verified(self.verify(task))["findings"]))
            journal = self.task_folder(task) / "actions.yaml"
            whole = journal.read_bytes()
            journal.write_bytes(whole.replace(b'"type": "task_started"', b'"type": "task_startled"'))
            self.assertTrue(any("AF-JRNL" in fault for fault in self.faults(self.verify(task))))
            self.assertEqual(self.assert_code(self.run_program("archive", "restore", task, "--json"), 0).json["not_restored"], {task: ["actions.yaml"]})
            journal.write_bytes(whole)
            self.assert_code(self.run_program("gc", "--older-than", "0", "--blobs"), 0)
            self.assert_error(self.run_program("fork", task, "--from-step", 4), "AF-JRNL-011", f"agentforge archive restore {task}")
            self.assertIn(task, self.assert_code(self.run_program("archive", "restore", "--all", "--json"), 0).json["restored"])
            self.assert_code(self.run_program("replay", task, "--actions-only"), 0)
        with self.subTest("only the file of the blobs is gone"):
            (self.task_folder(task) / "artifacts/blobs/blobs.yaml").unlink()
            self.assertIn(task, self.assert_code(self.run_program("archive", "restore", "--all", "--json"), 0).json["restored"])
            self.assert_verified(self.verify(task))

    def check_statement_and_projections(self, task):
        folder = self.task_folder(task)
        with self.subTest("the statement in another form"):
            file = folder / "proof/statement.json"
            whole = file.read_bytes()
            file.write_bytes(whole.replace(b"\n", b"\r\n"))
            self.assertTrue(any("but not the right bytes" in fault for fault in self.faults(self.verify(task))))
            file.write_bytes(whole)
        with self.subTest("without working_memory.yaml"):
            file = folder / "working_memory.yaml"
            whole = file.read_bytes()
            file.unlink()
            self.assertIn("working_memory.yaml does not exist", str([each for each in self.assert_verified(self.verify(task))["findings"] if each["answer"] == "unchecked"]))
            file.write_bytes(b"")       # A power cut came before its bytes were on disk.
            self.assertIn("or is empty", str([each for each in self.assert_verified(self.verify(task))["findings"] if each["answer"] == "unchecked"]))
            file.write_bytes(whole)

    def test_a_removed_or_foreign_proof_is_found(self):
        task = self.task()
        proof = self.task_folder(task) / "proof"
        signature = (proof / "statement.json.sig").read_bytes()
        with self.subTest("the signature is of a key that the user's file does not name"):
            (proof / "statement.json.sig").unlink()
            subprocess.run(["ssh-keygen", "-q", "-Y", "sign", "-n", "agentforge", "-f", self.new_key("strangers"), proof / "statement.json"], check=True, capture_output=True)
            self.assertIn("does not name that key", self.faults(self.verify(task))[0])
        with self.subTest("the signature was removed"):
            (proof / "statement.json.sig").unlink()
            self.assertIn("statement.json.sig was removed", self.faults(self.verify(task))[0])
        reference = f"refs/agentforge/archive/{task}"
        archived = self.git("rev-parse", reference).strip()
        with self.subTest("the archive was removed with it, and the note of the commit has it"):
            self.git("update-ref", "-d", reference)
            self.assertIn("statement.json.sig was removed; the note of the commit", self.faults(self.verify(task))[0])
        with self.subTest("the note has another statement"):
            commit = self.git("rev-parse", f"agentforge/{task}").strip()
            note = self.git("notes", "--ref", "agentforge", "show", commit)
            self.git("notes", "--ref", "agentforge", "add", "-f", "-m", note.replace('"passed": true', '"passed": false'), commit)
            self.assertIn("has another statement", " ".join(self.faults(self.verify(task))))
            self.git("notes", "--ref", "agentforge", "remove", commit)
        with self.subTest("nothing has the signature, but the commit is signed"):
            self.assertIn("the statement is not signed, but the commit is", self.faults(self.verify(task))[0])
        self.git("update-ref", reference, archived)
        (proof / "statement.json.sig").write_bytes(signature)
        with self.subTest("the key is revoked"):
            self.git("config", "--file", self.environment["GIT_CONFIG_GLOBAL"], "gpg.ssh.revocationFile", self.folder / "key.pub")
            self.assertEqual([fault.split(":")[1].strip() for fault in self.faults(self.verify(task))], ["of the commit", "of the statement"])
            self.git("config", "--file", self.environment["GIT_CONFIG_GLOBAL"], "--unset", "gpg.ssh.revocationFile")
        with self.subTest("the commit is signed by a key that the user's file does not name"):
            self.signers.write_text(f"test@example.invalid {(self.folder / 'strangers.pub').read_text()}")
            self.assertEqual([fault.split(":")[1].strip() for fault in self.faults(self.verify(task))], ["of the commit", "of the statement"])
        self.signers.write_text(f"test@example.invalid {(self.folder / 'key.pub').read_text()}test@example.invalid {(self.folder / 'strangers.pub').read_text()}")
        with self.subTest("the signature is of another allowed key than the archive's"):
            (proof / "statement.json.sig").unlink()
            subprocess.run(["ssh-keygen", "-q", "-Y", "sign", "-n", "agentforge", "-f", self.folder / "strangers", proof / "statement.json"], check=True, capture_output=True)
            self.assertIn("is not the signature that refs/agentforge/archive", self.faults(self.verify(task))[0])
        with self.subTest("something follows the signature"):
            (proof / "statement.json.sig").write_bytes(signature + b"more\n")
            self.assertIn("it must be exactly one armoured signature", self.faults(self.verify(task))[0])
        (proof / "statement.json.sig").write_bytes(signature)
        self.check_objects(task)
        with self.subTest("the statement was removed"):
            shutil.rmtree(proof)
            self.assertIn("statement.json was removed", " ".join(self.faults(self.verify(task))))

    def check_objects(self, task):
        """Checks two faults of a delivered file's object: git shows another object in its place, and the object is damaged."""
        branch = f"agentforge/{task}"
        source = self.git("rev-parse", f"{branch}:{self.git('diff', '--name-only', 'main', branch).split()[0]}").strip()
        forged = subprocess.run(["git", "hash-object", "-w", "--stdin"], cwd=self.repository, input="forged\n", env=self.environment, capture_output=True, text=True, check=True).stdout.strip()
        proven = ("--allowed-signers", self.signers, self.repository, branch)
        with self.subTest("git shows another object in place of a delivered file"):
            self.git("replace", source, forged)
            self.assertIn(f"`git replace -d {source}`", self.faults(self.verify(branch))[0])
            self.assertIn("git shows another object in place of", self.script(*proven).stderr)
            self.git("replace", "-d", source)
        with self.subTest("the same, where the environment says which refs do that"):
            self.environment["GIT_REPLACE_REF_BASE"] = "refs/others/"
            self.git("replace", source, forged)
            self.assertIn("(refs/others/", self.faults(self.verify(branch))[0])
            self.git("replace", "-d", source)
            del self.environment["GIT_REPLACE_REF_BASE"]
        with self.subTest("git shows another object in place of a file of the archive"):
            archived = self.git("rev-parse", f"refs/agentforge/archive/{task}:task/actions.yaml").strip()
            self.git("replace", archived, forged)
            self.assertIn(f"`git replace -d {archived}`", self.faults(self.verify(branch))[0])
            self.git("replace", "-d", archived)
        with self.subTest("git shows other parents of the commit"):
            grafts = self.repository / ".git" / "info" / "grafts"
            grafts.parent.mkdir(exist_ok=True)
            grafts.write_text(self.git("rev-parse", branch))
            self.assertIn("info/grafts", self.faults(self.verify(branch))[0])
            grafts.unlink()
        with self.subTest("the note of a task at a commit that names none"):
            commit = self.git("commit-tree", "-m", "Revert it", "main^{tree}", "-p", branch).strip()
            self.git("notes", "--ref", "agentforge", "add", "-F", self.task_folder(task) / "proof" / "statement.json", commit)
            findings = self.assert_code(self.verify(commit), 1).json["findings"]
            self.assertIn("the commit's message names no task, so no journal was compared with it", [each["told"] for each in findings])
        with self.subTest("a delivered file is damaged"):
            loose = self.loose(source)
            whole = loose.read_bytes()
            loose.chmod(0o644)
            loose.write_bytes(zlib.compress(b"blob 7\0forged\n"))
            faults = self.faults(self.verify(branch))
            self.assertTrue(any(source in fault and "damaged" in fault for fault in faults), faults)
            self.assertEqual(self.script(*proven).returncode, 1)
            loose.write_bytes(whole)
        self.assert_verified(self.verify(branch))

    def test_two_restores_of_an_archive_at_once(self):
        task = self.task()
        command = self.command("archive", "restore", task)
        for _ in range(8):
            shutil.rmtree(self.task_folder(task))
            both = [subprocess.Popen(command, cwd=self.repository, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(2)]
            said = [process.communicate() for process in both]
            self.assertEqual(sorted(process.returncode for process in both), [0, 1], said)
            self.assertIn("AF-GIT-056", said[0][1] + said[1][1])
            self.assert_verified(self.verify(task))

    def test_restoring_an_archive_does_not_answer_another_tasks_question(self):
        task = self.task()
        reference = f"refs/agentforge/archive/{task}"
        index = dict(self.environment, GIT_INDEX_FILE=str(self.folder / "index"))
        planted = self.git("rev-parse", f"{reference}:task/task.yaml").strip()
        for arguments in (("read-tree", reference), ("update-index", "--add", "--cacheinfo", f"100644,{planted},escalations/APR-task-20260101-other-12345678-spec-1.resolution.yaml")):
            subprocess.run(["git", *arguments], cwd=self.repository, env=index, check=True)
        tree = subprocess.run(["git", "write-tree"], cwd=self.repository, env=index, check=True, capture_output=True, text=True).stdout.strip()
        self.git("update-ref", reference, tree)
        shutil.rmtree(self.task_folder(task))
        self.assert_error(self.run_program("archive", "restore", task), "AF-GIT-057", "APR-task-20260101-other")
        self.assertEqual(self.tasks(), [])


class ForgedArchiveTest(AuditTest):
    def forge(self, task, change):
        """Replaces a task's archive by a changed copy. `change` gets a folder with the archive's files."""
        reference, place = f"refs/agentforge/archive/{task}", self.folder / "forged"
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        index = {**self.environment, "GIT_DIR": str(self.repository / ".git"), "GIT_WORK_TREE": str(place), "GIT_INDEX_FILE": str(self.folder / "forged.index")}

        def git(*words):
            return subprocess.run(["git", *words], cwd=place, env=index, check=True, capture_output=True, text=True).stdout.strip()

        git("read-tree", reference)
        git("checkout-index", "-a")
        change(place)
        git("read-tree", "--empty")
        git("add", "-A", "-f", ".")
        git("update-ref", reference, git("write-tree"))

    def forge_statement(self, task, change):
        def write(place):
            file = place / "task/proof/statement.json"
            statement = json.loads(file.read_text())
            change(statement, statement["predicate"])
            file.write_text(json.dumps(statement, indent=2) + "\n")
        self.forge(task, write)


class TestAuditOfForgeriesWithoutTheTree(ForgedArchiveTest):
    """A clone that has the archive, but neither the branch nor its tree."""

    FORGERIES = {
        "another request": lambda statement, predicate: predicate.update(request="Pay Mallory"),
        "another tree": lambda statement, predicate: statement["subject"][0]["digest"].update(gitTree="1" * 40),
        "a changed verdict": lambda statement, predicate: predicate["gates"][0].update(passed=not predicate["gates"][0]["passed"]),
        "an invented approval": lambda statement, predicate: predicate["approvals"].append({"stage": "spec", "approved": True, "artifact_sha256": "0" * 64, "decided_by": "boss", "record": 1}),
    }
    INVENTED_TEST = {"path": "test_invented.py", "sha256": "0" * 64}

    def test_each_field_that_the_journal_gives_is_compared(self):
        self.assert_code(self.start(transcript=short_transcript()), 0)
        task = self.task()
        genuine = self.git("rev-parse", f"refs/agentforge/archive/{task}").strip()

        def verified():
            place = self.folder / f"alone-{len(list(self.folder.glob('alone-*')))}"
            self.git("clone", "-q", "--single-branch", f"file://{self.repository}", place, cwd=self.folder)
            self.git("fetch", "-q", "origin", ARCHIVES, cwd=place)
            return self.verify(task, cwd=place)

        told = [finding["told"] for finding in self.assert_verified(verified())["findings"] if finding["part"] == "statement"]
        self.assertIn("the delivered tree is not here, so the hashes of its tests were not compared", told)
        for name, change in self.FORGERIES.items():
            with self.subTest(name):
                self.forge_statement(task, change)
                self.assertIn("statement: the statement differs from the one computed from the task's files", self.faults(verified()))
                self.git("update-ref", f"refs/agentforge/archive/{task}", genuine)
        with self.subTest("a test that no artifact hands in"):
            self.forge_statement(task, lambda statement, predicate: predicate["tests"].append(self.INVENTED_TEST))
            self.assertIn("the test file `test_invented.py`, which no artifact", " ".join(self.faults(verified())))


class TestVerifyScriptOnForgeries(ForgedArchiveTest):
    """`examples/verify.py` on archives that were changed after the delivery."""

    STATEMENTS = {
        "another request": lambda statement, predicate: predicate.update(request="Pay Mallory"),
        "an unknown field of the statement": lambda statement, predicate: statement.update(evil=1),
        "an unknown field of the predicate": lambda statement, predicate: predicate.update(evil=1),
        "a second subject": lambda statement, predicate: statement["subject"].append({"name": "x", "digest": {"gitTree": "0" * 40}}),
        "a second digest": lambda statement, predicate: statement["subject"][0]["digest"].update(sha256="0" * 64),
        "another name of the subject": lambda statement, predicate: statement["subject"][0].update(name="main"),
        "no tests": lambda statement, predicate: predicate.update(tests=[]),
        "no gates but deliver": lambda statement, predicate: predicate.update(gates=predicate["gates"][-1:]),
        "an invented gate": lambda statement, predicate: predicate["gates"].insert(0, {**predicate["gates"][0], "gate": "audit"}),
        "an invented approval": lambda statement, predicate: predicate["approvals"].append({"stage": "spec", "approved": True, "artifact_sha256": "0" * 64, "decided_by": "boss", "record": 1}),
        "a removed file": lambda statement, predicate: predicate["files"].pop("task.yaml"),
        "another base tree": lambda statement, predicate: predicate["base"].update(tree="0" * 40),
        "a number for a truth": lambda statement, predicate: predicate["gates"][0].update(passed=int(predicate["gates"][0]["passed"])),
    }

    def assert_refused(self, task, words=""):
        said = self.script(self.repository, f"agentforge/{task}")
        self.assertEqual((said.returncode, "VERIFIED" in said.stdout), (1, False), said.stdout + said.stderr)
        self.assertIn(words, said.stderr)

    def test_every_forgery_is_refused(self):
        self.assert_code(self.start(transcript=short_transcript()), 0)
        task = self.task()
        reference = f"refs/agentforge/archive/{task}"
        genuine = self.git("rev-parse", reference).strip()
        proven = self.script(self.repository, f"agentforge/{task}")
        self.assertIn("unchecked  state.yaml, working_memory.yaml", proven.stdout)
        statement = json.loads((self.task_folder(task) / "proof/statement.json").read_text())["predicate"]
        forgeries = dict(self.STATEMENTS)
        for at, gate in enumerate(statement["gates"]):
            for key in gate:
                forgeries[f"another {key} of gate {gate['gate']}"] = lambda _, predicate, at=at, key=key: predicate["gates"][at].update({key: "forged"})
        for key in statement["policy"]:
            forgeries[f"another {key} of the policy"] = lambda _, predicate, key=key: predicate["policy"].update({key: "0" * 64})
        for name, change in forgeries.items():
            with self.subTest(name):
                self.forge_statement(task, change)
                self.assert_refused(task, "the statement")
                self.git("update-ref", reference, genuine)

        def twice(place, key):
            file = place / "task/proof/statement.json"
            file.write_text(file.read_text().replace(f'"{key}":', f'"{key}": "forged", "{key}":', 1))

        others = {"a repeated key": (lambda place: twice(place, "commit"), "twice"), "a repeated type": (lambda place: twice(place, "predicateType"), "twice"),
                  "a file beside the task's": (lambda place: (place / "evil.yaml").write_text("x"), "evil.yaml"),
                  "a file of the task": (lambda place: (place / "task/evil.yaml").write_text("x"), "evil.yaml"),
                  "a lock": (lambda place: (place / "task/lock").write_text("x"), "lock"),
                  "a journal of another task": (lambda place: ((place / "task/history").mkdir(), (place / "task/history/x.yaml").write_text("x")), "does not continue"),
                  "a question of another task": (lambda place: ((place / "escalations").mkdir(exist_ok=True), (place / "escalations/APR-x.yaml").write_text("x")), "APR-x"),
                  "an executable file": (lambda place: os.chmod(place / "task/task.yaml", 0o755), "100755")}
        for name, (change, words) in others.items():
            with self.subTest(name):
                self.forge(task, change)
                self.assert_refused(task, words)
                self.git("update-ref", reference, genuine)


class TestVerifyScriptOnARemovedSignature(SignedAuditTest, ForgedArchiveTest):
    def test_a_signed_commit_needs_a_signed_statement(self):
        self.assert_code(self.start(transcript=short_transcript()), 0)
        task = self.task()
        self.forge(task, lambda place: (place / "task/proof/statement.json.sig").unlink())
        said = self.script("--allowed-signers", self.signers, self.repository, f"agentforge/{task}")
        self.assertEqual((said.returncode, "the statement is not signed" in said.stderr), (1, True), said.stdout + said.stderr)


def with_record(journal, **fields):
    """Returns the bytes of a journal with one more record, which follows the last one."""
    last = json.loads(journal.splitlines()[-1][2:])
    body = {"seq": last["seq"] + 1, "prev": last["hash"], "timestamp": last["timestamp"], "step": last["step"], **fields}
    line = json.dumps(body, ensure_ascii=False)
    return journal + f'- {line[:-1]}, "hash": "{hashlib.sha256(line.encode()).hexdigest()}"}}\n'.encode()


class TestAuditOfAForgedProof(SignedAuditTest, ForgedArchiveTest):
    """A signed commit's archive or note in a clone, changed by someone who cannot sign with the commit's key."""

    def setUp(self):
        super().setUp()
        self.deliver(transcript=short_transcript())
        self.id = self.task()
        self.branch = f"agentforge/{self.id}"
        self.commit = self.git("rev-parse", self.branch).strip()
        self.reference = f"refs/agentforge/archive/{self.id}"
        self.genuine = self.git("rev-parse", self.reference).strip()

    def signed_by(self, key, statement):
        """Returns the signature of a statement by the key in this file."""
        text = self.folder / "to-sign.json"
        text.write_text(statement)
        text.with_name("to-sign.json.sig").unlink(missing_ok=True)
        subprocess.run(["ssh-keygen", "-q", "-Y", "sign", "-n", "agentforge", "-f", key, text], check=True, stdin=subprocess.DEVNULL, capture_output=True)
        return text.with_name("to-sign.json.sig").read_text()

    def verified(self, *refs):
        """Verifies the commit in a new clone, which has these refs: with the program, and with the script."""
        place = self.clone(*(f"{ref}:{ref}" for ref in refs), f"refs/heads/{self.branch}:refs/heads/{self.branch}")
        said = self.script("--allowed-signers", self.signers, place, self.branch)
        return self.verify(self.branch, cwd=place), said

    def test_an_archive_that_differs_from_the_folder_is_named_where_both_are(self):
        def link(place):
            file = place / "task/artifacts/phases/spec/specification.yaml"
            file.unlink()
            file.symlink_to("../red/test_suite.yaml")
        changes = {
            "task/artifacts/phases/spec/specification.yaml": link,
            "proof/statement.json": lambda place: (place / "task/proof/statement.json").write_text("{}\n"),
            "artifacts/phases/red/test_suite.yaml": lambda place: (place / "task/artifacts/phases/red/test_suite.yaml").write_text("evil: true\n"),
        }
        for name, change in changes.items():
            with self.subTest(name):
                self.forge(self.id, change)
                told = [each["told"] for each in self.assert_verified(self.verify(self.id))["findings"] if each["answer"] == "unchecked"]
                self.assertIn(f"{name} in {self.reference} is not the file of the task's folder", " ".join(told))
                self.assert_code(self.verify(self.reference), 1)
        self.git("update-ref", self.reference, self.genuine)
        self.assertNotIn("of the task's folder", self.verify(self.id).out)

    def test_a_file_with_the_name_of_an_unfinished_one_is_refused_in_an_archive(self):
        def plant(place):
            file = place / "task/artifacts/.agentforge-new-1-0/board.yaml"
            file.parent.mkdir()
            file.write_text("approved: true\n")
        self.assert_refused(plant, "the archive has artifacts/.agentforge-new-1-0/board.yaml", "lacks artifacts/.agentforge-new-1-0/board.yaml")

    def assert_refused(self, change, words, script_words=None):
        """Changes the archive, and expects both to refuse it, with these words in a fault."""
        self.forge(self.id, change)
        program, script = self.verified(self.reference)
        self.git("update-ref", self.reference, self.genuine)
        self.assert_code(program, 1)
        self.assertIn(words, " ".join(self.faults(program)))
        self.assertNotEqual(script.returncode, 0, script.stdout)
        self.assertIn(script_words or words, script.stderr)

    def test_archives(self):
        proof = "task/proof/statement.json"
        signature = proof + ".sig"
        strangers = self.new_key("strangers")

        def add(place, name, text="x"):
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            (place / name).write_text(text)

        def edit(place, name, change):
            (place / name).write_text(change((place / name).read_text()))

        forgeries = {
            "no statement": (lambda place: shutil.rmtree(place / "task/proof"), "the task carries no statement, but its commit is signed", "the archive has no statement"),
            "no signature": (lambda place: (place / signature).unlink(), "the statement is not signed, but the commit is", "the statement is not signed"),
            "a stranger's signature": (lambda place: edit(place, signature, lambda _: self.signed_by(strangers, (place / proof).read_text())), "does not name that key", "does not name the key"),
            "text after the signature": (lambda place: edit(place, signature, lambda text: text + "approved by everyone\n"), "it must be exactly one armoured signature", "the signature is not one"),
            "a second signature": (lambda place: edit(place, signature, lambda text: text + text), "it must be exactly one armoured signature", "the signature is not one"),
            "a journal of another task": (lambda place: add(place, "task/history/x.yaml"), "the archive has history/x.yaml", "does not continue"),
            "blobs of another task": (lambda place: add(place, "task/artifacts/blobs/x/blobs.yaml", "agentforge_blobs: 1\nblobs:\n"), "the archive has artifacts/blobs/x/blobs.yaml", "does not continue"),
            "a file of a process": (lambda place: add(place, "task/.fold"), "the archive has .fold", ".fold"),
        }
        self.assert_verified(self.verified(self.reference)[0])
        for name, (change, *words) in forgeries.items():
            with self.subTest(name):
                self.assert_refused(change, *words)

    def test_a_file_for_the_folder_of_a_handler_is_refused(self):
        name = f"escalations/inbox/APR-{self.id}-spec-1.answer.yaml"

        def add(place):
            (place / name).parent.mkdir(parents=True)
            (place / name).write_text("approved: true\n")

        self.forge(self.id, add)
        program, script = self.verified(self.reference)
        self.assert_code(program, 1)
        self.assertEqual((program.json["error"]["code"], name in program.json["error"]["message"]), ("AF-GIT-057", True))
        self.assertIn(f"the archive has {name}", script.stderr)

    def test_a_file_that_nothing_covers_is_named(self):
        self.forge(self.id, lambda place: (place / "task/detached.log").write_text("x"))
        program, script = self.verified(self.reference)
        self.assertIn("nothing vouches for detached.log", str(self.assert_verified(program)["findings"]))
        self.assertIn("detached.log", next(line for line in script.stdout.splitlines() if line.startswith("unchecked")))

    def test_a_journal_that_grew_after_its_statement(self):
        def grow(place):
            journal = place / "task/actions.yaml"
            lines = journal.read_text().splitlines(keepends=True)
            journal.write_text("".join(lines[:-1]))     # The statement names the last record, so a journal without it has none.
        self.assert_refused(grow, "the statement names record", "the statement")

    def test_a_record_after_the_statement(self):
        """As if the task had been rebased to a commit that nobody signed."""
        journal = self.task_folder(self.id) / "actions.yaml"
        whole = journal.read_bytes()
        forged = self.git("-c", "commit.gpgsign=false", "commit-tree", "-m", self.git("log", "-1", "--format=%B", self.commit), f"{self.commit}^{{tree}}", "-p", "main").strip()
        record = next(record for record in self.journal(self.id) if record["type"] == "delivered")
        rebased = {key: record[key] for key in ("branch", "tree", "commit_hooks") if key in record}
        journal.write_bytes(with_record(whole, type="rebased", commit=forged, base_commit=self.git("rev-parse", "main").strip(), base_tree=self.git("rev-parse", "main^{tree}").strip(),
                                        replaces=self.commit, gate_passed=True, summary="", signed=False, **rebased))
        outcome = self.assert_code(self.verify(self.id), 1)
        self.assertIn("the journal has grown since", " ".join(self.faults(outcome)))
        journal.write_bytes(whole)
        self.assert_verified(self.verify(self.id))

    def test_a_changed_task_is_not_signed_again(self):
        """The program signs only what a process of this machine has just ended."""
        folder = self.task_folder(self.id)
        self.git("update-ref", "-d", self.reference)
        self.git("notes", "--ref", "agentforge", "remove", self.commit)
        journal = folder / "actions.yaml"
        journal.write_bytes(with_record(journal.read_bytes(), type="note", message="Approved by everyone"))
        for name in ("statement.json", "statement.json.sig"):
            (folder / "proof" / name).unlink()
        for command in (("gc",), ("resume", self.id), ("start", REQUEST, "--dry-run")):
            with self.subTest(command):
                self.run_program(*command)
                self.assertFalse((folder / "proof/statement.json").exists())
        self.assertIn("the task carries no statement, but its commit is signed", " ".join(self.faults(self.verify(self.id))))
        (self.repository / "other.py").write_text("x = 1\n")
        self.git("add", "other.py")
        self.git("commit", "-q", "-m", "Meanwhile")
        self.assert_error(self.go_on("rebase", self.id), "AF-AUDT-011", "agentforge audit verify")

    def test_a_task_that_another_machine_began_is_not_signed(self):
        """As if the repository had brought a task of which only the last record is missing."""
        folder = self.task_folder(self.id)
        journal = folder / "actions.yaml"
        lines = journal.read_bytes().splitlines(keepends=True)
        self.assertIn(b'"type": "task_completed"', lines[-1])
        journal.write_bytes(b"".join(lines[:-1]))
        (folder / "state.yaml").unlink()
        shutil.rmtree(folder / "proof")
        shutil.rmtree(self.state / "proofs")
        self.git("update-ref", "-d", self.reference)
        self.git("notes", "--ref", "agentforge", "remove", self.commit)
        self.assertIn("AF-AUDT-013", self.assert_code(self.go_on("resume", self.id), 0).err)
        self.assertFalse((folder / "proof").exists())
        self.assertIn("the task carries no statement, but its commit is signed", " ".join(self.faults(self.verify(self.id))))

    def test_a_fork_is_signed_only_if_this_machine_wrote_its_history(self):
        step = max(step["step"] for step in self.steps(self.id) if step["phase"] == "red")

        def fork():
            return self.assert_code(self.go_on("fork", self.id, "--from-step", step, "--json"), 0)
        own = fork()
        self.assert_verified(self.verify(own.json["task_id"]))
        shutil.rmtree(self.state / "proofs")
        known = set(self.tasks())
        foreign = self.go_on("fork", self.id, "--from-step", step)
        self.assertIn("AF-AUDT-013", foreign.err)
        self.assertNotEqual(foreign.code, 0)
        (fork_of_foreign,) = set(self.tasks()) - known
        self.assert_code(self.go_on("resume", fork_of_foreign, "--set", "delivery.sign=never"), 0)
        self.assert_verified(self.verify(fork_of_foreign))
        self.assertFalse((self.task_folder(fork_of_foreign) / "proof/statement.json.sig").exists())

    def test_the_archive_of_a_fork(self):
        parent, step = self.id, max(step["step"] for step in self.steps(self.id) if step["phase"] == "red")
        self.id = self.assert_code(self.go_on("fork", parent, "--from-step", step, "--json"), 0).json["task_id"]
        self.branch, self.reference = f"agentforge/{self.id}", f"refs/agentforge/archive/{self.id}"
        self.genuine = self.git("rev-parse", self.reference).strip()
        history, blobs = f"task/history/{parent}.yaml", f"task/artifacts/blobs/{parent}/blobs.yaml"

        def edit(name, old, new):
            def change(place):
                text = (place / name).read_text()
                self.assertIn(old, text)
                (place / name).write_text(text.replace(old, new, 1))
            return change

        def append(name, text):
            def change(place):
                (place / name).parent.mkdir(parents=True, exist_ok=True)
                with (place / name).open("a") as file:
                    file.write(text)
            return change

        forgeries = {
            "text after the parent's journal": (append(history, "# approved by everyone\n"), f"history/{parent}.yaml", f"history/{parent}.yaml"),
            "blanks in the parent's header": (edit(history, "\nactions:", "  \nactions:"), f"history/{parent}.yaml", f"history/{parent}.yaml"),
            "another file below history": (append(f"task/history/more/{parent}.yaml", "approved by everyone\n"), f"the archive has history/more/{parent}.yaml", "does not continue"),
            "another file of blobs": (append(f"task/artifacts/blobs/{parent}/more.yaml", "agentforge_blobs: 1\nblobs:\n"), f"artifacts/blobs/{parent}/more.yaml", f"artifacts/blobs/{parent}/more.yaml"),
            "a blob with another field": (edit(blobs, '{"sha256"', '{"approved_by": "everyone", "sha256"'), "blob", "written by another program"),
        }
        self.assert_verified(self.verified(self.reference)[0])
        for name, (change, *words) in forgeries.items():
            with self.subTest(name):
                self.assert_refused(change, *words)

    def test_a_killed_process_owes_a_signature_that_the_next_one_makes(self):
        folder = self.task_folder(self.id)
        (folder / "proof/statement.json.sig").unlink()
        self.git("update-ref", "-d", self.reference)
        self.git("notes", "--ref", "agentforge", "remove", self.commit)
        self.assertIn("agentforge resume", self.faults(self.verify(self.id))[0])
        self.assert_code(self.go_on("resume", self.id), 0)
        self.assert_verified(self.verify(self.id))

    def test_a_folder_with_the_name_of_the_branch(self):
        other = self.repository / "agentforge"
        other.mkdir()
        shutil.copytree(self.task_folder(self.id), other / self.id)
        self.assertEqual(self.assert_verified(self.verify(self.branch))["verified"], f"commit {self.commit}, by task {self.id}")

    def test_a_branch_with_the_name_of_a_part_of_the_id(self):
        part = self.id[-8:-2]
        self.git("branch", part, "main")
        self.assert_error(self.run_program("audit", "verify", part), "AF-AUDT-012", self.id)

    def test_a_folder_kept_elsewhere(self):
        kept = self.folder / "elsewhere" / self.id
        shutil.copytree(self.task_folder(self.id), kept)
        self.assert_verified(self.verify(str(kept)))
        (kept / "history").mkdir()
        (kept / "history/evil.yaml").write_text("x")
        (kept / "link").symlink_to("task.yaml")
        faults = " ".join(self.faults(self.verify(str(kept))))
        self.assertIn("history/evil.yaml", faults)
        self.assertIn("link is a link", faults)

    def test_a_list_of_revoked_keys_in_the_repositorys_configuration(self):
        self.git("config", "gpg.ssh.revocationFile", self.folder / "key.pub")
        self.assertIn("the key is revoked", self.faults(self.verify(self.id))[0])

    def test_a_note_without_the_archive(self):
        note = self.git("notes", "--ref", "agentforge", "show", self.commit)
        statement, signature = note.split("-----BEGIN", 1)
        strangers = self.new_key("strangers")
        self.signers.write_text(self.signers.read_text().replace("test@example.invalid", 'test@example.invalid namespaces="git,agentforge"'))

        def verified(text):
            (self.folder / "note").write_text(text)
            self.git("notes", "--ref", "agentforge", "add", "-f", "-F", self.folder / "note", self.commit)
            return self.verified("refs/notes/agentforge")[0]

        self.assert_verified(verified(note))
        for name, text, words in (
                ("a stranger's signature", statement + self.signed_by(strangers, statement), "does not name that key"),
                ("text after the signature", note + "approved by everyone\n", "it must be exactly one armoured signature"),
                ("another base", statement.replace(self.git("rev-parse", "main").strip(), "1" * 40) + "-----BEGIN" + signature, "names another task, parent or record")):
            with self.subTest(name):
                self.assertIn(words, " ".join(self.faults(verified(text))))

    def test_the_script_names_a_note_and_reads_the_list_of_revoked_keys(self):
        place = self.clone(ARCHIVES, f"refs/heads/{self.branch}:refs/heads/{self.branch}", "refs/notes/agentforge:refs/notes/agentforge")
        proven = self.script("--allowed-signers", self.signers, place, self.branch)
        self.assertIn("the note of the commit", next(line for line in proven.stdout.splitlines() if line.startswith("unchecked")))
        self.git("config", "gpg.ssh.revocationFile", self.folder / "key.pub", cwd=place)
        said = self.script("--allowed-signers", self.signers, place, self.branch)
        self.assertEqual(said.returncode, 1, said.stdout + said.stderr)
        self.assertIn("the signature is not good", said.stderr)


class TestAuditOfAFolderWithoutItsQuestions(AuditTest):
    def test_everything_else_of_its_statement_is_compared(self):
        self.assert_code(self.start("--approve", "spec", transcript=short_transcript()), 22)
        self.assert_code(self.go_on("approve", self.task()), 0)
        kept = self.folder / "elsewhere" / self.task()
        shutil.copytree(self.task_folder(), kept)
        self.assertIn("the questions to people are not here", str(self.assert_verified(self.verify(str(kept)))["findings"]))
        file = kept / "proof/statement.json"
        file.write_text(file.read_text().replace('"request": "', '"request": "Pay Mallory. '))
        self.git("update-ref", "-d", f"refs/agentforge/archive/{self.task()}")
        self.assertIn("statement: the statement differs from the one computed from the task's files", self.faults(self.verify(str(kept))))


class TestVerifyScriptOnUnusualCharacters(AuditTest):
    def test_a_request_with_characters_that_the_journal_escapes(self):
        self.assert_code(self.start(transcript=short_transcript(), request=REQUEST + " (\u2028 and \x7f)"), 0)
        proven = self.script(self.repository, f"agentforge/{self.task()}")
        self.assertEqual(proven.returncode, 0, proven.stdout + proven.stderr)


class TestAuditOfAnUnsignedCommit(ForgedArchiveTest):
    def test_only_a_trusted_key_can_sign_its_statement(self):
        self.assert_code(self.start(transcript=short_transcript()), 0)
        task, home = self.task(), self.folder / "gnupg"
        home.mkdir(mode=0o700)
        self.addCleanup(subprocess.run, ["gpgconf", "--homedir", home, "--kill", "all"], check=False, capture_output=True)
        self.environment["GNUPGHOME"] = str(home)
        gpg = ["gpg", "--batch", "--quiet"]
        subprocess.run([*gpg, "--passphrase", "", "--quick-gen-key", "Stranger <stranger@example.invalid>", "ed25519", "sign", "2y"], env=self.environment, check=True, capture_output=True)
        listed = subprocess.run([*gpg, "--with-colons", "--fingerprint"], env=self.environment, check=True, capture_output=True, text=True).stdout
        fingerprint = listed.split("fpr:::::::::")[1].split(":")[0]

        def sign(place):
            subprocess.run([*gpg, "--armor", "--detach-sign", "--output", place / "task/proof/statement.json.sig", place / "task/proof/statement.json"], env=self.environment, check=True, capture_output=True)

        self.forge(task, sign)
        place = self.clone(ARCHIVES, f"refs/heads/agentforge/{task}:refs/heads/agentforge/{task}")
        with self.subTest("a trusted one"):
            self.assert_verified(self.verify(task, cwd=place))
            self.assertEqual(self.script("--require-signature", place, f"agentforge/{task}").returncode, 0)
        subprocess.run([*gpg, "--import-ownertrust"], input=f"{fingerprint}:2:\n", env=self.environment, check=True, capture_output=True, text=True)
        with self.subTest("one that gpg does not trust"):
            self.assertIn("the commit is not signed, and nothing here trusts this key", self.faults(self.verify(task, cwd=place))[0])
            self.assertEqual(self.script("--require-signature", place, f"agentforge/{task}").returncode, 1)


class TestAuditOfARejectedDelivery(AuditTest):
    def test_a_rejected_delivery_is_neither_applied_nor_verified(self):
        self.assert_code(self.start("--approve", "deliver", transcript=short_transcript()), 22)
        task = self.task()
        branch = f"agentforge/{task}"
        self.assert_error(self.run_program("apply", task), "AF-CLI-207", "agentforge approve")
        self.assertIn("it waits for a person's approval", self.faults(self.verify(branch))[0])
        self.assertIn("(awaiting_approval)", self.run_program("audit", "verify", task).out)
        self.assert_code(self.go_on("reject", task, "--reason", "not wanted"), 23)
        self.assert_error(self.run_program("apply", task), "AF-CLI-207", "aborted")
        self.assertIn("rejected", self.faults(self.verify(branch))[0])
        self.assertNotEqual(self.script(self.repository, branch).returncode, 0)
        self.assertFalse((self.task_folder(task) / "proof").exists(), "a rejected delivery has no proof")


class TestAuditOfAnUndeliveredTask(AuditTest):
    """Besides the journal, only state.yaml, the refs of the task's steps, the log and this machine's note show its last records."""

    def setUp(self):
        super().setUp()
        self.assert_code(self.start("--approve", "red", transcript=short_transcript()), 22)
        self.state_file = self.task_folder() / "state.yaml"
        self.log = self.repository / ".agentforge/logs/agentforge.log"
        self.note = self.state / "proofs" / self.task()

    def vouchers(self, outcome):
        return {voucher["who"]: voucher["seq"] for voucher in outcome.json["vouchers"]}

    def end(self, outcome):
        return [(finding["answer"], finding["told"]) for finding in outcome.json["findings"] if finding["part"] == "end"]

    def remove_refs(self):
        for ref in self.git("for-each-ref", "--format=%(refname)", f"refs/agentforge/{self.task()}").split():
            self.git("update-ref", "-d", ref)

    def cut(self, count):
        """Removes the last records of the journal."""
        file = self.task_folder() / "actions.yaml"
        file.write_bytes(b"".join(file.read_bytes().splitlines(keepends=True)[:-count]))

    def test_each_voucher_is_named_with_its_last_record(self):
        steps = self.steps()
        written = max(step["seq"] for step in steps if step.get("changes"))
        last = self.journal()[-1]["seq"]
        expected = {"state": last, "refs": written, "log": steps[-1]["seq"], "machine": last}
        outcome = self.verify(self.task())
        self.assert_verified(outcome)
        self.assertEqual(self.vouchers(outcome), expected)
        self.assertEqual(self.end(outcome), [("holds", "vouched for by " + ", ".join(f"{who} to record {seq}" for who, seq in expected.items()))])
        self.assertIn(f"ok         end         vouched for by state to record {expected['state']}, refs to record {written}, log to record ", self.run_program("audit", "verify", self.task()).out)

    def test_a_voucher_that_is_gone_is_not_named(self):
        everyone = self.vouchers(self.verify(self.task()))
        last = self.journal()[-1]["seq"]
        for who, remove in (("state", self.state_file.unlink), ("refs", self.remove_refs), ("log", self.log.unlink), ("machine", self.note.unlink)):
            with self.subTest(who):
                remove()
                del everyone[who]
                outcome = self.verify(self.task())
                self.assert_verified(outcome)
                self.assertEqual(self.vouchers(outcome), everyone)
                named = ", ".join(f"{one} to record {seq}" for one, seq in everyone.items())
                if last in everyone.values():
                    expected = ("holds", f"vouched for by {named}")
                elif named:
                    expected = ("unchecked", f"vouched for by {named}; nothing outside the journal vouches for what follows")
                else:
                    expected = ("unchecked", "nothing outside the journal vouches for its end")
                self.assertEqual(self.end(outcome), [expected])

    def test_the_state_alone_knows_of_a_missing_last_record(self):
        self.remove_refs()
        self.log.unlink()
        self.note.unlink()
        last = self.journal()[-1]["seq"]
        self.cut(1)
        self.assertEqual(self.faults(self.verify(self.task())), [f"projections: state.yaml names record {last}, but the journal ends with record {last - 1}: its end was cut off"])

    def test_the_refs_alone_know_of_a_missing_step(self):
        self.state_file.unlink()
        self.log.unlink()
        self.note.unlink()
        step = next(step for step in self.steps() if step.get("changes"))
        earlier = next(other for other in self.steps() if other["step"] == step["step"] - 2)
        self.cut(self.journal()[-1]["seq"] - earlier["seq"])
        self.assertEqual(self.faults(self.verify(self.task())), [f"trees: the ref refs/agentforge/{self.task()}/step-{step['step']} is of a step that the journal does not have: its end was cut off"])

    def test_the_log_alone_knows_of_a_missing_step(self):
        self.state_file.unlink()
        self.remove_refs()
        self.note.unlink()
        last = self.steps()[-1]
        self.cut(self.journal()[-1]["seq"] - last["seq"] + 1)
        self.assertEqual(self.faults(self.verify(self.task())), [f"end: the log has step {last['step']}, but the journal ends with step {last['step'] - 1}: its end was cut off"])

    def lacks(self, head):
        return f"the journal lacks the last record that this machine wrote to the task ({head}, named in {self.note}): "

    def test_this_machine_alone_knows_of_a_missing_last_record(self):
        self.state_file.unlink()
        self.remove_refs()
        self.log.unlink()
        head = self.journal()[-1]["hash"]
        self.cut(1)
        self.assertEqual(self.faults(self.verify(self.task())), [f"end: {self.lacks(head)}its end was cut off, or this is an older copy of the task"])

    def test_a_cut_is_noticed_after_a_command_rebuilt_a_damaged_state_file(self):
        head = self.journal()[-1]["hash"]
        self.cut(1)
        self.state_file.write_text(self.state_file.read_text().replace('"seq": ', '"seq": "x', 1).replace(",", '",', 1))
        self.run_program("status")
        self.assertIn(f"end: {self.lacks(head)}its end was cut off, or this is an older copy of the task", self.faults(self.verify(self.task())))

    def test_a_copy_that_continued_elsewhere_does_not_accuse_this_one(self):
        copy = self.folder / "copy"
        shutil.copytree(self.repository, copy, symlinks=True)
        original, self.repository = self.repository, copy
        self.assert_code(self.go_on("approve", self.task()), 0)
        head = self.journal()[-1]["hash"]
        self.assert_verified(self.verify(self.task()))
        self.repository = original
        outcome = self.verify(self.task())
        self.assert_verified(outcome)
        self.assertIn(("unchecked", f"{self.lacks(head)}{copy}/.agentforge/tasks/{self.task()} has it, so the task continued in that copy, or this journal's end was cut off"), self.end(outcome))
        shutil.rmtree(copy)
        self.assertEqual(self.faults(self.verify(self.task())), [f"end: {self.lacks(head)}its end was cut off, or this is an older copy of the task"])

    def test_a_cut_is_noticed_after_the_repository_was_moved(self):
        head = self.journal()[-1]["hash"]
        moved = self.folder / "moved"
        self.repository.rename(moved)
        self.repository = moved
        self.assert_verified(self.verify(self.task()))
        self.cut(1)
        (self.task_folder() / "state.yaml").unlink()
        self.assertIn(f"end: {self.lacks(head)}its end was cut off, or this is an older copy of the task", self.faults(self.verify(self.task())))

    def test_a_kill_between_the_two_projections_leaves_the_working_memory_of_an_earlier_record(self):
        memory = self.task_folder() / "working_memory.yaml"
        before = memory.read_bytes()
        last = self.journal()[-1]["seq"]
        self.run_program("feedback", self.task(), "Use fewer words")    # Recorded, then the transcript has no answer.
        self.assertNotEqual(memory.read_bytes(), before)
        memory.write_bytes(before)
        outcome = self.verify(self.task())
        self.assert_verified(outcome)
        told = [finding["told"] for finding in outcome.json["findings"] if finding["part"] == "projections" and finding["answer"] == "unchecked"]
        self.assertEqual(len(told), 1)
        found = re.match(r"working_memory.yaml is of record (\d+), and state.yaml of record (\d+): ", told[0])
        self.assertEqual(int(found[2]), self.journal()[-1]["seq"])
        self.assertIn(int(found[1]), range(last, int(found[2])))        # Records that add no line follow.
        memory.write_bytes(before + b" ")
        self.assertEqual(len(self.faults(self.verify(self.task()))), 1)

    def test_it_is_found_from_another_worktree(self):
        linked = self.folder / "linked"
        self.git("worktree", "add", "-q", "--detach", linked)
        self.assert_error(self.run_program("audit", "verify", self.task(), cwd=linked), "AF-TASK-002", f"agentforge -C {self.repository}")
        self.assert_error(self.run_program("audit", "verify", "nothing", cwd=linked), "AF-AUDT-002")

    def test_a_damaged_note_of_this_machine_is_named(self):
        self.note.write_text("x\n")
        outcome = self.verify(self.task())
        self.assert_verified(outcome)
        self.assertIn(("unchecked", f"{self.note} is damaged: it does not name the last record that this machine wrote"), self.end(outcome))


class TestAuditOfAKilledStep(AuditTest):
    """The process was killed after a gate had measured an edit, and before the step's record and ref. The tests make that from a task that ended later."""

    def setUp(self):
        super().setUp()
        self.assert_code(self.start("--approve", "green", transcript=short_transcript()), 22)
        task, folder, records = self.task(), self.task_folder(), self.journal()
        cut = next(at for at, record in enumerate(records) if record["type"] == "step" and records[at - 1]["type"] == "gate" and record["tree"] not in [other.get("tree") for other in records[:at] if other["type"] == "step"])
        (folder / "actions.yaml").write_bytes(b"".join((folder / "actions.yaml").read_bytes().splitlines(keepends=True)[:cut - len(records)]))
        (folder / "state.yaml").unlink()
        (self.repository / ".agentforge/logs/agentforge.log").unlink()
        (self.state / "proofs" / task).write_text(2 * (records[cut - 1]["hash"] + "\n"))
        for ref in self.git("for-each-ref", "--format=%(refname)", f"refs/agentforge/{task}/step-*").split():
            if int(ref.rsplit("-", 1)[1]) >= records[cut]["step"]:
                self.git("update-ref", "-d", ref)
        self.tree = records[cut]["tree"]

    def test_its_tree_may_be_freed(self):
        self.assert_code(self.run_program("abort", self.task()), 0)
        self.git("gc", "--quiet", "--prune=now")
        self.assertNotEqual(subprocess.run(["git", "cat-file", "-e", self.tree], cwd=self.repository, check=False, capture_output=True).returncode, 0)
        self.assertIn("1 tree that a gate measured is not in this repository: no step recorded it", str(self.assert_verified(self.verify(self.task()))["findings"]))

    def test_a_replay_ends_before_it(self):
        self.assert_code(self.run_program("abort", self.task()), 0)
        self.assertIn("As recorded", self.assert_code(self.run_program("replay", self.task(), "--verify"), 0).out)


class TestAuditOfACommitThatGitRebased(AuditTest):
    def test_its_proof_does_not_hold_and_the_programs_rebase_makes_one_that_does(self):
        self.assert_code(self.start(transcript=short_transcript()), 0)
        task = self.task()
        branch = f"agentforge/{task}"
        delivered = self.git("rev-parse", branch).strip()
        (self.repository / "other.py").write_text("x = 1\n")
        self.git("add", "other.py")
        self.git("commit", "-q", "-m", "Meanwhile")
        self.git("rebase", "-q", "main", branch)
        moved, newer = self.git("rev-parse", branch, "main").split()
        self.git("checkout", "-q", "main")
        with self.subTest("the proof does not hold for the rebased commit, and why"):
            fault = self.faults(self.verify(moved))[0]
            self.assertTrue(fault.startswith(f"commit: the proof does not hold for this commit: the task delivered {delivered}; its tree is "), fault)
            self.assertIn(f"its parent is {newer}", fault)
        with self.subTest("it still holds for the delivered one"):
            self.assert_verified(self.verify(delivered))
        with self.subTest("a branch that was moved is not moved again, and the message's commands bring it back"):
            refused = self.assert_error(self.go_on("rebase", task), "AF-GIT-040", moved)
            for command in (f"git branch NAME {branch}", f"git branch -f {branch} {delivered}"):
                self.assertIn(command, refused.err)
                self.git(*command.replace("NAME", "mine").split()[1:])
            self.assertEqual(self.git("rev-parse", branch, "mine").split(), [delivered, moved])
        self.assert_code(self.go_on("rebase", task), 0)
        made = self.git("rev-parse", branch).strip()
        with self.subTest("the program's own rebase has a proof that holds"):
            self.assertEqual(self.git("rev-parse", made + "^").strip(), newer)
            self.assert_verified(self.verify(made))
        with self.subTest("which is not one of the commit that git made"):
            self.assertIn(f"the task delivered {made}", self.faults(self.verify(moved))[0])


class TestAuditOfUncheckedFiles(AuditTest):
    """The lock, the output of a run in the background, the mark of a plugin call: nothing about the task follows from these files."""

    PASSING = ("lock", "detached.log", "plugin_call")

    def waiting(self):
        self.assert_code(self.start("--approve", "green", transcript=short_transcript()), 22)
        (self.task_folder() / "detached.log").write_text("task  (pipeline implement)\n")
        (self.task_folder() / "plugin_call").write_text("00000000000000000001 execute() of the stage `red`".ljust(255) + "\n")

    def change(self, form):
        for name in self.PASSING:
            path = self.task_folder() / name
            whole = path.read_bytes()
            if form == "removed":
                path.unlink()
            else:
                path.write_bytes({"another": b"x" + whole[1:], "half": whole[:len(whole) // 2], "longer": whole + b"more\n"}[form])

    def answers(self):
        """Returns the output of each command about the task, without the ids of replays, which differ."""
        commands = (("inspect", "--json"), ("audit", "--format", "md"), ("audit", "--json"), ("audit", "--format", "html"), ("cost", "--json"), ("logs",), ("replay", "--verify", "--json"))
        said = {command: self.run_program(command[0], self.task(), *command[1:]).all for command in commands}
        said["verify",] = self.verify(self.task()).all
        return {command: re.sub(r'"replay_id": "[^"]*"', "", text) for command, text in said.items()}

    def test_every_answer_about_the_task_is_the_same_after_a_change_of_them(self):
        self.waiting()
        self.assertIn("execute() of the stage `red`", self.run_program("status", self.task(), "--json").out, "for this alone it is kept")
        before = self.answers()
        self.assertIn('"as_recorded": true', before["replay", "--verify", "--json"])
        for form in ("another", "half", "removed"):
            self.change(form)
            for command, said in self.answers().items():
                with self.subTest(form, command=command):
                    self.assertEqual(said, before[command])

    def test_a_task_goes_on_the_same_after_a_change_of_them(self):
        untouched = ProgramTest()
        untouched.setUp()
        self.addCleanup(untouched.doCleanups)
        untouched.make_repository()
        untouched.assert_code(untouched.start("--approve", "green", transcript=short_transcript()), 22)
        untouched.assert_code(untouched.go_on("approve", untouched.task()), 0)
        self.waiting()
        self.change("another")
        self.assert_code(self.go_on("approve", self.task()), 0)
        self.assertEqual(trace(self), trace(untouched))

    def test_what_the_parent_of_a_fork_did_afterwards_is_no_part_of_the_fork(self):
        self.assert_code(self.start("--exit-after", "red", transcript=short_transcript()), 0)
        parent = self.task()
        fork = self.assert_code(self.run_program("fork", parent, "--from-step", 4, "--no-resume", "--json"), 0).json["task_id"]
        commands = (("inspect", fork, "--json"), ("audit", fork, "--json"), ("audit", "verify", fork, "--json"))
        before = [self.run_program(*command).out for command in commands]
        history = self.task_folder(fork) / "history" / f"{parent}.yaml"
        history.write_bytes(history.read_bytes().replace(b'"task_completed"', b'"task_completes"'))
        self.assertEqual([self.run_program(*command).out for command in commands], before)
        self.assertNotEqual(self.verify(parent).code, 0, "they share the file")


class ChangedFiles(SignedAuditTest):
    """`audit verify` finds each change and each cut in each file of a task."""

    # Files that say nothing about the task: TestAuditOfUncheckedFiles.
    PASSING = TestAuditOfUncheckedFiles.PASSING
    complete = True

    def forms(self, whole, first, last):
        """Yields changed contents of a file, each with its description: one flipped bit in these lines, or the file cut before one of them."""
        ends = [0]
        for line in whole.splitlines(keepends=True):
            ends.append(ends[-1] + len(line))
        last = len(ends) - 1 if last is None else last
        begin, end = ends[first], ends[last]
        for at in sorted({begin, end - 1, *range(begin, end, 997)} if self.complete else {(begin + end) // 2, end - 1}):
            yield at, whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1:]
        for count in range(last) if self.complete else sorted({last // 2, last - 1}):
            yield f"cut after line {count}", whole[:ends[count]]

    def blobs(self, folder):
        return set().union(*(re.findall(r'^- {"sha256": "([0-9a-f]{64})"', path.read_text(errors="replace"), re.M) for path in folder.rglob("blobs.yaml")))

    def assert_each_change_is_found(self, task, twin=None, lines=lambda name, whole: (0, None)):
        """`twin`: another task with files of the same names. `lines`: the range of a file's lines that other evidence covers."""
        self.assert_verified(self.verify(task))
        folder = self.task_folder(task)
        journals = {path.relative_to(folder): path.read_bytes() for path in (folder / "actions.yaml", *folder.glob("history/*"))}
        records = b"".join(line for name, whole in journals.items() for line in whole.splitlines()[slice(*lines(str(name), whole))])
        needed = self.blobs(folder) & set(re.findall("[0-9a-f]{64}", records.decode()))
        unseen = []
        for path in sorted(path for path in folder.rglob("*") if path.is_file() and path.name not in self.PASSING):
            whole = path.read_bytes()
            name = str(path.relative_to(folder))
            forms = list(self.forms(whole, *lines(name, whole)))
            other = self.task_folder(twin) / name if twin else None
            if other and other.exists() and other.read_bytes() != whole:
                forms.append(("that of another task", other.read_bytes()))
            for what, changed in forms:
                path.write_bytes(changed)
                verdict = self.verify(task)
                # A power cut may leave these files empty. This is harmless, because the journal restores them.
                harmless = not changed and name in {"state.yaml", "working_memory.yaml"} and f"{name} does not exist, or is empty" in verdict.out and "it can be rebuilt from the journal" in verdict.out
                # A fork has two files of blobs. Nothing is lost if the other file also has the removed blobs.
                harmless = harmless or (path.name == "blobs.yaml" and "cut" in str(what) and self.blobs(folder) >= needed)
                if verdict.code == 0 and not harmless:
                    unseen.append((name, what))
            path.write_bytes(whole)
        self.assertEqual(unseen, [])
        self.assert_verified(self.verify(task))

    def unsigned(self):
        self.git("config", "--file", self.environment["GIT_CONFIG_GLOBAL"], "commit.gpgsign", "false")

    def signed(self):
        self.assert_code(self.start(transcript=short_transcript()), 0)
        self.assertIn("signature", [finding["part"] for finding in self.verify(self.task()).json["findings"] if finding["answer"] == "holds"])
        self.assertTrue((self.task_folder() / "proof/statement.json.sig").exists())
        self.assert_each_change_is_found(self.task())

    def undelivered(self):
        self.unsigned()
        self.assert_code(self.start("--approve", "green", transcript=short_transcript()), 22)

        def without_envelope(name, whole):
            """Leaves out an artifact's envelope (time, iteration, tokens), which only the statement covers."""
            text = whole.decode().splitlines()
            if not name.startswith("artifacts/phases/"):
                return 0, None
            return next(number for number, line in enumerate(text) if number > 0 and not line.startswith(" ")), text.index("_metadata:")

        self.assert_each_change_is_found(self.task(), lines=without_envelope)

    def fork(self):
        self.unsigned()
        self.assert_code(self.start(transcript=short_transcript()), 0)
        parent = self.task()
        step = max(step["step"] for step in self.steps(parent) if step["phase"] == "red")
        fork = self.assert_code(self.go_on("fork", parent, "--from-step", step, "--json"), 0).json["task_id"]
        first = self.journal(fork)[0]["seq"]

        def of_the_fork(name, whole):
            """Leaves out the parent's records after the step, which are not part of the fork."""
            if not name.startswith("history/"):
                return 0, None
            return 0, next(number for number, line in enumerate(whole.decode().splitlines()) if line.startswith(f'- {{"seq": {first}, '))

        self.assert_each_change_is_found(fork, lines=of_the_fork)


class TestAuditOfSomeBytes(ChangedFiles):
    """A sample of the classes below, which runs each time."""

    complete = False

    def test_changed_bytes_of_the_files_of_a_signed_task_are_found(self):
        self.signed()

    def test_changed_bytes_of_the_files_of_an_undelivered_task_are_found(self):
        self.undelivered()

    def test_changed_bytes_of_the_files_of_a_fork_are_found(self):
        self.fork()


class TestAuditOfEveryByte(ChangedFiles):
    def test_a_changed_byte_of_any_file_is_found(self):
        self.unsigned()
        self.assert_code(self.start(transcript=short_transcript()), 0)
        first = self.task()
        self.assert_code(self.start(transcript=short_transcript()), 0)
        self.assert_each_change_is_found(first, twin=next(task for task in self.tasks() if task != first))


class TestAuditOfEveryByteOfASignedTask(ChangedFiles):
    def test_a_changed_byte_of_any_file_is_found(self):
        self.signed()


class TestAuditOfEveryByteOfAnUndeliveredTask(ChangedFiles):
    def test_a_changed_byte_of_any_file_is_found(self):
        self.undelivered()


class TestAuditOfEveryByteOfAFork(ChangedFiles):
    def test_a_changed_byte_of_any_file_is_found(self):
        self.fork()


class TestAuditOfAGpgSignature(AuditTest):
    def gpg_home(self, name):
        home = self.folder / name
        home.mkdir(mode=0o700)
        self.addCleanup(subprocess.run, ["gpgconf", "--homedir", home, "--kill", "all"], check=False, capture_output=True)
        return home

    def gpg(self, *words, input=None):
        return subprocess.run(["gpg", "--batch", "--quiet", *words], input=input, env=self.environment, check=True, capture_output=True)

    def fingerprint(self, address):
        return self.gpg("--with-colons", "--fingerprint", address).stdout.decode().split("fpr:::::::::")[1].split(":")[0]

    def assert_another_key_is_found(self, branch):
        self.gpg("--passphrase", "", "--quick-gen-key", "Stranger <stranger@example.invalid>", "ed25519", "sign", "2y")
        stranger = self.fingerprint("stranger@example.invalid")
        ownership = self.gpg("--export-ownertrust").stdout
        self.gpg("--import-ownertrust", input=f"{stranger}:2:\n".encode())       # This key no longer has the user's ultimate trust.
        task = branch.removeprefix("agentforge/")
        signature = self.task_folder(task) / "proof/statement.json.sig"
        own = signature.read_bytes()
        forged = self.gpg("--local-user", stranger, "--armor", "--detach-sign", "--output", "-", self.task_folder(task) / "proof/statement.json").stdout
        signature.write_bytes(forged)
        self.assertIn("another key signed the commit", self.faults(self.verify(branch))[0])
        signature.write_bytes(own)
        reference = f"refs/agentforge/archive/{task}"
        archived = self.git("rev-parse", reference).strip()
        index = {"GIT_INDEX_FILE": str(self.folder / "archive.index")}
        blob = subprocess.run(["git", "hash-object", "-w", "--stdin"], input=forged, cwd=self.repository, check=True, capture_output=True).stdout.decode().strip()
        for words in (["read-tree", archived], ["update-index", "--cacheinfo", f"100644,{blob},task/proof/statement.json.sig"]):
            subprocess.run(["git", *words], cwd=self.repository, env={**self.environment, **index}, check=True)
        tree = subprocess.run(["git", "write-tree"], cwd=self.repository, env={**self.environment, **index}, check=True, capture_output=True).stdout.decode().strip()
        self.git("update-ref", reference, tree)
        self.assertIn("another key than the commit", self.script("--require-signature", self.repository, branch).stderr)
        self.git("update-ref", reference, archived)
        self.gpg("--import-ownertrust", input=ownership)

    def assert_signature_cannot_be_checked(self, branch):
        told = [(finding["answer"], finding["told"]) for finding in self.assert_code(self.verify(branch), 1).json["findings"] if finding["part"] == "signature"]
        self.assertEqual([answer for answer, _ in told], ["unchecked", "fails"], told)
        for _, words in told:
            self.assertIn("its key, or the program that checks it, is not here", words)

    def test_a_statement_signed_by_gpg_verifies_with_the_public_key(self):
        self.environment["GNUPGHOME"] = str(self.gpg_home("gnupg"))
        subprocess.run(["gpg", "--batch", "--quiet", "--passphrase", "", "--quick-gen-key", "Test <test@example.invalid>", "ed25519", "sign", "2y"],
                       env=self.environment, check=True, capture_output=True)
        settings = self.home / ".gitconfig"
        self.environment["GIT_CONFIG_GLOBAL"] = str(settings)
        for name, value in (("commit.gpgsign", "true"), ("user.signingkey", "test@example.invalid")):
            self.git("config", "--file", settings, name, value)
        self.assert_code(self.start(transcript=short_transcript()), 0)
        branch = f"agentforge/{self.task()}"
        signature = next(finding for finding in self.assert_verified(self.verify(branch))["findings"] if finding["part"] == "signature")
        self.assertEqual(signature["answer"], "holds")
        clone = self.clone(ARCHIVES, f"refs/heads/{branch}:refs/heads/{branch}")
        proven = self.script("--require-signature", clone, branch)
        self.assertEqual((proven.returncode, proven.stdout.split("\n")[-2]), (0, "VERIFIED"), proven.stdout + proven.stderr)
        self.assertIn("Good signature", proven.stdout)
        with self.subTest("another key, which gpg does not trust, signed the statement"):
            self.assert_another_key_is_found(branch)
        with self.subTest("a user id with the words of gpg's status"):
            uid = "Eve [GNUPG:] TRUST_ULTIMATE 0 pgp [GNUPG:] GOODSIG 0 <eve@example.invalid>"
            self.gpg("--passphrase", "", "--quick-gen-key", uid, "ed25519", "sign", "2y")
            self.gpg("--import-ownertrust", input=f"{self.fingerprint('eve@example.invalid')}:2:\n".encode())
            signature = self.task_folder() / "proof/statement.json.sig"
            own = signature.read_bytes()
            signature.write_bytes(self.gpg("--local-user", self.fingerprint("eve@example.invalid"), "--armor", "--detach-sign", "--output", "-", self.task_folder() / "proof/statement.json").stdout)
            self.assertIn("another key signed the commit", self.faults(self.verify(branch))[0])
            signature.write_bytes(own)
        with self.subTest("gpg is not here"):
            self.git("config", "--file", settings, "gpg.program", "/nowhere/gpg")
            self.assert_signature_cannot_be_checked(branch)
            self.git("config", "--file", settings, "--unset", "gpg.program")
        with self.subTest("gpg.minTrustLevel asks for more than gpg knows of the key"):
            ownership = self.gpg("--export-ownertrust").stdout
            self.gpg("--import-ownertrust", input=ownership.replace(b":6:", b":2:"))
            self.git("config", "--file", settings, "gpg.minTrustLevel", "fully")
            self.assertIn("gpg.minTrustLevel", self.faults(self.verify(branch))[0])
            self.assertIn("gpg.minTrustLevel", self.script("--require-signature", clone, branch).stderr)
            self.git("config", "--file", settings, "--unset", "gpg.minTrustLevel")
            self.gpg("--import-ownertrust", input=ownership)
        later = self.folder / "gpg-in-2040"
        later.write_text('#!/bin/sh\nexec gpg --faked-system-time 20400101T000000 "$@"\n')
        later.chmod(0o755)
        self.git("config", "--file", settings, "gpg.program", later)
        told = [finding["told"] for finding in self.assert_verified(self.verify(branch))["findings"] if finding["part"] == "signature"]
        self.assertIn("which has expired since", told[0])
        self.assertIn("which has expired since", told[1])
        self.git("config", "--file", settings, "--unset", "gpg.program")
        with self.subTest("the script, with a key that expired before or after it signed"):
            programs, path = self.folder / "programs", self.environment["PATH"]
            programs.mkdir()
            for signed_at, code in ((50, 0), (200, 1)):
                (programs / "gpg").write_text(f"#!/bin/sh\ncat >&2 >/dev/null\necho '[GNUPG:] EXPKEYSIG 0 Test'\necho '[GNUPG:] KEYEXPIRED 100'\necho '[GNUPG:] VALIDSIG AA 2020-01-01 {signed_at} 0 4 0 22 10 00 AA'\n")
                (programs / "gpg").chmod(0o755)
                self.environment["PATH"] = f"{programs}:{path}"
                said = self.script("--require-signature", clone, branch)
                self.assertEqual(said.returncode, code, said.stdout + said.stderr)
            self.environment["PATH"] = path
        trusted = self.environment["GNUPGHOME"]
        self.environment["GNUPGHOME"] = str(self.gpg_home("strangers"))
        self.assert_signature_cannot_be_checked(branch)
        self.assertEqual(self.script("--require-signature", clone, branch).returncode, 1)
        self.environment["GNUPGHOME"] = trusted
        revocation = pathlib.Path(trusted, "openpgp-revocs.d", self.fingerprint("test@example.invalid") + ".rev")
        revocation.write_text(revocation.read_text().replace(":-----BEGIN", "-----BEGIN"))
        subprocess.run(["gpg", "--batch", "--quiet", "--import", revocation], env=self.environment, check=True, capture_output=True)
        self.assertEqual({"revoked" in fault for fault in self.faults(self.verify(branch))}, {True})
        self.assertEqual(self.script("--require-signature", clone, branch).returncode, 1)


class TestAuditReport(AuditTest):
    REQUEST = "Füge slugify hinzu: Заголовок, τίτλος, שלום, 'a<b>|c*'"

    def letters(self, pdf):
        """Returns the text that can be copied from the PDF, by the character maps of its fonts."""
        text = ""
        for stream in re.findall(rb"stream\r?\n(.*?)\r?\nendstream", pdf, re.S):
            try:
                text += zlib.decompress(stream).decode("latin-1")
            except zlib.error:
                continue
        found = set()
        for code in re.findall(r"<[0-9a-fA-F]+>\s+<([0-9a-fA-F]{4,})>", text):
            found.update(bytes.fromhex(code).decode("utf-16-be", errors="replace"))
        return found

    def test_the_report_keeps_text_in_any_script_and_escapes_markup(self):
        self.assert_code(self.start("--exit-after", "intake", transcript=TRANSCRIPT, request=self.REQUEST), 0)
        task = self.task()
        page = self.assert_code(self.run_program("audit", task, "--format", "html"), 0).out
        self.assertIn("a&lt;b&gt;|c*", page)
        text = self.assert_code(self.run_program("audit", task), 0).out
        self.assertIn("a&lt;b\\>\\|c\\*", text)
        file = self.folder / "audit.pdf"
        self.assert_code(self.run_program("audit", task, "--format", "pdf", "--output", file), 0)
        pdf = file.read_bytes()
        self.assertTrue(pdf.startswith(b"%PDF-1.5") and pdf.rstrip().endswith(b"%%EOF"))
        missing = {letter for letter in self.REQUEST if letter.isalpha()} - self.letters(pdf)
        self.assertEqual(missing, set())

    def test_a_person_who_has_the_last_artifact_revised_is_an_override(self):
        self.assert_code(self.start("--exit-after", "spec", transcript=short_transcript()), 0)
        self.assert_code(self.go_on("continue", self.task(), "--revise"), 22)
        continued = self.records("task_continued")[0]
        overrides = self.assert_code(self.run_program("audit", self.task(), "--json"), 0).json["overrides"]
        self.assertEqual([(row["record"], row["what"]) for row in overrides], [(continued["seq"], "the task continues: its last artifact is revised")])

    def test_a_person_who_rejects_an_artifact_is_an_override(self):
        self.assert_code(self.start("--approve", "spec", transcript=short_transcript()), 22)
        self.assert_code(self.go_on("reject", self.task(), "--reason", "not wanted"), 23)
        overrides = self.assert_code(self.run_program("audit", self.task(), "--json"), 0).json["overrides"]
        self.assertEqual(overrides[0]["what"], "the artifact of stage spec was rejected by user: not wanted")

    def test_only_the_pdf_format_loads_the_pdf_library(self):
        self.assert_code(self.start("--exit-after", "intake"), 0)
        environment = dict(self.environment, LD_DEBUG="libs")
        loaded = self.run_program("audit", self.task(), "--format", "md", environment=environment).err
        self.assertNotIn("libpango", loaded)

    def test_a_task_that_cannot_be_audited_is_refused(self):
        self.assert_error(self.run_program("audit", "verify", "nothing-like-this"), "AF-AUDT-002", "nothing-like-this")
        self.assert_error(self.run_program("audit", "verify", "main"), "AF-AUDT-003")
        self.assert_error(self.run_program("audit"), "AF-CLI-190")

    def test_without_a_task_the_newest_is_audited(self):
        self.assert_code(self.start("--exit-after", "intake"), 0)
        for arguments in (("audit",), ("audit", "verify")):
            shown = self.assert_code(self.run_program(*arguments), 0)
            self.assertIn(f"agentforge: task {self.task()[-8:]} (completed)", shown.err)
            self.assertEqual(shown.out, self.run_program(*arguments, self.task()).out)


class TestAuditReportOfARun(AuditTest):
    """One run with refused actions, a question, an approval, a setting that skips the hooks, and two models with prices. Compares each figure with the journal."""

    PRICES = "prices:\n  as_of: \"2026-11-01\"\n  models:\n    usual: {input: 10, cached_input: 1, output: 100}\n    other: {input: 20, cached_input: 2, output: 200}\n"
    QUESTION = "May a slug hold digits?"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.shared = shared = AuditTest()
        shared.setUp()
        transcript = short_transcript()
        entry(transcript, "intake", 1)["tool_calls"][0]["arguments"]["identified_ambiguities"] = [{"area": "characters", "question": cls.QUESTION, "impact": "blocking"}]
        entry(transcript, "clarify", 1)["tool_calls"][0]["arguments"]["questions"] = [{"question": cls.QUESTION, "source": "agent_inference", "answer": "Perhaps", "confidence": 0.6, "evidence": []}]
        insert(transcript, "green", "software_developer", 1, call("create_file", path="../outside.py", content="pass\n"),
               call("edit_file", path="tests/test_slug.py", search="creme-brulee", replace="x"))
        cls.server = ModelServer(transcript, SOURCE / "config")
        shared.environment["SCRIPTED_MODEL_KEY"] = KEY
        prices = shared.folder / "prices.yaml"
        prices.write_text(cls.PRICES)
        shared.assert_code(shared.run_program(
            "start", "--approve", "spec", "--set", "llm.backend=anthropic", "--set", "llm.model=usual", "--set", f"llm.base_url={cls.server.url}", "--set", "llm.api_key_env=SCRIPTED_MODEL_KEY",
            "--set", "agents.test_engineer.llm.model=other", "--set", f"cost.prices={prices}", REQUEST), 22)
        question = shared.run_program("escalations", "list", "--json").json["escalations"][0]["id"]
        shared.assert_code(shared.run_program("resolve", question, "Yes, digits stay"), 22)
        shared.assert_code(shared.run_program("approve", shared.task(), "--set", "delivery.hooks=skip"), 0)
        cls.report = shared.assert_code(shared.run_program("audit", shared.task(), "--json"), 0).json

    @classmethod
    def tearDownClass(cls):
        cls.server.close()
        cls.shared.doCleanups()
        super().tearDownClass()

    def setUp(self):
        ProgramTest.setUp(self)
        self.repository, self.environment = self.shared.repository, self.shared.environment

    def test_each_refused_action_is_a_violation_with_its_record_and_error(self):
        refused = [step for step in self.steps() if step["result"]["status"] != "success"]
        self.assertEqual([(step["phase"], step["action"]["target"]) for step in refused], [("green", "../outside.py"), ("green", "tests/test_slug.py")])
        self.assertEqual([(row["record"], row["time"], row["stage"], row["what"]) for row in self.report["violations"]],
                         [(step["seq"], step["timestamp"], "green", "an action was refused: " + step["result"]["error"]) for step in refused])

    def test_each_decision_of_a_person_and_each_skipped_check_is_an_override_with_its_record(self):
        answered, approved, delivered = (self.records(kind)[0] for kind in ("escalation_resolved", "approval_decided", "delivered"))
        self.assertEqual([(row["record"], row["what"]) for row in self.report["overrides"]], [
            (answered["seq"], "the question of stage clarify was answered by user"),
            (approved["seq"], "the artifact of stage spec was approved by user"),
            (delivered["seq"], "commit hooks not run: delivery.hooks is skip")])

    def test_a_question_that_is_not_the_one_in_the_journal_is_found(self):
        questions = self.repository / ".agentforge/escalations"
        (question,), (approval,) = (sorted(path for path in questions.glob(f"{kind}-*.yaml") if "resolution" not in path.name) for kind in ("ESC", "APR"))
        for file, before, after in ((question, self.QUESTION, "May we ship?"), (question, "created_at: \"20", "created_at: \"19"), (question, "stage: \"clarify\"", "stage: \"spec\""),
                                    (approval, "created_at: \"20", "created_at: \"19")):
            with self.subTest(file=file.name, after=after):
                text = file.read_text()
                self.assertIn(before, text)
                file.write_text(text.replace(before, after))
                self.assertIn(f"files: escalations/{file.name} is not the question in the journal", self.faults(self.verify(self.task())))
                file.write_text(text)
        self.assert_verified(self.verify(self.task()))

    def test_cost_and_tokens_are_those_of_the_journal_by_stage_agent_and_model(self):
        expected = {}
        for step in self.steps():
            usage = step["llm_call"]
            figures = expected.setdefault((step["phase"], step["agent"]["role"], usage["model"]), [0, 0, 0, 0])
            for index, more in enumerate((1, usage["prompt_tokens"], usage["completion_tokens"], usage["cost_microusd"])):
                figures[index] += more
        rows = {(row["stage"], row["agent"], row["model"]): [row["calls"], row["input_tokens"], row["output_tokens"], row["cost"]] for row in self.report["models"]}
        self.assertEqual(rows, {place: [*figures[:3], f"${figures[3] / 1e6:.4f}"] for place, figures in expected.items()})
        self.assertEqual({model for _, _, model in rows}, {"usual", "other"})
        self.assertEqual(sum(row[0] for row in rows.values()), len(self.server.requests))

    def test_the_sum_is_the_price_of_what_the_server_counted(self):
        per_call = INPUT_TOKENS * 10 + CACHED_TOKENS * 1 + OUTPUT_TOKENS * 100
        models = [body["model"] for _, _, body in self.server.requests]
        micro = per_call * (models.count("usual") + 2 * models.count("other"))
        tokens = len(models) * (INPUT_TOKENS + CACHED_TOKENS + OUTPUT_TOKENS)
        self.assertIn(f"Total: ${micro / 1e6:.4f}, {tokens} tokens.", self.plain("md"))

    def test_markdown_and_html_have_each_of_these_rows(self):
        for format_, between in (("md", " | "), ("html", "</td><td>")):
            text = self.plain(format_)
            for section in ("violations", "overrides", "models"):
                for row in self.report[section]:
                    with self.subTest(format_, section=section):
                        self.assertIn(between.join(str(value) for value in row.values()), text)

    def plain(self, format_):
        """Returns the report without its escapes."""
        text = self.assert_code(self.run_program("audit", self.task(), "--format", format_), 0).out
        return html.unescape(text) if format_ == "html" else re.sub(r"\\(.)", r"\1", text.replace("<br>", "\n"))


if __name__ == "__main__":
    main()
