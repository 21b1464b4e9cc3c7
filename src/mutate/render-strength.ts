import { formatCount, listSome } from '../base/text.ts';
import { countByClass, countByTool } from './count-changes.ts';
import type { JudgedChange, Strength } from './measure-strength.ts';

/** The most parts of an answer that a line names. */
const maxNamed = 4;
/** The most tools, and the most lines of a tool, that the text shows. */
const maxLines = 12;

/** What evals miss, or fail on without need, of one tool: lines for people. */
interface Group {
  subject: string;
  lines: string[];
}

/** Says how much evals notice: the two numbers first, then the cases that notice nothing, the survivors and the brittle cases. */
export function renderStrength(strength: Strength): string {
  const { cases, leftOut } = strength;
  const idle = cases.filter(({ noticed, of }) => noticed === 0 && of > 0);
  const lines = [summarizeStrength(strength)];
  if (strength.unknown > 0) {
    lines.push(
      `${formatCount(strength.unknown, 'change')} not counted: a later request of the case depends on the changed answer.`,
    );
  }
  if (idle.length > 0) {
    lines.push('', 'These cases notice nothing:', ...idle.map(({ title, of }) => `  ${title} (0 of ${of})`));
  }
  const parts = [...countByClass(strength.changes), ...countByTool(strength.changes)];
  if (parts.length > 0) {
    const width = Math.max('Class, then tool'.length, ...parts.map(({ name }) => name.length));
    const counted = parts.map(({ name, harmful, harmless }) => {
      const noticed = `${harmful.noticed} of ${harmful.of}`.padEnd('noticed'.length + 4);
      return `  ${name.padEnd(width)}  ${noticed}${harmless.of === 0 ? '' : `${harmless.tolerated} of ${harmless.of}`}`.trimEnd();
    });
    lines.push('', `  ${'Class, then tool'.padEnd(width)}  noticed    tolerated`, ...counted);
  }
  addGroups(lines, 'What your evals would miss:', groupSurvivors(strength.changes));
  addGroups(lines, 'What your evals fail on although no user suffers:', groupBrittle(strength.changes));
  if (leftOut.length > 0) {
    lines.push('', 'Not measured:', ...mergeSame(leftOut).map((line) => `  ${line}`));
  }
  return `${lines.join('\n')}\n`;
}

/** The two numbers, in one sentence. */
export function summarizeStrength({ harmful, harmless }: Pick<Strength, 'harmful' | 'harmless'>): string {
  if (harmful.of === 0 && harmless.of === 0) return 'Nothing was measured: no answer of a case can be changed.';
  const { noticed } = harmful;
  const { tolerated } = harmless;
  return `Your evals notice ${noticed} of ${harmful.of} harmful changes${share(noticed, harmful.of)} and stay green under ${tolerated} of ${harmless.of} harmless ones${share(tolerated, harmless.of)}.`;
}

const share = (part: number, whole: number) => (whole === 0 ? '' : ` (${Math.floor((part / whole) * 100)} %)`);

function addGroups(lines: string[], heading: string, groups: readonly Group[]): void {
  if (groups.length === 0) return;
  lines.push('', heading);
  for (const group of groups) {
    lines.push(...group.lines.slice(0, maxLines).map((line) => `  ${line}`));
    const more = group.lines.length - maxLines;
    if (more > 0) lines.push(`  and ${formatCount(more, 'further change')} of ${group.subject}`);
  }
}

/** Names who answers, as a sentence begins: the tool `x`, the resource. */
function nameSubject({ kind, subject }: JudgedChange): string {
  if (kind === 'model') return `The model of \`${subject}\``;
  return kind === 'tool' || kind === 'list' ? `\`${subject}\`` : `The ${kind} \`${subject}\``;
}

/** Lists what no case notices, grouped by who answers. */
export function groupSurvivors(changes: readonly JudgedChange[]): Group[] {
  const survivors = changes.filter(({ isHarmful, outcome }) => isHarmful && outcome === 'unnoticed');
  return groupBySubject(survivors, (own, subject) =>
    joinAlike(own).map(({ what, cases }) => `${subject} could ${what}  [${listSome(cases, 2)}]`),
  );
}

/** Lists the harmless changes on which cases fail. */
export function groupBrittle(changes: readonly JudgedChange[]): Group[] {
  const brittle = changes.filter(({ isHarmful, outcome }) => !isHarmful && outcome === 'noticed');
  return groupBySubject(brittle, (own, subject) =>
    [...Map.groupBy(own, ({ what }) => what)].map(([what, alike]) => {
      const titles = [...new Set(alike.flatMap(({ failed }) => failed.map(({ title }) => `\`${title}\``)))];
      const verb = titles.length === 1 ? 'fails' : 'fail';
      return `${listSome(titles, 2)} ${verb} when the server ${what} in an answer of ${subject.replace(/^The/, 'the')}`;
    }),
  );
}

function groupBySubject(
  changes: readonly JudgedChange[],
  write: (own: readonly JudgedChange[], subject: string) => string[],
): Group[] {
  return [...Map.groupBy(changes, (change) => `${change.kind} ${change.subject}`)].flatMap(([, own]) => {
    const [first] = own;
    const subject = first === undefined ? '' : nameSubject(first);
    return [{ subject, lines: write(own, subject) }];
  });
}

/** Joins changes that differ only in the part that they change: "leave out `name`, `type`". */
function joinAlike(changes: readonly JudgedChange[]): Array<{ what: string; cases: string[] }> {
  const alike = Map.groupBy(
    changes,
    ({ operator, what }) => `${operator} ${what.replace(/`[^`]*`/, '`…`').replaceAll(/-?\d+(?:\.\d+)?/g, '0')}`,
  );
  return [...alike.values()]
    .map((own) => {
      const [first] = own;
      const cases = [...new Set(own.flatMap((each) => each.cases))].toSorted();
      const what = first?.what ?? '';
      const names = [...new Set(own.flatMap((each) => /`[^`]*`/.exec(each.what)?.[0] ?? []))];
      const isJoined = own.length > 1 && names.length > 1 && !/ instead of /.test(what);
      if (isJoined) return [{ what: what.replace(/`[^`]*`/, () => listSome(names, maxNamed)), cases }];
      return [...new Set(own.map((each) => each.what))].map((each) => ({ what: each, cases }));
    })
    .flat();
}

export function mergeSame(leftOut: Strength['leftOut']): string[] {
  return [...Map.groupBy(leftOut, ({ reason }) => reason)].map(
    ([reason, own]) => `${listSome([...new Set(own.map(({ subject }) => `\`${subject}\``))], 3)}: ${reason}`,
  );
}
