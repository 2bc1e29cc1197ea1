// @ts-check
/** The document on the server. */
import { address, reason, request, ServerAnswer } from "./api.js";

/** Returns the content of the document with its revision. */
export async function loadDocument() {
  const answer = await fetch(address("document"), { cache: "no-store", signal: AbortSignal.timeout(30000) });
  if (!answer.ok) throw new ServerAnswer(answer.status, (await answer.json()).error ?? "");
  return { text: await answer.text(), revision: answer.headers.get("ETag") ?? "" };
}

/** Returns the images of the plans, and the problems of the stored document. */
export function loadOverview() { return request("overview"); }

/**
 * Stores the document if the stored one still has a revision.
 * @param {string} text
 * @param {string} revision
 * @returns {Promise<{status: number, revision: string, content: any}>} status 0 if the server doesn't answer
 */
export async function storeDocument(text, revision) {
  try {
    const answer = await fetch(address("document"), {
      method: "PUT", headers: { "Content-Type": "application/json", "If-Match": revision }, body: text,
      signal: AbortSignal.timeout(60000),
    });
    return { status: answer.status, revision: answer.headers.get("ETag") ?? "", content: await answer.json() };
  } catch (error) {
    // A request that the server has received may be completed later.
    const text = /** @type {any} */ (error).name === "TimeoutError"
      ? "The server didn't answer in time. It isn't known whether the venue was saved; save again."
      : "The server doesn't answer. Nothing was saved.";
    return { status: 0, revision: "", content: { error: text } };
  }
}

/**
 * Returns the problems of a document that is not stored; "later" if the server checks a newer document of another page
 * instead, and null if it doesn't answer.
 * @param {string} text
 * @param {AbortSignal} signal
 * @returns {Promise<any[]|"later"|null>}
 */
export async function checkDocument(text, signal) {
  try {
    const answer = await fetch(address("check"), {
      method: "POST", headers: { "Content-Type": "application/json" }, body: text,
      signal: AbortSignal.any([signal, AbortSignal.timeout(60000)]),
    });
    if (answer.status === 409) return "later";
    return answer.ok ? (await answer.json()).problems : null;
  } catch {
    return null;
  }
}

/**
 * Requests a simulation. Returns its result, or what went wrong in words.
 * @param {string} resource
 * @param {Record<string, number>} query
 * @param {string} body
 * @param {AbortSignal} signal
 * @returns {Promise<{content: any, problem: string|null}>}
 */
export async function calculate(resource, query, body, signal) {
  try {
    const send = () => fetch(address(resource, query), {
      method: "POST", headers: { "Content-Type": "application/json" }, body,
      signal: AbortSignal.any([signal, AbortSignal.timeout(120000)]),
    });
    let answer = await send();
    // The server can receive a request that the page has just ended after this one, which it then replaces.
    if (answer.status === 409) answer = await send();
    if (answer.ok) return { content: await answer.json(), problem: null };
    return { content: null, problem: (await reason(answer)) || `The server answered ${answer.status}.` };
  } catch (error) {
    const { name } = /** @type {any} */ (error);
    return { content: null, problem: name === "TimeoutError" ? "The server didn't answer in time."
      : name === "SyntaxError" ? "The answer of the server can't be read." : "The server doesn't answer." };
  }
}

/**
 * Returns the size of a picture in pixels.
 * @param {File} file
 */
export async function pictureSize(file) {
  // A browser recognizes a drawing by its type only.
  const type = file.name.toLowerCase().endsWith(".svg") ? "image/svg+xml" : file.type;
  const url = URL.createObjectURL(new Blob([file], { type }));
  const image = new Image();
  try {
    image.src = url;
    await image.decode();
    if (image.naturalWidth < 1 || image.naturalHeight < 1) throw new Error();
    return { width: image.naturalWidth, height: image.naturalHeight };
  } catch {
    throw new Error(`${file.name} is not a picture that the browser can show; export the plan as PNG.`);
  } finally {
    URL.revokeObjectURL(url);
  }
}

/** Writes the image of a plan into the packet; nothing refers to it before the document is saved. */
export const uploadPlan = (/** @type {File} */ file) => upload("plan-image", file);

/** Writes a radio map into the packet. */
export const uploadRadioMap = (/** @type {File} */ file) => upload("radio-map", file);

/**
 * @param {string} resource
 * @param {File} file
 * @returns {Promise<{path: string, bytes: number}>}
 */
async function upload(resource, file) {
  const answer = await fetch(address(resource, { name: file.name.slice(0, 100) }), {
    method: "PUT", headers: { "Content-Type": "application/octet-stream" }, body: file, signal: AbortSignal.timeout(300000),
  }).catch(() => { throw new Error("The server doesn't answer, or the file is too large. Nothing was written."); });
  const content = await answer.json();
  if (!answer.ok) throw new ServerAnswer(answer.status, content.error ?? "");
  return content;
}
