// Reads the embedded data of the page; types.ts describes every field.

import type { Packed, Payload } from "./types";

export type { Note as Warning, Packed, Payload, StudyTable } from "./types";
export type Numbers = Uint8Array | Uint16Array | Uint32Array | Int32Array | Float32Array | Float64Array;
export type Cell = string | number | boolean | null;

const ARRAYS = {
  u8: Uint8Array,
  u16: Uint16Array,
  u32: Uint32Array,
  i32: Int32Array,
  f32: Float32Array,
  f64: Float64Array,
} as const;

function bytesOf(base64: string): Uint8Array {
  const native = (Uint8Array as unknown as { fromBase64?: (text: string) => Uint8Array }).fromBase64;
  if (native) return native.call(Uint8Array, base64);
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

/** Reads packed arrays; little-endian on both sides, which is every machine with a browser today. */
export function reader(binary?: ArrayBuffer, start = 0): (packed: Packed) => Numbers {
  const read = (packed: Packed): Numbers => {
    if ("codes" in packed) {
      const [codes, table] = [read(packed.codes), read(packed.table)];
      const values = new Float64Array(codes.length);
      for (let i = 0; i < values.length; i++) values[i] = table[codes[i]];
      return values;
    }
    const kind = ARRAYS[packed.dtype];
    if ("base64" in packed) {
      const bytes = bytesOf(packed.base64);
      return new kind(bytes.buffer as ArrayBuffer, bytes.byteOffset, bytes.byteLength / kind.BYTES_PER_ELEMENT);
    }
    if (!binary) throw new Error("the data refers to a binary part that is not there");
    return new kind(binary, start + packed.at, packed.length);
  };
  return read;
}

export interface Source {
  payload: Payload;
  read: (packed: Packed) => Numbers;
  /** Resolved when all parts of the data have arrived; absent if they have. */
  rest?: Promise<void>;
}

type Part = { [key: string]: Part };

/** Add the arrays of a part to the payload, at their places. */
function merge(into: Part, part: Part): void {
  for (const [key, value] of Object.entries(part)) {
    if (into[key] === undefined) into[key] = value;
    else merge(into[key], value);
  }
}

/** Wait until the browser has read a part of the data that follows the script, and add it to the payload. */
export async function arrival(payload: Payload, part: number): Promise<void> {
  const whole = (): HTMLElement | null => {
    const element = document.getElementById(`data-${part}`);
    return element && (element.nextSibling || document.readyState !== "loading") ? element : null;
  };
  if (!whole()) {
    await new Promise<void>((done) => {
      const check = (): void => {
        if (!whole()) return;
        observer.disconnect();
        done();
      };
      const observer = new MutationObserver(check);
      observer.observe(document.body, { childList: true });
      document.addEventListener("DOMContentLoaded", check);
    });
  }
  merge(payload as unknown as Part, JSON.parse(whole()!.textContent ?? "") as Part);
}

/** Splits the explorer's stream: 8 bytes "RSPAGE01", the length of the header, the header, the arrays (8-byte aligned). */
export function fromStream(buffer: ArrayBuffer): Source {
  const magic = new TextDecoder().decode(new Uint8Array(buffer, 0, 8));
  if (magic !== "RSPAGE01") throw new Error("this is not a Rankscope data stream");
  const length = new DataView(buffer).getUint32(8, true);
  const header = new TextDecoder().decode(new Uint8Array(buffer, 16, length));
  const start = 16 + Math.ceil(length / 8) * 8;
  const payload = JSON.parse(header) as Payload;
  return { payload, read: reader(buffer, start) };
}

export function fromText(text: string): Source {
  return { payload: JSON.parse(text) as Payload, read: reader() };
}
