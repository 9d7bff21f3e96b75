"use strict";
const form = document.getElementById("filter");
const all = (selector) => [...document.querySelectorAll(selector)];

function reveal() {
  const target = location.hash && document.getElementById(location.hash.slice(1));
  if (!target) return;
  const box = target.closest("details");
  if (box) box.open = true;
  target.scrollIntoView();
  if (target.matches(".finding")) target.focus({ preventScroll: true });
}

function apply() {
  const codes = new Set(all("#filter [name=code]:checked").map((box) => box.value));
  const words = form.elements.text.value.toLowerCase().split(/\s+/).filter(Boolean);
  const says = (node) => words.every((word) => node.textContent.toLowerCase().includes(word));
  let shown = 0;
  const findings = all(".finding");
  for (const finding of findings) {
    const keep = codes.has(finding.dataset.code) && says(finding);
    finding.classList.toggle("gone", !keep);
    shown += keep;
  }
  for (const box of all("details.storage")) {
    const own = box.dataset.codes ? box.dataset.codes.split(" ") : [];
    box.classList.toggle("gone", !((!own.length || own.some((code) => codes.has(code))) && says(box)));
  }
  form.querySelector("output").value = `${shown} of ${findings.length} findings shown`;
}

if (form) {
  form.hidden = false;
  form.addEventListener("input", apply);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("click", (event) => {
    const name = event.target.name;
    if (name === "all" || name === "none") {
      for (const box of all("#filter [name=code]")) box.checked = name === "all";
      apply();
    } else if (name === "open") {
      for (const box of all("details.storage")) box.open = true;
    }
  });
  document.addEventListener("keydown", (event) => {
    const field = form.elements.text;
    if (event.key === "/" && document.activeElement !== field) {
      event.preventDefault();
      field.focus();
    } else if (event.key === "Escape" && document.activeElement === field) {
      field.value = "";
      apply();
    }
  });
  apply();
}
addEventListener("hashchange", reveal);
reveal();
