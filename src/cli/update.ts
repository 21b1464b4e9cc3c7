import { resolve } from 'node:path';
import { styleText } from 'node:util';
import { ConfigurationError, describeError } from '../base/errors.ts';
import { leadsOutOfCheckout, linkOutMessage, readTextFile } from '../base/files.ts';
import { isJsonEqual, isRecord, listTexts } from '../base/json.ts';
import { findOutputRoot, replaceOutput } from '../base/output-files.ts';
import { type Redactor, redactDeep } from '../base/redaction.ts';
import { formatCount } from '../base/text.ts';
import { type ActualValue, readActualValue, type RenewableCheck, renewableTypes } from '../engine/actual-values.ts';
import { isMoreVolatile, renewError, renewNeedle } from '../explore/draft/renew.ts';
import type { GatePlan } from '../gate/plan/plan.ts';
import { type EvidenceCollector, extendEvidence } from '../gate/run/evidence-log.ts';
import type { Step } from '../cases/step.ts';
import type { SourceLocation, SuiteCase } from '../cases/suite.ts';
import { readPlaceholders } from '../cases/placeholders.ts';
import { escapeTerminalText } from '../report/escape/log.ts';
import { type NewLiteral, replaceLiterals } from '../suite/replace-literals.ts';

/**
 * Checks if `--update` is allowed.
 * @throws {ConfigurationError} in CI, where updating would hide every change, and together with `--watch`
 */
export function checkUpdate(environment: Readonly<Record<string, string | undefined>>, isWatching: boolean): void {
  const refuse = (code: string, message: string) => new ConfigurationError([{ input: 'update', code, message }]);
  const { CI: ci = '' } = environment;
  if (!['', '0', 'false'].includes(ci)) {
    throw refuse(
      'update-in-ci',
      'takes expected values from the results, so that no change could fail; it is not for CI',
    );
  }
  if (isWatching) throw refuse('update-and-watch', 'changes the files that `--watch` watches; give one of the two');
}

/** Collects the actual values of a gate for the expected values in its evals files. */
export interface LiteralLog {
  /** Extends a collector. The result also notes the actual values of assertions in failed iterations. */
  watch: (within: EvidenceCollector, plan: Pick<GatePlan, 'suites'>) => EvidenceCollector;
  /**
   * Writes the actual values into the evals files and prints the changes. Keeps a value if the results disagree about the new one. Returns
   * the number of changed values.
   */
  update(options: { cwd: string; print: (line: string) => void; redactor: Redactor; color: boolean }): Promise<number>;
}

/** An assertion of a file. Several cases can share it. */
interface Expectation {
  location: SourceLocation;
  title: string;
  check: RenewableCheck;
  found: ActualValue[];
  /** True if it held in any iteration. */
  hasHeld: boolean;
}

export function createLiteralLog(): LiteralLog {
  const expectations = new Map<string, Expectation>();
  const caseIds = new Map<string, string>();
  const note = (testCase: SuiteCase, judge: (position: number) => ActualValue | null) => {
    for (const [position, { step, location }] of testCase.steps.entries()) {
      const check = findRenewable(step);
      if (check === null) continue;
      const actual = judge(position);
      const key = `${location.file}:${location.line}:${location.column}`;
      const known = expectations.get(key) ?? { location, title: testCase.title, check, found: [], hasHeld: false };
      expectations.set(key, known);
      if (actual === null) known.hasHeld = true;
      else known.found.push(actual);
    }
  };
  const watch: LiteralLog['watch'] = (within, { suites }) => {
    const find = (suiteId: string, caseId: string | undefined) =>
      suites
        .flatMap((planned) => (planned.kind === 'file' && planned.suite.id === suiteId ? planned.suite.cases : []))
        .find(({ id }) => id === caseId);
    return extendEvidence(within, {
      addIteration: (suiteId, iteration, counted) => {
        caseIds.set(iteration.id, counted.caseId);
        const testCase = counted.outcome === 'passed' ? find(suiteId, counted.caseId) : undefined;
        if (testCase !== undefined) note(testCase, () => null);
      },
      hasRoomForTraces: () => true,
      addTrace: async (suiteId, iterationId, trace) => {
        const testCase = find(suiteId, caseIds.get(iterationId));
        if (testCase !== undefined) note(testCase, (position) => judgeStep(testCase, position, trace));
      },
    });
  };
  return {
    watch,
    update: async ({ cwd, print, redactor, color }) => {
      const paint = (format: 'red' | 'green' | 'dim', text: string) =>
        color ? styleText(format, text, { validateStream: false }) : text;
      const show = (line: string) => print(escapeTerminalText(redactor.redact(line)));
      let changed = 0;
      for (const [file, own] of Map.groupBy(expectations.values(), ({ location }) => location.file)) {
        const literals: NewLiteral[] = [];
        const titles = new Map(own.map(({ location, title }) => [location.line, title]));
        const keep = (line: number, reason: string) =>
          print(
            paint('dim', escapeTerminalText(redactor.redact(`${file}:${line} kept, ${titles.get(line)}: ${reason}`))),
          );
        for (const { location, ...expectation } of own) {
          const decision = decide(expectation, redactor);
          if (decision?.kind === 'found')
            literals.push({ ...location, key: expectation.check.type, value: decision.value });
          if (decision?.kind === 'none') keep(location.line, decision.reason);
        }
        if (literals.length === 0) continue;
        try {
          const path = resolve(cwd, file);
          if (await leadsOutOfCheckout(file, cwd)) throw new Error(linkOutMessage);
          const { text, replaced } = replaceLiterals(await readTextFile(path), literals);
          for (const outcome of replaced) {
            if (outcome.kind === 'kept') {
              keep(outcome.line, outcome.reason);
              continue;
            }
            changed += 1;
            show(`${file}:${outcome.line}`);
            for (const line of outcome.before) print(paint('red', escapeTerminalText(redactor.redact(`- ${line}`))));
            for (const line of outcome.after) print(paint('green', escapeTerminalText(redactor.redact(`+ ${line}`))));
          }
          if (replaced.some(({ kind }) => kind === 'replaced')) replaceOutput(path, text, findOutputRoot(path, cwd));
        } catch (error) {
          show(`${file} is unchanged: ${describeError(error)}`);
        }
      }
      print(
        changed === 0
          ? 'No expected value changed.'
          : `Changed ${formatCount(changed, 'expected value')}. Check the difference, and run again to judge.`,
      );
      return changed;
    },
  };
}

function findRenewable(step: Step): RenewableCheck | null {
  if (step.kind !== 'assert' || !('type' in step.assertion)) return null;
  const { assertion } = step;
  return isRenewable(assertion) ? assertion : null;
}

const isRenewable = (assertion: { type: string }): assertion is RenewableCheck =>
  renewableTypes.some((type) => type === assertion.type);

function judgeStep({ steps }: SuiteCase, position: number, trace: unknown): ActualValue | null {
  const all = steps.map(({ step }) => step);
  const step = all[position];
  const check = step === undefined ? null : findRenewable(step);
  if (check === null) return null;
  const hasPlaceholder = [...listTexts(Object.values(check))].some(
    ({ text }) => readPlaceholders(text).names.length > 0,
  );
  if (hasPlaceholder) return { kind: 'none', reason: 'the assertion has a placeholder' };
  const actual = readActualValue(check, trace, { steps: all, position });
  return actual?.kind === 'found' ? renew(check, actual.value) : actual;
}

/** Turns what an assertion got into what it expects from now on. */
function renew(check: RenewableCheck, actual: unknown): ActualValue {
  const none = (reason: string): ActualValue => ({ kind: 'none', reason });
  if (check.type === 'toolResultEquals') {
    return isMoreVolatile(check.value, actual)
      ? none('the result has a part that reads as a time, an id or the like')
      : { kind: 'found', value: actual };
  }
  const value =
    'needle' in check && typeof actual === 'string'
      ? renewNeedle(check.needle, actual)
      : 'error' in check && isRecord(actual) && typeof actual['text'] === 'string'
        ? renewError(check.error, { code: actual['code'], text: actual['text'] })
        : null;
  return value === null ? none('the result has no stable text') : { kind: 'found', value };
}

/** Decides the new expected value of an assertion; null if it holds. */
function decide({ found, hasHeld }: Omit<Expectation, 'location'>, redactor: Redactor): ActualValue | null {
  const [first] = found;
  if (first === undefined) return null;
  const none = (reason: string): ActualValue => ({ kind: 'none', reason });
  if (hasHeld) return none('it held in another iteration or row');
  const unknown = found.find(({ kind }) => kind === 'none');
  if (unknown !== undefined) return unknown;
  if (found.some((other) => !isJsonEqual(other, first))) return none('iterations or rows got different values');
  if (!isJsonEqual(redactDeep(first, redactor), first)) return none('the result has a part that is a known secret');
  return first;
}
