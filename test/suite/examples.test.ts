import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { describe, expect, it } from 'vitest';
import { buildEvalsJsonSchema } from '../../src/suite/suite-schema.ts';
import { loadSuites } from '../../src/suite/load.ts';

const root = join(import.meta.dirname, '../..');
const validate = new Ajv2020({ strict: false }).compile(buildEvalsJsonSchema());

describe('the examples', () => {
  it('are valid', async () => {
    const { suites, findings } = await loadSuites(['examples/**/*.evals.yaml'], { cwd: root });
    expect(findings).toEqual([]);
    expect(suites.map(({ id }) => id)).toEqual(expect.arrayContaining(['everything', 'failing']));
  });

  it.each(['everything', 'failing'])('are what an editor takes for valid: %s', async (name) => {
    const text = await readFile(join(root, `examples/${name}/${name}.evals.yaml`), 'utf8');
    expect(validate(parse(text)) ? [] : validate.errors).toEqual([]);
  });
});
