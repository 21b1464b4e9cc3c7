import { basename, dirname } from 'node:path';
import { isRecord } from '../base/json.ts';
import { formatMinimumPassRate } from '../model/rate.ts';
import { type Finding, sortFindings } from '../suite/findings.ts';
import { readSuite } from '../suite/read.ts';
import { parseSource, type SourceDocument } from '../suite/source-document.ts';
import { parseUpstreamSuite } from '../suite/upstream.ts';
import type { WrittenCase } from '../suite/suite-schema.ts';
import { writeAssertion, writeStep, writeYaml } from '../suite/write-suite.ts';
import type { Converted } from './converted.ts';
import { convertDataset } from './gleanwork.ts';
import { convertAssertion } from './mcp-assert.ts';
import { convertPromptfoo } from './promptfoo.ts';

/**
 * The formats that are read: the service's suite files, versions 1 and 2, the files of mcp-assert, datasets of @gleanwork/mcp-server-tester, and
 * configurations of promptfoo with its provider `mcp`.
 */
export const sourceFormats = ['service', 'mcp-assert', 'gleanwork', 'promptfoo'] as const;
export type SourceFormat = (typeof sourceFormats)[number];

/** A file as its user named it. */
export interface SourceText {
  file: string;
  text: string;
}

export interface Conversion {
  /** The evals file; null exactly when there are findings. */
  text: string | null;
  /** What an evals file cannot say, each at its line. */
  findings: Finding[];
  /** What the gate takes from elsewhere, or judges in a wider sense. */
  notes: string[];
}

/** Writes files of another format as one evals file with the same meaning, or says at which lines that cannot be done. Never throws. */
export function convertFiles(format: SourceFormat, files: readonly [SourceText, ...SourceText[]]): Conversion {
  const parsed = files.map(({ file, text }) => ({ file, ...parseSource(text, file) }));
  const broken = parsed.flatMap(({ findings }) => findings);
  if (broken.length > 0) return { text: null, findings: sortFindings(broken), notes: [] };
  const documents = parsed.flatMap(({ file, document }) => (document === null ? [] : { file, document }));
  const { written, findings, notes } =
    format === 'mcp-assert' ? convertAssertions(documents) : convertOne(documents, singleFormats[format]);
  if (written === null || findings.length > 0) return { text: null, findings: sortFindings(findings), notes: [] };
  const text = writeYaml(written);
  // It is read again, so that nothing is written that the gate would refuse.
  const [first] = files;
  const refused = readSuite(text, { file: first.file }).findings.map(({ code, message }) => {
    return {
      file: first.file,
      line: 1,
      column: 1,
      code,
      message: `Of the evals file that it would become: ${message}`,
    };
  });
  return { text: refused.length === 0 ? text : null, findings: refused, notes: [...new Set(notes)] };
}

interface Located {
  file: string;
  document: SourceDocument;
}

/** Formats of which one file is a suite. */
const singleFormats = { service: convertServiceFile, gleanwork: convertDataset, promptfoo: convertPromptfoo };

function convertOne(
  [only, ...others]: readonly Located[],
  convert: (document: SourceDocument) => Converted,
): Converted {
  if (only === undefined) return { written: null, findings: [], notes: [] };
  const findings = others.map(({ document }) => ({
    ...document.locateValue([]),
    code: 'several-files',
    message: 'A file of this format becomes an evals file of its own; convert one at a time',
  }));
  const converted = convert(only.document);
  return { ...converted, findings: [...converted.findings, ...findings] };
}

function convertServiceFile(document: SourceDocument): Converted {
  const { written, findings } = parseUpstreamSuite(document);
  if (written === null) return { written, findings, notes: [] };
  const { policy, ...suite } = written;
  const { minimumPassRate, cases, required } = policy ?? {};
  const rates = Object.entries(cases ?? {}).map(([id, rate]) => [id, formatMinimumPassRate(rate)]);
  const said = {
    ...(minimumPassRate !== undefined && { minimumPassRate: formatMinimumPassRate(minimumPassRate) }),
    ...(rates.length > 0 && { cases: Object.fromEntries(rates) }),
    ...(required !== undefined && { required }),
  };
  const { cases: listed, ...settings } = suite;
  const own = listed.map(writeCase);
  return {
    written: { ...settings, ...(policy !== undefined && { policy: said }), cases: own },
    findings,
    notes: ['The servers of `target` are not part of an evals file; give the server to the gate.'],
  };
}

/** A text of the service's is a text, also where a file would take it for a name. */
function writeCase({ steps, checks, ...rest }: WrittenCase): Readonly<Record<string, unknown>> {
  const list = (Array.isArray(checks) ? checks : checks?.list) ?? [];
  const written = list.map((check) => (isRecord(check) ? writeAssertion(check) : check));
  return {
    ...rest,
    ...(checks !== undefined && { checks: { mode: 'replace', list: written } }),
    steps: steps.map((step, index) => ('kind' in step ? writeStep(step, index) : step)),
  };
}

function convertAssertions(documents: readonly Located[]): Converted {
  const converted = documents.map(({ file, document }) => convertAssertion(document, basename(file)));
  const [first] = documents;
  const folder = basename(dirname(first?.file ?? ''));
  return {
    written: {
      suite: folder === '' || folder === '.' ? 'mcp-assert' : folder,
      cases: converted.flatMap(({ written }) => written ?? []),
    },
    findings: converted.flatMap(({ findings }) => findings),
    notes: converted.flatMap(({ notes }) => notes),
  };
}
