// @ts-check
/** Numbers that the API sends as Base64. */

/**
 * Returns the bytes of a Base64 text.
 * @param {string} text
 * @returns {Uint8Array}
 */
export function bytesOf(text) {
  const native = /** @type {any} */ (Uint8Array).fromBase64;
  if (native) return native.call(Uint8Array, text);
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let index = 0; index < binary.length; index++) bytes[index] = binary.charCodeAt(index);
  return bytes;
}

/**
 * Returns the little-endian UInt16 numbers of a Base64 text.
 * @param {string} text
 * @returns {Uint16Array}
 */
export function wordsOf(text) {
  const bytes = bytesOf(text);
  const count = bytes.length >> 1;
  // The platforms of browsers are little-endian; the copy aligns the bytes if need be.
  const aligned = bytes.byteOffset % 2 === 0 ? bytes : bytes.slice();
  return new Uint16Array(aligned.buffer, aligned.byteOffset, count);
}
