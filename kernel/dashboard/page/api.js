// SPDX-License-Identifier: Apache-2.0
// What the page asks of the dashboard, and what the dashboard tells it.

export class Problem extends Error {
  constructor(status, document) {
    super(document.title || "The dashboard did not answer");
    this.status = status;
    this.code = document.code || "";
    this.detail = document.detail || "";
    this.where = document.where || "";
  }
}

async function answer(response) {
  const document = await response.json().catch(() => ({}));
  if (!response.ok) throw new Problem(response.status, document);
  return document;
}

export async function get(path, query) {
  const words = new URLSearchParams(Object.entries(query || {}).filter(([, value]) => value !== "" && value !== null && value !== undefined));
  return answer(await fetch(path + (words.size ? (path.includes("?") ? "&" : "?") + words : ""), { cache: "no-cache", credentials: "same-origin" }));
}

export async function post(path, body) {
  return answer(await fetch(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body), credentials: "same-origin" }));
}

// `key`: a task's id, and `@REPOSITORY` where several have one of this id.
export const task = (key, rest) => {
  const [id, repo] = key.split("@");
  return "/api/tasks/" + encodeURIComponent(id) + (rest || "") + (repo ? "?repo=" + encodeURIComponent(repo) : "");
};
export const taskOf = async (key) => ({ ...(await get(task(key))), key });
// Gives each task, or what belongs to one, its key.
export function keyed(items) {
  const repos = new Map();
  for (const item of items) repos.set(item.task_id, (repos.get(item.task_id) || new Set()).add(item.repo));
  for (const item of items) item.key = item.task_id + (repos.get(item.task_id).size > 1 ? "@" + item.repo : "");
}

// Whether the dashboard is read-only. That cannot change while it runs, so it is asked once.
let only = null;
export async function readOnly() {
  only ??= (await get("/api/repositories")).read_only;
  return only;
}

// Calls `heard(event)` for each change, and `heard(null)` where all must be asked for again; `state` with whether the connection stands.
export function listen(heard, state) {
  let source = null;
  const open = () => {
    source = new EventSource("/api/events");
    source.addEventListener("hello", () => { state(true); });
    source.addEventListener("reset", () => { state(true); heard(null); });
    source.addEventListener("task", (event) => heard(JSON.parse(event.data)));
    source.addEventListener("dropped", () => { source.close(); setTimeout(() => { heard(null); open(); }, 500); });
    source.onerror = () => {
      state(false);
      // The dashboard may have been started again: then it does not know this browser, and the answer to the next request says so.
      if (source.readyState === EventSource.CLOSED) setTimeout(() => { heard(null); open(); }, 3000);
    };
  };
  open();
}
