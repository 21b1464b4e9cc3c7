// The verdicts of the suites in this folder, as they follow from the profiles. They were written before the first run.

/** The profiles, and the programs of hosts. */
export const profileIds = ['claude-code', 'codex', 'gemini-cli', 'goose'] as const;
export const programIds = ['codex', 'copilot-cli', 'gemini-cli', 'goose'] as const;

/** The column of a table: `codex` is the profile, `codex*` the program. */
type Column = (typeof profileIds)[number] | `${(typeof programIds)[number]}*`;

export const columns: readonly Column[] = [...profileIds, ...programIds.map((id) => `${id}*` as const)];

interface WrittenVerdict {
  suite: string;
  id: string;
  /** The columns in which the case fails, with what the host does. It passes in all others. */
  fails: Partial<Record<Column, string>>;
}

const checks = 'refuses arguments that break the schema';
const noLinks = 'shows nothing of a link';
const cutLong = 'shows 12,000 characters of a long result';
const noImage = 'shows structured content, and not the image next to it';
const noImages = 'shows no image';

export const writtenVerdicts: readonly WrittenVerdict[] = [
  { suite: 'everything', id: 'echo', fails: {} },
  { suite: 'everything', id: 'link', fails: { goose: noLinks, 'goose*': noLinks, 'copilot-cli*': noLinks } },
  // The program shows models that it does not know the whole instructions.
  {
    suite: 'everything',
    id: 'instructions',
    fails: { codex: 'cuts instructions at 250 characters', 'copilot-cli*': 'never shows instructions' },
  },
  { suite: 'everything', id: 'image', fails: { 'copilot-cli*': noImages } },
  { suite: 'filesystem', id: 'note', fails: {} },
  {
    suite: 'filesystem',
    id: 'long',
    fails: { codex: cutLong, 'codex*': cutLong, 'copilot-cli*': 'shows 500 characters of a long result' },
  },
  { suite: 'filesystem', id: 'media', fails: { codex: noImage, 'codex*': noImage, 'copilot-cli*': noImages } },
  { suite: 'memory', id: 'node', fails: {} },
  { suite: 'memory', id: 'two-answers', fails: { 'claude-code': 'shows a tool only after a search' } },
  { suite: 'memory', id: 'wrong-arguments', fails: { 'gemini-cli': checks, 'gemini-cli*': checks } },
];
