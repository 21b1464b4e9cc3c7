import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { Secret } from '../../../../src/base/redaction.ts';
import type { Suite } from '../../../../src/cases/suite.ts';
import { callOperation } from '../../../../src/service/call-operation.ts';
import { caseOperations } from '../../../../src/service/operations/cases.ts';
import { serviceProfiles } from '../../../../src/service/profile.ts';
import { findOldestSuite } from '../../../../src/service/suite-client.ts';
import { resolveChecks } from '../../../../src/suite/build.ts';
import { readSuite } from '../../../../src/suite/read.ts';
import { describeSuiteSync, isInStep } from '../../src/sync/plan-sync.ts';
import { applySync, planSync, pullFile, type SyncPlace } from '../../src/sync/sync-files.ts';
import {
  type ContractService,
  openContractService,
  saveServer,
} from '../../../../test/support/service/contract-service.ts';
import { openTestClient } from '../../../../test/support/service/service-client.ts';
import { countDraws } from '../../../../test/support/property-runs.ts';

const word = fc.constantFrom(
  'Adds',
  'größer',
  'a: b',
  '# no comment',
  "it's",
  '"quoted"',
  '1e3',
  'true',
  '- x',
  '{{',
  '日本',
);
const text = fc.array(word, { minLength: 1, maxLength: 4 }).map((words) => words.join(' '));
/** As a file has it: a `{{` that begins no name is escaped. */
const escaped = text.map((words) => words.replaceAll('{{', '\\{{'));
const value = fc.oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }), fc.boolean(), escaped);
const argumentsOf = fc.dictionary(
  fc.constantFrom('a', 'b', 'pattern', '0'),
  fc.oneof(value, fc.array(value, { maxLength: 2 })),
  {
    maxKeys: 3,
  },
);
const check = fc.oneof(
  fc.constantFrom<unknown>(
    'noToolErrors',
    'finalAssistantMessageNonEmpty',
    { toolNeverCalled: 'drop' },
    { turnCountUnder: 3 },
  ),
  fc.record({ responseContains: escaped }),
  fc.record({ toolCalledWith: fc.constantFrom('add', 'sub'), arguments: argumentsOf }),
  fc.record({ responseMatches: fc.constantFrom('^a+$', String.raw`\{\{x`, 'b|c') }),
);
const step = fc.oneof(
  fc.record({ toolCall: fc.constantFrom('add', 'sub'), arguments: argumentsOf }, { requiredKeys: ['toolCall'] }),
  fc.record({ prompt: escaped }),
  fc.record({ assert: check }),
);
const match = fc.record(
  {
    toolCallOrder: fc.constantFrom('any', 'in-order', 'exact'),
    extraToolCalls: fc.constantFrom('unlimited', 0, 2),
    arguments: fc.constantFrom('ignore', 'partial', 'exact'),
  },
  { requiredKeys: [] },
);
const checks = fc.array(check, { maxLength: 2 });
const runs = fc.integer({ min: 1, max: 10 });
const model = fc.constantFrom('anthropic/claude', 'openai/gpt');
const evalCase = fc.record(
  {
    title: text,
    steps: fc.array(step, { minLength: 1, maxLength: 4 }),
    negative: fc.boolean(),
    runs,
    model,
    match,
    checks: fc.oneof(checks, fc.record({ mode: fc.constantFrom('inherit', 'replace', 'extend'), list: checks })),
    expectedOutput: text,
    scenario: text,
  },
  { requiredKeys: ['title', 'steps'] },
);
const evalsFile = fc
  .record(
    {
      suite: text,
      id: fc.constantFrom('notes', 'Own_id'),
      system: text,
      temperature: fc.constantFrom(0, 0.5, 2),
      runs,
      match,
      checks,
      policy: fc.record({ minimumPassRate: fc.constantFrom('0%', '66.67%', '90%', '100%') }, { requiredKeys: [] }),
      cases: fc.uniqueArray(evalCase, { minLength: 1, maxLength: 4, selector: ({ title }) => title }),
    },
    { requiredKeys: ['suite', 'cases'] },
  )
  .chain((file) =>
    fc.tuple(fc.constant(file), fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 4, maxLength: 4 })),
  )
  .map(([file, hasIds]) => {
    const cases = file.cases.map((item, index) => ({
      ...item,
      ...(hasIds[index] !== 0 && { id: `case_${index}` }),
    }));
    // Prompts need a model.
    return stringify({ ...file, cases, model: 'anthropic/claude' }, { schema: 'core' });
  });

function read(yaml: string): Suite {
  const { suite, findings } = readSuite(yaml, { file: 'a.evals.yaml' });
  if (suite === null) throw new Error(JSON.stringify(findings));
  return suite;
}

/**
 * What a file says, apart from how: comments, format, the order of keys, and whether something stands in the suite or in each of its cases.
 * Numbers are as JSON has them, which has no `-0`. A model is of the cases that ask one.
 */
function normalise({ id, name, model: ofSuite, policy, checks: ofAll, cases }: Suite) {
  const said = {
    id,
    name,
    model: ofSuite,
    minimumPassRate: policy.minimumPassRate?.value ?? 1,
    cases: cases.map((item) => {
      const asksModel = item.steps.some((located) => located.step.kind === 'prompt');
      const { id: caseId, title, isNegative, runs: iterations, model: own, expectedOutput, scenario } = item;
      return {
        caseId,
        title,
        isNegative,
        iterations,
        expectedOutput,
        scenario,
        match: item.match,
        ...(asksModel && { model: own }),
        system: item.modelSettings.system,
        temperature: item.modelSettings.temperature,
        checks: resolveChecks(ofAll, item.checks),
        steps: item.steps.map((located) => located.step),
      };
    }),
  };
  return JSON.parse(JSON.stringify(said));
}

let service: ContractService;
let place: SyncPlace & AsyncDisposable;

beforeAll(async () => {
  service = await openContractService();
  await saveServer(service);
  const origin = { origin: new URL(service.baseUrl).origin };
  const profile = { ...serviceProfiles.svc, pacing: null };
  const client = openTestClient(origin, { apiKey: new Secret(service.apiKey), profile });
  const { projectId } = service;
  place = { client, projectId, [Symbol.asyncDispose]: () => client[Symbol.asyncDispose]() };
});

afterAll(async () => {
  await place[Symbol.asyncDispose]();
  await service[Symbol.asyncDispose]();
});

const options = { server: null, prune: true };

async function sync(suite: Suite) {
  const plans = await planSync([suite], options, place);
  await applySync(plans, place);
  return plans;
}

/** Where the suite is kept. */
async function locate({ name }: Suite) {
  const found = await findOldestSuite(place.client, { projectId: place.projectId, name });
  if (found === undefined) throw new Error('The suite is not there.');
  return { projectId: place.projectId, suiteId: found.id };
}

describe('a suite that is synced', () => {
  it('is pulled as the file says it, needs no other sync, and names a case that changes on the service', async () => {
    const seen = { created: 0, changed: 0, deleted: 0 };
    await fc.assert(
      fc.asyncProperty(evalsFile, fc.nat(), async (yaml, number) => {
        const suite = read(yaml);
        // Some of the names come again, with other cases. A temperature cannot be taken away again.
        const isWarm = suite.cases[0]?.modelSettings.temperature !== null;
        const renamed = { ...suite, name: `Suite ${number % 2}${isWarm ? ' (warm)' : ''}` };
        const [plan] = await sync(renamed);
        seen.created += plan?.create.length ?? 0;
        seen.changed += (plan?.update.length ?? 0) + (plan?.replace.length ?? 0);
        seen.deleted += plan?.delete.length ?? 0;

        const again = await planSync([renamed], options, place);
        expect(again.map(describeSuiteSync).flat()).toEqual([expect.stringContaining('nothing to change')]);
        const at = await locate(renamed);
        const pulled = await pullFile(at.suiteId, place);
        const byId = (a: { caseId: string }, b: { caseId: string }) => (a.caseId < b.caseId ? -1 : 1);
        const sorted = (of: Suite) => {
          const said = normalise(of);
          return { ...said, cases: said.cases.toSorted(byId) };
        };
        expect(sorted(read(pulled))).toEqual(sorted(renamed));
        // What pull writes, it writes again.
        await sync(read(pulled));
        expect(await pullFile(at.suiteId, place)).toBe(pulled);

        const { items } = await callOperation(place.client, caseOperations.listEvalCases, at);
        const [first] = items;
        if (first === undefined) throw new Error('The suite has no case.');
        const changes = { ...at, caseId: first.id, iterations: first.iterations === 1 ? 2 : 1 };
        await callOperation(place.client, caseOperations.updateEvalCase, changes);
        const [changed] = await planSync([renamed], options, place);
        expect(changed?.update).toEqual([expect.objectContaining({ caseId: first.id, fields: ['runs'] })]);
        await callOperation(place.client, caseOperations.deleteEvalCase, { ...at, caseId: first.id });
        const [without] = await planSync([renamed], options, place);
        expect(without?.create).toHaveLength(1);
        expect(isInStep(without ?? expect.fail())).toBe(false);
      }),
      { numRuns: countDraws(200) },
    );
    expect(Object.values(seen).filter((count) => count < 5)).toEqual([]);
  });
});
