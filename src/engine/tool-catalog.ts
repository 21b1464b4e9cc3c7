import type { TestCase } from '../cases/case.ts';
import type { ToolCatalog } from '../checks/judgement.ts';
import { printValue } from '../checks/reasons.ts';
import { offerTools } from './model-tools.ts';
import type { Connection } from './process-loss.ts';
import { describeMissing, listAllTools } from './tool-list.ts';

/** Lists the tools that a model is offered in a case: those of its servers, and its decoys. */
export function createToolCatalog({ advancedConfig = {} }: TestCase, connection: Connection): ToolCatalog {
  const { toolPolicy = {}, decoys = [] } = advancedConfig;
  return {
    list: async () => {
      const listing = await listAllTools(connection);
      if (listing.kind === 'refused') return listing;
      if (listing.kind !== 'list') return { kind: 'unknown', reason: 'the server gave no list of its tools.' };
      const { list } = listing;
      return {
        kind: 'list',
        tools: offerTools({ list, toolPolicy, decoys, maxResultTokens: null, shown: null }),
        describeMissing: (name) =>
          list?.has(name) === true
            ? `Models are not offered the tool ${printValue(name)}.`
            : describeMissing(name, list),
      };
    },
  };
}
