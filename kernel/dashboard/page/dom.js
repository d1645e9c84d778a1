// SPDX-License-Identifier: Apache-2.0
// Elements from values. A text is always a text node: nothing that a model, a file or a repository says becomes markup.

export function h(name, attributes, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key === "value" || key === "checked" || key === "max") element[key] = value;
    else element.setAttribute(key, value === true ? "" : String(value));
  }
  append(element, children);
  return element;
}

export function append(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : document.createTextNode(String(child)));
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
export function draft(name, key, attributes) {
  const field = h(name, { ...attributes, "data-key": key, value: drafts.get(key) || attributes.value || "", oninput: () => drafts.set(key, field.value) });
  return field;
}
export function forget(prefix) {
  for (const key of [...drafts.keys()]) if (key.startsWith(prefix)) drafts.delete(key);
}

// Puts a new content in place of the old one; focus, selection, open details and scroll stay.
export function redraw(place, ...content) {
  const focused = document.activeElement;
  const key = focused && place.contains(focused) ? focused.dataset.key || focused.getAttribute("href") : null;
  const selection = focused && "selectionStart" in focused ? [focused.selectionStart, focused.selectionEnd] : null;
  const open = [...place.querySelectorAll("details[open][data-key]")].map((details) => details.dataset.key);
  const top = document.documentElement.scrollTop;
  place.replaceChildren();
  append(place, content);
  for (const details of place.querySelectorAll("details[data-key]")) if (open.includes(details.dataset.key)) details.open = true;
  if (key) {
    const again = [...place.querySelectorAll("[data-key], a[href]")].find((element) => (element.dataset.key || element.getAttribute("href")) === key);
    if (again) {
      again.focus({ preventScroll: true });
      if (selection && again.setSelectionRange) try { again.setSelectionRange(...selection); } catch { /* not a text */ }
    }
  }
  document.documentElement.scrollTop = top;
}
