// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <ostream>

#include "audit/report.hpp"
#include "audit/verify.hpp"
#include "audit/verify_commit.hpp"
#include "base/files.hpp"
#include "base/text.hpp"
#include "git/archives.hpp"
#include "git/merges.hpp"
#include "git/objects.hpp"
#include "program/command_line.hpp"
#include "program/project/chosen_task.hpp"
#include "program/project/project.hpp"
#include "program/terminal/display.hpp"

namespace agentforge::kernel {

namespace {

namespace fs = std::filesystem;

struct AuditArguments {
    std::string subject;
    std::string format = "md";
    std::string output;
};

/// The task to audit: its folder, or its archive restored to a temporary folder.
struct Subject {
    AuditPlace place;
    std::string what;
    std::string commit;                            ///< Set if the argument was a commit.
    std::unique_ptr<TemporaryDirectory> restored;  ///< Holds the restored files.
};

AuditPlace place_of_task(const ProjectPlace& place, const std::string& id) {
    return {id,         TaskStore(place.agentforge).paths(id).root,   place.agentforge / "escalations",
            place.root, place.agentforge / "logs" / "agentforge.log", false,
            {}};
}

Result<Subject> open_archive(const ProjectPlace& place, const std::string& id) {
    Subject subject;
    AF_TRY(subject.restored, TemporaryDirectory::make("audit"));
    const fs::path folder = subject.restored->path();
    AF_CHECK(restore_task(place.root, id, folder / "tasks", folder / "escalations"));
    subject.place = {id, folder / "tasks" / id, folder / "escalations", place.root, {}, true, {}};
    subject.what = "archive refs/agentforge/archive/" + id;
    return subject;
}

/// If `gc --blobs` removed the blobs of the task, uses those of its archive.
Result<Subject> with_archived_blobs(const ProjectPlace& place, const std::string& id, Subject subject) {
    std::error_code error;
    if (fs::exists(TaskPaths{subject.place.folder}.blobs() / "blobs.yaml", error)) { return subject; }
    AF_TRY(const std::string archived, archived_task(place.root, id));
    if (archived != id) { return subject; }
    AF_TRY(Subject archive, open_archive(place, id));
    const fs::path blobs = TaskPaths{archive.place.folder}.blobs();
    if (!fs::exists(blobs / "blobs.yaml", error)) { return subject; }
    subject.place.blobs = blobs;
    subject.restored = std::move(archive.restored);
    subject.what += ", with the blobs of refs/agentforge/archive/" + id;
    return subject;
}

Result<Subject> open_folder(const ProjectPlace& place, const std::string& id) {
    return with_archived_blobs(place, id, {place_of_task(place, id), "task " + id, "", nullptr});
}

/// Returns the task's folder if it exists, else its archive. Nothing if neither does.
Result<std::optional<Subject>> open_task(const ProjectPlace& place, const std::string& id) {
    std::error_code error;
    if (fs::exists(TaskStore(place.agentforge).paths(id).journal(), error)) {
        AF_TRY(Subject subject, open_folder(place, id));
        return std::optional(std::move(subject));
    }
    AF_TRY(const std::string archived, archived_task(place.root, id));
    if (archived != id) { return std::optional<Subject>(); }
    AF_TRY(Subject subject, open_archive(place, id));
    return std::optional(std::move(subject));
}

Error nothing_named(const std::string& name) {
    return Error{
        "AF-AUDT-002", "`" + printable(name, 200) + "` names no task, archive or commit here", "",
        "`agentforge status` lists tasks, `agentforge archive list` archives; in a clone: git fetch origin 'refs/agentforge/archive/*:refs/agentforge/archive/*'",
        ErrorKind::not_found};
}

Result<Subject> open_commit(const ProjectPlace& place, const std::string& name) {
    AF_TRY(const auto commit, named_commit(place.root, name));
    if (!commit) { return nothing_named(name); }
    AF_TRY(const WrittenCommit written, written_commit(place.root, *commit));
    Subject subject;
    const CommitTrailers trailers = trailers_of(written.message);
    if (is_task_id(trailers.task_id)) {
        AF_TRY(auto found, open_task(place, trailers.task_id));
        if (found) { subject = std::move(*found); }
    }
    subject.commit = *commit;
    subject.what = "commit " + *commit + (subject.place.folder.empty() ? "" : ", by " + subject.what);
    return subject;
}

/// Opens a task's folder that may be kept elsewhere, with the questions to people if they are beside it.
Result<Subject> open_path(const ProjectPlace& place, const std::string& name) {
    std::error_code error;
    fs::path folder = fs::absolute(name).lexically_normal();
    if (!folder.has_filename()) { folder = folder.parent_path(); }  // Removes a trailing `/`.
    const std::string id = folder.filename().string();
    const AuditPlace own = place_of_task(place, id);
    if (fs::equivalent(folder, own.folder, error)) { return open_folder(place, id); }
    const fs::path escalations = folder.parent_path().parent_path() / "escalations";
    const bool is_kept_whole = folder.parent_path().filename() == "tasks" && fs::is_directory(escalations, error);
    return with_archived_blobs(
        place, id,
        {{"", folder, is_kept_whole ? escalations : fs::path(), place.root, {}, false, {}}, "folder " + name, "", nullptr});
}

/// Refuses a part of a task's id that is also the name of a commit, such as a branch: either may be meant.
Result<void> check_not_a_commit(const ProjectPlace& place, const std::string& name, const std::string& task) {
    if (name == task || name.ends_with("/archive/" + task)) { return {}; }
    AF_TRY(const auto commit, named_commit(place.root, name));
    if (!commit) { return {}; }
    return Error{"AF-AUDT-012", "`" + printable(name, 200) + "` names both task " + task + " and commit " + *commit, "",
                 "give the whole id of the task, or of the commit", ErrorKind::invalid};
}

/// Opens a task's id or a unique part of it, an archive (its id or ref), a commit, or a task's folder.
Result<Subject> open_subject(const ProjectPlace& place, const std::string& name) {
    std::error_code error;
    const bool is_folder = name.find('/') != std::string::npos && fs::exists(fs::path(name) / "actions.yaml", error);
    // A repository may contain a folder named like a branch. No branch begins with these letters.
    if (is_folder && (name.front() == '/' || name.front() == '.')) { return open_path(place, name); }
    const TaskStore tasks(place.agentforge);
    if (const auto id = tasks.resolve(name); id.ok()) {
        AF_CHECK(check_not_a_commit(place, name, *id));
        AF_CHECK(tasks.check_began(*id));
        return open_folder(place, *id);
    }
    AF_TRY(const std::string archived, archived_task(place.root, name));
    if (!archived.empty()) {
        AF_CHECK(check_not_a_commit(place, name, archived));
        return open_archive(place, archived);
    }
    auto commit = open_commit(place, name);
    if (commit.ok() || commit.error().kind != ErrorKind::not_found) { return commit; }
    if (is_folder) { return open_path(place, name); }
    if (const auto elsewhere = in_another_worktree(tasks, name)) { return *elsewhere; }
    return commit;
}

Result<AuditVerdict> verify(const ProjectPlace& place, const Subject& subject, const SignatureTools& tools, const Stop& stop) {
    if (subject.place.folder.empty()) { return verify_commit_alone(place.root, subject.commit, tools, stop); }
    AF_TRY(AuditVerdict verdict, verify_task(subject.place, tools, stop));
    verdict.what = subject.what;
    if (!subject.commit.empty()) { AF_CHECK(verify_commit(verdict, subject.place, subject.commit)); }
    return verdict;
}

/// Calls `use` with the subject that is named, or the newest task, and its verdict.
int with_verdict(Program& program, const std::string& named, const std::function<int(const Subject&, const AuditVerdict&)>& use) {
    const auto place = ProjectPlace::find(program);
    if (!place.ok()) { return program.fail(place.error()); }
    const auto newest = named.empty() ? task_or_newest(program, TaskStore(place->agentforge), named) : Result<std::string>(named);
    if (!newest.ok()) { return program.fail(newest.error()); }
    const std::string& name = *newest;
    const auto product = ProductPaths::find();
    if (!product.ok()) { return program.fail(product.error()); }
    const auto processes = make_process_runner(product->exec_helper);
    const SignatureTools tools{*processes, place->root, program.environment};
    auto subject = open_subject(*place, name);
    if (!subject.ok()) { return program.fail(subject.error()); }
    const auto state = state_directory(program.environment);
    const bool is_kept_copy = subject->place.is_archive || subject->place.task_id.empty();  // It may be of an earlier moment.
    if (state.ok() && !is_kept_copy) { subject->place.own_journals = own_journals(*state); }
    const auto verdict = verify(*place, *subject, tools, Stop{program.cancel, std::nullopt});
    return verdict.ok() ? use(*subject, *verdict) : program.fail(verdict.error());
}

const char* mark_of_answer(AuditAnswer answer) {
    if (answer == AuditAnswer::holds) { return "ok       "; }
    return answer == AuditAnswer::fails ? "WRONG    " : "unchecked";
}

void print_verdict(std::ostream& out, const AuditVerdict& verdict) {
    out << (verdict.holds() ? "Verified: " : "NOT VERIFIED: ") << printable(verdict.what, 300)
        << (verdict.status.empty() || verdict.status == to_string(TaskStatus::completed) ? "" : " (" + verdict.status + ")")
        << "\n";
    for (const AuditFinding& each : verdict.findings) {
        out << "  " << mark_of_answer(each.answer) << "  " << each.part
            << std::string(each.part.size() < 12 ? 12 - each.part.size() : 1, ' ') << printable(each.detail, 2000) << "\n";
    }
}

int run_verify(Program& program, const std::string& name) {
    return with_verdict(program, name, [&](const Subject&, const AuditVerdict& verdict) {
        if (program.json_output) {
            program.print_json(to_json(verdict));
        } else {
            print_verdict(program.out, verdict);
        }
        return verdict.holds() ? 0 : 1;
    });
}

/// Returns the document in the requested form.
Result<std::string> written(Program& program, const Document& document, const std::string& format) {
    if (format == "html") { return printable_lines(to_html(document)); }
    if (format == "json") { return to_json_pretty(to_json(document)); }
    if (format == "md") { return printable_lines(to_markdown(document)); }
    AF_TRY(PrintedDocument printed, print(document));
    if (printed.missing_glyphs != 0) {
        program.err << "agentforge: no installed font has " << printed.missing_glyphs
                    << " characters of the report, which are printed as `[U+…]`; install fonts-noto and fonts-noto-color-emoji\n";
    }
    return std::move(printed.pdf);
}

int run_report(Program& program, const AuditArguments& arguments) {
    const std::string format = program.json_output ? "json" : arguments.format;
    if (format == "pdf" && arguments.output.empty() && program.out_is_terminal) {
        program.fail(Error{"AF-AUDT-008", "a PDF cannot go to a terminal", "",
                           "give --output FILE, or redirect the output to a file", ErrorKind::invalid});
        return 2;
    }
    return with_verdict(program, arguments.subject, [&](const Subject& subject, const AuditVerdict& verdict) {
        const auto evidence = subject.place.folder.empty()
                                  ? Result<TaskEvidence>(task_not_here(subject.commit))
                                  : TaskEvidence::read(subject.place.folder, subject.place.escalations, subject.place.blobs);
        if (!evidence.ok()) { return program.fail(evidence.error()); }
        const auto text = written(program, audit_report(*evidence, verdict), format);
        if (!text.ok()) { return program.fail(text.error()); }
        if (arguments.output.empty()) {
            program.out << *text;
        } else {
            const fs::path file = program.directory / arguments.output;
            if (const auto done = replace_users_file(file, *text); !done.ok()) { return program.fail(done.error()); }
            if (!program.quiet) { program.err << "Written: " << printable(file.string(), 300) << "\n"; }
        }
        return verdict.holds() ? 0 : 1;
    });
}

}  // namespace

void add_audit(CLI::App& app, Program& program) {
    auto arguments = std::make_shared<AuditArguments>();
    const Command command = add_subcommand(app, "audit", "Write a report on a task for an auditor, and verify its records");
    add_option(*command, "task", arguments->subject,
               "A task or an archive (id or a unique part), or a delivered commit (default: the newest task)")
        ->type_name("TASK");
    const Option format = add_option(*command, "--format", arguments->format, "md (the default), html, json or pdf");
    format->type_name("FORMAT")->one_of({"md", "html", "json", "pdf"});
    add_option(*command, "--output", arguments->output, "Write the report to this file")->type_name("FILE");
    add_flag(*command, "--json", program.json_output, "The same as --format json")->excludes(format);
    command->footer("Examples:\n  agentforge audit 1f2e3d4c --format pdf --output audit.pdf\n  agentforge audit verify 1f2e3d4c");
    auto subject = std::make_shared<std::string>();
    const Command verify_command =
        add_subcommand(*command, "verify", "Verify journal, blobs, artifacts, patches, trees, commit and statement, offline");
    add_option(*verify_command, "subject", *subject,
               "A task, an archive (id or ref), a commit, or a task's folder (default: the newest task)")
        ->type_name("SUBJECT");
    add_flag(*verify_command, "--json", program.json_output, "Print JSON");
    verify_command->footer("Examples:\n  agentforge audit verify 1f2e3d4c\n  agentforge audit verify HEAD");
    const auto verifies = std::make_shared<bool>(false);
    verify_command->callback([&program, subject, verifies] {
        *verifies = true;
        program.pages = true;
        program.command = [&program, subject] { return run_verify(program, *subject); };
    });
    command->callback([&program, arguments, verifies] {
        if (*verifies) { return; }
        program.pages = arguments->format != "pdf";
        program.command = [&program, arguments] { return run_report(program, *arguments); };
    });
}

}  // namespace agentforge::kernel
