import { type AddedCase, renderEvals } from '../../suite/add-cases.ts';
import { emptyName } from '../../workspace/workspace.ts';
import type { Exploration } from '../exploration.ts';
import { draftCases, type Drafted, maxCases } from './draft-cases.ts';

/** Drafts the cases of an evals file from an exploration: those for sessions that need no files. */
export function draftEvals(exploration: Exploration, { hasWorlds }: { hasWorlds: boolean }): Drafted {
  return draftCases(exploration, {
    suiteWorkspace: hasWorlds ? 'empty' : 'none',
    limit: maxCases,
    ids: new Set(),
    isWanted: () => true,
    keepsFiles: false,
  });
}

/**
 * Prints an evals file of drafted cases, with findings commented out. With `hasWorlds`, the server was explored in worlds, and the suite
 * gives each iteration an empty directory and a HOME of its own, too.
 */
export function renderDrafted(
  { server }: Pick<Exploration, 'server'>,
  { cases, findings, hasWorlds }: { cases: readonly AddedCase[]; findings: readonly AddedCase[]; hasWorlds: boolean },
): string {
  return renderEvals({
    comments: headComments,
    suite: server.name ?? 'MCP server',
    workspace: hasWorlds ? emptyName : null,
    cases: [...cases, ...findings],
  });
}

const headComments = [
  'yaml-language-server: $schema=../node_modules/mcp-eval-ci/schemas/evals.schema.json',
  'Written by `mcp-eval-ci explore`. The server gave these answers in several runs when it was written. Check that they are right.',
];
