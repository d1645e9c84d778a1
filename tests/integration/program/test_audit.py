# SPDX-License-Identifier: Apache-2.0
"""What a task left behind, reported to an auditor and verified: from its folder, its archive, a commit, a fresh clone."""

import datetime
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import zlib

from harness import SOURCE, TRANSCRIPT, ProgramTest, main, short_transcript


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
        settings = self.folder / "gitconfig"         # Not in the home: GIT_CONFIG_GLOBAL alone names it.
        self.environment["GIT_CONFIG_GLOBAL"] = str(settings)
        for name, value in (("commit.gpgsign", "true"), ("gpg.format", "ssh"), ("user.signingkey", key), ("gpg.ssh.allowedSignersFile", self.signers), ("agentforge.statementNote", "true")):
            self.git("config", "--file", settings, name, value)

    def new_key(self, name):
        key = self.folder / name
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "test", "-f", str(key)], check=True, stdin=subprocess.DEVNULL)
        return key


class TestAudit(SignedAuditTest):
    """One task, delivered and signed by a real SSH key; a run takes seconds, so the cases are steps of one."""

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
            self.assertEqual({voucher["who"] for voucher in verdict["vouchers"]}, {"state", "refs", "trailer", "log", "archive", "statement"})
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
            for words in ("the statement names record", "the log knows that the task was completed", "does not begin with the one that the repository keeps"):
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
    """One delivered task, and what happens around it afterwards."""

    def setUp(self):
        super().setUp()
        self.assert_code(self.start("--approve", "spec", transcript=short_transcript()), 22)
        self.assert_code(self.go_on("approve", self.task()), 0)

    def test_a_genuine_task_verifies_whatever_has_changed_around_it(self):
        task = self.task()
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
            self.assertTrue(any("but not the bytes" in fault for fault in self.faults(self.verify(task))))
            file.write_bytes(whole)
        with self.subTest("without working_memory.yaml"):
            file = folder / "working_memory.yaml"
            whole = file.read_bytes()
            file.unlink()
            self.assertIn("working_memory.yaml does not exist", str([each for each in self.assert_verified(self.verify(task))["findings"] if each["answer"] == "unchecked"]))
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
            self.assertIn("has another statement", self.faults(self.verify(task))[0])
            self.git("notes", "--ref", "agentforge", "remove", commit)
        with self.subTest("nothing has the signature, but the commit is signed"):
            told = [finding["told"] for finding in self.assert_verified(self.verify(task))["findings"] if finding["part"] == "signature"]
            self.assertIn("the statement is not signed, but the commit is", told[1])
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
            self.assertIn("something else follows the signature", self.faults(self.verify(task))[0])
        (proof / "statement.json.sig").write_bytes(signature)
        self.check_objects(task)
        with self.subTest("the statement was removed"):
            shutil.rmtree(proof)
            self.assertIn("statement.json was removed", " ".join(self.faults(self.verify(task))))

    def check_objects(self, task):
        """Of the delivered tree: one that git shows another for, and a damaged one."""
        branch = f"agentforge/{task}"
        source = self.git("rev-parse", f"{branch}:{self.git('diff', '--name-only', 'main', branch).split()[0]}").strip()
        forged = subprocess.run(["git", "hash-object", "-w", "--stdin"], cwd=self.repository, input="forged\n", env=self.environment, capture_output=True, text=True, check=True).stdout.strip()
        proven = ("--allowed-signers", self.signers, self.repository, branch)
        with self.subTest("git shows another object in place of a delivered file"):
            self.git("replace", source, forged)
            self.assertIn(f"`git replace -d {source}`", self.faults(self.verify(branch))[0])
            self.assertIn("git shows another object in place of", self.script(*proven).stderr)
            self.git("replace", "-d", source)
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
        """Puts a changed copy of a task's archive in its place: `change` gets a folder with its files."""
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


class TestVerifyScriptOnForgeries(ForgedArchiveTest):
    """`examples/verify.py` on archives that someone changed after the delivery."""

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


class TestAuditOfARejectedDelivery(AuditTest):
    def test_a_rejected_delivery_is_neither_applied_nor_verified(self):
        self.assert_code(self.start("--approve", "deliver", transcript=short_transcript()), 22)
        task = self.task()
        branch = f"agentforge/{task}"
        self.assert_error(self.run_program("apply", task), "AF-CLI-207", "agentforge approve")
        self.assert_code(self.go_on("reject", task, "--reason", "not wanted"), 23)
        self.assert_error(self.run_program("apply", task), "AF-CLI-207", "aborted")
        self.assertIn("rejected", self.faults(self.verify(branch))[0])
        self.assertEqual(self.script(self.repository, branch).returncode, 1)


class TestAuditOfEveryByte(AuditTest):
    def test_a_changed_byte_of_any_file_is_found(self):
        self.assert_code(self.start(transcript=short_transcript()), 0)
        first = self.task()
        self.assert_code(self.start(transcript=short_transcript()), 0)
        second = next(task for task in self.tasks() if task != first)
        self.assert_verified(self.verify(first))
        # What no bytes of say anything of the task: who held its lock, and what a run in the background printed.
        passing = {"lock", "detached.log", "plugin_call"}
        folder = self.task_folder(first)
        files = sorted(path for path in folder.rglob("*") if path.is_file() and path.name not in passing)
        unseen = []
        for path in files:
            whole = path.read_bytes()
            name = path.relative_to(folder)
            for at in sorted({0, len(whole) - 1, *range(0, len(whole), 997)}):
                path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1:])
                if self.verify(first).code == 0:
                    unseen.append((str(name), at))
            lines = whole.splitlines(keepends=True)
            for count in range(len(lines)):
                path.write_bytes(b"".join(lines[:count]))
                verdict = self.verify(first)
                # An empty state.yaml is what a power cut leaves of it. It says nothing wrong: the journal gives it anew.
                harmless = count == 0 and name.name == "state.yaml" and "it can be rebuilt from the journal" in verdict.out
                if verdict.code == 0 and not harmless:
                    unseen.append((str(name), f"cut after line {count}"))
            twin = self.task_folder(second) / name
            if twin.exists() and twin.read_bytes() != whole:
                path.write_bytes(twin.read_bytes())
                if self.verify(first).code == 0:
                    unseen.append((str(name), "that of another task"))
            path.write_bytes(whole)
        self.assertEqual(unseen, [])
        self.assert_verified(self.verify(first))


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
        self.gpg("--import-ownertrust", input=f"{stranger}:2:\n".encode())       # Not the user's own any more.
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
        with self.subTest("gpg is not here"):
            self.git("config", "--file", settings, "gpg.program", "/nowhere/gpg")
            told = [finding for finding in self.assert_verified(self.verify(branch))["findings"] if finding["part"] == "signature"]
            self.assertEqual({finding["answer"] for finding in told}, {"unchecked"})
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
        trusted = self.environment["GNUPGHOME"]
        self.environment["GNUPGHOME"] = str(self.gpg_home("strangers"))
        told = [finding for finding in self.assert_verified(self.verify(branch))["findings"] if finding["part"] == "signature"]
        self.assertEqual({(finding["answer"], "its key, or the program that checks it, is not here" in finding["told"]) for finding in told}, {("unchecked", True)})
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
        """The letters that the PDF's fonts say they show: what can be copied out of it."""
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


if __name__ == "__main__":
    main()
