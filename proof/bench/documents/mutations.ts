import { unzipSync, zipSync } from 'fflate';

/** Random numbers below 1 that are the same for a seed. */
export function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

type Random = () => number;

/** A copy of a file with something changed: its bytes, or for two of three archives those of a member. */
export function mutated(bytes: Uint8Array, others: readonly Uint8Array[], random: Random): Uint8Array {
  const isArchive = bytes[0] === 0x50 && bytes[1] === 0x4b;
  if (!isArchive || random() < 1 / 3) return changed(bytes, others, random);
  try {
    const members = unzipSync(bytes);
    const names = Object.keys(members).filter((name) => /\.(?:xml|rels|xhtml|opf)$/.test(name));
    const name = names[Math.floor(random() * names.length)];
    if (name === undefined) return changed(bytes, others, random);
    return zipSync(
      { ...members, [name]: changed(members[name] ?? new Uint8Array(), others, random) },
      { level: 1 },
    );
  } catch {
    return changed(bytes, others, random);
  }
}

function changed(bytes: Uint8Array, others: readonly Uint8Array[], random: Random): Uint8Array {
  let result = Uint8Array.from(bytes);
  const times = 1 + Math.floor(random() * 4);
  for (let time = 0; time < times; time++) result = changedOnce(result, others, random);
  return result;
}

const insertedMax = 2_000;

function changedOnce(
  bytes: Uint8Array<ArrayBuffer>,
  others: readonly Uint8Array[],
  random: Random,
): Uint8Array<ArrayBuffer> {
  const at = Math.floor(random() * (bytes.length + 1));
  const length = Math.floor(random() ** 3 * Math.min(bytes.length, insertedMax));
  const joined = (...parts: Uint8Array[]) => Uint8Array.from(Buffer.concat(parts));
  switch (Math.floor(random() * 6)) {
    case 0:
      return joined(bytes.subarray(0, at));
    case 1:
      return joined(bytes.subarray(0, at), bytes.subarray(at + length));
    case 2:
      return joined(
        bytes.subarray(0, at),
        ...Array.from({ length: 1 + Math.floor(random() * 50) }, () => bytes.subarray(at, at + length)),
        bytes.subarray(at),
      );
    case 3: {
      const other = others[Math.floor(random() * others.length)] ?? bytes;
      const from = Math.floor(random() * other.length);
      return joined(bytes.subarray(0, at), other.subarray(from, from + length), bytes.subarray(at));
    }
    case 4: {
      // Numbers decide sizes, so they become large, negative, or none.
      const text = Buffer.from(bytes).toString('latin1');
      const numbers = [...text.matchAll(/\d+/g)];
      const number = numbers[Math.floor(random() * numbers.length)];
      if (!number) return bytes;
      const value =
        ['0', '-1', '4294967295', '99999999999999999999', '1e9', 'x'][Math.floor(random() * 6)] ?? '';
      return Uint8Array.from(
        Buffer.from(
          text.slice(0, number.index) + value + text.slice(number.index + number[0].length),
          'latin1',
        ),
      );
    }
    default: {
      const flips = 1 + Math.floor(random() * 10);
      for (let flip = 0; flip < flips; flip++)
        bytes[Math.floor(random() * bytes.length)] = Math.floor(random() * 256);
      return bytes;
    }
  }
}
