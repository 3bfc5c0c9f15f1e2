// What the words of the page mean.

import { h } from "./dom.js";

/** Shows the glossary, a list a subject. */
export function showWords(host, glossary) {
  host.append(h("h1", {}, "Words"));
  for (const [about, words] of glossary) {
    host.append(h("h2", {}, about), h("dl", {}, words.flatMap(([word, meaning, source]) => [h("dt", {}, bare(word)), h("dd", {}, bare(meaning), source ? h("span", { class: "dim" }, ` ${bare(source)}`) : null)])));
  }
}

// Without the marks of code.
function bare(text) {
  return text.replaceAll("`", "");
}
