import { describe, expect, it } from 'vitest';
import { listArgumentMismatches } from '../../src/engine/check-arguments.ts';
import { startSchemaTime } from '../../src/engine/schema-check.ts';

const written = (values: { message: string | number }) => ({ text: JSON.stringify(values), values });
const createSchema = (type: string) => ({ type: 'object', properties: { message: { type } } });
const enough = () => ({ time: startSchemaTime(), limit: null });
/** Every check that reaches the thread is stopped. */
const noTime = () => ({ time: startSchemaTime(0), limit: null });

describe('the check of the arguments of a model', () => {
  it('keeps what it found for the same schema and the same text', async () => {
    const schema = createSchema('string');
    const wrong = written({ message: 1 });
    const found = await listArgumentMismatches(schema, wrong, enough());
    expect(found).toEqual([expect.stringContaining('message')]);
    expect(await listArgumentMismatches(schema, wrong, noTime())).toEqual(found);
    expect(await listArgumentMismatches(schema, written({ message: 'a' }), enough())).toEqual([]);
  });

  it('checks the same text against each schema', async () => {
    const right = written({ message: 'a' });
    expect(await listArgumentMismatches(createSchema('string'), right, enough())).toEqual([]);
    expect(await listArgumentMismatches(createSchema('number'), right, enough())).toHaveLength(1);
  });

  it('checks again after a check that was stopped', async () => {
    const schema = createSchema('string');
    const wrong = written({ message: 1 });
    expect(await listArgumentMismatches(schema, wrong, noTime())).toEqual([]);
    expect(await listArgumentMismatches(schema, wrong, enough())).toHaveLength(1);
  });

  it('forgets earlier texts instead of keeping more than a hundred', async () => {
    const schema = createSchema('string');
    const wrong = written({ message: -1 });
    await listArgumentMismatches(schema, wrong, enough());
    for (let message = 0; message < 100; message += 1) {
      await listArgumentMismatches(schema, written({ message }), enough());
    }
    expect(await listArgumentMismatches(schema, wrong, noTime())).toEqual([]);
  });
});
