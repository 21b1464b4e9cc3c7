import { isRecord } from '../base/json.ts';
import type { Finding } from '../suite/findings.ts';
import type { DocumentPath, SourceDocument } from '../suite/source-document.ts';

/** What files of one format become, before it is written. */
export interface Converted {
  written: Readonly<Record<string, unknown>> | null;
  findings: Finding[];
  notes: string[];
}

/** Finds the keys of an object without a counterpart; nothing where there is no object at the path. */
export function findOtherKeys(document: SourceDocument, path: DocumentPath, known: readonly string[]): Finding[] {
  const value = path.reduce<unknown>((parent, key) => readMember(parent, key), document.value);
  return Object.keys(isRecord(value) ? value : {})
    .filter((key) => !known.includes(key))
    .map((key) => ({
      ...document.locateKey([...path, key]),
      code: 'cannot-convert',
      message: `\`${key}\` cannot be converted exactly; write this part by hand`,
    }));
}

function readMember(parent: unknown, key: PropertyKey): unknown {
  if (Array.isArray(parent)) return typeof key === 'number' ? parent[key] : undefined;
  return isRecord(parent) && typeof key === 'string' ? parent[key] : undefined;
}
