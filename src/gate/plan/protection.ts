import { type PolicyFile, type PolicyLayer, type Protection, protections } from '../../model/policy.ts';
import type { Suite } from '../../model/suite.ts';
import type { VerdictReason } from '../../model/verdict.ts';
import { joinLayers, listSuiteLayers } from '../../verdict/layers.ts';
import { listLowered } from '../../verdict/lowered.ts';
import { type BasePolicy, describeFileChange } from './base-policy.ts';
import { describeLowered, type Weakening } from './weakenings.ts';

/** What a change must not lower, and where it does. */
export interface ProtectedBase extends Pick<BasePolicy, 'names' | 'tree' | 'openFork'> {
  protects: (protection: Protection) => boolean;
  /** Takes a difference that was found elsewhere. */
  add: (weakenings: readonly Weakening[], outdated: readonly Weakening[]) => void;
  /** Compares the suites of the change with the base's, and gives what the base requires of each by its id. */
  compareSuites: (
    suites: readonly Suite[],
    files: { patterns: readonly string[]; path: string | null },
  ) => Promise<Map<string, { fileLayers: PolicyLayer[]; ownLayer: PolicyLayer }>>;
  /** Compares what the policy files say of a suite whose evals file is not known. */
  compareStored: (suite: { id: string; name: string }) => void;
  /** Gives what was found as reasons of a verdict, each with the suite of the files that it is about, where it is about one. */
  listFindings: () => VerdictReason[];
}

/** Collects where a change lowers what the base requires. The base alone says what of that it protects. */
export function createProtection(
  base: BasePolicy,
  { before, after, notes }: { before: PolicyFile | null; after: PolicyFile | null; notes: string[] },
): ProtectedBase {
  const { names } = base;
  const found: Weakening[] = [];
  const changed = before === null ? null : describeFileChange(before, after, names);
  if (changed !== null) notes.push(changed);
  const protects = (protection: Protection) => (before?.protect ?? protections).includes(protection);
  const add: ProtectedBase['add'] = (weakenings, outdated) => {
    for (const weakening of weakenings) {
      if (protects(weakening.protection)) found.push(weakening);
      else notes.push(`${weakening.message} The policy of ${names.base} allows it.`);
    }
    for (const { message } of outdated) {
      notes.push(`This ${names.noun} is behind ${names.base}, which has changed since: ${message}`);
    }
  };
  return {
    ...base,
    protects,
    add,
    compareSuites: async (suites, files) => {
      const { layers, weakenings, outdated } = await base.compareSuites(suites, { ...files, before, after });
      add(weakenings, outdated);
      return layers;
    },
    compareStored: (suite) => {
      const read = (file: PolicyFile | null) => joinLayers(file === null ? [] : listSuiteLayers(file, suite));
      const place = ` of the suite ${JSON.stringify(suite.name)}`;
      const lowered = before === null ? [] : listLowered(read(before), read(after));
      add(
        lowered.map((each) => describeLowered(each, { place, suiteId: suite.id }, names)),
        [],
      );
    },
    listFindings: () =>
      found.map(({ code, message, remedy, suiteId, protection }) => {
        const allow = `or let the policy file of ${names.base} allow it, with a \`protect\` that leaves out \`${protection}\``;
        return { code, message: `${message} ${remedy}, ${allow}.`, ...(suiteId === null ? {} : { suiteId }) };
      }),
  };
}
