import { expect, it } from 'vitest';
import {
  inlineTest,
  openContractService,
  saveServer,
  saveSuite,
  waitForEnd,
} from '../../../test/support/service/contract-service.ts';
import { doubledReferences, nestArrays } from '../../../test/support/servers/endless-schemas.ts';
import { answerContent, startRawMcpServer } from '../../../test/support/servers/raw-mcp-server.ts';

const number = JSON.stringify({ type: 'object', properties: { n: { type: 'number' } }, required: ['n'] });

// test/engine/schema-limits.test.ts has the other schemas that do not end.
it('fails the cases that cannot be checked by the schemas of the server, and judges all others', async () => {
  await using mcp = await startRawMcpServer({
    references: { outputSchema: JSON.stringify(doubledReferences), call: answerContent('{}') },
    deep: { outputSchema: number, call: answerContent(nestArrays(10_000)) },
    healthy: { outputSchema: number, call: answerContent('{"n":1}') },
    broken: { outputSchema: number, call: answerContent('{"n":"1"}') },
  });
  await using service = await openContractService({ concurrency: 4, schemaTimeMs: 3000 });
  // Less than the others take that stand before it.
  const impatient = { advancedConfig: { timeoutMs: 2500 } };
  const call = { id: 'call', kind: 'toolCall', serverName: '', toolName: 'healthy', arguments: {} };
  const bySchema = (schema: object) => [
    call,
    { id: 'fits', kind: 'assert', assertion: { type: 'toolResultMatchesSchema', schema } },
  ];
  const tests = [
    ...['references', 'healthy', 'deep', 'broken'].map((toolName) => inlineTest(toolName, impatient)),
    { title: 'Asks by an endless schema', steps: bySchema(doubledReferences), ...impatient },
    { title: 'Asks by a schema', steps: bySchema({ required: ['n'] }), ...impatient },
  ];
  const { suiteId } = await saveSuite(service, await saveServer(service, { url: mcp.url }), tests);
  const { body } = await service.project.post('/eval-runs', { suiteId });
  const runId = String(body.runId);
  expect(await waitForEnd(service, runId)).toMatchObject({ status: 'completed' });
  const { body: page } = await service.project.get(`/eval-runs/${runId}/iterations?limit=200`);
  const iterations: Array<{ title: string; status: string; result: string | null; error: string | null }> = page.items;
  const unchecked = (tool: string, reason: string) =>
    `${tool} answered with structuredContent that cannot be checked against its own outputSchema: ${reason}. Simplify the schema, or return less.`;
  const outcomes = Object.fromEntries(iterations.map(({ title, ...outcome }) => [title, outcome]));
  expect(outcomes).toMatchObject({
    'Calls references': { result: 'failed', error: unchecked('references', 'it does not end within 3 s') },
    'Calls deep': {
      result: 'failed',
      error: 'The server sent JSON that is nested deeper than 1000 levels, the limit for one iteration.',
    },
    'Calls broken': { result: 'failed', error: expect.stringContaining('/n must be number') },
    'Calls healthy': { result: 'passed' },
    'Asks by a schema': { result: 'passed' },
    'Asks by an endless schema': {
      status: 'failed',
      result: null,
      error:
        'toolResultMatchesSchema: the result of healthy could not be checked: it does not end within 3 s. Simplify the schema, or check a part of the result with toolResultEquals.',
    },
  });
});
