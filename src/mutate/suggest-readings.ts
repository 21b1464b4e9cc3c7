import { isRecord, type JsonObject } from '../base/json.ts';
import { hasVolatileForm } from '../explore/stability/forms.ts';
import { readVerb, splitName } from '../explore/vocabulary/names.ts';
import type { ToolDeclaration } from '../mcp/tool-declarations.ts';
import { mapTexts } from '../workspace/placeholders.ts';
import { loseEffect, type Strength } from './measure-strength.ts';
import type { ObservedCase, ObservedSuite } from './observe-cases.ts';

/** A call that reads what a step has changed, where the case reads nothing afterwards. */
export interface Reading {
  testCase: ObservedCase;
  /** The position of the step that changes something. */
  stepIndex: number;
  /** The step to add before and after it, in the notation of an evals file. */
  step: JsonObject;
}

/** Suggests a call for each lost effect that no case could see: of a tool that reads, with arguments of the change or of another case. */
export function suggestReadings(
  { changes }: Strength,
  { observations }: Pick<ObservedSuite, 'observations'>,
): Reading[] {
  const called = new Map(
    observations
      .filter(({ view: { kind, isError, subject } }) => kind === 'tool' && !isError && readVerb(subject) === 'read')
      .map(({ view: { subject, request }, uses }) => [
        subject,
        placeWorkspace(readArguments(request.params), uses[0]?.testCase),
      ]),
  );
  return changes.flatMap(({ operator, outcome, observation: { view, uses }, answers }): Reading[] => {
    const [own] = answers;
    if (operator !== loseEffect.name || outcome !== 'unnoticed' || own === undefined || own.answers.size > 0) return [];
    const { testCase } = own;
    const exchange = uses.find((each) => each.testCase === testCase)?.exchange;
    const stepIndex = [...testCase.exchangeOf].find(([, each]) => each === exchange)?.[0];
    const sent = placeWorkspace(readArguments(view.request.params), testCase);
    const step =
      stepIndex === undefined ? null : findReader(view.subject, sent, { called, tools: listTools(testCase) });
    return stepIndex === undefined || step === null ? [] : [{ testCase, stepIndex, step }];
  });
}

/** Finds the tool whose name and arguments have most in common with those of a change. */
function findReader(
  writer: string,
  sent: JsonObject,
  { called, tools }: { called: ReadonlyMap<string, JsonObject>; tools: ReadonlyMap<string, ToolDeclaration> },
): JsonObject | null {
  const words = new Set(splitName(writer));
  const ranked = [...tools].flatMap(([tool, { inputSchema }]) => {
    if (readVerb(tool) !== 'read') return [];
    const { required } = inputSchema;
    const names = Array.isArray(required) ? required.map(String) : [];
    const isFilled = names.every((name) => Object.hasOwn(sent, name));
    const own = called.get(tool);
    const args = isFilled ? Object.fromEntries(names.map((name) => [name, sent[name]])) : own;
    // Another run may have no such id or time.
    if (args === undefined || hasVolatileForm(JSON.stringify(args))) return [];
    const score = splitName(tool).filter((word) => words.has(word)).length + (isFilled ? names.length : 0);
    // A tool without anything in common is a guess, unless the evals read with it.
    return score === 0 && own === undefined ? [] : [{ tool, args, score }];
  });
  const [best] = ranked.toSorted((a, b) => b.score - a.score);
  if (best === undefined) return null;
  return { toolCall: best.tool, ...(Object.keys(best.args).length > 0 && { arguments: best.args }) };
}

const readArguments = (params: unknown): JsonObject =>
  isRecord(params) && isRecord(params['arguments']) ? params['arguments'] : {};

/** Writes the path of the workspace as evals files do. */
function placeWorkspace(args: JsonObject, testCase: ObservedCase | undefined): JsonObject {
  const workspace = testCase?.taped.options.facts?.workspace;
  return workspace === undefined ? args : mapTexts(args, (text) => text.replaceAll(workspace, '{{workspace}}'));
}

const listTools = ({ taped: { tape } }: ObservedCase): ReadonlyMap<string, ToolDeclaration> =>
  new Map([...tape.servers.values()].flatMap(({ sharedTools, lists }) => [...(sharedTools ?? lists[0] ?? [])]));
