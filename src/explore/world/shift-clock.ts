import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Moves the clock of Node.js: the present time alone, so that dates with a time, those of files, and timers stay as they are. */
const writeCode = (days: number) => `const Clock = Date;
const now = () => Clock.now() + ${days} * 86_400_000;
const Moved = new Proxy(Clock, {
  apply: () => new Clock(now()).toString(),
  construct: (target, given, of) => Reflect.construct(target, given.length > 0 ? given : [now()], of),
  get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
});
Clock.prototype.constructor = Moved;
globalThis.Date = Moved;
`;

/**
 * Lists the variables with which a process of Node.js is some days ahead; none for no days. It loads a module that is written into `directory`.
 * Other programs keep the time of the machine.
 */
export async function moveClock(
  daysAhead: number,
  { directory, options = '' }: { directory: string; options: string | undefined },
): Promise<Record<string, string>> {
  if (daysAhead === 0) return {};
  const path = join(directory, `clock-${daysAhead}.cjs`);
  await writeFile(path, writeCode(daysAhead));
  return { NODE_OPTIONS: `${options} --require ${JSON.stringify(path)}`.trim() };
}
