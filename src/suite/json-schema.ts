import { z } from 'zod';
import { policyFileSchema } from './policy-schema.ts';
import { suiteSchema } from './suite-schema.ts';

/** Builds the JSON Schema 2020-12 of the evals file, for editors; generated from what `readSuite` parses with. */
export function buildEvalsJsonSchema(): object {
  const { $schema, ...schema } = z.toJSONSchema(suiteSchema, { io: 'input', target: 'draft-2020-12' });
  return {
    $schema,
    $id: 'urn:mcp-eval-ci:evals:1',
    title: 'Evals of an MCP server',
    description: 'A suite of cases that mcp-eval-ci runs against an MCP server.',
    ...schema,
  };
}

/** Builds the JSON Schema 2020-12 of the policy file, for editors; generated from what `readPolicy` parses with. */
export function buildPolicyJsonSchema(): object {
  const { $schema, ...schema } = z.toJSONSchema(policyFileSchema, { io: 'input', target: 'draft-2020-12' });
  return {
    $schema,
    $id: 'urn:mcp-eval-ci:policy:1',
    title: 'Policy of an eval gate',
    description: 'What mcp-eval-ci demands of the results of one or several suites.',
    ...schema,
  };
}
