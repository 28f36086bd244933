/** Starts the page: decompresses its data and its script, which the content security policy allows by its hash. */

/**
 * Decompress a text of the page.
 * @param {string} id
 * @returns {Promise<string>}
 */
function unpack(id) {
  const packed = document.getElementById(`packed-${id}`)?.textContent ?? "";
  const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
}

if ("DecompressionStream" in window) {
  const parts = { payload: "application/json", script: "module" };
  const texts = await Promise.all(Object.keys(parts).map(unpack));
  for (const [at, [id, type]] of Object.entries(parts).entries()) {
    const script = document.createElement("script");
    Object.assign(script, { id, type, textContent: texts[at] });
    document.body.append(script);
  }
} else {
  const message = document.createElement("p");
  message.textContent = "This page needs a browser of 2023 or later: Chrome, Edge, Firefox or Safari.";
  document.body.prepend(message);
}

export {};
