import { type AddedCase, renderEvals } from '../../suite/add-cases.ts';
import type { Exploration } from '../exploration.ts';
import { maxCases } from './choose-cases.ts';
import { draftCases, type Drafted } from './draft-cases.ts';

/** Drafts the cases of an evals file from an exploration. Without `hasWorlds`, sessions that need files are left out. */
export function draftEvals(exploration: Exploration, { hasWorlds }: { hasWorlds: boolean }): Drafted {
  return draftCases(exploration, {
    suiteWorkspace: hasWorlds ? 'files' : 'none',
    limit: maxCases,
    ids: new Set(),
    isWanted: () => true,
    keepsFiles: false,
  });
}

/** Prints an evals file of drafted cases, with findings commented out. `workspace` is the key of the suite; null for none. */
export function renderDrafted(
  { server }: Pick<Exploration, 'server'>,
  {
    cases,
    findings,
    workspace,
  }: { cases: readonly AddedCase[]; findings: readonly AddedCase[]; workspace: string | null },
): string {
  return renderEvals({
    comments: headComments,
    suite: server.name ?? 'MCP server',
    workspace,
    cases: [...cases, ...findings],
  });
}

const headComments = [
  'yaml-language-server: $schema=../node_modules/mcp-eval-ci/schemas/evals.schema.json',
  'Written by `mcp-eval-ci explore`. The server gave these answers in several runs when it was written. Check that they are right.',
];
