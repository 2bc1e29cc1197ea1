// @ts-check
/** Choices of the user that outlive the page. A browser may forbid the store, as for pages from disk. */

/**
 * Returns a stored text; null without one.
 * @param {string} name
 */
export function recall(name) {
  try {
    return localStorage.getItem(`live-map.${name}`);
  } catch {
    return null;
  }
}

/**
 * Returns a text that the tab has stored; null without one.
 * @param {string} name
 */
export function recallInTab(name) {
  try {
    return sessionStorage.getItem(`live-map.${name}`);
  } catch {
    return null;
  }
}

/**
 * Stores a text until the tab is closed.
 * @param {string} name
 * @param {string} value
 */
export function rememberInTab(name, value) {
  try {
    sessionStorage.setItem(`live-map.${name}`, value);
  } catch {
    // Without a store it is lost when the page is loaded again.
  }
}

/**
 * Stores a text.
 * @param {string} name
 * @param {string} value
 */
export function remember(name, value) {
  try {
    localStorage.setItem(`live-map.${name}`, value);
  } catch {
    // Without a store the choice holds until the page is closed.
  }
}
