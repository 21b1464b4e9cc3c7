import { appendAll } from '../base/lists.ts';
import { findAppProblems } from './app-resource.ts';
import { defineCheck } from './define-check.ts';
import { type AppReader, fail, type Judgement, leaveUnmeasured, pass } from './judgement.ts';
import { joinWithin, maxListLength, printValue } from './reasons.ts';

/** Checks of the apps that a server declares. */
export const appChecks = [
  defineCheck({
    name: 'appResourceValid',
    docs: 'the resource of every tool that declares an app (MCP Apps), or of `toolName`, is valid; fails if none of them declares an app',
    sessionNeeds: ['apps'],
    schema: ({ ofTool }) => ({ toolName: ofTool }),
    sample: { toolName: 'a' },
    judge: async ({ toolName }, _, { apps }) =>
      apps === null
        ? leaveUnmeasured('the resources of the server were not captured.')
        : await judgeApps(toolName, apps),
    // The check asks the server, so a cut conversation does not affect it.
    final: 'both',
  }),
];

async function judgeApps(toolName: string | undefined, apps: AppReader): Promise<Judgement> {
  const listing = await apps.listTools();
  if (listing.kind === 'unknown') return leaveUnmeasured(listing.reason);
  if (listing.kind === 'refused') return fail(listing.reason);
  if (toolName !== undefined && !listing.apps.has(toolName)) return fail(listing.describeMissing(toolName));
  const meant = [...listing.apps].filter(([name]) => toolName === undefined || name === toolName);
  const named = meant.flatMap(([name, uri]) => (uri === null ? [] : [{ name, uri }]));
  if (named.length === 0) {
    return fail(
      `${toolName ?? 'no tool of the server'} declares ${toolName === undefined ? 'an' : 'no'} app in \`_meta.ui.resourceUri\`.`,
    );
  }
  const problems: string[] = [];
  for (const uri of new Set(named.map((app) => app.uri))) {
    const read = await apps.read(uri);
    if (read.kind === 'unknown') return leaveUnmeasured(`${uri} could not be read: ${read.reason}`);
    const found = read.kind === 'refused' ? [read.reason] : findAppProblems(uri, read.result);
    const tools = named.filter((app) => app.uri === uri).map(({ name }) => name);
    appendAll(
      problems,
      found.map((problem) => `${printValue(uri)} of ${tools.join(', ')}: ${problem}`),
    );
  }
  if (problems.length > 0) return fail(`${joinWithin(problems, maxListLength)}.`);
  return pass(
    `${joinWithin(
      named.map(({ name, uri }) => `${name} has ${uri}`),
      maxListLength,
    )}.`,
  );
}
