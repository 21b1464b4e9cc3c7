import type { z } from 'zod';
import type { Suite } from '../cases/suite.ts';
import { buildSuite } from './build.ts';
import { explainIssues } from './explain-issues.ts';
import { type Finding, sortFindings } from './findings.ts';
import { nameOwnChecks } from './own-checks.ts';
import { type DocumentPath, parseSource, type SourceDocument } from './source-document.ts';
import { expandRows } from './rows.ts';
import { suiteSchema } from './suite-schema.ts';
import { parseUpstreamSuite } from './upstream.ts';
import { isRecord } from '../base/json.ts';
import { readPart } from './zod-unions.ts';

export interface SuiteReading {
  /** Null exactly when there are findings. */
  suite: Suite | null;
  /** All mistakes in the text, in its order. */
  findings: Finding[];
}

/**
 * Reads one evals document, YAML or JSON, in this project's format or upstream's (with `schemaVersion`), and reports all of its mistakes at
 * once. Never throws, whatever the text. Findings call the file `file`.
 */
export function readSuite(text: string, options: ReadOptions): SuiteReading {
  const { document, findings } = parseSource(text, options.file);
  if (document === null) return { suite: null, findings: sortFindings(findings) };
  return readDocument(document, findings, options);
}

interface ReadOptions {
  file: string;
  /** True if assertions that the gate does not have may be checks of one's own. The plan then refuses unknown ones. */
  hasOwnChecks?: boolean | undefined;
}

/** Reads a parsed document; `earlier` are the findings of its parsing. */
function readDocument(
  document: SourceDocument,
  earlier: readonly Finding[],
  { hasOwnChecks = false }: Pick<ReadOptions, 'hasOwnChecks'>,
): SuiteReading {
  const isUpstream = isRecord(document.value) && Object.hasOwn(document.value, 'schemaVersion');
  const { suite, findings } = isUpstream ? parseUpstreamSuite(document) : parseOwnSuite(document, hasOwnChecks);
  const all = sortFindings([...earlier, ...findings, ...findDuplicateIds(document)]);
  return { suite: all.length === 0 ? suite : null, findings: all };
}

function parseOwnSuite(file: SourceDocument, hasOwnChecks: boolean): { suite: Suite | null; findings: Finding[] } {
  const checkModules = listCheckModules(file);
  const named = hasOwnChecks || checkModules.length > 0 ? nameOwnChecks(file) : null;
  const { document, origins, findings } = expandRows(named?.document ?? file);
  if (findings.some(({ code }) => code === 'too-many-cases')) return { suite: null, findings };
  const { data, issues } = parseCases(document.value);
  const built =
    data === undefined
      ? { suite: null, findings: explainIssues(suiteSchema, document, issues) }
      : buildSuite(data, document, origins);
  // Removes repeated findings, because each row of a case repeats the mistakes of the case.
  const distinct = new Map([...findings, ...built.findings].map((finding) => [JSON.stringify(finding), finding]));
  const own = {
    ...(named !== null && { ownChecks: named.ownChecks }),
    ...(checkModules.length > 0 && { checkModules }),
  };
  return { suite: built.suite && { ...built.suite, ...own }, findings: [...distinct.values()] };
}

function listCheckModules(file: SourceDocument): NonNullable<Suite['checkModules']> {
  const written = readPart(file.value, 'checkModules');
  const paths: unknown[] = Array.isArray(written) ? written : [written];
  return paths.flatMap((path, index) => {
    const at = ['checkModules', ...(Array.isArray(written) ? [index] : [])];
    return typeof path === 'string' ? [{ path, location: file.locateValue(at) }] : [];
  });
}

/** Zod passes all issues of a list to one call, and the engine takes about a hundred thousand arguments. */
const casesAtOnce = 10_000;

function parseCases(value: unknown): { data?: z.infer<typeof suiteSchema> | undefined; issues: z.core.$ZodIssue[] } {
  const cases = readPart(value, 'cases');
  if (!isRecord(value) || !Array.isArray(cases) || cases.length <= casesAtOnce) {
    const { data, error } = suiteSchema.safeParse(value);
    return { data, issues: error?.issues ?? [] };
  }
  // A suite with this many cases is refused anyway, so only its issues matter.
  const starts = Array.from({ length: Math.ceil(cases.length / casesAtOnce) }, (_, index) => index * casesAtOnce);
  const issues = starts.flatMap((start) => {
    const part = suiteSchema.safeParse({ ...value, cases: cases.slice(start, start + casesAtOnce) });
    return (part.error?.issues ?? []).flatMap((issue) => {
      const [key, index, ...inner] = issue.path;
      if (key === 'cases' && typeof index === 'number') return { ...issue, path: [key, start + index, ...inner] };
      return start === 0 ? issue : [];
    });
  });
  return { issues };
}

/**
 * Reads tests given as text instead of a file: a list of cases, which becomes a suite called `name`, or a whole evals document. Positions
 * are within the text. Findings call it `file`. Never throws.
 */
export function readInlineTests(text: string, options: ReadOptions & { name: string }): SuiteReading {
  const { document, findings } = parseSource(text, options.file);
  if (document === null) return { suite: null, findings: sortFindings(findings) };
  return readDocument(Array.isArray(document.value) ? wrapCases(document, options.name) : document, findings, options);
}

function wrapCases(list: SourceDocument, name: string): SourceDocument {
  const toListPath = (path: DocumentPath) => (path[0] === 'cases' ? path.slice(1) : []);
  return {
    value: { suite: name, cases: list.value },
    locateKey: (path) => list.locateKey(toListPath(path)),
    locateValue: (path) => list.locateValue(toListPath(path)),
    readText: (path) => list.readText(toListPath(path)),
  };
}

/** Finds ids that several cases of the suite or steps of a case share. Works on documents with other mistakes too. */
function findDuplicateIds(document: SourceDocument): Finding[] {
  const cases = listItems(document.value, 'cases');
  return [
    ...findRepeatedIds(document, cases, { path: ['cases'], code: 'duplicate-case-id', what: 'case' }),
    ...cases.flatMap((item, index) =>
      findRepeatedIds(document, listItems(item, 'steps'), {
        path: ['cases', index, 'steps'],
        code: 'duplicate-step-id',
        what: 'step of this case',
      }),
    ),
  ];
}

function findRepeatedIds(
  document: SourceDocument,
  items: readonly unknown[],
  list: { path: DocumentPath; code: string; what: string },
): Finding[] {
  const firstIndexes = new Map<string, number>();
  return items.flatMap((item, index) => {
    const id = readPart(item, 'id');
    if (typeof id !== 'string') return [];
    const firstIndex = firstIndexes.get(id);
    if (firstIndex === undefined) {
      firstIndexes.set(id, index);
      return [];
    }
    const first = document.locateValue([...list.path, firstIndex, 'id']);
    const message = `The id \`${id}\` is taken by the ${list.what} at line ${first.line}; choose another`;
    return [{ ...document.locateValue([...list.path, index, 'id']), code: list.code, message }];
  });
}

function listItems(value: unknown, key: string): readonly unknown[] {
  const items = isRecord(value) ? readPart(value, key) : undefined;
  return Array.isArray(items) ? items : [];
}
