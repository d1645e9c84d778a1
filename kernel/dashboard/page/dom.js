// SPDX-License-Identifier: Apache-2.0
// Elements from values. A text is always a text node: nothing that a model, a file or a repository says becomes markup.

// Characters that act where they are shown, on the order of the text around them or not seen at all: as every other output of AgentForge writes them.
const ACTING = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f\ufeff\ufffe\uffff]/g;
export const shown = (text) => String(text).replace(ACTING, (sign) => {
  const code = sign.charCodeAt(0);
  return code < 0x100 ? "\\x" + code.toString(16).padStart(2, "0") : "\\u" + code.toString(16).padStart(4, "0");
});
const SPOKEN = ["title", "aria-label", "placeholder", "alt"];

export function h(name, attributes, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key === "value" || key === "checked" || key === "max") element[key] = value;
    else element.setAttribute(key, value === true ? "" : SPOKEN.includes(key) ? shown(value) : String(value));
  }
  append(element, children);
  return element;
}

export function append(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : document.createTextNode(shown(child)));
  }
}

// A name, not an address: nothing is loaded from there.
const SVG = ["http:", "", "www.w3.org", "2000", "svg"].join("/");
export function drawing(name, attributes, ...children) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes || {})) element.setAttribute(key, String(value));
  element.append(...children);
  return element;
}

// What is typed and not sent yet stays through every redrawing.
const drafts = new Map();
export const drafted = (key) => drafts.get(key) || "";
export function draft(name, key, attributes, ...children) {
  const ticked = attributes.type === "checkbox";
  const field = h(name, { ...attributes, "data-key": key, oninput: () => drafts.set(key, ticked ? (field.checked ? "on" : "") : field.value) }, children);
  if (ticked) field.checked = drafted(key) === "on"; else field.value = drafted(key);
  if (field.selectedIndex < 0) field.selectedIndex = 0;      // Nothing is chosen yet, or what was chosen is there no more.
  return field;
}
export function forget(prefix) {
  for (const key of [...drafts.keys()]) if (key.startsWith(prefix)) drafts.delete(key);
}

// Puts a new content in place of the old one; focus, selection, open details and scroll stay. What is the same element as before is not touched.
export function redraw(place, ...content) {
  const focused = document.activeElement;
  const key = focused && place.contains(focused) ? focused.dataset.key || focused.getAttribute("href") : null;
  const selection = focused && "selectionStart" in focused ? [focused.selectionStart, focused.selectionEnd] : null;
  const details = [...place.querySelectorAll("details[data-key]")].map((each) => [each.dataset.key, each.open]);
  const scrolled = [...place.querySelectorAll("pre, .diff, .table")].map((each) => [each.scrollTop, each.scrollLeft]);
  const top = document.documentElement.scrollTop;
  const next = document.createElement("div");
  const kept = new Set();
  const nodes = content.flat(Infinity).filter((node) => node !== null && node !== undefined && node !== false).map((node) => (node instanceof Node ? node : document.createTextNode(shown(node))));
  for (const node of nodes) if (node.parentNode === place) kept.add(node); else next.append(node);
  for (const node of [...place.childNodes]) if (!kept.has(node)) node.remove();
  nodes.forEach((node, index) => { if (place.childNodes[index] !== node) place.insertBefore(node, place.childNodes[index] || null); });
  const were = new Map(details);
  for (const each of place.querySelectorAll("details[data-key]")) if (were.has(each.dataset.key)) each.open = were.get(each.dataset.key);
  [...place.querySelectorAll("pre, .diff, .table")].forEach((each, index) => { if (scrolled[index]) [each.scrollTop, each.scrollLeft] = scrolled[index]; });
  if (key && document.activeElement !== focused) {
    const again = [...place.querySelectorAll("[data-key], a[href]")].find((element) => (element.dataset.key || element.getAttribute("href")) === key);
    if (again) {
      again.focus({ preventScroll: true });
      if (selection && again.setSelectionRange) try { again.setSelectionRange(...selection); } catch { /* not a text */ }
    }
  }
  document.documentElement.scrollTop = top;
}
