import { z } from 'zod';
import { createCaseShape } from '../model/case.ts';
import type { NamedRule, PolicyLayer } from '../model/policy.ts';
import { meetsMinimumPassRate } from '../model/rate.ts';
import type { Suite } from '../model/suite.ts';
import { writtenCheckSchema } from './assertion-schema.ts';
import { locateText } from './build-policy.ts';
import { buildSuite } from './build.ts';
import { withIssueCode, id, modelId, text } from './scalar-schemas.ts';
import { explainIssues } from './explain-issues.ts';
import type { Finding } from './findings.ts';
import type { SourceDocument } from './source-document.ts';
import { stepsSchema, type WrittenCase, type WrittenStep } from './suite-schema.ts';

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

/** A case under the names of that file. */
const caseSchema = z.strictObject({
  id,
  title: fields.title,
  steps: fields.steps,
  assertions: fields.checks,
  expectedOutput: fields.expectedOutput,
  isNegativeTest: fields.isNegative,
  model: modelId.exactOptional(),
  repetitions: fields.iterations,
  passThreshold: fraction.exactOptional(),
  disabled: z.boolean().exactOptional(),
  import: importSchema.exactOptional(),
});

/** Upstream's suite file, schema `https://mcpjam.com/schemas/eval-suite/v1.json`. */
const upstreamSchema = z.strictObject({
  $schema: z.string().exactOptional(),
  schemaVersion: z.literal('1'),
  mode: z
    .enum(['agentWorkflow', 'serverContract'])
    .refine((mode) => mode === 'agentWorkflow', unsupported('`mode: serverContract`', 'upstream reserves it')),
  reportingMode: z
    .enum(['standard', 'restricted', 'summary'])
    .refine((mode) => mode === 'standard', unsupported('this reporting mode', 'write `standard`'))
    .exactOptional(),
  suite: z.strictObject({ id, name: text, description: z.string().exactOptional() }),
  // Where the servers run is the job's business: it starts the one under test itself.
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
      repetitions: repetitions.exactOptional(),
      passThreshold: fraction.exactOptional(),
      // Demands on how complete a run must be; the gate's is that every iteration was read, which is at least as strict.
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
});

type UpstreamSuite = z.output<typeof upstreamSchema>;
type UpstreamCase = UpstreamSuite['cases'][number];

/** Parses upstream's suite file into this project's format, same meaning; what this product cannot express is a finding. */
export function parseUpstreamSuite(document: SourceDocument): { suite: Suite | null; findings: Finding[] } {
  const parsed = upstreamSchema.safeParse(document.value);
  if (!parsed.success) return { suite: null, findings: explainIssues(upstreamSchema, document, parsed.error.issues) };
  const upstream = parsed.data;
  const enabled = upstream.cases.flatMap((testCase, index) =>
    testCase.disabled === true ? [] : [{ testCase, index }],
  );
  const { model } = upstream.defaults;
  const own = {
    suite: upstream.suite.name,
    id: upstream.suite.id,
    ...(model !== undefined && { model }),
    cases: enabled.map(({ testCase }) => toOwnCase(testCase, upstream)),
  };
  const indexes = enabled.map(({ index }) => index);
  const { suite, findings } = buildSuite(own, skipDisabledCases(document, indexes), null);
  return { suite: { ...suite, policy: { ...suite.policy, ...mapThresholds(upstream, document) } }, findings };
}

/**
 * Turns thresholds, of which each is about one case, into minimum pass rates of the cases. The suite as a whole then has none.
 * Where all iterations have to pass, the case is required, which holds with any confidence; so is a case without a threshold, as
 * every case of a file without thresholds has to pass in full.
 */
function mapThresholds(
  { cases, defaults }: UpstreamSuite,
  document: SourceDocument,
): Partial<Pick<PolicyLayer, 'minimumPassRate' | 'cases' | 'required'>> {
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
      given.push({ name, value: toPassRate(threshold, testCase.repetitions ?? defaults.repetitions ?? 1), source });
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

/** The threshold, unless rates are too coarse for it: then the rate that the same number of iterations reaches. */
function toPassRate(threshold: number, runs: number): number {
  // Binary fractions: 0.7 × 10 is a hair above 7, and asks for 7.
  const needed = Math.ceil(threshold * runs - 1e-9);
  const isMetBy = (passed: number) => meetsMinimumPassRate(passed, runs, threshold);
  const isExact = isMetBy(needed) && (needed === 0 || !isMetBy(needed - 1));
  return isExact ? threshold : Math.floor((needed / runs) * 1e6) / 1e6;
}

function toOwnCase(testCase: UpstreamCase, { defaults, target }: UpstreamSuite): WrittenCase {
  const runs = testCase.repetitions ?? defaults.repetitions;
  return {
    id: testCase.id,
    title: testCase.title,
    steps: testCase.steps.map((step) => aimAtServerUnderTest(step, target.servers)),
    ...(runs !== undefined && { runs }),
    ...(testCase.model !== undefined && { model: testCase.model }),
    ...(testCase.isNegativeTest !== undefined && { negative: testCase.isNegativeTest }),
    ...(testCase.expectedOutput !== undefined && { expectedOutput: testCase.expectedOutput }),
    ...(testCase.assertions !== undefined && { checks: { mode: 'replace' as const, list: testCase.assertions } }),
  };
}

/** The only server of a file is the one under test, whatever the file calls it. */
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
  };
}
