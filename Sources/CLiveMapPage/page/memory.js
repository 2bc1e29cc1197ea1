// @ts-check
/** Choices of the user that outlive the page. A browser may forbid the store, as for pages from disk. */

/** Where a text is stored: for good, or until the tab is closed. @typedef {"localStorage"|"sessionStorage"} Store */

/**
 * Returns a stored text; null without one.
 * @param {string} name
 * @param {Store} [store]
 */
export function recall(name, store = "localStorage") {
  try {
    return window[store].getItem(`live-map.${name}`);
  } catch {
    return null;
  }
}

/**
 * Stores a text.
 * @param {string} name
 * @param {string} value
 * @param {Store} [store]
 */
export function remember(name, value, store = "localStorage") {
  try {
    window[store].setItem(`live-map.${name}`, value);
  } catch {
    // Without a store the text is kept until the page is closed.
  }
}
