// Draws what stands in #report-data, each plot when it comes into view; everything else works without it.

async function unpacked(element) {  // JSON, compressed, in base64
  const bytes = Uint8Array.from(atob(element.textContent), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

const data = await unpacked(document.getElementById("report-data"));
const compared = data.runs.rows.some((row) => row.place === "b");
const DASHES = {"-": "solid", "--": "dash", "-.": "dashdot", ":": "dot"};
const STROKES = {"-": "", "--": "6 3", "-.": "6 2 1 2", ":": "1.5 2.5"};
const drawn = new Set();
let onPaper = false;
const PAPER = {width: 690, height: 190, map: 340};  // pixels of a sheet of A4 within its margins; plots and maps are so high
const hiddenLabels = new Map();  // by drawing: the labels that are switched off

function isDark() {
  if (onPaper) { return false; }
  const said = document.documentElement.dataset.theme;
  return said ? said === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

function visible(colour) {  // black on black is not
  return isDark() && colour === "#000000" ? "#ffffff" : colour;
}

// Plotly reads some HTML in what it shows: names are to be text.
function text(words) {
  return String(words).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
}

function layoutOf(extra) {
  const style = getComputedStyle(document.documentElement);
  const [ink, line] = onPaper ? ["#1a1a1a", "#d5d5d5"] : ["--ink", "--line"].map((name) => style.getPropertyValue(name).trim());
  const axis = {gridcolor: line, zerolinecolor: line, linecolor: line, automargin: true, fixedrange: true};  // a swipe scrolls
  return {
    ...(onPaper ? {height: PAPER.height} : {}), autosize: !onPaper,
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", font: {color: ink, size: 11},
    margin: {l: 45, r: 10, t: 8, b: 35}, showlegend: false, hovermode: "closest", dragmode: false,
    ...extra, xaxis: {...axis, ...extra.xaxis}, yaxis: {...axis, ...extra.yaxis},
  };
}

const CONFIG = {displaylogo: false, responsive: true, displayModeBar: false};

// As in the figures for paper: hollow without warm-up, a triangle for a short one.
function markerOf(style, colour) {
  const symbols = {hollow: "circle-open", triangle: "triangle-up"};
  return {size: style.marker === "hollow" ? 7 : 6, color: colour, symbol: symbols[style.marker] ?? "circle"};
}

function tracesOf(panel, hidden) {
  return panel.lines.flatMap((line) => {
    const shared = {name: line.label, visible: !hidden.has(line.label)};
    const colour = visible(line.style.colour);
    const spread = line.low.some((low, place) => low !== line.high[place]);
    const seeds = spread ? "<br>seeds from %{customdata[0]:.4g} to %{customdata[1]:.4g}" : "";
    return [
      {...shared, x: [...line.x, ...line.x.slice().reverse()], y: [...line.high, ...line.low.slice().reverse()],
       fill: "toself", fillcolor: colour, opacity: 0.15, line: {width: 0}, mode: "lines", hoverinfo: "skip"},
      {...shared, x: line.x, y: line.mean, mode: line.style.marker === "none" ? "lines" : "lines+markers", marker: markerOf(line.style, colour),
       line: {color: colour, dash: DASHES[line.style.dash], width: 2},
       customdata: line.low.map((low, place) => [low, line.high[place]]),
       hovertemplate: `${text(line.label)}<br>%{x}: %{y:.4g}${seeds}<extra></extra>`},
    ];
  });
}

function drawPanel(place) {
  const panel = data.drawings[place.dataset.panel];
  const hidden = hiddenLabels.get(place.closest(".drawing").dataset.drawing);
  const xaxis = {title: {text: text(panel.x_label)}, type: panel.x_scale};
  if (panel.ticks.length) { xaxis.tickvals = panel.ticks; }
  const yaxis = {title: {text: text(panel.y_label).replace(/\n/g, "<br>")}, type: panel.y_scale, exponentformat: "power"};
  if (panel.y_range) { yaxis.range = panel.y_scale === "log" ? panel.y_range.map(Math.log10) : panel.y_range; }
  const across = Number(place.closest(".panels").style.getPropertyValue("--across"));
  const width = onPaper ? {width: PAPER.width / across - 10} : {};
  Plotly.react(place, tracesOf(panel, hidden), layoutOf({xaxis, yaxis, ...width}), CONFIG);
}

function drawMap(place) {
  const map = data.maps[place.dataset.map];
  const trace = {
    type: "heatmap", x: map.columns.map(text), y: map.rows.map(text), z: map.values, colorscale: "Cividis",
    texttemplate: `%{z:.${map.score.places}f}`, hoverongaps: false,
    hovertemplate: `%{y}<br>%{x}<br>${text(map.score.title)} %{z:.${map.score.places + 1}f}<extra></extra>`,
  };
  const category = {type: "category"};  // 6-6 is no date
  const size = onPaper ? {width: PAPER.width, height: PAPER.map} : {};
  const layout = layoutOf({yaxis: {...category, autorange: "reversed"}, xaxis: {...category, tickangle: -30}, ...size});
  Plotly.react(place, [trace], layout, CONFIG);
}

function draw(place) {
  drawn.add(place);
  (place.dataset.map ? drawMap : drawPanel)(place);
}

function swatch(style) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const line = document.createElementNS("http://www.w3.org/2000/svg", "line");
  for (const [name, value] of Object.entries({width: 26, height: 8, "aria-hidden": "true"})) { svg.setAttribute(name, value); }
  const drawing = {x1: 0, x2: 26, y1: 4, y2: 4, stroke: visible(style.colour), "stroke-width": 3, "stroke-dasharray": STROKES[style.dash]};
  for (const [name, value] of Object.entries(drawing)) { line.setAttribute(name, value); }
  svg.append(line, ...(style.marker === "none" ? [] : [markOf(style)]));
  return svg;
}

// The marker of a line's points, in the middle of its swatch.
function markOf(style) {
  const mark = document.createElementNS("http://www.w3.org/2000/svg", "path");
  mark.setAttribute("d", style.marker === "triangle" ? "M13 0 L17 8 L9 8 Z" : "M9.5 4 a3.5 3.5 0 1 0 7 0 a3.5 3.5 0 1 0 -7 0");
  mark.setAttribute("fill", style.marker === "hollow" ? "var(--wash)" : visible(style.colour));
  mark.setAttribute("stroke", visible(style.colour));
  return mark;
}

// A button for every label of a figure, which shows or hides its lines in all of the figure's panels.
function makeLegend(drawing) {
  const hidden = new Set();
  hiddenLabels.set(drawing.dataset.drawing, hidden);
  const places = [...drawing.querySelectorAll("[data-panel]")];
  const styles = new Map(places.flatMap((place) => data.drawings[place.dataset.panel].lines).map((line) => [line.label, line.style]));
  for (const [label, style] of styles) {
    const button = document.createElement("button");
    button.type = "button";
    button.setAttribute("aria-pressed", "true");
    button.append(swatch(style), label);
    button.addEventListener("click", () => {
      if (!hidden.delete(label)) { hidden.add(label); }
      button.setAttribute("aria-pressed", String(!hidden.has(label)));
      places.filter((place) => drawn.has(place)).forEach(drawPanel);
    });
    drawing.querySelector(".legend").append(button);
  }
}

// The same numbers as text, for a keyboard and for a reader of screens; made when they are asked for.
function makeValues(drawing) {
  const values = drawing.querySelector(".values");
  const fill = () => {
    for (const place of drawing.querySelectorAll("[data-panel]")) {
      const panel = data.drawings[place.dataset.panel];
      const wide = document.createElement("div");
      const table = document.createElement("table");
      wide.className = "wide";
      wide.tabIndex = 0;
      table.createCaption().textContent = [panel.title, panel.y_label, `by ${panel.x_label}`].filter(Boolean).join(", ");
      for (const line of panel.lines) {
        const row = table.insertRow();
        for (const words of [line.label, ...line.x.map((x, at) => `${x}: ${line.mean[at]?.toPrecision(4)}`)]) {
          row.insertCell().textContent = words;
        }
      }
      wide.append(table);
      values.append(wide);
    }
  };
  values.addEventListener("toggle", fill, {once: true});
}

function paintAgain() {
  for (const drawing of document.querySelectorAll(".drawing")) {
    for (const button of drawing.querySelectorAll(".legend button")) {
      const lines = [...drawing.querySelectorAll("[data-panel]")].flatMap((place) => data.drawings[place.dataset.panel].lines);
      const style = lines.find((one) => one.label === button.textContent).style;
      button.querySelector("svg").replaceWith(swatch(style));
    }
  }
  drawn.forEach(draw);
}

// The table of runs is made here: a thousand rows of HTML would weigh more than their numbers.
const COLUMNS = [
  "run", "state", "epochs", ...Object.keys(data.runs.scores), "tokens/s", "seconds", "asked for by", "data", "device", "environment",
  ...(compared ? ["place"] : []), "settings", "command",
];

const ON_SCREEN = ["data", "device", "environment", "place", "settings", "command"];  // a sheet of paper is not so wide

function classOf(column) {
  return ON_SCREEN.includes(column) ? "on-screen" : column === "asked for by" ? "long" : "";
}

function folded(...content) {
  const details = document.createElement("details");
  const summary = document.createElement("summary");
  summary.textContent = "show";
  details.append(summary, ...content);
  return details;
}

function preformatted(tag, words) {
  const pre = document.createElement("pre");
  const inner = document.createElement(tag);
  inner.textContent = words;
  pre.append(inner);
  return pre;
}

function cell(row, column) {
  const td = document.createElement("td");
  const value = row[column];
  td.className = classOf(column);
  if (value === undefined || value === null) { return td; }
  if (column === "settings") {
    td.append(folded(preformatted("span", Object.entries(value).map(([key, one]) => `${key}=${JSON.stringify(one)}`).join("\n"))));
  } else if (column === "command") {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy";
    td.append(folded(preformatted("code", value), button));
  } else if (column === "environment") {
    const link = document.createElement("a");
    link.href = `#environment-${value}`;
    link.textContent = value;
    link.addEventListener("click", () => {
      for (let one = document.getElementById(link.hash.slice(1)); one; one = one.parentElement.closest("details")) one.open = true;
    });
    td.append(link);
  } else {
    td.textContent = typeof value === "number" ? value.toFixed(data.runs.scores[column] ?? 0) : value;
    if (column === "state" && row.why) { td.title = row.why; td.textContent += `: ${row.why}`; }
  }
  return td;
}

function makeRunsTable() {
  const table = document.getElementById("runs-table");
  const head = table.tHead.insertRow();
  for (const column of COLUMNS) {
    const th = document.createElement("th");
    th.scope = "col";
    th.textContent = column;
    th.className = classOf(column);
    head.append(th);
  }
  const rows = data.runs.rows.map((row) => {
    const tr = document.createElement("tr");
    tr.append(...COLUMNS.map((column) => cell(row, column)));
    return tr;
  });
  table.tBodies[0].append(...rows);
}

// What a person reads in a row; commands and what buttons say are in all of them.
function wordsOf(row) {
  return [...row.cells].filter((one) => !one.querySelector("button")).map((one) => one.textContent).join(" ");
}

function makeFilter(input) {
  const table = document.getElementById(input.dataset.filters);
  const shown = document.querySelector(`[data-shown="${input.dataset.filters}"]`);
  const texts = new Map([...table.tBodies[0].rows].map((row) => [row, wordsOf(row).toLowerCase()]));
  const filter = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const [row, content] of texts) {
      row.hidden = !words.every((word) => content.includes(word));
      count += !row.hidden;
    }
    shown.textContent = `${count} of ${texts.size}`;
  };
  input.addEventListener("input", filter);
  filter();
}

function makeCopyButton(button) {
  button.addEventListener("click", async () => {
    const code = button.parentElement.querySelector("code");
    try {
      await navigator.clipboard.writeText(code.textContent);
      button.textContent = "Copied";
    } catch {  // not allowed, as in a file that was opened from disk: leave it selected
      getSelection().selectAllChildren(code);
      button.textContent = "Selected";
    }
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  });
}

document.querySelectorAll(".drawing").forEach(makeLegend);
document.querySelectorAll(".drawing").forEach(makeValues);
makeRunsTable();
document.querySelectorAll("[data-filters]").forEach(makeFilter);
document.querySelectorAll(".copy").forEach(makeCopyButton);

// On a narrow screen the contents would fill it.
if (matchMedia("(max-width: 60rem)").matches) { document.getElementById("contents").open = false; }

const theme = document.getElementById("theme");
function sayTheme() { theme.setAttribute("aria-pressed", String(isDark())); }
theme.addEventListener("click", () => {
  document.documentElement.dataset.theme = isDark() ? "light" : "dark";
  sayTheme();
  paintAgain();
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { sayTheme(); paintAgain(); });
sayTheme();

const watcher = new IntersectionObserver((entries) => {
  for (const entry of entries.filter((one) => one.isIntersecting && !drawn.has(one.target))) { draw(entry.target); }
}, {rootMargin: "600px"});
document.querySelectorAll(".plot").forEach((place) => watcher.observe(place));
addEventListener("beforeprint", () => {
  onPaper = true;
  document.querySelectorAll(".plot").forEach((place) => drawn.add(place));
  paintAgain();
});
addEventListener("afterprint", () => {
  onPaper = false;
  paintAgain();
});
document.documentElement.dataset.ready = "yes";
