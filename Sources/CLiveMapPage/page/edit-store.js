// @ts-check
/** The document on the server. */
import { address, request, ServerAnswer } from "./api.js";

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
  } catch {
    return { status: 0, revision: "", content: { error: "The server doesn't answer. Nothing was saved." } };
  }
}
