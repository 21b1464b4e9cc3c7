import type { KeepsPart } from '../explore/stability/forms.ts';

/** Servers answer with the present date, and with dates that they count from there: when something expires, or a year later. */
const nearMs = 500 * 86_400_000;

const timeOfDay = /^\d{1,2}:\d{2}:\d{2}(?:\.\d+)?(?: ?[AP]M)?$/i;
const date =
  /^\d{4}[-/]\d|^\d{1,2}\/\d{1,2}\/\d{4}$|\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\b.*\b\d{4}\b/;
const sinceEpoch = /^1\d{9}(?:\.\d+|\d{3}(?:\d{3})?)?$/;

/**
 * Says which times of an answer stay where the session and all replays have them: one that is far from `nowMs`, and a time of day with its
 * seconds, which are other ones in a replay if it is the present time. A date near `nowMs` may be that of the day.
 */
export function createTimeKeeper(nowMs: number): KeepsPart {
  return (part) => {
    if (timeOfDay.test(part)) return true;
    const timeMs = readTime(part);
    return timeMs !== null && Math.abs(timeMs - nowMs) > nearMs;
  };
}

function readTime(part: string): number | null {
  if (sinceEpoch.test(part)) {
    const [whole = ''] = part.split('.');
    return Number(whole.slice(0, 10)) * 1000;
  }
  const timeMs = date.test(part) ? Date.parse(part) : Number.NaN;
  return Number.isNaN(timeMs) ? null : timeMs;
}
