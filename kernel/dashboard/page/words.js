// SPDX-License-Identifier: Apache-2.0
// Figures in words.

export function span(seconds) {
  if (seconds === null || seconds === undefined) return "";
  const s = Math.max(0, Math.round(seconds));
  if (s < 60) return s + " s";
  if (s < 3600) return Math.floor(s / 60) + " m";
  if (s < 86400) return Math.floor(s / 3600) + " h " + String(Math.floor(s / 60) % 60).padStart(2, "0") + " m";
  return Math.floor(s / 86400) + " d " + (Math.floor(s / 3600) % 24) + " h";
}
export const since = (time) => (time ? span((Date.now() - Date.parse(time)) / 1000) + " ago" : "");
export const clock = (time) => (time ? new Date(time).toLocaleTimeString([], { hour12: false }) : "");
export const date = (time) => (time ? new Date(time).toLocaleString() : "");
export const number = (value) => Number(value || 0).toLocaleString("en");
export function money(cost) {
  if (cost.from_transcript) return "no cost (answers from a transcript)";
  if (cost.estimated_cost_usd === null || (!cost.cost_known && !cost.estimated_cost_usd)) return "cost unknown";
  return (cost.cost_known ? "" : "at least ") + "$" + Number(cost.estimated_cost_usd).toFixed(cost.estimated_cost_usd >= 0.1 || cost.estimated_cost_usd === 0 ? 2 : 4);
}
export const percent = (share) => Math.floor(share * 100) + " %";

const SIGNS = { in_progress: "●", escalated: "⚠", awaiting_approval: "⚠", paused: "‖", interrupted: "✗", completed: "✓", failed: "✗", aborted: "✗", pending: "·", unknown: "?" };
const NAMES = { in_progress: "in progress", escalated: "question", awaiting_approval: "awaits your decision" };
export const sign = (state) => SIGNS[state] || "·";
export const named = (state) => NAMES[state] || state;
export const tone = (state) => ({ completed: "good", failed: "bad", aborted: "bad", interrupted: "warn", escalated: "warn", awaiting_approval: "warn", unknown: "bad" })[state] || "";
export const stageSign = (status) => ({ completed: "✓", skipped: "–", failed: "✗", running: "●", in_progress: "●" })[status] || "·";
