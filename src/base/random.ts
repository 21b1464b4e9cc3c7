/**
 * Makes a generator of numbers from 0 to below 1 for draws that must repeat. The seed, a 32-bit integer, decides all of them: mulberry32
 * of T. Ettinger. No secret may depend on it.
 */
export function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  };
}
