import { z } from 'zod';
import { createCaseShape } from '../cases/case.ts';
import type { PolicyLayer } from '../model/policy.ts';
import type { NamedRule } from '../model/source.ts';
import { meetsMinimumPassRate } from '../model/rate.ts';
import type { Suite } from '../cases/suite.ts';
import { writtenCheckSchema } from './assertion-schema.ts';
import { locateText } from './build-policy.ts';
import { buildSuite } from './build.ts';
import { id, modelId } from './scalar-schemas.ts';
import { withIssueCode, text } from '../model/written-values.ts';
import { explainIssues } from './explain-issues.ts';
import type { Finding } from './findings.ts';
import type { SourceDocument } from './source-document.ts';
import { stepsSchema, type WrittenStep } from './step-schema.ts';
import type { WrittenCase, WrittenSuite } from './suite-schema.ts';

const fraction = z.number().min(0).max(1);
const repetitions = z.int().min(1).max(100);
const openObject = z.record(z.string(), z.unknown());

const unsupported = (what: string, advice: string) =>
  withIssueCode('unsupported-upstream', `This product cannot honour ${what}; ${advice}`);

const toolPolicySchema = z
  .strictObject({
    mode: z.enum(['default', 'readOnly']),
    allow: z.array(text).exactOptional(),
    deny: z.array(text).exactOptional(),
  })
  .refine(
    (policy) => policy.mode === 'default' && policy.allow === undefined && policy.deny === undefined,
    unsupported('a `toolPolicy`', 'limit the tools in the server under test'),
  );

const importSchema = z
  .strictObject({
    status: z.enum(['exact', 'approximated', 'unsupported', 'unresolved']),
    sourceCaseKey: text.exactOptional(),
    note: z.string().exactOptional(),
  })
  .refine(
    ({ status }) => status === 'exact' || status === 'approximated',
    unsupported('a case that was not imported', 'mend it or set `disabled: true`'),
  );

const fields = createCaseShape({
  title: text,
  steps: stepsSchema,
  iterations: repetitions,
  matchOptions: z.never(),
  checks: z.array(writtenCheckSchema).max(50),
});

/** A case with the names of upstream's file. */
const caseSchema = z.strictObject({
  id,
  title: fields.title,
  steps: fields.steps,
  assertions: fields.checks,
  // The name of `assertions` that only version 1 accepts.
  checks: fields.checks,
  expectedOutput: fields.expectedOutput,
  isNegativeTest: fields.isNegative,
  model: modelId.exactOptional(),
  // The number of iterations: `repetitions` in version 1, `iterations` in version 2.
  repetitions: fields.iterations,
  iterations: fields.iterations,
  passThreshold: fraction.exactOptional(),
  disabled: z.boolean().exactOptional(),
  import: importSchema.exactOptional(),
});

/** Upstream's suite file, schemas `https://mcpjam.com/schemas/eval-suite/v1.json` and `…/v2.json`, which differ only in names. */
const upstreamSchema = z
  .strictObject({
    $schema: z.string().exactOptional(),
    schemaVersion: z.enum(['1', '2']),
    mode: z
      .enum(['agentWorkflow', 'serverContract'])
      .refine((mode) => mode === 'agentWorkflow', unsupported('`mode: serverContract`', 'upstream reserves it')),
    reportingMode: z
      .enum(['standard', 'restricted', 'summary'])
      .refine((mode) => mode === 'standard', unsupported('this reporting mode', 'write `standard`'))
      .exactOptional(),
    suite: z.strictObject({ id, name: text, description: z.string().exactOptional() }),
    // Accepts `target` but does not use it to reach servers: the job starts the server under test itself.
    target: z.strictObject({
      servers: z.array(
        z.strictObject({ name: text.exactOptional(), id: text.exactOptional(), environment: text.exactOptional() }),
      ),
      environment: text.exactOptional(),
    }),
    defaults: z
      .strictObject({
        model: modelId.exactOptional(),
        provider: text.exactOptional(),
        systemPrompt: text.exactOptional(),
        temperature: z.number().min(0).max(2).exactOptional(),
        repetitions: repetitions.exactOptional(),
        iterations: repetitions.exactOptional(),
        passThreshold: fraction.exactOptional(),
        // Requirements for a complete run. The gate requires that every iteration is read, which is at least as strict.
        validity: openObject,
        captureLevel: z.literal('full').exactOptional(),
        toolPolicy: toolPolicySchema.exactOptional(),
      })
      .refine(
        ({ model, provider }) => provider === undefined || model?.startsWith(`${provider}/`) === true,
        unsupported('a `provider` apart from the model', 'write the model as `provider/name`'),
      ),
    provenance: openObject.exactOptional(),
    cases: z
      .array(caseSchema)
      .refine(
        (cases) => cases.some((testCase) => testCase.disabled !== true),
        withIssueCode('no-cases', 'No case is enabled'),
      )
      .max(500),
  })
  .superRefine(({ schemaVersion, defaults, cases }, context) => {
    for (const [path, part] of [
      [['defaults'], defaults] as const,
      ...cases.map((part, index) => [['cases', index], part] as const),
    ]) {
      for (const [version, key, other] of versionedKeys) {
        if (version === schemaVersion || !Object.hasOwn(part, key)) continue;
        const message = `Unknown key \`${key}\` in version ${schemaVersion}; write \`${other}\``;
        context.addIssue({
          code: 'custom',
          path: [...path, key],
          message,
          params: { code: 'unknown-key', isKey: true },
        });
      }
      if (!('assertions' in part && 'checks' in part)) continue;
      const message = 'Both `assertions` and `checks` are given, which mean the same; write one of them';
      context.addIssue({
        code: 'custom',
        path: [...path, 'checks'],
        message,
        params: { code: 'two-lists', isKey: true },
      });
    }
  });

/** The keys that only one version has, with their names in the other version. */
const versionedKeys = [
  ['1', 'repetitions', 'iterations'],
  ['2', 'iterations', 'repetitions'],
  ['1', 'checks', 'assertions'],
] as const;

type UpstreamSuite = z.output<typeof upstreamSchema>;
type UpstreamCase = UpstreamSuite['cases'][number];

/** Parses upstream's suite file into this project's format with the same meaning. Unsupported settings are findings. */
export function parseUpstreamSuite(document: SourceDocument): {
  suite: Suite | null;
  /** The suite in the form of an evals file. */
  written: WrittenSuite | null;
  findings: Finding[];
} {
  const parsed = upstreamSchema.safeParse(document.value);
  if (!parsed.success)
    return { suite: null, written: null, findings: explainIssues(upstreamSchema, document, parsed.error.issues) };
  const upstream = parsed.data;
  const enabled = upstream.cases.flatMap((testCase, index) =>
    testCase.disabled === true ? [] : [{ testCase, index }],
  );
  const { model, systemPrompt, temperature } = upstream.defaults;
  const own = {
    suite: upstream.suite.name,
    id: upstream.suite.id,
    ...(model !== undefined && { model }),
    ...(systemPrompt !== undefined && { system: systemPrompt }),
    ...(temperature !== undefined && { temperature }),
    cases: enabled.map(({ testCase }) => toOwnCase(testCase, upstream)),
  };
  const indexes = enabled.map(({ index }) => index);
  const { suite, findings } = buildSuite(own, skipDisabledCases(document, indexes), null);
  const thresholds = mapThresholds(upstream, document);
  return {
    suite: { ...suite, policy: { ...suite.policy, ...thresholds } },
    written: { ...own, ...writeThresholds(thresholds) },
    findings,
  };
}

function writeThresholds({ minimumPassRate, cases = [], required = [] }: Thresholds): Pick<WrittenSuite, 'policy'> {
  if (minimumPassRate == null) return {};
  return {
    policy: {
      minimumPassRate: minimumPassRate.value,
      ...(cases.length > 0 && { cases: Object.fromEntries(cases.map(({ name, value }) => [name, value])) }),
      ...(required.length > 0 && { required: required.map(({ name }) => name) }),
    },
  };
}

type Thresholds = Partial<Pick<PolicyLayer, 'minimumPassRate' | 'cases' | 'required'>>;

/**
 * Turns thresholds into minimum pass rates of cases, since each threshold is about one case. The suite as a whole then has no minimum. A
 * case is required if all of its iterations must pass, because that holds with any confidence. A case without a threshold is required too,
 * because every iteration must pass in a file without thresholds.
 */
function mapThresholds({ cases, defaults }: UpstreamSuite, document: SourceDocument): Thresholds {
  const ofDefaults = locateText(document, ['defaults', 'passThreshold']);
  const given: Array<NamedRule<number>> = [];
  const required: Array<NamedRule<true>> = [];
  for (const [index, testCase] of cases.entries()) {
    const { id: name, passThreshold, disabled } = testCase;
    if (disabled === true) continue;
    const threshold = passThreshold ?? defaults.passThreshold;
    const source = passThreshold === undefined ? ofDefaults : locateText(document, ['cases', index, 'passThreshold']);
    if (threshold === undefined) {
      required.push({ name, value: true, source: locateText(document, ['cases', index], 'locateValue') });
    } else {
      given.push({ name, value: toPassRate(threshold, countRuns(testCase, defaults) ?? 1), source });
    }
  }
  const [first] = given;
  if (first === undefined) return {};
  const full = given.filter(({ value }) => value === 1).map((rate) => ({ ...rate, value: true as const }));
  return {
    minimumPassRate: { value: 0, source: defaults.passThreshold === undefined ? first.source : ofDefaults },
    cases: given.filter(({ value }) => value < 1),
    required: [...full, ...required],
  };
}

type Counted = Pick<UpstreamCase, 'repetitions' | 'iterations'>;

function countRuns(testCase: Counted, defaults: Counted): number | undefined {
  return testCase.repetitions ?? testCase.iterations ?? defaults.repetitions ?? defaults.iterations;
}

/** Returns the threshold, or the pass rate of the same number of iterations if the threshold is not exact as a rate. */
function toPassRate(threshold: number, runs: number): number {
  // Corrects for binary fractions: 0.7 × 10 is slightly above 7, and means 7.
  const needed = Math.ceil(threshold * runs - 1e-9);
  const isMetBy = (passed: number) => meetsMinimumPassRate(passed, runs, threshold);
  const isExact = isMetBy(needed) && (needed === 0 || !isMetBy(needed - 1));
  return isExact ? threshold : Math.floor((needed / runs) * 1e6) / 1e6;
}

function toOwnCase(testCase: UpstreamCase, { defaults, target }: UpstreamSuite): WrittenCase {
  const runs = countRuns(testCase, defaults);
  const assertions = testCase.assertions ?? testCase.checks;
  return {
    id: testCase.id,
    title: testCase.title,
    steps: testCase.steps.map((step) => aimAtServerUnderTest(step, target.servers)),
    ...(runs !== undefined && { runs }),
    ...(testCase.model !== undefined && { model: testCase.model }),
    ...(testCase.isNegativeTest !== undefined && { negative: testCase.isNegativeTest }),
    ...(testCase.expectedOutput !== undefined && { expectedOutput: testCase.expectedOutput }),
    ...(assertions !== undefined && { checks: { mode: 'replace' as const, list: assertions } }),
  };
}

/** Removes the server name from a call to the only server of the file, which is the one under test. */
function aimAtServerUnderTest(step: WrittenStep, servers: UpstreamSuite['target']['servers']): WrittenStep {
  const [only, ...others] = servers;
  if (!('toolName' in step) || step.kind !== 'toolCall' || only === undefined || others.length > 0) return step;
  const { serverName, serverId, ...rest } = step;
  const isTheOnlyOne = serverId === undefined ? serverName === only.name : serverId === only.id;
  return isTheOnlyOne ? rest : step;
}

function skipDisabledCases(document: SourceDocument, indexes: readonly number[]): SourceDocument {
  const toWritten = (path: readonly PropertyKey[]) => {
    const [first, index, ...rest] = path;
    return first === 'cases' && typeof index === 'number' ? [first, indexes[index] ?? index, ...rest] : path;
  };
  return {
    value: document.value,
    locateKey: (path) => document.locateKey(toWritten(path)),
    locateValue: (path) => document.locateValue(toWritten(path)),
    readText: (path) => document.readText(toWritten(path)),
  };
}
