/** Starts the page: decompresses its script, which the content security policy allows by its hash, and runs it. */

const packed = document.getElementById("packed-script")?.textContent ?? "";
if ("DecompressionStream" in window) {
  const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  const script = document.createElement("script");
  script.type = "module";
  script.textContent = await new Response(stream).text();
  document.body.append(script);
} else {
  const message = document.createElement("p");
  message.textContent = "This page needs a browser of 2023 or later: Chrome, Edge, Firefox or Safari.";
  document.body.prepend(message);
}

export {};
