"use strict";
// Filmstrips of two stacks on one time axis, and their pictures at the moment of one slider.
(function () {
  const byId = (id) => document.getElementById(id);
  if (!byId("filmstrip")) return;
  const { pictures, strips } = JSON.parse(byId("strips").textContent);
  const slider = byId("strip-time"), now = byId("strip-now"), play = byId("strip-play");
  const stage = byId("strip-stage"), target = byId("filmstrip");
  let shown = [], playing = 0;

  function cell(name, text, attributes) {
    const made = document.createElement(name);
    made.textContent = text;
    for (const [key, value] of Object.entries(attributes || {})) made.setAttribute(key, value);
    return made;
  }

  function seconds(ms) {
    return (ms / 1000).toFixed(ms % 100 ? 2 : 1) + " s";
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

  // What each load showed at the slider's moment; before its first frame nothing.
  function showMoment() {
    const at = Number(slider.value);
    now.textContent = (at / 1000).toFixed(2) + " s";
    slider.setAttribute("aria-valuetext", now.textContent);
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
    const found = strips.find((each) => each.site === site && each.network === network);
    slider.disabled = play.disabled = !found;
    if (!found) {
      shown = [];
      stage.replaceChildren();
      target.replaceChildren(
        cell("p", "No pictures were kept for " + site + " on " + network + "."));
      return;
    }
    shown = stacks.filter((stack) => found.stacks[stack]).map((stack) => stageFigure(stack, found.stacks[stack]));
    stage.replaceChildren(...shown.map((each) => each.figure));
    slider.max = found.times_ms[found.times_ms.length - 1];
    slider.value = Math.ceil(Math.min(...shown.map((each) => each.last)) / 10) * 10;
    showMoment();
    target.replaceChildren(stripTable(found, stacks));
  }

  for (const id of ["strip-site", "strip-network", "strip-first", "strip-second"]) {
    byId(id).addEventListener("change", showStrips);
  }
  slider.addEventListener("input", () => { stop(); showMoment(); });
  play.addEventListener("click", () => (playing ? stop() : start()));
  showStrips();
})();
