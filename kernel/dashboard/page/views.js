// SPDX-License-Identifier: Apache-2.0
// The four levels: all tasks, one task, one phase, one step; and what belongs to a task: changes, artifacts, cost, journal.
import { h, draft, drafted, drawing } from "/dom.js";
import { get, keyed, readOnly, task, taskOf } from "/api.js";
import { clock, date, money, named, number, percent, sign, since, span, stageSign, tone } from "/words.js";
import { attention, controls, extension, goOnFrom, startForm } from "/forms.js";
import * as code from "/code.js";
import * as diff from "/diff.js";

const link = (to, ...text) => h("a", { href: "#/" + to }, text);
const entry = (to, ...content) => h("a", { href: "#/" + to, "data-entry": true }, content);
const unseen = (text) => h("span", { class: "unseen" }, text);
const fact = (name, ...value) => [h("dt", {}, name), h("dd", {}, value)];
const lines = (file) => [h("span", { class: "spring" }), h("span", { class: "good" }, "+" + file.lines_added), h("span", { class: "bad" }, "−" + file.lines_removed)];
const CHANGES = { A: ["new", "good"], D: ["gone", "bad"], R: ["renamed", ""] };
function changedFile(id, file) {
  const [words, kind] = CHANGES[file.status] || ["changed", ""];
  return h("li", { class: "row" }, h("span", { class: kind }, words), link("task/" + id + "/diff?path=" + encodeURIComponent(file.path), file.path), lines(file));
}
// "12/12", or in words where an old record has no number.
const conformance = ({ conformance, conformance_passing, conformance_total }) => (conformance_total !== null ? conformance_passing + "/" + conformance_total : conformance ? "passes" : "fails");

// Where nothing can be changed the page says so, and shows nothing that would.
async function onlyShows() {
  const only = await readOnly();
  document.body.classList.toggle("read-only", only);
  return only;
}

// A text with the ids of tasks in it as links.
function linked(text) {
  return text.split(/(task-\d{8}-[a-z0-9-]+-[0-9a-f]{8})/).map((part, at) => (at % 2 ? link("task/" + part, part) : part));
}

function setCard(set) {
  const words = { specifying: "writing the specification", specified: "working on its parts", branching: "creating the branches", delivering: "delivering", done: "delivered", undoing: "being undone", undone: "undone" };
  return h("li", {}, h("div", { class: "row" }, h("strong", {}, set.request), h("span", { class: "spring" }), h("span", { class: "quiet small" }, (words[set.phase] || set.phase) + (set.running || set.available_actions.length === 0 ? "" : ", stopped"))),
    h("ul", {}, set.specification_task && h("li", { class: "small" }, "specification: ", link("task/" + set.specification_task, set.specification_task)),
      set.parts.map((part) => h("li", { class: "small" }, h("strong", {}, part.repo), ": ", part.task_id ? [h("span", { class: tone(part.state) }, h("span", { "aria-hidden": "true" }, sign(part.state) + " "), named(part.state)), " ", link("task/" + part.task_id, part.task_id)] : "not started", part.depends_on.length > 0 && h("span", { class: "quiet" }, " after " + part.depends_on.join(", ")), part.branch && h("span", { class: "quiet" }, " · branch " + part.branch)))),
    set.test_result && h("div", { class: "small" }, "Tested together: " + set.test_result), set.reason && h("div", { class: "small warn" }, set.reason),
    !set.available_actions.includes("resume") && set.available_actions.includes("abort") && h("div", { class: "small quiet" }, "A part was aborted. To end the set: ", h("code", {}, "agentforge abort " + set.set_id)),
    set.available_actions.includes("resume") && h("div", { class: "small quiet" }, "To continue: ", h("code", {}, "agentforge resume " + set.set_id)));
}

function stages(shown, current) {
  return h("ol", { class: "stages", "aria-label": "Phases" }, shown.pipeline.stages.map((stage) => {
    const now = stage.name === shown.status.phase && shown.status.state !== "completed";
    const rounds = now && shown.current_stage && shown.current_stage.status === "iterating" && shown.iteration_summary;
    return h("li", { class: now ? "now" : "", "aria-current": stage.name === current ? "step" : null }, h("a", { href: "#/task/" + shown.key + "/phase/" + stage.name },
      h("span", { class: tone(stage.status), "aria-hidden": "true" }, now ? "●" : stageSign(stage.status)), " " + stage.name.toUpperCase(), stage.steps > 0 && unseen(", " + stage.status.replaceAll("_", " ") + ", "), h("small", {}, stage.steps ? stage.steps + (stage.steps === 1 ? " step" : " steps") : stage.status), rounds && h("small", { class: "warn" }, "ITERATING, round " + rounds.current + "/" + rounds.max)));
  }));
}

function card(shown) {
  const state = shown.status.state;
  const health = shown.health;
  const over = ["completed", "aborted", "failed"].includes(state);
  return h("li", { class: "task" },
    h("div", { class: "row" }, h("span", {}, h("span", { class: tone(state), "aria-hidden": "true" }, sign(state) + " "), h("a", { class: "title", href: "#/task/" + shown.key, "data-entry": true }, shown.request || shown.task_id)), h("span", { class: "spring" }), h("span", { class: "quiet" }, shown.repo)),
    !over && h("progress", { max: 1, value: shown.status.overall_progress, "aria-label": "Progress of " + shown.request }),
    !over && h("div", { class: "row small way" }, shown.pipeline.stages.map((stage) => h("span", { class: stage.name === shown.status.phase ? "now" : "quiet" }, stage.name === shown.status.phase ? "[" + stage.name.toUpperCase() + "]" : stage.name.toUpperCase() + (stage.status === "pending" ? "" : " " + stageSign(stage.status))))),
    h("div", { class: "row small" }, h("span", { class: tone(state) }, named(state)), !over && h("span", {}, (shown.status.phase || "").toUpperCase() + " " + percent(shown.status.overall_progress)),
      h("span", { class: "quiet" }, state !== "unknown" && (over ? since(shown.timing.last_activity) : span(shown.timing.elapsed_seconds) + " elapsed")), h("span", { class: "quiet" }, state !== "unknown" && money(shown.cost)),
      health.tests_total > 0 && h("span", { class: health.tests_passing === health.tests_total ? "quiet" : "bad" }, "Tests: " + health.tests_passing + "/" + health.tests_total),
      health.conformance !== null && h("span", { class: health.conformance ? "quiet" : "bad" }, "Conformance: " + conformance(health)),
      !over && shown.current_action && h("span", { class: "quiet" }, "Last: " + shown.current_action.action + (shown.current_action.target ? " " + shown.current_action.target : "") + " (" + since(shown.current_action.started_at) + ")")),
    shown.problem && h("div", { class: "small bad" }, "Cannot be read: " + shown.problem.title + " (" + shown.problem.code + ")"),
    shown.status.question && h("div", { class: "small warn" }, linked(shown.status.question)), shown.status.answer_problem && h("div", { class: "small bad" }, "The answer cannot be used: " + shown.status.answer_problem), shown.status.error && h("div", { class: "small bad" }, shown.status.error));
}

function troubles(problems) {
  return problems.length > 0 && h("section", { class: "wait" }, h("h2", {}, "Cannot be read"), h("ul", { class: "plain" }, problems.map((problem) => h("li", {}, h("strong", {}, problem.code), " " + problem.title, h("div", { class: "small quiet" }, problem.where), h("div", { class: "small" }, problem.detail)))));
}

// What `agentforge stats` tells: all tasks, then by pipeline and model. It compares trees of git, so it is asked for only while it is shown.
const share = (value) => (value === null ? "–" : percent(value));
const typical = (value) => (value === null ? "–" : number(value));
const FIGURES = [["tasks", (sums) => sums.tasks], ["delivered", (sums) => sums.delivered], ["steps each", (sums) => typical(sums.steps_per_delivered_task)], ["tokens each", (sums) => typical(sums.tokens_per_delivered_task)], ["escalated", (sums) => share(sums.escalation_rate)], ["verified", (sums) => share(sums.verification_pass_rate)],
  ["rework", (sums) => share(sums.rework.rate)], ["people", (sums) => (sums.waited_for_people_ms_per_ended_task === null ? "–" : span(sums.waited_for_people_ms_per_ended_task / 1000))], ["cost", money]];
async function statistics(app, repo) {
  const key = "statistics", place = document.querySelector('main [data-key="' + key + '"]');
  const told = place && place.open ? await get("/api/stats", { repo, since: drafted("since") }).catch((problem) => ({ problem })) : null;
  const table = (title, rows) => rows.length > 0 && h("div", { class: "table", tabindex: 0, role: "region", "aria-label": "Statistics by " + title }, h("table", {}, h("thead", {}, h("tr", {}, h("th", {}, title), FIGURES.map(([name]) => h("th", { class: "number" }, name)))), h("tbody", {}, rows.map((row) => h("tr", {}, h("td", {}, row.name || "(not named)"), FIGURES.map(([, value]) => h("td", { class: "number" }, value(row))))))));
  return h("section", {}, h("details", { "data-key": key, open: told !== null, ontoggle: (event) => { if (event.currentTarget.open && !told) app.refresh(); } }, h("summary", {}, "Statistics"), told && [
    h("p", { class: "row" }, h("label", { class: "inline", for: "since" }, "Tasks of"), draft("select", "since", { id: "since", onchange: () => app.refresh() }, [["", "all time"], ["7d", "the last 7 days"], ["30d", "the last 30 days"], ["90d", "the last 90 days"]].map(([value, words]) => h("option", { value }, words)))),
    told.problem ? h("p", { class: "bad" }, told.problem.message) : [table("repository", [{ ...told, name: repo || "every repository" }]), table("pipeline", told.by_pipeline), table("model", told.by_model),
      h("p", { class: "small quiet" }, "Steps and tokens of a delivered task, and the time that an ended task waited for people, are medians. Verified: the share of gate runs on a stage's complete work that passed. Rework: delivered lines that were changed within " + told.rework.days + " days.")]]));
}

export async function tasks(app, query) {
  const filter = { q: query.get("q") || "", state: query.get("state") || "", repo: query.get("repo") || "", limit: query.get("limit") || "50" };
  const [list, waits, known, sums, sets] = await Promise.all([get("/api/tasks", filter), get("/api/attention"), get("/api/repositories"), get("/api/stats", { rework: "no" }), get("/api/sets")]);
  const only = await onlyShows();
  const open = sets.sets.filter((set) => !["done", "undone"].includes(set.phase));
  app.waiting(waits.items.length);
  keyed([...list.tasks, ...waits.items]);
  const over = (shown) => ["completed", "aborted", "failed"].includes(shown.status.state);
  const go = (change) => { location.hash = "#/?" + new URLSearchParams(Object.entries({ ...filter, ...change }).filter(([key, value]) => value && !(key === "limit" && value === "50"))); };
  const active = list.tasks.filter((shown) => !over(shown)), ended = list.tasks.filter(over);
  const search = h("form", { class: "row", role: "search", onsubmit: (event) => { event.preventDefault(); go({ q: event.currentTarget.querySelector("input").value }); } },
    h("input", { type: "search", "aria-label": "Search tasks", placeholder: "Search", id: "search", "data-key": "search", value: filter.q }),
    h("select", { "aria-label": "State", "data-key": "state", onchange: (event) => go({ state: event.currentTarget.value }) }, h("option", { value: "" }, "every state"),
      ["in_progress", "awaiting_approval", "escalated", "paused", "interrupted", "completed", "failed", "aborted", "unknown"].map((state) => h("option", { value: state, selected: state === filter.state }, named(state)))),
    known.repositories.length > 1 && h("select", { "aria-label": "Repository", "data-key": "repo", onchange: (event) => go({ repo: event.currentTarget.value }) }, h("option", { value: "" }, "every repository"),
      known.repositories.map((each) => h("option", { value: each.name, selected: each.name === filter.repo }, each.name))),
    h("span", { class: "quiet small", role: "status" }, list.total + (list.total === 1 ? " task" : " tasks")));
  const counted = [["in_progress", "running"], ["waiting", sums.states.waiting === 1 ? "waits for you" : "wait for you"], ["completed", "completed"]].map(([state, words]) => (sums.states[state] || 0) + " " + words);
  if (sums.unreadable_tasks > 0) counted.push(sums.unreadable_tasks + " cannot be read");
  return ["Tasks", h("div", { class: "row" }, h("h1", {}, "Tasks"), h("span", { class: "spring" }), sums.tasks > 0 && h("span", { class: "quiet small" }, [...counted, number(sums.steps) + " steps", number(sums.tokens_used) + " tokens", sums.tokens_used > 0 && money(sums)].filter(Boolean).join(" · "))), search, h("p", {}),
    troubles([...list.problems, ...sets.problems]),
    waits.items.length > 0 && !filter.q && !filter.state && !filter.repo && h("section", { class: "wait" }, h("h2", {}, "Needs attention"), h("ul", { class: "plain" }, waits.items.map((item) => h("li", {}, h("div", { class: "row" }, h("span", {}, h("span", { "aria-hidden": "true" }, "⚠ "), entry("task/" + item.key, item.request)), h("span", { class: "spring" }), h("span", { class: "quiet small" }, item.repo + " · " + since(item.created_at))), h("div", { class: "small" }, item.kind === "approval" ? "Approval of " + item.phase : item.question))))),
    open.length > 0 && !filter.q && !filter.state && !filter.repo && h("section", {}, h("h2", {}, "Sets"), h("ul", { class: "plain" }, open.map(setCard))),
    active.length > 0 && h("section", {}, h("h2", {}, "Active tasks"), h("ul", { class: "plain" }, active.map(card))),
    ended.length > 0 && h("section", {}, h("h2", {}, "Ended tasks"), h("ul", { class: "plain" }, ended.map(card))),
    list.tasks.length === 0 && h("section", {}, h("p", {}, filter.q || filter.state || filter.repo ? "No task matches." : "No task yet. ", !only && !filter.q && link("new", "Start one"))),
    list.next_offset !== null && h("p", {}, h("button", { type: "button", "data-key": "more", onclick: () => go({ limit: String(Math.min(500, Number(filter.limit) * 2)) }) }, "Show more")),
    sums.tasks > 0 && (await statistics(app, filter.repo)),
  ];
}

export async function attentions(app) {
  const [waits, only] = await Promise.all([get("/api/attention"), onlyShows()]);
  app.waiting(waits.items.length);
  keyed(waits.items);
  return ["Needs attention", h("h1", {}, "Needs attention"), waits.items.length === 0 && h("section", {}, h("p", {}, "Nothing waits for you.")), waits.items.map((item) => attention(app, item, only)), troubles(waits.problems),
    "Notification" in window && Notification.permission === "default" && h("p", {}, h("button", { type: "button", "data-key": "notify", onclick: async () => { await Notification.requestPermission(); app.refresh(); } }, "Notify me when something waits for me"))];
}

export async function start(app) {
  const [known, only] = await Promise.all([get("/api/repositories"), onlyShows()]);
  if (only) return ["New task", h("h1", {}, "New task"), h("section", {}, h("p", {}, "This dashboard is read-only. To start a task: ", h("code", {}, "agentforge start")))];
  const repo = known.repositories.some((each) => each.name === drafted("new-repo")) ? drafted("new-repo") : "";
  const all = await get("/api/pipelines", { repo }).catch(() => ({ pipelines: [] }));
  return ["New task", h("h1", {}, "New task"), startForm(app, known.repositories, all.pipelines)];
}

// What there is: repositories, and in one of them agents, pipelines and plugins.
export async function setup(app, query) {
  const known = await get("/api/repositories");
  const repo = query.get("repo") || (known.repositories[0] || {}).name || "";
  const none = (problem) => ({ problem });
  const [agents, pipelines, plugins] = await Promise.all(["/api/agents", "/api/pipelines", "/api/plugins"].map((path) => get(path, { repo }).catch(none)));
  const list = (title, told, rows) => h("section", {}, h("h2", {}, title), told.problem ? h("p", { class: "bad" }, told.problem.message + ". " + told.problem.detail) : rows.length ? h("ul", { class: "plain" }, rows) : h("p", { class: "quiet" }, "None."));
  const row = (name, kind, about) => h("li", {}, h("div", { class: "row" }, h("strong", {}, name), h("span", { class: "quiet small" }, kind)), about && h("div", { class: "small" }, about));
  return ["Setup", h("h1", {}, "Setup"), h("section", {}, h("h2", {}, "Repositories"), h("ul", { class: "plain" }, known.repositories.map((each) => h("li", { class: "row" }, h("a", { href: "#/setup?repo=" + encodeURIComponent(each.name), "data-entry": true, "aria-current": each.name === repo ? "true" : null }, each.name), h("span", { class: "quiet small" }, each.path)))),
    h("p", { class: "small quiet" }, "To add one: ", h("code", {}, "agentforge repo add PATH"))),
    h("p", { class: "small quiet" }, "In " + repo + ":"),
    h("div", { class: "grid" }, list("Pipelines", pipelines, (pipelines.pipelines || []).map((each) => row(each.name, each.stages.join(" → "), each.description))),
      list("Agents", agents, (agents.agents || []).map((each) => row(each.role, (each.stage || "review") + (each.of_project ? " · this project's own" : ""), each.description)))),
    list("Plugins", plugins, (plugins.plugins || []).map((each) => row(each.provides.map((one) => one.name).join(", ") || each.id, [...new Set(each.provides.map((one) => one.kind))].join(", ") + " " + each.version + (each.state === "ready" ? "" : " · " + each.state), each.problem || each.description))), troubles(known.problems)];
}

function tabs(id, current) {
  const all = [["", "Overview"], ["/steps", "Steps"], ["/diff", "Changes"], ["/artifacts", "Artifacts"], ["/cost", "Cost"], ["/journal", "Journal"]];
  return h("nav", { "aria-label": "Parts of the task" }, all.map(([rest, name]) => h("a", { href: "#/task/" + id + rest, "aria-current": rest === current ? "page" : null }, name)));
}

function head(shown, current, back) {
  const state = shown.status.state;
  return [h("p", { class: "small" }, h("a", { href: back || "#/", id: "up" }, "← Back")), h("div", { class: "row" }, h("h1", {}, shown.request || shown.task_id), h("span", { class: "spring" }), h("span", { class: "quiet" }, shown.repo)),
    h("p", { class: "row" }, h("strong", { class: tone(state) }, sign(state) + " " + named(state)), h("span", { class: "quiet small" }, shown.task_id)), shown.problem && troubles([shown.problem]), tabs(shown.key, current), h("p", {})];
}

function files(shown) {
  return shown.files && h("section", {}, h("h2", {}, "Files"), shown.files.changes.length ? h("ul", { class: "plain" }, shown.files.changes.map((file) => changedFile(shown.key, file))) : h("p", { class: "quiet" }, "No file has changed yet."));
}

function criteria(phase) {
  return h("ul", { class: "plain" }, phase.exit_criteria.map((each) => h("li", {}, h("span", { class: each.status === "passed" ? "good" : each.status === "failing" ? "bad" : "quiet" }, each.status === "passed" ? "✓ passed" : each.status === "failing" ? "✗ failing" : "· " + each.status), " " + each.name.replaceAll("_", " "), each.details && h("span", { class: "quiet" }, " " + each.details), each.blocking && h("strong", { class: "bad" }, " ← blocking"),
    each.issues && each.issues.length > 0 && h("ul", {}, each.issues.map((issue) => h("li", {}, issue))),
    each.failures && each.failures.length > 0 && h("details", { open: true, "data-key": "failures-" + each.name }, h("summary", {}, each.failures.length + (each.failures.length === 1 ? " failing test" : " failing tests")), each.failures.map((failure) => h("div", {}, h("h3", {}, failure.test), h("pre", { tabindex: 0 }, failure.error || failure.status)))),
    each.violations && each.violations.length > 0 && h("details", { "data-key": "violations-" + each.name }, h("summary", {}, each.violations.length + (each.violations.length === 1 ? " violation" : " violations")), h("ul", {}, each.violations.map((each) => h("li", {}, each.file + (each.line ? ":" + each.line : "") + " " + each.message)))))));
}

function stepLine(id, step) {
  return h("li", {}, h("a", { href: "#/task/" + id + "/step/" + step.step, "data-entry": true },
    h("time", { class: "quiet when", datetime: step.timestamp }, clock(step.timestamp)), h("span", { class: "quiet" }, unseen("Step "), "#" + step.step), h("span", {}, h("strong", {}, step.action), " " + (step.files.length ? step.files.join(", ") : step.target || "")), h("span", { class: step.result === "success" ? "good" : "bad" }, h("span", { "aria-hidden": "true" }, step.result === "success" ? "✓" : "✗"), unseen(step.result + ": ")), h("span", { class: "summary" }, step.summary)));
}
const steps = (id, lines) => h("ol", { class: "timeline", "aria-label": "Steps, newest first" }, lines.map((step) => stepLine(id, step)));

export async function overview(app, query, id) {
  const [shown, waits, only] = await Promise.all([taskOf(id), get("/api/attention", { task_id: id.split("@")[0] }), onlyShows()]);
  waits.items = waits.items.filter((item) => item.repo === shown.repo);
  for (const item of waits.items) item.key = id;
  const phase = shown.status.phase && !shown.problem ? await get(task(id, "/phases/" + shown.status.phase)).catch(() => null) : null;
  const current = shown.current_stage, rounds = shown.iteration_summary;
  const own = (await get("/api/sets")).sets.filter((set) => set.set_id === shown.set || set.specification_task === shown.task_id);
  const needs = shown.dependencies;
  app.watches = [...own.flatMap((set) => [set.set_id, ...set.parts.map((part) => part.task_id)]), ...(needs && !needs.met ? needs.tasks.map((each) => each.task_id) : [])];
  const met = !needs ? [] : [...needs.tasks.map((each) => h("li", {}, h("span", { class: each.reached ? "good" : "warn" }, each.reached ? "✓ " : "· "), link("task/" + each.task_id, each.task_id), " of " + each.repo + ": stage " + each.required_stage + (each.reached ? " is done" : " is needed; it is " + (each.state ? named(each.state) + (each.phase ? " at " + each.phase : "") : "not known")), each.reason && h("div", { class: "small quiet" }, each.reason))),
    ...needs.external.map((each) => h("li", {}, h("span", { class: each.commit ? "good" : "warn" }, each.commit ? "✓ " : "· "), each.artifact + " of " + each.repo + (each.version ? " " + each.version : ""), each.commit && h("span", { class: "quiet small" }, " " + (each.tag || "") + " (" + each.commit.slice(0, 12) + ")")))];
  const known = !only && shown.available_actions.includes("extend") ? await get("/api/pipelines", { repo: shown.repo }).catch(() => ({ pipelines: [] })) : { pipelines: [] };
  return [shown.request, head(shown, ""), waits.items.map((item) => attention(app, item, only)),
    shown.status.error && h("section", { class: "wait" }, h("p", { class: "bad" }, shown.status.error)), shown.status.pause_reason && !shown.status.error && h("section", { class: "wait" }, h("p", {}, "Paused: ", linked(shown.status.pause_reason))),
    shown.status.state !== "unknown" && h("section", {}, h("h2", {}, "Pipeline: " + shown.pipeline.template + ", to " + shown.pipeline.exit_stage), h("progress", { max: 1, value: shown.status.overall_progress, "aria-label": "Progress" }), stages(shown),
      shown.goal_type && h("p", { class: "small quiet" }, "Goal: " + shown.goal_type),
      rounds && h("p", { class: "small" }, "Round " + rounds.current + " of " + rounds.max + (rounds.decisions.length ? ": " + rounds.decisions.map((each) => each.decision + " (" + clock(each.at) + ")").join(", ") : ""))),
    h("div", { class: "grid" },
      phase && h("section", {}, h("h2", {}, "Current stage: " + phase.phase.toUpperCase()), phase.objective && h("p", {}, phase.objective), criteria(phase), link("task/" + id + "/phase/" + phase.phase, "More about this stage")),
      files(shown),
      own.length > 0 && h("section", {}, h("h2", {}, "Set"), h("ul", { class: "plain" }, own.map(setCard))),
      met.length > 0 && h("section", {}, h("h2", {}, "Depends on"), h("ul", { class: "plain" }, met)),
      shown.status.state !== "unknown" && h("section", {}, h("h2", {}, "Figures"), h("dl", { class: "facts" }, fact("Started", date(shown.timing.started_at)), fact("Elapsed", span(shown.timing.elapsed_seconds) + ", " + span(shown.timing.working_seconds) + " of work"),
        shown.timing.estimated_remaining_seconds !== null && fact("Estimated time left", span(shown.timing.estimated_remaining_seconds)), fact("Steps", number(shown.steps.total)), fact("Tokens", number(shown.cost.tokens_used)), fact("Cost", money(shown.cost)),
        shown.steps.total > 0 && fact("Tokens per step", number(Math.round(shown.cost.tokens_used / shown.steps.total))), shown.health.tests_total > 0 && fact("Tests", shown.health.tests_passing + "/" + shown.health.tests_total), shown.health.conformance !== null && fact("Conformance", conformance(shown.health)), fact("Recent errors", shown.health.errors_recent),
        shown.delivery.commit && fact("Commit", shown.delivery.commit), shown.delivery.branch && fact("Branch", shown.delivery.branch), shown.delivery.pr_url && fact("Request", shown.delivery.pr_url), current && current.cycle > 0 && fact("Cycles", current.cycle)),
        h("p", { class: "row" }, link("task/" + id + "/journal", "All records"), h("a", { href: task(id, "/report"), download: id + ".json" }, "Export the report"))),
      phase && phase.steps.recent.length > 0 && h("section", {}, h("h2", {}, "Latest steps"), steps(id, phase.steps.recent.slice(0, 8)), link("task/" + id + "/steps", "All steps"))),
    !only && [extension(app, shown, waits.items, known.pipelines), controls(app, shown)]];
}

// A step that is recorded never changes: its element is made once. A live task costs the new steps only, however many are shown.
const MOST_STEPS = 20000;
const timelines = new Map();
function timelineOf(id) {
  const known = timelines.get(id) || { newest: 0, before: null, shown: 0, title: h("h2", {}), list: steps(id, []), more: h("p", {}) };
  known.section ??= h("section", {}, known.title, known.list, known.more);
  timelines.delete(id);
  timelines.set(id, known);
  if (timelines.size > 4) timelines.delete(timelines.keys().next().value);
  return known;
}

// Any part of the timeline, however long that is.
const PART = 100;
const part = (id, before) => "task/" + id + "/steps?before=" + before;
function jump(id, total) {
  const key = "jump-" + id;
  return total > PART && h("form", { class: "row", onsubmit: (event) => { event.preventDefault(); location.hash = "#/" + part(id, Math.min(total, Number(drafted(key))) + 1); } },
    h("label", { class: "inline", for: key }, "Go to step"), draft("input", key, { id: key, type: "number", min: 1, max: String(total), required: true }), h("button", {}, "Go"));
}
async function someSteps(query, id) {
  const before = Number(query.get("before"));
  const [shown, page] = await Promise.all([taskOf(id), get(task(id, "/steps"), { limit: PART, before })]);
  const total = shown.steps.total;
  return [shown.request, head(shown, "/steps"), jump(id, total), h("section", {}, h("h2", {}, page.steps.length ? "Steps " + number(page.steps[page.steps.length - 1].step) + " to " + number(page.steps[0].step) + " of " + number(total) : "No steps"),
    h("p", { class: "row" }, before <= total && link(before + PART > total ? "task/" + id + "/steps" : part(id, before + PART), "← Newer"), page.next_before !== null && link(part(id, page.next_before), "Older →")), steps(id, page.steps))];
}

export async function timeline(app, query, id) {
  if (query.has("before")) return someSteps(query, id);
  const wanted = Math.min(MOST_STEPS, Number(query.get("n") || 100));
  const shown = await taskOf(id);
  if ((timelines.get(id) || { newest: 0 }).newest > shown.steps.total) timelines.delete(id);
  const known = timelineOf(id);
  const page = (before) => get(task(id, "/steps"), { limit: 500, before });
  const fresh = [];
  if (known.newest < shown.steps.total) {
    const first = known.newest > 0 && shown.steps.total - known.newest <= 2000;      // Else what is shown is too old to go on from.
    if (!first && known.newest > 0) { known.list.replaceChildren(); known.shown = 0; known.newest = 0; known.before = null; }
    let at = await get(task(id, "/steps"), { limit: Math.min(500, known.newest > 0 ? shown.steps.total - known.newest : wanted) });
    const stop = known.newest;
    known.newest = at.steps.length ? at.steps[0].step : known.newest;
    fresh.push(...at.steps.filter((step) => step.step > stop));
    while (stop > 0 && at.next_before !== null && at.next_before > stop + 1) {
      at = await page(at.next_before);
      fresh.push(...at.steps.filter((step) => step.step > stop));
    }
    if (stop === 0) known.before = at.next_before;
    known.list.prepend(...fresh.map((step) => stepLine(id, step)));
    known.shown += fresh.length;
  }
  while (known.shown < wanted && known.before !== null) {
    const older = await page(known.before);
    known.list.append(...older.steps.map((step) => stepLine(id, step)));
    known.shown += older.steps.length;
    known.before = older.next_before;
  }
  known.title.textContent = number(shown.steps.total) + (shown.steps.total === 1 ? " step" : " steps");
  known.more.replaceChildren();
  if (known.before !== null && known.shown >= MOST_STEPS) known.more.append(link(part(id, known.before), "Older steps"));
  else if (known.before !== null) known.more.append(h("button", { type: "button", "data-key": "more", onclick: () => { location.hash = "#/task/" + id + "/steps?n=" + Math.min(MOST_STEPS, known.shown * 4); } }, "Load more"));
  return [shown.request, head(shown, "/steps"), jump(id, shown.steps.total), known.section];
}

export async function phase(app, query, id, name) {
  const [shown, told] = await Promise.all([taskOf(id), get(task(id, "/phases/" + encodeURIComponent(name)))]);
  return [name + " · " + shown.request, head(shown, null, "#/task/" + id), h("section", {}, stages(shown, name)),
    h("div", { class: "grid" }, h("section", {}, h("h2", {}, "Stage " + name.toUpperCase()), told.objective && h("p", {}, told.objective), h("dl", { class: "facts" }, fact("Status", told.status), told.agent && fact("Agent", told.agent), told.started_at && fact("Started", date(told.started_at)), told.completed_at && fact("Completed", date(told.completed_at)), fact("Attempts", told.attempts), fact("Tokens", number(told.tokens)), told.error && fact("Error", told.error))),
      h("section", {}, h("h2", {}, "Exit criteria"), criteria(told)),
      h("section", {}, h("h2", {}, "Files touched"), told.files_touched.length ? h("ul", { class: "plain" }, told.files_touched.map((file) => h("li", { class: "row" }, link("task/" + id + "/diff?path=" + encodeURIComponent(file.path), file.path), lines(file)))) : h("p", { class: "quiet" }, "None."))),
    h("section", {}, h("h2", {}, "Steps"), told.steps.recent.length ? steps(id, told.steps.recent) : h("p", { class: "quiet" }, "None.")), told.artifact && h("p", {}, link("task/" + id + "/artifacts?phase=" + name, "Artifacts of this stage"))];
}

// The sections of a context as parts of what one step may take.
function budget(tokens, most) {
  const sections = Object.entries(tokens).filter(([key, value]) => typeof value === "number" && value > 0 && !["total", "calibration_permille"].includes(key));
  const sum = tokens.total || sections.reduce((all, [, value]) => all + value, 0);
  const whole = Math.max(most || 0, sum) || 1;
  const left = most && most > sum ? most - sum : 0;
  return [h("div", { class: "budget", role: "img", "aria-label": number(sum) + (most ? " of " + number(most) : "") + " tokens" }, sections.map(([, value], index) => { const part = h("span", { class: "c" + (index % 9) }); part.style.width = (100 * value) / whole + "%"; return part; })),
    h("ul", { class: "legend" }, sections.map(([key, value], index) => h("li", {}, h("i", { class: "c" + (index % 9) }), key.replaceAll("_", " ") + " " + number(value))), h("li", {}, h("strong", {}, number(sum) + (most ? " of " + number(most) : "") + " tokens")), left > 0 && h("li", { class: "quiet" }, number(left) + " left"))];
}

export async function step(app, query, id, which) {
  const [shown, told, only] = await Promise.all([taskOf(id), get(task(id, "/steps/" + which)), onlyShows()]);
  const at = Number(which);
  const two = query.get("two") === "1";
  return ["Step " + which + " · " + shown.request, head(shown, null, "#/task/" + id + "/phase/" + told.phase),
    h("p", { class: "row" }, at > 1 && h("a", { href: "#/task/" + id + "/step/" + (at - 1), id: "previous" }, "← Step " + (at - 1)), at < told.steps_total && h("a", { href: "#/task/" + id + "/step/" + (at + 1), id: "next" }, "Step " + (at + 1) + " →")),
    h("section", {}, h("h2", {}, "Step " + which + ": " + told.action.type + (told.action.target ? " " + told.action.target : "")), h("dl", { class: "facts" }, fact("Stage", told.phase), fact("Time", date(told.timestamp) + ", " + told.duration_seconds.toFixed(1) + " s"), told.agent && fact("Agent", told.agent.role), told.llm_call.model && fact("Model", told.llm_call.model), fact("Tokens", number(told.llm_call.prompt_tokens) + " in, " + number(told.llm_call.completion_tokens) + " out"), fact("Result", h("span", { class: told.result.success ? "good" : "bad" }, told.result.success ? "✓ " : "✗ ", told.result.summary)))),
    told.diff.patch && h("section", {}, h("div", { class: "row" }, h("h2", {}, "Changes of this step"), h("span", { class: "spring" }), columns(two, "#/task/" + id + "/step/" + which)), diff.show(told.diff.patch, two)),
    h("section", {}, h("h2", {}, "What the model saw"), budget(told.context_sent.section_tokens, told.context_sent.max_tokens), h("p", { class: "small quiet" }, "SHA-256 of the context: " + told.context_sent.sha256),
      h("details", { "data-key": "context" }, h("summary", {}, "Context, byte for byte"), code.show(told.context_sent.text, "context.yaml")), h("details", { "data-key": "system" }, h("summary", {}, "System prompt"), h("pre", { tabindex: 0 }, told.context_sent.system))),
    h("section", {}, h("h2", {}, "The model's answer"), told.llm_response.reasoning && h("pre", { tabindex: 0 }, told.llm_response.reasoning), h("details", { "data-key": "parameters", open: true }, h("summary", {}, "Parameters of " + told.action.type), code.show(JSON.stringify(told.action.parameters, null, 2), "parameters.json"))),
    (told.result.output || told.result.error) && h("section", {}, h("h2", {}, "Result"), told.result.output && h("pre", { tabindex: 0 }, told.result.output), told.result.error && h("pre", { tabindex: 0, class: "bad" }, told.result.error)),
    after(told.state_after), !only && goOnFrom(app, shown, at)];
}

function after(state) {
  const checks = state.verification_status;
  const counted = (sums) => sums.passing + " pass, " + sums.failing + " fail";
  return checks && h("section", {}, h("h2", {}, "Gate results before this step"), h("dl", { class: "facts" }, checks.tests && fact("Tests", counted(checks.tests)), checks.conformance && fact("Conformance", checks.conformance.passing !== null ? counted(checks.conformance) : checks.conformance.passed ? "passes" : "fails"), fact("Tree", state.tree)));
}

function columns(two, place) {
  const join = place.includes("?") ? "&" : "?";
  return h("button", { type: "button", "data-key": "columns", "aria-pressed": String(two), onclick: () => { location.hash = place.slice(1) + (two ? "" : join + "two=1"); } }, two ? "In one column" : "Side by side");
}

export async function changes(app, query, id) {
  const [shown, told] = await Promise.all([taskOf(id), get(task(id, "/diff")).catch((problem) => ({ files: [], patch: "", problem }))]);
  const two = query.get("two") === "1", only = query.get("path") || "";
  return ["Changes · " + shown.request, head(shown, "/diff"), told.problem && h("p", { class: "quiet" }, told.problem.message),
    h("section", {}, h("div", { class: "row" }, h("h2", {}, told.files.length + (told.files.length === 1 ? " file" : " files")), h("span", { class: "spring" }), only && link("task/" + id + "/diff", "All files"), columns(two, "#/task/" + id + "/diff" + (only ? "?path=" + encodeURIComponent(only) : ""))),
      h("ul", { class: "plain" }, told.files.map((file) => changedFile(id, file)))),
    diff.show(told.patch, two, only)];
}

export async function artifacts(app, query, id) {
  const [shown, list] = await Promise.all([taskOf(id), get(task(id, "/artifacts"))]);
  const place = (each) => task(id, "/artifacts/" + encodeURIComponent(each.phase) + "/" + encodeURIComponent(each.name));
  const chosen = list.artifacts.find((each) => each.phase + "/" + each.name === query.get("file")) || ["current", "other"].map((version) => list.artifacts.find((each) => each.phase === query.get("phase") && each.version === version)).find(Boolean);
  const against = list.artifacts.find((each) => each.phase + "/" + each.name === query.get("against"));
  const [one, other] = await Promise.all([chosen ? get(place(chosen)) : null, against ? get(place(against)) : null]);
  const to = (each, extra) => "task/" + id + "/artifacts?file=" + encodeURIComponent(each.phase + "/" + each.name) + (extra || "");
  const compared = (each) => "&against=" + encodeURIComponent(each.phase + "/" + each.name);
  const two = query.get("two") === "1";
  const versions = chosen ? list.artifacts.filter((each) => each.phase === chosen.phase && each !== chosen) : [];
  return ["Artifacts · " + shown.request, head(shown, "/artifacts"),
    h("section", {}, h("h2", {}, "Artifacts"), list.artifacts.length ? h("ul", { class: "plain" }, list.artifacts.map((each) => h("li", { class: "row" }, h("span", { class: "quiet" }, each.phase), link(to(each), each.name), h("span", { class: "quiet small" }, each.version)))) : h("p", { class: "quiet" }, "None yet.")),
    one && h("section", {}, h("h2", {}, one.phase + "/" + one.name), versions.length > 0 && h("p", { class: "row small" }, "Compare with: ", versions.map((each) => link(to(chosen, compared(each)), each.name)), other && [h("span", { class: "spring" }), columns(two, "#/" + to(chosen, compared(against)))]),
      other ? diff.show(diff.between(one.name, other.text, one.text), two) : code.show(one.text, one.name))];
}

// A sum over the steps: tokens, and money where it is known.
function chart(points, key, words) {
  const most = Math.max(0, ...points.map((point) => point[key]));
  if (points.length < 2 || most === 0) return null;
  const last = points[points.length - 1].step || 1;
  const at = (point) => (100 * point.step) / last + "," + (40 - (38 * point[key]) / most);
  return h("figure", { class: "chart" }, h("figcaption", { class: "small quiet row" }, h("span", {}, words(most)), h("span", { class: "spring" }), h("span", {}, clock(points[0].at) + " to " + clock(points[points.length - 1].at))),
    drawing("svg", { viewBox: "0 0 100 40", preserveAspectRatio: "none", role: "img", "aria-label": words(most) + " after " + last + " steps" },
      drawing("line", { x1: 0, y1: 40, x2: 100, y2: 40 }), drawing("polyline", { points: ["0,40", ...points.map(at)].join(" ") })),
    h("div", { class: "small quiet row", "aria-hidden": "true" }, h("span", {}, "step 0"), h("span", { class: "spring" }), h("span", {}, "step " + number(last))));
}

export async function cost(app, query, id) {
  const [shown, told] = await Promise.all([taskOf(id), get(task(id, "/cost"))]);
  const table = (title, rows) => h("section", {}, h("h2", {}, title), h("div", { class: "table", tabindex: 0, role: "region", "aria-label": "Cost " + title.toLowerCase() }, h("table", {}, h("thead", {}, h("tr", {}, h("th", {}, "name"), ["calls", "tokens", "cost"].map((name) => h("th", { class: "number" }, name)))), h("tbody", {}, rows.map((row) => h("tr", {}, h("td", {}, row.name || "(not named)"), h("td", { class: "number" }, row.calls), h("td", { class: "number" }, number(row.tokens_used)), h("td", { class: "number" }, money(row))))))));
  return ["Cost · " + shown.request, head(shown, "/cost"), h("section", {}, h("h2", {}, told.in_words + ", " + number(told.tokens_used) + " tokens"), h("div", { class: "grid" }, chart(told.over_time, "tokens_used", (most) => number(most) + " tokens"), chart(told.over_time, "estimated_cost_usd", (most) => "$" + most.toFixed(most < 1 ? 4 : 2)))), h("div", { class: "grid" }, table("By stage", told.by_phase), table("By agent", told.by_agent), table("By model", told.by_model))];
}

export async function journal(app, query, id) {
  const shown = await taskOf(id);
  const after = query.has("after") ? Number(query.get("after")) : Math.max(0, shown.sequence - 100);
  const page = await get(task(id, "/records"), { after, limit: 100 });
  return ["Journal · " + shown.request, head(shown, "/journal"), h("section", {}, h("h2", {}, number(page.total) + " records"),
    h("p", { class: "row" }, after > 0 && link("task/" + id + "/journal?after=" + Math.max(0, after - 100), "← Earlier"), page.next_after !== null && link("task/" + id + "/journal?after=" + page.next_after, "Later →")),
    h("ul", { class: "plain" }, page.records.map((record) => h("li", {}, h("details", { "data-key": "record-" + record.seq }, h("summary", {}, record.seq + " " + clock(record.timestamp) + " " + record.type + " " + (record.stage || record.phase || "")), h("pre", { tabindex: 0 }, JSON.stringify(record, null, 2)))))))];
}
