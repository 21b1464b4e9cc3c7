import { renderEvals } from '../../suite/add-cases.ts';
import type { Exploration } from '../exploration.ts';
import { draftCases, type Drafted, maxCases } from './draft-cases.ts';

export interface DraftedEvals extends Pick<Drafted, 'left'> {
  text: string;
  cases: number;
}

/** Writes an evals file from an exploration: cases for sessions that need no workspace, and findings commented out. */
export function draftEvals(exploration: Exploration): DraftedEvals {
  const { cases, findings, left } = draftCases(exploration, {
    hasWorkspace: false,
    limit: maxCases,
    ids: new Set(),
    isWanted: () => true,
    keepsFiles: false,
  });
  const suite = exploration.server.name ?? 'MCP server';
  return {
    text: renderEvals({ comments: headComments, suite, cases: [...cases, ...findings] }),
    cases: cases.length,
    left,
  };
}

const headComments = [
  'yaml-language-server: $schema=../node_modules/mcp-eval-ci/schemas/evals.schema.json',
  'Written by `mcp-eval-ci explore`. The server gave these answers in several runs when it was written. Check that they are right.',
];
