import type { ListedTool } from '../../inventory.ts';
import { environmentCanary, fileCanary } from '../../world/canary.ts';
import { defineFinding, eachStep } from '../define-finding.ts';

/** A line of a stack trace with a path of the server's code, in the way of Node.js and of Python. */
const stackLine = /\n\s+at (?:.* \()?(?:file:\/\/)?\/[^\s()]+:\d+:\d+\)?|\n\s*File "\/[^"\n]+", line \d+/;

export const leak = defineFinding({
  kind: 'leak',
  severity: 'error',
  find: eachStep(({ request, observation: { outcome, asked = [] } }, { findTool, isGivenWorkspace }) => {
    const answer = outcome.kind === 'result' || outcome.kind === 'error' ? JSON.stringify(outcome) : '';
    const tool = request.kind === 'tool' ? findTool(request.tool) : undefined;
    if (answer.includes(environmentCanary.value) && !showsEnvironment(tool)) {
      return 'the answer has the value of a variable of the server’s environment';
    }
    // A server that was given no directory may be meant to read any file.
    const isLimited = isGivenWorkspace || asked.some(({ ability }) => ability === 'roots');
    if (isLimited && answer.includes(fileCanary.value))
      return 'the answer has the content of a file outside of the workspace';
    const text = answer.replaceAll(String.raw`\n`, '\n').replaceAll(String.raw`\"`, '"');
    return stackLine.test(text) ? 'the answer has a stack trace with paths of the server’s code' : null;
  }),
});

function showsEnvironment(tool: ListedTool | undefined): boolean {
  return /\benv(?:ironment)?\b/i.test(`${tool?.name.replaceAll(/[_-]/g, ' ')} ${tool?.description}`);
}
