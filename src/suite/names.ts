import { isRecord, listTexts } from '../base/json.ts';
import type { Check } from '../checks/assertion.ts';
import type { ClientOffer } from '../model/client-abilities.ts';
import {
  builtInNames,
  fillParts,
  plainText,
  readPlaceholders,
  variablePrefix,
  workspaceName,
} from '../cases/placeholders.ts';
import type { Step } from '../cases/step.ts';
import type { CasePlaceholders, LocatedStep, SourceLocation, Suite, SuiteCase } from '../cases/suite.ts';
import { type Finding, suggestNearest } from './findings.ts';
import type { CaseRow } from './rows.ts';
import type { DocumentPath, SourceDocument } from './source-document.ts';

/** A part of a case that may use names, and its path in the document. */
interface WrittenPart {
  value: unknown;
  path: DocumentPath;
  /** True for a part of the suite, which cannot use columns of rows. */
  isOfSuite?: boolean;
}

/** The parts of a case, in the order in which they run. */
interface NamedParts {
  /** The answers of the client of the case and of the suite. They may use what any step captures. */
  client: readonly WrittenPart[];
  suiteClient: readonly WrittenPart[];
  steps: readonly WrittenPart[];
  /** The checks of the case, and those of the suite, which cannot use columns of rows. */
  checks: readonly WrittenPart[];
  suiteChecks: readonly WrittenPart[];
  row: CaseRow | null;
}

/**
 * Checks that each name of a case has a value by the time it is used. Returns the placeholders that the engine fills in; null if there are
 * none.
 */
export function checkNames(
  { client, suiteClient, steps, checks, suiteChecks, row }: NamedParts,
  document: SourceDocument,
): { findings: Finding[]; placeholders: CasePlaceholders | null } {
  const findings: Finding[] = [];
  const columns = row?.columns ?? [];
  const captured = new Map<string, SourceLocation>();
  const captures = steps.flatMap((part) => listCaptures(part).map((name) => ({ name, part })));
  const variables: CasePlaceholders['variables'] = [];
  let first: CasePlaceholders['first'] = null;
  let workspace: CasePlaceholders['workspace'] = null;
  let isPlain = !listTexts([...(row?.values.values() ?? [])]).some(({ text }) => text.includes('{{'));

  const addUse = (name: string, location: SourceLocation, known: readonly string[]) => {
    first ??= { text: `{{${name}}}`, location };
    if (name === workspaceName) workspace ??= location;
    if (name.startsWith(variablePrefix)) {
      variables.push({ name: name.slice(variablePrefix.length), location });
      return;
    }
    if (builtInNames.includes(name) || captured.has(name) || known.includes(name)) return;
    const later = captures.find((capture) => capture.name === name);
    const reason =
      later === undefined
        ? `has no value here${suggestNearest(name, [...known, ...captured.keys(), ...builtInNames])}`
        : `is used before the step at line ${document.locateValue(later.part.path).line} captures it`;
    findings.push({ ...location, code: 'unknown-name', message: `\`{{${name}}}\` ${reason}` });
  };
  const inspect = ({ value, path }: WrittenPart, filled: readonly string[], anytime: readonly string[] = []) => {
    for (const { text, path: inside } of listTexts(value, path)) {
      const { names, malformed, hasEscapes } = readPlaceholders(text);
      isPlain &&= !hasEscapes;
      const location = document.locateValue(inside);
      for (const start of malformed) {
        const message = `${JSON.stringify(start)} begins no placeholder; write \`{{name}}\`, or \`\\{{\` for the text \`{{\``;
        findings.push({ ...location, code: 'bad-placeholder', message });
      }
      if (names.includes('uuid') && modelTexts.has(inside.at(-1) ?? '')) {
        const message =
          '`{{uuid}}` makes this text another one in every iteration, so that no recording of it is ever found';
        findings.push({ ...location, code: 'varying-prompt', message });
      }
      for (const name of names) if (!filled.includes(name)) addUse(name, location, [...filled, ...anytime]);
    }
  };
  // Lets answers use what any step captures, because the time of a server's request is not known in advance.
  const anytime = captures.map(({ name }) => name);
  for (const part of client) inspect(part, columns, anytime);
  for (const part of suiteClient) inspect(part, [], anytime);
  for (const part of steps) {
    inspect(part, part.isOfSuite === true ? [] : columns);
    for (const name of listCaptures(part)) {
      const location = document.locateKey([...part.path, 'capture', name]);
      first ??= { text: 'capture', location };
      const earlier = captured.get(name);
      if (earlier !== undefined || columns.includes(name)) {
        const owner = earlier === undefined ? 'a column of the rows' : `the capture at line ${earlier.line}`;
        const message = `The name \`${name}\` is taken by ${owner}; choose another`;
        findings.push({ ...location, code: 'duplicate-name', message });
      }
      captured.set(name, location);
    }
  }
  for (const part of checks) inspect(part, columns);
  for (const part of suiteChecks) inspect(part, []);
  return { findings, placeholders: first === null && isPlain ? null : { first, variables, workspace } };
}

/** Replaces `\\{{` by `{{` in a suite without any other placeholder, so that every reader of the suite sees the final texts. */
export function finishTexts(suite: Suite): Suite {
  const isEscapedOnly = ({ placeholders }: SuiteCase) => placeholders === null || placeholders.first === null;
  if (suite.cases.every(({ placeholders }) => placeholders === null) || !suite.cases.every(isEscapedOnly)) return suite;
  const finish = <Part extends Step | Check | ClientOffer>(part: Part): Part => fillParts(part, plainText);
  const finishSteps = (steps: readonly LocatedStep[]) =>
    steps.map((located) => ({ ...located, step: finish(located.step) }));
  return {
    ...suite,
    checks: suite.checks.map(finish),
    cases: suite.cases.map((testCase) => ({
      ...testCase,
      placeholders: null,
      client: testCase.client === null ? null : { ...testCase.client, offer: finish(testCase.client.offer) },
      setup: finishSteps(testCase.setup),
      steps: finishSteps(testCase.steps),
      teardown: finishSteps(testCase.teardown),
      checks: { ...testCase.checks, list: testCase.checks.list.map(finish) },
    })),
  };
}

/** Fields whose text is sent to a model. */
const modelTexts: ReadonlySet<PropertyKey> = new Set(['prompt', 'judge', 'rubric']);

function listCaptures({ value }: WrittenPart): string[] {
  return isRecord(value) && isRecord(value['capture']) ? Object.keys(value['capture']) : [];
}
