// Finds the data (in the page, or at the explorer's server), then mounts the page.

import { mount } from "svelte";
import App from "./App.svelte";
import "./app.css";
import { agreement } from "./data/agreement";
import { Collection } from "./data/collection";
import { fromStream, fromText, type Source } from "./data/payload";
import { measureAll } from "./measures/console";
import { State } from "./state.svelte";

async function source(): Promise<Source> {
  const inline = document.getElementById("data");
  if (inline) return fromText(inline.textContent ?? "");
  const response = await fetch("data", { cache: "no-store" });
  if (!response.ok) throw new Error(`the server answered ${response.status}; is rankscope explore still running?`);
  return fromStream(await response.arrayBuffer());
}

async function start(): Promise<void> {
  const target = document.getElementById("page")!;
  try {
    const state = new State(new Collection(await source()));
    state.fromFragment(location.hash);
    target.replaceChildren();
    mount(App, { target, props: { state } });
    // For the benchmark: the mounted page is on the screen two frames later.
    requestAnimationFrame(() =>
      requestAnimationFrame(() => {
        performance.mark("rankscope:ready");
        setTimeout(() => void agreement(state.data).then((found) => (state.agreement = found)), 250);
      }),
    );
    // Numbers of the page for the browser's console, and for the tests that compare them with Python's.
    Object.assign(globalThis, { rankscope: { state, data: state.data, measureAll } });
  } catch (error) {
    const p = document.createElement("p");
    p.className = "failure";
    p.textContent = `The page could not read its data: ${error instanceof Error ? error.message : String(error)}`;
    target.replaceChildren(p);
    console.error(error);
  }
}

void start();
