import { clipText, putOnOneLine } from '../base/text.ts';
import { maxCases, type SuiteWorkspace } from '../explore/draft/choose-cases.ts';
import { draftCases, type Drafted } from '../explore/draft/draft-cases.ts';
import { isPrivateName } from '../explore/draft/checks.ts';
import type { Exploration } from '../explore/exploration.ts';
import type { ToolList } from '../mcp/tool-declarations.ts';
import { chooseDraftChecks } from '../mutate/choose-draft-checks.ts';
import type { AddedCase, CaseSubjects } from '../suite/add-cases.ts';
import { createTaker, deriveSlug } from '../suite/case-ids.ts';

/** The cases of an exploration as init writes them. */
export interface ExploredDraft {
  cases: AddedCase[];
  files: Drafted['files'];
  needsWorkspace: boolean;
}

/**
 * Drafts the cases of an exploration for tools, resources and prompts that no case requests yet: one for the list of tools, those that the
 * sessions show, prompts for a model, and findings commented out.
 */
export async function draftExplored(
  exploration: Exploration,
  {
    known,
    suiteWorkspace,
    model,
    tools,
  }: {
    known: CaseSubjects;
    suiteWorkspace: SuiteWorkspace;
    /** The model, as `provider/name`; null for no prompts. */
    model: string | null;
    tools: ToolList;
  },
): Promise<ExploredDraft> {
  const ids = new Set(known.ids);
  const takeId = createTaker(ids);
  const first = draftFirst(exploration, known, takeId);
  const seen = new Set([...known.tools, ...known.resources, ...known.prompts]);
  const drafted = draftCases(exploration, {
    suiteWorkspace,
    limit: maxCases - first.length,
    ids,
    isWanted: (subjects) => !seen.has(subjects.at(-1) ?? ''),
    keepsFiles: true,
  });
  const cases = await chooseDraftChecks(drafted.cases, {
    listSteps: ({ steps }) => steps,
    tools,
    isPrivate: isPrivateName,
  });
  const answered = exploration.coverage.byTool.filter(({ tool, isAnswered }) => isAnswered && !seen.has(tool));
  const prompts =
    model === null
      ? []
      : answered.map(({ tool }) =>
          draftPrompt(tool, { description: tools?.get(tool)?.description ?? null, model, takeId }),
        );
  return {
    cases: [...first, ...cases, ...prompts, ...drafted.findings],
    files: drafted.files,
    needsWorkspace: drafted.needsWorkspace,
  };
}

/** Drafts a case for every server: its list of tools, or a ping if it has none. */
function draftFirst({ coverage }: Exploration, known: CaseSubjects, takeId: (id: string) => string): AddedCase[] {
  const hasTools = coverage.tools.of > 0;
  if (hasTools ? known.listsTools : known.pings) return [];
  const content = hasTools
    ? { id: takeId('lists-tools'), title: 'Lists its tools', steps: [{ listTools: true }] }
    : { id: takeId('answers'), title: 'Answers a ping', steps: [{ ping: true }] };
  return [{ content, comments: [], isCommentedOut: false }];
}

/** Drafts a prompt, commented out, because a person has to choose words that make the model call the tool. */
function draftPrompt(
  name: string,
  { description, model, takeId }: { description: string | null; model: string; takeId: (id: string) => string },
): AddedCase {
  const purpose = putOnOneLine(description ?? `Use ${name}`);
  const escape = (text: string) => text.replaceAll('{{', String.raw`\{{`);
  return {
    content: {
      id: takeId(deriveSlug(`prompt ${name}`, 'prompt')),
      title: `A model calls ${escape(name)}`,
      model,
      steps: [{ prompt: escape(clipText(purpose, 200)) }, { assert: { toolCalledAtLeastOnce: name } }],
    },
    comments: [
      'Not run: the prompt is made of the description of the tool; write what a user would ask, and record the answers.',
    ],
    isCommentedOut: true,
  };
}
