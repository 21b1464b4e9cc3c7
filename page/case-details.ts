import { cutMark, formatCount } from '../src/base/text.ts';
import { formatDuration } from '../src/base/time.ts';
import type { CaseReport, IterationFailure } from '../src/model/case-report.ts';
import { lastLinesHeading } from '../src/model/process-end.ts';
import type { PageData, PageMark } from '../src/report/html/page-data.ts';
import { describeCalls, describeCost, describeJudge, describeTokens } from '../src/report/document/models.ts';
import { inspectLabel, repeatLabel } from '../src/report/document/block.ts';
import { listCallLines } from '../src/report/call-lines.ts';
import { listDifferences } from '../src/report/differences.ts';
import { listCode, sourceLabel, splitReason } from '../src/report/failures.ts';
import {
  createRepeats as createDescribeRepeat,
  describeInspection,
  describeRepeatOfFailed,
} from '../src/report/repeat.ts';
import { createCommand } from './command.ts';
import { createDifference } from './difference.ts';
import { type Child, create, createButton, createDisclosure, quote, quoteProse } from './dom.ts';
import { createSourceLine } from './source-line.ts';
import { createTimeline } from './timeline.ts';
import { createTraceView } from './trace-view.ts';

/** Shows the details of a case: its definition, its duration, its failures. */
export function createCaseDetails(
  member: CaseReport,
  { marks, definition }: { marks: readonly PageMark[]; definition: string | null },
  data: PageData,
): Child[] {
  const groups = [
    ...Map.groupBy(member.failures, ({ step, reasons, result }) => JSON.stringify([step, reasons, result])).values(),
  ];
  const scored = member.failures.filter(({ result }) => result !== 'cancelled' && result !== 'unscored');
  const omitted = member.failed - scored.length;
  return [
    createFacts(member, data),
    ...groups.flatMap((failures) => {
      const [example] = failures;
      return example === undefined ? [] : [createFailure(example, failures, { suiteId: member.suiteId, data })];
    }),
    omitted > 0 && member.failures.length > 0
      ? create(
          'p',
          { class: 'fine' },
          `and ${formatCount(omitted, 'more failed iteration')}, of which nothing was kept`,
        )
      : null,
    ...(member.outcome === 'passed' ? [] : createRepeats(member, data)),
    createDefinition(member, definition, data),
    createTimeline(member, marks),
  ];
}

/** Shows the lines of the evals file that define the case, each with its number; null if the page does not have them. */
function createDefinition({ location }: CaseReport, definition: string | null, data: PageData): HTMLElement | null {
  if (definition === null || location === null) return null;
  const code = definition.split('\n');
  const rows = listCode({ file: location.file, first: location.line, line: 0, code }).map((text) =>
    create('li', {}, create('code', {}, quote(text))),
  );
  return create(
    'details',
    { class: 'definition' },
    create('summary', {}, 'The case in the evals file'),
    create('p', { class: 'fine' }, createSourceLine(location, data)),
    create(
      'div',
      { class: 'scroll', tabindex: '0', role: 'group', 'aria-label': 'Lines of the evals file' },
      create('ol', { class: 'diff' }, ...rows),
    ),
  );
}

/**
 * Shows the commands that run only this case again, and make its first call: none if the report or the page does not have them whole, or if
 * the verdict shows the same.
 */
function createRepeats(member: CaseReport, { report }: PageData): Child[] {
  const commands = [
    [repeatLabel, createDescribeRepeat(report)(member)],
    [inspectLabel, describeInspection(member, report)],
  ] as const;
  const shown = describeRepeatOfFailed(report)?.command;
  return commands.map(([label, command]) =>
    command === null || command === shown || command.includes(cutMark)
      ? null
      : create('div', { class: 'repeat' }, create('h4', {}, label), createCommand(command)),
  );
}

function createFacts(member: CaseReport, { report }: PageData): HTMLElement {
  const { quarantine, definitionHash, id, durationMs, model, usage, cost, judges } = member;
  const suite = report.suites.find(({ id }) => id === member.suiteId);
  const facts: Array<[string, string]> = [
    ['Suite', suite?.name ?? member.suiteId],
    ['Id', id],
    ...(durationMs === null ? [] : [['Median', formatDuration(durationMs)] satisfies [string, string]]),
    ...(model === null ? [] : [['Model', model] satisfies [string, string]]),
    ...(usage === null || report.models === null
      ? []
      : ([
          ['Calls', describeCalls(usage)],
          ['Tokens', describeTokens(usage)],
          ['Cost', describeCost(cost, report.models)],
        ] satisfies Array<[string, string]>)),
    ...judges.flatMap((judge): Array<[string, string]> =>
      report.models === null ? [] : [[`Judge ${judge.model}`, describeJudge(judge, report.models)]],
    ),
    ...(definitionHash === null ? [] : [['Definition', definitionHash] satisfies [string, string]]),
    ...(quarantine === null
      ? []
      : [
          [
            'In quarantine',
            `until ${quarantine.expires}, ${quarantine.owner}: ${quarantine.reason} (${quarantine.source})`,
          ] satisfies [string, string],
        ]),
  ];
  return create(
    'dl',
    { class: 'facts' },
    ...facts.map(([name, value]) => create('div', {}, create('dt', {}, name), create('dd', {}, quote(value)))),
  );
}

function createFailure(
  example: IterationFailure,
  failures: readonly IterationFailure[],
  { suiteId, data }: { suiteId: string; data: PageData },
): HTMLElement {
  const names = failures.map(({ iterationNumber, iterationId }) => String(iterationNumber ?? iterationId));
  const { step, reasons, result, durationMs } = example;
  const where = step === null ? '' : `, step ${step.index + 1} (${step.kind})`;
  const took = failures.length === 1 && durationMs !== null ? ` after ${formatDuration(durationMs)}` : '';
  const [headline = '', ...others] = reasons;
  return create(
    'section',
    { class: 'failure' },
    create(
      'h4',
      {},
      quote(`Iteration${names.length === 1 ? '' : 's'} ${names.join(', ')}${where}`),
      create('span', { class: 'fine' }, quote(` ${result.replaceAll('_', ' ')}${took}`)),
    ),
    create('p', { class: 'reason' }, quoteProse(splitReason(headline).words)),
    others.length === 0
      ? null
      : create(
          'ul',
          { class: 'reason' },
          ...others.map((text) => create('li', {}, quoteProse(splitReason(text).words))),
        ),
    ...reasons.flatMap(createOutput),
    createSource(example, data),
    ...listDifferences(example).map((difference) => createDifference(difference)),
    createCalls(example),
    ...failures.flatMap((failure) => createTrace(failure, suiteId, data)),
  );
}

/** Shows the last output of the server's process, which a reason may have below its words. */
function createOutput(reason: string): HTMLElement[] {
  const { output } = splitReason(reason);
  if (output.length === 0) return [];
  return [
    create('p', { class: 'fine' }, lastLinesHeading),
    create('pre', { tabindex: '0', 'aria-label': 'The last lines of the server on stderr' }, output.join('\n')),
  ];
}

/** Shows the line of the server that its stack trace names, with the lines around it; null if none does. */
function createSource({ source }: IterationFailure, data: PageData): HTMLElement | null {
  if (source === undefined) return null;
  const rows = listCode(source).map((text) =>
    create('li', text.startsWith('>') ? { class: 'failed' } : {}, create('code', {}, quote(text))),
  );
  return create(
    'figure',
    { class: 'calls' },
    create('figcaption', {}, create('span', {}, `${sourceLabel} `, create('code', {}, createSourceLine(source, data)))),
    create(
      'div',
      { class: 'scroll', tabindex: '0', role: 'group', 'aria-label': 'Code of the server' },
      create('ol', { class: 'diff' }, ...rows),
    ),
  );
}

/** Lists the calls of a failed iteration. Those of a prompt with expected calls are in a comparison. */
function createCalls({ expectedToolCalls, actualToolCalls, result }: IterationFailure): HTMLElement | null {
  const isCompared = expectedToolCalls.length > 0 && result !== 'unscored';
  if (actualToolCalls.length === 0) return isCompared ? create('p', { class: 'fine' }, 'No tool was called.') : null;
  if (isCompared) return null;
  return create(
    'figure',
    { class: 'calls' },
    create('figcaption', {}, 'Tool calls'),
    create(
      'div',
      { class: 'scroll', tabindex: '0', role: 'group', 'aria-label': 'Tool calls, line by line' },
      create(
        'ol',
        { class: 'diff' },
        ...actualToolCalls.flatMap(listCallLines).map((text) => create('li', {}, create('code', {}, quote(text)))),
      ),
    ),
  );
}

function createTrace(failure: IterationFailure, suiteId: string, { traces }: PageData): HTMLElement[] {
  const index = traces.findIndex((trace) => trace.suiteId === suiteId && trace.iterationId === failure.iterationId);
  const trace = traces[index];
  if (trace === undefined) return [];
  const name = `Trace of iteration ${failure.iterationNumber ?? failure.iterationId}`;
  const button = createButton({ class: 'quiet' }, () => {}, name);
  const { panel } = createDisclosure(button, `trace-${index}`, () => createTraceView(trace));
  return [create('div', { class: 'trace' }, button, panel)];
}
