// What-if: sliders over the settings that were computed. Between them there is nothing.

import { note } from "./address.js";
import { commandLine, h } from "./dom.js";
import { plain, span } from "./numbers.js";
import { colour } from "./theme.js";
import { basics, Group, place } from "./plot.js";

const AS_IT_WAS = "as it was";

/** Shows the grid of `part` in `host`. */
export function showWhatIf(host, part, view) {
  const { whatif } = part;
  const known = new Map(whatif.settings.map((row) => [keyOf(row.parts), row]));
  const chosen = {};
  for (const { name, values } of whatif.dimensions) {
    const asked = view[name] === "off" ? "" : view[name];
    chosen[name] = asked !== undefined && values.includes(asked) ? asked : null;
  }
  if (Object.values(chosen).every((value) => value === null)) Object.assign(chosen, best(whatif));
  host.append(
    h("h1", {}, "What other settings would have changed"),
    h(
      "p",
      {},
      `${plain(whatif.settings.length)} settings were computed for ${whatif.connections === 1 ? "the only connection" : `all ${plain(whatif.connections)} connections`}, ` +
        `which waited ${span(whatif.waited_s)} in all. The sliders have these and nothing between them. ` +
        "These are estimates: round trips and losses are taken to be what they were.",
    ),
  );
  const sliders = h("div", { class: "sliders" });
  const answer = h("div", { class: "answer", "aria-live": "polite" });
  const figure = h("div", {});
  const command = commandLine("");
  host.append(h("div", { class: "whatif" }, sliders, answer), figure, command);
  let last = whatif.dimensions.find(({ name }) => chosen[name] !== null)?.name || whatif.dimensions[0].name;
  for (const dimension of whatif.dimensions) sliders.append(slider(dimension));
  update();

  function slider({ name, words, values }) {
    const steps = [null, ...values];
    const output = h("output", {});
    const input = h("input", {
      type: "range",
      min: 0,
      max: steps.length - 1,
      step: 1,
      value: Math.max(0, steps.indexOf(chosen[name])),
      "aria-label": words,
      oninput: () => {
        chosen[name] = steps[Number(input.value)];
        last = name;
        update();
      },
    });
    const one = h("label", {}, h("span", {}, words), input, output);
    one.update = () => {
      input.value = Math.max(0, steps.indexOf(chosen[name]));
      output.textContent = valueWords(chosen[name]);
      input.setAttribute("aria-valuetext", output.textContent);
    };
    one.name = name;
    return one;
  }

  function update() {
    for (const one of sliders.children) one.update();
    const parts = Object.fromEntries(Object.entries(chosen).filter(([, value]) => value !== null));
    const row = known.get(keyOf(parts));
    answer.replaceChildren(...(Object.keys(parts).length ? answered(row, parts) : [h("p", {}, "All is as it was.")]));
    const setting = row ? row.setting : named(parts);
    command.say(row || !setting ? whatif.command : `${whatif.other} --whatif ${setting} --json`);
    figure.replaceChildren();
    drawAlong(figure);
    const noted = Object.fromEntries(Object.entries(parts).map(([name, value]) => [name, value || "off"]));
    const kept = Object.fromEntries(Object.entries(view).filter(([name]) => !(name in chosen)));
    note({ ...kept, ...noted });
  }

  function answered(row, parts) {
    if (row) return [h("h2", {}, row.setting), h("p", {}, row.words), numbers(row)];
    const near = nearest(parts);
    return [
      h("h2", {}, named(parts)),
      h("p", { class: "warning" }, "This combination was not computed, and nothing is made up between those that were. The command below computes it."),
      h("p", {}, "Computed, and nearest to it:"),
      h(
        "ul",
        {},
        near.map((one) => h("li", {}, h("button", { type: "button", onclick: () => choose(one) }, one.setting))),
      ),
    ];
  }

  function choose(row) {
    for (const name of Object.keys(chosen)) chosen[name] = row.parts[name] ?? null;
    update();
  }

  // By how many sliders they are apart, and by how far.
  function nearest(parts) {
    const places = new Map(whatif.dimensions.map(({ name, values }) => [name, values]));
    const far = (row) => {
      let sum = 0;
      for (const [name, values] of places) {
        const [mine, theirs] = [parts[name] ?? null, row.parts[name] ?? null];
        if (mine === theirs) continue;
        const steps = Math.abs(values.indexOf(mine) - values.indexOf(theirs)) / values.length;
        sum += mine === null || theirs === null ? 1 : 0.5 + 0.5 * steps;
      }
      return sum;
    };
    return [...whatif.settings].sort((a, b) => far(a) - far(b)).slice(0, 4);
  }

  function numbers(row) {
    const waited = whatif.waited_s ? ` (${((100 * row.saved_s) / whatif.waited_s).toFixed(1)}% of what was waited)` : "";
    const pairs = [
      [row.saved_s < 0 ? "time lost" : "time saved", span(Math.abs(row.saved_s)) + waited],
      ["connections shorter by more than a tenth", plain(row.shorter)],
      ["connections longer by more than a tenth", plain(row.longer)],
      ["retransmissions avoided", plain(row.avoided)],
      ["spurious retransmissions caused", plain(row.spurious)],
      ["losses found without a timeout instead of by one", plain(row.to_fr)],
      ["losses found by a timeout instead of without one", plain(row.to_rto)],
    ];
    if (row.off_median !== null) {
      const percent = (share) => `${(100 * share).toFixed(1)}%`;
      pairs.push(
        ["such predictions were off by, of the duration: median", percent(row.off_median)],
        ["95 % of them by less than", percent(row.off_p95)],
        ["longer said for shorter, or the other way round", percent(row.off_sign)],
      );
    }
    return h("table", { class: "numbers" }, pairs.map(([name, value]) => h("tr", {}, h("th", { scope: "row" }, name), h("td", {}, value))));
  }

  // The values of the slider moved last, the others held: only those that were computed.
  function drawAlong(box) {
    const along = ({ name, values }) =>
      values.flatMap((value, at) => {
        const parts = Object.fromEntries(Object.entries({ ...chosen, [name]: value }).filter(([, one]) => one !== null));
        const row = known.get(keyOf(parts));
        return row ? [[at, row.saved_s]] : [];
      });
    const first = whatif.dimensions.find(({ name }) => name === last);
    // Where the slider moved last has one value only, another one that has more.
    const dimension = [first, ...whatif.dimensions].find((one) => along(one).length > 1);
    if (!dimension) return;
    const { words, values } = dimension;
    const points = along(dimension);
    const group = new Group(0, values.length - 1);
    group.whole = group.range = [-0.5, values.length - 0.5];
    box.append(h("h2", {}, `Time saved by ${words}, the others held`));
    place(box, {
      group,
      label: points.map(([at, saved]) => `${valueWords(values[at])}: ${span(saved)}`).join("; "),
      data: [points.map(([at]) => at), points.map(([, saved]) => saved)],
      options: () => {
        const made = basics({ height: 230, x: words, y: "time saved" });
        made.axes[0].splits = () => values.map((_, at) => at);
        made.axes[0].values = () => values.map(valueWords);
        made.axes[1].values = (_, ticks) => ticks.map((tick) => (tick === null ? "" : span(tick)));
        return {
          ...made,
          scales: { x: { time: false }, y: { range: (_, low, high) => [Math.min(0, low) * 1.1, Math.max(0, high) * 1.1 || 1] } },
          series: [{}, { paths: () => null, points: { show: true, size: 10, fill: colour("accent"), stroke: colour("accent") } }],
        };
      },
    });
  }
}

function valueWords(value) {
  return value === null ? AS_IT_WAS : value === "" ? "off" : value;
}

// Sets of parts as one text.
function keyOf(parts) {
  return Object.keys(parts).sort().map((name) => `${name}=${parts[name]}`).join(",");
}

// As `--whatif` takes it.
function named(parts) {
  return Object.entries(parts)
    .map(([name, value]) => (value === "" ? `no-${name}` : value === "on" ? name : `${name}=${value}`))
    .join(",");
}

// What was asked for by name, else what saves most.
function best(whatif) {
  const asked = whatif.settings.find((row) => row.named);
  const first = asked || whatif.settings.reduce((most, row) => (row.saved_s > most.saved_s ? row : most));
  return first.parts;
}
