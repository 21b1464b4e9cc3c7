import { addCases, type AddedCase, renderCases, renderEvals } from '../suite/add-cases.ts';
import { readSuite } from '../suite/read.ts';

/** The result of writing the cases into an evals file. */
export type EvalsText =
  | { kind: 'created' | 'extended'; text: string }
  | { kind: 'unchanged' }
  /** A person has to add the cases, because the file has no list of cases in block style. */
  | { kind: 'manual'; cases: string };

/** Writes the cases into a new evals file, or after those of an existing one, whose other text stays unchanged. */
export function writeEvals(
  drafts: readonly AddedCase[],
  {
    suite,
    workspace,
    upstream,
    existing,
  }: { suite: string; workspace: string | null; upstream: string | null; existing: string | null },
): EvalsText {
  const cases = [...drafts.filter((each) => !each.isCommentedOut), ...drafts.filter((each) => each.isCommentedOut)];
  if (existing === null) {
    return { kind: 'created', text: renderEvals({ comments: headComments, suite, workspace, upstream, cases }) };
  }
  if (cases.length === 0) return { kind: 'unchanged' };
  const text = addCases(existing, cases);
  const isRead = text !== null && readSuite(text, { file: 'evals' }).suite !== null;
  return isRead ? { kind: 'extended', text } : { kind: 'manual', cases: renderCases(cases, '  ') };
}

/** The comments at the top of a new file. The first one links the schema for editors. */
const headComments = [
  'yaml-language-server: $schema=../node_modules/mcp-eval-ci/schemas/evals.schema.json',
  'Written by `mcp-eval-ci init`. The server gave these answers in several runs. Check that they are right.',
  'After a meant change, `mcp-eval-ci run --update` renews what failed. Run init again to add cases for new tools.',
];
