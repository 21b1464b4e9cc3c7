import { z } from 'zod';
import { protections } from '../model/policy.ts';
import { createFileShape } from '../model/rules/layers.ts';
import { writtenQuarantine } from '../model/rules/quarantine.ts';
import { gateRules, ruleSections, suiteRules } from '../model/rules/registry.ts';
import { text } from '../model/written-values.ts';

const commonRules = suiteRules.filter((rule) => rule.scope === 'suites');
const singleRules = suiteRules.filter((rule) => rule.scope === 'suite');

/** Requirements that any suite may have. */
const commonShape = createFileShape(commonRules, ruleSections);

/** The policy of one suite, in its evals file or in a policy file. */
export const suitePolicySchema = z
  .strictObject({ ...commonShape, ...createFileShape(singleRules, ruleSections) })
  .meta({ id: 'policy' });

/** A policy file: rules for the gate, for every suite and for single suites. */
export const policyFileSchema = z.strictObject({
  $schema: z.string().exactOptional(),
  ...createFileShape(gateRules, ruleSections),
  ...commonShape,
  quarantine: writtenQuarantine,
  suites: z
    .record(text, suitePolicySchema)
    .exactOptional()
    .meta({ description: 'What holds for single suites, by id or name; it goes before what holds for all.' }),
  protect: z.array(z.enum(protections)).exactOptional().meta({
    description:
      'What a pull request must not lower with `policy-ref: base`. Read from the base; everything unless given, and nothing with [].',
  }),
});

/** A policy as a program writes it: the content of a policy file. */
export type PolicyInput = z.input<typeof policyFileSchema>;
