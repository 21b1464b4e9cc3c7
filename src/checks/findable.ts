import { rankTools } from '../base/rank-tools.ts';
import { formatCount } from '../base/text.ts';
import { defineCheck } from './define-check.ts';
import { fail, leaveUnmeasured, pass } from './judgement.ts';
import { joinWithin, maxListLength, printValue } from './reasons.ts';

/** The number of tools that the search of Codex returns if the model asks for no other number. */
const defaultTop = 8;

/** The check of the search that hosts have instead of a list of all tools. */
export const findableChecks = [
  defineCheck({
    name: 'findable',
    docs: 'a search for these words finds the tool `toolName` among the first `top` (default: 8) of the tools of the server and the decoys',
    searchesTools: true,
    schema: ({ toolName, text, count }) => ({
      toolName,
      words: text.meta({ description: 'What a model would search for.' }),
      top: count.exactOptional().meta({ description: 'The number of tools that the search returns.' }),
    }),
    sample: { toolName: 'a', words: 'b' },
    judge: async ({ toolName, words, top = defaultTop }, _, { tools }) => {
      if (tools === null) return leaveUnmeasured('the tools of the server were not captured.');
      const offer = await tools.list();
      if (offer.kind === 'unknown') return leaveUnmeasured(offer.reason);
      if (offer.kind === 'refused') return fail(offer.reason);
      if (!offer.tools.some(({ name }) => name === toolName)) return fail(offer.describeMissing(toolName));
      const ranked = rankTools(offer.tools, words).map(({ name }) => name);
      const rank = ranked.indexOf(toolName) + 1;
      const searched = `in a search of ${formatCount(offer.tools.length, 'tool')} for ${printValue(words)}`;
      if (rank === 0) {
        return fail(`${toolName} has none of the words ${searched}, in its name, description or parameters.`);
      }
      if (rank <= top) return pass(`${toolName} is number ${rank} ${searched}.`);
      const before = joinWithin(ranked.slice(0, rank - 1), maxListLength, ', ');
      return fail(`${toolName} is number ${rank} ${searched}, expected among the first ${top}; before it: ${before}.`);
    },
    // The check asks the server, so a cut conversation does not affect it.
    final: 'both',
  }),
];
