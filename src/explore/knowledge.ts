import { isAnswered } from './answers.ts';
import { appendAll } from '../base/lists.ts';
import { type JsonObject, listTexts } from '../base/json.ts';
import type { ExploredRequest, ObservedStep, SessionRun } from './exploration.ts';
import type { Inventory, ListedTool } from './inventory.ts';
import { isNeededId, type Parameter } from './schema/parameters.ts';
import { readResultTexts } from './stability/texts.ts';
import {
  findLearned,
  learnFromArguments,
  learnFromResult,
  learnFromText,
  type LearnedValue,
} from './vocabulary/learned-values.ts';
import { isHarmlessRequest } from './vocabulary/statements.ts';
import { findAskedForms, takeForm } from './vocabulary/feedback.ts';
import { findWideFile } from './vocabulary/file-texts.ts';
import { listValues, rankFiles, type Vocabulary } from './vocabulary/vocabulary.ts';
import { readReference } from './world/placeholders.ts';

/** A call that was answered without an error, and the calls that it needs before it. */
export interface WorkingCall {
  arguments: JsonObject;
  setup: readonly ExploredRequest[];
}

/** The explorer's knowledge of the tools of a server. */
export interface Knowledge {
  /** The calls that worked, by tool. */
  readonly working: ReadonlyMap<string, WorkingCall>;
  /** The last message with which a tool refused a valid call. */
  readonly refusals: ReadonlyMap<string, string>;
  /** The files of the workspace, those that show most first. */
  readonly files: readonly string[];
  /** A file whose letters a program splits that cuts it by bytes; null if the workspace has none. */
  readonly wideFile: string | null;
  noteWorking(tool: string, call: WorkingCall): void;
  /** Replaces a call that worked by one that has something to work on. */
  noteTarget(tool: string, call: WorkingCall): void;
  noteRefusal(tool: string, message: string): void;
  /** Remembers the form of paths that a refusal asks for. */
  noteForms(args: JsonObject, message: string): void;
  /** Gives the paths among arguments the forms that other tools asked for. */
  takeForms(args: JsonObject): JsonObject;
  /** Remembers the ids that an answer made. */
  noteMade(step: ObservedStep): void;
  /** Checks if an answer of `maker` made an id that `tool` needs. */
  makesIdFor(tool: ListedTool, maker: string): boolean;
  /** Learns the values in the results of a session whose calls changed nothing: they hold in every new world. */
  learn(run: SessionRun): void;
  /** Lists values for a parameter; `before` are the steps of the session so far, whose values come first. */
  listValues(tool: ListedTool, parameter: Parameter, before?: readonly ObservedStep[]): unknown[];
}

const maxLearned = 500;

/** The most refusals that are remembered for the form of one parameter. */
const maxForms = 3;

export function createKnowledge(
  inventory: Inventory,
  workspace: Vocabulary['workspace'],
  isHarmless: (tool: string) => boolean,
): Knowledge {
  const working = new Map<string, WorkingCall>();
  const refusals = new Map<string, string>();
  const learned: LearnedValue[] = [];
  const made = new Map<string, readonly LearnedValue[]>();
  const forms = new Map<string, readonly string[]>();
  return {
    working,
    refusals,
    files: rankFiles(workspace),
    wideFile: findWideFile(workspace.texts ?? new Map()),
    noteWorking: (tool, call) => {
      if (!working.has(tool)) working.set(tool, call);
    },
    noteTarget: (tool, call) => void working.set(tool, call),
    noteRefusal: (tool, message) => void refusals.set(tool, message),
    noteForms: (args, message) => {
      for (const name of findAskedForms(args, message)) {
        forms.set(name, [...(forms.get(name) ?? []), message].slice(0, maxForms));
      }
    },
    takeForms: (args) =>
      Object.fromEntries(
        Object.entries(args).map(([name, value]) => [name, (forms.get(name) ?? []).reduce(takeForm, value)]),
      ),
    noteMade: (step) => {
      if (step.request.kind === 'tool') made.set(step.request.tool, listMade([step]).filter(isReference));
    },
    makesIdFor: ({ name: tool, parameters }, maker) =>
      parameters.some(
        (parameter) => isNeededId(parameter) && findLearned(made.get(maker) ?? [], parameter.name, tool).length > 0,
      ),
    learn: ({ steps }) => {
      const areHarmless = steps.every(({ request }) => isHarmlessRequest(request, isHarmless));
      if (!areHarmless || learned.length > maxLearned) return;
      // A reference leads nowhere in another session.
      appendAll(
        learned,
        listMade(steps).filter((each) => !isReference(each)),
      );
    },
    listValues: (tool, parameter, before = []) => {
      const { name, description, schema } = parameter;
      const vocabulary: Vocabulary = {
        workspace,
        resources: inventory.resources,
        learned,
        ofSession: [...listAccepted(before), ...listMade(before)],
        made: listMadeFiles(before),
      };
      return listValues(schema, { name, description, tool, depth: 0 }, vocabulary);
    },
  };
}

/** Lists the files that steps made under another name than they were given, in the form of the given path. */
function listMadeFiles(steps: readonly ObservedStep[]): string[] {
  return steps.flatMap(({ request, observation: { files } }) => {
    if (request.kind !== 'tool') return [];
    const given = [...listTexts(request.arguments)].map(({ text }) => text);
    const start = given.some((text) => text.startsWith('{{workspace}}/')) ? '{{workspace}}/' : '';
    const isOther = (file: string) => !file.endsWith('/') && !given.some((text) => text.endsWith(file));
    return files.added.filter(isOther).map((file) => `${start}${file}`);
  });
}

const isReference = ({ value }: LearnedValue) => readReference(String(value)) !== null;

/** Lists the values in the results of steps. */
function listMade(steps: readonly ObservedStep[]): LearnedValue[] {
  return steps.flatMap(({ request, observation }, step) => {
    const { outcome } = observation;
    if (outcome.kind !== 'result' || outcome.isError) return [];
    if (request.kind === 'prompt') return readResultTexts(outcome.result).flatMap((text) => learnFromText(text));
    if (request.kind !== 'tool') return [];
    return learnFromResult(outcome.result, { tool: request.tool, args: request.arguments, step });
  });
}

/** Lists the values in the arguments of steps that were answered. */
function listAccepted(steps: readonly ObservedStep[]): LearnedValue[] {
  return steps.flatMap(({ request, observation }) =>
    request.kind === 'tool' && isAnswered(observation) ? learnFromArguments(request.arguments, request.tool) : [],
  );
}
