import type { Suite } from '../model/suite.ts';
import { isRecord } from '../base/json.ts';
import { buildSuite } from './build.ts';
import { findDuplicateIds } from './duplicate-ids.ts';
import { explainIssues } from './explain-issues.ts';
import { sortFindings } from './findings.ts';
import type { Finding } from './findings.ts';
import { parseSource } from './source-document.ts';
import type { SourceDocument } from './source-document.ts';
import { suiteSchema } from './suite-schema.ts';
import { parseUpstreamSuite } from './upstream.ts';

export interface SuiteReading {
  /** Null exactly when there are findings. */
  suite: Suite | null;
  /** Everything wrong with the text, in its order. */
  findings: Finding[];
}

/**
 * Reads one evals document, YAML or JSON, in this project's format or upstream's (`schemaVersion: "1"`), and reports all that is wrong
 * with it at once. Never throws, whatever the text. `file` is what findings call it.
 */
export function readSuite(text: string, options: { file: string }): SuiteReading {
  const { document, findings } = parseSource(text, options.file);
  return document === null ? { suite: null, findings: sortFindings(findings) } : readDocument(document, findings);
}

/** Reads a parsed document; `earlier` are the findings of its parsing. */
export function readDocument(document: SourceDocument, earlier: readonly Finding[]): SuiteReading {
  const isUpstream = isRecord(document.value) && Object.hasOwn(document.value, 'schemaVersion');
  const { suite, findings } = isUpstream ? parseUpstreamSuite(document) : parseOwnSuite(document);
  const all = sortFindings([...earlier, ...findings, ...findDuplicateIds(document)]);
  return { suite: all.length === 0 ? suite : null, findings: all };
}

function parseOwnSuite(document: SourceDocument): { suite: Suite | null; findings: Finding[] } {
  const parsed = suiteSchema.safeParse(document.value);
  return parsed.success
    ? buildSuite(parsed.data, document)
    : { suite: null, findings: explainIssues(suiteSchema, document, parsed.error.issues) };
}
