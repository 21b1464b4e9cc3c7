import { z } from 'zod';
import { quoteValue } from '../base/text.ts';
import { genericHost } from '../hosts/find-host.ts';
import { hostIds } from '../model/host-ids.ts';
import { type ProtocolSetting, protocolSettings } from '../model/protocol.ts';
import { modelPattern, withIssueCode } from '../model/written-values.ts';
import { suggestNearest } from './findings.ts';

const idPattern = /^[A-Za-z0-9_-]{1,128}$/;

/** An id that the API accepts. */
export const id = z
  .string()
  .refine(
    (value) => idPattern.test(value),
    withIssueCode(
      'bad-id',
      (value) => `${JSON.stringify(value)} is not an id; use 1 to 128 letters, digits, \`-\` and \`_\``,
    ),
  )
  .meta({ pattern: idPattern.source });

/** A model's id in the hosted form. */
export const modelId = z
  .string()
  .refine(
    (value) => modelPattern.test(value),
    withIssueCode('bad-model', (value) => `${JSON.stringify(value)} is not a model; write \`provider/name\``),
  )
  .meta({
    pattern: modelPattern.source,
    description: 'Model for prompt steps, as `provider/name`.',
    examples: ['anthropic/claude-haiku-4.5'],
  });

/** A revision of MCP, `auto` or `both`. */
export const protocol = z
  .unknown()
  .meta({
    type: 'string',
    enum: [...protocolSettings],
    description:
      'Revision of MCP that the cases are run in; `both` runs each case once in each. The option `protocol` overrides it.',
  })
  .transform((written, context): ProtocolSetting => {
    const found = protocolSettings.find((setting) => setting === written);
    if (found !== undefined) return found;
    const message = `${quoteValue(written)} is not a revision of MCP that can be pinned; write ${protocolSettings.join(', ')}`;
    context.addIssue({ code: 'custom', message, params: { code: 'bad-protocol' } });
    return z.NEVER;
  });

/** The host that stands between the model and the server. */
export const hostId = z
  .unknown()
  .meta({
    type: 'string',
    enum: [...hostIds],
    default: genericHost,
    description:
      'Host whose treatment of tools, instructions and results the model sees. The option `host` overrides it.',
  })
  .transform((written, context): string => {
    const found = hostIds.find((id) => id === written);
    if (found !== undefined) return found;
    const message =
      typeof written === 'string'
        ? explainUnknownHost(written)
        : `${quoteValue(written)} is no known host; write ${hostIds.join(', ')}`;
    context.addIssue({ code: 'custom', message, params: { code: 'unknown-host' } });
    return z.NEVER;
  });

export function explainUnknownHost(id: string): string {
  return `${quoteValue(id)} is no known host${suggestNearest(id, hostIds)}`;
}

/** The most iterations of one case. */
const maxRuns = 100;
export const runs = z.int().min(1).max(maxRuns).meta({ description: 'Iterations of each case, 1 to 100.' });

/** The iterations of one case: a number, or a range from which the confidence decides how many are needed. */
export const runsOrRange = z
  .union([
    runs,
    z
      .strictObject({ min: z.int().min(1).max(maxRuns), max: z.int().min(1).max(maxRuns) })
      .refine(
        ({ min, max }) => min < max,
        withIssueCode(
          'bad-range',
          '`max` must be larger than `min`; for a fixed number of iterations, write the number',
        ),
      ),
  ])
  .meta({
    description:
      'Iterations of each case, 1 to 100; with `min` and `max`, as many as the `confidence` of the policy needs.',
    examples: [{ min: 2, max: 30 }],
  });
