import { z } from 'zod';
import { hostIds } from './host-ids.ts';
import { hostChangeKinds } from './hosts-report.ts';

const findingSchema = z.object({
  id: z.string().describe('Stable, such as `gemini-cli.schemas.refused.dropped.search`.'),
  host: z.enum(hostIds),
  kind: z.enum(hostChangeKinds),
  change: z
    .enum(['worse', 'same', 'better'])
    .nullable()
    .describe(
      '`worse`: it is new with the change. `same`: it was there before. `better`: it is gone. Null if nothing is compared.',
    ),
  tools: z.array(z.string()).describe('Empty if it is about a whole server.'),
  message: z.string().describe('The finding, in words.'),
  reason: z.string().describe('The fact about the host that it rests on, with version and date.'),
  doubt: z.string().nullable().describe('Why it cannot fail the verdict; null if it can.'),
  disposition: z
    .enum(['fail', 'review', 'note', 'off'])
    .describe('How it counts, by the policy. `note`: it is not new with the change. `off`: no report shows it.'),
});

/** What a host makes of the servers of a change, compared with those before it. */
export type HostsComparisonFinding = z.infer<typeof findingSchema>;

/** The schema of `hosts` in `report.json`. */
export const hostsComparisonSchema = z.object({
  against: z
    .string()
    .nullable()
    .describe(
      'What the servers are compared with: the path of a surface file, or `base`; null if nothing is compared.',
    ),
  unread: z.string().nullable().describe('Why it is not known what the servers show; null where it is.'),
  findings: z.array(findingSchema).describe('By host.'),
});

/** The findings of all hosts about the servers of a change. */
export type HostsComparison = z.infer<typeof hostsComparisonSchema>;
