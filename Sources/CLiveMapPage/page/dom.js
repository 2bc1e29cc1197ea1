// @ts-check
/** Elements of the page. Text is only ever set as text, never as HTML. */

/**
 * Returns the element with an identifier; throws if the page has none.
 * @param {string} id
 * @returns {any}
 */
export function byId(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no element #${id}`);
  return found;
}

/**
 * Creates an element. A property that begins with "on" is a listener, another one an attribute; null omits it.
 * @param {string} name
 * @param {Record<string, any>} [properties]
 * @param {...(Node|string)} children
 * @returns {any}
 */
export function make(name, properties = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (value === null || value === undefined) continue;
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else made.setAttribute(key, String(value));
  }
  made.append(...children);
  return made;
}

/**
 * Sets a text if it differs, so that a screen reader announces only changes.
 * @param {any} node
 * @param {string} text
 */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/**
 * Sets the children of a list if they differ, and keeps the focus, which moving them takes away.
 * @param {any} list
 * @param {any[]} wanted
 */
export function setChildren(list, wanted) {
  if (wanted.length === list.children.length && wanted.every((one, index) => one === list.children[index])) return;
  const focused = document.activeElement;
  list.replaceChildren(...wanted);
  if (focused instanceof HTMLElement && list.contains(focused)) focused.focus({ preventScroll: true });
}

/** The milliseconds for which a notice is shown. */
const noticeTime = 6000;
/** @type {any} */
let noticeEnd;

/**
 * Shows a notice for some seconds.
 * @param {string} text empty to hide the notice
 */
export function say(text) {
  const notice = byId("notice");
  clearTimeout(noticeEnd);
  notice.hidden = text === "";
  setText(notice, text);
  noticeEnd = setTimeout(() => { notice.hidden = true; }, noticeTime);
}

/**
 * Shows the state of the connection.
 * @param {string|null} state null hides the badge
 * @param {string} [text]
 */
export function showConnection(state, text = "") {
  const badge = byId("connection");
  badge.hidden = state === null;
  badge.dataset.state = state ?? "";
  setText(badge, text);
}

/**
 * Gives a canvas the resolution of the screen, and returns its drawing context in CSS pixels; null while it is not
 * visible.
 * @param {HTMLCanvasElement} canvas
 * @returns {{context: CanvasRenderingContext2D, width: number, height: number}|null}
 */
export function prepareCanvas(canvas) {
  const box = canvas.getBoundingClientRect();
  if (box.width < 1 || box.height < 1) return null;
  const ratio = window.devicePixelRatio || 1;
  const width = Math.round(box.width * ratio);
  const height = Math.round(box.height * ratio);
  if (canvas.width !== width || canvas.height !== height) {
    canvas.width = width;
    canvas.height = height;
  }
  const context = canvas.getContext("2d");
  if (!context) return null;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, box.width, box.height);
  return { context, width: box.width, height: box.height };
}
