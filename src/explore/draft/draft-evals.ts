import { renderEvals } from '../../suite/add-cases.ts';
import { emptyName } from '../../workspace/workspace.ts';
import type { Exploration } from '../exploration.ts';
import { draftCases, type Drafted, maxCases } from './draft-cases.ts';

export interface DraftedEvals extends Pick<Drafted, 'left'> {
  text: string;
  cases: number;
}

/**
 * Writes an evals file from an exploration: cases for sessions that need no files, and findings commented out. With `hasWorlds`, the
 * server was explored in worlds, and the suite gives each iteration an empty directory and a HOME of its own, too.
 */
export function draftEvals(exploration: Exploration, { hasWorlds }: { hasWorlds: boolean }): DraftedEvals {
  const workspace = hasWorlds ? emptyName : null;
  const { cases, findings, left } = draftCases(exploration, {
    suiteWorkspace: hasWorlds ? 'empty' : 'none',
    limit: maxCases,
    ids: new Set(),
    isWanted: () => true,
    keepsFiles: false,
  });
  const suite = exploration.server.name ?? 'MCP server';
  return {
    text: renderEvals({ comments: headComments, suite, workspace, cases: [...cases, ...findings] }),
    cases: cases.length,
    left,
  };
}

const headComments = [
  'yaml-language-server: $schema=../node_modules/mcp-eval-ci/schemas/evals.schema.json',
  'Written by `mcp-eval-ci explore`. The server gave these answers in several runs when it was written. Check that they are right.',
];
