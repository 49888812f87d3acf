// The document the page is made from; README.md describes every field.

export type DType = "u8" | "u16" | "u32" | "i32" | "f32" | "f64";
export type Numbers = Uint8Array | Uint16Array | Uint32Array | Int32Array | Float32Array | Float64Array;

/** A typed array: base64 text inside a page, or a place in the binary stream of the explorer. */
export type Packed = { dtype: DType; base64: string } | { dtype: DType; at: number; length: number };

export interface Warning {
  kind: string;
  level: "note" | "warning";
  text: string;
  items?: string[];
}

export type Cell = string | number | boolean | null;
export interface StudyTable {
  columns: string[];
  rows: Cell[][];
}

export interface Payload {
  format: "rankscope.page";
  version: 1;
  rankscope?: string;
  title: string;
  settings: Record<string, unknown>;
  runs: string[];
  topics: string[];
  grades: number[];
  topic: { counts: Packed; nonrelevant: Packed };
  list: { retrieved: Packed; judged10: Packed; hits: Packed; rank: Packed; grade: Packed };
  nonrelevant?: { hits: Packed; rank: Packed };
  documents?: { names: string[][]; hit: Packed };
  measures?: { name: string; meaning?: string; values: Packed }[];
  /** Measures of which higher values are not better. */
  better?: Record<string, "lower" | "neither">;
  /** The topics of bootstrap samples, as many a sample as there are: those of rs.leaderboard. */
  samples?: Packed;
  warnings: Warning[];
  study?: Record<string, StudyTable>;
  /** Served by the explorer, which answers "list/RUN/TOPIC" with all documents of a list. */
  server?: boolean;
}

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
export function reader(binary?: ArrayBuffer): (packed: Packed) => Numbers {
  return (packed) => {
    const kind = ARRAYS[packed.dtype];
    if ("base64" in packed) {
      const bytes = bytesOf(packed.base64);
      return new kind(bytes.buffer as ArrayBuffer, bytes.byteOffset, bytes.byteLength / kind.BYTES_PER_ELEMENT);
    }
    if (!binary) throw new Error("the data refers to a binary part that is not there");
    return new kind(binary, packed.at, packed.length);
  };
}

export interface Source {
  payload: Payload;
  read: (packed: Packed) => Numbers;
}

/** Splits the explorer's stream: 8 bytes "RSPAGE01", the length of the header, the header, the arrays (8-byte aligned). */
export function fromStream(buffer: ArrayBuffer): Source {
  const magic = new TextDecoder().decode(new Uint8Array(buffer, 0, 8));
  if (magic !== "RSPAGE01") throw new Error("this is not a Rankscope data stream");
  const length = new DataView(buffer).getUint32(8, true);
  const header = new TextDecoder().decode(new Uint8Array(buffer, 16, length));
  const start = 16 + Math.ceil(length / 8) * 8;
  const payload = JSON.parse(header) as Payload;
  const read = reader(buffer);
  return {
    payload,
    read: (packed) => read("at" in packed ? { ...packed, at: packed.at + start } : packed),
  };
}

export function fromText(text: string): Source {
  return { payload: JSON.parse(text) as Payload, read: reader() };
}
