// SPDX-License-Identifier: Apache-2.0
// What is done on the dashboard's page, scenario by scenario. test_page.py makes the world around it and starts this: node page.mjs SCENARIO WORLD
import assert from "node:assert/strict";
import crypto from "node:crypto";
import fs from "node:fs";
import http from "node:http";
import path from "node:path";
import readline from "node:readline";
import { createRequire } from "node:module";
import zlib from "node:zlib";

const [, , scenario, described] = process.argv;
const world = JSON.parse(described);
const require = createRequire(path.join(world.modules, "none.js"));
const { chromium } = require("playwright-core");
const origin = new URL(world.address).origin;
const ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];

const answers = readline.createInterface({ input: process.stdin })[Symbol.asyncIterator]();
// Has test_page.py do something.
async function have(what, more) {
  console.log("@" + JSON.stringify({ do: what, ...more }));
  return JSON.parse((await answers.next()).value);
}
// A time depends on the machine, so nothing fails on one.
const figure = (name, value, unit, most) => {
  console.log("figure " + name + ": " + value.toFixed(1) + " " + unit + " (aim: " + most + ")");
};

let browser, page, trouble = [];
async function open(options, more = []) {
  browser = await chromium.launchPersistentContext(world.profile + (options?.profile || ""), { executablePath: "/usr/bin/chromium", args: [...ARGUMENTS, ...more], viewport: { width: 1280, height: 900 }, locale: "en-GB", timezoneId: "UTC", ...options });
  page = browser.pages()[0] || (await browser.newPage());
  page.setDefaultTimeout(15000);
  page.on("pageerror", (error) => trouble.push("error: " + error.message));
  page.on("console", (message) => { if (["error", "warning"].includes(message.type())) trouble.push(message.type() + ": " + message.text()); });
  return page;
}
const settled = () => page.waitForFunction(() => !document.querySelector("main").textContent.includes("Loading …"));
async function go(place, text) {
  await page.evaluate((to) => { location.hash = to; }, "#/" + place);
  if (text) await page.getByText(text).first().waitFor();
  await page.waitForFunction(() => document.querySelector("main h1, main h2"));
}
async function begin(options, more) {
  await open(options, more);
  await page.goto(world.address);
  await settled();
}
async function openAt(address) {
  await open();
  await page.goto(address);
  await settled();
}
const main = () => page.locator("main").innerText();
const heading = (name) => page.getByRole("heading", { name, exact: false }).first().waitFor();
async function picture(name, fullPage = false) {
  fs.mkdirSync(world.pictures, { recursive: true });
  await page.evaluate(() => { document.activeElement.blur(); document.documentElement.scrollTop = 0; });
  await page.screenshot({ path: path.join(world.pictures, name + ".png"), fullPage });
  const session = await browser.newCDPSession(page);
  const shot = await session.send("Page.captureScreenshot", { format: "webp", quality: 82, captureBeyondViewport: false });
  fs.writeFileSync(path.join(world.pictures, name + ".webp"), Buffer.from(shot.data, "base64"));
}

// axe finds nothing in what is shown now.
async function accessible(where) {
  await page.evaluate(fs.readFileSync(require.resolve("axe-core/axe.min.js"), "utf8"));
  const found = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
  assert.deepEqual(found.violations.map((each) => each.id + ": " + each.nodes.map((node) => node.html + " " + node.failureSummary).join("\n")), [], where);
}
// What the API says, with the page's own cookie.
const api = async (place) => (await page.request.get(origin + "/api" + place)).json();

async function until(condition, what) {
  for (const end = Date.now() + 60000; !condition();) {
    assert.ok(Date.now() < end, "waited for " + what);
    await new Promise((done) => setTimeout(done, 10));
  }
}
// A line between browser and dashboard, so that the connection can be cut while both live on, and a stream of events can be told more than the dashboard says.
async function between() {
  const sockets = new Set(), streams = [];
  let down = false;
  const server = http.createServer((request, response) => {
    const forwarded = http.request(origin + request.url, { method: request.method, headers: { ...request.headers, host: new URL(origin).host, ...(request.headers.origin ? { origin } : {}) } }, (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      if (request.url === "/api/events") streams.push(response);
      answer.pipe(response);
    });
    forwarded.on("error", () => response.destroy());
    response.on("close", () => forwarded.destroy());
    request.pipe(forwarded);
  }).listen(0, "127.0.0.1");
  server.on("connection", (socket) => { if (down) socket.destroy(); else { sockets.add(socket); socket.on("close", () => sockets.delete(socket)); } });
  await new Promise((done) => server.once("listening", done));
  return {
    address: world.address.replace(origin, "http://127.0.0.1:" + server.address().port),
    streams,
    tell(event) { streams.at(-1).write("event: " + event + "\ndata: {\"type\": \"" + event + "\"}\n\n"); },
    cut() { down = true; for (const socket of sockets) socket.destroy(); },
    mend() { down = false; },
    close() { server.close(); server.closeAllConnections(); },
  };
}

// Every view, of the tasks that the world has.
function places() {
  const of = (id) => ["", "/steps", "/diff", "/artifacts", "/cost", "/journal"].map((rest) => "task/" + id + rest);
  return ["", "attention", "new", "setup", ...of(world.delivered), "task/" + world.delivered + "/phase/green", "task/" + world.delivered + "/phase/red", "task/" + world.delivered + "/step/12", "task/" + world.delivered + "/diff?two=1",
    "task/" + world.delivered + "/artifacts?phase=spec", compared(), "task/" + world.delivered + "/steps?before=9", "task/" + world.approving, "task/" + world.asking, "task/" + world.paused, "task/" + world.interrupted, "task/" + world.interrupted + "/phase/green", "nothing/here"];
}
const compared = () => "task/" + world.delivered + "/artifacts?file=" + encodeURIComponent("spec/specification.yaml") + "&against=" + encodeURIComponent("spec/specification_v1.yaml");
async function visit(place) {
  await page.evaluate((to) => { document.querySelector("main").replaceChildren(); if (location.hash === to) dispatchEvent(new HashChangeEvent("hashchange")); else location.hash = to; }, "#/" + place);
  await page.waitForFunction(() => document.querySelector("main").children.length > 0);
}

const scenarios = {
  async views() {
    await begin();
    assert.equal(new URL(page.url()).search, "", "the token is in the address");
    for (const words of ["Needs attention", "Active tasks", "Ended tasks", "Add a truncate function", "question", "paused", "interrupted", "completed", "[CLARIFY]", "5 tasks"]) assert.ok((await main()).includes(words), "tasks: " + words);
    assert.equal(await page.title(), "(2) Tasks · AgentForge");
    assert.deepEqual(await page.locator("main h2").allTextContents(), ["Needs attention", "Active tasks", "Ended tasks"], "what needs attention comes first");
    await page.getByRole("combobox", { name: "State" }).selectOption("completed");
    await page.getByText("1 task", { exact: true }).waitFor();
    assert.ok(!(await main()).includes("Add a truncate function that cuts a title\n"), "filtered");
    await picture("tasks");
    await go("");
    await page.getByText("5 tasks").waitFor();
    await page.getByRole("searchbox").fill("nothing is like this");
    await page.keyboard.press("Enter");
    await page.getByText("No task matches.").waitFor();
    await go("");
    await page.getByText("5 tasks").waitFor();
    assert.equal(await page.locator("table").count(), 0, "statistics are asked for only where they are shown");
    await page.getByText("Statistics", { exact: true }).click();
    await page.getByRole("region", { name: "Statistics by pipeline" }).waitFor();
    await page.getByRole("region", { name: "Statistics by model" }).waitFor();
    for (const words of ["every repository", "implement", "steps each", "tokens each", "escalated", "verified", "rework", "people"]) assert.ok((await main()).includes(words), "statistics: " + words);
    await Promise.all([page.waitForRequest((request) => request.url().includes("/api/stats?since=7d")), page.getByLabel("Tasks of").selectOption("7d")]);
    await page.getByText("Statistics", { exact: true }).click();
    await picture("tasks");

    await go("task/" + world.delivered, "Pipeline: implement, to deliver");
    for (const words of ["INTAKE", "DELIVER", "Commit", "Tokens per step", "textkit/slug.py", "Current stage: DELIVER", "Goal: implement", "Conformance"]) assert.ok((await main()).includes(words), "overview: " + words);
    await picture("task");
    await go("task/" + world.delivered + "/phase/green", "Stage GREEN");
    for (const words of ["Exit criteria", "✓ passed", "Files touched", "textkit/slug.py", "Artifacts of this stage"]) assert.ok((await main()).includes(words), "phase: " + words);
    await go("task/" + world.delivered + "/steps", " steps");
    await page.waitForFunction(() => document.querySelectorAll("ol.timeline > li").length > 15);     // Those of the phase, which were there before, are fewer.
    const edit = page.locator("ol.timeline a", { hasText: "slug.py" }).first();
    assert.match(await edit.textContent(), /Step #\d+.*slug\.py.*success: /);
    const reads = await page.locator("ol.timeline a", { hasText: "read_file" }).allTextContents();
    assert.ok(reads.every((text) => /read_file [\w./]+\.\w+/.test(text)), "a step that changed nothing names its file: " + reads);
    await page.locator("ol.timeline a", { hasText: /edit_file|write_file/ }).first().click();
    await heading("What the model saw");
    for (const words of ["Changes of this step", "of 8,000 tokens", "Repeat this step", "SHA-256 of the context"]) assert.ok((await main()).includes(words), "step: " + words);
    await page.getByText("Context, byte for byte").click();
    const told = await api("/tasks/" + world.delivered + "/steps/" + /step\/(\d+)/.exec(page.url())[1]);
    const context = await page.locator('details[data-key="context"] pre.code').textContent();
    assert.ok(context.includes("task_frame") && context === told.context_sent.text, "the very bytes");
    assert.equal(crypto.createHash("sha256").update(context).digest("hex"), told.context_sent.sha256);
    assert.ok((await main()).includes("SHA-256 of the context: " + told.context_sent.sha256));
    const parts = Object.entries(told.context_sent.section_tokens).filter(([name, tokens]) => tokens > 0 && !["total", "calibration_permille"].includes(name));
    const widths = await page.locator(".budget span").evaluateAll((spans) => spans.map((span) => parseFloat(span.style.width)));
    assert.deepEqual(widths.map((width) => width.toFixed(2)), parts.map(([, tokens]) => ((100 * tokens) / told.context_sent.max_tokens).toFixed(2)), "the budget's bar");
    await page.getByText("Context, byte for byte").click();
    await page.getByRole("button", { name: "Side by side" }).click();
    await page.locator(".diff.two").first().waitFor();
    assert.ok((await page.locator(".diff .code-word").count()) > 0, "the diff is in colour");
    await picture("step");
    await page.getByRole("link", { name: /← Step/ }).click();
    await page.getByRole("link", { name: /Step \d+ →/ }).waitFor();

    await go("task/" + world.delivered + "/diff", " files");
    await page.getByRole("button", { name: "Side by side" }).click();
    await page.locator(".diff.two").first().waitFor();
    await picture("changes");
    await page.getByRole("button", { name: "In one column" }).click();
    await page.getByRole("link", { name: "textkit/slug.py" }).click();
    await page.getByRole("link", { name: "All files" }).waitFor();
    assert.equal(await page.locator(".diff").count(), 1);
    await go("task/" + world.delivered + "/artifacts?phase=spec", "specification");
    await page.locator("pre.code .code-name").first().waitFor();
    await heading("spec/specification.yaml");
    await page.locator("p", { hasText: "Compare with" }).getByRole("link", { name: "specification_v1.yaml" }).click();
    await page.locator(".diff", { hasText: "an earlier version" }).waitFor();
    assert.equal(await page.locator(".diff.two").count(), 0);
    await page.getByRole("button", { name: "Side by side" }).click();
    await page.locator(".diff.two", { hasText: "an earlier version" }).waitFor();
    await page.getByRole("button", { name: "In one column" }).click();
    await page.waitForFunction(() => !document.querySelector(".diff.two"));
    await go("task/" + world.delivered + "/cost", "By stage");
    await page.locator("figure svg polyline").first().waitFor();
    await go("task/" + world.delivered + "/journal", " records");
    await page.getByRole("link", { name: "← Earlier" }).click();
    await page.getByRole("link", { name: "Later →" }).waitFor();
    const [report] = await Promise.all([page.waitForEvent("download"), (async () => { await go("task/" + world.delivered, "Export the report"); await page.getByRole("link", { name: "Export the report" }).click(); })()]);
    assert.equal(report.suggestedFilename(), world.delivered + ".json");
    assert.equal(JSON.parse(fs.readFileSync(await report.path())).task.task_id, world.delivered);
    await go("task/" + world.interrupted, "INTERRUPTED".toLowerCase());
    await go("task/" + world.paused, "Paused: ");
    await go("attention", "Migrate the titles");
    await picture("attention");
    await go("new", "What to do, in your own words");
    assert.ok((await page.locator("#new-pipeline option").count()) >= 3, "the pipelines of the repository");
    // An address that cannot be decoded is nowhere, and the page goes on.
    await go("task/%", "There is nothing at this address");
    await go("setup", "Repositories");
    for (const words of ["requirements_analyst", "implement", "read_file"]) assert.ok((await main()).includes(words), "setup: " + words);
    await page.emulateMedia({ colorScheme: "dark" });
    await go("task/" + world.approving, "is ready for your approval");
    assert.deepEqual((await page.locator("main h2").allTextContents()).slice(0, 2), ["spec: specification (v1) is ready for your approval", "Pipeline: implement, to spec"], "what waits comes first in its task, too");
    await picture("dark");
  },

  async axe() {
    await begin();
    for (const colorScheme of ["light", "dark"]) {
      await page.emulateMedia({ colorScheme });
      for (const place of places()) {
        await visit(place);
        if (place === "task/" + world.delivered + "/step/12") await page.evaluate(() => { for (const details of document.querySelectorAll("details")) details.open = true; });
        if (place === "") {
          await page.getByText("Statistics", { exact: true }).click();
          await page.getByRole("region", { name: "Statistics by model" }).waitFor();
        }
        await accessible(colorScheme + " #/" + place);
      }
      await page.locator("#help-button").click();
      await accessible(colorScheme + " help");
      await page.getByRole("button", { name: "Close" }).click();
      await page.getByRole("dialog").waitFor({ state: "hidden" });
    }
  },

  async sizes() {
    await begin({ hasTouch: true });
    for (const [width, height] of [[360, 740], [768, 1024], [3840, 2160]]) {
      await page.setViewportSize({ width, height });
      for (const place of places()) {
        await visit(place);
        const wide = await page.evaluate(() => [document.documentElement.scrollWidth, [...document.querySelectorAll("main *")].filter((element) => !element.closest(".diff, pre, .table, ol.timeline") && element.getBoundingClientRect().right > innerWidth + 1).map((element) => element.outerHTML.slice(0, 120))]);
        assert.ok(wide[0] <= width && wide[1].length === 0, width + " px: #/" + place + " is " + wide[0] + " px wide: " + wide[1]);
        if (width === 360) {
          const small = await page.evaluate(() => [...document.querySelectorAll("button, select, input:not([type=checkbox]), summary")].filter((element) => element.offsetParent && element.getBoundingClientRect().height < 24).map((element) => element.outerHTML.slice(0, 100)));
          assert.deepEqual(small, [], "too small for a finger: #/" + place);
        }
      }
      await visit("");
      if (width === 360) await picture("telephone");
      if (width === 360) { await visit("task/" + world.approving); await picture("telephone-task"); }
      if (width === 3840) await picture("large");
    }
  },

  async narrow_tables() {
    await begin({ viewport: { width: 360, height: 740 } });
    // A word whose letters stand in more than one line.
    const broken = () => page.evaluate(() => {
      const found = [];
      for (const cell of document.querySelectorAll("main .table th, main .table td")) {
        const text = cell.firstChild;
        if (!text || text.nodeType !== Node.TEXT_NODE) continue;
        for (const word of text.data.matchAll(/\w+/g)) {
          const range = document.createRange();
          range.setStart(text, word.index);
          range.setEnd(text, word.index + word[0].length);
          if (new Set([...range.getClientRects()].map((box) => Math.round(box.top))).size > 1) found.push(word[0]);
        }
      }
      return found;
    });
    await page.getByText("Statistics", { exact: true }).click();
    const table = page.getByRole("region", { name: "Statistics by model" });
    await table.waitFor();
    assert.deepEqual(await broken(), []);
    assert.ok(await table.evaluate((element) => element.scrollWidth > element.clientWidth), "it scrolls instead");
    await go("task/" + world.delivered + "/cost", "By stage");
    assert.deepEqual(await broken(), []);
  },

  async keyboard() {
    await begin();
    await page.mouse.move(0, 0);
    const key = (name) => page.keyboard.press(name);
    const hash = () => page.evaluate(() => location.hash);
    const at = async (want) => { await page.waitForFunction((to) => location.hash === to, want); };
    await key("Tab");
    assert.equal(await page.evaluate(() => document.activeElement.textContent), "Skip to the content");
    await key("Enter");
    await page.evaluate(() => { location.hash = "#/"; });
    await key("?");
    await page.getByRole("dialog").waitFor();
    const listed = (await page.locator("dl.keys dt").allInnerTexts()).flatMap((keys) => (keys.startsWith("g ") ? keys.replace(" ", "") : keys.split(" "))).filter((keys) => keys !== "Enter");
    const source = await (await page.request.get(origin + "/app.js")).text();
    const handled = [...source.slice(source.indexOf("const keys = {"), source.indexOf("const action = keys[")).matchAll(/(?:"([^"]+)"|\b([a-z]+)): \(\) =>/g)].map(([, quoted, bare]) => quoted || bare);
    assert.deepEqual(listed.toSorted(), handled.toSorted(), "the list has the keys that the page knows");
    await key("Escape");
    await page.getByRole("dialog").waitFor({ state: "hidden" });
    await key("g"); await key("a");
    await at("#/attention");
    await key("n");
    await at("#/new");
    await page.locator("#new-words").waitFor();
    await key("g"); await key("s");
    await at("#/setup");
    await key("g"); await key("t");
    await at("#/");
    await page.locator("#search").waitFor();
    await key("/");
    assert.equal(await page.evaluate(() => document.activeElement.id), "search");
    await key("Escape");
    await key("j"); await key("j"); await key("k");
    assert.ok(await page.evaluate(() => "entry" in document.activeElement.dataset));
    await page.evaluate((id) => { [...document.querySelectorAll("main [data-entry]")].find((entry) => entry.hash.endsWith(id)).focus(); }, world.delivered);
    await key("Enter");
    await at("#/task/" + world.delivered);
    await page.getByText("Current stage").waitFor();
    await page.evaluate((id) => { location.hash = "#/task/" + id + "/step/5"; }, world.delivered);
    await page.getByRole("link", { name: "Step 6 →" }).waitFor();
    await key("]");
    await at("#/task/" + world.delivered + "/step/6");
    await page.getByRole("link", { name: "← Step 5" }).waitFor();
    await key("[");
    await at("#/task/" + world.delivered + "/step/5");
    await page.getByRole("link", { name: "Step 6 →" }).waitFor();
    await key("u");
    await page.waitForFunction(() => location.hash.includes("/phase/"));
    await page.getByText("Exit criteria").waitFor();
    await key("u");
    await at("#/task/" + world.delivered);
    // An approval, from the list on, by Tab and Enter.
    await page.evaluate((id) => { location.hash = "#/task/" + id; }, world.approving);
    await page.getByRole("button", { name: "Approve", exact: true }).waitFor();
    for (let presses = 0; presses < 60 && (await page.evaluate(() => document.activeElement.textContent)) !== "Approve"; ++presses) {
      await key("Tab");
      const ring = await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle);
      assert.notEqual(ring, "none", "no ring around " + (await page.evaluate(() => document.activeElement.outerHTML.slice(0, 100))));
    }
    await key("Enter");
    await page.getByText("Approved. The task continues.").waitFor();
    await page.getByText("✓ completed").waitFor({ timeout: 60000 });
    assert.ok(await hash());
  },

  async keyboard_forms() {
    await begin();
    await page.mouse.move(0, 0);
    const key = (name) => page.keyboard.press(name);
    // Tab, until what has the focus is this element of the page.
    const reach = async (selector, words = "") => {
      const there = () => page.evaluate(([wanted, text]) => document.activeElement.matches(wanted) && document.activeElement.textContent.includes(text), [selector, words]);
      for (let presses = 0; presses < 200 && !(await there()); ++presses) await key("Tab");
      assert.ok(await there(), "Tab does not lead to " + selector + " " + words);
      assert.notEqual(await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle), "none", "no ring around " + selector);
    };
    // Filters.
    await reach("#search");
    await page.keyboard.type("truncate");
    await key("Enter");
    await page.getByText("1 task", { exact: true }).waitFor();
    await reach("#search");
    await key("Control+a"); await key("Delete"); await key("Enter");
    await page.getByText("5 tasks", { exact: true }).waitFor();
    await reach('select[aria-label="State"]');
    await key("c");
    await page.getByText("1 task", { exact: true }).waitFor();
    assert.equal(await page.locator("select").first().inputValue(), "completed");
    await reach("summary", "Statistics");
    await key("Enter");
    await page.getByRole("region", { name: "Statistics by model" }).waitFor();
    await reach("[data-entry]");
    await key("Enter");
    await page.getByText("Current stage").waitFor();
    // The timeline.
    await reach("main nav a", "Steps");
    await key("Enter");
    await page.waitForFunction(() => document.querySelectorAll("ol.timeline > li").length > 15);
    const first = await page.locator("ol.timeline a").first().getAttribute("href");
    await reach("ol.timeline a");
    await key("Enter");
    await heading("What the model saw");
    assert.equal(new URL(page.url()).hash, first);
    await reach("summary", "Context, byte for byte");
    await key("Enter");
    await page.locator('details[data-key="context"][open]').waitFor();
    // The changes, in two columns and in one.
    await reach("main nav a", "Changes");
    await key("Enter");
    await page.locator(".diff").first().waitFor();
    for (const [words, count] of [["Side by side", 1], ["In one column", 0]]) {
      await reach("main button", words);
      await key("Enter");
      await page.waitForFunction((two) => Boolean(document.querySelector(".diff.two")) === two, count === 1);
      assert.ok(await page.evaluate(() => document.activeElement.matches("main button")), "the focus stays at the button");
    }
    // A question.
    await reach("header a", "Needs attention");
    await key("Enter");
    await page.getByText("has a question").waitFor();
    await reach(".card textarea[id^='ESC-']");
    await page.keyboard.type("Yes, digits stay");
    await reach(".card button", "Answer");
    await key("Enter");
    await page.getByText("Answered. The task continues.").waitFor({ timeout: 60000 });
  },

  async decisions() {
    await begin();
    page.on("dialog", (dialog) => dialog.accept());
    await go("attention", "Migrate the titles");
    await page.waitForFunction(() => document.title.startsWith("(2)"));
    const card = page.locator(".card", { hasText: "has a question" });
    await card.getByText("Context").click();
    await card.locator("textarea").fill("Yes, digits stay");
    await card.getByRole("button", { name: "Answer" }).click();
    await page.getByText("Answered. The task continues.").waitFor({ timeout: 60000 });
    await page.waitForFunction(() => document.title.startsWith("(1)"), null, { timeout: 60000 });
    const approval = page.locator(".card", { hasText: "is ready for your approval" });
    await approval.locator("textarea").fill("Name the separator");
    const [asked] = await Promise.all([page.waitForRequest((request) => request.url().endsWith("/feedback")), approval.getByRole("button", { name: "Request changes" }).click()]);
    assert.match(JSON.parse(asked.postData()).hash, /^[0-9a-f]{32,}$/);
    await page.getByText("Sent back with your feedback.").waitFor({ timeout: 60000 });
    await page.waitForFunction(() => !document.querySelector("main").textContent.includes("is ready for your approval") || document.querySelector("main textarea").value === "");
    // Its model has no answer for a second round: it may ask, fail or wait. Whatever it does, it can be ended.
    await go("task/" + world.approving);
    const end = page.getByRole("button", { name: "Abort task" }).or(page.getByRole("button", { name: "Refuse", exact: true })).first();
    await end.click({ timeout: 60000 });
    await page.getByText("✗ aborted").waitFor({ timeout: 60000 });
  },

  async actions() {
    await begin();
    await go("attention", "wants to take an action");
    await accessible("an action that waits");
    assert.ok((await main()).includes("tool: complete"), "the action itself");
    const card = page.locator(".card", { hasText: "wants to take an action" });
    const [asked] = await Promise.all([page.waitForRequest((request) => request.method() === "POST"), (async () => { await card.locator("textarea").fill("Look at the tests first"); await card.getByRole("button", { name: "Refuse" }).click(); })()]);
    assert.match(asked.url(), /\/reject$/);
    assert.equal(JSON.parse(asked.postData()).feedback, "Look at the tests first");
    await page.getByText("Refused.").waitFor({ timeout: 60000 });
    await have("second");
    await go("", "Tasks");
    await go("attention", "wants to take an action");
    await page.locator(".card", { hasText: "wants to take an action" }).first().getByRole("button", { name: "Approve" }).click();
    await page.getByText("Approved. The task continues.").waitFor({ timeout: 60000 });
  },

  async abort_a_question() {
    await begin();
    page.on("dialog", (dialog) => dialog.accept());
    await go("attention", "has a question");
    await page.locator(".card", { hasText: "has a question" }).getByRole("button", { name: "Abort task" }).click();
    await page.getByText("Ended.", { exact: true }).waitFor({ timeout: 60000 });
    await page.waitForFunction(() => !document.querySelector("main").textContent.includes("has a question"), null, { timeout: 60000 });
  },

  async notify() {
    await open();
    await page.addInitScript(() => {
      window.made = [];
      window.Notification = class { constructor(title, options) { window.made.push([title, options.body]); } static permission = "default"; static async requestPermission() { window.Notification.permission = "granted"; return "granted"; } };
      Object.defineProperty(document, "hidden", { get: () => window.away === true });
    });
    await page.goto(world.address);
    await settled();
    await go("attention");
    await page.getByRole("button", { name: "Notify me when something waits for me" }).click();
    await page.waitForFunction(() => ![...document.querySelectorAll("button")].some((button) => button.textContent.startsWith("Notify me")));
    await page.evaluate(() => { window.away = true; });
    await have("ask");
    await page.waitForFunction(() => window.made.length > 0, null, { timeout: 60000 });
    await page.waitForFunction(() => document.title.startsWith("(1)"));
    assert.deepEqual(await page.evaluate(() => window.made), [["AgentForge waits for you", "1 task"]]);
    await page.evaluate(() => { window.away = false; });
    await have("ask");
    await page.waitForFunction(() => document.title.startsWith("(2)"), null, { timeout: 60000 });
    assert.equal(await page.evaluate(() => window.made.length), 1, "who looks at the page is not notified");
  },

  async failing() {
    await begin();
    await go("task/" + world.task + "/phase/green", "Exit criteria");
    for (const words of ["✗ failing", "8/10 tests passing", "← blocking", "2 failing tests", "test_oauth_token_expiry", "Expected token.expired to be True", "test_oauth_provider_google", "KeyError: 'client_secret'"]) assert.ok((await main()).includes(words), words);
    const blocking = await page.locator("section", { has: page.getByRole("heading", { name: "Exit criteria" }) }).locator("li", { hasText: "← blocking" }).allTextContents();
    assert.ok(blocking.length === 2 && blocking[0].startsWith("✗ failing all tests pass") && blocking[1].startsWith("✗ failing gate green"), "only what fails blocks: " + blocking);
    await page.getByText("2 violations", { exact: true }).click();
    for (const words of ["src/auth/oauth.py:42 refresh() has 61 lines", "src/auth/google.py Nobody imports this file"]) await page.getByRole("listitem").filter({ hasText: words }).last().waitFor();
    assert.ok(!(await main()).includes("google.py:0"), "a line that is not known is not named");
    for (const details of await page.locator("details[data-key^=failures] pre, details[data-key^=failures] h3").all()) assert.ok(await details.isVisible());
    await accessible("failing tests");
  },

  async troubles() {
    await begin();
    await heading("Cannot be read");
    const section = page.locator("section.wait", { hasText: "Cannot be read" });
    for (const words of ["AF-JRNL-002", world.task]) assert.ok((await section.innerText()).includes(words), words);
    assert.equal(await page.locator("main h2").first().textContent(), "Cannot be read", "it comes first");
    for (const colorScheme of ["light", "dark"]) {
      await page.emulateMedia({ colorScheme });
      for (const place of ["", "attention", "setup", "task/" + world.task]) {
        await visit(place);
        await accessible(colorScheme + " troubles: #/" + place);
      }
    }
    trouble = trouble.filter((each) => !each.includes("Failed to load resource"));       // The browser itself says that what is damaged was not given.
  },

  async asks_again() {
    const line = await between();
    let listed = 0;
    await open();
    page.on("request", (request) => { listed += new URL(request.url()).pathname === "/api/tasks/" + world.task ? 1 : 0; });
    await page.goto(line.address);
    await settled();
    await go("task/" + world.task + "/steps", "40 steps");
    await page.getByText("live", { exact: true }).waitFor();
    const said = [];
    await page.exposeFunction("said", (text) => said.push(text));
    await page.evaluate(() => { const place = document.getElementById("connection"); new MutationObserver(() => window.said(place.textContent)).observe(place, { childList: true }); });
    const listedAgain = (before) => until(() => listed > before, "a new listing");
    // The stream says that more was missed than it can tell: all is asked for again, and the stream stays.
    let before = listed;
    line.tell("reset");
    await listedAgain(before);
    assert.equal(line.streams.length, 1, "the stream stays");
    // The stream says that it was not read fast enough: all is asked for again, by a stream of its own.
    await settled();
    before = listed;
    line.tell("dropped");
    await until(() => line.streams.length === 2, "a new stream");
    await listedAgain(before);
    await until(() => line.streams[0].closed, "the end of the old stream");
    await have("append", { count: 1 });
    await page.getByRole("heading", { name: "41 steps" }).waitFor();
    assert.equal(line.streams.length, 2);
    assert.deepEqual(said.filter((text) => text !== "live"), [], "neither is a lost connection");
    line.close();
  },

  async without_words() {
    await begin();
    await go("task/" + world.approving, "spec: specification (v1) is ready for your approval");
    let sent = 0;
    page.on("request", (request) => { sent += request.method() === "POST" ? 1 : 0; });
    for (const words of ["", "  \n"]) {
      await page.locator(".card textarea").fill(words);
      await page.getByRole("button", { name: "Request changes" }).click();
      await page.getByText("Say what to change, then request it.").waitFor();
      await page.evaluate(() => document.getElementById("notice").replaceChildren());
    }
    assert.equal(sent, 0, "nothing is sent");
    assert.ok((await main()).includes("is ready for your approval"));
  },

  async control() {
    await begin();
    page.on("dialog", (dialog) => dialog.accept());
    await page.getByRole("link", { name: "New task" }).click();
    await page.locator("#new-words").fill("Add a slugify function that turns a title into a URL slug");
    await page.getByLabel("Pipeline").selectOption("implement");
    await page.getByRole("button", { name: "Start" }).click();
    await page.waitForFunction(() => location.hash.startsWith("#/task/"), null, { timeout: 60000 });
    await page.getByText("● in progress").waitFor({ timeout: 60000 });
    await page.getByRole("button", { name: "Pause after step" }).waitFor();
    await page.getByRole("button", { name: "Pause", exact: true }).click();
    await page.getByText("Asked the task to save and exit.").waitFor();
    await have("release");
    await page.getByText("‖ paused").waitFor({ timeout: 60000 });
    await page.getByLabel("Message to the model (optional)").fill("Leave the old names as they are");
    await page.getByRole("button", { name: "Resume" }).click();
    await page.getByText("The task continues.").waitFor({ timeout: 60000 });
    await page.getByRole("button", { name: /Abort task/ }).click({ timeout: 60000 });
    await page.getByText("✗ aborted").waitFor({ timeout: 60000 });
  },

  async supervised() {
    await begin();
    await page.getByRole("link", { name: "New task" }).click();
    await page.locator("#new-words").fill("Add a slugify function that turns a title into a URL slug");
    await page.getByLabel("Ask me after every stage").check();
    const [asked] = await Promise.all([page.waitForRequest((request) => request.method() === "POST"), page.getByRole("button", { name: "Start" }).click()]);
    assert.equal(JSON.parse(asked.postData()).supervised, true);
    await have("asked");
    await page.getByRole("button", { name: "Pause after step" }).click({ timeout: 60000 });
    await page.getByText("The task pauses after its step.").waitFor();
    await have("release");
    await page.getByText("‖ paused").waitFor({ timeout: 60000 });
  },

  async suggested() {
    await begin();
    await go("attention", world.question);
    const group = page.getByRole("group", { name: "Suggested answers" });
    assert.deepEqual(await group.getByRole("button").allTextContents(), world.options);
    const [asked] = await Promise.all([page.waitForRequest((request) => request.url().endsWith("/resolve")), group.getByRole("button", { name: world.options[1] }).click()]);
    assert.deepEqual(JSON.parse(asked.postData()), { answer: world.options[1] });
    await page.getByText("Answered. The task continues.").waitFor({ timeout: 60000 });
  },

  async refuse() {
    await begin();
    page.on("dialog", (dialog) => dialog.accept());
    await go("task/" + world.approving, "spec: specification (v1) is ready for your approval");
    // What is shown is not what is there.
    await page.route("**/approve", (route) => route.continue({ postData: JSON.stringify({ ...JSON.parse(route.request().postData()), hash: "0".repeat(64) }) }));
    await page.getByRole("button", { name: "Approve", exact: true }).click();
    await page.getByText("Nothing was changed: the item has changed since you saw it.").waitFor({ timeout: 60000 });
    assert.ok((await page.locator("#notice").innerText()).includes("(AF-ESC-035)"));
    const [asked] = await Promise.all([page.waitForRequest((request) => request.url().endsWith("/reject")), page.getByRole("button", { name: "Refuse", exact: true }).click()]);
    assert.match(JSON.parse(asked.postData()).hash, /^[0-9a-f]{32,}$/);
    await page.getByText("✗ aborted").waitFor({ timeout: 60000 });
    trouble = [];
  },

  async repositories() {
    await begin();
    await page.getByText("2 tasks", { exact: true }).waitFor();
    await page.getByRole("combobox", { name: "Repository" }).selectOption("second");
    await page.getByText("1 task", { exact: true }).waitFor();
    const shown = await main();
    assert.ok(shown.includes(world.there) && !shown.includes(world.here), shown);
    await go("new", "What to do, in your own words");
    await Promise.all([page.waitForRequest((request) => request.url().endsWith("/api/pipelines?repo=second")), page.getByLabel("Repository").selectOption("second")]);
    await page.locator("#new-pipeline option", { hasText: "own" }).waitFor({ state: "attached" });
    assert.equal(await page.locator("#new-repo").inputValue(), "second", "the choice stays");
  },

  async read_only() {
    await begin();
    await page.getByText("read only", { exact: true }).waitFor();
    assert.ok(!(await page.getByRole("link", { name: "New task" }).isVisible()));
    for (const place of ["attention", "task/" + world.approving, "task/" + world.asking, "task/" + world.paused, "task/" + world.delivered, "task/" + world.delivered + "/step/3"]) {
      await visit(place);
      await page.waitForFunction(() => document.querySelector("main h1"));
      assert.equal(await page.locator("main button, main textarea").filter({ hasNotText: /Side by side|Notify me/ }).count(), 0, place);
      await accessible("read only: " + place);
    }
    await visit("task/" + world.approving);
    await page.getByText("is ready for your approval").waitFor();
    await page.getByText("The artifact", { exact: true }).waitFor();
    await visit("new");
    await page.getByText("This dashboard is read-only.").waitFor();
  },

  async extend() {
    await begin();
    page.on("dialog", (dialog) => dialog.accept());
    await go("task/" + world.shown, "spec: specification (v1) is ready for your approval");
    for (const words of ["ITERATING, round 1/5", "Goal: design"]) assert.ok((await main()).includes(words), "an artifact that iterates: " + words);
    await page.getByLabel("End after").selectOption("red");
    const [asked] = await Promise.all([page.waitForRequest((request) => request.url().endsWith("/extend")), page.getByRole("button", { name: "Approve and extend" }).click()]);
    assert.match(JSON.parse(asked.postData()).hash, /^[0-9a-f]{32,}$/);
    await page.getByText("Approved. The task continues.").waitFor({ timeout: 60000 });
    await page.getByText("✓ completed").waitFor({ timeout: 60000 });
    await page.getByRole("heading", { name: "Continue with the remaining stages" }).waitFor({ timeout: 60000 });
    await page.getByLabel("End after").selectOption("green");
    await page.getByRole("button", { name: "Extend", exact: true }).click();
    await page.getByText("The task continues.", { exact: true }).waitFor({ timeout: 60000 });
    await page.waitForFunction(() => [...document.querySelectorAll("h2")].some((each) => each.textContent.includes("to green")), null, { timeout: 60000 });
    await page.getByText("✓ completed").waitFor({ timeout: 60000 });
    await go("task/" + world.ending, "is ready for your approval");
    await page.getByRole("button", { name: "Approve and end here" }).click();
    await page.getByText("Approved. The task ends here.").waitFor({ timeout: 60000 });
    await page.getByText("✓ completed").waitFor({ timeout: 60000 });
  },

  async fork() {
    await begin();
    await go("task/" + world.task + "/step/3", "Try again from here");
    await page.getByLabel("Message to the model (optional)").fill("Mind the accents");
    await page.getByRole("button", { name: "Repeat this step" }).click();
    await page.waitForFunction((id) => location.hash.startsWith("#/task/") && !location.hash.includes(id), world.task, { timeout: 60000 });
    await page.getByText("✓ completed").waitFor({ timeout: 60000 });
    await go("task/" + world.task + "/step/3", "Try again from here");
    const [asked] = await Promise.all([page.waitForRequest((request) => request.url().endsWith("/fork")), page.getByRole("button", { name: "Continue after this step" }).click()]);
    assert.equal(JSON.parse(asked.postData()).step, 3);
    await page.waitForFunction((id) => location.hash.startsWith("#/task/") && !location.hash.includes(id), world.task, { timeout: 60000 });
    await page.getByText("✓ completed").waitFor({ timeout: 60000 });
  },

  async sets() {
    await begin();
    await heading("Sets");
    await accessible("a set");
    const shown = await main();
    for (const text of [world.request, "working on its parts", "schema: ‖ paused", "consumer: ‖ paused", "after schema", "agentforge resume " + world.set]) assert.ok(shown.includes(text), text + " in " + shown);
    await page.getByRole("link", { name: world.consumer }).first().click();
    await page.getByRole("heading", { name: "Set", exact: true }).waitFor();
    await have("note");
    await page.getByText("a note in the set alone").first().waitFor();
    await have("resume");
    await page.getByText("✓ completed").first().waitFor({ timeout: 60000 });
    await page.waitForFunction(() => [...document.querySelectorAll("section li .quiet.small")].some((each) => each.textContent === "delivered"), null, { timeout: 60000 });
    await go("", "Tasks");
    await page.waitForFunction(() => ![...document.querySelectorAll("h2")].some((each) => each.textContent === "Sets"), null, { timeout: 60000 });
  },

  async waiting() {
    await begin();
    await page.getByText("waits for stage `spec` of task").first().waitFor();
    await page.getByRole("link", { name: world.other }).first().click();
    await page.waitForFunction((id) => location.hash === "#/task/" + id, world.other);
    await have("met");
    await go("task/" + world.waits, "Depends on");
    await page.getByRole("link", { name: world.other }).first().waitFor();
  },

  async live() {
    await begin();
    await go("task/" + world.task + "/steps", "40 steps");
    await page.evaluate(() => { window.never = "reloaded"; document.querySelector("ol.timeline a").focus(); });
    const focused = await page.evaluate(() => document.activeElement.hash);
    await have("append", { count: 3 });
    await page.getByRole("heading", { name: "43 steps" }).waitFor();
    assert.equal(await page.locator("ol.timeline > li").count(), 43);
    assert.ok((await page.locator("ol.timeline a").first().getAttribute("href")).endsWith("/step/43"));
    assert.equal(await page.evaluate(() => document.activeElement.hash), focused, "the focus stays");
    assert.equal(await page.evaluate(() => window.never), "reloaded");
    const began = Date.now();
    await have("append", { count: 1 });
    await page.getByRole("heading", { name: "44 steps" }).waitFor();
    figure("a record to the page, with playwright's own time", Date.now() - began, "ms", 1000);
    await go("task/" + world.task, "Figures");
    await have("append", { count: 2 });
    await page.waitForFunction(() => [...document.querySelectorAll("dt")].some((name) => name.textContent === "Steps" && name.nextSibling.textContent === "46"));
  },

  async gone() {
    await begin();
    await have("add");
    await page.getByText("A task of 50 steps").first().waitFor();
    await have("forget");
    await page.getByText("A task of 50 steps").first().waitFor({ state: "detached" });
    await go("task/" + world.task + "/steps", "40 steps");
    await have("remove");
    await heading("There is no task");
    await page.getByText("40 steps").first().waitFor({ state: "detached" });
    trouble = [];       // The browser itself says that the task was not found.
  },

  async lost() {
    const line = await between();
    await openAt(line.address);
    await go("task/" + world.task + "/steps", "40 steps");
    await page.getByText("live", { exact: true }).waitFor();
    line.cut();
    await page.getByText("connection lost, trying again …").waitFor({ timeout: 60000 });
    await have("append", { count: 2 });
    await page.getByRole("button", { name: "Keyboard shortcuts" }).click();
    await page.keyboard.press("Escape");
    line.mend();
    await page.getByText("live", { exact: true }).waitFor({ timeout: 60000 });
    await page.getByRole("heading", { name: "42 steps" }).waitFor();
    line.close();
    trouble = [];
    await page.goto(origin + "/");
    await page.getByText("live", { exact: true }).waitFor();
    await have("stop");
    await page.getByText("connection lost, trying again …").waitFor({ timeout: 60000 });
    await picture("lost");
    world.address = await have("begin");
    await page.getByText("The dashboard no longer knows this browser").waitFor({ timeout: 60000 });
    await page.goto(world.address);
    await page.getByText("live", { exact: true }).waitFor({ timeout: 60000 });
    trouble = [];
  },

  async many() {
    await begin();
    await page.getByText("200 tasks").waitFor();
    let began = Date.now();
    await visit("new");
    await visit("");
    await page.getByText("Show more").waitFor();
    figure("the list, of 200 tasks 50", Date.now() - began, "ms", 2000);
    while (await page.getByRole("button", { name: "Show more" }).count()) {
      const shown = await page.locator("li.task").count();
      await page.getByRole("button", { name: "Show more" }).click();
      await page.waitForFunction((before) => document.querySelectorAll("li.task").length > before, shown);
    }
    assert.equal(await page.locator("li.task").count(), 200);
    began = Date.now();
    await visit("task/" + world.task + "/steps");
    await page.getByRole("heading", { name: "10,000 steps" }).waitFor();
    figure("the timeline of 10,000 steps", Date.now() - began, "ms", 2000);
    await accessible("a part of a long timeline");
    await page.getByRole("button", { name: "Load more" }).click();
    await page.waitForFunction(() => document.querySelectorAll("ol.timeline > li").length >= 400, null, { timeout: 60000 });
    began = Date.now();
    await page.evaluate((id) => { location.hash = "#/task/" + id + "/steps?n=10000"; }, world.task);
    await page.waitForFunction(() => document.querySelectorAll("ol.timeline > li").length === 10000, null, { timeout: 60000 });
    figure("all 10,000 steps in it", Date.now() - began, "ms", 20000);
    const frame = await page.evaluate(async () => {
      const times = [];
      for (let at = 0; at <= 20; ++at) {
        const before = performance.now();
        document.documentElement.scrollTop = (at / 20) * document.documentElement.scrollHeight;
        await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
        times.push(performance.now() - before);
      }
      return Math.max(...times);
    });
    figure("the slowest frame while all of them are scrolled through", frame, "ms", 500);
    await page.getByLabel("Go to step").fill("4321");
    await page.getByRole("button", { name: "Go", exact: true }).click();
    await page.getByRole("heading", { name: "Steps 4,222 to 4,321 of 10,000" }).waitFor();
    await page.getByRole("link", { name: "Older →" }).click();
    await page.getByRole("heading", { name: "Steps 4,122 to 4,221 of 10,000" }).waitFor();
    await page.getByRole("link", { name: "← Newer" }).click();
    await page.getByRole("heading", { name: "Steps 4,222 to 4,321 of 10,000" }).waitFor();
    await page.evaluate((id) => { location.hash = "#/task/" + id + "/steps?n=10000"; }, world.task);
    await page.waitForFunction(() => document.querySelectorAll("ol.timeline > li").length === 10000, null, { timeout: 60000 });
    await page.evaluate(() => {
      document.documentElement.scrollTop = 0;
      window.longest = 0;
      new PerformanceObserver((list) => { for (const entry of list.getEntries()) window.longest = Math.max(window.longest, entry.duration); }).observe({ entryTypes: ["longtask"] });
    });
    const asked = [];
    page.on("request", (request) => { if (new URL(request.url()).pathname.endsWith("/steps")) asked.push(new URL(request.url()).search); });
    await page.evaluate(() => { window.kept = [...document.querySelectorAll("ol.timeline > li")]; });
    began = Date.now();
    await have("append", { count: 1 });
    await page.getByRole("heading", { name: "10,001 steps" }).waitFor();
    assert.deepEqual(asked, ["?limit=1"], "only the new step is asked for");
    assert.ok(await page.evaluate(() => window.kept.length === 10000 && [...document.querySelectorAll("ol.timeline > li")].slice(1).every((element, index) => element === window.kept[index])), "and only its element is made");
    figure("one more step while all of them are shown", Date.now() - began, "ms", 1500);
    figure("the longest task of the page's thread for it", await page.evaluate(() => window.longest), "ms", 300);
  },

  async paint() {
    await open();
    let bytes = 0;
    page.on("response", async (response) => { if (!response.url().includes("/api/")) bytes += zlib.gzipSync(await response.body().catch(() => "")).length; });
    await page.goto(world.address);
    await settled();
    await page.waitForLoadState("load");
    const first = [];
    for (let round = 0; round < 7; ++round) {
      await page.reload();
      await settled();
      first.push(await page.evaluate(() => new Promise((done) => new PerformanceObserver((list) => { for (const entry of list.getEntriesByName("first-contentful-paint")) done(entry.startTime); }).observe({ type: "paint", buffered: true }))));
    }
    first.sort((one, other) => one - other);
    const own = await page.evaluate(() => performance.getEntriesByType("resource").filter((entry) => !entry.name.includes("/api/")).map((entry) => entry.name).concat(location.origin + "/"));
    let compressed = 0;
    for (const url of new Set(own)) compressed += zlib.gzipSync(await (await page.request.get(url)).body()).length;
    figure("the page, compressed", compressed / 1000, "kB", 150);
    figure("first paint, median of 7", first[3], "ms", 300);
  },

  async canary() {
    await begin();
    const canary = "<img src=x onerror=\"canary=1\"><script>canary=1</script>\"'><svg onload=canary=1>{{7*7}}javascript:canary=1";
    const fixed = new Set(["task_id", "status", "state", "phase", "name", "kind", "id", "template", "entry_stage", "exit_stage", "timestamp", "started_at", "last_activity", "at", "created_at", "last_modified", "completed_at", "version", "sha256", "available_actions"]);
    // Each text that the server says gets the canary; what leads to other requests gets it further down.
    const spoil = (value, key) => {
      if (typeof value === "string") return fixed.has(key) ? value : value + canary;
      if (Array.isArray(value)) return value.map((each) => spoil(each, key));
      if (value && typeof value === "object") return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, name === "patch" ? each : spoil(each, name)]).concat(value.patch ? [["patch", value.patch.replace(/^([ +-])(?![+-])/gm, "$1" + canary.replaceAll("\n", "")).replace(/^(\+\+\+ b\/)/gm, "$1" + canary)]] : []));
      return value;
    };
    const unharmed = async (place) => {
      const found = await page.evaluate(() => ({ canary: window.canary, made: document.querySelectorAll("main img, main script, main svg[onload], main iframe, [onerror], [onload]").length, links: [...document.querySelectorAll("main a[href]")].filter((link) => !/^(#\/|\/api\/)/.test(link.getAttribute("href"))).map((link) => link.href) }));
      assert.deepEqual(found, { canary: undefined, made: 0, links: [] }, "#/" + place);
    };
    await page.route("**/api/**", async (route) => {
      if (/\/api\/(events|repositories)$/.test(route.request().url())) return route.continue();
      const response = await route.fetch();
      return route.fulfill({ response, body: JSON.stringify(spoil(await response.json(), "")) });
    });
    for (const place of places()) {
      await visit(place);
      await page.waitForTimeout(30);
      await unharmed(place);
      if (!["new", "nothing/here"].includes(place)) assert.ok((await page.locator("body").innerText()).includes("onerror"), "the canary is shown as text: #/" + place);
    }
    // Names, and phases: where they are shown, and in the addresses that they are a part of.
    for (const key of ["name", "phase", "kind", "id", "template", "entry_stage", "exit_stage", "version"]) fixed.delete(key);
    const text = (selector) => page.locator(selector).evaluateAll((elements) => elements.map((element) => element.textContent));
    const said = { setup: "main strong, main .row .quiet.small", attention: ".card h2", new: "#new-pipeline option:not([value=''])" };
    for (const [place, selector] of Object.entries({ ...said, ["task/" + world.delivered]: "ol.stages a", ["task/" + world.delivered + "/artifacts"]: "main li.row a", ["task/" + world.delivered + "/cost"]: "main td:first-child",
      ["task/" + world.delivered + "/journal"]: "main summary", ["task/" + world.delivered + "/phase/green"]: "ol.stages a", ["task/" + world.delivered + "/step/12"]: "dl.facts dd", "": "li.task .way span, li.task strong" })) {
      await visit(place);
      await page.waitForFunction((wanted) => document.querySelector(wanted), selector);
      await unharmed(place);
      const shown = await text(selector);
      assert.ok(shown.some((each) => /onerror/i.test(each)), "the name is shown as text: #/" + place + " " + selector + " " + shown.slice(0, 5));
    }
    // Each section of the setup, not only one of them.
    await visit("setup");
    for (const title of ["Pipelines", "Agents", "Plugins"]) {
      const names = page.locator("section", { has: page.getByRole("heading", { name: title, exact: true }) }).locator("strong");
      await names.first().waitFor();
      for (const name of await names.allTextContents()) assert.ok(name.endsWith(canary) || name.includes(canary + ","), title + ": " + name);
    }
    // Refusals are shown, too.
    await page.unroute("**/api/**");
    await page.route("**/api/tasks/*", (route) => route.fulfill({ status: 404, contentType: "application/problem+json", body: JSON.stringify({ title: canary, detail: canary, code: canary }) }));
    await visit("task/" + world.asking);
    assert.equal(await page.evaluate(() => window.canary), undefined);
    assert.ok((await main()).includes("onerror"));
    trouble = [];
  },

  async canary_kept() {
    await begin();
    for (const place of ["", "task/" + world.task, "task/" + world.task + "/steps", "task/" + world.task + "/step/1", "task/" + world.task + "/phase/red", "task/" + world.task + "/journal", "attention", "setup", "task/" + world.task + "/diff", "task/" + world.task + "/diff?two=1"]) {
      await visit(place);
      if (place.includes("/diff")) await page.locator(".diff").first().waitFor();
      assert.equal(await page.evaluate(() => window.canary), undefined, place);
      assert.equal(await page.locator("main img, main script").count(), 0, place);
    }
    // A file that the task made has the name of an image that fails.
    const named = page.getByRole("link", { name: world.file, exact: true });
    await named.waitFor();
    await page.getByRole("region", { name: "Changes in " + world.file, exact: true }).waitFor();
    await named.click();
    await page.getByRole("link", { name: "All files" }).waitFor();
    assert.deepEqual(await page.locator("main summary").allTextContents(), [world.file], "its changes alone");
    assert.ok((await page.locator(".diff").innerText()).includes("<script>canary = 1</script>"));
    assert.equal(await page.evaluate(() => window.canary), undefined);
    await visit("task/" + world.task);
    assert.ok((await main()).includes("<script>canary=1</script>"));
  },

  async sites() {
    const hits = [];
    const evil = http.createServer((request, response) => { hits.push(request.headers); response.setHeader("Content-Type", "text/html"); response.end("<!doctype html><title>evil</title><p>evil"); }).listen(0, "127.0.0.1");
    await new Promise((done) => evil.once("listening", done));
    const port = new URL(origin).port;
    await begin({}, ["--host-resolver-rules=MAP evil.example 127.0.0.1, MAP *.evil.example 127.0.0.1"]);
    const other = await browser.newPage();
    // Rebinding: a name of the attacker's leads here.
    const rebound = await other.goto("http://evil.example:" + port + "/");
    assert.equal(rebound.status(), 421);
    for (const site of ["http://evil.example:" + evil.address().port, "http://127.0.0.1:" + evil.address().port, "http://localhost:" + evil.address().port]) {
      await other.goto(site + "/");
      const got = await other.evaluate(async ([place, task]) => {
        const read = async (path, options) => { try { const answer = await fetch(place + path, options); return answer.status + " " + (await answer.text()).length; } catch { return "nothing"; } };
        const socket = (address) => new Promise((done) => { const opened = new WebSocket(address); opened.onopen = () => done("open"); opened.onerror = () => done("nothing"); });
        const frame = await new Promise((done) => { const made = document.createElement("iframe"); made.onload = () => { try { done(made.contentDocument ? made.contentDocument.body.innerText : "nothing"); } catch { done("nothing"); } }; made.src = place + "/"; document.body.append(made); });
        const image = await new Promise((done) => { const made = new Image(); made.onload = () => done("loaded"); made.onerror = () => done("nothing"); made.src = place + "/icon.svg"; });
        const script = await new Promise((done) => { const made = document.createElement("script"); made.onload = () => done("loaded"); made.onerror = () => done("nothing"); made.src = place + "/app.js"; document.body.append(made); });
        return { list: await read("/api/tasks", { credentials: "include" }), abort: await read("/api/tasks/" + task + "/abort", { method: "POST", credentials: "include", headers: { "Content-Type": "application/json" }, body: "{}" }), plain: await read("/api/tasks/" + task + "/abort", { method: "POST", mode: "no-cors", credentials: "include", body: "{}" }),
          socket: await socket(place.replace("http", "ws") + "/ws/updates"), events: await new Promise((done) => { const made = new EventSource(place + "/api/events", { withCredentials: true }); made.onopen = () => done("open"); made.onerror = () => { made.close(); done("nothing"); }; }), frame, image, script };
      }, [origin, world.task]);
      assert.equal(got.list, "nothing", site);
      assert.equal(got.abort, "nothing", site);
      assert.ok(["nothing", "0 0"].includes(got.plain), site + got.plain);
      assert.deepEqual([got.socket, got.events, got.image, got.script], ["nothing", "nothing", "nothing", "nothing"], site);
      assert.ok(["nothing", ""].includes(got.frame), site + got.frame);
      // A form of that site that the person sends, and a link that is followed.
      await other.goto(site + "/");
      const [sent] = await Promise.all([other.waitForNavigation({ url: (url) => url.pathname.includes("/abort") }), other.evaluate(([place, task]) => { const form = document.createElement("form"); form.method = "post"; form.action = place + "/api/tasks/" + task + "/abort"; document.body.append(form); form.submit(); }, [origin, world.task])]);
      assert.equal(sent.status(), 403, site);
    }
    evil.close();
    evil.closeAllConnections();
    await page.getByText("live", { exact: true }).waitFor();
    trouble = [];
  },

  async token() {
    const sent = [];
    await open();
    page.on("request", (request) => sent.push([request.url(), request.headers().referer || ""]));
    await page.goto(world.address);
    await settled();
    await visit("task/" + world.task);
    assert.equal(await page.evaluate(() => document.referrer), "");
    assert.ok(!(await page.evaluate(() => location.href + document.documentElement.outerHTML + JSON.stringify(localStorage) + JSON.stringify(sessionStorage) + document.cookie)).includes("token"));
    const token = new URL(world.address).searchParams.get("token");
    assert.deepEqual(sent.slice(1).filter(([url]) => url.includes(token)), [], "the token is sent once");
    assert.deepEqual(sent.filter(([, referrer]) => referrer), [], "no request names where it comes from");
    assert.equal((await browser.cookies()).filter((cookie) => cookie.httpOnly && cookie.sameSite === "Strict").length, 1);
    // Whoever finds the address opens nothing.
    const stranger = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ARGUMENTS });
    const again = await (await stranger.newPage()).goto(world.address);
    assert.equal(again.status(), 401);
    await stranger.close();
  },
};

let code = 0;
try {
  await scenarios[scenario]();
  assert.deepEqual(trouble, [], "the browser's console");
} catch (problem) {
  console.log(problem.stack, "\n", trouble.join("\n"));
  try {
    console.log(page.url() + "\n" + (await page.locator("body").innerText()).slice(0, 3000));
    fs.mkdirSync(world.pictures, { recursive: true });
    await page.screenshot({ path: path.join(world.pictures, "failed-" + scenario + ".png") });
  } catch { /* there is no page */ }
  code = 1;
}
await browser?.close();
process.exit(code);
