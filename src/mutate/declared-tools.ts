import { isRecord, type JsonObject } from '../base/json.ts';
import type { TapeChanges, TapedAnswer } from '../engine/session-tape.ts';
import type { ToolDeclaration, ToolList } from '../mcp/tool-declarations.ts';
import type { AnswerView } from './answer-view.ts';
import type { ObservedCase, Observation, ObservedSuite } from './observe-cases.ts';
import type { DeclaredParts } from './operators/define-operator.ts';

/**
 * Joins the answers of each tool, because a change of its declaration meets every case that calls or lists it. A tool that cases only list
 * has the answer to that request.
 */
export function joinByTool({ observations, cases }: Pick<ObservedSuite, 'observations' | 'cases'>): Observation[] {
  const called = Map.groupBy(
    observations.filter(({ view: { kind, tool } }) => kind === 'tool' && tool !== null),
    ({ view: { subject } }) => subject,
  );
  const listings = cases.flatMap((testCase) =>
    [...testCase.exchangeOf.values()]
      .filter((exchange) => testCase.taped.tape.exchanges[exchange]?.request.method === 'tools/list')
      .map((exchange) => ({ testCase, exchange })),
  );
  const joined = [...called.values()].flatMap((own): Observation[] => {
    const [first] = own;
    return first === undefined ? [] : [{ view: first.view, uses: [...own.flatMap(({ uses }) => uses), ...listings] }];
  });
  for (const { testCase, exchange } of listings) {
    const { request, answer } = testCase.taped.tape.exchanges[exchange] ?? {};
    if (request === undefined || answer?.kind !== 'result') continue;
    for (const [subject, tool] of readListing(answer.result)) {
      if (joined.some(({ view }) => view.subject === subject)) continue;
      const parts = { result: null, isError: false, document: null, texts: [], workspace: null };
      joined.push({ view: { kind: 'tool', subject, request, answer, tool, ...parts }, uses: listings });
    }
  }
  return joined;
}

function readListing(result: unknown): Array<[string, NonNullable<AnswerView['tool']>]> {
  const tools: unknown[] = isRecord(result) && Array.isArray(result['tools']) ? result['tools'] : [];
  return tools.filter(isRecord).flatMap(({ name, inputSchema, outputSchema, annotations }) => {
    if (typeof name !== 'string' || !isRecord(inputSchema)) return [];
    const others = [outputSchema, annotations].map((each) => (isRecord(each) ? each : null));
    return [[name, { inputSchema, outputSchema: others[0] ?? null, annotations: others[1] ?? null }]];
  });
}

/** The arguments of the calls of an observation. */
export function listSent({ uses }: Observation): JsonObject[] {
  return uses.flatMap(({ testCase, exchange }) => {
    const params = testCase.taped.tape.exchanges[exchange]?.request.params;
    return isRecord(params) && isRecord(params['arguments']) ? [params['arguments']] : [];
  });
}

/** Places a change of a declaration in each case that sees the tool: in the lists of its servers, and in the answers to `tools/list`. */
export function placeDeclaration(
  { view, uses }: Observation,
  make: () => DeclaredParts | null,
): ReadonlyArray<{ testCase: ObservedCase } & TapeChanges> {
  const name = view.subject;
  return [...new Set(uses.map(({ testCase }) => testCase))].map((testCase) => ({
    testCase,
    changeTools: (list) => changeList(list, name, make()),
    get answers() {
      const changed = make();
      return new Map(
        testCase.taped.tape.exchanges.flatMap(({ request, answer }, index): Array<[number, TapedAnswer]> => {
          if (request.method !== 'tools/list' || answer?.kind !== 'result') return [];
          return [[index, { kind: 'result', result: changeListing(answer.result, name, changed) }]];
        }),
      );
    },
  }));
}

function changeList(list: ToolList, name: string, changed: DeclaredParts | null): ToolList {
  if (list === null) return null;
  return new Map(
    [...list].flatMap(([key, declaration]): Array<[string, ToolDeclaration]> => {
      if (key !== name) return [[key, declaration]];
      if (changed === null) return [];
      const { name: newName, ...parts } = changed;
      return [[newName, { ...declaration, ...parts, isReadOnly: parts.annotations?.['readOnlyHint'] === true }]];
    }),
  );
}

function changeListing(result: unknown, name: string, changed: DeclaredParts | null): unknown {
  if (!isRecord(result) || !Array.isArray(result['tools'])) return result;
  const tools = result['tools'].flatMap((tool: unknown): unknown[] => {
    if (!isRecord(tool) || tool['name'] !== name) return [tool];
    if (changed === null) return [];
    const { outputSchema, annotations, ...parts } = changed;
    return [{ ...tool, ...parts, ...(outputSchema && { outputSchema }), ...(annotations && { annotations }) }];
  });
  return { ...result, tools };
}
