import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createServiceClient, type EvalServiceClient } from '../../src/service/create-client.ts';
import { listPathFields, type Operation } from '../../src/service/operations/operation.ts';
import { listOperations } from '../../src/service/operations/table.ts';
import { json, startHttpServer } from '../support/network/http-server.ts';
import { documentedAnswers, listOptionalFields, sampleOf } from '../support/service/documented-answers.ts';

/** `ANSWER_TABLE=1` prints it: for each operation how many answers of each kind the client was sent, and how many it refused. */
interface TableRow {
  operation: string;
  documented: number;
  absent: number;
  null: number;
  refused: number;
}

describe('the client reads the documented answer of', () => {
  const table: TableRow[] = [];
  let answer: unknown;
  let server: Awaited<ReturnType<typeof startHttpServer>>;
  let client: EvalServiceClient;
  beforeAll(async () => {
    server = await startHttpServer((response, request) => json(200, answer)(response, request));
    client = createServiceClient({ baseUrl: server.origin, apiKey: 'sk_x', profile: 'embedded', maxAttempts: 1 });
  });
  afterAll(async () => {
    if (process.env['ANSWER_TABLE'] !== undefined) console.log(renderTable(table));
    await client[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  });

  const read = async (operation: Operation, sent: unknown): Promise<string | null> => {
    answer = sent;
    const fields = Object.fromEntries(
      [...listPathFields(operation.path), ...Object.keys(operation.query.shape), 'name'].map((name) => [name, 'x']),
    );
    const functions = Object.assign({}, ...Object.values(client)) as Record<string, (given: unknown) => unknown>;
    const called = functions[operation.name]?.(fields);
    try {
      if (isPaged(called)) await called.next();
      else await called;
      return null;
    } catch (error) {
      return String(error);
    }
  };

  it('every operation', () => {
    expect([...documentedAnswers.keys()].toSorted()).toEqual(
      listOperations()
        .map(({ name }) => name)
        .toSorted(),
    );
  });

  it.each(listOperations().map((operation) => ({ name: operation.name, operation })))(
    '$name, with each optional field absent and null',
    async ({ name, operation }) => {
      const type = documentedAnswers.get(name);
      if (type === undefined) throw new Error(`${name} is not documented`);
      const refusals = [{ path: 'nothing', refusal: await read(operation, sampleOf(type)) }];
      const optional = listOptionalFields(type);
      for (const path of optional) {
        refusals.push({
          path: `${path} absent`,
          refusal: await read(operation, change(sampleOf(type), path, undefined)),
        });
        refusals.push({ path: `${path} null`, refusal: await read(operation, change(sampleOf(type), path, null)) });
      }
      const refused = refusals.filter(({ refusal }) => refusal !== null);
      table.push({
        operation: name,
        documented: 1,
        absent: optional.length,
        null: optional.length,
        refused: refused.length,
      });
      expect(refused).toEqual([]);
    },
  );

  it('no operation whose answer is something else', async () => {
    const lists = listOperations().filter(({ name }) => name === 'listHosts' || name === 'getMe');
    for (const operation of lists) expect(await read(operation, ['x'])).toContain("The service's answer is not");
  });
});

function isPaged(value: unknown): value is AsyncGenerator {
  return typeof value === 'object' && value !== null && 'next' in value;
}

function renderTable(rows: readonly TableRow[]): string {
  const sum = (of: (row: TableRow) => number) => rows.reduce((total, row) => total + of(row), 0);
  const all = {
    operation: `${rows.length} operations`,
    documented: sum((row) => row.documented),
    absent: sum((row) => row.absent),
    null: sum((row) => row.null),
    refused: sum((row) => row.refused),
  };
  const lines = [...rows, all].map((row) => `| ${Object.values(row).join(' | ')} |`);
  return [
    '| operation | documented answer | optional field absent | optional field null | refused |',
    '| --- | --- | --- | --- | --- |',
    ...lines,
  ].join('\n');
}

/** Sets a field, or removes it where the value is undefined. */
function change(sample: unknown, path: string, value: unknown): unknown {
  const names = path.split('.');
  const last = names.pop() ?? '';
  let at = sample as Record<string, unknown>;
  for (const name of names) at = at[name] as Record<string, unknown>;
  if (value === undefined) delete at[last];
  else at[last] = value;
  return sample;
}
