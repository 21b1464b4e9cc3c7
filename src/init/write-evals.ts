import { addCases, type AddedCase, renderCases, renderEvals } from '../suite/add-cases.ts';
import { readSuite } from '../suite/read.ts';
import type { DraftedCase } from './draft-cases.ts';

/** The result of writing the cases into an evals file. */
export type EvalsText =
  | { kind: 'created' | 'extended'; text: string }
  | { kind: 'unchanged' }
  /** A person has to add the cases, because the file has no list of cases in block style. */
  | { kind: 'manual'; cases: string };

/** Writes the cases into a new evals file, or after those of an existing one, whose other text stays unchanged. */
export function writeEvals(
  drafts: readonly DraftedCase[],
  { suite, existing }: { suite: string; existing: string | null },
): EvalsText {
  const cases = [...drafts.filter(({ reason }) => reason === null), ...drafts.filter(({ reason }) => reason !== null)];
  const added = cases.map(toAddedCase);
  if (existing === null) return { kind: 'created', text: renderEvals({ comments: headComments, suite, cases: added }) };
  if (added.length === 0) return { kind: 'unchanged' };
  const text = addCases(existing, added);
  const isRead = text !== null && readSuite(text, { file: 'evals' }).suite !== null;
  return isRead ? { kind: 'extended', text } : { kind: 'manual', cases: renderCases(added, '  ') };
}

function toAddedCase({ content, reason, note }: DraftedCase): AddedCase {
  const remark = reason === null ? note : `Not run: ${reason}.`.replace(/([.!?…])\.$/, '$1');
  return { content, comments: remark === null ? [] : [remark], isCommentedOut: reason !== null };
}

/** The comments at the top of a new file. The first one links the schema for editors. */
const headComments = [
  'yaml-language-server: $schema=../node_modules/mcp-eval-ci/schemas/evals.schema.json',
  'Written by `mcp-eval-ci init`. The server answered every case that runs when it was written. Run init again to add what is new;',
  'it changes nothing that is here. To use a case that is commented out, check its arguments and remove the marks.',
];
