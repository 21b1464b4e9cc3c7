import type { SuiteReading } from './read.ts';
import { readDocument } from './read.ts';
import { sortFindings } from './findings.ts';
import { parseSource } from './source-document.ts';
import type { DocumentPath, SourceDocument } from './source-document.ts';

/**
 * Reads tests given as text instead of a file: a bare list of cases, which becomes a suite called `name`, or a whole
 * evals document. Positions are within the text; `file` is what findings call it. Never throws.
 */
export function readInlineTests(text: string, options: { file: string; name: string }): SuiteReading {
  const { document, findings } = parseSource(text, options.file);
  if (document === null) return { suite: null, findings: sortFindings(findings) };
  return readDocument(Array.isArray(document.value) ? wrapCases(document, options.name) : document, findings);
}

function wrapCases(list: SourceDocument, name: string): SourceDocument {
  const toListPath = (path: DocumentPath) => (path[0] === 'cases' ? path.slice(1) : []);
  return {
    value: { suite: name, cases: list.value },
    locateKey: (path) => list.locateKey(toListPath(path)),
    locateValue: (path) => list.locateValue(toListPath(path)),
  };
}
