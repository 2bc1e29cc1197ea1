// @ts-check
/** The interactions of a venue's document with its rooms, points of interest and fences. A change returns a new document. */
import { isObject, listOf, withFields } from "./venue-values.js";

/** The field of an interaction that has the number of its place, by the list of the place. @type {Map<any, string>} */
const fields = new Map([["rooms", "room"], ["pois", "poi"], ["events", "event"]]);

/**
 * Returns the document with other numbers of the places of interactions, and without the interactions of removed places.
 * @param {any} document
 * @param {any} list the key of the list that has the places
 * @param {Map<any, any>} numbers the new number by the earlier one; undefined for a removed place
 */
export function withPlaces(document, list, numbers) {
  const field = fields.get(list);
  if (field === undefined) return document;
  const isChanged = (/** @type {any} */ one) => isObject(one) && one[field] !== undefined && numbers.has(one[field]);
  if (!listOf(document.interactions).some(isChanged)) return document;
  return withFields(document, {
    interactions: document.interactions.flatMap((/** @type {any} */ one) => {
      if (!isChanged(one)) return [one];
      const number = numbers.get(one[field]);
      return number === undefined ? [] : [withFields(one, { [field]: number })];
    }),
  });
}

/**
 * Returns the document with the interactions of an object that was removed, or has another number now. They stay as they are
 * if another object has one of the numbers.
 * @param {any} document the document after the change of the object
 * @param {any} list the key of the list that has the object
 * @param {any} before
 * @param {any} after undefined for a removed object
 */
export function withPlace(document, list, before, after) {
  if (before === after || before === undefined) return document;
  const count = (/** @type {any} */ id) => listOf(document[list]).filter((one) => one?.id === id).length;
  if (count(before) > 0 || (after !== undefined && count(after) > 1)) return document;
  return withPlaces(document, list, new Map([[before, after]]));
}
