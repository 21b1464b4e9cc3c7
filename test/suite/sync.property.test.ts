import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Secret } from '../../src/base/redaction.ts';
import type { JsonObject } from '../../src/base/json.ts';
import type { Check } from '../../src/checks/assertion.ts';
import type { CaseFields, MatchOptions, StoredCase, TestCase } from '../../src/cases/case.ts';
import type { Step } from '../../src/cases/step.ts';
import { toPublicMatchOptions } from '../../src/cases/case.ts';
import { serverUnderTest } from '../../src/cases/step-server.ts';
import type { Suite, SuiteCase } from '../../src/cases/suite.ts';
import { callOperation } from '../../src/service/call-operation.ts';
import type { ServiceClient } from '../../src/service/client.ts';
import { createRun } from '../../src/service/run-client.ts';
import { operations } from '../../src/service/operations/table.ts';
import { compileCase, compileSuite } from '../../src/suite/compile.ts';
import { contract } from '../../src/suite/dialect.ts';
import { planSync, type SyncPlan } from '../../src/suite/sync.ts';
import { callStep } from '../support/factories/case-factory.ts';
import {
  openContractService,
  saveServer,
  waitForEnd,
  type ContractService,
} from '../support/service/contract-service.ts';
import { startEchoServer } from '../support/servers/echo-server.ts';
import { openTestClient } from '../support/service/service-client.ts';
import { createSuite, createSuiteCase } from '../support/factories/suite-factory.ts';
import { countDraws } from '../support/property-runs.ts';

const options = { dialect: contract } as const;

const { location } = createSuiteCase();
const call = (id: string, args: JsonObject): Step => {
  return { id, kind: 'toolCall', serverName: serverUnderTest, toolName: 'add', arguments: args };
};
const makeStep = fc.constantFrom<(id: string) => Step>(
  (id) => call(id, { a: 1, b: { c: [2] } }),
  (id) => call(id, {}),
  (id) => ({ id, kind: 'prompt', prompt: 'Add.' }),
  (id) => ({ id, kind: 'assert', assertion: { type: 'toolResultContains', needle: '5' } }),
  (id) => ({ id, kind: 'assert', assertion: { type: 'toolCalledAtLeastOnce', toolName: 'add' } }),
);
const steps = fc
  .array(makeStep, { minLength: 1, maxLength: 3 })
  .map((makers) => makers.map((make, index) => ({ step: make(`s${index}`), location })));
const check = fc.constantFrom<Check>(
  { type: 'noToolErrors' },
  { type: 'toolLatencyUnder', ms: 5 },
  { type: 'turnCountUnder', turns: 3 },
);

const suiteCase: fc.Arbitrary<SuiteCase> = fc
  .record({
    title: fc.constantFrom('A', 'B', 'C'),
    steps,
    runs: fc.integer({ min: 1, max: 10 }),
    isNegative: fc.boolean(),
    failOnToolError: fc.boolean(),
    model: fc.constantFrom(null, 'anthropic/claude', 'openai/gpt'),
    expectedOutput: fc.constantFrom(null, 'five'),
    scenario: fc.constantFrom(null, 'arithmetic'),
    match: fc.record({
      toolCallOrder: fc.constantFrom('any', 'in-order', 'exact'),
      extraToolCalls: fc.constantFrom<MatchOptions['extraToolCalls']>('unlimited', 0, 2),
      arguments: fc.constantFrom('ignore', 'partial', 'exact'),
    }),
    checks: fc.record({
      mode: fc.constantFrom('inherit', 'replace', 'extend'),
      list: fc.array(check, { maxLength: 2 }),
    }),
  })
  .map((fields) => createSuiteCase(fields));

/** Two versions of a file: one is often the other with cases taken out, added and edited. */
const versions = fc
  .tuple(
    fc.array(suiteCase, { minLength: 1, maxLength: 4 }),
    fc.array(fc.tuple(suiteCase, fc.constantFrom('new', 'same', 'runs', 'steps')), { minLength: 1, maxLength: 5 }),
  )
  .map(([before, edits]) => {
    const after = edits.map(([item, edit], index) => {
      const earlier = before[index] ?? item;
      if (edit === 'new') return item;
      return edit === 'same' ? earlier : { ...earlier, [edit]: item[edit] };
    });
    return { before: createSuite(before), after: createSuite(after) };
  });

describe('a stored suite', () => {
  let service: ContractService;
  let client: ServiceClient;
  let serverId: string;
  beforeAll(async () => {
    service = await openContractService();
    serverId = await saveServer(service);
    const apiKey = new Secret(service.apiKey);
    client = openTestClient({ origin: new URL(service.baseUrl).origin }, { apiKey });
  });
  afterAll(async () => {
    await client[Symbol.asyncDispose]();
    await service[Symbol.asyncDispose]();
  });

  const store = async (suite: Suite) => {
    const { projectId } = service;
    const tests = compileSuite(suite, options);
    const fields = { projectId, name: suite.name, serverIds: [serverId], model: 'none/none', tests };
    const created = await callOperation(client, operations.suites.createEvalSuite, fields);
    return { projectId, suiteId: created.suiteId };
  };

  const listCases = async (place: { projectId: string; suiteId: string }) =>
    (await callOperation(client, operations.cases.listEvalCases, place)).items;

  const apply = async (plan: SyncPlan, place: { projectId: string; suiteId: string }) => {
    const { updateEvalCase, deleteEvalCase } = operations.cases;
    for (const { caseId, changes } of plan.update) {
      await callOperation(client, updateEvalCase, { ...changes, ...place, caseId });
    }
    for (const { caseId } of plan.delete) await callOperation(client, deleteEvalCase, { ...place, caseId });
  };

  it('is equal to the file after a sync, and needs no other', async () => {
    const seen = { create: 0, update: 0, delete: 0, unchanged: 0 };
    await fc.assert(
      fc.asyncProperty(versions, async ({ before, after }) => {
        const place = await store(before);
        const stored = await listCases(place);
        expect(planSync(before, stored, options)).toEqual({
          create: [],
          update: [],
          delete: [],
          unchanged: before.cases.length,
        });

        const plan = planSync(after, stored, options);
        expect(plan.create.length + plan.update.length + plan.unchanged).toBe(after.cases.length);
        expect(plan.delete.length + plan.update.length + plan.unchanged).toBe(stored.length);
        await apply(plan, place);
        for (const item of plan.create) {
          const fields = { ...toCaseFields(compileCase(item, after, options)), ...place };
          await callOperation(client, operations.cases.createEvalCase, fields);
        }
        const synced = await listCases(place);
        expect(synced.map(print).toSorted()).toEqual(
          compileSuite(after, options).map(toCaseFields).map(print).toSorted(),
        );
        expect(planSync(after, synced, options)).toMatchObject({ create: [], update: [], delete: [] });
        for (const key of ['create', 'update', 'delete'] as const) seen[key] += plan[key].length;
        seen.unchanged += plan.unchanged;
        await callOperation(client, operations.suites.deleteEvalSuite, place);
      }),
      { numRuns: countDraws(150) },
    );
    expect(Object.values(seen).filter((count) => count < 5)).toEqual([]);
  });

  it('is equal to the file after a run that brings the new cases along', async () => {
    await using mcp = await startEchoServer();
    const echo = await saveServer(service, { name: 'echo', url: mcp.url });
    const item = (title: string, toolName: string, runs: number) => {
      const step = callStep(toolName);
      return createSuiteCase({ id: title, title, runs, steps: [{ step, location }] });
    };
    const place = await store(createSuite([item('kept', 'echo', 1), item('changed', 'fail', 1), item('gone', 'a', 1)]));
    const after = createSuite([item('new', 'echo', 1), item('changed', 'echo', 2), item('kept', 'echo', 1)]);
    await apply(planSync(after, await listCases(place), options), place);
    const run = await createRun(client, {
      projectId: place.projectId,
      run: {
        suiteId: place.suiteId,
        tests: compileSuite(after, options),
        serverIds: [echo],
        serverNames: [serverUnderTest],
      },
    });
    expect(await waitForEnd(service, run.runId)).toMatchObject({ status: 'completed', result: 'passed' });
    const synced = await listCases(place);
    expect(planSync(after, synced, options)).toEqual({ create: [], update: [], delete: [], unchanged: 3 });
    expect(synced.map(({ title }) => title)).toEqual(['kept', 'changed', 'new']);
  });
});

/** The same case in the other vocabulary, independently of what is tested. */
function toCaseFields(test: TestCase): CaseFields {
  const { title, steps, runs, isNegativeTest = false, matchOptions, predicates, model = '', provider = '' } = test;
  return {
    title,
    steps,
    iterations: runs,
    isNegative: isNegativeTest,
    models: [{ model, provider }],
    ...(matchOptions && { matchOptions: toPublicMatchOptions(matchOptions) }),
    ...(predicates && { checks: predicates }),
    ...(test.expectedOutput !== undefined && { expectedOutput: test.expectedOutput }),
    ...(test.scenario !== undefined && { scenario: test.scenario }),
  };
}

function print(stored: CaseFields | StoredCase): string {
  const { title, steps, iterations, isNegative, models, matchOptions, checks, expectedOutput, scenario } = stored;
  const callsModel = JSON.stringify(steps).includes('"prompt"');
  return JSON.stringify([
    title,
    sortKeys(steps),
    iterations,
    isNegative,
    callsModel ? sortKeys(models) : null,
    sortKeys(matchOptions),
    sortKeys(checks),
    expectedOutput ?? '',
    scenario ?? '',
  ]);
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, member]) => [key, sortKeys(member)]));
}
