import { resolve } from 'node:path';
import { describeError } from '../base/errors.ts';
import { readTextFile } from '../base/files.ts';
import { createFindings, type Findings } from '../base/findings.ts';
import { findOutputRoot, writeOutput } from '../base/output-files.ts';
import type { Redactor } from '../base/redaction.ts';
import { systemClock } from '../base/time.ts';
import { calibratedCase, buildCalibration, type Disagreement, judgeLabels } from '../gate/calibrate.ts';
import { listenForInterrupts } from '../gate/host-process.ts';
import { readPolicyOption } from '../gate/plan/plan-policy.ts';
import { readProxySettings } from '../http/proxy.ts';
import { type Calibration, locateCalibration } from '../model/calibration.ts';
import { formatPassRate } from '../model/rate.ts';
import { maximumCalibrationAge, minimumJudgeAgreement } from '../model/rules/model-evidence.ts';
import { describeSource } from '../model/source.ts';
import { parseModelName } from '../models/model-name.ts';
import { describePackage } from '../models/open-provider.ts';
import { createProviderSource } from '../models/provider-source.ts';
import { readProviders } from '../models/providers.ts';
import { openRecordings, writeRecording } from '../models/recordings/files.ts';
import { createFingerprinter } from '../models/recordings/fingerprint.ts';
import { compileIgnore } from '../models/recordings/ignore.ts';
import { findUsable } from '../models/recordings/format.ts';
import { createRecorder, mergeRecording } from '../models/recordings/recorded-answer.ts';
import { createRecordedSource, type RecordingsMode } from '../models/recordings/source.ts';
import { type Labels, readLabels } from '../suite/read-labels.ts';
import { createTerminalLogger, redactText } from './command-logger.ts';

export interface CalibrateFlags {
  policy?: string;
  recordings: RecordingsMode;
}

/** Judges labelled examples, writes the calibration, prints it, and returns the exit code. */
export async function calibrateJudge(path: string, flags: CalibrateFlags, redactor: Redactor): Promise<number> {
  const cwd = process.cwd();
  const { labels, rules } = await readInputs(path, flags.policy ?? null, cwd);
  const signal = listenForInterrupts(process, (exitCode) => process.exit(exitCode));
  const { judge } = labels;
  const recordPath = locateCalibration(path, judge);
  const { table, disagreements, date } = await askJudge(labels, {
    mode: flags.recordings,
    path: recordPath.replace(/json$/, 'jsonl'),
    maximumAgeMs: rules.maximumAge.value,
    cwd,
    redactor,
    signal,
  });
  const calibration = buildCalibration(labels, table, date);
  const root = findOutputRoot(recordPath, cwd);
  writeOutput(resolve(cwd, recordPath), `${JSON.stringify(calibration, null, 2)}\n`, { root });
  const isEnough = calibration.interval.lower >= rules.minimumAgreement.value;
  const { value, source } = rules.minimumAgreement;
  const lines = [
    ...describeCalibration(calibration),
    ...disagreements.map(describeDisagreement),
    `The lower bound must reach ${value} (${describeSource(source)}): ${isEnough ? 'the judge may gate' : 'the judge may not gate'}.`,
    `Wrote ${recordPath}.`,
  ];
  process.stdout.write(`${lines.map((line) => redactText(line, redactor)).join('\n')}\n`);
  return isEnough ? 0 : 1;
}

async function readInputs(path: string, policyPath: string | null, cwd: string) {
  const findings = createFindings();
  const policy = await readPolicyOption(policyPath, cwd, findings);
  const labels = await readLabelsFile(path, cwd, findings);
  if (labels === null) throw findings.toError();
  findings.throwIfAny();
  const rules = {
    minimumAgreement: policy?.common.minimumJudgeAgreement ?? minimumJudgeAgreement.fallback,
    maximumAge: policy?.common.maximumCalibrationAgeMs ?? maximumCalibrationAge.fallback,
  };
  return { labels, rules };
}

async function readLabelsFile(path: string, cwd: string, findings: Findings): Promise<Labels | null> {
  try {
    const read = readLabels(await readTextFile(resolve(cwd, path)), { file: path });
    findings.addAll(read.findings);
    return read.labels;
  } catch (error) {
    const message = `The file cannot be read: ${describeError(error)}`;
    findings.add({ file: path, line: 1, column: 1, code: 'unreadable-file', message });
    return null;
  }
}

/** Judges the examples, live or from the recording at `path`, and records live answers there. */
async function askJudge(
  labels: Labels,
  {
    mode,
    path,
    maximumAgeMs,
    cwd,
    redactor,
    signal,
  }: {
    mode: RecordingsMode;
    path: string;
    maximumAgeMs: number;
    cwd: string;
    redactor: Redactor;
    signal: AbortSignal;
  },
) {
  const { env, stderr } = process;
  const logger = createTerminalLogger({
    write: (text) => stderr.write(text),
    redactor,
    color: stderr.hasColors?.() ?? false,
    isQuiet: false,
    isVerbose: false,
  });
  const model = parseModelName(labels.judge.model);
  const providers = readProviders({ environment: env });
  const clock = systemClock;
  const proxy = readProxySettings(env);
  await using live = createProviderSource({ providers, proxy, clock, random: Math.random, logger, redactor });
  const recorder = createRecorder({ redactor });
  const earlier = mode === 'auto' || mode === 'replay' ? await openRecordings(cwd).read(path) : null;
  const usable = findUsable(earlier);
  const fingerprinter = createFingerprinter({ redactor, ignore: compileIgnore([]) });
  const source = createRecordedSource({
    mode,
    findCase: () => ({ recording: earlier, fingerprinter }),
    live,
    findProviderProblem: (provider) => live.findProblem({ model: { provider, name: '' }, apiKeys: new Map() }),
    maximumAgeMs: () => maximumAgeMs,
    now: () => clock.now(),
    recorder,
  });
  const judged = await judgeLabels(labels, { model, source, signal });
  const collected = recorder.list().find(({ caseId }) => caseId === calibratedCase);
  const recording =
    collected === undefined
      ? usable
      : mergeRecording(usable, collected, await describePackage(providers.find(model.provider).format));
  if (collected !== undefined && recording !== null && mode !== 'live') {
    await writeRecording({ path: resolve(cwd, path), root: findOutputRoot(path, cwd) }, recording, redactor);
  }
  // Uses the date of the oldest answer, so that repeating a calibration from recordings does not make it newer.
  const dates = labels.examples.flatMap((_, index) => recording?.iterations.get(index + 1)?.recordedAt ?? []);
  const [date = new Date(clock.now()).toISOString()] = dates.toSorted();
  return { ...judged, date };
}

function describeCalibration({ judge, examples, confusion, accuracy, kappa, interval }: Calibration): string[] {
  const { bothPassed, labelPassed, judgePassed, bothFailed } = confusion;
  const threshold = judge.threshold === null ? '' : `, threshold ${judge.threshold}`;
  const row = (name: string, passed: number, failed: number) =>
    `${name.padEnd(14)}${String(passed).padStart(14)}${String(failed).padStart(14)}`;
  const bounds = `${interval.lower.toFixed(2)} to ${interval.upper.toFixed(2)}`;
  return [
    `${judge.model}${threshold}: ${examples} examples`,
    `${''.padEnd(14)}${'judge passed'.padStart(14)}${'judge failed'.padStart(14)}`,
    row('label passed', bothPassed, labelPassed),
    row('label failed', judgePassed, bothFailed),
    `Accuracy ${formatPassRate(accuracy)}, kappa ${kappa.toFixed(2)} (95% interval ${bounds})`,
  ];
}

function describeDisagreement({ example: { location, isPassed }, reason }: Disagreement): string {
  const [label, opinion] = isPassed ? ['passed', 'failed'] : ['failed', 'passed'];
  const { file, line, column } = location;
  return `${file}:${line}:${column}: labelled ${label}, judged ${opinion}: ${reason.replaceAll(/\s+/g, ' ').trim()}`;
}
