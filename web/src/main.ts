// Finds the data (in the page, or at the explorer's server), then mounts the page.

import { mount } from "svelte";
import App from "./App.svelte";
import "./app.css";
import { agreement } from "./data/agreement";
import { Collection } from "./data/collection";
import { arrival, fromStream, fromText, type Source } from "./data/payload";
import { measureAll } from "./measures/console";
import { State, type View } from "./state.svelte";

/** Parts of a large report that views need in addition to the first, as reporting/html_page.py divides them. */
const NEEDED: Partial<Record<View, number>> = { runs: 0, plane: 1 };

/** Parts of the data that the view of an address needs: all, if the address has more than a view, runs and a topic. */
function needed(fragment: string, lead: string, parts: number): number {
  const q = new URLSearchParams(fragment);
  const view = (q.get("view") ?? "runs") as View;
  const plain = Array.from(q).every(([key, value]) => ["view", "run", "topic"].includes(key) || (key === "measure" && value === lead));
  return plain ? Math.min(parts, NEEDED[view] ?? parts) : parts;
}

async function source(): Promise<Source> {
  const inline = document.getElementById("data");
  if (inline) {
    const { payload, read } = fromText(inline.textContent ?? "");
    const parts = Number(inline.dataset.parts ?? 0);
    const first = needed(location.hash.slice(1), payload.lead, parts);
    for (let k = 1; k <= first; k++) await arrival(payload, k);
    const rest = async (): Promise<void> => {
      for (let k = first + 1; k <= parts; k++) await arrival(payload, k);
    };
    return { payload, read, rest: first < parts ? rest() : undefined };
  }
  const response = await fetch("data", { cache: "no-store" });
  if (!response.ok) throw new Error(`the server answered ${response.status}; is rankscope explore still running?`);
  return fromStream(await response.arrayBuffer());
}

async function start(): Promise<void> {
  const target = document.getElementById("page")!;
  try {
    const found = await source();
    const state = new State(new Collection(found));
    state.complete = found.rest === undefined;
    state.fromFragment(location.hash);
    target.replaceChildren();
    mount(App, { target, props: { state } });
    if (found.rest) {
      // The first view stands while the browser still reads the rest of a large file; controls would need that.
      target.inert = true;
      void found.rest.then(() => {
        target.inert = false;
        state.complete = true;
      });
    }
    // For the benchmark: the mounted page is on the screen two frames later.
    requestAnimationFrame(() =>
      requestAnimationFrame(() => {
        performance.mark("rankscope:ready");
        void Promise.resolve(found.rest).then(() =>
          setTimeout(() => void agreement(state.data).then((result) => (state.agreement = result)), 250),
        );
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
