import { readFirstLine, formatCount } from '../base/text.ts';
import type { CaseReport } from '../model/case-report.ts';
import type { Report, SuiteReport } from '../model/report.ts';
import { escapeXmlAttribute, escapeXmlText } from './escape/xml.ts';
import { countOmittedFailures, describeFailures } from './failures.ts';
import { describeCalls, describeCost, describeTokens } from './document/models.ts';
import { describeFlaky, describeProbation } from './rounds.ts';
import { truncateText } from './truncate.ts';
import { describeCaseCounts, nameRequirement } from './wording.ts';

const maxMessageLength = 500;

/** The id of the suite that stands for a gate without suites. */
const gateId = '';

type JudgedSuite = Pick<
  SuiteReport,
  'id' | 'name' | 'file' | 'verdict' | 'requirements' | 'stoppedEarly' | 'usage' | 'cost'
>;

interface Element {
  name: string;
  attributes: Record<string, string | number | undefined>;
  children?: Element[];
  text?: string;
}

/**
 * Renders JUnit XML, one testcase per case. It agrees with the verdict: failures that a passing suite's minimum tolerates are written as
 * output, and an inconclusive suite holds an error even if every case passed.
 */
export function renderJunit(report: Report): string {
  // Adds a suite for a gate without suites: an empty file would look passed, whatever the verdict is.
  const gate = {
    id: gateId,
    name: report.generator.name,
    file: null,
    verdict: report.verdict,
    requirements: [],
    stoppedEarly: null,
    usage: null,
    cost: null,
  };
  const suites = (report.suites.length === 0 ? [gate] : report.suites).map((suite) => buildSuite(report, suite));
  const root: Element = {
    name: 'testsuites',
    attributes: { name: report.generator.name, ...sumCounts(suites), time: formatSeconds(report.durationMs) },
    children: suites,
  };
  return `<?xml version="1.0" encoding="UTF-8"?>\n${renderElement(root, '')}`;
}

function buildSuite(report: Report, suite: JudgedSuite): Element {
  const cases = report.cases
    .filter(({ suiteId }) => suiteId === suite.id)
    .map((testCase) => buildCase(testCase, suite));
  const { outcome } = suite.verdict;
  // A gate without suites has no other testcase.
  const isExplained =
    (outcome === 'passed' && suite.id !== gateId) ||
    (outcome === 'failed' && cases.some((testCase) => holds(testCase, 'failure')));
  const children = isExplained ? cases : [buildVerdictCase(suite), ...cases];
  const count = (name: string) => children.filter((child) => holds(child, name)).length;
  return {
    name: 'testsuite',
    attributes: {
      name: suite.name,
      tests: children.length,
      failures: count('failure'),
      errors: count('error'),
      skipped: count('skipped'),
      time: formatSeconds(
        report.cases.reduce(
          (total, { suiteId, durationMs }) => total + (suiteId === suite.id ? (durationMs ?? 0) : 0),
          0,
        ),
      ),
      timestamp: report.startedAt,
      file: suite.file ?? undefined,
    },
    children: [...listProperties(suite, report), ...children],
  };
}

/** Lists the requirements other than the suite's own minimum, and the usage of its models; viewers list properties, and do not count them. */
function listProperties({ requirements, usage, cost }: JudgedSuite, { models }: Report): Element[] {
  const children = (requirements.length < 2 ? [] : requirements).map((requirement): Element => {
    const value = truncateText(
      `${requirement.state}: ${requirement.requirement} (${requirement.source})`,
      maxMessageLength,
    );
    return buildProperty(`requirement: ${nameRequirement(requirement)}`, value);
  });
  if (usage !== null && models !== null) {
    children.push(
      buildProperty('models: calls', describeCalls(usage)),
      buildProperty('models: tokens', describeTokens(usage)),
      buildProperty('models: cost', describeCost(cost, models)),
    );
  }
  return children.length === 0 ? [] : [{ name: 'properties', attributes: {}, children }];
}

function buildProperty(name: string, value: string): Element {
  return { name: 'property', attributes: { name, value } };
}

/** Builds a separate testcase for a verdict that no case explains, so that no viewer shows the suite as passed. */
function buildVerdictCase(suite: JudgedSuite): Element {
  const [first, ...others] = suite.verdict.reasons.flatMap(({ message, output = [] }) => [message, ...output]);
  const { outcome } = suite.verdict;
  const element: Element = {
    name: outcome === 'failed' ? 'failure' : 'error',
    attributes: {
      message: truncateText(first ?? 'Nothing was established.', maxMessageLength, { keepsEnd: true }),
      type: outcome,
    },
    ...(others.length === 0 ? {} : { text: others.join('\n') }),
  };
  return {
    name: 'testcase',
    attributes: { name: 'verdict', classname: suite.name, file: suite.file ?? undefined, time: formatSeconds(0) },
    children: outcome === 'passed' ? [] : [element],
  };
}

function holds({ children = [] }: Element, name: string): boolean {
  return children.some((child) => child.name === name);
}

function buildCase(testCase: CaseReport, suite: JudgedSuite): Element {
  return {
    name: 'testcase',
    attributes: {
      name: testCase.title,
      classname: suite.name,
      file: testCase.location?.file,
      line: testCase.location?.line,
      time: formatSeconds(testCase.durationMs ?? 0),
    },
    children: listOutcome(testCase, suite),
  };
}

function listOutcome(testCase: CaseReport, suite: JudgedSuite): Element[] {
  const flaky = describeFlaky(testCase);
  const counts = `${describeCaseCounts(testCase)}${flaky === null ? '' : ` (${flaky})`}`;
  const { disposition } = testCase;
  if (disposition === 'passed' && testCase.flaky === null) return [];
  if (disposition === 'passed') {
    // Uses the form of Maven Surefire: https://maven.apache.org/surefire/maven-surefire-plugin/examples/rerun-failing-tests.html
    return [
      { name: 'flakyFailure', attributes: { message: counts, type: 'flaky' }, text: describeAllFailures(testCase) },
    ];
  }
  if (disposition === 'excluded') {
    const message = truncateText(`${counts}${describeExclusion(testCase)}`, maxMessageLength);
    return [{ name: 'skipped', attributes: { message }, text: describeAllFailures(testCase) }];
  }
  if (disposition === 'unscored' && suite.stoppedEarly !== null) {
    return [{ name: 'skipped', attributes: { message: `${counts}; the run was stopped early` } }];
  }
  if (disposition === 'unscored') {
    // A case that never began adds nothing to the suite's own error.
    const name = testCase.total === 0 && testCase.failures.length === 0 ? 'skipped' : 'error';
    return [
      {
        name,
        attributes: { message: counts, ...(name === 'error' ? { type: 'inconclusive' } : {}) },
        text: describeAllFailures(testCase),
      },
    ];
  }
  if (disposition === 'tolerated') {
    return [
      {
        name: 'system-out',
        attributes: {},
        text: `${counts}, which the minimum tolerates.\n${describeAllFailures(testCase)}`,
      },
    ];
  }
  const [reason] = testCase.failures.flatMap(({ reasons }) => reasons);
  const text = reason === undefined ? counts : `${counts}: ${readFirstLine(reason)}`;
  const message = truncateText(text, maxMessageLength, { keepsEnd: true });
  return [
    {
      name: 'failure',
      attributes: { message, type: testCase.required ? 'required' : 'case' },
      text: describeAllFailures(testCase),
    },
  ];
}

/** Explains why a case does not count, for the text after its counts; the counts of a flaky case explain it already. */
function describeExclusion(testCase: CaseReport): string {
  if (testCase.quarantine !== null) {
    const { expires, owner, reason } = testCase.quarantine;
    return `; in quarantine until ${expires} (${owner}: ${reason})`;
  }
  const probation = describeProbation(testCase);
  return probation === null ? '' : `; ${probation}`;
}

function describeAllFailures(testCase: CaseReport): string {
  const omitted = countOmittedFailures(testCase);
  const rest = omitted > 0 ? `and ${formatCount(omitted, 'more failed iteration')}` : '';
  return [describeFailures(testCase), rest].filter((part) => part !== '').join('\n');
}

function sumCounts(suites: readonly Element[]): Record<string, number> {
  const sum = (key: string) => suites.reduce((total, { attributes }) => total + Number(attributes[key] ?? 0), 0);
  return { tests: sum('tests'), failures: sum('failures'), errors: sum('errors'), skipped: sum('skipped') };
}

function formatSeconds(durationMs: number): string {
  return (durationMs / 1000).toFixed(3);
}

function renderElement({ name, attributes, children = [], text = '' }: Element, indent: string): string {
  const opening = Object.entries(attributes)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => ` ${key}="${escapeXmlAttribute(String(value))}"`)
    .join('');
  if (children.length === 0) {
    return text === ''
      ? `${indent}<${name}${opening}/>\n`
      : `${indent}<${name}${opening}>${escapeXmlText(text)}</${name}>\n`;
  }
  const content = children.map((child) => renderElement(child, `${indent}  `)).join('');
  return `${indent}<${name}${opening}>\n${content}${indent}</${name}>\n`;
}
