import { z } from 'zod';
import { quoteValue } from '../base/text.ts';
import { isRecord } from '../base/json.ts';
import { drivenHosts } from '../hosts/driven-hosts.ts';
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

/** The program of a host, which holds the conversation itself. */
const hostProgram = z.strictObject({
  command: z
    .string()
    .refine((id) => drivenHosts.has(id), {
      error: ({ input }) =>
        `${quoteValue(input)} is no host whose program can be driven; write ${[...drivenHosts.keys()].join(', ')}`,
    })
    .meta({ enum: [...drivenHosts.keys()], description: 'The host, which a step before the gate has installed.' }),
  version: z.string().min(1).meta({ description: 'Its exact version. With another one, the case has no result.' }),
  'built-ins': z.enum(['on', 'off']).exactOptional().meta({
    default: 'on',
    description: "`off` takes the host's own tools away, which changes what the model sees.",
  }),
  'allow-host-network': z.boolean().exactOptional().meta({
    default: false,
    description: 'Lets the host use the network where the machine cannot keep it from it.',
  }),
});
type WrittenHostProgram = z.infer<typeof hostProgram>;

const { $schema: _, ...hostProgramJson } = z.toJSONSchema(hostProgram, { io: 'input' });

/** The host of a case: the profile of one, or the program of one. A mapping gets the messages of the latter alone. */
export const hostChoice = z
  .unknown()
  .meta({
    anyOf: [{ type: 'string', enum: [...hostIds] }, hostProgramJson],
    default: genericHost,
    description:
      'Host whose treatment of tools, instructions and results the model sees, or the program of a host. The option `host` overrides it.',
  })
  .transform((written, context): string | WrittenHostProgram => {
    const parsed = (isRecord(written) ? hostProgram : hostId).safeParse(written);
    if (parsed.success) return parsed.data;
    for (const issue of parsed.error.issues) {
      const params = issue.code === 'custom' && issue.params !== undefined ? { params: issue.params } : {};
      context.addIssue({ code: 'custom', path: issue.path, message: issue.message, ...params });
    }
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
