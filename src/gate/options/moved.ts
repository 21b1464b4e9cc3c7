import type { ConfigurationIssue } from '../../base/errors.ts';

/** A name that was an input and a flag, and is neither any more. */
export interface MovedOption {
  /** Kebab-case. */
  name: string;
  /** How the flag was written, so that the command still reads its value: `<n>`, or `[bool]`. */
  hint: string;
  /** Completes a sentence that begins with the name: where the value belongs now. */
  explain: (text: string) => string;
}

/** A rule that a policy file states under `key`. */
function movedIntoPolicy(name: string, hint: string, key: string, example: string): MovedOption {
  return {
    name,
    hint,
    explain: (text) =>
      `is a rule of the policy now; write \`${key}: ${quoteShort(text, example)}\` in the file that \`policy\` names (docs/policy.md)`,
  };
}

/** The user's own value, as far as it is a word that YAML reads as it stands; else the example. */
function quoteShort(text: string, example: string): string {
  const word = text.trim();
  if (/^(?:true|false)$/i.test(word)) return word.toLowerCase();
  return /^[a-z\d][\w.]{0,19}%?$/i.test(word) ? word : example;
}

/** A destination of `report-to`; `name: off` and `name: false` are the list without it. */
function movedIntoReportTo(name: string, hint: string, nameEntry: (text: string) => string): MovedOption {
  const usual = ['annotations', 'summary'];
  return {
    name,
    hint,
    explain: (text) => {
      const isOff = /^(?:off|false)$/i.test(text.trim());
      const entry = nameEntry(text.trim());
      const others = usual.filter((each) => each !== name);
      const list = isOff ? others : [...new Set([...usual, entry])];
      const advice = isOff ? `leave \`${entry}\` out of it` : `add \`${entry}\` to it`;
      return `is an entry of \`report-to\` now; ${advice}, as in \`report-to: ${list.join(', ')}\` (docs/comments.md)`;
    },
  };
}

function nameComment(mode: string): string {
  return /^(?:always|on-failure|on-change)$/.test(mode) ? `comment:${mode}` : 'comment';
}

/** An input whose values are variables of OpenTelemetry; the text is never repeated, since it may hold a secret. */
function movedIntoVariable(name: string, hint: string, variable: string): MovedOption {
  return {
    name,
    hint,
    explain: () => `is an environment variable now; set ${variable} (docs/reports.md#traces)`,
  };
}

/** Every such name, in the order in which people should read them. */
export const movedOptions: readonly MovedOption[] = [
  movedIntoPolicy('confidence', '<percent>', 'confidence', '95%'),
  movedIntoPolicy('retry-failed', '<n>', 'retryFailed', '2'),
  movedIntoPolicy('flaky', '<effect>', 'flaky', 'report'),
  movedIntoPolicy('stop-early', '[bool]', 'stopEarly', 'true'),
  movedIntoPolicy('maximum-regressions', '<n>', 'maximumRegressions', '0'),
  movedIntoPolicy('maximum-rate-drop', '<percent>', 'maximumRateDrop', '5%'),
  movedIntoPolicy('trusted-after', '<n>', 'probation', '5'),
  movedIntoPolicy('on-inconclusive', '<effect>', 'onInconclusive', 'warn'),
  movedIntoPolicy('on-nothing-run', '<effect>', 'onNothingRun', 'warn'),
  movedIntoPolicy('report-only', '[bool]', 'reportOnly', 'true'),
  movedIntoReportTo('annotations', '[bool]', () => 'annotations'),
  movedIntoReportTo('summary', '[bool]', () => 'summary'),
  movedIntoReportTo('comment', '<mode>', nameComment),
  movedIntoReportTo('check-run', '[bool]', () => 'check-run'),
  movedIntoReportTo('open-issue-on', '<verdict>', () => 'issue'),
  movedIntoVariable('otlp-endpoint', '<url>', 'OTEL_EXPORTER_OTLP_ENDPOINT'),
  movedIntoVariable('otlp-headers', '<name=value>', 'OTEL_EXPORTER_OTLP_HEADERS'),
  {
    name: 'full-report',
    hint: '[bool]',
    explain: () => 'is a report format; add `iterations`, as in `report-formats: html, iterations` (docs/reports.md)',
  },
  {
    name: 'mcp-server',
    hint: '<name>',
    explain: () => 'is part of `mcp-config` now, as in `mcp-config: .mcp.json#notes` (docs/servers.md)',
  },
  {
    name: 'job-index',
    hint: '<n>',
    explain: () =>
      'is gone; the action knows its job in a matrix, and `comment-id` names a job that it cannot know (docs/comments.md)',
  },
];

/** Finds the moved names that have a value, and says for each where the value belongs now. */
export function findMovedOptions(texts: Readonly<Record<string, string | undefined>>): ConfigurationIssue[] {
  return describePlaces(movedOptions, texts, 'moved-option');
}

/** Says of each of these options that has a value where the value belongs. */
export function describePlaces(
  options: readonly MovedOption[],
  texts: Readonly<Record<string, string | undefined>>,
  code: string,
): ConfigurationIssue[] {
  return options.flatMap(({ name, explain }) => {
    const text = texts[name] ?? '';
    return text.trim() === '' ? [] : [{ input: name, code, message: explain(text) }];
  });
}
