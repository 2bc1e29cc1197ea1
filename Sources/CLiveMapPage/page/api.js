// @ts-check
/** Requests to the server of the page. Addresses are relative, so that the page works below any path of a proxy. */

/** An answer of the server that is not a success. */
export class ServerAnswer extends Error {
  /**
   * @param {number} status
   * @param {string} text
   */
  constructor(status, text) {
    super(text || `The server answered ${status}.`);
    this.status = status;
  }
}

/**
 * Removes the token from the address of the page. The server has stored it in a cookie. In the address it would get into
 * the history and into shared links.
 */
export function hideToken() {
  if (new URLSearchParams(location.search).has("token")) history.replaceState(null, "", location.pathname);
}

/** The largest number of characters that the page shows of a reason. */
const mostWords = 300;

/** What the page shows after a refusal. */
export const refusalText = "Not authorized: open the page with the token";

/**
 * Whether the server refuses the page: another attempt has the same answer.
 * @param {any} error
 */
export function isRefusal(error) {
  return error instanceof ServerAnswer && (error.status === 401 || error.status === 403);
}

/**
 * Returns the address of a resource of the API.
 * @param {string} name
 * @param {Record<string, number|string>} [query]
 */
export function address(name, query = {}) {
  const found = new URL(`api/v1/${name}`, document.baseURI);
  for (const [key, value] of Object.entries(query)) found.searchParams.set(key, String(value));
  // A plus sign stands for a space in forms only.
  found.search = found.search.replaceAll("+", "%20");
  return found.href;
}

/**
 * Requests a JSON document.
 * @param {string} name
 * @param {Record<string, number|string>} [query]
 * @param {number} [seconds] the longest wait
 * @param {AbortController} [control] aborts the request
 */
export async function request(name, query = {}, seconds = 30, control = new AbortController()) {
  const timer = setTimeout(() => control.abort(new DOMException("The server doesn't answer.", "TimeoutError")),
    seconds * 1000);
  try {
    const answer = await fetch(address(name, query), {
      headers: { Accept: "application/json" }, signal: control.signal,
    });
    if (!answer.ok) throw new ServerAnswer(answer.status, await reason(answer));
    return await answer.json();
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Submits the place where the user stands. Returns null, or the server's reason for refusing it.
 * @param {{mapId: number, x: number, y: number}} place
 * @returns {Promise<string|null>}
 */
export async function submitMark(place) { return (await post("marks", place, 10)).problem; }

/**
 * Posts a JSON document. Returns the content of the answer, or the reason for a failure, and the status of the answer, which
 * is 0 without one.
 * @param {string} name
 * @param {any} body
 * @param {number} [seconds] the longest wait
 * @returns {Promise<{content: any, problem: string|null, status: number}>}
 */
export async function post(name, body, seconds = 30) {
  try {
    const answer = await fetch(address(name), {
      method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body),
      signal: AbortSignal.timeout(seconds * 1000),
    });
    const { status } = answer;
    if (answer.ok) return { content: status === 204 ? null : await answer.json(), problem: null, status };
    return { content: null, problem: (await reason(answer)) || `The server answered ${status}.`, status };
  } catch {
    return { content: null, problem: "The server doesn't answer.", status: 0 };
  }
}

/**
 * Returns what an answer that is not a success says; empty without words for the user, as in the page of a proxy.
 * @param {Response} answer
 */
export async function reason(answer) {
  const text = (await answer.text()).trim();
  try {
    const json = JSON.parse(text);
    const words = json.error ?? json.message ?? json.detail ?? json.reason ?? json;
    return typeof words === "string" ? words.slice(0, mostWords) : "";
  } catch {
    return text.startsWith("<") ? "" : text.slice(0, mostWords);
  }
}

/**
 * The listeners of a source's changes.
 * @typedef {{
 *   overview: (overview: any) => void, frames: () => void, events: () => void,
 *   connection: (state: string|null, text?: string) => void,
 * }} Changes
 */

/**
 * Waits.
 * @param {number} seconds
 */
export function pause(seconds) {
  return new Promise((resolve) => { setTimeout(resolve, seconds * 1000); });
}
