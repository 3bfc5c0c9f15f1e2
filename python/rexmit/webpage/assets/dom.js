// Elements. Whatever came from a capture becomes text here, never markup.

/** An element with attributes (on… are listeners) and children, texts among them. */
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

/** Tells users of screen readers, who do not see what changed. */
export function announce(text) {
  const place = document.getElementById("said");
  if (place) place.textContent = text;
}

/** A command, with a button that copies it. */
export function commandLine(text, before = "The same numbers:") {
  const code = h("code", { tabindex: "0" }, text);
  const button = h("button", { type: "button", onclick: copy }, "Copy");
  async function copy() {
    try {
      await navigator.clipboard.writeText(code.textContent);
      button.textContent = "Copied";
    } catch {
      // No clipboard here: what is selected can be copied by hand.
      getSelection().selectAllChildren(code);
      button.textContent = "Selected";
    }
    setTimeout(() => (button.textContent = "Copy"), 1500);
  }
  const line = h("div", { class: "command" }, h("span", {}, before), code, button);
  line.say = (words) => (code.textContent = words);
  return line;
}
