import type { PolicyInput } from '../../../src/index.ts';
import { parseGateOptions } from '../../../src/gate/options.ts';
import type { GateOptions } from '../../../src/gate/options/schema.ts';

/** The texts of options by name. `policy` is a path, or the policy itself as a program passes it. */
export type GateInputs = Readonly<Record<string, string | PolicyInput>>;

/**
 * Reads inputs as a program does: texts are parsed, and a policy is set on the options. By default, the server runs without a sandbox, because
 * each start in a sandbox needs a dozen more processes. Tests of the action and of the command use the sandbox.
 */
export function readGateInputs(inputs: GateInputs): GateOptions {
  const texts = Object.entries(inputs).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  const isSandboxed = texts.some(([name]) => name.startsWith('sandbox'));
  const options = parseGateOptions({ ...(!isSandboxed && { sandbox: 'off' }), ...Object.fromEntries(texts) });
  const { policy } = inputs;
  return policy === undefined || typeof policy === 'string' ? options : { ...options, policy };
}
