import { appendAll } from '../base/lists.ts';
import type { CheckByType } from '../checks/assertion.ts';
import { findAppProblems } from '../checks/app-resource.ts';
import { type AppReader, fail, type Judgement, type Judgements, leaveUnmeasured, pass } from './evidence.ts';
import { type Connection, explainFailedRequest } from './process-loss.ts';
import { joinWithin, maxListLength, printValue } from '../checks/reasons.ts';
import { describeMissing, listTools } from './tool-list.ts';

/** Reads the apps of a server in the session of an iteration. */
export function createAppReader(connection: Connection): AppReader {
  const { session, signal } = connection;
  return {
    listTools: async () => {
      const listing = await listTools(connection);
      if (listing.kind === 'list' || listing.kind === 'refused') return listing;
      return { kind: 'unknown', reason: 'the server gave no list of its tools.' };
    },
    read: async (uri) => {
      try {
        const result = await session.request({ method: 'resources/read', params: { uri } }, { signal });
        return { kind: 'read', result };
      } catch (error) {
        const fault = await explainFailedRequest(error, connection);
        if (fault.kind === 'lost') return { kind: 'unknown', reason: 'the process of the server ended.' };
        if (fault.kind === 'unreachable')
          return { kind: 'unknown', reason: `the server gave no answer: ${fault.message}.` };
        return { kind: 'refused', reason: `resources/read failed: ${printValue(fault.message)}` };
      }
    },
  };
}

export const appJudgements: Judgements<'appResourceValid'> = {
  appResourceValid: async (fields, _, aids) => {
    if (aids?.apps == null) return leaveUnmeasured('the resources of the server were not captured.');
    return await judgeApps(fields, aids.apps);
  },
};

async function judgeApps({ toolName }: CheckByType['appResourceValid'], apps: AppReader): Promise<Judgement> {
  const listing = await apps.listTools();
  if (listing.kind === 'unknown') return leaveUnmeasured(listing.reason);
  if (listing.kind === 'refused') return fail(listing.reason);
  const { list } = listing;
  if (toolName !== undefined && list?.has(toolName) !== true) return fail(describeMissing(toolName, list));
  const meant = [...(list ?? [])].filter(([name]) => toolName === undefined || name === toolName);
  const named = meant.flatMap(([name, { appUri }]) => (appUri === null ? [] : [{ name, uri: appUri }]));
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
