// SPDX-License-Identifier: Apache-2.0
// The page: which view is shown, when it is drawn anew, and the keyboard.
import { h, redraw, shown } from "/dom.js";
import { get, listen } from "/api.js";
import * as views from "/views.js";

const main = document.getElementById("main");
const notice = document.getElementById("notice");
const connection = document.getElementById("connection");
let drawing = null, again = false, lastPlace = null, waitingBefore = null, title = "";

const app = {
  say(text) { notice.textContent = text; notice.hidden = !text; },
  refresh() { draw(); },
  // How many tasks wait for the person; in the badge and the tab's title, whichever view is shown.
  waiting(count) {
    const badge = document.getElementById("waiting");
    badge.textContent = count;
    badge.hidden = count === 0;
    badge.setAttribute("aria-label", count + " waiting");
    app.count = count;
    entitle(title);
    if (waitingBefore !== null && count > waitingBefore && document.hidden) notify(count);
    waitingBefore = count;
  },
  count: 0,
  watches: [],    // Other tasks and sets whose changes concern the one that is shown.
};

function entitle(text) {
  title = text;
  document.title = (app.count > 0 ? "(" + app.count + ") " : "") + (title ? shown(title) + " · " : "") + "AgentForge";
}
function notify(count) {
  if ("Notification" in window && Notification.permission === "granted") new Notification("AgentForge waits for you", { body: count + (count === 1 ? " task" : " tasks"), tag: "agentforge" });
}

// The first that fits shows the view.
const routes = [
  [/^\/?$/, views.tasks, "tasks"], [/^\/attention$/, views.attentions, "attention"], [/^\/new$/, views.start, "new"], [/^\/setup$/, views.setup, "setup"],
  [/^\/task\/([^/]+)$/, views.overview, "tasks"], [/^\/task\/([^/]+)\/steps$/, views.timeline, "tasks"], [/^\/task\/([^/]+)\/phase\/([^/]+)$/, views.phase, "tasks"], [/^\/task\/([^/]+)\/step\/(\d+)$/, views.step, "tasks"],
  [/^\/task\/([^/]+)\/diff$/, views.changes, "tasks"], [/^\/task\/([^/]+)\/artifacts$/, views.artifacts, "tasks"], [/^\/task\/([^/]+)\/cost$/, views.cost, "tasks"], [/^\/task\/([^/]+)\/journal$/, views.journal, "tasks"],
];

function decoded(word) {
  try { return decodeURIComponent(word); } catch { return null; }
}

// The view at this address, or null: also for an address that cannot be decoded (`%` alone).
function here() {
  const [path, query] = location.hash.slice(1).split("?");
  for (const [pattern, view, name] of routes) {
    const match = pattern.exec(path);
    if (!match) continue;
    const words = match.slice(1).map(decoded);
    return words.includes(null) ? null : { view, name, query: new URLSearchParams(query || ""), words };
  }
  return null;
}

async function draw() {
  if (drawing) { again = true; return drawing; }
  drawing = (async () => {
    const place = location.hash, found = here();
    try {
      const [name, ...content] = found ? await found.view(app, found.query, ...found.words) : ["Not found", h("section", {}, h("h1", {}, "There is nothing at this address"), h("p", {}, h("a", { href: "#/" }, "All tasks")))];
      if (location.hash !== place) { again = true; return; }
      redraw(main, content);
      entitle(name);
    } catch (problem) {
      if (problem.status === 401) redraw(main, h("section", {}, h("h1", {}, "The dashboard no longer knows this browser"), h("p", {}, "Start ", h("code", {}, "agentforge dashboard"), " again, and open the address that it prints.")));
      else if (problem.code === "AF-DASH-018") redraw(main, h("section", {}, h("h1", {}, problem.message), h("ul", {}, problem.where.split(", ").map((repo) => h("li", {}, h("a", { href: place.replace(/^#\/task\/[^/?]+/, (start) => start + "@" + encodeURIComponent(repo)) }, repo))))));
      // What is shown stays only if the dashboard cannot be reached: its answer says that the task is gone, or why it cannot be shown.
      else if (place !== lastPlace || problem.status) {
        const detail = ["AF-TASK-002", "AF-DASH-014"].includes(problem.code) ? "It was removed, or it never existed." : problem.detail || "The dashboard cannot be reached.";
        redraw(main, h("section", {}, h("h1", {}, problem.message), h("p", {}, detail), h("p", {}, h("a", { href: "#/" }, "All tasks"))));
        entitle(problem.message);
      }
    }
    for (const entry of document.querySelectorAll("header nav a")) if (found && entry.dataset.view === found.name) entry.setAttribute("aria-current", "page"); else entry.removeAttribute("aria-current");
    if (place !== lastPlace && lastPlace !== null) {
      // Another filter or page of the same view keeps the focus where it is.
      if (place.split("?")[0] !== lastPlace.split("?")[0]) { main.focus({ preventScroll: true }); document.documentElement.scrollTop = 0; }
      app.say("");
    }
    lastPlace = place;
  })();
  try { await drawing; } finally { drawing = null; }
  if (again) { again = false; draw(); }
}

let due = null, counting = null;
// The count is asked for by itself, too: a notification comes while another task is shown, or none.
function count() {
  counting ??= setTimeout(async () => {
    counting = null;
    try { app.waiting((await get("/api/attention")).items.length); } catch { /* the view says what is wrong */ }
  }, 300);
}
function soon(event) {
  count();
  const [, , id] = location.hash.slice(1).split("?")[0].split("/");
  const settled = !drawing && lastPlace === location.hash;     // Until then `watches` is of the place before.
  if (settled && event && id && event.type !== "repository" && location.hash.startsWith("#/task/") && event.task_id !== decoded(id)?.split("@")[0] && !app.watches.includes(event.task_id)) return;
  due ??= setTimeout(() => { due = null; draw(); }, 60);
}

const help = document.getElementById("help");
document.getElementById("help-button").addEventListener("click", () => help.showModal());

let typed = "";
function entries(by) {
  const all = [...main.querySelectorAll("[data-entry]")];
  const at = all.indexOf(document.activeElement);
  const next = all[at < 0 ? (by > 0 ? 0 : all.length - 1) : Math.min(all.length - 1, Math.max(0, at + by))];
  if (next) next.focus();
}
document.addEventListener("keydown", (event) => {
  const writes = /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement?.tagName || "");
  if (event.key === "Escape" && writes) document.activeElement.blur();
  if (writes || event.ctrlKey || event.metaKey || event.altKey || help.open) return;
  const click = (id) => document.getElementById(id)?.click();
  const keys = { "?": () => help.showModal(), j: () => entries(1), k: () => entries(-1), u: () => (document.getElementById("up") ? click("up") : (location.hash = "#/")), n: () => (location.hash = "#/new"), "[": () => click("previous"), "]": () => click("next"),
    "/": () => { const field = document.getElementById("search"); if (field) field.focus(); else location.hash = "#/"; }, gt: () => (location.hash = "#/"), ga: () => (location.hash = "#/attention"), gs: () => (location.hash = "#/setup") };
  const action = keys[typed + event.key] || keys[event.key];
  typed = event.key === "g" ? "g" : "";
  if (action) { event.preventDefault(); action(); }
});

addEventListener("hashchange", draw);
listen(soon, (stands) => {
  const was = connection.classList.contains("lost");
  connection.classList.toggle("lost", !stands);
  connection.textContent = stands ? "live" : "connection lost, trying again …";
  if (stands && was) draw();
});
setInterval(() => { if (!document.hidden && !main.contains(document.activeElement)) draw(); }, 30000);
count();
draw();
