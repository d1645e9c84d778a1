// SPDX-License-Identifier: Apache-2.0
// What a person does: answer, approve, refuse, ask for changes, start, pause, resume, abort.
import { h, draft, drafted, forget } from "/dom.js";
import { post, task } from "/api.js";
import { since, date } from "/words.js";
import * as code from "/code.js";

// Runs one action, with its button out of use meanwhile, and says what became of it.
export function act(app, work, done) {
  return async (event) => {
    const buttons = [...event.currentTarget.closest(".card, section, form").querySelectorAll("button")];
    for (const button of buttons) button.disabled = true;
    try {
      const answer = await work();
      app.say(answer && answer.resumed === false && answer.problem ? (answer.answered ? "Answered" : "Created") + ", but the task cannot continue: " + answer.problem.title + ". " + answer.problem.detail : done);
    } catch (problem) {
      app.say((problem.status === 409 ? "Nothing was changed: the item has changed since you saw it. " : "") + problem.message + (problem.detail ? ". " + problem.detail : "") + (problem.code ? " (" + problem.code + ")" : ""));
    } finally {
      for (const button of buttons) button.disabled = false;
      app.refresh();
    }
  };
}

const asked = (item) => ({ escalation: "has a question", approval: "is ready for your approval", action: "wants to take an action" })[item.kind];

// `only`: the dashboard is read-only.
export function attention(app, item, only) {
  const key = item.id + ":";
  const place = task(item.key);
  const text = () => document.querySelector('[data-key="' + CSS.escape(key + "text") + '"]').value;
  const bound = { id: item.id, hash: item.hash };
  const finished = (what) => { forget(key); return what; };
  const head = [h("h2", {}, item.phase + (item.version ? ": " + item.artifact + " (v" + item.version + ") " : " ") + asked(item)), h("p", { class: "small quiet" }, h("a", { href: "#/task/" + item.key }, item.request), " · " + item.repo + " · ", h("time", { datetime: item.created_at, title: date(item.created_at) }, since(item.created_at)),
    item.deadline ? " · until " + date(item.deadline) + " (then: " + item.at_deadline + ")" : "")];
  const shown = item.shown && h("details", { "data-key": key + "shown", open: true }, h("summary", {}, item.kind === "action" ? "The action" : "The artifact"), item.kind === "action" ? h("pre", { tabindex: 0 }, item.shown) : code.show(item.shown, "artifact.yaml", (item.artifact || "Artifact") + " of " + item.request));
  if (item.kind === "escalation") {
    const answer = (words) => (event) => { if (words().trim() === "") app.say("Write an answer, then send it."); else act(app, () => post(place + "/escalations/" + encodeURIComponent(item.id) + "/resolve", { answer: words() }).then(finished), "Answered. The task continues.")(event); };
    return h("div", { class: "card wait" }, head, item.issue && h("p", {}, item.issue), h("p", {}, h("strong", {}, item.question)),
      !only && item.options.length > 0 && h("div", { class: "buttons", role: "group", "aria-label": "Suggested answers" }, item.options.map((option) => h("button", { type: "button", "data-key": key + option, onclick: answer(() => option) }, option))),
      Object.keys(item.context).length > 0 && h("details", { "data-key": key + "context" }, h("summary", {}, "Context"), h("pre", { tabindex: 0 }, JSON.stringify(item.context, null, 2))),
      !only && [h("label", { for: key + "text" }, "Your answer"), draft("textarea", key + "text", { id: key + "text" }),
        h("div", { class: "buttons" }, h("button", { type: "button", class: "main", "data-key": key + "send", onclick: answer(text) }, "Answer"), abortButton(app, item.key))]);
  }
  const decide = (what, body, done) => act(app, () => post(place + "/" + what, { ...bound, ...body() }).then(finished), done);
  return h("div", { class: "card wait" }, head, item.kind === "action" && h("p", {}, item.question), shown, !only && [
    h("label", { for: key + "text" }, item.kind === "action" ? "What to do instead (if you refuse)" : "What to change"), draft("textarea", key + "text", { id: key + "text" }),
    h("div", { class: "buttons" },
      h("button", { type: "button", class: "main", "data-key": key + "approve", onclick: decide("approve", () => ({}), "Approved. The task continues.") }, "Approve"),
      item.available_actions.includes("exit") && h("button", { type: "button", "data-key": key + "exit", onclick: (event) => { if (confirm("Approve this as the last artifact, and end the task here?")) decide("approve", () => ({ exit: true }), "Approved. The task ends here.")(event); } }, "Approve and end here"),
      item.kind === "approval" && h("button", { type: "button", "data-key": key + "revise", onclick: (event) => { if (text().trim() === "") app.say("Say what to change, then request it."); else decide("feedback", () => ({ feedback: text() }), "Sent back with your feedback.")(event); } }, "Request changes"),
      h("button", { type: "button", class: "danger", "data-key": key + "reject", onclick: (event) => { if (item.kind === "action" || confirm("Refuse this? An artifact that iterates goes back to the previous stage; any other ends its task.")) decide("reject", () => (item.kind === "action" && text() ? { feedback: text() } : {}), "Refused.")(event); } }, "Refuse")),
    h("p", { class: "small quiet" }, "Your decision applies only to what is shown here (" + String(item.hash).slice(0, 12) + ").")]);
}

function abortButton(app, id) {
  return h("button", { type: "button", class: "danger", "data-key": "abort-" + id, onclick: (event) => { if (confirm("End this task for good? Its journal stays.")) act(app, () => post(task(id, "/abort"), {}), "Ended.")(event); } }, "Abort task");
}

export function controls(app, shown) {
  const can = shown.available_actions;
  const id = shown.key;
  const key = "guide-" + id;
  const guidance = () => { const field = document.querySelector('[data-key="' + CSS.escape(key) + '"]'); return field && field.value.trim() ? { guidance: field.value } : {}; };
  if (!can.some((action) => ["pause", "resume", "abort"].includes(action))) return null;
  return h("section", { "aria-label": "Control" },
    can.includes("resume") && [h("label", { for: key }, "Message to the model (optional)"), draft("textarea", key, { id: key, rows: 2 })],
    h("div", { class: "buttons" },
      can.includes("resume") && h("button", { type: "button", class: "main", "data-key": "resume-" + id, onclick: act(app, () => post(task(id, "/resume"), guidance()).then((done) => { forget(key); return done; }), "The task continues.") }, "Resume"),
      can.includes("pause") && h("button", { type: "button", "data-key": "pause-" + id, onclick: act(app, () => post(task(id, "/pause"), {}), "Asked the task to save and exit.") }, "Pause"),
      can.includes("pause") && h("button", { type: "button", "data-key": "pause-step-" + id, onclick: act(app, () => post(task(id, "/pause"), { after_step: true }), "The task pauses after its step.") }, "Pause after step"),
      can.includes("abort") && abortButton(app, id)));
}

// More stages after the end; or after the artifact that the task would end with, which is approved then.
export function extension(app, shown, waits, pipelines) {
  const can = shown.continuation;
  if (!can || !shown.available_actions.includes("extend")) return null;
  const id = shown.key;
  const key = "extend-" + id;
  const next = pipelines.find((each) => each.name === can.next_pipeline);
  const stages = can.stages.length || !next ? can.stages : next.stages.slice(next.stages.indexOf(can.after) + 1);
  const waiting = waits.find((item) => item.task_id === shown.task_id && item.kind === "approval");
  const stage = () => document.getElementById(key).value;
  const body = () => ({ ...(stage() ? { stage: stage() } : {}), ...(waiting ? { id: waiting.id, hash: waiting.hash } : {}) });
  const go = act(app, () => post(task(id, "/extend"), body()), waiting ? "Approved. The task continues." : "The task continues.");
  return h("section", { "aria-label": "Continue" }, h("h2", {}, can.stages.length ? "Continue with the remaining stages" : "Continue with pipeline " + can.next_pipeline),
    h("label", { for: key }, "End after"), h("select", { id: key, "data-key": key }, !waiting && h("option", { value: "" }, "the last stage"), stages.map((name) => h("option", { value: name }, name))),
    h("div", { class: "buttons" }, h("button", { type: "button", class: "main", "data-key": key + "-go", onclick: go }, waiting ? "Approve and extend" : "Extend")));
}

export function startForm(app, repositories, pipelines) {
  const choice = (id, label, values, more) => [h("label", { for: id }, label), draft("select", id, { id, ...more }, values.map(([value, words]) => h("option", { value }, words || value)))];
  const value = (id) => document.getElementById(id).value;
  const go = async (event) => {
    event.preventDefault();
    const button = event.currentTarget.querySelector("button");
    button.disabled = true;
    try {
      const body = { request: value("new-words"), repo: value("new-repo") };
      if (value("new-pipeline")) body.pipeline = value("new-pipeline");
      if (drafted("new-supervised")) body.supervised = true;
      const started = await post("/api/tasks", body);
      forget("new-");
      location.hash = "#/task/" + started.task_id;
    } catch (problem) { app.say(problem.message + ". " + problem.detail + " (" + problem.code + ")"); }
    button.disabled = false;
  };
  return h("form", { class: "card", onsubmit: go }, h("label", { for: "new-words" }, "What to do, in your own words"), draft("textarea", "new-words", { id: "new-words", required: true, placeholder: "Add a --version flag" }),
    choice("new-repo", "Repository", repositories.map((each) => [each.name]), { onchange: () => app.refresh() }), choice("new-pipeline", "Pipeline", [["", "chosen by the request"], ...pipelines.map((each) => [each.name, each.name + ": " + each.description])]),
    h("p", {}, h("label", { class: "inline" }, draft("input", "new-supervised", { type: "checkbox", id: "new-supervised" }), "Ask me after every stage")),
    h("div", { class: "buttons" }, h("button", { class: "main" }, "Start")));
}

// Repeats a step, or continues from it, in a new task. This task does not change.
export function goOnFrom(app, shown, step) {
  const key = "fork-" + shown.task_id + "-" + step;
  const words = () => { const field = document.querySelector('[data-key="' + CSS.escape(key) + '"]'); return field && field.value.trim() ? { feedback: field.value } : {}; };
  const fork = (from) => act(app, async () => {
    const made = await post(task(shown.key, "/fork"), { step: from, ...words() });
    forget(key);
    location.hash = "#/task/" + made.task_id;
    return made;
  }, "A new task continues from there.");
  return h("section", { "aria-label": "Try again" }, h("h2", {}, "Try again from here"), h("p", { class: "small quiet" }, "A new task shares the steps up to this one and continues with the model. This task does not change."),
    h("label", { for: key }, "Message to the model (optional)"), draft("textarea", key, { id: key, rows: 2 }),
    h("div", { class: "buttons" }, step > 1 && h("button", { type: "button", "data-key": key + "-again", onclick: fork(step - 1) }, "Repeat this step"), h("button", { type: "button", "data-key": key + "-on", onclick: fork(step) }, "Continue after this step")),
    h("p", { class: "small quiet" }, "To check that everything recorded can be reproduced: ", h("code", {}, "agentforge replay " + shown.task_id + " --verify")));
}
