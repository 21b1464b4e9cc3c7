import { readdirSync, realpathSync } from 'node:fs';
import { dirname } from 'node:path';

/** The bundler puts its own loader in the place of this name. It reads a chunk and runs nothing of it. */
declare const __webpack_chunk_load__: ((id: number) => Promise<unknown>) | undefined;

/**
 * Reads every lazy chunk of the bundle, so that nothing is loaded any more that the server under test could have overwritten.
 * From sources there are none.
 */
export async function loadChunks(): Promise<void> {
  if (typeof __webpack_chunk_load__ === 'undefined') return;
  const load = __webpack_chunk_load__;
  const names = readdirSync(dirname(realpathSync(process.argv[1] ?? '')));
  const ids = names.flatMap((name) => /^(\d+)\.index\.js$/.exec(name)?.[1] ?? []);
  await Promise.all(ids.map((id) => load(Number(id))));
}
