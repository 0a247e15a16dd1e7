// Points from two columns of a CSV file.

import { ask } from "./api.js";

const at = (id) => document.getElementById(id);

export function makeTableDialog(load) {
  let text = "";
  const fill = (id, values, chosen) => {
    at(id).replaceChildren(...values.map((value) => new Option(value, value)));
    at(id).value = chosen ?? values[0];
  };
  let columns = null;
  const showValues = () => fill("csv-red", columns.values[at("csv-label").value]);

  at("csv-file").addEventListener("change", async ({ target }) => {
    at("csv-problem").textContent = "";
    at("csv-load").disabled = true;
    if (!target.files.length) return;
    try {
      text = await target.files[0].text();
      columns = await ask("table", { text });
      const fewest = [...columns.names].sort((a, b) => columns.values[a].length - columns.values[b].length)[0];
      const numbers = columns.numbers.filter((name) => name !== fewest);
      if (numbers.length < 2) throw new Error("the file needs two columns of numbers beside the label");
      fill("csv-x", columns.numbers, numbers[0]);
      fill("csv-y", columns.numbers, numbers[1]);
      fill("csv-label", columns.names, fewest);
      showValues();
      at("csv-columns").hidden = false;
      at("csv-load").disabled = false;
    } catch (error) {
      at("csv-problem").textContent = error.message;
    }
  });
  at("csv-label").addEventListener("change", showValues);
  at("csv-load").addEventListener("click", async (event) => {
    event.preventDefault();
    try {
      const question = { text, rescale: at("csv-rescale").checked };
      for (const part of ["x", "y", "label", "red"]) question[part] = at(`csv-${part}`).value;
      const { points, left_out: leftOut } = await ask("points", question);
      at("csv").close();
      load(points, leftOut);
    } catch (error) {
      at("csv-problem").textContent = error.message;
    }
  });
  return () => at("csv").showModal();
}
