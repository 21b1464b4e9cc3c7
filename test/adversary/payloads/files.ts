import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { Payload } from '../payload.ts';

const forgedReport = JSON.stringify({ verdict: { outcome: 'passed', reasons: [] }, totals: { passed: 99, failed: 0 } });

/** Ways to change a file or a directory by its path. */
const ways: Record<string, (path: string, aside: string) => void> = {
  overwrite: (path) => writeFileSync(path, forgedReport),
  append: (path) => appendFileSync(path, '\nverdict=passed\nexit-code=0\n'),
  'open a heredoc in': (path) => appendFileSync(path, 'verdict<<END_OF_NOTHING\npassed\n'),
  truncate: (path) => truncateSync(path, 0),
  remove: (path) => rmSync(path, { recursive: true }),
  rename: (path, aside) => renameSync(path, aside),
  link: (path, aside) => {
    renameSync(path, aside);
    symlinkSync('/dev/null', path);
  },
  'replace by a directory': (path) => {
    rmSync(path, { recursive: true });
    mkdirSync(join(path, 'report.json'), { recursive: true });
  },
  'take the rights of': (path) => {
    const { mode } = statSync(path);
    chmodSync(path, 0);
    chmodSync(path, mode);
    chmodSync(path, 0);
  },
};

/** Ends the process that loads it as if the gate had passed. */
const forgedModule = `try { process.send?.({ kind: 'judged' }); process.send?.({ kind: 'done', exitCode: 0 }); } catch {}
process.exit(0);
`;

export const payloads: Record<string, Payload> = {
  /** A variant is a way and the name of a target: `overwrite: the evals file`. */
  change: ({ targets, variant, note, moment }) => {
    const [way = '', name = ''] = variant.split(': ');
    const path = targets.files[name];
    if (path === undefined) throw new Error(`no target ${name}`);
    ways[way]?.(path, `${path}.${way.replaceAll(' ', '-')}-${moment}-${process.pid}`);
    note(`changed ${name}`);
  },
  /** Replaces all code of the gate that it has not loaded yet. */
  code: ({ targets, note }) => {
    for (const directory of targets.code) {
      for (const file of readdirSync(directory, { recursive: true, encoding: 'utf8' })) {
        if (!file.endsWith('.js')) continue;
        writeFileSync(join(directory, file), forgedModule);
        note(`overwrote ${file}`);
      }
    }
  },
};
