"use strict";
// Filmstrips of two stacks on one time axis, their pictures at the moment of one slider, and the
// share of the picture over time.
(function () {
  const byId = (id) => document.getElementById(id);
  if (!byId("filmstrip")) return;
  const { pictures, strips } = JSON.parse(byId("strips").textContent);
  const slider = byId("strip-time"), now = byId("strip-now"), play = byId("strip-play");
  const stage = byId("strip-stage"), target = byId("filmstrip");
  const curves = byId("strip-progress"), names = JSON.parse(byId("stacks").textContent);
  let shown = [], playing = 0, moment = null;

  function cell(name, text, attributes) {
    const made = document.createElement(name);
    made.textContent = text;
    for (const [key, value] of Object.entries(attributes || {})) made.setAttribute(key, value);
    return made;
  }

  function seconds(ms) {
    return (ms / 1000).toFixed(ms % 100 ? 2 : 1) + "\u00a0s";
  }

  function stripRow(stack, strip, times, metric) {
    const row = document.createElement("tr");
    const head = cell("th", stack, { scope: "row" });
    row.append(head);
    if (!strip) {
      row.append(cell("td", "no counted load with pictures", { colspan: String(times.length) }));
      return row;
    }
    const detail = metric + " " + Math.round(strip.value_ms) + " ms, block " + strip.repetition;
    head.append(cell("small", detail));
    strip.pictures.forEach((picture, index) => {
      const image = document.createElement("img");
      image.src = pictures[picture];
      image.alt = stack + " after " + seconds(times[index]);
      const td = document.createElement("td");
      if (index && picture === strip.pictures[index - 1]) td.className = "same";
      td.append(image);
      row.append(td);
    });
    return row;
  }

  function stripTable(found, stacks) {
    const table = document.createElement("table");
    const site = byId("strip-site").value, network = byId("strip-network").value;
    const caption = cell("caption", site + " on " + network +
      ", seconds after navigation start; pictures that did not change are dimmed");
    const head = document.createElement("thead"), times = document.createElement("tr");
    times.append(cell("td", ""));
    for (const time of found.times_ms) times.append(cell("th", seconds(time), { scope: "col" }));
    head.append(times);
    const body = document.createElement("tbody");
    for (const stack of stacks) {
      body.append(stripRow(stack, found.stacks[stack], found.times_ms, target.dataset.metric));
    }
    table.append(caption, head, body);
    return table;
  }

  function stageFigure(stack, strip) {
    const figure = document.createElement("figure"), image = document.createElement("img");
    const caption = cell("figcaption", stack), state = cell("small", "");
    caption.append(" ", state);
    figure.append(caption, image);
    const last = strip.changes[strip.changes.length - 1][0];
    return { stack, strip, figure, image, state, last };
  }

  function drawn(name, attributes) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    return made;
  }

  // A step at each time; what is complete stays so until the axis ends.
  function curve({ stack, strip }, end) {
    const x = (ms) => (1000 * ms / end).toFixed(1), y = (share) => (100 - 100 * share).toFixed(1);
    const steps = strip.progress.map(([ms, share]) => "H" + x(ms) + "V" + y(share));
    const path = drawn("path", { d: "M0 100" + steps.join("") + "H1000" });
    path.style.stroke = "var(--stack-" + names.indexOf(stack) % 8 + ")";
    return path;
  }

  function inWords({ stack, strip, last }) {
    const half = strip.progress.find(([, share]) => share >= 0.5);
    return stack + ": half after " + seconds(half[0]) + ", all after " + seconds(last);
  }

  function showCurves() {
    const known = shown.filter((each) => each.strip.progress.length);
    moment = null;
    if (!known.length) return curves.replaceChildren();
    const end = Number(slider.max);
    const caption = cell("figcaption", "Visual progress over time, 0 to 100 %");
    for (const { stack } of known) {
      const key = cell("span", stack, { class: "key" });
      key.prepend(cell("span", "", { class: "swatch stack-" + names.indexOf(stack) % 8 }));
      caption.append(" ", key);
    }
    const picture = drawn("svg", { viewBox: "0 0 1000 100", preserveAspectRatio: "none",
      role: "img", "aria-label": known.map(inWords).join("; ") });
    moment = drawn("line", { y1: 0, y2: 100 });
    const middle = drawn("line", { x1: 0, x2: 1000, y1: 50, y2: 50 });
    picture.append(middle, moment, ...known.map((each) => curve(each, end)));
    const scale = cell("div", "", { class: "scale" });
    for (const at of [0, end / 2, end]) scale.append(cell("span", seconds(at)));
    curves.replaceChildren(caption, picture, scale);
  }

  // What each load showed at the slider's moment; before its first frame nothing.
  function showMoment() {
    const at = Number(slider.value);
    now.textContent = (at / 1000).toFixed(2) + " s";
    slider.setAttribute("aria-valuetext", now.textContent);
    for (const side of moment ? ["x1", "x2"] : []) {
      moment.setAttribute(side, 1000 * at / Number(slider.max));
    }
    for (const { stack, strip, image, state, last } of shown) {
      const before = strip.changes.filter(([moment]) => moment <= at);
      const [, picture] = before.length ? before[before.length - 1] : strip.changes[0];
      if (image.src !== pictures[picture]) image.src = pictures[picture];
      image.alt = stack + " after " + now.textContent;
      state.textContent = at >= last ? "last change at " + (last / 1000).toFixed(2) + " s" : "";
    }
  }

  function stop() {
    cancelAnimationFrame(playing);
    playing = 0;
    play.textContent = "Play";
  }

  const SHORT = 0.1; // of the load: what is over sooner is easily taken for more than it is

  // The largest difference between the shares of the picture, and for how long it is at least half
  // as large without a break.
  function largestDifference() {
    const share = (strip, ms) => strip.progress.findLast(([at]) => at <= ms)?.[1] ?? 0;
    const moments = [...new Set(shown.flatMap(({ strip }) => strip.progress.map(([ms]) => ms)))];
    moments.sort((one, other) => one - other);
    const apart = moments.map((ms) => {
      const [one, other] = shown.map(({ strip }) => share(strip, ms));
      return Math.abs(one - other);
    });
    const most = Math.max(0, ...apart), at = apart.indexOf(most);
    let from = at, to = at;
    while (from > 0 && apart[from - 1] >= most / 2) from -= 1;
    while (to < apart.length && apart[to] >= most / 2) to += 1;
    const end = Math.max(...shown.map((each) => each.last));
    return { most, at: moments[at], lasts: (moments[to] ?? end) - moments[from], end };
  }

  function differenceInWords() {
    if (shown.length < 2 || shown.some(({ strip }) => !strip.progress.length)) return "";
    const { most, at, lasts, end } = largestDifference();
    if (!most) return "Both show the same share of the picture at every moment.";
    const short = lasts < SHORT * end ? ", less than a tenth of the load" : "";
    return "They differ most at " + seconds(at) + ", by " + Math.round(100 * most) +
      " % of the picture; at least half of that lasts " + seconds(lasts) + short + ".";
  }

  // At the speed of the loads themselves.
  function start() {
    if (Number(slider.value) >= Number(slider.max)) slider.value = 0;
    const from = performance.now() - Number(slider.value);
    const step = (moment) => {
      slider.value = moment - from;
      showMoment();
      if (Number(slider.value) < Number(slider.max)) playing = requestAnimationFrame(step);
      else stop();
    };
    play.textContent = "Pause";
    playing = requestAnimationFrame(step);
  }

  function showStrips() {
    stop();
    const site = byId("strip-site").value, network = byId("strip-network").value;
    const stacks = [byId("strip-first").value, byId("strip-second").value];
    byId("strip-where").textContent = " of " + site + " on " + network;
    const found = strips.find((each) => each.site === site && each.network === network);
    slider.disabled = play.disabled = !found;
    if (!found) {
      shown = [];
      moment = null;
      stage.replaceChildren();
      curves.replaceChildren();
      byId("strip-apart").textContent = "";
      target.replaceChildren(
        cell("p", "No pictures were kept for " + site + " on " + network + "."));
      return;
    }
    shown = stacks.filter((stack) => found.stacks[stack]).map((stack) => stageFigure(stack, found.stacks[stack]));
    stage.replaceChildren(...shown.map((each) => each.figure));
    slider.max = found.times_ms[found.times_ms.length - 1];
    showCurves();
    slider.value = 0;
    showMoment();
    byId("strip-apart").textContent = differenceInWords();
    target.replaceChildren(stripTable(found, stacks));
  }

  for (const id of ["strip-site", "strip-network", "strip-first", "strip-second"]) {
    byId(id).addEventListener("change", showStrips);
  }
  slider.addEventListener("input", () => { stop(); showMoment(); });
  play.addEventListener("click", () => (playing ? stop() : start()));
  showStrips();
})();
