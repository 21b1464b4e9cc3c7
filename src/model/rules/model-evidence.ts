import { z } from 'zod';
import { quoteValue } from '../../base/text.ts';
import { formatDays, parseDays } from '../../base/time.ts';
import { fraction, milliseconds } from '../quantities.ts';
import { defineRule } from './define-rule.ts';

const dayMs = 24 * 3_600_000;
const longestAgeMs = 3650 * dayMs;

/** Parses an age in days, such as `30d`, into milliseconds. The JSON Schema describes only the text. */
const ageInDays = z
  .unknown()
  .meta({ type: 'string', pattern: '^\\s*\\d+\\s*d\\s*$', examples: ['30d'] })
  .transform((written, context) => {
    const ageMs = typeof written === 'string' ? parseDays(written) : undefined;
    if (ageMs !== undefined && ageMs >= dayMs && ageMs <= longestAgeMs) return ageMs;
    const message =
      ageMs === undefined
        ? `${quoteValue(written)} is not an age; write a number of days, such as 30d`
        : `${quoteValue(written)} is out of range; an age is from ${formatDays(dayMs)} to ${formatDays(longestAgeMs)}`;
    context.addIssue({ code: 'custom', message, params: { code: 'bad-duration' } });
    return z.NEVER;
  });

const ages = { written: ageInDays, value: milliseconds };

export const evidenceSections = [
  { name: 'recordings', description: 'Which recorded answers of models count.' },
  { name: 'judges', description: 'Which calibration a judge that gates needs.' },
];

export const minimumJudgeAgreement = defineRule('judges.minimumAgreement', {
  stored: 'minimumJudgeAgreement',
  written: z.number().min(0).max(1),
  description: "What the lower bound of Cohen's kappa reaches at least, 0 to 1. Default: 0.6.",
  examples: [0.6],
  value: fraction,
  reported: "What Cohen's kappa of a judge that gates reaches at least.",
  // Kappa values above this are called substantial agreement in the literature.
  default: 0.6,
  strictness: { stricter: 'greater' },
  docs: '0.6 # the default; what the calibration of a gating judge must show',
});

export const maximumCalibrationAge = defineRule('judges.maximumAge', {
  stored: 'maximumCalibrationAgeMs',
  ...ages,
  description: 'Older calibrations count for nothing. Default: 90d.',
  reported: 'Calibrations of judges that are older count for nothing.',
  // Three months; a provider can change the model behind a name in that time.
  default: 90 * dayMs,
  strictness: { stricter: 'smaller', format: formatDays },
  docs: '90d # the default; older calibrations do not count',
});

export const evidenceRules = [
  defineRule('recordings.maximumAge', {
    stored: 'maximumRecordingAgeMs',
    ...ages,
    description: 'Older recordings count as stale. Default: 30d.',
    reported: 'Recordings of models that are older count as stale.',
    // One month; models and servers change in that time.
    default: 30 * dayMs,
    strictness: { stricter: 'smaller', format: formatDays },
    docs: '30d # the default; older recordings of models are stale',
  }),
  minimumJudgeAgreement,
  maximumCalibrationAge,
];
