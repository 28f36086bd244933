/** Starts the page: decompresses its data and its script, which the content security policy allows by its hash. */

/**
 * Decompress a text of the page, and insert it as a script element.
 * @param {string} id
 * @param {string} type
 */
async function unpack(id, type) {
  const packed = document.getElementById(`packed-${id}`)?.textContent ?? "";
  const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  const element = document.createElement("script");
  Object.assign(element, { id, type, textContent: await new Response(stream).text() });
  document.body.append(element);
}

if ("DecompressionStream" in window) {
  await unpack("payload", "application/json");
  await unpack("script", "module");
} else {
  const message = document.createElement("p");
  message.textContent = "This page needs a browser of 2023 or later: Chrome, Edge, Firefox or Safari.";
  document.body.prepend(message);
}

export {};
