import { isAnswered } from './answers.ts';
import { appendAll } from '../base/lists.ts';
import { type JsonObject, listTexts } from '../base/json.ts';
import type { ObservedStep, SessionRun } from './exploration.ts';
import type { ExploredRequest } from '../model/explored-request.ts';
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
import { type FileTexts, findTwoLines, findWideFile, type TwoLines } from './vocabulary/file-texts.ts';
import { findPathRole, listValues, rankFiles, type Vocabulary } from './vocabulary/vocabulary.ts';
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
  /** The texts of the files that are small. */
  readonly texts: FileTexts;
  /** A file whose letters a program splits that cuts it by bytes; null if the workspace has none. */
  readonly wideFile: string | null;
  /** Two lines of a file, of which the second one is indented if a file has such; null if none has two. */
  readonly twoLines: TwoLines | null;
  noteWorking(tool: string, call: WorkingCall): void;
  /** Replaces a call that worked by one that has something to work on. */
  noteTarget(tool: string, call: WorkingCall): void;
  noteRefusal(tool: string, message: string): void;
  /** Remembers the form of paths that a refusal asks for. */
  noteForms(tool: string, args: JsonObject, message: string): void;
  /**
   * Gives the paths among arguments the forms that other tools asked for. `isAlone` says that no call before this one can have made a file: then
   * a path of none is replaced by that of a file of the workspace with the same ending, unless the tool makes it.
   */
  takeForms(tool: ListedTool, args: JsonObject, isAlone: boolean): JsonObject;
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
  /** The refusals by the name of the parameter, and where they do not go with those of other tools, by the tool and the name. */
  const forms = new Map<string, readonly string[]>();
  return {
    working,
    refusals,
    files: rankFiles(workspace),
    texts: workspace.texts ?? new Map(),
    wideFile: findWideFile(workspace.texts ?? new Map()),
    twoLines: findTwoLines(workspace.texts ?? new Map()),
    noteWorking: (tool, call) => {
      if (!working.has(tool)) working.set(tool, call);
    },
    noteTarget: (tool, call) => void working.set(tool, call),
    noteRefusal: (tool, message) => void refusals.set(tool, message),
    noteForms: (tool, args, message) => {
      for (const name of findAskedForms(args, message)) {
        const known = forms.get(name) ?? [];
        const formed = known.reduce(takeForm, args[name]);
        const wanted = takeForm(formed, message);
        // Another tool may have asked for the same form, or for one that does not go with this one.
        if (wanted === formed) continue;
        const key = known.reduce(takeForm, wanted) === wanted ? name : `${tool} ${name}`;
        forms.set(key, [...(forms.get(key) ?? []), message].slice(0, maxForms));
      }
    },
    takeForms: (tool, args, isAlone) =>
      Object.fromEntries(
        Object.entries(args).map(([name, value]) => {
          const messages = [...(forms.get(name) ?? []), ...(forms.get(`${tool.name} ${name}`) ?? [])];
          const formed = messages.reduce(takeForm, value);
          const isGiven = messages.length > 0 && isAlone && findPathRole({ name, tool })?.isMade !== true;
          return [name, isGiven ? takePresent(formed, workspace.files) : formed];
        }),
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

/** Replaces the path of a file that is not there by that of one with the same ending, if there is one. */
function takePresent(path: unknown, files: readonly string[]): unknown {
  const [, start = '', file = ''] = typeof path === 'string' ? (/^(\{\{workspace\}\}\/)?(.*)$/s.exec(path) ?? []) : [];
  const [ending] = /\.\w+$/.exec(file) ?? [];
  if (ending === undefined || files.includes(file)) return path;
  const present = files.find((other) => other.endsWith(ending));
  return present === undefined ? path : `${start}${present}`;
}

/** Lists the files that steps made, as they were given, or else in the form of the given path. */
function listMadeFiles(steps: readonly ObservedStep[]): string[] {
  return steps.flatMap(({ request, observation: { files } }) => {
    if (request.kind !== 'tool') return [];
    const given = [...listTexts(request.arguments)].map(({ text }) => text);
    const start = given.some((text) => text.startsWith('{{workspace}}/')) ? '{{workspace}}/' : '';
    return files.added
      .filter((file) => !file.endsWith('/'))
      .map((file) => given.find((text) => text.replace('{{workspace}}/', '') === file) ?? `${start}${file}`);
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
